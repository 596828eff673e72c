"""The batched neural engine: many networks trained at once, as one array (docs/nets.md)."""

from redelve.nets.algorithms import (
    Adam,
    DescendingEpsilon,
    GradientDescent,
    InputRelevance,
    Rprop,
    ScaledConjugateGradients,
    WeightDecay,
)
from redelve.nets.architecture import Architecture, layered
from redelve.nets.backend import Engine
from redelve.nets.data import Data, Sets, padded
from redelve.nets.error_functions import CrossEntropy, SquaredOutputError
from redelve.nets.starting import draw, initial_weights
from redelve.nets.stopping import GL, PQ, UP, MaxEpochs, P, Patience, StoppingRule, Success
from redelve.nets.trained import Curves, Trained
from redelve.nets.training import Procedure, gradient, measure, predict, train

__all__ = [
    "GL",
    "PQ",
    "UP",
    "Adam",
    "Architecture",
    "CrossEntropy",
    "Curves",
    "Data",
    "DescendingEpsilon",
    "Engine",
    "GradientDescent",
    "InputRelevance",
    "MaxEpochs",
    "P",
    "Patience",
    "Procedure",
    "Rprop",
    "ScaledConjugateGradients",
    "Sets",
    "SquaredOutputError",
    "StoppingRule",
    "Success",
    "Trained",
    "WeightDecay",
    "draw",
    "gradient",
    "initial_weights",
    "layered",
    "measure",
    "padded",
    "predict",
    "train",
]
