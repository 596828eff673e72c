"""Small datasets in PROBEN1's format, and runs that were never run."""

from pathlib import Path

import numpy as np

from redelve.data.proben1.dt_files import DtFile, DtHeader, standard_sizes, write_dt
from redelve.nets import GL, MaxEpochs, P
from redelve.stats.many_runs import count_outliers, summarise_measures
from redelve.studies.proben1.plan import Sheet
from redelve.studies.proben1.readings import TrainingReading
from redelve.studies.proben1.sheet_runs import COLUMNS, Runs
from redelve.studies.proben1.topologies import Topology

SHORT = TrainingReading("short", 0.1, (0.05, 0.2), 1.2, GL(5) | P(0.1) | MaxEpochs(30))
SMALL = Topology((3,), "linear")


def write_dataset(folder: Path, name: str, *, seed: int = 0, classes: bool = True) -> str:
    """A .dt file of 60 cases, three inputs and two classes or one number; its path."""
    random = np.random.default_rng(seed)
    inputs = random.random((60, 3)).round(3)
    value = inputs[:, 0] + inputs[:, 1] * inputs[:, 2] + random.normal(0, 0.1, 60)
    outputs = np.eye(2)[(value > value.mean()).astype(int)] if classes else (value[:, None] / 3).clip(0, 1)
    sizes = standard_sizes(60)
    header = DtHeader(0, 3, 2, 0, *sizes) if classes else DtHeader(0, 3, 0, 1, *sizes)
    path = folder / f"{name}.dt"
    write_dt(path, DtFile(header, inputs, outputs))
    return str(path)


def sheet(dataset: str, runs: int = 4, *, part: str = "pivot", topology: Topology = SMALL) -> Sheet:
    """Runs of one small network."""
    return Sheet(part, dataset, (topology,) * runs, SHORT)


def pretend(of: Sheet, **figures: object) -> Runs:
    """Runs with these figures, NaN where none are given."""
    blank = np.full(len(of.topologies), np.nan)
    columns = {name: np.asarray(figures.get(name, blank), dtype=np.float64) for name in COLUMNS}
    summaries = summarise_measures(columns, test="test", validation="valid")
    reasons = ("MaxEpochs(epochs=30)",) * len(of.topologies)
    return Runs(of, columns, reasons, summaries, count_outliers(columns["test"]))
