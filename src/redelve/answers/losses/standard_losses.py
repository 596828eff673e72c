"""The losses that come with redelve: of guesses A, S and Z; of what is held to be probable L, Q and C."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from redelve.answers.distributions import Distribution
from redelve.answers.losses.loss_contract import (
    LOSSES,
    ROUNDING_SLACK,
    Loss,
    MatrixLoader,
    check_length,
    check_targets,
    no_guess_told,
    one_per_case,
    unknown_loss,
)
from redelve.answers.predictions import (
    KINDS,
    ClassProbabilities,
    Guesses,
    Prediction,
    Target,
    TargetDistributions,
    TargetLogProbabilities,
    Truth,
    first,
)
from redelve.errors import PredictionError, SpecError
from redelve.model.dataset import Numbers
from redelve.stats import angular_baselines, anova
from redelve.text_numbers import parse_number

if TYPE_CHECKING:
    from redelve.answers.answer import Answer


@dataclass(frozen=True)
class GuessLoss(Loss):
    """A loss of guesses, summed over the targets (manual 5.2)."""

    takes = "guesses"
    way_out: ClassVar[str]
    stand_in: ClassVar[str] = "S"
    """The code of the loss whose guesses do where an answer has guesses for single losses only."""

    @abstractmethod
    def distance(self, truth: Truth, guess: Numbers) -> Numbers:
        """One target's loss in every case; whatever it is where the guess is NaN."""

    @abstractmethod
    def no_guess(self, truth: Truth) -> Numbers | None:
        """One target's loss in every case in which no guess is made, None where one must be made."""

    def part_of(self, answer: Answer) -> Guesses | None:
        """The guesses meant for it, or all guesses, or the best ones by what is held to be probable."""
        if self.code in answer.guesses_for:
            return answer.guesses_for[self.code]
        if answer.guesses is not None:
            return answer.guesses
        if answer.probabilities is not None:
            return Guesses(answer.probabilities.targets, (self.best_level(answer.probabilities),))
        if answer.distributions is None:
            return answer.guesses_for.get(self.stand_in)
        values = tuple(self.best_guess(one) for one in answer.distributions.distributions)
        return Guesses(answer.distributions.targets, values)

    def best_guess(self, distribution: Distribution) -> Numbers:
        """The guess of every case that loses least by a predictive distribution of a number."""
        return distribution.median()

    def best_level(self, probabilities: ClassProbabilities) -> Numbers:
        """The level of every case, from 0, that loses least by the probabilities of all."""
        best: Numbers = probabilities.logs.argmax(axis=1).astype(np.float64)
        return best

    def of(self, truths: Sequence[Truth], prediction: Prediction) -> Numbers:
        """The loss of every case."""
        self._check_truths(truths)
        if not isinstance(prediction, Guesses):
            raise self._refusal("guesses", prediction)
        check_targets(truths, prediction)
        check_length(truths, prediction, "guesses")
        with np.errstate(over="ignore"):
            pairs = zip(truths, prediction.values, strict=True)
            total: Numbers = reduce(np.add, [self._one_target(truth, guess) for truth, guess in pairs])
        return total

    def distances(self, truth: Truth, guess: Numbers) -> Numbers:
        """What `distance` returns, which must be a number for every case."""
        return one_per_case(self, self.distance(truth, guess), len(truth))

    def _one_target(self, truth: Truth, guess: Numbers) -> Numbers:
        losses = self.distances(truth, guess)
        silent = np.isnan(guess)
        if (case := first(silent)) is None:
            return losses
        penalties = self.no_guess(truth)
        if penalties is None:
            told = no_guess_told(truth, case, f"loss {self.code}")
            raise PredictionError(f"{told}: {self.way_out.format(self.code)}")
        return np.where(silent, penalties, losses)

    def best_constant(self, truth: Truth) -> float | None:
        """The smallest mean loss of one guess for all cases, found by search."""
        return least_mean_loss(self.distances, truth)


