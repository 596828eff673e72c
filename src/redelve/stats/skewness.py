"""Losses with a long tail: whether a t interval of their mean can be relied on."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil

import numpy as np

from redelve.stats.mean_squares import FloatArray

COCHRAN = 0.04
"""A 95 % interval errs in no more than about 6 % while the squared skewness over the number of cases is less.

Cochran (1977, Sampling Techniques, third edition, section 2.15): n > 25 G₁². docs/calibration.md has what is
measured on either side of it.
"""
TOP = 0.01
"""The share of the cases whose share of the sum is told."""


@dataclass(frozen=True)
class LossTail:
    """How much of the losses the worst cases carry, and the squared skewness over the number of cases."""

    top_share: float
    strength: float

    @property
    def is_heavy(self) -> bool:
        """Whether the mean of so few cases is too skewed for a t interval."""
        return self.strength >= COCHRAN


def loss_tail(losses: FloatArray, lowest: float = 0.0) -> LossTail:
    """The tail of independent cases' losses; one hundredth of the cases, at least one, is the top.

    Shares are of what is lost beyond `lowest`, or beyond the smallest loss seen where that is infinite.

    >>> loss_tail(np.array([1.0] * 99 + [101.0])).top_share
    0.505
    """
    values = np.sort(np.asarray(losses, dtype=np.float64))
    if not np.isfinite(values).all():
        return LossTail(0.0, 0.0)
    above = values - (lowest if np.isfinite(lowest) else values[0])
    total, away = float(above.sum()), values - values.mean()
    variance = float(np.square(away).mean())
    if not (total > 0 and np.finfo(np.float64).tiny < variance < np.inf):
        return LossTail(0.0, 0.0)
    skewness = float(np.power(away / np.sqrt(variance), 3).mean())
    worst = above[-ceil(TOP * above.size) :]
    return LossTail(float(worst.sum()) / total, skewness**2 / values.size)
