"""Estimators and functions as methods: what they are shown, what is made of their answers, who they are."""

from __future__ import annotations

import json
import subprocess
import sys
import textwrap
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.cluster import KMeans
from sklearn.compose import ColumnTransformer, make_column_selector
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.linear_model import BayesianRidge, LinearRegression, LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler
from sklearn.svm import SVR, LinearSVC

from redelve.answers.answer import Answer
from redelve.answers.distributions import Normal
from redelve.errors import PredictionError, SpecError
from redelve.methods.adapters.callables import callable_method
from redelve.methods.adapters.program import Program
from redelve.methods.adapters.sklearn_adapter import sklearn_method
from redelve.methods.conformance.small_tasks import SmallTask, make_trial
from redelve.methods.contract import METHODS, Method, as_method
from redelve.methods.identities import plain
from redelve.methods.views import without_zeros
from redelve.seeds import generator


def answer(method: Method, trial: SmallTask, seed: int = 0) -> Answer:
    return method.learn(trial.training, generator("test", seed)).predict(trial.inputs)


def guesses(method: Method, trial: SmallTask, seed: int = 0) -> list[float]:
    found = answer(method, trial, seed).guesses
    assert found is not None
    return [float(value) for value in found.values[0]]


class Recorder(RegressorMixin, BaseEstimator):  # type: ignore[misc]
    """Remembers, for all copies, what it was shown."""

    seen: list[Any] = []  # noqa: RUF012

    def __init__(self, random_state: int | None = None) -> None:
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> Recorder:
        Recorder.seen.append((X, y, self.random_state))
        self.mean_ = np.mean(y)
        return self

    def predict(self, X: Any) -> Any:
        return np.full(len(X), self.mean_)


# What makes a method


def test_anything_sensible_becomes_a_method() -> None:
    assert as_method("lin-1") is METHODS["lin-1"]
    assert as_method(METHODS["lin-1"]) is METHODS["lin-1"]
    assert as_method(Ridge()).name == "Ridge"
    assert as_method(make_pipeline(StandardScaler(), Ridge())).name == "Ridge"
    assert as_method(Ridge(), name="mine").name == "mine"
    assert isinstance(as_method(["awk", "{ print 0 }"]), Program)
    assert isinstance(as_method(Path("/bin/true")), Program)
    assert as_method(lambda a, b, c: c, name="last").name == "last"


@pytest.mark.parametrize(
    ("thing", "complaint"),
    [
        ("lin1", 'unknown method "lin1".*did you mean "lin-1"'),
        (Ridge, r"Ridge is a class: give an instance, as Ridge\(\)"),
        (KMeans(), "KMeans is neither a classifier nor a regressor"),
        (StandardScaler(), "StandardScaler is neither a classifier nor a regressor"),
        (7, "can't make a method of 7"),
        ([], r"can't make a method of \[\]"),
    ],
)
def test_anything_else_is_refused_with_a_way_out(thing: object, complaint: str) -> None:
    with pytest.raises(SpecError, match=complaint):
        as_method(thing)


# Estimators


def test_the_users_estimator_is_not_touched() -> None:
    forest = RandomForestRegressor(n_estimators=3)
    answer(as_method(forest), make_trial("real"))
    assert not hasattr(forest, "estimators_")
    assert forest.random_state is None


def test_encoded_numbers_are_normalised_and_guesses_are_in_their_own_units() -> None:
    trial = make_trial("real")
    Recorder.seen.clear()
    found = guesses(sklearn_method(Recorder(), inputs="encoded"), trial)
    inputs, targets, seed = Recorder.seen[0]
    encoded = trial.training.encode()
    assert np.array_equal(inputs, encoded.inputs)
    assert np.array_equal(targets, encoded.targets[:, 0])
    assert isinstance(seed, int)
    assert found == pytest.approx([float(trial.training.target_values().mean())] * 12)


def test_a_frame_shows_everything_raw() -> None:
    trial = make_trial("real", inputs=("real", "nominal"), quirk="missing")
    Recorder.seen.clear()
    answer(sklearn_method(Recorder()), trial)
    frame, targets, _ = Recorder.seen[0]
    assert list(frame.columns) == ["x1", "x2"]
    assert list(frame["x2"].cat.categories) == ["red", "green", "blue"]
    assert frame.isna().to_numpy().any()
    assert np.array_equal(targets, trial.training.target_values())


