"""Plan and run: which jobs there are, what is in a record, what becomes of failures."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from redelve.answers.answer import Answer
from redelve.answers.predictions import Guesses, Target
from redelve.errors import SpecError
from redelve.methods.contract import METHODS, Method
from redelve.methods.shown import TrainingSet
from redelve.run.cells import Limits
from redelve.run.experiment import BASELINE, FALLBACK, Experiment, lost, pack, perform, plan, run, split
from redelve.run.workers import Processes
from tests.run import toys
from tests.run.toys import Toy, assignment, content, toy_experiment


def test_jobs_come_instance_by_instance() -> None:
    experiment = toy_experiment({"one": Toy(), "two": Toy(toys.warns)}, 2, runs=2)
    assert [(job.instance, job.run, job.method) for job in plan(experiment)] == [
        (instance, number, name) for instance in (0, 1) for number in (0, 1) for name in ("one", "two")
    ]


def test_what_is_done_is_not_planned() -> None:
    experiment = toy_experiment({"one": Toy()}, 3)
    jobs = plan(experiment)
    assert plan(experiment, done=[experiment.digest(jobs[1])]) == [jobs[0], jobs[2]]


def test_digests_tell_jobs_apart() -> None:
    first = toy_experiment({"one": Toy(), "two": Toy()}, 3, runs=2)
    other = Experiment({"one": Toy(toys.warns)}, first.assignments)
    threads = Experiment(first.methods, first.assignments, limits=Limits(threads=2))
    found = [one.digest(job) for one in (first, other, threads) for job in plan(one)]
    assert len(set(found)) == len(found)


def test_limits_do_not_make_another_job() -> None:
    first = toy_experiment({"one": Toy()}, 1)
    second = toy_experiment({"one": Toy()}, 1, limits=Limits(seconds=5, isolated=True))
    assert [first.digest(job) for job in plan(first)] == [second.digest(job) for job in plan(second)]


def test_ten_thousand_jobs_are_planned_quickly() -> None:
    task = assignment(1000, training=50, testing=20)
    experiment = Experiment({f"m{number}": Toy() for number in range(10)}, {task.address: task})
    before = time.process_time()
    assert len(plan(experiment)) == 10_000
    assert time.process_time() - before < 5


class Picky(Toy):
    def why_not(self, targets: tuple[Target, ...]) -> str | None:
        return f'it takes classes only, not "{targets[0].name}"'


def test_a_method_that_cannot_do_a_task_is_told_before_anything_is_run() -> None:
    with pytest.raises(
        SpecError, match=r'method "picky" can\'t work on /toy/y/std\.20: it takes classes only'
    ):
        plan(toy_experiment({"one": Toy(), "picky": Picky()}))


def test_a_method_sees_no_test_target_and_nobody_sees_its_changes() -> None:
    task = assignment(2)
    training, inputs, truths = split(task, task.instances[0])
    assert len(inputs.cases.columns) == toys.INPUTS
    training.target_values()[:] = 0
    inputs.cases.columns[0].numbers()[:] = 0
    assert np.any(split(task, task.instances[0])[0].target_values())
    assert np.any(truths[0].values)


def spoils_its_data(training: TrainingSet) -> None:
    for column in training.cases.columns:
        column.numbers()[:] *= 2


def test_a_method_that_spoils_its_data_spoils_only_its_own() -> None:
    good = toy_experiment({"good": Toy()}, 2)
    both = toy_experiment({"bad": Toy(spoils_its_data), "good": Toy()}, 2)
    alone = [content(record) for record in run(good, plan(good))]
    assert [content(record) for record in run(both, plan(both)) if record.job.method == "good"] == alone


def test_seeds_follow_names_not_order() -> None:
    experiment = toy_experiment({"one": Toy()}, 3, runs=2)
    jobs = plan(experiment)
    forwards = {record.job: content(record) for record in run(experiment, jobs)}
    backwards = {record.job: content(record) for record in run(experiment, jobs[::-1])}
    assert forwards == backwards
    assert len({record.seed for record in run(experiment, jobs)}) == len(jobs)


class Fixed(Method):
    """Answers what it is told to."""

    summary = "For tests."

    def __init__(self, answer: object) -> None:
        self.answer = answer

    @property
    def identity(self) -> Mapping[str, Any]:
        return {"kind": "fixed"}

    def learn(self, training: TrainingSet, rng: np.random.Generator) -> Fixed:
        return self

    def predict(self, inputs: object) -> Any:
        return self.answer


@pytest.mark.parametrize("isolated", [True, False])
@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (None, "expected an Answer but got None"),
        (
            Answer(Guesses((Target("y", "real"),), (np.zeros(3),))),
            "expected answers for 10 test cases but got 3",
        ),
    ],
)
def test_an_answer_that_does_not_fit_is_a_failure(answer: object, message: str, isolated: bool) -> None:
    experiment = toy_experiment({"fixed": Fixed(answer)}, 1, limits=Limits(isolated=isolated))
    (record,) = run(experiment, plan(experiment))
    assert (record.status, record.message, record.has_losses) == ("failed", message, False)


@pytest.mark.parametrize("limits", [Limits(), Limits(seconds=30)], ids=["in-process", "isolated"])
def test_the_baseline_stands_in_for_failures(limits: Limits) -> None:
    methods = {"failing": Toy(toys.raises), "best": METHODS[FALLBACK]}
    experiment = toy_experiment(methods, 2, limits=limits, on_failure=BASELINE)
    records = list(run(experiment, plan(experiment)))
    for failed, best in zip(records[::2], records[1::2], strict=True):
        assert (failed.status, failed.fallback) == ("failed", FALLBACK)
        assert failed.message.startswith("ValueError: no such luck")
        assert (best.status, best.fallback) == ("done", None)
        assert {code: loss.tolist() for code, loss in failed.losses.items()} == {
            code: loss.tolist() for code, loss in best.losses.items()
        }


def test_the_baseline_stands_in_for_jobs_that_kill_their_workers() -> None:
    experiment = toy_experiment({"exits": Toy(toys.exits)}, 1, on_failure=BASELINE)
    (record,) = run(experiment, plan(experiment), Processes(1))
    assert (record.status, record.fallback, record.has_losses) == ("crashed", FALLBACK, True)
    assert record.message == "its worker process was lost: ended with exit code 3"


def test_a_baseline_that_fails_too_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(METHODS._items, FALLBACK, Toy(toys.raises))
    experiment = toy_experiment({"failing": Toy(toys.calls_exit)}, 1, on_failure=BASELINE)
    (record,) = run(experiment, plan(experiment))
    assert (record.status, record.fallback, record.has_losses) == ("failed", None, False)
    assert record.message == (
        'SystemExit: enough; and "constant", which should stand in: ValueError: no such luck'
    )


def test_left_out_failures_have_no_losses() -> None:
    experiment = toy_experiment({"failing": Toy(toys.raises)}, 1)
    record = lost(pack(experiment, plan(experiment)[0]), "gone")
    assert (record.status, record.message, record.has_losses) == ("crashed", "gone", False)
    assert not perform(pack(experiment, plan(experiment)[0])).has_losses


def test_records_tell_what_it_took_and_where() -> None:
    for limits in (Limits(), Limits(isolated=True)):
        experiment = toy_experiment({"one": Toy(toys.takes_a_moment)}, 1, limits=limits)
        (record,) = run(experiment, plan(experiment))
        costs = record.costs
        assert costs.training_seconds is not None
        assert costs.prediction_seconds is not None
        assert costs.cpu_seconds is not None
        assert costs.training_seconds >= 0.2 > costs.cpu_seconds > 0
        assert costs.prediction_seconds > 0
        assert record.started.startswith("20")
        assert {"python", "numpy", "redelve"} <= set(record.environment)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"methods": {}}, "at least one method"),
        ({"runs": 0}, "runs must be 1 or more, not 0"),
        ({"on_failure": "ignore"}, 'on_failure is "ignore": choose "leave out" or "baseline"'),
    ],
)
def test_an_experiment_that_makes_no_sense_is_refused(changes: dict[str, Any], message: str) -> None:
    task = assignment(1)
    with pytest.raises(SpecError, match=message):
        Experiment(**{"methods": {"one": Toy()}, "assignments": {task.address: task}, **changes})


class Unwritable(Toy):
    @property
    def identity(self) -> Mapping[str, Any]:
        return {"kind": object()}


def test_an_identity_that_cannot_be_written_is_told() -> None:
    task = assignment(1)
    told = r'the identity of method "one" \(\S+\.Unwritable\) failed: TypeError: .* serializable: mend'
    with pytest.raises(SpecError, match=told):
        Experiment({"one": Unwritable()}, {task.address: task})


def test_an_experiment_may_name_its_jobs_and_their_seeds() -> None:
    usual = toy_experiment({"toy": Toy(), "other": Toy()}, 3)
    every = plan(usual)
    named = replace(usual, jobs={every[3]: 7, every[0]: usual.seed(every[0])})
    assert plan(named) == [every[3], every[0]]
    records = {record.job: record for record in run(named, plan(named))}
    assert records[every[3]].seed == 7
    same = {record.job: record for record in run(usual, [every[0]])}
    np.testing.assert_array_equal(records[every[0]].losses["S"], same[every[0]].losses["S"])
    assert plan(named, done={named.digest(every[3])}) == [every[0]]
    other = replace(named, jobs={every[3]: 8})
    assert plan(other, done={named.digest(every[3])}) == [every[3]]
