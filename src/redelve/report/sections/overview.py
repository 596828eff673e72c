"""The summary: in plain words at the head of a report, and for a terminal with a table of losses."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from redelve.findings import Findings, MethodFinding, TaskFindings
from redelve.findings.by_method import MethodRuns, RunPair
from redelve.findings.failures import failure_sentences
from redelve.report import formatting
from redelve.report.sections import SECTIONS, PagePart, Panel, ReportContext, Section, panels
from redelve.report.sections.across_tasks import over_tasks_words
from redelve.report.sections.one_prototask import PART, runs_of
from redelve.report.words import FAILURES_RULE, scope, serious, summarise_panel

WIDTH = 100
MAY_BE_BEST = "*"
MOST_PAIRS = 6
"""So many comparisons are told in a terminal."""
NOTHING = "No job came to an answer, so there is nothing to analyse."


class SummarySection(Section):
    """The most serious notes, and the three replies for every prototask."""

    place = 0
    title = "Summary"
    template = """\
{% if serious %}
<div class="notices" role="note" aria-label="Most serious validity notes">
<ul>
{% for code, several in serious | groupby("code") %}{{ notice(several[0], several[1:3], several | length - \
3) }}{% endfor %}
</ul>
</div>
{% endif %}
{% if summaries | length > 1 %}{{ table(part.tables[0], looks) }}{% endif %}
{% for said in summaries %}
<article class="answer">
<h3><a href="#{{ said.key }}">{{ said.prototask }}</a></h3>
<p class="headline">{{ said.headline }}</p>
<dl>
{% for reply in said.replies %}
<div><dt>{{ reply.question }}</dt>
<dd>{% if reply.sentences | length == 1 %}<p>{{ reply.sentences[0] }}</p>{% else %}{% for text in \
reply.sentences %}<p>{{ text }}</p>{% endfor %}{% endif %}</dd></div>
{% endfor %}
</dl>
</article>
{% endfor %}
{% if summaries | length == 1 and part.tables[0].rows | length > 1 %}{{ table(part.tables[0], looks) }}{% \
endif %}
"""

    def tables(self, findings: Findings, about: ReportContext) -> Iterable[formatting.ReportTable]:
        """Who may be the best, task by task."""
        return (overview_table(panels(findings)),)

    def values(self, findings: Findings, about: ReportContext) -> Mapping[str, Any]:
        """The notes and the replies."""
        summaries = [summarise_panel(panel) for panel in panels(findings)]
        return {"serious": serious(findings.notes), "summaries": summaries}

    def markdown(self, part: PagePart) -> list[str]:
        """Notes as quotations, replies as lists."""
        lines = []
        for note in part.values["serious"]:
            lines += [f"> **{note.severity}** {formatting.escape_markdown(str(note))}", ""]
        for said in part.values["summaries"]:
            lines += [
                f"## {formatting.escape_markdown(said.prototask)}",
                "",
                f"**{formatting.escape_markdown(said.headline)}**",
                "",
            ]
            for reply in said.replies:
                sentences = [f"* {formatting.escape_markdown(text)}" for text in reply.sentences]
                lines += [f"*{reply.question}*", "", *sentences, ""]
        return lines

    def latex(self, part: PagePart) -> list[str]:
        """A section for every prototask, a paragraph for every reply."""
        lines = []
        for said in part.values["summaries"]:
            lines += [
                rf"\section*{{{formatting.escape_latex(said.prototask)}}}",
                formatting.escape_latex(said.headline),
                "",
            ]
            for reply in said.replies:
                lines += [
                    rf"\paragraph{{{reply.question}}}",
                    *map(formatting.escape_latex, reply.sentences),
                    "",
                ]
        return lines


SECTIONS.add("summary", SummarySection)


def overview_table(found: Sequence[Panel]) -> formatting.ReportTable:
    """Who may be the best, task by task."""
    rows = [_overview_row(task) for panel in found for task in panel.tasks]
    return formatting.ReportTable(
        "overview",
        "Which method, task by task",
        (
            formatting.TASK,
            formatting.CASES,
            formatting.ReportColumn("Smallest loss"),
            formatting.ReportColumn("Standardised ± SE", ("standardised", "standardised_se")),
            formatting.ReportColumn("May be the best (95 %)"),
            formatting.ReportColumn("Shown to be worse"),
        ),
        tuple(rows),
        "May be the best: not shown to be worse than any other method. That is no evidence of being as good "
        "as the best.",
    )


def _overview_row(task: TaskFindings) -> formatting.Row:
    leader = None if task.leader is None else task.method(task.leader)
    group = task.best_group
    return (
        formatting.Cell(task.task.address, link=f"#{formatting.slug(task.task.address.rpartition('/')[0])}"),
        formatting.count_cell(task.task.training_set_size),
        formatting.Cell(formatting.UNKNOWN) if leader is None else formatting.name_cell(leader.method),
        formatting.Cell(formatting.UNKNOWN)
        if leader is None
        else formatting.error_cell(leader.standardised, leader.standardised_error),
        formatting.Cell(", ".join(group) or formatting.UNKNOWN),
        formatting.Cell(", ".join(task.worse) or "none"),
    )


def summarise(findings: Findings) -> str:
    """Everything a user wants to know first, as plain text."""
    parts = [_wrapped(scope(findings))]
    if findings.results.failures:
        parts.append("\n".join(["Failed", *map(_bullet, failure_sentences(findings.results))]))
    if not findings.tasks:
        parts.append(_wrapped(NOTHING))
        return "\n\n".join(parts)
    for panel in panels(findings):
        parts += [part for part in (_panel(panel), runs_text(findings, panel, WIDTH)) if part]
    if findings.across is not None and findings.across.pairs:
        parts.append("\n".join(["Over tasks", _wrapped(" ".join(over_tasks_words(findings.across)), "  ")]))
    if notes := [note for note in serious(findings.notes) if note.code != FAILURES_RULE]:  # told above
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
    cells = {name: [_loss_text(task, name, panel.is_standardised) for task in panel.tasks] for name in names}
    width = max(map(len, names))
    each = max(len(cell) for row in cells.values() for cell in row) + 2
    kind = "standardised " if panel.is_standardised else ""
    head = f"  {kind}{panel.largest.loss_words} ± standard error, by training-set size"
    lines = [head, f"  {'':{width}}" + "".join(f"{size:>{each}}" for size in sizes)]
    lines += [f"  {name:{width}}" + "".join(f"{cell:>{each}}" for cell in row) for name, row in cells.items()]
    if any(task.best_group for task in panel.tasks):
        lines.append(f"  {MAY_BE_BEST} may be the best at that size (95 % confidence)")
    return "\n".join(lines)


def _order(task: TaskFindings, name: str) -> float:
    found = _finding(task, name)
    return float("inf") if found is None or found.mean is None else found.mean


def _finding(task: TaskFindings, name: str) -> MethodFinding | None:
    return next((one for one in task.methods if one.method == name), None)


def _loss_text(task: TaskFindings, name: str, standardised: bool) -> str:
    found = _finding(task, name)
    if found is None:
        return f"{formatting.UNKNOWN}  "
    mark = MAY_BE_BEST if name in task.best_group else " "
    if standardised:
        return f"{formatting.with_error(found.standardised, found.standardised_error)} {mark}"
    return f"{formatting.with_error(found.mean, found.standard_error)} {mark}"


def _wrapped(text: str, indent: str = "") -> str:
    return textwrap.fill(text, WIDTH, initial_indent=indent, subsequent_indent=indent)


def _bullet(text: str) -> str:
    return textwrap.fill(text, WIDTH, initial_indent="  ", subsequent_indent="    ")


def runs_text(findings: Findings, panel: Panel, width: int) -> str:
    """The same for a terminal, a line for each method; empty where there are no such runs."""
    lines = []
    for found in runs_of(findings, panel):
        lines.append("Runs with different seeds, on this one training and test set (PROBEN1, 2.8)")
        longest = max(len(one.method) for one in found.methods)
        for one in found.methods:
            lines.append(f"  {one.method:{longest}}  {_runs_sentence(one)}")
        for pair in found.pairs[:MOST_PAIRS]:
            text = (
                f"{pair.first} and {pair.second}: {_runs_p(pair)} over runs (new seeds on these sets); "
                f"{_own_p(pair)} for new test cases as well."
            )
            lines.append(textwrap.fill(text, width, initial_indent="  ", subsequent_indent="    "))
        if len(found.pairs) > MOST_PAIRS:
            lines.append(f"  The report has {len(found.pairs) - MOST_PAIRS} more such comparisons.")
    return "\n".join(lines)


def _runs_sentence(one: MethodRuns) -> str:
    summary = one.summary
    parts = [f"{summary.runs} runs", f"mean {formatting.plain(summary.mean, PART)}"]
    if summary.standard_deviation is not None:
        parts.append(f"SD {formatting.plain(summary.standard_deviation, 2)}")
    if summary.best is not None:
        parts.append(f"best {formatting.plain(summary.best.test_error, PART)}")
    ends = (summary.minimum, summary.median, summary.maximum)
    parts.append(f"min, median, max {', '.join(formatting.plain(value, PART) for value in ends)}")
    return "; ".join(parts)


def _runs_p(pair: RunPair) -> str:
    text = formatting.p_equals(pair.comparison.p_value)
    return text if pair.comparison.reliable else f"({text}, not normal)"


def _own_p(pair: RunPair) -> str:
    return formatting.p_equals(None if pair.contest is None else pair.contest.p_value)
