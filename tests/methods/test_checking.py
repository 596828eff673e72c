"""check_method: a good method passes, and for every check there is a method that fails just there."""

from __future__ import annotations

import random
import sys
import threading
import time
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from redelve.answers.answer import Answer
from redelve.answers.predictions import ClassProbabilities, Guesses, Target
from redelve.methods.adapters.program import Program
from redelve.methods.conformance import checks
from redelve.methods.conformance.checking import check_method
from redelve.methods.conformance.checks import CHECKS
from redelve.methods.contract import METHODS, Method, Predictor
from redelve.methods.shown import TestInputs, TrainingSet
from redelve.model.numbered_checks import NumberedChecks

CONSTANT = METHODS["constant"]


class Good(Method):
    """Answers as `constant` does, with something random added."""

    summary = "Answers with a constant and a little noise."

    @property
    def identity(self) -> Mapping[str, Any]:
        return {"kind": "test", "name": type(self).__name__}

    def learn(self, training: TrainingSet, rng: np.random.Generator) -> Predictor:
        return _Good(self, training, rng)

    def answer(self, training: TrainingSet, rng: np.random.Generator, inputs: TestInputs) -> Answer:
        return CONSTANT.learn(training, rng).predict(inputs)


class _Good:
    def __init__(self, method: Good, training: TrainingSet, rng: np.random.Generator) -> None:
        self.method, self.training, self.seed = method, training, int(rng.integers(1000))

    def predict(self, inputs: TestInputs) -> Answer:
        return self.method.answer(self.training, np.random.default_rng(self.seed), inputs)


def shifted(answer: Answer, by: float) -> Answer:
    """Guesses moved, if they are numbers."""
    assert answer.guesses is not None
    if answer.targets[0].kind == "categorical":
        return answer
    return Answer(guesses=Guesses(answer.targets, tuple(values + by for values in answer.guesses.values)))


def is_kind(training: TrainingSet, kind: str) -> bool:
    (attribute,) = training.target_attributes
    return training.prior.attribute(attribute.number).type == kind


class FailsOn(Good):
    """Fails where `condition` holds."""

    def __init__(self, condition: Any) -> None:
        self.condition = condition

    def answer(self, training: TrainingSet, rng: np.random.Generator, inputs: TestInputs) -> Answer:
        if self.condition(training, inputs):
            raise ValueError("as told")
        return super().answer(training, rng, inputs)


class AddressInIdentity(Good):
    @property
    def identity(self) -> Mapping[str, Any]:
        return {"me": "<object at 0x7f00>"}


class ObjectInIdentity(Good):
    @property
    def identity(self) -> Mapping[str, Any]:
        return {"me": object()}


class Silent(Good):
    summary = ""


class HoldsALock(Good):
    def __init__(self) -> None:
        self.lock = threading.Lock()


class TakesNothing(Good):
    def why_not(self, targets: tuple[Target, ...]) -> str | None:
        return "no mood"


class SaysYes(Good):
    def why_not(self, targets: tuple[Target, ...]) -> str | None:
        return True  # type: ignore[return-value]


class Fixed(Good):
    fixed_seeds = True


class TooFew(Good):
    def answer(self, training: TrainingSet, rng: np.random.Generator, inputs: TestInputs) -> Answer:
        fewer = TestInputs(inputs.attributes, inputs.prior, inputs.cases.select(np.arange(len(inputs) - 1)))
        return super().answer(training, rng, fewer)


class Nowhere(Good):
    def answer(self, training: TrainingSet, rng: np.random.Generator, inputs: TestInputs) -> Answer:
        found = super().answer(training, rng, inputs)
        return Answer(guesses=Guesses(found.targets, (np.full(len(inputs), np.nan),)))


class Certain(Good):
    def answer(self, training: TrainingSet, rng: np.random.Generator, inputs: TestInputs) -> Answer:
        found = super().answer(training, rng, inputs)
        if found.probabilities is None:
            return found
        rows = np.zeros_like(found.probabilities.values)
        rows[:, 0] = 1
        return Answer(probabilities=ClassProbabilities.from_probabilities(found.targets[0], rows))


