"""The figures of runs, sheet by sheet, as the records of their jobs have them."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from redelve.errors import RedelveError
from redelve.model.dataset import Numbers
from redelve.run.results import Job, Record, Results
from redelve.stats.many_runs import RunSummary, count_outliers, summarise_measures
from redelve.stats.output_errors import classification_error, squared_error_percentage
from redelve.studies.proben1.plan import Sheet

Figures = dict[str, Numbers]
COLUMNS = ("train", "valid", "test", "class", "valid_class", "gl", "epochs", "relevant")
"""What a run is known by: errors in per cent (of classes NaN where there are none), GL at the end, epochs."""


@dataclass(frozen=True, eq=False)
class Runs:
    """The figures of a sheet's runs, by columns, and why each run stopped; in the order of the sheet."""

    sheet: Sheet
    figures: Figures = field(repr=False)
    reasons: tuple[str, ...] = field(repr=False)
    summaries: Mapping[str, RunSummary] = field(repr=False)
    """Of every column that is known for all runs; that of test errors tells of validation errors too."""
    outliers: int | None
    """How many runs section 3.3.4 takes out of the logs of test errors; None where one has no logarithm."""


def runs_of(results: Results, sheets: Iterable[Sheet]) -> dict[tuple[str, str], Runs]:
    """The runs of each sheet, by part and dataset."""
    records = {record.job: record for record in results.records}
    return {(sheet.part, sheet.dataset): _runs(sheet, records, results) for sheet in sheets}


def _runs(sheet: Sheet, records: Mapping[Job, Record], results: Results) -> Runs:
    found = [records[job] for job in sheet.jobs]
    for record in found:
        if record.answer is None:
            raise RedelveError(f"{record.job} {record.status}: {record.message}")
    told = [record.told for record in found]
    figures = {name: np.array([float(one.get(name, "nan")) for one in told]) for name in COLUMNS}
    truths = results.tasks[found[0].job.task].instances[0].truths
    wanted = np.column_stack([truth.values for truth in truths])
    outputs = np.stack([_outputs(record) for record in found])
    figures["test"] = squared_error_percentage(outputs, wanted)
    if not np.isnan(figures["valid_class"]).all():
        figures["class"] = classification_error(outputs, wanted)
    summaries = summarise_measures(figures, test="test", validation="valid")
    reasons = tuple(str(one["stopped_by"]) for one in told)
    return Runs(sheet, figures, reasons, summaries, count_outliers(figures["test"]))


def _outputs(record: Record) -> Numbers:
    assert record.answer is not None
    assert record.answer.guesses is not None
    return np.column_stack(record.answer.guesses.values)


def joined(every: Sequence[Runs]) -> Runs:
    """The runs of a part and dataset of several seeds as one sheet's."""
    first = every[0]
    sheet = replace(first.sheet, topologies=tuple(one for runs in every for one in runs.sheet.topologies))
    figures = {name: np.concatenate([runs.figures[name] for runs in every]) for name in first.figures}
    reasons = tuple(reason for runs in every for reason in runs.reasons)
    summaries = summarise_measures(figures, test="test", validation="valid")
    return Runs(sheet, figures, reasons, summaries, count_outliers(figures["test"]))


def runs_csv(every: Iterable[Runs]) -> str:
    """All runs as text, a line each, with full numbers."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(("part", "dataset", "reading", "seed", "run", "network", *COLUMNS, "stopped_by"))
    for runs in every:
        sheet = runs.sheet
        for place, topology in enumerate(sheet.topologies):
            values = [runs.figures[name][place] for name in COLUMNS]
            cells = ["" if np.isnan(value) else f"{value:.17g}" for value in values]
            named = (sheet.part, sheet.dataset, sheet.reading.name, sheet.seed, place, topology)
            writer.writerow((*named, *cells, runs.reasons[place]))
    return out.getvalue()
