"""What pages and API show of entries and boards: the one place that decides what may be seen when."""

from __future__ import annotations

import threading
from datetime import datetime
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from redelve.challenge.server import boards, jobs
from redelve.challenge.server.audit import history
from redelve.challenge.server.database_tables import DevelopmentScore, Entry, FinalScore
from redelve.challenge.server.services import Services
from redelve.challenge.server.standing import Stage

Line = list[tuple[datetime, float, float]]
"""Points of time, BER and its standard error."""


class Boards:
    """Leaderboards, made again only when something changed."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._lock = threading.Lock()
        self._held: tuple[tuple[object, ...], dict[str, Any]] | None = None
        self._final: tuple[int, dict[str, Any]] | None = None
        self._best: tuple[tuple[object, ...], dict[str, Line]] | None = None

    def development(self) -> dict[str, Any]:
        """The leaderboard by validation cases."""
        with self._services.database.reading() as session:
            version = boards.board_version(session)
        with self._lock:
            if self._held is None or self._held[0] != version:
                self._held = version, boards.development_board(self._services)
            return self._held[1]

    def best(self) -> dict[str, Line]:
        """How the smallest validation BER came down, by dataset."""
        with self._services.database.reading() as session, self._lock:
            version = boards.board_version(session)
            if self._best is None or self._best[0] != version:
                self._best = version, best_over_time(session, self._services)
            return self._best[1]

    def final(self) -> dict[str, Any] | None:
        """The final ranking; None before the end and until it is made."""
        if self._services.stage() is not Stage.ENDED:
            return None
        with self._services.database.reading() as session, self._lock:
            revision = boards.revision_of(session)
            if self._final is None or self._final[0] != revision:
                found = boards.final_content(session)
                self._final = None if found is None else (revision, found.content)
            return None if self._final is None else self._final[1]


def development_scores(session: Session, entry: Entry) -> dict[str, Any]:
    """The scores of an entry on training and validation cases, by dataset."""
    return boards.scores_of(session, DevelopmentScore, [entry.id]).get(entry.id, {})


def final_scores(services: Services, session: Session, entry: Entry) -> dict[str, Any]:
    """The scores of an entry on all cases, by dataset; empty before the end."""
    if services.stage() is not Stage.ENDED:
        return {}
    return boards.scores_of(session, FinalScore, [entry.id]).get(entry.id, {})


def entry_document(entry: Entry) -> dict[str, Any]:
    """What the API tells of an entry, beside its scores."""
    return {
        "id": entry.id,
        "label": entry.label,
        "participant": entry.user.name,
        "state": entry.state,
        "state_at": entry.state_at,
        "reason": entry.reason,
        "problems": entry.problems,
        "received_at": entry.received_at,
        "size": entry.size,
        "sha256": entry.sha256,
        "is_complete": entry.is_complete,
        "is_disqualified": entry.disqualified_at is not None or entry.user.disqualified_at is not None,
    }


def detailed_document(services: Services, session: Session, entry: Entry) -> dict[str, Any]:
    """The same with its history and with the scores that may be seen now."""
    events = [
        {"at": event.at, "state": event.state, "reason": event.reason} for event in history(session, entry.id)
    ]
    development = {
        name: {"guess": content["guess"], "parts": content["parts"]}
        for name, content in development_scores(session, entry).items()
    }
    final = final_scores(services, session, entry)
    return entry_document(entry) | {"history": events, "development": development, "final": final or None}


def progress_of_end(session: Session) -> int:
    """How many jobs are still to be done until the final ranking is out."""
    return jobs.open_jobs(session, *jobs.SCORING)


def learning(session: Session, user_id: int) -> dict[str, Line]:
    """The validation BER of an account's entries over time, by dataset: time, BER, standard error."""
    query = (
        select(Entry.received_at, DevelopmentScore.dataset, DevelopmentScore.content)
        .join(DevelopmentScore, DevelopmentScore.entry_id == Entry.id)
        .where(Entry.user_id == user_id)
        .order_by(Entry.received_at, Entry.id)
    )
    found: dict[str, Line] = {}
    for received, dataset, content in session.execute(query):
        if (part := content["parts"].get("valid")) is not None:
            found.setdefault(dataset, []).append((received, part["ber"], part["ber_error"]))
    return found


def best_over_time(session: Session, services: Services) -> dict[str, Line]:
    """How the smallest validation BER of all participants came down, by dataset."""
    entries = {entry.id: entry for entry in boards.counted(session, services)}
    scores = boards.scores_of(session, DevelopmentScore, entries)
    found: dict[str, Line] = {}
    for identity, entry in entries.items():
        for dataset, content in scores.get(identity, {}).items():
            part = content["parts"].get("valid")
            line = found.setdefault(dataset, [])
            if part is not None and (not line or part["ber"] < line[-1][1]):
                line.append((entry.received_at, part["ber"], part["ber_error"]))
    return found
