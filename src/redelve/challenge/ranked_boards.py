"""Leaderboards: ranks per dataset and overall, with standard errors and who cannot be told from whom.

During development entries are ranked by the BER of the validation part, in the end by the score R of the
test part (Guyon et al. 2006, sections II and III). Ranks are for the scores as they are; beside each stands
what the evidence leaves open. See docs/challenge.md.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

import numpy as np
from numpy.typing import NDArray

from redelve.challenge.challenge_files import Int8Array
from redelve.challenge.challenge_folder import Challenge
from redelve.challenge.feedback import ShownScore
from redelve.challenge.scoring import DatasetScores, PartScores
from redelve.errors import SpecError
from redelve.stats.paired_errors import Outcomes
from redelve.stats.standings import (
    Standings,
    apart_p_values,
    place_entries,
    rank_sums,
    score_worse_p_values,
)

LEVEL = 0.05


@dataclass(frozen=True, eq=False)
class RankedEntry:
    """An entry with its scores; `outcomes` of the part ranked (`outcomes_of`) are for paired comparisons.

    `is_chosen` marks the one that its participant wants to be ranked by, where the rules let them choose.
    """

    entry: str
    participant: str
    submitted: datetime
    scores: Mapping[str, DatasetScores]
    outcomes: Mapping[str, bytes] = field(default_factory=dict, repr=False)
    is_chosen: bool = False


@dataclass(frozen=True, eq=False)
class ShownEntry:
    """An entry with validation scores as participants see them before the labels are out."""

    entry: str
    participant: str
    scores: Mapping[str, ShownScore]


@dataclass(frozen=True)
class BoardRow:
    """An entry's line in a dataset's table: `value` is what is ranked, BER or R, with its standard error.

    The true place is from `first` to `last`, for all entries of all datasets at once with probability
    1 − level. Entries of one `group`, from 1, have not been told from the best of it; `may_be_best` marks
    those not told from the best of all. None without outcomes. `scores` and `part` are None on a board that
    shows rounded values.
    """

    entry: str
    participant: str
    rank: float
    value: float
    value_error: float
    scores: DatasetScores | None = None
    part: PartScores | None = None
    first: int | None = None
    last: int | None = None
    group: int | None = None
    may_be_best: bool | None = None
    p_value: float | None = None
    beaten_by: frozenset[str] = frozenset()
    """Entries shown to be better."""


@dataclass(frozen=True)
class OverallRow:
    """An entry's line in the overall table; `place` is by the sum of ranks, the same for equal sums.

    `least` and `most` are the rank sums that the evidence leaves open. `may_be_best` is False where some
    entry is surely ahead: its sums are all smaller, or it is shown to be better on every dataset.
    """

    entry: str
    participant: str
    place: int
    rank_sum: float
    mean_rank: float
    ranks: Mapping[str, float]
    mean_value: float
    least: int | None = None
    most: int | None = None
    may_be_best: bool | None = None


@dataclass(frozen=True)
class Ranking:
    """Tables of datasets, each in the order of ranks, and the overall one of entries with all datasets."""

    by: str
    part: str
    datasets: Mapping[str, tuple[BoardRow, ...]]
    overall: tuple[OverallRow, ...]
    level: float

    @property
    def participants(self) -> tuple[OverallRow, ...]:
        """The best overall row of each participant."""
        best: dict[str, OverallRow] = {}
        for row in self.overall:
            best.setdefault(row.participant, row)
        return tuple(best.values())


def leaderboard(
    entries: Sequence[RankedEntry], challenge: Challenge, *, part: str = "valid", level: float = LEVEL
) -> Ranking:
    """All entries given, ranked by the BER of a part; those that lack a dataset are in the others' tables."""
    return _ranking(entries, challenge, ("ber", part), level)


def shown_leaderboard(
    entries: Sequence[ShownEntry], challenge: Challenge, *, level: float = LEVEL
) -> Ranking:
    """Entries ranked by the validation BER as it is shown; nothing here depends on anything else.

    Equal values share their ranks. What the evidence leaves open is by `apart_p_values` of values and errors
    shown: comparing entries case by case would tell more of the labels than the values do.
    """
    share = level / len(challenge.datasets)
    tables = {name: _shown_table(entries, name, share) for name in challenge.names}
    return Ranking("ber", "valid", tables, _overall(entries, tables), level)


