"""Rank tests against Demšar's published example, against SciPy and by simulation."""

from itertools import permutations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats as scipy_stats

from redelve.errors import StatisticsError
from redelve.stats.mean_squares import FloatArray
from redelve.stats.multiple import holm
from redelve.stats.normal_range import range_quantile, range_tail
from redelve.stats.ranks import (
    EXACT_LIMIT,
    OTHERS,
    SYMMETRIC,
    count_wins,
    critical_difference,
    friedman,
    nemenyi,
    rank_methods,
    wilcoxon,
    wilcoxon_all,
)

# Demšar (2006, JMLR 7:1–30), table 6: AUC of C4.5, C4.5+m, C4.5+cf and C4.5+m+cf on 14 data sets. The third
# and fourth on `voting` are both printed as 0.975 but ranked 2 and 3, so they differed before rounding.
AUC = np.array(
    [
        [0.763, 0.768, 0.771, 0.798],
        [0.599, 0.591, 0.590, 0.569],
        [0.954, 0.971, 0.968, 0.967],
        [0.628, 0.661, 0.654, 0.657],
        [0.882, 0.888, 0.886, 0.898],
        [0.936, 0.931, 0.916, 0.931],
        [0.661, 0.668, 0.609, 0.685],
        [0.583, 0.583, 0.563, 0.625],
        [0.775, 0.838, 0.866, 0.875],
        [1.000, 1.000, 1.000, 1.000],
        [0.940, 0.962, 0.965, 0.962],
        [0.619, 0.666, 0.614, 0.669],
        [0.972, 0.981, 0.9752, 0.9748],
        [0.957, 0.978, 0.946, 0.970],
    ]
)
DEMSAR = 1 - AUC
TABLES = arrays(
    np.float64,
    st.tuples(st.integers(2, 7), st.integers(2, 5)),
    elements=st.integers(0, 5).map(lambda x: x / 8),
)


def test_friedman_gives_demsars_numbers() -> None:
    result = friedman(DEMSAR)
    assert [f"{rank:.3f}" for rank in result.mean_ranks] == ["3.143", "2.000", "2.893", "1.964"]
    assert f"{result.uncorrected_chi_square:.2f}" == "9.28"
    assert f"{result.uncorrected_f:.2f}" == "3.69"
    assert (result.df1, result.df2) == (3, 39)


def test_critical_differences_are_demsars() -> None:
    assert f"{critical_difference(4, 14):.2f}" == "1.25"
    assert f"{critical_difference(4, 14, level=0.10):.2f}" == "1.12"
    # 2.394 √(4·5/(6·14)); the paper cuts it off after two digits, 1.16
    assert critical_difference(4, 14, control=True) == pytest.approx(1.168, abs=5e-4)


# Demšar (2006), table 5: critical values for 2 to 10 methods. Some printed third digits are off by one.
NEMENYI = {
    0.05: (1.960, 2.343, 2.569, 2.728, 2.850, 2.949, 3.031, 3.102, 3.164),
    0.10: (1.645, 2.052, 2.291, 2.459, 2.589, 2.693, 2.780, 2.855, 2.920),
}
DUNN = {
    0.05: (1.960, 2.241, 2.394, 2.498, 2.576, 2.638, 2.690, 2.724, 2.773),
    0.10: (1.645, 1.960, 2.128, 2.241, 2.326, 2.394, 2.450, 2.498, 2.539),
}


@pytest.mark.parametrize("level", [0.05, 0.10])
def test_critical_values_are_those_of_demsars_table(level: float) -> None:
    for k in range(2, 11):
        unit = np.sqrt(k * (k + 1) / 6)
        assert critical_difference(k, 1, level=level) / unit == pytest.approx(NEMENYI[level][k - 2], abs=1e-3)
        if (k, level) != (9, 0.05):  # printed as 2.724; the normal quantile at 0.05/16 is 2.734
            dunn = critical_difference(k, 1, level=level, control=True) / unit
            assert dunn == pytest.approx(DUNN[level][k - 2], abs=1e-3)


@pytest.mark.parametrize("count", [2, 3, 10, 50])
def test_the_range_of_normal_variables_is_scipys(count: int) -> None:
    from scipy.stats import studentized_range

    widths = np.linspace(0.0, 8.0, 5)
    np.testing.assert_allclose(
        range_tail(widths, count), studentized_range.sf(widths, count, np.inf), atol=1e-9
    )
    assert float(range_tail(range_quantile(0.05, count), count)) == pytest.approx(0.05, abs=1e-12)


