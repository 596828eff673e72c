"""Three ways to train early-stopped networks: PROBEN1's, Neal's and Rasmussen's."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from redelve.methods.builtin.early_stopping import Recipe, Schooling, ValidationSplit, split_by
from redelve.methods.shown import TrainingSet
from redelve.model.dataset import Numbers
from redelve.model.designs.folds import cut, splits_of
from redelve.nets import (
    GL,
    Architecture,
    Engine,
    GradientDescent,
    InputRelevance,
    MaxEpochs,
    P,
    Procedure,
    Rprop,
    ScaledConjugateGradients,
    Sets,
    Trained,
    layered,
    train,
)

Relevance = Literal["none", "gradients", "correlations"]
THIRD = 1 / 3
SINGLE, DOUBLE = Engine(dtype="float32"), Engine()
PROBEN1_RPROP = Rprop(eta_plus=1.2, eta_minus=0.5, delta0=(0.05, 0.2), delta_max=50.0, variant="plain")
"""What gives the numbers of PROBEN1's multilayer networks, tables 8 to 11 (docs/study-proben1.md)."""
PRINTED_RPROP = Rprop(
    eta_plus=1.2, eta_minus=0.5, delta0=(0.005, 0.02), delta_max=50.0, variant="backtracking"
)
"""As printed in section 3.3.1 of PROBEN1, which its multilayer networks use too (3.3.3)."""


@dataclass(frozen=True)
class ResilientPropagation(Recipe):
    """PROBEN1's procedure (Prechelt 1994, section 3.3) as it was run, one network."""

    hidden: int = 16
    first_weights: float = 0.1
    algorithm: Rprop = PROBEN1_RPROP
    generalization_loss: float = 2.0
    progress: float = 0.1
    epochs: int = 3000
    strip: int = 5
    together = True
    centred = False

    def architecture(self, inputs: int, outputs: int) -> Architecture:
        """One hidden layer of x/(1+|x|), linear outputs, all shortcuts."""
        return layered((inputs, self.hidden, outputs), "softsign", "identity", shortcuts=True)

    def splits(self, training: TrainingSet, rng: np.random.Generator) -> list[ValidationSplit]:
        """The task's own validation cases, or a third at random."""
        count = len(training)
        if 0 < training.validation_size < count:
            return [split_by(np.arange(count - training.validation_size, count), count)]
        return [split_by(_third(count, rng), count)]

    def train(self, network: Architecture, weights: Numbers, sets: Sets, seeds: Sequence[int]) -> Schooling:
        """Until the validation error has risen by GL's per cent, or too little progress, or 3000 epochs."""
        rule = GL(self.generalization_loss) | P(self.progress) | MaxEpochs(self.epochs)
        procedure = Procedure(self.algorithm, rule, strips=self.strip)
        made = train(network, weights, sets, procedure, seeds=seeds)
        return Schooling(made.weights, made.relevant_epochs)


AS_PRINTED = ResilientPropagation(first_weights=0.01, algorithm=PRINTED_RPROP, generalization_loss=5.0)
"""PROBEN1's procedure to the letter (sections 3.3.1 and 3.3.3)."""


