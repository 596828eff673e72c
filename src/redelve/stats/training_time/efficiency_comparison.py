"""Two algorithms compared by their peak efficiencies."""

from __future__ import annotations

from dataclasses import dataclass
from math import hypot

from redelve.stats.estimates import Interval, t_interval
from redelve.stats.mean_squares import f_p_value
from redelve.stats.training_time.efficiency import NO_VARIATION, Efficiency, estimate_efficiency
from redelve.stats.training_time.trials import TrialTimes


@dataclass(frozen=True)
class EfficiencyComparison:
    """The difference of two peak efficiencies, first minus second: above zero the first is better.

    `p_value` is two-sided, for the hypothesis of equal efficiencies; None where neither algorithm varies.
    """

    first: Efficiency
    second: Efficiency
    difference: float
    standard_error: float
    degrees_of_freedom: float | None
    statistic: float | None
    p_value: float | None
    caveats: tuple[str, ...]

    @property
    def ratio(self) -> float:
        """How many times as efficient the first is."""
        return self.first.efficiency / self.second.efficiency

    def interval(self, level: float = 0.95) -> Interval | None:
        """Confidence interval for the difference; it leaves out zero exactly when `p_value` < 1 − level."""
        error = self.standard_error if self.degrees_of_freedom is not None else None
        return t_interval(self.difference, error, self.degrees_of_freedom, level)


def compare_efficiency(first: TrialTimes, second: TrialTimes) -> EfficiencyComparison:
    """Welch's t-test (1947) with jackknife standard errors; the trials of the two are independent.

    >>> from redelve.stats.training_time import trial_times
    >>> fast = trial_times([30, 32, 35, 36, 40, 44, 300, 2000], [1] * 7 + [0])
    >>> slow = trial_times([60, 70, 71, 75, 80, 84, 90, 91])
    >>> found = compare_efficiency(fast, slow)
    >>> round(found.difference, 2), round(found.p_value, 3)
    (6.79, 0.223)
    """
    one, two = estimate_efficiency(first), estimate_efficiency(second)
    difference = one.efficiency - two.efficiency
    error = hypot(one.standard_error, two.standard_error)
    caveats = [f"first: {c}" for c in one.caveats] + [f"second: {c}" for c in two.caveats]
    if not error > 0:
        return EfficiencyComparison(one, two, difference, error, None, None, None, (*caveats, NO_VARIATION))
    shares = [(each.standard_error / error) ** 2 for each in (one, two)]
    df = 1 / sum(share**2 / each.degrees_of_freedom for share, each in zip(shares, (one, two), strict=True))
    t = difference / error
    p = float(f_p_value(t * t, 1.0, df))
    return EfficiencyComparison(one, two, difference, error, df, t, p, tuple(caveats))
