"""Losses: smaller is better, one number for every case, never a mean (manual 5.2 and 5.3)."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from redelve.answers.losses.loss_matrix import LossMatrix, parse_loss_matrix
from redelve.answers.predictions import (
    KINDS,
    ClassProbabilities,
    Guesses,
    Numbers,
    Prediction,
    Target,
    TargetDistributions,
    TargetKind,
    TargetLogProbabilities,
    Truth,
    first,
)
from redelve.errors import PredictionError, SpecError
from redelve.registry import Registry
from redelve.text_numbers import parse_number

MatrixLoader = Callable[[str], str]

STANDARD = ("A", "S", "L", "Q", "Z")
PENALTY = re.compile(r".(.*)N")
BAD_FILE_NAME = re.compile(r"[/\\:\s\0]|\.\.|^M\.|^M$")
ROUNDING_SLACK = 1e-6  # log probabilities pass through files with nine digits


@dataclass(frozen=True)
class Loss(ABC):
    """How much is lost by a prediction when the truth is known; `code` is the loss's name in file names."""

    code: str
    title: ClassVar[str]
    kinds: ClassVar[tuple[TargetKind, ...]]
    takes: ClassVar[Literal["guesses", "distribution"]]
    one_target: ClassVar[bool] = False

    @classmethod
    def parse(cls, code: str, load_matrix: MatrixLoader | None) -> Loss:
        """The loss a code that starts with this class's letter stands for."""
        if PENALTY.fullmatch(code):
            raise SpecError(f'loss "{code}" takes no guesses: only A, S and Z can have a no-guess penalty')
        if len(code) != 1:
            raise _unknown(code)
        return cls(code)

    @property
    def name(self) -> str:
        """The loss in words."""
        return self.title

    def applies_to(self, targets: Sequence[Target]) -> bool:
        """Whether predictions of these targets can be judged (manual figure 5.1)."""
        return self.why_not(targets) is None

    def why_not(self, targets: Sequence[Target]) -> str | None:
        """What keeps the loss from these targets, or None."""
        if not targets:
            return f"loss {self.code} needs a target, but there is none"
        if self.one_target and len(targets) > 1:
            names = ", ".join(target.name for target in targets)
            return f"loss {self.code} is for a single target, but there are {len(targets)}: {names}"
        for target in targets:
            if target.kind not in self.kinds:
                kinds = ", ".join(self.kinds)
                return f'loss {self.code} is for {kinds} targets, but target "{target.name}" is {target.kind}'
        return None

    @abstractmethod
    def of(self, truths: Sequence[Truth], prediction: Prediction) -> Numbers:
        """The loss of every case."""

    def _check_truths(self, truths: Sequence[Truth]) -> None:
        reason = self.why_not([truth.target for truth in truths])
        if reason is not None:
            raise SpecError(reason)
        for truth in truths:
            if len(truth) != len(truths[0]):
                raise PredictionError(
                    f'target "{truth.target.name}" has {len(truth)} true values but '
                    f'"{truths[0].target.name}" has {len(truths[0])}: give all of them for the same cases'
                )

    def _refusal(self, wanted: str, prediction: object) -> PredictionError:
        return PredictionError(
            f"loss {self.code} ({self.name}) needs {wanted} but got {type(prediction).__name__}"
        )


