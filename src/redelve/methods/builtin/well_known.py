"""Well-known methods by scikit-learn, with settings fixed once and for all: one method for any target.

Numbers are predicted by one model, levels by another; where there are too few cases to learn from, a constant
is answered. Predictive spreads are those of errors on cases that the model did not learn from.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np

from redelve.answers.answer import Answer
from redelve.answers.predictions import Target
from redelve.errors import SpecError
from redelve.methods.builtin.boosting import boosting_levels, boosting_numbers
from redelve.methods.builtin.constant import constant_part
from redelve.methods.builtin.gaussian_process import CHOICE_CASES, gp_numbers
from redelve.methods.builtin.learnt import (
    Classification,
    Classify,
    Fitted,
    Regress,
    Regression,
    probabilistic,
    random_splits,
    some_of,
)
from redelve.methods.builtin.mlp import classifying_networks, regressing_networks
from redelve.methods.contract import BuiltIn, categorical_only, numerical_only
from redelve.methods.estimators import LARGEST_SEED, copy_for, fit_classifier, global_randomness
from redelve.methods.shown import TestInputs, TrainingSet
from redelve.methods.views import Labels, View, ViewPart, answer_of
from redelve.model.dataset import Numbers

FEWEST_CASES = 5
RIDGE_PENALTIES = np.logspace(-3, 5, 17)
LOGISTIC_WEIGHTS = (1e-3, 1e-2, 1e-1, 1.0, 1e1, 1e2, 1e3)
SVM_SETTINGS = tuple((cost, width) for cost in (1.0, 10.0, 100.0) for width in (0.125, 0.5, 2.0))
SVM_CHOICE_CASES = 1024
TREES = 200


@dataclass(frozen=True, eq=False)
class WellKnown(BuiltIn):
    """A method made of a way to learn numbers and a way to learn levels, or only one of them."""

    called: str  # type: ignore[misc]
    regress: Regress | None = None
    classify: Classify | None = None
    instead: str = ""
    late_imports: tuple[str, ...] = ()

    def why_not(self, targets: tuple[Target, ...]) -> str | None:
        """What is missing for these targets."""
        if self.classify is None:
            return numerical_only(self.called, targets, self.instead)
        return categorical_only(self.called, targets, self.instead) if self.regress is None else None

    def learn(self, training: TrainingSet, rng: np.random.Generator) -> StandardPredictor:
        """Learn each target by itself; the sine and the cosine of an angular one too."""
        if (reason := self.why_not(training.targets)) is not None:
            raise SpecError(reason)
        view = View(training)
        inputs = _at_least_one_column(view.inputs)
        with global_randomness(int(rng.integers(LARGEST_SEED))):
            numbers = {
                k: [self.regress(inputs, column, rng) for column in columns.T]
                for k in view.numerical
                if self.regress is not None and _is_enough(columns := view.columns(k))
            }
            levels = {
                k: self.classify(inputs, labels, len(view.targets[k].levels), rng)
                for k in view.categorical
                if self.classify is not None and _is_enough(labels := view.labels(k))
            }
        return StandardPredictor(view, numbers, levels)


def _is_enough(targets: Numbers | Labels) -> bool:
    """Whether there is something to learn."""
    return len(targets) >= FEWEST_CASES and bool((targets != targets[0]).any())


@dataclass(frozen=True, eq=False)
class StandardPredictor:
    """What was learnt of each target; where there was nothing to learn, a constant is answered."""

    view: View
    numbers: dict[int, list[Regression]]
    levels: dict[int, Classification]

    def predict(self, inputs: TestInputs) -> Answer:
        """The answer in the original domain."""
        shown = _at_least_one_column(self.view.test(inputs))
        parts = {k: self._part(k, models, shown) for k, models in self.numbers.items()}
        parts |= {k: model.predict(shown) for k, model in self.levels.items()}
        for position in set(range(len(self.view.targets))) - parts.keys():
            parts[position] = constant_part(self.view.training, position, len(inputs))
        return answer_of(self.view.targets, parts)

    def _part(self, position: int, models: list[Regression], shown: Numbers) -> ViewPart:
        found = [model.predict(shown) for model in models]
        learnt = np.column_stack([means for means, _ in found])
        scales = np.broadcast_to(np.asarray(found[0][1], dtype=np.float64), len(shown))
        normal = self.view.normal(position, learnt, scales)
        return ViewPart(self.view.decoded(position, learnt), distribution=normal)


def _at_least_one_column(inputs: Numbers) -> Numbers:
    return inputs if inputs.shape[1] else np.zeros((len(inputs), 1))


# The methods


def ridge_numbers(inputs: Numbers, column: Numbers, rng: np.random.Generator) -> Regression:
    """Ridge regression, the penalty by leave-one-out."""
    from sklearn.linear_model import RidgeCV

    model = RidgeCV(alphas=RIDGE_PENALTIES).fit(inputs, column)
    return Fitted(model, float(np.sqrt(max(-model.best_score_, 0.0))))


def lasso_numbers(inputs: Numbers, column: Numbers, rng: np.random.Generator) -> Regression:
    """The lasso, the penalty by five-fold cross-validation."""
    from sklearn.linear_model import LassoCV

    splits = random_splits(len(column), rng)
    model = LassoCV(cv=splits, max_iter=10_000).fit(inputs, column)
    return Fitted(model, float(np.sqrt(model.mse_path_.mean(axis=1).min())))


def logistic_levels(
    inputs: Numbers, labels: Labels, level_count: int, rng: np.random.Generator
) -> Classification:
    """Logistic regression, the weight of the data by five-fold cross-validated log loss."""
    from sklearn.linear_model import LogisticRegression

    splits = random_splits(len(labels), rng, labels)
    losses = []
    for weight in LOGISTIC_WEIGHTS:
        total = 0.0
        for learnt, left in splits:
            model = LogisticRegression(C=weight, max_iter=1000)
            part = probabilistic(model, inputs[learnt], labels[learnt], level_count, rng).predict(
                inputs[left]
            )
            assert part.probabilities is not None
            total -= float(np.log(part.probabilities[np.arange(len(left)), labels[left]]).sum())
        losses.append(total)
    best = LogisticRegression(C=LOGISTIC_WEIGHTS[int(np.argmin(losses))], max_iter=1000)
    return probabilistic(best, inputs, labels, level_count, rng)


def _kernel_unit(inputs: Numbers) -> float:
    """One over the number of inputs times their variance; scikit-learn's "scale"."""
    variance = float(inputs.var())
    return 1 / (inputs.shape[1] * variance) if variance > 0 else 1.0


