"""Several runs per training set: expected mean squares, components, and the comparison of run averages."""

from collections.abc import Callable

import numpy as np
import pytest
from benchmarks.calibration.one_task import (
    SOURCES,
    analyse_runs,
    recovered,
    runs_coverage,
    runs_level,
    true_variance,
)
from benchmarks.calibration.simulation import RunsDesign

from redelve.errors import StatisticsError
from redelve.stats import (
    RunsAnalysis,
    analyse_common,
    analyse_hierarchical,
    analyse_runs_common,
    analyse_runs_hierarchical,
    compare_common,
    compare_hierarchical,
    compare_runs_common,
    compare_runs_hierarchical,
)
from redelve.stats.mean_squares import FloatArray

SETS, R, J = 3, 2, 4
COMMON = RunsDesign(5, 3, 20, 0.3, 0.4, 0.8, 0.5, 1.0)
HIERARCHICAL = RunsDesign(5, 3, 20, 0.3, 0.4, 0.8, None, 1.0)


def columns_of(*factors: FloatArray | None) -> FloatArray:
    """Design matrix of a term over (i, r, j), one table per column; None marks a factor left out."""
    ones = (np.ones((SETS, 1)), np.ones((R, 1)), np.ones((J, 1)))
    chosen = [one if factor is None else factor for factor, one in zip(factors, ones, strict=True)]
    return np.asarray(np.einsum("ia,rb,jc->abcirj", *chosen).reshape(-1, SETS, R, J))


A, S, B = np.eye(SETS), np.eye(R), np.eye(J)
COMMON_TERMS = {
    "training_sets": columns_of(A, None, None),
    "seeds": columns_of(A, S, None),
    "test_cases": columns_of(None, None, B),
    "interaction": columns_of(A, None, B),
    "residual": columns_of(A, S, B),
}
HIERARCHICAL_TERMS = {
    "training_sets": columns_of(A, None, None),
    "seeds": columns_of(A, S, None),
    "test_cases": columns_of(A, None, B),
    "residual": columns_of(A, S, B),
}
# Expected mean squares as derived in docs/statistics.md: a row per mean square, a column per variance.
COMMON_EXPECTED = {
    "training_sets": [R * J, J, 0, R, 1],
    "seeds": [0, J, 0, 0, 1],
    "test_cases": [0, 0, SETS * R, R, 1],
    "interaction": [0, 0, 0, R, 1],
    "residual": [0, 0, 0, 0, 1],
}
HIERARCHICAL_EXPECTED = {
    "training_sets": [R * J, J, R, 1],
    "seeds": [0, J, 0, 1],
    "test_cases": [0, 0, R, 1],
    "residual": [0, 0, 0, 1],
}
SCHEMES = (
    (analyse_runs_common, COMMON_TERMS, COMMON_EXPECTED),
    (analyse_runs_hierarchical, HIERARCHICAL_TERMS, HIERARCHICAL_EXPECTED),
)


def expected(analyse: Callable[..., RunsAnalysis], columns: FloatArray, part: str, name: str) -> float:
    """Expectation of a quadratic form in unit-variance effects: the sum over the columns of their design."""
    return float(sum(getattr(getattr(analyse(column), part), name) for column in columns))


@pytest.mark.parametrize(("analyse", "terms", "table"), SCHEMES)
def test_expected_mean_squares_are_those_derived(
    analyse: Callable[..., RunsAnalysis], terms: dict[str, FloatArray], table: dict[str, list[float]]
) -> None:
    for name, row in table.items():
        found = [expected(analyse, columns, "mean_squares", name) for columns in terms.values()]
        assert found == pytest.approx(row, abs=1e-12), name


@pytest.mark.parametrize(("analyse", "terms", "table"), SCHEMES)
def test_variance_estimates_are_unbiased(
    analyse: Callable[..., RunsAnalysis], terms: dict[str, FloatArray], table: dict[str, list[float]]
) -> None:
    for name in table:
        found = [expected(analyse, columns, "variances", name) for columns in terms.values()]
        assert found == pytest.approx([float(term == name) for term in terms], abs=1e-12), name


def test_variance_estimates_are_unbiased_for_test_sets_of_unequal_size() -> None:
    sizes = (2, 5, 3)
    owner = np.repeat(np.arange(3), sizes)

    def estimates(tables: FloatArray) -> list[float]:
        results = [analyse_runs_hierarchical([t[:, owner == i] for i in range(3)]).variances for t in tables]
        names = ("training_sets", "seeds", "test_cases", "residual")
        return [sum(getattr(result, name) for result in results) for name in names]

    in_set = (owner[None, :] == np.arange(3)[:, None]).astype(float)
    training = np.repeat(in_set[:, None, :], 2, axis=1)
    seeds = np.einsum("an,br->abrn", in_set, np.eye(2)).reshape(6, 2, 10)
    cases = np.repeat(np.eye(10)[:, None, :], 2, axis=1)
    residual = np.einsum("cn,br->cbrn", np.eye(10), np.eye(2)).reshape(20, 2, 10)
    for k, tables in enumerate((training, seeds, cases, residual)):
        assert estimates(tables) == pytest.approx(np.eye(4)[k], abs=1e-12)


