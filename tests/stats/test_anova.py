"""Both loss models against DELVE's own numbers, against independent code, and at the edges."""

import tracemalloc
from collections.abc import Callable
from itertools import pairwise
from time import perf_counter

import numpy as np
import pytest
from scipy import stats as scipy_stats

from redelve.errors import StatisticsError
from redelve.stats import (
    Analysis,
    Comparison,
    analyse_common,
    analyse_hierarchical,
    compare_common,
    compare_hierarchical,
)
from redelve.stats.estimates import Scheme
from redelve.stats.families import pairs_of_sets, unmoderated
from redelve.stats.mean_squares import FloatArray

# Losses and results of DELVE 1.1's own engine (mstats), nine digits.
A = np.array([[1, 2, 4, 3], [2, 4, 7, 5], [1, 3, 3, 6]], dtype=float)
B = np.array([[2, 2, 5, 4], [2, 5, 6, 7], [3, 3, 5, 6]], dtype=float)

ANALYSES = (analyse_hierarchical, analyse_common)
COMPARISONS = (compare_hierarchical, compare_common)


def nine(*values: float | None) -> str:
    return " ".join(f"{value:.9g}" for value in values if value is not None)


def losses_like(mean: float, sd_training: float, sd_residual: float, shape: tuple[int, int]) -> FloatArray:
    """Losses whose hierarchical analysis has exactly these estimates."""
    rng = np.random.default_rng(0)
    training_sets, test_cases = shape
    a, e = rng.normal(size=(training_sets, 1)), rng.normal(size=shape)
    a, e = a - a.mean(), e - e.mean(axis=1, keepdims=True)
    e *= sd_residual / np.sqrt(np.square(e).sum() / (training_sets * (test_cases - 1)))
    ms_training = test_cases * sd_training**2 + sd_residual**2
    a *= np.sqrt(ms_training / test_cases / (np.square(a).sum() / (training_sets - 1)))
    return np.asarray(mean + a + e)


def test_hierarchical_analysis_gives_delve_numbers() -> None:
    result = analyse_hierarchical(A)
    found = nine(result.mean, result.sd_training, result.sd_residual, result.standard_error)
    assert found == "3.41666667 0.40824829 1.84842275 0.583333333"
    assert result.sd_test_cases is None


def test_common_analysis_gives_delve_numbers() -> None:
    result = analyse_common(A)
    sds = (result.sd_training, result.sd_residual)
    found = nine(result.mean, *sds, result.standard_error, result.sd_test_cases)
    assert found == "3.41666667 0.833333333 1.1426091 0.931694991 1.45296631"


def test_hierarchical_comparison_gives_delve_numbers() -> None:
    result = compare_hierarchical(A, B)
    inside = result.differences
    assert nine(result.mean_first, result.difference, result.mean_second) == "3.41666667 -0.75 4.16666667"
    assert inside.sd_training == 0.0
    assert nine(inside.sd_residual, result.standard_error, result.p_value) == (
        "1.040833 0.300462606 0.0350987186"
    )
    assert (result.test, result.df1, result.df2) == ("t-test", 1, 2)
    assert result.cautious_p_value == result.p_value


def test_common_comparison_gives_delve_numbers_and_its_quasi_f() -> None:
    result = compare_common(A, B)
    inside, quasi = result.differences, result.quasi_f
    assert (inside.sd_training, inside.sd_test_cases) == (0.0, 0.0)
    assert nine(inside.sd_residual, result.standard_error) == "1.21335165 0.35026445"
    assert quasi is not None
    assert nine(quasi.p_value, quasi.statistic, quasi.df1, quasi.df2) == (
        "0.00973705828 14.8 1.47211309 4.94845361"
    )


