"""Answers on their way out of a cell: the same to the bit, and harmless whatever comes."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

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
from redelve.answers.predictions import (
    ClassProbabilities,
    DecisionValues,
    Guesses,
    Target,
    TargetDistributions,
)
from redelve.errors import PredictionError
from redelve.model.dataset import digest
from redelve.run.cells.job_and_outcome import dump_answer, load_answer
from redelve.run.workers.child import packed

REAL = Target("y", "real")
ANGLE = Target("angle", "angular", unit=360.1)
KIND = Target("kind", "categorical", ("a", "b", "ä \u2028"))
KIND_ONLY = (KIND,)
RANDOM = np.random.default_rng(3)


def distribution(kind: str) -> Distribution:
    column, table = RANDOM.normal(size=5), RANDOM.normal(size=(5, 4))
    made: dict[str, Distribution] = {
        "normal": Normal(column, np.exp(column)),
        "student": Student(column, np.exp(column), np.full(5, 3.5)),
        "normal-mixture": NormalMixture(np.exp(table), table, np.exp(table)),
        "samples": Samples(table),
        "quantiles": Quantiles(np.array([0.1, 0.3, 0.5, 0.9]), table),
    }
    return made[kind]


def same(first: Answer, second: Answer) -> bool:
    return [digest(part) for part in first.parts()] == [digest(part) for part in second.parts()] and [
        *first.guesses_for
    ] == [*second.guesses_for]


@pytest.mark.parametrize("kind", list(distributions))
def test_every_distribution_survives(kind: str) -> None:
    answer = Answer(distributions=TargetDistributions((REAL,), (distribution(kind),)))
    assert same(answer, load_answer(dump_answer(answer)))


def test_decision_values_survive_and_must_be_numbers() -> None:
    values = np.array([[0.1, -3.0, -np.inf], [1e-300, 2.0, -np.inf]])
    answer = Answer(Guesses(KIND_ONLY, (np.array([0.0, 1.0]),)), decision_values=DecisionValues(KIND, values))
    assert same(answer, load_answer(dump_answer(answer)))
    with pytest.raises(PredictionError, match='case 2: a decision value of target "kind" is no number'):
        DecisionValues(KIND, np.array([[1.0, 2.0, 3.0], [1.0, np.nan, 3.0]]))
    with pytest.raises(PredictionError, match="a column for each of 3 levels"):
        DecisionValues(KIND, np.zeros((4, 2)))


@given(st.lists(st.lists(st.floats(-800, 50), min_size=3, max_size=3), min_size=1, max_size=6))
def test_probabilities_are_not_rounded_twice(logs: list[list[float]]) -> None:
    answer = Answer(probabilities=ClassProbabilities.from_logs(KIND, logs))
    assert same(answer, load_answer(dump_answer(answer)))


def test_zero_probabilities_survive() -> None:
    answer = Answer(probabilities=ClassProbabilities.from_probabilities(KIND, [[1, 0, 0], [0.2, 0.3, 0.5]]))
    assert same(answer, load_answer(dump_answer(answer)))


def test_all_parts_together_survive() -> None:
    targets = (REAL, ANGLE)
    values = (np.array([1.0, np.nan, -0.0]), np.array([3.0, 4.0, 1e-320]))
    answer = Answer(Guesses(targets, values), guesses_for={"A": Guesses(targets, values[::-1])})
    loaded = load_answer(dump_answer(answer))
    assert same(answer, loaded)
    assert loaded.targets == targets
    assert np.signbit(loaded.guesses.values[0][2])  # type: ignore[union-attr]


def header(**changes: object) -> bytes:
    plain = {"targets": [["y", "real", [], None]], "guesses": [[2]], "probabilities": None}
    return packed({**plain, "distributions": None, "guesses_for": {}, **changes}, np.ones(2).tobytes())


@pytest.mark.parametrize(
    "message",
    [
        b"",
        b"\x00" * 8,
        header(guesses=[[3]]),
        header(guesses=[[-1]]),
        header(guesses=[[1 << 70]]),
        header(guesses=[["a"]]),
        header(guesses=7),
        header(guesses=None),
        header(targets=[["y", "unreal", [], None]]),
        header(targets=None),
        header(distributions=[["os.system", {"x": [2]}]]),
        header(distributions=[["normal", {"x": [2]}]]),
        header(distributions=[["normal", {"location": [1], "scale": [1]}]]),
        header(probabilities=[2]),
        header()[:-3],
    ],
)
def test_nonsense_is_refused_and_runs_nothing(message: bytes) -> None:
    with pytest.raises(PredictionError):
        load_answer(message)


def test_probabilities_that_do_not_sum_to_one_are_mended() -> None:
    cheat = packed(
        {
            "targets": [["kind", "categorical", ["a", "b"], None]],
            "guesses": None,
            "probabilities": [1, 2],
            "told": None,
            "distributions": None,
            "guesses_for": {},
        },
        np.array([5.0, 5.0]).tobytes(),
    )
    loaded = load_answer(cheat).probabilities
    assert loaded is not None
    assert loaded.values.tolist() == [[0.5, 0.5]]


@given(st.binary(max_size=200))
def test_random_bytes_are_refused(message: bytes) -> None:
    with pytest.raises(PredictionError):
        load_answer(message)


def test_a_child_that_nobody_waits_for_ends_without_a_word() -> None:
    reading, writing = os.pipe()
    os.close(reading)
    words = [sys.executable, "-m", "redelve.run.workers.child_main", "redelve.run.workers.processes"]
    done = subprocess.run(
        [*words, json.dumps(sys.path)],
        stdin=subprocess.DEVNULL,
        stdout=writing,
        stderr=subprocess.PIPE,
        check=False,
    )
    os.close(writing)
    assert (done.returncode, done.stderr) == (0, b"")
