"""What all feature selection methods share: a ranking, learnt once, and how much of it is used."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.feature_selection import SelectorMixin
from sklearn.utils.validation import check_is_fitted

from redelve.methods.clop.hyperparameters import (
    Hyperparameter,
    UnsuitedError,
    check_hyperparameters,
    number,
    whole,
)
from redelve.methods.clop.objects import Codes, LearningObject
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
