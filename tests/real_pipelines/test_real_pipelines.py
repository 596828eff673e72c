"""What users bring is what is assessed: pipelines predict, to the last bit, what they predict by hand."""

from __future__ import annotations

import warnings
from copy import deepcopy
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import is_classifier
from threadpoolctl import threadpool_limits

import redelve
from redelve.data.tasks import suited
from redelve.methods.adapters.sklearn_adapter import kind_of
from redelve.methods.contract import taking
from redelve.model import Assignment
from tests.real_pipelines.pipelines import ELSEWHERE, TRIALS, Trial, categories
from tests.real_pipelines.tables import FILES, path_of, table

INSTANCES = 2
EVERY = [pytest.param(one, id=f"{one.table}: {one.name}") for one in (*TRIALS, *ELSEWHERE)]


def assessed(trial: Trial, task: Any) -> tuple[Assignment, tuple[redelve.Record, ...]]:
    """The first instances of the largest training sets, worked on by the main road."""
    task = suited(task, taking({"it": redelve.as_method(trial.make())}))
    largest = task.assignments[-1]
    chosen = replace(largest, instances=largest.instances[:INSTANCES])
    found = redelve.assess({"it": trial.make()}, replace(task, assignments=(chosen,)))
    return chosen, found.results.records


def by_hand(trial: Trial, frame: Any, training: Any, testing: Any) -> tuple[Any, Any, Any]:
    """The fitted copy, its predictions and its probabilities, as anybody would get them."""
    taken = frame.iloc if isinstance(frame, pd.DataFrame) else frame
    learnt, asked = taken[training], taken[testing]
    inputs = [name for name in frame.columns if name != trial.target]
    outputs = learnt[trial.target]
    if trial.needs == "xgboost" and is_classifier(trial.make()):
        outputs = outputs.cat.codes  # it takes no other classes, inside redelve or not
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = deepcopy(trial.make()).fit(learnt[inputs], outputs)
        told = model.predict_proba(asked[inputs]) if hasattr(model, "predict_proba") else None
        return model, np.asarray(model.predict(asked[inputs])).ravel(), told


@pytest.mark.parametrize("trial", EVERY)
def test_predictions_are_those_of_fit_and_predict(trial: Trial) -> None:
    if trial.needs:
        pytest.importorskip(trial.needs)
    frame = trial.frame()
    compare(trial, frame, redelve.task(frame, trial.target, name=trial.table))


def compare(trial: Trial, frame: Any, task: Any) -> None:
    assignment, records = assessed(trial, task)
    known = np.flatnonzero(~np.asarray(pd.isna(np.asarray(frame[trial.target]))))
    numbers = known[assignment.data.case_numbers - 1]
    assert len(records) == INSTANCES
    for record, instance in zip(records, assignment.instances, strict=True):
        assert record.status == "done", record.message
        assert record.answer is not None
        assert record.answer.guesses is not None
        (guesses,) = record.answer.guesses.values
        parts = numbers[instance.training], numbers[instance.testing]
        model, predicted, told = by_hand(trial, frame, *parts)
        levels = record.answer.guesses.targets[0].levels
        if not levels:
            assert np.array_equal(guesses, predicted.astype(np.float64))
            continue
        assert [levels[int(one)] for one in guesses] == list(named(trial, frame, predicted))
        assert len({str(one) for one in np.asarray(frame[trial.target], dtype=object)[known]}) == len(levels)
        if told is not None:
            assert record.answer.probabilities is not None
            columns = [levels.index(one) for one in named(trial, frame, getattr(model, "classes_", []))]
            assert np.array_equal(record.answer.probabilities.values[:, columns], told)


def named(trial: Trial, frame: Any, predicted: Any) -> list[str]:
    """Classes as DELVE writes them, without blanks; XGBoost's are numbers of categories."""
    labels = np.asarray(predicted).ravel().tolist()
    if trial.needs == "xgboost":
        labels = [frame[trial.target].cat.categories[one] for one in labels]
    return [str(one).replace(" ", "_") for one in labels]


def test_there_are_enough_of_them() -> None:
    assert len(TRIALS) >= 25
    assert {one.table for one in TRIALS} == set(FILES)
    assert {kind_of(one.make()) for one in TRIALS} == {"classifier", "regressor", "either"}


# --- other ways to come by the frame


def of(name: str) -> Trial:
    return next(one for one in TRIALS if one.name == name)


@pytest.mark.parametrize("name", ["ordinal codes and a forest", "neighbours fill in", "classes 0 and 1"])
def test_a_csv_file_is_what_pandas_reads(name: str) -> None:
    trial = of(name)
    path = path_of(trial.table)
    compare(trial, pd.read_csv(path), redelve.task(path, trial.target))


def test_an_arff_file_has_its_declared_levels() -> None:
    trial = of("words of a name")
    compare(trial, table("titanic"), redelve.task(path_of("titanic"), "survived"))


def test_a_parquet_file_keeps_its_categories(tmp_path: Path) -> None:
    trial = of("boosting from dtype, numbers")
    frame = categories(table("autos"))
    frame.to_parquet(tmp_path / "autos.parquet")
    compare(trial, frame, redelve.task(tmp_path / "autos.parquet", "price"))


def test_a_cell_makes_no_difference() -> None:
    trial = of("boosting from dtype")
    frame = trial.frame()
    task = redelve.task(frame, trial.target)
    largest = task.assignments[-1]
    one = replace(task, assignments=(replace(largest, instances=largest.instances[:2]),))
    limits = redelve.Limits(isolated=True)
    here = redelve.assess({"it": trial.make()}, one).results.records
    there = redelve.assess({"it": trial.make()}, one, limits=limits).results.records
    for mine, theirs in zip(here, there, strict=True):
        assert mine.digest == theirs.digest
        assert mine.answer is not None
        assert theirs.answer is not None
        assert mine.answer.probabilities == theirs.answer.probabilities
        assert mine.answer.probabilities is not None
        assert mine.answer.probabilities.told is not None
