"""What a method may answer, always in the original (decoded) domain, and what is true (manual 5.1).

Probabilities of classes are in a module of their own.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from redelve.answers.distributions import Distribution
from redelve.errors import PredictionError, SpecError
from redelve.model import (
    CATEGORICAL,
    Attribute,
    AttributePrior,
    Censored,
    Column,
    NumberColumn,
    Prior,
    is_missing,
)
from redelve.model.dataset import Numbers, digest
from redelve.text_numbers import parse_number

Flags = NDArray[np.bool_]
Texts = Sequence[str] | NDArray[np.object_]
Rows = Sequence[Sequence[float]] | Numbers
TargetKind = Literal["categorical", "integer", "real", "angular"]

KINDS: tuple[TargetKind, ...] = get_args(TargetKind)
NO_GUESS = "?"
MOST_NAMED_LEVELS = 12


class ArrayValue:
    """A frozen value that holds arrays: two are equal when all their fields are, to the bit."""

    @property
    def digest(self) -> str:
        """A hash of every field."""
        return digest(self)

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self.digest == digest(other)

    def __hash__(self) -> int:
        return hash(self.digest)


@dataclass(frozen=True)
class Target:
    """An attribute to be predicted: its levels if categorical, its unit (one full turn) if angular."""

    name: str
    kind: TargetKind
    levels: tuple[str, ...] = ()
    unit: float | None = None

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise SpecError(f'target "{self.name}" has unknown kind "{self.kind}": use {", ".join(KINDS)}')
        if self.kind == "categorical":
            self._check_levels()
        if self.kind == "angular" and not (self.unit is not None and 0 < self.unit < math.inf):
            given = "none" if self.unit is None else f"{self.unit}"
            raise SpecError(
                f'angular target "{self.name}" needs a positive unit but got {given}: '
                "give the length of a full turn in the prior, such as unit=360"
            )

    def _check_levels(self) -> None:
        if not self.levels:
            raise SpecError(f'categorical target "{self.name}" has no levels: list them in its range')
        seen: set[str] = set()
        for level in self.levels:
            if is_missing(level) or level in seen:
                raise SpecError(
                    f'categorical target "{self.name}" has the level "{level}": '
                    "levels must differ and not begin with ?"
                )
            seen.add(level)


def target_of(attribute: Attribute, prior: AttributePrior) -> Target:
    """The target an attribute is under a prior; levels come in the order of the dataset's range."""
    if prior.type in CATEGORICAL:
        if not attribute.range.is_finite:
            raise SpecError(
                f'target "{attribute.name}" is {prior.type} but its range is "{attribute.range}": '
                "list its values there, or make it integer or real in the prior"
            )
        return Target(attribute.name, "categorical", levels=attribute.range.values)
    if prior.type == "angular":
        return Target(attribute.name, "angular", unit=prior.unit)
    for kind in KINDS:
        if kind == prior.type:
            return Target(attribute.name, kind)
    known = ", ".join((*CATEGORICAL, "integer", "real", "angular"))
    raise SpecError(f'target "{attribute.name}" has unknown type "{prior.type}": use {known}')


def targets_of(attributes: Sequence[Attribute], prior: Prior) -> tuple[Target, ...]:
    """What several attributes are under a prior."""
    about = [prior.attribute(one.number) for one in attributes]
    return tuple(target_of(*one) for one in zip(attributes, about, strict=True))