def test_nemenyi_concludes_as_demsar_does() -> None:
    # At 0.05 the data are not enough; at 0.10 C4.5 is worse than C4.5+m and C4.5+m+cf.
    assert nemenyi(DEMSAR).groups == ((3, 1, 2, 0),)
    wide = nemenyi(DEMSAR, level=0.10)
    assert wide.groups == ((3, 1, 2), (2, 0))
    significant = {(i, j) for i in range(4) for j in range(i) if wide.p_values[i][j] < 0.10}
    assert significant == {(1, 0), (3, 0)}


def test_wilcoxon_gives_demsars_numbers() -> None:
    # Table 2: C4.5+m against C4.5; R⁺ = 93, R⁻ = 12, significant at 0.05 as 12 is below the critical 21.
    result = wilcoxon(DEMSAR[:, 0], DEMSAR[:, 1])
    assert (result.second_better, result.first_better, result.statistic) == (93.0, 12.0, 12.0)
    assert (result.ties, result.tasks, result.method) == (2, 14, "exact")
    assert result.p_value is not None
    assert result.p_value < 0.05


def test_ties_by_rounding_error_are_ties() -> None:
    assert 0.3 - 0.1 != 0.2 - 0.0
    both = wilcoxon([0.3, 0.0, 0.9], [0.1, 0.2, 0.1])
    assert (both.second_better, both.first_better) == (4.5, 1.5)
    assert rank_methods([[0.1 + 0.2, 0.3], [0.3, 0.4]]).tolist() == [[1.5, 1.5], [1.0, 2.0]]


@given(TABLES)
def test_ranks_are_scipys(losses: FloatArray) -> None:
    assert np.array_equal(rank_methods(losses), scipy_stats.rankdata(losses, axis=1))


@given(TABLES.filter(lambda losses: losses.shape[1] > 2))
def test_friedman_with_ties_is_scipys(losses: FloatArray) -> None:
    result = friedman(losses)
    if result.chi_square is None:
        assert (losses == losses[:, :1]).all()
        assert result.p_value is None
        return
    expected = scipy_stats.friedmanchisquare(*losses.T)
    assert result.chi_square == pytest.approx(expected.statistic, abs=1e-9)
    assert result.chi_square_p_value is not None
    assert result.chi_square_p_value >= expected.pvalue - 1e-12


@given(TABLES, st.randoms(use_true_random=False))
def test_the_order_of_tasks_and_methods_does_not_matter(losses: FloatArray, random: object) -> None:
    rows, columns = list(range(losses.shape[0])), list(range(losses.shape[1]))
    random.shuffle(rows)  # type: ignore[attr-defined]
    random.shuffle(columns)  # type: ignore[attr-defined]
    one, two = friedman(losses), friedman(losses[rows][:, columns])
    assert two.p_value == pytest.approx(one.p_value, abs=1e-12)
    assert two.mean_ranks == pytest.approx([one.mean_ranks[j] for j in columns])


@given(TABLES)
def test_increasing_transformations_change_no_rank(losses: FloatArray) -> None:
    assert friedman(np.exp(3 * losses)).mean_ranks == friedman(losses).mean_ranks


def test_two_methods_make_friedmans_test_a_sign_test() -> None:
    losses = np.array([[1.0, 2.0]] * 9 + [[2.0, 1.0]] * 3)
    assert friedman(losses).chi_square == pytest.approx((9 - 3) ** 2 / 12)


def test_the_standard_error_of_mean_ranks_is_theirs_under_the_hypothesis() -> None:
    rng = np.random.default_rng(1)
    row = np.array([1.0, 2.0, 2.0, 3.0])
    losses = np.stack([row] * 6)
    means = [rank_methods(rng.permuted(losses, axis=1)).mean(axis=0) for _ in range(4000)]
    spread = float(np.std([mean[0] - mean[1] for mean in means]))
    assert friedman(losses).standard_error == pytest.approx(spread, rel=0.05)


@pytest.mark.parametrize("row", [(1.0, 2.0, 3.0), (1.0, 2.0, 2.0)])
def test_full_agreement_has_the_exact_p_value(row: tuple[float, ...]) -> None:
    """F is infinite then, but the exact chance is not zero: it is counted here over all arrangements."""
    arrangements = sorted(set(permutations(row)))
    statistics = [
        np.square(np.sum(rank_methods(table), axis=0) - 6).sum() for table in product(arrangements, repeat=3)
    ]
    exact = float(np.mean(np.array(statistics) >= max(statistics) - 1e-9))
    result = friedman([row] * 3)
    assert result.statistic == np.inf
    assert result.p_value == pytest.approx(exact)


