"""Predictive distributions of real targets as values: redelve itself computes densities, intervals and CRPS.

One distribution per test case. A method that answers with these never needs to see the targets. What is
stored are `kind` and `parameters()`: `distributions[kind](**parameters)` is the same distribution again.
"""

from __future__ import annotations

from redelve.answers.distributions.empirical import Quantiles, Samples
from redelve.answers.distributions.parametric import Distribution, Normal, NormalMixture, Student
from redelve.model.dataset import Numbers
from redelve.registry import Registry

__all__ = [
    "Distribution",
    "Normal",
    "NormalMixture",
    "Numbers",
    "Quantiles",
    "Samples",
    "Student",
    "distributions",
]

distributions: Registry[type[Distribution]] = Registry("predictive distribution", own_name="kind")

for _each in (Normal, Student, NormalMixture, Samples, Quantiles):
    distributions.add(_each.kind, _each)
