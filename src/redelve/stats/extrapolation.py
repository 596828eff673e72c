"""What a learning curve expects at twice its largest training-set size, with an interval.

A curve is a + b·f(n) with a shape f: a power law n^(−c) with 0 ≤ c ≤ 2 (c = 0 is the logarithm) or an
exponential approach e^(−hn/N) with 1 ≤ h ≤ 8, N being the largest size. Given the shape the curve is linear
in a and b, so what it says of 2N is a weighted sum of the mean losses with a t-interval. The shape is not
known: the interval is the union over all shapes that the sizes do not reject, with a part of the level
spent on rejecting (Berger and Boos 1994, Journal of the American Statistical Association 89:1012–1016).
Power laws are the shape that is found most often (Viering and Loog 2023, IEEE Transactions on Pattern
Analysis and Machine Intelligence 45:7799–7819); exponentials stand for curves that level off sooner. At
most the three largest sizes count: what happened far from the largest size says little of what comes next.
See docs/comparisons.md.

The last axis of every array is that of the sizes; axes before it are those of many curves at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from redelve.errors import StatisticsError
from redelve.stats.families import Truths
from redelve.stats.mean_squares import FloatArray, t_quantile

EXPONENTS = np.linspace(0.0, 2.0, 81)
RATES = np.geomspace(1.0, 8.0, 61)
MOST_SIZES = 3
"""The largest sizes, so many, that extrapolation rests on."""
SHAPE_SHARE = 0.2
"""Part of the level that rejects shapes."""
STEADY = 3.0
"""A loss that is to be the unit of its fall must exceed its standard error by this factor."""


WhyUnknown = Literal["nothing lost", "unsteady", "no variance", "no shape fits"]
"""Some shape's loss at the largest size is not steady; a fall varies on no training set; all are rejected."""


@dataclass(frozen=True)
class SizeMeans:
    """Mean losses at several training-set sizes, and how these vary together.

    `covariances` are those of the means as training sets vary, on `df` degrees of freedom; `shared` is what
    test cases add that all training sets share.
    """

    sizes: tuple[int, ...]
    means: FloatArray
    covariances: FloatArray
    df: float
    shared: FloatArray | None = None

    def variance(self, contrasts: FloatArray) -> FloatArray:
        """Of weighted sums of the means; `contrasts` has an axis of its own before that of the sizes."""
        found = _quadratic(contrasts, self.covariances)
        if self.shared is not None:
            found = found + np.maximum(_quadratic(contrasts, self.shared), 0.0)
        return found


@dataclass(frozen=True)
class TwiceTheData:
    """By how much the loss falls from the largest training-set size to twice that; NaN where not known.

    In parts of the loss at the largest size, or in units of the loss. `low` and `high` hold the fall for
    every shape that the sizes do not reject; `fall` is that of the power law that fits best, which needs
    three sizes.
    """

    sizes: tuple[int, ...]
    fall: FloatArray
    low: FloatArray
    high: FloatArray
    exponent: FloatArray


def means_by_set(sizes: Sequence[int], means: ArrayLike, factor: float | None = None) -> SizeMeans:
    """From means[size, set]: the same set is tested on the same cases at every size, other sets on others.

    `factor` times the variance of the sets' means is that of their mean: 1/I by default, 1/J +
    n_test/n_train for J folds (Nadeau and Bengio 2003).
    """
    table = np.asarray(means, dtype=np.float64)
    _check_sizes(sizes, table.shape[-2])
    sets = table.shape[-1]
    if sets < 2:
        raise StatisticsError(f"what training sets vary takes two of them at least: got {sets}")
    covariances = _products(table) / (sets - 1)
    return SizeMeans(tuple(sizes), table.mean(axis=-1), covariances * (factor or 1 / sets), float(sets - 1))


def means_by_case(sizes: Sequence[int], losses: ArrayLike) -> SizeMeans:
    """From losses[size, set, case]: all training sets of all sizes are tested on the same cases.

    The covariance that cases add is (MS_b − MS_ε)/(IJ), as in the analysis of one size (manual eqs. 13–16),
    with products of sizes in place of squares.
    """
    table = np.asarray(losses, dtype=np.float64)
    found = means_by_set(sizes, table.mean(axis=-1))
    count, sets, cases = table.shape[-3:]
    by_case = table.mean(axis=-2, keepdims=True)
    by_set = table.mean(axis=-1, keepdims=True)
    rest = table - by_case - by_set + by_case.mean(axis=-1, keepdims=True)
    of_cases = sets * _products(by_case[..., 0, :]) / (cases - 1)
    residual = _products(rest.reshape(*table.shape[:-3], count, -1)) / ((sets - 1) * (cases - 1))
    shared = (of_cases - residual) / (sets * cases)
    return SizeMeans(found.sizes, found.means, found.covariances, found.df, shared)


def at_twice_the_data(found: SizeMeans, *, level: float = 0.05, is_relative: bool = True) -> TwiceTheData:
    """By how much the loss would fall if the largest training sets were twice as large.

    Parameters
    ----------
    found : SizeMeans
        Mean losses at two sizes or more.
    level : float
        How often the interval may miss.
    is_relative : bool
        Whether the fall is a share of the loss at the largest size; losses without a natural zero fall by
        amounts.

    Returns
    -------
    TwiceTheData
        The fall by the power law that fits best, and the interval.

    Notes ----- Weights of the fit are proportional to the size. A shape is rejected if the three sizes do
    not lie on it, by a t-test at a fifth of the level; the rest of the level is that of each shape's
    interval. The variance of a relative fall is that of its linearisation.
    """
    used = _largest(found)
    shapes, fall, contrasts = _by_shape(used, is_relative)
    spend = SHAPE_SHARE * level if len(used.sizes) > 2 else 0.0
    width = t_quantile(used.df, 1 - (level - spend)) * np.sqrt(used.variance(contrasts))
    misfit = _misfit(used, shapes)
    fits = misfit <= (t_quantile(used.df, 1 - spend) if spend else np.inf)
    low = np.where(fits, fall - width, np.inf).min(axis=-1)
    high = np.where(fits, fall + width, -np.inf).max(axis=-1)
    known = np.isfinite(low) & np.isfinite(high) & (width > 0).all(axis=-1)
    return _told(used, (fall, low, high, misfit), known, is_relative)


