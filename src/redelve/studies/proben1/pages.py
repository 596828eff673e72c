"""What the study leaves in a folder: a page, the text, and every table and cell as CSV and Markdown."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

from redelve.formats.files import AtomicFiles
from redelve.report.tables import markdown, to_csv
from redelve.studies.proben1.comparison import Compared
from redelve.studies.proben1.tables import as_table, as_text, cells_csv
from redelve.studies.proben1.words import RULE, headlines

if TYPE_CHECKING:
    from jinja2 import Environment

TITLE = "PROBEN1's tables made anew"


def describe(tables: Sequence[Compared], about: Sequence[str] = ()) -> str:
    """The whole comparison as text; `about` tells how it was made."""
    parts = ["\n".join(about)] if about else []
    parts += [as_text(table) for table in tables if table.rows]
    return "\n\n".join([*parts, "\n".join(headlines(tables)), RULE])


def render_page(tables: Sequence[Compared], about: Sequence[str] = ()) -> str:
    """One page of HTML that needs nothing else."""
    script = _text("script.js")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return _environment().get_template("study.jinja").render(
        title=TITLE,
        about=about,
        headlines=headlines(tables),
        rule=RULE,
        tables=[as_table(table) for table in tables if table.rows],
        stylesheet=_text("style.css"),
        script=script,
        script_digest=digest,
    )  # fmt: skip


def write_folder(folder: Path, tables: Sequence[Compared], about: Sequence[str] = ()) -> Path:
    """Write page, text, tables and cells; all of them appear together."""
    contents = {
        "study.html": render_page(tables, about),
        "study.txt": f"{describe(tables, about)}\n",
        "cells.csv": cells_csv(tables),
    }
    for table in (as_table(each) for each in tables if each.rows):
        contents[f"{table.name}.csv"] = to_csv(table)
        contents[f"{table.name}.md"] = markdown(table)
    folder.mkdir(parents=True, exist_ok=True)
    with AtomicFiles() as written:
        for name, text in contents.items():
            written.write(folder / name, text)
    return folder


def _text(name: str) -> str:
    home = "redelve.studies.proben1" if name == "study.jinja" else "redelve.report.templates"
    package, _, folder = home.rpartition(".")
    return (files(package) / folder / name).read_text(encoding="utf-8")


def _environment() -> Environment:
    from jinja2 import Environment, FunctionLoader, StrictUndefined

    environment = Environment(
        loader=FunctionLoader(_text),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update({"inline": str, "marker_id": str, "colour_id": str})
    return environment
