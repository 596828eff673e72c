"""check_encoding: redelve's own encodings pass, and for each check there is one that fails just that."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, cast

import numpy as np
import pandas as pd
import pytest

import redelve
from redelve.answers.answer import Answer
from redelve.errors import SpecError
from redelve.methods.contract import Method
from redelve.methods.shown import EncodedTraining, TestInputs, TrainingSet
from redelve.model import Attribute, AttributePrior, Column, parse_range, written
from redelve.model.coding import Coding
from redelve.model.encodings import (
    CodedColumn,
    Encoding,
    Subject,
    coded_columns,
    default_coding,
    encodings,
    fit,
)
from redelve.model.encodings.encoder import Texts, coded_numbers
from redelve.model.encodings.encoding_checks import CHECKS, check_encoding

NUMERICAL = ("integer", "real")
WEIGHT = Attribute(1, "weight", "kg", parse_range("(0,Inf)"))
REAL = AttributePrior(1, "NLMH", "real")


@dataclass(frozen=True)
class Tenths:
    """A number in tenths."""

    subject: Subject
    factor: float = 10.0

    @property
    def names(self) -> tuple[str, ...]:
        """One column."""
        return (self.subject.name,)

    def encode(self, column: Column) -> list[CodedColumn]:
        """Ten times the number."""
        if np.isnan(column.numbers()).any():
            raise SpecError(f'a value of "{self.subject.name}" is missing: choose another encoding')
        return [CodedColumn(self.subject.name, column.numbers() * self.factor)]

    def decode(self, coded: Sequence[Texts]) -> Texts:
        """A tenth of it."""
        numbers = coded_numbers(coded[0], self.subject.name) / self.factor
        return np.array([repr(number) for number in numbers.tolist()], dtype=object)

    @property
    def log_density_shift(self) -> float:
        """The log of ten."""
        return float(np.log(self.factor))


TENTHS = Encoding("tenths", Tenths, NUMERICAL)


class Ranked(Tenths):
    def encode(self, column: Column) -> list[CodedColumn]:
        numbers = super().encode(column)[0].numbers
        return [CodedColumn(self.subject.name, numbers + 1e-7 * len(numbers))]


class Misnamed(Tenths):
    @property
    def names(self) -> tuple[str, ...]:
        return ("another",)


class Lossy(Tenths):
    def decode(self, coded: Sequence[Texts]) -> Texts:
        return np.array(["1"] * len(coded[0]), dtype=object)


class Holey(Tenths):
    def encode(self, column: Column) -> list[CodedColumn]:
        return [CodedColumn(self.subject.name, column.numbers() * self.factor)]


class Shiftless(Tenths):
    log_density_shift = 0.0


@dataclass(frozen=True)
class Rooted(Encoding):
    def __reduce__(self) -> tuple[object, ...]:
        return (Encoding, ("tenths", Shiftless, ("real",)))


def is_nominal(prior: AttributePrior) -> bool:
    return prior.type == "nominal"


BROKEN = [
    ("E001", Encoding("tenths", Tenths, NUMERICAL, is_nominal), "the default for nominal attributes"),
    ("E002", Rooted("tenths", Tenths, NUMERICAL), ""),
    ("E003", Encoding("tenths", Misnamed, NUMERICAL), "names are ('another',)"),
    ("E004", Encoding("tenths", Ranked, ("real",)), "change when other cases are left out"),
    ("E005", Encoding("tenths", Lossy, NUMERICAL), "comes back as"),
    ("E006", Encoding("tenths", Holey, NUMERICAL), "a missing integer value becomes nan"),
    ("E007", Encoding("tenths", Shiftless, NUMERICAL), "but the slopes are 10 and 10"),
]


@pytest.mark.parametrize("name", sorted(encodings))
def test_the_encodings_of_redelve_pass(name: str) -> None:
    report = check_encoding(name)
    assert [str(one) for one in report.findings if one.status in ("failed", "warned")] == []


@dataclass(frozen=True)
class Faulty(Tenths):
    """Does what it is told."""

    do: ClassVar[Callable[[Column], Any]]

    def encode(self, column: Column) -> list[CodedColumn]:
        """Something wrong."""
        found: list[CodedColumn] = type(self).do(column)
        return found


FAULTS: dict[str, tuple[Callable[[Column], Any], str]] = {
    "raises": (
        lambda _: 1 / 0,
        r"the encoding \(\S+\.Faulty\) failed: ZeroDivisionError: division by zero: mend",
    ),
    "a text": (
        lambda _: "abc",
        r"the encoding \(\S+\.Faulty\) returned 'abc': return a list of CodedColumn",
    ),
    "too short": (
        lambda column: [CodedColumn("weight", column.numbers()[1:])],
        r"returned an array of shape \(\d+,\) for \d+ values: return \(\d+,\)",
    ),
    "two axes": (
        lambda column: [CodedColumn("weight", column.numbers()[:, None])],
        r"returned an array of shape \(\d+, 1\) for \d+ values: return \(\d+,\)",
    ),
    "texts for numbers": (
        lambda column: [CodedColumn("weight", cast("Any", column.texts()))],
        r"returned an array of object as numbers: return floats",
    ),
    "too few columns": (
        lambda _: [],
        r"returned 0 columns for the names \('\w+',\): return one for each",
    ),
}
"""What an encoder may do wrong, and what is said of it."""


@pytest.mark.parametrize(("do", "told"), FAULTS.values(), ids=FAULTS)
def test_what_an_encoding_does_wrong_is_told_with_its_name(
    do: Callable[[Column], Any], told: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Faulty, "do", staticmethod(do), raising=False)
    encoder = fit(WEIGHT, REAL, Encoding("faulty", Faulty, NUMERICAL).coding(), written(["1", "2"]))
    with pytest.raises(SpecError, match=told):
        coded_columns(encoder, written(["1", "2"]), 2)


def test_an_encoding_of_ones_own_passes() -> None:
    report = check_encoding(TENTHS)
    assert {one.status for one in report.findings} == {"passed"}, str(report)
    assert str(report).startswith("tenths: 7 passed (")


@pytest.mark.parametrize(("number", "broken", "words"), BROKEN, ids=[one[0] for one in BROKEN])
def test_a_broken_encoding_fails_its_check(number: str, broken: Encoding, words: str) -> None:
    report = check_encoding(broken)
    assert [one.number for one in report.findings if one.status == "failed"] == [number], str(report)
    assert words in report.of(number).message


def test_there_is_a_broken_encoding_for_every_check() -> None:
    assert {number for number, _, _ in BROKEN} == set(CHECKS)


@pytest.fixture
def registered() -> Iterator[None]:
    encodings.add("tenths", TENTHS)
    encodings.add("bare", Tenths)
    yield
    encodings.remove("tenths")
    encodings.remove("bare")


@pytest.mark.usefixtures("registered")
@pytest.mark.parametrize("name", ["tenths", "bare"])
def test_registration_suffices(name: str) -> None:
    encoder = fit(WEIGHT, REAL, Coding(name), written(["1", "2"]))
    assert encoder.encode(written(["3", "0.5"]))[0].numbers.tolist() == [30.0, 5.0]


@pytest.mark.usefixtures("registered")
def test_it_is_refused_and_named_where_it_says_so() -> None:
    with pytest.raises(SpecError, match='can\'t use "tenths" encoding for "angular" attribute weight'):
        fit(WEIGHT, AttributePrior(1, "NLMH", "angular", unit=1.0), Coding("tenths"), written(["1"]))
    with pytest.raises(SpecError, match=r"choose one of ignore, copy, nm-abs, nm-sqr, 0\.\.1, bare, tenths"):
        fit(WEIGHT, REAL, Coding("nonsense"), written(["1"]))


def test_one_that_is_not_registered_is_used_by_its_value() -> None:
    encoder = fit(WEIGHT, REAL, TENTHS.coding(), written(["1", "2"]))
    assert encoder.names == ("weight",)
    assert default_coding(REAL) == Coding("nm-abs")


class SlopeInTenths(Method):
    """Least squares through the origin, on an input in tenths."""

    summary = "The slope through the origin, fitted to the input in tenths.\n"
    identity: ClassVar[dict[str, object]] = {"kind": "test", "version": 1}

    def learn(self, training: TrainingSet, rng: np.random.Generator) -> SlopePredictor:
        """The slope."""
        encoded = training.encode({1: TENTHS.coding()})
        x, y = encoded.inputs[:, 0], encoded.targets[:, 0]
        return SlopePredictor(encoded, float(x @ y / (x @ x)))


@dataclass(frozen=True)
class SlopePredictor:
    encoded: EncodedTraining
    slope: float

    def predict(self, inputs: TestInputs) -> Answer:
        """Guesses."""
        return Answer(self.encoded.decode_guesses(self.slope * self.encoded.encode_inputs(inputs)))


def test_it_travels_with_a_method_to_workers() -> None:
    x = np.random.default_rng(1).normal(size=60)
    task = redelve.from_frame(pd.DataFrame({"x": x, "y": 2 * x}), "y").assignments[0]
    found = redelve.assess({"slope": SlopeInTenths()}, task, workers=2)
    assert [record.message for record in found.results.failures] == []
