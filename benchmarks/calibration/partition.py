"""Calibration of what is said of one training and one test set: PROBEN1's tests over runs, and ours."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from benchmarks.calibration.sections import Effort, Finding, Section, listing, margin, percent, rejections
from benchmarks.calibration.simulation import Design, Generator, draw_losses
from redelve.stats.many_runs import cochran_cox, compare_runs, normality
from redelve.stats.mean_squares import FloatArray
from redelve.stats.one_partition import analyse_partition, compare_partition

SIZES = ((10, 10), (30, 30), (60, 60), (10, 30), (30, 10))
RATIOS = (1.0, 2.0, 4.0)
RUNS = (10, 30, 60)
PARTITIONS = (
    Design(1, 50, 0.0, 1.0, 0.0),
    Design(1, 200, 0.0, 1.0, 0.0),
    Design(2, 200, 0.1, 0.5),
    Design(10, 50, 0.2, 0.5),
    Design(10, 200, 0.1, 0.5),
    Design(30, 200, 0.5, 0.1),
)
Errors = Callable[[Generator, int], FloatArray]


def log_normal(rng: Generator, runs: int) -> FloatArray:
    """Errors of runs whose logs are normal."""
    return np.exp(0.1 * rng.standard_normal(runs))


def with_outliers(rng: Generator, runs: int) -> FloatArray:
    """The same, but a run in 25 goes wrong by half."""
    return log_normal(rng, runs) * np.where(rng.random(runs) < 0.04, 1.5, 1.0)


def skewed(rng: Generator, runs: int) -> FloatArray:
    """Errors whose logs are exponential."""
    return np.exp(0.1 * rng.standard_exponential(runs))


SAMPLES: dict[str, Errors] = {
    "log-normal errors": log_normal,
    "a run in 25 goes wrong": with_outliers,
    "skewed log errors": skewed,
}


def cochran_cox_measured(
    sizes: tuple[int, int], ratio: float, count: int, rng: Generator
) -> tuple[float, float]:
    """Level of Cochran and Cox's test, and coverage of its interval."""
    p_values, hits = np.empty(count), np.empty(count)
    for k in range(count):
        found = cochran_cox(rng.standard_normal(sizes[0]), ratio * rng.standard_normal(sizes[1]))
        low, high = found.interval() or (0.0, 0.0)
        p_values[k], hits[k] = found.p_value, low <= 0 <= high
    return rejections(p_values), percent(hits)


def comparison_level(draw: Errors, runs: int, count: int, rng: Generator) -> float:
    """Level of PROBEN1's whole procedure on runs of two equal methods."""
    pairs = ((draw(rng, runs), draw(rng, runs)) for _ in range(count))
    return rejections(np.array([compare_runs(*pair).p_value for pair in pairs], dtype=np.float64))


def normality_level(runs: int, count: int, rng: Generator) -> float:
    """How often a normal sample is taken for one that is not."""
    samples = (rng.standard_normal(runs) for _ in range(count))
    return rejections(np.array([normality(sample).p_value for sample in samples], dtype=np.float64))


def between_training_sets(share: float, runs: int, count: int, rng: Generator) -> float:
    """How often equal methods differ over runs if training sets matter `share` times as much as seeds."""
    p_values = np.empty(count)
    for k in range(count):
        means = share * rng.standard_normal(2)
        samples = [mean + rng.standard_normal(runs) for mean in means]
        p_values[k] = cochran_cox(*samples).p_value
    return rejections(p_values)


def partition_measured(design: Design, count: int, rng: Generator) -> tuple[float, float]:
    """Coverage for one method and level of a comparison, for new seeds and test cases."""
    losses = draw_losses(design, 2 * count, rng, "gaussian")
    intervals = [analyse_partition(table).interval() or (np.inf, -np.inf) for table in losses[:count]]
    pairs = zip(losses[:count], losses[count:], strict=True)
    p_values = np.array([compare_partition(*pair).p_value for pair in pairs], dtype=np.float64)
    return percent([low <= 0 <= high for low, high in intervals]), rejections(p_values)


def runs_section(rng: Generator, effort: Effort) -> Section:
    """PROBEN1's tests over runs."""
    findings: list[Finding] = []
    for sizes in SIZES:
        for ratio in RATIOS:
            level, cover = cochran_cox_measured(sizes, ratio, effort.some, rng)
            where = f"{sizes[0]} and {sizes[1]} runs, ratio {ratio:g}"
            findings.append(Finding("Cochran and Cox's t-test", where, level, effort.some))
            findings.append(Finding("interval of Cochran and Cox", where, cover, effort.some))
    for runs in RUNS:
        level = normality_level(runs, effort.some, rng)
        findings.append(Finding("Shapiro and Wilk's test", f"{runs} runs", level, effort.some))
        for words, draw in SAMPLES.items():
            level = comparison_level(draw, runs, effort.few, rng)
            findings.append(Finding(f"PROBEN1's comparison, {words}", f"{runs} runs", level, effort.few))
    for share in (0.5, 1.0):
        where = f"30 runs, σ of training sets {share:g} times that of seeds"
        level = between_training_sets(share, 30, effort.some, rng)
        findings.append(
            Finding("test over runs, taken for one over training sets", where, level, effort.some)
        )
    words = f"""Per cent of true hypotheses rejected at 5 %, and of 95 % intervals that hold the truth, where
        the unit is a run; *ratio* is that of the second method's standard deviation to the first's. Errors
        have a spread of about a tenth. The last rows show what becomes of the test when it is taken for one
        about training sets, which it is not: two methods are then equal over training sets, but not on the
        one that all runs share. Standard errors {margin(effort.some)}, of PROBEN1's comparison
        {margin(effort.few)}."""
    return Section("Many runs on one partition", words, listing(findings, "per cent"), tuple(findings))


def partition_section(rng: Generator, effort: Effort) -> Section:
    """Our own analysis of one partition."""
    findings: list[Finding] = []
    for design in PARTITIONS:
        cover, level = partition_measured(design, effort.few, rng)
        runs = "1 run" if design.training_sets == 1 else f"{design.training_sets} runs"
        where = f"{runs}, J = {design.test_cases}, σ_b = {design.sd_test_cases:g}"
        if design.training_sets > 1:
            where += f", σ of seeds {design.sd_training:g}"
        findings.append(Finding("interval, one partition", where, cover, effort.few))
        findings.append(Finding("comparison, one partition", where, level, effort.few))
    words = f"""Coverage and level for new seeds and new test cases with the same training set, Gaussian
        losses. {effort.few:,} simulations per entry; standard error {margin(effort.few)}."""
    return Section("One partition", words, listing(findings, "per cent"), tuple(findings))
