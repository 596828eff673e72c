"""From estimators, methods and downloaded files to an entry."""

import shutil
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
from scipy.sparse import csr_array, issparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import LinearRegression, LogisticRegression, RidgeClassifier
from sklearn.model_selection import FixedThresholdClassifier, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

from redelve.challenge import (
    Challenge,
    Patterns,
    PublicData,
    Submission,
    entries_in,
    entry_of_estimator,
    entry_of_method,
    pack,
    prepare_challenge,
    read_challenge,
    read_downloads,
    read_public,
    read_submission,
    score_submission,
)
from redelve.challenge.rules import Ruled, best_cut
from redelve.errors import LocationError, SpecError
from redelve.methods.clop import chain, kridge, naive, rf, s2n
from redelve.methods.contract import METHODS
from redelve.performance import predict_performance
from redelve.stats.balanced_errors import balanced_errors
from tests.challenge.small import PHASES, entry_with, small_challenge


@pytest.fixture(scope="module")
def words(tmp_path_factory: pytest.TempPathFactory) -> Challenge:
    """A sparse dataset of 300 features with a rare class."""
    rng = np.random.default_rng(3)
    features = (rng.random((3330, 300)) < 0.03).astype(np.int16)
    odds = features[:, :12].sum(axis=1) * 1.5 - 2.4 + rng.normal(0, 0.7, 3330)
    labels = np.where(odds > 0, 1, -1).astype(np.int8)
    return prepare_challenge(
        tmp_path_factory.mktemp("words") / "c", {"words": Patterns(features, labels)}, phases=PHASES, seed=0
    )


@pytest.fixture(scope="module")
def data(words: Challenge) -> PublicData:
    return read_public(words, "words")


def ber(challenge: Challenge, entry: Any) -> float:
    scores = score_submission(Submission({"words": entry}, challenge.names), challenge)
    return float(scores["words"].parts["test"].ber)


# --- what classifiers are given -----------------------------------------------------------------------------