@dataclass(frozen=True)
class DistanceLoss(GuessLoss):
    """A loss that depends on how far the guess is off; `penalty` is the loss of making none (manual 5.3)."""

    way_out = "make a guess, or allow none at a penalty, as in {0}0.2N"
    lowest = 0.0
    penalty: float | None = None

    def _own_code(self) -> str:
        return self.letter if self.penalty is None else f"{self.letter}{self.penalty!r}N"

    @classmethod
    def parse(cls, code: str, load_matrix: MatrixLoader | None) -> Loss:
        """A letter such as `Z`, or a letter with a no-guess penalty such as `Z0.2N`."""
        letter = cls.letter or code[0]
        if code == letter:
            return cls(code)
        if not code.endswith("N"):
            raise unknown_loss(code)
        text = code.removeprefix(letter).removesuffix("N")
        penalty = parse_number(text)
        if penalty is None or penalty < 0:
            raise SpecError(
                f'loss "{code}" has the no-guess penalty "{text}": '
                f"write a finite number of at least 0, as in {letter}0.2N"
            )
        return cls(code, penalty)

    @property
    def name(self) -> str:
        """The loss in words."""
        return self.title if self.penalty is None else f"{self.title}, no-guess penalty {self.penalty:.9g}"

    def no_guess(self, truth: Truth) -> Numbers | None:
        """The penalty, if there is one."""
        return None if self.penalty is None else np.full(len(truth), self.penalty)

    @property
    def silence(self) -> float:  # type: ignore[override]
        """The penalty: the best constant answer may be to make no guess at all."""
        return np.inf if self.penalty is None else self.penalty


class ByFormula(Loss):
    """A loss whose best constant answer has a formula for every kind of target (manual 8.3)."""

    formulas: ClassVar[Mapping[str, Callable[..., float | None]]]
    """What the best constant answer loses, by kind of target; that of angles is told their unit, too."""
    sign: ClassVar[float] = 1.0
    """−1 where the formulas give what is to be added to a mean loss."""

    def best_constant(self, truth: Truth) -> float | None:
        """What the formula gives; an angle without a unit is a number as any other."""
        kind, unit = truth.target.kind, truth.target.unit
        if not len(truth):
            return None
        if kind == "angular" and unit is not None:
            found = self.formulas[kind](truth.values, unit)
        else:
            found = self.formulas["real" if kind == "angular" else kind](truth.values)
        return None if found is None else self.sign * found


class AbsoluteError(ByFormula, DistanceLoss):
    """|guess − truth|; the shorter arc for angular targets. Least for the median."""

    in_target_unit = True
    letter = "A"
    title = "Absolute error"
    kinds = ("integer", "real", "angular")
    place, by_default, in_delve = 1, True, True
    formulas: ClassVar = {
        "integer": anova.baseline_absolute,
        "real": anova.baseline_absolute,
        "angular": angular_baselines.baseline_absolute_angular,
    }

    def distance(self, truth: Truth, guess: Numbers) -> Numbers:
        """How far the guess is off."""
        return gap(truth, guess)


class SquaredError(ByFormula, DistanceLoss):
    """(guess − truth)²; the shorter arc squared for angular targets. Least for the mean."""

    letter = "S"
    title = "Squared error"
    kinds = ("integer", "real", "angular")
    place, by_default, in_delve = 2, True, True
    formulas: ClassVar = {
        "integer": anova.baseline_squared,
        "real": anova.baseline_squared,
        "angular": angular_baselines.baseline_squared_angular,
    }

    def distance(self, truth: Truth, guess: Numbers) -> Numbers:
        """How far the guess is off, squared."""
        return gap(truth, guess) ** 2

    def best_guess(self, distribution: Distribution) -> Numbers:
        """The mean of every case."""
        return distribution.mean()

    def is_primary_for(self, targets: Sequence[Target]) -> bool:
        """Numbers are judged by it."""
        return any(target.kind != "categorical" for target in targets)


