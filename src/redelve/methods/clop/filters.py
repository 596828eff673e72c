"""s2n, relief and gs: features ranked by what the data say, without a learning machine.

`FeatureRanking` is what all feature selection methods share: a ranking, learnt once, and how much is used.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.feature_selection import SelectorMixin
from sklearn.metrics.pairwise import euclidean_distances
from sklearn.utils.extmath import safe_sparse_dot
from sklearn.utils.sparsefuncs import mean_variance_axis
from sklearn.utils.validation import check_is_fitted

from redelve.methods.clop.hyperparameters import (
    Hyperparameter,
    UnsuitedError,
    check_hyperparameters,
    number,
    whole,
)
from redelve.methods.clop.objects import Codes, LearningObject, blocks
from redelve.model.dataset import Numbers

F_MAX = Hyperparameter(
    "f_max", whole(1).or_none("all"), "most features to keep; can be changed after training"
)
W_MIN = Hyperparameter(
    "w_min", number(), "features of weight w_min or less go; can be changed after training"
)


class FeatureRanking(SelectorMixin, LearningObject):  # type: ignore[misc]
    """Keeps the best features of a ranking; `f_max` and `w_min` count when data are processed.

    `ranking_` has the positions of the features, best first, `weights_` the criterion of each feature. Change
    `f_max` or `w_min` of a trained object (or `set_params`) and process data again: nothing is ranked anew.
    The features kept stay in the order they had.
    """

    f_max: int | None
    w_min: float = -np.inf

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags

    def fit(self, X: Any, y: Any) -> Any:
        """Rank the features."""
        X, codes = self._accept_labelled(X, y)
        self._rank(X, codes)
        return self

    @abstractmethod
    def _rank(self, X: Any, codes: Codes) -> None:
        """Set `weights_` and `ranking_`."""

    def _note(self, weights: Numbers) -> None:
        """The ranking by weights; of equal ones, the feature that comes first."""
        self.weights_ = weights
        self.ranking_ = np.argsort(-weights, kind="stable")

    @property
    def selected_(self) -> Codes:
        """The features kept, best first, by the present f_max and w_min."""
        check_is_fitted(self, "ranking_")
        check_hyperparameters(self)
        good: Codes = self.ranking_[self.weights_[self.ranking_] > self.w_min]
        good = good if self.f_max is None else good[: self.f_max]
        if not len(good):
            raise UnsuitedError(
                f"{self.called}: no feature has a weight above w_min={self.w_min:g}: the largest is "
                f"{self.weights_.max():g}; give a smaller w_min"
            )
        return good

    def _get_support_mask(self) -> NDArray[np.bool_]:
        mask = np.zeros(self.n_features_in_, dtype=bool)
        mask[self.selected_] = True
        return mask


NEGLIGIBLE = 1e-10
"""What remains of a squared length is taken for nothing below this share of it."""


class SignalToNoise(FeatureRanking):
    """s2n: |μ₊ - μ₋| / (σ₊ + σ₋), deviations with n - 1 (Golub et al. 1999).

    A feature that separates the classes without any noise weighs infinitely much, one that is constant
    nothing. Of more than two classes the largest ratio of a class to all others counts.
    """

    called = "s2n"
    hyperparameters = (F_MAX, W_MIN)

    def __init__(self, *, f_max: int | None = None, w_min: float = -np.inf) -> None:
        self.f_max = f_max
        self.w_min = w_min

    def _rank(self, X: Any, codes: Codes) -> None:
        first = 1 if len(self.classes_) == 2 else 0
        ratios = [signal_to_noise(X, codes == code) for code in range(first, len(self.classes_))]
        self._note(np.max(ratios, axis=0))


def signal_to_noise(X: Any, positive: Any) -> Numbers:
    """The ratio of each feature for one class against the rest."""
    (mean, deviation), (other_mean, other_deviation) = _moments(X[positive]), _moments(X[~positive])
    signal, noise = np.abs(mean - other_mean), deviation + other_deviation
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(signal > 0, signal / noise, 0.0)


def _moments(X: Any) -> tuple[Numbers, Numbers]:
    """Means and standard deviations of the features; the deviation of a single pattern is 0."""
    if sp.issparse(X):
        mean, variance = mean_variance_axis(X, axis=0)
    else:
        mean, variance = X.mean(axis=0), X.var(axis=0)
    count = X.shape[0]
    return mean, np.sqrt(variance * count / max(count - 1, 1))


class Relief(FeatureRanking):
    """relief: how much more a feature differs from the nearest misses than from the nearest hits.

    W = mean over patterns of diff(x, nearest miss)² - diff(x, nearest hit)², differences divided by the
    range of the feature, nearest by Euclidean distance of all features so scaled (Kira and Rendell 1992),
    averaged over k_num neighbours. All patterns are visited, so nothing is random. With more than two
    classes the misses of each class count by its share of the other patterns (Kononenko 1994).
    """

    called = "relief"
    hyperparameters = (
        F_MAX,
        W_MIN,
        Hyperparameter("k_num", whole(1), "nearest hits and misses to compare with"),
    )

    def __init__(self, *, f_max: int | None = None, w_min: float = -np.inf, k_num: int = 4) -> None:
        self.f_max = f_max
        self.w_min = w_min
        self.k_num = k_num

    def _rank(self, X: Any, codes: Codes) -> None:
        scaled = _divided_by_range(X)
        self._note(_weighted_differences(scaled, _neighbour_weights(scaled, codes, self.k_num)))


def _divided_by_range(X: Any) -> Any:
    if sp.issparse(X):
        spread = (X.max(axis=0) - X.min(axis=0)).toarray().ravel()
        return sp.csr_array(X @ sp.diags_array(1.0 / np.where(spread > 0, spread, 1.0)))
    spread = X.max(axis=0) - X.min(axis=0)
    return X / np.where(spread > 0, spread, 1.0)


def _neighbour_weights(scaled: Any, codes: Codes, k_num: int) -> sp.csr_array:
    """Patterns × patterns: what their difference counts, above 0 for misses, below 0 for hits."""
    count = len(codes)
    shares = np.bincount(codes) / count
    parts = [
        _weights_of_block(rows, euclidean_distances(scaled[rows], scaled, squared=True), codes, shares, k_num)
        for rows in blocks(count, count)
    ]
    patterns, others, weights = (np.concatenate(each) for each in zip(*parts, strict=True))
    return sp.csr_array((weights, (patterns, others)), shape=(count, count))


def _weights_of_block(
    rows: slice, distances: Numbers, codes: Codes, shares: Numbers, k_num: int
) -> tuple[Codes, Codes, Numbers]:
    """Patterns of a block, their neighbours, and what each pair counts."""
    own = np.arange(rows.start, rows.stop)
    distances[np.arange(len(own)), own] = np.inf
    found = []
    for code, share in enumerate(shares):
        hits = codes[rows] == code
        near, count = _nearest(distances, codes == code, hits, k_num)
        place, kept = np.nonzero(np.arange(near.shape[1]) < count[:, None])
        factors = np.where(hits, -1.0, share / (1.0 - shares[codes[rows]]))
        found.append((own[place], near[place, kept], factors[place] / count[place]))
    patterns, others, weights = (np.concatenate(each) for each in zip(*found, strict=True))
    return patterns, others, weights


def _nearest(distances: Numbers, members: Any, hits: Any, k_num: int) -> tuple[Codes, Codes]:
    """The nearest members of a class for each pattern, and how many there are: one fewer in its own class."""
    columns = np.flatnonzero(members)
    order = np.argsort(distances[:, columns], axis=1, kind="stable")[:, :k_num]
    return columns[order], np.minimum(k_num, len(columns) - hits)


def _weighted_differences(X: Any, weights: sp.csr_array) -> Numbers:
    """Σᵢₙ wᵢₙ (xᵢ - xₙ)² / m for each feature, by its three parts, so that sparse tables stay sparse."""
    away, towards = np.asarray(weights.sum(axis=1)), np.asarray(weights.sum(axis=0))
    near = weights @ X
    if sp.issparse(X):
        squares, mixed = X.multiply(X), np.asarray(X.multiply(near).sum(axis=0)).ravel()
    else:
        squares, mixed = X * X, (X * near).sum(axis=0)
    total: Numbers = ((away + towards) @ squares - 2.0 * mixed) / X.shape[0]
    return total


class GramSchmidt(FeatureRanking):
    """gs: the feature nearest to the target in angle, then the others made orthogonal to it, and so on.

    After Stoppiglia et al. (2003), features and target centred first. Nothing is made orthogonal in memory:
    a feature's product with what remains of the target, and what remains of its own length, tell the angle,
    so a sparse table stays so. `weights_` are squared cosines at the time of choice. Features that add
    nothing, and all after the first `ranked`, follow by their own squared correlation with the target.
    """

    called = "gs"
    hyperparameters = (
        F_MAX,
        Hyperparameter(
            "ranked", whole(1).or_none("all"), "features to rank in this way; training stops there"
        ),
    )

    def __init__(self, *, f_max: int | None = None, ranked: int | None = None) -> None:
        self.f_max = f_max
        self.ranked = ranked

    def _rank(self, X: Any, codes: Codes) -> None:
        target = (codes[:, None] == np.arange(len(self.classes_))).astype(np.float64)
        centred = X if sp.issparse(X) else X - X.mean(axis=0)
        chosen, cosines, correlations = gram_schmidt(centred, target, self.ranked or X.shape[1])
        order = np.argsort(-correlations, kind="stable")
        self.ranking_ = np.concatenate([chosen, order[~np.isin(order, chosen)]])
        self.weights_ = np.zeros(X.shape[1])
        self.weights_[chosen] = cosines
        self.ranked_ = len(chosen)


def gram_schmidt(X: Any, target: Numbers, most: int) -> tuple[Codes, Numbers, Numbers]:
    """Features in order of choice, their squared cosines then; and squared correlations of all features."""
    patterns, limit = X.shape[0], min(most, X.shape[1], X.shape[0] - 1)
    squares = _squared_lengths(X)
    remaining, least = squares - patterns * _means(X) ** 2, NEGLIGIBLE * squares
    basis = np.empty((patterns, limit + 1))
    basis[:, 0] = 1.0 / np.sqrt(patterns)
    rest = target - target.mean(axis=0)
    everything = (rest**2).sum()
    chosen: list[int] = []
    cosines: list[float] = []
    correlations = _squared_cosines(X, rest, remaining, least)
    while len(chosen) < limit and (rest**2).sum() > NEGLIGIBLE * everything:
        angles = _squared_cosines(X, rest, remaining, least) if chosen else correlations
        best = int(np.argmax(angles))
        if remaining[best] <= least[best]:
            break
        chosen.append(best)
        cosines.append(float(angles[best]))
        direction = _orthogonal(_column(X, best), basis[:, : len(chosen)])
        basis[:, len(chosen)] = direction
        rest = rest - np.outer(direction, direction @ rest)
        remaining = remaining - safe_sparse_dot(X.T, direction, dense_output=True) ** 2
        remaining[best] = 0.0
    return np.array(chosen, dtype=np.intp), np.array(cosines), correlations


def _squared_cosines(X: Any, rest: Numbers, remaining: Numbers, least: Numbers) -> Numbers:
    """Squared cosine between what remains of a feature and of the target; 0 of features that are spent."""
    products = (safe_sparse_dot(X.T, rest, dense_output=True) ** 2).sum(axis=1)
    alive = remaining > least
    cosines = np.where(alive, products / np.where(alive, remaining, 1.0), 0.0) / (rest**2).sum()
    return np.asarray(np.minimum(cosines, 1.0))


def _orthogonal(column: Numbers, basis: Numbers) -> Numbers:
    """The part of a column orthogonal to the basis, of length 1; twice, because once is not exact."""
    for _ in range(2):
        column = column - basis @ (basis.T @ column)
    return np.asarray(column / np.linalg.norm(column))


def _column(X: Any, place: int) -> Numbers:
    return np.asarray(X[:, [place]].toarray() if sp.issparse(X) else X[:, place]).ravel()


def _means(X: Any) -> Numbers:
    return np.asarray(X.mean(axis=0)).ravel()


def _squared_lengths(X: Any) -> Numbers:
    return np.asarray((X.multiply(X) if sp.issparse(X) else X * X).sum(axis=0)).ravel()
