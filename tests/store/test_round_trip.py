"""Everything that a method can answer comes back from an archive as it was, to the bit."""

from __future__ import annotations

import tempfile
from dataclasses import fields, replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

from redelve.answers.answer import Answer
from redelve.answers.distributions import (
    Distribution,
    Normal,
    NormalMixture,
    Quantiles,
    Samples,
    Student,
    distributions,
)
from redelve.answers.predictions import ClassProbabilities, Guesses, Target, TargetDistributions, Truth
from redelve.model.dataset import LARGEST
from redelve.run.results import InstanceFacts, Job, MethodFacts, Record, TaskFacts
from redelve.store import Archive
from redelve.store.fact_files import PLAIN
from tests.examples import quickly
from tests.store.made import assert_same, assert_same_answer, make_method, make_task

CASES = 4
finite = st.floats(-1e6, 1e6)
positive = st.floats(0.01, 1e3)
loss_values = st.floats(-LARGEST, LARGEST) | st.sampled_from([np.inf, -np.inf])  # none lies between them
names = st.text(min_size=1, max_size=12).filter(lambda text: not text.startswith("?") and "\0" not in text)
ODD_NAMES = ["a.b", "A.b", "guess", "loss.S", "a%2Eb", "x y", "ä/β", "..", "list.element", "instance"]


def array(elements: st.SearchStrategy[float], width: int | None = None) -> st.SearchStrategy[np.ndarray]:
    shape = (CASES,) if width is None else (CASES, width)
    return npst.arrays(np.float64, shape, elements=elements)


def quantiles(width: int) -> st.SearchStrategy[Quantiles]:
    levels = (np.arange(width) + 1) / (width + 1)
    return st.builds(Quantiles, st.just(levels), array(finite, width))


forecasts: dict[str, st.SearchStrategy[Distribution]] = {
    "normal": st.builds(Normal, array(finite), array(positive)),
    "student": st.builds(Student, array(finite), array(positive), array(st.floats(1.5, 50))),
    "normal-mixture": st.integers(1, 4).flatmap(
        lambda width: st.builds(
            NormalMixture, array(positive, width), array(finite, width), array(positive, width)
        )
    ),
    "samples": st.integers(2, 5).flatmap(lambda width: st.builds(Samples, array(finite, width))),
    "quantiles": st.integers(2, 5).flatmap(quantiles),
}


def test_every_kind_of_distribution_is_tried() -> None:
    assert set(forecasts) == set(distributions)


@st.composite
def numeric_answers(draw: st.DrawFn) -> Answer:
    count = draw(st.integers(1, 3))
    chosen = draw(st.lists(names | st.sampled_from(ODD_NAMES), min_size=count, max_size=count, unique=True))
    targets = tuple(Target(name, draw(st.sampled_from(["real", "integer"]))) for name in chosen)

    def guesses() -> Guesses:
        return Guesses(targets, tuple(draw(array(finite | st.just(np.nan))) for _ in targets))

    forecast = None
    if draw(st.booleans()):
        kinds = [draw(st.sampled_from(sorted(forecasts))) for _ in targets]
        forecast = TargetDistributions(targets, tuple(draw(forecasts[kind]) for kind in kinds))
    special = {code: guesses() for code in draw(st.sets(st.sampled_from(["A", "S", "Z0.2N", "S1.5N"])))}
    general = guesses() if draw(st.booleans()) or not (forecast or special) else None
    return Answer(general, None, forecast, special)


@st.composite
def class_answers(draw: st.DrawFn) -> Answer:
    levels = draw(st.lists(names | st.sampled_from(ODD_NAMES), min_size=2, max_size=5, unique=True))
    target = Target(draw(names), "categorical", tuple(levels))
    logs = draw(array(st.floats(-800, 0) | st.just(-np.inf), len(levels)))
    logs[:, 0] = np.where(np.isinf(logs).all(axis=1), -1.0, logs[:, 0])
    indexes = st.integers(0, len(levels) - 1).map(float) | st.just(np.nan)
    guesses = Guesses((target,), (draw(array(indexes)),)) if draw(st.booleans()) else None
    probabilities = ClassProbabilities(target, logs) if draw(st.booleans()) or guesses is None else None
    return Answer(guesses, probabilities)


def task_for(targets: tuple[Target, ...]) -> TaskFacts:
    truths = tuple(Truth.exact(target, np.zeros(CASES)) for target in targets)
    instance = InstanceFacts("i0", 3, np.arange(1, CASES + 1), truths)
    return replace(make_task(), targets=targets, instances=(instance,), baselines={})


