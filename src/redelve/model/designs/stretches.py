"""Sets of cases taken one after another along the order, no two of them sharing a group."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from redelve.errors import SpecError
from redelve.model.cases import Rows
from redelve.model.designs.groups import Integers, as_rows


class Taking(Protocol):
    """A rule that takes a set of a given size from the order, beginning at a position."""

    @property
    def unit(self) -> int:
        """Sizes are multiples of this."""
        ...

    def take(self, start: int, stop: int, size: int) -> Rows | None:
        """The first positions from `start` that make such a set, or None if it would reach `stop`."""
        ...


@dataclass(frozen=True)
class AnyCases:
    """The next cases, whatever they are."""

    unit: int = 1

    def take(self, start: int, stop: int, size: int) -> Rows | None:
        """The next `size` positions."""
        return np.arange(start, start + size, dtype=np.int64) if start + size <= stop else None


@dataclass(frozen=True, eq=False)
class EqualClasses:
    """The next cases of each class, equally many; `places` holds the positions of each class."""

    places: tuple[Rows, ...]

    @staticmethod
    def of(classes: Integers, class_count: int | None) -> EqualClasses:
        """The rule for these class codes; without `class_count` the largest code counts as the last class."""
        codes = as_rows(classes)
        count = int(codes.max()) + 1 if class_count is None else class_count
        wrong = np.flatnonzero((codes < 0) | (codes >= count))
        if len(wrong):
            raise SpecError(
                f"class code {codes[wrong[0]]} of case {wrong[0] + 1} in the prototask's order is not among "
                f"0 to {count - 1}: leave out cases without a target, or correct the number of classes"
            )
        return EqualClasses(tuple(np.flatnonzero(codes == code) for code in range(count)))

    @property
    def count(self) -> int:
        """The number of classes."""
        return len(self.places)

    @property
    def unit(self) -> int:
        """Every class must get the same number of cases."""
        return self.count

    def take(self, start: int, stop: int, size: int) -> Rows | None:
        """The next `size` / (number of classes) positions of each class."""
        share = size // self.count
        taken = [places[np.searchsorted(places, start) :][:share] for places in self.places]
        if any(len(part) < share or part[-1] >= stop for part in taken):
            return None
        return np.sort(np.concatenate(taken))

    def slice(self, begin: int, share: int) -> Rows:
        """For each class, `share` of its cases after its first `begin`."""
        return np.sort(np.concatenate([places[begin : begin + share] for places in self.places]))


def take_sets(taking: Taking, ends: Rows, span: tuple[int, int], size: int, most: int) -> list[Rows]:
    """As many sets as fit between two positions; what is left of a set's last group is passed over.

    Beginning each set as early as possible can only make the next one begin earlier, so none is missed.
    """
    sets: list[Rows] = []
    start, stop = span
    while len(sets) < most and start < stop:
        taken = taking.take(start, stop, size)
        if taken is None:
            break
        sets.append(taken)
        start = int(ends[taken[-1]])
    return sets


def take_equal_sets(taking: Taking, ends: Rows, stop: int, total: int, count: int) -> list[Rows]:
    """`count` sets, equal and as large as can be, of at most `total` cases before `stop`; or none."""
    largest = total // count // taking.unit * taking.unit
    for size in range(largest, 0, -taking.unit):
        sets = take_sets(taking, ends, (0, stop), size, count)
        if len(sets) == count:
            return sets
    return []
