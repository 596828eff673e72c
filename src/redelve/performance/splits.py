"""Which cases train and which test; all by named seeds, the same for every model, classes spread evenly."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

import numpy as np

from redelve.errors import SpecError
from redelve.model.designs.folds import dealt, splits_of
from redelve.performance.measures import Rows
from redelve.seeds import generator
from redelve.stats.optimism import IntArray, draw_counts


@dataclass(frozen=True, eq=False)
class CaseSplit:
    """Rows to learn from (a bootstrap sample repeats some) and rows to test on."""

    training: Rows
    testing: Rows


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

    def hold_out(self, share: float) -> CaseSplit:
        """One split that tests this share of each class."""
        size, name = self.smallest
        if not 0 < share < 1:
            raise SpecError(f"hold-out tests a share of the cases between 0 and 1: got {share:g}")
        if round(share * size) < 1 or round(share * size) >= size:
            raise SpecError(
                f'hold-out of {share:g} leaves no case of class "{name}" on one side (it has {size}): choose '
                "another share, or k-fold"
            )
        rng = generator("predict", self.seed, "hold-out", f"{share:g}")
        testing = [
            rng.permutation(members)[: max(round(share * members.size), 1)] for members in self._members()
        ]
        return self.against(np.sort(np.concatenate(testing)))

    def folds(self, count: int, repetition: int = 0) -> tuple[CaseSplit, ...]:
        """The splits of k-fold cross-validation; so many folds as cases leave one out."""
        numbers = self.fold_numbers(count, repetition)
        return tuple(CaseSplit(*split) for split in splits_of(numbers, count))

    def fold_numbers(self, count: int, repetition: int = 0) -> Rows:
        """The fold of each case, classes spread as evenly as can be."""
        self._check_folds(count)
        rng = generator("predict", self.seed, "folds", count, repetition)
        return dealt(rng.permutation(self.count), count, self.classes)

    def pairs(self, count: int, repetition: int = 0) -> tuple[CaseSplit, ...]:
        """For every pair of folds, in the order of `combinations`, the split that tests both."""
        numbers = self.fold_numbers(count, repetition)
        return tuple(
            self.against(np.flatnonzero(np.isin(numbers, pair))) for pair in combinations(range(count), 2)
        )

    def bootstrap(self, samples: int) -> tuple[IntArray, tuple[CaseSplit, ...]]:
        """How often each sample holds each case, and the splits that test the cases outside."""
        if samples < 2:
            raise SpecError(f"the bootstrap needs two samples or more, 100 say: got {samples}")
        size, name = self.smallest
        if size < 2:
            raise SpecError(f'class "{name}" has one case: the bootstrap needs two of each at least')
        counts = draw_counts(self.classes, samples, generator("predict", self.seed, "bootstrap", samples))
        every = np.arange(self.count)
        return counts, tuple(CaseSplit(np.repeat(every, row), np.flatnonzero(row == 0)) for row in counts)

    def against(self, testing: Rows) -> CaseSplit:
        """The split that tests these rows and trains on all others."""
        return CaseSplit(np.setdiff1d(np.arange(self.count), testing), testing)

    def _members(self) -> list[Rows]:
        return [np.flatnonzero(self.classes == one) for one in np.unique(self.classes)]

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
