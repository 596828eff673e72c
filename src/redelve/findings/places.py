"""Places on a board: where each method stands, where it may truly stand, and which neighbours are apart.

Places rest on the claims of the report, so those of a task hold all together with 95 % confidence.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TypeVar

import numpy as np

from redelve.findings.claims import Contest, Names
from redelve.findings.over_tasks import PairOverTasks
from redelve.findings.task import TaskFindings
from redelve.findings.tasks_together import AcrossTasks
from redelve.stats.standings import open_places

Compared = TypeVar("Compared", Contest, PairOverTasks)


@dataclass(frozen=True)
class BoardPlace:
    """A method's place by its score, and the places that the evidence leaves open to it."""

    method: str
    place: int
    """Equal scores share the better place."""
    first: int
    """One more than the number of methods that were shown to be better."""
    last: int
    """The number of all methods less those that were shown to be worse."""
    group: int
    """The stretch of the board that it is in: nobody in it was shown to be worse than the first of it."""

    @property
    def words(self) -> str:
        """The places that are open: "1", "3 to 9"."""
        return str(self.first) if self.first == self.last else f"{self.first} to {self.last}"


@dataclass(frozen=True)
class LeaderBoard:
    """All places, the best first, and how many neighbours were shown to be apart."""

    places: tuple[BoardPlace, ...]
    apart: tuple[tuple[str, str], ...]
    """Neighbours of which the better-placed one was shown to be better."""

    @property
    def of(self) -> Mapping[str, BoardPlace]:
        """By method."""
        return {one.method: one for one in self.places}

    @property
    def groups(self) -> tuple[tuple[str, ...], ...]:
        """The stretches of the board, the best first."""
        found: dict[int, list[str]] = {}
        for one in self.places:
            found.setdefault(one.group, []).append(one.method)
        return tuple(map(tuple, found.values()))


def best_first(pair: Compared, order: Mapping[str, int]) -> Compared:
    """The same comparison with the better-placed method first, unless it speaks of a margin."""
    told = pair.verdict if isinstance(pair, Contest) else pair.within
    if order[pair.first] < order[pair.second] or pair.difference is None or told is not None:
        return pair
    bounds = None if pair.claim.bounds is None else (-pair.claim.bounds[1], -pair.claim.bounds[0])
    turned = replace(
        pair,
        first=pair.second,
        second=pair.first,
        difference=-pair.difference,
        claim=replace(pair.claim, bounds=bounds),
    )
    if isinstance(turned, PairOverTasks) and turned.prediction is not None:
        return replace(turned, prediction=(-turned.prediction[1], -turned.prediction[0]))
    return turned


def board_on(task: TaskFindings) -> LeaderBoard | None:
    """The board of a task; None where pairs were planned or raced, or nothing could be compared."""
    if task.is_planned or task.race is not None or not task.contests:
        return None
    means = {one.method: one.mean for one in task.by_loss if one.mean is not None}
    return _board(means, task.pairs.outcomes())


def board_over(across: AcrossTasks) -> LeaderBoard | None:
    """The board by averages over tasks; None where nothing is claimed over them."""
    if across.is_planned or not across.pairs:
        return None
    outcomes = (
        (pair.winner, pair.loser)
        for pair in across.pairs
        if pair.winner is not None and pair.loser is not None
    )
    return _board({one.method: one.average for one in across.by_loss}, outcomes)


def _board(means: Mapping[str, float], outcomes: Iterable[Names]) -> LeaderBoard:
    where = {name: number for number, name in enumerate(means)}
    worse = np.zeros((len(means), len(means)), dtype=np.bool_)
    for winner, loser in outcomes:
        worse[where[loser], where[winner]] = True
    values = np.array(list(means.values()))
    found = open_places(values, worse)
    places = 1 + (values[:, None] > values).sum(axis=1)
    each = zip(
        means, places.tolist(), found.first.tolist(), found.last.tolist(), found.groups.tolist(), strict=True
    )
    apart = tuple((one, two) for one, two in pairwise(means) if worse[where[two], where[one]])
    return LeaderBoard(tuple(BoardPlace(*one) for one in each), apart)
