"""How often intervals hold the truth, by simulation; docs/predicting.md tells the same at more length."""

from collections.abc import Callable

import numpy as np
import pytest
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

from redelve import predict_performance
from redelve.stats.balanced_errors import balanced_errors
from tests.performance.data import two_classes

REPETITIONS = 150
WAYS = ("holdout", "kfold:5", "kfold-naive:5", "repeated:5x3", "bootstrap:60", "632+:60", "nested:5x3")


@pytest.fixture(scope="module")
def covered() -> dict[str, float]:
    """The share of 90 % intervals that hold the true BER of discriminant analysis, trained on 60 cases."""
    found: dict[str, list[bool]] = {}
    for repetition in range(REPETITIONS):
        X, y = two_classes(60, seed=1000 + repetition)
        test, labels = two_classes(20_000, seed=5000 + repetition)
        truth = balanced_errors(labels, LinearDiscriminantAnalysis().fit(X, y).predict(test)).ber
        made = predict_performance(LinearDiscriminantAnalysis(), X, y, ways=WAYS, level=0.9, seed=repetition)
        for guess in made.guesses:
            found.setdefault(guess.way, []).append(bool(guess.covers(truth)))
    return {way: float(np.mean(hits)) for way, hits in found.items()}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("way", "passes"),
    [
        ("holdout:0.3", lambda share: 0.82 < share < 0.97),
        ("kfold:5", lambda share: share > 0.84),
        ("repeated:5x3", lambda share: share > 0.82),
        ("bootstrap:60", lambda share: share > 0.82),
        ("632+:60", lambda share: share > 0.78),
        ("nested:5x3", lambda share: share > 0.82),
    ],
)
def test_intervals_cover(way: str, passes: Callable[[float], bool], covered: dict[str, float]) -> None:
    """150 repetitions have a standard error of 2.4 points at 90 %."""
    assert passes(covered[way]), covered


@pytest.mark.slow
def test_taking_folds_for_independent_is_never_the_wider_choice(covered: dict[str, float]) -> None:
    assert covered["kfold-naive:5"] <= covered["kfold:5"] + 0.02, covered
