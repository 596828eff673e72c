"""The public face: results, determinism, paired splits, all kinds of data, errors."""

from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array, csr_matrix
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.feature_selection import SelectKBest
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.svm import SVC, LinearSVC

from redelve import predict_performance
from redelve.errors import PredictionError, RedelveError, SpecError
from redelve.performance import WAYS, bench_for, from_arrays, parse_way
from tests.performance.data import numbers, two_classes

X, Y = two_classes(60)
QUICK = ("holdout", "kfold:5", "632+:20")


def values(prediction: Any) -> list[float | None]:
    return [guess.value for guess in prediction.guesses]


def test_a_prediction_shows_itself() -> None:
    found = predict_performance(LogisticRegression(), X, Y, ways=QUICK)
    assert found.measure == "balanced error rate"
    assert found.best.way == "kfold:5"
    assert found.value == found.guess("kfold:5").value
    low, high = found.interval or (1.0, 0.0)
    assert low < found.value < high
    frame = found.frame()
    assert list(frame["way"]) == ["holdout:0.3", "kfold:5", "632+:20"]
    assert {"value", "low", "high", "fits", "seconds", "source"} <= set(frame.columns)
    text = str(found)
    assert "LogisticRegression: balanced error rate on new cases, guessed from 60 cases" in text
    assert f"Guess: {found.value:.4f}, 95 % interval {low:.4f} to {high:.4f}, by kfold:5." in text


def test_small_and_large_losses_are_shown_with_significant_digits() -> None:
    ways = ("holdout", "kfold:5")
    for factor, shown in ((1e-4, "×10⁻"), (1.0, "1.8"), (1e5, "×10")):
        found = predict_performance(LinearRegression(), X, factor * X[:, 0] * X[:, 1], ways=ways)
        (told,) = (line for line in str(found).splitlines() if line.startswith("Guess: "))
        assert shown in told
        assert "0.0000" not in str(found)
        assert "e+" not in str(found)
        assert told.removeprefix("Guess: ").partition(", by")[0] in repr(found)


def test_where_no_case_is_missed_the_interval_is_that_of_independent_cases() -> None:
    shifted = X + 100 * (Y[0] == Y)[:, None]
    found = predict_performance(LogisticRegression(), shifted, Y, ways=QUICK)
    for guess in found.guesses:
        assert guess.value == guess.low == 0.0
        assert guess.high is not None
        assert 0.02 < guess.high < 0.4
    exact = predict_performance(LinearRegression(), X, 3 * X[:, 0] + 1, ways="kfold:5")
    assert exact.value < 1e-20


def test_the_usual_ways_need_no_naming() -> None:
    found = predict_performance(LogisticRegression(), X, Y)
    assert found.best.value is not None
    assert len(found.guesses) > 3


def test_the_usual_ways_have_no_more_folds_than_the_smallest_class_has_cases() -> None:
    rare = np.array(["no"] * 34 + ["yes"] * 6)
    found = predict_performance(LogisticRegression(), X[:40], rare)
    assert [guess.way for guess in found.guesses] == [
        "holdout:0.3",
        "kfold:6",
        "repeated:6x5",
        "632+:100",
        "combined:6x5x100",
    ]
    assert 'class "yes" has only 6 cases' in found.notes[0]
    several = predict_performance([LogisticRegression(), KNeighborsClassifier()], X[:40], rare)
    assert several.best.way == "bbc:6x500"


def test_with_many_cases_the_usual_ways_are_those_with_few_fits() -> None:
    inputs, labels = two_classes(1002)
    found = predict_performance(LogisticRegression(), inputs, labels)
    assert [guess.way for guess in found.guesses] == ["holdout:0.3", "kfold:10"]
    assert found.best.way == "kfold:10"


