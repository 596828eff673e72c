"""The summary: in plain words at the head of a report, and for a terminal with a table of losses."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from redelve.data.scores.score_table import BY_NAME, LONG, OTHERS_HELD, UNEVEN, WIDE
from redelve.findings import Findings, MethodFinding, TaskFindings
from redelve.findings.failures import failure_sentences
from redelve.findings.findings import MethodRuns, RunPair
from redelve.findings.places import board_on
from redelve.report import formatting
from redelve.report.drawing import Picture
from redelve.report.first_screen import NOTHING, answer_table, losses_picture, plain_answer
from redelve.report.many_data_sets import averages_picture, datasets_table, is_turned
from redelve.report.race_words import UNEQUAL_SETS
from redelve.report.sections import SECTIONS, PagePart, Panel, ReportContext, Section, panels
from redelve.report.sections.across_tasks import margin_sentence, over_tasks_words, ranks_picture
from redelve.report.sections.one_prototask import PART, runs_of
from redelve.report.words import FAILURES_RULE, scope, serious, sets_words, summarise_panel

WIDTH = 100
MAY_BE_BEST = "*"
MOST_PAIRS = 6
"""So many comparisons are told in a terminal."""
MOST_PICTURES = 2
MOST_IN_FULL = 2
"""So many data sets are told of in full in a terminal; of more, a table."""
MOST_ROWS = 30
MOST_NOTES = 5
MOST_LETTERS = 240
TOLD_AT_ONCE = (WIDE, LONG, BY_NAME, OTHERS_HELD, UNEVEN)
"""What notes on how scores were read say that stand in the text, not on the page alone."""


class SummarySection(Section):
    """The answer in plain words, the most serious notes, one picture, one table, what was left out."""

    place = 0
    title = "Summary"
    template = """\
<div class="answer">
{% for text in plain.sentences %}<p class="{{ "headline" if loop.first else "plain" }}">{{ text }}</p>
{% endfor %}
</div>
{% if serious %}
<details class="notices"{{ " open" if serious[0].severity == "invalid" }}>
<summary>{{ severity(serious[0]) }} {% for code, several in serious | groupby("code") %}{{ several[0].title \
}}{% if several | length > 1 %} ({{ several | length }} notes){% endif %}\
{{ "; " if not loop.last }}{% endfor %}\
</summary>
<ul>
{% for code, several in serious | groupby("code") %}{{ notice(several[0], several[1:3], several | length - \
3) }}{% endfor %}
</ul>
</details>
{% endif %}
<div class="{{ "first" if summaries | length == 1 }}">
{% for one in part.pictures %}{{ picture(one, looks) }}{% endfor %}
<div>{{ table(part.tables[0], looks) }}</div>
</div>
{% if left_out %}
<h3 id="left-out">Left out of the data</h3>
<ul class="caveats">{% for text in left_out %}<li>{{ text }}</li>{% endfor %}</ul>
{% endif %}
{% if part.tables[1].rows | length > 1 %}
<details><summary>{{ part.tables[1].title }}</summary>
{{ table(part.tables[1], looks, heading=false) }}
</details>
{% endif %}
"""

    def tables(self, findings: Findings, about: ReportContext) -> Iterable[formatting.ReportTable]:
        """The methods by their loss, or every method on every data set; who may be the best, task by task."""
        found = panels(findings)
        first = answer_table(findings, found[0]) if len(found) == 1 else datasets_table(findings, found)
        return first, overview_table(found)

    def pictures(self, findings: Findings, about: ReportContext) -> Iterable[Picture]:
        """Mean ranks over data sets, or the losses on the one or two that there are."""
        if findings.across is not None and (averages := averages_picture(findings)) is not None:
            return (averages,)
        if findings.across is not None and (ranks := ranks_picture(findings)) is not None:
            return (ranks,)
        several = (losses_picture(panel) for panel in panels(findings)[:MOST_PICTURES])
        return tuple(one for one in several if one is not None)

    def values(self, findings: Findings, about: ReportContext) -> Mapping[str, Any]:
        """The answer, the notes, what was left out, and the replies for Markdown and LaTeX."""
        return {
            "plain": plain_answer(findings),
            "serious": serious(findings.notes),
            "left_out": left_out(findings),
            "summaries": [summarise_panel(panel) for panel in panels(findings)],
        }

    def markdown(self, part: PagePart) -> list[str]:
        """The answer, notes as quotations, replies as lists."""
        lines = [*map(formatting.escape_markdown, part.values["plain"].sentences), ""]
        for note in part.values["serious"]:
            lines += [f"> **{note.severity}** {formatting.escape_markdown(str(note))}", ""]
        if part.values["left_out"]:
            texts = [f"* {formatting.escape_markdown(text)}" for text in part.values["left_out"]]
            lines += ["## Left out of the data", "", *texts, ""]
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
        """The answer; a section for every prototask, a paragraph for every reply."""
        lines = [*map(formatting.escape_latex, part.values["plain"].sentences), ""]
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


OF_ROWS = re.compile(r"\b\d+ of \d+ rows ")
"""What texts of what was left out have where cases were, and not columns."""


def left_out(findings: Findings) -> tuple[str, ...]:
    """What of the data was not in use, with the data set's name where there are several."""
    by_data: dict[str, dict[str, None]] = {}
    for address, facts in findings.results.tasks.items():
        by_data.setdefault(address.rpartition("/")[0], {}).update(dict.fromkeys(facts.left_out))
    is_several = len(by_data) > 1
    return tuple(
        f"{name}: {text}" if is_several else text for name, texts in by_data.items() for text in texts
    )