def test_transcript_of_lin_1_on_demo_age() -> None:
    # mstats -l S /lin-1/demo/age/std.128: expected loss, standard error, the two standard deviations.
    result = analyse_hierarchical(losses_like(400.729718, 40.8979934, 790.028701, (8, 128)))
    assert nine(result.mean, result.standard_error) == "400.729718 28.611146"
    assert nine(result.sd_training, result.sd_residual) == "40.8979934 790.028701"


def test_transcript_of_lin_1_compared_with_knn_cv_1() -> None:
    # mstats -l S -c knn-cv-1 /lin-1/demo/age/std.128: difference, standard error, deviations, significance.
    first = losses_like(32.7269508, 27.6978006, 323.514631, (8, 128))
    result = compare_hierarchical(first, np.zeros_like(first))
    assert nine(result.difference, result.standard_error) == "32.7269508 14.0749681"
    assert result.p_value == pytest.approx(0.0529880206, rel=2e-8)  # its inputs have nine digits


def two_way(losses: FloatArray) -> tuple[float, float, float]:
    """Mean squares by least squares on indicator columns: an independent route to the same table."""
    sets, cases = losses.shape
    rows = np.repeat(np.eye(sets), cases, axis=0)
    columns = np.tile(np.eye(cases), (sets, 1))
    y = losses.ravel()

    def explained(design: FloatArray) -> float:
        return float(np.square(design @ np.linalg.lstsq(design, y, rcond=None)[0]).sum())

    ones = explained(np.ones((y.size, 1)))
    a, b, both = explained(rows), explained(columns), explained(np.hstack([rows, columns]))
    dfs = (sets - 1, cases - 1, (sets - 1) * (cases - 1))
    return (a - ones) / dfs[0], (b - ones) / dfs[1], (float(y @ y) - both) / dfs[2]


def test_mean_squares_agree_with_least_squares() -> None:
    losses = np.random.default_rng(1).gamma(2.0, size=(5, 9)) + np.arange(5)[:, None]
    squares = analyse_common(losses).crossed_mean_squares()
    assert squares == pytest.approx(two_way(losses), rel=1e-10)


def test_hierarchical_comparison_is_the_t_test_on_row_means() -> None:
    rng = np.random.default_rng(2)
    first, second = rng.gamma(2.0, size=(6, 40)), rng.gamma(2.1, size=(6, 40))
    expected = scipy_stats.ttest_1samp((first - second).mean(axis=1), 0.0)
    result = compare_hierarchical(first, second)
    assert result.statistic == pytest.approx(expected.statistic, rel=1e-12)
    assert result.p_value == pytest.approx(expected.pvalue, rel=1e-10)
    low, high = expected.confidence_interval(0.9)
    assert result.interval(0.9) == pytest.approx((low, high), rel=1e-10)


def test_common_comparison_is_the_f_test() -> None:
    rng = np.random.default_rng(3)
    first = rng.normal(size=(5, 30)) + rng.normal(size=(5, 1)) + 2 * rng.normal(size=30)
    second = rng.normal(size=(5, 30))
    a, b, e = two_way(first - second)
    variance = a + b - e
    weighed = 6 / 4 * a
    df = (weighed + b - e) ** 2 / (weighed**2 / 4 + (b - e) ** 2 / 29)
    f = 150 * (first - second).mean() ** 2 / variance
    result = compare_common(first, second)
    assert b > e > 0
    assert (result.test, result.df1) == ("F-test", 1)
    assert (result.statistic, result.df2) == pytest.approx((f, df), rel=1e-10)
    assert result.p_value == pytest.approx(scipy_stats.f.sf(f, 1, df), rel=1e-10)
    half = scipy_stats.t.ppf(0.975, df) * np.sqrt(variance / 150)
    mean = (first - second).mean()
    assert result.interval() == pytest.approx((mean - half, mean + half), rel=1e-10)


def test_where_test_cases_do_not_vary_the_f_test_is_the_t_test() -> None:
    # MS_b < MS_ε here, so the denominator is MS_a alone.
    assert compare_common(A, B).p_value == pytest.approx(compare_hierarchical(A, B).p_value, rel=1e-12)


