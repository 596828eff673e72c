"""The splits that ways ask for: drawn by the designs, with named seeds, the same for every method.

What cannot be drawn is refused in the words of the ways.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from redelve.errors import SpecError
from redelve.model import Instance
from redelve.model.dataset import Rows
from redelve.model.designs.folds import bootstrap_instances, dealt, fold_instances, held_out, pairs_of_folds
from redelve.seeds import generator
from redelve.stats.optimism import IntArray, draw_counts


@dataclass(frozen=True, eq=False)
class Splitter:
    """Draws splits of cases with these classes; one class for all where numbers are predicted."""

    classes: Rows
    seed: int
    names: tuple[str, ...] = ()

    @property
    def count(self) -> int:
        """How many cases there are."""
        return int(self.classes.size)

    @cached_property
    def smallest(self) -> tuple[int, str]:
        """The size and name of the smallest class."""
        values, counts = np.unique(self.classes, return_counts=True)
        place = int(counts.argmin())
        name = self.names[int(values[place])] if self.names else "all"
        return int(counts[place]), name

    def hold_out(self, share: float) -> Instance:
        """One split that tests this share of each class."""
        size, name = self.smallest
        if not 0 < share < 1:
            raise SpecError(f"hold-out tests a share of the cases between 0 and 1: got {share:g}")
        if round(share * size) < 1 or round(share * size) >= size:
            raise SpecError(
                f'hold-out of {share:g} leaves no case of class "{name}" on one side (it has {size}): choose '
                "another share, or k-fold"
            )
        return held_out(self.classes, share, generator("predict", self.seed, "hold-out", f"{share:g}"))

    def folds(self, count: int, repetition: int = 0) -> tuple[Instance, ...]:
        """The splits of k-fold cross-validation; so many folds as cases leave one out."""
        return fold_instances(self.fold_numbers(count, repetition), count)

    def fold_numbers(self, count: int, repetition: int = 0) -> Rows:
        """The fold of each case, classes spread as evenly as can be."""
        self._check_folds(count)
        rng = generator("predict", self.seed, "folds", count, repetition)
        return dealt(rng.permutation(self.count), count, self.classes)

    def pairs(self, count: int, repetition: int = 0) -> tuple[Instance, ...]:
        """For every pair of folds, in the order of `combinations`, the split that tests both."""
        return tuple(pairs_of_folds(self.folds(count, repetition)))

    def bootstrap(self, samples: int) -> tuple[IntArray, tuple[Instance, ...]]:
        """How often each sample holds each case, and the splits that test the cases outside."""
        if samples < 2:
            raise SpecError(f"the bootstrap needs two samples or more, 100 say: got {samples}")
        size, name = self.smallest
        if size < 2:
            raise SpecError(f'class "{name}" has one case: the bootstrap needs two of each at least')
        counts = draw_counts(self.classes, samples, generator("predict", self.seed, "bootstrap", samples))
        return counts, bootstrap_instances(counts)

    def _check_folds(self, count: int) -> None:
        size, name = self.smallest
        if not 2 <= count <= self.count:
            raise SpecError(f"k-fold needs k from 2 to the number of cases, {self.count}: got {count}")
        if size < 2:
            raise SpecError(f'class "{name}" has one case: a model could never both learn and show it')
        if count < self.count and size < count:
            raise SpecError(
                f'{count}-fold needs {count} cases of every class, but "{name}" has {size}: choose k of at '
                f"most {size}, or the ways loo or 632+"
            )
