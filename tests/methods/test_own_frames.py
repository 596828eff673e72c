"""What estimators and functions are shown of a user's table, what is kept of their answers, who they are."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import redelve
from redelve.data.tables import ColumnDescription, Description, write_description
from redelve.data.tables.frame_tables import kept_frame
from redelve.errors import FormatError, SpecError
from redelve.methods.adapters.sklearn_adapter import sklearn_method
from redelve.methods.identities import packages_used
from redelve.methods.views import Inputs
from redelve.run.experiment import Experiment, lessons_of
from redelve.run.pooled_answers import joined_predictions
from redelve.run.results import Job, environment

ROWS = 60


def people(seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    made = pd.DataFrame(
        {
            "id": rng.permutation(ROWS) + 500,
            "born": pd.date_range("1990-01-01", periods=ROWS),
            "town": pd.Categorical(rng.choice(["b", "a"], ROWS), categories=["c", "b", "a"]),
            "note": [f"text number {n}" for n in range(ROWS)],
            "score": rng.integers(0, 50, ROWS),
            "size": np.where(rng.random(ROWS) < 0.2, np.nan, rng.normal(size=ROWS)),
            "clinic": rng.choice(list("klmnopqrst"), ROWS),
        },
        index=pd.Index([f"p{n}" for n in range(ROWS)], name="who"),
    )
    made["ill"] = pd.Series(np.where(made["score"] > 25, "very ill", "well"), index=made.index)
    made.loc["p3", "ill"] = None
    return made


def shown(task: Any, looks_at: Any = "frame") -> tuple[Any, Any, Any]:
    """What is shown of the first instance: training inputs, targets, test inputs."""
    assignment = task.assignments[0]
    training, inputs = lessons_of(assignment, assignment.instances[0], looks_at)
    return training.frame(), training.given_target(), inputs.frame()


def one_job(method: Any, task: Any, **options: Any) -> redelve.Record:
    """The record of the first instance alone."""
    first = task.assignments[0]
    few = replace(task, assignments=(replace(first, instances=first.instances[:1]),))
    (record,) = redelve.assess({"it": method}, few, **options).results.records
    return record


# Columns


def test_all_columns_but_the_target_are_shown_as_they_are() -> None:
    frame = people()
    inputs, targets, asked = shown(redelve.from_frame(frame, "ill"))
    expected = frame.drop(columns="ill")
    for part in (inputs, asked):
        pd.testing.assert_frame_equal(part, expected.loc[part.index])
    pd.testing.assert_series_equal(targets, frame["ill"].loc[targets.index])
    assert list(inputs["town"].cat.categories) == ["c", "b", "a"]
    assert sorted([*inputs.index, *asked.index]) == sorted(set(frame.index) - {"p3"})


def test_groups_and_what_the_user_ignores_are_left_out() -> None:
    ignored = Description(columns=(ColumnDescription("note", "ignore"),))
    task = redelve.from_frame(people(), "ill", groups="clinic", description=ignored)
    assert list(shown(task)[0].columns) == ["id", "born", "town", "score", "size"]
    labels = people()["clinic"].to_numpy()
    apart = redelve.from_frame(people().drop(columns="clinic"), "ill", groups=labels)
    assert list(shown(apart)[0].columns) == ["id", "born", "town", "note", "score", "size"]


def test_what_redelve_ignores_is_told_and_written_so_that_it_stays_in_the_frame(tmp_path: Path) -> None:
    frame = people().reset_index(drop=True)
    task = redelve.from_frame(frame, "ill")
    told = [one for one in task.left_out if "only estimators and functions" in one]
    assert [one.split('"')[1] for one in told] == ["id", "born", "note"]
    assert "ignore, in frame" in str(task)
    write_description(tmp_path / "people.toml", task.description)
    assert (tmp_path / "people.toml").read_text().count("in_frame = true") == 3
    again = redelve.from_frame(frame, "ill", description=tmp_path / "people.toml")
    assert list(shown(again)[0].columns) == list(frame.columns.drop("ill"))
    text = (tmp_path / "people.toml").read_text().replace("in_frame = true", "in_frame = false")
    (tmp_path / "less.toml").write_text(text)
    less = redelve.from_frame(frame, "ill", description=tmp_path / "less.toml")
    assert list(shown(less)[0].columns) == ["town", "score", "size", "clinic"]
    (tmp_path / "bad.toml").write_text("[columns.size]\nin_frame = true\n")
    with pytest.raises(FormatError, match='in_frame: it goes with use = "ignore"'):
        redelve.from_frame(frame, "ill", description=tmp_path / "bad.toml")


def test_a_table_of_texts_alone_is_for_those_who_read_them() -> None:
    frame = people()[["note", "ill"]]
    assert list(shown(redelve.from_frame(frame, "ill"))[0].columns) == ["note"]


def test_a_frame_that_is_changed_later_stays_as_it_was() -> None:
    frame = people()
    task = redelve.from_frame(frame, "ill")
    frame["score"] = -1
    frame.loc[:, "size"] = 7.0
    assert (shown(task)[0]["score"] >= 0).all()
    assert not (shown(task)[0]["size"] == 7.0).all()
    assert kept_frame(people())().equals(people())


def test_an_arrow_table_stays_one_and_its_target_becomes_a_series() -> None:
    inputs, targets, _ = shown(
        redelve.from_frame(pa.Table.from_pandas(people()[["score", "size", "ill"]]), "ill")
    )
    assert isinstance(inputs, pa.Table)
    assert isinstance(targets, pd.Series)
    assert inputs.column_names == ["score", "size", "who"]


def test_polars_inputs_with_values_beside_them_stay_polars() -> None:
    polars = pytest.importorskip("polars")
    inputs = polars.DataFrame({"score": range(20), "town": ["a", "b"] * 10})
    shown_inputs, targets, _ = shown(redelve.task(inputs, np.arange(20) % 2))
    assert isinstance(shown_inputs, polars.DataFrame)
    assert isinstance(targets, polars.Series)
    assert shown_inputs.columns == ["score", "town"]


def test_a_csv_file_is_read_as_pandas_does_but_for_question_marks(tmp_path: Path) -> None:
    rows = "".join(f"{n};{'?' if n == 4 else n / 2}; a{n % 3};{n % 2}\n" for n in range(20))
    (tmp_path / "t.csv").write_text(f"id;half; key;y\n{rows}")
    inputs, _, _ = shown(redelve.task(tmp_path / "t.csv", "y"))
    by_hand = pd.read_csv(tmp_path / "t.csv", sep=";", na_values="?").drop(columns="y")
    pd.testing.assert_frame_equal(inputs, by_hand.loc[inputs.index])
    assert list(inputs.columns) == ["id", "half", " key"]
    assert inputs["half"].dtype == "float64"


def test_a_file_is_not_read_again_for_those_who_do_not_look(tmp_path: Path) -> None:
    people().to_csv(tmp_path / "people.csv", index=False)
    task = redelve.task(tmp_path / "people.csv", "ill")
    (tmp_path / "people.csv").unlink()
    assert one_job("constant", task).status == "done"


def test_a_file_that_has_other_rows_for_pandas_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    people().to_csv(path, index=False)
    task = redelve.task(path, "ill")
    path.write_text("\n".join(path.read_text().splitlines()[:-1]) + "\n")
    with pytest.raises(SpecError, match="as a data frame the table has 59 rows, but 60 cases"):
        shown(task)


# Jobs


class Mean(RegressorMixin, BaseEstimator):  # type: ignore[misc]
    """Guesses the mean."""

    def fit(self, X: Any, y: Any) -> Mean:
        self.mean_ = float(y.mean())
        return self

    def predict(self, X: Any) -> Any:
        return np.full(len(X), self.mean_)


def test_another_frame_is_another_job_for_those_who_look() -> None:
    def digests(frame: pd.DataFrame) -> list[str]:
        (task,) = redelve.from_frame(frame, "score").assignments
        methods = {"mean": redelve.as_method(Mean()), "constant": redelve.as_method("constant")}
        made = Experiment(methods, {task.address: task})
        return [made.digest(Job(task.address, name, 0)) for name in methods]

    frame = people()
    assert digests(frame) == digests(people())
    for other in (frame.astype({"town": "object"}), frame.assign(note="x" + frame["note"])):
        assert digests(other)[0] != digests(frame)[0]
        assert digests(other)[1] == digests(frame)[1]


def test_less_is_sent_to_those_who_look_at_one_thing_only() -> None:
    (assignment,) = redelve.from_frame(people(), "ill").assignments
    training, inputs = lessons_of(assignment, assignment.instances[0], "frame")
    assert (training.inputs, inputs.cases.columns) == ((), ())
    training, inputs = lessons_of(assignment, assignment.instances[0], "columns")
    assert training.own is None
    assert len(training.inputs) == len(inputs.cases.columns) == 4
    both, _ = lessons_of(assignment, assignment.instances[0], "both")
    assert both.own is not None
    assert len(both.inputs) == 4


# Answers


class Certain(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Sure of one class, in numbers of single precision."""

    def fit(self, X: Any, y: Any) -> Certain:
        self.classes_ = np.unique(np.asarray(y))
        return self

    def predict_proba(self, X: Any) -> Any:
        told = np.zeros((len(X), len(self.classes_)), dtype=np.float32)
        told[:, 0], told[:, 1] = 0.7, 0.3
        told[0] = [1, *[0] * (len(self.classes_) - 1)]
        return told

    def predict(self, X: Any) -> Any:
        return self.classes_[self.predict_proba(X).argmax(axis=1)]


