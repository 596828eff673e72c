"""Verdicts: whether print could be one more sample of our runs, column by column, and on the whole.

The null hypothesis is that PROBEN1's runs and ours come from the same distribution: print is one sample of 10
or 60 of them, known by mean and deviation, ours are at least five times as many. The tests are those of
`stats.redraws`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import inf

import numpy as np

from redelve.seeds import seed
from redelve.stats.redraws import (
    FloatArray,
    JointTest,
    PrintedCell,
    bias_of,
    cell_scores,
    imitated_scores,
    spread_of,
)
from redelve.studies.proben1 import printed
from redelve.studies.proben1.plan import SINGLE, Sheet
from redelve.studies.proben1.sheet_runs import Runs

LEVEL = 0.01
"""How often an honest study may fail as a whole, by Bonferroni's inequality at most."""
ENOUGH = 5
"""A verdict needs this many times the printed runs: fewer know too little of their own tails."""
LEAST_CELLS = 10
"""A column with fewer datasets has no joint tests: they could hardly fail."""
FAR = 3.29
"""Cells with scores beyond this, one of a thousand, are named."""
UNITS = {"epochs": 1.0, "relevant": 1.0}
"""The last printed digit of a column; else 0.01."""
TABLES_OF = {"linear": (3, 4), "pivot": (8, 9), "no-shortcut": (10, 11)}


@dataclass(frozen=True)
class ColumnVerdict:
    """The scores of a column's datasets, and the joint tests of them; positive scores: ours are larger.

    `imitated` are scores of samples of our own runs that were taken for print.
    """

    part: str
    column: str
    scores: Mapping[str, float]
    imitated: Mapping[str, FloatArray] = field(repr=False)

    @cached_property
    def tests(self) -> tuple[JointTest, ...]:
        """Bias and spread."""
        scores = np.array(list(self.scores.values()))
        imitated = np.stack([self.imitated[name] for name in self.scores])
        return bias_of(scores, imitated), spread_of(scores, imitated)

    @property
    def p_value(self) -> float:
        """The smallest of its p-values."""
        return min(test.p_value for test in self.tests)

    @property
    def far(self) -> dict[str, float]:
        """Datasets whose print lies far out, the farthest first."""
        found = {name: score for name, score in self.scores.items() if abs(score) > FAR}
        return dict(sorted(found.items(), key=lambda pair: -abs(pair[1])))


@dataclass(frozen=True)
class OutlierCount:
    """Our runs of a part that section 3.3.4 takes out of the logs of test errors as outliers."""

    part: str
    outliers: int
    runs: int


@dataclass(frozen=True)
class StudyVerdict:
    """All columns judged, and counts of outliers; `missing` tells why parts have no verdict."""

    columns: tuple[ColumnVerdict, ...]
    outliers: tuple[OutlierCount, ...] = ()
    missing: tuple[str, ...] = ()

    @property
    def test_count(self) -> int:
        """How many tests there are in all."""
        return sum(len(column.tests) for column in self.columns)

    @property
    def parts(self) -> tuple[str, ...]:
        """The parts that have a verdict."""
        return tuple(dict.fromkeys(column.part for column in self.columns))

    def p_value(self, part: str | None = None) -> float:
        """The smallest p-value of a part, or of all, corrected for the number of all tests (Bonferroni)."""
        found = [one.p_value for one in self.columns if part in (None, one.part)]
        return min(1.0, self.test_count * min(found, default=inf))

    def passes(self, part: str | None = None) -> bool:
        """Whether no test of a part, or of all, fails."""
        return self.p_value(part) >= LEVEL

    def failures(self, part: str | None = None) -> list[ColumnVerdict]:
        """The columns that fail, the worst first."""
        found = [one for one in self.columns if part in (None, one.part)]
        failed = [one for one in found if one.p_value * self.test_count < LEVEL]
        return sorted(failed, key=lambda one: one.p_value)


def judge(every: Iterable[Runs]) -> StudyVerdict:
    """The verdict on these runs, those of all seeds taken together."""
    every = tuple(every)
    pooled, lacks = pool(every), lacking(runs.sheet for runs in every)
    columns: list[ColumnVerdict] = []
    for part in TABLES_OF:
        known = {name: of for (one, name), of in pooled.items() if one == part and name != SINGLE}
        if known and part not in lacks:
            columns += _columns(part, known)
    return StudyVerdict(tuple(columns), tuple(_outliers(pooled)), tuple(lacks.values()))


