"""Comparisons planned beforehand: they pay for themselves alone, and all others are described, not tested."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from redelve.errors import StatisticsError, hint
from redelve.findings.claims import Names
from redelve.registry import value_told

PLANNED = "only the planned comparisons are tested; of other differences nothing is claimed"


def planned_pairs(pairs: Sequence[Sequence[str]], known: Collection[str]) -> tuple[Names, ...]:
    """Pairs of known methods, each once, whichever is named first.

    >>> planned_pairs([("a", "b"), ("b", "a")], ["a", "b", "c"])
    (('a', 'b'),)
    """
    found: dict[frozenset[str], Names] = {}
    for pair in pairs:
        names = _checked(pair, known)
        found.setdefault(frozenset(names), names)
    if not found:
        raise StatisticsError(
            'no comparison is planned: name pairs of methods, as in [("mine", "theirs")], or None for all'
        )
    return tuple(found.values())


def _checked(pair: Sequence[str], known: Collection[str]) -> Names:
    if isinstance(pair, str) or len(pair) != 2:
        raise StatisticsError(
            f'a planned comparison is of two methods, as in ("mine", "theirs"): got {value_told(pair)}'
        )
    for name in pair:
        if name not in known:
            raise StatisticsError(
                f'a comparison with "{name}" is planned, but the methods are {", ".join(known)}'
                f"{hint(name, known)}"
            )
    first, second = pair
    if first == second:
        raise StatisticsError(f'a comparison of "{first}" with itself is planned: name two methods')
    return first, second
