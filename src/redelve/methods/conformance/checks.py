"""The checks themselves: what a method says of itself, kinds of target, kinds of data, conduct."""

from __future__ import annotations

import json
import pickle
import random
import time
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from redelve.answers.answer import Answer, losses_for, score
from redelve.answers.predictions import Guesses, TargetDistributions
from redelve.errors import ANY_FAULT, kind_told
from redelve.methods.adapters.fit_problems import FrameNotTakenError
from redelve.methods.conformance.small_tasks import EVERY_KIND, SmallTask, make_trial
from redelve.methods.contract import Method
from redelve.methods.estimators import global_randomness
from redelve.methods.identities import ADDRESS
from redelve.model.numbered_checks import (
    BrokenError,
    Check,
    DoubtfulError,
    NotApplicableError,
    NumberedChecks,
    must,
)

KINDS = ("real", "integer", "binary", "nominal")
PAIRS = (("real", "integer"), ("nominal", "binary"))
SEED = 20_260_101
SLOW = 30.0

SIGNIFICANT = 1e-9


CHECKS = NumberedChecks["CheckedMethod"]()
check = CHECKS.check


@dataclass(frozen=True)
class CheckedMethod:
    """The method under examination."""

    method: Method

    def answer(self, trial: SmallTask, *, seed: int = SEED, method: Method | None = None) -> Answer:
        """Learn and answer."""
        rng = np.random.Generator(np.random.PCG64(seed))
        return (method or self.method).learn(trial.training, rng).predict(trial.inputs)

    @cached_property
    def kinds(self) -> tuple[str, ...]:
        """The kinds of target that the method takes."""
        return tuple(kind for kind in KINDS if self.method.why_not(make_trial(kind).targets) is None)

    @cached_property
    def working(self) -> tuple[str, ...]:
        """Those of them for which it has an answer at all: what it can't do is told once, in C010 to C013."""
        return tuple(kind for kind in self.kinds if self._answers(kind))

    def _answers(self, kind: str) -> bool:
        try:
            self.answer(make_trial(kind))
        except ANY_FAULT:
            return False
        return True

    def trials(self, **settings: Any) -> Iterator[SmallTask]:
        """A task with a numerical and one with a categorical target, as far as the method does them."""
        chosen = [next((kind for kind in pair if kind in self.working), None) for pair in PAIRS]
        if not any(chosen):
            raise NotApplicableError("it answers for no kind of target")
        yield from (make_trial(kind, **settings) for kind in chosen if kind is not None)

    def categorical(self, **settings: Any) -> SmallTask:
        """A task with a categorical target."""
        for kind in PAIRS[1]:
            if kind in self.working:
                return make_trial(kind, **settings)
        raise NotApplicableError("it answers for no categorical target")

    def kind(self, kind: str) -> SmallTask:
        """A task with a target of this kind."""
        trial = make_trial(kind)
        if (reason := self.method.why_not(trial.targets)) is not None:
            raise NotApplicableError(reason)
        return trial


def check_answer(answer: Any, trial: SmallTask) -> None:
    """An answer must be for all cases, of the right kind, finite, and fit to be scored."""
    must(isinstance(answer, Answer), f"expected an Answer but got {kind_told(answer)}")
    must(len(answer) == len(trial.inputs), f"expected {len(trial.inputs)} answers but got {len(answer)}")
    must(answer.targets == trial.targets, f"the answer is for {answer.targets}, not {trial.targets}")
    for part in answer.parts():
        if isinstance(part, Guesses):
            for values in part.values:
                must(not np.isinf(values).any(), "a guess is infinite")
                must(not np.isnan(values).any(), "a guess is missing (NaN)")
    losses = score(answer, trial.truths, losses_for(trial.targets))
    must(bool(losses), "no loss can be computed from the answer")
    for code, values in losses.items():
        must(not np.isnan(values).any(), f"loss {code} is not a number")


def same(one: Answer, other: Answer) -> bool:
    """Whether two answers agree but for rounding."""
    if len(one.parts()) != len(other.parts()):
        return False
    pairs = zip(map(numbers_of, one.parts()), map(numbers_of, other.parts()), strict=True)
    return all(
        len(a) == len(b)
        and all(
            np.allclose(x, y, SIGNIFICANT, SIGNIFICANT, equal_nan=True) for x, y in zip(a, b, strict=True)
        )
        for a, b in pairs
    )


def numbers_of(part: Any) -> list[Any]:
    """The arrays of a part of an answer, a row for each case."""
    if isinstance(part, Guesses):
        return list(part.values)
    if not isinstance(part, TargetDistributions):
        return [part.values]
    return [array for one in part.distributions for array in one.parameters().values()]


