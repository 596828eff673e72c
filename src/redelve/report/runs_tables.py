"""Several runs on one partition: PROBEN1's statistics (section 2.8), and its t-test beside the task's own."""

from __future__ import annotations

import textwrap

from redelve.findings import Findings
from redelve.findings.over_runs import ManyRuns, MethodRuns, RunPair
from redelve.report import rounding
from redelve.report.contents import CASES, METHOD, count_cell, name_cell
from redelve.report.panels import Panel
from redelve.report.table_values import Cell, ReportColumn, ReportTable, Row

PART = 4
"""Significant digits of a run's statistics."""
MOST_PAIRS = 6
"""So many comparisons are told in a terminal."""


def runs_of(findings: Findings, panel: Panel) -> tuple[ManyRuns, ...]:
    """The tasks of a panel that have one partition and several runs."""
    by_address = {one.task.address: one for one in findings.runs}
    addresses = [task.task.address for task in reversed(panel.tasks)]
    return tuple(by_address[address] for address in addresses if address in by_address)


def runs_tables(findings: Findings, panel: Panel) -> tuple[ReportTable, ...]:
    """Statistics over runs, and comparisons by them; none where a task has several training sets."""
    found = runs_of(findings, panel)
    if not found:
        return ()
    made = [_statistics(panel, found)]
    if any(one.pairs for one in found):
        made.append(_comparisons(panel, found))
    return tuple(made)


def _statistics(panel: Panel, found: tuple[ManyRuns, ...]) -> ReportTable:
    rows = [_row(one, method) for one in found for method in one.methods]
    return ReportTable(
        f"runs-{panel.key}",
        f"Runs with different seeds on {panel.prototask}",
        (
            CASES,
            METHOD,
            ReportColumn("Runs", ("runs",)),
            ReportColumn("Mean", ("mean",)),
            ReportColumn("SD (n − 1)", ("sd",)),
            ReportColumn(
                "Best run", ("best",), "the run of lowest validation error, never of lowest test error"
            ),
            ReportColumn("Minimum", ("minimum",)),
            ReportColumn("Lower quartile", ("lower_quartile",)),
            ReportColumn("Median", ("median",)),
            ReportColumn("Upper quartile", ("upper_quartile",)),
            ReportColumn("Maximum", ("maximum",)),
        ),
        tuple(rows),
        f"Mean {found[0].task.loss(found[0].loss).words} of each run on the one test set, as PROBEN1 "
        "(Prechelt 1994, 2.8) wants runs reported. "
        "Best run: by validation error, – where the records have none. "
        "The standard deviation tells how much the seed matters with this training set, and nothing else.",
    )


def _row(found: ManyRuns, one: MethodRuns) -> Row:
    summary = one.summary
    best = None if summary.best is None else summary.best.test_error
    _, lower, median, upper, _ = summary.quartiles
    ends = (best, summary.minimum, lower, median, upper, summary.maximum)
    return (
        count_cell(found.task.training_set_size),
        name_cell(one.method),
        count_cell(summary.runs),
        _number(summary.mean),
        _number(summary.standard_deviation, 2),
        *(_number(value) for value in ends),
    )


def _number(value: float | None, digits: int = PART) -> Cell:
    return Cell(rounding.plain(value, digits), (value,))


def _comparisons(panel: Panel, found: tuple[ManyRuns, ...]) -> ReportTable:
    caveats = tuple(dict.fromkeys(text for one in found for text in one.caveats))
    return ReportTable(
        f"run-pairs-{panel.key}",
        f"Runs compared on {panel.prototask}",
        (
            CASES,
            ReportColumn("A"),
            ReportColumn("B"),
            ReportColumn("A / B", ("ratio",), "geometric means of the runs' losses"),
            ReportColumn("A − B", ("difference",), "means of the runs' losses"),
            ReportColumn("p, runs", ("p_runs",), "Cochran and Cox's t-test over runs"),
            ReportColumn("Taken out", ("outliers_a", "outliers_b"), "outliers of A and of B"),
            ReportColumn("p, seeds and test cases", ("p",), "the task's own comparison, taken alone"),
        ),
        tuple(_pair_row(one, pair) for one in found for pair in one.pairs),
        "PROBEN1's test (Prechelt 1994, 2.8 and 3.3.4): logarithms, at most a tenth of a sample taken out if "
        "the rest is then normal, t-test with Cochran and Cox's approximation; in parentheses where a sample "
        "is not normal. Runs are neither training sets nor test cases: this p says whether new seeds would "
        "give the same order on these very sets. The last column is for new seeds and new test cases; "
        "neither is about other training sets, nor adjusted for the number of pairs.",
        notes=caveats,
    )


def _pair_row(found: ManyRuns, pair: RunPair) -> Row:
    compared = pair.comparison
    p_value = rounding.p_value(compared.p_value)
    by_name = {one.method: one.summary.mean for one in found.methods}
    removed = [len(sample.removed) for sample in compared.samples]
    own = None if pair.contest is None else pair.contest.p_value
    return (
        count_cell(found.task.training_set_size),
        name_cell(pair.first),
        name_cell(pair.second),
        _number(compared.ratio, 3),
        _number(by_name[pair.first] - by_name[pair.second], 3),
        Cell(p_value if compared.reliable else f"({p_value})", (compared.p_value,)),
        Cell(f"{removed[0]}, {removed[1]}", (float(removed[0]), float(removed[1]))),
        Cell(rounding.p_value(own), (own,)),
    )


def runs_text(findings: Findings, panel: Panel, width: int) -> str:
    """The same for a terminal, a line for each method; empty where there are no such runs."""
    lines = []
    for found in runs_of(findings, panel):
        lines.append("Runs with different seeds, on this one training and test set (PROBEN1, 2.8)")
        longest = max(len(one.method) for one in found.methods)
        for one in found.methods:
            lines.append(f"  {one.method:{longest}}  {_sentence(one)}")
        for pair in found.pairs[:MOST_PAIRS]:
            text = (
                f"{pair.first} and {pair.second}: {_p(pair)} over runs (new seeds on these sets); "
                f"{_own(pair)} for new test cases as well."
            )
            lines.append(textwrap.fill(text, width, initial_indent="  ", subsequent_indent="    "))
        if len(found.pairs) > MOST_PAIRS:
            lines.append(f"  The report has {len(found.pairs) - MOST_PAIRS} more such comparisons.")
    return "\n".join(lines)


def _sentence(one: MethodRuns) -> str:
    summary = one.summary
    parts = [f"{summary.runs} runs", f"mean {rounding.plain(summary.mean, PART)}"]
    if summary.standard_deviation is not None:
        parts.append(f"SD {rounding.plain(summary.standard_deviation, 2)}")
    if summary.best is not None:
        parts.append(f"best {rounding.plain(summary.best.test_error, PART)}")
    ends = (summary.minimum, summary.median, summary.maximum)
    parts.append(f"min, median, max {', '.join(rounding.plain(value, PART) for value in ends)}")
    return "; ".join(parts)


def _p(pair: RunPair) -> str:
    text = rounding.p_equals(pair.comparison.p_value)
    return text if pair.comparison.reliable else f"({text}, not normal)"


def _own(pair: RunPair) -> str:
    return rounding.p_equals(None if pair.contest is None else pair.contest.p_value)
