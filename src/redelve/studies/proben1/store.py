"""Runs as files: a CSV for each sheet, so that a second call makes only what is missing."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable
from pathlib import Path

import numpy as np

from redelve.data.files import AtomicFiles
from redelve.errors import FormatError
from redelve.studies.proben1.plan import Sheet
from redelve.studies.proben1.training_runs import COLUMNS, Runs

FORMAT = "redelve study proben1, runs, format 1"


def path_of(folder: Path, sheet: Sheet) -> Path:
    """Where a sheet's runs are kept."""
    return folder / "runs" / sheet.reading.name / f"{sheet.part}-{sheet.dataset}.csv"


def save(folder: Path, runs: Runs) -> Path:
    """Write a sheet's runs; the file appears whole or not at all."""
    path = path_of(folder, runs.sheet)
    path.parent.mkdir(parents=True, exist_ok=True)
    with AtomicFiles() as files:
        files.write(path, to_csv(runs))
    return path


def to_csv(runs: Runs) -> str:
    """The runs as text: three lines on what they are, a line of names, a line for each run."""
    out = io.StringIO()
    out.write("".join(f"# {line}\n" for line in _head(runs.sheet)))
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(("run", "network", *COLUMNS, "stopped_by"))
    for place, topology in enumerate(runs.sheet.topologies):
        values = [runs.figures[name][place] for name in COLUMNS]
        cells = ["" if np.isnan(value) else f"{value:.17g}" for value in values]
        writer.writerow((place, topology, *cells, runs.reasons[place]))
    return out.getvalue()


def _head(sheet: Sheet) -> tuple[str, str, str]:
    return FORMAT, f"{sheet.dataset}, {sheet.part}, seed {sheet.seed}", sheet.reading.identity


def load_stored(folder: Path, sheets: Iterable[Sheet]) -> dict[tuple[str, str], Runs]:
    """What a folder has of these sheets, by part and dataset, no more runs than they ask for."""
    found = {}
    for sheet in sheets:
        path = path_of(folder, sheet)
        if path.is_file():
            found[sheet.part, sheet.dataset] = read_runs(path, sheet)
    return found


def read_runs(path: Path, sheet: Sheet) -> Runs:
    """A sheet's runs from a file, if they are those of this sheet."""
    lines = path.read_text(encoding="utf-8").splitlines()
    for number, wanted in enumerate(_head(sheet)):
        given = lines[number].removeprefix("# ") if number < len(lines) else ""
        if given != wanted:
            message = f'expected "{wanted}" but got "{given}": use another folder, or delete this file'
            raise FormatError(path, number + 1, message)
    rows = list(csv.DictReader(lines[3:]))[: len(sheet.topologies)]
    kept = sheet.first(len(rows))
    for line, (row, topology) in enumerate(zip(rows, kept.topologies, strict=True), start=5):
        if row["network"] != str(topology) or not row["stopped_by"]:
            raise FormatError(path, line, f'expected a whole run of "{topology}": delete this file')
    figures = {name: np.array([float(row[name] or "nan") for row in rows]) for name in COLUMNS}
    return Runs(kept, figures, tuple(row["stopped_by"] for row in rows))
