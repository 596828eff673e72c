"""Leaderboards from the database: of development by validation cases, and the final ranking."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from redelve.challenge import (
    BoardRow,
    DatasetScores,
    OverallRow,
    RankedEntry,
    Ranking,
    ShownEntry,
    final_ranking,
    latest_of_each,
    leaderboard,
    ranked_pool,
    scores_from_json,
    shown_leaderboard,
)
from redelve.challenge.server import shown_scores
from redelve.challenge.server.database_tables import (
    PARTICIPANT,
    SCORED,
    DevelopmentScore,
    Entry,
    Fact,
    FinalScore,
    RankingMade,
    User,
)
from redelve.challenge.server.services import Services, one_at_a_time
from redelve.challenge.server.standing import Stage, schedule

REVISION = "ranking_revision"
ScoreTable = type[DevelopmentScore] | type[FinalScore]


def revision_of(session: Session) -> int:
    """The number of the ranking that holds; a disqualification asks for a new one."""
    fact = session.get(Fact, REVISION)
    return 1 if fact is None else int(fact.content["number"])


def is_outdated(session: Session) -> bool:
    """Whether entries were scored after the ranking was made: one may have been on its way at the end."""
    counted_then = select(RankingMade.content["finals"].as_integer())
    made = session.scalar(counted_then.where(RankingMade.revision == revision_of(session)))
    return made is not None and made != finals_done(session)


def ask_for_new_ranking(session: Session) -> None:
    """Let the ranking be made anew, if there is one already."""
    one_at_a_time(session)
    session.get(Fact, REVISION, populate_existing=True)
    session.merge(Fact(name=REVISION, content={"number": revision_of(session) + 1}))
    session.flush()


def counted(session: Session, services: Services) -> list[Entry]:
    """The entries that count: scored, in time, nobody disqualified."""
    deadline = schedule(session, services.challenge.phases).deadline
    query = (
        select(Entry)
        .join(User, Entry.user_id == User.id)
        .where(Entry.state == SCORED, Entry.received_at < deadline, Entry.disqualified_at.is_(None))
        .where(User.disqualified_at.is_(None), User.role == PARTICIPANT)
        .order_by(Entry.received_at, Entry.id)
    )
    return list(session.scalars(query))


def scores_of(session: Session, table: ScoreTable, entry_ids: Iterable[int]) -> dict[int, dict[str, Any]]:
    """The scores kept in a table, by entry and dataset, as plain values."""
    found: dict[int, dict[str, Any]] = defaultdict(dict)
    wanted = list(entry_ids)
    for start in range(0, len(wanted), 500):
        query = select(table.entry_id, table.dataset, table.content)
        for entry_id, dataset, content in session.execute(
            query.where(table.entry_id.in_(wanted[start : start + 500]))
        ):
            found[entry_id][dataset] = content
    return found


def _ranked(
    session: Session, table: ScoreTable, entries: Sequence[Entry], *, outcomes: bool
) -> list[RankedEntry]:
    scores = scores_of(session, table, [entry.id for entry in entries])
    wrong = _outcomes(session, table, [entry.id for entry in entries]) if outcomes else {}
    return [
        RankedEntry(
            str(entry.id),
            str(entry.user_id),
            entry.received_at,
            scores_from_json(scores.get(entry.id, {})),
            wrong.get(entry.id, {}),
            is_chosen=entry.user.chosen_entry_id == entry.id,
        )
        for entry in entries
    ]


def _outcomes(session: Session, table: ScoreTable, entry_ids: Sequence[int]) -> dict[int, dict[str, bytes]]:
    found: dict[int, dict[str, bytes]] = defaultdict(dict)
    for start in range(0, len(entry_ids), 500):
        query = select(table.entry_id, table.dataset, table.outcomes)
        chosen = table.entry_id.in_(entry_ids[start : start + 500])
        for entry_id, dataset, outcomes in session.execute(query.where(chosen)):
            if outcomes is not None:
                found[entry_id][dataset] = outcomes
    return found


def development_entries(entries: Sequence[Entry]) -> list[Entry]:
    """The entry that stands for each participant: the last complete one, or else the last."""
    last: dict[int, Entry] = {}
    for entry in entries:  # in the order of receipt
        before = last.get(entry.user_id)
        if before is None or entry.is_complete or not before.is_complete:
            last[entry.user_id] = entry
    return list(last.values())


def development_board(services: Services, *, exact: bool) -> dict[str, Any]:
    """The leaderboard by the BER of validation cases. Only scores of development are looked at.

    It is `exact` once the validation labels are published; before, it is made of the values shown alone.
    """
    with services.database.reading() as session:
        chosen = development_entries(counted(session, services))
        names = _names(session)
        if exact:
            ranked = latest_of_each(_ranked(session, DevelopmentScore, chosen, outcomes=True))
            return board_to_json(leaderboard(ranked, services.challenge), names)
        scores = shown_scores.of_entries(services, session, chosen)
    shown = [ShownEntry(str(entry.id), str(entry.user_id), scores.get(entry.id, {})) for entry in chosen]
    return board_to_json(shown_leaderboard(shown, services.challenge), names)


def board_version(session: Session) -> tuple[object, ...]:
    """What a leaderboard of development depends on; where it is the same, so is the board."""
    newest = session.execute(select(func.count(Entry.id), func.max(Entry.id), func.max(Entry.state_at))).one()
    states = session.execute(select(Entry.state, func.count()).group_by(Entry.state)).all()
    out = session.scalar(select(func.count()).where(Entry.disqualified_at.is_not(None)))
    gone = session.scalar(select(func.count()).where(User.disqualified_at.is_not(None)))
    return (*newest, tuple(sorted(tuple(row) for row in states)), out, gone)


def final_board(services: Services) -> dict[str, Any]:
    """The final ranking: the complete entries that the rules rank, by R of test cases."""
    if services.stage() is not Stage.ENDED:
        raise AssertionError("there is no final ranking before the end")
    with services.database.reading() as session:
        finals = finals_done(session)  # first: what comes in from now on makes the ranking outdated
        entries = counted(session, services)
        plain = _ranked(session, FinalScore, entries, outcomes=False)
        chosen = {int(entry.entry) for entry in ranked_pool(plain, services.challenge)}
        ranked = _ranked(session, FinalScore, [e for e in entries if e.id in chosen], outcomes=True)
        names = _names(session)
    return board_to_json(final_ranking(ranked, services.challenge), names) | {"finals": finals}


def finals_done(session: Session) -> int:
    """How many entries have their test cases scored."""
    return session.scalar(select(func.count(FinalScore.entry_id.distinct()))) or 0


def final_content(session: Session) -> RankingMade | None:
    """The final ranking that holds; None as long as it is not made."""
    return session.get(RankingMade, revision_of(session))


def _names(session: Session) -> dict[str, str]:
    return {str(identity): name for identity, name in session.execute(select(User.id, User.name))}


def board_to_json(ranking: Ranking, names: Mapping[str, str]) -> dict[str, Any]:
    """A ranking as plain values, with the names of participants."""
    return {
        "by": ranking.by,
        "part": ranking.part,
        "level": ranking.level,
        "datasets": {
            dataset: [_row(row, names) for row in rows] for dataset, rows in ranking.datasets.items()
        },
        "overall": [_overall(row, names) for row in ranking.overall],
        "participants": [_overall(row, names) for row in ranking.participants],
    }


def _row(row: BoardRow, names: Mapping[str, str]) -> dict[str, Any]:
    return {
        "entry": int(row.entry),
        "participant": names.get(row.participant, "?"),
        "user": int(row.participant),
        "rank": row.rank,
        "value": row.value,
        "value_error": row.value_error,
        "first": row.first,
        "last": row.last,
        "group": row.group,
        "may_be_best": row.may_be_best,
        **_exact(row),
        **_guessed(row.scores),
    }


def _exact(row: BoardRow) -> dict[str, Any]:
    """What else is told: of a board of rounded values, nothing but them."""
    if row.part is None:
        return {"ber": row.value, "ber_error": row.value_error}
    return {
        "p_value": row.p_value,
        "ber": row.part.ber,
        "ber_error": row.part.ber_error,
        "auc": row.part.auc,
        "auc_error": row.part.auc_error,
        "error_rate": row.part.error_rate,
    }


def _guessed(scores: DatasetScores | None) -> dict[str, Any]:
    """The guess and what came of it: δ, its weight and R, where test cases are scored."""
    if scores is None or "test" not in scores.parts:
        return {}
    return {
        "guess": scores.guess,
        "guess_error": scores.guess_error,
        "weight": scores.weight,
        "score": scores.score,
    }


def _overall(row: OverallRow, names: Mapping[str, str]) -> dict[str, Any]:
    return {
        "entry": int(row.entry),
        "participant": names.get(row.participant, "?"),
        "user": int(row.participant),
        "place": row.place,
        "rank_sum": row.rank_sum,
        "mean_rank": row.mean_rank,
        "mean_value": row.mean_value,
        "ranks": dict(row.ranks),
        "least": row.least,
        "most": row.most,
        "may_be_best": row.may_be_best,
    }
