"""What a report may claim: every comparison of its methods, sizes and tasks as one family at 5 %.

A `Contest` is one of them, two methods on one task, with its claim and what would settle the matter.

The prototasks share the level equally, with one part more for tasks together where there are three of them.
Within a prototask most of it goes to the largest training sets, and what a claim leaves is handed down to
the next smaller ones. Of 100 reports on equal methods at most five contain any claim; and at most five
contain any interval that misses. See docs/comparisons.md and docs/calibration.md.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain, compress
from math import inf, isfinite, isnan, nan
from typing import Literal, TypeVar, overload

import numpy as np

from redelve.answers.losses import Loss
from redelve.findings.margin import Margin, MarginVerdict, margin_sentence
from redelve.findings.more_questions import more_questions, plan_for
from redelve.model.dataset import Numbers
from redelve.run.results import TaskFacts
from redelve.stats.answer_plans import AnswerPlan
from redelve.stats.assurance import MOST, Pilot, Prospects, pilot_of, prospects
from redelve.stats.estimates import Comparison, Interval
from redelve.stats.families import (
    JudgedFamily,
    Numbered,
    PairFamily,
    PairSquares,
    SizePairs,
    judged_sizes,
)
from redelve.stats.grouped import GroupComparison
from redelve.stats.resampled import ResampledComparison
from redelve.text_numbers import by_error, interval, p_equals, per_cent, significant, with_error

Made = TypeVar("Made")
Names = tuple[str, str]
Test = Comparison | ResampledComparison | GroupComparison

Repeats = Literal["training sets", "folds", "runs", "test cases", "cases", "groups of cases"]
"""What a comparison has several of: its variance is that between these; the last two are fixed models'."""
OF_FIXED: tuple[Repeats, ...] = ("cases", "groups of cases")

SHARE_SOUGHT = 0.02
"""The difference, as a share of the better method's loss, that advice is given for where no margin is."""
POWER = 0.8

LEVEL = 0.05
"""Chance that a report on equal methods claims anything at all."""

FEWEST_TASKS = 3
"""So many prototasks at least are a sample of tasks, of which something is claimed."""


def settle(made: object, **values: object) -> None:
    """Give a frozen value what follows from its other fields."""
    vars(made).update(values)


class OnDemand(Sequence[Made]):
    """Values each of which is made when somebody asks for it: a thousand models have 499,500 comparisons."""

    @abstractmethod
    def made(self, place: int) -> Made:
        """The value at a place."""

    @overload
    def __getitem__(self, index: int) -> Made: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Made, ...]: ...
    def __getitem__(self, index: int | slice) -> Made | tuple[Made, ...]:
        places = range(len(self))[index]
        return tuple(map(self.made, places)) if isinstance(places, range) else self.made(places)

    def __iter__(self) -> Iterator[Made]:
        return map(self.made, range(len(self)))

    def __eq__(self, other: object) -> bool:
        return tuple(self) == tuple(other) if isinstance(other, OnDemand | tuple) else NotImplemented

    def __hash__(self) -> int:
        return hash(tuple(self))

    def __repr__(self) -> str:
        return repr(tuple(self))


@dataclass(frozen=True)
class StandardLoss:
    """How losses are made comparable between tasks (manual 8.3): divided by the loss of the best constant
    answer or, for log loss, shifted by it; None: undefined.

    Losses that have one unit on all tasks are comparable as they are, and not standardised.
    """

    baseline: float | None
    is_shift: bool = False
    has_one_unit: bool = False

    def mean(self, value: float | None) -> float | None:
        """A standardised expected loss: 1 (shifted: 0) is what the best constant answer loses."""
        if value is None or self.baseline is None:
            return None
        return value - self.baseline if self.is_shift else self.spread(value)

    def spread(self, value: float | None) -> float | None:
        """A standardised difference, standard error or standard deviation."""
        if value is None or self.baseline is None:
            return None
        if self.is_shift:
            return value
        return value / self.baseline if self.baseline else None

    def comparable(self, value: float | None) -> float | None:
        """An expected loss that may be averaged with those of other tasks."""
        return value if self.has_one_unit else self.mean(value)

    def comparable_spread(self, value: float | None) -> float | None:
        """The same of a difference, standard error or standard deviation."""
        return value if self.has_one_unit else self.spread(value)


