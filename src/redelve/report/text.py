"""The summary for a terminal: a table of standardised losses, the three replies, what to bear in mind."""

from __future__ import annotations

import textwrap

from redelve.findings import Findings, MethodFinding, TaskFindings
from redelve.report import rounding
from redelve.report.panels import Panel, panels
from redelve.report.runs_tables import runs_text
from redelve.report.words import scope, serious, summarise_panel

WIDTH = 100
MAY_BE_BEST = "*"


def summarise(findings: Findings) -> str:
    """Everything a user wants to know first, as plain text."""
    parts = [_wrapped(scope(findings))]
    for panel in panels(findings):
        parts += [part for part in (_panel(panel), runs_text(findings, panel, WIDTH)) if part]
    if notes := serious(findings.notes):
        parts.append("\n".join(["Bear in mind", *(_bullet(str(note)) for note in notes)]))
    return "\n\n".join(parts)


def _panel(panel: Panel) -> str:
    summary = summarise_panel(panel)
    lines = [panel.prototask, _wrapped(summary.headline), "", _table(panel), ""]
    for reply in summary.replies:
        if reply.sentences:
            lines += [reply.question, _wrapped(" ".join(reply.sentences), indent="  ")]
    return "\n".join(lines)


def _table(panel: Panel) -> str:
    """A row for each method, a column for each training-set size, cheapest reading first."""
    names = sorted(panel.methods, key=lambda name: _order(panel.largest, name))
    sizes = [str(task.task.training_set_size) for task in panel.tasks]
    cells = {name: [_cell(task, name, panel.is_standardised) for task in panel.tasks] for name in names}
    width = max(map(len, names))
    each = max(len(cell) for row in cells.values() for cell in row) + 2
    kind = "standardised " if panel.is_standardised else ""
    head = f"  {kind}{panel.largest.judged_by.words} ± standard error, by training-set size"
    lines = [head, f"  {'':{width}}" + "".join(f"{size:>{each}}" for size in sizes)]
    lines += [f"  {name:{width}}" + "".join(f"{cell:>{each}}" for cell in row) for name, row in cells.items()]
    return "\n".join([*lines, f"  {MAY_BE_BEST} may be the best at that size (95 % confidence)"])


def _order(task: TaskFindings, name: str) -> float:
    found = _finding(task, name)
    return float("inf") if found is None or found.mean is None else found.mean


def _finding(task: TaskFindings, name: str) -> MethodFinding | None:
    return next((one for one in task.methods if one.method == name), None)


def _cell(task: TaskFindings, name: str, standardised: bool) -> str:
    found = _finding(task, name)
    if found is None:
        return f"{rounding.UNKNOWN}  "
    mark = MAY_BE_BEST if name in task.best_group else " "
    if standardised:
        return f"{rounding.with_error(found.standardised, found.standardised_error)} {mark}"
    return f"{rounding.with_error(found.mean, found.standard_error)} {mark}"


def _wrapped(text: str, indent: str = "") -> str:
    return textwrap.fill(text, WIDTH, initial_indent=indent, subsequent_indent=indent)


def _bullet(text: str) -> str:
    return textwrap.fill(text, WIDTH, initial_indent="  ", subsequent_indent="    ")
