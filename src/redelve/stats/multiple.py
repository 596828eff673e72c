"""Many comparisons at once: Holm's adjustment, all pairs of methods, and which of them may be the best.

Whatever is adjusted here starts from the *cautious* p-value where a comparison has one: adjusting reaches far
into the tails, where the plain one errs most with few training sets. See docs/comparisons.md.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from math import isnan
from typing import Protocol, TypeVar

from redelve.errors import StatisticsError
from redelve.stats.estimates import check_level

Data = TypeVar("Data")

SELECTED = (
    "the best-looking method was picked by the same losses that judge it, so its mean flatters it and the "
    "differences from it are on average too large; the group allows for this, the differences do not"
)
GROUP = (
    "a method in the group has not been shown to be worse than another; that is not evidence that it is as "
    "good as the best"
)


class PairedTest(Protocol):
    """What a comparison of two methods must offer: a difference of losses, first minus second, and a test."""

    @property
    def difference(self) -> float | None:
        """Estimated difference, or None."""

    @property
    def standard_error(self) -> float | None:
        """Standard error of the difference, or None."""

    @property
    def p_value(self) -> float | None:
        """Two-sided p-value, or None where undefined."""

    @property
    def caveats(self) -> tuple[str, ...]:
        """What must be said beside it."""


@dataclass(frozen=True)
class Pair:
    """Two methods, their comparison, and its p-value adjusted for all the pairs compared together."""

    first: str
    second: str
    test: PairedTest
    adjusted_p_value: float | None


@dataclass(frozen=True)
class AllPairs:
    """Every pair of methods once; `family` is the number of defined p-values that Holm's method adjusts."""

    methods: tuple[str, ...]
    pairs: tuple[Pair, ...]
    family: int
    caveats: tuple[str, ...]


@dataclass(frozen=True)
class Standing:
    """Where a method stands: its difference from the best-looking one, and whether it may be the best.

    `p_value` is for the hypothesis that no other method has a smaller expected loss, adjusted for all others;
    None where no test is defined. `rival` is the method that speaks most strongly against that hypothesis.
    """

    method: str
    difference: float | None
    standard_error: float | None
    p_value: float | None
    rival: str | None
    in_group: bool


@dataclass(frozen=True)
class BestGroup:
    """The methods not distinguishable from the best; the truly best one is among them with `confidence`."""

    best_looking: str | None
    standings: tuple[Standing, ...]
    confidence: float
    caveats: tuple[str, ...]
    members: tuple[str, ...] = field(init=False)
    """Names of the methods in the group."""

    def __post_init__(self) -> None:
        members = tuple(standing.method for standing in self.standings if standing.in_group)
        object.__setattr__(self, "members", members)


def holm(p_values: Sequence[float | None]) -> tuple[float | None, ...]:
    """Adjusted p-values that keep the family-wise error rate under any dependence (Holm 1979).

    p̃_(i) = max_{j ≤ i} min((m − j + 1) p_(j), 1). Undefined ones (None or NaN) stay None and are not counted.

    >>> holm([0.01, 0.04, None, 0.03])
    (0.03, 0.06, None, 0.06)
    """
    defined = [(p, i) for i, p in enumerate(p_values) if p is not None and not isnan(p)]
    if wrong := [p for p, _ in defined if not 0 <= p <= 1]:
        raise StatisticsError(f"a p-value lies between 0 and 1: got {wrong[0]}")
    adjusted: list[float | None] = [None] * len(p_values)
    largest = 0.0
    for rank, (p, i) in enumerate(sorted(defined)):
        largest = max(largest, min((len(defined) - rank) * p, 1.0))
        adjusted[i] = largest
    return tuple(adjusted)


def compare_all(losses: Mapping[str, Data], compare: Callable[[Data, Data], PairedTest]) -> AllPairs:
    """Compare every pair of methods and adjust the p-values by Holm's method.

    >>> from redelve.stats.anova import compare_hierarchical
    >>> tables = {"a": [[1, 2], [1, 3]], "b": [[2, 2], [2, 5]], "c": [[5, 2], [6, 6]]}
    >>> [(pair.first, pair.second) for pair in compare_all(tables, compare_hierarchical).pairs]
    [('a', 'b'), ('a', 'c'), ('b', 'c')]
    """
    if len(losses) < 2:
        raise StatisticsError(f"a comparison needs at least two methods: got {', '.join(losses) or 'none'}")
    names = combinations(losses, 2)
    return adjust_all({(one, two): compare(losses[one], losses[two]) for one, two in names})


