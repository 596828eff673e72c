"""Pairs of methods over tasks: how they differ on average, and what to expect of a task that was not seen.

Tasks are taken as a sample of tasks like these. Each counts once, at its largest training-set size, with the
standard error of its own difference. What is claimed has one share of the report's level, as if it were one
more task.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from math import inf

import numpy as np

from redelve.answers.losses import Loss
from redelve.findings.claims import LEVEL, Claim, Names, possible
from redelve.findings.margin import MarginOverTasks
from redelve.findings.task import ComparedTask
from redelve.model.dataset import Numbers
from redelve.stats.estimates import Interval
from redelve.stats.families import PairSquares, Truths
from redelve.stats.meta import RandomEffects, moderated_variances, random_effects
from redelve.text_numbers import interval, p_equals, per_cents, significant, with_error

Effects = tuple[Numbers, Numbers, Numbers]
"""Differences of pairs, their squared standard errors, and the degrees of freedom of these."""

PREDICTED = 0.95
"""How often the effect on a new task lies in its prediction interval, of one pair by itself."""


@dataclass(frozen=True)
class PairOverTasks:
    """Two methods over tasks: the mean of their differences, first minus second.

    Differences are standardised, or as they are where all tasks have losses of one unit. What cannot be told
    is None. `between` is the standard deviation of the true differences between tasks.
    """

    first: str
    second: str
    difference: float
    standard_error: float | None
    claim: Claim
    between: float | None
    prediction: Interval | None
    """Holds the difference on a new task in 95 % of cases, of this pair by itself."""
    tasks: int
    within: MarginOverTasks | None = None
    """What is known of a margin, where one was given."""
    judged_by: Loss | None = field(default=None, repr=False, compare=False)
    """The loss that differences are of, where they are not standardised."""

    def shown(self, difference: float | None) -> float | None:
        """A difference as users are shown it: standardised, or in the units and direction of the score."""
        if difference is None or self.judged_by is None:
            return difference
        return self.judged_by.shown_difference(difference)

    def shown_spread(self, spread: float | None) -> float | None:
        """A standard error or standard deviation as users are shown it."""
        return spread if spread is None or self.judged_by is None else self.judged_by.shown_spread(spread)

    def shown_interval(self, ends: Interval | None) -> Interval | None:
        """An interval of differences as users are shown it, the lower end first, without the impossible."""
        if ends is None or self.judged_by is None:
            return ends
        least, most = self.judged_by.limits(())
        kept = possible(ends, most - least or inf) or ends
        low, high = sorted(self.judged_by.shown_difference(end) for end in kept)
        return low, high

    @property
    def winner(self) -> str | None:
        """The method that loses less on average, if that is claimed."""
        return (self.first if self.difference < 0 else self.second) if self.claim.is_made else None

    @property
    def loser(self) -> str | None:
        """The method that was shown to lose more on average."""
        return None if self.winner is None else self.second if self.winner == self.first else self.first

    @property
    def is_equivalent(self) -> bool:
        """Whether the two differ by less than the margin on average, where one was given."""
        return self.within is not None and self.within.verdict.is_equivalent

    @property
    def not_worse(self) -> tuple[str, ...]:
        """Who is not worse than the other by more than the margin on average; both where equivalent."""
        verdict = None if self.within is None else self.within.verdict
        shown = () if verdict is None else (verdict.first_is_not_worse, verdict.second_is_not_worse)
        return tuple(name for name, holds in zip((self.first, self.second), shown, strict=False) if holds)

    @property
    def words(self) -> str:
        """What is known of the two on average over tasks, in a sentence; with a margin, in two."""
        return f"{self._described} {self.margin_words}".rstrip()

    @property
    def _described(self) -> str:
        claim, both = self.claim, f"{self.first} and {self.second}"
        if claim.bounds is None or claim.adjusted_p_value is None or self.standard_error is None:
            return f"{both} cannot be compared over tasks: their losses never differ, or have no errors."
        bounds = self.shown_interval(claim.bounds) or claim.bounds
        found, error = self.shown(self.difference), self.shown_spread(self.standard_error)
        unit = "" if self.judged_by is None else self.judged_by.difference_unit
        kind = "standardised, " if self.judged_by is None else ""
        ends = interval(bounds, error, leaves_out_zero=self.winner is not None)
        return (
            f"On average over tasks like these {self.tasks}, {self._lead}: {kind}{self.first} − "
            f"{self.second} = {with_error(found, error)}{unit and f' percentage{unit}'} (95 % interval "
            f"{ends}{unit}), {p_equals(claim.adjusted_p_value)}{claim.allowing}."
        )

    @property
    def _lead(self) -> str:
        """Who is better, in a few words."""
        if self.winner is None or self.loser is None:
            return f"{self.first} and {self.second} are not told apart"
        if self.judged_by is None:
            return f"{self.winner} loses less than {self.loser}"
        return self.judged_by.is_better_words(self.winner, self.loser)

    @property
    def margin_words(self) -> str:
        """What is known of the margin over tasks, in a sentence; empty without one."""
        return "" if self.within is None else _margin_sentence(self, self.within)


def pairs_over_tasks(tasks: Sequence[ComparedTask], share: float, family: int) -> tuple[PairOverTasks, ...]:
    """Every pair that was compared on all of these tasks, one for each prototask.

    `share` is what they have of the report's level, all together; `family` the comparisons of the report.
    """
    names = _met_everywhere(tasks)
    if not names:
        return ()
    judge = _judge_as_it_is(tasks)
    effects = stacked([effects_on(task, names) for task in tasks])
    known, combined = over_tasks(effects)
    found: list[PairOverTasks] = []
    if combined is not None:
        kept = [name for name, is_known in zip(names, known, strict=True) if is_known]
        found = _judged(kept, combined, (share, len(names), family))
    told = {(one.first, one.second): one for one in found}
    means = dict(zip(names, effects[0].mean(axis=-1).tolist(), strict=True))
    nothing = Claim(None, None, share, family)
    every = (
        told.get(name) or PairOverTasks(*name, means[name], None, nothing, None, None, len(tasks))
        for name in names
    )
    return tuple(replace(pair, judged_by=judge) for pair in every)


def _judge_as_it_is(tasks: Sequence[ComparedTask]) -> Loss | None:
    """The loss of all tasks where it has one unit on them, so that nothing is standardised."""
    judge = tasks[0].work.losses[tasks[0].code].loss
    return judge if judge.has_one_unit else None


def _met_everywhere(tasks: Sequence[ComparedTask]) -> list[Names]:
    several = [set(task.pairs.names) if task.pairs else set() for task in tasks]
    first = tasks[0].pairs.names if tasks[0].pairs else ()
    return [name for name in first if all(name in names for names in several)]


def effects_on(task: ComparedTask, names: Sequence[Names], *, is_standardised: bool = True) -> Effects:
    """What pairs differ by on a task, in units of the best constant answer's loss or as it is."""
    assert task.pairs is not None
    squares = task.pairs.squares
    where = {name: place for place, name in enumerate(task.pairs.names)}
    places = [where[name] for name in names]
    unit = (task.standard.comparable_spread(1.0) or np.nan) if is_standardised else 1.0
    errors = unit * squares.standard_errors[places]
    return unit * squares.differences[places], np.square(errors), error_df(squares)[places]


