"""Stopping rules on curves made by hand."""

import numpy as np
import pytest

from redelve.errors import SpecError
from redelve.nets import GL, PQ, UP, MaxEpochs, P, Patience, StoppingRule, Success
from redelve.nets.group import Records, Strip
from redelve.nets.schedule import Schedule
from redelve.nets.stopping import StoppingWatch


def stops(rule: StoppingRule, validation: list[float], progress: list[float] | None = None) -> int | None:
    """The strip (of 5 epochs, counted from 1) after which a run with these curves stops."""
    watch = StoppingWatch(0, np.zeros(1), np.full(1, np.inf), np.zeros(1, dtype=np.int64))
    records = Records(1)
    for strip, error in enumerate(validation):
        watch.epoch += 5
        watch.progress = np.array([progress[strip] if progress else 100.0])
        records.note_validation(np.array([error]), watch, np.ones(1, dtype=bool))
        if rule.fires(watch)[0]:
            return strip + 1
    return None


def test_gl_stops_when_the_error_is_alpha_percent_above_the_lowest() -> None:
    assert stops(GL(5), [10, 8, 8.3, 8.39, 8.41, 8]) == 5
    assert stops(GL(25), [10, 8, 10, 10.1]) == 4  # exactly 25 percent is not more than 25
    assert stops(GL(5), [10, 11, 12]) == 2
    assert stops(GL(5), [0.0, 0.0, 0.1]) == 3  # above a perfect error any loss is infinite


def test_up_stops_after_s_successive_rises() -> None:
    assert stops(UP(2), [10, 11, 10.5, 10.6, 10.7, 10.8]) == 5
    assert stops(UP(1), [10, 10, 10.1]) == 3
    assert stops(UP(3), [10, 11, 12, 12, 13, 14]) is None


def test_patience_ends_when_the_lowest_error_is_that_many_epochs_ago() -> None:
    curve = [10, 8, 9, 7.9, 7.9, 8, 8, 7.95]
    assert stops(Patience(15), curve) == 7
    assert stops(Patience(20), curve) == 8
    assert stops(Patience(25), curve) is None


def test_p_stops_when_training_makes_no_progress() -> None:
    assert stops(P(0.1), [3, 2, 1], [5.0, 0.1, 0.09]) == 3


def test_pq_stops_when_generalization_loss_outweighs_progress() -> None:
    assert stops(PQ(3), [10, 10.2, 10.4, 10.4], [1.0, 1.0, 2.0, 1.3]) == 4
    assert stops(PQ(3), [10, 10], [0.0, 0.0]) is None  # no loss, no progress: nothing to weigh


def test_rules_join_with_or_and_and() -> None:
    curve = [10, 10.2, 10.4, 10.6, 10.3, 9.9]
    assert stops(GL(5) & UP(3), curve) == 4
    assert stops(GL(5) | UP(2), curve) == 3
    assert stops((GL(5) | UP(2)) & MaxEpochs(20), curve) == 4


def test_once_remembers() -> None:
    curve = [10, 10.6, 10.5, 10.4, 10.45, 10.5]
    assert stops(GL(5.5) & UP(2), curve) is None
    assert stops(GL(5.5).once() & UP(2).once(), curve) == 6
    assert stops(GL(5.5).once(), curve) == 2


def test_the_reason_is_the_rule_that_fired() -> None:
    rule = GL(5) & UP(2) | P(0.1) | MaxEpochs(20)
    watch = StoppingWatch(20, np.array([9.0, 0.0, 9.0]), np.array([5.0, 0.0, 5.0]), np.array([3, 0, 0]))
    assert [rule.reason(watch, run) for run in range(3)] == [
        "GL(alpha=5) & UP(strips=2)",
        "P(below=0.1)",
        "MaxEpochs(epochs=20)",
    ]
    assert (
        repr((GL(5) | UP(2)) & Success().once()) == "(GL(alpha=5) | UP(strips=2)) & Success(tau=0.4).once()"
    )


def test_success_asks_for_all_outputs_to_be_near_their_targets() -> None:
    watch = StoppingWatch(
        7, np.zeros(3), np.zeros(3), np.zeros(3, dtype=np.int64), np.array([0.39, 0.4, 0.41])
    )
    assert Success(0.4).fires(watch).tolist() == [True, False, False]
    watch.worst = None
    assert not Success(0.4).fires(watch).any()


def test_progress_compares_the_mean_of_a_strip_with_its_lowest_error() -> None:
    strip = Strip()
    for error in (4.0, 2.0, 3.0):
        strip.add(np, np.array([error]))
    mean, lowest, last = strip.close()
    assert (mean[0], lowest[0], last[0]) == (3.0, 2.0, 3.0)
    strip.add(np, np.array([7.0]))
    assert strip.close()[0][0] == 7.0


def test_a_schedule_ends_at_the_limit_of_the_rule() -> None:
    assert Schedule.of(5, GL(5) | MaxEpochs(12)).epochs == (5, 10, 12)
    assert Schedule.of((1, 2, 50), MaxEpochs(12) | MaxEpochs(20)).epochs == (1, 2, 12)
    assert Schedule.of(5, MaxEpochs(5) & MaxEpochs(15)).epochs == (5, 10, 15)
    assert Schedule.of(5, MaxEpochs(10).once()).epochs == (5, 10)


@pytest.mark.parametrize("rule", [GL(5), GL(5) | P(0.1), GL(5) & MaxEpochs(10)])
def test_a_rule_without_limit_is_refused(rule: StoppingRule) -> None:
    with pytest.raises(SpecError, match=r"may never stop a run: add \| MaxEpochs"):
        Schedule.of(5, rule)


def test_nonsense_is_refused() -> None:
    with pytest.raises(SpecError, match="give 1 or more"):
        MaxEpochs(0)
    with pytest.raises(SpecError, match="begin with 1"):
        Schedule.of((0, 5), MaxEpochs(10))
    with pytest.raises(SpecError, match="begin with 1"):
        Schedule.of(0, MaxEpochs(10))