@dataclass(frozen=True)
class GuessLoss(Loss):
    """A loss of guesses, summed over the targets (manual 5.2)."""

    takes = "guesses"
    way_out: ClassVar[str]

    @abstractmethod
    def distance(self, truth: Truth, guess: Numbers) -> Numbers:
        """One target's loss in every case; whatever it is where the guess is NaN."""

    @abstractmethod
    def no_guess(self, truth: Truth) -> Numbers | None:
        """One target's loss in every case in which no guess is made, None where one must be made."""

    def of(self, truths: Sequence[Truth], prediction: Prediction) -> Numbers:
        """The loss of every case."""
        self._check_truths(truths)
        if not isinstance(prediction, Guesses):
            raise self._refusal("guesses", prediction)
        _check_targets(truths, prediction)
        _check_length(truths, prediction, "guesses")
        with np.errstate(over="ignore"):
            pairs = zip(truths, prediction.values, strict=True)
            total: Numbers = np.sum([self._one_target(truth, guess) for truth, guess in pairs], axis=0)
        return total

    def _one_target(self, truth: Truth, guess: Numbers) -> Numbers:
        losses = self.distance(truth, guess)
        silent = np.isnan(guess)
        if (case := first(silent)) is None:
            return losses
        penalties = self.no_guess(truth)
        if penalties is None:
            raise PredictionError(
                f'case {case + 1}: no guess ("?") for target "{truth.target.name}", '
                f"but loss {self.code} demands one: {self.way_out.format(self.code)}"
            )
        return np.where(silent, penalties, losses)


@dataclass(frozen=True)
class DistanceLoss(GuessLoss):
    """A loss that depends on how far the guess is off; `penalty` is the loss of making none (manual 5.3)."""

    way_out = "make a guess, or allow none at a penalty, as in {0}0.2N"
    penalty: float | None = None

    @classmethod
    def parse(cls, code: str, load_matrix: MatrixLoader | None) -> Loss:
        """A letter such as `Z`, or a letter with a no-guess penalty such as `Z0.2N`."""
        if len(code) == 1:
            return cls(code)
        penalised = PENALTY.fullmatch(code)
        if penalised is None:
            raise _unknown(code)
        penalty = parse_number(penalised[1])
        if penalty is None or penalty < 0:
            raise SpecError(
                f'loss "{code}" has the no-guess penalty "{penalised[1]}": '
                f"write a finite number of at least 0, as in {code[0]}0.2N"
            )
        return cls(code, penalty)

    @property
    def name(self) -> str:
        """The loss in words."""
        return self.title if self.penalty is None else f"{self.title}, no-guess penalty {self.penalty:.9g}"

    def no_guess(self, truth: Truth) -> Numbers | None:
        """The penalty, if there is one."""
        return None if self.penalty is None else np.full(len(truth), self.penalty)


class AbsoluteError(DistanceLoss):
    """|guess − truth|; the shorter arc for angular targets. Least for the median."""

    title = "Absolute error"
    kinds = ("integer", "real", "angular")

    def distance(self, truth: Truth, guess: Numbers) -> Numbers:
        """How far the guess is off."""
        return _gap(truth, guess)


class SquaredError(DistanceLoss):
    """(guess − truth)²; the shorter arc squared for angular targets. Least for the mean."""

    title = "Squared error"
    kinds = ("integer", "real", "angular")

    def distance(self, truth: Truth, guess: Numbers) -> Numbers:
        """How far the guess is off, squared."""
        return _gap(truth, guess) ** 2


class ZeroOne(DistanceLoss):
    """0 if right, 1 if wrong; the guess for an integer is first rounded to the nearest one, halves up."""

    title = "Zero-one"
    kinds = ("categorical", "integer")

    def distance(self, truth: Truth, guess: Numbers) -> Numbers:
        """Whether the guess is wrong."""
        return (_gap(truth, _round_half_up(guess)) > 0).astype(np.float64)


