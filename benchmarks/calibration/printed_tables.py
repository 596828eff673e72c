"""Verdicts on printed tables: how often honest runs fail the joint tests, and faults are noticed."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from benchmarks.calibration.sections import Effort, Finding, Section, margin, table
from benchmarks.calibration.simulation import Generator
from redelve.stats.mean_squares import FloatArray
from redelve.stats.redraws import PrintedCell, bias_of, cell_scores, imitated_scores, spread_of

Draw = Callable[[Generator, int], FloatArray]
Pair = tuple[Draw, Draw]
"""How printed runs are drawn, and how ours are."""
CELLS = 20
DRAWS = 400
SIZES = (10, 60)
RATIOS = (1, 5)
PRINT = PrintedCell(2, np.zeros(1), np.zeros(1), np.array([0.01]), pair=(0, 0))


def _skewed(rng: Generator, count: int) -> FloatArray:
    return np.exp(rng.normal(1.0, 0.1, (count, 1)))


def _wild(rng: Generator, count: int, share: float = 0.03) -> FloatArray:
    """Some runs are lost: their error is two to three times as large."""
    values = _skewed(rng, count)
    lost = rng.random(count) < share
    values[lost] *= 2.0 + rng.random((int(lost.sum()), 1))
    return values


def _few_values(rng: Generator, count: int) -> FloatArray:
    """Classification errors: mostly the same, in steps."""
    return np.asarray(5.17 + 0.57 * rng.poisson(0.3, (count, 1)), dtype=np.float64)


RUNS: dict[str, Draw] = {"skewed": _skewed, "3 % lost": _wild, "few values": _few_values}
NAMES = ("means, bias", "means, spread", "deviations, bias", "deviations, spread")


def study(rng: Generator, draws: Pair, size: int, ratio: int, cells: int) -> list[float]:
    """The p-values of the four tests of one study of so many cells."""
    found, imitated = [], []
    printed, ours = draws
    for _ in range(cells):
        given, values = PRINT.of(printed(rng, size)), ours(rng, ratio * size)
        found.append(cell_scores(values, given, rng, DRAWS))
        imitated.append(imitated_scores(values, given, rng))
    p_values = []
    for column in ("means", "deviations"):
        scores = np.array([getattr(one, column)[0] for one in found])
        others = np.array([[getattr(one, column)[0] for one in several] for several in imitated])
        p_values += [bias_of(scores, others).p_value, spread_of(scores, others).p_value]
    return p_values


def rates(rng: Generator, draws: Pair, size: int, ratio: int, count: int) -> list[float]:
    """Per cent of studies that each test rejects at 5 %; few studies are small ones."""
    cells = min(CELLS, 2 + count)
    p_values = np.array([study(rng, draws, size, ratio, cells) for _ in range(count)])
    shares: list[float] = (100 * (p_values < 0.05).mean(axis=0)).tolist()
    return shares


WORDS = """Print is mean and deviation of n runs, ours are as many or five times as many, as verdicts need;
studies have {} cells. Runs are log-normal (*skewed*), 3 % of them two to three times as large besides (*3 %
lost*), or take *few values*. Above, per cent of honest studies that each joint test of `redelve study
proben1` rejects at 5 %; below the same with five times as many, where ours have a fault: then it should be
large. Standard error {}."""


def printed_tables_section(rng: Generator, effort: Effort) -> Section:
    """Joint tests of printed means and deviations."""
    count = max(effort.least // 20, 1)
    rows, findings = [], []
    for what, draw in RUNS.items():
        for size in SIZES:
            for ratio in RATIOS:
                found = rates(rng, (draw, draw), size, ratio, count)
                rows.append([f"{what}, n = {size}, {ratio} times as many", *found])
                if ratio == max(RATIOS):
                    findings += [
                        Finding(f"printed tables, {name}", f"{what}, n = {size}", rate, count)
                        for name, rate in zip(NAMES, found, strict=True)
                    ]
    faults: dict[str, Pair] = {
        "errors 1 % too large": (_skewed, lambda rng, runs: 1.01 * _skewed(rng, runs)),
        "errors 3 % too large, 3 % lost": (_wild, lambda rng, runs: 1.03 * _wild(rng, runs)),
        "10 % lost instead of 3 %": (_wild, lambda rng, runs: _wild(rng, runs, 0.1)),
    }
    noticed = [
        [f"{what}, n = {size}", *rates(rng, draws, size, max(RATIOS), max(count // 4, 1))]
        for what, draws in faults.items()
        for size in SIZES
    ]
    body = f"{table(['honest runs', *NAMES], rows)}\n\n{table(['with a fault', *NAMES], noticed)}"
    return Section("Printed tables", WORDS.format(CELLS, margin(count)), body, tuple(findings))
