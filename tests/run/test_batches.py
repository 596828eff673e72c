"""Jobs of a method that learns many at once: done together, with the records they have one by one."""

from __future__ import annotations

import pickle
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from redelve.methods.contract import METHODS
from redelve.model.dataset import digest
from redelve.run.cells import CellLesson, Limits, learn_and_answer_together
from redelve.run.experiment import (
    BASELINE,
    FALLBACK,
    Batch,
    Experiment,
    grouped,
    pack,
    pack_together,
    perform_batch,
    plan,
    run,
)
from redelve.run.workers import InProcess, Lent, Processes, Workers, batches_as_they_end
from redelve.run.workers.processes import dump
from tests.run import choir
from tests.run.choir import Choir, Mute, Terse
from tests.run.small_jobs import dies_of_three, twice
from tests.run.toys import Toy, assignment, content, toy_experiment


def sizes(diary: Path) -> list[int]:
    return [int(line) for line in diary.read_text().split()] if diary.exists() else []


def noting(diary: Path, **mischief: Any) -> Choir:
    return Choir(str(diary), **mischief)


def one_by_one(experiment: Experiment) -> dict[Any, Any]:
    """The records of jobs done by themselves."""
    packages = [pack(experiment, job) for job in plan(experiment)]
    return {
        record.job: content(record) for package in packages for record in perform_batch(Batch((package,)))
    }


def records_of(experiment: Experiment, workers: Workers | None = None) -> dict[Any, Any]:
    return {record.job: content(record) for record in run(experiment, plan(experiment), workers)}


# Which jobs are done together


def test_jobs_of_a_method_on_a_task_are_one_batch_and_others_are_alone() -> None:
    experiment = toy_experiment({"choir": Choir(), "toy": Toy()}, 3, runs=2)
    pieces = list(grouped(experiment, plan(experiment)))
    assert [len(piece) for piece in pieces] == [6, 1, 1, 1, 1, 1, 1]
    assert {job.method for job in pieces[0]} == {"choir"}


def test_batches_are_cut_for_as_many_hands_as_there_are() -> None:
    experiment = toy_experiment({"choir": Choir()}, 8)
    jobs = plan(experiment)
    assert [len(piece) for piece in grouped(experiment, jobs, hands=3)] == [2, 3, 3]
    assert [len(piece) for piece in grouped(experiment, jobs[:2], hands=3)] == [1, 1]
    assert [job for piece in grouped(experiment, jobs, hands=3) for job in piece] == jobs


def test_no_batch_is_larger_than_memory_allows() -> None:
    task = assignment(150, training=6, testing=2)
    experiment = Experiment({"choir": Choir()}, {task.address: task})
    pieces = list(grouped(experiment, plan(experiment)))
    assert [len(piece) for piece in pieces] == [50, 50, 50]
    assert max(map(len, pieces)) <= Choir.largest_batch


def test_tasks_are_not_mixed() -> None:
    tasks = [assignment(2), assignment(2, name="other")]
    experiment = Experiment({"choir": Choir()}, {task.address: task for task in tasks})
    assert [{job.task for job in piece} for piece in grouped(experiment, plan(experiment))] == [
        {"/toy/y/std.20"},
        {"/other/y/std.20"},
    ]


def test_tasks_are_mixed_for_a_method_that_wants_it() -> None:
    class Mixing(Choir):
        mixes_tasks = True
        largest_batch = 5

    tasks = {one.address: one for one in (assignment(4, name="a"), assignment(4, name="b"))}
    experiment = Experiment({"choir": Mixing()}, tasks)
    assert [len(piece) for piece in grouped(experiment, plan(experiment))] == [4, 4]
    experiment = Experiment({"choir": Mixing()}, tasks, runs=2)
    pieces = list(grouped(experiment, plan(experiment)))
    assert [len(piece) for piece in pieces] == [4, 4, 4, 4]
    assert [job for piece in pieces for job in piece] == plan(experiment)
    assert records_of(experiment) == one_by_one(experiment)


def test_a_whole_batch_is_not_cut_for_more_hands() -> None:
    class Whole(Choir):
        is_whole = True

    for method, sizes_of_pieces in ((Choir(), [2, 2]), (Whole(), [4])):
        experiment = toy_experiment({"choir": method}, 4)
        pieces = list(grouped(experiment, plan(experiment), hands=2))
        assert [len(piece) for piece in pieces] == sizes_of_pieces


def test_runs_on_an_instance_are_shown_one_copy_of_it() -> None:
    experiment = toy_experiment({"choir": Choir()}, 2, runs=2)
    first, again, other, _ = pack_together(experiment, plan(experiment)).packages
    assert (first.job.instance, again.job.instance, other.job.instance) == (0, 0, 1)
    assert first.training is again.training
    assert first.inputs is again.inputs
    assert other.training is not first.training
    assert pack(experiment, first.job).training is not pack(experiment, first.job).training


