"""What participants see of validation scores until the labels are out: the BER, rounded, and nothing else.

Every figure that depends on labels tells something about them. A mean squared loss with 16 digits tells forty
labels at once: confidences (1 − 2⁻ⁱ)/2 write them as a binary number. A BER rounded to about half its
standard error tells about three bits. docs/challenge-security.md says what that leaves to an attacker.
"""

from __future__ import annotations

import hmac
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import inf, log10, sqrt
from typing import get_args

import numpy as np

from redelve.challenge.challenge_files import Int8Array
from redelve.challenge.challenge_folder import Challenge, Feedback

FEEDBACKS: tuple[Feedback, ...] = get_args(Feedback)
TYPICAL_BER = 0.25
"""The BER whose standard error sets the step: of middling entries."""
GRID = (1.0, 2.0, 5.0, 10.0)


@dataclass(frozen=True)
class ShownScore:
    """A BER as participants see it: a multiple of `step`, with a standard error made of it alone."""

    cases: int
    ber: float
    ber_error: float
    step: float


@dataclass(frozen=True)
class Rounding:
    """How the BER of a part with these numbers of cases (negative, positive) is shown."""

    counts: tuple[int, int]
    step: float

    @staticmethod
    def of(labels: Int8Array) -> Rounding:
        """The step is about half the standard error of a BER of 0.25: 1, 2 or 5 times a power of ten.

        >>> Rounding.of(np.array([1] * 100 + [-1] * 200, dtype=np.int8)).step
        0.01
        """
        positive = int((labels > 0).sum())
        counts = labels.size - positive, positive
        return Rounding(counts, _near(largest_sigma(TYPICAL_BER, counts) / 2))

    def rounded(self, ber: float, secret: bytes, answers: bytes) -> float:
        """The BER rounded up or down by a lot that is drawn once for these answers, right on average.

        A fixed rule of rounding would let single answers be tried at the edge between two values. The lot
        depends on the server's secret and the answers, so that sending them again tells nothing new.
        """
        drawn = hmac.new(secret, answers, "sha256").digest()
        share = int.from_bytes(drawn[:8], "big") / 2**64
        return self._multiple(int(ber / self.step + share))

    def nearest(self, ber: float) -> float:
        """The nearest multiple of the step."""
        return self._multiple(round(ber / self.step))

    def shown(self, ber: float) -> ShownScore:
        """A rounded BER with its standard error: the largest that such a BER can have, and the rounding."""
        sigma = largest_sigma(max(ber, self.step / 2), self.counts)
        return ShownScore(sum(self.counts), ber, sqrt(sigma**2 + self.step**2 / 6), self.step)

    def _multiple(self, times: int) -> float:
        return round(min(times * self.step, 1.0), 10)


def largest_sigma(ber: float, counts: Sequence[int]) -> float:
    """The largest σ (equation 1 of Guyon et al. 2006) of a BER, however its errors divide over the classes.

    σ² is a concave quadratic of one class's error rate, the other one being 2 BER less it.

    >>> round(largest_sigma(0.25, (100, 100)), 4), round(largest_sigma(0.1, (1000, 10)), 4)
    (0.0306, 0.0632)
    """
    other, one = (1 / count for count in counts)
    best = (one + (4 * ber - 1) * other) / (2 * (one + other))
    rate = min(max(best, 2 * ber - 1, 0.0), 2 * ber, 1.0)
    left = 2 * ber - rate
    return sqrt(max(rate * (1 - rate) * one + left * (1 - left) * other, 0.0)) / 2


def ladder(bers: Iterable[float], rounding: Rounding) -> list[float]:
    """What a participant sees after each entry: the best so far, changed only by what is better by a step.

    The Ladder of Blum and Hardt (2015, ICML, algorithm 1): an entry that is not better than the best shown by
    more than the step shows the same again, so that most entries tell nothing.

    >>> ladder([0.32, 0.31, 0.28, 0.4], Rounding((100, 100), 0.02))
    [0.32, 0.32, 0.28, 0.28]
    """
    best, found = inf, []
    for ber in bers:
        if ber < best - rounding.step:
            best = rounding.nearest(ber)
        found.append(best)
    return found


def weak_feedback(challenge: Challenge) -> str | None:
    """A warning where an account may send so many entries that rounded scores give the labels away.

    Regression on answers by chance reads nearly all labels with as many entries as there are labels, and
    three quarters with a third as many (docs/challenge-security.md).
    """
    days = (challenge.phases.validation_labels - challenge.phases.opens).total_seconds() / 86400
    entries = int(challenge.limits.submissions_per_day * days)
    smallest = min(challenge.datasets, key=lambda dataset: dataset.sizes["valid"])
    if challenge.rules.validation_feedback != "rounded" or 3 * entries < smallest.sizes["valid"]:
        return None
    return (
        f"{smallest.name} has {smallest.sizes['valid']} validation cases, and an account may send {entries} "
        "entries before their labels are published: whoever tries can work the labels out. Set "
        'validation_feedback = "ladder" under [rules], or submissions_per_day lower'
    )


def _near(value: float) -> float:
    """The nearest of 1, 2 and 5 times powers of ten, by ratio."""
    power = 10.0 ** int(np.floor(log10(value)))
    times = min(GRID, key=lambda each: abs(log10(value / (each * power))))
    return float(f"{times * power:.1g}")
