"""Methods ranked on many tasks: Friedman's test, Nemenyi's critical difference, Wilcoxon's signed ranks.

Losses are a table: one row per task, one column per method; the smallest loss of a row has rank 1. Losses
that differ by no more than rounding error are tied. See docs/comparisons.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from math import isnan, sqrt
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from redelve.errors import StatisticsError
from redelve.stats.estimates import check_level
from redelve.stats.mean_squares import FloatArray, f_p_value
from redelve.stats.multiple import holm
from redelve.stats.normal_range import range_quantile, range_tail

ROUNDING = 8 * float(np.finfo(np.float64).eps)
"""Losses closer than this part of their size are tied."""

EXACT_LIMIT = 200
"""Up to so many non-zero differences the signed-rank distribution is computed exactly."""

FEW_TASKS = 10

OTHERS = (
    "mean ranks depend on who else is in the table: when one enters or leaves, two others can "
    "become significantly different, or change places, without a loss of theirs having changed (Benavoli, "
    "Corani and Mangili 2016); compare pairs by their losses where you can"
)
TASKS = (
    "tasks are taken as a random sample of the tasks that matter; how well each loss is known does not enter"
)
SYMMETRIC = (
    "the signed-rank test supposes differences that are symmetric about zero if neither method is better: "
    "skewed ones of mean zero are found significant at 5 % in 16 % of comparisons of 30 tasks"
)
"""Measured with exponential differences: docs/calibration.md."""

ALL_TIED = "every task ties all methods: no test is defined"
NO_DIFFERENCE = "no loss differs beyond rounding error: there is nothing to test"


@dataclass(frozen=True)
class Friedman:
    """Mean ranks of methods and tests of the hypothesis that all rankings are equally likely on every task.

    `p_value` belongs to F (Iman and Davenport 1980), `chi_square_p_value` to χ²; both allow for ties. The
    uncorrected χ² and F are those of Demšar (2006), who leaves ties aside. `standard_error` is that of the
    difference between two mean ranks when the hypothesis holds.
    """

    mean_ranks: tuple[float, ...]
    standard_error: float
    tasks: int
    chi_square: float | None
    degrees_of_freedom: int
    chi_square_p_value: float | None
    statistic: float | None
    df1: int
    df2: int
    p_value: float | None
    uncorrected_chi_square: float
    uncorrected_f: float
    caveats: tuple[str, ...]


@dataclass(frozen=True)
class Nemenyi:
    """Mean ranks, the difference that is significant for any pair, and p-values adjusted for all pairs.

    `p_values[i][j]` compares methods i and j. `groups` are the largest sets of methods, as column numbers,
    whose mean ranks differ by less than the critical difference.
    """

    mean_ranks: tuple[float, ...]
    standard_error: float
    critical_difference: float
    level: float
    p_values: tuple[tuple[float, ...], ...]
    groups: tuple[tuple[int, ...], ...]
    caveats: tuple[str, ...]


@dataclass(frozen=True)
class SignedRank:
    """Wilcoxon's test on paired losses: rank sums of the tasks won by the second and by the first method.

    `second_better` sums the ranks of tasks where the first method has the larger loss; ranks of tied tasks
    are shared out evenly. `method` says how the two-sided p-value was found.
    """

    second_better: float
    first_better: float
    z: float | None
    p_value: float | None
    method: Literal["exact", "normal"]
    tasks: int
    ties: int
    caveats: tuple[str, ...]

    @property
    def statistic(self) -> float:
        """The smaller rank sum, T."""
        return min(self.second_better, self.first_better)


@dataclass(frozen=True)
class RankedPair:
    """The signed-rank test of two columns, with its p-value adjusted for all pairs by Holm's method."""

    first: int
    second: int
    test: SignedRank
    adjusted_p_value: float | None


@dataclass(frozen=True)
class WinTieLoss:
    """On how many tasks the first method wins, ties and loses; `decided_by` says what counts as a win."""

    wins: int
    ties: int
    losses: int
    decided_by: str
    caveats: tuple[str, ...]


