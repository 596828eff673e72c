"""Cases that belong to groups: groups stay together, and intervals count them."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor

from redelve import predict_performance
from redelve.answers.predictions import Target, Truth
from redelve.cli.main import main
from redelve.errors import SpecError
from redelve.model import Instance
from redelve.performance import WAYS, measure_for
from redelve.performance.grouped_guesses import pooled_by_groups, units_of
from redelve.performance.known_cases import ChoosingCases
from redelve.performance.splits import Splitter

Cases = tuple[NDArray[Any], NDArray[Any], NDArray[np.int64]]
KINDS = Target("kind", "categorical", ("a", "b", "c"))


def labelled(groups: int, each: int, seed: int) -> Cases:
    """Groups that are far apart, each with a class by lot: nothing can be learnt of new ones."""
    rng = np.random.default_rng(seed)
    codes = np.repeat(np.arange(groups), each)
    classes = rng.permutation(np.arange(groups) % 2)[codes]
    return rng.normal(size=(groups, 3))[codes] + 0.2 * rng.normal(size=(codes.size, 3)), classes, codes


def splits_of(splitter: Splitter) -> Iterator[Instance]:
    yield splitter.hold_out(0.3)
    yield from splitter.folds(5)
    yield from splitter.folds(5, 1)
    yield from splitter.pairs(5)
    yield from splitter.bootstrap(20)[1]


@pytest.mark.parametrize("seed", range(5))
def test_no_group_is_ever_on_both_sides(seed: int) -> None:
    rng = np.random.default_rng(seed)
    groups = rng.permutation(np.repeat(np.arange(15), rng.integers(1, 9, 15)))
    classes = rng.integers(0, 3, groups.size)
    for split in splits_of(Splitter(classes, seed, KINDS.levels, groups)):
        assert not set(groups[split.training]) & set(groups[split.testing])
        assert set(classes[split.training]) == {0, 1, 2}
        assert split.testing.size


def test_choosing_keeps_groups_together_in_samples_with_repeated_cases() -> None:
    rng = np.random.default_rng(1)
    groups = np.repeat(np.arange(12), 4)
    members = np.flatnonzero(np.isin(groups, rng.choice(12, 7, replace=False)))
    truth = Truth.exact(KINDS, rng.integers(0, 3, groups.size).astype(float))
    folds = ChoosingCases(np.repeat(members, 2), 1, groups).folds(members, truth)
    assert len(set(folds)) == 7
    assert all(len(set(folds[groups[members] == one])) == 1 for one in set(groups[members]))


@pytest.mark.parametrize("loss", ["ber", "error"])
def test_values_of_groups_are_what_the_measure_gains_by_them(loss: str) -> None:
    rng = np.random.default_rng(2)
    groups, classes = np.repeat(np.arange(6), [2, 3, 4, 5, 6, 7]), rng.integers(0, 3, 27)
    losses = rng.integers(0, 2, 27).astype(float)
    measure = measure_for(loss, [KINDS])
    found = units_of(measure, classes, groups, losses)
    assert found.mean == pytest.approx(measure.value(losses, classes))
    strata = measure.groups(classes)
    for group in range(6):
        values = []
        for step in (-1e-5, 1e-5):  # the group's cases count a little less, and a little more
            weights = np.where(groups == group, 1 + step, 1.0)
            parts = [np.average(losses[strata == c], weights=weights[strata == c]) for c in set(strata)]
            values.append(np.mean(parts))
        derivative = (values[1] - values[0]) / 2e-5
        assert found.units[group] == pytest.approx(found.mean + 6 * derivative, abs=1e-6)


def test_pooled_losses_keep_the_measure() -> None:
    rng = np.random.default_rng(3)
    groups = rng.permutation(np.repeat(np.arange(4), [1, 2, 3, 6]))
    weights, losses = rng.dirichlet(np.ones(12)), rng.normal(size=(5, 12))
    means, totals = pooled_by_groups(losses, weights, groups)
    assert means @ totals == pytest.approx(losses @ weights)
    assert means[2, 3] == pytest.approx(np.average(losses[2, groups == 3], weights=weights[groups == 3]))


def test_every_way_keeps_groups_together_or_says_why_not() -> None:
    X, y, groups = labelled(12, 5, 1)
    single = [name for name in WAYS if name not in ("uncorrected", "tibshirani", "bbc")]
    named = [f"{name}:20" if name in ("bootstrap", "632", "632+") else name for name in single]
    named[named.index("combined")] = "combined:6x2x20"
    found = predict_performance(KNeighborsClassifier(1), X, y, groups=groups, ways=named)
    for guess in found.guesses:
        if guess.way in ("vc", "compression", "rademacher:10"):
            assert guess.value is None
            assert "these belong to groups" in guess.notes[0]
        elif guess.way == "apparent":
            assert guess.value == 0
        else:
            assert guess.value is not None
            assert guess.value > 0.2, guess
            assert guess.low is not None
    assert found.groups == 12
    assert "on new groups, guessed from 60 cases of 12 groups" in str(found)


def test_the_usual_ways_and_the_one_told() -> None:
    X, y, groups = labelled(12, 5, 2)
    found = predict_performance(KNeighborsClassifier(1), X, y, groups=groups)
    assert [one.way for one in found.guesses] == ["holdout:0.3", "kfold:12", "repeated:12x5", "nested:12x1"]
    assert found.best.way == "nested:12x1"
    X, y, groups = labelled(30, 2, 2)
    found = predict_performance([KNeighborsClassifier(1), LogisticRegression()], X, y, groups=groups)
    assert [one.way for one in found.guesses] == ["uncorrected:10", "tibshirani:10", "bbc:10x500"]
    assert all(one.low is not None for one in found.guesses)
    one = predict_performance(
        [KNeighborsClassifier(1), LogisticRegression()], X, y, groups=groups, ways="kfold:3"
    )
    assert one.value > 0.2


def test_numbers_have_groups_too() -> None:
    X, _, groups = labelled(8, 6, 3)
    y = np.random.default_rng(3).normal(size=8)[groups]
    near = predict_performance(KNeighborsRegressor(1), X, y, groups=groups)
    hopeful = predict_performance(KNeighborsRegressor(1), X, y, ways="nested:8x1")
    assert near.value > 5 * hopeful.value
    assert near.interval is not None
    assert near.interval[0] > 0
    assert "only 8 groups" in " ".join(near.notes)


def test_no_errors_at_all_count_groups() -> None:
    groups = np.repeat(np.arange(10), 4)
    y = np.repeat([0, 1], 20)
    found = predict_performance(KNeighborsClassifier(1), 9.0 * y[:, None], y, groups=groups, ways="kfold:5")
    assert found.value == 0
    assert found.interval is not None
    assert found.interval[1] > 0.2  # 40 independent cases would have 0.09


@pytest.mark.parametrize(
    ("groups", "message"),
    [
        ([1, 2, 3], r"groups has the shape \(3,\): give one label for each of the 40 cases"),
        ([None, *range(39)], r"the group is missing in row 0 \(from 0\)"),
        ([0] * 20 + [1] * 20, "there are 2 groups: 4 at least are needed"),
        (np.repeat([0, 1, 2, 3, 4], [20, 5, 5, 5, 5]), 'class "0" is in one group only'),
    ],
)
def test_what_cannot_be_grouped_is_refused(groups: Any, message: str) -> None:
    y = np.repeat([0, 1], 20)
    with pytest.raises(SpecError, match=message):
        predict_performance(
            KNeighborsClassifier(1), np.arange(40.0)[:, None], y, groups=groups, ways="kfold:4"
        )


def test_more_folds_than_groups_are_refused() -> None:
    X, y, groups = labelled(6, 6, 4)
    with pytest.raises(SpecError, match="k from 2 to the number of groups, 6: got 10"):
        predict_performance(KNeighborsClassifier(1), X, y, groups=groups, ways="kfold:10")
    with pytest.raises(SpecError, match="leaves fewer than two on one side"):
        predict_performance(KNeighborsClassifier(1), X, y, groups=groups, ways="holdout:0.9")


def test_the_command_line_takes_a_column_of_groups(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    X, y, groups = labelled(14, 5, 5)
    frame = pd.DataFrame(X, columns=["a", "b", "c"]).assign(patient=groups, ill=np.where(y, "yes", "no"))
    frame.to_csv(tmp_path / "data.csv", index=False)
    words = ["predict", str(tmp_path / "data.csv"), "-t", "ill", "-m", "knn-cv-1", "-w", "kfold:7,nested:7x1"]
    assert main([*words, "-g", "patient"]) == 0
    shown = capsys.readouterr().out
    assert "on new groups, guessed from 70 cases of 14 groups" in shown
    assert "by nested:7x1." in shown


def covered(groups: int, each: int, count: int, ways: str = "nested") -> float:
    """The share of intervals that hold one half: nothing can be learnt of a new group's class."""
    found = []
    for seed in range(count):
        X, y, codes = labelled(groups, each, seed)
        made = predict_performance(KNeighborsClassifier(1), X, y, groups=codes, ways=ways)
        found.append(bool(made.best.covers(0.5)))
    return float(np.mean(found))


