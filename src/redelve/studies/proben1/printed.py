"""What PROBEN1 printed: tables 3 to 12 and appendix D, as numbers."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from math import sqrt

from redelve.errors import SpecError
from redelve.studies.proben1.topologies import Topology

TABLES = tuple(range(3, 13))
MEASURES = {
    "train": "training set",
    "valid": "validation set",
    "test": "test set",
    "class": "test set classification",
    "gl": "overfit",
    "epochs": "total epochs",
    "relevant": "relevant epochs",
}
"""The columns of tables 3, 4 and 8 to 11 that have a mean and a standard deviation."""
LINEAR_RUNS, PIVOT_RUNS = 10, 60


@dataclass(frozen=True)
class PrintedTables:
    """Mean and standard deviation (None where one run was made) of some runs, as printed."""

    mean: float
    deviation: float | None
    runs: int

    @property
    def error(self) -> float | None:
        """The standard error of the mean."""
        return None if self.deviation is None else self.deviation / sqrt(self.runs)


@dataclass(frozen=True)
class PrintedFigures:
    """A row of tables 3, 4 or 8 to 11: what is printed of each measure, and ρ."""

    dataset: str
    measures: Mapping[str, PrintedTables]
    correlation: float | None


@dataclass(frozen=True)
class PrintedVerdict:
    """A cell of table 12: `better` is "pivot", "no-shortcut", or None where they did not differ."""

    dataset: str
    better: str | None
    p_percent: float | None
    reliable: bool


@dataclass(frozen=True)
class PrintedSearch:
    """A row of tables 5 or 6: the run of lowest validation error, and the others near it.

    Numbers by the names of the columns; a range is two of them, with `_low` and `_high`.
    """

    dataset: str
    best: Topology
    numbers: Mapping[str, float]


@cache
def figures(table: int) -> dict[str, PrintedFigures]:
    """Tables 3, 4 and 8 to 11, by datasets."""
    runs = LINEAR_RUNS if table < 5 else PIVOT_RUNS
    return {row["dataset"]: _figures(row, runs) for row in rows(table)}


def _figures(row: dict[str, str], runs: int) -> PrintedFigures:
    measures = {}
    for name in MEASURES:
        if row.get(f"{name}_mean"):
            deviation = row[f"{name}_sd"]
            count = runs if deviation else 1
            measures[name] = PrintedTables(
                float(row[f"{name}_mean"]), float(deviation) if deviation else None, count
            )
    return PrintedFigures(row["dataset"], measures, float(row["rho"]) if row.get("rho") else None)


@cache
def searches() -> dict[str, PrintedSearch]:
    """Tables 5 and 6."""
    return {row["dataset"]: _search(row) for table in (5, 6) for row in rows(table)}


def _search(row: dict[str, str]) -> PrintedSearch:
    numbers: dict[str, float] = {}
    for name, text in row.items():
        if name in ("dataset", "hidden", "output") or not text:
            continue
        if name.endswith("_range"):
            low, _, high = text.partition("-")
            numbers[f"{name}_low"], numbers[f"{name}_high"] = float(low), float(high or low)
        else:
            numbers[name] = float(text)
    return PrintedSearch(row["dataset"], Topology.parse(row["hidden"], row["output"]), numbers)


@cache
def pivots() -> dict[str, tuple[Topology, int]]:
    """Table 7: pivot architectures and their connections."""
    return {
        row["dataset"]: (Topology.parse(row["hidden"], row["output"]), int(row["connections"]))
        for row in rows(7)
    }


@cache
def verdicts() -> dict[str, PrintedVerdict]:
    """Table 12."""
    return {
        row["dataset"]: PrintedVerdict(
            row["dataset"],
            row["better"] or None,
            float(row["p_percent"]) if row["p_percent"] else None,
            row["reliable"] == "yes",
        )
        for row in rows(12)
    }


@cache
def shortlists() -> dict[str, tuple[Topology, ...]]:
    """Appendix D: the candidates for the pivot architecture, best first (heart2 cannot be read)."""
    kinds = {"l": "linear", "s": "sigmoid"}
    return {
        row["dataset"]: tuple(Topology.parse(word[:-1], kinds[word[-1]]) for word in row["runs"].split())
        for row in _read("appendix_d.csv")
    }


@cache
def datasets() -> tuple[str, ...]:
    """All datasets that print tells of: linear networks learnt from each."""
    return tuple(row["dataset"] for table in (3, 4) for row in rows(table))


def rows(table: int) -> list[dict[str, str]]:
    """The rows of a table, as text by the names of the columns."""
    if table not in TABLES:
        raise SpecError(f"table {table}: PROBEN1's results are tables 3 to 12")
    return _read(f"table{table:02d}.csv")


def _read(name: str) -> list[dict[str, str]]:
    text = (files("redelve.studies.proben1") / "published" / name).read_text(encoding="utf-8")
    return list(csv.DictReader(line for line in text.splitlines() if not line.startswith("#")))
