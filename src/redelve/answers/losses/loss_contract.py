"""What a loss is, and which are known by their codes: redelve's own and those that others register.

Smaller is better, one number for every case, never a mean (manual 5.2 and 5.3). A loss owns all that is to be
known of it; no other module asks for its code to decide what to do with it.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from redelve.answers.predictions import PartOfAnswer, Prediction, Target, TargetKind, Truth, first
from redelve.errors import PredictionError, SpecError, hint, kind_told
from redelve.model.dataset import Numbers
from redelve.registry import Registry, ValueKind, is_subclass_of, value_told

if TYPE_CHECKING:
    from redelve.answers.answer import Answer


MatrixLoader = Callable[[str], str]
Units = NDArray[np.int64]
"""For each case the number of its unit: those with the same number depend on each other."""
IntervalScale = Literal["plain", "share", "log"]
"""As it is; of shares, between 0 and 1; of numbers above 0."""

LAST = 1_000_000
"""The place of losses that do not say which is theirs: after those that do, by their codes."""
ROUNDING_SLACK = 1e-6  # log probabilities pass through files with nine digits
BAD_CODE = re.compile(r"[/\\:\s\0]|^$")
SAYS_WHAT = re.compile("loss|error|score|log")


@dataclass(frozen=True)
class Loss(ABC):
    """How much is lost by a prediction when the truth is known; `code` is the loss's name in file names.

    A subclass says what differs from the defaults here, and is registered under its `letter`:
    `LOSSES.add("S", SquaredError)`, or by an entry point of the group `redelve.losses`.
    """

    code: str = ""
    """What it is called in file names and columns; left out, its letter."""
    letter: ClassVar[str] = ""
    """What its codes begin with: a letter or a short word."""
    title: ClassVar[str]
    """The loss in words, apart from what was chosen of it."""
    kinds: ClassVar[tuple[TargetKind, ...]]
    """The kinds of target that it can judge predictions of."""
    takes: ClassVar[Literal["guesses", "distribution"]]
    """Whether it judges guesses or what is held to be probable."""
    one_target: ClassVar[bool] = False
    """Whether it is for a single target only."""
    place: ClassVar[int] = LAST
    """Its place where losses are listed."""
    by_default: ClassVar[bool] = False
    """Whether it is computed where nobody chooses losses."""
    in_delve: ClassVar[bool] = False
    """Whether DELVE knows it, so that its method directories have files of it."""
    baseline_kinds: ClassVar[tuple[TargetKind, ...]] = ()
    """The kinds of target that it has a baseline for, where these are more than its kinds."""
    needs_every_level: ClassVar[bool] = False
    """Whether the probability of the true level alone is not enough."""
    lowest: ClassVar[float] = -np.inf
    """What is lost at least on one target: no interval of an expected loss goes below it."""
    highest: ClassVar[float] = np.inf
    """What is lost at most on one target."""
    allows_censored: ClassVar[bool] = True
    """Whether it can judge where the truth is only known up to a bound; if not, it is left out there."""
    mean_of_cases: ClassVar[bool] = True
    """Whether each case is judged on its own; a metric that is no such mean has pseudo-values instead."""
    interval_scale: ClassVar[IntervalScale] = "plain"
    """On which scale the interval of one expected value is symmetric."""
    is_metric: ClassVar[bool] = False
    """Whether users know it by a name, a direction and a unit of their own."""
    best_value: ClassVar[float | None] = None
    """Of a metric that grows with quality its best value, which the loss is the distance from."""
    in_per_cent: ClassVar[bool] = False
    """Whether users are shown a hundred times the value, with a per-cent sign."""
    in_target_unit: ClassVar[bool] = False
    """Whether it is so many euros where the target is a price in euros."""
    has_one_unit: ClassVar[bool] = False
    """Whether its values mean the same on every task, so that averages over tasks make sense as they are."""
    is_raised_by_few: ClassVar[bool] = False
    """Whether few cases, as those of a fold, have a higher value than many on average."""
    silence: ClassVar[float] = np.inf
    """What making no guess costs on one target; infinite where that is not allowed."""

    def __post_init__(self) -> None:
        if not self.code:
            object.__setattr__(self, "code", self._own_code())
        if BAD_CODE.search(self.code):
            raise SpecError(
                f'the code of {type(self).__name__} is "{self.code}": give it a `letter`, which may be '
                "a short word, without blanks, slashes and colons"
            )

    def _own_code(self) -> str:
        return self.letter

    @classmethod
    def parse(cls, code: str, load_matrix: MatrixLoader | None) -> Loss:
        """The loss that a code stands for; by whoever it is registered, the code begins with its letter."""
        if code == (cls.letter or code[:1]):
            return cls(code)
        if code.endswith("N"):
            raise SpecError(f'loss "{code}" takes no guesses: only A, S and Z can have a no-guess penalty')
        raise unknown_loss(code)

    @property
    def name(self) -> str:
        """The loss in words."""
        return self.title

    @property
    def words(self) -> str:
        """The loss as within a sentence: "squared error", "zero-one loss"."""
        title = self.title.lower()
        return self.name.replace(self.title, title if SAYS_WHAT.search(title) else f"{title} loss")

    @property
    def shown_name(self) -> str:
        """What users call the value that they are shown: "accuracy", "RMSE", "squared error"."""
        return self.words

    @property
    def what_falls(self) -> str:
        """What falls as methods get better: the loss, of a score what it lacks of its best value."""
        return "loss" if self.best_value is None else f"loss ({self.best_value:g} − {self.shown_name})"

    @property
    def higher_is_better(self) -> bool:
        """Whether a larger value of what users are shown is the better one; a loss itself is never so."""
        return self.best_value is not None

    @property
    def shown_unit(self) -> str:
        """What stands behind a number that users are shown."""
        return " %" if self.in_per_cent else ""

    @property
    def difference_unit(self) -> str:
        """What stands behind a difference that users are shown: percentage points are called points.

        91 % and 88 % differ by 3 points; "by 3 %" could as well mean three hundredths of 91.
        """
        return " points" if self.in_per_cent else ""

    @property
    def needs_words(self) -> str:
        """What a method must tell to be judged by it."""
        return "guesses" if self.takes == "guesses" else "predicted probabilities"

    def metric_value(self, loss: float) -> float:
        """An expected loss as the value of the metric, 0.912 for an accuracy; a loss as it is."""
        return loss if self.best_value is None else self.best_value - loss

    def shown_value(self, loss: float) -> float:
        """The same as the number that users are shown: 91.2 for an accuracy."""
        return self.metric_value(loss) * (100 if self.in_per_cent else 1)

    def shown_spread(self, spread: float) -> float:
        """A standard error, or the size of a difference, in the units of what users are shown."""
        return spread * (100 if self.in_per_cent else 1)

    def shown_difference(self, difference: float) -> float:
        """A difference of losses as one of what users are shown, in that direction."""
        return self.shown_spread(-difference if self.higher_is_better else difference)

    @property
    def best_words(self) -> str:
        """What the best method has: "the smallest loss", "the highest accuracy", "the lowest RMSE"."""
        if not self.is_metric:
            return "the smallest loss"
        return f"the {'highest' if self.higher_is_better else 'lowest'} {self.shown_name}"

    @property
    def tied_words(self) -> str:
        """What the best methods have where several tie: "the same accuracy, the highest"."""
        if not self.is_metric:
            return "the same loss, the smallest"
        return f"the same {self.shown_name}, the {'highest' if self.higher_is_better else 'lowest'}"

    def is_better_words(self, winner: str, loser: str) -> str:
        """That one method is better than another, in the user's words."""
        if not self.is_metric:
            return f"{winner} loses less than {loser}"
        return (
            f"{winner} has a {'higher' if self.higher_is_better else 'lower'} {self.shown_name} than {loser}"
        )

    def shown(self, loss: float | None) -> str:
        """An expected loss in the user's words: "accuracy 91.2 %", "RMSE 3.2", "squared error 0.41"."""
        if loss is None:
            return f"{self.shown_name} unknown"
        return f"{self.shown_name} {self.shown_value(loss):.3g}{self.shown_unit}"

    @property
    def is_shift(self) -> bool:
        """Whether it has no natural zero, as log densities: it is standardised by subtraction."""
        return False

    @property
    def is_share(self) -> bool:
        """Whether it counts errors, each 0 or 1."""
        return False

    @property
    def is_builtin(self) -> bool:
        """Whether it comes with redelve, so that whoever reads an archive knows it."""
        return type(self).__module__.partition(".")[0] == "redelve"

    def limits(self, targets: Sequence[Target]) -> tuple[float, float]:
        """What is lost at least and at most by predictions of these targets."""
        return len(targets) * self.lowest, len(targets) * self.highest

    def impossible(self, losses: Numbers, targets: Sequence[Target]) -> tuple[int, str] | None:
        """The first case, from 0, with a loss that no predictions of these targets have, and why."""
        if not self.mean_of_cases:  # pseudo-values go beyond the limits of what they are the mean of
            return None
        low, high = self.limits(targets)
        case = first((losses < low - _slack(low)) | (losses > high + _slack(high)))
        if case is None:
            return None
        told = f"below {low:g}" if losses[case] < low else f"above {high:g}"
        return (
            case,
            f"the loss {self.code} is {losses[case]:g}, but the {self.words} of a case is never {told}",
        )

    def is_primary_for(self, targets: Sequence[Target]) -> bool:
        """Whether methods are judged by it where nobody chooses."""
        return False

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

    # Predictions

    def part_of(self, answer: Answer) -> Prediction | None:
        """The part of an answer that it judges; None where the answer has none."""
        return answer.distributions if answer.probabilities is None else answer.probabilities

    @abstractmethod
    def of(self, truths: Sequence[Truth], prediction: Prediction) -> Numbers:
        """The loss of every case."""

    def of_units(
        self, truths: Sequence[Truth], prediction: Prediction, units: Units | None, folds: Units | None = None
    ) -> Numbers:
        """The loss of every case, where cases with the same number in `units` belong together.

        A mean of cases does not depend on that; pseudo-values do, since whole units are left out. Cases with
        the same number in `folds` were answered by the same trained model.
        """
        return self.of(truths, prediction)

    def unit_numbers(self, truth: Truth, units: Units | None) -> Units | None:
        """Which cases count as one in standard errors; None where each counts by itself."""
        return units

    def why_undefined(self, truths: Sequence[Truth]) -> str | None:
        """What keeps it from having a value, or a standard error, on these test cases; None: nothing."""
        return None

    def why_no_number(
        self, truths: Sequence[Truth], prediction: Prediction, units: Units | None, folds: Units | None = None
    ) -> str | None:
        """Why a prediction has a loss that is not a number, where the loss itself can tell; else None."""
        return None

    # Baselines

    def baseline(self, truths: Sequence[Truth]) -> float | None:
        """What the best constant answer loses on average, summed over the targets; None: not defined."""
        silence = self.silence
        entries = [self.baseline_on(truth) for truth in truths]
        known = [min(entry, silence) for entry in entries if entry is not None]
        return sum(known, start=-0.0) if len(known) == len(entries) else None

    def baseline_on(self, truth: Truth) -> float | None:
        """The same for one target, silence left out of account; None also where it is infinite."""
        if truth.target.kind not in (self.baseline_kinds or self.kinds):
            return None
        with np.errstate(over="ignore", invalid="ignore"):
            found = self.best_constant(truth)
        return None if found is None or not np.isfinite(found) else found

    def best_constant(self, truth: Truth) -> float | None:
        """What the best constant answer loses on one target of its kinds; None where that is not defined."""
        return None

    # Checks

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
            if not (self.allows_censored or truth.is_exact):
                case = int((truth.censoring != 0).argmax())
                raise PredictionError(
                    f'case {case + 1}: the true value of target "{truth.target.name}" is censored: '
                    f"loss {self.code} needs it exactly; use L"
                )

    def _refusal(self, wanted: str, prediction: object) -> PredictionError:
        return PredictionError(
            f"loss {self.code} ({self.name}) needs {wanted} but got {kind_told(prediction)}"
        )


