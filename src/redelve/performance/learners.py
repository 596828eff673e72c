"""Who learns: a scikit-learn estimator with its data, or whatever else can learn from some of its cases."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from redelve.answers.answer import Answer
from redelve.answers.predictions import ClassProbabilities, Guesses, Target, Truth
from redelve.errors import PredictionError, SpecError
from redelve.methods.estimators import LARGEST_SEED, copy_for, global_randomness
from redelve.methods.views import without_zeros
from redelve.performance.measures import Rows

FEWEST_CASES = 4


class Learnt(Protocol):
    """What learning leaves behind."""

    @property
    def model(self) -> Any:
        """The fitted model itself, None where there is nothing to look into."""

    def answer(self, rows: Rows, *, probabilities: bool = False) -> Answer:
        """The answer for these cases; probabilities only if they are asked for."""


class Learner(Protocol):
    """A model with the cases it may learn from; `rows` count from 0.

    One that knows which cases have equal inputs may tell by `alike`, see `numbered_rows`.
    """

    @property
    def name(self) -> str:
        """What to call it."""

    @property
    def fits_each(self) -> int:
        """How often a model is trained each time it learns."""

    def learn(self, rows: Rows, seed: int) -> Learnt:
        """Learn from these cases alone."""

    def relabelled(self, codes: Rows) -> Learner | None:
        """The same with other classes for all cases; None where that cannot be."""


@dataclass(frozen=True, eq=False)
class EstimatorLearner:
    """A scikit-learn estimator and data; `labels` is None for numbers, else the classes in order."""

    estimator: Any
    inputs: Any
    outputs: NDArray[Any]
    target: Target
    labels: NDArray[Any] | None
    called: str = ""

    @property
    def name(self) -> str:
        """The name given, or the class of the (last) estimator."""
        return self.called or name_of(self.estimator)

    @property
    def fits_each(self) -> int:
        """One model at a time."""
        return 1

    def learn(self, rows: Rows, seed: int) -> FittedEstimator:
        """A copy of the estimator, fitted to these cases; unset random states come from the seed."""
        number = seed % LARGEST_SEED
        with global_randomness(number):
            model = copy_for(self.estimator, np.random.default_rng(number))
            model.fit(taken(self.inputs, rows), self.outputs[rows])
        return FittedEstimator(self, model, number, len(rows))

    def relabelled(self, codes: Rows) -> EstimatorLearner | None:
        """The same with other classes for all cases."""
        return None if self.labels is None else replace(self, outputs=self.labels[codes])

    def alike(self) -> Rows | None:
        """Numbers of different rows of the inputs."""
        return numbered_rows(self.inputs)


@dataclass(frozen=True, eq=False)
class FittedEstimator:
    """A fitted estimator, with the learner whose inputs it is asked about."""

    learner: EstimatorLearner
    model: Any
    seed: int
    cases: int

    def answer(self, rows: Rows, *, probabilities: bool = False) -> Answer:
        """Guesses, and probabilities of the classes if they are wanted and the estimator tells them."""
        shown, target = taken(self.learner.inputs, rows), self.learner.target
        with global_randomness(self.seed):
            predicted = np.asarray(self.model.predict(shown))
            if self.learner.labels is None:
                return Answer(Guesses((target,), (predicted.astype(np.float64).reshape(len(rows)),)))
            guesses = Guesses((target,), (_codes(self.learner, predicted).astype(np.float64),))
            is_told = probabilities and hasattr(self.model, "predict_proba")
            told = self.model.predict_proba(shown) if is_told else None
        return Answer(guesses, None if told is None else self._probabilities(np.asarray(told)))

    def _probabilities(self, told: NDArray[np.float64]) -> ClassProbabilities:
        every = np.zeros((len(told), len(self.learner.target.levels)))
        every[:, _codes(self.learner, np.asarray(self.model.classes_))] = told
        target = self.learner.target
        return ClassProbabilities.from_probabilities(target, without_zeros(every, self.cases))


def _codes(learner: EstimatorLearner, predicted: NDArray[Any]) -> Rows:
    labels = learner.labels
    assert labels is not None
    places = np.searchsorted(labels, predicted.ravel())
    places = np.minimum(places, len(labels) - 1)
    wrong = np.flatnonzero(labels[places] != predicted.ravel())
    if wrong.size:
        raise PredictionError(
            f"{learner.name} predicted {predicted.ravel()[wrong[0]]!r}, which is no class of the cases: "
            f"{', '.join(map(str, labels[:12]))}"
        )
    return places.astype(np.int64)


def name_of(estimator: Any) -> str:
    """The class of the last estimator of a pipeline."""
    steps = getattr(estimator, "steps", None)
    return name_of(steps[-1][1]) if steps else type(estimator).__name__


def numbered_rows(inputs: Any) -> Rows | None:
    """A number for each row, the same for equal ones; None where values cannot be compared."""
    import pandas as pd
    from scipy.sparse import issparse

    if issparse(inputs):
        table = inputs.copy()
        table.sum_duplicates()  # sorts, too
        table.eliminate_zeros()
        ends = list(pairwise(table.indptr.tolist()))
        rows = [table.indices[a:b].tobytes() + table.data[a:b].tobytes() for a, b in ends]
        return np.asarray(pd.factorize(np.array(rows, dtype=object))[0], dtype=np.int64)
    frame = inputs if hasattr(inputs, "iloc") else pd.DataFrame(inputs)
    try:
        codes = pd.util.hash_pandas_object(frame, index=False).to_numpy()
    except TypeError:
        return None
    return np.asarray(np.unique(codes, return_inverse=True)[1], dtype=np.int64)


def taken(inputs: Any, rows: Rows) -> Any:
    """Some rows of an array, a sparse matrix or a data frame."""
    return inputs.iloc[rows] if hasattr(inputs, "iloc") else inputs[rows]


# --- from what the user gives ------------------------------------------------------------------------------


def learner_for(estimator: Any, X: Any, y: Any, name: str = "") -> tuple[EstimatorLearner, Truth]:
    """The learner with its data, checked, and the true targets."""
    from sklearn.base import is_classifier, is_regressor

    if isinstance(estimator, type) or not (hasattr(estimator, "fit") and hasattr(estimator, "get_params")):
        raise SpecError(
            f"{getattr(estimator, '__name__', type(estimator).__name__)} is no scikit-learn estimator: give "
            "an instance, such as LogisticRegression()"
        )
    inputs = _inputs(X)
    outputs = _outputs(y, inputs.shape[0])
    _check_inputs(estimator, inputs)
    if is_classifier(estimator):
        return _classifying(estimator, inputs, outputs, name)
    if not is_regressor(estimator):
        raise SpecError(f"{name_of(estimator)} is neither a classifier nor a regressor")
    target = Target("target", "real")
    numbers = _numbers(outputs)
    return EstimatorLearner(estimator, inputs, numbers, target, None, name), Truth.exact(target, numbers)


def _classifying(
    estimator: Any, inputs: Any, outputs: NDArray[Any], name: str
) -> tuple[EstimatorLearner, Truth]:
    try:
        labels, codes = np.unique(outputs, return_inverse=True)
    except TypeError:
        kinds = ", ".join(sorted({type(one).__name__ for one in outputs}))
        raise SpecError(
            f"the classes in y are of kinds that have no order ({kinds}): give one kind"
        ) from None
    if len(labels) < 2:
        raise SpecError(f"y has one class only ({labels[0]!s}): nothing can be predicted of a classifier")
    if len(labels) > len(outputs) / 2 and np.asarray(outputs).dtype.kind == "f":
        raise SpecError(f"y has {len(labels)} different numbers for {len(outputs)} cases: give a regressor")
    target = Target("target", "categorical", _level_names(labels))
    learner = EstimatorLearner(estimator, inputs, outputs, target, labels, name)
    return learner, Truth.exact(target, codes.astype(np.float64))


def _level_names(labels: NDArray[Any]) -> tuple[str, ...]:
    names = tuple(map(str, labels))
    is_plain = len(set(names)) == len(names) and not any(name.startswith("?") for name in names)
    return names if is_plain else tuple(f"class {number}" for number in range(len(names)))


def _inputs(X: Any) -> Any:
    from scipy.sparse import issparse

    found = X if hasattr(X, "iloc") else X.tocsr() if issparse(X) else np.asarray(X)
    is_text = len(found.shape) == 1 and getattr(found, "dtype", np.dtype(float)).kind in "UO"
    if not (is_text or len(found.shape) == 2) or found.shape[0] < FEWEST_CASES:
        raise SpecError(
            f"X has the shape {tuple(found.shape)}: give a row for each case, a column for each input (or a "
            f"text for each case), and at least {FEWEST_CASES} cases"
        )
    return found


def _outputs(y: Any, cases: int) -> NDArray[Any]:
    import pandas as pd

    found = np.asarray(y)
    if found.ndim != 1 or len(found) != cases:
        raise SpecError(f"y has the shape {found.shape}: give one value for each of the {cases} rows of X")
    missing = np.flatnonzero(np.asarray(pd.isna(found)))
    if missing.size:
        raise SpecError(f"y is missing in row {missing[0]} (from 0): leave such cases out")
    return found


def _numbers(outputs: NDArray[Any]) -> NDArray[np.float64]:
    try:
        found = outputs.astype(np.float64)
    except (TypeError, ValueError):
        raise SpecError(f"a regressor needs numbers in y: got {outputs[0]!r}; give a classifier") from None
    if not np.isfinite(found).all():
        row = int(np.flatnonzero(~np.isfinite(found))[0])
        raise SpecError(f"y is {found[row]} in row {row} (from 0): give finite numbers")
    return found


def _check_inputs(estimator: Any, inputs: Any) -> None:
    """Refuse missing values that the estimator would choke on."""
    import pandas as pd
    from scipy.sparse import issparse
    from sklearn.utils import get_tags

    values = inputs.data if issparse(inputs) else inputs
    missing = np.asarray(pd.isna(values))
    if missing.any() and not get_tags(_entrance(estimator)).input_tags.allow_nan:
        row = "" if issparse(inputs) else f" (first in row {np.argwhere(missing)[0][0]}, from 0)"
        raise SpecError(
            f"X has {int(missing.sum())} missing values{row}, which {name_of(estimator)} does not take: put "
            "an imputer before it, as in make_pipeline(SimpleImputer(), …)"
        )


def _entrance(estimator: Any) -> Any:
    """The part of a pipeline or search that meets the inputs first."""
    inner = getattr(estimator, "estimator", None)
    if inner is not None and hasattr(inner, "get_params"):
        return _entrance(inner)
    steps = [
        step for _, step in getattr(estimator, "steps", []) if step is not None and step != "passthrough"
    ]
    return _entrance(steps[0]) if steps else estimator