def test_intervals_hold_the_truth_where_none_did() -> None:
    """20 groups of 6 and one neighbour: 0 of 25 intervals held one half when cases were split one by one."""
    assert covered(20, 6, 40, "nested:5x1") >= 0.93 - 3 * np.sqrt(0.93 * 0.07 / 40)


@pytest.mark.slow
@pytest.mark.parametrize("groups", [12, 30])
@pytest.mark.parametrize("way", ["repeated:10x2", "632+:20", "combined:10x2x20"])
def test_intervals_cover_with_few_groups(groups: int, way: str) -> None:
    assert covered(groups, 6, 80, way) >= 0.93 - 3 * np.sqrt(0.93 * 0.07 / 80)


@pytest.mark.slow
@pytest.mark.parametrize("groups", [12, 30])
@pytest.mark.parametrize("model", [LinearRegression(), KNeighborsRegressor(1)])
def test_intervals_of_numbers_cover_what_the_model_loses(groups: int, model: Any) -> None:
    found = []
    for seed in range(80):
        rng = np.random.default_rng([seed, groups])
        codes = np.repeat(np.arange(groups + 60), 8)
        X = rng.normal(size=(groups + 60, 2))[codes] + rng.normal(size=(codes.size, 2))
        y = X[:, 0] + rng.normal(size=groups + 60)[codes] + rng.normal(size=codes.size)
        known = codes < groups
        made = predict_performance(model, X[known], y[known], groups=codes[known], ways="nested:10x1")
        losses = np.square(model.fit(X[known], y[known]).predict(X[~known]) - y[~known])
        found.append(bool(made.best.covers(float(losses.mean()))))
    assert np.mean(found) >= 0.93 - 3 * np.sqrt(0.93 * 0.07 / 80)
