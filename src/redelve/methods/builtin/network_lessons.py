"""What networks are to learn of a training set, and what their outputs mean.

Numbers are learnt as they are encoded, levels as one of m; predictive spreads and probabilities come from
outputs for cases that a network did not learn from.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from redelve.methods.views import Labels, View, ViewPart
from redelve.model.dataset import Numbers

FEWEST_CASES = 5
SHARPNESS = np.geomspace(0.25, 64.0, 33)


class OutputReading(Protocol):
    """What outputs mean."""

    def parts(self, outputs: Numbers) -> Mapping[int, ViewPart]:
        """Predictions, by the positions of their targets, for outputs with a row for each case."""
        ...


class NetworkLesson(Protocol):
    """Columns for a network to learn; `width` is how many."""

    @property
    def targets(self) -> Numbers:
        """What to learn, a row for each case."""
        ...

    def reading(self, rows: Labels, outputs: Numbers) -> OutputReading:
        """What outputs mean, by those for some of the training cases that were not learnt from."""
        ...


@dataclass(frozen=True, eq=False)
class NumberLesson:
    """The columns of some numerical targets, side by side."""

    view: View
    positions: tuple[int, ...]
    targets: Numbers

    def reading(self, rows: Labels, outputs: Numbers) -> NumberReading:
        """The spread around an output is the root mean squared error of those given."""
        spreads = np.sqrt(((outputs - self.targets[rows]) ** 2).mean(axis=0))
        return NumberReading(self.view, self.positions, spreads)


@dataclass(frozen=True, eq=False)
class NumberReading:
    """Outputs are means of normal distributions."""

    view: View
    positions: tuple[int, ...]
    spreads: Numbers

    def parts(self, outputs: Numbers) -> dict[int, ViewPart]:
        """Guesses, and distributions for targets that have them."""
        found, start = {}, 0
        for position in self.positions:
            end = start + (2 if self.view.targets[position].kind == "angular" else 1)
            learnt = outputs[:, start:end]
            spread = np.full(len(outputs), self.spreads[start])
            normal = self.view.normal(position, learnt, spread)
            found[position] = ViewPart(self.view.decoded(position, learnt), distribution=normal)
            start = end
        return found


@dataclass(frozen=True, eq=False)
class LevelLesson:
    """The levels of a categorical target as columns: 1 for the level of a case and 0 for the others.

    If `centred`, less the share that each level has among the training cases.
    """

    position: int
    labels: Labels
    level_count: int
    centred: bool

    @property
    def targets(self) -> Numbers:
        """A column for each level."""
        return self._indicators - (self._shares if self.centred else 0.0)

    @property
    def _indicators(self) -> Numbers:
        return np.eye(self.level_count)[self.labels]

    @property
    def _shares(self) -> Numbers:
        return np.asarray(self._indicators.mean(axis=0))

    def reading(self, rows: Labels, outputs: Numbers) -> LevelReading:
        """Probabilities as sharp as suits the outputs given."""
        offset = self._shares if self.centred else np.zeros(self.level_count)
        sharpness = sharpness_of(outputs + offset, self.labels[rows])
        return LevelReading(self.position, offset, sharpness, len(rows))


@dataclass(frozen=True, eq=False)
class LevelReading:
    """The largest output wins; probabilities by `blended_softmax`."""

    position: int
    offset: Numbers
    sharpness: float
    judged: int

    def parts(self, outputs: Numbers) -> dict[int, ViewPart]:
        """Guesses and probabilities."""
        shares = blended_softmax(outputs + self.offset, self.sharpness, self.judged)
        guesses = (outputs + self.offset).argmax(axis=1).astype(np.float64)
        return {self.position: ViewPart(guesses, shares)}


def blended_softmax(outputs: Numbers, sharpness: float, judged: int) -> Numbers:
    """(n softmax(sharpness × outputs) + 1/K) / (n + 1): n cases judged cannot show more certainty than that.

    The largest output keeps the largest probability, and none is zero.

    >>> blended_softmax(np.array([[1.0, 0.0]]), 100.0, 9).round(3).tolist()
    [[0.95, 0.05]]
    """
    scaled = sharpness * outputs
    weights = np.exp(scaled - scaled.max(axis=1, keepdims=True))
    softmax = weights / weights.sum(axis=1, keepdims=True)
    shares: Numbers = (judged * softmax + 1.0 / outputs.shape[1]) / (judged + 1.0)
    return shares


def sharpness_of(outputs: Numbers, labels: Labels) -> float:
    """Of 33 values from 1/4 to 64 in geometric progression the first with the least log loss.

    Outputs of squared error with one of m estimate probabilities (Richard and Lippmann 1991), but may be
    negative and need not sum to one.
    """
    told = [
        blended_softmax(outputs, sharpness, len(labels))[np.arange(len(labels)), labels]
        for sharpness in SHARPNESS.tolist()
    ]
    return float(SHARPNESS[int(np.argmin([-np.log(each).sum() for each in told]))])


def lessons_of(view: View, *, together: bool, centred: bool) -> list[NetworkLesson]:
    """The lessons of a training set: one for each target, or one for all numbers; none without variety."""
    found: list[NetworkLesson] = []
    numbers = [(k, columns) for k in view.numerical if _is_enough(columns := view.columns(k))]
    for group in [numbers] if together else [[each] for each in numbers]:
        if group:
            columns = np.column_stack([each for _, each in group])
            found.append(NumberLesson(view, tuple(k for k, _ in group), columns))
    for k in view.categorical:
        if _is_enough(labels := view.labels(k)):
            found.append(LevelLesson(k, labels, len(view.targets[k].levels), centred))
    return found


def _is_enough(targets: Numbers | Labels) -> bool:
    """Whether there is something to learn."""
    return len(targets) >= FEWEST_CASES and bool((targets != targets[0]).any())


def mean_of_heard(rows: Sequence[Labels], outputs: Sequence[Numbers]) -> tuple[Labels, Numbers]:
    """The cases that some network did not learn from, and the mean of such networks' outputs for each."""
    every = np.concatenate(rows)
    known, places = np.unique(every, return_inverse=True)
    total = np.zeros((len(known), outputs[0].shape[1]))
    np.add.at(total, places, np.concatenate(outputs))
    return known, total / np.bincount(places)[:, None]
