"""Levels of the tests and coverages of the intervals, by simulation: `python -m redelve.stats.calibration`.

Writes the tables of docs/calibration.md. A test at 5 % should reject a true hypothesis 5 % of the time, and a
95 % interval hold the true mean 95 % of the time.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import numpy as np

from redelve.stats.anova import analyse_common, analyse_hierarchical
from redelve.stats.runs import (
    RunsAnalysis,
    analyse_runs_common,
    analyse_runs_hierarchical,
    compare_runs_common,
    compare_runs_hierarchical,
)
from redelve.stats.simulation import (
    Design,
    Generator,
    RunsDesign,
    Sample,
    Shape,
    UnitsDesign,
    draw_gaussian,
    draw_runs,
    draw_sample,
    draw_units,
)
from redelve.stats.sums import FloatArray
from redelve.stats.units import pool_units

SEED = 1996
TRAINING_SETS = (2, 3, 4, 5, 8)
SDS = (0.0, 0.1, 0.25, 0.5, 1.0)
TEST_CASES = 200
MANY, SOME, FEW, LEAST = 100_000, 10_000, 4_000, 2_000
OTHER_SHAPES: tuple[Shape, Shape] = ("skewed", "heavy-tailed")
SOURCES = {
    "training_sets": "training sets",
    "seeds": "seeds",
    "test_cases": "test cases",
    "interaction": "interaction",
    "residual": "residual",
}
RUNS = (
    RunsDesign(4, 3, 50, 0.3, 0.4, 0.8, 0.5, 1.0),
    RunsDesign(8, 3, 50, 0.3, 0.4, 0.8, 0.5, 1.0),
    RunsDesign(4, 3, 50, 0.3, 0.4, 0.8, None, 1.0),
    RunsDesign(8, 3, 50, 0.3, 0.4, 0.8, None, 1.0),
)
UNITS = (
    UnitsDesign(8, 60, (5, 5)),
    UnitsDesign(8, 60, (2, 8)),
    UnitsDesign(8, 60, (2, 8), informative=1.5),
)


def percent(hits: FloatArray) -> float:
    """Share of hits, in per cent."""
    return 100 * float(np.mean(hits))


def rejections(p_values: FloatArray) -> float:
    """Per cent of p-values below 0.05; an undefined one does not reject."""
    return percent(np.asarray(p_values < 0.05, dtype=np.float64))


def margin(count: int, rate: float = 5.0) -> str:
    """Standard error of a percentage near `rate` found from `count` simulations."""
    return f"{np.sqrt(rate * (100 - rate) / count):.2f}"


def spread(values: Sequence[float]) -> str:
    """Smallest to largest of some percentages."""
    return f"{min(values):.1f} – {max(values):.1f}"


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A table in Markdown; numbers with one decimal unless they are text already."""
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    for row in rows:
        cells = (f"{x:.1f}" if isinstance(x, float) else str(x) for x in row)
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def grid(training_sets: int) -> list[list[Design]]:
    """Designs over the standard deviations of training sets (rows) and test cases (columns)."""
    return [[Design(training_sets, TEST_CASES, a, b) for b in SDS] for a in SDS]


def hierarchical_levels(rng: Generator) -> str:
    """Level of the t-test for losses of three shapes."""
    rows: list[list[object]] = []
    for sets in TRAINING_SETS:
        samples = (draw_gaussian(Design(sets, TEST_CASES, a, 0.0), MANY, rng) for a in SDS)
        rows.append(["Gaussian", sets, *(rejections(sample.t_test()) for sample in samples)])
    for shape in OTHER_SHAPES:
        for sets in TRAINING_SETS:
            samples = (draw_sample(Design(sets, TEST_CASES, a, 0.0), SOME, rng, shape) for a in SDS)
            rows.append([shape, sets, *(rejections(sample.t_test()) for sample in samples)])
    return table(["losses", "I", *(f"σ_a = {a:g}" for a in SDS)], rows)


