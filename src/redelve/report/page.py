"""The report as one page of HTML that needs nothing else, and its words and tables as Markdown and LaTeX."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from redelve.findings import Findings
from redelve.findings.validity import RULES
from redelve.report import contents, records
from redelve.report.across_tables import across_tables, friedman_sentence
from redelve.report.card import benchmark_card
from redelve.report.context import ReportContext, collections_of
from redelve.report.coverage_table import coverage_table
from redelve.report.drawing import MARKERS, Picture, look_of, swatch_path
from redelve.report.panels import Panel, panels
from redelve.report.rendering import render_template
from redelve.report.runs_tables import runs_tables
from redelve.report.table_values import ReportTable, escape_latex, escape_markdown, latex, markdown
from redelve.report.words import in_order, scope, serious, summarise_panel, uncertainty_sentence


@dataclass(frozen=True)
class PagePart:
    """What the page shows of one prototask."""

    panel: Panel
    pictures: dict[str, Picture]
    losses: ReportTable
    pairs: ReportTable
    matrices: tuple[ReportTable, ...]
    runs: tuple[ReportTable, ...]
    uncertainty: str
    caveats: tuple[str, ...]
    paragraphs: tuple[tuple[str, tuple[str, ...]], ...]
    """For a paper: each task's address, and a paragraph for each comparison."""


def part_of(findings: Findings, panel: Panel) -> PagePart:
    """Everything to show of a prototask."""
    from redelve.report.figures import panel_pictures

    pictures = {picture.name.partition("-")[0]: picture for picture in panel_pictures(findings, panel)}
    paragraphs = [
        (task.task.address, tuple(one.words for one in task.contests)) for task in reversed(panel.tasks)
    ]
    return PagePart(
        panel,
        pictures,
        contents.losses_table(panel),
        contents.pairs_table(panel),
        tuple(contents.matrix_table(task) for task in reversed(panel.tasks) if task.contests),
        runs_tables(findings, panel),
        uncertainty_sentence(panel.largest),
        tuple(dict.fromkeys(caveat for task in panel.tasks for caveat in task.caveats)),
        tuple(pair for pair in paragraphs if pair[1]),
    )


def title_of(findings: Findings, title: str | None) -> str:
    """The title given, or one made of the prototasks."""
    if title:
        return title
    names = [panel.prototask for panel in panels(findings)]
    shown = ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
    return f"Assessment on {shown}"


def all_tables(findings: Findings, about: ReportContext | None = None) -> tuple[ReportTable, ...]:
    """Every table of the report, each with a name of its own."""
    found: list[ReportTable | None] = [contents.overview_table(panels(findings))]
    for panel in panels(findings):
        part = part_of(findings, panel)
        found += [part.losses, part.pairs, *part.matrices, *part.runs]
        found += [picture.table for picture in part.pictures.values()]
        if "front" not in part.pictures:
            found.append(contents.costs_table(findings, panel))
    if findings.across is not None:
        found += across_tables(findings.across)
    found += [contents.other_losses_table(findings), coverage_table(findings), *published_tables(findings)]
    found += [records.notes_table(in_order(findings.notes)), records.failures_table(findings.results)]
    found += [records.methods_table(findings.results)]
    found += [records.attributes_table(data) for data in (about or ReportContext()).data if data.attributes]
    found += [records.provenance_table(findings, about or ReportContext())]
    return tuple(table for table in found if table is not None and table.rows)


def published_tables(findings: Findings) -> tuple[ReportTable, ...]:
    """The results in the terms of the collections that their problems are from."""
    return tuple(table for one in collections_of(findings.results) for table in one.tables(findings))


def render_html(findings: Findings, *, title: str | None = None, about: ReportContext | None = None) -> str:
    """The whole report as one page without any reference to the outside."""
    context = about or ReportContext()
    found = panels(findings)
    return render_template(
        "page.jinja",
        title=title_of(findings, title),
        scope=scope(findings),
        about=context,
        looks={name: look_of(number) for number, name in enumerate(findings.results.methods)},
        swatches={marker: swatch_path(marker) for marker in MARKERS},
        summaries=[summarise_panel(panel) for panel in found],
        overview=contents.overview_table(found),
        parts=[part_of(findings, panel) for panel in found],
        across=findings.across,
        serious=serious(findings.notes),
        notes=in_order(findings.notes),
        rules=[RULES[code] for code in RULES],
        card=benchmark_card(findings, context),
        **_tables(findings, context),
    )


def _tables(findings: Findings, context: ReportContext) -> dict[str, Any]:
    """The tables that belong to no prototask, and the figure of ranks."""
    from redelve.report.figures import ranks_picture

    across = findings.across
    return {
        "across_tables": across_tables(across) if across else (),
        "friedman": friedman_sentence(across) if across else "",
        "ranks": ranks_picture(findings),
        "others": contents.other_losses_table(findings),
        "coverage": coverage_table(findings),
        "published": published_tables(findings),
        "failures": records.failures_table(findings.results),
        "methods": records.methods_table(findings.results),
        "attributes": [records.attributes_table(data) for data in context.data],
        "provenance": records.provenance_table(findings, context),
    }


def render_markdown(
    findings: Findings, *, title: str | None = None, about: ReportContext | None = None
) -> str:
    """The words and tables of the report in Markdown."""
    lines = [
        f"# {escape_markdown(title_of(findings, title))}",
        "",
        f"{escape_markdown(scope(findings))}.",
        "",
    ]
    for note in serious(findings.notes):
        lines += [f"> **{note.severity}** {escape_markdown(str(note))}", ""]
    for panel in panels(findings):
        said = summarise_panel(panel)
        lines += [f"## {escape_markdown(panel.prototask)}", "", f"**{escape_markdown(said.headline)}**", ""]
        for reply in said.replies:
            lines += [
                f"*{reply.question}*",
                "",
                *(f"* {escape_markdown(text)}" for text in reply.sentences),
                "",
            ]
    for table in all_tables(findings, about):
        lines += [f"## {escape_markdown(table.title)}", "", markdown(table)]
    lines += ["## Benchmark card", "", benchmark_card(findings, about).markdown()]
    return "\n".join(lines)


def render_latex(findings: Findings, *, title: str | None = None, about: ReportContext | None = None) -> str:
    """The words and tables of the report as a LaTeX document."""
    lines = [
        r"\documentclass{article}",
        r"\usepackage[T1]{fontenc}",
        r"\usepackage[utf8]{inputenc}",
        r"\usepackage{textcomp,booktabs,amssymb,pdflscape}",
        r"\usepackage[margin=2cm]{geometry}",
        rf"\title{{{escape_latex(title_of(findings, title))}}}",
        r"\date{}",
        r"\begin{document}",
        r"\maketitle",
    ]
    for panel in panels(findings):
        said = summarise_panel(panel)
        lines += [rf"\section*{{{escape_latex(panel.prototask)}}}", escape_latex(said.headline), ""]
        for reply in said.replies:
            lines += [rf"\paragraph{{{reply.question}}}", *map(escape_latex, reply.sentences), ""]
    lines += [latex(table) for table in all_tables(findings, about)]
    lines += [r"\section*{Benchmark card}", benchmark_card(findings, about).latex(), r"\end{document}", ""]
    return "\n".join(lines)
