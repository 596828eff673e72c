"""Would more data help? What a curve says of twice the data, and when it keeps silent."""

from __future__ import annotations

import numpy as np
import pytest

from redelve import seeds
from redelve.answers.losses import parse_loss
from redelve.findings import LearningCurve, MoreData, find
from redelve.findings.curves import WORTH
from redelve.run.results import TaskFacts

from .made_up import results, task

SIZES = (64, 128, 256)


def losses_of(facts: TaskFacts, mean: float, error: float = 0.002) -> list[np.ndarray]:
    """Losses whose means vary little over training sets; cases are as hard at every size."""
    rng = seeds.generator("curve", facts.address)
    hard = seeds.generator("hard").normal(size=(len(facts.instances), 50))
    return [
        mean + error * rng.normal() + 0.02 * mean * (row - row.mean()) for row in hard[: len(facts.instances)]
    ]


def curve_of(
    means: dict[int, float], *, methods: int = 1, instances: int = 8, scheme: str = "hierarchical"
) -> LearningCurve:
    tasks = [task(f"/d/p/std.{n}", instances=instances, scheme=scheme) for n in means]  # type: ignore[arg-type]
    made = {
        f"m{k}": {facts.address: losses_of(facts, means[facts.training_set_size]) for facts in tasks}
        for k in range(methods)
    }
    return find(results(tasks, made)).curves[0]


@pytest.mark.parametrize("scheme", ["hierarchical", "common"])
def test_a_curve_that_still_falls_says_yes_with_an_interval(scheme: str) -> None:
    curve = curve_of({n: 1 + 64 / n for n in SIZES}, scheme=scheme)
    found = curve.more_data
    assert found is not None
    assert found.training_set_size == 512
    assert found.low <= 0.1 <= found.high  # from 1.25 to 1.125
    assert found.fall == pytest.approx(0.1, abs=0.02)
    assert curve.would_more_data_help.startswith(
        "yes: at twice the data the loss is expected to fall by 10 % (95 % interval"
    )


def test_a_flat_curve_says_no_with_the_most_that_can_be_gained() -> None:
    text = curve_of(dict.fromkeys(SIZES, 2.0)).would_more_data_help
    assert text.startswith("no: at twice the data the loss is expected to fall by 0.")
    assert text.endswith(" % at most (95 % interval)")


def test_a_rising_curve_says_that_the_loss_is_not_expected_to_fall() -> None:
    text = curve_of({64: 1.0, 128: 1.2, 256: 1.4}).would_more_data_help
    assert text == "no: at twice the data the loss is expected not to fall (95 % interval)"


def test_two_sizes_tell_little() -> None:
    text = curve_of({64: 2.0, 128: 1.8}).would_more_data_help
    assert text.startswith("cannot be told: at twice the data the loss may fall by 0.")
    assert text.endswith("; two sizes tell little")


def why_of(rows: dict[int, list[np.ndarray]]) -> str:
    """Why nothing can be told of a method with these losses at each size."""
    tasks = [task(f"/d/p/std.{n}", instances=len(some)) for n, some in rows.items()]
    made = {"m": {facts.address: rows[facts.training_set_size] for facts in tasks}}
    (curve,) = find(results(tasks, made)).curves
    assert curve.more_data is None
    return curve.why_unknown


def test_a_loss_that_is_the_same_at_every_size_is_not_said_to_lack_a_curve_or_errors() -> None:
    """As that of a constant answer: it has standard errors, and a flat curve."""
    same = [1.0 + 0.3 * seeds.generator("same", k).normal(size=50) for k in range(8)]
    assert why_of({64: same, 128: same}).startswith(
        "from size to size its loss changes alike, or not at all, on"
    )


def test_a_loss_within_three_standard_errors_of_zero_is_too_uncertain() -> None:
    rare = [np.full(50, 8.0 * (k == number)) for number in (0, 1) for k in range(8)]
    why = why_of({64: rare[:8], 128: rare[8:]})
    assert why == "its loss at the largest size is too uncertain for shares of it"


def test_of_a_loss_of_zero_there_are_no_shares() -> None:
    zero = [np.zeros(50)] * 8
    assert (
        why_of({64: zero, 128: zero})
        == "its loss at the largest size is 0, and of nothing there are no shares"
    )


def test_sizes_that_lie_on_no_curve_are_told() -> None:
    tables = {
        n: losses_of(task(f"/d/p/std.{n}", instances=8), mean, 1e-4)
        for n, mean in ((64, 1.0), (128, 3.0), (256, 1.0))
    }
    assert why_of(tables) == "no curve fits its losses"


def test_one_training_set_has_no_standard_errors_for_others() -> None:
    assert why_of({64: [np.ones(50)], 128: [np.ones(50)]}).endswith(
        "no standard errors for new training sets"
    )