def gaussian_levels(sets: int, test: Callable[[Sample], FloatArray], count: int, rng: Generator) -> str:
    """Level of a test for a common test set over the grid of standard deviations."""
    rows = [
        [f"{row[0].sd_training:g}", *(rejections(test(draw_gaussian(d, count, rng))) for d in row)]
        for row in grid(sets)
    ]
    return table(["σ_a", *(f"σ_b = {b:g}" for b in SDS)], rows)


def common_gaussian(rng: Generator) -> str:
    """Levels of the tests for a common test set."""
    parts = []
    tests = (
        ("F-test, the default", Sample.f_test, MANY),
        ("The same with the degrees of freedom of Hillis", Sample.hillis_test, MANY),
        ("Quasi-F of DELVE", Sample.quasi_f_test, MANY),
        ("Cautious test", Sample.cautious_test, FEW),
    )
    for title, test, count in tests:
        parts.append(f"### {title}\n\n{count:,} simulations per entry; standard error {margin(count)}.")
        for sets in TRAINING_SETS:
            parts.append(f"{sets} training sets:\n\n{gaussian_levels(sets, test, count, rng)}")
    return "\n\n".join(parts)


def common_shapes(rng: Generator) -> str:
    """Ranges of level for other shapes of losses over the grid, for a common test set."""
    rows: list[list[object]] = []
    tests = (Sample.f_test, Sample.quasi_f_test, Sample.cautious_test)
    for shape in OTHER_SHAPES:
        for sets in TRAINING_SETS:
            samples = [draw_sample(d, LEAST, rng, shape) for row in grid(sets) for d in row]
            rows.append([shape, sets, *(spread([rejections(test(s)) for s in samples]) for test in tests)])
    return table(["losses", "I", "F-test", "quasi-F", "cautious"], rows)


def few_test_cases(rng: Generator) -> str:
    """Ranges of level with few test cases or units, where variation among these may dominate."""
    rows: list[list[object]] = []
    for cases in (10, 20, 50):
        for sets in TRAINING_SETS:
            designs = [Design(sets, cases, a, b) for a in (0.0, 0.5) for b in (0.0, 0.5, 1.0, 3.0, 10.0)]
            plain = [rejections(draw_gaussian(d, MANY, rng).f_test()) for d in designs]
            cautious = [rejections(draw_gaussian(d, LEAST, rng).cautious_test()) for d in designs]
            rows.append([cases, sets, spread(plain), spread(cautious)])
    return table(["J", "I", "F-test", "cautious"], rows)


def coverages(rng: Generator) -> str:
    """Coverage of the 95 % intervals over the grid."""
    rows: list[list[object]] = []
    for sets in TRAINING_SETS:
        nested = (draw_gaussian(Design(sets, TEST_CASES, a, 0.0), MANY, rng) for a in SDS)
        crossed = (draw_gaussian(design, MANY, rng) for row in grid(sets) for design in row)
        first = spread([percent(sample.hierarchical_covers()) for sample in nested])
        rows.append([sets, first, spread([percent(sample.common_covers()) for sample in crossed])])
    return table(["I", "hierarchical", "common test set"], rows)


def powers(rng: Generator) -> str:
    """How often each test finds a mean of three true standard deviations of its estimate."""
    rows: list[list[object]] = []
    for sets in TRAINING_SETS:
        nested, crossed = Design(sets, TEST_CASES, 0.5, 0.0), Design(sets, TEST_CASES, 0.1, 0.5)
        one = draw_gaussian(nested, SOME, rng).shifted(3 * nested.sd_mean())
        two = draw_gaussian(crossed, SOME, rng).shifted(3 * crossed.sd_mean())
        tests = (one.t_test(), two.f_test(), two.cautious_test())
        rows.append([sets, *(rejections(p_values) for p_values in tests)])
    return table(["I", "t-test, σ_a = 0.5", "F-test, σ_a = 0.1, σ_b = 0.5", "cautious, the same"], rows)


