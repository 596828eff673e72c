"""What a report may claim: every comparison of its methods, sizes and tasks as one family at 5 %.

The prototasks share the level equally, with one part more for tasks together where there are three of them.
Within a prototask most of it goes to the largest training sets, and what a claim leaves is handed down to
the next smaller ones. Of 100 reports on equal methods at most five contain any claim; and at most five
contain any interval that misses. See docs/comparisons.md and docs/calibration.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import isnan

from redelve.run.results import TaskFacts
from redelve.stats.assurance import Pilot, pilot_of
from redelve.stats.estimates import Interval
from redelve.stats.families import JudgedFamily, PairFamily, PairSquares, SizePairs, judged_sizes

Names = tuple[str, str]

LEVEL = 0.05
"""Chance that a report on equal methods claims anything at all."""

FEWEST_TASKS = 3
"""So many prototasks at least are a sample of tasks, of which something is claimed."""


def settle(made: object, **values: object) -> None:
    """Give a frozen value what follows from its other fields."""
    for name, value in values.items():
        object.__setattr__(made, name, value)


@dataclass(frozen=True)
class Claim:
    """What may be said of one comparison, given all others that are made with it.

    `adjusted_p_value` is the level of the whole family from which on the difference is claimed; None where no
    test is defined. `bounds` hold the difference, together with those of all other comparisons, in 95 % of
    reports. `share` is what this comparison's task and size have of the level, `family` all comparisons.
    `own_p_value` is that of the comparison taken alone: the cautious one where test cases are shared.
    """

    adjusted_p_value: float | None
    bounds: Interval | None
    share: float
    family: int
    own_p_value: float | None = None
    place: tuple[PairFamily, int] | None = field(default=None, repr=False, compare=False)
    """The comparisons of this task as a family, and which of them this is."""

    @property
    def pilot(self) -> Pilot | None:
        """What the comparison tells of another one, by the same rule; None where it has no variance."""
        return None if self.place is None else pilot_of(*self.place)

    @property
    def is_made(self) -> bool:
        """Whether the difference is claimed."""
        return self.adjusted_p_value is not None and self.adjusted_p_value < LEVEL


@dataclass(frozen=True)
class TaskPairs:
    """The pairs of methods compared on one task, all or those that were planned, and what they vary."""

    facts: TaskFacts
    methods: int
    names: tuple[Names, ...]
    squares: PairSquares


def prototask_of(address: str) -> str:
    """`/demo/age` for `/demo/age/std.128`."""
    return address.rpartition("/")[0]


def level_parts(tasks: Sequence[TaskPairs]) -> int:
    """Into how many equal parts the level goes: one for each prototask, and one for tasks together."""
    prototasks = len({prototask_of(task.facts.address) for task in tasks})
    return prototasks + (prototasks >= FEWEST_TASKS)


def family_size(tasks: Sequence[TaskPairs]) -> int:
    """How many comparisons are made together: of every task, and of tasks together."""
    prototasks = {prototask_of(task.facts.address) for task in tasks}
    over_tasks = len({names for task in tasks for names in task.names})
    return sum(len(task.names) for task in tasks) + over_tasks * (len(prototasks) >= FEWEST_TASKS)


def claims_of(tasks: Sequence[TaskPairs]) -> dict[str, tuple[Claim, ...]]:
    """For every task's address the claims of its comparisons, in their order."""
    prototasks: dict[str, list[TaskPairs]] = {}
    for task in tasks:
        prototasks.setdefault(prototask_of(task.facts.address), []).append(task)
    parts, family = level_parts(tasks), family_size(tasks)
    found: dict[str, tuple[Claim, ...]] = {}
    for sizes in prototasks.values():
        found |= _of_prototask(sizes, parts, family)
    return found


def _of_prototask(tasks: Sequence[TaskPairs], parts: int, family: int) -> dict[str, tuple[Claim, ...]]:
    """The claims on one prototask, whose sizes hand down what is left of its share."""
    tasks = sorted(tasks, key=lambda task: -task.facts.training_set_size)
    every = dict.fromkeys(names for task in tasks for names in task.names)
    numbers = {names: number for number, names in enumerate(every)}
    sizes = [
        SizePairs(task.squares, task.methods, [numbers[names] for names in task.names]) for task in tasks
    ]
    judged = judged_sizes(sizes, LEVEL, parts)
    return {task.facts.address: family_claims(one, family) for task, one in zip(tasks, judged, strict=True)}


def family_claims(judged: JudgedFamily, comparisons: int) -> tuple[Claim, ...]:
    """The claims of a family's comparisons, of so many that are made together."""
    family = judged.family
    each = zip(
        family.squares.differences.tolist(),
        judged.p_values.tolist(),
        judged.half_widths.tolist(),
        judged.own_p_values.tolist(),
        strict=True,
    )
    return tuple(
        _claim(difference, p, width, (judged.share, comparisons, own, (family, place)))
        for place, (difference, p, width, own) in enumerate(each)
    )


def _claim(
    difference: float, p_value: float, width: float, told: tuple[float, int, float, tuple[PairFamily, int]]
) -> Claim:
    if isnan(p_value) or isnan(width):
        return Claim(None, None, *told[:2])
    low, high = difference - width, difference + width
    if p_value < LEVEL:  # by what was handed down, where the interval at its own share holds zero
        low, high = (max(low, 0.0), high) if difference > 0 else (low, min(high, 0.0))
    return Claim(p_value, (low, high), *told)
