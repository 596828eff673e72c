"""What a learning method is: training cases and a generator in, a predictor out; and what becomes one."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, Literal, Protocol

import numpy as np

from redelve.answers.answer import Answer
from redelve.answers.predictions import Target
from redelve.errors import SpecError, kind_told
from redelve.methods.shown import TestInputs, TrainingSet
from redelve.model.dataset import digest
from redelve.registry import Registry, ValueKind, named_options, value_told

LooksAt = Literal["columns", "frame", "both"]
"""What a method learns from: columns as redelve understood them, the user's own frame, or either."""


class Predictor(Protocol):
    """What learning leaves behind.

    It may have `told`, a mapping of names to numbers and texts: what the method tells of its own training
    (epochs, validation error, why it stopped). That is kept in the job's record, and nothing is judged
    by it.
    """

    def predict(self, inputs: TestInputs) -> Answer:
        """The answer for every test case."""
        ...


class Method(ABC):
    """A learning method: a base class for your own.

    A subclass has `learn`, `identity` and `summary`. It never sees a test target, and all its
    randomness comes from the generator that it is given.

    Attributes
    ----------
    summary : str
        What the method does, precisely enough for someone else to do the same.
    identity : mapping
        What makes it the method it is, in plain values: kind, version, every setting. Change it and
        results are made anew.
    fixed_seeds : bool
        Whether part of its randomness does not come from the generator but is the same for all instances.
    looks_at : str
        What it learns from: ``"columns"``, the values as redelve understood them (`TrainingSet.encode`);
        ``"frame"``, the user's own frame (`TrainingSet.frame`); ``"both"``, if it may ask for either.
    packages : tuple
        The installed packages, beside the usual ones, whose versions are recorded with its results.
    late_imports : tuple
        Modules that it imports only when it learns or predicts. Those of numpy, scipy, pandas and
        scikit-learn are loaded before its jobs' processes start, so that no job pays for loading them.

    Notes
    -----
    The summary is what DELVE asks of every method (Rasmussen et al. 1996, The DELVE manual, section
    7.1). docs/methods.md has a method from beginning to end; `check_method` tries whether one keeps to
    the contract; decision 6 (docs/decisions) says why it is so.

    Examples
    --------
    >>> import numpy as np
    >>> import redelve
    >>> class Middle(redelve.Method):
    ...     summary = "Guesses the median of the training targets."
    ...     identity = {"kind": "example", "version": 1}
    ...     def learn(self, training, rng):
    ...         return MiddlePredictor(training.targets, np.median(training.target_values(0)))
    >>> class MiddlePredictor:
    ...     def __init__(self, targets, value):
    ...         self.targets, self.value = targets, value
    ...     def predict(self, inputs):
    ...         guesses = np.full(len(inputs), self.value)
    ...         return redelve.Answer(guesses=redelve.Guesses(self.targets, (guesses,)))
    >>> assessment = redelve.assess({"middle": Middle()}, "demo/age", sizes=[512])
    >>> assessment.frame()["method"].tolist()
    ['middle']
    """

    summary: str
    fixed_seeds: bool = False
    looks_at: LooksAt = "both"
    packages: tuple[str, ...] = ()
    late_imports: tuple[str, ...] = ()

    @abstractmethod
    def learn(self, training: TrainingSet, rng: np.random.Generator) -> Predictor:
        """Learn from the training cases."""

    @property
    @abstractmethod
    def identity(self) -> Mapping[str, Any]:
        """Kind, version and every setting, as plain values."""

    @property
    def name(self) -> str:
        """What to call the method where the user gives no name."""
        return type(self).__name__

    def why_not(self, targets: tuple[Target, ...]) -> str | None:
        """What keeps the method from tasks with these targets; None if nothing does."""
        return None

    @property
    def digest(self) -> str:
        """A hash of the method's identity."""
        return digest(dict(self.identity))


