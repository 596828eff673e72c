"""What all learning objects share: a name of the paper, hyperparameters, the way they take data.

Objects made of objects name their members; `LabelledData`, `train` and `test` are the paper's way of saying
things.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, TransformerMixin, clone
from sklearn.utils import get_tags
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from redelve.methods.clop.hyperparameters import (
    Hyperparameter,
    HyperparameterRange,
    UnsuitedError,
    check_hyperparameters,
)
from redelve.model.dataset import Numbers

Codes = NDArray[np.intp]

BLOCK_SIZE = 2**22
"""Tables of cases against patterns are worked through in blocks of about this many numbers."""


class LearningObject(BaseEstimator):  # type: ignore[misc]
    """A scikit-learn estimator that knows its name in the paper and the ranges of its hyperparameters."""

    called: ClassVar[str]
    hyperparameters: ClassVar[tuple[Hyperparameter, ...]] = ()

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _accept_labelled(self, X: Any, y: Any) -> tuple[Any, Codes]:
        """Check hyperparameters and training data; the labels come back as positions in `classes_`."""
        check_hyperparameters(self)
        X, y = validate_data(self, X, y, accept_sparse="csr", dtype=np.float64)
        check_classification_targets(y)
        X = with_short_indices(X)
        self.classes_, codes = np.unique(y, return_inverse=True)
        if len(self.classes_) < 2:
            raise UnsuitedError(
                f"{self.called}: there is one class only, {self.classes_[0]} ({len(codes)} patterns): "
                "give patterns of at least two classes"
            )
        return X, codes

    def _accept_inputs(self, X: Any) -> Any:
        """Check that the object is trained, and data to be processed."""
        check_is_fitted(self)
        X = validate_data(self, X, accept_sparse="csr", dtype=np.float64, reset=False)
        return with_short_indices(X)


class Classifier(ClassifierMixin, LearningObject):  # type: ignore[misc]
    """A learning machine. Its output is a number for the second of two classes, or one for each class."""

    def fit(self, X: Any, y: Any) -> Any:
        """Train; `X` has patterns in lines and features in columns, dense or sparse."""
        X, codes = self._accept_labelled(X, y)
        self._learn(X, codes)
        return self

    def decision_function(self, X: Any) -> Numbers:
        """Discriminant values: above 0 speaks for the second of two classes; of more, the largest wins."""
        return self._scores(self._accept_inputs(X))

    def predict(self, X: Any) -> NDArray[Any]:
        """The class of each pattern."""
        return labels_of(self.decision_function(X), self.classes_)

    @abstractmethod
    def _learn(self, X: Any, codes: Codes) -> None: ...

    @abstractmethod
    def _scores(self, X: Any) -> Numbers: ...


class Preprocessor(TransformerMixin, LearningObject):  # type: ignore[misc]
    """A learning object that makes new features, as many as it was given."""

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """The features keep their names."""
        from sklearn.utils.validation import _check_feature_names_in

        check_is_fitted(self)
        names: NDArray[Any] = _check_feature_names_in(self, input_features)
        return names


def labels_of(scores: Numbers, classes: NDArray[Any]) -> NDArray[Any]:
    """The classes that discriminant values speak for."""
    chosen = (scores > 0).astype(np.intp) if scores.ndim == 1 else scores.argmax(axis=1)
    labels: NDArray[Any] = classes[chosen]
    return labels


def signed_targets(codes: Codes, count: int) -> Numbers:
    """Targets of ±1: a column for two classes, +1 for the second; else a column for each class.

    >>> signed_targets(np.array([0, 1, 1]), 2).ravel()
    array([-1.,  1.,  1.])
    """
    first = 1 if count == 2 else 0
    return np.where(codes[:, None] == np.arange(first, count), 1.0, -1.0)


def as_scores(columns: Numbers) -> Numbers:
    """Columns of `signed_targets` as scikit-learn wants discriminant values: one column is a vector."""
    return columns[:, 0] if columns.shape[1] == 1 else columns


def outputs(model: Any, X: Any) -> Numbers:
    """What a trained classifier says, on the scale of targets of ±1: a column, or one for each class.

    Probabilities p speak as 2p - 1; else discriminant values, as they are; else the class itself.
    """
    if hasattr(model, "predict_proba"):
        shares = 2 * np.asarray(model.predict_proba(X), dtype=np.float64) - 1
        return shares[:, 1:] if shares.shape[1] == 2 else shares
    if hasattr(model, "decision_function"):
        scores = np.asarray(model.decision_function(X), dtype=np.float64)
        return scores[:, None] if scores.ndim == 1 else scores
    return signed_targets(np.searchsorted(model.classes_, model.predict(X)), len(model.classes_))


def stored(X: Any) -> Any:
    """Patterns as a trained object keeps them: skops saves a csr_matrix as such, a csr_array bit by bit."""
    return sp.csr_matrix(X) if sp.issparse(X) else X


def with_short_indices(X: Any) -> Any:
    """A sparse table with 32-bit indices if they suffice: trees of scikit-learn take no others."""
    if not sp.issparse(X) or X.indices.dtype == np.int32 or max(X.nnz, *X.shape) >= 2**31:
        return X
    return type(X)((X.data, X.indices.astype(np.int32), X.indptr.astype(np.int32)), shape=X.shape)


def blocks(rows: int, width: int) -> Iterator[slice]:
    """Slices of rows such that rows × width stays small."""
    step = max(1, BLOCK_SIZE // max(width, 1))
    return (slice(start, min(start + step, rows)) for start in range(0, rows, step))


OBJECTS = Hyperparameter(
    "objects",
    HyperparameterRange(
        "list of learning objects",
        lambda value: (
            isinstance(value, list | tuple) and len(value) > 0 and all(hasattr(each, "fit") for each in value)
        ),
    ),
    "the members; a class stands for an object with default hyperparameters",
)


def made(item: Any) -> Any:
    """An object; of a class, one with default hyperparameters, as the paper writes `standardize`."""
    return item() if isinstance(item, type) else item


def name_of(item: Any) -> str:
    """The paper's name of an object, or that of its class."""
    return str(getattr(item, "called", type(item).__name__.lower()))