def test_zeros_are_kept_and_only_the_log_loss_has_a_floor(tmp_path: Path) -> None:
    task = redelve.from_frame(people(), "ill")
    kept = one_job(Certain(), task, archive=tmp_path / "a")
    (stored,) = redelve.Archive.open(tmp_path / "a").load(answers=True).records
    trained = len(task.assignments[0].instances[0].training)
    for answer in (one_job(Certain(), task).answer, stored.answer):
        assert answer is not None
        assert answer.probabilities is not None
        assert answer.probabilities.values[0].tolist() == [1.0, 0.0]
        assert answer.probabilities.values[1].tolist() == [float(np.float32(0.7)), float(np.float32(0.3))]
        assert np.exp(answer.probabilities.logs[0, 1]) == pytest.approx(1 / (trained + 2))
    assert redelve.Archive.open(tmp_path / "a").verify().ok
    assert np.isfinite(kept.losses["L"]).all()
    assert kept.losses["Q"][0] in (0.0, 2.0)


def test_probabilities_that_do_not_sum_to_one_are_told() -> None:
    class Loud(Certain):
        def predict_proba(self, X: Any) -> Any:
            return 2 * super().predict_proba(X)

    record = one_job(Loud(), redelve.from_frame(people(), "ill"))
    assert "Loud told probabilities that sum to 2 for test case 1" in record.message
    assert record.answer is not None
    assert record.answer.probabilities is not None
    assert record.answer.probabilities.values.sum(axis=1) == pytest.approx(1)


