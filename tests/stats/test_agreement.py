"""Two methods' errors on the same cases: agreement, κ, correlation, and what each case adds."""

import numpy as np
import pytest
from scipy import stats as scipy_stats
from sklearn.metrics import cohen_kappa_score

from redelve.errors import StatisticsError
from redelve.stats.agreement import (
    contributions,
    error_kappa,
    loss_correlation,
    shared_errors,
    turning_cases,
)

REPEATS = 600


def errors(cases: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Errors of two methods, which hard cases have in common."""
    rng = np.random.default_rng(seed)
    hard = rng.random(cases) < 0.3
    first, second = (rng.random((2, cases)) < np.where(hard, 0.5, 0.1)).astype(float)
    return first, second


def test_the_table_of_right_and_wrong_counts_every_case_once() -> None:
    first, second = errors(500, 1)
    found = shared_errors(first, second)
    table = np.array([[found.both_right, found.second_wrong], [found.first_wrong, found.both_wrong]])
    expected = [[np.sum((first == a) & (second == b)) for b in (0, 1)] for a in (0, 1)]
    assert table.tolist() == expected
    assert found.agreement == pytest.approx(np.mean(first == second))


def test_kappa_is_that_of_scikit_learn() -> None:
    first, second = errors(300, 2)
    assert error_kappa(first, second).value == pytest.approx(cohen_kappa_score(first, second), rel=1e-12)


def test_kappas_standard_error_is_that_of_fleiss_cohen_and_everitt() -> None:
    # Fleiss, Cohen and Everitt (1969), Psychological Bulletin 72:323-327, equation 13.
    first, second = errors(4000, 3)
    table = np.array([[np.mean((first == a) & (second == b)) for b in (0, 1)] for a in (0, 1)])
    rows, columns = table.sum(1), table.sum(0)
    po, pe = np.trace(table), float(rows @ columns)
    kappa = (po - pe) / (1 - pe)
    inner = sum(table[i, i] * ((1 - pe) - (rows[i] + columns[i]) * (1 - po)) ** 2 for i in (0, 1))
    outer = sum(table[i, j] * (columns[i] + rows[j]) ** 2 for i in (0, 1) for j in (0, 1) if i != j)
    spread = inner + (1 - po) ** 2 * outer - (po * pe - 2 * pe + po) ** 2
    error = np.sqrt(spread / (1 - pe) ** 4 / 4000)
    found = error_kappa(first, second)
    assert found.low is not None
    assert found.high is not None
    assert found.high - found.low == pytest.approx(2 * 1.96 * error, rel=0.01)
    assert found.value == pytest.approx(kappa)


def test_the_correlation_of_errors_is_phi_and_that_of_losses_spearmans() -> None:
    first, second = errors(300, 4)
    expected = scipy_stats.pearsonr(first, second).statistic
    assert loss_correlation(first, second).value == pytest.approx(expected, rel=1e-12)
    rng = np.random.default_rng(4)
    first = rng.exponential(size=200).round(1)  # with ties
    second = first + rng.exponential(size=200)
    found = loss_correlation(first, second)
    assert found.value == pytest.approx(scipy_stats.spearmanr(first, second).statistic, rel=1e-12)
    assert loss_correlation(first + 1e6, second + 1e6).value == pytest.approx(found.value, rel=1e-6)


def test_the_jackknife_leaves_out_whole_units_and_one_of_each_cell_that_was_added() -> None:
    first, second = errors(60, 5)
    labels = np.repeat(np.arange(20), 3)
    one = np.append(first, np.repeat([0, 0, 1, 1], 3))  # as large as the other units
    two = np.append(second, np.repeat([0, 1, 0, 1], 3))
    every = np.append(labels, np.repeat([20, 21, 22, 23], 3))
    left = np.arctanh([np.corrcoef(one[every != g], two[every != g])[0, 1] for g in range(24)])
    error = np.sqrt(23 / 24 * np.square(left - left.mean()).sum())
    middle = np.arctanh(np.corrcoef(one, two)[0, 1])
    reach = scipy_stats.t.ppf(0.975, 23) * error
    found = loss_correlation(first, second, labels)
    assert (found.low, found.high) == pytest.approx((np.tanh(middle - reach), np.tanh(middle + reach)))


def test_intervals_of_rare_errors_hold_the_truth() -> None:
    """Of 200 cases two methods get one in twenty wrong: hardly any are wrong for both."""
    held = 0
    rng = np.random.default_rng(8)
    chance = np.where(rng.random(1_000_000) < 1 / 3, 0.1, 0.025)
    truth = error_kappa(*(rng.random((2, 1_000_000)) < chance).astype(float)).value
    assert truth is not None
    for _ in range(REPEATS):
        chance = np.where(rng.random(200) < 1 / 3, 0.1, 0.025)
        found = error_kappa(*(rng.random((2, 200)) < chance).astype(float))
        held += found.low is not None and found.high is not None and found.low <= truth <= found.high
    assert held / REPEATS > 0.95 - 3 * np.sqrt(0.05 * 0.95 / REPEATS)


@pytest.mark.parametrize("statistic", [error_kappa, loss_correlation])
@pytest.mark.parametrize("clustered", [False, True])
def test_intervals_hold_the_truth(statistic, clustered: bool) -> None:  # type: ignore[no-untyped-def]
    """Bounds of three standard errors of the simulation about 95 %; a little more is no harm."""
    whole = errors(400_000, 6)
    truth = statistic(*whole).value
    held = 0
    labels = np.repeat(np.arange(100), 3) if clustered else None
    for seed in range(REPEATS):
        first, second = errors(100 if clustered else 200, 100 + seed)
        if clustered:  # each case is there three times: as if there were only 100
            first, second = np.repeat(first, 3), np.repeat(second, 3)
        found = statistic(first, second, labels)
        held += found.low is not None and found.low <= truth <= found.high
    assert held / REPEATS > 0.95 - 3 * np.sqrt(0.05 * 0.95 / REPEATS)
    assert held / REPEATS < 1


def test_without_any_error_there_is_no_association() -> None:
    assert error_kappa([0, 0, 0], [0, 0, 0]).value is None
    assert loss_correlation([1, 1, 1], [0, 1, 0]).value is None
    same = loss_correlation([0, 1, 1, 0], [0, 1, 1, 0])
    assert same.value == same.high == 1.0
    few = loss_correlation([0.5, 1.5, 1.0], [0.5, 1.0, 1.5])
    assert (few.value, few.low) == (0.5, None)


def test_contributions_add_up_to_the_difference() -> None:
    rng = np.random.default_rng(7)
    first, second, weights = rng.exponential(size=(3, 50))
    assert contributions(first, second).sum() == pytest.approx(first.mean() - second.mean())
    expected = np.average(first, weights=weights) - np.average(second, weights=weights)
    assert contributions(first, second, weights).sum() == pytest.approx(expected)


def test_turning_cases_are_the_fewest_that_carry_the_difference() -> None:
    values = [3.0, 2.0, 1.0, -1.5, -2.5]  # sum 2: without the first it is -1
    assert turning_cases(values) == 1
    assert turning_cases([-value for value in values]) == 1
    assert turning_cases([1.0, 1.0, 1.0, -1.0]) == 2  # without two of them nothing is left
    assert turning_cases([1.0, 1.0, 1.0]) == 3
    assert turning_cases([1.0, -1.0]) == 0


def test_losses_that_are_no_errors_have_no_kappa() -> None:
    with pytest.raises(StatisticsError, match="0 and 1 alone"):
        error_kappa([0.5, 1.0], [0.0, 1.0])
    with pytest.raises(StatisticsError, match="0 and 1 alone"):
        shared_errors([0.5, 1.0], [0.0, 1.0])
    with pytest.raises(StatisticsError, match="same cases"):
        loss_correlation([0.5, 1.0], [0.0, 1.0, 1.0])
