"""A small task and methods that do what they are told: answer, fail, crash, hang, eat memory."""

from __future__ import annotations

import ctypes
import os
import random
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from redelve.answers.answer import Answer
from redelve.answers.distributions import Normal
from redelve.answers.predictions import Guesses, TargetDistributions
from redelve.methods.contract import Method, Predictor
from redelve.methods.shown import TestInputs, TrainingSet
from redelve.model import (
    Assignment,
    Attribute,
    AttributePrior,
    Cases,
    DatasetSpec,
    Instance,
    NumberColumn,
    Prior,
    Prototask,
    PrototaskData,
    Task,
    parse_range,
)
from redelve.model.dataset import digest
from redelve.run.cells import Limits
from redelve.run.experiment import Experiment
from redelve.run.results import Record

INPUTS = 3
NOTES_TO_STOP_AT = "REDELVE_TEST_NOTES"
"""The variable with the file of notes of a program that a test will stop."""
ENOUGH_NOTES = 3


def assignment(instances: int = 4, *, training: int = 20, testing: int = 10, name: str = "toy") -> Assignment:
    """A linear task with noise, every instance with cases of its own."""
    random_numbers = np.random.default_rng(7)
    count = instances * (training + testing)
    inputs = random_numbers.normal(size=(count, INPUTS))
    target = inputs @ np.array([1.0, -2.0, 0.5]) + random_numbers.normal(size=count)
    names = [f"x{number}" for number in range(1, INPUTS + 1)] + ["y"]
    attributes = tuple(
        Attribute(number, one, "u", parse_range("(-Inf,Inf)")) for number, one in enumerate(names, 1)
    )
    columns = tuple(NumberColumn(column.copy()) for column in (*inputs.T, target))
    spec = DatasetSpec(name, attributes, "artificial", "assessment", "uninformative")
    prototask = Prototask(
        "y", name, (1, 2, 3), (4,), "artificial", instances * testing, (training,), instances
    )
    prior = Prior("std", tuple(AttributePrior(one.number, "3", "real") for one in attributes))
    data = PrototaskData(
        attributes[:INPUTS], attributes[INPUTS:], Cases(columns, count), np.arange(1, count + 1)
    )
    drawn = tuple(
        Instance(
            number,
            np.arange(training) + number * training,
            np.arange(testing) + instances * training + number * testing,
        )
        for number in range(instances)
    )
    return Assignment(spec, Task(prototask, prior, training), data, drawn, "hierarchical")


@dataclass(frozen=True)
class Weights:
    """What a linear method has learnt."""

    training: TrainingSet
    weights: Any
    scale: float

    def predict(self, inputs: TestInputs) -> Answer:
        table = np.column_stack([column.numbers() for column in inputs.cases.columns])
        location = table @ self.weights
        normal = Normal(location, np.full(len(inputs), self.scale))
        return Answer(
            Guesses(self.training.targets, (location,)),
            distributions=TargetDistributions(self.training.targets, (normal,)),
        )


@dataclass(frozen=True)
class Toy(Method):
    """Least squares with a little noise from the generator; `mischief` is done first."""

    mischief: Callable[[TrainingSet], None] | None = None
    summary = "For tests."

    @property
    def identity(self) -> Mapping[str, Any]:
        return {"kind": "toy", "mischief": getattr(self.mischief, "__name__", None)}

    def learn(self, training: TrainingSet, rng: np.random.Generator) -> Predictor:
        if self.mischief is not None:
            self.mischief(training)
        table = np.column_stack([column.numbers() for column in training.input_columns])
        weights = np.linalg.lstsq(table, training.target_values(), rcond=None)[0]
        return Weights(training, weights + rng.normal(0, 1e-3, len(weights)), 1.0 + rng.random())


def is_chosen(training: TrainingSet, share: int) -> bool:
    """For about one in `share` of the instances, always the same ones."""
    return int(digest(training.target_values()), 16) % share == 0


def segfault(training: TrainingSet) -> None:
    ctypes.string_at(0)


def exits(training: TrainingSet) -> None:
    os._exit(3)


def calls_exit(training: TrainingSet) -> None:
    sys.exit("enough")


def crashes_on_some(training: TrainingSet) -> None:
    if is_chosen(training, 3):
        (segfault if is_chosen(training, 2) else exits)(training)


def raises(training: TrainingSet) -> None:
    print("about to fail")
    raise ValueError("no such luck")


def hangs(training: TrainingSet) -> None:
    while True:
        time.sleep(0.01)


def hangs_rarely(training: TrainingSet) -> None:
    if is_chosen(training, 12):
        hangs(training)


def eats_memory(training: TrainingSet) -> None:
    eaten = []
    while True:
        eaten.append(np.ones(1 << 21))  # 16 MB
        time.sleep(0.002)


def eats_memory_rarely(training: TrainingSet) -> None:
    if is_chosen(training, 7):
        eats_memory(training)


def asks_for_too_much(training: TrainingSet) -> None:
    np.ones(1 << 50)


def starts_a_program(training: TrainingSet) -> None:
    subprocess.Popen(["sleep", "987654"])


def starts_a_program_in_a_session_of_its_own(training: TrainingSet) -> None:
    subprocess.Popen(["sleep", "987654"], start_new_session=True)
    os._exit(1)


def starts_a_program_and_hangs(training: TrainingSet) -> None:
    starts_a_program(training)
    hangs(training)


def warns(training: TrainingSet) -> None:
    warnings.warn("this looks odd", UserWarning, stacklevel=1)


def draws_global_numbers(training: TrainingSet) -> None:
    draw = random.random(), float(np.random.random())  # noqa: NPY002
    warnings.warn(f"drew {draw}", UserWarning, stacklevel=1)


def leaves_traces(training: TrainingSet) -> None:
    """Tell how often it has been called in this process."""
    os.environ["TRACES"] = str(int(os.environ.get("TRACES", "0")) + 1)
    warnings.warn(f"call {os.environ['TRACES']}", UserWarning, stacklevel=1)


def takes_a_moment(training: TrainingSet) -> None:
    time.sleep(0.2)


def takes_a_moment_or_waits_to_be_stopped(training: TrainingSet) -> None:
    """Wait once the program that is to be stopped has noted enough, if there is one."""
    time.sleep(0.05)
    notes = os.environ.get(NOTES_TO_STOP_AT)
    while notes and Path(notes).exists() and len(Path(notes).read_text().split()) >= ENOUGH_NOTES:
        time.sleep(0.05)


def toy_experiment(
    methods: Mapping[str, Method], instances: int = 4, *, limits: Limits | None = None, **more: Any
) -> Experiment:
    """An experiment on the small task."""
    task = assignment(instances)
    return Experiment(methods, {task.address: task}, limits=limits or Limits(), **more)


def content(record: Record) -> tuple[object, ...]:
    """What must not depend on who did the work: all but costs, time and place."""
    answer = None
    if record.answer is not None:
        answer = [digest(part) for part in record.answer.parts()]
    losses = {code: values.tobytes() for code, values in record.losses.items()}
    return (
        record.job,
        record.digest,
        record.seed,
        record.status,
        record.message,
        record.fallback,
        losses,
        answer,
    )
