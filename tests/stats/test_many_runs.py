"""PROBEN1's statistics over many runs, against scipy, by hand and by simulation (sections 2.8 and 3.3.4)."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from redelve.errors import StatisticsError
from redelve.stats.many_runs import (
    ONE_PARTITION,
    Normality,
    best_run,
    better_half,
    cochran_cox,
    compare_runs,
    log_errors,
    normality,
    remove_outliers,
    summarise_runs,
    usual_number_of_runs,
)


def normal_sample(size: int, seed: int = 0) -> np.ndarray:
    """Values at the quantiles of a normal distribution, shuffled: as normal as can be."""
    values = stats.norm.ppf((np.arange(size) + 0.5) / size)
    return np.random.default_rng(seed).permutation(values)


class TestSummary:
    def test_against_numpy(self) -> None:
        rng = np.random.default_rng(0)
        errors, validation = rng.random(30), rng.random(30)
        found = summarise_runs(errors, validation)
        assert found.mean == pytest.approx(errors.mean())
        assert found.standard_deviation == pytest.approx(np.sqrt(((errors - errors.mean()) ** 2).sum() / 29))
        assert found.quartiles == pytest.approx(np.percentile(errors, [0, 25, 50, 75, 100]))
        assert (found.minimum, found.median, found.maximum) == pytest.approx(
            (errors.min(), np.median(errors), errors.max())
        )
        assert found.correlation == pytest.approx(stats.pearsonr(errors, validation)[0])

    def test_the_best_run_is_chosen_by_validation_error_not_by_test_error(self) -> None:
        found = summarise_runs([1.0, 9.0, 2.0], validation_errors=[0.3, 0.1, 0.2])
        assert found.best is not None
        assert (found.best.run, found.best.criterion, found.best.test_error) == (1, 0.1, 9.0)
        assert summarise_runs([1.0, 2.0]).best is None

    def test_of_equal_runs_the_first_is_best(self) -> None:
        assert best_run([5.0, 4.0], [0.1, 0.1]).run == 0

    def test_one_run_has_no_standard_deviation(self) -> None:
        found = summarise_runs([2.0], [1.0])
        assert (found.standard_deviation, found.correlation) == (None, None)

    def test_constant_errors_have_no_correlation(self) -> None:
        assert summarise_runs([2.0, 2.0], [1.0, 2.0]).correlation is None

    def test_bad_samples_are_refused(self) -> None:
        with pytest.raises(StatisticsError, match=r"run 1 \(from 0\) has the value nan"):
            summarise_runs([1.0, np.nan])
        with pytest.raises(StatisticsError, match="2 test errors but 1 values"):
            summarise_runs([1.0, 2.0], [1.0])
        with pytest.raises(StatisticsError, match="one number for each run"):
            summarise_runs([])


class TestHalf:
    def test_exactly_half_is_kept_by_the_criterion(self) -> None:
        assert better_half([5.0, 1.0, 4.0, 2.0, 3.0, 9.0]).tolist() == [1, 3, 4]

    def test_ties_keep_the_earlier_run(self) -> None:
        assert better_half([1.0, 1.0, 1.0, 1.0]).tolist() == [0, 1]

    def test_an_odd_number_has_no_half(self) -> None:
        with pytest.raises(StatisticsError, match="there are 3: make one run more"):
            better_half([1.0, 2.0, 3.0])

    def test_numbers_of_runs_that_are_easy_to_compare(self) -> None:
        assert [n for n in range(1, 700) if usual_number_of_runs(n)] == [10, 20, 30, 60, 100, 200, 300, 600]


class TestNormality:
    def test_it_is_shapiro_and_wilk_s(self) -> None:
        sample = np.random.default_rng(1).exponential(size=40)
        expected = stats.shapiro(sample)
        found = normality(sample)
        assert (found.statistic, found.p_value) == pytest.approx((expected.statistic, expected.pvalue))
        assert not found.holds()

    def test_it_is_undefined_without_variation_or_with_two_values(self) -> None:
        assert normality([1.0, 1.0, 1.0, 1.0]) == normality([1.0, 2.0]) == Normality(None, None)
        assert not Normality(None, None).holds()

    def test_logs_need_positive_errors(self) -> None:
        assert log_errors([1.0, np.e]) == pytest.approx([0.0, 1.0])
        with pytest.raises(StatisticsError, match=r"run 1 \(from 0\) has the error 0"):
            log_errors([1.0, 0.0])


class TestOutliers:
    def test_a_normal_sample_loses_nothing(self) -> None:
        sample = normal_sample(30)
        assert remove_outliers(sample).removed == ()

    def test_two_high_values_and_a_low_one_are_taken_out(self) -> None:
        sample = normal_sample(60)
        sample[[3, 10, 20]] = (8.0, 9.0, -8.0)
        found = remove_outliers(sample)
        assert found.removed == (3, 10, 20)
        assert (found.too_low, found.too_high) == (1, 2)
        assert found.is_normal
        assert not found.before.holds()
        assert len(found.kept) == 57

    def test_never_more_than_a_tenth(self) -> None:
        sample = normal_sample(60)
        sample[:6] = 50.0
        assert len(remove_outliers(sample).removed) == 6
        sample[:7] = 50.0
        assert remove_outliers(sample).removed == ()
        with pytest.raises(StatisticsError, match="never more than 10 %"):
            remove_outliers(sample, most=0.2)

    def test_none_is_removed_unless_the_rest_is_normal(self) -> None:
        sample = np.random.default_rng(0).exponential(size=60)
        found = remove_outliers(sample)
        assert found.removed == ()
        assert not found.is_normal
        assert np.array_equal(found.kept, sample)

    def test_nine_runs_are_too_few_to_lose_one(self) -> None:
        sample = normal_sample(9)
        sample[0] = 50.0
        assert remove_outliers(sample).removed == ()

    def test_a_sample_that_does_not_vary_stays_as_it_is(self) -> None:
        assert remove_outliers([2.0] * 30).removed == ()


class TestCochranCox:
    def test_equal_sizes_give_a_t_test_with_n_minus_1_degrees_of_freedom(self) -> None:
        rng = np.random.default_rng(0)
        first, second = rng.normal(0, 1, 30), rng.normal(0.5, 3, 30)
        found = cochran_cox(first, second)
        statistic = stats.ttest_ind(first, second, equal_var=False).statistic
        assert found.statistic == pytest.approx(statistic)
        assert found.p_value == pytest.approx(2 * stats.t.sf(abs(statistic), 29))

    def test_the_p_value_is_the_level_whose_critical_value_is_t(self) -> None:
        rng = np.random.default_rng(1)
        first, second = rng.normal(0, 1, 8), rng.normal(1, 2, 25)
        found = cochran_cox(first, second)
        assert found.p_value is not None
        assert found.statistic is not None
        weights = first.var(ddof=1) / 8, second.var(ddof=1) / 25
        quantiles = stats.t.isf(found.p_value / 2, 7), stats.t.isf(found.p_value / 2, 24)
        critical = (weights[0] * quantiles[0] + weights[1] * quantiles[1]) / sum(weights)
        assert abs(found.statistic) == pytest.approx(critical, rel=1e-9)

    def test_welch_s_p_value_is_scipy_s(self) -> None:
        rng = np.random.default_rng(2)
        first, second = rng.normal(0, 1, 8), rng.normal(1, 2, 25)
        expected = stats.ttest_ind(first, second, equal_var=False).pvalue
        assert cochran_cox(first, second).welch_p_value == pytest.approx(expected)

    @pytest.mark.parametrize("sizes", [(30, 30), (8, 25), (25, 8)])
    def test_interval_and_p_value_agree(self, sizes: tuple[int, int]) -> None:
        rng = np.random.default_rng(3)
        found = cochran_cox(rng.normal(0, 1, sizes[0]), rng.normal(1, 2, sizes[1]))
        assert found.p_value is not None
        low, high = found.interval(1 - found.p_value) or (0.0, 0.0)
        assert min(abs(low), abs(high)) == pytest.approx(0, abs=1e-8)

    def test_far_apart_samples_and_samples_that_do_not_vary(self) -> None:
        far = cochran_cox(normal_sample(8), normal_sample(25) + 1e6)
        assert far.p_value is not None
        assert far.p_value < 1e-20
        same = cochran_cox([1.0, 1.0], [2.0, 2.0])
        assert (same.p_value, same.interval()) == (None, None)
        assert cochran_cox([1.0, 1.0], [2.0, 3.0]).p_value is not None
        with pytest.raises(StatisticsError, match="the second sample has one value"):
            cochran_cox([1.0, 2.0], [1.0])

    @pytest.mark.parametrize(
        ("sizes", "ratio"), [((10, 10), 1.0), ((10, 10), 4.0), ((10, 30), 2.0), ((30, 10), 4.0)]
    )
    def test_the_level_is_kept(self, sizes: tuple[int, int], ratio: float) -> None:
        """Conservative, as Lee and Gurland (1975) found; the figures are in docs/proben1.md."""
        rng = np.random.default_rng(4)
        p_values = [
            cochran_cox(rng.normal(0, 1, sizes[0]), rng.normal(0, ratio, sizes[1])).p_value
            for _ in range(1500)
        ]
        level = np.mean([p is not None and p < 0.05 for p in p_values])
        assert 0.025 < level < 0.066


class TestComparison:
    def test_the_whole_procedure(self) -> None:
        first = np.exp(0.1 * normal_sample(60, 1))
        second = 1.2 * np.exp(0.2 * normal_sample(60, 2))
        second[5] = 20.0
        found = compare_runs(first, second)
        assert found.is_log
        assert found.reliable
        assert found.samples[1].removed == (5,)
        assert found.ratio == pytest.approx(1 / 1.2, rel=0.02)
        assert found.p_value is not None
        assert found.p_value < 1e-6
        assert found.caveats[0] == ONE_PARTITION
        assert "second method: runs taken out as outliers: 1, kept: 59" in found.caveats

    def test_samples_that_are_not_normal_make_it_unreliable(self) -> None:
        rng = np.random.default_rng(0)
        skewed, good = np.exp(rng.exponential(size=60)), np.exp(normal_sample(60))
        found = compare_runs(good, skewed)
        assert not found.reliable
        assert any("second method: log errors are not normal" in caveat for caveat in found.caveats)
        assert found.p_value is not None

    def test_without_logs_and_without_removal(self) -> None:
        first, second = 5 + normal_sample(30, 1), 5.5 + normal_sample(30, 2)
        found = compare_runs(first, second, log=False, outliers=0.0)
        assert found.ratio is None
        assert found.p_value == cochran_cox(first, second).p_value
