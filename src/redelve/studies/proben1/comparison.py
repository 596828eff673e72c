"""Our tables beside the printed ones: numbers with z-scores, and words such as names of networks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import sqrt

import numpy as np

from redelve.data.proben1 import parse_name
from redelve.model.dataset import Numbers
from redelve.stats.many_runs import compare_runs, summarise_runs
from redelve.studies.compared import CellTally, ComparedCell
from redelve.studies.proben1 import printed
from redelve.studies.proben1.plan import PARTS, Proben1Plan, datasets_of
from redelve.studies.proben1.sheet_runs import Runs
from redelve.studies.proben1.topologies import TRIED, Topology, candidates, pivot

TITLES = {
    3: "Linear networks, classification",
    4: "Linear networks, approximation",
    5: "Architecture search, classification",
    6: "Architecture search, approximation",
    7: "Pivot architectures",
    8: "Pivot architectures, classification",
    9: "Pivot architectures, approximation",
    10: "No-shortcut architectures, classification",
    11: "No-shortcut architectures, approximation",
    12: "Pivot against no-shortcut architectures",
}
SIGNIFICANT = 10.0
"""The level of table 12, in per cent."""
AllRuns = Mapping[tuple[str, str], Runs]


@dataclass(frozen=True)
class NetworkChoice:
    """Something in words: as printed, ours, and whether they are the same."""

    column: str
    published: str
    ours: str
    agrees: bool


@dataclass(frozen=True)
class ComparisonRow:
    """A dataset's numbers and words."""

    dataset: str
    cells: tuple[ComparedCell, ...]
    choices: tuple[NetworkChoice, ...] = ()

    def cell(self, column: str) -> ComparedCell | None:
        """The number of a column, if there is one."""
        return next((cell for cell in self.cells if cell.column == column), None)

    def choice(self, column: str) -> NetworkChoice | None:
        """The words of a column, if there are any."""
        return next((choice for choice in self.choices if choice.column == column), None)


@dataclass(frozen=True)
class Compared:
    """A table of PROBEN1's beside ours."""

    number: int
    rows: tuple[ComparisonRow, ...]

    @property
    def title(self) -> str:
        """What it tells."""
        return f"Table {self.number}: {TITLES[self.number]}"

    def tally(self, column: str) -> CellTally:
        """How many datasets agree in a column of numbers."""
        return CellTally.of(cell for row in self.rows if (cell := row.cell(column)) is not None)

    def choices(self, column: str) -> list[tuple[str, NetworkChoice]]:
        """The words of a column, by datasets."""
        return [(row.dataset, found) for row in self.rows if (found := row.choice(column)) is not None]


def compare(plan: Proben1Plan, runs: AllRuns) -> tuple[Compared, ...]:
    """Every table of a plan, with the datasets of which all runs are there."""
    return tuple(Compared(table, tuple(_rows(table, runs))) for table in plan.tables)


def _rows(table: int, runs: AllRuns) -> Iterator[ComparisonRow]:
    for dataset in datasets_of(table):
        found = [runs[part, dataset] for part in PARTS[table] if (part, dataset) in runs]
        if len(found) < len(PARTS[table]):
            continue
        if table in (5, 6):
            yield _search_row(dataset, found[0])
        elif table == 7:
            yield _pivot_row(dataset, found[0])
        elif table == 12:
            yield _verdict_row(dataset, found[0], found[1])
        else:
            yield _figures_row(printed.figures(table)[dataset], found[0])


# Tables 3, 4, 8 to 11.


def _figures_row(row: printed.PrintedFigures, runs: Runs) -> ComparisonRow:
    test, valid = runs.figures["test"], runs.figures["valid"]
    rho = runs.summaries["test"].correlation if "test" in runs.summaries else None
    cells = []
    for name, given in row.measures.items():
        found = runs.summaries.get(name) or summarise_runs(runs.figures[name])  # which names what is missing
        deviation = found.standard_deviation
        error = None if deviation is None else deviation / sqrt(found.runs)
        cells.append(ComparedCell(row.dataset, name, given.mean, given.error, found.mean, error))
        if deviation is not None and given.deviation is not None:
            cells.append(_deviation_cell(row.dataset, name, given, runs.figures[name]))
    if row.correlation is not None and rho is not None:
        error = correlation_error(test, valid)
        given_error = error * sqrt(len(test) / printed.PIVOT_RUNS)
        cells.append(ComparedCell(row.dataset, "rho", row.correlation, given_error, rho, error))
    return ComparisonRow(row.dataset, tuple(cells))


def _deviation_cell(dataset: str, name: str, given: printed.PrintedTables, values: Numbers) -> ComparedCell:
    """Standard deviations; both have the kurtosis of our runs."""
    assert given.deviation is not None
    ours = float(values.std(ddof=1))
    published_error = given.deviation * deviation_error(values, given.runs)
    return ComparedCell(
        dataset, f"{name} sd", given.deviation, published_error, ours, ours * deviation_error(values)
    )


def deviation_error(values: Numbers, runs: int | None = None) -> float:
    """The relative standard error of the standard deviation of n such values.

    var(s²) = (μ₄ − σ⁴ (n − 3)/(n − 1))/n (Stuart and Ord 1994, Kendall's Advanced Theory of Statistics 1,
    10.9), so s has half its root over σ²; for normal values that is 1/√(2(n − 1)).
    """
    count = len(values) if runs is None else runs
    centred = values - values.mean()
    variance = float((centred**2).mean())
    kurtosis = float((centred**4).mean()) / variance**2 if variance > 0 else 3.0
    return sqrt(max(kurtosis - (count - 3) / (count - 1), 0.0) / count) / 2


