"""What a method of redelve or a scikit-learn classifier answers to a challenge, with a guess of its error."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np

from redelve.answers.answer import Answer
from redelve.answers.predictions import Guesses, targets_of
from redelve.challenge.challenge_files import PARTS, Int8Array
from redelve.challenge.packing import PublicData
from redelve.challenge.scoring import LABEL
from redelve.challenge.submissions import DatasetEntry
from redelve.errors import PredictionError, SpecError
from redelve.methods.adapters.array_cases import ArrayCases, ArrayInputs, ArrayTraining, FittedToArrays
from redelve.methods.contract import Method, Predictor
from redelve.methods.estimators import global_randomness
from redelve.methods.shown import TestInputs, TrainingSet
from redelve.model import Attribute, AttributePrior, Cases, Column, NumberColumn, Prior, parse_range, written
from redelve.model.dataset import Numbers, Rows
from redelve.performance import Bench, BenchSettings, bench_for, from_arrays, predict
from redelve.seeds import seed as named_seed

FOLDS = 10
MOST_NUMBERS = 200_000_000
SIGNS = np.array([-1, 1], dtype=np.int8)


def entry_of_estimator(
    estimator: Any, data: PublicData, *, way: str | None = None, rule: str = "balanced", seed: int = 0
) -> DatasetEntry:
    """A scikit-learn classifier's answers to all parts, with confidences, and the guess of its error.

    A copy is trained on the training part, which goes in as it is, dense or sparse. `rule`, "balanced" or
    "own", says what is called positive (docs/challenge.md); the guess, usually by ten-fold cross-validation
    or by the `way` given (`redelve predict -W` lists them), is of the same rule.
    """
    from redelve.challenge.rules import Ruled

    given, cases = from_arrays(estimator, data.patterns["train"], data.labels)
    if cases.labels is None:
        raise SpecError(f"{given.name} is a regressor: give a classifier")
    method = replace(given, estimator=Ruled(estimator, rule))
    bench = bench_for({method.name: method}, cases, settings=BenchSettings(seed))
    number = named_seed("challenge", "entry", data.name, seed)
    learnt = bench.learn(np.arange(data.labels.size), number)
    assert isinstance(learnt, FittedToArrays)
    with global_randomness(number):
        told = {part: learnt.model.told(data.patterns[part]) for part in PARTS}
    return _entry(told, _guess(bench, way))


def entry_of_method(
    method: Method, data: PublicData, *, way: str | None = None, seed: int = 0
) -> DatasetEntry:
    """A method's answers to all parts, and the guess of its error, as `entry_of_estimator` makes it.

    Where the method gives probabilities, a pattern is called positive if its probability exceeds the share of
    positive training cases: that makes the balanced error small, not the plain one.
    """
    train = _dense(data.patterns["train"])
    cases = ArrayCases(train, data.labels, LABEL, SIGNS)
    bench = bench_for({method.name: PatternMethod(method)}, cases, settings=BenchSettings(seed))
    learnt = bench.learn(np.arange(len(train)), named_seed("challenge", "entry", data.name, seed))
    assert isinstance(learnt, PatternPredictor)
    parts = {part: train if part == "train" else _dense(data.patterns[part]) for part in PARTS}
    told = {part: learnt.classified(table) for part, table in parts.items()}
    return _entry(told, _guess(bench, way))


def _guess(bench: Bench, way: str | None) -> float:
    fewest = int(np.bincount(bench.classes).min())
    return predict(bench, way or f"kfold:{max(min(FOLDS, fewest), 2)}").value


def _entry(told: dict[str, tuple[Any, Numbers | None]], guess: float) -> DatasetEntry:
    confidences = {part: values for part, (_, values) in told.items() if values is not None}
    return DatasetEntry(
        {part: labels.astype(np.int8) for part, (labels, _) in told.items()}, confidences, guess
    )


# --- a method of redelve ------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class PatternMethod(Method):
    """A method of redelve that is shown patterns; features that are the same in all of them are left out."""

    method: Method

    @property
    def name(self) -> str:
        """The method's."""
        return self.method.name

    @property
    def summary(self) -> str:  # type: ignore[override]
        """The method's."""
        return self.method.summary

    @property
    def identity(self) -> Mapping[str, Any]:
        """The method's, and that it is shown patterns."""
        return {"kind": "patterns", "method": dict(self.method.identity)}

    def learn(self, training: TrainingSet, rng: np.random.Generator) -> PatternPredictor:
        """Let the method learn from these patterns."""
        assert isinstance(training, ArrayTraining)
        kept = np.flatnonzero(np.ptp(training.table, axis=0) > 0)
        inputs, target, prior = _attributes(kept.size)
        positive = training.outputs > 0
        classes: Column = written(["yes" if one else "no" for one in positive.tolist()])
        cases = Cases((*_columns(training.table[:, kept]), classes), len(training))
        shown = TrainingSet(inputs, (target,), prior, cases, targets=targets_of((target,), prior))
        if (reason := self.method.why_not(shown.targets)) is not None:
            raise SpecError(f'method "{self.name}" cannot work on two classes: {reason}')
        return PatternPredictor(self.method.learn(shown, rng), float(positive.mean()), kept)


@dataclass(frozen=True, eq=False)
class PatternPredictor:
    """What a method has learned, the share of positive patterns and the features there were."""

    predictor: Predictor
    share: float
    kept: Rows

    def predict(self, inputs: TestInputs) -> Answer:
        """Which of these patterns are called positive."""
        assert isinstance(inputs, ArrayInputs)
        labels, _ = self.classified(inputs.table)
        return Answer(Guesses((LABEL,), ((labels > 0).astype(np.float64),)))

    def classified(self, values: Numbers) -> tuple[Int8Array, Numbers | None]:
        """Classes and, where the method tells them, probabilities of the positive one."""
        inputs, _, prior = _attributes(self.kept.size)
        cases = Cases(_columns(values[:, self.kept]), len(values))
        found: Answer = self.predictor.predict(TestInputs(inputs, prior, cases))
        if found.probabilities is not None:
            positive = np.asarray(found.probabilities.values[:, 1], dtype=np.float64)
            return np.where(positive > self.share, 1, -1).astype(np.int8), positive
        if found.guesses is None:
            raise PredictionError("the method gives neither classes nor their probabilities")
        return np.where(found.guesses.values[0] > 0.5, 1, -1).astype(np.int8), None


def _columns(values: Numbers) -> tuple[Column, ...]:
    """Each column in one piece: strided ones are slow to work on."""
    return tuple(map(NumberColumn, np.ascontiguousarray(values.T)))


@lru_cache(maxsize=2)
def _attributes(width: int) -> tuple[tuple[Attribute, ...], Attribute, Prior]:
    """Features f1, f2 … as integers, and the label, no or yes."""
    whole = parse_range("0..999")
    inputs = tuple(Attribute(n, f"f{n}", "?", whole) for n in range(1, width + 1))
    target = Attribute(width + 1, "label", "?", parse_range("no yes"))
    priors = [AttributePrior(one.number, "?", "integer") for one in inputs]
    return inputs, target, Prior("std", (*priors, AttributePrior(width + 1, "?", "binary")))


def _dense(values: Any) -> Numbers:
    if values.shape[0] * values.shape[1] > MOST_NUMBERS:
        raise SpecError(
            f"{values.shape[0]} patterns of {values.shape[1]} features are too many for a dense table: take "
            "one of CLOP's objects or another classifier for sparse input (entry_of_estimator)"
        )
    return np.asarray(values.toarray() if hasattr(values, "toarray") else values, dtype=np.float64)