@dataclass(frozen=True)
class Claim:
    """What may be said of one comparison, given all others that are made with it.

    `adjusted_p_value` is the level of the whole family from which on the difference is claimed; None where no
    test is defined. `bounds` hold the difference, together with those of all other comparisons, in 95 % of
    reports. `share` is what this comparison's task and size have of the level, `family` all comparisons.
    `own_p_value` is that of the comparison taken alone: the cautious one where test cases are shared.
    """

    adjusted_p_value: float | None
    bounds: Interval | None
    share: float
    family: int
    own_p_value: float | None = None
    place: tuple[PairFamily, int] | None = field(default=None, repr=False, compare=False)
    """The comparisons of this task as a family, and which of them this is."""
    has_looks: bool = False
    """Whether it is one of a race, whose p-values allow for all planned looks as well."""

    @property
    def is_made(self) -> bool:
        """Whether the difference is claimed."""
        return self.adjusted_p_value is not None and self.adjusted_p_value < LEVEL

    @property
    def allowing(self) -> str:
        """What a p-value allows for, in words that stand behind it."""
        return f" allowing for {self.allowed_for}" if self.allowed_for else ""

    @property
    def allowed_for(self) -> str:
        """What a p-value allows for; nothing where one comparison is made, and not looked at again."""
        several = [f"all {self.family} comparisons"] if self.family > 1 else []
        several += ["all looks"] if self.has_looks else []
        return " and ".join(several)


@dataclass(frozen=True)
class TaskPairs:
    """The pairs of methods compared on one task, all or those that were planned, and what they vary."""

    facts: TaskFacts
    methods: int
    names: tuple[Names, ...]
    squares: PairSquares
    untested: Mapping[Names, str] = field(default_factory=dict)
    """Why a pair cannot be compared, though others can: its squares are not known."""


def prototask_of(address: str) -> str:
    """`/demo/age` for `/demo/age/std.128`."""
    return address.rpartition("/")[0]


def level_parts(tasks: Sequence[TaskPairs]) -> int:
    """Into how many equal parts the level of these tasks goes."""
    return parts_of_level(len({prototask_of(task.facts.address) for task in tasks}))


def parts_of_level(prototasks: int) -> int:
    """Into how many equal parts the level goes: one for each prototask, and one for tasks together.

    >>> parts_of_level(2), parts_of_level(3)
    (2, 4)
    """
    return prototasks + (prototasks >= FEWEST_TASKS)


def family_size(tasks: Sequence[TaskPairs]) -> int:
    """How many comparisons are made together: of every task, and of tasks together."""
    prototasks = {prototask_of(task.facts.address) for task in tasks}
    of_tasks = sum(len(task.names) for task in tasks)
    if len(prototasks) < FEWEST_TASKS:
        return of_tasks
    return of_tasks + len({names for task in tasks for names in task.names})


def claims_of(tasks: Sequence[TaskPairs]) -> dict[str, FamilyClaims]:
    """For every task's address the claims of its comparisons, in their order."""
    prototasks: dict[str, list[TaskPairs]] = {}
    for task in tasks:
        prototasks.setdefault(prototask_of(task.facts.address), []).append(task)
    parts, family = level_parts(tasks), family_size(tasks)
    found: dict[str, FamilyClaims] = {}
    for sizes in prototasks.values():
        found |= _of_prototask(sizes, parts, family)
    return found


def _of_prototask(tasks: Sequence[TaskPairs], parts: int, family: int) -> dict[str, FamilyClaims]:
    """The claims on one prototask, whose sizes hand down what is left of its share."""
    tasks = sorted(tasks, key=lambda task: -task.facts.training_set_size)
    sizes = [
        SizePairs(task.squares, task.methods, columns)
        for task, columns in zip(tasks, _numbered([task.names for task in tasks]), strict=True)
    ]
    judged = judged_sizes(sizes, LEVEL, parts)
    return {task.facts.address: FamilyClaims(one, family) for task, one in zip(tasks, judged, strict=True)}


def _numbered(several: Sequence[Sequence[Names]]) -> list[Numbered]:
    """The numbers of the pairs of each task, which are the same on all tasks."""
    if len(several) == 1:
        return [np.arange(len(several[0]))]
    numbers = {names: number for number, names in enumerate(dict.fromkeys(chain.from_iterable(several)))}
    return [np.array([numbers[names] for names in one]) for one in several]