def _slack(limit: float) -> float:
    """How far beyond a limit rounding may bring losses."""
    return ROUNDING_SLACK * max(1.0, abs(limit))


def check_targets(truths: Sequence[Truth], prediction: PartOfAnswer) -> None:
    """Refuse predictions for other targets than the true ones."""
    if tuple(truth.target for truth in truths) != prediction.targets:
        wanted = ", ".join(truth.target.name for truth in truths)
        given = ", ".join(target.name for target in prediction.targets)
        raise PredictionError(
            f"expected predictions for {wanted} but got some for {given}: "
            "names, kinds, levels and their order must agree"
        )


def one_per_case(loss: Loss, given: object, count: int) -> Numbers:
    """What a loss returned as numbers, one for each case; anything else is refused."""
    try:
        values = np.asarray(given)
    except ValueError:  # rows of unequal length
        values = np.asarray(None)
    are_numbers = values.dtype.kind in "biuf"
    if are_numbers and values.shape == (count,):
        return values
    told = f"an array of shape {values.shape}" if are_numbers and values.ndim else value_told(given)
    raise SpecError(
        f"loss {loss.code} ({type(loss).__name__}) returned {told} for {count} cases: return an array of "
        f"shape ({count},), the loss of every case"
    )


def no_guess_told(truth: Truth, case: int, demanding: str) -> str:
    """That no guess is made in a case: numbers that are predicted as NaN, levels as "?" in files."""
    place = f"case {case + 1}"
    if truth.target.kind == "categorical":
        return f'{place}: no guess ("?") for target "{truth.target.name}", but {demanding} demands one'
    return f'{place}: the prediction of target "{truth.target.name}" is not a number (no guess, "?")'


