"""Cases as the user's own arrays, data frames or sparse matrices: an estimator sees just these."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from redelve.answers.answer import Answer
from redelve.answers.predictions import ClassProbabilities, DecisionValues, Guesses, Target, Truth
from redelve.errors import PredictionError, SpecError
from redelve.methods.adapters.fit_problems import explained
from redelve.methods.estimators import LARGEST_SEED, copy_for, decision_values, global_randomness
from redelve.methods.own_labels import as_told
from redelve.methods.shown import TestInputs, TrainingSet
from redelve.methods.views import not_negative, without_zeros
from redelve.model import Cases, Prior
from redelve.model.dataset import Rows

NO_PRIOR = Prior("arrays", ())


@dataclass(frozen=True, eq=False)
class ArrayTraining(TrainingSet):
    """Training cases whose inputs are rows of `table`, in no columns; `outputs` are as the user has them.

    `labels` are the classes in order, None where numbers are predicted.
    """

    table: Any = field(kw_only=True)
    outputs: NDArray[Any] = field(kw_only=True)
    labels: NDArray[Any] | None = field(kw_only=True)


@dataclass(frozen=True, eq=False)
class ArrayInputs(TestInputs):
    """Test cases whose inputs are rows of `table`; `probabilities` tells whether they are asked for."""

    table: Any = field(kw_only=True)
    probabilities: bool = field(kw_only=True, default=False)


@dataclass(frozen=True, eq=False)
class ArrayCases:
    """Inputs and the outputs that belong to them; `labels` is None for numbers, else the classes in order."""

    inputs: Any
    outputs: NDArray[Any]
    target: Target
    labels: NDArray[Any] | None

    @cached_property
    def truth(self) -> Truth:
        """The true target of every case."""
        if self.labels is None:
            return Truth.exact(self.target, self.outputs)
        return Truth.exact(self.target, np.searchsorted(self.labels, self.outputs).astype(np.float64))

    def training(self, rows: Rows) -> ArrayTraining:
        """These cases to learn from."""
        return ArrayTraining(
            (),
            (),
            NO_PRIOR,
            Cases((), len(rows)),
            table=taken(self.inputs, rows),
            outputs=self.outputs[rows],
            labels=self.labels,
            targets=(self.target,),
        )

    def testing(self, rows: Rows, *, probabilities: bool = False) -> ArrayInputs:
        """These cases without their targets."""
        shown = taken(self.inputs, rows)
        return ArrayInputs((), NO_PRIOR, Cases((), len(rows)), table=shown, probabilities=probabilities)

    def relabelled(self, codes: Rows) -> ArrayCases | None:
        """The same with other classes for all cases; None for numbers."""
        return None if self.labels is None else replace(self, outputs=self.labels[codes])

    def alike(self) -> Rows | None:
        """A number for each case, the same for equal inputs."""
        return numbered_rows(self.inputs)


def taken(inputs: Any, rows: Rows) -> Any:
    """Some rows of an array, a sparse matrix or a data frame of pandas or polars."""
    return inputs.iloc[rows] if hasattr(inputs, "iloc") else inputs[rows]


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
    if hasattr(inputs, "get_column"):  # polars
        inputs = inputs.to_pandas()
    frame = inputs if hasattr(inputs, "iloc") else pd.DataFrame(inputs)
    try:
        codes = pd.util.hash_pandas_object(frame, index=False).to_numpy()
    except TypeError:
        return None
    return np.asarray(np.unique(codes, return_inverse=True)[1], dtype=np.int64)


# --- an estimator that learns from them ---------------------------------------------------------------------


def fit_to_arrays(
    estimator: Any, name: str, training: ArrayTraining, rng: np.random.Generator
) -> FittedToArrays:
    """A copy of the estimator, fitted; unset random states come from the seed of the generator."""
    number = _seed_of(rng)
    with global_randomness(number), explained(estimator, training.table):
        model = copy_for(estimator, np.random.default_rng(number))
        model.fit(training.table, training.outputs)
    return FittedToArrays(name, model, number, training.targets[0], training.labels, len(training))


def _seed_of(rng: np.random.Generator) -> int:
    """The number that a generator was made from, such as scikit-learn takes; else one drawn from it."""
    made_from = getattr(rng.bit_generator.seed_seq, "entropy", None)
    return made_from % LARGEST_SEED if isinstance(made_from, int) else int(rng.integers(LARGEST_SEED))


@dataclass(frozen=True, eq=False)
class FittedToArrays:
    """A fitted estimator; `cases` is how many it learnt from."""

    name: str
    model: Any
    seed: int
    target: Target
    labels: NDArray[Any] | None
    cases: int

    def predict(self, inputs: TestInputs) -> Answer:
        """Guesses, and probabilities of the classes if they are asked for and the estimator tells them."""
        if not isinstance(inputs, ArrayInputs):
            raise SpecError(f"{self.name} has learnt from arrays: show it arrays")
        with global_randomness(self.seed):
            predicted = np.asarray(self.model.predict(inputs.table))
            if self.labels is None:
                return Answer(Guesses((self.target,), (predicted.astype(np.float64).reshape(len(inputs)),)))
            guesses = Guesses((self.target,), (self._codes(predicted).astype(np.float64),))
            if not inputs.probabilities:
                return Answer(guesses)
            if not hasattr(self.model, "predict_proba"):
                return Answer(guesses, decision_values=self._decided(inputs.table))
            told = self.model.predict_proba(inputs.table)
        return Answer(guesses, self._probabilities(np.asarray(told)))

    def _decided(self, table: Any) -> DecisionValues | None:
        codes = self._codes(np.asarray(getattr(self.model, "classes_", self.labels)))
        values = decision_values(self.model, table, codes, len(self.target.levels))
        return None if values is None else DecisionValues(self.target, values)

    def _probabilities(self, told: NDArray[np.float64]) -> ClassProbabilities:
        every = np.zeros((len(told), len(self.target.levels)))
        every[:, self._codes(np.asarray(self.model.classes_))] = not_negative(self.name, told)
        kept, floored = as_told(self.name, every), without_zeros(every, self.cases)
        return ClassProbabilities.from_probabilities(self.target, floored, kept)

    def _codes(self, predicted: NDArray[Any]) -> Rows:
        labels, named = self.labels, _like(predicted.ravel(), self.labels)
        assert labels is not None
        places = np.minimum(np.searchsorted(labels, named), len(labels) - 1)
        wrong = np.flatnonzero(labels[places] != named)
        if wrong.size:
            raise PredictionError(
                f"{self.name} predicted {named[wrong[0]]!r}, which is no class of the cases: "
                f"{', '.join(map(str, labels[:12]))}"
            )
        return places.astype(np.int64)


def _like(predicted: NDArray[Any], labels: NDArray[Any] | None) -> NDArray[Any]:
    """Predictions in the labels' own type: CatBoost predicts "True" for True."""
    if labels is None or labels.dtype.kind != "b" or predicted.dtype.kind == "b":
        return predicted
    return np.array([str(one) == "True" for one in predicted.tolist()])
