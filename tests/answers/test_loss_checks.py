"""check_loss: redelve's own losses pass, and for each check there is a loss that fails it and no other."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from redelve.answers.loss_checks import CHECKS, check_loss
from redelve.answers.losses import LOSSES, DistanceLoss, Loss, gap, parse_loss
from redelve.answers.predictions import Prediction, Truth
from redelve.model.dataset import Numbers

COSTS = "0 1 5\n2 0 5\n3 3 0\n"


class Huber(DistanceLoss):
    """Squared near the truth, absolute far from it."""

    letter = "H"
    title = "Huber"
    kinds = ("integer", "real", "angular")

    def distance(self, truth: Truth, guess: Numbers) -> Numbers:
        """Half the square up to 1, then the distance less one half."""
        off = gap(truth, guess)
        return np.where(off <= 1, off**2 / 2, off - 0.5)


class Unnamed(Huber):
    letter = "Mine"


class Kindless(Huber):
    kinds = ("integer", "real", "angular", "tonal")  # type: ignore[assignment]


class Rooted(Huber):
    def __reduce__(self) -> tuple[object, ...]:
        return (Rooted, ("H", 3.0))


class Shaky(Huber):
    def distance(self, truth: Truth, guess: Numbers) -> Numbers:
        return super().distance(truth, guess).astype(np.float32)


class Low(Huber):
    highest = 0.1


class Relative(Huber):
    def distance(self, truth: Truth, guess: Numbers) -> Numbers:
        return gap(truth, guess) * len(truth)


class Gain(Huber):
    def distance(self, truth: Truth, guess: Numbers) -> Numbers:
        return np.maximum(1000 - gap(truth, guess), 0.0)

    def best_constant(self, truth: Truth) -> float | None:
        return 0.0


class Averaged(Huber):
    def of(self, truths: Sequence[Truth], prediction: Prediction) -> Numbers:
        return super().of(truths, prediction) / len(truths)


class Uncensored(Huber):
    kinds = ("integer", "real")  # type: ignore[assignment]

    def distance(self, truth: Truth, guess: Numbers) -> Numbers:
        return np.abs(guess - truth.values)


class Yardless(Huber):
    def best_constant(self, truth: Truth) -> float | None:
        return 1e6


class Careless(Huber):
    kinds = ("real",)  # type: ignore[assignment]
    one_target = True

    def of(self, truths: Sequence[Truth], prediction: Prediction) -> Numbers:
        return gap(truths[0], np.resize(prediction.values[0], len(truths[0])))  # type: ignore[union-attr]


BROKEN: list[tuple[str, type[Loss], str]] = [
    ("L001", Unnamed, '"Mine" would be taken for a loss matrix'),
    ("L002", Kindless, "kinds are"),
    ("L003", Rooted, "the copy is not equal"),
    ("L004", Shaky, "losses are float32"),
    ("L004", Low, "are not within 0 and 0.1"),
    ("L005", Relative, "change when other cases are left out"),
    ("L006", Gain, "is lost by being wrong"),
    ("L007", Averaged, "does not cost twice"),
    ("L008", Uncensored, "costs more than a right one"),
    ("L009", Yardless, "but a constant answer loses"),
    ("L010", Careless, "predictions for another target are judged"),
]


@pytest.mark.parametrize("letter", sorted(LOSSES))
def test_the_losses_of_redelve_pass(letter: str) -> None:
    loss = parse_loss("Mcosts", lambda _: COSTS) if letter == "M" else parse_loss(letter)
    report = check_loss(loss)
    assert [str(one) for one in report.findings if one.status in ("failed", "warned")] == []
    assert sum(one.status == "passed" for one in report.findings) >= 7


@pytest.mark.parametrize("loss", [Huber, Huber(), Huber(penalty=2.0)], ids=str)
def test_a_loss_of_ones_own_passes_as_class_and_as_value(loss: Loss | type[Loss]) -> None:
    report = check_loss(loss)
    assert report.passed, str(report)
    assert str(report).startswith("H")


@pytest.mark.parametrize(("number", "broken", "words"), BROKEN, ids=[one[0] for one in BROKEN])
def test_a_broken_loss_fails_its_check(number: str, broken: type[Loss], words: str) -> None:
    report = check_loss(broken)
    assert [one.number for one in report.findings if one.status == "failed"] == [number], str(report)
    assert words in report.of(number).message


def test_there_is_a_broken_loss_for_every_check() -> None:
    assert {number for number, _, _ in BROKEN} == set(CHECKS)


def test_a_loss_without_a_baseline_is_told() -> None:
    class Bare(Huber):
        def best_constant(self, truth: Truth) -> float | None:
            return None

    finding = check_loss(Bare).of("L009")
    assert (finding.status, finding.message) == (
        "warned",
        "it has none for integer targets: such losses are not standardised",
    )
