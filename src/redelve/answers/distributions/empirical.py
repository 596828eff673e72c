"""Distributions given by draws or by quantiles."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from redelve.answers.distributions.parametric import Distribution, NormalMixture, check_same_shape, table
from redelve.errors import PredictionError
from redelve.model.dataset import Numbers


@dataclass(frozen=True, eq=False)
class Samples(Distribution):
    """Draws from a predictive distribution, a row for each case.

    Parameters
    ----------
    draws
        A row for each case and a column for each draw, two columns at least.

    Raises
    ------
    RedelveError
        There are fewer than two draws, or a value is not finite.

    Notes
    -----
    Probabilities, quantiles and CRPS are those of the draws; the density is a Gaussian kernel estimate
    with Silverman's (1986, Density Estimation for Statistics and Data Analysis, eq. 3.31) bandwidth
    0.9 min(sd, IQR/1.34) n^(−1/5).

    Examples
    --------
    >>> import numpy as np
    >>> import redelve
    >>> made = redelve.Samples([[1.0, 2.0, 3.0, 4.0]])
    >>> made.probability_below(np.array([2.5])).tolist()
    [0.5]
    """

    draws: Numbers
    kind: ClassVar[str] = "samples"

    def __post_init__(self) -> None:
        object.__setattr__(self, "draws", table(self.draws, "draws"))
        if self.draws.shape[1] < 2:
            raise PredictionError("a predictive distribution by samples needs at least two draws per case")

    def __len__(self) -> int:
        return len(self.draws)

    def log_density(self, values: Numbers) -> Numbers:
        """The kernel estimate at each case's value."""
        count = self.draws.shape[1]
        spread = self.draws.std(axis=1, ddof=1)
        quartiles = np.quantile(self.draws, [0.25, 0.75], axis=1)
        box = (quartiles[1] - quartiles[0]) / 1.34
        width = 0.9 * np.where(box > 0, np.minimum(spread, box), spread) * count**-0.2
        if (width <= 0).any():
            case = int(np.argmax(width <= 0))
            raise PredictionError(f"case {case + 1}: all draws are equal, so they have no density")
        scales = np.broadcast_to(width[:, None], self.draws.shape)
        return NormalMixture(np.ones_like(self.draws), self.draws, scales).log_density(values)

    def probability_below(self, values: Numbers) -> Numbers:
        """The share of draws that are at most the value."""
        return np.asarray((self.draws <= values[:, None]).mean(axis=1))

    def quantile(self, level: float) -> Numbers:
        """The quantile of the draws, interpolated."""
        return np.asarray(np.quantile(self.draws, level, axis=1))

    def mean(self) -> Numbers:
        """The mean of the draws."""
        return np.asarray(self.draws.mean(axis=1))

    def crps(self, values: Numbers) -> Numbers:
        """E|X − value| − E|X − X′|/2 over the draws (Gneiting and Raftery 2007, eq. 21)."""
        ordered = np.sort(self.draws, axis=1)
        count = ordered.shape[1]
        weights = 2 * np.arange(1, count + 1) - count - 1
        pairs = 2 * (ordered * weights).sum(axis=1) / count**2
        return np.asarray(np.abs(ordered - values[:, None]).mean(axis=1) - 0.5 * pairs)