class Fickle(Good):
    def answer(self, training: TrainingSet, rng: np.random.Generator, inputs: TestInputs) -> Answer:
        return shifted(super().answer(training, rng, inputs), float(np.random.default_rng().normal()))


class UsesGlobalState(Good):
    def answer(self, training: TrainingSet, rng: np.random.Generator, inputs: TestInputs) -> Answer:
        np.random.seed(1)  # noqa: NPY002
        np.random.random()  # noqa: NPY002
        return super().answer(training, rng, inputs)


class UsesPythonsState(Good):
    def answer(self, training: TrainingSet, rng: np.random.Generator, inputs: TestInputs) -> Answer:
        random.random()
        return super().answer(training, rng, inputs)


class SpoilsData(Good):
    def answer(self, training: TrainingSet, rng: np.random.Generator, inputs: TestInputs) -> Answer:
        found = super().answer(training, rng, inputs)
        training.input_columns[0].numbers()[0] += 1
        return found


class Remembers(Good):
    def __init__(self) -> None:
        self.seen: list[int] = []

    def answer(self, training: TrainingSet, rng: np.random.Generator, inputs: TestInputs) -> Answer:
        self.seen.append(len(training))
        return shifted(super().answer(training, rng, inputs), float(len(set(self.seen))))


class TiredPredictor:
    def __init__(self, predictor: Predictor) -> None:
        self.predictor, self.times = predictor, 0

    def predict(self, inputs: TestInputs) -> Answer:
        self.times += 1
        return shifted(self.predictor.predict(inputs), float(self.times))


class Tired(Good):
    def learn(self, training: TrainingSet, rng: np.random.Generator) -> Predictor:
        return TiredPredictor(super().learn(training, rng))


class Transductive(Good):
    def answer(self, training: TrainingSet, rng: np.random.Generator, inputs: TestInputs) -> Answer:
        return shifted(super().answer(training, rng, inputs), float(inputs.cases.columns[0].numbers()[0]))


class ByPosition(Good):
    def answer(self, training: TrainingSet, rng: np.random.Generator, inputs: TestInputs) -> Answer:
        found = super().answer(training, rng, inputs)
        if found.targets[0].kind == "categorical":
            return found
        return Answer(guesses=Guesses(found.targets, (np.arange(len(inputs), dtype=float),)))


class Slow(Good):
    def answer(self, training: TrainingSet, rng: np.random.Generator, inputs: TestInputs) -> Answer:
        time.sleep(0.002)
        return super().answer(training, rng, inputs)


def has(training: TrainingSet, kind: str) -> bool:
    return any(prior.type == kind for prior in training.prior.attributes)


BROKEN: list[tuple[str, str, Method]] = [
    ("C001", "failed", AddressInIdentity()),
    ("C001", "failed", ObjectInIdentity()),
    ("C002", "warned", Silent()),
    ("C003", "failed", HoldsALock()),
    ("C004", "failed", TakesNothing()),
    ("C004", "failed", SaysYes()),
    ("C005", "warned", Fixed()),
    ("C010", "failed", FailsOn(lambda training, _: is_kind(training, "real"))),
    ("C010", "failed", TooFew()),
    ("C010", "failed", Nowhere()),
    ("C011", "failed", FailsOn(lambda training, _: is_kind(training, "integer"))),
    ("C012", "failed", FailsOn(lambda training, _: is_kind(training, "binary"))),
    ("C013", "failed", FailsOn(lambda training, _: is_kind(training, "nominal"))),
    ("C014", "warned", Certain()),
    ("C020", "failed", FailsOn(lambda training, _: has(training, "angular"))),
    ("C021", "failed", FailsOn(lambda training, _: any("?" in c.texts() for c in training.input_columns))),
    ("C022", "failed", FailsOn(lambda training, _: len(set(training.input_columns[0].texts())) == 1)),
    ("C023", "failed", FailsOn(lambda training, _: len(training.inputs) > len(training))),
    ("C024", "failed", FailsOn(lambda training, _: len(training) == 2)),
    ("C025", "failed", FailsOn(lambda training, _: len(training) == 8 and len(training.inputs) == 3)),
    ("C026", "failed", FailsOn(lambda _, inputs: len(inputs) == 1)),
    ("C027", "failed", FailsOn(lambda training, _: len(training) == 10)),
    ("C030", "failed", Fickle()),
    ("C031", "failed", UsesGlobalState()),
    ("C031", "failed", UsesPythonsState()),
    ("C032", "failed", SpoilsData()),
    ("C033", "failed", Remembers()),
    ("C034", "failed", Tired()),
    ("C035", "warned", Transductive()),
    ("C035", "warned", ByPosition()),
    ("C040", "warned", Slow()),
]


