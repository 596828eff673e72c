"""rffs and svcrfe: features ranked by what a learning machine makes of them."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import clone

from redelve.methods.clop.filters import F_MAX, W_MIN, FeatureRanking
from redelve.methods.clop.forest import ForestClassifier
from redelve.methods.clop.hyperparameters import RANDOM_STATE, Hyperparameter, UnsuitedError, having, whole
from redelve.methods.clop.kernel_machines import SupportVectorClassifier
from redelve.methods.clop.objects import Codes
from redelve.model.dataset import Numbers


class ForestRanking(FeatureRanking):
    """rffs: ranked by the importances of a random forest (Breiman 2001), mean decreases of impurity.

    They are scikit-learn's, between 0 and 1. The forest is `child`, trained with the seed given here if it
    has none of its own.
    """

    called = "rffs"
    hyperparameters = (
        Hyperparameter("child", having("rf object", "fit").or_none("rf()"), "the forest"),
        F_MAX,
        W_MIN,
        RANDOM_STATE,
    )

    def __init__(
        self,
        child: Any = None,
        *,
        f_max: int | None = None,
        w_min: float = -np.inf,
        random_state: Any = None,
    ) -> None:
        self.child = child
        self.f_max = f_max
        self.w_min = w_min
        self.random_state = random_state

    def _rank(self, X: Any, codes: Codes) -> None:
        forest = ForestClassifier() if self.child is None else clone(self.child)
        if getattr(forest, "random_state", 0) is None:
            forest.set_params(random_state=self.random_state)
        self.forest_ = forest.fit(X, codes)
        if not hasattr(forest, "feature_importances_"):
            raise UnsuitedError(
                f"rffs: {type(forest).__name__} tells no feature_importances_: give child=rf()"
            )
        self._note(np.asarray(forest.feature_importances_, dtype=np.float64))


class RecursiveElimination(FeatureRanking):
    """svcrfe: features of least squared weight are left out, the machine trained again, and so on.

    After Guyon et al. (2002). While more than `one_by_one` features are left, their number is brought down to
    the next power of two; then they go one by one. (scikit-learn's RFE takes equal steps and does not rank
    within them.) Weights of several classes, each against the rest, are added up. `weights_` are the squared
    weights when a feature was left out.
    """

    called = "svcrfe"
    hyperparameters = (
        Hyperparameter("child", having("linear svc object", "fit").or_none("svc()"), "the machine"),
        F_MAX,
        Hyperparameter("one_by_one", whole(1), "more features than this are halved"),
    )

    def __init__(self, child: Any = None, *, f_max: int | None = None, one_by_one: int = 64) -> None:
        self.child = child
        self.f_max = f_max
        self.one_by_one = one_by_one

    def _rank(self, X: Any, codes: Codes) -> None:
        child = SupportVectorClassifier() if self.child is None else self.child
        left, gone = np.arange(X.shape[1]), []
        self.weights_ = np.zeros(X.shape[1])
        while len(left):
            weights = squared_weights(child, X[:, left], codes)
            order = np.argsort(weights, kind="stable")
            drop = order[: len(left) - next_count(len(left), self.one_by_one)]
            self.weights_[left[drop]] = weights[drop]
            gone.append(left[drop])
            left = np.delete(left, drop)
        self.ranking_ = np.concatenate(gone)[::-1]


def next_count(count: int, one_by_one: int) -> int:
    """How many features are kept of `count`.

    >>> [next_count(count, 64) for count in (1617, 1024, 65, 64, 2, 1)]
    [1024, 512, 64, 63, 1, 0]
    """
    return int(1 << (count - 1).bit_length() - 1) if count > one_by_one else count - 1


def squared_weights(child: Any, X: Any, codes: Codes) -> Numbers:
    """w² of each feature, added up over the classes if there are more than two."""
    first = 1 if codes.max() == 1 else 0
    total = np.zeros(X.shape[1])
    for code in range(first, int(codes.max()) + 1):
        machine = clone(child).fit(X, np.where(codes == code, 1, -1))
        if not hasattr(machine, "coef_"):
            raise UnsuitedError(
                f"svcrfe: {type(machine).__name__} has no weights of features: give a child with a "
                "linear kernel, as svc(degree=1, gamma=0)"
            )
        total += (np.asarray(machine.coef_) ** 2).sum(axis=0)
    return total
