"""Predicted power against simulated experiments, and against the noncentral t."""

from collections.abc import Callable
from math import inf, sqrt

import numpy as np
import pytest
from benchmarks.calibration.simulation import Design, RunsDesign, draw_gaussian, draw_losses, draw_runs
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats as scipy_stats

from redelve.errors import StatisticsError
from redelve.stats import (
    analyse_runs_common,
    analyse_runs_hierarchical,
    compare_common,
    compare_hierarchical,
    compare_runs_common,
    compare_runs_hierarchical,
)
from redelve.stats.estimates import Components, estimate_components, estimate_components_of_runs
from redelve.stats.power import (
    GAUSSIAN,
    Goal,
    Needed,
    PlannedExperiment,
    cases_needed,
    detectable_difference,
    power,
    standard_error,
    training_sets_needed,
)

COMMON = Components("common", training_sets=0.01, residual=1.0, test_cases=0.04)
NESTED = Components("hierarchical", training_sets=0.01, residual=1.0)


def slack(rate: float, count: int) -> float:
    return 4 * sqrt(rate * (1 - rate) / count)


def components_of(design: Design, scheme: str) -> Components:
    variances = (design.sd_training**2, design.sd_residual**2, design.sd_test_cases**2)
    return Components(scheme, *variances)  # type: ignore[arg-type]


@pytest.mark.parametrize("training_sets", [2, 3, 8, 100])
@pytest.mark.parametrize("distance", [0.0, 1.0, 3.0, 6.0])
def test_hierarchical_power_is_the_noncentral_t(training_sets: int, distance: float) -> None:
    df = training_sets - 1
    t = float(scipy_stats.t.ppf(0.975, df))
    exact = scipy_stats.nct.sf(t, df, distance) + scipy_stats.nct.cdf(-t, df, distance)
    plan = PlannedExperiment(training_sets, 50)
    found = power(NESTED, plan, distance * standard_error(NESTED, plan))
    assert found.power == pytest.approx(float(exact), abs=1e-7)
    assert found.degrees_of_freedom == df


@pytest.mark.parametrize(
    "design",
    [
        Design(2, 200, 0.5, 0.5),
        Design(2, 200, 0.0, 0.1),
        Design(3, 50, 0.0, 1.0),
        Design(4, 100, 0.2, 0.3),
        Design(8, 200, 0.1, 0.1),
        Design(8, 20, 0.0, 2.0),
        Design(8, 200, 0.0, 0.0),
    ],
)
def test_common_power_is_that_of_simulated_experiments(design: Design) -> None:
    """Mean squares drawn from their joint law and put to the F-test of the analyses."""
    count = 100_000
    sample = draw_gaussian(design, count, np.random.default_rng(1))
    plan, components = PlannedExperiment(*design.shape), components_of(design, "common")
    assert standard_error(components, plan) == pytest.approx(design.sd_mean())
    for distance in (0.0, 1.5, 3.0):
        difference = distance * design.sd_mean()
        simulated = float(np.mean(sample.shifted(difference).f_test() < 0.05))
        predicted = power(components, plan, difference).power
        assert predicted == pytest.approx(simulated, abs=slack(simulated, count) + 5e-4)


@pytest.mark.parametrize("scheme", ["hierarchical", "common"])
def test_power_is_that_of_comparisons_of_drawn_losses(scheme: str) -> None:
    """The whole way: losses of two methods, compared as users compare them."""
    count, shape = 1000, (5, 40)
    design = Design(*shape, 0.2, 0.3 if scheme == "common" else 0.0)
    compare = compare_common if scheme == "common" else compare_hierarchical
    losses = draw_losses(design, count, np.random.default_rng(2), "gaussian")
    difference = 2.5 * design.sd_mean()
    base = np.random.default_rng(3).gamma(2.0, size=shape)
    found = [compare(table + difference + base, base).p_value for table in losses]
    simulated = float(np.mean([p is not None and p < 0.05 for p in found]))
    predicted = power(components_of(design, scheme), PlannedExperiment(*shape), difference).power
    assert predicted == pytest.approx(simulated, abs=slack(simulated, count))


