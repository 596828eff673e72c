"""PROBEN1's error measures (section 2.6) on arrays of outputs: … × examples × output nodes.

Axes before the last two are kept, so that many runs are measured at once; results are in per cent.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from redelve.errors import PredictionError, SpecError
from redelve.stats.mean_squares import FloatArray

Classes = NDArray[np.int64]

REJECTED = -1


class Thresholds(NamedTuple):
    """Outputs below `low` are taken as 0, those above `high` as 1."""

    low: float
    high: float


HALF = Thresholds(0.5, 0.5)
"""Exactly one output larger than 0.5 designates the class."""
STRICT = Thresholds(0.3, 0.7)
"""Exactly one output above 0.7, all others below 0.3."""


def squared_error_percentage(
    outputs: ArrayLike, targets: ArrayLike, *, output_range: tuple[float, float] = (0.0, 1.0)
) -> FloatArray:
    """E = 100 · (o_max − o_min)/(N·P) · ΣΣ(o_pi − t_pi)², as section 2.6 prints it.

    `output_range` is of the target coefficients in the problem's representation. The factor is the range
    itself and not one over its square, so errors on scales of other length than 1 are not comparable.

    >>> float(squared_error_percentage([[0.5, 0.5], [1.0, 0.0]], [[1, 0], [1, 0]]))
    12.5
    """
    low, high = output_range
    if not low < high:
        raise SpecError(f"the output range {low:g}…{high:g} is empty: give its least and its greatest value")
    given, wanted = _pair(outputs, targets)
    total = np.square(given - wanted).sum(axis=(-2, -1))
    return np.asarray(100 * (high - low) / wanted.size * total, dtype=np.float64)


def winner_takes_all(outputs: ArrayLike) -> Classes:
    """The output with the highest activation designates the class, from 0; of equal ones the first.

    This is the standard where nothing may be rejected (section 2.6).
    """
    found: Classes = _checked(outputs, "outputs").argmax(axis=-1)
    return found


def decide(outputs: ArrayLike, thresholds: Thresholds = HALF) -> Classes:
    """The class, from 0, that the thresholds let pass, or −1 for rejection (section 2.6).

    An output above `high` counts as 1 and one below `low` as 0; a case is rejected unless exactly one
    output is 1 and all others are 0. With `HALF`, an output of exactly 0.5 counts as 0.

    >>> decide([[0.8, 0.1], [0.8, 0.6], [0.6, 0.4], [0.9, 0.3]], STRICT).tolist()
    [0, -1, -1, -1]
    """
    low, high = thresholds
    if not low <= high:
        raise SpecError(
            f"the thresholds {low:g} and {high:g} are the wrong way round: give the lower one first"
        )
    given = _checked(outputs, "outputs")
    ones = given > high
    zeros = given <= low if low == high else given < low
    clear = (ones.sum(axis=-1) == 1) & (ones | zeros).all(axis=-1)
    decided: Classes = np.where(clear, ones.argmax(axis=-1), REJECTED)
    return decided


@dataclass(frozen=True, eq=False)
class ClassVerdict:
    """Examples classified wrongly, rejected and classified rightly, in per cent of all; they sum to 100."""

    wrong: FloatArray
    rejected: FloatArray
    right: FloatArray


def classification_error(outputs: ArrayLike, targets: ArrayLike) -> FloatArray:
    """Percentage of incorrectly classified examples by winner-takes-all.

    >>> float(classification_error([[0.5, 0.4], [0.2, 0.7], [0.9, 0.0], [0.1, 0.0]], [[1, 0]] * 4))
    25.0
    """
    given, wanted = _pair(outputs, targets)
    wrong = winner_takes_all(given) != true_classes(wanted)
    return np.asarray(100 * wrong.mean(axis=-1), dtype=np.float64)


def classify(outputs: ArrayLike, targets: ArrayLike, thresholds: Thresholds = HALF) -> ClassVerdict:
    """What becomes of the examples when those that the thresholds don't let pass are rejected."""
    given, wanted = _pair(outputs, targets)
    decided, true = decide(given, thresholds), true_classes(wanted)
    rejected = decided == REJECTED
    shares = (~rejected & (decided != true), rejected, decided == true)
    wrong, left, right = (np.asarray(100 * share.mean(axis=-1), dtype=np.float64) for share in shares)
    return ClassVerdict(wrong, left, right)


def true_classes(targets: ArrayLike) -> Classes:
    """The class, from 0, of each example of a 1-of-m code."""
    wanted = _checked(targets, "targets")
    bad = ~((np.isin(wanted, (0.0, 1.0)).all(axis=-1)) & (wanted.sum(axis=-1) == 1))
    if bad.any():
        row = int(np.argmax(bad))
        raise SpecError(
            f"example {row + 1} has the targets {wanted[row].tolist()}, which is no 1-of-{wanted.shape[-1]} "
            "code: only classes can be told right or wrong"
        )
    found: Classes = wanted.argmax(axis=-1)
    return found


def _pair(outputs: ArrayLike, targets: ArrayLike) -> tuple[FloatArray, FloatArray]:
    given, wanted = _checked(outputs, "outputs"), _checked(targets, "targets")
    if wanted.ndim != 2 or given.shape[-2:] != wanted.shape:
        raise PredictionError(
            f"expected outputs of {' × '.join(map(str, wanted.shape))} (examples × nodes) for each run but "
            f"got an array of shape {given.shape}"
        )
    return given, wanted


def _checked(values: ArrayLike, what: str) -> FloatArray:
    array = np.asarray(values, dtype=np.float64)
    if array.ndim < 2 or not array.size:
        raise PredictionError(f"expected {what} as examples × nodes but got an array of shape {array.shape}")
    if not np.isfinite(array).all():
        place = np.argwhere(~np.isfinite(array))[0].tolist()
        raise PredictionError(f"the {what} are {array[tuple(place)]} at {place}: they must be finite numbers")
    return array