def rank_methods(losses: ArrayLike) -> FloatArray:
    """Ranks of the methods on each task, 1 for the smallest loss, averaged over ties.

    >>> rank_methods([[0.1, 0.3, 0.2], [0.5, 0.5, 0.4]]).tolist()
    [[1.0, 3.0, 2.0], [2.5, 2.5, 1.0]]
    """
    table = _table(losses)
    return _average_ranks(table, ROUNDING * np.abs(table))


def friedman(losses: ArrayLike) -> Friedman:
    """Friedman's χ² with ties (Conover 1999, section 5.8) and the F of Iman and Davenport (1980).

    χ² = (k − 1) N² Σ_j (R̄_j − (k + 1)/2)² / Σ_ij (r_ij − (k + 1)/2)² and F = (N − 1) χ² / (N (k − 1) − χ²).
    No p-value is given below the smallest that the exact distribution can have.
    """
    ranks = rank_methods(losses)
    tasks, methods = ranks.shape
    centred = ranks - (methods + 1) / 2
    between = tasks**2 * float(np.square(centred.mean(axis=0)).sum())
    within = float(np.square(centred).sum())
    plain = 12 * between / (tasks * methods * (methods + 1))
    chi_square = (methods - 1) * between / within if within else None
    f = None if chi_square is None else _iman_davenport(chi_square, tasks, methods)
    df1, df2, least = methods - 1, (methods - 1) * (tasks - 1), _least_p_value(ranks)
    return Friedman(
        mean_ranks=tuple(ranks.mean(axis=0).tolist()),
        standard_error=sqrt(2 * within / (methods - 1)) / tasks,
        tasks=tasks,
        chi_square=chi_square,
        degrees_of_freedom=df1,
        chi_square_p_value=None if chi_square is None else max(_upper(chi_square / df1, df1, np.inf), least),
        statistic=f,
        df1=df1,
        df2=df2,
        p_value=None if f is None else max(_upper(f, df1, df2), least),
        uncorrected_chi_square=plain,
        uncorrected_f=_iman_davenport(plain, tasks, methods),
        caveats=_caveats(tasks) if within else (ALL_TIED,),
    )


def critical_difference(methods: int, tasks: int, *, level: float = 0.05, control: bool = False) -> float:
    """Smallest significant difference of mean ranks, q √(k (k + 1) / (6 N)) (Demšar 2006, section 3.2.2).

    q is the studentised range quantile over √2 for all pairs (Nemenyi 1963), or, against one `control`, the
    normal quantile at level/(k − 1) (Dunn 1961).

    >>> round(critical_difference(4, 14), 2), round(critical_difference(4, 14, level=0.10), 2)
    (1.25, 1.12)
    """
    check_level(1 - level)
    if methods < 2 or tasks < 1:
        raise StatisticsError(f"ranks need two methods and a task at least: got {methods} and {tasks}")
    return _quantile(methods, level, control) * sqrt(methods * (methods + 1) / (6 * tasks))


def nemenyi(losses: ArrayLike, *, level: float = 0.05) -> Nemenyi:
    """All pairs of methods by their mean ranks (Nemenyi 1963; Demšar 2006, section 3.2.2).

    p_ij = P(q_k > √2 |R̄_i − R̄_j| / √(k (k + 1) / (6 N))) for the range q_k of k normal variables.
    """
    ranks = rank_methods(losses)
    tasks, methods = ranks.shape
    means = ranks.mean(axis=0)
    error = sqrt(methods * (methods + 1) / (6 * tasks))
    distance = np.abs(means[:, None] - means) / error
    p_values = range_tail(sqrt(2) * distance, methods)
    widest = critical_difference(methods, tasks, level=level)
    return Nemenyi(
        mean_ranks=tuple(means.tolist()),
        standard_error=error,
        critical_difference=widest,
        level=level,
        p_values=tuple(tuple(row) for row in p_values.tolist()),
        groups=_groups(means, widest),
        caveats=_caveats(tasks),
    )


