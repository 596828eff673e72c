"""Does a loss keep to the contract? Numbered checks that anyone can run on a loss of their own."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from redelve.answers.answer import Answer
from redelve.answers.distributions import Normal
from redelve.answers.losses import LOSSES, GuessLoss, Loss, MatrixLoss, parse_loss, usual_losses
from redelve.answers.predictions import (
    ClassProbabilities,
    Guesses,
    Prediction,
    Target,
    TargetDistributions,
    TargetKind,
    Truth,
)
from redelve.errors import RedelveError, kind_told
from redelve.model.dataset import Numbers
from redelve.model.numbered_checks import (
    CheckReport,
    DoubtfulError,
    NotApplicableError,
    NumberedChecks,
    must,
)
from redelve.seeds import generator

CASES = 24
SLACK = 1e-6
TARGETS = {
    "categorical": Target("class", "categorical", ("a", "b", "c")),
    "integer": Target("count", "integer"),
    "real": Target("size", "real"),
    "angular": Target("angle", "angular", unit=360.0),
}
Rows = NDArray[np.int64]
CHECKS = NumberedChecks[Loss]()


def check_loss(loss: Loss | type[Loss] | str) -> CheckReport:
    """Try a loss on small made-up predictions of every kind of target that it is for.

    Parameters
    ----------
    loss
        A loss, its class, or the code of one that is registered.

    Returns
    -------
    CheckReport
        A finding for each of the checks L001 to L010, on every kind of target that the loss is for.

    Examples
    --------
    >>> check_loss("S").passed
    True
    """
    subject = parse_loss(loss) if isinstance(loss, str) else loss if isinstance(loss, Loss) else loss()
    return CHECKS.report(subject.code, subject)


@dataclass(frozen=True)
class LossTrial:
    """True values, and what is predicted of them."""

    truth: Truth
    prediction: Prediction

    def select(self, rows: Rows) -> LossTrial:
        """Some of the cases."""
        truth = Truth(self.truth.target, self.truth.values[rows], self.truth.censoring[rows])
        return LossTrial(truth, _selected(self.prediction, rows))


def _selected(prediction: Prediction, rows: Rows) -> Prediction:
    if isinstance(prediction, Guesses):
        return Guesses(prediction.targets, tuple(values[rows] for values in prediction.values))
    if isinstance(prediction, ClassProbabilities):
        told = None if prediction.told is None else prediction.told[rows]
        return ClassProbabilities(prediction.target, prediction.logs[rows], told)
    assert isinstance(prediction, TargetDistributions)
    parts = [one.parameters() for one in prediction.distributions]
    return TargetDistributions(
        prediction.targets, tuple(Normal(*(p[rows] for p in one.values())) for one in parts)
    )


def _true_values(kind: TargetKind, stream: Literal["true", "guessed"]) -> Numbers:
    rng = generator("check loss", kind, stream)
    if kind == "categorical":
        return rng.integers(3, size=CASES).astype(np.float64)
    values = rng.normal(size=CASES) * 50 + 100
    return np.rint(values) if kind == "integer" else values


def _answer(target: Target, values: Numbers, spread: float = 10.0) -> Answer:
    """An answer of every sort there is for the target, around the values."""
    guesses = Guesses((target,), (values,))
    if target.kind == "categorical":
        rows = np.full((len(values), 3), 1 / spread)
        rows[np.arange(len(values)), values.astype(np.int64)] = 1.0
        return Answer(guesses, ClassProbabilities.from_probabilities(target, rows))
    if target.kind == "angular":
        return Answer(guesses)
    sure = Normal(values, np.full(len(values), spread))
    return Answer(guesses, distributions=TargetDistributions((target,), (sure,)))


def trials(loss: Loss) -> Iterator[LossTrial]:
    """A trial for each kind of target that it is for and that there are predictions for."""
    found = False
    for kind in (one for one in loss.kinds if one in TARGETS):
        target = TARGETS[kind]
        prediction = loss.part_of(_answer(target, _true_values(kind, "guessed")))
        if prediction is not None and loss.applies_to([target]):
            found = True
            yield LossTrial(Truth.exact(target, _true_values(kind, "true")), prediction)
    if not found:
        raise NotApplicableError("no made-up prediction suits it")


def losses_of(loss: Loss, trial: LossTrial) -> Numbers:
    """The losses, checked for their shape."""
    found = loss.of([trial.truth], trial.prediction)
    must(isinstance(found, np.ndarray), f"`of` gives {kind_told(found)}, no array")
    must(
        found.shape == (len(trial.truth),),
        f"expected {len(trial.truth)} losses of a {trial.truth.target.kind} target but got {found.shape}",
    )
    return found


@CHECKS.check(
    "L001",
    "its code can stand in file names and options",
    "A code begins with the `letter`, a letter or a short word. It must not begin with M, which stands for "
    "loss matrices, nor be made up of the letters A, L, Q, S and Z, which `-l` takes one by one.",
)
def _code(loss: Loss) -> None:
    must(bool(loss.letter), "it has no `letter`")
    must(loss.code.startswith(loss.letter), f'its code "{loss.code}" does not begin with "{loss.letter}"')
    must(loss.letter.isalpha() and loss.letter.isascii(), f'its letter "{loss.letter}" is no word')
    others = {one.code for one in usual_losses() if one.in_delve} - {loss.letter}
    must(not set(loss.letter) <= others, f'"{loss.letter}" would be taken for {", ".join(loss.letter)}')
    must(
        isinstance(loss, MatrixLoss) or not loss.letter.startswith(MatrixLoss.letter),
        f'"{loss.letter}" would be taken for a loss matrix',
    )
    if loss.letter in LOSSES:
        must(LOSSES[loss.letter] is type(loss), f'"{loss.letter}" is registered for another loss')


@CHECKS.check(
    "L002",
    "it says what it is for",
    "`title` is the loss in words, `kinds` are the kinds of target that it can judge predictions of.",
)
def _description(loss: Loss) -> None:
    must(bool(loss.name.strip()), "it has no title")
    must(
        bool(loss.kinds) and set(loss.kinds) <= set(TARGETS),
        f"kinds are {loss.kinds}: use {', '.join(TARGETS)}",
    )
    must(loss.takes in ("guesses", "distribution"), f'takes is "{loss.takes}": use guesses or distribution')


@CHECKS.check(
    "L003",
    "it can be sent to another process",
    "It must survive pickling by cloudpickle, equal to what it was, and judge alike there.",
)
def _sent(loss: Loss) -> None:
    import cloudpickle

    copied: Loss = pickle.loads(cloudpickle.dumps(loss))
    must(copied == loss, "the copy is not equal to it")
    for trial in trials(loss):
        must(np.array_equal(losses_of(loss, trial), losses_of(copied, trial)), "the copy judges differently")


@CHECKS.check(
    "L004",
    "it gives a number for every case",
    "Losses are numbers or infinite, never NaN, and lie within `limits`, by default `lowest` and `highest`.",
)
def _numbers(loss: Loss) -> None:
    for trial in trials(loss):
        found = losses_of(loss, trial)
        must(found.dtype == np.float64, f"losses are {found.dtype}, not float64")
        must(not np.isnan(found).any(), f"a loss of a {trial.truth.target.kind} target is not a number")
        low, high = loss.limits([trial.truth.target])
        must(
            bool((found >= low - SLACK).all() and (found <= high + SLACK).all()),
            f"losses from {found.min():.6g} to {found.max():.6g} are not within {low:g} and {high:g}",
        )


@CHECKS.check(
    "L005",
    "each case is judged on its own",
    "The analysis takes the losses of cases as they are: none may depend on what other cases there are.",
)
def _alone(loss: Loss) -> None:
    for trial in trials(loss):
        rows = generator("check loss", "rows").permutation(CASES)[: CASES // 2]
        same = np.allclose(losses_of(loss, trial)[rows], losses_of(loss, trial.select(rows)), 1e-12, 1e-12)
        must(same, f"losses of a {trial.truth.target.kind} target change when other cases are left out")


@CHECKS.check(
    "L006",
    "smaller is better",
    "Nothing may lose less than being right: a loss is never negated.",
)
def _smaller_is_better(loss: Loss) -> None:
    for trial in trials(loss):
        truth = trial.truth
        right = loss.part_of(_answer(truth.target, truth.values))
        assert right is not None
        best, found = loss.of([truth], right), losses_of(loss, trial)
        case = int(np.argmin(found - best))
        must(
            bool((found >= best - SLACK).all()),
            f"case {case + 1}: {found[case]:.6g} is lost by being wrong, {best[case]:.6g} by being right",
        )


@CHECKS.check(
    "L007",
    "several targets are judged together, or refused",
    "`one_target` says that it is for a single one.",
)
def _several(loss: Loss) -> None:
    if loss.one_target:
        raise NotApplicableError("it is for a single target")
    if not isinstance(loss, GuessLoss):
        raise NotApplicableError("it takes no guesses")
    for trial in trials(loss):
        assert isinstance(trial.prediction, Guesses)
        double = Guesses(trial.prediction.targets * 2, trial.prediction.values * 2)
        found = loss.of([trial.truth, trial.truth], double)
        must(
            np.allclose(found, 2 * losses_of(loss, trial)), "a target that is given twice does not cost twice"
        )


@CHECKS.check(
    "L008",
    "censored targets are judged, or refused",
    "`truth.censoring` is +1 where the truth is at least the value and −1 where it is at most that. A loss "
    "that cannot handle this says `allows_censored = False` and is left out there.",
)
def _censored(loss: Loss) -> None:
    if not loss.allows_censored:
        raise NotApplicableError("it refuses them")
    looked = False
    for trial in trials(loss):
        if trial.truth.target.kind not in ("real", "integer") or not isinstance(trial.prediction, Guesses):
            continue
        looked = True
        values = trial.prediction.values[0]
        allowed = np.where(values >= trial.truth.values, 1, -1).astype(np.int8)
        bounds = Truth(trial.truth.target, trial.truth.values, allowed)
        best = loss.of([trial.truth], Guesses((trial.truth.target,), (trial.truth.values,)))
        must(
            bool((loss.of([bounds], trial.prediction) <= best + SLACK).all()),
            "a guess that a censored truth allows costs more than a right one",
        )
    if not looked:
        raise NotApplicableError("no kind of target that it takes guesses for can be censored")


@CHECKS.check(
    "L009",
    "its baseline is what the best constant answer loses",
    "Losses are standardised by it. Give `best_constant` a formula, or none where the search will do.",
)
def _baseline(loss: Loss) -> None:
    for trial in trials(loss):
        truth = trial.truth
        found = loss.baseline([truth])
        if found is None:
            raise DoubtfulError(
                f"it has none for {truth.target.kind} targets: such losses are not standardised"
            )
        must(np.isfinite(found), f"it is {found}")
        must(loss.is_shift or found >= 0, f"it is {found:.6g}, below 0")
        tried = [_constant(loss, truth, value) for value in np.unique(truth.values).tolist()]
        least = min((one for one in tried if one is not None), default=np.inf) * CASES / (CASES - 1)
        must(found <= least + SLACK, f"it is {found:.6g}, but a constant answer loses {least:.6g}")


def _constant(loss: Loss, truth: Truth, value: float) -> float | None:
    prediction = loss.part_of(_answer(truth.target, np.full(len(truth), value), spread=50.0))
    return None if prediction is None else float(loss.of([truth], prediction).mean())


@CHECKS.check(
    "L010",
    "what it cannot judge is refused",
    "Predictions of another sort, for other targets or for other cases, must be errors of redelve's.",
)
def _refuses(loss: Loss) -> None:
    for trial in trials(loss):
        other = next(target for target in TARGETS.values() if target != trial.truth.target)
        values = Guesses((other,), (np.zeros(CASES),))
        for what, wrong in (
            ("another target", values),
            ("other cases", _selected(trial.prediction, np.arange(3))),
        ):
            try:
                loss.of([trial.truth], wrong)
            except RedelveError:
                continue
            must(False, f"predictions for {what} are judged")
