"""Gradient descent, in the one short form that the book's experiments share."""

import torch
from tqdm.auto import tqdm


def fit(loss, parameters, *, steps, lr, weight_decay=0.0, decay=False, progress=None):
    """Minimise `loss()` over `parameters` with AdamW; returns the loss of every step.

    `loss` draws its own batch and returns a scalar tensor. `parameters` is an iterable of tensors
    or of AdamW's parameter groups (for rates of their own). With `decay` every rate falls to zero
    along half a cosine. `progress` names a bar to show.
    Raises FloatingPointError as soon as the loss is not finite.
    """
    optimiser = torch.optim.AdamW(parameters, lr=lr, weight_decay=weight_decay)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, steps) if decay else None
    history = []
    for step in tqdm(range(steps), desc=progress, disable=progress is None, leave=False):
        value = loss()
        optimiser.zero_grad()
        value.backward()
        optimiser.step()
        if schedule:
            schedule.step()
        history.append(value.item())
        if not abs(history[-1]) < float("inf"):
            raise FloatingPointError(f"the loss became {history[-1]} at step {step} of {steps}; "
                                     "lower lr, or look at the data for values that are not finite")
    return history


def batches(part, size, *, seed):
    """Endless random batches (images, labels) of a part of the data, drawn with replacement."""
    generator = torch.Generator().manual_seed(seed)
    while True:
        index = torch.randint(len(part.labels), (size,), generator=generator)
        yield part.images[index], part.labels[index]


@torch.no_grad()
def accuracy(model, part):
    """Share of the images of a part that the model labels rightly, from 0 to 1."""
    return (model(part.images).argmax(-1) == part.labels).double().mean().item()
