"""Cross-validation by groups: variances against loops and known cases, and all pairs against each pair."""

from __future__ import annotations

from itertools import combinations
from math import exp, log, sqrt

import numpy as np
import pytest
from benchmarks.calibration import groups
from scipy import stats as scipy_stats

from redelve.errors import StatisticsError
from redelve.stats.families import pairs_of_groups
from redelve.stats.grouped import (
    BY_GROUPS,
    NESTED_BY_GROUPS,
    GroupedLosses,
    analyse_groups,
    analyse_new_groups,
    compare_groups,
    few_groups,
    grouped_losses,
    jackknife_variance,
    scaled_interval,
)

FOLDS, GROUPS = 4, 8
MOSTLY = groups.KINDS[2]


def folds(seed: int) -> tuple[list[np.ndarray], list[np.ndarray], list[list[np.ndarray]]]:
    """Losses of two groups of three or five cases in each of four folds, and with each fold left aside."""
    rng = np.random.default_rng(seed)
    labels = [np.repeat([2 * k, 2 * k + 1], [3, 5]) for k in range(FOLDS)]
    losses = [rng.exponential(size=8) for _ in labels]
    inner = [[rng.exponential(size=24) for _ in labels]]
    return losses, labels, inner


def test_folds_alone_double_the_standard_error_of_independent_groups() -> None:
    losses, labels, _ = folds(1)
    every, groups = np.concatenate(losses), np.concatenate(labels)
    mean = every.mean()
    sums = [(every[groups == g] - mean).sum() for g in range(GROUPS)]
    independent = np.sqrt(GROUPS / (GROUPS - 1) * np.sum(np.square(sums))) / every.size
    found = analyse_groups(grouped_losses(losses, labels))
    assert found.mean == pytest.approx(mean)
    assert found.standard_error == pytest.approx(2 * independent)
    assert found.degrees_of_freedom == pytest.approx(32**2 / (4 * 9 + 4 * 25) / 2)  # Kish's effective groups
    assert BY_GROUPS in found.caveats


def test_repetitions_of_the_folds_add_no_groups() -> None:
    losses, labels, _ = folds(2)
    once, twice = grouped_losses(losses, labels), grouped_losses([*losses, *losses], [*labels, *labels])
    assert twice.units == pytest.approx(once.units)


def test_pairs_of_folds_give_the_jackknife() -> None:
    losses, labels, inner = folds(3)
    made = grouped_losses(losses, labels, inner)
    nothing = GroupedLosses(np.zeros(GROUPS), np.zeros((1, FOLDS)))
    found = analyse_groups(made)
    without = [row.mean() for row in inner[0]]
    whole = np.concatenate(losses).mean()
    pseudo = [FOLDS * whole - (FOLDS - 1) * one for one in without]  # Tukey 1958
    assert found.standard_error == pytest.approx(np.std(pseudo, ddof=1) / np.sqrt(FOLDS))
    assert found.degrees_of_freedom == FOLDS - 1
    assert compare_groups(made, nothing).degrees_of_freedom == FOLDS - 1
    assert NESTED_BY_GROUPS in found.caveats


def test_the_jackknife_of_a_mean_is_the_variance_of_the_mean() -> None:
    values = np.random.default_rng(4).normal(size=9)
    without = (values.sum() - values) / 8
    assert jackknife_variance(without[None]) == pytest.approx(values.var(ddof=1) / 9)


def test_the_jackknife_never_falls_below_what_groups_say() -> None:
    losses, labels, inner = folds(5)
    steady = [[np.full_like(row, 1.0) for row in inner[0]]]
    found = grouped_losses(losses, labels, steady)
    independent = found.units.var(ddof=1) / GROUPS
    assert analyse_groups(found).standard_error == pytest.approx(np.sqrt(independent * (1 + 4 / 3)))
    nothing = GroupedLosses(np.zeros(GROUPS), np.zeros((1, FOLDS)))
    assert compare_groups(found, nothing).standard_error == pytest.approx(np.sqrt(independent))


@pytest.mark.parametrize("nested", [False, True])
def test_all_pairs_at_once_are_the_comparisons_one_by_one(nested: bool) -> None:
    several = []
    for seed in range(4):
        losses, labels, inner = folds(seed)
        two = [*inner, folds(seed + 50)[2][0]]
        several.append(grouped_losses(losses, labels, two if nested else None))
    pairs = list(combinations(range(4), 2))
    squares = pairs_of_groups(several, tuple(zip(*pairs, strict=True)))  # type: ignore[arg-type]
    for place, (p, q) in enumerate(pairs):
        test = compare_groups(several[p], several[q])
        assert test.difference == pytest.approx(squares.differences[place])
        assert test.standard_error == pytest.approx(squares.standard_errors[place])
        assert test.degrees_of_freedom == squares.df[place]
        assert test.standard_error is not None
        assert test.difference is not None
        t = test.difference / test.standard_error
        assert test.p_value == pytest.approx(2 * scipy_stats.t.sf(abs(t), test.degrees_of_freedom))


