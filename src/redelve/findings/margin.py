"""A difference too small to matter: the margin, and what an interval of a difference says about it.

Two methods are equivalent where all of the interval lies inside the margin (Schuirmann 1987, Journal of
Pharmacokinetics and Biopharmaceutics 15:657–680, two one-sided tests; Westlake 1981, Biometrics 37:589–594,
the interval). A method is not worse by more than the margin where the interval leaves out that it is
(Committee for Medicinal Products for Human Use 2006, Statistics in Medicine 25:1628–1638). The intervals of a
report hold all differences together, so what is said of margins holds together too. See docs/comparisons.md.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import isfinite
from typing import TYPE_CHECKING

from redelve.answers.losses import Loss
from redelve.errors import StatisticsError
from redelve.stats.estimates import Interval
from redelve.text_numbers import plain

if TYPE_CHECKING:
    from redelve.findings.claims import Contest

LARGE = 10_000
"""From here on an amount is written out, with commas."""


@dataclass(frozen=True)
class Margin:
    """The largest difference of expected losses that does not matter.

    A number is in the units of the loss; a text with a per-cent sign is a share of the smaller expected loss
    of the two methods.

    >>> print(Margin.of("2%"), Margin.of(0.5), Margin.of("0.5"))
    2 % 0.5 0.5
    >>> Margin.of("2%").amount([30.0, 25.0])
    0.5
    """

    value: float
    is_relative: bool = False

    def __post_init__(self) -> None:
        if not (isfinite(self.value) and self.value > 0):
            raise StatisticsError(f"a margin is a number above zero: got {self}; {WAYS}")

    @classmethod
    def of(cls, given: MarginLike) -> Margin:
        """The margin that is meant by a number or by a text such as "2%"."""
        if isinstance(given, Margin):
            return given
        text = str(given).strip()
        number = text.removesuffix("%")
        try:
            value = float(number)
        except ValueError:
            raise StatisticsError(f'a margin is a number above zero: got "{given}"; {WAYS}') from None
        is_relative = number != text
        return cls(value / 100 if is_relative else value, is_relative)

    def is_that_of(self, given: MarginLike | None) -> bool:
        """Whether this margin is meant, as far as it is written out.

        >>> Margin.of("2%").is_that_of("2 %"), Margin.of("2%").is_that_of(None)
        (True, False)
        """
        return given is not None and str(self) == str(Margin.of(given))

    def amount(self, losses: Sequence[float]) -> float:
        """The margin in the units of the loss, of methods with these expected losses.

        Of a share this is as good as the losses given: give the low ends of their confidence intervals where
        a claim rests on it. A loss below zero counts as zero.
        """
        return self.value * max(min(losses), 0.0) if self.is_relative else self.value

    def refuse_share(self, loss: str) -> None:
        """Raise an error if this is a share, for a loss that has no natural zero."""
        if self.is_relative:
            raise StatisticsError(
                f"{loss} has no natural zero, so {self} of it means nothing: give the margin as a number, in "
                "the units of the loss"
            )

    def refuse_all(self, limits: Sequence[Interval]) -> None:
        """Raise an error if losses within these limits, one for each task, can nowhere differ by more."""
        spans = [high - low for low, high in limits]
        if not self.is_relative and spans and self.value >= max(spans):
            raise StatisticsError(
                f"a margin of {self} is as much as the score or loss can vary, {max(spans):g}: any two "
                f"methods are within it; {WAYS}"
            )

    def shown(self, judge: Loss | None) -> str:
        """As users are shown differences: an amount of 0.02 is "2 points" of accuracy."""
        if judge is None or self.is_relative:
            return str(self)
        return f"{judge.shown_spread(self.value):.6g}{judge.difference_unit}"

    def __str__(self) -> str:
        return f"{100 * self.value:.6g} %" if self.is_relative else f"{self.value:.6g}"


MarginLike = Margin | str | float
"""A margin, a number in the units of the loss, or a text such as "2%" or "0.5"."""
BY_RACE = "The race found so by one-sided tests; the interval is two-sided and may reach further."
UnitsOfScore = float
"""A margin that is no share of anything."""
WAYS = (
    'give "2%" for a share of the smaller expected loss, 0.5 for an amount in the units of the loss '
    "(0.02 for 2 points of accuracy)"
)


@dataclass(frozen=True)
class MarginVerdict:
    """What the interval of a difference, first method minus second, says about a margin.

    `amount` is the margin in the units of the loss.
    """

    margin: Margin
    amount: float
    first_is_not_worse: bool
    """Whether the first method is not worse than the second by more than the margin."""
    second_is_not_worse: bool
    is_of_race: bool = False
    """Whether a race decided it, by one-sided tests: the interval, which is two-sided, may reach further."""

    def shown(self, judge: Loss | None) -> str:
        """The margin, and what a share amounts to: "0.5", "2 % (0.031 or more)".

        The loss that it is a share of is not known: the amount is that of the low end of its interval.
        """
        if not self.margin.is_relative:
            return self.margin.shown(judge)
        if self.amount == 0:
            return f"{self.margin} (which may be nothing: a loss has no interval that leaves out 0)"
        amount, unit = self.amount, ""
        if judge is not None:
            amount, unit = judge.shown_spread(amount), judge.difference_unit
        written = plain(amount, 2) if amount < LARGE else f"{float(f'{amount:.2g}'):,.0f}"
        return f"{self.margin} ({written}{unit} or more)"

    @property
    def is_equivalent(self) -> bool:
        """Whether the two methods differ by less than the margin, whichever is the better."""
        return self.first_is_not_worse and self.second_is_not_worse


@dataclass(frozen=True)
class MarginOverTasks:
    """What is known of a margin over tasks; nothing where `why_not` says why.

    `difference`, first method minus second, and its `bounds` are in the margin's own terms: amounts, or
    shares of the second method's loss, as the geometric mean over tasks has them.
    """

    verdict: MarginVerdict
    difference: float | None = None
    bounds: Interval | None = None
    why_not: str = ""


def judged_within(margin: Margin, amount: float, bounds: Interval | None) -> MarginVerdict:
    """What can be said of a margin where a difference lies between these bounds; nothing without them.

    >>> judged_within(Margin(1.0), 1.0, (-0.4, 0.7)).is_equivalent
    True
    >>> judged_within(Margin(1.0), 1.0, (-1.4, 0.7)).first_is_not_worse
    True
    """
    low, high = bounds or (float("-inf"), float("inf"))
    return MarginVerdict(margin, amount, first_is_not_worse=high < amount, second_is_not_worse=low > -amount)


def within_margin(
    contest: Contest, margin: Margin, losses: Mapping[str, Interval | None], equivalent: Sequence[str] = ()
) -> Contest:
    """The same with what it says about a margin; `losses` are the intervals of the expected losses.

    `equivalent` are methods of which a race decided that they are.

    A share is of the low end of the smaller one's: the loss itself is not known, and a margin that came out
    too large by luck would call methods equivalent that are not.
    """
    bounds = [losses[name] for name in (contest.first, contest.second)]
    amount = margin.amount([0.0 if ends is None else ends[0] for ends in bounds])
    verdict = judged_within(margin, amount, contest.bounds)
    if contest.first in equivalent and contest.second in equivalent:
        verdict = MarginVerdict(margin, amount, True, True, is_of_race=True)
    return replace(contest, verdict=verdict)


def margin_sentence(contest: Contest, verdict: MarginVerdict) -> str:
    """What a comparison says about its margin."""
    margin = f"the margin of {verdict.shown(contest.judged_by)}"
    if verdict.is_equivalent:
        by_race = f" {BY_RACE}" if verdict.is_of_race else ""
        return f"{contest.first} and {contest.second} are equivalent within {margin}.{by_race}"
    if contest.winner:
        return f"It was not shown that they differ by less than {margin}."
    for name in contest.not_worse:
        other = contest.second if name == contest.first else contest.first
        return f"{name} is not worse than {other} by more than {margin}."
    return f"Whether they differ by more than {margin} is open."
