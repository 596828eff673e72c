"""Two methods on one task: the test, what may be claimed, and what would settle the matter."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property

from redelve.errors import StatisticsError
from redelve.findings.claims import Claim
from redelve.stats.estimates import Comparison, Interval, estimate_components
from redelve.stats.power import Goal, PlannedExperiment, advise, detectable_difference
from redelve.stats.resampled import ResampledComparison
from redelve.stats.standardise import StandardLoss

Test = Comparison | ResampledComparison

SHARE_SOUGHT = 0.02
"""The difference, as a share of the better method's loss, that advice is given for."""


@dataclass(frozen=True)
class Contest:
    """Two methods on one task: the test, the claim that allows for all other comparisons, and advice."""

    first: str
    second: str
    difference: float | None
    """Expected loss of the first method minus that of the second."""
    standard_error: float | None
    """Standard error of the difference, of this comparison by itself.

    `test.standard_error` is DELVE's, which is larger where a variance was estimated to be negative.
    """
    claim: Claim
    standard: StandardLoss
    instances: tuple[int, ...]
    training_set_size: int
    make_test: Callable[[], Test] = field(repr=False, compare=False)
    """Compares the two by themselves, by the analysis that fits the task's design."""
    winner: str | None = field(init=False)
    """The method with the smaller expected loss, if the difference is claimed."""

    def __post_init__(self) -> None:
        better = self.first if self.difference and self.difference < 0 else self.second
        winner = better if self.difference and self.claim.is_made else None
        object.__setattr__(self, "winner", winner)

    @property
    def adjusted_p_value(self) -> float | None:
        """The p-value that allows for all comparisons made together: a difference is claimed below 0.05."""
        return self.claim.adjusted_p_value

    @property
    def bounds(self) -> Interval | None:
        """The interval that holds the difference, together with those of all other comparisons, in 95 %."""
        return self.claim.bounds

    @cached_property
    def test(self) -> Test:
        """The two methods compared by themselves, as if nothing else had been."""
        return self.make_test()

    @property
    def p_value(self) -> float | None:
        """Two-sided p-value of this comparison taken alone."""
        return self.test.p_value

    @property
    def caveats(self) -> tuple[str, ...]:
        """What must be said beside it."""
        return self.test.caveats

    @property
    def loser(self) -> str | None:
        """The method that was shown to be worse, if the difference is claimed."""
        return None if self.winner is None else self.second if self.winner == self.first else self.first

    def interval(self, level: float = 0.95) -> Interval | None:
        """Confidence interval for the difference, of this comparison taken alone."""
        return self.test.interval(level)

    @cached_property
    def advice(self) -> str:
        """What would find a difference of two per cent; empty where one is claimed or none can be told.

        It costs more than everything else here, so it is made when somebody asks.
        """
        return "" if self.winner else _advice(self.test, len(self.instances), self.training_set_size)

    @property
    def words(self) -> str:
        """The comparison in one sentence, fit for a paper."""
        return _described(self)

    def __str__(self) -> str:
        return f"{self.words} {self.advice}".rstrip()


def _advice(test: Test, instances: int, training_set_size: int) -> str:
    """How much more data would find a difference of two per cent; empty where that cannot be said."""
    means = [mean for mean in (test.mean_first, test.mean_second) if mean is not None and mean > 0]
    if not isinstance(test, Comparison) or len(means) < 2 or instances < 2:
        return ""
    inside = test.differences
    try:
        components = estimate_components(test)
        plan = PlannedExperiment(inside.training_sets, max(round(inside.effective_test_cases), 1), 1)
        smallest = detectable_difference(components, plan)
        goal = Goal(SHARE_SOUGHT * min(means))
        words = advise(components, plan, goal, mean_loss=min(means), training_set_size=training_set_size)
    except StatisticsError:
        return ""
    share = smallest.difference / min(means)
    return f"As it stands, a difference of {100 * share:.2g} % would be found with power 0.8. {words}"


def _described(contest: Contest) -> str:
    if contest.difference is None or contest.adjusted_p_value is None:
        return f"{contest.first} and {contest.second} cannot be compared: {'; '.join(contest.caveats)}."
    together = contest.claim.family > 1
    around = (
        ""
        if contest.bounds is None
        else f" (95 % interval {contest.bounds[0]:.4g} to {contest.bounds[1]:.4g})"
    )
    lead = (
        f"{contest.winner} loses less than {contest.loser}"
        if contest.winner
        else f"{contest.first} and {contest.second} could not be told apart"
    )
    allowing = f" allowing for {contest.claim.family} comparisons" if together else ""
    return (
        f"{lead}: {contest.first} − {contest.second} = {contest.difference:.4g} ± "
        f"{contest.standard_error:.2g}{around}, p = {contest.adjusted_p_value:.2g}{allowing}."
    )
