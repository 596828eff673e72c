"""Calibration of races over questions: false words however often one looks, calls used, equivalence.

`python -m benchmarks.calibration.question_races` prints this section alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Literal

import numpy as np

from benchmarks.calibration.sections import Effort, Finding, Section, margin, table
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
AnswerShape = Literal["right or wrong", "rubric", "clusters"]


@dataclass(frozen=True)
class Answers:
    """Models that answer questions: their mean scores, and how much questions make of the answers.

    A question is as hard for all, by one uniform number, with probability `shared`; else each model has a
    number of its own. *Rubric* scores are in fifths of a mark, mostly all or nothing; in *clusters* all
    questions of a passage have the same number.
    """

    means: tuple[float, ...]
    shared: float = 0.5
    shape: AnswerShape = "right or wrong"

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
        count = max(count, 1)
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
    is_enough, found = _is_enough(questions), 0
    for start in range(0, count, 500):
        uniform = rng.random((min(500, count - start), questions))
        right, wrong = (np.cumsum(won, axis=1) for won in (uniform < wins, uniform > 1 - losses))
        found += int(is_enough[right, wrong].any(axis=1).sum())
    return found / count


@cache
def _is_enough(questions: int) -> Truths:
    """Whether a bet is worth 1/α, for every number of questions won and lost."""
    lost = np.arange(questions + 1)[:, None] * np.log1p(-STAKES)
    rows = (np.exp(won * np.log1p(STAKES) + lost).mean(axis=1) for won in range(questions + 1))
    return np.array([row >= 1 / ALPHA for row in rows])


def ever_significant(wins: float, questions: int, every: int, count: int, rng: Generator) -> float:
    """The same with McNemar's z looked at again and again, both sides: what must not be done."""
    uniform = rng.random((count, questions))
    right = np.cumsum(uniform < wins, axis=1)[:, every - 1 :: every]
    wrong = np.cumsum(uniform > 1 - wins, axis=1)[:, every - 1 :: every]
    z = np.abs(right - wrong) / np.sqrt(np.maximum(right + wrong, 1))
    return float((z > 1.96).any(axis=1).mean())


WORDS = """
Models answer questions in a random order, 25 between two looks; who is shown not to be the best drops out,
until one is left, those left are equivalent within the margin, or the 2,000 questions of the pool are used
up. *False* is a model dropped that ties with the best, at any look, the last one (where answers are right
or wrong) included. Two equal models differ in 25 % of their answers. *Rubric* scores are in fifths of a
mark; *clusters* are passages of one to eight questions. *Wrong equivalence* is the word where all others
are behind the best by just the margin. *Bets looked at always*: of one pair of equal models, looked at
after each of 1,000 questions, how often the bet on one of them is ever worth 20. *McNemar looked at again*:
what happens instead if you stop as soon as McNemar's z is above 1.96, looking after every 50 of 2,000
questions. *Calls* are answers asked for, of all in the pool of 5,000 questions; the twin has the scores of
29 language models on the 10,326 questions of MMLU-Pro."""
POOL, LARGE_POOL = 2_000, 5_000


def question_race_section(rng: Generator, effort: Effort) -> Section:
    """Races over questions."""
    false = [*_false_drops(rng, effort), *_bets(rng, effort)]
    equal = [*_wrong_equivalences(rng, effort)]
    calls = [_calls(k, gap, rng, effort) for k in (2, 5, 20) for gap in (0.1, 0.03, 0.01)]
    twin = QuestionRaces(Answers(TWIN, 0.45), TWIN_QUESTIONS).run(effort.least // 10, rng, chunk=20)
    calls.append(_row("twin of 29 models, best ahead by 6 points", twin))
    head = ["false words", "setting", "%", "races"]
    body = [
        table(head, [[f.what, f.where, f.percent, f"{f.count:,}"] for f in (*false, *equal)]),
        table(["one best", "calls, %", "most calls, %", "right sole winner, %", "races"], calls),
    ]
    errors = ", ".join(f"{margin(count)} of {count:,}" for count in (effort.some, effort.few, effort.least))
    words = f"{WORDS} Standard errors at 5 % are {errors}."
    offered = [f for f in false if "McNemar" not in f.what]
    return Section("Races over questions", words, "\n\n".join(body), (*offered, *equal))


def _false_drops(rng: Generator, effort: Effort) -> list[Finding]:
    fields: dict[str, tuple[Answers, int, int]] = {}
    for k, count in ((2, effort.few), (5, effort.least), (20, effort.least // 4)):
        fields[f"k = {k}, all equal"] = (Answers((0.5,) * k), k, count)
    for behind in (0.1, 0.05, 0.03):
        means = (0.5,) * 3 + (0.5 - behind,) * 9
        fields[f"k = 12, three tie, nine behind by {behind:g}"] = (Answers(means), 3, effort.least // 2)
    shapes: tuple[AnswerShape, ...] = ("rubric", "clusters")
    for shape in shapes:
        fields[f"k = 5, {shape}"] = (Answers((0.5,) * 5, shape=shape), 5, effort.least // 2)
    found = []
    for where, (answers, best, count) in fields.items():
        races = QuestionRaces(answers, POOL, has_last_look=answers.shape == "right or wrong")
        rate = 100 * float(races.run(count, rng, chunk=100).is_false(best).mean())
        found.append(Finding("race over questions, any false drop", where, rate, count))
    return found


def _bets(rng: Generator, effort: Effort) -> list[Finding]:
    found = []
    for discordant in (0.02, 0.25, 1.0):
        rate = 100 * ever_above(discordant / 2, discordant / 2, 1000, effort.some, rng)
        where = f"{100 * discordant:g} % of answers differ"
        found.append(Finding("bets looked at always", where, rate, effort.some))
    for discordant in (0.02, 0.25):
        rate = 100 * ever_significant(discordant / 2, 2000, 50, effort.few, rng)
        where = f"{100 * discordant:g} % of answers differ"
        found.append(Finding("McNemar looked at again (not offered)", where, rate, effort.few))
    return found


def _wrong_equivalences(rng: Generator, effort: Effort) -> list[Finding]:
    found = []
    for amount in (0.02, 0.05, 0.1):
        for k in (2, 5):
            answers = Answers((0.5, *(0.5 - amount,) * (k - 1)), shared=0.9)
            count = effort.least if k == 2 else effort.least // 2
            races = QuestionRaces(answers, POOL, has_last_look=False, amount=amount)
            rate = 100 * float(races.run(count, rng).equivalent.mean())
            where = f"k = {k}, margin {amount:g}"
            found.append(Finding("race over questions, wrong equivalence", where, rate, count))
    return found


def _calls(models: int, gap: float, rng: Generator, effort: Effort) -> list[object]:
    answers = Answers((0.5 + gap, *(0.5,) * (models - 1)))
    count = {2: effort.least // 2, 5: effort.least // 4, 20: effort.least // 20}[models]
    return _row(
        f"k = {models}, ahead by {100 * gap:g} points", QuestionRaces(answers, LARGE_POOL).run(count, rng, 50)
    )


def _row(where: str, found: RacedQuestions) -> list[object]:
    calls = 100 * found.calls
    return [
        where,
        float(calls.mean()),
        float(calls.max()),
        100 * float(found.is_sole().mean()),
        f"{len(calls):,}",
    ]


if __name__ == "__main__":
    import sys

    sys.stdout.write(question_race_section(np.random.default_rng(1996), Effort()).text() + "\n")
