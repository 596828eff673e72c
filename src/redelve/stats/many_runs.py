"""Many runs that differ by their seeds alone, on one training and one test set: PROBEN1's statistics.

Prechelt (1994), sections 2.8 and 3.3.4. The unit is a run: whatever is found here is about seeds on this
partition, not about other training sets (docs/proben1.md). A run is one number, its test error; the *best*
run and the runs to leave out are chosen by validation errors, never by test errors.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import exp, floor, log, sqrt

import numpy as np
from numpy.typing import ArrayLike, NDArray

from redelve.errors import StatisticsError
from redelve.stats.estimates import Interval, check_level
from redelve.stats.mean_squares import FloatArray

Rows = NDArray[np.int64]

MOST_OUTLIERS = 0.1
"""The largest part of a sample that may be taken out (section 2.8)."""
NORMAL_LEVEL = 0.05
"""A sample counts as normal unless Shapiro and Wilk's test rejects at this level; ours, not PROBEN1's."""
NO_VARIATION = 1e-12
"""Values that differ by less than this part of the largest are taken as equal."""
USUAL_RUNS = (10, 30, 20, 60)
ONE_PARTITION = (
    "the runs differ by their seeds alone: the test is about these training and test sets, and says nothing "
    "of other training sets"
)
NOT_NORMAL = (
    "{which}: {transformed} are not normal (p = {p:.2g}), with at most {percent:.0f} % taken out or not: the "
    "t-test is unreliable"
)


@dataclass(frozen=True)
class Normality:
    """The test of Shapiro and Wilk (1965); both are None where the values don't vary or are fewer than 3."""

    statistic: float | None
    p_value: float | None

    def holds(self, level: float = NORMAL_LEVEL) -> bool:
        """Whether nothing speaks against a normal distribution at this level."""
        return self.p_value is not None and self.p_value >= level


@dataclass(frozen=True)
class BestRun:
    """The run, counting from 0, that a criterion other than the test error chose, and its test error."""

    run: int
    criterion: float
    test_error: float


@dataclass(frozen=True)
class RunSummary:
    """The statistics to report (section 2.8), in the order of their importance.

    `quartiles` are five: minimum, lower quartile, median, upper quartile, maximum (linear interpolation:
    type 7 of Hyndman and Fan 1996). `correlation` is that of validation and test errors over the runs (ρ of
    tables 8 to 11).
    """

    runs: int
    mean: float
    standard_deviation: float | None
    best: BestRun | None
    minimum: float
    maximum: float
    median: float
    quartiles: tuple[float, float, float, float, float]
    correlation: float | None


def summarise_runs(test_errors: ArrayLike, validation_errors: ArrayLike | None = None) -> RunSummary:
    """Mean, n − 1 standard deviation, best run, minimum, maximum, median and quartiles (section 2.8).

    >>> found = summarise_runs([2.0, 4.0, 3.0, 7.0], validation_errors=[1.0, 0.5, 2.0, 3.0])
    >>> found.mean, round(found.standard_deviation, 3), found.best.test_error, found.median
    (4.0, 2.16, 4.0, 3.5)
    """
    values = checked(test_errors)
    criteria = None if validation_errors is None else _same_runs(values, validation_errors)
    quartiles = [float(value) for value in np.quantile(values, [0.0, 0.25, 0.5, 0.75, 1.0])]
    deviation = 0.0 if quartiles[0] == quartiles[4] else float(values.std(ddof=1))
    return RunSummary(
        runs=len(values),
        mean=quartiles[2] if deviation == 0 else float(values.mean()),
        standard_deviation=deviation if len(values) > 1 else None,
        best=None if criteria is None else best_run(values, criteria),
        minimum=quartiles[0],
        maximum=quartiles[4],
        median=quartiles[2],
        quartiles=(quartiles[0], quartiles[1], quartiles[2], quartiles[3], quartiles[4]),
        correlation=None if criteria is None else _correlation(values, criteria),
    )