@dataclass(frozen=True, eq=False, repr=False)
class FamilyClaims(OnDemand[Claim]):
    """The claims of a family's comparisons, of so many that are made together."""

    judged: JudgedFamily
    comparisons: int

    def __len__(self) -> int:
        return len(self.judged.p_values)

    @property
    def p_values(self) -> Numbers:
        """Adjusted p-values, NaN where no test is defined."""
        return np.where(np.isnan(self.judged.ends[0]), np.nan, self.judged.p_values)

    def made(self, place: int) -> Claim:
        """The claim of one comparison."""
        found, family = self.judged, self.judged.family
        low, high = (ends.item(place) for ends in found.ends)
        told = found.share, self.comparisons, found.own_p_values.item(place), (family, place)
        return _claim(family.squares.differences.item(place), found.p_values.item(place), (low, high), told)


def _claim(
    difference: float, p_value: float, ends: Interval, told: tuple[float, int, float, tuple[PairFamily, int]]
) -> Claim:
    low, high = ends
    if isnan(p_value) or isnan(low):
        return Claim(None, None, *told[:2])
    if p_value < LEVEL:  # the interval ends at 0, which the test leaves out, where it would hold it: at its
        # own share of a level that was handed down, or by limits of a score that reach far beyond the cases
        low, high = (max(low, 0.0), high) if difference > 0 else (low, min(high, 0.0))
    else:  # intervals of rare differences and the t-test need not agree to the last digit
        low, high = min(low, 0.0), max(high, 0.0)
    return Claim(p_value, (low, high), *told)


@dataclass(frozen=True)
class Sought:
    """The difference that advice is given for: the user's margin, or a share of the better method's loss."""

    mean: float | None
    """The better method's loss; None where it has no shares."""
    margin: Margin | None = None
    metric: Loss | None = None
    """A metric whose best value is 1, or a brought score with limits, of whose range 0.02 is sought."""
    judge: Loss | None = None
    """What methods are judged by, in whose units amounts are written."""
    span: float = inf
    """How far apart two expected losses can be."""

    @property
    def amount(self) -> float:
        """In the units of the loss."""
        if self.margin is not None and not self.margin.is_relative:
            return self.margin.value
        if self.metric is not None and self.margin is None:
            return SHARE_SOUGHT * (1.0 if self.metric.best_value == 1.0 else self.span)
        return (self.margin.value if self.margin else SHARE_SOUGHT) * (self.mean or nan)

    def write(self, amount: float) -> str:
        """A difference in words: a share (of what, where that is not plain), or an amount."""
        if self._is_amount:
            shown = amount if self.judge is None else self.judge.shown_spread(amount)
            return f"{significant(shown)}{'' if self.judge is None else self.judge.difference_unit}"
        return f"{per_cent(amount / (self.mean or nan))}{self._of_what}"

    @property
    def _of_what(self) -> str:
        """What a share is of, where losses are shares themselves or users know scores and no losses."""
        if self.judge is None or self.judge.is_share:
            return "" if self.judge is None else " of the loss"
        return "" if self.judge.best_value is None else f" of the {self.judge.what_falls}"

    def found_by(self, more: int, unit: str) -> str:
        """That so many more of something would find it."""
        return f"{_counted(more, unit)} would find {self}"

    @property
    def _is_amount(self) -> bool:
        return self.metric is not None if self.margin is None else not self.margin.is_relative

    def __str__(self) -> str:
        if self.margin is not None:
            return f"one as large as the margin of {self.margin.shown(self.judge)}"
        if self.metric is None:
            return f"{100 * SHARE_SOUGHT:g} %{self._of_what}"
        return self.write(self.amount)


def nothing_found(repeats: Repeats) -> str:
    """What is said where even the largest difference there can be would be missed too often."""
    few = "test cases" if repeats == "cases" else repeats
    return (
        f"As it stands, no possible difference would be found with power {POWER:g}: there are too few {few}"
    )


def possible(ends: Interval | None, span: float) -> Interval | None:
    """An interval of differences without what is impossible: no two values are further apart than the span.

    >>> possible((-6.5, 0.2), 1.0)
    (-1.0, 0.2)
    """
    return None if ends is None else (max(ends[0], -span), min(ends[1], span))


