"""Trials as one batch: no trial depends on the others, and times are those the networks needed."""

from dataclasses import replace

import numpy as np
import pytest

from redelve.errors import SpecError
from redelve.nets import Engine, initial_weights, predict
from redelve.studies.hamey import Setting, TrainingProblem, TrialPlan, encoder, exclusive_or, run_trials
from redelve.studies.hamey.batch_trials import run_together

PLAN = TrialPlan(exclusive_or(), Setting(1.4, 0.65, 7.0), trials=60, limit=150)


def test_a_trial_does_not_depend_on_how_many_there_are() -> None:
    many, few = run_trials(PLAN), run_trials(replace(PLAN, trials=25))
    np.testing.assert_array_equal(many.epochs[:25], few.epochs)
    np.testing.assert_array_equal(many.succeeded[:25], few.succeeded)


def test_settings_trained_together_are_those_trained_alone() -> None:
    plans = [
        PLAN,
        replace(PLAN, setting=Setting(1.0, 0.0, 5.0)),
        replace(PLAN, setting=Setting(2.0, 0.9, 3.0)),
    ]
    for plan, trials in zip(plans, run_together(plans), strict=True):
        np.testing.assert_array_equal(trials.epochs, run_trials(plan).epochs)


def test_trials_can_be_added_later() -> None:
    whole = run_trials(PLAN)
    first = run_trials(replace(PLAN, trials=20))
    joined = first.and_more(run_together([PLAN], first=20)[0])
    np.testing.assert_array_equal(joined.epochs, whole.epochs)
    assert joined.plan.trials == 60


def test_another_stream_draws_other_networks() -> None:
    assert not set(PLAN.seeds()) & set(replace(PLAN, stream="other").seeds())
    assert not set(PLAN.seeds()) & set(replace(PLAN, setting=Setting(1.4, 0.65, 8.0)).seeds())
    assert (run_trials(PLAN).epochs != run_trials(replace(PLAN, stream="other")).epochs).any()


def test_failed_trials_stopped_at_the_limit() -> None:
    found = run_trials(PLAN)
    assert (found.epochs[~found.succeeded] == 150).all()
    assert (found.epochs[found.succeeded] < 150).all()
    assert found.times.failures == (~found.succeeded).sum() > 0
    assert found.times.limit == 150


def test_a_network_that_is_right_from_the_start_takes_one_epoch() -> None:
    # outputs of 0.4 to 0.6 are wrong, so weights must be large for a network to be right by chance
    found = run_trials(TrialPlan(exclusive_or(), Setting(20.0, 0.0, 1.0), trials=2000, limit=10))
    weights = initial_weights(found.plan.problem.architecture, found.plan.seeds(), 20.0)
    data = found.plan.problem.data
    right = (
        abs(predict(found.plan.problem.architecture, weights, data.inputs) - data.targets).max((1, 2)) < 0.4
    )
    assert 0 < right.sum() == (found.epochs == 0).sum()
    assert found.times.times[0] == 1


def test_descending_epsilon_is_another_algorithm() -> None:
    slow = TrialPlan(exclusive_or(), Setting(1.0, 0.9, 0.3), trials=100, limit=600)
    plain = run_trials(slow)
    epsilon = run_trials(replace(slow, setting=replace(slow.setting, algorithm="descending-epsilon")))
    assert plain.succeeded.mean() > epsilon.succeeded.mean() > 0


@pytest.mark.torch
@pytest.mark.parametrize("problem", [exclusive_or(), encoder(4, 3)], ids=["wide", "stacked"])
def test_torch_finds_the_same(problem: TrainingProblem) -> None:
    pytest.importorskip("torch")
    plan = replace(PLAN, problem=problem, trials=150)
    own, theirs = run_trials(plan), run_trials(plan, Engine("torch"))
    assert (own.epochs == theirs.epochs).mean() > 0.97  # rounding may decide in a chaotic course
    assert own.succeeded.sum() > 0


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ((0.0, 0.5, 1.0), "give r > 0, 0 ≤ α < 1 and η > 0"),
        ((1.0, 1.0, 1.0), "r = 1, α = 1, η = 1: give"),
        ((1.0, 0.5, -1.0), "η = -1"),
    ],
)
def test_settings_that_cannot_be(values: tuple[float, float, float], message: str) -> None:
    with pytest.raises(SpecError, match=message):
        Setting(*values)


def test_errors_name_what_is_known() -> None:
    with pytest.raises(SpecError, match='algorithm "rprop": known are back-propagation, descending-epsilon'):
        Setting(1.0, 0.0, 1.0, "rprop")
    with pytest.raises(SpecError, match="1 trials of at most 100 epochs: give 2 or more"):
        replace(PLAN, trials=1, limit=100)