def _shown_table(entries: Sequence[ShownEntry], name: str, level: float) -> tuple[BoardRow, ...]:
    """The rows of a dataset in the order of their ranks, from shown values alone."""
    there = [(entry, entry.scores[name]) for entry in entries if name in entry.scores]
    if not there:
        return ()
    values = np.array([score.ber for _, score in there])
    found = place_entries(
        values, apart_p_values(values, [score.ber_error for _, score in there]), level=level
    )
    ranks = rank_sums(values[None]).ranks[0]
    rows = [
        BoardRow(entry.entry, entry.participant, float(rank), score.ber, score.ber_error)
        for (entry, score), rank in zip(there, ranks, strict=True)
    ]
    placed = _placed(rows, found)
    return tuple(placed[k] for k in np.lexsort((np.arange(len(placed)), ranks)).tolist())


def final_ranking(entries: Sequence[RankedEntry], challenge: Challenge, *, level: float = LEVEL) -> Ranking:
    """The challenge's ranking: the complete entries that its rules rank, by R of the test part."""
    return _ranking(ranked_pool(entries, challenge), challenge, ("score", "test"), level)


def ranked_pool(entries: Sequence[RankedEntry], challenge: Challenge) -> list[RankedEntry]:
    """The entries that the final ranking ranks among each other, by the rule `rank_pool`.

    "entries" are the last five complete ones of each participant, as in 2006; they push rivals' ranks down,
    so that a participant gains by fillers between their best entry and a rival's. With one entry for each
    participant there are none: "best" takes, of the last five, that with the smallest mean of R, "chosen"
    the one that the participant chose, or else the last.
    """
    last = last_complete(entries, challenge, challenge.limits.ranked_entries)
    pool = challenge.rules.rank_pool
    if pool == "entries":
        return last
    if pool == "chosen":
        marked = [entry for entry in entries if entry.is_chosen and is_rankable(entry, challenge)]
        one_each = {entry.participant: entry for entry in [*last, *_by_time(marked)]}
    else:
        ordered = sorted(last, key=lambda entry: _mean_score(entry, challenge), reverse=True)
        one_each = {entry.participant: entry for entry in ordered}
    return _by_time(list(one_each.values()))


def _mean_score(entry: RankedEntry, challenge: Challenge) -> float:
    """The mean of R; it depends on nobody else's entries."""
    scores = [entry.scores[name].score for name in challenge.names]
    return float(np.mean([score for score in scores if score is not None]))


def is_rankable(entry: RankedEntry, challenge: Challenge) -> bool:
    """Whether an entry has a ranking score for every dataset."""
    return all(name in entry.scores and entry.scores[name].score is not None for name in challenge.names)


def last_complete(entries: Sequence[RankedEntry], challenge: Challenge, count: int = 5) -> list[RankedEntry]:
    """The last complete entries of each participant, in the order of their submission."""
    taken: Counter[str] = Counter()
    kept = []
    for entry in reversed(_by_time(entries)):
        if is_rankable(entry, challenge) and taken[entry.participant] < count:
            taken[entry.participant] += 1
            kept.append(entry)
    return kept[::-1]


def latest_of_each(entries: Sequence[RankedEntry]) -> list[RankedEntry]:
    """The last entry of each participant, complete or not."""
    return _by_time(list({entry.participant: entry for entry in _by_time(entries)}.values()))


def _by_time(entries: Sequence[RankedEntry]) -> list[RankedEntry]:
    """In the order of submission; of entries of the same moment the one given later is the later one."""
    return sorted(entries, key=lambda entry: entry.submitted)


def _ranking(
    entries: Sequence[RankedEntry], challenge: Challenge, by: tuple[str, str], level: float
) -> Ranking:
    repeated = [name for name, count in Counter(entry.entry for entry in entries).items() if count > 1]
    if repeated:
        raise SpecError(f'the entry "{repeated[0]}" is given twice: rank it once')
    share = level / len(challenge.datasets)
    tables = {name: _table(entries, challenge, (name, *by), share) for name in challenge.names}
    return Ranking(by[0], by[1], tables, _overall(entries, tables), level)


def _table(
    entries: Sequence[RankedEntry], challenge: Challenge, what: tuple[str, str, str], level: float
) -> tuple[BoardRow, ...]:
    """The rows of a dataset in the order of their ranks."""
    name, _, part = what
    there = [entry for entry in entries if _value(entry, what) is not None]
    if not there:
        return ()
    values = np.array([_value(entry, what) for entry in there], dtype=np.float64)
    ranks = rank_sums(values[None]).ranks[0]
    found = _standings(
        there, challenge.truths(name, part) if _have_outcomes(there, name) else None, what, level
    )
    rows = [_row(entry, what, float(rank)) for entry, rank in zip(there, ranks, strict=True)]
    if found is not None:
        rows = _placed(rows, found)
    return tuple(rows[k] for k in np.lexsort((np.arange(len(rows)), ranks)).tolist())