class ZeroOne(ByFormula, DistanceLoss):
    """0 if right, 1 if wrong; the guess for an integer is first rounded to the nearest one, halves up."""

    letter = "Z"
    title = "Zero-one"
    kinds = ("categorical", "integer")
    place, by_default, in_delve = 5, True, True
    formulas: ClassVar = dict.fromkeys(kinds, anova.baseline_zero_one)

    @property
    def is_share(self) -> bool:
        """Unless silence has a price of its own."""
        return self.penalty is None

    def limits(self, targets: Sequence[Target]) -> tuple[float, float]:
        """Nothing, and being wrong or silent on every target."""
        return 0.0, len(targets) * max(1.0, self.penalty or 0.0)

    def distance(self, truth: Truth, guess: Numbers) -> Numbers:
        """Whether the guess is wrong."""
        return (gap(truth, _round_half_up(guess)) > 0).astype(np.float64)

    def is_primary_for(self, targets: Sequence[Target]) -> bool:
        """Classes are judged by it."""
        return all(target.kind == "categorical" for target in targets)


LOSSES.add("A", AbsoluteError)
LOSSES.add("S", SquaredError)
LOSSES.add("Z", ZeroOne)


def gap(truth: Truth, guess: Numbers) -> Numbers:
    """The distance to the truth, to its bound if censored, along the shorter arc if angular."""
    unit = truth.target.unit
    if truth.target.kind == "angular" and unit is not None:
        arc = np.mod(np.abs(np.fmod(guess, unit) - np.fmod(truth.values, unit)), unit)
        shorter: Numbers = np.minimum(arc, unit - arc)
        return shorter
    ahead = guess - truth.values
    if truth.is_exact:
        return np.abs(ahead)
    allowed = truth.censoring * np.sign(ahead) > 0
    return np.where(allowed, 0.0, np.abs(ahead))


def _round_half_up(values: Numbers) -> Numbers:
    """Not floor(x + ½): that turns 0.49999999999999994 into 1."""
    below = np.floor(values)
    return np.where(values - below >= 0.5, below + 1.0, below)


class NegativeLogProbability(ByFormula):
    """−ln of the probability, or density, of the true targets; of the allowed interval if censored."""

    letter = "L"
    title = "Negative Log probability"
    takes = "distribution"
    kinds = KINDS
    place, by_default, in_delve = 3, True, True
    is_shift = True
    sign = -1.0
    formulas: ClassVar = {
        "categorical": anova.baseline_log_discrete,
        "integer": anova.baseline_log_discrete,
        "real": anova.baseline_log_gaussian,
        "angular": angular_baselines.baseline_log_angular,
    }

    def limits(self, targets: Sequence[Target]) -> tuple[float, float]:
        """Probabilities of classes are at most 1; a density may be anything."""
        return 0.0 if all(target.kind == "categorical" for target in targets) else -np.inf, np.inf

    def of(self, truths: Sequence[Truth], prediction: Prediction) -> Numbers:
        """The loss of every case: infinite where the truth was held to be impossible."""
        self._check_truths(truths)
        if isinstance(prediction, ClassProbabilities):
            check_targets(truths, prediction)
            check_length(truths, prediction, "class distributions")
            return 0.0 - prediction.log_probability(truths[0])
        if isinstance(prediction, TargetDistributions):
            check_targets(truths, prediction)
            check_length(truths, prediction, "predictive distributions")
            return 0.0 - prediction.log_probability(truths).values
        if isinstance(prediction, TargetLogProbabilities):
            check_length(truths, prediction, "target probabilities")
            _check_at_most_one(truths, prediction.values)
            return 0.0 - prediction.values
        raise self._refusal("class probabilities or the probabilities of the true targets", prediction)