class Signed(Certain):
    """Tells a probability that may be negative, and one that makes up for it."""

    def __init__(self, least: float = 0.0) -> None:
        self.least = least

    def predict_proba(self, X: Any) -> Any:
        return np.tile([1 - self.least, self.least], (len(X), 1))


NEGATIVE = "Signed told the probability -0.2 for test case 1, column 2: expected a finite number"


@pytest.mark.parametrize("inputs", ["frame", "encoded"])
def test_negative_probabilities_fail_and_rounding_errors_do_not(inputs: Inputs) -> None:
    task = redelve.from_frame(people(), "ill")
    record = one_job(sklearn_method(Signed(-0.2), inputs=inputs), task)
    assert record.status == "failed"
    assert NEGATIVE in record.message
    record = one_job(sklearn_method(Signed(-1e-17), inputs=inputs), task)
    assert record.status == "done"
    assert record.answer is not None
    assert record.answer.probabilities is not None
    assert record.answer.probabilities.values.min() >= 0


def test_performance_is_not_predicted_from_negative_probabilities() -> None:
    inputs, ill = np.arange(40.0)[:, None], np.arange(40) % 2
    with pytest.raises(redelve.RedelveError, match=NEGATIVE):
        redelve.predict_performance(Signed(-0.2), inputs, ill, loss="Q", ways="kfold:5")
    found = redelve.predict_performance(Signed(-1e-17), inputs, ill, loss="Q", ways="kfold:5")
    assert found.value == pytest.approx(1)


