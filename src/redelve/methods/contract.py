"""What a learning method is: training cases and a random generator in, a predictor out."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import numpy as np

from redelve.answers.answer import Answer
from redelve.answers.predictions import Target
from redelve.methods.shown import TestInputs, TrainingSet
from redelve.model.digests import digest
from redelve.registry import Registry


class Predictor(Protocol):
    """What learning leaves behind.

    It may have `told`, a mapping of names to numbers and texts: what the method tells of its own training
    (epochs, validation error, why it stopped). That is kept in the job's record, and nothing is judged
    by it.
    """

    def predict(self, inputs: TestInputs) -> Answer:
        """The answer for every test case."""
        ...


class Method(ABC):
    """A learning method: a base class for your own.

    A subclass has `learn`, `identity` and `summary`. It never sees a test target, and all its
    randomness comes from the generator that it is given.

    Attributes
    ----------
    summary : str
        What the method does, precisely enough for someone else to do the same.
    identity : mapping
        What makes it the method it is, in plain values: kind, version, every setting. Change it and
        results are made anew.
    fixed_seeds : bool
        Whether part of its randomness does not come from the generator but is the same for all instances.

    Notes
    -----
    The summary is what DELVE asks of every method (Rasmussen et al. 1996, The DELVE manual, section
    7.1). docs/methods.md has a method from beginning to end; `check_method` tries whether one keeps to
    the contract; decision 6 (docs/decisions) says why it is so.

    Examples
    --------
    >>> import numpy as np
    >>> import redelve
    >>> class Middle(redelve.Method):
    ...     summary = "Guesses the median of the training targets."
    ...     identity = {"kind": "example", "version": 1}
    ...     def learn(self, training, rng):
    ...         return MiddlePredictor(training.targets, np.median(training.target_values(0)))
    >>> class MiddlePredictor:
    ...     def __init__(self, targets, value):
    ...         self.targets, self.value = targets, value
    ...     def predict(self, inputs):
    ...         guesses = np.full(len(inputs), self.value)
    ...         return redelve.Answer(guesses=redelve.Guesses(self.targets, (guesses,)))
    >>> assessment = redelve.assess({"middle": Middle()}, "demo/age", sizes=[512])
    >>> assessment.frame()["method"].tolist()
    ['middle']
    """

    summary: str
    fixed_seeds: bool = False

    @abstractmethod
    def learn(self, training: TrainingSet, rng: np.random.Generator) -> Predictor:
        """Learn from the training cases."""

    @property
    @abstractmethod
    def identity(self) -> Mapping[str, Any]:
        """Kind, version and every setting, as plain values."""

    @property
    def name(self) -> str:
        """What to call the method where the user gives no name."""
        return type(self).__name__

    def why_not(self, targets: tuple[Target, ...]) -> str | None:
        """What keeps the method from tasks with these targets; None if nothing does."""
        return None

    @property
    def digest(self) -> str:
        """A hash of the method's identity."""
        return digest(dict(self.identity))


class BatchMethod(Method):
    """A method that learns from many training sets at once, faster than from one after the other.

    What it learns from one must be, bit for bit, what it would learn without the others. It is given at most
    `largest_batch` at once, those of several tasks together if it `mixes_tasks`. Runs on the same instance
    are given the same training set, which it must not change.
    """

    largest_batch: int = 64
    mixes_tasks: bool = False

    @abstractmethod
    def learn_many(
        self, trainings: Sequence[TrainingSet], rngs: Sequence[np.random.Generator]
    ) -> Sequence[Predictor]:
        """Learn from each of the training sets, with the randomness of its own generator."""

    def learn(self, training: TrainingSet, rng: np.random.Generator) -> Predictor:
        """Learn from the training cases: a batch of one."""
        return self.learn_many([training], [rng])[0]


METHODS: Registry[Method] = Registry("method", "redelve.methods")
"""Methods by name: those that come with redelve, and those of installed packages."""

METHODS.add("constant", "redelve.methods.builtin.constant:CONSTANT")
METHODS.add("lin-1", "redelve.methods.builtin.linear:LIN_1")
METHODS.add("knn-cv-1", "redelve.methods.builtin.neighbours:KNN_CV_1")
for _name in ("ridge", "lasso", "logistic", "svm", "gp", "forest", "boosting", "mlp"):
    METHODS.add(_name, f"redelve.methods.builtin.well_known:{_name.upper()}")
for _name in ("mlp-rprop", "mlp-bgd-1", "mlp-bgd-2", "mlp-bgd-3", "mlp-bgd-2b", "mlp-ese-1"):
    METHODS.add(_name, f"redelve.methods.builtin.engine_methods:{_name.upper().replace('-', '_')}")

QUICK = ("constant", "lin-1", "logistic", "knn-cv-1", "boosting", "forest")


def default_methods(targets: tuple[Target, ...]) -> tuple[str, ...]:
    """A quick set of built-in methods that can work on these targets, from cheap to dear.

    >>> default_methods((Target("age", "real"),))
    ('constant', 'lin-1', 'knn-cv-1', 'boosting', 'forest')
    """
    return tuple(name for name in QUICK if METHODS[name].why_not(targets) is None)