def stacked(tasks: Sequence[Effects]) -> Effects:
    """The effects of several tasks in one, tasks last."""
    effects, variances, df = (np.stack(each, axis=-1) for each in zip(*tasks, strict=True))
    return effects, variances, df


def over_tasks(effects: Effects) -> tuple[Truths, RandomEffects | None]:
    """Which pairs have an effect on every task and an error on two, and the random effects of these."""
    y, variances, df = effects
    known = np.isfinite(y).all(axis=-1) & ((np.isfinite(variances) & (variances > 0)).sum(axis=-1) > 1)
    if not known.any():
        return known, None
    return known, random_effects(y[known], moderated_variances(variances[known], df[known]))


def error_df(squares: PairSquares) -> Numbers:
    """Of the squared standard errors: Satterthwaite's (1946) where test cases add to training sets."""
    if squares.shared is None:
        return squares.df
    both = np.square(squares.between + squares.shared)
    apart = np.square(squares.between) / squares.df + np.square(squares.shared) / (squares.test_cases - 1)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(np.nan_to_num(both / apart, nan=1.0))


def _margin_sentence(pair: PairOverTasks, within: MarginOverTasks) -> str:
    margin = f"the margin of {within.verdict.margin.shown(pair.judged_by)}"
    if within.bounds is None:
        return f"Over tasks nothing is said of {margin}: {within.why_not}."
    is_share = within.verdict.margin.is_relative
    unit = "" if pair.judged_by is None else pair.judged_by.difference_unit
    amounts = pair.shown_interval(within.bounds) or within.bounds
    ends = per_cents(*within.bounds) if is_share else f"{' to '.join(map(significant, amounts))}{unit}"
    if pair.is_equivalent:
        lead = f"{pair.first} and {pair.second} are equivalent within {margin} on average"
    elif pair.not_worse:
        (able,) = pair.not_worse
        other = pair.second if able == pair.first else pair.first
        lead = f"{able} is not worse than {other} by more than {margin} on average"
    else:
        lead = f"Whether they differ by more than {margin} on average is open"
    return f"{lead} ({pair.first} − {pair.second} is {ends})."


def _judged(
    names: Sequence[Names], found: RandomEffects, told: tuple[float, int, int]
) -> list[PairOverTasks]:
    share, pairs, family = told
    p_values = np.minimum(found.p_values() * pairs * LEVEL / share, 1.0)
    widths, ahead = found.half_widths(share / pairs), found.prediction_half_widths(1 - PREDICTED)
    each = zip(
        names,
        *(
            values.tolist()
            for values in (
                found.means,
                found.standard_errors,
                np.sqrt(found.between),
                p_values,
                widths,
                ahead,
            )
        ),
        strict=True,
    )
    return [
        PairOverTasks(
            name[0],
            name[1],
            mean,
            error,
            Claim(p, (mean - width, mean + width), share, family),
            between,
            (mean - reach, mean + reach),
            found.tasks,
        )
        for name, mean, error, between, p, width, reach in each
    ]
