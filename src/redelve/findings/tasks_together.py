"""Many tasks together: averages, claims over tasks, ranks; each prototask counts once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from math import isfinite, sqrt

import numpy as np
from numpy.typing import NDArray

from redelve.answers.losses import Loss
from redelve.findings.claims import FEWEST_TASKS, LEVEL, family_size, level_parts, prototask_of
from redelve.findings.margin import Margin
from redelve.findings.margin_over_tasks import within_over_tasks
from redelve.findings.over_tasks import PairOverTasks, pairs_over_tasks
from redelve.findings.planned import PLANNED
from redelve.findings.task import ComparedTask, TaskFindings, is_same_mean
from redelve.seeds import generator
from redelve.stats.bayesian_tests import RopeProbabilities, signed_rank_all
from redelve.stats.ranks import (
    Friedman,
    Nemenyi,
    RankedPair,
    WinTieLoss,
    count_wins,
    friedman,
    nemenyi,
    wilcoxon_all,
)

ROPE = 0.01
"""Standardised losses that differ by less than this are practically the same; of scores, so much of the range
that they have."""

FIXED_TASKS = (
    "the average over these tasks has a standard error for these tasks alone: it says nothing of other tasks"
)
RELATED = (
    "tasks of one prototask differ only in training-set size and share their cases: each prototask counts "
    "once, at its largest size"
)
SAME_DATA = (
    "some prototasks are of the same data: they are taken as independent tasks, which they are not quite"
)
LEFT_OUT = "these tasks are left out because some method has no standardised loss there: "
OTHER_LOSS = "these tasks are left out because they are judged by another loss: "
WITHOUT_SCORES = "these tasks are left out because some model has no score there: "


@dataclass(frozen=True)
class RankedMethod:
    """A method's average loss over tasks, with its standard error, and its mean rank.

    Losses are standardised, or as they are where they have one unit on all tasks.
    """

    method: str
    average: float
    standard_error: float | None
    mean_rank: float
    judged_by: Loss | None = field(default=None, repr=False, compare=False)
    """The loss, where it is not standardised."""

    @property
    def shown(self) -> tuple[float, float | None]:
        """Average and standard error as users are shown them."""
        if self.judged_by is None:
            return self.average, self.standard_error
        error = self.standard_error
        spread = None if error is None else self.judged_by.shown_spread(error)
        return self.judged_by.shown_value(self.average), spread


@dataclass(frozen=True)
class AcrossTasks:
    """What can be said of many tasks together, each prototask counting once, at its largest size.

    `pairs` are what is claimed, with three tasks at least. Ranks describe: nothing is claimed by them.
    """

    judged_by: Loss
    tasks: tuple[str, ...]
    methods: tuple[RankedMethod, ...]
    pairs: tuple[PairOverTasks, ...]
    wins: dict[tuple[str, str], WinTieLoss]
    friedman: Friedman | None
    nemenyi: Nemenyi | None
    wilcoxon: tuple[RankedPair, ...]
    rope: Mapping[tuple[str, str], RopeProbabilities]
    caveats: tuple[str, ...]
    margin: Margin | None = None
    is_planned: bool = False

    contender: str = "method"
    """What is compared, in the user's word."""

    @property
    def is_standardised(self) -> bool:
        """Whether averages are of standardised losses, and not of scores as they are."""
        return not self.judged_by.has_one_unit

    @property
    def by_loss(self) -> tuple[RankedMethod, ...]:
        """The methods from the smallest average to the largest."""
        return tuple(sorted(self.methods, key=lambda one: one.average))

    @property
    def leaders(self) -> tuple[str, ...]:
        """The method with the smallest average, and those that have the same."""
        first, *others = self.by_loss
        ties = [one.method for one in others if is_same_mean(one.average, first.average)]
        return (first.method, *(name for name in ties if name not in self.worse))

    @property
    def worse(self) -> tuple[str, ...]:
        """The methods that were shown to lose more, on average over tasks, than some other."""
        losers = {pair.loser for pair in self.pairs}
        return tuple(one.method for one in self.by_loss if one.method in losers)


