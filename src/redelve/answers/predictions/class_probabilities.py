"""Probabilities of the classes of one target as a prediction."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from redelve.answers.predictions.prediction_kinds import (
    ArrayValue,
    Flags,
    Rows,
    Target,
    Truth,
    first,
    frozen,
    level_names,
)
from redelve.errors import PredictionError
from redelve.model.dataset import Numbers


@dataclass(frozen=True, eq=False)
class ClassProbabilities(ArrayValue):
    """The probability of every level of a categorical target, one row a case.

    Most methods have probabilities, not logs: use `ClassProbabilities.from_probabilities`.

    Parameters
    ----------
    target
        The one categorical target.
    logs
        Natural logs of the probabilities, a row for each case and a column for each level, in the
        order of the target's levels. They need not be normalised; they are on creation. ``-inf`` is
        the log of zero.
    told
        The probabilities to the last bit as the method gave them, zeros included, where they are kept
        beside `logs`. ``values`` are then these, and only the log loss goes by `logs`.

    Raises
    ------
    RedelveError
        The shape is wrong, a value is NaN or infinite, or all levels of a case have probability zero.

    Notes
    -----
    Probabilities follow the rules of DELVE's files ``prob`` and ``lprob`` (Rasmussen et al. 1996, The
    DELVE manual, section 7.5).

    Examples
    --------
    >>> import redelve
    >>> from redelve.answers.predictions import Target
    >>> sex = Target("sex", "categorical", ("f", "m"))
    >>> made = redelve.ClassProbabilities.from_probabilities(sex, [[3.0, 1.0], [0.0, 1.0]])
    >>> made.values.round(2).tolist()
    [[0.75, 0.25], [0.0, 1.0]]
    """

    target: Target
    logs: Numbers
    told: Numbers | None = None

    def __post_init__(self) -> None:
        if self.told is not None:
            object.__setattr__(self, "told", frozen(self.told))
        logs = _matrix(self.target, self.logs)
        bad = np.isnan(logs) | np.isposinf(logs)
        _check_rows(self.target, logs, bad, "log probability; expected a number or -Inf")
        top = logs.max(axis=1, keepdims=True)
        if (case := first(np.isneginf(top[:, 0]))) is not None:
            raise PredictionError(
                f'case {case + 1}: every level of target "{self.target.name}" has probability zero: '
                "give at least one a positive probability"
            )
        with np.errstate(over="ignore"):
            scaled = logs - top
        total = np.exp(scaled).sum(axis=1, keepdims=True)
        object.__setattr__(self, "logs", frozen(scaled - np.log(total)))

    @staticmethod
    def from_probabilities(target: Target, rows: Rows, told: Numbers | None = None) -> ClassProbabilities:
        """The probabilities of the levels, in their order; they need not sum to one (manual, mloss)."""
        values = _matrix(target, rows)
        bad = ~(np.isfinite(values) & (values >= 0))
        _check_rows(target, values, bad, "probability; expected a finite number of at least 0")
        with np.errstate(divide="ignore"):
            return ClassProbabilities(target, np.log(values), told)

    @staticmethod
    def from_logs(target: Target, rows: Rows) -> ClassProbabilities:
        """The same from natural logs; −inf is the log of zero."""
        return ClassProbabilities(target, _matrix(target, rows))

    def __len__(self) -> int:
        return len(self.logs)

    @property
    def targets(self) -> tuple[Target, ...]:
        """The one target."""
        return (self.target,)

    @cached_property
    def values(self) -> Numbers:
        """The probabilities: one row per case, summing to one; as they were told if that is known."""
        return frozen(np.exp(self.logs)) if self.told is None else self.told

    def log_probability(self, truth: Truth) -> Numbers:
        """The log probability of each case's true level."""
        picked: Numbers = self.logs[np.arange(len(self)), truth.level_indexes]
        return picked


def _matrix(target: Target, rows: Rows) -> Numbers:
    if target.kind != "categorical":
        raise PredictionError(
            f'class probabilities need a categorical target, but "{target.name}" is {target.kind}: '
            "give the probability of the true targets instead"
        )
    width = len(target.levels)
    if isinstance(rows, np.ndarray) and rows.ndim == 2 and rows.shape[1] == width:
        return np.array(rows, dtype=np.float64)
    for case, row in enumerate(rows):
        if len(row) != width:
            raise PredictionError(
                f'case {case + 1}: expected {width} probabilities for target "{target.name}" '
                f"({level_names(target)}) but got {len(row)}"
            )
    return np.array(rows, dtype=np.float64).reshape(len(rows), width)


def _check_rows(target: Target, values: Numbers, bad: Flags, rule: str) -> None:
    if bad.any():
        case, level = np.argwhere(bad)[0]
        raise PredictionError(
            f'case {case + 1}: for level "{target.levels[level]}" of target "{target.name}", '
            f"{values[case, level]} is no {rule}"
        )