@pytest.mark.parametrize("interaction", [0.4, None])
def test_runs_enter_power_as_they_enter_the_comparison(interaction: float | None) -> None:
    """Two methods with seeds of their own: their variances add up, and averaging over runs divides them."""
    design = RunsDesign(6, 3, 30, 0.2, 0.4, 0.3, interaction, 1.0)
    scheme, compare = (
        ("hierarchical", compare_runs_hierarchical)
        if interaction is None
        else ("common", compare_runs_common)
    )
    within = design.sd_test_cases**2 if interaction is None else interaction**2
    components = Components(
        scheme,  # type: ignore[arg-type]
        training_sets=2 * design.sd_training**2,
        residual=2 * within,
        test_cases=0.0 if interaction is None else 2 * design.sd_test_cases**2,
        seeds=2 * design.sd_seed**2,
        seeds_by_cases=2 * design.sd_residual**2,
    )
    plan = PlannedExperiment(design.training_sets, design.test_cases, design.runs)
    difference, rng, count = 2.5 * standard_error(components, plan), np.random.default_rng(4), 800
    found = []
    for _ in range(count):
        p = compare(draw_runs(design, rng) + difference, draw_runs(design, rng)).p_value
        found.append(p is not None and p < 0.05)
    simulated = float(np.mean(found))
    assert power(components, plan, difference).power == pytest.approx(simulated, abs=slack(simulated, count))


@pytest.mark.parametrize("components", [COMMON, NESTED])
def test_the_detectable_difference_has_the_power_asked_for(components: Components) -> None:
    plan = PlannedExperiment(6, 100)
    found = detectable_difference(components, plan, power=0.9, level=0.01)
    assert power(components, plan, found.difference, level=0.01).power == pytest.approx(0.9, abs=1e-6)
    assert found.difference_range == (found.difference, found.difference)
    assert found.standard_error == standard_error(components, plan)


@pytest.mark.parametrize("components", [COMMON, NESTED])
@pytest.mark.parametrize("difference", [0.12, 0.3, 0.6])
def test_the_number_needed_is_the_smallest_that_is_enough(components: Components, difference: float) -> None:
    searches: list[tuple[Needed, Callable[[int], PlannedExperiment]]] = [
        (
            training_sets_needed(components, PlannedExperiment(4, 100), Goal(difference)),
            lambda n: PlannedExperiment(n, 100),
        ),
        (
            cases_needed(components, PlannedExperiment(8, 10), Goal(difference)),
            lambda n: PlannedExperiment(8, n),
        ),
    ]
    for needed, plan_of in searches:
        if needed.number is None:
            assert power(components, plan_of(100_000), difference).power < 0.8
            continue
        assert power(components, plan_of(needed.number), difference).power >= 0.8
        if needed.number > 2:
            assert power(components, plan_of(needed.number - 1), difference).power < 0.8


def test_no_number_of_training_sets_makes_up_for_few_common_test_cases() -> None:
    few = training_sets_needed(COMMON, PlannedExperiment(8, 50), Goal(0.05))
    assert (few.number, few.of) == (None, "training sets")
    assert (
        cases_needed(COMMON, PlannedExperiment(8, 50), Goal(0.02)).number is None
    )  # nor the other way round
    assert cases_needed(COMMON, PlannedExperiment(40, 50), Goal(0.06)).number is not None


VARIANCES = st.sampled_from([0.0, 0.01, 0.2, 1.0])


