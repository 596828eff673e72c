"""The classifiers of the study, and what makes one tell the guesses of its performance by every way."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from redelve.answers.answer import Answer
from redelve.answers.predictions import Guesses, Target
from redelve.methods.contract import Method
from redelve.methods.shown import TestInputs, TrainingSet
from redelve.model import Column
from redelve.performance import Bench, BenchSettings, PerformanceGuess, bench_for, from_arrays, parse_way
from redelve.performance.best_of_several import best_of
from redelve.run.results import Told
from redelve.studies.wcci.two_class_problems import LABELS, Inputs

SELECTION = "selection"
"""In the place of a classifier: the best of the candidates."""
SELECTION_FOLDS = 10
SPARSE = 0.9
"""Inputs with a larger share of zeros are given to classifiers as a sparse matrix."""
NUMBERS = ("value", "low", "high", "standard_error", "fits", "seconds")
SUMMARY = """{models}.
It tells by {ways} how well it expects to do. Inputs are given as they are, as a sparse matrix where more
than nine tenths of them are zero.
"""


def _logistic(weight: float = 1.0) -> Any:
    from sklearn.linear_model import LogisticRegression

    return LogisticRegression(C=weight, class_weight="balanced", solver="liblinear")


def _svm(cost: float = 1.0) -> Any:
    from sklearn.svm import SVC

    return SVC(C=cost, class_weight="balanced")


def _nearest(neighbours: int = 1) -> Any:
    from sklearn.neighbors import KNeighborsClassifier

    return KNeighborsClassifier(neighbours)


def _tree(depth: int | None = None) -> Any:
    from sklearn.tree import DecisionTreeClassifier

    return DecisionTreeClassifier(max_depth=depth, class_weight="balanced")


def _forest() -> Any:
    from sklearn.ensemble import RandomForestClassifier

    return RandomForestClassifier(30, class_weight="balanced_subsample")


CLASSIFIERS: Mapping[str, Callable[[], Any]] = {
    "logistic": _logistic,
    "svm": _svm,
    "nearest": _nearest,
    "tree": _tree,
    "forest": _forest,
}


def candidates() -> dict[str, Any]:
    """The models among which is chosen."""
    found = {f"logistic {weight:g}": _logistic(weight) for weight in (0.01, 0.1, 1.0)}
    found |= {f"svm {cost:g}": _svm(cost) for cost in (0.3, 1.0, 3.0)}
    found |= {f"nearest {count}": _nearest(count) for count in (1, 5, 15)}
    return found | {f"tree {depth}": _tree(depth) for depth in (2, 4)}


@dataclass(frozen=True)
class GuessedClassifier(Method):
    """A classifier, or the best of several, that tells how well it will do, by every one of these ways."""

    classifier: str
    ways: tuple[str, ...]

    @property
    def models(self) -> dict[str, Any]:
        """The classifier, or the candidates."""
        name = self.classifier
        return candidates() if name == SELECTION else {name: CLASSIFIERS[name]()}

    @property
    def summary(self) -> str:  # type: ignore[override]
        """What it does."""
        models = "; ".join(map(str, self.models.values()))
        if self.classifier == SELECTION:
            models = f"The best of these by {SELECTION_FOLDS}-fold cross-validation: {models}"
        return SUMMARY.format(models=models, ways=", ".join(self.ways))

    @property
    def identity(self) -> Mapping[str, Any]:
        """Models and ways."""
        models = {name: str(model) for name, model in self.models.items()}
        return {"kind": "WCCI classifier", "version": 1, "models": models, "ways": list(self.ways)}

    def learn(self, training: TrainingSet, rng: np.random.Generator) -> ClassPredictor:
        """Train, and guess by every way; splits and fits go by the seed of the generator."""
        inputs = as_matrix(training.input_columns)
        labels = np.array(LABELS)[training.target_values().astype(np.int64)]
        made = [from_arrays(one, inputs, labels, name) for name, one in self.models.items()]
        methods = {method.name: method for method, _ in made}
        entropy: Any = rng.bit_generator.seed_seq.entropy  # type: ignore[attr-defined]
        bench = bench_for(methods, made[0][1], "ber", BenchSettings(int(entropy)))
        guesses = [parse_way(way).guess(bench) for way in self.ways]
        return ClassPredictor(_chosen(bench).trained.estimator, training.targets, told_of(guesses))


def _chosen(bench: Bench) -> Bench:
    if not bench.candidates:
        return bench
    return bench.candidates[best_of(bench, [one.folds(SELECTION_FOLDS) for one in bench.candidates])]


@dataclass(frozen=True, eq=False)
class ClassPredictor:
    """A trained classifier; `told` are its guesses."""

    model: Any
    targets: tuple[Target, ...]
    told: Told

    def predict(self, inputs: TestInputs) -> Answer:
        """A class for each case."""
        answers = self.model.predict(as_matrix(inputs.cases.columns))
        return Answer(Guesses(self.targets, (np.searchsorted(LABELS, answers).astype(np.float64),)))


def as_matrix(columns: Iterable[Column]) -> Inputs:
    """A row for each case; a sparse matrix where that is much smaller."""
    table: NDArray[np.float64] = np.column_stack([column.numbers() for column in columns])
    if (table == 0).mean() <= SPARSE:
        return table
    from scipy.sparse import csr_matrix

    return csr_matrix(table)


# Guesses in what a method tells, and back


def told_of(guesses: Iterable[PerformanceGuess]) -> dict[str, float | str]:
    """Guesses as named numbers and texts, such as "kfold:10 low"; what a way does not give is left out."""
    told: dict[str, float | str] = {}
    for guess in guesses:
        told[f"{guess.way} source"] = guess.source
        if guess.notes:
            told[f"{guess.way} notes"] = "\n".join(guess.notes)
        numbers = {name: getattr(guess, name) for name in NUMBERS}
        told |= {f"{guess.way} {name}": float(one) for name, one in numbers.items() if one is not None}
    return told


def guess_of(told: Told, way: str) -> PerformanceGuess:
    """The guess by a way."""
    numbers: dict[str, Any] = {name: told.get(f"{way} {name}") for name in NUMBERS}
    numbers["fits"] = int(numbers["fits"])
    notes = str(told.get(f"{way} notes", ""))
    said = tuple(notes.split("\n")) if notes else ()
    return PerformanceGuess(way=way, source=str(told[f"{way} source"]), notes=said, **numbers)
