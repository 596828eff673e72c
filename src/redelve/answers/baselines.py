"""Baselines: the losses of the best constant answers on the test cases (manual 8.3)."""

from __future__ import annotations

from collections.abc import Sequence

from redelve.answers.losses import Loss, parse_loss
from redelve.answers.predictions import Truth

Baselines = dict[str, float | None]


def baselines_by_loss(truths: Sequence[Truth], losses: Sequence[Loss]) -> Baselines:
    """What the best constant answer loses, summed over the targets; None where that is not defined."""
    return {loss.code: loss.baseline(truths) for loss in losses}


def baselines_by_target(truths: Sequence[Truth], codes: Sequence[str]) -> dict[str, tuple[float | None, ...]]:
    """The same for each target, as Test-set-stats has it: log probabilities for log loss."""
    return {code: tuple(_figure(parse_loss(code), truth) for truth in truths) for code in codes}


def _figure(loss: Loss, truth: Truth) -> float | None:
    found = loss.baseline_on(truth)
    return -found if found is not None and loss.is_shift else found
