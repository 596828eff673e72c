"""Write a report: one page, Markdown, LaTeX, a PDF of all figures, or a folder with everything."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from redelve.errors import SpecError
from redelve.findings import Findings
from redelve.report.context import ReportContext

SUFFIXES = (".html", ".md", ".tex", ".pdf")


def write_report(
    findings: Findings, path: str | Path, *, title: str | None = None, about: ReportContext | None = None
) -> Path:
    """Write the report in the format that the suffix names; without one, everything into a folder.

    `.html` is one page that needs nothing else, `.md` and `.tex` have the words and tables, `.pdf` the
    figures.
    """
    target = Path(path)
    suffix = target.suffix.lower()
    if suffix and suffix not in SUFFIXES and not target.is_dir():
        raise SpecError(
            f'can\'t write a report to "{target}": the name must end in {", ".join(SUFFIXES)}, '
            "or have no suffix for a folder with everything"
        )
    if suffix in SUFFIXES and not target.is_dir():
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(_one_file(findings, suffix, title, about))
        return target
    for name, content in _folder(findings, title, about).items():
        file = target / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)
    return target


def _one_file(findings: Findings, suffix: str, title: str | None, about: ReportContext | None) -> bytes:
    from redelve.report.page import render_html, render_latex, render_markdown

    if suffix == ".pdf":
        from redelve.report.drawing import save_all
        from redelve.report.figures import pictures_of

        return save_all(pictures_of(findings))
    render = {".html": render_html, ".md": render_markdown, ".tex": render_latex}[suffix]
    return render(findings, title=title, about=about).encode()


def _folder(findings: Findings, title: str | None, about: ReportContext | None) -> Mapping[str, bytes]:
    from redelve.report.card import benchmark_card
    from redelve.report.drawing import save
    from redelve.report.figures import pictures_of
    from redelve.report.page import all_tables
    from redelve.report.table_values import latex, markdown, to_csv

    files = {
        f"index{suffix}": _one_file(findings, suffix, title, about) for suffix in (".html", ".md", ".tex")
    }
    files["card.md"] = benchmark_card(findings, about).markdown().encode()
    for table in all_tables(findings):
        for suffix, write in ((".md", markdown), (".tex", latex), (".csv", to_csv)):
            files[f"tables/{table.name}{suffix}"] = write(table).encode()
    for picture in pictures_of(findings):
        for kind in ("svg", "pdf"):
            files[f"figures/{picture.name}.{kind}"] = save(picture, kind)
    return files