def test_equal_training_set_means_leave_the_degrees_of_freedom_of_test_cases() -> None:
    first = np.array([[0.0, 1.0, 2.0, 3.0, 9.0], [0.5, 0.5, 2.5, 2.5, 9.0]])
    result = compare_common(first, np.zeros_like(first))
    assert result.df2 == 4
    assert result.statistic is not None
    assert result.p_value == pytest.approx(scipy_stats.f.sf(result.statistic, 1, 4), rel=1e-12)
    assert result.cautious_p_value == pytest.approx(result.p_value, rel=1e-8)
    assert result.interval() is not None


@pytest.mark.parametrize("compare", COMPARISONS)
def test_a_list_of_vectors_gives_what_the_array_gives(compare: Callable[..., Comparison]) -> None:
    assert compare(list(A), [row.tolist() for row in B]) == compare(A, B)


@pytest.mark.parametrize("analyse", ANALYSES)
def test_a_large_offset_costs_no_digits(analyse: Callable[..., Analysis]) -> None:
    rng = np.random.default_rng(4)
    losses = np.round(rng.normal(size=(8, 70_000)) + 0.01 * rng.normal(size=(8, 1)), 6)
    losses = (losses + 1e9) - 1e9  # now exact after adding 1e9
    plain, offset = analyse(losses), analyse(losses + 1e9)
    for name in ("standard_error", "sd_training", "sd_test_cases", "sd_residual", "degrees_of_freedom"):
        one, two = getattr(plain, name), getattr(offset, name)
        assert (one is None) == (two is None)
        assert one is None or two == pytest.approx(one, rel=1e-9), name


def test_a_large_common_offset_cancels_in_a_comparison() -> None:
    rng = np.random.default_rng(5)
    first, second = (np.round(rng.normal(size=(4, 500)), 3) + 1e9 for _ in range(2))
    near = compare_common(first - 1e9, second - 1e9)
    assert compare_common(first, second).p_value == pytest.approx(near.p_value, rel=1e-9)


def test_dominant_test_cases_leave_the_residual_its_digits() -> None:
    rng = np.random.default_rng(6)
    residual = rng.normal(size=(4, 300))
    losses = residual + np.round(1e6 * rng.normal(size=300))
    found, expected = analyse_common(losses).sd_residual, analyse_common(residual).sd_residual
    assert found == pytest.approx(expected, rel=1e-8)


