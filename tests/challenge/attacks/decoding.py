"""Ways to read validation labels out of what a server shows, and servers that show more or less."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from redelve.challenge import Rounding, ShownScore, ladder, score_part
from redelve.challenge.feedback import FEEDBACKS

CASES, ENTRIES = 3000, 1000
Bits = NDArray[np.int8]
Answers = NDArray[np.int8]


def labels_by_chance(cases: int = CASES, seed: int = 0) -> Bits:
    """As many labels of one class as of the other: guessing blindly is right for half of them."""
    order = np.random.default_rng(seed).permutation(cases)
    return np.where(order < cases // 2, 1, -1).astype(np.int8)


@dataclass
class Oracle:
    """A server as participants see it: figures for answers. "exact" is what was shown before.

    What the ladder shows depends on the best shown before and on the entry, so that is all that is kept.
    """

    labels: Bits
    mode: str = "rounded"
    secret: bytes = b"a secret of the server"
    asked: int = 0
    held: dict[str, list[float]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        assert self.mode in (*FEEDBACKS, "exact")
        self.rounding = Rounding.of(self.labels)

    def send(self, answers: Answers, confidences: Any = None, account: str = "mallory") -> Mapping[str, Any]:
        """The figures that an entry is answered with."""
        self.asked += 1
        if self.mode == "exact":
            return vars(score_part(self.labels, answers, confidences))
        return vars(self.shown(answers, account))

    def shown(self, answers: Answers, account: str = "mallory") -> ShownScore:
        """What the server shows in place of the exact figures."""
        wrong = answers != self.labels
        ber = float(np.mean([wrong[self.labels == label].mean() for label in (-1, 1)]))
        if self.mode == "ladder":
            line = [*self.held.get(account, []), ber]
            self.held[account] = ladder(line, self.rounding)[-1:]
            return self.rounding.shown(self.held[account][0])
        packed = np.packbits(wrong).tobytes()
        return self.rounding.shown(self.rounding.rounded(ber, self.secret, packed))


def share_right(oracle: Oracle, guessed: NDArray[Any], seed: int = 1) -> float:
    """The share of labels guessed right; where nothing is known (0) a coin is thrown."""
    coins = np.random.default_rng(seed).choice([-1, 1], guessed.size)
    return float((np.where(guessed == 0, coins, np.sign(guessed)) == oracle.labels).mean())


def minus(oracle: Oracle) -> Answers:
    """The entry that answers −1 to everything: half of it is wrong."""
    return np.full(oracle.labels.size, -1, dtype=np.int8)


# Attacks: each sends at most `ENTRIES` entries and returns guesses, 0 where it has none


def by_digits(oracle: Oracle, figure: str, confidence_of: Callable[[float], float]) -> NDArray[Any]:
    """Write the labels of a block of cases as the digits of a mean loss: a positive one costs 2⁻ⁱ more."""
    block, count = 30, oracle.labels.size
    guessed, places = np.zeros(count), 2.0 ** -np.arange(1, block + 1)
    for start in range(0, count, block):
        here = np.arange(start, min(start + block, count))
        confidences = np.full(count, 0.5)
        confidences[here] = [confidence_of(place) for place in places[: here.size]]
        shown = oracle.send(minus(oracle), confidences)
        value = shown["ber"]  # what is left to look at
        if shown.get(figure) is not None:
            value = (shown[figure] * count - _negative_loss(figure, confidences)) / SCALES[figure]
        for place, case in zip(places, here, strict=False):
            digit = value >= place - places[-1] / 4
            guessed[case] = 1 if digit else -1
            value -= place * digit
    return guessed


SCALES = {"squared": 2.0, "log": 1.0}


def _negative_loss(figure: str, confidences: NDArray[Any]) -> float:
    """The sum of losses if all cases were negative."""
    losses = 2 * confidences**2 if figure == "squared" else -np.log(1 - confidences)
    return float(losses.sum())


def by_squared_loss(oracle: Oracle) -> NDArray[Any]:
    """Confidences (1 − 2⁻ⁱ)/2: the squared loss of a positive case is larger by a power of two."""
    return by_digits(oracle, "squared", lambda place: (1 - place) / 2)


def by_log_loss(oracle: Oracle) -> NDArray[Any]:
    """The same by log odds."""
    return by_digits(oracle, "log", lambda place: 1 / (1 + float(np.exp(place))))


def by_area(oracle: Oracle) -> NDArray[Any]:
    """Three cases on top, one above the other, all others tied: each pattern of labels has its own AUC."""
    count = oracle.labels.size
    half, guessed = count // 2, np.zeros(count)
    patterns = np.array([[(k >> bit) & 1 for bit in range(3)] for k in range(8)])
    areas = []
    for positive in patterns:
        rest_positive, rest_negative = half - positive.sum(), half - (3 - positive.sum())
        above = sum(positive[i] * (sum(1 - positive[i + 1 :]) + rest_negative) for i in range(3))
        areas.append((above + rest_positive * rest_negative / 2) / half**2)
    for start in range(0, min(3 * ENTRIES, count) - 2, 3):
        confidences = np.zeros(count)
        confidences[start : start + 3] = [3, 2, 1]
        shown = oracle.send(minus(oracle), confidences)
        value = shown.get("auc", 1 - shown["ber"])
        found = patterns[int(np.argmin(np.abs(np.array(areas) - value)))]
        guessed[start : start + 3] = 2 * found - 1
    return guessed


def by_class_rates(oracle: Oracle) -> NDArray[Any]:
    """One case called positive: the error rate of the positive class tells whether it is."""
    guessed = np.zeros(oracle.labels.size)
    for case in range(ENTRIES):
        answers = minus(oracle)
        answers[case] = 1
        shown = oracle.send(answers)
        rate = shown.get("error_positive", shown["ber"] + 0.5)
        guessed[case] = 1 if rate < 1 - 1e-9 else -1
    return guessed


def by_flips(oracle: Oracle) -> NDArray[Any]:
    """Go to the edge between two values shown, then turn single answers over and see which side it falls."""
    rng = np.random.default_rng(5)
    base = rng.choice(np.array([-1, 1], dtype=np.int8), oracle.labels.size)
    first = oracle.send(base)["ber"]
    while oracle.asked < ENTRIES // 4:
        moved = base.copy()
        moved[rng.integers(oracle.labels.size)] *= -1
        if oracle.send(moved)["ber"] != first:
            base = moved
            break
        base = moved
    start, guessed = oracle.send(base)["ber"], np.zeros(oracle.labels.size)
    for case in range(ENTRIES - oracle.asked):
        moved = base.copy()
        moved[case] *= -1
        change = oracle.send(moved)["ber"] - start
        guessed[case] = base[case] * np.sign(change)
    return guessed


def by_regression(oracle: Oracle) -> NDArray[Any]:
    """Answers by chance; the labels that fit the BERs best (linear, least squares with a normal prior)."""
    rng = np.random.default_rng(6)
    count = oracle.labels.size
    sent = rng.choice(np.array([-1, 1], dtype=np.int8), (ENTRIES, count))
    bers = np.array([oracle.send(row)["ber"] for row in sent])
    signal = (0.5 - bers) * 2 * count  # the sum of answers times labels, as the classes are of one size
    noise = 0.0 if oracle.mode == "exact" else (oracle.rounding.step * 2 * count) ** 2 / 6
    gram = sent.astype(np.float64) @ sent.T + (noise + 1e-6) * np.eye(ENTRIES)
    return np.asarray(sent.T @ np.linalg.solve(gram, signal))


def by_climbing(oracle: Oracle) -> NDArray[Any]:
    """Turn many answers over at a time and keep what is shown to be better."""
    rng = np.random.default_rng(7)
    base = rng.choice(np.array([-1, 1], dtype=np.int8), oracle.labels.size)
    best = oracle.send(base)["ber"]
    while oracle.asked < ENTRIES:
        moved = base.copy()
        moved[rng.choice(oracle.labels.size, 150, replace=False)] *= -1
        if (found := oracle.send(moved)["ber"]) < best:
            base, best = moved, found
    return base


ATTACKS: dict[str, Callable[[Oracle], NDArray[Any]]] = {
    "digits of the squared loss": by_squared_loss,
    "digits of the log loss": by_log_loss,
    "patterns of the AUC": by_area,
    "error rates of classes": by_class_rates,
    "single answers turned over": by_flips,
    "regression on random answers": by_regression,
    "hill climbing": by_climbing,
}