class BatchMethod(Method):
    """A method that learns from many training sets at once, faster than from one after the other.

    What it learns from one must be, bit for bit, what it would learn without the others. It is given at most
    `largest_batch` at once, those of several tasks together if it `mixes_tasks`. A batch `is_whole` where
    half of it would take as long, as on a GPU: it is not cut to occupy more hands. Runs on the same instance
    are given the same training set, which it must not change.

    Methods that have the same `company`, where it is not empty, are given their training sets together, too:
    all go to the method that `among` makes of them. That is done only where no code but redelve's and
    scikit-learn's is in the methods, as they then share a process.
    """

    largest_batch: int = 64
    mixes_tasks: bool = False
    is_whole: bool = False
    company: str = ""

    @abstractmethod
    def learn_many(
        self, trainings: Sequence[TrainingSet], rngs: Sequence[np.random.Generator]
    ) -> Sequence[Predictor]:
        """Learn from each of the training sets, with the randomness of its own generator."""

    def among(self, methods: Sequence[BatchMethod]) -> BatchMethod:
        """One method for several of this company: from each training set the one in its place learns."""
        raise NotImplementedError(f"{type(self).__name__} has a company but not `among`")

    def learn(self, training: TrainingSet, rng: np.random.Generator) -> Predictor:
        """Learn from the training cases: a batch of one."""
        return self.learn_many([training], [rng])[0]


class BuiltIn(Method):
    """A method of redelve's own; whatever changes its results must change its version."""

    called: ClassVar[str]
    version: ClassVar[int] = 1
    looks_at: LooksAt = "columns"
    numbers_only: ClassVar[bool] = False
    """Whether it cannot predict levels."""

    def why_not(self, targets: tuple[Target, ...]) -> str | None:
        """Levels, where it predicts numbers only."""
        return numerical_only(self.called, targets) if self.numbers_only else None

    @property
    def name(self) -> str:
        """The name by which it is registered."""
        return self.called

    @property
    def summary(self) -> str:  # type: ignore[override]
        """What the method does (manual 7.1)."""
        from redelve.methods.builtin.summaries import SUMMARIES  # files, read when first wanted

        return SUMMARIES[self.called]

    @property
    def identity(self) -> Mapping[str, Any]:
        """Its name and version, which stand for all that its summary says."""
        return {"kind": "built-in", "name": self.called, "version": self.version}


def numerical_only(name: str, targets: tuple[Target, ...], instead: str = "logistic") -> str | None:
    """Why a method that predicts numbers can't do it for these targets."""
    for target in targets:
        if target.kind == "categorical":
            return f'"{name}" predicts numbers, but target "{target.name}" is categorical: use "{instead}"'
    return None


def categorical_only(name: str, targets: tuple[Target, ...], instead: str = "lin-1") -> str | None:
    """Why a method that predicts levels can't do it for these targets."""
    for target in targets:
        if target.kind != "categorical":
            return f'"{name}" predicts levels, but target "{target.name}" is {target.kind}: use "{instead}"'
    return None


METHODS: Registry[Method] = Registry(
    "method",
    "redelve.methods",
    of=ValueKind("a Method (as_method makes one)", lambda given: isinstance(given, Method)),
)
"""Methods by name: those that come with redelve, and those of installed packages."""

METHODS.add("constant", "redelve.methods.builtin.constant:CONSTANT")
METHODS.add("lin-1", "redelve.methods.builtin.linear:LIN_1")
METHODS.add("knn-cv-1", "redelve.methods.builtin.neighbours:KNN_CV_1")
for _name in ("ridge", "lasso", "logistic", "svm", "gp", "forest", "boosting", "mlp"):
    METHODS.add(_name, f"redelve.methods.builtin.well_known:{_name.upper()}")
for _name in (
    "mlp-rprop",
    "mlp-rprop-printed",
    "mlp-bgd-1",
    "mlp-bgd-2",
    "mlp-bgd-3",
    "mlp-bgd-2b",
    "mlp-ese-1",
):
    METHODS.add(_name, f"redelve.methods.builtin.engine_methods:{_name.upper().replace('-', '_')}")
for _name in ("1", "2", "3", "4", "2b", "3b", "4b", "5", "6"):
    METHODS.add(f"mlp-mc-{_name}", f"redelve.methods.builtin.bayesian_networks:MLP_MC_{_name.upper()}")

METHODS.add("gp-ard", "redelve.methods.builtin.ard_process:GP_ARD")

QUICK = ("constant", "lin-1", "logistic", "knn-cv-1", "boosting", "forest")


def default_methods(targets: tuple[Target, ...]) -> tuple[str, ...]:
    """A quick set of built-in methods that can work on these targets, from cheap to dear.

    >>> default_methods((Target("age", "real"),))
    ('constant', 'lin-1', 'knn-cv-1', 'boosting', 'forest')
    """
    return tuple(name for name in QUICK if METHODS[name].why_not(targets) is None)