@dataclass(frozen=True, eq=False)
class Quantiles(Distribution):
    """Quantiles of each case at some levels.

    Parameters
    ----------
    levels
        Levels between 0 and 1: one row for all cases, or a row for each case.
    values
        The quantiles, a row for each case and a column for each level. A row that is out of order is
        sorted.

    Raises
    ------
    RedelveError
        The shapes differ, a level is not between 0 and 1 or stands twice, or a value is not finite.

    Notes
    -----
    Sorting brings a row closer to the true one, whatever that is (Chernozhukov, Fernández-Val and
    Galichon 2010, Econometrica 78:1093–1125). Between quantiles the distribution function is a
    straight line; beyond the outermost ones it has exponential tails that go on with the density of
    the nearest interval, so that every value has a positive density. Equal quantiles are a point with
    probability: they leave everything defined but the density.

    Examples
    --------
    >>> import numpy as np
    >>> import redelve
    >>> made = redelve.Quantiles([0.1, 0.5, 0.9], [[10.0, 20.0, 30.0]])
    >>> made.probability_below(np.array([15.0])).round(3).tolist()
    [0.3]
    """

    levels: Numbers
    values: Numbers
    kind: ClassVar[str] = "quantiles"

    def __post_init__(self) -> None:
        rows = np.sort(table(self.values, "quantiles"), axis=1)
        levels = np.asarray(self.levels, dtype=np.float64)
        if levels.ndim == 1:
            levels = np.broadcast_to(levels, (len(rows), levels.size))
        levels = table(levels, "levels")
        check_same_shape(levels=levels, values=rows)
        _check_levels(levels)
        rows.setflags(write=False)
        object.__setattr__(self, "levels", levels)
        object.__setattr__(self, "values", rows)

    def __len__(self) -> int:
        return len(self.values)

    def log_density(self, values: Numbers) -> Numbers:
        """The slope of the distribution function: constant between quantiles, falling in the tails."""
        widths, steps = np.diff(self.values, axis=1), np.diff(self.levels, axis=1)
        if (widths <= 0).any():
            case = int(np.argmax((widths <= 0).any(axis=1)))
            raise PredictionError(f"case {case + 1}: two quantiles are equal, so they have no density")
        low, high = self._tails()
        at = self._place(values)
        inside = np.clip(at - 1, 0, widths.shape[1] - 1)[:, None]
        flat = np.log(np.take_along_axis(steps / widths, inside, axis=1)[:, 0])
        left = np.log(self.levels[:, 0] / low) + (values - self.values[:, 0]) / low
        right = np.log((1 - self.levels[:, -1]) / high) - (values - self.values[:, -1]) / high
        return np.asarray(np.where(at == 0, left, np.where(at == self.values.shape[1], right, flat)))

    def probability_below(self, values: Numbers) -> Numbers:
        """The level reached at the value, interpolated."""
        at = self._place(values)
        first = np.clip(at - 1, 0, self.values.shape[1] - 2)[:, None]
        (a, b), (p, q) = (_ends(rows, first) for rows in (self.values, self.levels))
        with np.errstate(divide="ignore", invalid="ignore"):
            inside = p + (q - p) * (values - a) / (b - a)
        left, right = self._tail_masses(values)
        return np.asarray(np.where(at == 0, left, np.where(at == self.values.shape[1], 1 - right, inside)))

    def quantile(self, level: float) -> Numbers:
        """The quantile interpolated between those given, or in a tail."""
        at = (self.levels <= level).sum(axis=1)
        first = np.clip(at - 1, 0, self.values.shape[1] - 2)[:, None]
        (a, b), (p, q) = (_ends(rows, first) for rows in (self.values, self.levels))
        low, high = self._tails()
        with np.errstate(divide="ignore", invalid="ignore"):
            left = self.values[:, 0] + low * np.log(level / self.levels[:, 0])
            right = self.values[:, -1] - high * np.log((1 - level) / (1 - self.levels[:, -1]))
        inside = a + (b - a) * (level - p) / (q - p)
        return np.asarray(np.where(at == 0, left, np.where(at == self.values.shape[1], right, inside)))

    def mean(self) -> Numbers:
        """The integral of the quantile function: trapezia and two exponential tails."""
        low, high = self._tails()
        middle = (np.diff(self.levels, axis=1) * (self.values[:, 1:] + self.values[:, :-1]) / 2).sum(axis=1)
        left, right = self.levels[:, 0], 1 - self.levels[:, -1]
        return np.asarray(left * (self.values[:, 0] - low) + middle + right * (self.values[:, -1] + high))

    def crps(self, values: Numbers) -> Numbers:
        """∫ F² below the value and ∫ (1 − F)² above it, exactly, piece by piece."""
        a, b = self.values[:, :-1], self.values[:, 1:]
        p, q = self.levels[:, :-1], self.levels[:, 1:]
        cut = np.clip(values[:, None], a, b)
        with np.errstate(divide="ignore", invalid="ignore"):
            reached = np.where(b > a, p + (q - p) * (cut - a) / (b - a), p)
        below = (cut - a) * _mean_square(p, reached)
        above = (b - cut) * _mean_square(1 - reached, 1 - q)
        low, high = self._tails()
        left = _tail_score(self.values[:, 0] - values, low, self.levels[:, 0])
        right = _tail_score(values - self.values[:, -1], high, 1 - self.levels[:, -1])
        return np.asarray((below + above).sum(axis=1) + left + right)

    def _place(self, values: Numbers) -> NDArray[np.int64]:
        """How many quantiles are at most the value."""
        return np.asarray((self.values <= values[:, None]).sum(axis=1), dtype=np.int64)

    def _tails(self) -> tuple[Numbers, Numbers]:
        """Scales of the lower and the upper tail; zero where all quantiles are equal."""
        gaps, steps = self.values - self.values[:, :1], self.levels - self.levels[:, :1]
        low = self.levels[:, 0] * _first_slope(gaps, steps)
        gaps, steps = self.values[:, -1:] - self.values, self.levels[:, -1:] - self.levels
        high = (1 - self.levels[:, -1]) * _first_slope(gaps[:, ::-1], steps[:, ::-1])
        return low, high

    def _tail_masses(self, values: Numbers) -> tuple[Numbers, Numbers]:
        """Probability below a value in the lower tail, and above one in the upper."""
        low, high = self._tails()
        left = self.levels[:, 0] * _decay(self.values[:, 0] - values, low)
        right = (1 - self.levels[:, -1]) * _decay(values - self.values[:, -1], high)
        return left, np.where(high > 0, right, 0.0)


