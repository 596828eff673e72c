"""The baselines of Test-set-stats: the losses of the best constant answers on the test cases (manual 8.3)."""

from __future__ import annotations

import numpy as np

from redelve.losses import Loss, LossMatrix
from redelve.predictions import Truth
from redelve.stats import circular, standardise

Baselines = dict[str, float | None]


def baselines_of(truth: Truth) -> Baselines:
    """One figure per standard loss for one target, None where the loss does not apply or is infinite."""
    with np.errstate(over="ignore", invalid="ignore"):
        found = _baselines(truth)
    return {
        code: None if figure is None or not np.isfinite(figure) else figure for code, figure in found.items()
    }


def _baselines(truth: Truth) -> Baselines:
    found: Baselines = dict.fromkeys("LQAZS")
    kind, values = truth.target.kind, truth.values
    if kind in ("categorical", "integer"):
        found["Z"] = standardise.baseline_zero_one(values)
        found["Q"] = standardise.baseline_squared_probability(values)
        found["L"] = standardise.baseline_log_discrete(values)
    if len(values) < 2:
        return found
    if kind in ("integer", "real"):
        found["S"] = standardise.baseline_squared(values)
        found["A"] = standardise.baseline_absolute(values)
    if kind == "real":
        found["L"] = standardise.baseline_log_gaussian(values)
    if kind == "angular":
        assert truth.target.unit is not None
        found["S"] = circular.baseline_squared_angular(values, truth.target.unit)
        found["A"] = circular.baseline_absolute_angular(values, truth.target.unit)
        found["L"] = circular.baseline_log_angular(values, truth.target.unit)
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