@dataclass(frozen=True)
class Outlook:
    """What an experiment like this one would find with power 0.8, and what would settle it, in words."""

    smallest_found: float | None
    advice: str


def outlook_of(
    place: tuple[PairFamily, int], level: float, sought: Sought | None, repeats: Repeats, size: int
) -> Outlook:
    """The smallest difference that would be found, and advice for the one that is sought, if any.

    `place` is a family and which of its pairs this is, `level` what this task and size have of the level of
    the whole report, `size` that of a training set.
    """
    amount = None if sought is None else sought.amount
    pilot = pilot_of(*place)
    if pilot is None:
        return Outlook(None, "")
    can_grow = repeats not in ("folds", *OF_FIXED)
    found = prospects(pilot, amount, level, power=POWER, can_grow=can_grow)
    if sought is None:
        return Outlook(found.smallest, "")
    start = (
        f"As it stands, a difference of {sought.write(found.smallest)} would be found with power {POWER:g}"
        if found.smallest <= sought.span
        else nothing_found(repeats)
    )
    if repeats in OF_FIXED and not found.is_enough:
        counted = "test cases" if repeats == "cases" else repeats
        return Outlook(found.smallest, f"{start}. {more_questions(place, level, sought, counted)}.")
    if found.is_enough:
        start = f"{start}: enough for {'' if sought.margin else 'one of '}{sought}"
    elif repeats != "folds":
        unit = f"training sets of {size}" if repeats == "training sets" else repeats
        start = f"{start}. {_more(pilot, found, sought, unit)}"
    return Outlook(found.smallest, f"{start}.")


def _more(pilot: Pilot, found: Prospects, sought: Sought, unit: str) -> str:
    """How many more would find the difference; other test cases where no number of the unit would."""
    if found.training_sets is not None:
        return sought.found_by(found.training_sets - pilot.training_sets, unit)
    if pilot.shared is None and found.test_cases is None:  # enough of them would, if not so few
        return f"Finding {sought} would take more than {MOST:,} {unit}"
    start = f"With {pilot.test_cases:.0f} test cases no number of {unit} would find {sought}"
    if found.test_cases is None:
        return f"{start}; it takes more of both"
    return f"{start}; {_counted(found.test_cases - round(pilot.test_cases), 'test cases')} would"


