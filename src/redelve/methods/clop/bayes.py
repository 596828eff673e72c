"""naive: the naive Bayes classifier, by counts of binary features or with Gaussian ones."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.naive_bayes import BernoulliNB, GaussianNB
from sklearn.utils.sparsefuncs import mean_variance_axis

from redelve.methods.clop.objects import Classifier, Codes, blocks
from redelve.model.dataset import Numbers

SMOOTHING = 1e-9
"""GaussianNB's: a share of the largest variance, added to all variances."""


class NaiveBayesClassifier(Classifier):
    """naive: features that have two values only go by their frequencies, any others by normal densities.

    scikit-learn's BernoulliNB (Laplace's correction) and GaussianNB (a variance for each class) do the work;
    for sparse tables the latter's moments and densities are computed here, without making them dense.
    """

    called = "naive"

    def predict_proba(self, X: Any) -> Numbers:
        """The probability of each class."""
        joint = self._joint(self._accept_inputs(X))
        shares = np.exp(joint - joint.max(axis=1, keepdims=True))
        return np.asarray(shares / shares.sum(axis=1, keepdims=True))

    def predict(self, X: Any) -> Any:
        """The class of the largest probability."""
        X = self._accept_inputs(X)
        return self.classes_[self._joint(X).argmax(axis=1)]

    def _learn(self, X: Any, codes: Codes) -> None:
        threshold = _binary_threshold(X)
        self.is_binary_ = threshold is not None
        if threshold is not None:
            self.model_ = BernoulliNB(binarize=threshold).fit(X, codes)
        elif sp.issparse(X):
            self.model_ = _sparse_gaussian(X, codes)
        else:
            self.model_ = GaussianNB(var_smoothing=SMOOTHING).fit(X, codes)

    def _joint(self, X: Any) -> Numbers:
        """log P(class) + log P(pattern | class)."""
        if sp.issparse(X) and not self.is_binary_:
            return _sparse_joint(self.model_, X)
        parts = [self.model_.predict_joint_log_proba(X[rows]) for rows in blocks(X.shape[0], X.shape[1])]
        return np.concatenate(parts)

    def _scores(self, X: Any) -> Numbers:
        joint = self._joint(X)
        return joint[:, 1] - joint[:, 0] if len(self.classes_) == 2 else joint


def _binary_threshold(X: Any) -> float | None:
    """What lies between the two values of a table; None if there are more, or fewer."""
    values = np.unique(X.data if sp.issparse(X) else X)
    if sp.issparse(X) and X.nnz < X.shape[0] * X.shape[1]:
        values = np.union1d(values, 0.0)
    if len(values) != 2 or (sp.issparse(X) and values[0] < 0):
        return None
    return float(values.mean())


def _sparse_gaussian(X: Any, codes: Codes) -> GaussianNB:
    """A GaussianNB with the moments of a sparse table."""
    model = GaussianNB(var_smoothing=SMOOTHING)
    count = int(codes.max()) + 1
    moments = [mean_variance_axis(X[codes == code], axis=0) for code in range(count)]
    model.epsilon_ = SMOOTHING * mean_variance_axis(X, axis=0)[1].max()
    model.theta_ = np.array([mean for mean, _ in moments])
    model.var_ = np.array([variance for _, variance in moments]) + model.epsilon_
    model.class_count_ = np.bincount(codes).astype(np.float64)
    model.class_prior_ = model.class_count_ / len(codes)
    model.classes_, model.n_features_in_ = np.arange(count), X.shape[1]
    return model


def _sparse_joint(model: GaussianNB, X: Any) -> Numbers:
    """Σⱼ (xⱼ - μⱼ)² / σⱼ² = Σⱼ xⱼ² / σⱼ² - 2 Σⱼ xⱼ μⱼ / σⱼ² + Σⱼ μⱼ² / σⱼ²: products of sparse tables."""
    squares, weighted = 1.0 / model.var_, model.theta_ / model.var_
    distances = X.multiply(X) @ squares.T - 2.0 * (X @ weighted.T) + (weighted * model.theta_).sum(axis=1)
    constants = np.log(model.class_prior_) - 0.5 * np.log(2.0 * np.pi * model.var_).sum(axis=1)
    return np.asarray(constants - 0.5 * distances)