def test_a_job_that_was_sent_is_the_same_job_with_a_method_of_its_own() -> None:
    experiment = toy_experiment({"toy": Toy()}, 2)
    batches = [pack_together(experiment, [job]) for job in plan(experiment)]
    sent = [pickle.loads(dump(batch)) for batch in batches for _ in range(2)]
    terms = [one.packages[0].terms for one in sent]
    assert len({id(one.method) for one in terms}) == 4
    assert len({id(one.attributes) for one in terms}) == 1
    there = {one.job: content(one) for batch in sent for one in perform_batch(batch)}
    assert there == one_by_one(experiment)


def test_a_digest_is_that_of_all_names_of_a_job() -> None:
    experiment = toy_experiment({'to"y': Toy()}, 2, runs=2)
    for job in plan(experiment):
        task, method = experiment.tasks[job.task], experiment.learners[job.method]
        named = [job.method, method.digest, job.task, task.digest, task.instances[job.instance].digest]
        assert experiment.digest(job) == digest([*named, job.run, experiment.limits.threads])


def test_what_is_done_is_in_no_batch(tmp_path: Path) -> None:
    experiment = toy_experiment({"choir": noting(tmp_path / "diary")}, 5)
    done = [experiment.digest(job) for job in plan(experiment)[::2]]
    made = list(run(experiment, plan(experiment, done=done)))
    assert sizes(tmp_path / "diary") == [2]
    assert sorted(record.job.instance for record in made) == [1, 3]


# The same records


@pytest.mark.parametrize(
    ("workers", "expected"),
    [
        (InProcess, [4]),
        (lambda: Processes(2), [2, 2]),
        (lambda: Lent(lambda: ThreadPoolExecutor(2), at_once=4), [2, 2]),
    ],
    ids=["in-process", "processes", "threads"],
)
@pytest.mark.parametrize("limits", [Limits(), Limits(isolated=True)], ids=["here", "isolated"])
def test_records_are_those_of_jobs_one_by_one(
    tmp_path: Path, workers: Callable[[], Workers], expected: list[int], limits: Limits
) -> None:
    experiment = toy_experiment({"choir": noting(tmp_path / "diary"), "toy": Toy()}, 4, limits=limits)
    found = records_of(experiment, workers())
    assert sizes(tmp_path / "diary") == expected
    assert found == one_by_one(experiment)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::DeprecationWarning")
def test_a_cluster_does_batches_too(tmp_path: Path) -> None:
    from redelve.run.workers import Dask

    experiment = toy_experiment({"choir": noting(tmp_path / "diary")}, 4)
    found = records_of(experiment, Dask(count=2))
    assert sizes(tmp_path / "diary") == [2, 2]
    assert found == one_by_one(experiment)


@pytest.mark.parametrize("limits", [Limits(), Limits(isolated=True)], ids=["here", "isolated"])
def test_networks_of_the_engine_have_the_same_records(limits: Limits) -> None:
    methods = {name: METHODS[name] for name in ("mlp-rprop", "mlp-ese-1")}
    experiment = toy_experiment(methods, 4, limits=limits)
    found = records_of(experiment)
    assert {state[3] for state in found.values()} == {"done"}
    assert found == one_by_one(experiment)


def test_costs_are_shared(tmp_path: Path) -> None:
    def waits() -> None:
        time.sleep(0.4)

    for limits in (Limits(), Limits(isolated=True)):
        experiment = toy_experiment({"choir": noting(tmp_path / "diary", mischief=waits)}, 4, limits=limits)
        before = time.monotonic()
        made = list(run(experiment, plan(experiment)))
        took = time.monotonic() - before
        (share,) = {record.costs.training_seconds for record in made}
        assert share is not None
        assert 0.4 <= 4 * share <= took  # were each told the time of all, it would be far more than it took
        for record in made:
            assert record.costs.cpu_seconds is not None
            assert record.costs.peak_memory is not None


# What goes wrong


@pytest.mark.parametrize("mischief", [choir.raises, choir.warns])
@pytest.mark.parametrize("limits", [Limits(), Limits(isolated=True)], ids=["here", "isolated"])
def test_a_batch_that_fails_or_warns_is_done_job_by_job(
    tmp_path: Path, mischief: Callable[[], None], limits: Limits
) -> None:
    experiment = toy_experiment({"choir": noting(tmp_path / "diary", mischief=mischief)}, 3, limits=limits)
    found = records_of(experiment)
    assert sizes(tmp_path / "diary") == [3, 1, 1, 1]
    assert {state[3] for state in found.values()} == {"done"}
    assert found == one_by_one(experiment)


@pytest.mark.parametrize("limits", [Limits(), Limits(isolated=True)], ids=["here", "isolated"])
def test_a_failure_is_the_job_s_own(limits: Limits) -> None:
    experiment = toy_experiment({"choir": Choir(fault=choir.fails_on_some)}, 6, limits=limits)
    made = list(run(experiment, plan(experiment)))
    assert {record.status for record in made} == {"done", "failed"}
    assert {record.message for record in made if record.status == "failed"} == {"ValueError: not this one"}
    assert {record.job: content(record) for record in made} == one_by_one(experiment)