def overview_table(found: Sequence[Panel]) -> formatting.ReportTable:
    """Who may be the best, task by task."""
    rows = [_overview_row(task) for panel in found for task in panel.tasks]
    is_fixed = bool(found) and all(panel.largest.task.is_fixed for panel in found)
    contender = "model" if is_fixed else "method"
    value = formatting.ReportColumn("Standardised ± SE", ("standardised", "standardised_se"))
    return formatting.ReportTable(
        "overview",
        f"Which {contender}, task by task",
        (
            formatting.TASK,
            formatting.ReportColumn("Cases", ("cases",)) if is_fixed else formatting.CASES,
            formatting.ReportColumn(_smallest(found)),
            formatting.ReportColumn("Score ± SE", ("score", "score_se")) if is_fixed else value,
            formatting.ReportColumn("May be the best (95 %)"),
            formatting.ReportColumn("Shown to be worse"),
        ),
        tuple(rows),
        f"May be the best: not shown to be worse than any other {contender}. That is no evidence of being as "
        f"good as the best.{_whose_errors(found)}{_among_whom(found)}",
    )


def _whose_errors(found: Sequence[Panel]) -> str:
    """Said where methods tie, whose standard errors may differ."""
    ties = any(len(task.leaders) > 1 for panel in found for task in panel.tasks)
    return " Where several are the same, the standard error is that of the first." if ties else ""


def _among_whom(found: Sequence[Panel]) -> str:
    """Said where a dropped method may have a smaller mean, over fewer training sets."""
    is_raced = any(task.race and task.unequal_sets for panel in found for task in panel.tasks)
    return " In a race the best value is among those left in it." if is_raced else ""


def _smallest(found: Sequence[Panel]) -> str:
    """What the best method of a task has, where one loss judges all of them."""
    words = {panel.largest.best_words for panel in found}
    return words.pop().removeprefix("the ").capitalize() if len(words) == 1 else "Smallest loss"


def _overview_row(task: TaskFindings) -> formatting.Row:
    leader = None if task.leader is None else task.method(task.leader)
    facts, unknown = task.task, formatting.Cell(formatting.UNKNOWN)
    value = unknown
    if leader is not None:
        standard = leader.standardised, leader.standardised_error
        value = formatting.error_cell(*(leader.shown if facts.is_fixed else standard))
    return (
        formatting.Cell(
            facts.title if facts.is_fixed else facts.address,
            link=f"#{formatting.slug(facts.address.rpartition('/')[0])}",
        ),
        formatting.count_cell(facts.case_count if facts.is_fixed else facts.known_size),
        unknown if leader is None else _leaders_cell(task.leaders),
        value,
        formatting.Cell(", ".join(task.best_group) or formatting.UNKNOWN),
        formatting.Cell(_those_worse(task)),
    )


