"""What the study leaves in a folder: text, page, tables, figures and every guess."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from html import escape
from importlib.resources import files
from pathlib import Path

from redelve.report.drawing import Picture, inline, save
from redelve.report.tables import Row, Table, guard_formula, markdown, to_csv
from redelve.studies.wcci.figure import pictures_of
from redelve.studies.wcci.findings import Study
from redelve.studies.wcci.tables import answers, describe, tables_of
from redelve.studies.wcci.trials import Tried

TITLE = "Which way guesses the performance of a classifier best?"
COLUMNS = (
    "problem",
    "classifier",
    "instance",
    "truth",
    "sigma",
    "way",
    "value",
    "low",
    "high",
    "fits",
    "seconds",
)


def write_folder(folder: Path, study: Study, trials: Sequence[Tried]) -> None:
    """Write everything that was found."""
    folder.mkdir(parents=True, exist_ok=True)
    tables, pictures = tables_of(study), pictures_of(study)
    (folder / "study.txt").write_text(f"{describe(study)}\n", encoding="utf-8")
    (folder / "study.html").write_text(render_page(answers(study), tables, pictures), encoding="utf-8")
    (folder / "guesses.csv").write_text(guesses_csv(trials), encoding="utf-8")
    for table in tables:
        (folder / f"{table.name}.csv").write_text(to_csv(table), encoding="utf-8")
        (folder / f"{table.name}.md").write_text(markdown(table), encoding="utf-8")
    for picture in pictures:
        for kind in ("svg", "pdf"):
            (folder / f"{picture.name}.{kind}").write_bytes(save(picture, kind))


def guesses_csv(trials: Sequence[Tried]) -> str:
    """A line for every guess of every trial."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(COLUMNS)
    for one in trials:
        task = (guard_formula(one.task.problem), guard_formula(one.task.classifier), one.task.instance)
        for guess in one.guesses:
            cells = (guess.way, guess.value, guess.low, guess.high, guess.fits, guess.seconds)
            writer.writerow([*task, one.truth, one.sigma, *("" if cell is None else cell for cell in cells)])
    return out.getvalue()


def render_page(sentences: Sequence[str], tables: Sequence[Table], pictures: Sequence[Picture]) -> str:
    """One page of HTML that needs nothing else."""
    stylesheet = (files("redelve.report") / "templates" / "style.css").read_text(encoding="utf-8")
    said = "".join(f"<li>{escape(sentence)}</li>\n" for sentence in sentences)
    body = "".join([*map(_figure, pictures), *map(_table, tables)])
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(TITLE)}</title>\n<style>{stylesheet}</style>\n</head>\n<body>\n"
        f'<main style="max-width: 60rem; margin: 2rem auto; padding: 0 2rem">\n<h1>{escape(TITLE)}</h1>\n'
        f"<section><h2>Answers</h2><ul>\n{said}</ul></section>\n{body}</main>\n</body>\n</html>\n"
    )


def _figure(picture: Picture) -> str:
    caption = f"<figcaption>{escape(picture.caption)}</figcaption>"
    return f"<section><h2>{escape(picture.title)}</h2><figure>{inline(picture)}{caption}</figure></section>\n"


def _table(table: Table) -> str:
    head = "".join(f'<th scope="col" class="{one.align}">{escape(one.title)}</th>' for one in table.columns)
    rows = "".join(f"<tr>{_cells(table, row)}</tr>\n" for row in table.rows)
    return (
        f"<section><h2>{escape(table.title)}</h2>\n<table><thead><tr>{head}</tr></thead>\n"
        f'<tbody>\n{rows}</tbody></table>\n<p class="caption">{escape(table.caption)}</p></section>\n'
    )


def _cells(table: Table, row: Row) -> str:
    pairs = zip(table.columns, row, strict=True)
    return "".join(f'<td class="{column.align}">{escape(cell.whole)}</td>' for column, cell in pairs)
