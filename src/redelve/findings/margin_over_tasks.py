"""A margin over tasks: whether two methods differ by less than it on average over tasks like these.

A share compares losses by their ratio. On each task the logarithm of the ratio of the two expected losses has
a standard error (delta method); their mean over tasks is that of random effects, and its exponential the
geometric mean of the ratios (the analysis of bioequivalence: Schuirmann 1987; Hauck and Anderson 1984,
Journal of Pharmacokinetics and Biopharmaceutics 12:83–91). So each task counts by how well it is known,
whatever its units. An amount compares differences as they are, which takes tasks with losses in the same
units.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import expm1, isfinite, log1p, nan

import numpy as np

from redelve.findings.by_method import MethodLosses
from redelve.findings.claims import Names
from redelve.findings.margin import Margin, MarginOverTasks, judged_within
from redelve.findings.over_tasks import Effects, PairOverTasks, effects_on, error_df, over_tasks, stacked
from redelve.findings.task import ComparedTask, squares_of_pairs
from redelve.model.dataset import Numbers

FARTHEST = 50.0
"""Logarithms of ratios are cut off here: no number is larger in words."""
NO_INTERVAL = "no interval of their difference is defined"
NO_SHARES = "one of them loses nothing on some task, and a share of nothing says nothing"


def within_over_tasks(
    pairs: Sequence[PairOverTasks], tasks: Sequence[ComparedTask], margin: Margin
) -> tuple[PairOverTasks, ...]:
    """The same pairs with what can be said of the margin, at the level that their claims have."""
    why_not = "" if margin.is_relative else unlike_units(tasks)
    if why_not or not pairs:
        nothing = MarginOverTasks(judged_within(margin, margin.value, None), why_not=why_not)
        return tuple(replace(pair, within=nothing) for pair in pairs)
    names = [(pair.first, pair.second) for pair in pairs]
    each = [
        ratios_on(task, names) if margin.is_relative else effects_on(task, names, is_standardised=False)
        for task in tasks
    ]
    found = _intervals(stacked(each), pairs[0].claim.share / len(pairs))
    return tuple(
        replace(pair, within=_judged(margin, *told)) for pair, told in zip(pairs, found, strict=True)
    )


def _intervals(effects: Effects, level: float) -> list[tuple[float, float, str]]:
    """Mean and half width for every pair, or why there is none."""
    known, combined = over_tasks(effects)
    has_effects = np.asarray(np.isfinite(effects[0]).all(axis=-1))
    if combined is None:
        means = widths = np.zeros(0)
    else:
        means, widths = combined.means, combined.half_widths(level)
    found = iter(zip(means.tolist(), widths.tolist(), strict=True))
    return [
        (*next(found), "") if is_known else (nan, nan, NO_INTERVAL if has else NO_SHARES)
        for is_known, has in zip(known, has_effects, strict=True)
    ]


def _judged(margin: Margin, mean: float, width: float, why_not: str) -> MarginOverTasks:
    """What an interval says; it is one of logarithms of ratios where the margin is a share."""
    if why_not:
        return MarginOverTasks(judged_within(margin, margin.value, None), why_not=why_not)
    bounds = mean - width, mean + width
    if not margin.is_relative:
        return MarginOverTasks(judged_within(margin, margin.value, bounds), mean, bounds)
    verdict = replace(judged_within(margin, log1p(margin.value), bounds), amount=margin.value)
    shares = [expm1(min(value, FARTHEST)) for value in (mean, *bounds)]
    return MarginOverTasks(verdict, shares[0], (shares[1], shares[2]))


def unlike_units(tasks: Sequence[ComparedTask]) -> str:
    """Why an amount of loss is not the same thing on these tasks; empty where it is.

    Probabilities, their logarithms and prices of classes have no units; distances have those of the targets.
    """
    judge = tasks[0].work.losses[tasks[0].code]
    has_none = judge.is_shift or all(
        isfinite(task.work.losses[task.code].limits[1])
        or all(target.kind == "categorical" for target in task.work.facts.targets)
        for task in tasks
    )
    of_one_kind = {(task.work.facts.data_digest, task.work.facts.targets) for task in tasks}
    if has_none or len(of_one_kind) == 1:
        return ""
    return f'{judge.words} has other units on other tasks; give the margin as a share, as in "2%"'


def ratios_on(task: ComparedTask, names: Sequence[Names]) -> Effects:
    """Logarithms of the ratios of two expected losses on a task, with squared standard errors.

    Each method's losses are divided by their mean, so differences of these are, to the first order, those of
    logarithms (delta method). NaN where a method loses nothing.
    """
    used = {name: task.losses[name] for name in dict.fromkeys(name for pair in names for name in pair)}
    means = {name: _mean(losses) for name, losses in used.items()}
    scaled = {name: _divided(losses, means[name]) for name, losses in used.items()}
    squares = squares_of_pairs(task.work.facts, scaled, names)
    logs = np.array([np.log(means[one]) - np.log(means[two]) for one, two in names])
    return logs + squares.differences, np.square(squares.standard_errors), error_df(squares)


def _mean(losses: MethodLosses) -> float:
    found = float(np.mean([table.mean() for table in losses.by_instance.values()]))
    return found if found > 0 else nan


def _divided(losses: MethodLosses, mean: float) -> MethodLosses:
    by: dict[int, Numbers] = {number: table / mean for number, table in losses.by_instance.items()}
    return replace(losses, by_instance=by)
