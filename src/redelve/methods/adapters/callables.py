"""Any function of training inputs, training targets and test inputs as a method."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from redelve.answers.answer import Answer
from redelve.answers.distributions import Distribution
from redelve.answers.predictions import ClassProbabilities, Guesses, Target, TargetDistributions
from redelve.errors import PredictionError, SpecError, kind_told
from redelve.methods.contract import LooksAt, Method
from redelve.methods.identities import packages_used, plain
from redelve.methods.own_labels import LabelCodes, as_told
from redelve.methods.shown import TestInputs, TrainingSet
from redelve.methods.views import Inputs, Takes, View, check_takes, known_numbers, why_not_taken
from redelve.model.dataset import Numbers

LARGEST_SEED = 2**63
FRAME_VERSION = 2
"""What it means that a function is shown a frame; results of another meaning are made anew."""


def callable_method(
    function: Callable[..., Any],
    *,
    inputs: Inputs = "frame",
    takes: Takes = "all",
    name: str | None = None,
) -> CallableMethod:
    """A function f(training_inputs, training_targets, test_inputs) as a method; `rng` if it takes that too.

    Inputs are frames with the columns of the user's own table, and targets are as they are there: a series
    of numbers or class labels. It returns the same for the test cases; or a row of probabilities for each,
    with a column for each class in sorted order, or named by it; or a Distribution; or an Answer.

    With `inputs="encoded"` inputs are numbers by DELVE's rules, and classes are level indexes from 0. So they
    are where there are several targets: a row for each case, and a list of Distributions. `takes` tells which
    targets it is for: "all", "numerical" or "categorical".
    """
    check_takes(takes)
    if inputs not in ("encoded", "frame"):
        raise SpecError(f'inputs is "{inputs}": choose "encoded" or "frame"')
    own: str = getattr(function, "__name__", type(function).__name__)
    return CallableMethod(function, inputs, takes, name or own)


@dataclass(frozen=True, eq=False)
class CallableMethod(Method):
    """A function that learns and predicts at once; make it by `callable_method`."""

    function: Callable[..., Any]
    inputs: Inputs
    takes: Takes
    called: str

    @property
    def name(self) -> str:
        """The name given, or the function's own."""
        return self.called

    @cached_property
    def identity(self) -> Mapping[str, Any]:
        """The function's name, and a hash of its code and of what it closes over."""
        found = {"kind": "function", "function": plain(self.function), "inputs": self.inputs}
        return found | ({"frame": FRAME_VERSION} if self.inputs == "frame" else {})

    @property
    def looks_at(self) -> LooksAt:  # type: ignore[override]
        """The frame, unless it is to have encoded inputs."""
        return "columns" if self.inputs == "encoded" else "frame"

    @cached_property
    def packages(self) -> tuple[str, ...]:  # type: ignore[override]
        """What the function imports and refers to."""
        return packages_used(self.function)

    @property
    def summary(self) -> str:  # type: ignore[override]
        """The function's own description."""
        described = inspect.getdoc(self.function)
        return f"{described or f'The function {self.called}, which is not described.'}\n"

    def why_not(self, targets: tuple[Target, ...]) -> str | None:
        """What the user said of targets that it takes."""
        return why_not_taken(self.called, self.takes, targets)

    @cached_property
    def takes_rng(self) -> bool:
        """Whether the function wants a random generator."""
        try:
            parameters = inspect.signature(self.function).parameters.values()
        except (TypeError, ValueError):
            return False
        return any(one.name == "rng" or one.kind is one.VAR_KEYWORD for one in parameters)

    def learn(self, training: TrainingSet, rng: np.random.Generator) -> CallablePredictor:
        """Only a seed is drawn: the function learns when it is given the test inputs."""
        view = View(training, self.inputs)
        targets, labels = _targets(view), None
        if self.inputs == "frame" and len(view.targets) == 1 and view.categorical:
            labels = LabelCodes.of(view.targets[0], targets, view.labels(0))
        return CallablePredictor(self, view, targets, labels, int(rng.integers(LARGEST_SEED)))