def wilcoxon(first: ArrayLike, second: ArrayLike) -> SignedRank:
    """Signed-rank test that the differences of losses over tasks are symmetric about zero (Wilcoxon 1945).

    Tied tasks are ranked and their ranks shared evenly (Pratt 1959; Demšar 2006, section 3.1.3). The exact
    distribution given the ranks, ties and all, is built up rank by rank (Streitberg and Röhmel 1986); beyond
    `EXACT_LIMIT` untied tasks z = (R⁺ − R⁻) / √(Σ r²) is taken as normal.
    """
    difference, slack = _differences(first, second)
    size = np.abs(difference)
    size[size <= slack] = 0.0
    ranks = _average_ranks(size[None], slack[None])[0]
    signed = ranks[size > 0] * np.sign(difference[size > 0])
    shared = float(ranks[size == 0].sum()) / 2
    above, below = float(signed[signed > 0].sum()), float(-signed[signed < 0].sum())
    method: Literal["exact", "normal"] = "exact" if signed.size <= EXACT_LIMIT else "normal"
    z = (above - below) / sqrt(float(signed @ signed)) if signed.size else None
    p = None if z is None else _signed_p_value(signed) if method == "exact" else _normal_p_value(z)
    found = (TASKS, SYMMETRIC, *_few(difference.size)) if signed.size else (NO_DIFFERENCE,)
    ties = difference.size - signed.size
    return SignedRank(above + shared, below + shared, z, p, method, difference.size, ties, found)


def wilcoxon_all(losses: ArrayLike) -> tuple[RankedPair, ...]:
    """Every pair of columns by `wilcoxon`, the p-values adjusted by Holm's method (Benavoli et al. 2016)."""
    table = _table(losses)
    names = list(combinations(range(table.shape[1]), 2))
    tests = [wilcoxon(table[:, i], table[:, j]) for i, j in names]
    adjusted = holm([test.p_value for test in tests])
    return tuple(RankedPair(*name, test, p) for name, test, p in zip(names, tests, adjusted, strict=True))


def count_wins(
    differences: Sequence[float], p_values: Sequence[float | None] | None = None, *, level: float = 0.05
) -> WinTieLoss:
    """Tasks on which the first method wins, ties and loses, by the sign of its difference from the second.

    With `p_values`, one per task, only a difference with p < `level` counts as a win or a loss.

    >>> count_wins([-0.2, 0.1, 0.0, -0.1], [0.01, 0.20, None, 0.04]).wins
    2
    """
    check_level(1 - level)
    if any(isnan(difference) for difference in differences):
        raise StatisticsError("a difference of losses is not a number: give a failed method a default's loss")
    tests = [0.0] * len(differences) if p_values is None else list(p_values)
    if len(tests) != len(differences):
        raise StatisticsError(
            f"one p-value for each task: got {len(tests)} for {len(differences)} differences"
        )
    counted = [d for d, p in zip(differences, tests, strict=True) if p is not None and p < level]
    wins, losses = sum(d < 0 for d in counted), sum(d > 0 for d in counted)
    rule = "sign of the difference" if p_values is None else f"p < {level:g} on the task"
    caveats = ["counts of wins are a summary, not a test", TASKS]
    if p_values is not None:
        caveats.insert(1, "a tie may be equality or too little data; each task is tested at its own level")
    return WinTieLoss(wins, len(differences) - wins - losses, losses, rule, tuple(caveats))


def _table(losses: ArrayLike) -> FloatArray:
    table = np.asarray(losses, dtype=np.float64)
    if table.ndim != 2 or table.shape[0] < 2 or table.shape[1] < 2:
        raise StatisticsError(
            "ranks need a table of losses with at least two tasks (rows) and two methods (columns): "
            f"got shape {table.shape}"
        )
    if np.isnan(table).any():
        task, method = np.argwhere(np.isnan(table))[0]
        raise StatisticsError(
            f"the loss of method {method} on task {task} (from 0) is not a number; give failures a default's "
            "loss or leave out the task for all methods: ranks over different tasks cannot be compared"
        )
    return table


def _differences(first: ArrayLike, second: ArrayLike) -> tuple[FloatArray, FloatArray]:
    """Differences of losses and, for each, how much of it may be rounding error."""
    one, two = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    if one.ndim != 1 or one.shape != two.shape or one.size < 2:
        raise StatisticsError(
            "paired losses are two vectors with one entry per task, two at least: "
            f"got shapes {one.shape} and {two.shape}"
        )
    with np.errstate(invalid="ignore"):
        difference = np.where(one == two, 0.0, one - two)
    if np.isnan(difference).any():
        task = int(np.flatnonzero(np.isnan(difference))[0])
        raise StatisticsError(
            f"a loss on task {task} (from 0) is not a number; give failures a default's loss"
        )
    larger = np.maximum(np.abs(one), np.abs(two))
    return difference, ROUNDING * np.where(np.isinf(larger), 0.0, larger)