@dataclass(frozen=True, eq=False)
class Truth(ArrayValue):
    """One target's true values: level indexes or numbers.

    `censoring` is 0 for an exact value, +1 where the truth is at least the value (`12:`) and −1 where it
    is at most the value (`:12`).
    """

    target: Target
    values: Numbers
    censoring: NDArray[np.int8]

    def __post_init__(self) -> None:
        object.__setattr__(self, "values", frozen(self.values))
        object.__setattr__(self, "censoring", _frozen_signs(self.censoring))
        if self.censoring.shape != self.values.shape:
            raise PredictionError(
                f'target "{self.target.name}" has {len(self.values)} true values '
                f"but {len(self.censoring)} marks of censoring: give one for each case"
            )
        _check_values(self.target, self.values, _possible(self.target, self.values), "true value")
        self._check_censoring()

    @staticmethod
    def exact(target: Target, values: Sequence[float] | Numbers) -> Truth:
        """True values of which none is censored."""
        numbers = np.asarray(values, dtype=np.float64)
        return Truth(target, numbers, np.zeros(numbers.shape, dtype=np.int8))

    def __len__(self) -> int:
        return len(self.values)

    @cached_property
    def is_exact(self) -> bool:
        """Whether no value is censored."""
        return not self.censoring.any()

    @cached_property
    def level_indexes(self) -> NDArray[np.int64]:
        """The true level of every case of a categorical target, counting from 0."""
        return self.values.astype(np.int64)

    def _check_censoring(self) -> None:
        censored = self.censoring != 0
        if self.target.kind in ("categorical", "angular") and (case := first(censored)) is not None:
            raise PredictionError(
                f"case {case + 1}: true value {self.values[case]} of {self.target.kind} target "
                f'"{self.target.name}" is censored: only integer and real targets can be'
            )
        if self.target.kind == "integer":
            whole = censored | (self.values == np.floor(self.values))
            _check_values(self.target, self.values, whole, "true value")


def truth_of(target: Target, column_texts: Texts) -> Truth:
    """The true values written in `column_texts`; neither missing values nor unknown levels are allowed.

    >>> truth = truth_of(Target("age", "real"), ["12", "30:", ":7.5"])
    >>> truth.values.tolist(), truth.censoring.tolist()
    ([12.0, 30.0, 7.5], [0, 1, -1])
    """
    read = _reader(target)
    values = np.empty(len(column_texts))
    censoring = np.zeros(len(column_texts), dtype=np.int8)
    for case, text in enumerate(column_texts):
        value = read(text)
        if value is None:
            value, censoring[case] = _bound(target, case, text)
        values[case] = value
    return Truth(target, values, censoring)


def truths_in(targets: Sequence[Target], columns: Sequence[Column]) -> tuple[Truth, ...]:
    """The true values that columns hold: numbers as they are where all are known, else as written."""
    pairs = zip(targets, columns, strict=True)
    return tuple(
        Truth.exact(target, column.values + 0.0)
        if isinstance(column, NumberColumn) and target.kind != "categorical"
        else truth_of(target, column.texts())
        for target, column in pairs
    )


def _bound(target: Target, case: int, text: str) -> tuple[float, int]:
    censored = None if target.kind == "categorical" else Censored.parse(text)
    if censored is not None:
        return censored.number, 1 if censored.at_least else -1
    place = f'case {case + 1}: true value "{text}" of target "{target.name}"'
    if is_missing(text):
        raise PredictionError(
            f"{place} is missing, expected {_allowed(target)}: leave such cases out of the prototask"
        )
    raise PredictionError(f"{place} is not allowed: expected {_allowed(target)}")


@dataclass(frozen=True, eq=False)
class Guesses(ArrayValue):
    """For each target one guess a case: a number, or the index of a level.

    Parameters
    ----------
    targets
        What is predicted, as in ``TrainingSet.targets``.
    values
        One array for each target, with a value for each test case: a number, or for a categorical
        target the index of a level from 0. NaN means that no guess is made.

    Raises
    ------
    RedelveError
        The arrays do not have equal lengths, or a value is none that the target can have.

    Notes
    -----
    Guesses follow the rules of DELVE's file ``guess`` (Rasmussen et al. 1996, The DELVE manual,
    section 7.5).

    Examples
    --------
    >>> import redelve
    >>> from redelve.answers.predictions import Target
    >>> guesses = redelve.Guesses((Target("age", "real"),), ([31.5, 40.0],))
    >>> len(guesses), guesses.values[0].tolist()
    (2, [31.5, 40.0])
    """

    targets: tuple[Target, ...]
    values: tuple[Numbers, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "targets", tuple(self.targets))
        check_target_count(self.targets, len(self.values))
        for target, values in zip(self.targets, self.values, strict=True):
            if np.iscomplexobj(values) or np.ndim(values) != 1:
                raise PredictionError(
                    f'guesses for target "{target.name}" have shape {np.shape(values)} and type '
                    f"{np.asarray(values).dtype}: give one real number for each case"
                )
        object.__setattr__(self, "values", tuple(frozen(values) for values in self.values))
        for target, values in zip(self.targets, self.values, strict=True):
            if len(values) != len(self):
                raise PredictionError(
                    f'expected {len(self)} guesses for target "{target.name}" but got {len(values)}: '
                    "every target needs as many as the first"
                )
            _check_values(target, values, np.isnan(values) | _possible(target, values), "guess")

    def __len__(self) -> int:
        return len(self.values[0])


