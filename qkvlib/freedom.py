"""How many independent directions of change a function has: the rank of its Jacobian."""

import torch


def jacobian_rank(outputs, parameters, *, tolerance=1e-9):
    """Rank of d outputs / d parameters: how many directions in parameter space change the outputs.

    `outputs` maps a dictionary of tensors to a tensor; `parameters` is the dictionary at which to
    look. A parameter is redundant there if the rank stays the same without it. Singular values
    below `tolerance` × the largest count as zero, so use float64.
    Raises TypeError for parameters of another dtype, in which rounding hides small directions.
    """
    for name, parameter in parameters.items():
        if parameter.dtype != torch.float64:
            raise TypeError(f"{name} has dtype {parameter.dtype}; wanted float64: call .double()")
    blocks = torch.func.jacrev(lambda p: outputs(p).flatten())(parameters)
    return int(torch.linalg.matrix_rank(
        torch.cat([block.flatten(1) for block in blocks.values()], dim=1), rtol=tolerance))