def _check_levels(levels: Numbers) -> None:
    ordered = (np.diff(levels, axis=1) > 0).all() and (levels > 0).all() and (levels < 1).all()
    if levels.shape[1] < 2 or not ordered:
        raise PredictionError(
            "levels of quantiles must be at least two, between 0 and 1 and increasing, as 0.1, 0.5, 0.9: "
            f"got {', '.join(f'{level:g}' for level in levels[0])}"
        )


def _ends(rows: Numbers, first: NDArray[np.int64]) -> tuple[Numbers, Numbers]:
    """Of each row the entry at `first` and the one after it."""
    return np.take_along_axis(rows, first, axis=1)[:, 0], np.take_along_axis(rows, first + 1, axis=1)[:, 0]


def _first_slope(gaps: Numbers, steps: Numbers) -> Numbers:
    """Gap over step at the first gap of a row that is not zero; zero if there is none."""
    first = np.argmax(gaps > 0, axis=1)[:, None]
    gap, step = (np.take_along_axis(rows, first, axis=1)[:, 0] for rows in (gaps, steps))
    return np.divide(gap, step, out=np.zeros_like(gap), where=gap > 0)


def _decay(distance: Numbers, scale: Numbers) -> Numbers:
    """exp(−distance/scale) of distances from zero up; none of it at any distance where the scale is zero."""
    reach = np.maximum(distance, 0.0)
    ratio = np.divide(reach, scale, out=np.where(reach > 0, np.inf, 0.0), where=scale > 0)
    return np.exp(-ratio)


def _mean_square(first: Numbers, last: Numbers) -> Numbers:
    """Mean of the square of what changes evenly from first to last."""
    return (first**2 + first * last + last**2) / 3


def _tail_score(distance: Numbers, scale: Numbers, mass: Numbers) -> Numbers:
    """The part of a tail in the CRPS of a value that lies so far inside it, or outside if negative."""
    left = _decay(distance, scale)
    inside = np.maximum(distance, 0.0) - 2 * mass * scale * (1 - left) + mass**2 * scale / 2 * (1 - left**2)
    return np.asarray(inside + mass**2 * scale / 2 * left**2)
