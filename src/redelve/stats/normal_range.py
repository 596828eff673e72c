"""The range of several standard normal variables: its tail and its quantiles, by quadrature."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from redelve.errors import StatisticsError
from redelve.stats.mean_squares import FloatArray

FARTHEST = 9.0
"""φ is below 10⁻¹⁸ beyond it."""
NODES = 721
"""1/40 apart: the trapezoidal rule, on so smooth an integrand, then errs by rounding alone."""


def range_tail(widths: ArrayLike, count: int) -> FloatArray:
    """P(range > w) of so many variables: 1 − k ∫ φ(z) (Φ(z) − Φ(z − w))ᵏ⁻¹ dz (Hartley 1942, eq. 6).

    >>> round(float(range_tail(3.314493, 3)), 6)
    0.05
    """
    from scipy.special import ndtr

    width = np.asarray(widths, dtype=np.float64)[..., None]
    z = np.linspace(-FARTHEST, FARTHEST, NODES)
    density = np.exp(-z * z / 2) / np.sqrt(2 * np.pi)
    inside = count * density * (ndtr(z) - ndtr(z - width)) ** (count - 1)
    return np.asarray(np.clip(1 - inside.sum(axis=-1) * (z[1] - z[0]), 0.0, 1.0), dtype=np.float64)


def range_quantile(level: float, count: int) -> float:
    """The width that the range of so many variables exceeds with this chance.

    >>> round(range_quantile(0.05, 2), 4)
    2.7718
    """
    from scipy.optimize import brentq

    if not 0 < level < 1:
        raise StatisticsError(f"the chance of a wider range is {level}: give one between 0 and 1")
    highest = 2 * FARTHEST
    return float(brentq(lambda width: float(range_tail(width, count)) - level, 0.0, highest, xtol=1e-12))
