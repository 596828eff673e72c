"""Two methods on one task: the test, what may be claimed, and what would settle the matter."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

from redelve.findings.advice import Repeats, advice_of
from redelve.findings.claims import Claim, settle
from redelve.findings.margin import Margin, MarginVerdict, judged_within
from redelve.stats.estimates import Comparison, Interval
from redelve.stats.grouped import GroupComparison
from redelve.stats.resampled import ResampledComparison
from redelve.stats.standardise import StandardLoss

Test = Comparison | ResampledComparison | GroupComparison


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
    repeats: Repeats = "training sets"
    """What there are several of: the difference varies from one to the next."""
    verdict: MarginVerdict | None = None
    """What the bounds say about a margin, where one was given."""
    winner: str | None = field(init=False)
    """The method with the smaller expected loss, if the difference is claimed."""
    loser: str | None = field(init=False, repr=False)
    """The method that was shown to be worse, if the difference is claimed."""
    adjusted_p_value: float | None = field(init=False, repr=False)
    """The p-value that allows for all comparisons made together: a difference is claimed below 0.05."""
    bounds: Interval | None = field(init=False, repr=False)
    """The interval that holds the difference, together with those of all other comparisons, in 95 %."""
    is_equivalent: bool = field(init=False, repr=False)
    """Whether the two differ by less than the margin, where one was given."""
    not_worse: tuple[str, ...] = field(init=False, repr=False)
    """Who is not worse than the other by more than the margin; both where they are equivalent."""

    def __post_init__(self) -> None:
        claim, found = self.claim, self.verdict
        both = self.first, self.second
        winner = loser = None
        if self.difference and claim.is_made:
            winner, loser = both if self.difference < 0 else both[::-1]
        shown = () if found is None else (found.first_is_not_worse, found.second_is_not_worse)
        not_worse = tuple(name for name, holds in zip(both, shown, strict=False) if holds)
        settle(
            self,
            winner=winner,
            loser=loser,
            adjusted_p_value=claim.adjusted_p_value,
            bounds=claim.bounds,
            is_equivalent=len(not_worse) == 2,
            not_worse=not_worse,
        )

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

    def interval(self, level: float = 0.95) -> Interval | None:
        """Confidence interval for the difference, of this comparison taken alone."""
        return self.test.interval(level)

    @cached_property
    def advice(self) -> str:
        """What would find a difference of two per cent; empty where that is settled or cannot be told.

        Power is that of the rule by which the report claims differences, averaged over what is not known of
        the variances. It is computed when somebody asks.
        """
        pilot, test = self.claim.pilot, self.test
        means = [mean for mean in (test.mean_first, test.mean_second) if mean is not None and mean > 0]
        if self.winner or self.is_equivalent or pilot is None or len(means) < 2:
            return ""
        size = self.training_set_size
        return advice_of(pilot, self.claim.share, min(means), repeats=self.repeats, training_set_size=size)

    @property
    def words(self) -> str:
        """The comparison in one sentence, fit for a paper; with a margin, in two."""
        return f"{_described(self)} {self.margin_words}".rstrip()

    @property
    def margin_words(self) -> str:
        """What is known of the margin, in a sentence; empty without one, or without a test."""
        return "" if self.verdict is None or self.bounds is None else _margin_sentence(self, self.verdict)

    def __str__(self) -> str:
        return f"{self.words} {self.advice}".rstrip()


def within_margin(contest: Contest, margin: Margin, losses: Mapping[str, Interval | None]) -> Contest:
    """The same with what it says about a margin; `losses` are the intervals of the expected losses.

    A share is of the low end of the smaller one's: the loss itself is not known, and a margin that came out
    too large by luck would call methods equivalent that are not.
    """
    bounds = [losses[name] for name in (contest.first, contest.second)]
    amount = margin.amount([0.0 if ends is None else ends[0] for ends in bounds])
    return replace(contest, verdict=judged_within(margin, amount, contest.bounds))


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


def _margin_sentence(contest: Contest, verdict: MarginVerdict) -> str:
    margin = f"the margin of {verdict.words}"
    if verdict.is_equivalent:
        return f"{contest.first} and {contest.second} are equivalent within {margin}."
    if contest.winner:
        return f"It was not shown that they differ by less than {margin}."
    for name in contest.not_worse:
        other = contest.second if name == contest.first else contest.first
        return f"{name} is not worse than {other} by more than {margin}."
    return f"Whether they differ by more than {margin} is open."
