"""Methods that differ in numbers only: their jobs are one batch, with the records they have one by one."""

from __future__ import annotations

import pickle
from typing import Any

import pytest
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from redelve.methods.adapters.sklearn_adapter import sklearn_method
from redelve.methods.batched import BatchedMLPRegressor, members
from redelve.methods.contract import METHODS, BatchMethod, Method
from redelve.nets import train
from redelve.run.cells import Limits
from redelve.run.cells.job_and_outcome import SealedMethod
from redelve.run.experiment import Batch, Experiment, grouped, pack, pack_together, perform_batch, plan, run
from tests.run.toys import content, toy_experiment


class Own(TransformerMixin, BaseEstimator):  # type: ignore[misc, unused-ignore]
    """Somebody's own code."""

    def fit(self, x: Any, y: Any = None) -> Own:
        return self

    def transform(self, x: Any) -> Any:
        return x


def network(alpha: float = 0.1, layers: tuple[int, ...] = (3,), **settings: Any) -> Method:
    estimator = BatchedMLPRegressor(layers, alpha=alpha, max_iter=20, **settings)
    return sklearn_method(estimator, inputs="encoded")


def settings_of(count: int = 3) -> dict[str, Method]:
    return {f"decay-{number}": network(10.0**-number) for number in range(count)}


def one_by_one(experiment: Experiment) -> dict[Any, Any]:
    packages = [pack(experiment, job) for job in plan(experiment)]
    return {one.job: content(one) for each in packages for one in perform_batch(Batch((each,)))}


def records_of(experiment: Experiment) -> dict[Any, Any]:
    return {record.job: content(record) for record in run(experiment, plan(experiment))}


def test_settings_are_one_batch_and_other_layers_or_methods_are_not() -> None:
    others = {"wide": network(layers=(5,)), "lin": METHODS["lin-1"], "rprop": METHODS["mlp-rprop"]}
    experiment = toy_experiment({**settings_of(), **others}, 2, runs=2)
    pieces = [[job.method for job in piece] for piece in grouped(experiment, plan(experiment))]
    assert sorted(map(len, pieces)) == [1, 1, 1, 1, 4, 4, 12]
    assert max(pieces, key=len) == ["decay-0", "decay-1", "decay-2"] * 4


def test_settings_in_a_pipeline_are_one_batch_and_code_of_others_is_apart() -> None:
    def pipeline(first: Any, alpha: float) -> Method:
        return sklearn_method(make_pipeline(first, BatchedMLPRegressor((3,), alpha=alpha)), inputs="encoded")

    known = {f"known-{alpha}": pipeline(StandardScaler(), alpha) for alpha in (0.1, 1.0)}
    foreign = {f"own-{alpha}": pipeline(Own(), alpha) for alpha in (0.1, 1.0)}
    experiment = toy_experiment({**known, **foreign}, 2)
    pieces = [{job.method for job in piece} for piece in grouped(experiment, plan(experiment))]
    assert sorted(map(sorted, pieces)) == [["known-0.1", "known-1.0"], ["own-0.1"], ["own-1.0"]]


def test_records_are_those_of_jobs_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    sizes: list[int] = []

    def noting(architecture: Any, weights: Any, *more: Any, **options: Any) -> Any:
        sizes.append(len(weights))
        return train(architecture, weights, *more, **options)

    monkeypatch.setattr(members, "train", noting)
    experiment = toy_experiment(settings_of(), 2)
    found = records_of(experiment)
    assert sizes == [6]
    assert {state[3] for state in found.values()} == {"done"}
    assert found == one_by_one(experiment)


def test_a_cell_makes_the_same_records() -> None:
    here = toy_experiment(settings_of(2), 1)
    isolated = toy_experiment(settings_of(2), 1, limits=Limits(isolated=True))
    batch = pack_together(isolated, plan(isolated))
    assert isinstance(batch.method, SealedMethod)
    assert {one.job: content(one) for one in perform_batch(batch)} == one_by_one(here)


def test_a_batch_of_several_methods_can_be_sent() -> None:
    experiment = toy_experiment(settings_of(2), 2)
    first, second = grouped(experiment, plan(experiment), hands=2)
    assert [job.method for job in first] == ["decay-0", "decay-1"]
    sent = [pickle.loads(pickle.dumps(pack_together(experiment, jobs))) for jobs in (first, second)]
    found = {one.job: content(one) for batch in sent for one in perform_batch(batch)}
    assert found == one_by_one(experiment)


def test_a_setting_that_fails_does_so_alone() -> None:
    experiment = toy_experiment({**settings_of(2), "wrong": network(-1.0)}, 2)
    (piece,) = grouped(experiment, plan(experiment))
    assert {job.method for job in piece} == {"decay-0", "decay-1", "wrong"}
    made = list(run(experiment, plan(experiment)))
    assert {record.job.method for record in made if record.status == "failed"} == {"wrong"}
    assert len(made) == 6
    assert {record.job: content(record) for record in made} == one_by_one(experiment)


def test_jobs_of_a_batch_that_fails_are_tried_method_by_method(monkeypatch: pytest.MonkeyPatch) -> None:
    experiment = toy_experiment({**settings_of(2), "wrong": network(-1.0)}, 2)
    tried: list[int] = []

    def noting(method: Any, lessons: Any, limits: Limits) -> None:
        tried.append(len(lessons))

    monkeypatch.setattr("redelve.run.experiment.learn_and_answer_together", noting)
    list(run(experiment, plan(experiment)))
    assert tried == [6, 2, 2, 2]


def test_a_company_without_a_common_method_is_a_mistake() -> None:
    class Lonely(BatchMethod):
        company = "lonely"
        summary, identity = "", {}

        def learn_many(self, trainings: Any, rngs: Any) -> Any:
            return []

    with pytest.raises(NotImplementedError, match="Lonely has a company but not `among`"):
        Lonely().among([])