def adjust_all(tests: Mapping[tuple[str, str], PairedTest]) -> AllPairs:
    """The comparisons of every pair of methods, with p-values adjusted by Holm's method."""
    adjusted = holm([guarded_p_value(test) for test in tests.values()])
    pairs = tuple(Pair(*names, test, p) for (names, test), p in zip(tests.items(), adjusted, strict=True))
    methods = tuple(dict.fromkeys(name for names in tests for name in names))
    caveats = (*_union(test.caveats for test in tests.values()), *_undefined(pairs))
    return AllPairs(methods, pairs, sum(p is not None for p in adjusted), caveats)


def guarded_p_value(test: PairedTest) -> float | None:
    """The p-value that adjustments start from: the cautious one where a comparison has it."""
    cautious: float | None = getattr(test, "cautious_p_value", test.p_value)
    return cautious


def best_group(comparisons: AllPairs, *, level: float = 0.05) -> BestGroup:
    """The methods that may be the best: those not significantly worse than any other.

    Method i stays if min_j (k − 1) p_ij ≥ `level`, with p_ij one-sided for i being worse than j: multiple
    comparisons with the best (Hsu 1984, Annals of Statistics 12:1136–1144), with Bonferroni's inequality in
    place of his joint distribution, as the paired differences may depend in any way. No method is singled out
    by the data, so the truly best is in the group with probability at least 1 − `level`.
    """
    check_level(level)
    table = _oriented(comparisons)
    leader = _best_looking(table)
    standings = tuple(_standing(method, leader, table, level) for method in comparisons.methods)
    return BestGroup(leader, standings, 1 - level, (*comparisons.caveats, SELECTED, GROUP))


Seen = tuple[float | None, float | None, float | None]
"""From one method's side: difference, its standard error, and the one-sided p-value for being worse."""


def _oriented(comparisons: AllPairs) -> dict[str, dict[str, Seen]]:
    """For every method its rivals, each with difference, standard error and one-sided p-value."""
    table: dict[str, dict[str, Seen]] = {method: {} for method in comparisons.methods}
    for pair in comparisons.pairs:
        difference, error = pair.test.difference, pair.test.standard_error
        p = guarded_p_value(pair.test)
        table[pair.first][pair.second] = (difference, error, _worse(difference, p))
        opposite = None if difference is None else -difference
        table[pair.second][pair.first] = (opposite, error, _worse(opposite, p))
    return table


def _worse(difference: float | None, p: float | None) -> float | None:
    """One-sided p-value for a positive difference, from a two-sided one of a symmetric test."""
    if difference is None or p is None or isnan(p):
        return None
    return p / 2 if difference > 0 else 1 - p / 2


def _best_looking(table: Mapping[str, Mapping[str, Seen]]) -> str | None:
    """The method with no positive difference; None if that cannot be told because all are undefined."""
    for method, rivals in table.items():
        differences = [seen[0] for seen in rivals.values() if seen[0] is not None]
        if differences and max(differences) <= 0:
            return method
    return None


def _standing(
    method: str, leader: str | None, table: Mapping[str, Mapping[str, Seen]], level: float
) -> Standing:
    rivals = {name: seen[2] for name, seen in table[method].items() if seen[2] is not None}
    rival = min(rivals, key=rivals.__getitem__, default=None)
    p = None if rival is None else min(len(table[method]) * rivals[rival], 1.0)
    away = (0.0, 0.0, None) if method == leader else table[method].get(leader or "", (None, None, None))
    return Standing(method, away[0], away[1], p, rival, p is None or p >= level)


def _union(many: Iterable[tuple[str, ...]]) -> tuple[str, ...]:
    """Every caveat once, in the order in which they first appear."""
    return tuple(dict.fromkeys(caveat for some in many for caveat in some))


def _undefined(pairs: Sequence[Pair]) -> tuple[str, ...]:
    without = [f"{pair.first} and {pair.second}" for pair in pairs if pair.adjusted_p_value is None]
    if not without:
        return ()
    return (f"no test is defined between {', '.join(without)}: they count as not distinguished",)
