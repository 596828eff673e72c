"""Losses: smaller is better, one number for every case, never a mean (manual 5.2 and 5.3)."""

from redelve.answers.losses.loss_kinds import (
    LOSSES,
    STANDARD,
    AbsoluteError,
    DistanceLoss,
    GuessLoss,
    Loss,
    MatrixLoader,
    MatrixLoss,
    NegativeLogProbability,
    RankedProbability,
    SquaredError,
    SquaredProbability,
    ZeroOne,
    applicable_losses,
    parse_loss,
)
from redelve.answers.losses.loss_matrix import LossMatrix, parse_loss_matrix

__all__ = [
    "LOSSES",
    "STANDARD",
    "AbsoluteError",
    "DistanceLoss",
    "GuessLoss",
    "Loss",
    "LossMatrix",
    "MatrixLoader",
    "MatrixLoss",
    "NegativeLogProbability",
    "RankedProbability",
    "SquaredError",
    "SquaredProbability",
    "ZeroOne",
    "applicable_losses",
    "parse_loss",
    "parse_loss_matrix",
]
