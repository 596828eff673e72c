"""How far a classifier takes each case to be of each class, where it has no probabilities."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from redelve.answers.predictions.prediction_kinds import ArrayValue, Target, first, frozen
from redelve.errors import PredictionError
from redelve.model.dataset import Numbers


@dataclass(frozen=True, eq=False)
class DecisionValues(ArrayValue):
    """A number for every level of a categorical target, one row a case: the larger, the more likely.

    Only their order counts: they are what metrics of the order of cases, such as AUC, are computed from where
    a classifier tells no probabilities. −inf stands for a level that the classifier has never seen.
    """

    target: Target
    values: Numbers

    def __post_init__(self) -> None:
        values = np.asarray(self.values, dtype=np.float64)
        if values.ndim != 2 or values.shape[1] != len(self.target.levels):
            raise PredictionError(
                f'the decision values of target "{self.target.name}" have the shape {values.shape}: expected '
                f"a column for each of {len(self.target.levels)} levels"
            )
        bad = np.isnan(values) | np.isposinf(values)
        if (case := first(np.asarray(bad.any(axis=1)))) is not None:
            raise PredictionError(
                f'case {case + 1}: a decision value of target "{self.target.name}" is no number'
            )
        object.__setattr__(self, "values", frozen(values))

    def __len__(self) -> int:
        return len(self.values)

    @property
    def targets(self) -> tuple[Target, ...]:
        """The one target."""
        return (self.target,)