@dataclass(frozen=True)
class BatchDescent(Recipe):
    """Batch gradient descent on three of four parts, judged by the fourth (Neal 1998, section 3.3)."""

    relevance: Relevance = "none"
    networks: int = 4
    hidden: int = 25
    first_weights: float = 0.1
    step: float = 0.05
    iterations: int = 20_000
    saved: int = 56
    least_relevance: float = 1e-4
    rise: float = 1.05
    small: float = 0.01
    halvings: int = 10
    engine: Engine = SINGLE

    def architecture(self, inputs: int, outputs: int) -> Architecture:
        """One hidden layer of tanh units, linear outputs, no shortcuts."""
        return layered((inputs, self.hidden, outputs), "tanh", "identity")

    def splits(self, training: TrainingSet, rng: np.random.Generator) -> list[ValidationSplit]:
        """Four parts at random; network k is judged by part k."""
        count = len(training)
        parts = splits_of(cut(rng.permutation(count), 4), 4)
        return [ValidationSplit(*part) for part in parts[: self.networks]]

    def factors(self, inputs: Numbers, targets: Numbers) -> Numbers:
        """The square roots of r_i = max(10^-4, C_i^4 / max C_i^4), C_i = Σ x_i t, for the static scheme."""
        if self.relevance != "correlations":
            return super().factors(inputs, targets)
        squares = ((inputs.T @ targets) ** 2).sum(axis=1)
        largest = squares.max()
        ratios = (squares / largest) ** 2 if largest > 0 else np.ones_like(squares)
        return np.asarray(np.sqrt(np.maximum(self.least_relevance, ratios)))

    def train(self, network: Architecture, weights: Numbers, sets: Sets, seeds: Sequence[int]) -> Schooling:
        """All iterations; networks that were unstable once more with half the step."""
        steps = np.full(len(weights), self.step / (sets.training.cases + 1))
        best, chosen = np.array(weights), np.zeros(len(weights), dtype=np.int64)
        rows = np.arange(len(weights))
        for _ in range(1 + self.halvings):
            made = self._once(network, weights[rows], _of_rows(sets, rows), steps[rows])
            best[rows], chosen[rows] = made.weights, made.relevant_epochs
            rows = rows[self._unstable(made)]
            if not len(rows):
                break
            steps[rows] /= 2
        return Schooling(best, chosen)

    def _once(self, network: Architecture, weights: Numbers, sets: Sets, steps: Numbers) -> Trained:
        scaling = InputRelevance(power=2.0) if self.relevance == "gradients" else None
        procedure = Procedure(
            GradientDescent(tuple(steps.tolist()), scaling=scaling),
            MaxEpochs(self.iterations),
            strips=self.schedule,
            curves=True,
        )
        return train(network, weights, sets, procedure, engine=self.engine)

    @property
    def schedule(self) -> tuple[int, ...]:
        """The iterations after which networks are saved, spaced about logarithmically from the first on."""
        return tuple(np.unique(np.geomspace(1, self.iterations, self.saved).round().astype(int)).tolist())

    def _unstable(self, made: Trained) -> NDArray[np.bool_]:
        """Whether the error on the estimation set, where it is not small, rose above what it had been."""
        assert made.curves is not None
        errors = made.curves.training
        lowest = np.fmin.accumulate(errors, axis=0)[:-1]
        bound = np.maximum(self.rise * lowest, self.small * errors[0])
        with np.errstate(invalid="ignore"):
            rose = (errors[1:] > bound).any(axis=0)
        return np.asarray(rose | np.array([reason == "diverged" for reason in made.reasons]))


def _of_rows(sets: Sets, rows: NDArray[np.intp]) -> Sets:
    assert sets.validation is not None
    return Sets(sets.training.of_runs(rows), sets.validation.of_runs(rows))


@dataclass(frozen=True)
class ConjugateGradients(Recipe):
    """Conjugate gradients on random splits (after Rasmussen 1996, as told by Neal 1998, section 3.3)."""

    networks: int = 10
    hidden: int = 25
    first_weights: float = 0.1
    generalization_loss: float = 20.0
    iterations: int = 500
    engine: Engine = DOUBLE

    def architecture(self, inputs: int, outputs: int) -> Architecture:
        """One hidden layer of tanh units, linear outputs, direct connections too."""
        return layered((inputs, self.hidden, outputs), "tanh", "identity", shortcuts=True)

    def splits(self, training: TrainingSet, rng: np.random.Generator) -> list[ValidationSplit]:
        """A third at random for each network."""
        count = len(training)
        return [split_by(_third(count, rng), count) for _ in range(self.networks)]

    def train(self, network: Architecture, weights: Numbers, sets: Sets, seeds: Sequence[int]) -> Schooling:
        """Well past the first rise of the validation error, in case it falls again."""
        rule = GL(self.generalization_loss) | MaxEpochs(self.iterations)
        procedure = Procedure(ScaledConjugateGradients(), rule, strips=1)
        made = train(network, weights, sets, procedure, engine=self.engine)
        return Schooling(made.weights, made.relevant_epochs)


def _third(count: int, rng: np.random.Generator) -> NDArray[np.int64]:
    return rng.permutation(count)[: max(int(count * THIRD), 1)]
