"""Prediction files: what is read back from a decoded file is what was decoded; precedence of file names."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from redelve.answers.losses import parse_loss
from redelve.answers.predictions import ClassProbabilities
from redelve.data.delve.number_columns import format_columns
from redelve.data.delve.prediction_files import (
    InstanceScoring,
    PredictionFile,
    TaskDirectory,
    prediction_stem,
)
from redelve.model import Attribute, AttributePrior, Prior, Prototask, Task, parse_range, written
from redelve.model.coding import Coding
from redelve.text_numbers import round9, tcl

AGE = Attribute(1, "AGE", "u", parse_range("[0,Inf)"))
COLOUR = Attribute(2, "COLOUR", "u", parse_range("red green blue"))
CODINGS = {1: Coding("copy"), 2: Coding("1-of-n")}
PROTOTASK = Prototask(
    name="p",
    dataset="d",
    inputs=(),
    targets=(1, 2),
    origin="artificial",
    test_set_size=1,
    training_set_sizes=(1,),
    maximum_instances=1,
)
PRIOR = Prior("std", (AttributePrior(1, "NLMH", "real"), AttributePrior(2, "NLMH", "nominal")))
ages = st.floats(0, 1e6).map(round9).map(tcl)
colours = st.sampled_from(["red", "green", "blue"])
guesses = st.tuples(ages | st.just("?"), colours | st.just("?"))


def scoring(
    targets: tuple[Attribute, ...], truths: list[list[str]], names: frozenset[str]
) -> InstanceScoring:
    def nowhere(name: str) -> Path | None:
        return None

    def raw(number: int) -> list[np.ndarray]:
        return [written(column).texts() for column in truths]

    return InstanceScoring(TaskDirectory(Task(PROTOTASK, PRIOR, 1), targets, CODINGS, names, nowhere, raw), 0)


@given(st.lists(guesses, min_size=1))
def test_guesses_round_trip(rows: list[tuple[str, str]]) -> None:
    truths = [["1.0"] * len(rows), ["red"] * len(rows)]
    text = "".join(" ".join(row) + "\n" for row in rows)
    again, prediction = scoring((AGE, COLOUR), truths, frozenset()).prediction(
        "guess", PredictionFile("x", text)
    )
    assert again == text
    reread = scoring((AGE, COLOUR), truths, frozenset()).prediction("guess.S", PredictionFile("x", again))[1]
    assert reread == prediction


@given(st.lists(st.tuples(ages, colours), min_size=1))
def test_coded_guesses_decode_to_a_file_that_reads_the_same(rows: list[tuple[str, str]]) -> None:
    truths = [["1.0"] * len(rows), ["red"] * len(rows)]
    codes = {"red": "0.9 0 -1", "green": "0 1 0", "blue": ".1 .2 .3"}
    coded = "".join(f" {age} {codes[colour]}\n" for age, colour in rows)
    here = scoring((AGE, COLOUR), truths, frozenset())
    text, prediction = here.prediction("cguess", PredictionFile("x", coded))
    assert text == "".join(f"{age} {colour}\n" for age, colour in rows)
    assert here.prediction("guess", PredictionFile("x", text))[1] == prediction


@given(st.lists(st.floats(-50, 50).map(round9), min_size=1), st.booleans())
def test_target_probabilities_round_trip(logs: list[float], is_log: bool) -> None:
    values = logs if is_log else [round9(float(np.exp(value))) for value in logs]
    stem = "lptarg" if is_log else "ptarg"
    here = scoring((AGE,), [["1.0"] * len(logs)], frozenset())
    text, prediction = here.prediction(
        stem, PredictionFile("x", "".join(f"{tcl(value)}\n" for value in values))
    )
    assert [float(word) for word in text.split()] == values
    again = scoring((AGE,), [["1.0"] * len(logs)], frozenset())
    assert again.prediction(stem, PredictionFile("x", text))[1] == prediction


@given(st.lists(st.lists(st.floats(0.001, 1).map(round9), min_size=3, max_size=3), min_size=1))
def test_class_probabilities_are_read_as_they_were_written(rows: list[list[float]]) -> None:
    table = np.array(rows)
    text = "".join(format_columns(list(table.T)))
    here = scoring((COLOUR,), [["red"] * len(rows)], frozenset())
    found = here.prediction("prob", PredictionFile("x", text))[1]
    assert isinstance(found, ClassProbabilities)
    assert np.allclose(found.values, table / table.sum(axis=1, keepdims=True))


@pytest.mark.parametrize(
    ("code", "names", "stem"),
    [
        ("S", {"guess.0", "guess.S.0"}, "guess.S"),
        ("S", {"cguess.0", "guess.S.1"}, "guess.S"),
        ("S", {"guess.0", "cguess.0"}, "cguess"),
        ("S", {"guess.A.0"}, None),
        ("L", {"ptarg.0", "prob.0"}, "prob"),
        ("L", {"prob.0", "clptarg.L.1"}, "clptarg.L"),
        ("Q", {"ptarg.0"}, None),
        ("Z0.2N", {"guess.Z.0", "guess.Z0.2N.0"}, "guess.Z0.2N"),
    ],
)
def test_precedence_of_prediction_files(code: str, names: set[str], stem: str | None) -> None:
    """Specific before general, even if only one instance has it (manual, appendix C, mloss)."""
    directory = scoring((AGE,), [["1.0"]], frozenset(names)).directory
    assert prediction_stem(parse_loss(code), directory, [0, 1]) == stem
