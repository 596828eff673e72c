"""Calibration of plans for evaluations: so many questions, or answers to each, are said to find a difference.

A pilot evaluation says what it takes to find a difference with power 0.8; a second evaluation of that size
tries. Two models answer as in `brought_scores`, with a chance that differs less from question to question.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import sqrt

import numpy as np

from benchmarks.calibration.sections import Effort, Finding, Section, listing, margin
from benchmarks.calibration.simulation import Generator
from redelve.stats.answer_plans import AnswerPlan, answer_plan
from redelve.stats.assurance import pilot_of
from redelve.stats.case_pairs import pairs_of_cases, with_noise
from redelve.stats.families import PairSquares, unmoderated
from redelve.stats.mean_squares import FloatArray

LEVEL = 0.05
BETA = 2.0
PLACES = ([0], [1])
MOST_QUESTIONS, MOST_ANSWERS = 20_000, 200
"""No second evaluation has more."""


@dataclass(frozen=True)
class Evaluation:
    """Two models of so many (`pairs` are compared) on contested questions, so many answers to each."""

    questions: int
    answers: int
    contested: float = 0.5
    pairs: int = 1

    @property
    def words(self) -> str:
        """The setting in a few words."""
        return f"{self.pairs} pairs, n = {self.questions}, R = {self.answers}, {self.contested:g} contested"

    @property
    def deviation(self) -> float:
        """That of a difference of two models on a question: B + W/R, Beta(2, 2) chances if contested."""
        chance = 1 / (4 * (2 * BETA + 1))
        return sqrt(2 * self.contested * (chance + (0.25 - chance) / self.answers))

    def draw(self, ahead: float, rng: Generator) -> list[FloatArray]:
        """The answers of both models, of which the first is ahead by so much."""
        away = 2 * ahead / self.contested
        shapes = np.array([[BETA * (1 + away), BETA * (1 - away)], [BETA, BETA]])
        is_open = rng.random(self.questions) < self.contested
        chances = rng.beta(shapes[:, :1], shapes[:, 1:], (2, self.questions))
        chances = np.where(is_open, chances, 1.0)
        size = (self.answers, self.questions)
        return [(rng.random(size) < one).astype(np.float64) for one in chances]


def squares_of(answers: list[FloatArray]) -> PairSquares:
    """What two models differ by, as a report has it."""
    means = np.array([one.mean(axis=0) for one in answers])
    return with_noise(pairs_of_cases(means, PLACES, None, (0.0, 1.0)), answers, PLACES)


def planned(setting: Evaluation, difference: float, rng: Generator) -> AnswerPlan | None:
    """What a pilot says that it takes to find a difference."""
    squares = squares_of(setting.draw(0.0, rng))
    pilot = pilot_of(unmoderated(squares), 0)
    if pilot is None:
        return None
    noise = None if squares.noise is None else float(squares.noise[0])
    pilot = replace(pilot, pairs=setting.pairs)
    return answer_plan(pilot, difference, LEVEL, answers=setting.answers, noise=noise)


def found(setting: Evaluation, difference: float, rng: Generator) -> bool:
    """Whether an evaluation claims a true difference."""
    family = unmoderated(squares_of(setting.draw(difference, rng)))
    return bool(family.p_values()[0] * setting.pairs < LEVEL)


def plan_power(setting: Evaluation, part: float, count: int, rng: Generator) -> tuple[float, float]:
    """Per cent of second evaluations that find the difference, with more questions and with more answers.

    The difference is a part of what the pilot itself finds with power 0.8.
    """
    from scipy.special import ndtri

    errors = -ndtri(LEVEL / (2 * setting.pairs)) + ndtri(0.8)
    difference = part * errors * setting.deviation / sqrt(setting.questions)
    hits = np.zeros((count, 2))
    for one in range(count):
        plan = planned(setting, difference, rng)
        questions = setting.questions if plan is None or plan.is_enough else plan.questions_needed
        answers = setting.answers if plan is None or plan.is_enough else plan.answers_needed
        more = replace(setting, questions=min(questions or MOST_QUESTIONS, MOST_QUESTIONS))
        deeper = replace(setting, answers=min(answers or MOST_ANSWERS, MOST_ANSWERS))
        hits[one] = found(more, difference, rng), found(deeper, difference, rng)
    by_questions, by_answers = 100 * hits.mean(axis=0)
    return float(by_questions), float(by_answers)


SETTINGS = (
    (Evaluation(100, 2), 0.8),
    (Evaluation(200, 2), 0.8),
    (Evaluation(200, 2, 0.2), 0.8),
    (Evaluation(200, 3), 0.85),
    (Evaluation(1000, 2), 0.75),
    (Evaluation(200, 2, pairs=406), 0.8),
    (Evaluation(1000, 3, pairs=406), 0.85),
)


def stated_questions(rng: Generator, effort: Effort) -> Section:
    """How often what was stated to be found with power 0.8 is found."""
    count = max(effort.least // 2, 2)
    findings = []
    for setting, part in SETTINGS:
        rates = plan_power(setting, part, count, rng)
        for unit, rate in zip(("questions", "answers to each question"), rates, strict=True):
            findings.append(Finding(f"stated number of {unit}", setting.words, rate, count))
    words = f"""A pilot evaluation of n questions with R answers of two models to each says how many
        questions, or how many answers to each, would find a difference with power 0.8: three quarters to 85 %
        of the one that it finds itself. A second evaluation of that size is drawn with that true difference
        (at most {MOST_ANSWERS} answers, where the pilot says that no number would do). Contested questions
        are answered with chances of the model's own, Beta(2, 2), the others always rightly. Per cent of
        second evaluations that claim the difference at 5 %, allowing for so many pairs; {count:,} pilots per
        line, standard error at most {margin(count, 80.0)}."""
    return Section(
        "Stated numbers of questions and answers", words, listing(findings, "found"), tuple(findings)
    )