MethodsLike = Mapping[str, Any] | Iterable[Any] | Any
"""Methods by name, of any kind that `as_method` knows; or names of built-in ones."""


@named_options
def as_method(thing: Any, *, name: str | None = None) -> Method:
    """Make a method of whatever you have.

    Parameters
    ----------
    thing
        The name of a built-in method, a scikit-learn estimator, a function of training inputs,
        training targets and test inputs, the words of a command that follows DELVE's file protocol,
        the path of such a program, or a `Method`, which stays as it is.
    name
        What to call it in messages; by default the name of the estimator's class, of the function or
        of the program.

    Returns
    -------
    Method
        What `assess` and `check_method` work with.

    Raises
    ------
    RedelveError
        The thing is none of these, or the name of no built-in method.

    Notes
    -----
    Estimators are cloned for every job. They and functions get the columns of your frame or table as they
    are: names, types, categories, missing values; built-in methods and programs get inputs encoded by
    DELVE's rules, fitted on training cases only (Rasmussen et al. 1996, The DELVE manual, chapter 7).
    What an estimator, a function or a program is shown, and what it may return, is in docs/methods.md;
    `redelve.methods.adapters` has one maker for each, with more options.

    Examples
    --------
    >>> import redelve
    >>> redelve.as_method("constant").name
    'constant'
    >>> from sklearn.linear_model import Ridge
    >>> redelve.as_method(Ridge(alpha=2.0)).name
    'Ridge'
    """
    if isinstance(thing, Method):
        return thing
    if isinstance(thing, str):
        return METHODS[thing]
    if isinstance(thing, Path) or (isinstance(thing, list | tuple) and thing):
        from redelve.methods.adapters.program import Program

        return Program(
            [str(thing)] if isinstance(thing, Path) else [str(word) for word in thing], name=name or ""
        )
    if hasattr(thing, "fit"):
        from redelve.methods.adapters.sklearn_adapter import sklearn_method

        return sklearn_method(thing, name=name)
    if callable(thing):
        from redelve.methods.adapters.callables import callable_method

        return callable_method(thing, name=name)
    raise SpecError(
        f"can't make a method of {value_told(thing)}: "
        "give the name of a built-in method, a scikit-learn estimator, "
        "a function of training inputs, training targets and test inputs, or the words of a command"
    )


def named_methods(methods: MethodsLike) -> dict[str, Method]:
    """Methods by name, made from whatever was given for them; one without a name has that of its class."""
    if isinstance(methods, Mapping):
        return {_checked_name(name): as_method(one) for name, one in methods.items()}
    is_one = isinstance(methods, str) or hasattr(methods, "fit") or not np.iterable(methods)
    found: dict[str, Method] = {}
    for one in [methods] if is_one else methods:
        method = METHODS[one] if isinstance(one, str) else as_method(one)
        name = one if isinstance(one, str) else _own_name(one)
        if not isinstance(one, str) and name in found:
            raise SpecError(
                f'two methods are called "{name}": give a dictionary of names and methods, as in '
                '{"ridge": Ridge(), "ridge-10": Ridge(alpha=10)}'
            )
        found[name] = method
    return found


def _own_name(one: Any) -> str:
    """What a method is called that nobody named: a function by its name, a pipeline by its last step."""
    if hasattr(one, "fit") and hasattr(one, "steps"):
        return _own_name(one.steps[-1][1])
    name = str(getattr(one, "__name__", type(one).__name__))
    if not name.isidentifier() or isinstance(one, list | tuple):
        raise SpecError(
            f"a method without a name was given ({kind_told(one)}): give a dictionary of names and "
            'methods, as in {"mine": …}'
        )
    return name


def taking(methods: Mapping[str, Method] | None) -> Callable[[tuple[Target, ...]], bool]:
    """Whether all methods take some targets; whoever has none yet takes any."""
    return lambda targets: all(one.why_not(targets) is None for one in (methods or {}).values())


def _checked_name(name: object) -> str:
    """A method's name, which is also the name of folders and a part of addresses."""
    is_text = isinstance(name, str) and bool(name) and name == name.strip()
    if (
        not is_text
        or str(name)[0] in ".-"
        or not str(name).isprintable()
        or any(c in str(name) for c in "/\\")
    ):
        raise SpecError(
            f"bad name of a method: {value_told(name)}; it is a text without slashes, line breaks and tabs "
            "that begins with neither a dot, a dash nor a blank, as in forest-500"
        )
    return str(name)
