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
from redelve.model.designs.folds import (
    bootstrap_instances,
    dealt,
    dealt_in_groups,
    fold_instances,
    held_out,
    pairs_of_folds,
)
from redelve.seeds import generator
from redelve.stats.optimism import IntArray, draw_counts

MOST_DRAWS = 1000
"""So many samples of groups are drawn, at most, for one that has all classes."""


@dataclass(frozen=True, eq=False)
class Splitter:
    """Draws splits of cases with these classes; one class for all where numbers are predicted."""

    classes: Rows
    seed: int
    names: tuple[str, ...] = ()
    groups: Rows | None = None
    """The group of each case, numbered from 0: cases of a group are never on both sides."""

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

    @cached_property
    def members(self) -> list[Rows]:
        """The cases of each group; each case is one where there are none."""
        labels = np.arange(self.count) if self.groups is None else self.groups
        return [np.flatnonzero(labels == one) for one in range(int(labels.max()) + 1)]

    @cached_property
    def strata(self) -> Rows:
        """The most frequent class of each group; all the same where one would have a single group."""
        found = np.array([np.bincount(self.classes[group]).argmax() for group in self.members])
        return found if np.unique(found, return_counts=True)[1].min() > 1 else np.zeros_like(found)

    def hold_out(self, share: float) -> Instance:
        """One split that tests this share of each class."""
        size, name = self.smallest
        if not 0 < share < 1:
            raise SpecError(f"hold-out tests a share of the cases between 0 and 1: got {share:g}")
        rng = generator("predict", self.seed, "hold-out", f"{share:g}")
        if self.groups is not None:
            return self._groups_held_out(share, rng)
        if round(share * size) < 1 or round(share * size) >= size:
            raise SpecError(
                f'hold-out of {share:g} leaves no case of class "{name}" on one side (it has {size}): choose '
                "another share, or k-fold"
            )
        return held_out(self.classes, share, rng)

    def _groups_held_out(self, share: float, rng: np.random.Generator) -> Instance:
        chosen = held_out(self.strata, share, rng)
        training, testing = (
            np.sort(np.concatenate([self.members[one] for one in side] or [self.classes[:0]]))
            for side in (chosen.training, chosen.testing)
        )
        made = Instance(0, training, testing)
        if min(chosen.testing.size, chosen.training.size) < 2 or self._lacks_classes(made.training):
            raise SpecError(
                f"hold-out of {share:g} of {len(self.members)} groups leaves fewer than two on one side, or "
                "no case of some class to learn from: choose another share, or k-fold"
            )
        return made

    def _lacks_classes(self, training: Rows) -> bool:
        return np.unique(self.classes[training]).size < np.unique(self.classes).size

    def folds(self, count: int, repetition: int = 0) -> tuple[Instance, ...]:
        """The splits of k-fold cross-validation; so many folds as cases leave one out."""
        return fold_instances(self.fold_numbers(count, repetition), count)

    def fold_numbers(self, count: int, repetition: int = 0) -> Rows:
        """The fold of each case, classes spread as evenly as can be."""
        self._check_folds(count)
        rng = generator("predict", self.seed, "folds", count, repetition)
        if self.groups is not None:
            return dealt_in_groups(rng.permutation(len(self.members)), self.members, count, self.classes)
        return dealt(rng.permutation(self.count), count, self.classes)

    def pairs(self, count: int, repetition: int = 0) -> tuple[Instance, ...]:
        """For every pair of folds, in the order of `combinations`, the split that tests both."""
        return tuple(pairs_of_folds(self.folds(count, repetition)))

    def bootstrap(self, samples: int) -> tuple[IntArray, tuple[Instance, ...]]:
        """How often each sample holds each case or group, and the splits that test the cases outside."""
        if samples < 2:
            raise SpecError(f"the bootstrap needs two samples or more, 100 say: got {samples}")
        size, name = self.smallest
        if size < 2:
            raise SpecError(f'class "{name}" has one case: the bootstrap needs two of each at least')
        rng = generator("predict", self.seed, "bootstrap", samples)
        if self.groups is None:
            counts = draw_counts(self.classes, samples, rng)
            return counts, bootstrap_instances(counts)
        self._check_groups(2)
        counts = np.concatenate([self._sample_of_groups(rng) for _ in range(samples)])
        return counts, bootstrap_instances(counts[:, self.groups])

    def _sample_of_groups(self, rng: np.random.Generator) -> IntArray:
        """How often a sample holds each group; drawn anew until it has all classes and leaves a group out."""
        for _ in range(MOST_DRAWS):
            counts = draw_counts(self.strata, 1, rng)
            inside = counts[0, self.groups] > 0
            if not inside.all() and not self._lacks_classes(np.flatnonzero(inside)):
                return counts
        raise SpecError(
            f"{MOST_DRAWS} bootstrap samples of groups in a row lack some class, which is in too few groups: "
            "use k-fold"
        )

    def _check_groups(self, folds: int) -> None:
        groups = len(self.members)
        if not 2 <= folds <= groups:
            raise SpecError(f"k-fold needs k from 2 to the number of groups, {groups}: got {folds}")
        for one in np.unique(self.classes):
            holding = sum(bool((self.classes[group] == one).any()) for group in self.members)
            if holding < 2:
                name = self.names[int(one)] if self.names else "all"
                raise SpecError(
                    f'class "{name}" is in one group only: a model could never both learn and show it'
                )

    def _check_folds(self, count: int) -> None:
        if self.groups is not None:
            self._check_groups(count)
            return
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