def summarise_measures(
    measures: Mapping[str, FloatArray], *, test: str, validation: str
) -> dict[str, RunSummary]:
    """The summary of every measure that is known for all runs; that of test errors with validation errors.

    >>> measures = {"t": np.ones(2), "v": np.ones(2), "c": np.full(2, np.nan)}
    >>> list(summarise_measures(measures, test="t", validation="v"))
    ['t', 'v']
    """
    known = {name: values for name, values in measures.items() if np.isfinite(values).all()}
    criteria = {test: known.get(validation)}
    return {name: summarise_runs(values, criteria.get(name)) for name, values in known.items()}


def best_run(test_errors: ArrayLike, criterion: ArrayLike) -> BestRun:
    """The run with the lowest criterion, the first of several; the criterion must not know the test set."""
    values = checked(test_errors)
    criteria = _same_runs(values, criterion)
    run = int(criteria.argmin())
    return BestRun(run, float(criteria[run]), float(values[run]))


def better_half(criterion: ArrayLike) -> Rows:
    """The runs to keep, in order, where some are left out: exactly half, those of lowest criterion.

    Of equal runs the earlier are kept. Section 2.8: whoever leaves runs out leaves out half of them, and
    chooses by validation or training error.

    >>> better_half([3.0, 1.0, 2.0, 9.0]).tolist()
    [1, 2]
    """
    criteria = checked(criterion)
    if len(criteria) % 2:
        raise StatisticsError(
            f"exactly half of the runs are to be left out, but there are {len(criteria)}: make one run more"
        )
    return np.sort(np.argsort(criteria, kind="stable")[: len(criteria) // 2]).astype(np.int64)


def usual_number_of_runs(runs: int) -> bool:
    """Whether it is 10, 30, 20 or 60, or one of these times a power of ten (section 2.8).

    >>> [usual_number_of_runs(runs) for runs in (10, 60, 300, 25, 0)]
    [True, True, True, False, False]
    """
    while runs > max(USUAL_RUNS) and runs % 10 == 0:
        runs //= 10
    return runs in USUAL_RUNS


def normality(values: ArrayLike) -> Normality:
    """Whether the values look normal: the test of Shapiro and Wilk, as SAS makes it for such samples."""
    from scipy.stats import shapiro

    sample = checked(values)
    if len(sample) < 3 or np.ptp(sample) <= NO_VARIATION * np.abs(sample).max():
        return Normality(None, None)
    statistic, p_value = shapiro(sample[:5000])
    return Normality(float(statistic), float(p_value))


def log_errors(errors: ArrayLike) -> FloatArray:
    """Natural logs: test errors are often log-normal (sections 2.8 and 3.3.4)."""
    values = checked(errors)
    if (values <= 0).any():
        run = int(np.argmax(values <= 0))
        raise StatisticsError(
            f"run {run} (from 0) has the error {values[run]:g}, which has no logarithm: compare the errors "
            "as they are (log=False)"
        )
    return np.log(values)


@dataclass(frozen=True)
class Trimmed:
    """A sample without its outliers; `removed` are positions in the sample, from 0."""

    kept: FloatArray = field(repr=False)
    removed: tuple[int, ...]
    too_low: int
    too_high: int
    before: Normality
    after: Normality

    @property
    def is_normal(self) -> bool:
        """Whether what is kept looks normal."""
        return self.after.holds()

    @property
    def varies(self) -> bool:
        """Whether the runs differ at all: those of a method without seeds do not."""
        return bool(np.ptp(self.kept) > NO_VARIATION * np.abs(self.kept).max())


def remove_outliers(values: ArrayLike, *, most: float = MOST_OUTLIERS) -> Trimmed:
    """The fewest values taken out that leave a normal sample; none if no tenth of them does (section 2.8).

    The value farthest from the median goes first. A sample that is normal as it is loses nothing, and one
    that does not become normal loses nothing either (section 3.3.4).
    """
    sample = checked(values)
    if not 0 <= most <= MOST_OUTLIERS:
        raise StatisticsError(
            f"never more than 10 % of a sample may be taken out (PROBEN1, 2.8): got {most:g}"
        )
    before = normality(sample)
    kept = np.arange(len(sample))
    after = before
    for _ in range(floor(most * len(sample) + 1e-9)):
        if after.holds() or after.p_value is None:
            break
        distance = np.abs(sample[kept] - np.median(sample[kept]))
        kept = np.delete(kept, int(distance.argmax()))
        after = normality(sample[kept])
    if not after.holds():
        return Trimmed(sample, (), 0, 0, before, before)
    removed = np.setdiff1d(np.arange(len(sample)), kept)
    middle = float(np.median(sample))
    low = int((sample[removed] < middle).sum())
    return Trimmed(sample[kept], tuple(removed.tolist()), low, len(removed) - low, before, after)


def count_outliers(errors: ArrayLike) -> int | None:
    """How many runs section 3.3.4 takes out of the logs of their errors; None where not all are above 0.

    >>> count_outliers([2.0, 2.1, 2.2, 2.3, 2.4, 2.5, 2.6, 2.7, 2.8, 90.0]), count_outliers([0.0, 1.0])
    (1, None)
    """
    values = np.asarray(errors, dtype=np.float64)
    return len(remove_outliers(log_errors(values)).removed) if (values > 0).all() else None


@dataclass(frozen=True)
class TwoSampleTest:
    """Means of two samples compared without supposing equal variances; None where nothing varies.

    `p_value` is two-sided, by the approximation of Cochran and Cox; `welch_p_value` by that of Welch (1938)
    and Satterthwaite (1946), for comparison.
    """

    means: tuple[float, float]
    standard_deviations: tuple[float, float]
    sizes: tuple[int, int]
    statistic: float | None
    p_value: float | None
    welch_p_value: float | None

    @property
    def difference(self) -> float:
        """Mean of the first sample minus that of the second."""
        return self.means[0] - self.means[1]

    @property
    def standard_error(self) -> float:
        """Standard error of the difference."""
        return sqrt(sum(_weights(self.standard_deviations, self.sizes)))

    def interval(self, level: float = 0.95) -> Interval | None:
        """Confidence interval for the difference; it leaves out zero exactly when `p_value` < 1 − level."""
        check_level(level)
        if self.p_value is None:
            return None
        weights = _weights(self.standard_deviations, self.sizes)
        width = _critical_value(1 - level, weights, self.sizes) * self.standard_error
        return self.difference - width, self.difference + width


def cochran_cox(first: ArrayLike, second: ArrayLike) -> TwoSampleTest:
    """t-test for unequal variances (Cochran and Cox 1957, Experimental Designs).

    t′ = (x̄₁ − x̄₂)/√(w₁ + w₂) with wᵢ = sᵢ²/nᵢ is held against (w₁t₁ + w₂t₂)/(w₁ + w₂), where tᵢ is the
    quantile of the t distribution with nᵢ − 1 degrees of freedom; the p-value is the level at which both
    are equal, as in SAS. With n₁ = n₂ that is a t-test with n − 1 degrees of freedom.
    """
    samples = checked(first), checked(second)
    for which, sample in zip(("first", "second"), samples, strict=True):
        if len(sample) < 2:
            raise StatisticsError(f"the {which} sample has one value: a t-test needs at least two")
    sizes = len(samples[0]), len(samples[1])
    means = float(samples[0].mean()), float(samples[1].mean())
    deviations = float(samples[0].std(ddof=1)), float(samples[1].std(ddof=1))
    weights = _weights(deviations, sizes)
    scale = max(abs(means[0]), abs(means[1]))
    if not sqrt(sum(weights)) > 1e-14 * scale:
        return TwoSampleTest(means, deviations, sizes, None, None, None)
    statistic = (means[0] - means[1]) / sqrt(sum(weights))
    p_values = _p_value(abs(statistic), weights, sizes), _welch(abs(statistic), weights, sizes)
    return TwoSampleTest(means, deviations, sizes, statistic, *p_values)


def _weights(deviations: tuple[float, float], sizes: tuple[int, int]) -> tuple[float, float]:
    return deviations[0] ** 2 / sizes[0], deviations[1] ** 2 / sizes[1]


def _critical_value(p: float, weights: tuple[float, float], sizes: tuple[int, int]) -> float:
    from scipy.special import stdtrit

    quantiles = [-float(stdtrit(size - 1, p / 2)) for size in sizes]
    return (weights[0] * quantiles[0] + weights[1] * quantiles[1]) / sum(weights)


def _p_value(statistic: float, weights: tuple[float, float], sizes: tuple[int, int]) -> float:
    """The level whose critical value is the statistic: it lies between the p-values of the two t's."""
    from scipy.optimize import brentq
    from scipy.special import stdtr

    ends = sorted(2 * float(stdtr(size - 1, -statistic)) for size in sizes)
    if ends[1] - ends[0] <= 1e-15 * ends[1] or ends[0] == 0:
        return ends[1]
    found = brentq(
        lambda log_p: _critical_value(exp(log_p), weights, sizes) - statistic, log(ends[0]), log(ends[1])
    )
    return exp(float(found))


def _welch(statistic: float, weights: tuple[float, float], sizes: tuple[int, int]) -> float:
    from scipy.special import stdtr

    shares = [weight / sum(weights) for weight in weights]
    df = 1 / sum(share**2 / (size - 1) for share, size in zip(shares, sizes, strict=True))
    return 2 * float(stdtr(df, -statistic))


@dataclass(frozen=True)
class RunsComparison:
    """Two methods' runs on one partition (section 3.3.4): samples made normal, then Cochran and Cox's test.

    With `is_log` the means are of log errors: their difference is the log of the ratio of geometric means.
    PROBEN1 puts what is not `reliable` in parentheses.
    """

    test: TwoSampleTest
    samples: tuple[Trimmed, Trimmed]
    is_log: bool
    caveats: tuple[str, ...]

    @property
    def reliable(self) -> bool:
        """Whether both samples look normal after what was taken out; one of them may not vary at all."""
        return all(sample.is_normal or not sample.varies for sample in self.samples)

    @property
    def p_value(self) -> float | None:
        """Two-sided p-value of Cochran and Cox's test."""
        return self.test.p_value

    @property
    def ratio(self) -> float | None:
        """Geometric mean of the first method's errors over that of the second; None without logs."""
        return exp(self.test.difference) if self.is_log else None


def compare_runs(
    first: ArrayLike, second: ArrayLike, *, log: bool = True, outliers: float = MOST_OUTLIERS
) -> RunsComparison:
    """Whether one method's runs have lower test errors than another's on the same partition (section 3.3.4).

    Both samples are of test errors, one of each run. Runs of two methods are not paired: their seeds have
    nothing in common.
    """
    samples = [log_errors(errors) if log else checked(errors) for errors in (first, second)]
    trimmed = remove_outliers(samples[0], most=outliers), remove_outliers(samples[1], most=outliers)
    test = cochran_cox(trimmed[0].kept, trimmed[1].kept)
    transformed = "log errors" if log else "errors"
    caveats = [ONE_PARTITION]
    for which, sample in zip(("first method", "second method"), trimmed, strict=True):
        if sample.removed:
            caveats.append(
                f"{which}: runs taken out as outliers: {len(sample.removed)}, kept: {len(sample.kept)}"
            )
        if not sample.is_normal and sample.after.p_value is not None:
            caveats.append(
                NOT_NORMAL.format(
                    which=which, transformed=transformed, p=sample.after.p_value, percent=100 * outliers
                )
            )
    return RunsComparison(test, trimmed, log, tuple(caveats))


def checked(values: ArrayLike) -> FloatArray:
    """A sample of finite numbers, one for each run."""
    sample = np.asarray(values, dtype=np.float64)
    if sample.ndim != 1 or not len(sample):
        raise StatisticsError(f"expected one number for each run but got an array of shape {sample.shape}")
    if not np.isfinite(sample).all():
        run = int(np.argmin(np.isfinite(sample)))
        raise StatisticsError(
            f"run {run} (from 0) has the value {sample[run]}: every run must count, so repeat it or say how "
            "a run that fails is restarted (PROBEN1, 2.9)"
        )
    return sample


def _same_runs(values: FloatArray, others: ArrayLike) -> FloatArray:
    found = checked(others)
    if len(found) != len(values):
        raise StatisticsError(
            f"there are {len(values)} test errors but {len(found)} values to choose runs by: give one for "
            "each run"
        )
    return found


def _correlation(values: FloatArray, others: FloatArray) -> float | None:
    if len(values) < 2 or np.ptp(values) == 0 or np.ptp(others) == 0:
        return None
    return float(np.corrcoef(values, others)[0, 1])