def test_the_baseline_stands_in_for_the_failed_of_a_batch() -> None:
    experiment = toy_experiment({"choir": Choir(fault=choir.fails_on_some)}, 6, on_failure=BASELINE)
    for record in run(experiment, plan(experiment)):
        assert record.fallback == (None if record.status == "done" else FALLBACK)
        assert record.has_losses


def test_a_job_that_ends_its_worker_is_found_out_among_the_batch() -> None:
    experiment = toy_experiment({"choir": Choir(fault=choir.ends_on_some)}, 6)
    made = list(run(experiment, plan(experiment), Processes(2)))
    assert len(made) == 6
    assert {record.status for record in made} == {"done", "crashed"}
    isolated = toy_experiment({"choir": Choir(fault=choir.ends_on_some)}, 6, limits=Limits(isolated=True))
    alone = {record.job: record.status for record in run(isolated, plan(isolated))}
    assert {record.job: record.status for record in made} == alone


@pytest.mark.parametrize(
    ("mischief", "limits"),
    [
        pytest.param(choir.hangs_in_company, Limits(seconds=0.5), id="time"),
        pytest.param(
            choir.eats_memory_in_company, Limits(memory=900_000_000), id="memory", marks=pytest.mark.slow
        ),
    ],
)
def test_a_batch_beyond_its_limits_is_done_job_by_job(
    tmp_path: Path, mischief: Callable[[], None], limits: Limits
) -> None:
    experiment = toy_experiment({"choir": noting(tmp_path / "diary", mischief=mischief)}, 2, limits=limits)
    found = list(run(experiment, plan(experiment)))
    assert sizes(tmp_path / "diary") == [2, 1, 1]
    assert [record.status for record in found] == ["done", "done"]


def test_a_batch_has_the_time_of_all_its_jobs(tmp_path: Path) -> None:
    limits = Limits(seconds=1.0)
    method = noting(tmp_path / "diary", mischief=choir.takes_its_time)
    experiment = toy_experiment({"choir": method}, 4, limits=limits)
    assert [record.status for record in run(experiment, plan(experiment))] == ["done"] * 4
    assert sizes(tmp_path / "diary") == [4]


@pytest.mark.parametrize("kind", [Mute, Terse])
@pytest.mark.parametrize("limits", [Limits(), Limits(isolated=True)], ids=["here", "isolated"])
def test_a_batch_with_answers_amiss_is_done_job_by_job(
    tmp_path: Path, kind: type[Choir], limits: Limits
) -> None:
    experiment = toy_experiment({"choir": kind(str(tmp_path / "diary"))}, 3, limits=limits)
    found = records_of(experiment)
    assert sizes(tmp_path / "diary") == [3, 1, 1, 1]
    assert {state[3] for state in found.values()} == {"done"}


def test_a_thread_beside_others_works_in_a_cell() -> None:
    experiment = toy_experiment({"choir": Choir()}, 2)
    packages = [pack(experiment, job) for job in plan(experiment)]
    lessons = [CellLesson(one.training, one.inputs, one.seed) for one in packages]
    here = learn_and_answer_together(Choir(), lessons, Limits())
    found: list[Any] = []
    thread = threading.Thread(
        target=lambda: found.append(learn_and_answer_together(Choir(), lessons, Limits()))
    )
    thread.start()
    thread.join()
    assert here is not None
    for mine, theirs in zip(here, found[0], strict=True):
        assert mine.answer is not None
        assert theirs.answer is not None
        assert mine.answer.guesses == theirs.answer.guesses


# Pieces of work that make several things


def lost(numbers: tuple[int, ...], reason: str) -> list[str]:
    return [f"lost {numbers}"]


def apart(numbers: tuple[int, ...]) -> list[tuple[int, ...]]:
    return [(number,) for number in numbers]


def test_what_is_made_comes_one_by_one() -> None:
    made = batches_as_they_end(InProcess(), twice, [(1, 2), (3,)], lost, apart)
    assert next(made) == 2
    assert made.under_way == ((1, 2),)
    assert list(made) == [4, 6]


def test_only_the_part_that_kills_is_given_up() -> None:
    made = list(batches_as_they_end(Processes(2), dies_of_three, [(1, 2, 3), (4, 5)], lost, apart))
    assert sorted(map(str, made)) == ["1", "2", "4", "5", "lost (3,)"]


def test_closing_closes_what_is_given() -> None:
    closed = []

    def given() -> Any:
        try:
            yield (1,)
            yield (2,)
        finally:
            closed.append(True)

    made = batches_as_they_end(InProcess(), twice, given(), lost, apart)
    assert next(made) == 2
    made.close()
    assert closed == [True]


def test_batches_say_what_they_are() -> None:
    experiment = toy_experiment({"choir": Choir()}, 3)
    packages = tuple(pack(experiment, job) for job in plan(experiment))
    assert str(Batch(packages)) == "/choir/toy/y/std.20, instance 0 and 2 more"
    assert [str(part) for part in Batch(packages).parts()] == [str(one) for one in packages]
