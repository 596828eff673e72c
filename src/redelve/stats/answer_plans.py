"""How many questions, or how many answers to each, would find a difference of two models.

The difference of two models on a question varies between questions, and from one answer to the next. A mean
over n questions with R answers to each has the variance (B + W/R)/n: more questions lower both parts, more
answers the second alone (Miller 2024, arXiv:2411.00640, section 3; Cochran 1977, chapter 10, two-stage
sampling). W is what the answers to the same question vary, summed over both models. Power is assurance
(`assurance`), by the rule that will judge the next evaluation.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from redelve.stats.assurance import Pilot, assured_difference, assured_training_sets, least_number


@dataclass(frozen=True)
class AnswerPlan:
    """What would find a difference: so many questions with as many answers as now, or the other way round.

    None where no number up to 100,000 would, or where it cannot be told: `within` is None with one answer to
    each question. `between` and `within` are the variances of a difference between questions and of one
    answer of each model.
    """

    questions: int
    answers: int
    smallest: float
    """The smallest difference that is found as it is."""
    is_enough: bool
    """Whether the difference that was asked for is."""
    questions_needed: int | None
    answers_needed: int | None
    between: float
    within: float | None


def answer_plan(
    pilot: Pilot,
    difference: float,
    level: float,
    *,
    answers: int = 1,
    noise: float | None = None,
    power: float = 0.8,
) -> AnswerPlan:
    """What would find a difference, in questions and in answers to each.

    Parameters
    ----------
    pilot : Pilot
        What is known of the differences between two models, `training_sets` being the questions.
    difference : float
        The true difference of expected scores that is to be found.
    level : float
        The level of the whole family: the share that the task has of 5 %.
    answers : int
        Answers to each question so far.
    noise : float, optional
        The part of the pilot's variance that the answers make, W/R; needs two answers or more.
    power : float
        The chance asked for.

    Returns
    -------
    AnswerPlan
        The numbers that are needed, each with the other as it is.

    Examples
    --------
    >>> plan = answer_plan(Pilot(100, 1.0, 0.2), 0.1, 0.05, answers=2, noise=0.12)
    >>> plan.questions_needed, plan.answers_needed
    (162, 6)
    """
    smallest = assured_difference(pilot, level, power=power)
    between = pilot.variance if noise is None else max(pilot.variance - noise, 0.0)
    within = None if noise is None else noise * answers
    if smallest <= difference:
        return AnswerPlan(pilot.training_sets, answers, smallest, True, None, None, between, within)
    questions = assured_training_sets(pilot, difference, level, power=power)
    more = None
    if within is not None:
        more = _answers(pilot, (difference, level, power), between, within, answers)
    return AnswerPlan(pilot.training_sets, answers, smallest, False, questions, more, between, within)


def _answers(
    pilot: Pilot, sought: tuple[float, float, float], between: float, within: float, answers: int
) -> int | None:
    """The smallest number of answers to each question that finds a difference; None if none does."""
    difference, level, power = sought

    def enough(number: int) -> bool:
        planned = replace(pilot, variance=between + within / number)
        return planned.variance > 0 and assured_difference(planned, level, power=power) <= difference

    return least_number(enough, max(2 * answers, 2))
