"""constant: the best single answer by the training targets; inputs are not looked at."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from redelve.answers.answer import Answer
from redelve.answers.distributions import Normal
from redelve.answers.predictions import ClassProbabilities, Guesses, Target, TargetDistributions
from redelve.methods.contract import BuiltIn
from redelve.methods.shown import TestInputs, TrainingSet
from redelve.methods.views import ViewPart, known_numbers
from redelve.model.dataset import Numbers

BLOCK = 256


class Constant(BuiltIn):
    """The method that any other should beat, and that answers for one that failed: it never fails itself."""

    called = "constant"

    def learn(self, training: TrainingSet, rng: np.random.Generator) -> ConstantPredictor:
        """Find the best constants for each loss."""
        targets = training.targets
        values = [_values(training, position) for position in range(len(targets))]
        pairs = list(zip(targets, values, strict=True))
        return ConstantPredictor(
            targets,
            means=tuple(_centre(target, known) for target, known in pairs),
            medians=tuple(_middle(target, known) for target, known in pairs),
            modes=tuple(_mode(target, known) for target, known in pairs),
            spreads=tuple(_spread(target, known) for target, known in pairs),
            shares=_shares(*pairs[0]) if len(pairs) == 1 else None,
        )


@dataclass(frozen=True, eq=False)
class ConstantPredictor:
    """The constants: best for S, A and Z, the predictive spread of each target, and shares of levels."""

    targets: tuple[Target, ...]
    means: tuple[float, ...]
    medians: tuple[float, ...]
    modes: tuple[float, ...]
    spreads: tuple[float | None, ...]
    shares: Numbers | None

    def predict(self, inputs: TestInputs) -> Answer:
        """The same for every case."""
        count = len(inputs)
        probabilities = None
        if self.shares is not None:
            rows = np.tile(self.shares, (count, 1))
            probabilities = ClassProbabilities.from_probabilities(self.targets[0], rows)
        return Answer(
            guesses=self._guesses(self.means, count),
            probabilities=probabilities,
            distributions=self._distributions(count),
            guesses_for={"A": self._guesses(self.medians, count), "Z": self._guesses(self.modes, count)},
        )

    def _guesses(self, constants: tuple[float, ...], count: int) -> Guesses:
        return Guesses(self.targets, tuple(np.full(count, constant) for constant in constants))

    def _distributions(self, count: int) -> TargetDistributions | None:
        spreads = [spread for spread in self.spreads if spread is not None]
        if len(spreads) < len(self.targets):
            return None
        pairs = zip(self.means, spreads, strict=True)
        normals = (Normal(np.full(count, mean), np.full(count, spread)) for mean, spread in pairs)
        return TargetDistributions(self.targets, tuple(normals))


def constant_part(training: TrainingSet, position: int, count: int) -> ViewPart:
    """What is answered for one target, for methods that have too little to learn from."""
    target, known = training.targets[position], _values(training, position)
    centre, spread, shares = _centre(target, known), _spread(target, known), _shares(target, known)
    return ViewPart(
        np.full(count, centre),
        None if shares is None else np.tile(shares, (count, 1)),
        None if spread is None else Normal(np.full(count, centre), np.full(count, spread)),
    )


def _values(training: TrainingSet, position: int) -> Numbers:
    """The known values of a target, or 0 where there is none at all."""
    if training.targets[position].kind == "categorical":
        values = training.target_values(position)
        known = values[~np.isnan(values)]
    else:
        known = known_numbers(training, position)
    return known if len(known) else np.zeros(1)


def _centre(target: Target, known: Numbers) -> float:
    if target.kind == "categorical":
        return _mode(target, known)
    if target.kind == "angular":
        return circular_mean(known, target.unit or 1.0)
    with np.errstate(over="ignore"):
        mean = float(known.mean())
    return mean if np.isfinite(mean) else float(np.median(known / 2) * 2)


def _middle(target: Target, known: Numbers) -> float:
    if target.kind == "categorical":
        return _mode(target, known)
    if target.kind == "angular":
        return circular_median(known, target.unit or 1.0)
    low, high = np.sort(known)[[(len(known) - 1) // 2, len(known) // 2]].tolist()
    return float(low / 2 + high / 2)


def _mode(target: Target, known: Numbers) -> float:
    """The most frequent value; of several the first level or the smallest number."""
    values, counts = np.unique(known, return_counts=True)
    return float(values[counts.argmax()])


def _spread(target: Target, known: Numbers) -> float | None:
    """The standard deviation of a new case around the mean of these; None where none is defined."""
    if target.kind not in ("real", "integer"):
        return None
    count = len(known)
    with np.errstate(over="ignore", invalid="ignore"):
        spread = float(known.std(ddof=1)) * (1 + 1 / count) ** 0.5 if count > 1 else 0.0
    size = float(np.abs(known).max()) or 1.0
    if not np.isfinite(spread):
        return size
    return spread if spread > 0 else max(size / count, float(np.finfo(float).tiny))


def _shares(target: Target, known: Numbers) -> Numbers | None:
    """Shares of the levels, one case added to each: (count + 1) / (n + K)."""
    if target.kind != "categorical":
        return None
    counts = np.bincount(known.astype(np.int64), minlength=len(target.levels))
    shares: Numbers = (counts + 1.0) / (counts.sum() + len(target.levels))
    return shares


def circular_mean(angles: Numbers, unit: float) -> float:
    """The angle with the least sum of squared shorter arcs (Hotz and Huckemann 2015).

    Cut the circle before one of the sorted angles; within a cut the mean is best, so try every cut.

    >>> round(circular_mean(np.array([350.0, 20.0]), 360.0), 6)
    5.0
    """
    turns = np.sort(np.mod(angles, unit) / unit)
    cut = np.arange(turns.size)
    before = np.concatenate(([0.0], np.cumsum(turns)[:-1]))
    centre = turns.mean() + cut / turns.size
    spread = turns @ turns + 2 * before + cut - turns.size * centre**2
    return float(centre[int(np.argmin(spread))] % 1.0) * unit


def circular_median(angles: Numbers, unit: float) -> float:
    """The angle with the least sum of shorter arcs: the sum has its low corners at the angles themselves."""
    turns = np.mod(angles, unit) / unit
    candidates = np.unique(turns)
    sums = []
    for start in range(0, len(candidates), BLOCK):
        arcs = np.abs(candidates[start : start + BLOCK, None] - turns)
        sums.append(np.minimum(arcs, 1 - arcs).sum(axis=1))
    return float(candidates[int(np.argmin(np.concatenate(sums)))]) * unit


CONSTANT = Constant()
