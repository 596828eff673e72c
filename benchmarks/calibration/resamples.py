"""Calibration of cross-validation with methods that really learn, and of predicted power."""

from __future__ import annotations

from math import sqrt

import numpy as np

from benchmarks.calibration.learning import (
    Learner,
    Resampling,
    draw_comparison,
    draw_nested,
    draw_single,
    expected_single,
    linear,
    nearest,
)
from benchmarks.calibration.sections import (
    Effort,
    Finding,
    Section,
    listing,
    margin,
    percent,
    rejections,
    table,
)
from benchmarks.calibration.simulation import Design, Generator, draw_gaussian, draw_losses
from redelve.stats.anova import compare_common, compare_hierarchical
from redelve.stats.bayesian_tests import correlated_t
from redelve.stats.estimates import Components, Interval, Scheme, estimate_components
from redelve.stats.power import PlannedExperiment, power
from redelve.stats.resampled import analyse_resampled, compare_resampled, nested_cross_validation

REPEATED = (Resampling(50, 10, 10), Resampling(100, 10, 10), Resampling(50, 5, 10))
ONCE = (Resampling(50, 10, 1), Resampling(50, 5, 1))
SPLITS = (Resampling(50, 10, 15, splits=True), Resampling(100, 5, 15, splits=True))
LEARNERS: dict[str, Learner] = {"linear regression": linear, "nearest neighbour": nearest}
DESIGNS = {"repeated folds": REPEATED, "one pass": ONCE, "random splits": SPLITS}


def resampled_levels(
    learn: Learner, design: Resampling, count: int, rng: Generator
) -> tuple[float, float, float]:
    """Per cent rejected by the corrected t, misses of its interval as a posterior, and wrong certainty.

    The last is that `correlated_t` gives one of two equal methods a probability above 0.95.
    """
    hits = np.zeros((count, 3))
    for hit in hits:
        first, second = draw_comparison(learn, design, rng)
        test = compare_resampled(first, second, ratio=design.ratio)
        posterior = correlated_t(first - second, ratio=design.ratio, rope=0.0)
        hit[0] = test.p_value is not None and test.p_value < 0.05
        hit[1] = _holds(posterior.interval(), 0.0)
        hit[2] = max(posterior.left or 0.0, posterior.right or 0.0) > 0.95
    found = (100 * hits.mean(axis=0)).tolist()
    return found[0], found[1], found[2]


def _holds(interval: Interval | None, value: float) -> bool:
    return interval is not None and interval[0] <= value <= interval[1]


def cross_validation(rng: Generator, effort: Effort) -> Section:
    """Levels of the corrected t and certainty of the correlated t, with two kinds of learner."""
    findings: list[Finding] = []
    for learner, learn in LEARNERS.items():
        for name, designs in DESIGNS.items():
            for design in designs:
                level, cover, certain = resampled_levels(learn, design, effort.few, rng)
                where = f"{learner}, {design.words()}"
                findings += [
                    Finding(f"corrected resampled t, {learner}, {name}", where, level, effort.few),
                    Finding(f"correlated Bayesian t, interval, {name}", where, cover, effort.few),
                    Finding(f"correlated Bayesian t, certainty, {name}", where, certain, effort.few),
                ]
    rows = [
        [findings[k].where, *(findings[k + i].percent for i in range(3))] for k in range(0, len(findings), 3)
    ]
    words = f"""Two equally good methods: y = x₁ + x₂ + noise, all Gaussian; the first method sees x₁, the
        second x₂. Per cent of data sets in which the corrected resampled t rejects at 5 %, in which the
        95 % interval of the correlated Bayesian t holds zero, and in which that gives one method a
        probability above 0.95 of being better (10 % would be exact). {effort.few:,} data sets per line;
        standard error {margin(effort.few)} near 5 %, {margin(effort.few, 12.0)} near 12 %."""
    head = ["method, resamples", "corrected t", "Bayesian interval", "Bayesian certainty"]
    return Section("Cross-validation: comparisons", words, table(head, rows), tuple(findings))


def single_coverage(design: Resampling, count: int, rng: Generator) -> float:
    """Coverage of `analyse_resampled` for the expected loss of least squares."""
    truth = expected_single(design)
    losses = (draw_single(design, rng) for _ in range(count))
    return percent([_holds(analyse_resampled(x, ratio=design.ratio).interval(), truth) for x in losses])


def nested_coverage(
    design: Resampling, inputs: int, count: int, rng: Generator, *, skewed: bool = False
) -> tuple[float, float]:
    """Coverage of nested and of plain cross-validation for the loss of the fit to all cases."""
    hits = np.zeros((count, 2))
    for hit in hits:
        drawn = draw_nested(design, inputs, rng, skewed=skewed)
        hit[0] = _holds(nested_cross_validation(drawn.inner, drawn.outer).interval(), drawn.truth)
        errors = np.concatenate(drawn.outer[0])
        hit[1] = abs(errors.mean() - drawn.truth) <= 1.96 * errors.std(ddof=1) / sqrt(design.cases)
    found = (100 * hits.mean(axis=0)).tolist()
    return found[0], found[1]


