"""A race of methods on a task: the looks fixed beforehand, what each look found, and the verdict."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from itertools import chain, combinations
from typing import Literal

Verdict = Literal["better", "equivalent", "open"]
LookRule = Literal["equal shares", "all looks together", "same evidence"]
"""How looks share the level: each has an equal part; or p-values allow for all looks at once, and each look
asks for the same p-value, or for the same evidence."""
OLD_RULE: LookRule = "equal shares"
"""That of races whose records name none; such a race goes on by it."""


@dataclass(frozen=True)
class RacePlan:
    """What is fixed before the first look, and must not be changed after it."""

    task: str
    task_digest: str
    loss: str
    methods: Mapping[str, str]
    """Their digests, by name."""
    looks: tuple[int, ...]
    """After how many training sets to look."""
    level: float
    """The chance of any false word over all looks."""
    margin: str | None = None
    runs: int = 1
    rule: LookRule = "same evidence"

    @property
    def share(self) -> float:
        """What p-values at a look are compared with."""
        return self.level / len(self.looks) if self.rule == OLD_RULE else self.level

    @property
    def allowed_for(self) -> tuple[int, ...]:
        """The looks that p-values at a look allow for: all, or where each has its share only one."""
        return self.looks[-1:] if self.rule == OLD_RULE else self.looks

    def differences(self, other: RacePlan) -> tuple[str, ...]:
        """What another plan has otherwise, in words; looks may differ where the rule for them does."""
        named = {
            "data or design": (self.task_digest, other.task_digest),
            "loss": (self.loss, other.loss),
            "methods": (dict(self.methods), dict(other.methods)),
            "looks": (self.looks, other.looks if self.rule == other.rule else self.looks),
            "level": (self.level, other.level),
            "margin": (self.margin, other.margin),
            "runs": (self.runs, other.runs),
        }
        return tuple(name for name, (ours, theirs) in named.items() if ours != theirs)


@dataclass(frozen=True)
class RaceLook:
    """What was found at one look.

    `p_values` are those of "it ties with the best", by method, which allow for all methods in the race,
    and for all looks if the plan's rule does; `p_equivalent` is that of "some two of those that stay
    differ by the margin or more". `failed` are methods that left the race because a job of theirs came to
    no answer. `needed` is the number of training sets that would probably settle what this look left
    open.
    """

    sets: int
    when: str
    p_values: Mapping[str, float]
    dropped: tuple[str, ...]
    failed: tuple[str, ...] = ()
    p_equivalent: float = 1.0
    needed: int | None = None


@dataclass(frozen=True)
class Race:
    """A race as far as it went."""

    plan: RacePlan
    looks: tuple[RaceLook, ...] = ()

    def entrants(self, number: int) -> tuple[str, ...]:
        """The methods in the race when the look of this number, from 0, was to be taken."""
        out = {name for look in self.looks[:number] for name in (*look.dropped, *look.failed)}
        return tuple(name for name in self.plan.methods if name not in out)

    @property
    def left(self) -> tuple[str, ...]:
        """The methods that are still in the race."""
        return self.entrants(len(self.looks))

    @property
    def dropped(self) -> tuple[str, ...]:
        """The methods that were shown not to be the best, in the order in which they dropped out."""
        return tuple(name for look in self.looks for name in look.dropped)

    @property
    def failed(self) -> tuple[str, ...]:
        """The methods that left the race because they failed."""
        return tuple(name for look in self.looks for name in look.failed)

    @property
    def sets(self) -> int:
        """After how many training sets the last look was taken; 0 before the first."""
        return self.looks[-1].sets if self.looks else 0

    @property
    def verdict(self) -> Verdict:
        """What the last look says."""
        if self.looks and len(self.left) == 1 and self.dropped:
            return "better"
        if self.looks and len(self.left) > 1 and self.looks[-1].p_equivalent < self.plan.share:
            return "equivalent"
        return "open"

    @property
    def equivalent(self) -> tuple[str, ...]:
        """The methods that the race found to be equivalent within its margin; none with another verdict."""
        return self.left if self.verdict == "equivalent" else ()

    @property
    def is_over(self) -> bool:
        """Whether there is nothing left to find out, or nothing left to look at."""
        is_used_up = len(self.looks) == len(self.plan.looks)
        return self.verdict != "open" or is_used_up or len(self.left) < 2

    @property
    def jobs_ahead(self) -> tuple[range, tuple[str, ...]]:
        """The training sets and the methods whose jobs come before the next look; none if there is none."""
        if self.is_over:
            return range(0), ()
        return range(self.sets, self.plan.looks[len(self.looks)]), self.left

    def sets_of(self, method: str) -> int:
        """The training sets of a method that count: those up to the last look it took part in."""
        numbers = [number for number in range(len(self.looks)) if method in self.entrants(number)]
        return self.looks[numbers[-1]].sets if numbers else 0


@dataclass(frozen=True)
class EarlierLook:
    """An analysis made before: of which methods, with how many instances, and what each of them lacked."""

    instances: int
    methods: tuple[str, ...]
    when: str = ""
    lacking: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    """The numbers of the instances that a method had no results on, though others had; none if left out."""
    data: str = ""
    """The digest of the data; empty in old looks, which count for any data of that name."""

    def fewer_than(self, held: Mapping[str, Collection[int]]) -> tuple[int, int] | None:
        """The fewest instances that a pair was compared on, if it shares more now; and how many those are.

        `held` are the instances that each method has results on now. On a single one nothing can be compared.
        """
        kinds = Counter(
            (frozenset(self.lacking.get(name, ())), frozenset(held[name]))
            for name in self.methods
            if held.get(name)
        )
        twice = ((kind, kind) for kind, count in kinds.items() if count > 1)
        shared = (
            (self.instances - len(one[0] | other[0]), len(one[1] & other[1]))
            for one, other in chain(combinations(kinds, 2), twice)
        )
        return min((pair for pair in shared if 1 < pair[0] < pair[1]), default=None)
