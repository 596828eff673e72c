"""Baselines: the losses of the best constant answers on the test cases (manual 8.3)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from redelve.answers.losses import Loss, LossMatrix, MatrixLoss
from redelve.answers.predictions import Truth
from redelve.stats import circular, standardise

Numbers = NDArray[np.float64]
Baselines = dict[str, float | None]


def baselines_of(truth: Truth) -> Baselines:
    """One figure per standard loss for one target, None where the loss does not apply or is infinite."""
    with np.errstate(over="ignore", invalid="ignore"):
        found = _baselines(truth)
    return {
        code: None if figure is None or not np.isfinite(figure) else figure for code, figure in found.items()
    }


def _baselines(truth: Truth) -> Baselines:
    found: Baselines = dict.fromkeys("LQAZSC")
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
        found["C"] = _baseline_ranked(values)
    if kind == "real":
        found["L"] = standardise.baseline_log_gaussian(values)
    if kind == "angular":
        assert truth.target.unit is not None
        found["S"] = circular.baseline_squared_angular(values, truth.target.unit)
        found["A"] = circular.baseline_absolute_angular(values, truth.target.unit)
        found["L"] = circular.baseline_log_angular(values, truth.target.unit)
    return found


def _baseline_ranked(values: Numbers) -> float:
    """The CRPS of answering with the distribution of the test targets: half their mean distance."""
    ordered = np.sort(values)
    count = len(ordered)
    return float((ordered * (2 * np.arange(1, count + 1) - count - 1)).sum() / count**2)


def baselines_by_loss(truths: Sequence[Truth], losses: Sequence[Loss]) -> dict[str, float | None]:
    """What the best constant answer loses, summed over the targets; None where that is not defined.

    Test-set-stats has log probabilities for L; here it is a loss like the others.
    """
    per_target = [baselines_of(truth) for truth in truths]
    found: dict[str, float | None] = {}
    for loss in losses:
        if isinstance(loss, MatrixLoss):
            found[loss.code] = matrix_baseline(loss.matrix(truths[0].target), truths[0])
            continue
        entries = [with_penalty(loss, each.get(loss.code[0])) for each in per_target]
        known = [entry for entry in entries if entry is not None]
        total = sum(known) if len(known) == len(entries) else None
        found[loss.code] = -total if total is not None and loss.code == "L" else total
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
