"""Losses: smaller is better, one number for every case, never a mean (manual 5.2 and 5.3).

`loss_contract` says what a loss is and which are known by their codes; each other module holds losses that
belong together, and registers them.
"""

from redelve.answers.losses.brought_scores import BroughtScore, score_code
from redelve.answers.losses.class_metrics import ClassMetric, CountedMetric, ScoredMetric
from redelve.answers.losses.loss_contract import (
    LOSSES,
    METRICS,
    IntervalScale,
    Loss,
    LossLike,
    MatrixLoader,
    RememberedLoss,
    Units,
    applicable_losses,
    as_loss,
    canonical_code,
    chosen_losses,
    in_order,
    known_loss,
    one_per_case,
    parse_loss,
    primary_loss_for,
    usual_losses,
)
from redelve.answers.losses.loss_matrix import LossMatrix, MatrixLoss, parse_loss_matrix
from redelve.answers.losses.metric_contract import Metric
from redelve.answers.losses.number_metrics import NumberMetric
from redelve.answers.losses.renamed_losses import RenamedLoss
from redelve.answers.losses.standard_losses import (
    AbsoluteError,
    DistanceLoss,
    GuessLoss,
    NegativeLogProbability,
    RankedProbability,
    SquaredError,
    SquaredProbability,
    ZeroOne,
    gap,
)

__all__ = [
    "LOSSES",
    "METRICS",
    "AbsoluteError",
    "BroughtScore",
    "ClassMetric",
    "CountedMetric",
    "DistanceLoss",
    "GuessLoss",
    "IntervalScale",
    "Loss",
    "LossLike",
    "LossMatrix",
    "MatrixLoader",
    "MatrixLoss",
    "Metric",
    "NegativeLogProbability",
    "NumberMetric",
    "RankedProbability",
    "RememberedLoss",
    "RenamedLoss",
    "ScoredMetric",
    "SquaredError",
    "SquaredProbability",
    "Units",
    "ZeroOne",
    "applicable_losses",
    "as_loss",
    "canonical_code",
    "chosen_losses",
    "gap",
    "in_order",
    "known_loss",
    "one_per_case",
    "parse_loss",
    "parse_loss_matrix",
    "primary_loss_for",
    "score_code",
    "usual_losses",
]
