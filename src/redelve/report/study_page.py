"""What every study leaves in a folder: a page, the same as text, every table and every figure."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from redelve.data.files import AtomicFiles
from redelve.report.drawing import PAPER, Picture, save, style
from redelve.report.formatting import ReportTable, markdown, to_csv
from redelve.report.page import render_template

DOTS_PER_INCH = 150


@dataclass(frozen=True)
class StudyPage:
    """A study for readers; `scope` is whose work is made anew, `caption` explains the headlines."""

    title: str
    scope: str
    text: str
    headlines: Sequence[str] = ()
    caption: str = ""
    about: Sequence[str] = ()
    pictures: Sequence[Picture] = ()
    tables: Sequence[ReportTable] = ()

    def render(self) -> str:
        """One page of HTML that needs nothing else."""
        return render_template("study.jinja", page=self)


def write_folder(folder: Path, page: StudyPage, further: Mapping[str, str] | None = None) -> Path:
    """Write everything, and further files given by name; all of them appear together."""
    contents: dict[str, str | bytes] = {
        "study.html": page.render(),
        "study.txt": f"{page.text}\n",
        **(further or {}),
    }
    for table in page.tables:
        contents[f"{table.name}.csv"] = to_csv(table)
        contents[f"{table.name}.md"] = markdown(table)
    for picture in page.pictures:
        contents |= {f"{picture.name}.{kind}": save(picture, kind) for kind in ("svg", "pdf")}
        contents[f"{picture.name}.png"] = as_png(picture)
    folder.mkdir(parents=True, exist_ok=True)
    with AtomicFiles() as written:
        for name, content in contents.items():
            written.write(folder / name, content)
    return folder


def as_png(picture: Picture) -> bytes:
    """The figure as an image on light paper."""
    out = io.BytesIO()
    with style():
        picture.draw().savefig(
            out, format="png", dpi=DOTS_PER_INCH, bbox_inches="tight", pad_inches=0.1, facecolor=PAPER
        )
    return out.getvalue()
