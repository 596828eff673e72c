"""What a method of redelve or a scikit-learn classifier answers to a challenge, with a guess of its error."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np

from redelve.answers.answer import Answer
from redelve.answers.predictions import Guesses, Truth
from redelve.challenge.challenge_files import PARTS, FloatArray, Int8Array
from redelve.challenge.packing import PublicData
from redelve.challenge.scoring import LABEL, truth_of_labels
from redelve.challenge.submissions import DatasetEntry
from redelve.errors import PredictionError, SpecError
from redelve.methods.contract import Method, Predictor
from redelve.methods.estimators import global_randomness
from redelve.methods.shown import TestInputs, TrainingSet
from redelve.model import Attribute, AttributePrior, Cases, Column, NumberColumn, Prior, parse_range, written
from redelve.performance import Learner, learner_for, predict_learners
from redelve.performance.bench import learn
from redelve.performance.measures import Rows
from redelve.seeds import seed as named_seed

FOLDS = 10
MOST_NUMBERS = 200_000_000


def entry_of_estimator(
    estimator: Any, data: PublicData, *, way: str | None = None, rule: str = "balanced", seed: int = 0
) -> DatasetEntry:
    """A scikit-learn classifier's answers to all parts, with confidences, and the guess of its error.

    A copy is trained on the training part, which goes in as it is, dense or sparse. `rule`, "balanced" or
    "own", says what is called positive (docs/challenge.md); the guess, usually by ten-fold cross-validation
    or by the `way` given (`redelve predict -W` lists them), is of the same rule.
    """
    from redelve.challenge.rules import Ruled

    given, truth = learner_for(estimator, data.patterns["train"], data.labels)
    if truth.target.kind != "categorical":
        raise SpecError(f"{given.name} is a regressor: give a classifier")
    learner = replace(given, estimator=Ruled(estimator, rule), called=given.name)
    number = named_seed("challenge", "entry", data.name, seed)
    fitted = learn(learner, np.arange(data.labels.size), number)
    with global_randomness(number):
        told = {part: fitted.model.told(data.patterns[part]) for part in PARTS}
    return _entry(told, _guess(learner, truth, way, seed))


def entry_of_method(
    method: Method, data: PublicData, *, way: str | None = None, seed: int = 0
) -> DatasetEntry:
    """A method's answers to all parts, and the guess of its error, as `entry_of_estimator` makes it.

    Where the method gives probabilities, a pattern is called positive if its probability exceeds the share of
    positive training cases: that makes the balanced error small, not the plain one.
    """
    train = _dense(data.patterns["train"])
    learner = PatternLearner(method, train, data.labels)
    learnt = learner.learn(np.arange(len(train)), named_seed("challenge", "entry", data.name, seed))
    parts = {part: train if part == "train" else _dense(data.patterns[part]) for part in PARTS}
    told = {part: learnt.told(table) for part, table in parts.items()}
    truth = truth_of_labels(data.labels)
    return _entry(told, _guess(learner, truth, way, seed))


def _guess(learner: Learner, truth: Truth, way: str | None, seed: int) -> float:
    fewest = int(np.bincount(truth.level_indexes).min())
    folds = f"kfold:{max(min(FOLDS, fewest), 2)}"
    return predict_learners([learner], truth, ways=way or folds, seed=seed).value


def _entry(told: dict[str, tuple[Any, FloatArray | None]], guess: float) -> DatasetEntry:
    confidences = {part: values for part, (_, values) in told.items() if values is not None}
    return DatasetEntry(
        {part: labels.astype(np.int8) for part, (labels, _) in told.items()}, confidences, guess
    )


# --- a method of redelve ------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class PatternLearner:
    """A method of redelve with training patterns; features that are the same in all of them are left out."""

    method: Method
    table: FloatArray
    labels: Int8Array
    fits_each: int = 1

    @property
    def name(self) -> str:
        """The method's."""
        return self.method.name

    def learn(self, rows: Rows, seed: int) -> PatternLearnt:
        """Let the method learn from these patterns."""
        kept = np.flatnonzero(np.ptp(self.table[rows], axis=0) > 0)
        inputs, target, prior = _attributes(kept.size)
        classes: Column = written(["yes" if label > 0 else "no" for label in self.labels[rows].tolist()])
        cases = Cases((*_columns(self.table[rows][:, kept]), classes), len(rows))
        training = TrainingSet(inputs, (target,), prior, cases)
        if (reason := self.method.why_not(training.targets)) is not None:
            raise SpecError(f'method "{self.name}" cannot work on two classes: {reason}')
        share = float((self.labels[rows] > 0).mean())
        predictor = self.method.learn(training, np.random.default_rng(seed))
        return PatternLearnt(predictor, share, kept, self.table)

    def relabelled(self, codes: Rows) -> PatternLearner:
        """The same with other labels."""
        return replace(self, labels=np.where(codes > 0, 1, -1).astype(np.int8))


@dataclass(frozen=True, eq=False)
class PatternLearnt:
    """What a method has learned, the share of positive patterns and the features there were."""

    predictor: Predictor
    share: float
    kept: Rows
    table: FloatArray
    model: None = None

    def answer(self, rows: Rows, *, probabilities: bool = False) -> Answer:
        """Which of these training patterns are called positive."""
        labels, _ = self.told(self.table[rows])
        return Answer(Guesses((LABEL,), ((labels > 0).astype(np.float64),)))

    def told(self, values: FloatArray) -> tuple[Int8Array, FloatArray | None]:
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


def _columns(values: FloatArray) -> tuple[Column, ...]:
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


def _dense(values: Any) -> FloatArray:
    if values.shape[0] * values.shape[1] > MOST_NUMBERS:
        raise SpecError(
            f"{values.shape[0]} patterns of {values.shape[1]} features are too many for a dense table: take "
            "one of CLOP's objects or another classifier for sparse input (entry_of_estimator)"
        )
    return np.asarray(values.toarray() if hasattr(values, "toarray") else values, dtype=np.float64)