def _average_ranks(values: FloatArray, slack: FloatArray) -> FloatArray:
    """Ranks from 1 within each row, averaged over neighbours closer than the sum of their slacks."""
    rows, columns = values.shape
    order = np.argsort(values, axis=1, kind="stable")
    ordered = np.take_along_axis(values, order, axis=1)
    room = np.nan_to_num(np.take_along_axis(slack, order, axis=1), posinf=0.0)
    with np.errstate(invalid="ignore"):
        near = np.diff(ordered, axis=1) <= room[:, 1:] + room[:, :-1]
    apart = (ordered[:, 1:] != ordered[:, :-1]) & ~near
    group = np.cumsum(np.column_stack((np.zeros(rows, dtype=bool), apart)), axis=1)
    group += columns * np.arange(rows)[:, None]
    position = np.tile(np.arange(1.0, columns + 1), rows)
    mean = np.bincount(group.ravel(), weights=position) / np.maximum(np.bincount(group.ravel()), 1)
    ranks = np.empty(values.shape)
    np.put_along_axis(ranks, order, mean[group], axis=1)
    return ranks


def _iman_davenport(chi_square: float, tasks: int, methods: int) -> float:
    left = tasks * (methods - 1) - chi_square
    return (tasks - 1) * chi_square / left if left > ROUNDING * chi_square else np.inf


def _upper(f: float, df1: float, df2: float) -> float:
    return float(f_p_value(f, df1, df2))


def _least_p_value(ranks: FloatArray) -> float:
    """A bound on what the exact test can give: the M arrangements of a row are equally likely, in all rows.

    Moving the columns of every row alike leaves χ² as it is, so its largest value has at least max M of the
    Π M equally likely arrangements.
    """
    from scipy.special import gammaln

    tied = (ranks[:, :, None] == ranks[:, None, :]).sum(axis=2)
    logs = gammaln(ranks.shape[1] + 1.0) - (gammaln(tied + 1.0) / tied).sum(axis=1)
    return float(np.exp(logs.max() - logs.sum()))


def _quantile(methods: int, level: float, control: bool) -> float:
    from scipy.special import ndtri

    if control:
        return float(-ndtri(level / (2 * (methods - 1))))
    return range_quantile(level, methods) / sqrt(2)


def _groups(means: FloatArray, widest: float) -> tuple[tuple[int, ...], ...]:
    """Largest runs of methods, in order of mean rank, whose ends are closer than the critical difference."""
    order = [int(i) for i in np.argsort(means, kind="stable")]
    found: list[tuple[int, ...]] = []
    end = 0
    for start in range(len(order)):
        stop = max(j + 1 for j in range(start, len(order)) if means[order[j]] - means[order[start]] < widest)
        if stop > end:
            found.append(tuple(order[start:stop]))
            end = stop
    return tuple(found)


def _signed_p_value(signed: FloatArray) -> float:
    """P(|R⁺ − R⁻| ≥ observed) when every sign is a toss of a coin; twice the ranks are whole numbers."""
    steps = np.rint(2 * np.abs(signed)).astype(np.int64)
    total = int(steps.sum())
    chance = np.zeros(total + 1)
    chance[0] = 1.0
    for step in steps.tolist():
        chance[step:] = (chance[step:] + chance[: total + 1 - step]) / 2
        chance[:step] /= 2
    observed = abs(round(float(2 * signed.sum())))
    return min(1.0, float(chance[np.abs(2 * np.arange(total + 1) - total) >= observed].sum()))


def _normal_p_value(z: float) -> float:
    from scipy.special import ndtr

    return float(2 * ndtr(-abs(z)))


def _caveats(tasks: int) -> tuple[str, ...]:
    return (OTHERS, TASKS, *_few(tasks))


def _few(tasks: int) -> tuple[str, ...]:
    if tasks >= FEW_TASKS:
        return ()
    return (f"only {tasks} tasks: rank tests have little power, and their tables are approximations",)