@pytest.mark.parametrize("kind", [np.asarray, csr_matrix, pd.DataFrame])
def test_copies_of_cases_are_told(kind: Any) -> None:
    twice = kind(np.concatenate([X, X[:30]])), np.concatenate([Y, Y[:30]])
    (note,) = predict_performance(KNeighborsClassifier(1), *twice, ways="kfold:5").notes
    assert "60 of 90 cases have a double" in note
    other = twice[0], np.concatenate([Y, np.where(Y[:30] == "no", "yes", "no")])
    assert predict_performance(KNeighborsClassifier(1), *other, ways="kfold:5").notes == ()
    assert predict_performance(KNeighborsClassifier(1), kind(X), Y, ways="kfold:5").notes == ()


def test_what_is_given_is_not_changed() -> None:
    """A sparse table whose columns are in no order within rows stays so, even if it must not be written."""
    table = csr_array(X)
    for start, stop in pairwise(table.indptr):
        table.indices[start:stop], table.data[start:stop] = (
            part[start:stop][::-1].copy() for part in (table.indices, table.data)
        )
    table.has_sorted_indices = False
    before = table.indices.copy(), table.data.copy()
    predict_performance(KNeighborsClassifier(1), table, Y, ways="kfold:5")
    assert np.array_equal(table.indices, before[0])
    assert np.array_equal(table.data, before[1])


@pytest.mark.parametrize("jobs", [1, 2])
def test_progress_is_told_fit_by_fit(jobs: int) -> None:
    told: list[tuple[str, int, int]] = []
    predict_performance(
        LogisticRegression(), X, Y, ways="kfold:3", jobs=jobs, progress=lambda *what: told.append(what)
    )
    assert told == [("LogisticRegression", number, 3) for number in (1, 2, 3)]


def test_numbers_are_judged_by_squared_error_unless_another_loss_is_named() -> None:
    assert predict_performance(LinearRegression(), *numbers(), ways="kfold:5").measure == "squared error"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"seed": "a"}, "seed='a': predict_performance\\(\\) takes a whole number"),
        ({"ways": 5}, "ways=5: give ways to guess by"),
        (
            {"progress": "x"},
            r"progress='x': predict_performance\(\) takes a function or True or False or None",
        ),
        ({"ways": "nested:5x0"}, "once or more: got 0"),
        ({"ways": "bbc:5x0"}, "40 samples or more, 500 say: got 0"),
    ],
)
def test_options_that_cannot_be_are_refused(options: Any, message: str) -> None:
    models = [LogisticRegression(), KNeighborsClassifier()]
    with pytest.raises(SpecError, match=message):
        predict_performance(models if "bbc" in str(options) else models[0], X, Y, **options)


def test_numbers_that_have_no_squares_are_refused() -> None:
    inputs, outputs = numbers()
    with pytest.raises(
        SpecError, match=r"y is 1e\+155 in row 3 \(from 0\), and numbers beyond 1e\+70 have no"
    ):
        predict_performance(
            LinearRegression(), inputs, np.where(np.arange(len(outputs)) == 3, 1e155, outputs)
        )


def test_a_misspelt_option_is_refused_with_the_one_that_may_be_meant() -> None:
    misspelt: dict[str, Any] = {"way": "kfold:5"}
    with pytest.raises(TypeError, match=r"has no option 'way': did you mean 'ways'\?"):
        predict_performance(LogisticRegression(), X, Y, **misspelt)


def test_the_capacity_of_selected_inputs_is_that_of_all_of_them() -> None:
    """A rule of the one input that fits best was chosen among the rules of all three."""
    inputs, labels = two_classes(400, shift=4.0)
    chosen = make_pipeline(SelectKBest(k=1), LogisticRegression())
    bounds = [predict_performance(one, inputs, labels, ways="vc") for one in (chosen, LogisticRegression())]
    assert bounds[0].interval == pytest.approx(bounds[1].interval, abs=0.02)


def test_the_same_seed_gives_the_same_guesses_and_another_seed_others() -> None:
    forest = RandomForestClassifier(5)
    first = predict_performance(forest, X, Y, ways=QUICK, seed=3)
    assert values(first) == values(predict_performance(forest, X, Y, ways=QUICK, seed=3))
    assert values(first) != values(predict_performance(forest, X, Y, ways=QUICK, seed=4))