def test_blocks_do_not_change_the_result(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(7)
    first, second = rng.normal(size=(3, 101)), rng.normal(size=(3, 101))
    whole = compare_common(first, second)
    monkeypatch.setattr("redelve.stats.mean_squares.BLOCK", 21)
    parts = compare_common(first, second)
    assert parts.p_value == pytest.approx(whole.p_value, rel=1e-12)
    assert parts.standard_error == pytest.approx(whole.standard_error, rel=1e-12)
    monkeypatch.setattr("redelve.stats.mean_squares.BLOCK", 7)
    nested = compare_hierarchical(first, second)
    assert nested.differences.sd_residual == pytest.approx(
        np.sqrt((first - second).var(axis=1, ddof=1).mean()), rel=1e-12
    )


@pytest.mark.parametrize("compare", COMPARISONS)
def test_memory_stays_in_blocks(compare: Callable[..., Comparison]) -> None:
    first = np.random.default_rng(8).normal(size=(8, 400_000))
    second = first[:, ::-1].copy()
    compare(first[:, :10], second[:, :10])  # imports are not counted
    tracemalloc.start()
    compare(first, second)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < first.nbytes / 4


@pytest.mark.slow
def test_eight_million_losses_take_at_most_three_bare_passes() -> None:
    losses = np.random.default_rng(9).normal(size=(8, 1_000_000))

    def best(function: Callable[[], object]) -> float:
        times = []
        for _ in range(9):
            start = perf_counter()
            function()
            times.append(perf_counter() - start)
        return min(times)

    bare = best(lambda: (losses.mean(axis=1), losses.mean(axis=0), np.vdot(losses, losses)))
    assert best(lambda: analyse_common(losses)) <= 3 * bare


def test_rows_of_unequal_length_use_unweighted_means() -> None:
    rng = np.random.default_rng(10)
    rows = [rng.normal(size=size) for size in (5, 9, 20)]
    means = np.array([row.mean() for row in rows])
    result = analyse_hierarchical(rows)
    assert result.mean == pytest.approx(means.mean(), rel=1e-12)
    assert result.test_cases is None
    assert result.effective_test_cases == pytest.approx(3 / (1 / 5 + 1 / 9 + 1 / 20))
    within = sum(float(np.square(row - row.mean()).sum()) for row in rows) / (4 + 8 + 19)
    assert result.sd_residual == pytest.approx(np.sqrt(within), rel=1e-12)
    assert result.interval_standard_error == pytest.approx(means.std(ddof=1) / np.sqrt(3), rel=1e-12)
    assert any("differ in size" in caveat for caveat in result.caveats)


def test_components_of_unequal_rows_are_unbiased() -> None:
    # E[MS] of a quadratic form is the sum of its values on the columns of each term's design matrix.
    sizes = (2, 5, 3)
    starts = np.cumsum((0, *sizes))

    def squares_of(columns: FloatArray) -> tuple[float, float]:
        training = residual = 0.0
        for column in columns:
            found = analyse_hierarchical([column[a:b] for a, b in pairwise(starts)]).mean_squares
            assert found is not None
            assert found.residual is not None
            training, residual = training + found.training_sets, residual + found.residual
        return training, residual

    harmonic = 3 / sum(1 / size for size in sizes)
    assert squares_of(np.repeat(np.eye(3), sizes, axis=1)) == pytest.approx((harmonic, 0.0), abs=1e-12)
    assert squares_of(np.eye(10)) == pytest.approx((1.0, 1.0), rel=1e-12)


def test_one_value_per_training_set_is_enough_for_the_t_test() -> None:
    result = compare_hierarchical([[1.0], [2.0], [4.0]], [[0.0], [0.0], [0.0]])
    assert result.p_value == pytest.approx(scipy_stats.ttest_1samp([1.0, 2.0, 4.0], 0.0).pvalue, rel=1e-12)
    assert (result.differences.sd_training, result.differences.sd_residual) == (None, None)
    assert any("one value per training set" in caveat for caveat in result.caveats)


@pytest.mark.parametrize("analyse", ANALYSES)
def test_one_training_set_is_refused(analyse: Callable[..., Analysis]) -> None:
    with pytest.raises(StatisticsError, match="with fewer than two training sets: got 1"):
        analyse([[1.0, 2.0]])


def test_one_common_test_case_is_refused() -> None:
    with pytest.raises(StatisticsError, match="fewer than two common test cases: got 1"):
        analyse_common([[1.0], [2.0]])


def test_a_common_test_set_has_rows_of_one_length() -> None:
    with pytest.raises(StatisticsError, match=r"2 × \(2, 3\)"):
        analyse_common([[1.0, 2.0], [1.0, 2.0, 3.0]])


@pytest.mark.parametrize("analyse", ANALYSES)
def test_a_training_set_without_test_cases_is_refused(analyse: Callable[..., Analysis]) -> None:
    with pytest.raises(StatisticsError, match=r"2 × \(0, 1\)"):
        analyse([[], [1.0]])


def test_a_vector_is_not_a_table() -> None:
    with pytest.raises(StatisticsError, match=r"shape \(\) for training set 0"):
        analyse_common([1.0, 2.0, 3.0])  # type: ignore[arg-type]
    with pytest.raises(StatisticsError, match=r"shape \(2, 4\) .* for several runs"):
        analyse_common(np.ones((3, 2, 4)))


def test_losses_must_be_numbers() -> None:
    with pytest.raises(StatisticsError, match="table of numbers: could not convert string"):
        analyse_common([["1", "x"], ["2", "3"]])  # type: ignore[arg-type]


@pytest.mark.parametrize("compare", COMPARISONS)
def test_two_methods_must_have_the_same_shape(compare: Callable[..., Comparison]) -> None:
    with pytest.raises(StatisticsError, match="got 3 × 4 and 3 × 3"):
        compare(A, B[:, :3])


@pytest.mark.parametrize("compare", COMPARISONS)
def test_a_loss_that_is_not_a_number_is_named(compare: Callable[..., Comparison]) -> None:
    broken = B.copy()
    broken[1, 2] = np.nan
    with pytest.raises(StatisticsError, match="second method: the loss of training set 1, test case 2"):
        compare(A, broken)


@pytest.mark.parametrize("analyse", ANALYSES)
def test_an_infinite_loss_leaves_only_the_mean(analyse: Callable[..., Analysis]) -> None:
    losses = A.copy()
    losses[2, 0] = np.inf
    result = analyse(losses)
    assert result.mean == np.inf
    assert (result.standard_error, result.sd_residual, result.interval()) == (None, None, None)
    assert result.cautious_interval() is None
    assert result.caveats == ("1 infinite loss: nothing but the mean is defined",)


@pytest.mark.parametrize("compare", COMPARISONS)
def test_infinite_losses_of_both_methods_leave_no_difference(compare: Callable[..., Comparison]) -> None:
    first, second = A.copy(), B.copy()
    first[0, 1] = second[0, 1] = np.inf
    result = compare(first, second)
    assert (result.mean_first, result.mean_second) == (np.inf, np.inf)
    assert (result.difference, result.p_value, result.quasi_f, result.interval()) == (None,) * 4
    assert "2 infinite losses" in result.caveats[0]


@pytest.mark.parametrize("compare", COMPARISONS)
def test_a_method_compared_with_itself_has_no_p_value(compare: Callable[..., Comparison]) -> None:
    result = compare(A, A)
    assert (result.difference, result.p_value, result.cautious_p_value, result.quasi_f) == (
        0.0,
        None,
        None,
        None,
    )
    assert (result.interval(), result.statistic) == (None, None)
    assert "do not vary" in result.caveats[0]


@pytest.mark.parametrize("compare", COMPARISONS)
def test_a_constant_difference_has_no_p_value_made_of_rounding(compare: Callable[..., Comparison]) -> None:
    first = np.random.default_rng(11).normal(10.0, size=(4, 50))
    result = compare(first, first + 0.1)
    assert result.difference == pytest.approx(-0.1)
    assert (result.p_value, result.cautious_p_value, result.interval()) == (None, None, None)


@pytest.mark.parametrize("analyse", ANALYSES)
def test_a_faultless_classifier_has_no_interval_of_width_zero(analyse: Callable[..., Analysis]) -> None:
    result = analyse(np.zeros((4, 100)))
    assert (result.mean, result.standard_error, result.interval()) == (0.0, 0.0, None)
    assert "does not mean that the estimate is exact" in result.caveats[0]


@pytest.mark.parametrize("analyse", ANALYSES)
def test_squares_that_overflow_are_undefined(analyse: Callable[..., Analysis]) -> None:
    result = analyse(1e200 * A)
    assert result.mean == pytest.approx(1e200 * A.mean())
    assert result.standard_error is None
    assert "overflow" in result.caveats[0]
    assert analyse(np.full((2, 3), 1.5e308)).mean is None


def test_few_training_sets_are_said_beside_the_result() -> None:
    rng = np.random.default_rng(12)
    losses = rng.normal(size=(8, 60)) + 3 * rng.normal(size=(8, 1))
    for sets, said in ((2, True), (3, True), (4, False), (5, False), (8, False)):
        assert any("the cautious" in c for c in analyse_common(losses[:sets]).caveats) == said
        assert any("powerless" in c for c in analyse_hierarchical(losses[:sets]).caveats) == (sets < 4)
    assert analyse_common(losses).caveats == analyse_hierarchical(losses).caveats == ()


def test_few_test_cases_are_said_beside_the_result() -> None:
    losses = np.random.default_rng(13).normal(size=(8, 19)) + np.arange(8)[:, None]
    assert "only 19 test cases or units" in analyse_common(losses).caveats[0]
    assert analyse_hierarchical(losses).caveats == ()


def test_a_negative_variance_is_said_beside_the_result() -> None:
    assert any("negative" in caveat for caveat in compare_hierarchical(A, B).caveats)


@pytest.mark.parametrize("level", [0.0, 1.0, 95.0])
def test_a_level_outside_its_range_is_refused(level: float) -> None:
    with pytest.raises(StatisticsError, match="between 0 and 1"):
        analyse_common(A).interval(level)
    with pytest.raises(StatisticsError, match="between 0 and 1"):
        analyse_common(A).cautious_interval(level)


TIED = np.array([[1, -1, 0, 1, 0, 1, 0, 0], [-1, 1, 0, 1, 1, 0, 0, 0]], dtype=float)


@pytest.mark.parametrize("compare", COMPARISONS)
def test_training_set_means_that_tie_leave_what_the_residual_varies(
    compare: Callable[..., Comparison],
) -> None:
    """Both sets differ by 0.25 on average, and the cases vary: that is no exact difference."""
    result = compare(TIED, np.zeros_like(TIED))
    squares = result.differences.mean_squares
    assert squares is not None
    assert squares.residual is not None
    assert squares.training_sets == pytest.approx(0.0, abs=1e-30)
    error = np.sqrt(squares.residual / TIED.size)
    t = 0.25 / error
    expected = 2 * scipy_stats.t.sf(t, df=1)
    assert result.p_value == pytest.approx(expected, rel=1e-9)
    assert result.cautious_p_value == pytest.approx(expected, rel=1e-6)
    low, high = result.interval() or (np.nan, np.nan)
    assert (low + high) / 2 == pytest.approx(0.25)
    assert high - 0.25 == pytest.approx(error * scipy_stats.t.ppf(0.975, df=1))
    assert "tie although the losses vary" in result.caveats[-1]
    assert not any("do not vary" in caveat for caveat in result.caveats)


@pytest.mark.parametrize(
    ("compare", "scheme"), [(compare_common, "common"), (compare_hierarchical, "hierarchical")]
)
def test_tied_means_have_the_p_value_of_the_family(
    compare: Callable[..., Comparison], scheme: Scheme
) -> None:
    found = pairs_of_sets([list(TIED), list(np.zeros_like(TIED))], ([0], [1]), scheme)
    assert compare(TIED, np.zeros_like(TIED)).cautious_p_value == pytest.approx(
        float(unmoderated(found).p_values()[0]), rel=1e-9
    )


def test_tied_means_reject_equal_methods_no_more_often_than_they_say() -> None:
    """0–1 losses on few cases with two runs, where ties without another variance are common."""
    rng = np.random.default_rng(21)
    first, second = (rng.random((20_000, 2, 40)) < 0.1 for _ in range(2))
    differences = first.astype(float) - second
    means = differences.mean(axis=2)
    tied = differences[np.isclose(means[:, 0], means[:, 1])][:1500]
    found = [compare_common(table, np.zeros_like(table)) for table in tied]
    untied = [one.p_value for one in found if one.differences.is_tied]
    assert len(untied) > 300
    rejected = [p is not None and p < 0.05 for p in untied]
    assert np.mean(rejected) <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / len(untied))