def test_estimators_are_given_frames_unless_told_otherwise() -> None:
    columns = ColumnTransformer(
        [
            (
                "levels",
                OneHotEncoder(handle_unknown="ignore"),
                make_column_selector(dtype_include="category"),
            ),
            ("numbers", StandardScaler(), make_column_selector(dtype_include="number")),
        ]
    )
    pipeline = make_pipeline(columns, Ridge())
    method = sklearn_method(pipeline)
    assert method.inputs == "frame"
    assert sklearn_method(GridSearchCV(pipeline, {"ridge__alpha": [1, 2]})).inputs == "frame"
    assert sklearn_method(make_pipeline(StandardScaler(), Ridge())).inputs == "frame"
    assert sklearn_method(pipeline, inputs="encoded").inputs == "encoded"
    assert len(guesses(method, make_trial("real", inputs=("real", "nominal")))) == 12
    with pytest.raises(SpecError, match='inputs is "raw": choose'):
        sklearn_method(Ridge(), inputs="raw")  # type: ignore[arg-type]


def test_unset_seeds_come_from_the_generator_also_inside() -> None:
    trial = make_trial("real")
    nested = make_pipeline(StandardScaler(), RandomForestRegressor(n_estimators=2, max_features=1))
    method = as_method(nested)
    assert not method.fixed_seeds
    assert guesses(method, trial, 1) == guesses(method, trial, 1)
    assert guesses(method, trial, 1) != guesses(method, trial, 2)


def test_the_users_seeds_stay_and_are_told() -> None:
    trial = make_trial("real")
    method = as_method(make_pipeline(StandardScaler(), RandomForestRegressor(n_estimators=2, random_state=5)))
    assert method.fixed_seeds
    assert method.identity["fixed_seeds"] is True
    assert "the same for all instances" in method.summary
    assert guesses(method, trial, 1) == guesses(method, trial, 2)


def test_shuffling_splitters_are_seeded_and_global_state_is_left_alone() -> None:
    trial = make_trial("real", training=20)
    search = GridSearchCV(Ridge(), {"alpha": np.logspace(-2, 3, 6)}, cv=KFold(4, shuffle=True))
    before = np.random.get_state(legacy=False)  # noqa: NPY002
    assert guesses(as_method(search), trial, 1) == guesses(as_method(search), trial, 1)
    assert repr(np.random.get_state(legacy=False)) == repr(before)  # noqa: NPY002


@pytest.mark.parametrize(
    ("estimator", "kind", "complaint"),
    [
        (Ridge(), "nominal", 'Ridge is a regressor, but target "y4" is categorical: use a classifier'),
        (LogisticRegression(), "integer", 'is a classifier, but target "y4" is integer: use a regressor'),
        (LogisticRegression(), "integer", 'kind="classification" in task, --kind classification on'),
        (Ridge(), "real binary", 'target "y5" is categorical'),
    ],
)
def test_the_wrong_kind_of_target_is_refused(estimator: Any, kind: str, complaint: str) -> None:
    trial = make_trial(kind)
    reason = as_method(estimator).why_not(trial.targets)
    assert reason is not None
    assert complaint in reason
    with pytest.raises(SpecError, match=r'kind="(regression|classification)" in task'):
        answer(as_method(estimator), trial)


@pytest.mark.parametrize("estimator", [BayesianRidge(), make_pipeline(StandardScaler(), BayesianRidge())])
def test_told_deviations_make_a_normal_distribution(estimator: Any) -> None:
    trial = make_trial("real")
    found = answer(as_method(estimator), trial).distributions
    assert found is not None
    z = (trial.truths[0].values - found.distributions[0].mean()) / found.distributions[0].parameters()[
        "scale"
    ]
    assert 0.2 < float((z**2).mean()) < 4


def test_a_process_without_noise_is_still_a_distribution() -> None:
    trial = make_trial("real")
    predictor = as_method(GaussianProcessRegressor()).learn(trial.training, generator("x"))
    asked = type(trial.inputs)(
        trial.inputs.attributes,
        trial.inputs.prior,
        trial.training.cases.with_columns(trial.training.input_columns),
    )
    assert predictor.predict(asked).distributions is not None