def across_tasks(
    findings: Sequence[TaskFindings], compared: Sequence[ComparedTask] = (), margin: Margin | None = None
) -> AcrossTasks | None:
    """The tasks on which every method has a comparable loss, taken together; None for one prototask.

    Only tasks judged by the loss that most have are averaged; a caveat names the others. `compared` are all
    tasks of the report, with the comparisons made over tasks, which may say something of a margin.
    """
    alike = same_loss(findings)
    names = list(dict.fromkeys(one.method for task in alike for one in task.methods))
    complete = [task for task in alike if _is_complete(task, names)]
    largest = _largest_of_each_prototask(complete)
    if len(largest) < 2 or len(names) < 2:
        return None
    table = _comparable(largest, names)
    is_planned = any(task.is_planned for task in complete)
    is_sample = len(largest) >= FEWEST_TASKS
    ranks = friedman(table) if is_sample and not is_planned else None
    return AcrossTasks(
        judged_by=complete[0].judged_by,
        tasks=tuple(task.task.address for task in largest),
        methods=_ranked(largest, names, table),
        pairs=_pairs(largest, compared, margin) if is_sample else (),
        wins={pair: _wins(largest, *pair) for pair in combinations(names, 2) if _is_met(largest, *pair)},
        friedman=ranks,
        nemenyi=nemenyi(table) if ranks else None,
        wilcoxon=wilcoxon_all(table) if ranks else (),
        rope=_ropes(table, names, _rope_of(largest[0])) if ranks else {},
        caveats=(*_caveats(findings, complete, largest), *(ranks.caveats if ranks else ())),
        margin=margin,
        is_planned=is_planned,
        contender=largest[0].task.contender,
    )


def _caveats(
    findings: Sequence[TaskFindings], complete: Sequence[TaskFindings], largest: Sequence[TaskFindings]
) -> list[str]:
    is_planned = any(task.is_planned for task in complete)
    caveats = [FIXED_TASKS, PLANNED] if is_planned else [FIXED_TASKS]
    if len(largest) < len(complete):
        caveats.append(RELATED)
    if len({task.task.data_digest for task in largest}) < len(largest):
        caveats.append(SAME_DATA)
    loss = complete[0].loss
    if others := [task.task.address for task in findings if task.loss != loss]:
        caveats.append(OTHER_LOSS + ", ".join(others))
    if left_out := [task.task.address for task in findings if task.loss == loss and task not in complete]:
        why = WITHOUT_SCORES if complete[0].judged_by.has_one_unit else LEFT_OUT
        caveats.append(why + ", ".join(left_out))
    return caveats


def _pairs(
    largest: Sequence[TaskFindings], compared: Sequence[ComparedTask], margin: Margin | None
) -> tuple[PairOverTasks, ...]:
    """Random effects of every pair over the largest tasks of prototasks, at their share of the level."""
    known = {task.work.facts.address: task for task in compared}
    chosen = [known[task.task.address] for task in largest if task.task.address in known]
    every = [task.pairs for task in compared if task.pairs]
    if len(chosen) < len(largest):
        return ()
    pairs = pairs_over_tasks(chosen, LEVEL / level_parts(every), family_size(every))
    return pairs if margin is None else within_over_tasks(pairs, chosen, margin)


def _is_complete(task: TaskFindings, names: Sequence[str]) -> bool:
    known = {one.method: one.comparable for one in task.methods if one.comparable is not None}
    return all(name in known and np.isfinite(known[name]) for name in names)


def _largest_of_each_prototask(findings: Sequence[TaskFindings]) -> list[TaskFindings]:
    largest: dict[str, TaskFindings] = {}
    for task in findings:
        prototask = prototask_of(task.task.address)
        held = largest.get(prototask)
        if held is None or task.task.training_set_size > held.task.training_set_size:
            largest[prototask] = task
    return list(largest.values())


