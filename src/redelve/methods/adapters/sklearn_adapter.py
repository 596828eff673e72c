"""Any scikit-learn estimator or pipeline as a method."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np

from redelve.answers.answer import Answer
from redelve.answers.predictions import Target
from redelve.errors import SpecError
from redelve.methods.adapters.array_cases import ArrayTraining, fit_to_arrays
from redelve.methods.contract import Method, Predictor
from redelve.methods.estimators import (
    LARGEST_SEED,
    FittedClassifier,
    FittedRegressors,
    fit_classifier,
    fit_regressor,
    global_randomness,
    has_fixed_seeds,
)
from redelve.methods.identities import class_path, plain
from redelve.methods.shown import TestInputs, TrainingSet
from redelve.methods.views import Inputs, View, answer_of, is_numerical, regression_parts

MODES = ("encoded", "frame")


def sklearn_method(
    estimator: Any, *, inputs: Inputs | Literal["auto"] = "auto", name: str | None = None
) -> SklearnMethod:
    """An estimator as a method; what it is given is a copy, so it is never changed.

    `inputs="encoded"` gives it numbers by DELVE's rules and normalised targets, `inputs="frame"` the raw
    columns as a data frame and targets in their own units. "auto" takes the frame where the estimator, or
    any step of a pipeline up to the first that is not passed through, is a ColumnTransformer.
    """
    if isinstance(estimator, type):
        raise SpecError(f"{estimator.__name__} is a class: give an instance, as {estimator.__name__}()")
    if not (hasattr(estimator, "fit") and hasattr(estimator, "get_params")):
        raise SpecError(
            f"{type(estimator).__name__} is no scikit-learn estimator: it needs fit, predict and get_params; "
            "inherit from sklearn.base.BaseEstimator, or give a function"
        )
    if inputs not in (*MODES, "auto"):
        raise SpecError(f'inputs is "{inputs}": choose "encoded", "frame" or "auto"')
    mode: Inputs = inputs if inputs != "auto" else _suited_inputs(estimator)
    return SklearnMethod(estimator, _kind(estimator), mode, name or estimator_name(estimator))


def _kind(estimator: Any) -> Literal["classifier", "regressor"]:
    from sklearn.base import is_classifier, is_regressor

    if is_classifier(estimator):
        return "classifier"
    if is_regressor(estimator):
        return "regressor"
    raise SpecError(
        f"{type(estimator).__name__} is neither a classifier nor a regressor: inherit from "
        "sklearn.base.ClassifierMixin or RegressorMixin (before BaseEstimator), or end the pipeline with one"
    )


def _suited_inputs(estimator: Any) -> Inputs:
    """The data frame for what chooses columns by name or type, numbers for everything else."""
    from sklearn.compose import ColumnTransformer

    inner = getattr(estimator, "estimator", getattr(estimator, "regressor", None))  # of a search or wrapper
    if inner is not None and hasattr(inner, "get_params"):
        return _suited_inputs(inner)
    steps = [step for _, step in getattr(estimator, "steps", [])]
    first = next((step for step in steps if step is not None and step != "passthrough"), None)
    if first is None:
        return "encoded"
    return "frame" if isinstance(first, ColumnTransformer) else _suited_inputs(first)


def estimator_name(estimator: Any) -> str:
    """The class of the estimator, or of the last one of a pipeline."""
    steps = getattr(estimator, "steps", None)
    return estimator_name(steps[-1][1]) if steps else type(estimator).__name__


@dataclass(frozen=True, eq=False)
class SklearnMethod(Method):
    """A scikit-learn estimator; make it by `sklearn_method`."""

    estimator: Any
    kind: Literal["classifier", "regressor"]
    inputs: Inputs
    called: str

    @property
    def name(self) -> str:
        """The name given, or the class of the (last) estimator."""
        return self.called

    @cached_property
    def fixed_seeds(self) -> bool:  # type: ignore[override]
        """Whether the user set a `random_state`, which is then the same for all instances."""
        return has_fixed_seeds(self.estimator)

    @cached_property
    def identity(self) -> Mapping[str, Any]:
        """Class and parameters of the estimator and of its parts; not scikit-learn's version."""
        return {
            "kind": "scikit-learn",
            "estimator": plain(self.estimator),
            "inputs": self.inputs,
            "fixed_seeds": self.fixed_seeds,
        }

    @property
    def summary(self) -> str:  # type: ignore[override]
        """Class, parameters and how data are presented."""
        seeds = "the user's, the same for all instances" if self.fixed_seeds else "each instance's own"
        shown = {
            "encoded": "Inputs are encoded in the default way; numerical targets are normalised.",
            "frame": "Inputs are a data frame of the raw columns; targets are in their own units.",
        }
        described = " ".join(repr(self.estimator).split())
        return (
            f"{class_path(type(self.estimator))} of scikit-learn, with settings as in\n{described}\n"
            f"{shown[self.inputs]} Random seeds are {seeds}.\n"
        )

    def why_not(self, targets: tuple[Target, ...]) -> str | None:
        """A regressor is for numbers, a classifier for levels."""
        name = type(self.estimator).__name__
        for target in targets:
            if self.kind == "regressor" and not is_numerical(target):
                return (
                    f'{name} is a regressor, but target "{target.name}" is categorical: use a classifier, '
                    "or make the target integer or real in the prior"
                )
            if self.kind == "classifier" and is_numerical(target):
                return (
                    f'{name} is a classifier, but target "{target.name}" is {target.kind}: use a regressor, '
                    "or make the target nominal in the prior"
                )
        return None

    def learn(self, training: TrainingSet, rng: np.random.Generator) -> Predictor:
        """Fit a copy of the estimator, or one for each target; arrays are shown to it as they are."""
        if isinstance(training, ArrayTraining):
            return fit_to_arrays(self.estimator, self.name, training, rng)
        view = View(training, self.inputs)
        if (reason := self.why_not(view.targets)) is not None:
            raise SpecError(reason)
        seed = int(rng.integers(LARGEST_SEED))
        with global_randomness(seed):
            if self.kind == "regressor":
                columns = np.hstack([view.columns(position) for position in view.numerical])
                return SklearnPredictor(view, seed, fit_regressor(self.estimator, view.inputs, columns, rng))
            classifiers = tuple(
                fit_classifier(self.estimator, view.inputs, view.labels(k), len(target.levels), rng)
                for k, target in enumerate(view.targets)
            )
        return SklearnPredictor(view, seed, classifiers=classifiers)


@dataclass(frozen=True, eq=False)
class SklearnPredictor:
    """Fitted estimators, and how the data are presented to them."""

    view: View
    seed: int
    regressors: FittedRegressors | None = None
    classifiers: tuple[FittedClassifier, ...] = ()

    def predict(self, inputs: TestInputs) -> Answer:
        """The estimators' predictions in the original domain."""
        shown = self.view.test(inputs)
        with global_randomness(self.seed):
            if self.regressors is None:
                return answer_of(self.view.targets, [one.predict(shown) for one in self.classifiers])
            means, deviations = self.regressors.predict(shown)
        return answer_of(self.view.targets, regression_parts(self.view, means, deviations))
