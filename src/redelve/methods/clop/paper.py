"""The paper's way of saying things: data, train and test."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from sklearn.base import clone

from redelve.methods.clop.members import made
from redelve.methods.clop.objects import as_scores, outputs


@dataclass(frozen=True, eq=False)
class LabelledData:
    """data: patterns `X` and their targets `Y`, which may be missing."""

    X: Any
    Y: Any = None


def train(model: Any, data: LabelledData) -> tuple[LabelledData, Any]:
    """Train a copy of the model: what it makes of the training data, and the trained copy."""
    trained = clone(made(model)).fit(data.X, data.Y)
    return test(trained, data), trained


def test(model: Any, data: LabelledData) -> LabelledData:
    """What a trained model makes of data: new features, or a classifier's outputs, in place of X."""
    processed = model.transform(data.X) if hasattr(model, "transform") else as_scores(outputs(model, data.X))
    return replace(data, X=processed)