def kept(folder: Path, task: TaskFacts, record: Record, *, compact: bool) -> Record:
    archive = Archive.open(folder / "a", create=True)
    archive.register({task.address: task}, {"lin": make_method()})
    archive.add(record)
    if compact:
        archive.compact()
    assert archive.verify().problems == ()
    (back,) = Archive.open(folder / "a").load(answers=True).records
    return back


@given(numeric_answers() | class_answers(), st.booleans())
@settings(max_examples=quickly(25))
def test_answers_come_back_to_the_bit(answer: Answer, compact: bool) -> None:
    task = task_for(answer.targets)
    record = Record(Job(task.address, "lin", 0), "d1", 7, "done", {}, answer)
    with tempfile.TemporaryDirectory() as folder:
        back = kept(Path(folder), task, record, compact=compact)
    assert_same(record, back)
    assert_same_answer(answer, back.answer)


@given(array(loss_values), array(loss_values), st.booleans())
@settings(max_examples=quickly(12))
def test_losses_come_back_to_the_bit(first: np.ndarray, second: np.ndarray, compact: bool) -> None:
    task = task_for((Target("y", "real"),))
    record = Record(Job(task.address, "lin", 0), "d1", 7, "done", {"L": first, "Mcosts": second})
    with tempfile.TemporaryDirectory() as folder:
        back = kept(Path(folder), task, record, compact=compact)
    assert_same(record, back)


@pytest.mark.parametrize("units", [True, False])
def test_tasks_come_back(tmp_path: Path, units: bool) -> None:
    targets = (Target("y", "real"), Target("n", "integer"), Target("angle", "angular", unit=360.0))
    values = [np.array([1.5, 2.0, 3.0]), np.array([1.0, 2.0, 3.0]), np.array([10.0, 350.0, 0.0])]
    censoring = [np.array([0, 1, -1]), np.array([0, 0, 1]), np.zeros(3)]
    truths = tuple(map(Truth, targets, values, censoring))
    numbers = np.array([9, 4, 2])
    instances = tuple(
        InstanceFacts(f"i{n}", 10 + n, numbers + n, truths, numbers % 2 if units else None) for n in range(2)
    )
    task = replace(
        make_task(),
        targets=targets,
        instances=instances,
        scheme="common",
        baselines={"L": None, "S": 2.5},
        notes=("beware", "of “the” dog"),
        test_overlap=True,
        case_count=12,
    )
    archive = Archive.open(tmp_path / "a", create=True)
    archive.register({task.address: task}, {})
    back = archive.load().task(task.address)
    for field in fields(TaskFacts):
        if field.name != "instances":
            assert getattr(back, field.name) == getattr(task, field.name), field.name
    for one, other in zip(task.instances, back.instances, strict=True):
        assert (one.digest, one.training_set_size, one.truths) == (
            other.digest,
            other.training_set_size,
            other.truths,
        )
        np.testing.assert_array_equal(one.case_numbers, other.case_numbers)
        np.testing.assert_array_equal(one.units, other.units)


def test_no_field_of_a_task_is_forgotten() -> None:
    others = {"digest", "targets", "instances", "baselines", "notes", "own_losses", "left_out"}
    others |= {"test_ratio", "remarks"}
    assert {field.name for field in fields(TaskFacts) if field.init} == set(PLAIN) | others
    known = {"digest", "training_set_size", "case_numbers", "truths", "units", "names", "weights", "columns"}
    assert {field.name for field in fields(InstanceFacts)} == known


def test_no_field_of_a_record_is_forgotten() -> None:
    known = "job digest seed status losses answer message fallback costs started environment told"
    assert {field.name for field in fields(Record)} == set(known.split())


def test_methods_come_back(tmp_path: Path) -> None:
    method = MethodFacts(
        "k nn/ß", "abc", {"k": 3, "deep": {"x": [1, 2.5]}, "weights": (1, 2)}, "near\nones\n"
    )
    archive = Archive.open(tmp_path / "a", create=True)
    archive.register({}, {method.name: method})
    back = archive.load().method(method.name)
    assert (back.name, back.digest, back.summary) == (method.name, method.digest, method.summary)
    assert back.identity == {"k": 3, "deep": {"x": [1, 2.5]}, "weights": [1, 2]}
