"""What every predictive distribution can do; normal, Student and mixtures of normals.

All have closed forms but the quantiles of mixtures.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, fields
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from redelve.errors import PredictionError
from redelve.model.dataset import Numbers

CRPS_LEVELS = 200
"""Levels at which a distribution without a closed form is compared with the truth for its CRPS."""


class Distribution(ABC):
    """One predictive distribution per test case; the fields of a subclass are arrays with a row per case."""

    kind: ClassVar[str]

    @abstractmethod
    def __len__(self) -> int: ...

    @abstractmethod
    def log_density(self, values: Numbers) -> Numbers:
        """The log density of each case's value."""

    @abstractmethod
    def probability_below(self, values: Numbers) -> Numbers:
        """The probability, case by case, of at most the value."""

    def probability_above(self, values: Numbers) -> Numbers:
        """The probability, case by case, of more than the value; kinds that can keep small ones exact do."""
        return 1.0 - self.probability_below(values)

    @abstractmethod
    def quantile(self, level: float) -> Numbers:
        """What each case stays below with probability `level`."""

    @abstractmethod
    def mean(self) -> Numbers:
        """The best guess for squared error."""

    def median(self) -> Numbers:
        """The best guess for absolute error."""
        return self.quantile(0.5)

    def crps(self, values: Numbers) -> Numbers:
        """The continuous ranked probability score, ∫ (F(x) − 1[x ≥ value])² dx (Gneiting and Raftery 2007).

        Without a closed form it is twice the quantile loss averaged over equally spaced levels, which
        tends to the same as the levels become many (Gneiting and Ranjan 2011, eq. 9).
        """
        levels = (np.arange(CRPS_LEVELS) + 0.5) / CRPS_LEVELS
        total = np.zeros(len(self))
        for level in levels.tolist():
            gap = values - self.quantile(level)
            total += np.where(gap >= 0, level * gap, (level - 1) * gap)
        return 2 * total / CRPS_LEVELS

    def covers(self, values: Numbers, level: float = 0.9) -> NDArray[np.bool_]:
        """Whether each value lies in the central interval of the given probability."""
        tail = (1 - level) / 2
        inside: NDArray[np.bool_] = (values >= self.quantile(tail)) & (values <= self.quantile(1 - tail))
        return inside

    def parameters(self) -> dict[str, Numbers]:
        """The arrays that make up the distribution, by name."""
        return {field.name: getattr(self, field.name) for field in fields(self)}  # type: ignore[arg-type]


def column(values: Numbers, name: str) -> Numbers:
    """One finite number per case, not to be changed."""
    array = _floats(values)
    if array.ndim != 1 or not np.isfinite(array).all():
        raise PredictionError(f"{name} of a predictive distribution must be one finite number per case")
    array.setflags(write=False)
    return array