def reordered(answer: Answer, order: Any) -> list[list[Any]]:
    """The arrays of an answer, the cases in another order."""
    return [[array[order] for array in numbers_of(part)] for part in answer.parts()]


# What the method says of itself


@check(
    "C001",
    "identity is plain and stable",
    "It must be numbers, texts, lists and dictionaries only, the same each time it is asked for, without "
    "memory addresses: results are stored and found again by it.",
)
def _identity(subject: CheckedMethod) -> None:
    text = json.dumps(dict(subject.method.identity), sort_keys=True)
    must(
        text == json.dumps(dict(subject.method.identity), sort_keys=True),
        "it changes from one look to the next",
    )
    must(not ADDRESS.search(text), f"it holds a memory address: {text[:200]}")


@check(
    "C002",
    "summary says what the method does",
    "Someone else should be able to do the same from it (manual 7.1).",
)
def _summary(subject: CheckedMethod) -> None:
    must(isinstance(subject.method.summary, str), "summary is no text")
    if len(subject.method.summary.split()) < 3:
        raise DoubtfulError(f'summary is "{subject.method.summary.strip()}"')


@check(
    "C003",
    "the method can be sent to another process",
    "It must survive pickling by cloudpickle, with its identity.",
)
def _pickle(subject: CheckedMethod) -> None:
    copied = _sent(subject.method)
    must(copied.digest == subject.method.digest, "the copy has another identity")
    for trial in subject.trials():
        must(
            same(subject.answer(trial), subject.answer(trial, method=copied)), "the copy answers differently"
        )


def _sent(method: Method) -> Method:
    import cloudpickle

    copied: Method = pickle.loads(cloudpickle.dumps(method))
    return copied


@check(
    "C004", "why_not tells which targets it takes", "For every kind of target it must give a reason or None."
)
def _why_not(subject: CheckedMethod) -> None:
    for kind in KINDS:
        reason = subject.method.why_not(make_trial(kind).targets)
        must(
            reason is None or (isinstance(reason, str) and bool(reason)), f"why_not is {reason!r} for {kind}"
        )
    must(bool(subject.kinds), "it takes none of real, integer, binary and nominal targets")


@check(
    "C005",
    "its seeds are not fixed",
    "Where part of the randomness is the same for all instances, the spread between instances is smaller "
    "than it should be (manual 7.4: initialise the seed differently for each instance).",
)
def _seeds(subject: CheckedMethod) -> None:
    if subject.method.fixed_seeds:
        raise DoubtfulError(
            "a seed is set in the method: leave it unset, and it will come from the generator"
        )


# Kinds of target


def _kind_check(kind: str) -> Check[CheckedMethod]:
    def look(subject: CheckedMethod) -> None:
        trial = subject.kind(kind)
        check_answer(subject.answer(trial), trial)

    return look


for _number, _kind in enumerate(KINDS, start=10):
    check(
        f"C0{_number}",
        f"a task with {'an' if _kind == 'integer' else 'a'} {_kind} target",
        "An answer for every test case, finite, of the right kind.",
    )(_kind_check(_kind))


@check(
    "C014",
    "no level is held to be impossible",
    "A probability of zero makes the log loss infinite when that level comes up.",
)
def _impossible(subject: CheckedMethod) -> None:
    trial = subject.categorical()
    probabilities = subject.answer(trial).probabilities
    if probabilities is None:
        raise NotApplicableError("it gives no probabilities")
    if np.isneginf(probabilities.logs).any():
        raise DoubtfulError("some probabilities are zero")


# Kinds of data


def _data_check(**settings: Any) -> Check[CheckedMethod]:
    def look(subject: CheckedMethod) -> None:
        for trial in subject.trials(**settings):
            try:
                check_answer(subject.answer(trial), trial)
            except FrameNotTakenError as error:  # such data it is then not for
                raise DoubtfulError(str(error)) from error
            except ANY_FAULT as error:
                kind = trial.targets[0].kind
                raise BrokenError(f"with a {kind} target: {type(error).__name__}: {error}") from error

    return look


DATA: tuple[tuple[str, str, dict[str, Any]], ...] = (
    ("C020", "inputs of every kind", {"inputs": EVERY_KIND}),
    ("C021", "inputs with missing values", {"inputs": ("real", "nominal", "real"), "quirk": "missing"}),
    ("C022", "an input that is constant", {"quirk": "constant"}),
    ("C023", "more inputs than training cases", {"inputs": ("real",) * 20, "training": 8}),
    ("C024", "two training cases", {"training": 2}),
    ("C025", "eight training cases", {"training": 8}),
    ("C026", "a single test case", {"testing": 1}),
)  # fmt: skip
for _code, _title, _settings in DATA:
    check(_code, _title, "Real data come like this; where nothing can be learnt, a constant is an answer.")(
        _data_check(**_settings)
    )