@dataclass(frozen=True, eq=False)
class CallablePredictor:
    """The function and what it is to learn from; `labels` are the classes by the user's names."""

    method: CallableMethod
    view: View
    targets: Any
    labels: LabelCodes | None
    seed: int

    def predict(self, inputs: TestInputs) -> Answer:
        """Call the function and make an answer of what it returns."""
        keywords = {}
        if self.method.takes_rng:
            keywords["rng"] = np.random.Generator(np.random.PCG64(self.seed))
        shown = _copied(self.view.inputs), _copied(self.targets), _copied(self.view.test(inputs))
        returned = self.method.function(*shown, **keywords)
        name, targets = self.method.called, self.view.targets
        if self.labels is not None and _is_table(returned):
            return _classified(self.labels, returned, len(inputs), name)
        return answer_from(returned, targets, len(inputs), name)


def _copied(values: Any) -> Any:
    """A copy that the function may change; polars' and arrow's can't be."""
    return values.copy() if hasattr(values, "copy") else values


def _targets(view: View) -> Any:
    """The target as the user has it; else in its own units, a column for each if there are several."""
    if view.mode == "frame" and len(view.targets) == 1:
        return view.outputs(0)
    columns: list[NDArray[Any]] = []
    for position, target in enumerate(view.targets):
        is_categorical = target.kind == "categorical"
        columns.append(view.labels(position) if is_categorical else known_numbers(view.training, position))
        if len(columns[-1]) != len(view.training):
            raise PredictionError(f'target "{target.name}" is missing in some training case')
    return columns[0] if len(columns) == 1 else np.column_stack(columns)


def _is_table(returned: Any) -> bool:
    """Whether numbers or labels were returned, not something that is an answer by itself."""
    if isinstance(returned, Answer | Distribution) or returned is None:
        return False
    return not (isinstance(returned, list | tuple) and returned and isinstance(returned[0], Distribution))


def _classified(labels: LabelCodes, returned: Any, count: int, name: str) -> Answer:
    """The answer in class labels, or in probabilities of classes."""
    table = np.asarray(returned)
    if table.ndim not in (1, 2) or len(table) != count:
        raise _refused(returned, table, count, name)
    if table.ndim == 2 and table.shape[1] > 1:
        told = labels.table(name, returned)
        kept = as_told(name, told)
        return Answer(probabilities=ClassProbabilities.from_probabilities(labels.target, told, kept))
    return Answer(guesses=Guesses((labels.target,), (labels.codes(name, table).astype(np.float64),)))


def _refused(returned: Any, table: NDArray[Any], count: int, name: str) -> PredictionError:
    return PredictionError(
        f"{name} returned {_described(returned, table)}: expected {count} guesses, "
        "a row of probabilities for each of as many test cases, a Distribution or an Answer"
    )


def answer_from(returned: Any, targets: tuple[Target, ...], count: int, name: str) -> Answer:
    """An answer made of guesses, probabilities or distributions, whichever was returned."""
    if isinstance(returned, Answer):
        return returned
    if isinstance(returned, Distribution):
        return Answer(distributions=TargetDistributions(targets, (returned,)))
    if isinstance(returned, list | tuple) and returned and isinstance(returned[0], Distribution):
        return Answer(distributions=TargetDistributions(targets, tuple(returned)))
    table = np.asarray(returned)
    if table.dtype.kind not in "biuf" or table.ndim not in (1, 2) or len(table) != count:
        raise _refused(returned, table, count, name)
    return _from_table(table.astype(np.float64), targets, name)


def _described(returned: Any, table: NDArray[Any]) -> str:
    shape = f" of shape {table.shape}" if table.ndim else ""
    return f"{kind_told(returned)}{shape}"


def _from_table(table: Numbers, targets: tuple[Target, ...], name: str) -> Answer:
    first = targets[0]
    levels = len(first.levels)
    if len(targets) == 1 and first.kind == "categorical" and table.ndim == 2 and table.shape[1] == levels > 1:
        return Answer(probabilities=ClassProbabilities.from_probabilities(first, table))
    columns = table.reshape(len(table), -1)
    if columns.shape[1] != len(targets):
        rows = f" or {levels} probabilities" if levels else ""
        raise PredictionError(
            f"{name} returned {columns.shape[1]} numbers for each test case: expected {len(targets)}{rows}"
        )
    return Answer(guesses=Guesses(targets, tuple(columns.T)))