@pytest.mark.parametrize("estimator", [LinearRegression(), SVR()])
def test_several_targets_and_angles_are_predicted_together_or_one_by_one(estimator: Any) -> None:
    trial = make_trial("real angular integer", training=60)
    found = answer(as_method(estimator), trial).guesses
    assert found is not None
    assert [target.kind for target in found.targets] == ["real", "angular", "integer"]
    assert ((found.values[1] >= 0) & (found.values[1] < 360)).all()
    alone = guesses(as_method(estimator), make_trial("real", training=60))
    assert len(alone) == len(found.values[0])


def test_a_level_never_seen_is_still_possible() -> None:
    trial = make_trial("nominal", quirk="single", training=10)
    for estimator in (LogisticRegression(), KNeighborsClassifier()):
        found = answer(as_method(estimator), trial).probabilities
        assert found is not None
        assert found.values[0] == pytest.approx([11 / 13, 1 / 13, 1 / 13])


def test_zeros_make_way() -> None:
    table = np.array([[0.0, 1.0, 0.0], [0.2, 0.3, 0.5]])
    assert without_zeros(table, 7) == pytest.approx(np.array([[0.1, 0.8, 0.1], [0.2, 0.3, 0.5]]))
    trial = make_trial("nominal")
    found = answer(as_method(RandomForestClassifier(n_estimators=3)), trial).probabilities
    assert found is not None
    assert np.isfinite(found.logs).all()
    assert found.logs.min() == pytest.approx(np.log(1 / 43))


def test_classifiers_without_probabilities_only_guess() -> None:
    found = answer(as_method(LinearSVC()), make_trial("nominal"))
    assert found.probabilities is None
    assert found.guesses is not None


def test_several_categorical_targets_have_a_classifier_each() -> None:
    found = answer(as_method(LogisticRegression()), make_trial("nominal binary"))
    assert found.guesses is not None
    assert len(found.guesses.values) == 2
    assert found.probabilities is None