def _value(entry: RankedEntry, what: tuple[str, str, str]) -> float | None:
    name, by, part = what
    scores = entry.scores.get(name)
    if scores is None or part not in scores.parts:
        return None
    return scores.score if by == "score" else scores.parts[part].ber


def _row(entry: RankedEntry, what: tuple[str, str, str], rank: float) -> BoardRow:
    name, by, part = what
    scores = entry.scores[name]
    found = scores.parts[part]
    value, error = (scores.score, scores.score_error) if by == "score" else (found.ber, found.ber_error)
    assert value is not None
    assert error is not None
    return BoardRow(entry.entry, entry.participant, rank, value, error, scores, found)


def _placed(rows: Sequence[BoardRow], found: Standings) -> list[BoardRow]:
    """The rows with what the evidence leaves open."""
    names = np.array([row.entry for row in rows], dtype=object)
    return [
        replace(_with_standing(row, found, number), beaten_by=frozenset(names[found.worse[number]]))
        for number, row in enumerate(rows)
    ]


def _with_standing(row: BoardRow, found: Standings, number: int) -> BoardRow:
    return replace(
        row,
        first=int(found.first[number]),
        last=int(found.last[number]),
        group=int(found.groups[number]),
        may_be_best=bool(found.may_be_best[number]),
        p_value=float(found.p_values[number]),
    )


def _have_outcomes(entries: Sequence[RankedEntry], name: str) -> bool:
    return all(name in entry.outcomes for entry in entries)


def _standings(
    entries: Sequence[RankedEntry], truths: Int8Array | None, what: tuple[str, str, str], level: float
) -> Standings | None:
    """What paired comparisons of all entries leave open; None without outcomes."""
    if truths is None:
        return None
    values = np.array([_value(entry, what) for entry in entries], dtype=np.float64)
    outcomes = Outcomes.of(truths, _wrong([entry.outcomes[what[0]] for entry in entries], truths.size))
    if what[1] == "ber":
        return place_entries(values, outcomes.worse_p_values(), level=level)
    guesses = [entry.scores[what[0]].guess for entry in entries]
    return place_entries(
        values, score_worse_p_values(outcomes, np.array(guesses, dtype=np.float64)), level=level
    )


def _wrong(packed: Sequence[bytes], cases: int) -> NDArray[np.bool_]:
    bits = np.frombuffer(b"".join(packed), dtype=np.uint8).reshape(len(packed), -1)
    return np.unpackbits(bits, axis=1, count=cases).view(np.bool_)


def _overall(
    entries: Sequence[RankedEntry] | Sequence[ShownEntry], tables: Mapping[str, Sequence[BoardRow]]
) -> tuple[OverallRow, ...]:
    """Entries that are in all tables, ranked among themselves on every dataset."""
    rows = {name: {row.entry: row for row in table} for name, table in tables.items()}
    complete = [entry for entry in entries if all(entry.entry in table for table in rows.values())]
    if not complete or not rows:
        return ()
    found = rank_sums([[table[entry.entry].value for entry in complete] for table in rows.values()])
    open_sums = _open_sums([[table[entry.entry] for entry in complete] for table in rows.values()])
    made = [
        OverallRow(
            entry.entry,
            entry.participant,
            int(found.places[k]),
            float(found.sums[k]),
            float(found.means[k]),
            dict(zip(rows, found.ranks[:, k].tolist(), strict=True)),
            float(np.mean([table[entry.entry].value for table in rows.values()])),
            *(open_sums[k] if open_sums else (None, None, None)),
        )
        for k, entry in enumerate(complete)
    ]
    order = np.lexsort((np.arange(len(made)), found.places))
    return tuple(made[k] for k in order.tolist())


def _open_sums(table: Sequence[Sequence[BoardRow]]) -> list[tuple[int, int, bool]] | None:
    """Smallest and largest rank sums left open, and whether nobody is surely ahead."""
    least, most = [0] * len(table[0]), [0] * len(table[0])
    for rows in table:
        for number, row in enumerate(rows):
            if row.first is None or row.last is None:
                return None
            least[number] += row.first
            most[number] += row.last
    beaten = [_is_dominated([rows[number] for rows in table]) for number in range(len(table[0]))]
    return [
        (low, high, low <= min(most) and not is_beaten)
        for low, high, is_beaten in zip(least, most, beaten, strict=True)
    ]


def _is_dominated(rows: Sequence[BoardRow]) -> bool:
    """Whether one entry is shown to be better on every dataset: its sum of true ranks is smaller then."""
    return bool(frozenset.intersection(*(row.beaten_by for row in rows)))
