"""chain: each member takes the output of the one before and feeds its own to the next."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from redelve.methods.clop.hyperparameters import check_hyperparameters
from redelve.methods.clop.objects import OBJECTS, Composition, all_sparse, outputs
from redelve.model.dataset import Numbers


def _last_has(method: str) -> Callable[[Any], bool]:
    def has(chain: Any) -> bool:
        members = getattr(chain, "members_", None) or chain.objects
        return hasattr(members[-1], method)

    return has


class Chain(Composition):
    """chain: what the last member does, with what the others make of the data.

    A preprocessor or feature selection passes on new features, `subsample` fewer training patterns, a
    classifier its outputs. Trained members are in `members_`; those given are never changed. (A scikit-learn
    Pipeline can neither leave out training patterns nor have a classifier in the middle.)
    """

    called = "chain"
    hyperparameters = (OBJECTS,)

    def __init__(self, objects: Any) -> None:
        self.objects = self._make_members(objects)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        if OBJECTS.range.accepts(self.objects):
            last = get_tags(self.objects[-1])
            tags.estimator_type = last.estimator_type
            tags.classifier_tags = last.classifier_tags
            tags.transformer_tags = last.transformer_tags
            tags.target_tags.required = any(get_tags(each).target_tags.required for each in self.objects)
            tags.input_tags.sparse = all_sparse(self.objects)
        return tags

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "members_")

    def fit(self, X: Any, y: Any = None) -> Chain:
        """Train the members one after the other."""
        check_hyperparameters(self)
        members = [clone(each) for each in self.objects]
        for member in members[:-1]:
            X, y = _passed_on(member, X, y)
        members[-1].fit(X, y)
        self.members_ = members
        return self

    def _through(self, X: Any) -> Any:
        check_is_fitted(self)
        for member in self.members_[:-1]:
            X = member.transform(X) if hasattr(member, "transform") else outputs(member, X)
        return X

    @available_if(_last_has("predict"))  # type: ignore[untyped-decorator]
    def predict(self, X: Any) -> NDArray[Any]:
        """The last member's predictions."""
        passed = self._through(X)
        predicted: NDArray[Any] = self.members_[-1].predict(passed)
        return predicted

    @available_if(_last_has("predict_proba"))  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> Numbers:
        """The last member's probabilities."""
        passed = self._through(X)
        shares: Numbers = self.members_[-1].predict_proba(passed)
        return shares

    @available_if(_last_has("decision_function"))  # type: ignore[untyped-decorator]
    def decision_function(self, X: Any) -> Numbers:
        """The last member's discriminant values."""
        passed = self._through(X)
        scores: Numbers = self.members_[-1].decision_function(passed)
        return scores

    @available_if(_last_has("transform"))  # type: ignore[untyped-decorator]
    def transform(self, X: Any) -> Any:
        """The last member's features."""
        passed = self._through(X)
        return self.members_[-1].transform(passed)

    @available_if(_last_has("transform"))  # type: ignore[untyped-decorator]
    def fit_transform(self, X: Any, y: Any = None) -> Any:
        """Train, and process the training data."""
        return self.fit(X, y).transform(X)

    @available_if(_last_has("predict"))  # type: ignore[untyped-decorator]
    def score(self, X: Any, y: Any) -> float:
        """The share of patterns classified rightly."""
        return float(np.mean(np.asarray(self.predict(X)) == np.asarray(y)))

    @property
    def classes_(self) -> NDArray[Any]:  # type: ignore[override]
        """The classes the last member knows."""
        return self._of(-1, "classes_")  # type: ignore[no-any-return]

    @property
    def n_features_in_(self) -> int:
        """Features the first member was given."""
        return self._of(0, "n_features_in_")  # type: ignore[no-any-return]

    @property
    def feature_names_in_(self) -> NDArray[Any]:
        """Names of the features the first member was given, if they had names."""
        return self._of(0, "feature_names_in_")  # type: ignore[no-any-return]

    def _of(self, place: int, name: str) -> Any:
        if not hasattr(self, "members_"):
            raise AttributeError(f"chain has {name} when it is trained")
        return getattr(self.members_[place], name)


def _passed_on(member: Any, X: Any, y: Any) -> tuple[Any, Any]:
    """Train a member; what the next one is trained on."""
    if hasattr(member, "fit_resample"):
        resampled: tuple[Any, Any] = member.fit_resample(X, y)
        return resampled
    if hasattr(member, "transform"):
        return member.fit(X, y).transform(X), y
    return outputs(member.fit(X, y), X), y