def _counted(more: int, unit: str) -> str:
    """So many more of something, or one more.

    >>> _counted(2, "test cases"), _counted(1, "training sets of 64")
    ('2 more test cases', '1 more training set of 64')
    """
    alone = {"test cases": "test case", "runs": "run", "groups of cases": "group of cases"}
    one = alone.get(unit, unit.replace("sets", "set"))
    return f"{more} more {one if more == 1 else unit}"


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
    judged_by: Loss | None = field(default=None, repr=False, compare=False)
    """The loss itself, as far as it is known, for those who are shown its values."""
    span: float = field(default=inf, repr=False)
    """How far apart two expected losses can be, by the limits of the loss."""
    is_same: bool = field(default=False, repr=False)
    """Whether the two lost the same on every case: then no test of their difference is defined."""
    why_untested: str = field(default="", repr=False)
    """Why the two cannot be compared, where others on the task can."""
    unit: str = field(default="", repr=False)
    """What stands behind a difference that users are shown: " points", percentage points, of an accuracy."""
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
    def shown(self) -> tuple[float | None, float | None, Interval | None]:
        """Difference, standard error and bounds as users are shown them, first method minus second.

        The bounds end where differences are impossible: t intervals of few cases know no limits.
        """
        ends = possible(self.bounds, self.span)
        return _shown(self.difference, self.standard_error, ends, self.judged_by)

    @property
    def full_unit(self) -> str:
        """The unit as it is first met in a sentence: " percentage points"."""
        return self.unit and f" percentage{self.unit}"

    @property
    def outcome(self) -> str:
        """That the winner is better than the loser, in the words of the loss; empty without a winner."""
        if self.winner is None or self.loser is None:
            return ""
        return _outcome(self.winner, self.loser, self.judged_by)

    @property
    def lead(self) -> str:
        """How far one is ahead of the other, with its interval, standardised value and p-value."""
        return _lead(self)

    @cached_property
    def test(self) -> Test:
        """The two methods compared by themselves, as if nothing else had been."""
        return self.make_test()

    @property
    def p_value(self) -> float | None:
        """Two-sided p-value of this comparison taken alone."""
        return None if self.why_untested else self.test.p_value

    @property
    def caveats(self) -> tuple[str, ...]:
        """What must be said beside it."""
        return (self.why_untested,) if self.why_untested else self.test.caveats

    def interval(self, level: float = 0.95) -> Interval | None:
        """Confidence interval for the difference, of this comparison taken alone."""
        return None if self.why_untested else self.test.interval(level)

    @property
    def advice(self) -> str:
        """What would find the margin, else a difference of two per cent; empty where that is settled.

        Power is that of the rule by which the report claims differences, averaged over what is not known of
        the variances. It is computed when somebody asks.
        """
        return self.outlook.advice

    @property
    def smallest_found(self) -> float | None:
        """The smallest difference that an experiment like this one would find with power 0.8."""
        return self.outlook.smallest_found

    @cached_property
    def outlook(self) -> Outlook:
        """What another experiment like this one would find."""
        claim = self.claim
        if claim.place is None:
            return Outlook(None, "")
        return outlook_of(claim.place, claim.share, self._sought, self.repeats, self.training_set_size)

    def answer_plan(self, difference: float, *, power: float = POWER) -> AnswerPlan | None:
        """How many questions, or how many answers to each, would find a difference of two fixed models.

        Parameters
        ----------
        difference
            The true difference, in the units of the score.
        power
            The chance of finding it that is asked for.

        Returns
        -------
        AnswerPlan or None
            Numbers of questions (of groups of them, where they come in groups) and of answers, each with the
            other as it is; None for methods that were trained, or where the answers do not vary.
        """
        if self.repeats not in OF_FIXED or self.claim.place is None:
            return None
        return plan_for(self.claim.place, self.claim.share, difference, power)

    @property
    def _sought(self) -> Sought | None:
        """The difference that advice is about; None where nothing is open, or it would be a share of none."""
        if self.winner or self.is_equivalent:
            return None
        margin = None if self.verdict is None else self.verdict.margin
        is_share = margin is None or margin.is_relative
        mean = self._better_mean if is_share else None
        if is_share and mean is None:
            return None
        judge = self.judged_by
        has_amounts = judge is not None and (
            judge.best_value == 1.0 or (judge.has_one_unit and isfinite(self.span))
        )
        metric = judge if has_amounts else None
        return Sought(mean, margin, metric, judge, self.span)

    @property
    def _better_mean(self) -> float | None:
        """The smaller expected loss of the two; None where shares of it make no sense."""
        means = (self.test.mean_first, self.test.mean_second)
        known = [mean for mean in means if mean is not None and mean > 0]
        return min(known) if len(known) == 2 else None

    @property
    def words(self) -> str:
        """The comparison in one sentence, fit for a paper; with a margin, in two."""
        return f"{self.seen_from(self.first)} {self.margin_words}".rstrip()

    def seen_from(self, name: str) -> str:
        """The comparison in one sentence, the difference being that of this method minus the other."""
        return _described(self, name, self.second if name == self.first else self.first)

    @property
    def margin_words(self) -> str:
        """What is known of the margin, in a sentence; empty without one, or without a test."""
        return "" if self.verdict is None or self.bounds is None else margin_sentence(self, self.verdict)

    def __str__(self) -> str:
        return f"{self.words} {self.advice}".rstrip()

    def __repr__(self) -> str:
        return f"<Contest: {self.words}>"


