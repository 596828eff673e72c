"""How many questions, or how many answers to each, would find a difference of two fixed models."""

from __future__ import annotations

from typing import TYPE_CHECKING

from redelve.stats.answer_plans import AnswerPlan, answer_plan
from redelve.stats.assurance import MOST, pilot_of
from redelve.stats.families import PairFamily

if TYPE_CHECKING:
    from redelve.findings.claims import Sought

Place = tuple[PairFamily, int]
"""A family of comparisons, and which of them."""


def plan_for(place: Place, level: float, difference: float, power: float = 0.8) -> AnswerPlan | None:
    """What would find a difference; None where nothing varies."""
    (family, number), pilot = place, pilot_of(*place)
    squares = family.squares
    if pilot is None:
        return None
    noise = None if squares.noise is None else float(squares.noise[number])
    return answer_plan(pilot, difference, level, answers=squares.answers, noise=noise, power=power)


def more_questions(place: Place, level: float, sought: Sought, unit: str = "test cases") -> str:
    """How many more cases, or groups of them, would find the difference, or how many answers to each."""
    plan = plan_for(place, level, sought.amount)
    if plan is None:
        return f"How many {unit} would find {sought} cannot be told"
    if plan.questions_needed is None:
        cases = f"No number of {unit} up to {MOST:,} would find {sought}"
    else:
        cases = sought.found_by(plan.questions_needed - plan.questions, unit)
    if plan.within is None:
        return f"{cases}; what several answers to each case would do cannot be told from one"
    if plan.answers_needed is None:
        return f"{cases}; more answers to each case would not be enough"
    return f"{cases}, or {plan.answers_needed} answers to each case instead of {plan.answers}"
