"""boosting: trees added one after another, as many as cross-validation finds best."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from redelve.methods.builtin.learnt import (
    Classification,
    Fitted,
    Regression,
    Splits,
    probabilistic,
    random_splits,
)
from redelve.methods.estimators import copy_for, fit_classifier
from redelve.methods.views import Labels, without_zeros
from redelve.model.dataset import Numbers

MOST_ROUNDS = 300
ALL_FOLDS_BELOW = 500
"""With so many cases or more one fold is enough to choose by."""


def settings(count: int, rounds: int) -> dict[str, Any]:
    """How trees are boosted with so many training cases."""
    return {
        "learning_rate": 0.1,
        "max_iter": rounds,
        "min_samples_leaf": min(20, max(count // 20, 2)),
        "early_stopping": False,
        "categorical_features": None,
    }


def boosting_numbers(inputs: Numbers, column: Numbers, rng: np.random.Generator) -> Regression:
    """Boosted trees for squared error; the spread is that of the cross-validated errors."""
    from sklearn.ensemble import HistGradientBoostingRegressor

    count = len(column)
    total, cases = np.zeros(MOST_ROUNDS), 0
    for learnt, left in _splits(count, rng):
        model = copy_for(HistGradientBoostingRegressor(**settings(count, MOST_ROUNDS)), rng)
        stages = model.fit(inputs[learnt], column[learnt]).staged_predict(inputs[left])
        total += _summed(((guesses - column[left]) ** 2).sum() for guesses in stages)
        cases += len(left)
    best = int(np.argmin(total))
    final = copy_for(HistGradientBoostingRegressor(**settings(count, best + 1)), rng)
    return Fitted(final.fit(inputs, column), float(np.sqrt(total[best] / cases)))


def boosting_levels(
    inputs: Numbers, labels: Labels, level_count: int, rng: np.random.Generator
) -> Classification:
    """Boosted trees for the log odds of the levels."""
    from sklearn.ensemble import HistGradientBoostingClassifier

    count = len(labels)
    total = np.zeros(MOST_ROUNDS)
    for learnt, left in _splits(count, rng, labels):
        trees = HistGradientBoostingClassifier(**settings(count, MOST_ROUNDS))
        model = fit_classifier(trees, inputs[learnt], labels[learnt], level_count, rng).model
        if model is not None:  # else all cases outside the fold have the same level
            stages = model.staged_predict_proba(inputs[left])
            total += _summed(_log_loss(model, told, labels, left, level_count) for told in stages)
    final = HistGradientBoostingClassifier(**settings(count, int(np.argmin(total)) + 1))
    return probabilistic(final, inputs, labels, level_count, rng)


def _splits(count: int, rng: np.random.Generator, labels: Labels | None = None) -> Splits:
    every = random_splits(count, rng, labels)
    return every if count < ALL_FOLDS_BELOW else every[:1]


def _summed(losses: Iterable[float]) -> Numbers:
    """The losses of all stages; where no tree could be added any more, the last one stays."""
    listed = np.array(list(losses))
    return np.concatenate([listed, np.full(MOST_ROUNDS - len(listed), listed[-1])])


def _log_loss(model: Any, told: Numbers, labels: Labels, left: Labels, level_count: int) -> float:
    every = np.zeros((len(left), level_count))
    every[:, model.classes_] = told
    shares = without_zeros(every, len(labels))
    return float(-np.log(shares[np.arange(len(left)), labels[left]]).sum())
