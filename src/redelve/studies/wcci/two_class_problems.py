"""Two-class problems with many test cases and small training sets, which are independent or disjoint."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from redelve.errors import SpecError
from redelve.registry import Registry
from redelve.seeds import generator

Labels = NDArray[np.int64]
Inputs = Any
"""A dense array or a sparse matrix, a row for each case."""

TEST_CASES = 10_000
NORM_INPUTS = 20
LABELS = (-1, 1)
"""The classes."""


class Sample(NamedTuple):
    """Inputs and classes, which are −1 and +1."""

    inputs: Inputs
    labels: Labels


class Draw(Protocol):
    """Draws so many cases of each class."""

    def __call__(self, negative: int, positive: int, rng: np.random.Generator) -> Sample:
        """Negative cases, then positive ones."""


@dataclass(frozen=True)
class TwoClassProblem:
    """A problem that can be drawn from without end."""

    name: str
    about: str
    training_cases: int
    positive_share: float
    draw: Draw

    def training(self, instance: int) -> Sample:
        """The training cases of an instance."""
        return self._sample(self.training_cases, generator("wcci", self.name, "training", instance))

    def testing(self, instance: int) -> Sample:
        """Test cases of its own for each instance."""
        return self._sample(TEST_CASES, generator("wcci", self.name, "testing", instance))

    def _sample(self, cases: int, rng: np.random.Generator) -> Sample:
        positive = round(cases * self.positive_share)
        return _shuffled(self.draw(cases - positive, positive, rng), rng)


@dataclass(frozen=True)
class Pool:
    """A problem with a fixed set of cases: training sets are disjoint, all other cases test."""

    name: str
    about: str
    training_cases: int
    cases: Any
    """A function that gives all of them."""

    def training(self, instance: int) -> Sample:
        """The training cases of an instance."""
        return self._part(self.rows(instance))

    def testing(self, instance: int) -> Sample:
        """All other cases."""
        return self._part(np.setdiff1d(np.arange(len(self.cases().labels)), self.rows(instance)))

    def _part(self, rows: NDArray[np.int64]) -> Sample:
        every = self.cases()
        return Sample(every.inputs[rows], every.labels[rows])

    def rows(self, instance: int) -> NDArray[np.int64]:
        """Which cases train an instance."""
        count = len(self.cases().labels)
        if (instance + 1) * self.training_cases > count:
            raise SpecError(
                f'problem "{self.name}" has {count // self.training_cases} training sets of '
                f"{self.training_cases} cases, no number {instance} (from 0): ask for fewer instances"
            )
        order = generator("wcci", self.name, "order").permutation(count)
        found: NDArray[np.int64] = order[instance * self.training_cases :][: self.training_cases]
        return found


def _shuffled(sample: Sample, rng: np.random.Generator) -> Sample:
    order = rng.permutation(len(sample.labels))
    return Sample(sample.inputs[order], sample.labels[order])


def _labels(negative: int, positive: int) -> Labels:
    return np.repeat(np.array([-1, 1], dtype=np.int64), [negative, positive])


def twonorm(negative: int, positive: int, rng: np.random.Generator) -> Sample:
    """Two normal distributions of twenty inputs, means ±2/√20 in each (Breiman 1996)."""
    labels = _labels(negative, positive)
    means = 2 / NORM_INPUTS**0.5 * labels
    return Sample(rng.normal(size=(labels.size, NORM_INPUTS)) + means[:, None], labels)


def ringnorm(negative: int, positive: int, rng: np.random.Generator) -> Sample:
    """One normal distribution with variances 4 within another one with mean 2/√20 (Breiman 1996)."""
    labels = _labels(negative, positive)
    values = rng.normal(size=(labels.size, NORM_INPUTS))
    scale = np.where(labels < 0, 2.0, 1.0)
    return Sample(values * scale[:, None] + np.where(labels < 0, 0.0, 2 / NORM_INPUTS**0.5)[:, None], labels)


WORDS, TELLING_WORDS = 200, 40


def words(negative: int, positive: int, rng: np.random.Generator) -> Sample:
    """Documents as sparse sets of words, of which some are three times as likely in one class: like NOVA."""
    from scipy.sparse import csr_matrix

    labels = _labels(negative, positive)
    share = 0.3 / np.arange(1, WORDS + 1) ** 0.6
    odds = np.tile(share / (1 - share), (2, 1))
    telling = np.arange(2, 2 + 2 * TELLING_WORDS, 2)
    odds[1, telling[::2]] *= 3.0
    odds[0, telling[1::2]] *= 3.0
    chances = (odds / (1 + odds))[(labels > 0).astype(int)]
    return Sample(csr_matrix((rng.random(chances.shape) < chances).astype(np.float64)), labels)


def rare(negative: int, positive: int, rng: np.random.Generator) -> Sample:
    """A rare class in one of two places, numbers and yes-or-no inputs: unbalanced like SYLVA and HIVA."""
    labels = _labels(negative, positive)
    numbers = rng.normal(size=(labels.size, 8))
    place = rng.random(labels.size) < 0.5
    numbers[:, :3] += np.where(labels > 0, np.where(place, 1.5, -1.0), 0.0)[:, None]
    flags = rng.random((labels.size, 6)) < np.where(labels > 0, 0.6, 0.3)[:, None]
    flags[:, 3:] = rng.random((labels.size, 3)) < 0.4
    return Sample(np.column_stack([numbers, flags.astype(np.float64)]), labels)


@lru_cache(maxsize=1)
def arm() -> Sample:
    """Whether the hand of a robot arm is far from its target: kin-8nm, cut at the median."""
    from redelve.data.catalogue.kin import simulate
    from redelve.data.catalogue.simulated_family import Member

    found = simulate(Member.named("kin-8nm"))
    far = found.targets > np.median(found.targets)
    return Sample(found.inputs, np.where(far, 1, -1).astype(np.int64))


@lru_cache(maxsize=1)
def digits() -> Sample:
    """Whether a digit written by hand is odd: scikit-learn's copy of UCI's optical digits."""
    from sklearn.datasets import load_digits

    inputs, digit = load_digits(return_X_y=True)
    return Sample(inputs / 16, np.where(digit % 2 == 1, 1, -1).astype(np.int64))


PROBLEMS: Registry[TwoClassProblem | Pool] = Registry("problem", own_name="name")
for _problem in (
    TwoClassProblem("twonorm", "two normal classes, 20 inputs (Breiman 1996)", 100, 0.5, twonorm),
    TwoClassProblem(
        "ringnorm", "a normal class within another, 20 inputs (Breiman 1996)", 100, 0.5, ringnorm
    ),
    TwoClassProblem("words", "200 sparse yes-or-no inputs, 28 % positive (like NOVA)", 150, 0.28, words),
    TwoClassProblem("rare", "14 mixed inputs, 10 % positive (like SYLVA and HIVA)", 200, 0.1, rare),
    Pool("arm", "kin-8nm, far or near: 8 inputs, non-linear", 128, arm),
    Pool("digits", "odd or even digits written by hand, 64 inputs (real)", 100, digits),
):
    PROBLEMS.add(_problem.name, _problem)
