"""How many questions, how many answers to each: what is stated to be found with power 0.8 is found."""

from __future__ import annotations

import numpy as np
import pytest
from benchmarks.calibration.stated_questions import Evaluation, plan_power, squares_of

from redelve.stats.answer_plans import answer_plan
from redelve.stats.assurance import Pilot, assured_difference

COUNT = 300


@pytest.mark.parametrize("setting", [Evaluation(150, 2), Evaluation(200, 2, pairs=406)])
def test_the_numbers_stated_find_the_difference_four_times_in_five(setting: Evaluation) -> None:
    """Between 0.75 and 0.85, each by three standard errors of the simulation."""
    allowed = 300 * np.sqrt(0.8 * 0.2 / COUNT)
    for rate in plan_power(setting, 0.8, COUNT, np.random.default_rng(1)):
        assert 75 - allowed < rate < 85 + allowed


def test_variances_between_and_within_questions_are_found() -> None:
    """Contested with chance 0.5, chances Beta(2, 2): B = 0.05, W = 0.2."""
    setting = Evaluation(20_000, 4)
    found = squares_of(setting.draw(0.0, np.random.default_rng(2)))
    assert found.noise is not None
    assert 4 * found.noise[0] == pytest.approx(0.2, rel=0.03)
    assert found.between[0] - found.noise[0] == pytest.approx(0.05, abs=0.005)  # three standard errors
    assert found.between[0] == pytest.approx(setting.deviation**2, rel=0.03)


def test_a_plan_finds_the_difference_with_what_it_asks_for_and_not_with_less() -> None:
    plan = answer_plan(Pilot(100, 1.0, 0.2), 0.1, 0.05, answers=2, noise=0.12)
    assert plan.questions_needed is not None
    assert plan.answers_needed is not None
    for less, is_enough in ((0, True), (1, False)):
        sets = plan.questions_needed - less
        assert (assured_difference(Pilot(100, 1.0, 0.2), 0.05, training_sets=sets) <= 0.1) is is_enough
        pilot = Pilot(100, 1.0, 0.08 + 0.24 / (plan.answers_needed - less))
        assert (assured_difference(pilot, 0.05) <= 0.1) is is_enough


def test_answers_cannot_do_what_questions_must() -> None:
    """What varies between questions stays, however often they are answered."""
    assert answer_plan(Pilot(100, 1.0, 0.2), 0.05, 0.05, answers=2, noise=0.1).answers_needed is None
    one = answer_plan(Pilot(100, 1.0, 0.2), 0.1, 0.05)
    assert one.within is None
    assert one.answers_needed is None
    assert one.questions_needed == 162
    assert answer_plan(Pilot(100, 1.0, 0.2), 0.2, 0.05).is_enough