def guesses_of(targets: Sequence[Target], texts: Sequence[Texts]) -> Guesses:
    """The guesses written in one list of texts per target; `?` means that no guess is made.

    >>> guesses_of([Target("sex", "categorical", ("f", "m"))], [["m", "?", "f"]]).values[0].tolist()
    [1.0, nan, 0.0]
    """
    check_target_count(targets, len(texts))
    columns = zip(targets, texts, strict=True)
    return Guesses(tuple(targets), tuple(_guessed(target, column) for target, column in columns))


def _guessed(target: Target, texts: Texts) -> Numbers:
    read = _reader(target)
    values = np.full(len(texts), np.nan)
    for case, text in enumerate(texts):
        if text == NO_GUESS:
            continue
        value = read(text)
        if value is None:
            raise PredictionError(
                f'case {case + 1}: guess "{text}" for target "{target.name}" is not allowed: '
                f"expected {_allowed(target)}, or {NO_GUESS} for no guess"
            )
        values[case] = value
    return values


@dataclass(frozen=True, eq=False)
class TargetLogProbabilities(ArrayValue):
    """Per case the natural log of the probability, or density, of all true targets together."""

    values: Numbers

    def __post_init__(self) -> None:
        object.__setattr__(self, "values", frozen(self.values))
        if (case := first(~(self.values < np.inf))) is not None:
            raise PredictionError(
                f"case {case + 1}: log probability {self.values[case]} of the true targets is not allowed: "
                "expected a number, or -Inf for probability zero"
            )

    @staticmethod
    def from_probabilities(values: Sequence[float] | Numbers) -> TargetLogProbabilities:
        """Probabilities or densities as they are; zero becomes −inf."""
        given = np.asarray(values, dtype=np.float64)
        if (case := first(~(np.isfinite(given) & (given >= 0)))) is not None:
            raise PredictionError(
                f"case {case + 1}: probability {given[case]} of the true targets is not allowed: "
                "expected a finite number of at least 0"
            )
        with np.errstate(divide="ignore"):
            return TargetLogProbabilities(np.log(given))

    @staticmethod
    def from_logs(values: Sequence[float] | Numbers) -> TargetLogProbabilities:
        """Natural logs of probabilities or densities."""
        return TargetLogProbabilities(np.asarray(values, dtype=np.float64))

    def __len__(self) -> int:
        return len(self.values)


@dataclass(frozen=True, eq=False)
class TargetDistributions(ArrayValue):
    """For each target, real or integer, a predictive distribution of every case's value.

    Parameters
    ----------
    targets
        What is predicted, as in ``TrainingSet.targets``.
    distributions
        One for each target: `Normal`, `Student`, `NormalMixture`, `Quantiles` or `Samples`.

    Raises
    ------
    RedelveError
        A target is categorical or angular, or the distributions are not for equally many cases.

    Notes
    -----
    Log loss (L) and the continuous ranked probability score (C; Gneiting and Raftery 2007, Journal of
    the American Statistical Association 102:359–378) are computed from it, and the best guess for
    other losses where an answer has no guesses.

    Examples
    --------
    >>> import redelve
    >>> from redelve.answers.predictions import Target
    >>> spread = redelve.Normal([30.0, 40.0], [5.0, 6.0])
    >>> len(redelve.TargetDistributions((Target("age", "real"),), (spread,)))
    2
    """

    targets: tuple[Target, ...]
    distributions: tuple[Distribution, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "targets", tuple(self.targets))
        object.__setattr__(self, "distributions", tuple(self.distributions))
        check_target_count(self.targets, len(self.distributions))
        for target, distribution in zip(self.targets, self.distributions, strict=True):
            if target.kind not in ("real", "integer"):
                raise PredictionError(
                    f'target "{target.name}" is {target.kind}: predictive distributions are for real and '
                    "integer targets; give class probabilities or guesses"
                )
            if len(distribution) != len(self):
                raise PredictionError(
                    f"expected {len(self)} predictive distributions for target "
                    f'"{target.name}" but got {len(distribution)}'
                )

    def __len__(self) -> int:
        return len(self.distributions[0])

    def log_probability(self, truths: Sequence[Truth]) -> TargetLogProbabilities:
        """The log density of all true targets together, taken as independent; probabilities where discrete.

        An integer has the probability of the interval of ±½ around it, a censored value that of all that
        it allows.
        """
        with np.errstate(divide="ignore", over="ignore"):
            pairs = zip(truths, self.distributions, strict=True)
            logs = [_log_probability(truth, distribution) for truth, distribution in pairs]
        return TargetLogProbabilities(reduce(np.add, logs))


