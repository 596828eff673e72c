"""When to stop: small rules, joined with | (either) and & (both).

PROBEN1's tables 3 and 4 (Prechelt 1994, section 3.3) stop by `GL(5) | P(0.1) | MaxEpochs(3000)`, its tables 5
and 6 by `GL(5).once() & UP(8).once() & PQ(3).once() | P(0.1) | MaxEpochs(3000)`, in strips of 5 epochs.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from redelve.errors import SpecError

Flags = NDArray[np.bool_]
Numbers = NDArray[np.float64]


@dataclass
class StoppingWatch:
    """What rules look at, a number for each run under way: filled in by the trainer at the end of each strip.

    `generalization_loss` is GL(t) in percent, `progress` P_k(t) in parts per thousand, `rises` the number of
    successive strips with rising validation error, `worst` the largest deviation of an output from its target
    at the current weights (None when nothing asks for it or the weights have just moved), `best_epochs` the
    epoch of the lowest validation error (None before there is one).
    """

    epoch: int
    generalization_loss: Numbers
    progress: Numbers
    rises: NDArray[np.int64]
    worst: Numbers | None = None
    latches: dict[StoppingRule, Flags] = field(default_factory=dict)
    best_epochs: NDArray[np.int64] | None = None

    @property
    def runs(self) -> int:
        """How many runs are under way."""
        return len(self.rises)


class StoppingRule(ABC):
    """Says which runs are to stop."""

    needs_validation = False
    needs_worst = False

    @abstractmethod
    def fires(self, watch: StoppingWatch) -> Flags:
        """For each run: stop?"""

    def limit(self) -> int | None:
        """The number of epochs at which it certainly fires; None where there is none."""
        return None

    def parts(self) -> Iterator[StoppingRule]:
        """This rule and all it is made of."""
        yield self

    def reason(self, watch: StoppingWatch, run: int) -> str:
        """Why it fired for this run."""
        return self.reasons(watch, np.array([run]))[0]

    def reasons(self, watch: StoppingWatch, runs: NDArray[np.intp]) -> list[str]:
        """Why it fired for each of these runs."""
        return [repr(self)] * len(runs)

    def once(self) -> Once:
        """Fires from the first time on that this rule fires."""
        return Once(self)

    def __or__(self, other: StoppingRule) -> StoppingRule:
        return Either(self, other)

    def __and__(self, other: StoppingRule) -> StoppingRule:
        return Both(self, other)


@dataclass(frozen=True)
class GL(StoppingRule):
    """GL_α: the validation error is more than α percent above its minimum so far.

    GL(t) = 100 (E_va(t) / E_opt(t) - 1) > α (Prechelt 1994, section 3.3).
    """

    alpha: float
    needs_validation = True

    def fires(self, watch: StoppingWatch) -> Flags:
        """For each run: is GL(t) > α?"""
        return watch.generalization_loss > self.alpha


@dataclass(frozen=True)
class P(StoppingRule):
    """P_k: training progress fell below so many parts per thousand.

    P_k(t) = 1000 (mean E_tr over the strip / min E_tr over the strip - 1) (Prechelt 1994, section 3.3).
    """

    below: float

    def fires(self, watch: StoppingWatch) -> Flags:
        """For each run: is P_k(t) below the threshold?"""
        return watch.progress < self.below


@dataclass(frozen=True)
class UP(StoppingRule):
    """UP_s: the validation error rose at the end of s successive strips (Prechelt 1998)."""

    strips: int
    needs_validation = True

    def fires(self, watch: StoppingWatch) -> Flags:
        """For each run: have there been s rises in a row?"""
        return watch.rises >= self.strips


@dataclass(frozen=True)
class Patience(StoppingRule):
    """The validation error has not been lower than its minimum so far for this many epochs."""

    epochs: int
    needs_validation = True

    def __post_init__(self) -> None:
        if self.epochs < 1:
            raise SpecError(f"Patience({self.epochs}): give 1 or more")

    def fires(self, watch: StoppingWatch) -> Flags:
        """For each run: is the minimum so long ago?"""
        best = 0 if watch.best_epochs is None else watch.best_epochs
        return np.broadcast_to(watch.epoch - best >= self.epochs, watch.runs)


@dataclass(frozen=True)
class PQ(StoppingRule):
    """PQ_α: GL(t) / P_k(t), generalization loss over training progress, is above α (Prechelt 1998)."""

    alpha: float
    needs_validation = True

    def fires(self, watch: StoppingWatch) -> Flags:
        """For each run: is GL(t) > α P_k(t)?"""
        return watch.generalization_loss > self.alpha * watch.progress


@dataclass(frozen=True)
class MaxEpochs(StoppingRule):
    """So many epochs have been trained."""

    epochs: int

    def __post_init__(self) -> None:
        if self.epochs < 1:
            raise SpecError(f"MaxEpochs({self.epochs}): give 1 or more")

    def fires(self, watch: StoppingWatch) -> Flags:
        """For every run alike: is the limit reached?"""
        return np.full(watch.runs, watch.epoch >= self.epochs)

    def limit(self) -> int:
        """The limit."""
        return self.epochs


@dataclass(frozen=True)
class Success(StoppingRule):
    """Every output of every training case is less than τ from its target (Hamey 1992, section 2: τ = 0.4).

    Asked at every epoch, of the weights before they move: a run that is successful has made exactly so many
    epochs as it needed.
    """

    tau: float = 0.4
    needs_worst = True

    def fires(self, watch: StoppingWatch) -> Flags:
        """For each run: is the largest deviation below τ?"""
        return np.zeros(watch.runs, dtype=bool) if watch.worst is None else watch.worst < self.tau


def success_alone(rule: StoppingRule) -> float | None:
    """The τ of success, if a run that succeeds stops whatever else, and deviations matter in no other way.

    >>> success_alone(Success(0.4) | MaxEpochs(100))
    0.4
    """
    ways = list(_alternatives(rule))
    others = (part for way in ways if not isinstance(way, Success) for part in way.parts())
    if any(part.needs_worst for part in others):
        return None
    return max((way.tau for way in ways if isinstance(way, Success)), default=None)


def _alternatives(rule: StoppingRule) -> Iterator[StoppingRule]:
    if isinstance(rule, Either):
        yield from _alternatives(rule.first)
        yield from _alternatives(rule.second)
    else:
        yield rule


@dataclass(frozen=True)
class Once(StoppingRule):
    """Fires from the first time on that `rule` fires."""

    rule: StoppingRule

    def fires(self, watch: StoppingWatch) -> Flags:
        """For each run: has the rule fired, now or before?"""
        before = watch.latches.get(self, np.zeros(watch.runs, dtype=bool))
        watch.latches[self] = before | self.rule.fires(watch)
        return watch.latches[self]

    def limit(self) -> int | None:
        """The rule's own limit."""
        return self.rule.limit()

    def parts(self) -> Iterator[StoppingRule]:
        """This rule and the one it remembers."""
        yield self
        yield from self.rule.parts()

    def __repr__(self) -> str:
        return f"{self.rule!r}.once()"


