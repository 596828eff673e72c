"""Reliability diagrams: isotonic regression, bands of whole curves, and tests without bins."""

import numpy as np
import pytest
from sklearn.isotonic import IsotonicRegression
from sklearn.metrics import brier_score_loss

from redelve.errors import StatisticsError
from redelve.stats.reliability import isotonic, pooled_violators, reliability_diagram, spiegelhalter_test

REPEATS = 400
TOO_MANY = 0.05 + 3 * np.sqrt(0.05 * 0.95 / REPEATS)


def drawn(cases: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Calibrated probabilities and what happened."""
    rng = np.random.default_rng(seed)
    said = rng.beta(1, 2, size=cases)
    return said, (rng.random(cases) < said).astype(float)


@pytest.mark.parametrize("pool", [isotonic, pooled_violators])
def test_the_curve_is_scikit_learns_isotonic_regression(pool) -> None:  # type: ignore[no-untyped-def]
    rng = np.random.default_rng(1)
    values, weights = rng.random(200), rng.integers(1, 9, size=200)
    expected = IsotonicRegression().fit_transform(np.arange(200), values, sample_weight=weights)
    assert np.allclose(pool(values, weights), expected, atol=1e-12)


def test_the_brier_score_falls_into_three_parts() -> None:
    said, happened = drawn(300, 2)
    said = said.round(1)  # many ties
    found = reliability_diagram(said, happened, rng=np.random.default_rng(0), resamples=99)
    assert found.brier == pytest.approx(brier_score_loss(happened, said))
    assert found.miscalibration - found.discrimination + found.uncertainty == pytest.approx(found.brier)
    curve = IsotonicRegression().fit_transform(said, happened)
    assert found.brier - found.miscalibration == pytest.approx(np.mean((curve - happened) ** 2))
    assert min(found.miscalibration, found.discrimination) >= 0


def test_a_curve_computed_by_hand() -> None:
    # 0.1: 0 of 1; 0.3: 1 of 1; 0.6: 0 of 1; 0.9: 1 of 1. The middle two are pooled to a half.
    found = reliability_diagram(
        [0.1, 0.3, 0.6, 0.9], [0, 1, 0, 1], rng=np.random.default_rng(0), resamples=19
    )
    assert found.frequencies.tolist() == [0.0, 0.5, 0.5, 1.0]
    assert found.brier == pytest.approx((0.01 + 0.49 + 0.36 + 0.01) / 4)
    assert found.miscalibration == pytest.approx(0.87 / 4 - 0.5 / 4)


def test_spiegelhalters_z_is_what_the_brier_score_exceeds_its_expectation_by() -> None:
    said, happened = drawn(400, 3)
    score = np.sum((said - happened) ** 2)
    expected = np.sum(said * (1 - said))  # Spiegelhalter (1986): E and var of the score under calibration
    variance = np.sum(said * (1 - said) * (1 - 2 * said) ** 2)
    found = spiegelhalter_test(said, happened)
    assert found is not None
    assert found.statistic == pytest.approx((score - expected) / np.sqrt(variance))


def test_tests_and_band_keep_their_level() -> None:
    rng = np.random.default_rng(4)
    rejected = np.zeros(3)
    for seed in range(REPEATS):
        found = reliability_diagram(*drawn(80, 1000 + seed), rng=rng, resamples=99)
        assert found.band is not None
        where, low, high = found.band
        curve = found.frequencies[np.searchsorted(found.probabilities, where)]
        outside = ((curve < low - 1e-12) | (curve > high + 1e-12)).any()
        assert found.test is not None
        assert found.spiegelhalter is not None
        rejected += np.array([found.test.p_value <= 0.05, found.spiegelhalter.p_value <= 0.05, outside])
    assert (rejected / REPEATS < TOO_MANY).all()
    assert (rejected / REPEATS > 0.01).all()


def test_dependent_cases_have_a_test_that_knows_it() -> None:
    rejected = 0
    for seed in range(REPEATS):
        said, happened = (np.repeat(values, 4) for values in drawn(60, 5000 + seed))
        labels = np.repeat(np.arange(60), 4)
        found = spiegelhalter_test(said, happened, labels)
        assert found is not None
        rejected += found.p_value < 0.05
    assert rejected / REPEATS < TOO_MANY
    whole = reliability_diagram(said, happened, labels, rng=np.random.default_rng(0))
    assert (whole.test, whole.band) == (None, None)


def test_overconfident_probabilities_are_found_out() -> None:
    rng = np.random.default_rng(6)
    truth = rng.uniform(0.2, 0.8, size=400)
    happened = (rng.random(400) < truth).astype(float)
    said = np.clip(0.5 + 2 * (truth - 0.5), 0.01, 0.99)
    found = reliability_diagram(said, happened, rng=rng)
    assert found.test is not None
    assert found.test.p_value < 0.01
    assert found.spiegelhalter is not None
    assert found.spiegelhalter.statistic > 3


def test_what_is_no_probability_is_refused() -> None:
    rng = np.random.default_rng(0)
    with pytest.raises(StatisticsError, match="between 0 and 1"):
        reliability_diagram([1.2, 0.5], [1, 0], rng=rng)
    with pytest.raises(StatisticsError, match="0 or 1"):
        reliability_diagram([0.2, 0.5], [2, 0], rng=rng)
    with pytest.raises(StatisticsError, match="every case"):
        reliability_diagram([0.2, 0.5], [1], rng=rng)
    assert spiegelhalter_test([0.5, 0.5], [0, 1]) is None