def _log_probability(truth: Truth, distribution: Distribution) -> Numbers:
    half = 0.5 if truth.target.kind == "integer" else 0.0
    exact = _log_mass(truth.values, distribution) if half else distribution.log_density(truth.values)
    if truth.is_exact:
        return exact
    above = np.log(distribution.probability_above(truth.values - half))
    below = np.log(distribution.probability_below(truth.values + half))
    return np.where(truth.censoring == 0, exact, np.where(truth.censoring > 0, above, below))


def _log_mass(values: Numbers, distribution: Distribution) -> Numbers:
    """The log probability of ±½ about each value, by the smaller tail, so that small ones do not vanish."""
    low, high = values - 0.5, values + 0.5
    by_lower = distribution.probability_below(high) - distribution.probability_below(low)
    by_upper = distribution.probability_above(low) - distribution.probability_above(high)
    in_lower_tail = distribution.probability_below(values) < 0.5
    return np.asarray(np.log(np.where(in_lower_tail, by_lower, by_upper)))


def first(flags: Flags) -> int | None:
    """The position of the first flag that is set."""
    return int(flags.argmax()) if np.count_nonzero(flags) else None  # a quarter of the time of any()


def frozen(values: Numbers) -> Numbers:
    """A copy that cannot be written to."""
    copied = np.array(values, dtype=np.float64)
    copied.setflags(write=False)
    return copied


def _frozen_signs(censoring: NDArray[np.int8]) -> NDArray[np.int8]:
    given = np.asarray(censoring)
    if (case := first((given != 0) & (given != 1) & (given != -1))) is not None:
        raise PredictionError(f"case {case + 1}: censoring {given[case]} is not allowed: use −1, 0 or 1")
    signs = given.astype(np.int8)
    signs.setflags(write=False)
    return signs


def _reader(target: Target) -> Callable[[str], float | None]:
    if target.kind == "categorical":
        return {level: float(index) for index, level in enumerate(target.levels)}.get
    return parse_number


def _allowed(target: Target) -> str:
    return f"one of {level_names(target)}" if target.kind == "categorical" else "a number"


def level_names(target: Target) -> str:
    """The levels, or the first of them."""
    more = ", …" if len(target.levels) > MOST_NAMED_LEVELS else ""
    return ", ".join(target.levels[:MOST_NAMED_LEVELS]) + more


def _possible(target: Target, values: Numbers) -> Flags:
    if target.kind == "categorical":
        return np.isin(values, np.arange(len(target.levels)))
    return np.isfinite(values)


def _check_values(target: Target, values: Numbers, good: Flags, what: str) -> None:
    if good.all():
        return
    case = int(good.argmin())
    allowed = {
        "categorical": f"a level index from 0 to {len(target.levels) - 1}",
        "integer": "an integer" if what == "true value" else "a finite number",
    }.get(target.kind, "a finite number")
    raise PredictionError(
        f'case {case + 1}: {what} {values[case]} of {target.kind} target "{target.name}" is not allowed: '
        f"expected {allowed}"
    )


def check_target_count(targets: Sequence[Target], count: int) -> None:
    """Refuse predictions that are not one for each target."""
    if len(targets) != count or not count:
        names = ", ".join(target.name for target in targets)
        raise PredictionError(f"expected guesses for {len(targets)} targets ({names}) but got {count}")
