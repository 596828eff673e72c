"""The intervals of mlr3inferr beside redelve's, on the same simulated tasks: coverage, width, number of fits.

mlr3inferr 0.2 (Schulz-Kümpel et al. 2024, arXiv 2409.18836) offers five intervals of the generalization
error; their formulas are those of the papers named below, with the package's defaults where it has some.
`python -m benchmarks.calibration.interval_menu` prints the table; with `--write` it goes into
docs/comparisons.md.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
from scipy import stats

from benchmarks.calibration.exchangeable import PROBLEMS, Drawn, Numbers, Problem, Rows
from benchmarks.calibration.sections import table
from benchmarks.calibration.simulated_reports import planned_tasks, simulated_results
from benchmarks.calibration.simulation import Generator
from redelve.findings import find
from redelve.seeds import generator
from redelve.stats.resampled import nested_cross_validation

PAGE = Path(__file__).parents[2] / "docs" / "comparisons.md"
BEGIN = "<!-- interval menu: made by python -m benchmarks.calibration.interval_menu --write -->"
END = "<!-- end of interval menu -->"
LEVEL = 0.95
Z = float(stats.norm.ppf((1 + LEVEL) / 2))
Try = Callable[[Rows, Rows], Numbers]
"""Losses of the test cases after learning from the training cases: of a method, and less those of another."""
Bounds = tuple[Numbers, Numbers]
"""Low and high ends: of the expected loss of a method, and of its difference from the other."""


@dataclass(frozen=True)
class Way:
    """An interval: who describes it, the training-set size that it speaks of, and how many fits it takes."""

    name: str
    source: str
    bounds: Callable[[Try, int, Generator], Bounds]
    size: Callable[[int], int]
    fits: int


def _z_interval(losses: Numbers) -> Bounds:
    mean, error = losses.mean(axis=0), losses.std(axis=0) / np.sqrt(len(losses))
    return mean - Z * error, mean + Z * error


def holdout(attempt: Try, cases: int, rng: Generator) -> Bounds:
    """Two thirds train, one third tests."""
    order = rng.permutation(cases)
    cut = round(cases * 2 / 3)
    return _z_interval(attempt(order[:cut], order[cut:]))


def cv_wald(attempt: Try, cases: int, rng: Generator, folds: int = 10) -> Bounds:
    """The losses of all cases as if they were independent (Bayle et al. 2020, all-pairs variance)."""
    fold = rng.permutation(np.arange(cases) % folds)
    return _z_interval(
        np.concatenate([attempt(np.flatnonzero(fold != k), np.flatnonzero(fold == k)) for k in range(folds)])
    )


def _split_means(attempt: Try, among: Rows, tested: int, splits: int, rng: Generator) -> Numbers:
    """Mean losses of random splits of these cases."""
    orders = [rng.permutation(among) for _ in range(splits)]
    return np.array([attempt(order[tested:], order[:tested]).mean(axis=0) for order in orders])


def corrected_t(attempt: Try, cases: int, rng: Generator, splits: int = 25) -> Bounds:
    """Random splits, nine tenths for training (Nadeau and Bengio 2003)."""
    tested = cases - round(0.9 * cases)
    means = _split_means(attempt, np.arange(cases), tested, splits, rng)
    factor = np.sqrt(1 / splits + tested / (cases - tested))
    half = stats.t.ppf((1 + LEVEL) / 2, splits - 1) * factor * means.std(axis=0, ddof=1)
    return means.mean(axis=0) - half, means.mean(axis=0) + half


def conservative_z(attempt: Try, cases: int, rng: Generator, inner: int = 15, outer: int = 10) -> Bounds:
    """Random splits, and their variance from pairs of disjoint halves (Nadeau and Bengio 2003)."""
    tested = cases - round(0.9 * cases)
    mean = _split_means(attempt, np.arange(cases), tested, inner, rng).mean(axis=0)
    squares = np.zeros_like(mean)
    for _ in range(outer):
        order = rng.permutation(cases)
        halves = (order[: cases // 2], order[cases // 2 : 2 * (cases // 2)])
        one, two = (_split_means(attempt, half, tested, inner, rng).mean(axis=0) for half in halves)
        squares += np.square(one - two)
    half_width = Z * np.sqrt(squares / (2 * outer))
    return mean - half_width, mean + half_width


def nested(attempt: Try, cases: int, rng: Generator, folds: int = 5, repetitions: int = 20) -> Bounds:
    """Nested cross-validation (Bates, Hastie and Tibshirani 2024), by redelve's own function."""
    inner, outer = [], []
    for _ in range(repetitions):
        fold = rng.permutation(np.arange(cases) % folds)
        rows = [np.flatnonzero(fold == k) for k in range(folds)]
        pairs = {}
        for i in range(folds):
            for j in range(i + 1, folds):
                losses = attempt(
                    np.flatnonzero((fold != i) & (fold != j)), np.concatenate([rows[i], rows[j]])
                )
                pairs[j, i], pairs[i, j] = losses[: len(rows[i])], losses[len(rows[i]) :]
        outer.append([attempt(np.flatnonzero(fold != k), rows[k]) for k in range(folds)])
        inner.append([np.concatenate([pairs[k, j] for j in range(folds) if j != k]) for k in range(folds)])
    ends = []
    for which in range(2):
        found = nested_cross_validation(
            [[part[:, which] for part in one] for one in inner],
            [[part[:, which] for part in one] for one in outer],
        )
        ends.append(found.interval(LEVEL) or (-np.inf, np.inf))
    return np.array([low for low, _ in ends]), np.array([high for _, high in ends])