class Witness(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Notes the kind of table it was trained on, answers always the same."""

    seen: ClassVar[list[Any]] = []

    def fit(self, X: Any, y: Any) -> "Witness":
        self.seen.append(type(X))
        self.classes_ = np.unique(y)
        return self

    def predict(self, X: Any) -> Any:
        return np.full(X.shape[0], self.classes_[0])


def test_sparse_input_goes_in_as_it_is_and_no_confidences_are_made_up(data: PublicData) -> None:
    Witness.seen.clear()
    entry = entry_of_estimator(Witness(), data)
    assert set(Witness.seen) == {csr_array}
    assert entry.confidences == {}
    assert entry.guess == pytest.approx(0.5)


@pytest.mark.parametrize("model", [LinearSVC(), DecisionTreeClassifier(max_depth=3), rf(units=5)])
def test_classifiers_that_want_short_indices_take_the_data(data: PublicData, model: Any) -> None:
    assert issparse(data.patterns["train"])
    model.fit(data.patterns["train"], data.labels).predict(data.patterns["valid"])


def test_the_estimator_given_is_not_changed_and_seeds_are_kept(data: PublicData) -> None:
    model = rf(units=3)
    one, two, other = (entry_of_estimator(model, data, seed=seed) for seed in (0, 0, 1))
    assert not hasattr(model, "forest_")
    assert model.random_state is None
    assert np.array_equal(one.confidences["test"], two.confidences["test"])
    assert one.guess == two.guess
    assert not np.array_equal(one.confidences["test"], other.confidences["test"])


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (LinearRegression(), "is a regressor: give a classifier"),
        (LogisticRegression, "give an instance"),
        (s2n(), "neither a classifier nor a regressor"),
    ],
)
def test_what_does_not_classify_is_refused(data: PublicData, model: Any, message: str) -> None:
    with pytest.raises(SpecError, match=message):
        entry_of_estimator(model, data)
    with pytest.raises(SpecError, match="choose one of balanced, own"):
        entry_of_estimator(naive(), data, rule="odd")


# --- the rule -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("model", [LogisticRegression(), RidgeClassifier(), kridge(), chain([s2n, kridge])])
def test_the_balanced_rule_makes_the_balanced_error_smaller(
    words: Challenge, data: PublicData, model: Any
) -> None:
    assert (data.labels > 0).mean() < 0.25
    own = ber(words, entry_of_estimator(model, data, rule="own", way="kfold:2"))
    balanced = ber(words, entry_of_estimator(model, data, way="kfold:2"))
    assert balanced < own - 0.03


def test_probabilities_are_compared_with_the_share_of_positive_cases(data: PublicData) -> None:
    train = data.patterns["train"]
    entry = entry_of_estimator(LogisticRegression(), data)
    told = LogisticRegression().fit(train, data.labels).predict_proba(data.patterns["test"])[:, 1]
    assert np.allclose(entry.confidences["test"], told)
    assert np.array_equal(entry.answers["test"] > 0, told > (data.labels > 0).mean())
    own = entry_of_estimator(LogisticRegression(), data, rule="own")
    assert np.array_equal(own.answers["test"] > 0, told > 0.5)


def test_the_guess_is_of_the_rule_that_answers(data: PublicData) -> None:
    train = data.patterns["train"]
    for rule in ("own", "balanced"):
        entry = entry_of_estimator(LogisticRegression(), data, rule=rule, way="kfold:5", seed=4)
        ruled = Ruled(LogisticRegression(), rule)
        assert entry.guess == predict_performance(ruled, train, data.labels, ways="kfold:5", seed=4).value
    plain = predict_performance(LogisticRegression(), train, data.labels, ways="kfold:5", seed=4).value
    assert entry_of_estimator(LogisticRegression(), data, rule="own", way="kfold:5", seed=4).guess == plain


def test_weighed_classes_and_discriminant_values_are_cut_by_held_out_cases(data: PublicData) -> None:
    train, y = data.patterns["train"], data.labels
    for model in (LogisticRegression(class_weight="balanced"), RidgeClassifier()):
        cut = Ruled(model).fit(train, y).cut_
        scores = np.empty(len(y))
        for learnt, held in StratifiedKFold(5).split(train, y):
            fitted = type(model)(**model.get_params()).fit(train[learnt], y[learnt])
            is_told = hasattr(fitted, "predict_proba")
            scores[held] = (
                fitted.predict_proba(train[held])[:, 1] if is_told else fitted.decision_function(train[held])
            )
        assert cut == best_cut(scores, (y > 0).astype(np.intp))


def test_a_threshold_of_ones_own_is_left_alone(data: PublicData) -> None:
    train = data.patterns["train"]
    model = make_pipeline(MaxAbsScaler(), FixedThresholdClassifier(LogisticRegression(), threshold=0.3))
    answers = entry_of_estimator(model, data).answers["test"]
    assert np.array_equal(answers, model.fit(train, data.labels).predict(data.patterns["test"]))


def test_the_best_cut_is_that_of_trying_all() -> None:
    rng = np.random.default_rng(1)
    for _ in range(50):
        codes = np.array([0, 1, *rng.integers(0, 2, 20)])
        scores = rng.integers(0, 6, 22) + 0.5 * codes * rng.integers(0, 2)
        cut = best_cut(scores, codes)
        tried = [
            balanced_errors(codes, (scores > place).astype(int)).ber
            for place in (scores.min() - 1, *np.unique(scores))
        ]
        found = balanced_errors(codes, (scores > cut).astype(int)).ber
        assert found == pytest.approx(min(tried))


# --- methods of redelve -------------------------------------------------------------------------------------


def test_a_method_answers_and_its_guess_follows_the_way_given(data: PublicData) -> None:
    entry = entry_of_method(METHODS["knn-cv-1"], data, way="kfold:3")
    share = (data.labels > 0).mean()
    assert np.array_equal(entry.answers["test"] > 0, entry.confidences["test"] > share)
    assert entry.guess != entry_of_method(METHODS["knn-cv-1"], data, way="kfold:4").guess
    with pytest.raises(SpecError, match="unknown way"):
        entry_of_method(METHODS["constant"], data, way="kfolds")


def test_features_that_never_vary_in_training_do_not_matter(data: PublicData) -> None:
    tables = {part: csr_array(table).toarray() for part, table in data.patterns.items()}
    wider = {part: np.hstack([table, np.full((len(table), 3), 7.0)]) for part, table in tables.items()}
    wider["test"][:, -1] = 999
    one = entry_of_method(METHODS["knn-cv-1"], data, way="kfold:3")
    two = entry_of_method(METHODS["knn-cv-1"], PublicData("words", wider, data.labels), way="kfold:3")
    assert np.array_equal(one.answers["test"], two.answers["test"])
    assert one.guess == two.guess


def test_a_class_of_few_cases_has_as_many_folds(data: PublicData) -> None:
    rare = np.flatnonzero(data.labels > 0)[:3]
    rows = np.sort(np.concatenate([rare, np.flatnonzero(data.labels < 0)[:60]]))
    few = PublicData("words", {**data.patterns, "train": data.patterns["train"][rows]}, data.labels[rows])
    assert entry_of_estimator(naive(), few).guess is not None
    with pytest.raises(SpecError, match="choose k of at most 3"):
        entry_of_estimator(naive(), few, way="kfold:10")


# --- downloaded files ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", ["flat", "folders", "public"])
def test_downloaded_files_are_enough(form: str, tmp_path: Path) -> None:
    challenge = small_challenge(tmp_path / "c")
    place = tmp_path / "downloads"
    for name in challenge.names:
        target = {"flat": place, "folders": place / name, "public": place / "public" / name}[form]
        target.mkdir(parents=True, exist_ok=True)
        for path in challenge.public_files(name):
            shutil.copy(path, target)
    found = read_downloads(place)
    assert found.names == challenge.names
    for name in found.names:
        mine, theirs = read_public(found, name), read_public(challenge, name)
        assert np.array_equal(mine.labels, theirs.labels)
        assert np.array_equal(mine.patterns["test"], theirs.patterns["test"])
    entries = {name: entry_with(challenge, name, 0.2, 0.2) for name in challenge.names}
    assert read_submission(pack(tmp_path / "a.zip", entries), found).is_complete


def test_a_folder_that_is_no_challenge_is_told(tmp_path: Path) -> None:
    challenge = small_challenge(tmp_path / "c", ("anna",))
    assert read_downloads(challenge.folder) == read_challenge(challenge.folder)
    with pytest.raises(LocationError, match=r"neither challenge.toml nor a NAME.param"):
        read_downloads(tmp_path)
    (param, *_) = challenge.public_files("anna")
    (tmp_path / "one").mkdir()
    shutil.copy(param, tmp_path / "one" / "berta.param")
    with pytest.raises(SpecError, match=r"call it anna.param"):
        read_downloads(tmp_path / "one")
    (tmp_path / "one" / "berta.param").rename(tmp_path / "one" / "anna.param")
    (tmp_path / "one" / "two").mkdir()
    shutil.copy(param, tmp_path / "one" / "two")
    with pytest.raises(SpecError, match="remove one"):
        read_downloads(tmp_path / "one")


def test_a_slip_in_a_file_name_is_told_when_packing(tmp_path: Path) -> None:
    challenge = small_challenge(tmp_path / "c", ("anna",))
    (tmp_path / "anna_valid.resu").write_text("1\n" * 8)
    (tmp_path / "anna_tset.resu").write_text("1\n" * 800)
    with pytest.raises(SpecError, match=r"did you mean anna_test.resu"):
        entries_in(tmp_path, challenge)
