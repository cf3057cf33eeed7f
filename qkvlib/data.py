"""The digits: 1,797 real 8 × 8 images that ship with scikit-learn, so nothing is downloaded.

Alpaydin & Kaynak 1998, Optical Recognition of Handwritten Digits, UCI Machine Learning
Repository, doi 10.24432/C50P49, CC BY 4.0.
"""

from typing import NamedTuple

import torch
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from torch import Tensor


class Part(NamedTuple):
    """Images (N, 8, 8), with mean 0 and variance 1 over the whole set, and labels (N,)."""

    images: Tensor
    labels: Tensor


class Digits(NamedTuple):
    """Three parts: fit on `train`, choose on `validation`, touch `test` once."""

    train: Part
    validation: Part
    test: Part


def digits(seed=0, *, n_train=1078, dtype=torch.float32):
    """Split the digits into 1,078 : 359 : 360, each class in proportion.

    The seed decides the split; `n_train` keeps only that many images for training.
    Raises ValueError if n_train is not from 10 (one a class) to 1,078.
    """
    if not 10 <= n_train <= 1078:
        raise ValueError(f"n_train={n_train}; wanted 10 to 1078 images")
    images, labels = load_digits(return_X_y=True)
    images = ((images - images.mean()) / images.std()).reshape(-1, 8, 8)

    def split(index, size):
        return train_test_split(index, train_size=size, random_state=seed, stratify=labels[index])

    train, rest = split(range(len(labels)), 1078)
    validation, test = split(rest, 359)
    if n_train < len(train):
        train, _ = split(train, n_train)
    return Digits(*(Part(torch.tensor(images[index], dtype=dtype), torch.tensor(labels[index]))
                    for index in (train, validation, test)))