def svm_numbers(inputs: Numbers, column: Numbers, rng: np.random.Generator) -> Regression:
    """Support vector regression, cost and kernel width by five-fold cross-validation."""
    from sklearn.svm import SVR

    unit = _kernel_unit(inputs)
    rows = some_of(len(column), SVM_CHOICE_CASES, rng)
    shown, wanted = inputs[rows], column[rows]
    splits = random_splits(len(rows), rng)
    errors = []
    for cost, width in SVM_SETTINGS:
        model = SVR(C=cost, gamma=width * unit, epsilon=0.1)
        squares = [
            ((model.fit(shown[a], wanted[a]).predict(shown[b]) - wanted[b]) ** 2).sum() for a, b in splits
        ]
        errors.append(float(np.sum(squares)) / len(rows))
    cost, width = SVM_SETTINGS[int(np.argmin(errors))]
    best = SVR(C=cost, gamma=width * unit, epsilon=0.1).fit(inputs, column)
    return Fitted(best, min(errors) ** 0.5)


def svm_levels(inputs: Numbers, labels: Labels, level_count: int, rng: np.random.Generator) -> Classification:
    """Support vector classification, cost and kernel width by five-fold cross-validated errors."""
    from sklearn.svm import SVC

    unit = _kernel_unit(inputs)
    rows = some_of(len(labels), SVM_CHOICE_CASES, rng)
    shown, wanted = inputs[rows], labels[rows]
    splits = random_splits(len(rows), rng, wanted)
    errors = []
    for cost, width in SVM_SETTINGS:
        model = SVC(C=cost, gamma=width * unit)
        wrong = 0
        for a, b in splits:
            part = fit_classifier(model, shown[a], wanted[a], level_count, rng).predict(shown[b])
            wrong += int((part.guesses != wanted[b]).sum())
        errors.append(wrong)
    cost, width = SVM_SETTINGS[int(np.argmin(errors))]
    fitted = fit_classifier(SVC(C=cost, gamma=width * unit), inputs, labels, level_count, rng)
    return Guessing(fitted)