def _leaders_cell(leaders: Sequence[str]) -> formatting.Cell:
    """Who has the smallest loss; several where they tie."""
    if len(leaders) == 1:
        return formatting.name_cell(leaders[0])
    return formatting.Cell(formatting.several_names(leaders, "tie"))


def _those_worse(task: TaskFindings) -> str:
    many = len(task.worse) > formatting.MOST_NAMES
    return f"{len(task.worse)} others" if many else ", ".join(task.worse) or "none"


def summarise(findings: Findings) -> str:
    """Everything a user wants to know first, as plain text; of many data sets no more than 60 lines."""
    found = panels(findings)
    lost = [f"{text}." for text in left_out(findings) if OF_ROWS.search(text)]
    parts = ["\n".join(map(_wrapped, (scope(findings), *_first(lost))))]
    if findings.results.failures:
        told = failure_sentences(findings.results)
        parts.append(
            "\n".join(["Failed", *map(_bullet, _first(told) if len(found) > MOST_IN_FULL else told)])
        )
    if not found:
        return "\n\n".join([*parts, _wrapped(NOTHING)])
    if len(found) > MOST_IN_FULL:
        parts += ["\n".join(map(_wrapped, _briefly(findings))), _datasets(findings, found)]
    else:
        parts.append(told_in_full(findings))
    if notes := _bear_in_mind(findings, in_brief=len(found) > MOST_IN_FULL):
        parts.append(notes)
    if read := [note.text for note in findings.notes if any(one in note.text for one in TOLD_AT_ONCE)]:
        parts.append("\n".join(["How scores were read", *map(_bullet, _first(read))]))
    return "\n\n".join(parts)


def _briefly(findings: Findings) -> tuple[str, ...]:
    margin = "" if findings.across is None else margin_sentence(findings.across)
    return (*plain_answer(findings).sentences, *([margin] if margin else []))


def _first(texts: Sequence[str]) -> list[str]:
    """The first few, and how many more there are."""
    rest = len(texts) - MOST_NOTES
    return [*texts[:MOST_NOTES], *([f"and {rest} more: see the report"] if rest > 0 else [])]


def told_in_full(findings: Findings) -> str:
    """Every data set by itself (headline, losses, replies, runs), and what is claimed of all together."""
    each = [(_panel(panel), runs_text(findings, panel, WIDTH)) for panel in panels(findings)]
    parts = [part for parts in each for part in parts if part]
    if findings.across is not None and findings.across.pairs:
        parts.append("\n".join(["Over tasks", _wrapped(" ".join(over_tasks_words(findings.across)), "  ")]))
    return "\n\n".join(parts)


def _bear_in_mind(findings: Findings, *, in_brief: bool) -> str:
    """The most serious notes; in brief, the first of each rule, and how many more there are."""
    notes = [note for note in serious(findings.notes) if note.code != FAILURES_RULE]  # told before
    if not notes:
        return ""
    if not in_brief:
        return "\n".join(["Bear in mind", *(_bullet(str(note)) for note in notes)])
    by_rule: dict[str, list[str]] = {}
    for note in notes:
        by_rule.setdefault(note.code, []).append(str(note))
    lines = [
        textwrap.shorten(texts[0], MOST_LETTERS, placeholder=" …")
        + (f" (and {len(texts) - 1} more: see the report)" if len(texts) > 1 else "")
        for texts in by_rule.values()
    ]
    return "\n".join(["Bear in mind", *map(_bullet, _first(lines))])


def _datasets(findings: Findings, found: Sequence[Panel]) -> str:
    """A row for every data set, a column for every method that finds room."""
    table = datasets_table(findings, found)
    first = 1 if is_turned(findings) else 2
    names = [column.title for column in table.columns[first:]]
    rows = [
        [row[0].text, *(f"{cell.text}{MAY_BE_BEST if cell.mark else ' '}" for cell in row[first:])]
        for row in table.rows
    ]
    left = max(len(row[0]) for row in rows)
    widths = [max(len(name) + 1, *(len(row[place]) for row in rows)) for place, name in enumerate(names, 1)]
    room = [
        place
        for place in range(len(names))
        if left + sum(width + 2 for width in widths[: place + 1]) <= WIDTH
    ]
    shown = max(len(room), 1)
    lines = [[f"{'':{left}}", *(f"{name} " for name in names)], *rows[:MOST_ROWS]]
    text = [
        f"  {line[0]:{left}}"
        + "".join(f"  {cell:>{width}}" for cell, width in zip(line[1 : shown + 1], widths, strict=False))
        for line in lines
    ]
    data_sets, methods = "task" if findings.results.is_fixed else "data set", findings.results.contender
    down, across = (methods, data_sets) if is_turned(findings) else (data_sets, methods)
    left_out = [_others(len(rows) - MOST_ROWS, down)] if len(rows) > MOST_ROWS else []
    left_out += [_others(len(names) - shown, across)] if shown < len(names) else []
    more = [f"  The report has {formatting.listed(left_out)}."] if left_out else []
    caption = _wrapped(table.caption.replace("★", MAY_BE_BEST), indent="  ")
    return "\n".join(line.rstrip() for line in (*text, *more, caption))