@settings(max_examples=12)
@given(VARIANCES, VARIANCES, st.sampled_from([0.5, 1.0, 4.0]), st.sampled_from(["common", "hierarchical"]))
def test_power_grows_with_everything_that_should_help(
    training: float, cases: float, residual: float, scheme: str
) -> None:
    components = Components(scheme, training, residual, cases)  # type: ignore[arg-type]
    base = power(components, PlannedExperiment(5, 30), 0.5)
    assert 0 < base.power < 1
    assert power(components, PlannedExperiment(5, 30), 0.7).power > base.power
    assert power(components, PlannedExperiment(8, 30), 0.5).power > base.power - 1e-3
    assert power(components, PlannedExperiment(5, 60), 0.5).power > base.power - 1e-3
    assert power(components, PlannedExperiment(5, 30), 0.5, level=0.1).power > base.power
    assert power(components, PlannedExperiment(5, 30), -0.5).power == pytest.approx(base.power)


@settings(max_examples=15)
@given(st.floats(0.01, 100.0))
def test_units_do_not_matter(unit: float) -> None:
    scaled = Components("common", 0.01 * unit**2, unit**2, 0.04 * unit**2)
    plan = PlannedExperiment(6, 50)
    assert power(scaled, plan, 0.3 * unit).power == pytest.approx(power(COMMON, plan, 0.3).power, rel=1e-9)


def test_components_are_those_of_the_comparison() -> None:
    design = Design(6, 40, 0.5, 0.8)
    losses = draw_losses(design, 1, np.random.default_rng(5), "gaussian")[0]
    for compare in (compare_common, compare_hierarchical):
        inside = compare(losses, np.zeros_like(losses)).differences
        components = estimate_components(compare(losses, np.zeros_like(losses)))
        assert components.training_sets == pytest.approx((inside.sd_training or 0.0) ** 2)
        assert components.residual == pytest.approx((inside.sd_residual or 0.0) ** 2)
        assert components.test_cases == pytest.approx((inside.sd_test_cases or 0.0) ** 2)
        assert components.degrees_of_freedom == inside.degrees_of_freedom
        assert standard_error(components, PlannedExperiment(6, 40)) == pytest.approx(inside.standard_error)


def test_components_are_right_on_average() -> None:
    design = Design(6, 40, 0.5, 0.8)
    tables = draw_losses(design, 400, np.random.default_rng(6), "gaussian")
    found = [estimate_components(compare_common(table, np.zeros_like(table))) for table in tables]
    for name, expected in (("training_sets", 0.25), ("test_cases", 0.64), ("residual", 1.0)):
        assert float(np.mean([getattr(c, name) for c in found])) == pytest.approx(expected, rel=0.1)


@pytest.mark.parametrize("interaction", [0.6, None])
def test_components_of_runs_are_right_on_average(interaction: float | None) -> None:
    design, rng = RunsDesign(8, 3, 30, 0.8, 0.6, 0.7, interaction, 1.0), np.random.default_rng(7)
    nested = interaction is None
    compare = compare_runs_hierarchical if nested else compare_runs_common
    analyse = analyse_runs_hierarchical if nested else analyse_runs_common
    found = []
    for _ in range(150):
        first, second = draw_runs(design, rng), draw_runs(design, rng)
        found.append(estimate_components_of_runs(compare(first, second), analyse(first), analyse(second)))
    expected = {
        "training_sets": 2 * 0.64,
        "seeds": 2 * 0.36,
        "seeds_by_cases": 2.0,
        "residual": 2 * (0.49 if interaction is None else 0.36),
        "test_cases": 0.0 if nested else 2 * 0.49,
    }
    for name, value in expected.items():
        assert float(np.mean([getattr(c, name) for c in found])) == pytest.approx(value, rel=0.12)


def test_the_range_for_the_standard_error_covers() -> None:
    """It is a 95 % interval: with 5 degrees of freedom it holds the truth in 95 % of pilot experiments."""
    design, count = Design(6, 40, 0.5, 0.0), 1000
    tables = draw_losses(design, count, np.random.default_rng(8), "gaussian")
    truth, plan, covered = design.sd_mean(), PlannedExperiment(6, 40), 0
    for table in tables:
        components = estimate_components(compare_hierarchical(table, np.zeros_like(table)))
        low, high = power(components, plan, 1.0).standard_error_range
        covered += low <= truth <= high
    assert covered / count == pytest.approx(0.95, abs=slack(0.95, count))


