"""neural: networks with one hidden layer, trained by the batched engine."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils import check_random_state

from redelve.methods.clop.hyperparameters import (
    FLAG,
    RANDOM_STATE,
    Hyperparameter,
    UnsuitedError,
    number,
    whole,
)
from redelve.methods.clop.objects import Classifier, Codes, as_scores, blocks, signed_targets
from redelve.model.dataset import Numbers
from redelve.nets import (
    Architecture,
    Data,
    Engine,
    MaxEpochs,
    Procedure,
    ScaledConjugateGradients,
    Sets,
    WeightDecay,
    predict,
    train,
)

LARGEST_TABLE = 2**27
"""A sparse table of up to so many numbers, zeros counted (1 GiB), is made dense for the engine."""


class NeuralClassifier(Classifier):
    """neural: a hidden layer of tanh units, linear outputs, squared error on targets of ±1, weight decay.

    As CLOP has it from Netlab (Bishop 1995): scaled conjugate gradients on ½ Σ (output - target)² +
    ½ shrinkage Σ weight². `restarts` networks are trained at once, as one array; their mean is the output.
    """

    called = "neural"
    hyperparameters = (
        Hyperparameter("units", whole(1), "number of hidden units"),
        Hyperparameter("shrinkage", number(0), "weight decay"),
        Hyperparameter("maxiter", whole(1), "iterations of scaled conjugate gradients"),
        Hyperparameter("balance", FLAG, "patterns of smaller classes are repeated until all are as large"),
        Hyperparameter("restarts", whole(1), "networks from different first weights, averaged"),
        RANDOM_STATE,
    )

    def __init__(
        self,
        *,
        units: int = 10,
        shrinkage: float = 1e-14,
        maxiter: int = 100,
        balance: bool = False,
        restarts: int = 1,
        random_state: Any = None,
    ) -> None:
        self.units = units
        self.shrinkage = shrinkage
        self.maxiter = maxiter
        self.balance = balance
        self.restarts = restarts
        self.random_state = random_state

    def _learn(self, X: Any, codes: Codes) -> None:
        random = check_random_state(self.random_state)
        if self.balance:
            rows = repeated(codes, random)
            X, codes = X[rows], codes[rows]
        targets = signed_targets(codes, len(self.classes_))
        self.sizes_ = (int(X.shape[1]), int(self.units), targets.shape[1])
        first = first_weights(self.sizes_, self.restarts, random)
        procedure = Procedure(
            ScaledConjugateGradients(),
            MaxEpochs(int(self.maxiter)),
            strips=int(self.maxiter),
            decay=WeightDecay(float(self.shrinkage), biases=True),
        )
        trained = train(
            _network(self.sizes_), first, Sets(Data(_dense(X), targets)), procedure, engine=self._engine()
        )
        self.weights_ = trained.weights

    def _scores(self, X: Any) -> Numbers:
        width = max(X.shape[1], self.restarts * self.sizes_[1])
        parts = [self._score_block(X[rows]) for rows in blocks(X.shape[0], width)]
        return as_scores(np.concatenate(parts))

    def _engine(self) -> Engine:
        """Threads share out networks: one network needs no more than one."""
        return Engine(threads=1 if self.restarts == 1 else None)

    def _score_block(self, X: Any) -> Numbers:
        table = X.toarray() if sp.issparse(X) else X
        every = predict(_network(self.sizes_), self.weights_, table, engine=self._engine())
        return np.asarray(every.mean(axis=0), dtype=np.float64)


def _network(sizes: tuple[int, int, int]) -> Architecture:
    return Architecture(sizes, ("tanh", "identity"))


def _dense(X: Any) -> Numbers:
    if not sp.issparse(X):
        return np.asarray(X)
    if X.shape[0] * X.shape[1] > LARGEST_TABLE:
        raise UnsuitedError(
            f"neural: a sparse table of {X.shape[0]} patterns × {X.shape[1]} features would be too large "
            "when dense: choose features first, as chain([s2n(f_max=1000), neural()])"
        )
    return np.asarray(X.toarray())


def repeated(codes: Codes, random: np.random.RandomState) -> Codes:
    """Patterns, those of smaller classes repeated (each as often as others, give or take one)."""
    most = np.bincount(codes).max()
    rows = [np.resize(random.permutation(np.flatnonzero(codes == code)), most) for code in np.unique(codes)]
    return np.concatenate(rows)


def first_weights(sizes: tuple[int, int, int], count: int, random: np.random.RandomState) -> Numbers:
    """Normal weights of variance 1 / (number of units feeding + 1), biases too (Netlab's)."""
    layers = [random.normal(size=(count, (fed + 1) * fan)) / np.sqrt(fed + 1) for fed, fan in pairwise(sizes)]
    return np.hstack(layers)