def check_length(truths: Sequence[Truth], prediction: Prediction, what: str) -> None:
    """Refuse predictions for more or fewer cases than there are."""
    if len(prediction) != len(truths[0]):
        raise PredictionError(f"expected {len(truths[0])} {what} but got {len(prediction)}")


LOSSES = Registry[type[Loss]](
    "loss", "redelve.losses", own_name="letter", of=ValueKind("a subclass of Loss", is_subclass_of(Loss))
)
METRICS = Registry[Callable[[str], Loss]](
    "metric", "redelve.metrics", of=ValueKind("what makes a Loss of a name", callable)
)
"""The metrics that are known by scikit-learn's names: what makes one of its name and what follows an @."""
LossLike = str | Loss | Callable[..., Any]
"""A loss or its code; the name of a metric, a scorer of scikit-learn, or metric(y_true, y_pred)."""


def parse_loss(code: str, load_matrix: MatrixLoader | None = None) -> Loss:
    """The loss that `code` stands for; `load_matrix` returns the text of a file named after `M`.

    >>> parse_loss("Z0.2N").name
    'Zero-one, no-guess penalty 0.2'
    """
    if code in LOSSES:
        return LOSSES[code].parse(code, load_matrix)
    if (name := code.partition("@")[0]) in METRICS:
        return METRICS[name](code)
    for end in range(len(code), 0, -1):
        if code[:end] in LOSSES:
            return LOSSES[code[:end]].parse(code, load_matrix)
    from redelve.answers.losses.scorer_metrics import (
        named_scorer,  # which are made of metrics, and these of losses
    )

    if (found := named_scorer(code)) is not None:
        return found
    raise unknown_loss(code)