def _comparable(findings: Sequence[TaskFindings], names: Sequence[str]) -> NDArray[np.float64]:
    return np.array([[task.method(name).comparable for name in names] for task in findings], dtype=np.float64)


def _ranked(
    findings: Sequence[TaskFindings], names: Sequence[str], table: NDArray[np.float64]
) -> tuple[RankedMethod, ...]:
    from redelve.stats.ranks import rank_methods

    ranks, averages = rank_methods(table).mean(axis=0), table.mean(axis=0)
    judge = findings[0].judged_by if findings[0].judged_by.has_one_unit else None
    return tuple(
        RankedMethod(name, float(averages[k]), _error(findings, name), float(ranks[k]), judge)
        for k, name in enumerate(names)
    )


def _error(findings: Sequence[TaskFindings], name: str) -> float | None:
    """Standard error of the average for these very tasks."""
    errors = [task.method(name).comparable_error for task in findings]
    if any(error is None for error in errors):
        return None
    return sqrt(sum(error**2 for error in errors if error is not None)) / len(errors)


def _is_met(findings: Sequence[TaskFindings], first: str, second: str) -> bool:
    """Whether two methods were compared on every task."""
    return all(frozenset((first, second)) in task.by_pair for task in findings)


def _wins(findings: Sequence[TaskFindings], first: str, second: str) -> WinTieLoss:
    """Wins, ties and losses by the adjusted tests of each task."""
    differences, p_values = [], []
    for task in findings:
        contest = task.contest(first, second)
        sign = 1.0 if contest.first == first else -1.0
        differences.append(sign * (contest.difference or 0.0))
        p_values.append(contest.adjusted_p_value)
    return count_wins(differences, p_values)


def _rope_of(task: TaskFindings) -> float | None:
    """How much is practically nothing; None for scores whose range nobody knows."""
    if not task.judged_by.has_one_unit:
        return ROPE
    low, high = task.judged_by.limits(task.task.targets)
    return ROPE * (high - low) if isfinite(high - low) else None


@dataclass(frozen=True, eq=False)
class PairsInRope(Mapping[tuple[str, str], RopeProbabilities]):
    """Probabilities of practical differences, drawn when somebody asks: ten milliseconds for every pair."""

    names: tuple[str, ...]
    half_width: float
    table: NDArray[np.float64] = field(repr=False)
    known: dict[tuple[str, str], RopeProbabilities] = field(default_factory=dict, repr=False)

    def __getitem__(self, pair: tuple[str, str]) -> RopeProbabilities:
        return self.of([pair])[0]

    def __iter__(self) -> Iterator[tuple[str, str]]:
        return combinations(self.names, 2)

    def __len__(self) -> int:
        return len(self.names) * (len(self.names) - 1) // 2

    def of(self, pairs: Sequence[tuple[str, str]]) -> list[RopeProbabilities]:
        """Those of several pairs, drawn together."""
        place = {name: number for number, name in enumerate(self.names)}
        lacking = {(place[one], place[two]): (one, two) for one, two in pairs if (one, two) not in self.known}
        if any(first >= second for first, second in lacking):
            raise KeyError(pairs)
        if lacking:
            rng = generator("rope", *self.names)
            found = signed_rank_all(self.table, rope=self.half_width, rng=rng, pairs=list(lacking))
            self.known.update({lacking[each]: one for each, one in found.items()})
        return [self.known[pair] for pair in pairs]


def _ropes(
    table: NDArray[np.float64], names: Sequence[str], rope: float | None
) -> Mapping[tuple[str, str], RopeProbabilities]:
    return {} if rope is None else PairsInRope(tuple(names), rope, table)


def same_loss(findings: Sequence[TaskFindings]) -> list[TaskFindings]:
    """Averages are over tasks judged by the same loss: the one that most of them have."""
    codes = [task.loss for task in findings]
    commonest = max(dict.fromkeys(codes), key=codes.count, default=None)
    return [task for task in findings if task.loss == commonest]
