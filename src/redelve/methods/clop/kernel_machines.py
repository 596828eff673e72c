"""kridge and svc: kernel ridge regression and the support vector classifier, with one kernel."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import Ridge, RidgeCV
from sklearn.svm import SVC
from sklearn.utils.extmath import safe_sparse_dot

from redelve.methods.clop.hyperparameters import FLAG, Hyperparameter, choice, number, several, whole
from redelve.methods.clop.kernels import KERNEL_HYPERPARAMETERS, Kernel
from redelve.methods.clop.objects import Classifier, Codes, as_scores, blocks, signed_targets, stored
from redelve.model.dataset import Numbers

CANDIDATES = tuple(10.0**-power for power in range(11))
"""What CLOP tries where no shrinkage is given."""


class KernelRidgeClassifier(Classifier):
    """kridge: kernel ridge regression on targets of ±1; α = (K + shrinkage I)⁻¹ y.

    Without a number for `shrinkage`, the one of least squared leave-one-out error is taken, all patterns'
    errors from one decomposition. A linear kernel is solved for the weights of the features where these are
    fewer than the patterns; sparse tables stay sparse.
    """

    called = "kridge"
    hyperparameters = (
        *KERNEL_HYPERPARAMETERS,
        Hyperparameter(
            "shrinkage",
            number(above=0)
            .or_else(several(number(above=0), "several to choose from"))
            .or_none("chosen from 1, 0.1, … 1e-10"),
            "added to the diagonal of the kernel matrix; chosen by leaving one out",
        ),
        Hyperparameter(
            "balance", FLAG, "targets in proportion to the size of the other class, which sum to 0"
        ),
    )

    def __init__(
        self,
        *,
        coef0: float = 1.0,
        degree: int = 1,
        gamma: float = 0.0,
        shrinkage: float | Sequence[float] | None = None,
        balance: bool = False,
    ) -> None:
        self.coef0 = coef0
        self.degree = degree
        self.gamma = gamma
        self.shrinkage = shrinkage
        self.balance = balance

    def _learn(self, X: Any, codes: Codes) -> None:
        self.kernel_ = Kernel.of(self)
        targets = signed_targets(codes, len(self.classes_))
        if self.balance:
            targets = targets - targets.mean(axis=0)
        if self.kernel_.is_linear:
            self._learn_weights(X, targets)
        else:
            self._learn_coefficients(X, targets)

    def _candidates(self) -> Numbers:
        given = CANDIDATES if self.shrinkage is None else self.shrinkage
        return np.atleast_1d(np.asarray(given, dtype=np.float64))

    def _learn_weights(self, X: Any, targets: Numbers) -> None:
        """coef0 + x·x′ is the inner product of patterns with one more feature, √coef0 for all of them."""
        root, candidates = float(np.sqrt(self.coef0)), self._candidates()
        constant = np.full((X.shape[0], 1), root)
        extended = sp.hstack([X, constant], format="csr") if sp.issparse(X) else np.hstack([X, constant])
        if len(candidates) > 1:
            # A pattern that alone has a feature divides by zero where shrinkage is tiny.
            with np.errstate(divide="ignore", invalid="ignore"):
                ridge = RidgeCV(alphas=candidates, fit_intercept=False).fit(extended, targets)
            self.shrinkage_ = float(ridge.alpha_)
        else:
            self.shrinkage_ = float(candidates[0])
            ridge = Ridge(self.shrinkage_, fit_intercept=False, solver="cholesky").fit(extended, targets)
        weights = np.atleast_2d(ridge.coef_)
        self.coef_, self.intercept_ = weights[:, :-1], weights[:, -1] * root

    def _learn_coefficients(self, X: Any, targets: Numbers) -> None:
        matrix, candidates = self.kernel_.between(X, X), self._candidates()
        if len(candidates) > 1:
            self.shrinkage_ = best_shrinkage(matrix, targets, candidates)
        else:
            self.shrinkage_ = float(candidates[0])
        machine = KernelRidge(alpha=self.shrinkage_, kernel="precomputed").fit(matrix, targets)
        self.dual_coef_, self.patterns_ = machine.dual_coef_.reshape(targets.shape), stored(X)

    def _scores(self, X: Any) -> Numbers:
        if self.kernel_.is_linear:
            return as_scores(safe_sparse_dot(X, self.coef_.T, dense_output=True) + self.intercept_)
        parts = [
            self.kernel_.between(X[rows], self.patterns_) @ self.dual_coef_
            for rows in blocks(X.shape[0], self.patterns_.shape[0])
        ]
        return as_scores(np.concatenate(parts))


def best_shrinkage(matrix: Numbers, targets: Numbers, candidates: Numbers) -> float:
    """The candidate of least mean squared leave-one-out error (Allen's PRESS).

    The error of leaving pattern i out is αᵢ / (G⁻¹)ᵢᵢ with G = K + λI (Rasmussen and Williams 2006, (5.12)).
    """
    values, vectors = np.linalg.eigh(matrix)
    values, turned = np.maximum(values, 0.0), vectors.T @ targets
    errors = []
    for shrinkage in candidates:
        coefficients = vectors @ (turned / (values + shrinkage)[:, None])
        diagonal = (vectors**2) @ (1.0 / (values + shrinkage))
        errors.append(np.mean((coefficients / diagonal[:, None]) ** 2))
    return float(candidates[int(np.argmin(errors))])


class SupportVectorClassifier(Classifier):
    """svc: hard margin on a kernel matrix with `shrinkage` added to its diagonal.

    That is a soft margin with squared slacks of weight 1 / (2 shrinkage) (Cristianini and Shawe-Taylor 2000,
    section 6.1.2). scikit-learn's SVC (LIBSVM) does the work, one class against another.
    """

    called = "svc"
    hyperparameters = (
        *KERNEL_HYPERPARAMETERS,
        Hyperparameter("shrinkage", number(above=0), "added to the diagonal of the kernel matrix"),
        Hyperparameter(
            "maxiter", whole(1).or_else(choice(-1)), "most iterations of the optimiser; -1: no limit"
        ),
    )

    def __init__(
        self,
        *,
        coef0: float = 1.0,
        degree: int = 1,
        gamma: float = 0.0,
        shrinkage: float = 0.001,
        maxiter: int = 1_000_000,
    ) -> None:
        self.coef0 = coef0
        self.degree = degree
        self.gamma = gamma
        self.shrinkage = shrinkage
        self.maxiter = maxiter

    def _learn(self, X: Any, codes: Codes) -> None:
        self.kernel_ = Kernel.of(self)
        matrix = self.kernel_.between(X, X)
        matrix[np.diag_indices_from(matrix)] += self.shrinkage
        bound = 2.0 * len(codes) / self.shrinkage  # Σ α ≤ m / shrinkage at the optimum: never reached
        self.machine_ = SVC(C=bound, kernel="precomputed", max_iter=self.maxiter).fit(matrix, codes)
        self.support_ = self.machine_.support_
        self.support_vectors_ = stored(X[self.support_])
        self.pattern_count_ = X.shape[0]

    def _scores(self, X: Any) -> Numbers:
        return np.concatenate(
            [self._score_block(X[rows]) for rows in blocks(X.shape[0], self.pattern_count_)]
        )

    def _score_block(self, X: Any) -> Numbers:
        """LIBSVM reads the kernel with the support vectors and nothing else: the rest may be 0."""
        matrix = np.zeros((X.shape[0], self.pattern_count_))
        matrix[:, self.support_] = self.kernel_.between(X, self.support_vectors_)
        scores: Numbers = self.machine_.decision_function(matrix)
        return scores

    @property
    def coef_(self) -> Numbers:
        """The weights of the features, of a linear kernel and two classes."""
        if not (hasattr(self, "machine_") and self.kernel_.is_linear and len(self.classes_) == 2):
            raise AttributeError("svc has coef_ when it is trained with degree=1 and gamma=0 on two classes")
        weights: Numbers = safe_sparse_dot(self.machine_.dual_coef_, self.support_vectors_, dense_output=True)
        return weights
