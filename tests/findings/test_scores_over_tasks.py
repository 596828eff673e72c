"""Brought scores over tasks: averages of scores as they are, and what is claimed of new tasks like these."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import redelve
from redelve.findings import AcrossTasks
from redelve.report.first_screen import plain_answer
from redelve.stats.meta import moderated_variances, random_effects

MODELS = ("good", "fair", "poor")


def table(
    rng: np.random.Generator, chances: tuple[float, ...] = (0.8, 0.6, 0.4), tasks: int = 5
) -> pd.DataFrame:
    """Right and wrong answers of three models to the questions of some tasks, of which some are harder."""
    parts = []
    for number in range(tasks):
        hard = rng.normal(0, 0.05)
        size = int(rng.integers(40, 80))
        for model, chance in zip(MODELS, chances, strict=True):
            right = (rng.random(size) < np.clip(chance + hard, 0, 1)).astype(int)
            cases = [f"{number}-{case}" for case in range(size)]
            parts.append(
                pd.DataFrame({"model": model, "task": f"t{number}", "case": cases, "accuracy": right})
            )
    return pd.concat(parts, ignore_index=True)


def across(assessment: redelve.Assessment) -> AcrossTasks:
    found = assessment.findings.across
    assert found is not None
    return found


TABLE = table(np.random.default_rng(3))
FOUND = redelve.compare_scores(TABLE)


def test_an_average_is_that_of_the_scores_themselves() -> None:
    means = TABLE.groupby(["model", "task"])["accuracy"].mean().groupby("model").mean()
    shown = {one.method: one.shown[0] for one in across(FOUND).methods}
    assert shown == pytest.approx((100 * means).to_dict())
    assert not across(FOUND).is_standardised


def test_a_pair_over_tasks_is_the_random_effects_of_the_differences_as_they_are() -> None:
    differences, variances, df = [], [], []
    for _, part in TABLE.groupby("task"):
        wide = part.pivot(index="case", columns="model", values="accuracy")
        each = wide["good"] - wide["poor"]
        differences.append(each.mean())
        variances.append(each.var(ddof=1) / len(each))
        df.append(len(each) - 1)
    expected = random_effects(
        np.array(differences), moderated_variances(np.array(variances), np.array(df, dtype=float))
    )
    (row,) = FOUND.over_tasks().query("first == 'good' and second == 'poor'").to_dict("records")
    assert row["difference"] == pytest.approx(float(expected.means), rel=1e-9)
    assert row["standard_error"] == pytest.approx(float(expected.standard_errors), rel=1e-9)
    assert 0 < row["low"] < row["difference"] < row["high"]  # in accuracy, not in errors
    assert row["winner"] == "good"


def test_units_do_not_matter_to_what_is_claimed() -> None:
    tenfold = TABLE.assign(accuracy=10.0 * TABLE["accuracy"])
    other = redelve.compare_scores(tenfold, limits=(0, 10)).over_tasks()
    own = FOUND.over_tasks()
    assert other["difference"].to_numpy() == pytest.approx(10 * own["difference"].to_numpy())
    assert other["adjusted_p_value"].to_numpy() == pytest.approx(own["adjusted_p_value"].to_numpy())


def test_words_are_of_the_score_and_say_which_question_is_answered() -> None:
    text = str(FOUND)
    assert "did best on average, with accuracy" in text
    assert "new tasks like these 5" in " ".join(text.split())
    assert "--pooled" in text
    over = FOUND.compare("good", "poor").over_tasks
    assert over is not None
    assert "good has a higher accuracy than poor" in over.words
    assert "percentage points" in over.words
    for word in ("standardised", "constant answer", "no sense"):
        assert word not in text + over.words


def test_a_margin_over_tasks_is_in_points() -> None:
    over = redelve.compare_scores(TABLE, margin=0.6).compare("good", "poor").over_tasks
    assert over is not None
    assert "equivalent within the margin of 60 points" in over.words


def test_scores_without_limits_have_no_region_of_practical_equivalence() -> None:
    unlimited = redelve.compare_scores(TABLE.assign(accuracy=TABLE["accuracy"] * 2.5))
    assert across(unlimited).rope == {}
    assert across(FOUND).rope


def test_two_tasks_are_too_few() -> None:
    found = redelve.compare_scores(TABLE[TABLE["task"].isin(["t0", "t1"])]).findings
    assert "2 tasks are too few" in plain_answer(found).how_sure


def test_equal_models_are_seldom_told_apart_over_tasks() -> None:
    """Right and wrong answers on tasks where models differ by luck of the task; 5 % of 3,000 data sets."""
    rng, sets, tasks, cases = np.random.default_rng(11), 3000, 8, 60
    chances = np.clip(0.6 + 0.1 * rng.normal(size=(2, sets, tasks)), 0, 1)
    right = rng.binomial(1, chances[..., None], size=(2, sets, tasks, cases)).astype(float)
    each = right[0] - right[1]
    variances = moderated_variances(each.var(axis=-1, ddof=1) / cases, float(cases - 1))
    p_values = random_effects(each.mean(axis=-1), variances).p_values()
    share, error = float((p_values < 0.05).mean()), float(np.sqrt(0.05 * 0.95 / sets))
    assert share < 0.05 + 3 * error
    assert share > 0.02  # a test that never claims anything would pass the line above
