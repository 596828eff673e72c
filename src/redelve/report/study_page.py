"""What every study leaves in a folder: a page, the same as text, every table and every figure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from redelve.data.files import AtomicFiles
from redelve.report.drawing import Picture, save_as
from redelve.report.formatting import ReportTable, markdown, to_csv
from redelve.report.page import render_template

FORMATS = ("svg", "pdf", "png")


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
    saved = [save_as(picture, FORMATS) for picture in page.pictures]
    drawn = [replace(picture, svg=one["svg"]) for picture, one in zip(page.pictures, saved, strict=True)]
    contents: dict[str, str | bytes] = {
        "study.html": replace(page, pictures=drawn).render(),
        "study.txt": f"{page.text}\n",
        **(further or {}),
    }
    for table in page.tables:
        contents[f"{table.name}.csv"] = to_csv(table)
        contents[f"{table.name}.md"] = markdown(table)
    for picture, one in zip(page.pictures, saved, strict=True):
        contents |= {f"{picture.name}.{kind}": content for kind, content in one.items()}
    folder.mkdir(parents=True, exist_ok=True)
    with AtomicFiles() as written:
        for name, content in contents.items():
            written.write(folder / name, content)
    return folder
