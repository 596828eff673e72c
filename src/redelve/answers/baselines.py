"""Baselines: the losses of the best constant answers on the test cases (manual 8.3)."""

from __future__ import annotations

from collections.abc import Sequence

from redelve.answers.losses import Loss, usual_losses
from redelve.answers.predictions import Truth

Baselines = dict[str, float | None]


def baselines_by_loss(truths: Sequence[Truth], losses: Sequence[Loss]) -> Baselines:
    """What the best constant answer loses, summed over the targets; None where that is not defined."""
    return {loss.code: loss.baseline(truths) for loss in losses}


def baselines_of(truth: Truth) -> Baselines:
    """One target's figures by the usual losses as Test-set-stats has them: log probabilities for log loss."""
    found: Baselines = {}
    for loss in usual_losses():
        figure = loss.baseline_on(truth)
        found[loss.code] = -figure if figure is not None and loss.is_shift else figure
    return found
