"""A job of no meaning, done by the warden with methods of redelve's own and of scikit-learn.

Much is done once in the life of a process: caches are filled, names of plugins are looked up, BLAS asks for
its memory. What the warden has done, no cell has to do. No user's method is rehearsed.
"""

from __future__ import annotations

import pickle
import sys

import numpy as np

from redelve.methods.contract import METHODS, Method
from redelve.methods.shown import TestInputs, TrainingSet
from redelve.model import Attribute, AttributePrior, Cases, NumberColumn, Prior, parse_range
from redelve.run.cells.limits_and_outcome import CellLesson, dump_answer
from redelve.run.cells.working import work

CASES = 32


def rehearse(threads: int | None = None) -> None:
    """Do a small job as a cell does it, by one thread: a process that has been parallel can't be forked."""
    lesson = pickle.loads(pickle.dumps(_lesson()))
    for method in _methods():
        outcome = work(method, lesson.training, lesson.inputs, lesson.seed, threads)
        if outcome.answer is not None:
            dump_answer(outcome.answer)


def _methods() -> list[Method]:
    if "sklearn.linear_model" in sys.modules:
        from sklearn.linear_model import Ridge

        from redelve.methods.adapters.sklearn_adapter import sklearn_method

        return [sklearn_method(Ridge(), inputs="encoded")]
    return [METHODS["lin-1"]]


def _lesson() -> CellLesson:
    numbers = np.linspace(-1, 1, CASES)
    attributes = tuple(
        Attribute(place, name, "u", parse_range("(-Inf,Inf)")) for place, name in enumerate("xy", 1)
    )
    prior = Prior("std", tuple(AttributePrior(one.number, "3", "real") for one in attributes))
    columns = NumberColumn(numbers), NumberColumn(numbers**2)
    training = TrainingSet(attributes[:1], attributes[1:], prior, Cases(columns, CASES))
    return CellLesson(training, TestInputs(attributes[:1], prior, Cases(columns[:1], CASES)), 1)