class Composition(LearningObject):
    """An object with a list of members.

    A member is called by its name in the paper, `kridge`; of several that are alike, `kridge-1`, `kridge-2`.
    Its hyperparameters can be read and set as `kridge__shrinkage`.
    """

    objects: Sequence[Any]

    def _make_members(self, objects: Any) -> Any:
        """The list as it was given, unless it has classes: clone wants to find it unchanged."""
        is_list = isinstance(objects, list | tuple)
        has_classes = is_list and any(isinstance(each, type) for each in objects)
        return [made(each) for each in objects] if has_classes else objects

    def _named(self) -> list[tuple[str, Any]]:
        if not OBJECTS.range.accepts(self.objects):
            return []
        names = [name_of(each) for each in self.objects]
        counted = [
            f"{name}-{names[: place + 1].count(name)}" if names.count(name) > 1 else name
            for place, name in enumerate(names)
        ]
        return list(zip(counted, self.objects, strict=True))

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Hyperparameters; with `deep`, the members and theirs too."""
        found: dict[str, Any] = super().get_params(deep=False)
        if deep:
            for name, member in self._named():
                found[name] = member
                for inner, value in member.get_params(deep=True).items():
                    found[f"{name}__{inner}"] = value
        return found

    def set_params(self, **values: Any) -> Any:
        """Set hyperparameters, members or hyperparameters of members."""
        if "objects" in values:
            self.objects = self._make_members(values.pop("objects"))
        named = dict(self._named())
        inner = {key: values.pop(key) for key in list(values) if key.partition("__")[0] in named}
        members = {name: made(inner.pop(name, member)) for name, member in named.items()}
        if any(members[name] is not member for name, member in named.items()):
            self.objects = list(members.values())
        for key, value in inner.items():
            name, _, rest = key.partition("__")
            members[name].set_params(**{rest: value})
        return super().set_params(**values)


def all_sparse(members: Sequence[Any]) -> bool:
    """Whether every member takes sparse tables."""
    return all(get_tags(each).input_tags.sparse for each in members)


@dataclass(frozen=True, eq=False)
class LabelledData:
    """data: patterns `X` and their targets `Y`, which may be missing."""

    X: Any
    Y: Any = None


def train(model: Any, data: LabelledData) -> tuple[LabelledData, Any]:
    """Train a copy of the model: what it makes of the training data, and the trained copy."""
    trained = clone(made(model)).fit(data.X, data.Y)
    return test(trained, data), trained


def test(model: Any, data: LabelledData) -> LabelledData:
    """What a trained model makes of data: new features, or a classifier's outputs, in place of X."""
    processed = model.transform(data.X) if hasattr(model, "transform") else as_scores(outputs(model, data.X))
    return replace(data, X=processed)