def test_caveats_speak_of_the_other_methods_and_of_few_tasks() -> None:
    assert OTHERS in friedman(DEMSAR).caveats
    assert any("only 4 tasks" in caveat for caveat in nemenyi(DEMSAR[:4]).caveats)


def test_mean_ranks_change_when_another_method_enters() -> None:
    """The caveat is true: a third method decides which of the first two has the better mean rank."""
    losses = np.array([[1.0, 2.0]] * 3 + [[2.0, 1.0]] * 2)
    third = np.array([3.0, 3.0, 3.0, 1.5, 1.5])
    before = friedman(losses).mean_ranks
    after = friedman(np.column_stack((losses, third))).mean_ranks
    assert before[0] < before[1]
    assert after[0] >= after[1]


def test_everything_tied_has_no_test() -> None:
    assert friedman(np.ones((3, 3))).p_value is None
    assert wilcoxon(np.ones(4), np.ones(4)).p_value is None
    assert wilcoxon_all(np.ones((4, 3)))[0].adjusted_p_value is None


def test_infinite_losses_rank_last() -> None:
    assert rank_methods([[1.0, np.inf, np.inf], [3.0, 2.0, 1.0]])[0].tolist() == [1.0, 2.5, 2.5]
    result = wilcoxon([np.inf, 1.0, 5.0], [0.0, 2.0, 3.0])
    assert (result.second_better, result.first_better) == (5.0, 1.0)


@pytest.mark.parametrize(
    ("losses", "words"),
    [
        ([1.0, 2.0], "got shape"),
        ([[1.0, 2.0]], "two tasks"),
        ([[1.0, np.nan], [1.0, 2.0]], "method 1 on task 0"),
    ],
)
def test_bad_tables_are_refused(losses: list[object], words: str) -> None:
    with pytest.raises(StatisticsError, match=words):
        friedman(losses)  # type: ignore[arg-type]


def test_bad_pairs_are_refused() -> None:
    with pytest.raises(StatisticsError, match="two vectors"):
        wilcoxon([1.0, 2.0], [1.0])
    with pytest.raises(StatisticsError, match="task 1"):
        wilcoxon([1.0, np.nan], [1.0, 2.0])
    with pytest.raises(StatisticsError, match="two methods"):
        critical_difference(1, 5)
    with pytest.raises(StatisticsError, match="got 1 for 2"):
        count_wins([0.1, 0.2], [0.5])
    with pytest.raises(StatisticsError, match="not a number"):
        count_wins([float("nan")])


DIFFERENCES = st.lists(st.integers(-6, 6), min_size=2, max_size=10)


@given(DIFFERENCES)
def test_exact_p_values_are_those_of_all_sign_changes(differences: list[int]) -> None:
    z = np.array(differences, dtype=float)
    result = wilcoxon(z, np.zeros(z.size))
    ranks = scipy_stats.rankdata(np.abs(z))[z != 0]
    if not ranks.size:
        assert result.p_value is None
        return
    sums = np.array([ranks @ signs for signs in product((-1, 1), repeat=ranks.size)])
    observed = abs(float(ranks @ np.sign(z[z != 0])))
    assert result.p_value == pytest.approx(float(np.mean(np.abs(sums) >= observed - 1e-9)))


@pytest.mark.parametrize("tasks", [5, 12, 40])
def test_without_ties_the_exact_test_is_scipys(tasks: int) -> None:
    z = np.random.default_rng(tasks).normal(0.3, size=tasks)
    expected = scipy_stats.wilcoxon(z, method="exact").pvalue
    assert wilcoxon(z, np.zeros(tasks)).p_value == pytest.approx(expected, rel=1e-9)


def test_many_tasks_are_tested_by_the_normal_distribution() -> None:
    z = np.round(np.random.default_rng(2).normal(0.1, size=EXACT_LIMIT + 100), 1)
    result = wilcoxon(z, np.zeros(z.size))
    expected = scipy_stats.wilcoxon(z, zero_method="zsplit", method="approx")
    assert result.method == "normal"
    assert result.statistic == expected.statistic
    assert result.p_value == pytest.approx(expected.pvalue, rel=1e-3)  # SciPy leaves zeros in the variance


@given(DIFFERENCES)
def test_exchanging_the_methods_exchanges_the_rank_sums(differences: list[int]) -> None:
    z, zero = np.array(differences, dtype=float), np.zeros(len(differences))
    one, two = wilcoxon(z, zero), wilcoxon(zero, z)
    assert (one.second_better, one.first_better) == (two.first_better, two.second_better)
    assert one.second_better + one.first_better == len(differences) * (len(differences) + 1) / 2
    assert one.p_value == two.p_value


