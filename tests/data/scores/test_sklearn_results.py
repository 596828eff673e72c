"""Fold scores of scikit-learn, made by scikit-learn: searches, cross_validate, cross_val_score."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import (
    GridSearchCV,
    RepeatedKFold,
    ShuffleSplit,
    cross_val_score,
    cross_validate,
)
from sklearn.tree import DecisionTreeClassifier

from redelve.data.scores import read_scores
from redelve.errors import RedelveError

X, Y = make_classification(n_samples=40, n_features=4, random_state=0)
TREE, LOGISTIC = DecisionTreeClassifier(max_depth=2, random_state=0), LogisticRegression()


@pytest.fixture(scope="module")
def search() -> Any:
    return GridSearchCV(LogisticRegression(), {"C": [0.1, 1.0]}, cv=4).fit(X, Y)


def validated(**options: Any) -> dict[str, Any]:
    return {
        name: cross_validate(model, X, Y, cv=4, **options)
        for name, model in (("tree", TREE), ("log", LOGISTIC))
    }


def test_the_candidates_of_a_search_are_models(search: Any, tmp_path: Path) -> None:
    wanted = {
        (f"C={value}", fold): search.cv_results_[f"split{fold}_test_score"][i]
        for i, value in enumerate((0.1, 1.0))
        for fold in range(4)
    }
    frame = pd.DataFrame(search.cv_results_)
    frame.to_csv(tmp_path / "search.csv", index=False)
    frame.to_csv(tmp_path / "indexed.csv", sep=";")
    plain = {name: np.asarray(column).tolist() for name, column in search.cv_results_.items()}
    (tmp_path / "search.json").write_text(json.dumps(plain))
    files = [tmp_path / name for name in ("search.csv", "indexed.csv", "search.json")]
    for scores in (search, search.cv_results_, frame, *files):
        table = read_scores(scores)
        found = table.frame
        have = dict(zip(zip(found["model"], found["fold"], strict=True), found["score"], strict=True))
        assert have == pytest.approx(wanted)
        assert table.is_by_fold
        assert (table.metric, table.higher_is_better) == ("score", True)
        assert any("2 candidates of a search" in note for note in table.notes)


def test_a_search_knows_the_ratio_of_its_folds(search: Any) -> None:
    assert read_scores(search).ratio == pytest.approx(1 / 3)
    assert read_scores(search.cv_results_).ratio is None
    for folds, ratio in ((RepeatedKFold(n_splits=5, n_repeats=2), 1 / 4), (ShuffleSplit(3), None)):
        other = GridSearchCV(Ridge(), {"alpha": [1, 2]}, cv=folds).fit(X, Y)
        assert read_scores(other).ratio == (None if ratio is None else pytest.approx(ratio))


def test_models_by_name_with_what_cross_validate_returned() -> None:
    made = validated(return_indices=True)
    table = read_scores(made)
    assert list(table.frame["model"]) == ["tree"] * 4 + ["log"] * 4
    assert list(table.frame["score"]) == [*made["tree"]["test_score"], *made["log"]["test_score"]]
    assert table.ratio == pytest.approx(1 / 3)


def test_scores_by_fold_of_cross_val_score() -> None:
    scores = {"tree": cross_val_score(TREE, X, Y, cv=4), "log": cross_val_score(LOGISTIC, X, Y, cv=4)}
    table = read_scores(scores, reader="sklearn", metric="accuracy")
    assert (table.metric, len(table.frame)) == ("accuracy", 8)
    with pytest.raises(RedelveError, match='"tree" holds no scores of folds'):
        read_scores({"tree": "good"}, reader="sklearn")


def test_losses_that_scikit_learn_negates_are_losses_again(tmp_path: Path) -> None:
    made = validated(scoring=["neg_mean_squared_error", "accuracy"])
    with pytest.raises(RedelveError, match=r"several scores \(neg_mean_squared_error, accuracy\)"):
        read_scores(made)
    for wanted in ("neg_mean_squared_error", "mean_squared_error"):
        table = read_scores(made, metric=wanted)
        assert (table.metric, table.higher_is_better) == ("mean_squared_error", False)
        assert (table.frame["score"] >= 0).all()
    for name, one in made.items():
        pd.DataFrame(one).to_csv(tmp_path / f"{name}.csv", index=False)
    table = read_scores([tmp_path / "tree.csv", tmp_path / "log.csv"], metric="accuracy")
    assert list(table.frame["model"]) == ["tree"] * 4 + ["log"] * 4


def test_folds_that_failed_are_missing() -> None:
    made = validated()
    made["tree"]["test_score"][1] = np.nan
    assert read_scores(made).frame["score"].isna().sum() == 1


def test_one_cross_validation_alone_has_no_name() -> None:
    with pytest.raises(RedelveError, match="of one model: give several"):
        read_scores(validated()["tree"])


def test_a_search_among_cross_validations_is_refused(search: Any) -> None:
    with pytest.raises(RedelveError, match='"grid" has the results of a search'):
        read_scores({"grid": search.cv_results_, "tree": validated()["tree"]})


def test_candidates_with_equal_names_are_counted() -> None:
    frame = pd.DataFrame(
        {"param_C": [1, 1], "split0_test_score": [0.5, 0.6], "split1_test_score": [0.5, 0.7]}
    )
    assert set(read_scores(frame).frame["model"]) == {"C=1 (1)", "C=1 (2)"}