@pytest.mark.parametrize(
    "labels",
    [["very ill", "well"], [False, True], [3, 1], [0.5, 1.5], ["b", "A"]],
    ids=["texts", "truths", "numbers", "fractions", "capitals"],
)
def test_functions_answer_by_the_users_labels(labels: list[Any]) -> None:
    frame = people()[["score", "size"]].assign(y=pd.Series(labels * (ROWS // 2), index=people().index))
    task = redelve.from_frame(frame, "y", kind="classification")

    def last(inputs: Any, targets: Any, test: Any) -> Any:
        assert set(targets) == set(labels)
        return [targets.iloc[-1]] * len(test)

    def sorted_shares(inputs: Any, targets: Any, test: Any) -> Any:
        return np.tile([0.25, 0.75], (len(test), 1))

    def named_shares(inputs: Any, targets: Any, test: Any) -> Any:
        return pd.DataFrame({labels[0]: [0.9] * len(test), labels[1]: [0.1] * len(test)})

    _, targets, _ = shown(task)
    (codes,) = one_job(last, task).answer.guesses.values  # type: ignore[union-attr]
    written = [str(targets.iloc[-1]), str(targets.iloc[-1]).replace(" ", "_")]
    levels = one_job(last, task).answer.targets[0].levels  # type: ignore[union-attr]
    assert set(codes.tolist()) == {float(next(n for n, one in enumerate(levels) if one in written))}
    first, second = (str(one).replace(" ", "_") for one in np.unique(np.array(labels, dtype=object)))
    told = one_job(sorted_shares, task).answer.probabilities.values[0]  # type: ignore[union-attr]
    assert (told[levels.index(first)], told[levels.index(second)]) == (0.25, 0.75)
    named = one_job(named_shares, task).answer.probabilities.values[0]  # type: ignore[union-attr]
    assert named[levels.index(str(labels[0]).replace(" ", "_"))] == 0.9


def test_a_class_that_nobody_knows_is_refused() -> None:
    record = one_job(lambda a, b, c: ["pink"] * len(c), redelve.from_frame(people(), "ill"))
    assert record.status == "failed"
    assert "predicted 'pink', which is no class of the training cases: very ill, well" in record.message


# Who they are, and what they can't do


def test_numbers_are_classes_for_classifiers_and_numbers_for_regressors() -> None:
    frame = (
        people()[["score", "size"]].fillna(0.0).assign(grade=np.arange(ROWS) % 3, sign=np.arange(ROWS) % 2)
    )
    grades = redelve.from_frame(frame.drop(columns="sign"), "grade")
    signs = redelve.from_frame(frame.drop(columns="grade"), "sign")

    def kind(methods: Any, task: Any) -> str:
        (facts, *_) = redelve.assess(methods, task).results.tasks.values()
        return facts.targets[0].kind

    assert kind({"k": KNeighborsClassifier()}, grades) == "categorical"
    assert kind({"k": KNeighborsClassifier(), "constant": "constant"}, grades) == "categorical"
    assert kind(["constant"], grades) == "integer"
    assert kind({"ridge": Ridge()}, signs) == "integer"
    assert kind({"k": KNeighborsClassifier()}, signs) == "categorical"
    with pytest.raises(SpecError, match=r'classifier, but target "grade" is integer.*kind="classification"'):
        redelve.assess({"k": KNeighborsClassifier(), "ridge": Ridge()}, grades)
    with pytest.raises(SpecError, match='kind is "classes": choose classification or regression'):
        redelve.from_frame(frame, "grade", kind="classes")  # type: ignore[arg-type]
    with pytest.raises(SpecError, match='holds texts such as "very ill": regression needs numbers'):
        redelve.from_frame(people(), "ill", kind="regression")
    described = Description(columns=(ColumnDescription("grade", "target", "integer"),))
    with pytest.raises(SpecError, match='kind is "classification", but the description has type = "integer"'):
        redelve.from_frame(frame, "grade", kind="classification", description=described)


def test_a_bare_estimator_is_told_the_way_out() -> None:
    record = one_job(LogisticRegression(), redelve.from_frame(people(), "ill"))
    assert record.status == "failed"
    assert (
        "columns that are no numbers (born, town, note, clinic) are handed on as they are" in record.message
    )
    assert 'sklearn_method(estimator, inputs="encoded")' in record.message
    numbers = redelve.from_frame(people()[["score", "size", "ill"]], "ill")
    assert (
        "put an imputer before it (make_pipeline(SimpleImputer()"
        in one_job(LogisticRegression(), numbers).message
    )


def test_a_selector_that_finds_nothing_is_told() -> None:
    columns = make_column_transformer(
        (OneHotEncoder(), make_column_selector(dtype_include="bool")), (StandardScaler(), ["score"])
    )
    task = redelve.from_frame(people()[["score", "town", "ill"]], "ill")
    record = one_job(make_pipeline(columns, LogisticRegression()), task)
    assert record.status == "done"
    assert (
        "onehotencoder of the ColumnTransformer selects no column, and town are used by no" in record.message
    )
    chosen = make_column_transformer((OneHotEncoder(), ["town"]), (StandardScaler(), ["score"]))
    assert one_job(make_pipeline(chosen, LogisticRegression()), task).message == ""


class Bare:
    """No scikit-learn in it: settings, fit and predict."""

    def __init__(self, shift: float = 0.0) -> None:
        self.shift = shift

    def fit(self, X: Any, y: Any) -> Bare:
        self.mean = y.mean() + self.shift
        return self

    def predict(self, X: Any) -> Any:
        return [self.mean] * len(X)


def test_fit_and_predict_are_enough() -> None:
    bare = Bare()
    record = one_job(bare, redelve.from_frame(people(), "score"))
    assert record.status == "done"
    assert not hasattr(bare, "mean")
    assert redelve.as_method(Bare()).digest == redelve.as_method(Bare()).digest
    assert redelve.as_method(Bare(1.0)).digest != redelve.as_method(Bare()).digest
    value = redelve.predict_performance(Bare(), people()[["score"]], people()["score"], ways="kfold:5").value
    assert value == pytest.approx(float(people()["score"].var()), rel=0.2)


def test_versions_of_packages_that_a_method_uses_are_recorded() -> None:
    import statsmodels.api

    def fitted(inputs: Any, targets: Any, test: Any) -> Any:
        import loky

        return np.zeros(len(test)) if loky else statsmodels.api

    assert packages_used(fitted) == ("loky", "statsmodels")
    assert packages_used(make_pipeline(StandardScaler(), Ridge())) == ()
    assert set(environment(("statsmodels",))) - set(environment()) == {"statsmodels"}
    record = one_job(fitted, redelve.from_frame(people(), "score"))
    assert {"loky", "statsmodels"} <= set(record.environment)


# Guesses of performance


def test_predict_performance_takes_pipelines_that_impute_by_themselves() -> None:
    from sklearn.impute import SimpleImputer

    frame = people().drop(index="p3")
    columns = make_column_transformer(
        (make_pipeline(SimpleImputer(strategy="most_frequent"), OneHotEncoder()), ["town"]),
        (SimpleImputer(), ["score", "size"]),
    )
    pipeline = make_pipeline(columns, LogisticRegression(max_iter=1000))
    found = redelve.predict_performance(pipeline, frame.drop(columns="ill"), frame["ill"], ways="kfold:5")
    assert found.value < 0.3
    nullable = (frame["ill"] == "well").astype("boolean")
    again = redelve.predict_performance(pipeline, frame.drop(columns="ill"), nullable, ways="kfold:5")
    assert again.value == found.value


def test_answers_of_folds_are_joined_as_they_were_told() -> None:
    one, other = (one_job(Certain(), redelve.from_frame(people(seed), "ill")).answer for seed in (0, 1))
    assert one is not None
    assert other is not None
    joined = joined_predictions([one.probabilities, other.probabilities])  # type: ignore[list-item]
    assert isinstance(joined, redelve.ClassProbabilities)
    assert joined.told is not None
    assert joined.values[0].tolist() == [1.0, 0.0]
    assert len(joined) == len(one) + len(other)


def test_codes_for_missing_values_are_gaps_in_the_frame_too() -> None:
    frame = pd.DataFrame({"age": [20, -999, 40] * 20, "sex": ["m", "?!", "f"] * 20, "y": range(60)})
    made = redelve.from_frame(frame, "y", missing={"age": -999, "sex": "?!"})
    own = made.assignments[0].own
    assert own is not None
    shown = own.inputs(np.arange(60))
    assert shown["age"].isna().sum() == shown["sex"].isna().sum() == 20
    assert (frame["age"] == -999).sum() == 20  # the user's own is as it was


# Arrays


class SeesArrays(RegressorMixin, BaseEstimator):  # type: ignore[misc]
    """Refuses what is no array of the type that it expects, and notes nothing else."""

    def __init__(self, dtype: str = "float32", columns: int = 3) -> None:
        self.dtype = dtype
        self.columns = columns

    def fit(self, X: Any, y: Any) -> SeesArrays:
        self._check(X)
        assert type(y) is np.ndarray
        self.mean_ = y.mean()
        return self

    def predict(self, X: Any) -> Any:
        self._check(X)
        return np.full(len(X), self.mean_)

    def _check(self, X: Any) -> None:
        assert type(X) is np.ndarray
        assert (X.dtype, X.shape[1]) == (self.dtype, self.columns)


def arrays(dtype: str = "float32") -> tuple[Any, Any]:
    rng = np.random.default_rng(2)
    inputs = rng.normal(size=(ROWS, 3)).astype(dtype)
    return inputs, inputs @ np.array([1.0, 2.0, 0.0]) + rng.normal(size=ROWS)


def test_arrays_are_shown_as_arrays_to_the_last_bit() -> None:
    inputs, targets = arrays()
    assert one_job(SeesArrays(), redelve.task((inputs, targets))).status == "done"
    ordered = np.asfortranarray(inputs)
    task = redelve.task((ordered, targets))
    training, asked = lessons_of(task.assignments[0], task.assignments[0].instances[0], "frame")
    rows = [int(np.flatnonzero((inputs == row).all(axis=1))[0]) for row in training.frame()]
    np.testing.assert_array_equal(training.given_target(), targets[rows])
    assert training.frame().flags.f_contiguous == ordered[rows].flags.f_contiguous
    assert {*rows, *(int(np.flatnonzero((inputs == row).all(axis=1))[0]) for row in asked.frame())} == {
        *range(ROWS)
    }


def test_what_becomes_of_an_array_later_changes_nothing() -> None:
    inputs, targets = arrays()
    task = redelve.task((inputs, targets))
    own = task.assignments[0].own
    assert own is not None
    before = own.inputs(np.arange(ROWS)).copy()
    inputs[:] = 0
    np.testing.assert_array_equal(own.inputs(np.arange(ROWS)), before)
    other = redelve.task((before, targets)).assignments[0].own
    zeros = redelve.task((inputs + np.arange(ROWS, dtype="float32")[:, None], targets)).assignments[0].own
    assert other is not None
    assert zeros is not None
    assert own.digest == other.digest != zeros.digest


def test_estimators_warn_of_no_names_that_an_array_does_not_have() -> None:
    labels = np.repeat([3, 7], ROWS // 2)
    for model in (LogisticRegression(), make_pipeline(StandardScaler(), KNeighborsClassifier())):
        record = one_job(model, redelve.task((arrays()[0], labels), kind="classification"))
        assert (record.status, record.message) == ("done", "")
    inputs, targets = arrays()
    guess = redelve.predict_performance(SeesArrays(), inputs, targets, ways=("kfold:3",)).best.value
    assert guess is not None
    assert guess > 0
    found = redelve.assess({"it": SeesArrays()}, inputs, targets)
    assert {one.status for one in found.results.records} == {"done"}


def test_columns_of_an_array_are_left_out_and_codes_are_missing() -> None:
    inputs, targets = arrays("float64")
    inputs[:7, 1] = -999
    task = redelve.task((inputs, targets), ignore="x3", missing="x2=-999")
    shown_inputs, _, asked = shown(task)
    both = np.vstack([shown_inputs, asked])
    assert both.shape == (ROWS, 2)
    assert np.isnan(both[:, 1]).sum() == 7
    assert not np.isnan(both[:, 0]).any()


def test_texts_in_an_array_stay_and_the_way_out_is_told() -> None:
    inputs = np.array([[n % 7, "ab"[n % 2]] for n in range(ROWS)], dtype=object)
    record = one_job(Ridge(), redelve.task((inputs, np.arange(ROWS) * 1.5)))
    assert record.status == "failed"
    assert "columns that are no numbers (1) are handed on as they are" in record.message


def test_a_sparse_matrix_is_refused_with_a_way_out() -> None:
    from scipy.sparse import csr_matrix

    with pytest.raises(SpecError, match=r"sparse matrix: give X.toarray"):
        redelve.task((csr_matrix(np.eye(ROWS)), np.arange(ROWS)))