def test_a_good_method_passes_everything() -> None:
    report = check_method(Good())
    assert report.passed
    assert {finding.status for finding in report.findings} == {"passed"}, str(report)
    assert str(report).startswith(f"Good: {len(CHECKS)} passed (")


@pytest.mark.parametrize(
    ("number", "status", "method"), BROKEN, ids=lambda value: getattr(value, "name", value)
)
def test_each_check_finds_the_method_made_to_fail_it(
    number: str, status: str, method: Method, monkeypatch: pytest.MonkeyPatch
) -> None:
    if number == "C040":
        monkeypatch.setattr(checks, "SLOW", 0.001)
    report = check_method(method)
    assert report.of(number).status == status, str(report)
    assert report.passed == all(finding.status != "failed" for finding in report.findings)
    if status == "failed":
        assert not report.passed
        assert f"{number} failed " in str(report)
    assert report.of(number).explanation in str(report)


def test_every_check_has_a_method_made_to_fail_it() -> None:
    assert {number for number, _, _ in BROKEN} == set(CHECKS)


class Exits(Good):
    """Ends Python, as if all were well."""

    def learn(self, training: TrainingSet, rng: np.random.Generator) -> Predictor:
        sys.exit(0)


def test_a_method_that_ends_python_fails() -> None:
    report = check_method(Exits())
    assert not report.passed
    assert report.of("C010").message == "SystemExit: 0"
    assert report.of("C030").message == "it answers for no kind of target"


def test_any_check_fails_whose_subject_ends_python() -> None:
    some = NumberedChecks[int]()
    some.check("A001", "title", "explanation")(sys.exit)
    finding = some.report("three", 3).of("A001")
    assert (finding.status, finding.message) == ("failed", "SystemExit: 3")


def test_what_does_not_apply_is_skipped_with_a_reason() -> None:
    from sklearn.linear_model import LinearRegression

    report = check_method(LinearRegression())
    assert report.passed, str(report)
    assert report.of("C013").status == "skipped"
    assert "LinearRegression is a regressor" in report.of("C013").message
    assert report.of("C014").message == "it answers for no categorical target"


def test_functions_can_be_checked_too() -> None:
    report = check_method(
        lambda a, b, c: np.full(len(c), b.mean()) if b.dtype.kind == "f" else np.zeros(len(c))
    )
    assert report.passed, str(report)


def test_programs_can_be_checked_too() -> None:
    command = "awk '{ print 0 }' test.0 > cguess.0"
    report = check_method(Program(command, takes="numerical", described="Guesses the median, always."))
    assert report.passed, str(report)
    assert report.of("C013").message == 'awk takes numerical targets only, but target "y4" is categorical'


def test_what_can_not_be_done_at_all_is_told_once() -> None:
    def half(training_inputs: Any, training_targets: Any, test_inputs: Any) -> Any:
        """A constant, for numbers only."""
        return np.full(len(test_inputs), 0.5)

    report = check_method(half)
    failed = [finding.number for finding in report.findings if finding.status == "failed"]
    assert failed == ["C012", "C013"], str(report)