@dataclass(frozen=True)
class MatrixLoss(GuessLoss):
    """The entry of a loss matrix for the guess and the truth (manual 5.3); `text` is the matrix file."""

    title = "Loss matrix"
    kinds = ("categorical",)
    one_target = True
    way_out = "make a guess, or add a last row of losses for making none to the loss matrix"
    text: str = ""

    @classmethod
    def parse(cls, code: str, load_matrix: MatrixLoader | None) -> Loss:
        """`M` and the name of a file in the directory of the prototask."""
        if BAD_FILE_NAME.search(code):
            raise SpecError(
                f'loss "{code}" must name a file in the directory of the prototask: '
                "write M and a file name without blanks, slashes, colons, .. or a leading dot, as in Mcosts"
            )
        if load_matrix is None:
            raise SpecError(f'loss "{code}" needs the file "{code[1:]}", but no loss matrix can be read here')
        return cls(code, load_matrix(code[1:]))

    @property
    def name(self) -> str:
        """The loss in words."""
        return f'{self.title} "{self.code[1:]}"'

    def why_not(self, targets: Sequence[Target]) -> str | None:
        """What keeps the loss from these targets, or None."""
        if reason := super().why_not(targets):
            return reason
        try:
            self.matrix(targets[0])
        except SpecError as error:
            return f'loss {self.code}, target "{targets[0].name}": {error}'
        return None

    def matrix(self, target: Target) -> LossMatrix:
        """The matrix, checked against the target's levels."""
        return parse_loss_matrix(self.text, target.levels)

    def distance(self, truth: Truth, guess: Numbers) -> Numbers:
        """The entries for the guess and the truth."""
        guessed = np.nan_to_num(guess).astype(np.int64)
        entries: Numbers = self.matrix(truth.target).values[guessed, truth.level_indexes]
        return entries

    def no_guess(self, truth: Truth) -> Numbers | None:
        """The entries of the last row for the truth, if there is such a row."""
        penalties = self.matrix(truth.target).no_guess
        return None if penalties is None else penalties[truth.level_indexes]


class NegativeLogProbability(Loss):
    """−ln of the probability, or density, of the true targets; of the allowed interval if censored."""

    title = "Negative Log probability"
    takes = "distribution"
    kinds = KINDS

    def of(self, truths: Sequence[Truth], prediction: Prediction) -> Numbers:
        """The loss of every case: infinite where the truth was held to be impossible."""
        self._check_truths(truths)
        if isinstance(prediction, ClassProbabilities):
            _check_targets(truths, prediction)
            _check_length(truths, prediction, "class distributions")
            return 0.0 - prediction.log_probability(truths[0])
        if isinstance(prediction, TargetDistributions):
            _check_targets(truths, prediction)
            _check_length(truths, prediction, "predictive distributions")
            return 0.0 - prediction.log_probability(truths).values
        if isinstance(prediction, TargetLogProbabilities):
            _check_length(truths, prediction, "target probabilities")
            _check_at_most_one(truths, prediction.values)
            return 0.0 - prediction.values
        raise self._refusal("class probabilities or the probabilities of the true targets", prediction)


class SquaredProbability(Loss):
    """(1 − p_t)² + Σ_{i≠t} p_i² for the true level t (manual 5.2); at most two."""

    title = "Squared Probability"
    takes = "distribution"
    kinds = ("categorical",)
    one_target = True

    def of(self, truths: Sequence[Truth], prediction: Prediction) -> Numbers:
        """The loss of every case."""
        self._check_truths(truths)
        if not isinstance(prediction, ClassProbabilities):
            raise self._refusal("class probabilities", prediction)
        _check_targets(truths, prediction)
        _check_length(truths, prediction, "class distributions")
        surplus = prediction.values.copy()
        surplus[np.arange(len(surplus)), truths[0].level_indexes] -= 1.0
        squares: Numbers = (surplus**2).sum(axis=1)
        return squares


class RankedProbability(Loss):
    """The continuous ranked probability score, ∫ (F(x) − 1[x ≥ truth])² dx (Gneiting and Raftery 2007)."""

    title = "Continuous ranked probability score"
    takes = "distribution"
    kinds = ("real", "integer")

    def of(self, truths: Sequence[Truth], prediction: Prediction) -> Numbers:
        """The score of every case, summed over the targets; a censored truth cannot be scored."""
        self._check_truths(truths)
        if not isinstance(prediction, TargetDistributions):
            raise self._refusal("predictive distributions", prediction)
        _check_targets(truths, prediction)
        _check_length(truths, prediction, "predictive distributions")
        for truth in truths:
            if (case := first(truth.censoring != 0)) is not None:
                raise PredictionError(
                    f'case {case + 1}: the true value of target "{truth.target.name}" is censored: '
                    "loss C needs it exactly; use L"
                )
        pairs = zip(truths, prediction.distributions, strict=True)
        total: Numbers = np.sum([forecast.crps(truth.values) for truth, forecast in pairs], axis=0)
        return total


