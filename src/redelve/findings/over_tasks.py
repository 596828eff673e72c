"""Pairs of methods over tasks: how they differ on average, and what to expect of a task that was not seen.

Tasks are taken as a sample of tasks like these. Each counts once, at its largest training-set size, with the
standard error of its own difference. What is claimed has one share of the report's level, as if it were one
more task.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from redelve.findings.claims import LEVEL, Claim, Names
from redelve.findings.task import ComparedTask
from redelve.model.dataset import Numbers
from redelve.stats.estimates import Interval
from redelve.stats.meta import RandomEffects, moderated_variances, random_effects
from redelve.stats.pairs import PairSquares

PREDICTED = 0.95
"""How often the effect on a new task lies in its prediction interval, of one pair by itself."""


@dataclass(frozen=True)
class PairOverTasks:
    """Two methods over tasks: the mean of their standardised differences, first minus second.

    What cannot be told is None. `between` is the standard deviation of the true differences between tasks.
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

    @property
    def winner(self) -> str | None:
        """The method that loses less on average, if that is claimed."""
        return (self.first if self.difference < 0 else self.second) if self.claim.is_made else None

    @property
    def loser(self) -> str | None:
        """The method that was shown to lose more on average."""
        return None if self.winner is None else self.second if self.winner == self.first else self.first


def pairs_over_tasks(tasks: Sequence[ComparedTask], share: float, family: int) -> tuple[PairOverTasks, ...]:
    """Every pair that was compared on all of these tasks, one for each prototask.

    `share` is what they have of the report's level, all together; `family` the comparisons of the report.
    """
    names = _met_everywhere(tasks)
    if not names:
        return ()
    effects, variances, df = (
        np.stack(each, axis=-1) for each in zip(*[_of_task(t, names) for t in tasks], strict=True)
    )
    known = (np.isfinite(variances) & (variances > 0)).sum(axis=-1) > 1
    found: list[PairOverTasks] = []
    if known.any():
        moderated = moderated_variances(variances[known], df[known])
        found = _judged(
            [name for name, is_known in zip(names, known, strict=True) if is_known],
            random_effects(effects[known], moderated),
            (share, len(names), family),
        )
    told = {(one.first, one.second): one for one in found}
    means = dict(zip(names, effects.mean(axis=-1).tolist(), strict=True))
    nothing = Claim(None, None, share, family)
    return tuple(
        told.get(name) or PairOverTasks(*name, means[name], None, nothing, None, None, len(tasks))
        for name in names
    )


def _met_everywhere(tasks: Sequence[ComparedTask]) -> list[Names]:
    several = [set(task.pairs.names) if task.pairs else set() for task in tasks]
    first = tasks[0].pairs.names if tasks[0].pairs else ()
    return [name for name in first if all(name in names for names in several)]


def _of_task(task: ComparedTask, names: Sequence[Names]) -> tuple[Numbers, Numbers, Numbers]:
    """Standardised differences of pairs on a task, their squared standard errors, and degrees of freedom."""
    assert task.pairs is not None
    squares, standard = task.pairs.squares, task.standard
    where = {name: place for place, name in enumerate(task.pairs.names)}
    places = [where[name] for name in names]
    unit = standard.spread(1.0) or np.nan
    errors = unit * squares.standard_errors[places]
    return unit * squares.differences[places], np.square(errors), _df(squares)[places]


def _df(squares: PairSquares) -> Numbers:
    """Of the squared standard errors: Satterthwaite's (1946) where test cases add to training sets."""
    if squares.shared is None:
        return squares.df
    both = np.square(squares.between + squares.shared)
    apart = np.square(squares.between) / squares.df + np.square(squares.shared) / (squares.test_cases - 1)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(np.nan_to_num(both / apart, nan=1.0))


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