@dataclass(frozen=True, eq=False)
class Guessing:
    """A classifier of which only the guesses count."""

    model: Classification

    def predict(self, inputs: Numbers) -> ViewPart:
        """The guesses."""
        return ViewPart(self.model.predict(inputs).guesses)


def gp_levels(inputs: Numbers, labels: Labels, level_count: int, rng: np.random.Generator) -> Classification:
    """Gaussian process classification by Laplace's approximation, one level against the rest."""
    from sklearn.gaussian_process import GaussianProcessClassifier
    from sklearn.gaussian_process.kernels import RBF, ConstantKernel

    rows = some_of(len(labels), CHOICE_CASES, rng)
    kernel = ConstantKernel(1.0, (1e-2, 1e4)) * RBF(inputs.shape[1] ** 0.5, (1e-2, 1e4))
    with _bounds_reached_unmentioned():
        return probabilistic(GaussianProcessClassifier(kernel), inputs[rows], labels[rows], level_count, rng)


class _bounds_reached_unmentioned(warnings.catch_warnings):
    """An input that does not matter has a length scale at its bound: nothing to warn of."""

    def __enter__(self) -> None:
        super().__enter__()
        warnings.filterwarnings("ignore", message=".*close to the specified (upper|lower) bound.*")


def forest_numbers(inputs: Numbers, column: Numbers, rng: np.random.Generator) -> Regression:
    """A random forest; the spread is that of the out-of-bag errors."""
    from sklearn.ensemble import RandomForestRegressor

    forest = RandomForestRegressor(TREES, max_features=1 / 3, oob_score=True, n_jobs=1)
    model = copy_for(forest, rng).fit(inputs, column)
    return Fitted(model, float(np.sqrt(((model.oob_prediction_ - column) ** 2).mean())))


def forest_levels(
    inputs: Numbers, labels: Labels, level_count: int, rng: np.random.Generator
) -> Classification:
    """A random forest; probabilities are the shares of levels in the leaves, averaged over the trees."""
    from sklearn.ensemble import RandomForestClassifier

    forest = RandomForestClassifier(TREES, max_features="sqrt", n_jobs=1)
    return probabilistic(forest, inputs, labels, level_count, rng)


LINEAR, ENSEMBLES = ("sklearn.linear_model",), ("sklearn.ensemble",)
PROCESSES = (
    "scipy.linalg",
    "scipy.optimize",
    "scipy.spatial.distance",
    "sklearn.gaussian_process",
    "sklearn.gaussian_process.kernels",
)

RIDGE = WellKnown("ridge", ridge_numbers, instead="logistic", late_imports=LINEAR)
LASSO = WellKnown("lasso", lasso_numbers, instead="logistic", late_imports=LINEAR)
LOGISTIC = WellKnown("logistic", classify=logistic_levels, instead="lin-1", late_imports=LINEAR)
SVM = WellKnown("svm", svm_numbers, svm_levels, late_imports=("sklearn.svm",))
GP = WellKnown("gp", gp_numbers, gp_levels, late_imports=PROCESSES)
FOREST = WellKnown("forest", forest_numbers, forest_levels, late_imports=ENSEMBLES)
BOOSTING = WellKnown("boosting", boosting_numbers, boosting_levels, late_imports=ENSEMBLES)
MLP = WellKnown("mlp", regressing_networks, classifying_networks, late_imports=("sklearn.neural_network",))