def _others(count: int, what: str) -> str:
    return f"{count:,} more {what}{'' if count == 1 else 's'}"


def _panel(panel: Panel) -> str:
    summary = summarise_panel(panel)
    lines = [panel.title, _wrapped(summary.headline), "", _table(panel), ""]
    for reply in summary.replies:
        if reply.sentences:
            lines += [reply.question, _wrapped(" ".join(reply.sentences), indent="  ")]
    return "\n".join(lines)


def _table(panel: Panel) -> str:
    """A row for each method, a column for each training-set size, cheapest reading first."""
    names = panel.methods
    sizes = [str(task.task.training_set_size) for task in panel.tasks]
    cells = {name: [_loss_text(task, name, panel.is_standardised) for task in panel.tasks] for name in names}
    width = max(map(len, names))
    each = max(len(cell) for row in cells.values() for cell in row) + 2
    kind = "standardised " if panel.is_standardised else ""
    loss = panel.largest.judged_by
    what = (
        f"{loss.shown_name}{', in per cent,' if loss.in_per_cent else ''}"
        if loss.is_metric
        else panel.largest.loss_words
    )
    has_size = panel.largest.task.has_size
    lines = [f"  {kind}{what} ± standard error{', by training-set size' if has_size else ''}"]
    lines += [] if not has_size else [f"  {'':{width}}" + "".join(f"{size:>{each}}" for size in sizes)]
    board = board_on(panel.largest) if panel.largest.task.is_fixed else None
    places = {} if board is None else board.of
    if board is not None:
        lines.append(f"  {'':{width}}{'':>{each}}  places open")
    lines += [
        f"  {name:{width}}"
        + "".join(f"{cell:>{each}}" for cell in row)
        + (f"  {places[name].words}" if name in places else "")
        + _sets_text(panel, name)
        for name, row in cells.items()
    ]
    if any(task.best_group for task in panel.tasks):
        where = " at that size" if has_size else ""
        lines.append(f"  {MAY_BE_BEST} may be the best{where} (95 % confidence)")
    if any(task.unequal_sets for task in panel.tasks):
        lines.append(f"  {UNEQUAL_SETS}")
    return "\n".join(lines)


def _sets_text(panel: Panel, name: str) -> str:
    """How many training sets a row's means are over, where methods have different numbers of them."""
    told = {task.task.training_set_size: task.unequal_sets.get(name) for task in panel.tasks}
    several = len(panel.tasks) > 1
    noun = sets_words(panel.largest).split()[-1]
    texts = [f"{sets} {noun}{f' of {size}' * several}" for size, sets in told.items() if sets is not None]
    return f" ({', '.join(texts)})" if texts else ""


def _what(task: TaskFindings) -> str:
    """What the numbers of a table are."""
    if not task.judged_by.is_metric:
        return task.loss_words
    return f"{task.judged_by.shown_name}{', in per cent,' if task.judged_by.in_per_cent else ''}"


def _finding(task: TaskFindings, name: str) -> MethodFinding | None:
    return next((one for one in task.methods if one.method == name), None)


def _loss_text(task: TaskFindings, name: str, standardised: bool) -> str:
    found = _finding(task, name)
    if found is None:
        return f"{formatting.UNKNOWN}  "
    mark = MAY_BE_BEST if name in task.best_group else " "
    if standardised:
        return f"{formatting.with_error(found.standardised, found.standardised_error)} {mark}"
    return f"{formatting.with_error(*found.shown)} {mark}"


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