@check(
    "C027",
    "training cases of one level only",
    "With few cases of a rare level this happens; the other levels are still possible.",
)
def _single(subject: CheckedMethod) -> None:
    trial = subject.categorical(quirk="single", training=10)
    check_answer(subject.answer(trial), trial)


# Conduct


@check(
    "C030",
    "the same generator gives the same answer",
    "All randomness must come from the generator; results can't be reproduced otherwise.",
)
def _deterministic(subject: CheckedMethod) -> None:
    for trial in subject.trials():
        must(same(subject.answer(trial), subject.answer(trial)), "two runs with the same generator differ")


@check("C031", "no global random state is used", "Another method's results would depend on this one's.")
def _global_state(subject: CheckedMethod) -> None:
    for trial in subject.trials():
        with global_randomness(SEED):  # a state that no method leaves behind by chance
            before = _global_states()
            subject.answer(trial)
            after = _global_states()
        must(before[0] == after[0], "numpy's global random state was changed: use the generator given")
        must(
            before[1] == after[1],
            "the state of Python's random module was changed: use the generator given",
        )


def _global_states() -> tuple[str, object]:
    return repr(np.random.get_state(legacy=False)), random.getstate()  # noqa: NPY002


@check("C032", "the training set is left as it was", "Other methods are given the same cases.")
def _unchanged_data(subject: CheckedMethod) -> None:
    for trial in subject.trials():
        before = _contents(trial)
        subject.answer(trial)
        must(_contents(trial) == before, "values of the training or test cases were changed")


def _contents(trial: SmallTask) -> list[bytes]:
    columns = (*trial.training.cases.columns, *trial.inputs.cases.columns)
    return [column.numbers().tobytes() + repr(list(column.texts())).encode() for column in columns]


@check(
    "C033",
    "the method itself is not changed by learning",
    "It is used for one instance after another, and none may know of the ones before.",
)
def _unchanged_self(subject: CheckedMethod) -> None:
    for trial in subject.trials():
        fresh = subject.answer(trial, method=_sent(subject.method))
        subject.answer(make_trial(_type_of(trial), training=20), seed=SEED + 1)
        must(same(fresh, subject.answer(trial)), "after learning from other cases it answers differently")
    must(_sent(subject.method).digest == subject.method.digest, "its identity changed")


def _type_of(trial: SmallTask) -> str:
    (attribute,) = trial.training.target_attributes
    return trial.training.prior.attribute(attribute.number).type


@check("C034", "a predictor can be asked twice", "The second answer must be the same.")
def _asked_twice(subject: CheckedMethod) -> None:
    for trial in subject.trials():
        predictor = subject.method.learn(trial.training, np.random.Generator(np.random.PCG64(SEED)))
        must(
            same(predictor.predict(trial.inputs), predictor.predict(trial.inputs)),
            "the second answer differs",
        )


@check(
    "C035",
    "test cases are answered one by one",
    "The answer for a case must not depend on which other cases are in the test set, nor on their order; a "
    "method that learns from test inputs is allowed, but solves another problem.",
)
def _one_by_one(subject: CheckedMethod) -> None:
    for trial in subject.trials():
        predictor = subject.method.learn(trial.training, np.random.Generator(np.random.PCG64(SEED)))
        everything = predictor.predict(trial.inputs)
        order = list(reversed(range(len(trial.inputs))))
        for chosen, what in ((order, "in another order"), (order[:3], "without the others")):
            asked = predictor.predict(trial.reordered(chosen))
            expected = reordered(everything, chosen)
            got = [numbers_of(part) for part in asked.parts()]
            if not _all_close(expected, got):
                raise DoubtfulError(f"test cases {what} are answered differently")


def _all_close(one: list[list[Any]], other: list[list[Any]]) -> bool:
    flat, again = [a for part in one for a in part], [b for part in other for b in part]
    return len(flat) == len(again) and all(
        np.shape(a) == np.shape(b) and np.allclose(a, b, SIGNIFICANT, SIGNIFICANT)
        for a, b in zip(flat, again, strict=True)
    )


@check("C040", "it comes to an end soon", "Forty training cases should not take half a minute.")
def _quick(subject: CheckedMethod) -> None:
    start = time.perf_counter()
    for trial in subject.trials():
        subject.answer(trial)
    if (seconds := time.perf_counter() - start) > SLOW:
        raise DoubtfulError(f"forty training cases took {seconds:.0f} seconds")