def analyse_runs(design: RunsDesign, rng: Generator) -> RunsAnalysis:
    """Simulate one data set of several runs and analyse it by its scheme."""
    analyse = analyse_runs_hierarchical if design.sd_interaction is None else analyse_runs_common
    return analyse(draw_runs(design, rng))


def runs_level(design: RunsDesign, count: int, rng: Generator) -> float:
    """Level of the comparison of two methods, the second run once per training set."""
    compare = compare_runs_hierarchical if design.sd_interaction is None else compare_runs_common
    pairs = ((draw_runs(design, rng), draw_runs(design, rng)[:, :1]) for _ in range(count))
    return rejections(np.array([compare(*pair).p_value for pair in pairs], dtype=np.float64))


def runs_coverage(results: Sequence[RunsAnalysis]) -> float:
    """Per cent of the intervals that hold the true mean, zero."""
    intervals = [result.interval() or (np.inf, -np.inf) for result in results]
    return percent(np.array([float(low <= 0 <= high) for low, high in intervals]))


def true_variance(design: RunsDesign, source: str) -> float | None:
    """The variance of a source in the simulated losses."""
    names = {"training_sets": "sd_training", "seeds": "sd_seed"}
    sd: float | None = getattr(design, names.get(source, f"sd_{source}"))
    return None if sd is None else sd**2


def recovered(results: Sequence[RunsAnalysis], source: str) -> tuple[float, float]:
    """Mean of the estimates of a variance, negative ones as they are, and its standard error."""
    found = np.array([getattr(result.variances, source) for result in results])
    return float(found.mean()), float(found.std() / np.sqrt(found.size))


def runs_table(rng: Generator) -> str:
    """True variances against the mean of their estimates before negative ones are set to zero."""
    rows: list[list[object]] = []
    for design in RUNS:
        results = [analyse_runs(design, rng) for _ in range(LEAST)]
        row: list[object] = ["hierarchical" if design.sd_interaction is None else "common"]
        row.append(design.training_sets)
        for source in SOURCES:
            true = true_variance(design, source)
            mean, error = (0.0, 0.0) if true is None else recovered(results, source)
            row.append("–" if true is None else f"{true:.2f}: {mean:.4f} ± {error:.4f}")
        rows.append([*row, runs_coverage(results), runs_level(design, FEW, rng)])
    return table(["scheme", "I", *SOURCES.values(), "coverage", "level"], rows)


def unit_coverage(design: UnitsDesign, rng: Generator, count: int, *, common: bool) -> tuple[float, float]:
    """Coverage of the interval that takes every test case as a unit, and of the one that pools units."""
    analyse, hits = (analyse_common if common else analyse_hierarchical), np.zeros((count, 2))
    for hit in hits:
        rows, labels = draw_units(design, rng, common=common)
        pooled = pool_units(rows, labels[0] if common else labels)
        for k, values in enumerate((rows, pooled)):
            interval = analyse(values).interval()
            hit[k] = interval is not None and interval[0] <= design.true_mean() <= interval[1]
    return percent(hits[:, 0]), percent(hits[:, 1])


def units_table(rng: Generator) -> str:
    """Coverage with dependent test cases, naive and pooled."""
    rows: list[list[object]] = []
    for common in (True, False):
        for design in UNITS:
            cover = unit_coverage(design, rng, LEAST, common=common)
            scheme = "common" if common else "hierarchical"
            rows.append([scheme, f"{design.sizes[0]} or {design.sizes[1]}", design.informative, *cover])
    return table(
        ["scheme", "cases per unit", "large units harder by", "cases as units", "units pooled"], rows
    )