@pytest.fixture(scope="module", params=[COMMON, HIERARCHICAL], ids=["common", "hierarchical"])
def simulated(request: pytest.FixtureRequest) -> tuple[RunsDesign, list[RunsAnalysis]]:
    design: RunsDesign = request.param
    rng = np.random.default_rng(1)
    return design, [analyse_runs(design, rng) for _ in range(1500)]


def test_known_components_are_recovered(simulated: tuple[RunsDesign, list[RunsAnalysis]]) -> None:
    design, results = simulated
    for source in SOURCES:
        true = true_variance(design, source)
        if true is not None:
            mean, error = recovered(results, source)
            assert abs(mean - true) < 3 * error, source
    assert 93 < runs_coverage(results) < 97  # standard error 0.56


@pytest.mark.parametrize("design", [COMMON, HIERARCHICAL])
def test_comparisons_of_runs_keep_their_level(design: RunsDesign) -> None:
    assert 2.5 < runs_level(design, 1000, np.random.default_rng(2)) < 7.8  # standard error 0.7


def test_standard_error_is_right_on_average(simulated: tuple[RunsDesign, list[RunsAnalysis]]) -> None:
    results = simulated[1]
    means = np.array([result.mean for result in results], dtype=float)
    variances = np.square(np.array([result.standard_error for result in results], dtype=float))
    # Negative variances set to zero make the standard error a little too large, never too small.
    assert 0.95 < variances.mean() / means.var() < 1.25


def test_interval_and_test_are_those_of_the_run_averages() -> None:
    rng = np.random.default_rng(3)
    first, second = rng.normal(size=(5, 3, 60)), rng.normal(size=(5, 2, 60))
    averages = first.mean(axis=1), second.mean(axis=1)
    assert analyse_runs_common(first).interval() == analyse_common(averages[0]).interval()
    assert analyse_runs_hierarchical(first).interval() == analyse_hierarchical(averages[0]).interval()
    assert analyse_runs_common(first).cautious_interval() == analyse_common(averages[0]).cautious_interval()
    assert compare_runs_common(first, second).p_value == compare_common(*averages).p_value
    assert compare_runs_hierarchical(first, second).p_value == compare_hierarchical(*averages).p_value


def test_a_comparison_says_that_it_averages_runs() -> None:
    rng = np.random.default_rng(4)
    for compare in (compare_runs_common, compare_runs_hierarchical):
        result = compare(rng.normal(size=(5, 3, 60)), rng.normal(size=(5, 1, 60)))
        assert any("averaged over the runs" in caveat for caveat in result.caveats)


def test_negative_variances_are_named() -> None:
    result = analyse_runs_common(np.random.default_rng(5).normal(size=(8, 3, 60)))
    assert result.variances is not None
    assert result.variances.training_sets < 0
    assert result.sd_training == 0.0
    assert any("estimated for training sets" in caveat for caveat in result.caveats)


@pytest.mark.parametrize("analyse", [analyse_runs_common, analyse_runs_hierarchical])
def test_a_single_run_is_refused(analyse: Callable[..., RunsAnalysis]) -> None:
    with pytest.raises(StatisticsError, match=r"seeds .* got 1; use analyse_hierarchical or analyse_common"):
        analyse(np.ones((3, 1, 5)))


def test_runs_must_be_balanced() -> None:
    with pytest.raises(StatisticsError, match=r"\(2, 5\), \(3, 5\)"):
        analyse_runs_common([np.ones((3, 5)), np.ones((2, 5))])
    with pytest.raises(StatisticsError, match="fewer than two training sets"):
        analyse_runs_common(np.ones((1, 2, 5)))


def test_an_infinite_loss_leaves_only_the_mean() -> None:
    losses = np.ones((3, 2, 5))
    losses[1, 1, 4] = np.inf
    result = analyse_runs_common(losses)
    assert (result.mean, result.standard_error, result.interval()) == (np.inf, None, None)


def test_a_loss_that_is_not_a_number_is_named() -> None:
    losses = np.ones((3, 2, 5))
    losses[2, 1, 3] = np.nan
    with pytest.raises(StatisticsError, match="training set 2, run 1, test case 3"):
        analyse_runs_common(losses)
