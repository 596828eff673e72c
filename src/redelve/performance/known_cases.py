"""Cases whose targets are known: any of them can be shown to a method, to learn from or to be asked about."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from redelve.answers.predictions import Truth
from redelve.errors import PredictionError, RedelveError
from redelve.methods.contract import Method, Predictor
from redelve.methods.shown import TestInputs, TrainingSet
from redelve.model.dataset import Rows


class KnownCases(Protocol):
    """All cases there are, as `ArrayCases` or `AssignmentCases`; `rows` count from 0 and may repeat."""

    @property
    def truth(self) -> Truth:
        """The true target of every case."""

    def training(self, rows: Rows) -> TrainingSet:
        """These cases to learn from."""

    def testing(self, rows: Rows, *, probabilities: bool = False) -> TestInputs:
        """These cases without their targets; whether probabilities are asked for, where that costs time."""

    def relabelled(self, codes: Rows) -> KnownCases | None:
        """The same with other classes for all cases; None where that cannot be."""

    def alike(self) -> Rows | None:
        """A number for each case, the same for equal inputs; None where nobody knows."""


def learn(name: str, method: Method, cases: KnownCases, rows: Rows, number: int) -> Predictor:
    """What the method learns from these cases; what goes wrong is told with its name."""
    try:
        return method.learn(cases.training(rows), np.random.default_rng(number))
    except RedelveError:
        raise
    except Exception as error:
        raise PredictionError(
            f"{name} failed when trained on {len(rows)} cases: {type(error).__name__}: {error}"
        ) from error
