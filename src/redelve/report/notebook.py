"""How results show themselves in a notebook: HTML that needs no script and leaves the rest of it alone."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache

from redelve.findings import Contest, Findings
from redelve.report.drawing import Picture, inline
from redelve.report.first_screen import plain_answer
from redelve.report.formatting import (
    Cell,
    ReportColumn,
    ReportTable,
    interval,
    p_value,
    with_error,
)
from redelve.report.page import render_template, template_text
from redelve.report.sections import ReportContext, panels
from redelve.report.sections.overview import SummarySection, left_out
from redelve.report.words import Reply, in_order, scope, summarise_panel

MOST_FOLDS = 12
"""So many data sets have their own replies in a notebook; a report has all."""
LIGHT = ('[data-jp-theme-light="true"]', ".vscode-light")
DARK = ('[data-jp-theme-light="false"]', ".vscode-dark", ".vscode-high-contrast", "html[theme=dark]")
"""What marks the theme of a notebook: JupyterLab's, VS Code's, Colab's."""


@dataclass(frozen=True)
class NotebookFold:
    """What is shown when its title is clicked."""

    title: str
    texts: tuple[str, ...] = ()
    tables: tuple[ReportTable, ...] = ()


@dataclass(frozen=True)
class NotebookView:
    """A few sentences, pictures, tables, and what is folded away."""

    title: str
    sentences: tuple[str, ...] = ()
    pictures: tuple[Picture, ...] = ()
    tables: tuple[ReportTable, ...] = ()
    folds: tuple[NotebookFold, ...] = field(default=())

    def html(self) -> str:
        """For a cell's output, with styles that apply to it alone."""
        from markupsafe import Markup

        pictures = [Markup(_own_names(inline(one), one)) for one in self.pictures]
        return render_template("notebook.jinja", view=self, pictures=pictures, stylesheet=_stylesheet())


def _own_names(svg: str, picture: Picture) -> str:
    """The figure with names that no figure of another cell has."""
    digest = hashlib.sha256(svg.encode()).hexdigest()[:12]
    return svg.replace(f"fig-{picture.name}-", f"fig-{digest}-")


@cache
def _stylesheet() -> str:
    """The page's own colours, light and dark, for what is inside a view."""
    page = template_text("style.css")
    light = page[page.index(":root {") :].partition("{")[2].partition("}")[0]
    dark = page[page.index(':root[data-theme="dark"] {') :].partition("{")[2].partition("}")[0]
    of_light = ", ".join(f"{one} .redelve-view" for one in LIGHT)
    of_dark = ", ".join(f"{one} .redelve-view" for one in DARK)
    text = (
        f".redelve-view {{{light}}}\n@media (prefers-color-scheme: dark) {{ .redelve-view {{{dark}}} }}\n"
        f"{of_light} {{{light}}}\n{of_dark} {{{dark}}}\n{template_text('notebook.css')}"
    )
    return re.sub(r"\s*\n\s*", "\n", text)


def findings_html(findings: Findings) -> str:
    """The answer, one picture, one table; folded: every data set, validity notes, what was left out."""
    section, about = SummarySection(), ReportContext()
    first, by_task = section.tables(findings, about)
    folds = [_replies(findings)] if len(panels(findings)) == 1 else list(_data_sets(findings))
    folds.append(NotebookFold("Task by task", tables=(by_task,)))
    if texts := left_out(findings):
        folds.append(NotebookFold("Left out of the data", texts))
    if notes := in_order(findings.notes):
        folds.append(NotebookFold("Validity notes", tuple(f"{one.severity}: {one}" for one in notes)))
    return NotebookView(
        scope(findings),
        plain_answer(findings).sentences,
        tuple(section.pictures(findings, about)),
        (first,),
        tuple(folds),
    ).html()


def _replies(findings: Findings) -> NotebookFold:
    (panel,) = panels(findings)
    return NotebookFold("With numbers", _texts(summarise_panel(panel).replies))


def _data_sets(findings: Findings) -> Sequence[NotebookFold]:
    found = panels(findings)
    shown = [summarise_panel(panel) for panel in found[:MOST_FOLDS]]
    folds = [NotebookFold(said.prototask, (said.headline, *_texts(said.replies))) for said in shown]
    rest = len(found) - len(shown)
    return [*folds, *([NotebookFold(f"{rest} more data sets: see the report")] if rest else [])]


def _texts(replies: Sequence[Reply]) -> tuple[str, ...]:
    return tuple(f"{one.question} {' '.join(one.sentences)}" for one in replies)


def contests_html(
    tasks: Sequence[str],
    losses: Sequence[str],
    contests: Sequence[Contest],
    over_tasks: str = "",
    note: str = "",
) -> str:
    """Two methods: what is known over tasks, or the one sentence; the numbers in a table; the rest folded."""
    several = list(zip(tasks, losses, contests, strict=True))
    rows = tuple(_contest_row(task, loss, one) for task, loss, one in several)
    columns = (
        ReportColumn("Task"),
        ReportColumn("Loss"),
        ReportColumn("Difference ± SE", ("difference", "difference_se")),
        ReportColumn("95 % interval", ("low", "high")),
        ReportColumn("p", ("p",)),
        ReportColumn("Better"),
    )
    both = f"{contests[0].first} − {contests[0].second}" if contests else "Nothing was compared"
    sentences = tuple(one.words for one in contests)
    first = (over_tasks,) if over_tasks else sentences if len(sentences) == 1 else ()
    advice = tuple(f"{task}: {one.advice}" for task, _, one in several if one.advice)
    return NotebookView(
        f"{both}, on {len(several)} task{'s' * (len(several) != 1)}",
        tuple(filter(None, (*first, note))),
        tables=(ReportTable("contests", both, columns, rows),),
        folds=(NotebookFold("In words", sentences), *([NotebookFold("Advice", advice)] if advice else [])),
    ).html()


def _contest_row(task: str, loss: str, one: Contest) -> tuple[Cell, ...]:
    difference, error, bounds = one.shown
    return (
        Cell(task),
        Cell(loss),
        Cell(f"{with_error(difference, error)}{one.unit}", (difference, error)),
        Cell(interval(bounds, error, leaves_out_zero=one.winner is not None), bounds or ()),
        Cell(p_value(one.adjusted_p_value), (one.adjusted_p_value,)),
        Cell(one.winner or "not told apart"),
    )