class Wrong(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    def fit(self, X: Any, y: Any) -> Wrong:
        self.classes_ = np.unique(y)
        return self

    def predict(self, X: Any) -> Any:
        return np.zeros(len(X) + 1)


def test_predictions_of_the_wrong_shape_are_told() -> None:
    with pytest.raises(PredictionError, match=r"Wrong predicted an array of shape \(13,\) for 12 test cases"):
        answer(as_method(Wrong()), make_trial("binary"))


# Functions


def nearest(training_inputs: Any, training_targets: Any, test_inputs: Any) -> Any:
    """The target of the nearest training case."""
    inputs, asked = np.asarray(training_inputs), np.asarray(test_inputs)
    distances = ((asked[:, None] - inputs) ** 2).sum(axis=2)
    return np.asarray(training_targets)[distances.argmin(axis=1)]


def test_a_function_guesses_in_the_targets_own_units() -> None:
    for kind in ("real", "integer", "nominal", "real real"):
        trial = make_trial(kind)
        found = answer(as_method(nearest), trial).guesses
        assert found is not None
        known = set(trial.training.target_values().tolist())
        assert set(found.values[0].tolist()) <= known
    assert as_method(nearest).summary == "The target of the nearest training case.\n"


def test_a_function_may_tell_probabilities_a_distribution_or_an_answer() -> None:
    nominal, real = make_trial("nominal"), make_trial("real")
    table = np.array([0.2, 0.3, 0.5])  # of blue, green and red: as numpy sorts the labels
    shares = answer(as_method(lambda a, b, c: np.tile(table, (len(c), 1))), nominal).probabilities
    assert shares is not None
    assert list(shares.target.levels) == ["red", "green", "blue"]
    assert shares.values[0].tolist() == [0.5, 0.3, 0.2]
    encoded = callable_method(lambda a, b, c: np.tile(table, (len(c), 1)), inputs="encoded")
    in_order = answer(encoded, nominal).probabilities
    assert in_order is not None
    assert in_order.values[0] == pytest.approx([0.2, 0.3, 0.5])
    normal = answer(as_method(lambda a, b, c: Normal(np.zeros(len(c)), np.ones(len(c)))), real).distributions
    assert normal is not None
    whole = answer(METHODS["constant"], real)
    assert answer(as_method(lambda a, b, c: whole), real) is whole


def test_a_function_gets_a_generator_if_it_takes_one() -> None:
    trial = make_trial("real")
    method = as_method(lambda a, b, c, rng: rng.normal(size=len(c)))
    assert guesses(method, trial, 1) == guesses(method, trial, 1)
    assert guesses(method, trial, 1) != guesses(method, trial, 2)


def test_a_function_may_want_frames() -> None:
    method = callable_method(lambda a, b, c: c["x1"].to_numpy(), inputs="frame")
    assert len(guesses(method, make_trial("real"))) == 12


@pytest.mark.parametrize(
    ("returned", "complaint"),
    [
        (None, "returned None: expected 12 guesses"),
        (np.zeros(11), r"returned ndarray of shape \(11,\)"),
        (np.zeros((12, 2)), "returned 2 numbers for each test case: expected 1"),
        (["a"] * 12, "returned list of shape"),
        (np.full(12, np.inf), "guess"),
    ],
)
def test_what_a_function_may_not_return(returned: object, complaint: str) -> None:
    with pytest.raises(PredictionError, match=complaint):
        answer(as_method(lambda a, b, c: returned), make_trial("real"))


# Identity


def test_identity_has_every_setting_and_no_address() -> None:
    pipeline = make_pipeline(
        FunctionTransformer(np.tanh), FunctionTransformer(lambda x: x + 1), Ridge(alpha=2.5)
    )
    text = json.dumps(as_method(pipeline).identity)
    assert '"alpha": 2.5' in text
    assert "sklearn.linear_model.Ridge" in text
    assert " at 0x" not in text
    assert as_method(Ridge(alpha=1)).digest != as_method(Ridge(alpha=2)).digest
    assert as_method(Ridge()).digest == as_method(Ridge()).digest
    assert sklearn_method(Ridge(), inputs="encoded").digest != as_method(Ridge()).digest


def test_functions_are_told_apart_by_code_constants_and_closures() -> None:
    def shifted(by: float) -> Any:
        return lambda a, b, c: c[:, 0] + by

    both = [lambda a, b, c: c[:, 0], lambda a, b, c: c[:, 1]]
    digests = [
        as_method(one).digest for one in (*both, shifted(1.0), shifted(2.0), partial(nearest), nearest)
    ]
    assert len(set(digests)) == 6
    assert as_method(shifted(1.0)).digest == as_method(shifted(1.0)).digest
    arrays = [as_method(shifted(np.zeros(3))).digest, as_method(shifted(np.ones(3))).digest]  # type: ignore[arg-type]
    assert arrays[0] != arrays[1]


def test_identity_is_the_same_in_another_process_and_follows_helpers(tmp_path: Path) -> None:
    text = """
        import json
        from redelve.methods.identities import plain
        FACTOR = {factor}
        def helper(x):
            return {{"b", "a", "c"}} and FACTOR * x
        def method(a, b, c, *, power=2):
            return helper(c[:, 0]) ** power
        class Mine:
            def get_params(self, deep):
                return {{}}
            def predict(self, X):
                return helper(X[:, 0])
        print(json.dumps(plain(method)))
        print(json.dumps(plain(Mine())))
    """

    def told(factor: int) -> list[str]:
        path = tmp_path / "mine.py"
        path.write_text(textwrap.dedent(text).format(factor=factor))
        run = subprocess.run([sys.executable, str(path)], capture_output=True, text=True, check=True)
        return run.stdout.splitlines()

    first = told(3)
    assert len(set(first)) == 2
    assert told(3) == first
    assert not set(told(4)) & set(first)


def test_plain_values_of_odd_things() -> None:
    odd = {
        "array": np.arange(3),
        "objects": np.array(["a", None], dtype=object),
        "set": {"b", "a"},
        "bytes": b"x",
        "number": np.float32(0.5),
        "range": range(3),
        "partial": partial(nearest, 1),
        "ufunc": np.tanh,
        "class": Ridge,
        "module": json,
        "path": Path("a"),
        "state": np.random.RandomState(3),
        "generator": np.random.default_rng(3),
        "method": "abc".upper,
        "object": object(),
    }
    text = json.dumps(plain(odd))
    assert text == json.dumps(plain(odd))
    assert "0x" not in text