def test_the_global_random_state_matters_not_and_is_left_alone() -> None:
    np.random.seed(1)  # noqa: NPY002
    first = predict_performance(RandomForestClassifier(5), X, Y, ways="kfold:5")
    after = np.random.random()  # noqa: NPY002
    np.random.seed(2)  # noqa: NPY002
    assert values(first) == values(predict_performance(RandomForestClassifier(5), X, Y, ways="kfold:5"))
    np.random.seed(1)  # noqa: NPY002
    assert after == np.random.random()  # noqa: NPY002


def test_processes_change_nothing() -> None:
    forest = RandomForestClassifier(5)
    one = predict_performance(forest, X, Y, ways=QUICK)
    two = predict_performance(forest, X, Y, ways=QUICK, jobs=2)
    assert values(one) == values(two)
    assert [guess.fits for guess in one.guesses] == [guess.fits for guess in two.guesses]


class Spy(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Remembers what it was trained on."""

    seen: list[tuple[str, bytes]] = []  # noqa: RUF012

    def __init__(self, name: str = "") -> None:
        self.name = name

    def fit(self, X: Any, y: Any) -> "Spy":
        Spy.seen.append((self.name, X.tobytes()))
        self.classes_ = np.unique(y)
        return self

    def predict(self, X: Any) -> Any:
        return np.repeat(self.classes_[0], len(X))


def test_every_model_gets_the_same_splits() -> None:
    Spy.seen.clear()
    predict_performance({"a": Spy("a"), "b": Spy("b")}, X, Y, ways=("uncorrected:5", "bbc:5"))
    first, second = ([data for name, data in Spy.seen if name == one] for one in "ab")
    assert len(first) == 5
    assert first == second


def test_sparse_inputs_frames_and_lists_give_the_same() -> None:
    dense = values(predict_performance(SVC(), X, Y, ways=QUICK))
    assert dense == values(predict_performance(SVC(), csr_matrix(X), Y, ways=QUICK))
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    assert dense == values(predict_performance(SVC(), frame, pd.Series(Y), ways=QUICK))
    assert dense == values(predict_performance(SVC(), X.tolist(), list(Y), ways=QUICK))


@pytest.mark.parametrize("labels", [(0, 1), (-1, 1), (False, True), ("?b", "?c"), (2.0, 7.0)])
def test_labels_may_be_anything(labels: tuple[Any, Any]) -> None:
    y = np.where(np.asarray(Y) == "yes", *reversed(labels))
    expected = predict_performance(KNeighborsClassifier(3), X, Y, ways=QUICK)
    assert values(predict_performance(KNeighborsClassifier(3), X, y, ways=QUICK)) == values(expected)


def test_texts_are_inputs_too() -> None:
    texts = ["good fine" if label == "yes" else "bad poor" for label in Y]
    model = make_pipeline(CountVectorizer(), LogisticRegression())
    assert predict_performance(model, texts, Y, ways="kfold:5").value == 0.0


def test_three_classes() -> None:
    rng = np.random.default_rng(5)
    y = np.repeat(["a", "b", "c"], 20)
    inputs = rng.normal(size=(60, 2)) + 4 * np.repeat(np.eye(3)[:, :2], 20, axis=0)
    found = predict_performance(LogisticRegression(), inputs, y, ways=("kfold:5", "632+:20", "vc", "loo"))
    assert 0 < found.value < 0.3
    assert found.guess("vc").value is None


def test_numbers_are_judged_by_squared_error() -> None:
    inputs, y = numbers()
    found = predict_performance(
        LinearRegression(), inputs, y, loss="S", ways=("kfold:5", "632+:50", "nested:5x2")
    )
    assert all(0.5 < (guess.value or 0) < 2 for guess in found.guesses)
    assert found.measure == "squared error"


def test_missing_values_are_for_those_who_take_them() -> None:
    holes = X.copy()
    holes[3, 1] = np.nan
    with pytest.raises(PredictionError, match=r"contains NaN; values are missing.*SimpleImputer"):
        predict_performance(LogisticRegression(), holes, Y)
    piped = make_pipeline(SimpleImputer(), LogisticRegression())
    assert predict_performance(piped, holes, Y, ways="kfold:5").value < 0.6
    assert (
        predict_performance(HistGradientBoostingClassifier(max_iter=5), holes, Y, ways="holdout").value < 0.8
    )


def few(count: int) -> Any:
    return np.where(np.arange(60) < count, "rare", "usual")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"y": ["one"] * 60}, "y has one class only (one)"),
        ({"y": Y[:-1]}, "one value for each of the 60 rows"),
        ({"y": [None, *Y[1:]]}, "y is missing in row 0"),
        ({"y": few(4), "ways": "kfold:5"}, '5-fold needs 5 cases of every class, but "rare" has 4'),
        ({"y": few(1), "ways": "loo"}, 'class "rare" has one case'),
        ({"y": few(1), "ways": "632+"}, 'class "rare" has one case'),
        ({"y": few(1), "ways": "holdout"}, 'no case of class "rare" on one side'),
        ({"ways": "kfold:61"}, "k from 2 to the number of cases, 60: got 61"),
        ({"ways": "kfold:1"}, "got 1"),
        ({"ways": "kfold:x"}, '"kfold:x" is no way: after kfold: comes k'),
        ({"ways": "loo:3"}, "after loo: comes nothing"),
        ({"ways": "kfolds"}, 'unknown way "kfolds"'),
        ({"ways": ()}, "no way to guess by"),
        ({"ways": "holdout:1.5"}, "share of the cases between 0 and 1: got 1.5"),
        ({"ways": "bootstrap:1"}, "two samples or more"),
        ({"ways": "nested:2x2"}, "three folds or more: got 2"),
        ({"ways": "repeated:5x1"}, "twice or more: got 1"),
        ({"ways": "rademacher:0"}, "one draw of labels at least"),
        ({"ways": "bbc"}, '"bbc" is for several models'),
        ({"loss": "S"}, 'loss "S" does not fit'),
        ({"loss": "nonsense"}, "nonsense"),
        ({"estimator": LinearRegression(), "y": X[:, 0], "loss": "ber"}, 'choose "S" or "A" for numbers'),
        ({"estimator": LinearRegression(), "loss": "S"}, "a regressor needs numbers"),
        ({"estimator": LinearRegression(), "y": [2.5] * 60}, "y has one value only (2.5)"),
        ({"estimator": [LinearRegression()], "y": [7] * 60}, "y has one value only (7)"),
        ({"estimator": LogisticRegression(), "y": X[:, 0]}, "give a regressor"),
        ({"estimator": LogisticRegression}, "LogisticRegression is a class: give an instance"),
        ({"estimator": []}, "there is no model"),
        ({"estimator": SVC(), "loss": "Q", "ways": "holdout"}, "needs predicted probabilities"),
        ({"level": 1.0}, "level"),
        ({"jobs": 0}, "1 or more, and at most 10,000: got 0"),
        ({"X": X[:, 0]}, "X has the shape (60,)"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_refused_with_a_way_out(change: dict[str, Any], message: str) -> None:
    given = {"estimator": LogisticRegression(), "X": X, "y": Y, **change}
    with pytest.raises(RedelveError) as caught:
        predict_performance(given.pop("estimator"), given.pop("X"), given.pop("y"), **given)
    assert message in str(caught.value)


class Failing(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Fails when it sees few cases."""

    def fit(self, X: Any, y: Any) -> "Failing":
        raise ZeroDivisionError("no luck")


def test_an_estimator_that_fails_is_named() -> None:
    with pytest.raises(
        PredictionError, match="Failing failed when trained on 48 cases: ZeroDivisionError: no luck"
    ):
        predict_performance(Failing(), X, Y, ways="kfold:5")


def test_ways_are_known_by_their_names_and_numbers() -> None:
    for name in WAYS:
        way = parse_way(name)
        assert parse_way(way.name) == way
        assert WAYS[name].key == name
        assert WAYS[name].__doc__


def test_every_way_says_where_its_interval_comes_from() -> None:
    method, cases = from_arrays(LogisticRegression(), X, Y)
    bench = bench_for({method.name: method}, cases)
    for name in (
        "holdout",
        "kfold:5",
        "loo",
        "bootstrap:20",
        "632+:20",
        "nested:5x2",
        "vc",
        "combined:5x2x20",
    ):
        guess = parse_way(name).guess(bench)
        assert guess.source
        assert guess.interval is not None
        assert guess.seconds > 0
        assert guess.fits > 0
        assert guess.covers(2.0) is False


def test_heavy_tails_are_told_beside_the_guess() -> None:
    """100 cases: log-normal noise, under which intervals miss, is mostly told; Gaussian noise seldom."""
    rng = np.random.default_rng(11)
    told = []
    for noise in (lambda: np.exp(rng.normal(size=100)), lambda: rng.normal(size=100)):
        for _ in range(25):
            inputs = rng.normal(size=(100, 2))
            found = predict_performance(LinearRegression(), inputs, inputs[:, 0] + noise(), ways="kfold:5")
            told.append(any("of the loss: guesses and intervals rest on few" in note for note in found.notes))
    assert sum(told[:25]) >= 22
    assert sum(told[25:]) <= 4
    calm = predict_performance(LinearRegression(), *numbers(), loss="A", ways=("holdout", "kfold:5"))
    assert not any("of the loss" in note for note in calm.notes)
    errors = predict_performance(KNeighborsClassifier(1), X, Y, loss="error", ways="kfold:5")
    assert not any("of the loss" in note for note in errors.notes)


def test_heavy_tails_have_a_rate_only_where_it_was_measured_to_be_low() -> None:
    """Intervals of folds hold the truth in 72 to 100 % of such data sets: no rate is said of them."""
    rng = np.random.default_rng(1)
    inputs = rng.normal(size=(446, 2))
    known = np.where(rng.random(446) < 0.2, 0.0, inputs[:, 0])  # one input lacks in a fifth of the cases
    target = 3 * inputs[:, 0] + rng.normal(size=446)
    shown = np.column_stack([known, inputs[:, 1]])
    found = predict_performance(LinearRegression(), shown, target, ways=("holdout", "kfold:5", "kfold:10"))
    (caution,) = found.cautions
    assert "rest on few cases; where these miss, the true loss is mostly larger" in caution
    assert "95 %" not in caution
    held, *folds = found.guesses
    assert "95 % intervals from held-out cases held the truth in 52 to 94 %" in held.notes[-1]
    assert [guess.notes for guess in folds] == [(), ()]


@pytest.mark.parametrize("is_text", [True, False])
def test_columns_of_dates_in_a_frame_bring_a_caution(is_text: bool) -> None:
    days = pd.Series(pd.date_range("2024-01-01", periods=len(Y)))
    frame = pd.DataFrame(X).rename(columns=str).assign(day=days.dt.strftime("%d.%m.%Y") if is_text else days)
    numbers_alone = make_pipeline(FunctionTransformer(lambda table: table.drop(columns="day")), LinearSVC())
    found = predict_performance(numbers_alone, frame, Y, ways="kfold:5")
    (caution,) = found.cautions
    assert caution.startswith('column "day" holds dates, but cases are drawn at random: methods learn from ')
    assert caution in str(found)
    assert predict_performance(LinearSVC(), X, Y, ways="kfold:5").cautions == ()
    assert predict_performance(LinearSVC(), frame.drop(columns="day"), Y, ways="kfold:5").cautions == ()


def test_columns_that_are_no_dates_bring_no_caution() -> None:
    frame = pd.DataFrame({"year": 2020, "text": [f"2024-{n}" for n in range(60)], "both": [1, "a"] * 30})
    assert predict_performance(DummyClassifier(), frame, Y, ways="kfold:5").cautions == ()