def correlation_error(first: Numbers, second: Numbers) -> float:
    """The jackknife's standard error of the correlation: each run left out once (Efron 1982)."""
    count = len(first)
    if count < 3:
        return 0.0
    kept = [np.delete(np.stack([first, second]), run, axis=1) for run in range(count)]
    with np.errstate(invalid="ignore", divide="ignore"):
        values = np.array([np.corrcoef(pair[0], pair[1])[0, 1] for pair in kept])
    values = values[np.isfinite(values)]
    return float(np.sqrt((count - 1) * values.var())) if len(values) else 0.0


# Tables 5 to 7.


@dataclass(frozen=True)
class Found:
    """What one search of 36 runs found: its best network, the figures of tables 5 and 6, its pivot."""

    best: Topology
    numbers: Mapping[str, float]
    pivot: Topology


def search_results(runs: Runs) -> list[Found]:
    """The searches of a sheet, 36 runs each."""
    count = len(runs.reasons) // len(TRIED)
    places = [slice(search * len(TRIED), (search + 1) * len(TRIED)) for search in range(count)]
    return [
        _found(runs.sheet.dataset, {name: values[place] for name, values in runs.figures.items()})
        for place in places
    ]


def _found(dataset: str, figures: Mapping[str, Numbers]) -> Found:
    errors = figures["valid"]
    best = int(errors.argmin())
    near = [run for run in range(len(errors)) if run != best and errors[run] <= 1.1 * errors[best]]
    near_epochs = figures["epochs"][[best, *near]]
    numbers = {
        "valid_err": errors[best],
        "valid_class_err": figures["valid_class"][best],
        "test_err": figures["test"][best],
        "test_class_err": figures["class"][best],
        "within_5pct": len(candidates(errors.tolist())) - 1,
        "within_10pct": len(near),
        "epochs_range_low": near_epochs.min(),
        "epochs_range_high": near_epochs.max(),
    }
    if near:
        numbers["test_range_low"] = figures["test"][near].min()
        numbers["test_range_high"] = figures["test"][near].max()
    shortlist = [TRIED[run] for run in candidates(errors.tolist())]
    facts = parse_name(dataset).dataset
    chosen = pivot(shortlist, facts.inputs, facts.outputs)
    return Found(TRIED[best], {name: float(value) for name, value in numbers.items()}, chosen)


def _search_row(dataset: str, runs: Runs) -> ComparisonRow:
    """The printed search is one draw; ours are several: their deviation is the printed one's error."""
    given, found = printed.searches()[dataset], search_results(runs)
    cells = []
    for name, number in given.numbers.items():
        values = np.array([one.numbers[name] for one in found if name in one.numbers])
        if not len(values):
            continue
        deviation = float(values.std(ddof=1)) if len(values) > 1 else None
        error = None if deviation is None else deviation / sqrt(len(values))
        cells.append(ComparedCell(dataset, name, number, deviation, float(values.mean()), error))
    return ComparisonRow(dataset, tuple(cells), (_choice("best", given.best, [one.best for one in found]),))


def _pivot_row(dataset: str, runs: Runs) -> ComparisonRow:
    given, connections = printed.pivots()[dataset]
    facts = parse_name(dataset).dataset
    count = given.connections(facts.inputs, facts.outputs)
    cell = ComparedCell(dataset, "connections", connections, None, count, None)
    return ComparisonRow(
        dataset, (cell,), (_choice("pivot", given, [one.pivot for one in search_results(runs)]),)
    )


def _choice(column: str, given: Topology, found: Sequence[Topology]) -> NetworkChoice:
    """What the searches chose, the most frequent first; it agrees if one of them chose the printed one."""
    counts = Counter(map(str, found)).most_common()
    ours = ", ".join(name if len(found) == 1 else f"{name} ×{count}" for name, count in counts)
    return NetworkChoice(column, str(given), ours, str(given) in dict(counts))


# Table 12.


def _verdict_row(dataset: str, first: Runs, second: Runs) -> ComparisonRow:
    """The t-test of section 3.3.4: logs, outliers out, Cochran and Cox; the lower mean log is better."""
    given = printed.verdicts()[dataset]
    found = compare_runs(first.figures["test"], second.figures["test"])
    better = "pivot" if found.test.difference < 0 else "no-shortcut"
    p_percent = None if found.p_value is None else 100 * found.p_value
    significant = p_percent is not None and p_percent < SIGNIFICANT
    said = "none" if given.better is None else _verdict(given.better, given.p_percent, given.reliable)
    ours = _verdict(better, p_percent, found.reliable)
    agrees = better == given.better if given.better is not None else not significant
    cells: tuple[ComparedCell, ...] = ()
    if given.p_percent is not None and p_percent is not None:
        cells = (ComparedCell(dataset, "p_percent", given.p_percent, None, p_percent, None),)
    return ComparisonRow(
        dataset, cells, (NetworkChoice("better", said, ours if significant else f"none: {ours}", agrees),)
    )


def _verdict(better: str, p_percent: float | None, reliable: bool) -> str:
    text = f"{better} {0.0 if p_percent is None else p_percent:.1f}"
    return text if reliable else f"({text})"
