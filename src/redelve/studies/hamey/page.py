"""What a study leaves in a folder: the page, the text, tables, figures and the times of all trials."""

from __future__ import annotations

import io
from collections.abc import Sequence
from html import escape
from importlib.resources import files
from pathlib import Path

import numpy as np

from redelve.report.drawing import PAPER, Picture, inline, save, style
from redelve.report.tables import Table, markdown, to_csv
from redelve.studies.hamey.trials import Trials

DOTS_PER_INCH = 150


def write_folder(
    folder: Path, text: str, tables: Sequence[Table], pictures: Sequence[Picture], trials: Sequence[Trials]
) -> Path:
    """Write everything a study found."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "study.txt").write_text(f"{text}\n", encoding="utf-8")
    (folder / "study.html").write_text(render_page(text, tables, pictures), encoding="utf-8")
    for table in tables:
        (folder / f"{table.name}.csv").write_text(to_csv(table), encoding="utf-8")
        (folder / f"{table.name}.md").write_text(markdown(table), encoding="utf-8")
    for picture in pictures:
        for kind in ("svg", "pdf"):
            (folder / f"{picture.name}.{kind}").write_bytes(save(picture, kind))
        (folder / f"{picture.name}.png").write_bytes(as_png(picture))
    for each in trials:
        (folder / f"times-{each.plan.problem.name}.csv").write_text(times_csv(each), encoding="utf-8")
    return folder


def times_csv(trials: Trials) -> str:
    """A table that `redelve training-time` reads: the epochs of each trial, `>T` for those that failed."""
    epochs = np.char.mod("%d", np.maximum(trials.epochs, 1))
    times = np.where(trials.succeeded, epochs, f">{trials.plan.limit}")
    return "time\n" + "\n".join(times.tolist()) + "\n"


def as_png(picture: Picture) -> bytes:
    """The figure as an image on light paper."""
    out = io.BytesIO()
    with style():
        picture.draw().savefig(
            out, format="png", dpi=DOTS_PER_INCH, bbox_inches="tight", pad_inches=0.1, facecolor=PAPER
        )
    return out.getvalue()


def render_page(text: str, tables: Sequence[Table], pictures: Sequence[Picture]) -> str:
    """One page of HTML that needs nothing else."""
    stylesheet = (files("redelve.report") / "templates" / "style.css").read_text(encoding="utf-8")
    parts = [*map(_table, tables), *map(_figure, pictures)]
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>Hamey (1992) made anew</title>\n<style>{stylesheet}</style>\n</head>\n<body>\n"
        '<main style="max-width: 60rem; margin: 2rem auto; padding: 0 2rem">\n'
        "<h1>Benchmarking feed-forward neural networks: Hamey (1992) made anew</h1>\n"
        f"{''.join(parts)}<section><h2>In words</h2><pre>{escape(text)}</pre></section>\n"
        "</main>\n</body>\n</html>\n"
    )


def _table(table: Table) -> str:
    head = "".join(f'<th scope="col">{escape(column.title)}</th>' for column in table.columns)
    rows = "".join(
        "<tr>"
        + "".join(
            f'<td style="text-align: {column.align}">{escape(cell.whole)}</td>'
            for column, cell in zip(table.columns, row, strict=True)
        )
        + "</tr>\n"
        for row in table.rows
    )
    caption = f'<p class="caption">{escape(table.caption)}</p>'
    return (
        f"<section><h2>{escape(table.title)}</h2><table><thead><tr>{head}</tr></thead>\n"
        f"<tbody>{rows}</tbody></table>{caption}</section>\n"
    )


def _figure(picture: Picture) -> str:
    caption = f"<figcaption>{escape(picture.caption)}</figcaption>"
    return f"<section><h2>{escape(picture.title)}</h2><figure>{inline(picture)}{caption}</figure></section>\n"