NESTED = (
    (Resampling(50, 5, 20), 5, False),
    (Resampling(100, 10, 10), 5, False),
    (Resampling(60, 10, 10), 20, False),
    (Resampling(60, 10, 10), 5, True),
)


def cross_validated_intervals(rng: Generator, effort: Effort) -> Section:
    """Coverage of the intervals for one method."""
    findings = [
        Finding(
            "interval of resamples, least squares", d.words(), single_coverage(d, effort.few, rng), effort.few
        )
        for d in (*ONCE[:1], *REPEATED[:2], *SPLITS[:1])
    ]
    count = effort.least // 2
    for design, inputs, skewed in NESTED:
        nested, plain = nested_coverage(design, inputs, count, rng, skewed=skewed)
        name, where = "skewed noise" if skewed else "Gaussian noise", f"{design.words()}, {inputs} inputs"
        findings.append(Finding(f"nested cross-validation, {name}", where, nested, count))
        findings.append(Finding("plain cross-validation (not offered)", f"{where}, {name}", plain, count))
    words = f"""Per cent of 95 % intervals that hold the truth, least squares on Gaussian inputs. For
        `analyse_resampled` that is the expected loss at the training-set size of the folds; for nested
        cross-validation the loss of the fit to these cases. Standard errors {margin(effort.few)}
        ({effort.few:,} data sets) and {margin(count)} ({count:,})."""
    return Section("Cross-validation: intervals", words, listing(findings, "coverage"), tuple(findings))


POWERED = (
    Design(2, 200, 0.5, 0.5),
    Design(3, 50, 0.0, 1.0),
    Design(4, 100, 0.2, 0.3),
    Design(8, 200, 0.1, 0.1),
    Design(8, 20, 0.0, 2.0),
)


def predicted_power(rng: Generator, effort: Effort) -> Section:
    """Power as it is predicted and as it turns out, and the range given for a standard error."""
    rows: list[list[object]] = []
    findings: list[Finding] = []
    schemes: tuple[Scheme, Scheme] = ("hierarchical", "common")
    for scheme in schemes:
        for each in POWERED:
            design = each if scheme == "common" else Design(*each.shape, each.sd_training, 0.0)
            for distance in (1.5, 3.0):
                said, true = _powers(design, scheme, distance, effort.many, rng)
                where = f"I = {design.training_sets}, J = {design.test_cases}, {distance:g} standard errors"
                findings.append(Finding(f"power, {scheme}", where, said - true, effort.many))
                rows.append([scheme, where, f"{said:.2f}", f"{true:.2f}", f"{said - true:+.2f}"])
    for scheme in schemes:
        cover = scale_coverage(scheme, effort.least // 2, rng)
        where = "I = 6, J = 40, σ_a = 0.5" + (", σ_b = 0.8" if scheme == "common" else "")
        findings.append(Finding(f"range of a standard error, {scheme}", where, cover, effort.least // 2))
        rows.append(
            [scheme, f"range of the standard error, {where}", "95", f"{cover:.1f}", f"{95 - cover:+.1f}"]
        )
    words = f"""Per cent: the power that `power` predicts from the true variances for a test at 5 %, and
        that of {effort.many:,} simulated experiments (standard error at most
        {margin(effort.many, 50.0)}); then how often the 95 % range that a pilot experiment gives for a
        true standard error holds it ({effort.least // 2:,} pilots)."""
    body = table(["scheme", "setting", "predicted", "achieved", "difference"], rows)
    return Section("Predicted power", words, body, tuple(findings))


def _powers(
    design: Design, scheme: Scheme, distance: float, count: int, rng: Generator
) -> tuple[float, float]:
    variances = (design.sd_training**2, design.sd_residual**2, design.sd_test_cases**2)
    difference = distance * design.sd_mean()
    said = power(Components(scheme, *variances), PlannedExperiment(*design.shape), difference).power
    sample = draw_gaussian(design, count, rng).shifted(difference)
    return 100 * said, rejections(sample.f_test() if scheme == "common" else sample.t_test())


def scale_coverage(scheme: Scheme, count: int, rng: Generator) -> float:
    """How often the range for the standard error of the same plan holds the true one."""
    common = scheme == "common"
    design, compare = (
        Design(6, 40, 0.5, 0.8 if common else 0.0),
        compare_common if common else compare_hierarchical,
    )
    zero, plan, hits = np.zeros(design.shape), PlannedExperiment(*design.shape), []
    for table_ in draw_losses(design, count, rng, "gaussian"):
        found = power(estimate_components(compare(table_, zero)), plan, 1.0).standard_error_range
        hits.append(found[0] <= design.sd_mean() <= found[1])
    return percent(hits)