LOSSES = Registry[type[Loss]]("loss")
LOSSES.add("A", AbsoluteError)
LOSSES.add("S", SquaredError)
LOSSES.add("L", NegativeLogProbability)
LOSSES.add("Q", SquaredProbability)
LOSSES.add("Z", ZeroOne)
LOSSES.add("M", MatrixLoss)
LOSSES.add("C", RankedProbability)


def parse_loss(code: str, load_matrix: MatrixLoader | None = None) -> Loss:
    """The loss that `code` stands for; `load_matrix` returns the text of a file named after `M`.

    >>> parse_loss("Z0.2N").name
    'Zero-one, no-guess penalty 0.2'
    """
    if code[:1] not in LOSSES:
        raise _unknown(code)
    return LOSSES[code[0]].parse(code, load_matrix)


def applicable_losses(targets: Sequence[Target]) -> tuple[Loss, ...]:
    """The standard losses that can judge predictions of these targets, in the order A S L Q Z.

    >>> [loss.code for loss in applicable_losses([Target("age", "real")])]
    ['A', 'S', 'L']
    """
    return tuple(loss for loss in map(parse_loss, STANDARD) if loss.applies_to(targets))


def _unknown(code: str) -> SpecError:
    known = ", ".join([*STANDARD, *(letter for letter in LOSSES if letter not in STANDARD)])
    return SpecError(
        f'unknown loss "{code}": known are {known} '
        "(M with the file of a loss matrix: Mcosts; A, S, Z also with a no-guess penalty: Z0.2N)"
    )


def _gap(truth: Truth, guess: Numbers) -> Numbers:
    """The distance to the truth, to its bound if censored, along the shorter arc if angular."""
    unit = truth.target.unit
    if truth.target.kind == "angular" and unit is not None:
        arc = np.mod(np.abs(np.fmod(guess, unit) - np.fmod(truth.values, unit)), unit)
        shorter: Numbers = np.minimum(arc, unit - arc)
        return shorter
    ahead = guess - truth.values
    allowed = truth.censoring * np.sign(ahead) > 0
    return np.where(allowed, 0.0, np.abs(ahead))


def _round_half_up(values: Numbers) -> Numbers:
    """Not floor(x + ½): that turns 0.49999999999999994 into 1."""
    below = np.floor(values)
    return np.where(values - below >= 0.5, below + 1.0, below)


def _check_targets(
    truths: Sequence[Truth], prediction: Guesses | ClassProbabilities | TargetDistributions
) -> None:
    if tuple(truth.target for truth in truths) != prediction.targets:
        wanted = ", ".join(truth.target.name for truth in truths)
        given = ", ".join(target.name for target in prediction.targets)
        raise PredictionError(
            f"expected predictions for {wanted} but got some for {given}: "
            "names, kinds, levels and their order must agree"
        )


def _check_length(truths: Sequence[Truth], prediction: Prediction, what: str) -> None:
    if len(prediction) != len(truths[0]):
        raise PredictionError(f"expected {len(truths[0])} {what} but got {len(prediction)}")


def _check_at_most_one(truths: Sequence[Truth], logs: Numbers) -> None:
    """Where every target is discrete or censored, what is given is a probability and not a density."""
    masses = [(truth.censoring != 0) | (truth.target.kind in ("categorical", "integer")) for truth in truths]
    if (case := first(np.logical_and.reduce(masses) & (logs > ROUNDING_SLACK))) is not None:
        raise PredictionError(
            f"case {case + 1}: log probability {logs[case]} of the true targets is above 0: "
            "categorical, integer and censored targets have probabilities of at most 1, not densities"
        )