def unknown_loss(code: str) -> SpecError:
    """What is said of a code that stands for no loss."""
    return SpecError(
        f'unknown loss "{code}": known are {", ".join(in_order(LOSSES))} '
        "(M with the file of a loss matrix: Mcosts; A, S, Z also with a no-guess penalty: Z0.2N), and "
        f"metrics by scikit-learn's names, as accuracy, roc_auc, f1_macro, rmse or r2{hint(code, METRICS)}"
    )


def canonical_code(given: str | None) -> str | None:
    """The code that results have of a loss, where several names mean one: "rmse" for its other names."""
    found = None if given is None else known_loss(given)
    return given if found is None else found.code


def known_loss(code: str) -> Loss | None:
    """The loss that a code alone stands for; None where it is unknown here, or needs the file of a matrix."""
    try:
        return parse_loss(code)
    except SpecError:
        return None


def usual_losses(targets: Sequence[Target] | None = None) -> tuple[Loss, ...]:
    """The losses that are computed where nobody chooses, of those that suit the targets, in their order.

    >>> [loss.code for loss in usual_losses()]
    ['A', 'S', 'L', 'Q', 'Z', 'C']
    """
    known = dict(LOSSES.items())
    usual = (known[letter](letter) for letter in in_order(known) if known[letter].by_default)
    return tuple(loss for loss in usual if targets is None or loss.applies_to(targets))