def _floats(values: Numbers) -> Numbers:
    """A copy, or NaN where they are no numbers, which no distribution takes."""
    try:
        return np.array(values, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        return np.array(np.nan)


def table(values: Numbers, name: str) -> Numbers:
    """A row of finite numbers per case, not to be changed."""
    array = _floats(values)
    if array.ndim != 2 or array.shape[1] == 0 or not np.isfinite(array).all():
        raise PredictionError(f"{name} of a predictive distribution must be a row of finite numbers per case")
    array.setflags(write=False)
    return array


def check_positive(values: Numbers, name: str) -> None:
    """Refuse numbers that are not above zero, naming the first case."""
    if (values <= 0).any():
        case = int(np.argmax((values <= 0).reshape(len(values), -1).any(axis=1)))
        raise PredictionError(f"case {case + 1}: {name} must be positive but is {np.min(values[case]):g}")


def check_same_shape(**arrays: Numbers) -> None:
    """Refuse parameters that do not speak of the same cases."""
    if len({array.shape for array in arrays.values()}) > 1:
        found = ", ".join(f"{name} {array.shape}" for name, array in arrays.items())
        raise PredictionError(f"the parameters of a distribution must have the same shape: got {found}")


@dataclass(frozen=True, eq=False)
class Normal(Distribution):
    """A normal distribution for each case.

    Parameters
    ----------
    location
        The means, one for each case.
    scale
        The standard deviations, one for each case, above 0.

    Raises
    ------
    RedelveError
        The lengths differ, a value is not finite, or a scale is not above 0.

    Notes
    -----
    Its continuous ranked probability score has a closed form: Gneiting and Raftery (2007), Journal of
    the American Statistical Association 102:359–378, section 4.2.

    Examples
    --------
    >>> import numpy as np
    >>> import redelve
    >>> made = redelve.Normal([0.0, 10.0], [1.0, 2.0])
    >>> made.log_density(np.array([0.0, 10.0])).round(3).tolist()
    [-0.919, -1.612]
    """

    location: Numbers
    scale: Numbers
    kind: ClassVar[str] = "normal"

    def __post_init__(self) -> None:
        object.__setattr__(self, "location", column(self.location, "the location"))
        object.__setattr__(self, "scale", column(self.scale, "the scale"))
        check_same_shape(**self.parameters())
        check_positive(self.scale, "the scale")

    def __len__(self) -> int:
        return len(self.location)

    def log_density(self, values: Numbers) -> Numbers:
        """The Gaussian log density."""
        z = (values - self.location) / self.scale
        return -0.5 * z**2 - np.log(self.scale) - 0.5 * math.log(2 * math.pi)

    def probability_below(self, values: Numbers) -> Numbers:
        """Φ of the standardised value."""
        from scipy.special import ndtr

        return np.asarray(ndtr((values - self.location) / self.scale))

    def probability_above(self, values: Numbers) -> Numbers:
        """Φ of the standardised value turned about."""
        from scipy.special import ndtr

        return np.asarray(ndtr((self.location - values) / self.scale))

    def quantile(self, level: float) -> Numbers:
        """Location plus a multiple of the scale."""
        from scipy.special import ndtri

        return self.location + self.scale * float(ndtri(level))

    def mean(self) -> Numbers:
        """The location."""
        return self.location

    def crps(self, values: Numbers) -> Numbers:
        """σ (z (2Φ(z) − 1) + 2φ(z) − 1/√π) (Gneiting and Raftery 2007, section 4.2)."""
        from scipy.special import ndtr

        with np.errstate(over="ignore"):  # values near the largest number there is lose all there is
            z = (values - self.location) / self.scale
            density = np.exp(-0.5 * z**2) / math.sqrt(2 * math.pi)
            return np.asarray(self.scale * (z * (2 * ndtr(z) - 1) + 2 * density - 1 / math.sqrt(math.pi)))


@dataclass(frozen=True, eq=False)
class Student(Distribution):
    """A t distribution for each case, with more than one degree of freedom.

    Parameters
    ----------
    location
        The centres, one for each case.
    scale
        The scales, one for each case, above 0.
    degrees_of_freedom
        One for each case, above 1, so that there is a mean.

    Raises
    ------
    RedelveError
        The lengths differ, a value is not finite, or a scale or degree of freedom is too small.

    Notes
    -----
    What Bayesian linear regression predicts with (Gelman et al. 2013, Bayesian Data Analysis, section
    14.2). Its continuous ranked probability score has a closed form (Jordan, Krüger and Lerch 2019,
    Journal of Statistical Software 90(12), appendix A).

    Examples
    --------
    >>> import numpy as np
    >>> import redelve
    >>> made = redelve.Student([0.0], [1.0], [5.0])
    >>> made.log_density(np.array([0.0])).round(3).tolist()
    [-0.969]
    """

    location: Numbers
    scale: Numbers
    degrees_of_freedom: Numbers
    kind: ClassVar[str] = "student"

    def __post_init__(self) -> None:
        for name in ("location", "scale", "degrees_of_freedom"):
            object.__setattr__(self, name, column(getattr(self, name), name.replace("_", " ")))
        check_same_shape(**self.parameters())
        check_positive(self.scale, "the scale")
        check_positive(self.degrees_of_freedom - 1, "degrees of freedom less one")

    def __len__(self) -> int:
        return len(self.location)

    def log_density(self, values: Numbers) -> Numbers:
        """The log density of the t distribution."""
        from scipy.special import gammaln

        df, z = self.degrees_of_freedom, (values - self.location) / self.scale
        constant = gammaln((df + 1) / 2) - gammaln(df / 2) - 0.5 * np.log(df * math.pi)
        return np.asarray(constant - np.log(self.scale) - (df + 1) / 2 * np.log1p(z**2 / df))

    def probability_below(self, values: Numbers) -> Numbers:
        """The t distribution function."""
        from scipy.special import stdtr

        return np.asarray(stdtr(self.degrees_of_freedom, (values - self.location) / self.scale))

    def probability_above(self, values: Numbers) -> Numbers:
        """The same of the value turned about."""
        from scipy.special import stdtr

        return np.asarray(stdtr(self.degrees_of_freedom, (self.location - values) / self.scale))

    def quantile(self, level: float) -> Numbers:
        """Location plus a multiple of the scale."""
        from scipy.special import stdtrit

        return np.asarray(self.location + self.scale * stdtrit(self.degrees_of_freedom, level))

    def mean(self) -> Numbers:
        """The location."""
        return self.location

    def crps(self, values: Numbers) -> Numbers:
        """Closed form of Jordan, Krüger and Lerch (2019, J. Stat. Software 90(12), appendix A)."""
        from scipy.special import beta, stdtr

        df, z = self.degrees_of_freedom, (values - self.location) / self.scale
        density = np.exp(Student(np.zeros(len(self)), np.ones(len(self)), df).log_density(z))
        spread = 2 * np.sqrt(df) / (df - 1) * beta(0.5, df - 0.5) / beta(0.5, df / 2) ** 2
        score = z * (2 * stdtr(df, z) - 1) + 2 * density * (df + z**2) / (df - 1) - spread
        return np.asarray(self.scale * score)


@dataclass(frozen=True, eq=False)
class NormalMixture(Distribution):
    """A mixture of normal distributions for each case.

    Parameters
    ----------
    weights
        A row for each case and a column for each component: not negative, not all zero. Each row is
        made to sum to one.
    locations
        The means, in the same shape.
    scales
        The standard deviations, in the same shape, above 0.

    Raises
    ------
    RedelveError
        The shapes differ, a value is not finite, or a weight or scale is not allowed.

    Notes
    -----
    What mixture density networks and averages of Gaussian predictions are. The continuous ranked
    probability score has a closed form (Grimit et al. 2006, Quarterly Journal of the Royal
    Meteorological Society 132:2925–2942).

    Examples
    --------
    >>> import numpy as np
    >>> import redelve
    >>> made = redelve.NormalMixture([[1.0, 1.0]], [[-1.0, 1.0]], [[1.0, 1.0]])
    >>> made.weights.tolist(), made.probability_below(np.array([0.0])).round(3).tolist()
    ([[0.5, 0.5]], [0.5])
    """

    weights: Numbers
    locations: Numbers
    scales: Numbers
    kind: ClassVar[str] = "normal-mixture"

    def __post_init__(self) -> None:
        for name in ("weights", "locations", "scales"):
            object.__setattr__(self, name, table(getattr(self, name), name))
        check_same_shape(**self.parameters())
        check_positive(self.scales, "a scale")
        if (self.weights < 0).any() or (self.weights.sum(axis=1) <= 0).any():
            raise PredictionError("the weights of a mixture must not be negative, nor all zero")
        total = self.weights.sum(axis=1, keepdims=True)
        total[np.abs(total - 1) < 1e-12] = 1.0  # weights read back from an archive stay as they are
        object.__setattr__(self, "weights", table(self.weights / total, "weights"))

    def __len__(self) -> int:
        return len(self.weights)

    def log_density(self, values: Numbers) -> Numbers:
        """The log of the weighted sum of densities."""
        from scipy.special import logsumexp

        z = (values[:, None] - self.locations) / self.scales
        logs = -0.5 * z**2 - np.log(self.scales) - 0.5 * math.log(2 * math.pi)
        return np.asarray(logsumexp(logs, axis=1, b=self.weights))

    def probability_below(self, values: Numbers) -> Numbers:
        """The weighted sum of distribution functions."""
        from scipy.special import ndtr

        return np.asarray((self.weights * ndtr((values[:, None] - self.locations) / self.scales)).sum(axis=1))

    def probability_above(self, values: Numbers) -> Numbers:
        """The weighted sum for the value turned about."""
        from scipy.special import ndtr

        return np.asarray((self.weights * ndtr((self.locations - values[:, None]) / self.scales)).sum(axis=1))

    def covers(self, values: Numbers, level: float = 0.9) -> NDArray[np.bool_]:
        """Whether each value lies in the central interval: as much or more than the tail on either side."""
        tail = (1 - level) / 2
        inside: NDArray[np.bool_] = self.probability_below(values) >= tail
        return inside & (self.probability_above(values) >= tail)

    def quantile(self, level: float) -> Numbers:
        """Newton's steps between the smallest and the largest quantile of the components.

        A step that would leave what is left between them halves it instead, and so do all after the first
        twenty.
        """
        from scipy.special import ndtri

        each = self.locations + self.scales * float(ndtri(level))
        low, high = each.min(axis=1), each.max(axis=1)
        least, left = self.scales.min(axis=1), np.arange(len(low))
        found = np.clip(self._as_if_normal(float(ndtri(level))), low, high)
        for number in range(100):
            if not len(left):
                break
            here = found[left]
            off, slope = self._below_and_density(here, left)
            off -= level
            low[left], high[left] = np.where(off < 0, here, low[left]), np.where(off < 0, high[left], here)
            new = here - off / np.maximum(slope, np.finfo(float).tiny)
            usable = (new > low[left]) & (new < high[left]) & (number < 20)
            new = np.where(usable, new, (low[left] + high[left]) / 2)
            found[left] = new
            near = np.where(usable, 1e-8 * least[left], 0.0)  # one more step would be about its square
            left = left[np.abs(new - here) > np.maximum(near, 4 * np.finfo(float).eps * np.abs(new))]
        return np.asarray(found)

    def _as_if_normal(self, z: float) -> Numbers:
        """So many standard deviations above the mean."""
        mean = self.mean()
        variance = (self.weights * (self.scales**2 + (self.locations - mean[:, None]) ** 2)).sum(axis=1)
        return np.asarray(mean + z * np.sqrt(variance))

    def _below_and_density(self, values: Numbers, cases: NDArray[np.intp]) -> tuple[Numbers, Numbers]:
        """Distribution function and density of some cases, one value for each."""
        from scipy.special import ndtr

        weights, scales = self.weights[cases], self.scales[cases]
        z = (values[:, None] - self.locations[cases]) / scales
        density = np.exp(-0.5 * z**2) / (scales * math.sqrt(2 * math.pi))
        return (weights * ndtr(z)).sum(axis=1), (weights * density).sum(axis=1)

    def mean(self) -> Numbers:
        """The weighted mean of the locations."""
        return np.asarray((self.weights * self.locations).sum(axis=1))

    def crps(self, values: Numbers) -> Numbers:
        """Closed form of Grimit, Gneiting, Berrocal and Johnson (2006, QJRMS 132, eq. 5)."""
        first = (self.weights * _mean_distance(values[:, None] - self.locations, self.scales)).sum(axis=1)
        return np.asarray(first - 0.5 * self._mean_gap())

    def _mean_gap(self) -> Numbers:
        """E|X - X'| of two independent draws: components with themselves, and twice every pair."""
        total = (self.weights**2 * self.scales).sum(axis=1) * (2 / math.sqrt(math.pi))
        for one in range(self.weights.shape[1] - 1):
            others = slice(one + 1, None)
            gaps = self.locations[:, [one]] - self.locations[:, others]
            scales = np.hypot(self.scales[:, [one]], self.scales[:, others])
            pairs = self.weights[:, others] * _mean_distance(gaps, scales)
            total += 2 * self.weights[:, one] * pairs.sum(axis=1)
        return np.asarray(total)


def _mean_distance(gap: Numbers, scale: Numbers) -> Numbers:
    """E|X| of a Gaussian X with this mean and scale."""
    from scipy.special import ndtr

    z = gap / scale
    return np.asarray(gap * (2 * ndtr(z) - 1) + 2 * scale * np.exp(-0.5 * z**2) / math.sqrt(2 * math.pi))
