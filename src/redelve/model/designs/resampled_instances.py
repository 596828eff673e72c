"""Instances drawn from cases that train and test in turn: folds, one part held out, bootstrap samples."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from redelve.model import Instance
from redelve.model.dataset import Rows
from redelve.model.designs.folds import splits_of


def fold_instances(numbers: Rows, folds: int) -> tuple[Instance, ...]:
    """The instances that test a fold each, given the fold of each case."""
    return tuple(Instance(fold, *split) for fold, split in enumerate(splits_of(numbers, folds)))


def held_out(classes: Rows, share: float, rng: np.random.Generator) -> Instance:
    """The instance that tests this share of each class, one case at least."""
    members = [np.flatnonzero(classes == one) for one in np.unique(classes)]
    testing = [rng.permutation(one)[: max(round(share * one.size), 1)] for one in members]
    chosen = np.sort(np.concatenate(testing))
    return Instance(0, np.setdiff1d(np.arange(classes.size), chosen), chosen)


def bootstrap_instances(counts: NDArray[np.int64]) -> tuple[Instance, ...]:
    """For each sample the instance that trains on it and tests the cases outside.

    `counts` tells how often each sample (a row) holds each case; training cases repeat so often.
    """
    every = np.arange(counts.shape[1])
    return tuple(
        Instance(number, np.repeat(every, row), np.flatnonzero(row == 0)) for number, row in enumerate(counts)
    )