def applicable_losses(targets: Sequence[Target]) -> tuple[Loss, ...]:
    """The losses that DELVE computes of predictions of these targets, in the order A S L Q Z.

    >>> [loss.code for loss in applicable_losses([Target("age", "real")])]
    ['A', 'S', 'L']
    """
    return tuple(loss for loss in usual_losses(targets) if loss.in_delve)


def chosen_losses(given: LossLike | Iterable[LossLike]) -> tuple[Loss, ...]:
    """Losses from losses and codes, each once; two that share a code are refused."""
    each = (given,) if isinstance(given, str) or not np.iterable(given) else tuple(given)
    if not each:
        raise SpecError('no loss is named: give some, as in ["S", "accuracy"], or None for all usual ones')
    found: dict[str, Loss] = {}
    for loss in map(as_loss, each):
        if found.setdefault(loss.code, loss) != loss:
            raise SpecError(f'two losses have the code "{loss.code}": give one of them another `letter`')
        _check_own(loss)
    return tuple(found.values())


def as_loss(given: LossLike) -> Loss:
    """The loss or metric that is meant by its code, its name, a scorer or a function."""
    if isinstance(given, Loss):
        return given
    if isinstance(given, str):
        return parse_loss(given)
    if callable(given) and not isinstance(given, type):
        from redelve.answers.losses.scorer_metrics import metric_of

        return metric_of(given)
    raise SpecError(
        f"{value_told(given)} is no loss: give a code such as S, or an instance of a loss's class"
    )


def _check_own(loss: Loss) -> None:
    """A code means one loss: whoever reads an archive takes it for the one that is registered."""
    known = known_loss(loss.code)
    if known is not None and _place(known) != _place(loss):
        raise SpecError(
            f'the code "{loss.code}" of {type(loss).__name__} belongs to another loss, "{known.name}": '
            "give yours another `letter`"
        )


def _place(loss: Loss) -> tuple[str, str]:
    return type(loss).__module__, type(loss).__qualname__


def primary_loss_for(targets: Sequence[Target]) -> str:
    """The code of the loss that methods are judged by unless the user chooses.

    >>> primary_loss_for([Target("age", "real")])
    'S'
    """
    return next(loss.code for loss in usual_losses() if loss.is_primary_for(targets))


def in_order(codes: Iterable[str]) -> tuple[str, ...]:
    """Codes of losses as they are listed: those with a place of their own first, then by code.

    >>> in_order(["Mcosts", "C", "A0.2N", "S", "A"])
    ('A', 'S', 'C', 'A0.2N', 'Mcosts')
    """
    every = set(codes)
    places = {code: loss.place for code, loss in LOSSES.items() if code in every}
    return tuple(sorted(every, key=lambda code: (places.get(code, LAST), code)))


@dataclass(frozen=True)
class RememberedLoss(Loss):
    """A loss that is not known here, or needs a file that is not here: by its code and what is told of it."""

    told: str = ""
    is_shift: bool = False
    is_mean: bool = True
    title = ""
    kinds = ()
    takes = "distribution"

    @property
    def mean_of_cases(self) -> bool:  # type: ignore[override]
        """As it was told."""
        return self.is_mean

    @property
    def name(self) -> str:
        """The loss in words, where they were told."""
        return self.told or f"loss {self.code}"

    @property
    def words(self) -> str:
        """The same: what was told is for within a sentence."""
        return self.name

    def why_not(self, targets: Sequence[Target]) -> str | None:
        """It can judge nothing."""
        return f'loss "{self.code}" is not known here: register it, or install the package that has it'

    def part_of(self, answer: Answer) -> Prediction | None:
        """None: nobody knows here what it judges."""
        return None

    def of(self, truths: Sequence[Truth], prediction: Prediction) -> Numbers:
        """Impossible."""
        raise SpecError(str(self.why_not(())))