SECTIONS: tuple[tuple[str, str, Callable[[Generator], str]], ...] = (
    (
        "The t-test of the hierarchical scheme",
        f"""Per cent of true hypotheses rejected at 5 %. {MANY:,} simulations per entry for Gaussian losses
(standard error {margin(MANY)}), {SOME:,} for the others ({margin(SOME)} near 5 %, {margin(SOME, 10.0)}
near 10 %).""",
        hierarchical_levels,
    ),
    ("Tests for a common test set, Gaussian losses", "Per cent rejected at 5 %.", common_gaussian),
    (
        "Tests for a common test set, other losses",
        f"""Smallest and largest per cent rejected at 5 % over the 25 entries of the grid. {LEAST:,}
simulations per entry; standard error {margin(LEAST)} near 5 %, {margin(LEAST, 10.0)} near 10 %, and the
extremes of 25 entries lie about two of these too far out.""",
        common_shapes,
    ),
    (
        "Few test cases or units",
        f"""Smallest and largest per cent rejected at 5 % with Gaussian losses, σ_a of 0 and 0.5, σ_b of 0,
0.5, 1, 3 and 10. {MANY:,} simulations per entry for the F-test (standard error {margin(MANY)}), {LEAST:,}
for the cautious test ({margin(LEAST)}; the extremes of 10 entries lie about 1.5 of these too far out).""",
        few_test_cases,
    ),
    (
        "Coverage of the 95 % intervals",
        f"""Smallest and largest per cent over the grid, Gaussian losses. {MANY:,} simulations per entry;
standard error {margin(MANY)}. The cautious interval holds what the cautious test does not reject: its
coverage is 100 % less the level above.""",
        coverages,
    ),
    (
        "Power",
        f"""Per cent rejected at 5 % when the true mean is three standard deviations of its estimate. With
very many training sets this would be 85 %. {SOME:,} simulations per entry; standard error at most
{margin(SOME, 50.0)}.""",
        powers,
    ),
    (
        "Several runs with different seeds",
        f"""Variance: true value, then mean of the estimates and its standard error, from {LEAST:,} Gaussian
data sets per row with 3 runs and 50 test cases; per cent of 95 % intervals that hold the true mean, and of
true hypotheses rejected at 5 % when a method of 3 runs is compared with one of a single run, from {FEW:,}
data sets (standard errors {margin(LEAST)} and {margin(FEW)}).""",
        runs_table,
    ),
    (
        "Dependent test cases",
        f"""Per cent of 95 % intervals that hold the true mean: 8 training sets, 60 units, whose cases share
an effect of standard deviation 1 (and one of 0.5 for each training set) beside residuals of 1. {LEAST:,}
simulations per entry; standard error {margin(LEAST)} near 95 %.""",
        units_table,
    ),
)

INTRODUCTION = f"""# Calibration

Written by `python -m redelve.stats.calibration`; do not edit. [statistics.md](statistics.md) explains what is
measured.

Losses are simulated with a true mean of zero as y = a + b + ε, where training sets contribute a (standard
deviation σ_a), test cases b (σ_b, absent in the hierarchical scheme) and the rest ε (standard deviation 1).
There are {TEST_CASES} test cases and I training sets unless said otherwise. *Skewed* terms are exponential
(skewness 2), *heavy-tailed* ones have a t distribution with 5 degrees of freedom; both are centred and
scaled. Random numbers are NumPy's default generator seeded with [{SEED}, section number from 0]. Means and
mean squares of Gaussian losses are drawn from their known joint distribution; the tests of the package
confirm on drawn losses that this is the same."""


def page() -> str:
    """The whole of docs/calibration.md."""
    parts = [INTRODUCTION]
    for number, (title, words, make) in enumerate(SECTIONS):
        parts.append(f"## {title}\n\n{words}\n\n{make(np.random.default_rng([SEED, number]))}")
    return "\n\n".join(parts) + "\n"


def main(arguments: Sequence[str]) -> int:
    """Write the page to the path given, by default docs/calibration.md."""
    path = Path(arguments[0]) if arguments else Path("docs/calibration.md")
    path.write_text(page(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