@dataclass(frozen=True, eq=False, repr=False)
class PairContests(OnDemand[Contest]):
    """The comparisons of a task, and what can be said of them without making each of them."""

    names: Sequence[Names]
    differences: Numbers
    """Expected losses of the first methods minus those of the second; NaN where they are not known."""
    p_values: Numbers
    """Adjusted ones, NaN where no test is defined."""
    make: Callable[[int], Contest]
    known: dict[int, Contest] = field(default_factory=dict)

    @classmethod
    def of(cls, contests: Sequence[Contest]) -> PairContests:
        """Those that are given, made already or not."""
        if isinstance(contests, PairContests):
            return contests
        differences = np.array([one.difference for one in contests], dtype=np.float64)
        p_values = np.array([one.adjusted_p_value for one in contests], dtype=np.float64)
        names = [(one.first, one.second) for one in contests]
        return cls(names, differences, p_values, contests.__getitem__)

    def __len__(self) -> int:
        return len(self.names)

    def made(self, place: int) -> Contest:
        """One comparison, the same whenever it is asked for."""
        if (contest := self.known.get(place)) is None:
            contest = self.known[place] = self.make(place)
        return contest

    def of_method(self, name: str | None) -> list[Contest]:
        """The comparisons of one method with others."""
        return [self[place] for place, names in enumerate(self.names) if name in names]

    def outcomes(self) -> Iterator[Names]:
        """The winner and the loser of every difference that is claimed."""
        is_claimed = self.p_values < LEVEL
        yield from compress(self.names, is_claimed & (self.differences < 0))
        for first, second in compress(self.names, is_claimed & (self.differences > 0)):
            yield second, first

    def untested(self) -> list[Names]:
        """The pairs between which no test is defined."""
        return list(compress(self.names, np.isnan(self.p_values)))


@dataclass(frozen=True, eq=False, repr=False)
class ContestsByPair(Mapping[frozenset[str], Contest]):
    """Comparisons by their two methods, whichever is the first."""

    contests: Sequence[Contest]
    places: Mapping[frozenset[str], int]

    def __getitem__(self, pair: frozenset[str]) -> Contest:
        return self.contests[self.places[pair]]

    def __iter__(self) -> Iterator[frozenset[str]]:
        return iter(self.places)

    def __len__(self) -> int:
        return len(self.places)


def _shown(
    found: float | None, error: float | None, bounds: Interval | None, loss: Loss | None
) -> tuple[float | None, float | None, Interval | None]:
    if loss is None or not loss.is_metric:
        return found, error, bounds
    ends = None if bounds is None else sorted(loss.shown_difference(end) + 0.0 for end in bounds)
    return (
        None if found is None else loss.shown_difference(found) + 0.0,  # no "-0"
        None if error is None else loss.shown_spread(error),
        None if ends is None else (ends[0], ends[1]),
    )


def _described(contest: Contest, name: str, other: str) -> str:
    if contest.is_same:
        return (
            f"{name} and {other} have the same losses on every case, and no test of a difference is defined."
        )
    if contest.difference is None or contest.adjusted_p_value is None:
        return f"{name} and {other} cannot be compared: {'; '.join(contest.caveats)}."
    lead = contest.outcome or f"{name} and {other} could not be told apart"
    unit, allowing = contest.full_unit, contest.claim.allowing
    sign = 1.0 if name == contest.first else -1.0
    difference, error, bounds = contest.shown
    found = f"{with_error(sign * (difference or 0.0) + 0.0, error)}{unit}"
    around = f" (95 % interval {_ends(contest, sign)}{contest.unit})" if bounds else ""
    return f"{lead}: {name} − {other} = {found}{around}, {p_equals(contest.adjusted_p_value)}{allowing}."


def _ends(contest: Contest, sign: float) -> str:
    _, error, bounds = contest.shown
    low, high = sorted(sign * bound for bound in bounds or ())
    return interval((low, high), error, leaves_out_zero=contest.winner is not None)


def _lead(contest: Contest) -> str:
    allowing, unit = contest.claim.allowing, contest.full_unit
    difference, error, bounds = contest.shown
    sign = 1.0 if (difference or 0.0) >= 0 else -1.0
    text = f"{by_error(sign * (difference or 0.0) + 0.0, error)}{unit}"
    if bounds is not None:
        text += f" (95 % interval {_ends(contest, sign)}{contest.unit})"
    if contest.judged_by is None or not contest.judged_by.is_metric:
        standard = contest.standard.spread(abs(contest.difference or 0.0))
        if standard is not None and not contest.standard.is_shift:
            text += f", {by_error(standard, contest.standard.spread(contest.standard_error))} standardised"
    return f"{text}; {p_equals(contest.adjusted_p_value)}{allowing}"


def _outcome(winner: str, loser: str, loss: Loss | None) -> str:
    return f"{winner} loses less than {loser}" if loss is None else loss.is_better_words(winner, loser)