def pool(every: Iterable[Runs]) -> dict[tuple[str, str], list[Runs]]:
    """Runs by part and dataset, those of several seeds side by side."""
    found: dict[tuple[str, str], list[Runs]] = {}
    for runs in every:
        found.setdefault((runs.sheet.part, runs.sheet.dataset), []).append(runs)
    return found


def lacking(sheets: Iterable[Sheet]) -> dict[str, str]:
    """Why parts of these sheets, those of all seeds taken together, have no verdict."""
    runs: dict[str, Counter[str]] = {}
    for sheet in sheets:
        if sheet.part in TABLES_OF and sheet.dataset != SINGLE:
            runs.setdefault(sheet.part, Counter())[sheet.dataset] += len(sheet.topologies)
    found = {}
    for part, counts in runs.items():
        needed = ENOUGH * (printed.LINEAR_RUNS if part == "linear" else printed.PIVOT_RUNS)
        if min(counts.values()) < needed:
            found[part] = f"{part} networks have {min(counts.values())} runs, and a verdict needs {needed}"
        elif len(counts) < LEAST_CELLS:
            found[part] = f"{part} networks have {len(counts)} datasets, and a verdict needs {LEAST_CELLS}"
    return found


def _columns(part: str, known: Mapping[str, Sequence[Runs]]) -> Iterator[ColumnVerdict]:
    """Where print lies among samples of our runs, by columns of so many datasets that they can be judged."""
    scores: dict[str, dict[str, float]] = {}
    imitated: dict[str, dict[str, FloatArray]] = {}
    for table in TABLES_OF[part]:
        for dataset, row in printed.figures(table).items():
            if dataset in known:
                for column, score, others in _dataset_scores(part, row, known[dataset]):
                    scores.setdefault(column, {})[dataset] = score
                    imitated.setdefault(column, {})[dataset] = others
    for column, found in scores.items():
        if len(found) >= LEAST_CELLS:
            yield ColumnVerdict(part, column, found, imitated[column])


def _dataset_scores(
    part: str, row: printed.PrintedFigures, runs: Sequence[Runs]
) -> Iterator[tuple[str, float, FloatArray]]:
    """The score of each column of a dataset, and those of samples of ours that imitate print."""
    names = [name for name in row.measures if all(name in one.summaries for one in runs)]
    values = np.column_stack([np.concatenate([one.figures[name] for one in runs]) for name in names])
    given = _printed_cell(row, names)
    rng = np.random.default_rng(seed("verdict proben1", part, row.dataset))
    found, others = cell_scores(values, given, rng), imitated_scores(values, given, rng)
    for place, name in enumerate(names):
        yield name, float(found.means[place]), np.array([one.means[place] for one in others])
        spread = np.array([one.deviations[place] for one in others])
        yield f"{name} sd", float(found.deviations[place]), spread
    if found.correlation is not None:
        yield "rho", found.correlation, np.array([one.correlation for one in others], dtype=np.float64)


def _printed_cell(row: printed.PrintedFigures, names: Sequence[str]) -> PrintedCell:
    measures = [row.measures[name] for name in names]
    return PrintedCell(
        measures[0].runs,
        np.array([one.mean for one in measures]),
        np.array([one.deviation for one in measures], dtype=np.float64),
        np.array([UNITS.get(name, 0.01) for name in names]),
        row.correlation,
        (names.index("valid"), names.index("test")),
    )


def _outliers(pooled: Mapping[tuple[str, str], Sequence[Runs]]) -> Iterator[OutlierCount]:
    """Counted as section 3.3.4 takes them out: of the logs of test errors, seed by seed."""
    for part in TABLES_OF:
        counted = [
            (one.outliers, len(one.figures["test"]))
            for (where, dataset), runs in pooled.items()
            if where == part and dataset != SINGLE
            for one in runs
            if one.outliers is not None
        ]
        if counted:
            yield OutlierCount(part, *map(sum, zip(*counted, strict=True)))