class SquaredProbability(ByFormula):
    """(1 − p_t)² + Σ_{i≠t} p_i² for the true level t (manual 5.2); at most two."""

    letter = "Q"
    title = "Squared Probability"
    takes = "distribution"
    kinds = ("categorical",)
    one_target = True
    place, by_default, in_delve = 4, True, True
    baseline_kinds = ("categorical", "integer")
    needs_every_level = True
    formulas: ClassVar = dict.fromkeys(baseline_kinds, anova.baseline_squared_probability)
    lowest, highest = 0.0, 2.0

    def part_of(self, answer: Answer) -> Prediction | None:
        """The probabilities of all classes."""
        return answer.probabilities

    def of(self, truths: Sequence[Truth], prediction: Prediction) -> Numbers:
        """The loss of every case."""
        self._check_truths(truths)
        if not isinstance(prediction, ClassProbabilities):
            raise self._refusal("class probabilities", prediction)
        check_targets(truths, prediction)
        check_length(truths, prediction, "class distributions")
        surplus = prediction.values.copy()
        surplus[np.arange(len(surplus)), truths[0].level_indexes] -= 1.0
        squares: Numbers = (surplus**2).sum(axis=1)
        return squares


LOSSES.add("L", NegativeLogProbability)
LOSSES.add("Q", SquaredProbability)


def _check_at_most_one(truths: Sequence[Truth], logs: Numbers) -> None:
    """Where every target is discrete or censored, what is given is a probability and not a density."""
    masses = [(truth.censoring != 0) | (truth.target.kind in ("categorical", "integer")) for truth in truths]
    if (case := first(np.logical_and.reduce(masses) & (logs > ROUNDING_SLACK))) is not None:
        raise PredictionError(
            f"case {case + 1}: log probability {logs[case]} of the true targets is above 0: "
            "categorical, integer and censored targets have probabilities of at most 1, not densities"
        )


class RankedProbability(ByFormula):
    """The continuous ranked probability score, ∫ (F(x) − 1[x ≥ truth])² dx (Gneiting and Raftery 2007)."""

    letter = "C"
    title = "Continuous ranked probability score"
    takes = "distribution"
    kinds = ("real", "integer")
    place, by_default = 6, True
    lowest = 0.0
    allows_censored = False
    formulas: ClassVar = dict.fromkeys(kinds, anova.baseline_ranked_probability)

    def part_of(self, answer: Answer) -> Prediction | None:
        """The predictive distributions."""
        return answer.distributions

    def of(self, truths: Sequence[Truth], prediction: Prediction) -> Numbers:
        """The score of every case, summed over the targets."""
        self._check_truths(truths)
        if not isinstance(prediction, TargetDistributions):
            raise self._refusal("predictive distributions", prediction)
        check_targets(truths, prediction)
        check_length(truths, prediction, "predictive distributions")
        pairs = zip(truths, prediction.distributions, strict=True)
        total: Numbers = reduce(np.add, [forecast.crps(truth.values) for truth, forecast in pairs])
        return total


LOSSES.add("C", RankedProbability)


CANDIDATES = 101
"""So many of the true values, evenly chosen, are tried as guesses before the search between neighbours."""


def least_mean_loss(distance: Callable[[Truth, Numbers], Numbers], truth: Truth) -> float | None:
    """The mean loss of the best guess that is the same for all cases; None where there are no cases.

    A level or an integer is tried out; between two neighbours of the best of some real values the search goes
    on, which finds the best guess where the mean loss has one valley there.
    """
    if not len(truth):
        return None

    def mean_loss(guess: float) -> float:
        return float(distance(truth, np.full(len(truth), guess)).mean())

    guesses = _candidates(truth)
    losses = [mean_loss(guess) for guess in guesses.tolist()]
    best = int(np.argmin(losses))
    if truth.target.kind == "categorical" or len(guesses) == 1:
        return losses[best]
    from scipy.optimize import minimize_scalar  # slow to import, and few losses need it

    around = guesses[max(best - 1, 0)], guesses[min(best + 1, len(guesses) - 1)]
    found = minimize_scalar(mean_loss, bounds=around, method="bounded", options={"xatol": 1e-9})
    return min(losses[best], float(found.fun))


def _candidates(truth: Truth) -> Numbers:
    if truth.target.kind == "categorical":
        return np.arange(len(truth.target.levels), dtype=np.float64)
    known = np.unique(truth.values)
    return known[np.unique(np.linspace(0, len(known) - 1, CANDIDATES).astype(np.int64))]