WAYS = (
    Way("holdout", "2 : 1", holdout, lambda n: round(n * 2 / 3), 1),
    Way("CV-Wald", "Bayle et al. 2020, 10 folds", cv_wald, lambda n: round(0.9 * n), 10),
    Way("corrected t", "Nadeau, Bengio 2003, 25 splits", corrected_t, lambda n: round(0.9 * n), 25),
    Way("conservative z", "Nadeau, Bengio 2003", conservative_z, lambda n: round(0.9 * n), 315),
    Way("nested CV", "Bates et al. 2024, 20 × 5 folds", nested, lambda n: n, 300),
)


def attempt_on(problem: Problem, drawn: Drawn) -> Try:
    """What the first method loses, and that less what the second one does, each with a column of its own."""

    def attempt(train: Rows, test: Rows) -> Numbers:
        y, truth = drawn.targets[train], drawn.targets[test]
        first, second = (
            problem.loss(problem.learn(drawn.inputs[train, k], y, drawn.inputs[test, k]), truth)
            for k in (0, 1)
        )
        return np.column_stack([first, first - second])

    return attempt


def ours(problem: Problem, drawn: Drawn) -> Bounds:
    """redelve's own design: the largest training sets; each interval is taken alone."""
    largest = find(simulated_results(problem, [drawn]), problem.code).tasks[-1]
    both = (largest.methods[0].interval(LEVEL), largest.contests[0].interval(LEVEL))
    ends = [one or (-np.inf, np.inf) for one in both]
    return np.array([low for low, _ in ends]), np.array([high for _, high in ends])


@cache
def expected_loss(name: str, size: int, sets: int = 4000, tested: int = 100) -> float:
    """The expected loss of a method that learns from so many cases."""
    problem, rng = PROBLEMS[name], generator("expected loss", name, size)
    total = 0.0
    for _ in range(sets):
        attempt = attempt_on(problem, problem.draw(size + tested, 2, rng))
        total += float(attempt(np.arange(size), np.arange(size, size + tested))[:, 0].mean())
    return total / sets


@dataclass(frozen=True)
class Menu:
    """Of one way, problem and number of cases: coverage in per cent, and width over the expected loss."""

    way: str
    size: int
    fits: int
    covers: float
    covers_at_all: float
    covers_difference: float
    width: float


def measured(name: str, cases: int, count: int) -> list[Menu]:
    """Every way on the same data sets."""
    problem, rng = PROBLEMS[name], generator("interval menu", name, cases)
    found: dict[str, list[Bounds]] = {each: [] for each in (*(way.name for way in WAYS), "redelve")}
    for _ in range(count):
        drawn = problem.draw(cases, 2, rng)
        for way in WAYS:
            found[way.name].append(way.bounds(attempt_on(problem, drawn), cases, rng))
        found["redelve"].append(ours(problem, drawn))
    planned = planned_tasks(name, cases, 2, "data0")[-1].facts
    every = [(way.name, way.size(cases), way.fits) for way in WAYS]
    every.append(("redelve", planned.training_set_size, len(planned.instances)))
    return [_menu(name, cases, one, found[one[0]]) for one in every]


def _menu(name: str, cases: int, about: tuple[str, int, int], bounds: Sequence[Bounds]) -> Menu:
    low, high = (np.array([ends[k] for ends in bounds]) for k in (0, 1))
    own, whole = expected_loss(name, about[1]), expected_loss(name, cases)

    def covers(which: int, truth: float) -> float:
        return 100 * float(np.mean((low[:, which] <= truth) & (truth <= high[:, which])))

    width = float(np.median(high[:, 0] - low[:, 0])) / own
    return Menu(*about, covers(0, own), covers(0, whole), covers(1, 0.0), width)


NAMES = ("regression, nearest neighbour", "regression, a line", "0–1 loss", "log-normal targets")
CASES = (60, 200, 1000)


def menu_table(count: int = 200) -> str:
    """A row for every problem and way, a column for every number of cases."""
    return pivoted({(name, cases): measured(name, cases, count) for name in NAMES for cases in CASES})


def pivoted(found: Mapping[tuple[str, int], Sequence[Menu]]) -> str:
    """What was measured, as a table: coverage of the loss, coverage of the difference, width of the first."""
    rows = []
    for name in NAMES:
        for ways in zip(*(found[name, cases] for cases in CASES), strict=True):
            fits = ", ".join(dict.fromkeys(str(one.fits) for one in ways))
            cells = (f"{one.covers:.1f}, {one.covers_difference:.1f}, {one.width:.2f}" for one in ways)
            rows.append([name, ways[0].way, fits, *cells])
    return table(["problem", "interval", "fits", *(f"{cases} cases" for cases in CASES)], rows)


def main(words: Sequence[str]) -> int:
    """Print the table, or write it into the page."""
    found = menu_table()
    sys.stdout.write(f"{found}\n")
    if "--write" in words:
        pattern = re.compile(f"{re.escape(BEGIN)}.*?{re.escape(END)}", re.DOTALL)
        page = PAGE.read_text("utf-8")
        PAGE.write_text(pattern.sub(lambda _: f"{BEGIN}\n{found}\n{END}", page), "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