def test_infinite_losses_leave_the_mean_alone() -> None:
    losses, labels, inner = folds(6)
    losses[0][1] = np.inf
    found = grouped_losses(losses, labels, inner)
    assert analyse_groups(found).mean == np.inf
    assert analyse_groups(found).standard_error is None
    squares = pairs_of_groups([found, grouped_losses(*folds(7))], ([0], [1]))
    assert squares.differences.tolist() == [np.inf]
    assert np.isnan(squares.between).all()


def test_what_cannot_be_analysed_is_refused() -> None:
    losses, labels, _ = folds(8)
    with pytest.raises(StatisticsError, match="at least two groups of cases: got 1"):
        grouped_losses(losses[:1], [np.zeros(8)])
    with pytest.raises(StatisticsError, match="8 groups of one and 6 of the other"):
        compare_groups(grouped_losses(losses, labels), grouped_losses(losses[:3], labels[:3]))
    with pytest.raises(StatisticsError, match="not a number"):
        grouped_losses([np.array([np.nan, 1.0])], [np.array([0, 1])])


def test_equal_losses_have_no_standard_error() -> None:
    same = grouped_losses([np.ones(8)] * FOLDS, folds(0)[1])
    assert analyse_groups(same).interval() is None
    assert compare_groups(same, same).p_value is None


def test_groups_that_a_model_never_saw_are_independent() -> None:
    found = grouped_losses(*folds(10)[:2])
    new = analyse_new_groups(found)
    assert new.standard_error == pytest.approx(found.units.std(ddof=1) / np.sqrt(GROUPS))
    assert new.degrees_of_freedom == pytest.approx(found.effective / 2)


def test_few_groups_are_said_to_be_few() -> None:
    losses, labels, _ = folds(9)
    assert few_groups(GROUPS) in analyse_groups(grouped_losses(losses, labels)).caveats


def test_intervals_are_symmetric_on_their_scale() -> None:
    low, high = scaled_interval(2.0, 0.5, 7.0, 0.95, "log") or (0, 0)
    width = scipy_stats.t.ppf(0.975, 7) * 0.5
    assert (log(low), log(high)) == pytest.approx((log(2) - width / 2, log(2) + width / 2))
    low, high = scaled_interval(0.2, 0.05, 7.0, 0.95, "logit") or (0, 0)
    steps = scipy_stats.t.ppf(0.975, 7) * 0.05 / 0.16
    logits = [log(end / (1 - end)) for end in (low, high)]
    assert logits == pytest.approx([log(0.25) - steps, log(0.25) + steps])
    assert scaled_interval(-1.0, 0.5, 7.0, 0.95, "log") == scaled_interval(-1.0, 0.5, 7.0, 0.95, "plain")
    far = scaled_interval(1e-9, 1.0, 7.0, 0.95, "log") or (0, 0)
    assert far[1] == pytest.approx(1e-9 * exp(700))


def least(percent: float, count: int) -> float:
    """Three standard errors of simulation below a percentage."""
    return percent - 300 * sqrt(percent / 100 * (1 - percent / 100) / count)


@pytest.mark.parametrize(("number", "count"), [(12, 150), (30, 100)])
def test_nearest_neighbours_by_groups_keep_level_and_coverage(number: int, count: int) -> None:
    """The corrected resampled t had coverage 82 % with 12 groups and 85 % with 30, at a level up to 9 %."""
    setting = groups.GroupSetting(number, MOSTLY, "nearest neighbour")
    for found in groups.group_rates(setting, count, np.random.default_rng([11, number])):
        assert found.covered >= least(93, count)
        assert found.covered_model >= least(93, count)
        assert 100 - found.level >= least(94, count)


def test_doubled_standard_errors_are_needed() -> None:
    """Independent groups, or Nadeau and Bengio's correction by groups, would cover far too little."""
    rng = np.random.default_rng(12)
    setting = groups.GroupSetting(12, MOSTLY, "nearest neighbour")
    means, errors = [], []
    for _ in range(150):
        first, _ = setting.draw(rng)[0]
        means.append(first.units.mean())
        errors.append(first.units.var(ddof=1) / first.groups)
    true = np.std(means, ddof=1)
    assert true > 1.5 * np.sqrt(np.mean(errors))
    assert true == pytest.approx(2 * np.sqrt(np.mean(errors)), rel=0.25)


@pytest.mark.slow
@pytest.mark.parametrize("setting", list(groups.settings()), ids=str)
def test_every_setting_by_groups_keeps_level_and_coverage(setting: groups.GroupSetting) -> None:
    for found in groups.group_rates(setting, 300, np.random.default_rng(13)):
        assert found.covered >= least(93, 300)
        assert 100 - found.level >= least(94, 300)
