"""Where do two methods differ? Their agreement, the cases that decide, and slices of the cases.

Slices share a level of 5 % among themselves: they are a question of their own, asked of one pair of methods
on one task, and no claim of a report depends on it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from redelve.answers.losses import Loss
from redelve.errors import StatisticsError
from redelve.findings.by_method import judge_of
from redelve.findings.case_columns import ByLike, CaseColumn, case_columns
from redelve.findings.claims import Contest
from redelve.findings.findings import VIEWS, Findings
from redelve.findings.paired_cases import PairedCases, flat_pairs, in_common, paired_cases
from redelve.findings.slice_tests import NamedSlice, slices_by
from redelve.findings.two_methods import compare_methods
from redelve.model import Assignment
from redelve.run.results import Results, TaskFacts, TaskResults
from redelve.stats.agreement import (
    Association,
    SharedErrors,
    are_errors,
    error_kappa,
    loss_correlation,
    shared_errors,
    turning_cases,
)
from redelve.text_numbers import per_cent

if TYPE_CHECKING:
    import pandas as pd

MOST_NAMED = 5


@dataclass(frozen=True, eq=False)
class Differences:
    """Where two methods differ on a task.

    Printed, it tells how far they err alike, which cases decide, and in which slices one is worse.
    `frame()` has a row for every slice, `cases()` one for every case on which they differ.
    """

    first: str
    second: str
    task: TaskFacts
    judged_by: Loss
    contest: Contest
    pairs: PairedCases = field(repr=False)
    errors: SharedErrors | None
    """Right and wrong, where losses are 0 or 1."""
    kappa: Association | None
    correlation: Association
    turning: int
    """The fewest cases without which the difference would vanish or turn round."""
    slices: tuple[NamedSlice, ...] = ()

    @property
    def worse(self) -> dict[str, tuple[NamedSlice, ...]]:
        """For each of the two methods the slices in which it is shown to be worse."""
        signs = {self.first: 1, self.second: -1}
        return {
            name: tuple(one for one in self.slices if one.found.worse == sign) for name, sign in signs.items()
        }

    def frame(self) -> pd.DataFrame:
        """A row for every slice; the intervals hold all together in 95 % of data sets."""
        import pandas as pd

        return pd.DataFrame([self._row(one) for one in self.slices], columns=FRAME)

    def cases(self) -> pd.DataFrame:
        """A row for every case on which the two differ, those that decide first."""
        import pandas as pd

        pairs, order, loss = self.pairs, self.pairs.by_part, self.judged_by
        sign = -1.0 if loss.higher_is_better else 1.0
        values = {
            name: [loss.metric_value(value) for value in losses[order].tolist()]
            for name, losses in ((self.first, pairs.first), (self.second, pairs.second))
        }
        return pd.DataFrame(
            {
                "case": pairs.names[order],
                **{name: column[order] for name, column in pairs.columns.items()},
                **values,
                "difference": sign * (pairs.first - pairs.second)[order],
                "part": sign * pairs.parts[order],
                "answers": pairs.answers[order],
            }
        )

    def _row(self, one: NamedSlice) -> tuple[object, ...]:
        loss, found = self.judged_by, one.found
        sign = -1.0 if loss.higher_is_better else 1.0
        ends = (None, None) if found.low is None or found.high is None else (found.low, found.high)
        low, high = sorted(sign * end for end in ends if end is not None) or (None, None)
        worse = {1: self.first, -1: self.second}.get(found.worse)
        means = loss.metric_value(one.first_mean), loss.metric_value(one.second_mean)
        return (
            *(one.column, one.value, found.cases, found.units, *means, sign * found.difference),
            *(found.standard_error, low, high, found.p_value, worse),
        )

    @property
    def sentences(self) -> tuple[str, ...]:
        """All in words."""
        return (str(self.contest), self.agreement_words, self.deciding_words, *self._slice_words())

    @property
    def agreement_words(self) -> str:
        """How far the two err on the same cases."""
        if self.errors is None or self.kappa is None:
            return f"Their losses have a rank correlation of {_associated(self.correlation)}."
        one = self.errors
        what = "answers" if one.cases > len(self.pairs.names) else "cases"
        return (
            f"They are right or wrong alike on {per_cent(one.agreement)} of {one.cases:,} {what}: both right "
            f"on {one.both_right:,}, both wrong on {one.both_wrong:,}, {self.first} alone wrong on "
            f"{one.first_wrong:,}, {self.second} alone on {one.second_wrong:,}; Cohen's κ is "
            f"{_associated(self.kappa)}."
        )

    @property
    def deciding_words(self) -> str:
        """How many cases the difference rests on."""
        count, differing = len(self.pairs.names), len(self.pairs.by_part)
        start = f"They differ on {differing:,} of {count:,} cases"
        if not self.turning:
            return f"{start}, and not on average."
        few = f"the {self.turning:,} cases that carry" if self.turning > 1 else "the one case that carries"
        return f"{start}; without {few} most of it the difference would vanish or turn round."

    def _slice_words(self) -> list[str]:
        if not self.slices:
            return []
        tested = sum(one.found.p_value is not None for one in self.slices)
        columns = " and ".join(dict.fromkeys(one.column for one in self.slices))
        told = [
            f"{name} is worse than {other} where {_places(self.worse[name])}"
            for name, other in ((self.first, self.second), (self.second, self.first))
            if self.worse[name]
        ]
        found = "; ".join(told) if told else "neither is shown to be worse in any"
        few = len(self.slices) - tested
        rest = f" {few} more {'has' if few == 1 else 'have'} too few cases to be tested." if few else ""
        return [f"Of {tested} slices by {columns}, tested together at 5 %: {found}.{rest}"]

    def __str__(self) -> str:
        return "\n".join(
            [
                f"{self.first} and {self.second} on {self.task.address}",
                *(f"  {one}" for one in self.sentences),
            ]
        )

    def __repr__(self) -> str:
        return f"<Differences of {self.first} and {self.second} on {self.task.address}; print them for more>"

    def _repr_html_(self) -> str:
        """For notebooks."""
        return VIEWS["differences"](self)


FRAME = (
    *("column", "slice", "cases", "units", "first", "second", "difference"),
    *("standard_error", "low", "high", "p_value", "worse"),
)
VIEWS.add("differences", "redelve.report.difference_views:differences_html")


def _associated(one: Association) -> str:
    if one.value is None:
        return "unknown (one of them always loses the same)"
    told = "" if one.low is None else f" (95 % interval {one.low:.2f} to {one.high:.2f})"
    return f"{one.value:.2f}{told}".replace("-", "−")


def _places(slices: Sequence[NamedSlice]) -> str:
    named = [one.value if one.is_range else f"{one.column} is {one.value}" for one in slices[:MOST_NAMED]]
    more = f" and in {len(slices) - MOST_NAMED} more" if len(slices) > MOST_NAMED else ""
    return f"{', '.join(named)}{more}"


# From results to differences


def differences_of(
    results: Results,
    names: tuple[str, str],
    address: str,
    *,
    code: str | None = None,
    by: ByLike | None = None,
    assignment: Assignment | None = None,
) -> Differences:
    """Where two methods differ on a task, by one loss; `by` says how its cases are cut into slices."""
    for name in names:
        results.method(name)
    if names[0] == names[1]:
        raise StatisticsError(f'"{names[0]}" would be compared with itself: name two {results.contender}s')
    whole = results.select(methods=names, tasks=[address]).on(address)
    chosen = judge_of(whole, code)
    work = in_common(whole, names, chosen)
    judge = _judge(work, chosen)
    columns = {} if by is None else case_columns(by, work.facts, assignment)
    (contest,) = compare_methods(results, *names, [address], chosen)
    flat = flat_pairs(work, names, chosen)
    pairs = paired_cases(flat, {**_truths(work.facts), **columns})
    errors = shared_errors(flat.first, flat.second) if are_errors(flat.first, flat.second) else None
    return Differences(
        *names,
        work.facts,
        judge,
        contest,
        pairs,
        errors,
        None if errors is None else error_kappa(flat.first, flat.second, flat.units),
        loss_correlation(flat.first, flat.second, flat.units),
        turning_cases(pairs.parts),
        slices_by(work, names, chosen, columns),
    )


def leading_differences(findings: Findings) -> tuple[Differences, ...]:
    """The leader and who comes next, of every task whose cases have names by which they can be looked up."""
    found = []
    for task in findings.tasks:
        names = [one.method for one in task.by_loss[:2]]
        if len(names) < 2 or any(one.names is None for one in task.task.instances):
            continue
        try:
            found.append(
                differences_of(findings.results, (names[0], names[1]), task.task.address, code=task.loss)
            )
        except StatisticsError:  # scores of folds alone, or a metric that is no mean
            continue
    return tuple(found)


def _judge(work: TaskResults, code: str) -> Loss:
    """The loss, where cases have a part in a difference of it."""
    judge = work.losses[code].loss
    if not judge.mean_of_cases:
        raise StatisticsError(
            f"{judge.words} is no mean over cases, so no case has a part in a difference of it: judge by "
            "another loss, such as accuracy or squared error"
        )
    if all(one.names is not None and one.names.tolist() == [""] for one in work.facts.instances):
        raise StatisticsError(
            f"{work.facts.address} has scores of folds and none of cases: no case can be told from another"
        )
    return judge


def _truths(facts: TaskFacts) -> dict[str, CaseColumn]:
    """What was to be predicted."""
    names = [target.name for target in facts.targets]
    return case_columns(names, facts, is_cut=False) if names else {}