def test_negative_and_missing_components_are_told() -> None:
    rng = np.random.default_rng(9)
    table = rng.normal(size=(4, 50))
    table -= table.mean(axis=1, keepdims=True) * 0.99
    components = estimate_components(compare_common(table, np.zeros_like(table)))
    assert components.training_sets == 0.0
    assert any("training sets is negative and is taken as zero" in c for c in components.caveats)
    single = estimate_components(compare_hierarchical([[1.0], [2.0], [4.0]], [[0.0], [0.0], [0.0]]))
    assert single.training_sets == pytest.approx(7 / 3)
    assert single.residual == 0.0
    assert any("one value per training set" in c for c in single.caveats)
    assert any("2 degrees of freedom" in c and "0.52 to 6.3 times" in c for c in single.caveats)


def test_caveats_of_the_planned_analysis_come_along() -> None:
    found = power(COMMON, PlannedExperiment(2, 20), 1.0)
    assert GAUSSIAN in found.caveats
    assert any("only 2 training sets" in caveat for caveat in found.caveats)


@pytest.mark.parametrize(
    ("components", "plan", "words"),
    [
        (COMMON, PlannedExperiment(1, 10), "two training sets"),
        (COMMON, PlannedExperiment(2, 1), r"test cases \(2\)"),
        (NESTED, PlannedExperiment(2, 10, 0), "a run"),
        (Components("common", 0.0, 0.0), PlannedExperiment(2, 10), "all be zero"),
    ],
)
def test_impossible_plans_are_refused(components: Components, plan: PlannedExperiment, words: str) -> None:
    with pytest.raises(StatisticsError, match=words):
        power(components, plan, 1.0)


def test_impossible_goals_are_refused() -> None:
    with pytest.raises(StatisticsError, match=r"level 0\.05 and power 0\.01"):
        detectable_difference(NESTED, PlannedExperiment(4, 10), power=0.01)
    with pytest.raises(StatisticsError, match=r"above 0: got -0\.1"):
        training_sets_needed(NESTED, PlannedExperiment(4, 10), Goal(-0.1))
    with pytest.raises(StatisticsError, match="level"):
        power(NESTED, PlannedExperiment(4, 10), 1.0, level=0.0)
    same = compare_hierarchical([[1.0, 2.0], [1.0, 2.0]], [[0.0, 1.0], [0.0, 1.0]])
    with pytest.raises(StatisticsError, match="no variance components: the losses do not vary"):
        estimate_components(same)


def test_assumed_variances_are_taken_as_known() -> None:
    found = power(COMMON, PlannedExperiment(8, 200), 0.1)
    assert COMMON.degrees_of_freedom == inf
    assert found.power_range == (found.power, found.power)


@pytest.mark.slow
@pytest.mark.parametrize("sd_training", [0.0, 0.1, 0.5])
@pytest.mark.parametrize("sd_test_cases", [0.0, 0.25, 1.0])
@pytest.mark.parametrize("shape", [(2, 200), (4, 50), (8, 200)])
def test_power_over_a_grid_of_designs(
    shape: tuple[int, int], sd_training: float, sd_test_cases: float
) -> None:
    count, design = 400_000, Design(*shape, sd_training, sd_test_cases)
    sample = draw_gaussian(design, count, np.random.default_rng(10))
    for distance in (0.0, 2.0, 4.0):
        difference = distance * design.sd_mean()
        simulated = float(np.mean(sample.shifted(difference).f_test() < 0.05))
        predicted = power(components_of(design, "common"), PlannedExperiment(*shape), difference).power
        assert predicted == pytest.approx(simulated, abs=slack(simulated, count) + 5e-4)
