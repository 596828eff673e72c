"""Calibration of races over questions: false words however often one looks, calls used, equivalence.

`python -m benchmarks.calibration.question_races` prints this section alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from benchmarks.calibration.simulation import Generator
from redelve.stats.betting import STAKES, Wagers, last_look
from redelve.stats.families import Truths
from redelve.stats.mean_squares import FloatArray

ALPHA = 0.05
BATCH = 25
TWIN = (
    *(
        0.718,
        0.658,
        0.645,
        0.636,
        0.546,
        0.542,
        0.523,
        0.515,
        0.500,
        0.459,
        0.444,
        0.444,
        0.444,
        0.425,
        0.421,
    ),
    *(0.392, 0.388, 0.379, 0.360, 0.342, 0.315, 0.309, 0.307, 0.290, 0.282, 0.268, 0.259, 0.251, 0.195),
)
"""Shares of right answers of 29 language models on MMLU-Pro, 10,326 questions."""
TWIN_QUESTIONS = 10_326
Shape = Literal["right or wrong", "rubric", "clusters"]


@dataclass(frozen=True)
class Answers:
    """Models that answer questions: their mean scores, and how much questions make of the answers.

    A question is as hard for all, by one uniform number, with probability `shared`; else each model has a
    number of its own. *Rubric* scores are in fifths of a mark, mostly all or nothing; in *clusters* all
    questions of a passage have the same number.
    """

    means: tuple[float, ...]
    shared: float = 0.5
    shape: Shape = "right or wrong"

    def draw(self, streams: int, questions: int, rng: Generator) -> FloatArray:
        """Scores[stream, model, unit]."""
        own = rng.random((streams, len(self.means), questions), dtype=np.float32)
        common = rng.random((streams, 1, questions), dtype=np.float32)
        is_shared = rng.random((streams, 1, questions), dtype=np.float32) < self.shared
        score = np.where(is_shared, common, own) < np.array(self.means)[:, None]
        if self.shape == "right or wrong":
            return np.asarray(score, dtype=np.float64)
        if self.shape == "rubric":
            blur = 0.2 * rng.integers(0, 3, score.shape)
            return np.asarray(np.where(score, 1.0 - blur, blur))
        sizes = rng.integers(1, 9, (streams, 1, questions))
        right = rng.binomial(sizes, np.where(score, 0.9, 0.1))
        return np.asarray(right / 8.0)


@dataclass(frozen=True)
class QuestionRaces:
    """How races of the same models are run."""

    answers: Answers
    questions: int
    has_last_look: bool = True
    amount: float | None = None
    batch: int = BATCH

    def run(self, count: int, rng: Generator, chunk: int = 200) -> RacedQuestions:
        """Many of them."""
        parts = [min(chunk, count - start) for start in range(0, count, chunk)]
        found = [self._run(self.answers.draw(part, self.questions, rng)) for part in parts]
        fields = ("stays", "calls", "equivalent")
        return RacedQuestions(*(np.concatenate([getattr(one, name) for one in found]) for name in fields))

    def _run(self, scores: FloatArray) -> RacedQuestions:
        streams, models, questions = scores.shape
        level = ALPHA / 2 if self.has_last_look else ALPHA
        stays, equivalent = np.ones((streams, models), dtype=np.bool_), np.zeros(streams, dtype=np.bool_)
        calls, rows = np.zeros(streams), np.arange(streams)
        wagers = Wagers.start(models, (streams,), self.amount)
        for start in range(0, questions, self.batch):
            batch = scores[rows, :, start : start + self.batch]
            calls[rows] += wagers.active.sum(axis=1) * batch.shape[2]
            wagers = wagers.taking(batch).dropping(level)
            stays[rows], equivalent[rows] = wagers.active, wagers.equivalent(ALPHA)
            goes_on = (wagers.active.sum(axis=1) > 1) & ~equivalent[rows]
            rows, wagers = rows[goes_on], _only(wagers, goes_on)
            if not rows.size:
                break
        if self.has_last_look and rows.size:
            kept = scores[rows]
            stays[rows] = last_look(kept @ np.swapaxes(1 - kept, 1, 2), stays[rows], ALPHA / 2)
        return RacedQuestions(stays, calls / (models * questions), equivalent)


def _only(wagers: Wagers, rows: Truths) -> Wagers:
    within = None if wagers.within is None else wagers.within[rows]
    kept = (wagers.totals[rows], wagers.active[rows], wagers.pairs[rows], wagers.led[rows])
    return Wagers(*kept, within, wagers.margin)


@dataclass(frozen=True)
class RacedQuestions:
    """What came of many races over questions."""

    stays: Truths
    calls: FloatArray
    """The share of all (model, question) that was used."""
    equivalent: Truths

    def is_false(self, best: int) -> Truths:
        """Whether one of the first `best` models, which tie, was dropped."""
        return np.asarray((~self.stays[:, :best]).any(axis=1))

    def is_sole(self) -> Truths:
        """Whether the first model alone is left."""
        return np.asarray(self.stays[:, 0] & (self.stays.sum(axis=1) == 1))


def ever_above(wins: float, losses: float, questions: int, count: int, rng: Generator) -> float:
    """Of streams looked at after every question, the share in which the bet on winning ever reached 1/α."""
    found = 0
    for start in range(0, count, 500):
        uniform = rng.random((min(500, count - start), questions))
        right = np.cumsum(uniform < wins, axis=1)[..., None]
        wrong = np.cumsum(uniform > 1 - losses, axis=1)[..., None]
        logs = right * np.log1p(STAKES) + wrong * np.log1p(-STAKES)
        found += int((np.exp(logs).mean(axis=2) >= 1 / ALPHA).any(axis=1).sum())
    return found / count


def ever_significant(wins: float, questions: int, every: int, count: int, rng: Generator) -> float:
    """The same with McNemar's z looked at again and again, both sides: what must not be done."""
    uniform = rng.random((count, questions))
    right = np.cumsum(uniform < wins, axis=1)[:, every - 1 :: every]
    wrong = np.cumsum(uniform > 1 - wins, axis=1)[:, every - 1 :: every]
    z = np.abs(right - wrong) / np.sqrt(np.maximum(right + wrong, 1))
    return float((z > 1.96).any(axis=1).mean())