def test_one_size_or_one_training_set_tells_nothing() -> None:
    assert curve_of({64: 2.0}).more_data is None
    assert curve_of({64: 2.0, 128: 1.8}, instances=1).more_data is None


def test_more_curves_have_wider_intervals_and_say_so() -> None:
    means = {n: 1 + 64 / n for n in SIZES}
    alone, among = curve_of(means), curve_of(means, methods=10)
    assert alone.more_data is not None
    assert among.more_data is not None
    assert among.more_data.low < alone.more_data.low
    assert "all 10 curves at once" in among.would_more_data_help


def test_training_sets_with_other_test_cases_are_taken_as_independent() -> None:
    tasks = [task(f"/d/p/std.{n}", instances=8) for n in SIZES]
    shifted = [
        task(f"/d/p/std.{n}", instances=8, cases=50 + place) for place, n in enumerate(SIZES)
    ]  # other cases at every size
    found = []
    for each in (tasks, shifted):
        rng = np.random.default_rng(1)
        shared = rng.normal(size=8)
        made = {
            "a": {
                facts.address: [
                    1
                    + 64 / facts.training_set_size
                    + 0.02 * effect
                    + 0.01 * rng.normal(size=len(one.case_numbers))
                    for effect, one in zip(shared, facts.instances, strict=True)
                ]
                for facts in each
            }
        }
        more = find(results(each, made)).curves[0].more_data
        assert more is not None
        found.append(more.high - more.low)
    assert found[0] < found[1]


def test_a_failed_instance_leaves_the_others_to_tell() -> None:
    tasks = [task(f"/d/p/std.{n}", instances=8) for n in SIZES]
    made = {facts.address: losses_of(facts, 1 + 64 / facts.training_set_size) for facts in tasks}
    made[tasks[0].address][3] = None  # type: ignore[call-overload]
    curve = find(results(tasks, {"a": made})).curves[0]
    assert curve.would_more_data_help.startswith("yes")


def test_infinite_losses_tell_nothing() -> None:
    tasks = [task(f"/d/p/std.{n}", instances=8) for n in SIZES]
    made = {facts.address: losses_of(facts, 1.0) for facts in tasks}
    made[tasks[2].address][0][5] = np.inf
    assert find(results(tasks, {"a": made})).curves[0].more_data is None


@pytest.mark.parametrize(
    ("low", "high", "verdict"),
    [(WORTH, 0.1, "yes"), (-0.1, WORTH / 2, "no"), (0.0, 0.1, "cannot be told"), (-0.3, -0.1, "no")],
)
def test_the_whole_interval_must_say_so(low: float, high: float, verdict: str) -> None:
    assert MoreData(512, SIZES, None, low, high, 1).verdict == verdict


@pytest.mark.parametrize("fall", [0.1, -0.1, 0.004, 1.0, 0.9999])
def test_percentages_are_written_as_people_write_them(fall: float) -> None:
    found = MoreData(512, SIZES, None, min(fall, -0.12), max(fall, 0.3), 1)
    text = LearningCurve("a", "/d/p", "S", (), more_data=found).would_more_data_help
    assert "e+" not in text
    assert "e-" not in text
    assert "−" in text


@pytest.mark.parametrize(
    ("low", "high", "is_shift", "said"),
    [
        (-0.000012, 0.000012, False, "fall by less than 0.01 % (95 % interval)"),
        (-0.000012, 0.034, False, "change by −3.4 % to 0 % (95 % interval)"),
        (0.000012, 0.034, False, "fall by 0 % to 3.4 % (95 % interval)"),
        (-300.0, 0.5, False, "change by −50 % to more than 10,000 % (95 % interval)"),
        (-0.00001, 0.00001, True, "fall by less than 0.0001 (95 % interval)"),
        (-0.00123, 0.034, True, "change by −0.034 to +0.0012 (95 % interval)"),
    ],
)
def test_no_number_is_finer_or_larger_than_anybody_reads(
    low: float, high: float, is_shift: bool, said: str
) -> None:
    found = MoreData(512, SIZES, None, low, high, 1)
    text = LearningCurve(
        "a", "/d/p", "S", (), found, parse_loss("L" if is_shift else "S")
    ).would_more_data_help
    assert text.endswith(said)


@pytest.mark.parametrize(("code", "said"), [("roc_auc", "loss (1 − AUC)"), ("rmse", "loss"), ("S", "loss")])
def test_of_a_score_it_is_said_what_falls(code: str, said: str) -> None:
    """Who reads AUCs has met no loss before: "the loss may fall" alone would not say what that is."""
    assert parse_loss(code).what_falls == said
    found = MoreData(512, SIZES, None, -0.1, 0.3, 1)
    text = LearningCurve("a", "/d/p", code, (), found, parse_loss(code)).would_more_data_help
    assert text.startswith(f"cannot be told: at twice the data the {said} may change by")
