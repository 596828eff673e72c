"""Scores that were brought: level, coverage, power, and that the simulation has what a report says."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from benchmarks.calibration.brought_scores import (
    Clusters,
    Questions,
    Setting,
    Shape,
    families,
    gap,
    score_rates,
)

import redelve
from redelve.stats.mean_squares import FloatArray

COUNT = 500


def brought(scores: FloatArray, groups: FloatArray | None = None) -> pd.DataFrame:
    """A wide table of scores[model, question]."""
    table = pd.DataFrame({f"m{number}": row for number, row in enumerate(scores)})
    return table if groups is None else table.assign(group=groups.astype(int))


@pytest.mark.parametrize(
    "setting",
    [
        Questions(60, 1, 0.05, 0.9),
        Clusters(12, is_unequal=True),
        Shape("bounded, one model constant", 50),
    ],
)
def test_the_simulation_has_the_claims_and_intervals_of_a_report(setting: Setting) -> None:
    drawn = setting.draw(4, 1, np.random.default_rng(5))
    ((family, _),) = families(drawn)
    frame = brought(drawn.scores[0], drawn.groups)
    (found,) = redelve.compare_scores(frame, higher_is_better=True, limits=drawn.limits).findings.tasks
    p, (lows, highs) = family.p_values(), family.ends(0.05)
    for place, contest in enumerate(found.contests):
        assert contest.adjusted_p_value == pytest.approx(p[place], rel=1e-6)
        assert contest.bounds is not None
        assert contest.bounds[0] == pytest.approx(min(-highs[place], 0.0), abs=1e-6)
        assert contest.bounds[1] == pytest.approx(max(-lows[place], 0.0), abs=1e-6)


def at_most(rate: float, count: int = COUNT) -> float:
    """A percentage and three standard errors of its simulation."""
    return rate + 300 * float(np.sqrt(rate / 100 * (1 - rate / 100) / count))


@pytest.mark.parametrize(
    "setting",
    [
        Questions(50, 1, 0.1),
        Questions(200, 3, 0.1),
        Questions(50, 1, 0.02, 0.97),
        Questions(50, 1, spread=0.1),
        Questions(200, 2, spread=0.02),
    ],
)
def test_false_claims_and_intervals_that_miss_are_five_per_cent_at_most(setting: Setting) -> None:
    found = score_rates(setting, 2, COUNT, np.random.default_rng(6))
    assert found.claims < at_most(5.5)
    assert found.misses < at_most(5.5)


@pytest.mark.parametrize("setting", [Questions(50, 1, 0.05, 0.9), Questions(100, 2, spread=0.1)])
def test_all_pairs_of_29_models_together_too(setting: Setting) -> None:
    """T-intervals of the same scores miss in most of these data sets."""
    found = score_rates(setting, 29, 12, np.random.default_rng(7))
    assert found.claims < at_most(5.0, 12)
    assert found.misses < at_most(5.0, 12)
    assert found.t_misses > 50


@pytest.mark.parametrize("is_unequal", [False, True])
def test_clusters_keep_the_level(is_unequal: bool) -> None:
    found = score_rates(Clusters(10, is_unequal), 2, 150, np.random.default_rng(8))
    assert max(found.claims, found.misses) < at_most(5.5, 150)


@pytest.mark.parametrize("answers", [1, 3])
def test_nothing_is_lost_to_the_t_test_of_question_means(answers: int) -> None:
    setting = Questions(100, answers, 0.1, 0.5, ahead=gap(0.1, 100, 2.2))
    found = score_rates(setting, 2, COUNT, np.random.default_rng(9))
    assert found.power >= found.bare > 30


@pytest.mark.parametrize("higher_is_better", [True, False])
@pytest.mark.parametrize("limits", [(0, 10), (0, 100), (0, 1000)])
@pytest.mark.parametrize("cases", [30, 60])
def test_no_interval_of_a_claimed_difference_is_said_to_hold_zero(
    cases: int, limits: tuple[float, float], higher_is_better: bool
) -> None:
    rng = np.random.default_rng(0)
    scores = {name: (rng.random(cases) < share) * 10 for name, share in {"A": 0.8, "D": 0.2}.items()}
    frame = pd.DataFrame({"case": [f"q{number}" for number in range(cases)], **scores})
    for columns in (["case", "A", "D"], ["case", "D", "A"]):
        task = redelve.compare_scores(frame[columns], higher_is_better=higher_is_better, limits=limits)
        (contest,) = task.compare("A", "D")
        assert contest.winner == ("A" if higher_is_better else "D")
        for name in ("A", "D"):
            words = contest.seen_from(name)
            assert "−0.00" not in words
            ends = words.partition("95 % interval ")[2].partition(")")[0]
            low, high = ends.split(" to ")
            assert (low[0] == "−") == (high[0] == "−" or high == "below 0")
        assert contest.shown[2] is not None
        assert not any(np.signbit(end) and end == 0 for end in contest.shown[2])
