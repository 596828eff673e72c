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
from redelve.errors import PredictionError, SpecError
from redelve.methods.contract import Method
from redelve.methods.identities import plain
from redelve.methods.shown import TestInputs, TrainingSet
from redelve.methods.views import Inputs, Takes, View, check_takes, known_numbers, why_not_taken
from redelve.model.dataset import Numbers

LARGEST_SEED = 2**63


def callable_method(
    function: Callable[..., Any],
    *,
    inputs: Inputs = "encoded",
    takes: Takes = "all",
    name: str | None = None,
) -> CallableMethod:
    """A function f(training_inputs, training_targets, test_inputs) as a method; `rng` if it takes that too.

    Inputs are numbers by DELVE's rules or, with `inputs="frame"`, data frames of the raw columns. Targets are
    in their own units, level indexes from 0 if categorical: one per case, or a row if there are several. It
    returns the same for the test cases; or a row of probabilities for each, where the target is categorical;
    or a Distribution (a list of them for several targets); or an Answer. `takes` tells which targets it is
    for: "all", "numerical" or "categorical".
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
        return {"kind": "function", "function": plain(self.function), "inputs": self.inputs}

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
        return CallablePredictor(self, view, _targets(view), int(rng.integers(LARGEST_SEED)))


@dataclass(frozen=True, eq=False)
class CallablePredictor:
    """The function and what it is to learn from."""

    method: CallableMethod
    view: View
    targets: NDArray[Any]
    seed: int

    def predict(self, inputs: TestInputs) -> Answer:
        """Call the function and make an answer of what it returns."""
        keywords = {}
        if self.method.takes_rng:
            keywords["rng"] = np.random.Generator(np.random.PCG64(self.seed))
        training, test = self.view.inputs.copy(), self.view.test(inputs)
        returned = self.method.function(training, self.targets.copy(), test, **keywords)
        return answer_from(returned, self.view.targets, len(inputs), self.method.called)


def _targets(view: View) -> NDArray[Any]:
    """Targets in their own units, a column for each, or just numbers if there is one."""
    columns: list[NDArray[Any]] = []
    for position, target in enumerate(view.targets):
        is_categorical = target.kind == "categorical"
        columns.append(view.labels(position) if is_categorical else known_numbers(view.training, position))
        if len(columns[-1]) != len(view.training):
            raise PredictionError(f'target "{target.name}" is missing in some training case')
    return columns[0] if len(columns) == 1 else np.column_stack(columns)


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
        raise PredictionError(
            f"{name} returned {_described(returned, table)}: expected {count} guesses, "
            "a row of probabilities for each of as many test cases, a Distribution or an Answer"
        )
    return _from_table(table.astype(np.float64), targets, name)


def _described(returned: Any, table: NDArray[Any]) -> str:
    shape = f" of shape {table.shape}" if table.ndim else ""
    return f"{type(returned).__name__}{shape}"


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
