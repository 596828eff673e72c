"""The baselines of Test-set-stats: the losses of the best constant answers on the test cases (manual 8.3)."""

from __future__ import annotations

import numpy as np

from redelve import stats
from redelve.losses import Loss, LossMatrix
from redelve.predictions import Truth

Baselines = dict[str, float | None]


def baselines_of(truth: Truth) -> Baselines:
    """One figure per standard loss for one target, None where the loss does not apply."""
    found: Baselines = dict.fromkeys("LQAZS")
    kind, values = truth.target.kind, truth.values
    if kind in ("categorical", "integer"):
        found["Z"] = stats.baseline_zero_one(values)
        found["Q"] = stats.baseline_squared_probability(values)
        found["L"] = stats.baseline_log_discrete(values)
    if len(values) < 2:
        return found
    if kind in ("integer", "real"):
        found["S"] = stats.baseline_squared(values)
        found["A"] = stats.baseline_absolute(values)
    if kind == "real":
        found["L"] = stats.baseline_log_gaussian(values)
    if kind == "angular":
        assert truth.target.unit is not None
        found["S"] = stats.baseline_squared_circular(values, truth.target.unit)
        found["A"] = stats.baseline_absolute_circular(values, truth.target.unit)
        found["L"] = stats.baseline_log_von_mises(values, truth.target.unit)
    return found


def matrix_baseline(matrix: LossMatrix, truth: Truth) -> float:
    """The loss of the best constant guess, or of never guessing where that is allowed."""
    shares = np.bincount(truth.level_indexes, minlength=len(truth.target.levels)) / len(truth)
    return (
        float((matrix.values @ shares).min())
        if matrix.no_guess is None
        else float(min((matrix.values @ shares).min(), matrix.no_guess @ shares))
    )


def with_penalty(loss: Loss, baseline: float | None) -> float | None:
    """With a no-guess penalty the best constant answer may be to make no guess at all."""
    penalty = getattr(loss, "penalty", None)
    return baseline if baseline is None or penalty is None else min(baseline, penalty)