@dataclass(frozen=True)
class Either(StoppingRule):
    """One of two rules fires."""

    first: StoppingRule
    second: StoppingRule

    def fires(self, watch: StoppingWatch) -> Flags:
        """For each run: does one of them fire? (Both are asked: they may have something to remember.)"""
        first, second = self.first.fires(watch), self.second.fires(watch)
        return first | second

    def limit(self) -> int | None:
        """The smaller limit."""
        known = [limit for limit in (self.first.limit(), self.second.limit()) if limit is not None]
        return min(known) if known else None

    def parts(self) -> Iterator[StoppingRule]:
        """This rule and all it is made of."""
        yield self
        yield from self.first.parts()
        yield from self.second.parts()

    def reasons(self, watch: StoppingWatch, runs: NDArray[np.intp]) -> list[str]:
        """The reasons of the first one that fired, for each run."""
        by_first = self.first.fires(watch)[runs]
        first, second = (iter(self.first.reasons(watch, runs[by_first])),
                         iter(self.second.reasons(watch, runs[~by_first])))  # fmt: skip
        return [next(first if fired else second) for fired in by_first]

    def __repr__(self) -> str:
        return f"{self.first!r} | {self.second!r}"


@dataclass(frozen=True)
class Both(StoppingRule):
    """Two rules fire together."""

    first: StoppingRule
    second: StoppingRule

    def fires(self, watch: StoppingWatch) -> Flags:
        """For each run: do both fire?"""
        first, second = self.first.fires(watch), self.second.fires(watch)
        return first & second

    def limit(self) -> int | None:
        """The larger limit, if both have one."""
        first, second = self.first.limit(), self.second.limit()
        return None if first is None or second is None else max(first, second)

    def parts(self) -> Iterator[StoppingRule]:
        """This rule and all it is made of."""
        yield self
        yield from self.first.parts()
        yield from self.second.parts()

    def __repr__(self) -> str:
        sides = [
            f"({side!r})" if isinstance(side, Either) else repr(side) for side in (self.first, self.second)
        ]
        return " & ".join(sides)