def why_unknown(found: SizeMeans, *, is_relative: bool = True) -> WhyUnknown:
    """Why nothing is known of twice the data, where `at_twice_the_data` has no interval."""
    used = _largest(found)
    _, fall, contrasts = _by_shape(used, is_relative)
    if is_relative and used.means[-1] == 0:
        return "nothing lost"
    if np.isnan(fall).any():
        return "unsteady"
    return "no shape fits" if (used.variance(contrasts) > 0).all() else "no variance"


def _by_shape(used: SizeMeans, is_relative: bool) -> tuple[FloatArray, FloatArray, FloatArray]:
    """The shapes, the fall by each of them, and the contrast of the means whose variance is the fall's."""
    x = np.array(used.sizes) / used.sizes[-1]
    shapes, ahead = _shapes(x)
    slopes, starts = _fits(shapes, x)
    return shapes, *_fall(used, -ahead[:, None] * slopes, starts, is_relative)


def _told(used: SizeMeans, found: tuple[FloatArray, ...], known: Truths, is_relative: bool) -> TwiceTheData:
    fall, low, high, misfit = found
    laws = len(EXPONENTS)
    best = misfit[..., :laws].argmin(axis=-1)
    by_law = np.take_along_axis(fall[..., :laws], best[..., None], axis=-1)[..., 0]
    is_within = (low <= by_law) & (by_law <= high)
    is_fitted = known & is_within if len(used.sizes) > 2 else np.zeros_like(known)
    return TwiceTheData(
        used.sizes,
        np.where(is_fitted, by_law, np.nan),
        np.where(known, low, np.nan),
        np.where(known, np.minimum(high, 1.0) if is_relative else high, np.nan),
        np.where(is_fitted, EXPONENTS[best], np.nan),
    )


def _largest(found: SizeMeans) -> SizeMeans:
    _check_sizes(found.sizes, found.means.shape[-1])
    last = slice(-MOST_SIZES, None)
    shared = None if found.shared is None else found.shared[..., last, last]
    return SizeMeans(
        found.sizes[last], found.means[..., last], found.covariances[..., last, last], found.df, shared
    )


def _shapes(x: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Every shape at the sizes x (the largest is 1), and at 2; all are zero at the largest."""
    at = np.append(x, 2.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        laws = np.expm1(-EXPONENTS[:, None] * np.log(at)) / EXPONENTS[:, None]
    laws[EXPONENTS == 0] = -np.log(at)
    both = np.concatenate((laws, np.expm1(-RATES[:, None] * (at - 1))))
    return both[:, :-1], both[:, -1]


def _fits(shapes: FloatArray, x: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Coefficients of the means that give b, and those that give the loss at the largest size."""
    weights = x / x.sum()
    centre = (shapes * weights).sum(axis=-1, keepdims=True)
    slopes = weights * (shapes - centre)
    slopes = slopes / (slopes * shapes).sum(axis=-1, keepdims=True)
    return slopes, weights - slopes * centre


def _fall(
    used: SizeMeans, rises: FloatArray, starts: FloatArray, is_relative: bool
) -> tuple[FloatArray, FloatArray]:
    """For every shape the fall, and the contrast of the means whose variance is the fall's."""
    amount = used.means @ rises.T
    if not is_relative:
        return amount, np.broadcast_to(rises, (*amount.shape, rises.shape[-1]))
    loss = used.means @ starts.T
    steady = loss > STEADY * np.sqrt(used.variance(np.broadcast_to(starts, (*loss.shape, starts.shape[-1]))))
    loss = np.where(steady, loss, np.nan)
    share = amount / loss
    return share, (rises - share[..., None] * starts) / loss[..., None]


def _misfit(used: SizeMeans, shapes: FloatArray) -> FloatArray:
    """|t| of the distance of three sizes from every shape; zero for two, which lie on all."""
    if shapes.shape[-1] < 3:
        return np.zeros((*used.means.shape[:-1], len(shapes)))
    a, b, c = shapes.T
    contrasts = np.stack((b - c, c - a, a - b), axis=-1)
    off = used.means @ contrasts.T
    spread = np.sqrt(used.variance(np.broadcast_to(contrasts, (*off.shape, 3))))
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(np.nan_to_num(np.abs(off) / spread, nan=np.inf))


def _quadratic(contrasts: FloatArray, matrix: FloatArray) -> FloatArray:
    return np.asarray(np.einsum("...ks,...st,...kt->...k", contrasts, matrix, contrasts))


def _products(table: FloatArray) -> FloatArray:
    """Sums of products of centred rows."""
    centred = table - table.mean(axis=-1, keepdims=True)
    return np.asarray(np.einsum("...si,...ti->...st", centred, centred))


def _check_sizes(sizes: Sequence[int], given: int) -> None:
    if len(sizes) != given or given < 2 or any(b <= a for a, b in pairwise(sizes)):
        raise StatisticsError(
            "a curve is extrapolated from two training-set sizes or more, in increasing order: got "
            f"{list(sizes)} for {given} means"
        )
