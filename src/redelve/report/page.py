"""Write a report: one page, Markdown, LaTeX, a PDF of all figures, or a folder with everything.

What a report shows are its sections, whoever registered them; here they are put together.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

from redelve.data.files import AtomicFiles, write_atomic
from redelve.errors import ANY_FAULT, SpecError
from redelve.findings import Findings
from redelve.report.drawing import (
    MARKERS,
    PALETTE,
    FigureLook,
    Picture,
    inline,
    load_drawing,
    look_of,
    save,
    save_all,
    swatch_path,
)
from redelve.report.formatting import (
    CONTROL,
    ReportTable,
    escape_latex,
    escape_markdown,
    latex,
    markdown,
    to_csv,
)
from redelve.report.sections import PagePart, ReportContext, Section, Shown, instead_of, panels, show
from redelve.report.words import scope

if TYPE_CHECKING:
    from jinja2 import Environment, Template
    from markupsafe import Markup

SUFFIXES = (".html", ".md", ".tex", ".pdf")
GLUED = re.compile(r" ± |(?<=\d) %|\bp [=<] (?=\d)")
TEMPLATES = files("redelve.report") / "templates"
MACROS = ("table", "picture", "swatch", "severity", "notice")
"""What templates may call."""
MOST_NAMED = 3
"""So many data sets are named in the title."""


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
        write_atomic(target, _one_file(findings, suffix, title, about))
        return target
    with AtomicFiles() as together:
        for name, content in _folder(findings, title, about).items():
            file = target / name
            file.parent.mkdir(parents=True, exist_ok=True)
            together.write(file, content)
    return target


def _one_file(findings: Findings, suffix: str, title: str | None, about: ReportContext | None) -> bytes:
    if suffix == ".pdf":
        return save_all(pictures_of(findings))
    render = {".html": render_html, ".md": render_markdown, ".tex": render_latex}[suffix]
    return render(findings, title=title, about=about).encode()


def _folder(findings: Findings, title: str | None, about: ReportContext | None) -> Mapping[str, bytes]:
    made = {
        f"index{suffix}": _one_file(findings, suffix, title, about) for suffix in (".html", ".md", ".tex")
    }
    for section, parts in show(findings, about or ReportContext()):
        made |= {name: text.encode() for part in parts for name, text in section.files(part).items()}
    for table in all_tables(findings):
        for suffix, write in ((".md", markdown), (".tex", latex), (".csv", to_csv)):
            shown = table.whole() if suffix == ".csv" and table.whole else table
            made[f"tables/{table.name}{suffix}"] = write(shown).encode()
    for picture in pictures_of(findings):
        for kind in ("svg", "pdf"):
            made[f"figures/{picture.name}.{kind}"] = save(picture, kind)
    return made


def title_of(findings: Findings, title: str | None) -> str:
    """The title given, or one made of the prototasks."""
    if title:
        return title
    names = [panel.title for panel in panels(findings)] or list(findings.results.tasks)
    if findings.results.is_fixed:
        where = ", ".join(names) if len(names) <= MOST_NAMED else f"{len(names)} tasks"
        return f"{len(findings.results.methods)} models on {where}"
    return f"Assessment on {', '.join(names) if len(names) <= MOST_NAMED else f'{len(names)} data sets'}"


def all_tables(findings: Findings, about: ReportContext | None = None) -> tuple[ReportTable, ...]:
    """Every table of the report, each with a name of its own."""
    return tuple(table for part in _parts(findings, about) for table in part.tables if table.rows)


def pictures_of(findings: Findings) -> tuple[Picture, ...]:
    """Every figure of a report."""
    return tuple(picture for part in _parts(findings) for picture in part.pictures)


def _parts(findings: Findings, about: ReportContext | None = None) -> Iterable[PagePart]:
    return (part for _, parts in show(findings, about or ReportContext()) for part in parts)


def render_html(findings: Findings, *, title: str | None = None, about: ReportContext | None = None) -> str:
    """The whole report as one page without any reference to the outside."""
    context = about or ReportContext()
    looks = {name: look_of(number) for number, name in enumerate(findings.results.methods)}
    return render_template(
        "page.jinja",
        title=title_of(findings, title),
        scope=scope(findings),
        is_lazy=len(panels(findings)) > 1,
        about=context,
        looks={_look_id(look): look for look in looks.values()},
        sections=[_rendered(section, parts, findings, context) for section, parts in show(findings, context)],
    )


def _rendered(
    section: Section, parts: Iterable[PagePart], findings: Findings, about: ReportContext
) -> list[tuple[PagePart, Markup]]:
    looks = {name: look_of(number) for number, name in enumerate(findings.results.methods)}
    try:
        return [(part, render_part(section, part, looks)) for part in parts]
    except ANY_FAULT as error:
        failed = instead_of(section, error)
        return [(part, render_part(failed, part, looks)) for part in failed.parts(findings, about)]


def render_part(section: Section, part: PagePart, looks: Mapping[str, FigureLook]) -> Markup:
    """What a section shows under one heading, as HTML."""
    from markupsafe import Markup

    return Markup(_template(section.template).render(part=part, looks=looks, **part.values))


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
    for section, part in _in_text(show(findings, about or ReportContext())):
        lines += section.markdown(part)
        for table in part.tables:
            lines += [f"## {escape_markdown(table.title)}", "", markdown(table)] if table.rows else []
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
    for section, part in _in_text(show(findings, about or ReportContext())):
        lines += [*section.latex(part), *(latex(table) for table in part.tables if table.rows)]
    return "\n".join([*lines, r"\end{document}", ""])


def _in_text(shown: Shown) -> Iterator[tuple[Section, PagePart]]:
    """The parts in the order of Markdown and LaTeX: appendices last."""
    for is_last in (False, True):
        yield from ((one, part) for one, parts in shown for part in parts if one.is_appendix == is_last)


def render_template(name: str, **values: object) -> str:
    """The template filled in; it is given stylesheet and script as well."""
    script = template_text("script.js")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    usual = {"script": script, "script_digest": digest, "stylesheet": template_text("style.css")}
    return _environment().get_template(name).render(**{**usual, **values})


@cache
def _template(source: str) -> Template:
    """A section's template; jinja takes away the newline at the end."""
    return _environment().from_string(f"{source}\n")


def template_text(name: str) -> str:
    """A template, a stylesheet or a script as it is kept."""
    return (TEMPLATES / name).read_text(encoding="utf-8")


def load_page_tools() -> None:
    """Load what pages and their figures are made with, so that nobody waits for it later."""
    load_drawing()
    _environment()


@cache
def _environment() -> Environment:
    from jinja2 import Environment, FunctionLoader, StrictUndefined
    from markupsafe import Markup

    environment = Environment(
        loader=FunctionLoader(template_text),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_clean,
    )
    environment.filters["inline"] = lambda picture: Markup(inline(picture))
    environment.filters["swatch_path"] = swatch_path
    environment.filters["colour_id"] = lambda colour: PALETTE.index(colour) + 1
    environment.filters["look_id"] = _look_id
    macros = environment.get_template("macros.jinja").module
    environment.globals |= {name: getattr(macros, name) for name in MACROS}
    return environment


def _look_id(look: FigureLook) -> str:
    """The name that a method's marker has on the page."""
    return f"look-{MARKERS.index(look.marker)}-{PALETTE.index(look.colour) + 1}"


def _clean(value: object) -> object:
    """Text without characters that a page cannot hold; signs and units stay with their numbers."""
    if type(value) is not str:
        return value
    return GLUED.sub(lambda found: found[0].replace(" ", "\u00a0"), CONTROL.sub("�", value))
