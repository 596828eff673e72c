"""Training algorithms: frozen values that start courses (course.py)."""

from redelve.nets.algorithms.adam import Adam
from redelve.nets.algorithms.conjugate import ScaledConjugateGradients
from redelve.nets.algorithms.course import Algorithm, Course, Start, WeightDecay
from redelve.nets.algorithms.descent import DescendingEpsilon, GradientDescent, InputRelevance
from redelve.nets.algorithms.rprop import Rprop

__all__ = [
    "Adam",
    "Algorithm",
    "Course",
    "DescendingEpsilon",
    "GradientDescent",
    "InputRelevance",
    "Rprop",
    "ScaledConjugateGradients",
    "Start",
    "WeightDecay",
]
