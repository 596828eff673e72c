"""A job of no meaning, done by the warden with methods of redelve's own and of scikit-learn.

Much is done once in the life of a process: caches are filled, names of plugins are looked up, BLAS asks for
its memory. What the warden has done, no cell has to do. No user's method is rehearsed.
"""

from __future__ import annotations

import pickle
import sys
from dataclasses import replace

import numpy as np

from redelve.answers.predictions import targets_of
from redelve.methods.contract import METHODS, Method
from redelve.methods.shown import TestInputs, TrainingSet
from redelve.model import Attribute, AttributePrior, Cases, NumberColumn, Prior, parse_range
from redelve.run.cells.job_and_outcome import CellLesson, dump_answer
from redelve.run.cells.working import work
from redelve.run.workers.child import packed

CASES = 32


def rehearse(threads: int | None = None, *, frames: bool = False) -> None:
    """Do a small job as a cell does it, by one thread: a process that has been parallel can't be forked.

    With `frames` also one with a user's frame: scikit-learn loads modules when it first sees one.
    """
    for method, lesson in _jobs(frames):
        shown = pickle.loads(pickle.dumps(lesson))
        outcome = work(method, shown.training, shown.inputs, shown.seed, threads)
        if outcome.answer is not None:
            dump_answer(outcome.answer)


def pickled_job() -> bytes:
    """A small job as a cell is given it."""
    ((method, lesson),) = _jobs(frames=False)
    content = pickle.dumps(method)
    return packed({"method": len(content)}, content + pickle.dumps((lesson,), pickle.HIGHEST_PROTOCOL))


def _jobs(frames: bool) -> list[tuple[Method, CellLesson]]:
    if "sklearn.linear_model" not in sys.modules:
        return [(METHODS["lin-1"], _lesson())]
    from sklearn.linear_model import Ridge

    from redelve.methods.adapters.sklearn_adapter import sklearn_method

    jobs: list[tuple[Method, CellLesson]] = [(sklearn_method(Ridge(), inputs="encoded"), _lesson())]
    if frames and "pandas" in sys.modules:
        jobs.append((sklearn_method(Ridge()), _with_frame(_lesson())))
    return jobs


def _with_frame(lesson: CellLesson) -> CellLesson:
    import pandas as pd

    x, y = (column.numbers() for column in lesson.training.cases.columns)
    frame = pd.DataFrame({"x": x})
    training = replace(lesson.training, own=frame, own_outputs=pd.Series(y, name="y"))
    return replace(lesson, training=training, inputs=replace(lesson.inputs, own=frame))


def _lesson() -> CellLesson:
    numbers = np.linspace(-1, 1, CASES)
    attributes = tuple(
        Attribute(place, name, "u", parse_range("(-Inf,Inf)")) for place, name in enumerate("xy", 1)
    )
    prior = Prior("std", tuple(AttributePrior(one.number, "3", "real") for one in attributes))
    columns = NumberColumn(numbers), NumberColumn(numbers**2)
    wanted = targets_of(attributes[1:], prior)
    training = TrainingSet(attributes[:1], attributes[1:], prior, Cases(columns, CASES), targets=wanted)
    return CellLesson(training, TestInputs(attributes[:1], prior, Cases(columns[:1], CASES)), 1)
