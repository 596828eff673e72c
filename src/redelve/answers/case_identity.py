"""Which cases these are: digests by which results on other data under the same name are noticed."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence

import numpy as np

from redelve.answers.predictions import Truth
from redelve.model.dataset import Column


def truths_digest(truths: Sequence[Truth]) -> str:
    """A hash of the true values of test cases, in their order; how they are written does not matter.

    >>> from redelve.answers.predictions import Target, truth_of
    >>> one, other = (truth_of(Target("y", "real"), texts) for texts in (["1.50", "2"], ["1.5", "2.0"]))
    >>> truths_digest([one]) == truths_digest([other])
    True
    """
    hasher = hashlib.blake2b(digest_size=16)
    for truth in truths:
        if truth.target.kind == "categorical":
            levels = truth.target.levels
            hasher.update("\n".join(levels[index] for index in truth.level_indexes.tolist()).encode())
        else:
            hasher.update(np.ascontiguousarray(truth.values + 0.0, dtype="<f8").tobytes())
        hasher.update(truth.censoring.tobytes())
    return hasher.hexdigest()


def names_digest(names: Iterable[str]) -> str:
    """A hash of the names of cases, in their order."""
    return hashlib.blake2b("\n".join(names).encode(), digest_size=16).hexdigest()


def values_digest(columns: Iterable[Column]) -> str:
    """A hash of the values of cases, column by column: as numbers where all are, else as written."""
    hasher = hashlib.blake2b(digest_size=16)
    for column in columns:
        numbers = column.numbers()
        if np.isnan(numbers).any():
            hasher.update(("\n".join(column.texts()) + "\0").encode())
        else:
            hasher.update(np.ascontiguousarray(numbers + 0.0, dtype="<f8").tobytes())
    return hasher.hexdigest()
