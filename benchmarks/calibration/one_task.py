"""Calibration of the analyses of one task: both schemes, several runs, and dependent test cases."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from benchmarks.calibration.sections import (
    Effort,
    Finding,
    Section,
    margin,
    percent,
    rejections,
    spread,
    table,
)
from benchmarks.calibration.simulation import (
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
from redelve.stats.anova import analyse_common, analyse_hierarchical
from redelve.stats.mean_squares import FloatArray
from redelve.stats.seed_runs import (
    RunsAnalysis,
    analyse_runs_common,
    analyse_runs_hierarchical,
    compare_runs_common,
    compare_runs_hierarchical,
)
from redelve.stats.units import pool_units

TRAINING_SETS = (2, 3, 4, 5, 8)
SDS = (0.0, 0.1, 0.25, 0.5, 1.0)
TEST_CASES = 200
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


def grid(training_sets: int) -> list[Design]:
    """Designs over the standard deviations of training sets (slowly) and of test cases (quickly)."""
    return [Design(training_sets, TEST_CASES, a, b) for a in SDS for b in SDS]


def words_for(design: Design, *, common: bool = True) -> str:
    """The setting in the overview."""
    shared = f", σ_b = {design.sd_test_cases:g}" if common else ""
    few = "" if design.test_cases == TEST_CASES else f", J = {design.test_cases}"
    return f"I = {design.training_sets}{few}, σ_a = {design.sd_training:g}{shared}"


def few_or_more(design: Design) -> str:
    """Two or three training sets are a case of their own."""
    return "2 or 3 training sets" if design.training_sets < 4 else "4 or more training sets"


def hierarchical_levels(rng: Generator, effort: Effort) -> Section:
    """Level of the t-test for losses of three shapes."""
    findings, rows = [], []
    for shape in ("Gaussian", *OTHER_SHAPES):
        for sets in TRAINING_SETS:
            count, row = effort.many if shape == "Gaussian" else effort.some, []
            for design in (Design(sets, TEST_CASES, a, 0.0) for a in SDS):
                sample = (
                    draw_gaussian(design, count, rng)
                    if shape == "Gaussian"
                    else draw_sample(design, count, rng, shape)
                )
                row.append(rejections(sample.t_test()))
                where = words_for(design, common=False)
                findings.append(Finding(f"t-test, {shape} losses", where, row[-1], count))
            rows.append([shape, sets, *row])
    words = f"""Per cent of true hypotheses rejected at 5 %. {effort.many:,} simulations per entry for
        Gaussian losses (standard error {margin(effort.many)}), {effort.some:,} for the others
        ({margin(effort.some)} near 5 %, {margin(effort.some, 10.0)} near 10 %)."""
    body = table(["losses", "I", *(f"σ_a = {a:g}" for a in SDS)], rows)
    return Section("The t-test of the hierarchical scheme", words, body, tuple(findings))


TESTS: tuple[tuple[str, str, Callable[[Sample], FloatArray]], ...] = (
    ("F-test", "F-test, the default", Sample.f_test),
    (
        "F-test, Hillis's degrees of freedom",
        "The same with the degrees of freedom of Hillis",
        Sample.hillis_test,
    ),
    ("quasi-F of DELVE", "Quasi-F of DELVE", Sample.quasi_f_test),
    ("cautious test", "Cautious test", Sample.cautious_test),
)


def common_gaussian(rng: Generator, effort: Effort) -> Section:
    """Levels of the tests for a common test set."""
    parts: list[str] = []
    findings: list[Finding] = []
    for name, title, test in TESTS:
        count = effort.few if name == "cautious test" else effort.many
        parts.append(f"### {title}\n\n{count:,} simulations per entry; standard error {margin(count)}.")
        for sets in TRAINING_SETS:
            designs = grid(sets)
            levels = [rejections(test(draw_gaussian(design, count, rng))) for design in designs]
            findings += [
                Finding(f"{name}, {few_or_more(design)}", words_for(design), level, count)
                for design, level in zip(designs, levels, strict=True)
            ]
            size = len(SDS)
            rows = [[f"{a:g}", *levels[size * k : size * (k + 1)]] for k, a in enumerate(SDS)]
            head = ["σ_a", *(f"σ_b = {b:g}" for b in SDS)]
            parts.append(f"{sets} training sets:\n\n{table(head, rows)}")
    title = "Tests for a common test set, Gaussian losses"
    return Section(title, "Per cent rejected at 5 %.", "\n\n".join(parts), tuple(findings))


def common_shapes(rng: Generator, effort: Effort) -> Section:
    """Ranges of level for other shapes of losses over the grid, for a common test set."""
    rows: list[list[object]] = []
    findings: list[Finding] = []
    tests = {"F-test": Sample.f_test, "quasi-F": Sample.quasi_f_test, "cautious test": Sample.cautious_test}
    count = effort.least
    for shape in OTHER_SHAPES:
        for sets in TRAINING_SETS:
            samples = [draw_sample(design, count, rng, shape) for design in grid(sets)]
            row: list[object] = [shape, sets]
            for name, test in tests.items():
                levels = [rejections(test(sample)) for sample in samples]
                findings += [
                    Finding(f"{name}, {shape} losses", words_for(sample.design), level, count)
                    for sample, level in zip(samples, levels, strict=True)
                ]
                row.append(spread(levels))
            rows.append(row)
    words = f"""Smallest and largest per cent rejected at 5 % over the 25 entries of the grid. {count:,}
        simulations per entry; standard error {margin(count)} near 5 %, {margin(count, 10.0)} near 10 %,
        and the extremes of 25 entries lie about two of these too far out."""
    body = table(["losses", "I", "F-test", "quasi-F", "cautious"], rows)
    return Section("Tests for a common test set, other losses", words, body, tuple(findings))


def few_test_cases(rng: Generator, effort: Effort) -> Section:
    """Ranges of level with few test cases or units, where variation among these may dominate."""
    rows: list[list[object]] = []
    findings: list[Finding] = []
    for cases in (10, 20, 50):
        for sets in TRAINING_SETS:
            designs = [Design(sets, cases, a, b) for a in (0.0, 0.5) for b in (0.0, 0.5, 1.0, 3.0, 10.0)]
            plain = [rejections(draw_gaussian(d, effort.many, rng).f_test()) for d in designs]
            cautious = [rejections(draw_gaussian(d, effort.least, rng).cautious_test()) for d in designs]
            for name, levels, count in (
                ("F-test", plain, effort.many),
                ("cautious test", cautious, effort.least),
            ):
                findings += [
                    Finding(f"{name}, 10 to 50 test cases", words_for(design), level, count)
                    for design, level in zip(designs, levels, strict=True)
                ]
            rows.append([cases, sets, spread(plain), spread(cautious)])
    words = f"""Smallest and largest per cent rejected at 5 % with Gaussian losses, σ_a of 0 and 0.5, σ_b
        of 0, 0.5, 1, 3 and 10. {effort.many:,} simulations per entry for the F-test (standard error
        {margin(effort.many)}), {effort.least:,} for the cautious test ({margin(effort.least)}; the
        extremes of 10 entries lie about 1.5 of these too far out)."""
    return Section(
        "Few test cases or units", words, table(["J", "I", "F-test", "cautious"], rows), tuple(findings)
    )


def coverages(rng: Generator, effort: Effort) -> Section:
    """Coverage of the 95 % intervals over the grid."""
    rows: list[list[object]] = []
    findings: list[Finding] = []
    count = effort.many
    for sets in TRAINING_SETS:
        own = [Design(sets, TEST_CASES, a, 0.0) for a in SDS]
        nested = [percent(draw_gaussian(design, count, rng).hierarchical_covers()) for design in own]
        crossed = [percent(draw_gaussian(design, count, rng).common_covers()) for design in grid(sets)]
        findings += [
            Finding("interval, hierarchical", words_for(design, common=False), cover, count)
            for design, cover in zip(own, nested, strict=True)
        ]
        findings += [
            Finding(f"interval, common, {few_or_more(design)}", words_for(design), cover, count)
            for design, cover in zip(grid(sets), crossed, strict=True)
        ]
        rows.append([sets, spread(nested), spread(crossed)])
    words = f"""Smallest and largest per cent over the grid, Gaussian losses. {count:,} simulations per
        entry; standard error {margin(count)}. The cautious interval holds what the cautious test does not
        reject: its coverage is 100 % less the level above."""
    body = table(["I", "hierarchical", "common test set"], rows)
    return Section("Coverage of the 95 % intervals", words, body, tuple(findings))


def powers(rng: Generator, effort: Effort) -> Section:
    """How often each test finds a mean of three true standard deviations of its estimate."""
    rows: list[list[object]] = []
    count = effort.some
    for sets in TRAINING_SETS:
        nested, crossed = Design(sets, TEST_CASES, 0.5, 0.0), Design(sets, TEST_CASES, 0.1, 0.5)
        one = draw_gaussian(nested, count, rng).shifted(3 * nested.sd_mean())
        two = draw_gaussian(crossed, count, rng).shifted(3 * crossed.sd_mean())
        tests = (one.t_test(), two.f_test(), two.cautious_test())
        rows.append([sets, *(rejections(p_values) for p_values in tests)])
    words = f"""Per cent rejected at 5 % when the true mean is three standard deviations of its estimate.
        With very many training sets this would be 85 %. {count:,} simulations per entry; standard error
        at most {margin(count, 50.0)}."""
    body = table(["I", "t-test, σ_a = 0.5", "F-test, σ_a = 0.1, σ_b = 0.5", "cautious, the same"], rows)
    return Section("Power", words, body, ())


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


def runs_table(rng: Generator, effort: Effort) -> Section:
    """True variances against the mean of their estimates before negative ones are set to zero."""
    rows: list[list[object]] = []
    findings: list[Finding] = []
    for design in RUNS:
        results = [analyse_runs(design, rng) for _ in range(effort.least)]
        scheme = "hierarchical" if design.sd_interaction is None else "common"
        row: list[object] = [scheme, design.training_sets]
        for source in SOURCES:
            true = true_variance(design, source)
            mean, error = (0.0, 0.0) if true is None else recovered(results, source)
            row.append("–" if true is None else f"{true:.2f}: {mean:.4f} ± {error:.4f}")
        cover, level = runs_coverage(results), runs_level(design, effort.few, rng)
        where = f"I = {design.training_sets}, R = 3, J = 50"
        findings.append(Finding(f"interval of several runs, {scheme}", where, cover, effort.least))
        findings.append(Finding(f"comparison of several runs, {scheme}", where, level, effort.few))
        rows.append([*row, cover, level])
    words = f"""Variance: true value, then mean of the estimates and its standard error, from
        {effort.least:,} Gaussian data sets per row with 3 runs and 50 test cases; per cent of 95 %
        intervals that hold the true mean, and of true hypotheses rejected at 5 % when a method of 3 runs
        is compared with one of a single run, from {effort.few:,} data sets (standard errors
        {margin(effort.least)} and {margin(effort.few)})."""
    body = table(["scheme", "I", *SOURCES.values(), "coverage", "level"], rows)
    return Section("Several runs with different seeds", words, body, tuple(findings))


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


def units_table(rng: Generator, effort: Effort) -> Section:
    """Coverage with dependent test cases, naive and pooled."""
    rows: list[list[object]] = []
    findings: list[Finding] = []
    count = effort.least
    for common in (True, False):
        for design in UNITS:
            cover = unit_coverage(design, rng, count, common=common)
            scheme, sizes = "common" if common else "hierarchical", f"{design.sizes[0]} or {design.sizes[1]}"
            where = f"I = 8, 60 units of {sizes} cases, large ones harder by {design.informative:g}"
            findings.append(Finding(f"interval of pooled units, {scheme}", where, cover[1], count))
            rows.append([scheme, sizes, design.informative, *cover])
    words = f"""Per cent of 95 % intervals that hold the true mean: 8 training sets, 60 units, whose cases
        share an effect of standard deviation 1 (and one of 0.5 for each training set) beside residuals of
        1. {count:,} simulations per entry; standard error {margin(count)} near 95 %."""
    head = ["scheme", "cases per unit", "large units harder by", "cases as units", "units pooled"]
    return Section("Dependent test cases", words, table(head, rows), tuple(findings))
