"""The intervals of mlr3inferr, as the benchmark computes them, against independent computations."""

from __future__ import annotations

import numpy as np
import pytest
from benchmarks.calibration.exchangeable import PROBLEMS, Numbers, Rows
from benchmarks.calibration.interval_menu import (
    BEGIN,
    CASES,
    END,
    NAMES,
    PAGE,
    WAYS,
    attempt_on,
    conservative_z,
    corrected_t,
    cv_wald,
    expected_loss,
    holdout,
    measured,
)
from scipy import stats

from redelve.stats.resampled import analyse_resampled


class Watched:
    """Losses that depend on the case alone, and a record of how cases were used."""

    def __init__(self, cases: int) -> None:
        rng = np.random.default_rng(3)
        self.losses = rng.gamma(2.0, size=(cases, 2))
        self.used: list[tuple[int, int]] = []
        self.means: list[Numbers] = []

    def __call__(self, train: Rows, test: Rows) -> Numbers:
        assert not set(train.tolist()) & set(test.tolist())
        self.used.append((len(train), len(test)))
        self.means.append(self.losses[test].mean(axis=0))
        return self.losses[test]


def test_each_way_fits_as_often_as_it_says_on_sets_of_the_size_that_it_says() -> None:
    for way in WAYS:
        watched = Watched(100)
        way.bounds(watched, 100, np.random.default_rng(1))
        assert len(watched.used) == way.fits
        sizes = {train for train, _ in watched.used}
        assert way.size(100) in sizes or way.name == "nested CV"


def test_cross_validated_losses_are_taken_as_independent() -> None:
    watched = Watched(50)
    low, high = cv_wald(watched, 50, np.random.default_rng(1))
    deviation = watched.losses.std(axis=0)
    assert (low + high) / 2 == pytest.approx(watched.losses.mean(axis=0))
    assert (high - low) / 2 == pytest.approx(stats.norm.ppf(0.975) * deviation / np.sqrt(50))
    low, high = holdout(watched, 50, np.random.default_rng(1))
    assert (low + high) / 2 == pytest.approx(watched.means[-1])


def test_random_splits_have_the_corrected_interval_of_the_package() -> None:
    watched = Watched(60)
    low, high = corrected_t(watched, 60, np.random.default_rng(1))
    for which in range(2):
        means = [mean[which] for mean in watched.means]
        assert (low[which], high[which]) == pytest.approx(analyse_resampled(means, ratio=6 / 54).interval())


def test_the_conservative_variance_is_that_of_disjoint_halves() -> None:
    watched = Watched(60)
    low, high = conservative_z(watched, 60, np.random.default_rng(1))
    assert watched.used[:15] == [(54, 6)] * 15
    assert watched.used[15:] == [(24, 6)] * 300
    halves = np.array(watched.means[15:]).reshape(10, 2, 15, 2).mean(axis=2)
    variance = halves.var(axis=1, ddof=1).mean(axis=0)
    assert (high - low) / 2 == pytest.approx(stats.norm.ppf(0.975) * np.sqrt(variance))


def test_the_expected_loss_of_a_line_is_that_of_theory() -> None:
    """Noise of variance 0.75 beside the one input, n = 40: 0.75 (1 + 1/n)(1 + 1/(n − 3))."""
    exact = 0.75 * (1 + 1 / 40) * (1 + 1 / 37)
    assert expected_loss("regression, a line", 40) == pytest.approx(exact, rel=0.01)


def test_all_ways_see_the_same_data_and_holdout_with_few_cases_misses_too_often() -> None:
    found = {one.way: one for one in measured("log-normal targets", 60, 30)}
    assert list(found) == [*(way.name for way in WAYS), "redelve"]
    assert found["holdout"].covers < 92
    assert found["conservative z"].width > found["CV-Wald"].width


def test_a_method_is_tried_on_its_own_column() -> None:
    problem = PROBLEMS["regression, a line"]
    drawn = problem.draw(30, 2, np.random.default_rng(2))
    losses = attempt_on(problem, drawn)(np.arange(20), np.arange(20, 30))
    slope, start = np.polyfit(drawn.inputs[:20, 0], drawn.targets[:20], 1)
    answers = start + slope * drawn.inputs[20:, 0]
    assert losses[:, 0] == pytest.approx(np.square(answers - drawn.targets[20:]))


def test_the_page_has_a_row_for_every_setting_and_way() -> None:
    page = PAGE.read_text("utf-8")
    rows = page[page.index(BEGIN) : page.index(END)].strip().split("\n")[3:]
    assert len(rows) == len(NAMES) * (len(WAYS) + 1)
    assert all(row.count("|") == 4 + len(CASES) for row in rows)
