"""What pages and API show of entries and boards: the one place that decides what may be seen when."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Any

from sqlalchemy.orm import Session

from redelve.challenge import ShownScore
from redelve.challenge.commitments import rules_text
from redelve.challenge.server import boards, jobs, shown_scores
from redelve.challenge.server.audit import history
from redelve.challenge.server.belonging import bound
from redelve.challenge.server.database_tables import DevelopmentScore, Entry, FinalScore
from redelve.challenge.server.entries import of_user
from redelve.challenge.server.refusals import Refusal
from redelve.challenge.server.services import Services
from redelve.challenge.server.standing import Stage, schedule

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
        exact = labels_are_out(self._services)
        with self._services.database.reading() as session:
            version = (exact, *boards.board_version(session))
        with self._lock:
            if self._held is None or self._held[0] != version:
                self._held = version, boards.development_board(self._services, exact=exact)
            return self._held[1]

    def best(self) -> dict[str, Line]:
        """How the smallest validation BER came down, by dataset."""
        with self._services.database.reading() as session, self._lock:
            version = (labels_are_out(self._services), *boards.board_version(session))
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


def labels_are_out(services: Services) -> bool:
    """Whether the validation labels are published: only then validation scores are shown as they are."""
    return services.stage() >= Stage.LABELS


def development_scores(services: Services, session: Session, entry: Entry) -> dict[str, Any]:
    """The scores of an entry on training and validation cases that may be seen now, by dataset.

    Those of training cases anybody can compute. Of validation cases the rounded BER is all there is until
    their labels are published.
    """
    found = boards.scores_of(session, DevelopmentScore, [entry.id]).get(entry.id, {})
    plain = {name: {"guess": held["guess"], "parts": held["parts"]} for name, held in found.items()}
    if labels_are_out(services):
        return plain
    shown = shown_scores.of_entries(services, session, [entry]).get(entry.id, {})
    for name, held in plain.items():
        known = {"train": held["parts"]["train"]} if "train" in held["parts"] else {}
        held["parts"] = known | ({"valid": asdict(shown[name])} if name in shown else {})
    return plain


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
        "state_at": whole_second(entry.state_at),
        "reason": entry.reason,
        "problems": entry.problems,
        "received_at": entry.received_at,
        "size": entry.size,
        "sha256": entry.sha256,
        "is_complete": entry.is_complete,
        "is_disqualified": entry.disqualified_at is not None or entry.user.disqualified_at is not None,
        "is_chosen": entry.user.chosen_entry_id == entry.id,
    }


def detailed_document(services: Services, session: Session, entry: Entry) -> dict[str, Any]:
    """The same with its history and with the scores that may be seen now."""
    events = [
        {"at": whole_second(event.at), "state": event.state, "reason": event.reason}
        for event in history(session, entry.id)
    ]
    development = development_scores(services, session, entry)
    final = final_scores(services, session, entry)
    return entry_document(entry) | {"history": events, "development": development, "final": final or None}


def whole_second(moment: datetime) -> datetime:
    """The time without its fraction: how long scoring took to the microsecond is nobody's business."""
    return moment.replace(microsecond=0)


def commitments_document(services: Services) -> dict[str, Any]:
    """The hashes that bind labels and rules; their salts after the end. None before the opening."""
    stage = services.stage()
    if stage is Stage.BEFORE:
        raise Refusal(403, "not_open", "Labels and rules are bound when the challenge opens.")
    with services.database.reading() as session:
        held = bound(session)
        deadline = schedule(session, services.challenge.phases).deadline
    return {
        "rules": rules_text(services.challenge),
        "hashes": {key: one.hash for key, one in held.items()},
        "bound_at": {key: one.at for key, one in held.items()},
        "salts": {key: one.salt for key, one in held.items()} if stage is Stage.ENDED else None,
        "deadline": deadline.isoformat(),
    }


def progress_of_end(session: Session) -> int:
    """How many jobs are still to be done until the final ranking is out."""
    return jobs.open_jobs(session, *jobs.SCORING)


def learning(services: Services, session: Session, user_id: int) -> dict[str, Line]:
    """The validation BER of an account's entries over time, by dataset: time, BER, standard error."""
    entries = sorted(of_user(session, user_id), key=lambda entry: (entry.received_at, entry.id))
    scores, found = validation_bers(services, session, entries), dict[str, Line]()
    for entry in entries:
        for dataset, (ber, error) in scores.get(entry.id, {}).items():
            found.setdefault(dataset, []).append((entry.received_at, ber, error))
    return found


def best_over_time(session: Session, services: Services) -> dict[str, Line]:
    """How the smallest validation BER of all participants came down, by dataset."""
    entries = boards.counted(session, services)
    scores, found = validation_bers(services, session, entries), dict[str, Line]()
    for entry in entries:
        for dataset, (ber, error) in scores.get(entry.id, {}).items():
            line = found.setdefault(dataset, [])
            if not line or ber < line[-1][1]:
                line.append((entry.received_at, ber, error))
    return found


def validation_bers(
    services: Services, session: Session, entries: Sequence[Entry]
) -> dict[int, dict[str, tuple[float, float]]]:
    """Validation BERs with standard errors as they may be seen now, by entry and dataset."""
    if not labels_are_out(services):
        shown = shown_scores.of_entries(services, session, entries)
        return {
            number: {name: _pair(score) for name, score in held.items()} for number, held in shown.items()
        }
    exact = boards.scores_of(session, DevelopmentScore, [entry.id for entry in entries])
    return {
        number: {
            name: (content["parts"]["valid"]["ber"], content["parts"]["valid"]["ber_error"])
            for name, content in held.items()
            if "valid" in content["parts"]
        }
        for number, held in exact.items()
    }


def _pair(score: ShownScore) -> tuple[float, float]:
    return score.ber, score.ber_error
