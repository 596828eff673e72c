"""Any scikit-learn estimator or pipeline as a method."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np

from redelve.answers.answer import Answer
from redelve.answers.predictions import Target
from redelve.errors import SpecError, kind_told
from redelve.methods.adapters.array_cases import ArrayTraining, fit_to_arrays
from redelve.methods.adapters.fit_problems import ENCODED, explained, tell_of_columns_left
from redelve.methods.contract import BatchMethod, LooksAt, Method, Predictor
from redelve.methods.estimators import (
    LARGEST_SEED,
    FittedClassifier,
    FittedRegressors,
    copy_for,
    fit_classifier,
    fit_regressor,
    gives_deviations,
    global_randomness,
    has_fixed_seeds,
)
from redelve.methods.identities import class_path, packages_used, plain
from redelve.methods.own_labels import OwnClassifier, fit_own_classifier
from redelve.methods.shown import TestInputs, TrainingSet
from redelve.methods.views import Inputs, View, answer_of, is_numerical, regression_parts
from redelve.model.dataset import digest

MODES = ("frame", "encoded")
FRAME_VERSION = 2
"""What it means that an estimator is shown a frame; results of another meaning are made anew."""
SAY_KIND = 'kind="{0}" in task, --kind {0} on the command line'
OWN_NUMBERS = frozenset(("alpha", "learning_rate_init", "momentum", "random_state"))
"""Settings in which networks of one batch may differ."""
EstimatorKind = Literal["classifier", "regressor", "either"]
FittedTarget = FittedClassifier | OwnClassifier


def sklearn_method(estimator: Any, *, inputs: Inputs = "frame", name: str | None = None) -> SklearnMethod:
    """An estimator as a method; what it is given is a copy, so it is never changed.

    `inputs="frame"` gives it the columns of the user's frame or table unchanged, and targets as they are
    there; `inputs="encoded"` numbers by DELVE's rules, classes as numbers, and normalised targets.
    """
    if isinstance(estimator, type):
        raise SpecError(f"{estimator.__name__} is a class: give an instance, as {estimator.__name__}()")
    if not (
        hasattr(estimator, "fit") and (hasattr(estimator, "predict") or hasattr(estimator, "get_params"))
    ):
        raise SpecError(f"{kind_told(estimator)} is no estimator: it needs fit and predict")
    if inputs not in MODES:
        raise SpecError(f'inputs is "{inputs}": choose "frame" or "encoded"')
    kind = TogetherSklearnMethod if trains_together(estimator) else SklearnMethod
    return kind(estimator, kind_of(estimator), inputs, name or estimator_name(estimator))


def trains_together(estimator: Any) -> bool:
    """Whether it is, or has in it, a network that can be trained with others as one batch."""
    parts = estimator.get_params(deep=True).values() if hasattr(estimator, "get_params") else ()
    return any(getattr(one, "trains_together", False) is True for one in (estimator, *parts))


def kind_of(estimator: Any) -> EstimatorKind:
    """What an estimator predicts, as scikit-learn or its methods say; "either" where nothing tells."""
    told = _told_kind(estimator)
    if told in ("classifier", "regressor"):
        return told  # type: ignore[return-value]
    if steps := getattr(estimator, "steps", None):
        return kind_of(steps[-1][1])
    if told is None and hasattr(estimator, "predict"):
        return "classifier" if hasattr(estimator, "predict_proba") else "either"
    raise SpecError(
        f"{type(estimator).__name__} is neither a classifier nor a regressor: inherit from "
        "sklearn.base.ClassifierMixin or RegressorMixin (before BaseEstimator), or end the pipeline with one"
    )


def _told_kind(estimator: Any) -> str | None:
    from sklearn.utils import get_tags

    try:
        return get_tags(estimator).estimator_type  # type: ignore[no-any-return]
    except Exception:  # what is not scikit-learn's need not have tags
        return getattr(estimator, "_estimator_type", None)


def estimator_name(estimator: Any) -> str:
    """The class of the estimator, or of the last one of a pipeline."""
    steps = getattr(estimator, "steps", None)
    return estimator_name(steps[-1][1]) if steps else type(estimator).__name__


@dataclass(frozen=True, eq=False)
class SklearnMethod(Method):
    """A scikit-learn estimator; make it by `sklearn_method`."""

    estimator: Any
    kind: EstimatorKind
    inputs: Inputs
    called: str
    late_imports = ("sklearn.base", "sklearn.utils")

    @property
    def name(self) -> str:
        """The name given, or the class of the (last) estimator."""
        return self.called

    @cached_property
    def fixed_seeds(self) -> bool:  # type: ignore[override]
        """Whether the user set a `random_state`, which is then the same for all instances."""
        return has_fixed_seeds(self.estimator)

    @property
    def looks_at(self) -> LooksAt:  # type: ignore[override]
        """The frame, unless it is to have encoded inputs."""
        return "columns" if self.inputs == "encoded" else "frame"

    @cached_property
    def packages(self) -> tuple[str, ...]:  # type: ignore[override]
        """Those of the estimator and its parts."""
        return packages_used(self.estimator)

    @cached_property
    def identity(self) -> Mapping[str, Any]:
        """Class and parameters of the estimator and of its parts; not scikit-learn's version."""
        return {
            "kind": "scikit-learn",
            "estimator": plain(self.estimator),
            "inputs": self.inputs,
            "fixed_seeds": self.fixed_seeds,
            **({"frame": FRAME_VERSION} if self.inputs == "frame" else {}),
        }

    @property
    def summary(self) -> str:  # type: ignore[override]
        """Class, parameters and how data are presented."""
        seeds = "the user's, the same for all instances" if self.fixed_seeds else "each instance's own"
        shown = {
            "encoded": "Inputs are encoded in the default way; numerical targets are normalised.",
            "frame": "Inputs are the columns of the user's own table, unchanged; targets as they are there.",
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
                    f'{name} is a regressor, but target "{target.name}" is categorical: use a classifier or, '
                    f"if it holds numbers, say so: {SAY_KIND.format('regression')}"
                )
            if self.kind == "classifier" and is_numerical(target):
                classes = f", or say that they are classes: {SAY_KIND.format('classification')}"
                return (
                    f'{name} is a classifier, but target "{target.name}" is {target.kind}: use a regressor'
                    f"{classes if target.kind == 'integer' else ''}"
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
        with global_randomness(seed), explained(self.estimator, view.inputs, ENCODED):
            parts: dict[int, FittedTarget] = {k: self._classifier(view, k, rng) for k in view.categorical}
            regressors = self._regressors(view, rng) if view.numerical else None
        tell_of_columns_left(parts.values(), regressors)
        return SklearnPredictor(view, seed, regressors, parts)

    def _classifier(self, view: View, position: int, rng: np.random.Generator) -> FittedTarget:
        target, codes = view.targets[position], view.labels(position)
        if view.mode == "encoded":
            return fit_classifier(self.estimator, view.inputs, codes, len(target.levels), rng)
        return fit_own_classifier(self.estimator, view.inputs, view.outputs(position), codes, target, rng)

    def _regressors(self, view: View, rng: np.random.Generator) -> FittedRegressors:
        """For a number of the user's own, just that; else all columns that stand for numbers."""
        if view.training.own is not None and [one.kind for one in view.targets] != ["angular"]:
            model = copy_for(self.estimator, rng).fit(view.inputs, view.outputs(0))
            return FittedRegressors((model,), 1, gives_deviations(self.estimator))
        columns = np.hstack([view.columns(position) for position in view.numerical])
        return fit_regressor(self.estimator, view.inputs, columns, rng)


@dataclass(frozen=True, eq=False)
class TogetherSklearnMethod(SklearnMethod, BatchMethod):
    """An estimator with a network of the batched engine in it: all instances are trained together."""

    mixes_tasks = True

    @cached_property
    def company(self) -> str:  # type: ignore[override]
        """Estimators that differ in numbers which each network of a batch may have for itself."""
        return digest(_without(self.identity, OWN_NUMBERS))

    def among(self, methods: Sequence[BatchMethod]) -> BatchMethod:
        """Their fits as one batch."""
        return SeveralSklearnMethods(tuple(one for one in methods if isinstance(one, SklearnMethod)))

    def learn_many(
        self, trainings: Sequence[TrainingSet], rngs: Sequence[np.random.Generator]
    ) -> Sequence[Predictor]:
        """Fit a copy for each training set; networks of equal shape are one batch."""
        return SeveralSklearnMethods((self,) * len(trainings)).learn_many(trainings, rngs)


@dataclass(frozen=True, eq=False)
class SeveralSklearnMethods(BatchMethod):
    """Estimators with networks of the batched engine in them, one for each training set of a batch."""

    methods: tuple[SklearnMethod, ...]
    late_imports = SklearnMethod.late_imports
    summary = "Estimators that are trained together, each on a training set of its own."

    @property
    def identity(self) -> Mapping[str, Any]:
        """Those of the methods."""
        return {"kind": "several", "methods": [dict(one.identity) for one in self.methods]}

    def learn_many(
        self, trainings: Sequence[TrainingSet], rngs: Sequence[np.random.Generator]
    ) -> Sequence[Predictor]:
        """Fit for each training set a copy of the estimator in its place."""
        from redelve.methods.batched.company import trained_together

        def fits() -> list[Predictor]:
            each = zip(self.methods, trainings, rngs, strict=True)
            return [method.learn(training, deepcopy(rng)) for method, training, rng in each]

        def rehearsal() -> None:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                fits()

        return trained_together(fits, rehearsal=rehearsal)


def _without(value: Any, names: frozenset[str]) -> Any:
    """Plain values less what has one of these names, at any depth."""
    if isinstance(value, Mapping):
        return {name: _without(each, names) for name, each in value.items() if name not in names}
    return [_without(each, names) for each in value] if isinstance(value, list | tuple) else value


@dataclass(frozen=True, eq=False)
class SklearnPredictor:
    """Fitted estimators, and how the data are presented to them."""

    view: View
    seed: int
    regressors: FittedRegressors | None
    classifiers: Mapping[int, FittedTarget]

    def predict(self, inputs: TestInputs) -> Answer:
        """The estimators' predictions in the original domain."""
        shown = self.view.test(inputs)
        with global_randomness(self.seed):
            parts = {k: one.predict(shown) for k, one in self.classifiers.items()}
            if self.regressors is not None:
                parts |= regression_parts(self.view, *self.regressors.predict(shown))
        return answer_of(self.view.targets, parts)
