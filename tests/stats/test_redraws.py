"""Redraws, scores and joint tests: against formulas, numpy and repetition."""

import numpy as np
import pytest

from redelve.errors import StatisticsError
from redelve.stats import redraws
from redelve.stats.redraws import (
    CLIP,
    LARGEST,
    FloatArray,
    PrintedCell,
    bias_of,
    cell_scores,
    imitated_scores,
    printed_score,
    redraw,
    spread_of,
)

HUNDREDTH = np.array([0.01])


def generator(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def cell(mean: float, deviation: float, size: int = 10) -> PrintedCell:
    return PrintedCell(size, np.array([mean]), np.array([deviation]), HUNDREDTH, pair=(0, 0))


def test_samples_differ_as_samples_do_and_as_ours_might_have() -> None:
    """Variance s²(1/n + (1 − 1/n)/(N + 1)), by the moments of Dirichlet weights (Rubin 1981)."""
    values = generator().gamma(2.0, size=50)
    means = values[redraw(50, 10, generator(1), draws=40_000)].mean(axis=1)
    assert means.var() == pytest.approx(values.var() * (1 / 10 + (1 - 1 / 10) / 51), rel=0.03)
    assert means.mean() == pytest.approx(values.mean(), rel=0.01)


def test_every_run_is_as_likely_at_every_place() -> None:
    rows = redraw(4, 3, generator(), draws=40_000)
    for place in range(3):
        shares = np.bincount(rows[:, place], minlength=4) / len(rows)
        np.testing.assert_allclose(shares, 0.25, atol=0.01)
    assert (rows[:, 0] == rows[:, 1]).mean() == pytest.approx(2 / 5, abs=0.01)  # (1 + 1)/(4 + 1)


def test_what_would_be_printed_is_rounded() -> None:
    values = np.array([[1.0, 10.0], [2.0, 30.0], [4.004, 20.0]])
    units = np.array([0.01, 1.0])
    found = PrintedCell(60, np.zeros(2), np.zeros(2), units, 0.5).of(values)
    np.testing.assert_allclose(found.means, [2.33, 20.0])
    np.testing.assert_allclose(found.deviations, [1.53, 10.0])
    assert found.size == 3
    assert found.correlation == pytest.approx(0.33)


def test_a_mean_is_looked_for_among_samples_with_the_printed_deviation() -> None:
    """Of 100 runs, two are wild. Print has none of them, or one: the mean must be that of such samples."""
    values = np.concatenate([generator().normal(10.0, 0.1, 98), [14.0, 15.0]])[:, None]
    core = values[:98].mean()
    for mean, deviation, low, high in (
        (core, 0.1, -1.0, 1.0),
        (core + 0.5, 0.1, -LARGEST, -3.0),
        (core + 0.5, 1.6, -1.5, 1.5),
        (core, 1.6, 3.0, LARGEST),
    ):
        score = cell_scores(values, cell(mean, deviation), generator(1)).means[0]
        assert low <= score <= high, (mean, deviation)


def test_deviations_and_correlations_have_scores_of_their_own() -> None:
    values = generator().normal(size=(100, 2)).cumsum(axis=1)
    fair = PrintedCell(30, values.mean(axis=0), values.std(axis=0), HUNDREDTH.repeat(2), 0.7)
    found = cell_scores(values, fair, generator(1))
    assert np.abs(found.deviations).max() < 0.5
    assert found.correlation is not None
    assert abs(found.correlation) < 1
    tight = PrintedCell(30, values.mean(axis=0), values.std(axis=0) / 3, HUNDREDTH.repeat(2), 0.99)
    found = cell_scores(values, tight, generator(1))
    assert found.deviations.min() > 3
    assert found.correlation is not None
    assert found.correlation < -3


def test_too_little_is_refused() -> None:
    with pytest.raises(StatisticsError, match="1 runs, samples of 10"):
        redraw(1, 10, generator())


def test_scores_are_normal_places() -> None:
    draws = np.arange(999.0)
    assert printed_score(499.0, draws, 1.0) == 0.0
    assert printed_score(24.0, draws, 1.0) == pytest.approx(1.96, abs=0.01)
    assert printed_score(974.0, draws, 1.0) == pytest.approx(-1.96, abs=0.01)
    assert printed_score(-1000.0, draws, 1.0) == pytest.approx(1499 / draws.std())
    assert printed_score(1e6, draws, 1.0) == -LARGEST
    assert printed_score(3.0, np.full(99, 3.001), 0.01) == 0.0  # the same when printed
    assert printed_score(3.0, np.full(99, 3.02), 0.01) == LARGEST


def test_joint_tests_have_the_p_values_of_repetition() -> None:
    """Of normal scores, with the moments that very many imitated ones would have."""
    scores = generator().normal(size=(100_000, 21))
    clipped = np.clip(scores, -CLIP, CLIP)
    imitated = generator(1).normal(size=(21, 100_000))
    for level in (0.5, 0.05, 0.005):
        error = 3 * np.sqrt(level * (1 - level) / len(scores))
        for test, found in ((spread_of, (clipped**2).sum(axis=1)), (bias_of, np.abs(clipped.sum(axis=1)))):
            study = scores[np.argsort(found)[round(len(scores) * (1 - level))]]
            assert test(study, imitated).p_value == pytest.approx(level, rel=0.05, abs=error), test.__name__


def test_the_moments_of_clipped_scores() -> None:
    squares = np.clip(generator().normal(size=1_000_000), -CLIP, CLIP) ** 2
    assert redraws._moments() == pytest.approx((squares.mean(), squares.var()), rel=0.01)


def test_one_wild_cell_decides_nothing() -> None:
    scores = np.concatenate([np.linspace(-1.2, 1.2, 29), [LARGEST]])
    imitated = generator().normal(size=(30, 20))
    assert bias_of(scores, imitated).p_value > 0.1
    assert spread_of(scores, imitated).p_value > 0.1


def test_cells_that_never_vary_are_no_evidence() -> None:
    assert bias_of(np.zeros(12), np.zeros((12, 20))).p_value == 1.0


CELLS, PRINTED, OURS = 12, 12, 60
Study = tuple[tuple[FloatArray, FloatArray], tuple[FloatArray, FloatArray]]


def wild_runs(random: np.random.Generator, count: int, outliers: float = 0.03) -> FloatArray:
    """Skewed errors, some of them wild, as networks that stop too early have."""
    values = np.exp(random.normal(0.0, 0.1, (count, 1)))
    wild = random.random(count) < outliers
    values[wild] *= 2.0 + random.random((int(wild.sum()), 1))
    return values


def study(random: np.random.Generator, factor: float = 1.0, outliers: float = 0.03) -> Study:
    """Scores and imitated ones, of means and of deviations; ours are multiplied, or wild more often."""
    found, imitated = [], []
    for _ in range(CELLS):
        given = cell(0, 0).of(wild_runs(random, PRINTED))
        ours = factor * wild_runs(random, OURS, outliers)
        found.append(cell_scores(ours, given, random, 300))
        imitated.append(imitated_scores(ours, given, random, 10))
    means = np.array([[one.means[0] for one in cells] for cells in imitated])
    deviations = np.array([[one.deviations[0] for one in cells] for cells in imitated])
    return (np.array([one.means[0] for one in found]), means), (
        np.array([one.deviations[0] for one in found]),
        deviations,
    )


def test_honest_studies_of_wild_runs_fail_at_the_level() -> None:
    """At 5 %, within three Monte-Carlo errors of 60 studies; docs/calibration.md has more."""
    random = generator(7)
    found = [study(random) for _ in range(60)]
    bound = 0.05 + 3 * np.sqrt(0.05 * 0.95 / len(found))
    for place, column in enumerate(("means", "deviations")):
        for test in (bias_of, spread_of):
            rate = np.mean([test(*one[place]).p_value < 0.05 for one in found])
            assert rate <= bound, (column, test.__name__)


def test_a_small_bias_and_a_few_more_outliers_are_noticed() -> None:
    random = generator(8)
    shifted = [study(random, factor=1.1) for _ in range(8)]
    assert np.mean([bias_of(*means).p_value < 0.001 for means, _ in shifted]) >= 0.7
    wilder = [study(random, outliers=0.3) for _ in range(8)]
    assert np.mean([bias_of(*deviations).p_value < 0.001 for _, deviations in wilder]) >= 0.7
