"""What a method may answer, always in the original (decoded) domain, and what is true (manual 5.1)."""

from redelve.answers.predictions.class_probabilities import ClassProbabilities
from redelve.answers.predictions.decision_values import DecisionValues
from redelve.answers.predictions.prediction_kinds import (
    KINDS,
    NO_GUESS,
    ArrayValue,
    Flags,
    Guesses,
    Rows,
    Target,
    TargetDistributions,
    TargetKind,
    TargetLogProbabilities,
    Texts,
    Truth,
    first,
    frozen,
    guesses_of,
    target_of,
    targets_of,
    truth_of,
    truths_in,
)
from redelve.model.dataset import Numbers

__all__ = [
    "KINDS",
    "NO_GUESS",
    "ArrayValue",
    "ClassProbabilities",
    "DecisionValues",
    "Flags",
    "Guesses",
    "Numbers",
    "PartOfAnswer",
    "Prediction",
    "Rows",
    "Target",
    "TargetDistributions",
    "TargetKind",
    "TargetLogProbabilities",
    "Texts",
    "Truth",
    "first",
    "frozen",
    "guesses_of",
    "target_of",
    "targets_of",
    "truth_of",
    "truths_in",
]

PartOfAnswer = Guesses | ClassProbabilities | DecisionValues | TargetDistributions
"""A prediction that says which targets it is of: what an answer is made of."""
Prediction = PartOfAnswer | TargetLogProbabilities