def test_pairs_of_columns_are_adjusted_together() -> None:
    pairs = wilcoxon_all(DEMSAR)
    assert [(pair.first, pair.second) for pair in pairs] == [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)]
    assert tuple(pair.adjusted_p_value for pair in pairs) == holm([pair.test.p_value for pair in pairs])


def test_wins_ties_and_losses_are_counted_by_sign_or_by_test() -> None:
    differences = [-0.2, 0.1, 0.0, -0.1]
    plain = count_wins(differences)
    assert (plain.wins, plain.ties, plain.losses) == (2, 1, 1)
    tested = count_wins(differences, [0.01, 0.2, None, 0.04], level=0.05)
    assert (tested.wins, tested.ties, tested.losses, tested.decided_by) == (2, 2, 0, "p < 0.05 on the task")


def rate(hits: list[bool]) -> float:
    return float(np.mean(hits))


SAFETY = 4  # standard errors of a simulated rate: no assertion hangs on the luck of the draw


def error(level: float, count: int) -> float:
    return float(np.sqrt(level * (1 - level) / count))


@pytest.mark.parametrize(("tasks", "methods"), [(5, 5), (10, 4), (20, 10)])
def test_friedmans_test_and_nemenyis_keep_their_level(tasks: int, methods: int) -> None:
    rng, count = np.random.default_rng([3, tasks]), 2000
    results = [friedman(rng.normal(size=(tasks, methods))) for _ in range(count)]
    widest = critical_difference(methods, tasks)
    f = rate([r.p_value is not None and r.p_value < 0.05 for r in results])
    chi_square = rate([r.chi_square_p_value is not None and r.chi_square_p_value < 0.05 for r in results])
    spread = rate([max(r.mean_ranks) - min(r.mean_ranks) >= widest for r in results])
    slack = SAFETY * error(0.05, count)
    assert 0.05 - slack < f < 0.06 + slack
    assert 0.035 - slack < chi_square < 0.05 + slack
    assert 0.035 - slack < spread < 0.055 + slack


@pytest.mark.parametrize("tasks", [6, 12, 30])
def test_wilcoxons_test_keeps_its_level(tasks: int) -> None:
    rng, count = np.random.default_rng([4, tasks]), 1000
    plain, tied = rng.normal(size=(count, tasks)), np.round(2 * rng.normal(size=(count, tasks))) / 2
    for table in (plain, tied):
        p_values = [wilcoxon(z, np.zeros(tasks)).p_value for z in table]
        assert rate([p is not None and p < 0.05 for p in p_values]) < 0.05 + SAFETY * error(0.05, count)


def test_skewed_differences_mislead_wilcoxons_test_as_its_caveat_says() -> None:
    rng = np.random.default_rng(7)
    found = [wilcoxon(rng.exponential(size=30) - 1, np.zeros(30)) for _ in range(500)]
    assert rate([p.p_value is not None and p.p_value < 0.05 for p in found]) == pytest.approx(0.16, abs=0.07)
    assert SYMMETRIC in found[0].caveats


def test_wilcoxon_with_holm_keeps_the_family_wise_error_rate() -> None:
    rng, found = np.random.default_rng(5), []
    for _ in range(500):
        pairs = wilcoxon_all(rng.normal(size=(12, 4)))
        found.append(min(pair.adjusted_p_value or 1.0 for pair in pairs) < 0.05)
    assert rate(found) < 0.05 + SAFETY * error(0.05, 500)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("tasks", "methods"), [(5, 3), (5, 5), (10, 3), (14, 4), (30, 5), (20, 10), (10, 20)]
)
def test_levels_of_rank_tests_in_large_simulations(tasks: int, methods: int) -> None:
    """The level of F stays below 6 %, that of χ² and of Nemenyi's test below 5.5 %."""
    rng, count = np.random.default_rng([6, tasks, methods]), 20_000
    results = [friedman(rng.normal(size=(tasks, methods))) for _ in range(count)]
    widest = critical_difference(methods, tasks)
    slack = SAFETY * error(0.05, count)
    assert rate([r.p_value is not None and r.p_value < 0.05 for r in results]) < 0.06 + slack
    assert rate([(r.chi_square_p_value or 1.0) < 0.05 for r in results]) < 0.055 + slack
    assert rate([max(r.mean_ranks) - min(r.mean_ranks) >= widest for r in results]) < 0.055 + slack
