"""Validation scores as participants see them until the labels are out: the one place that makes them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from redelve.challenge import Challenge, Rounding, ShownScore, ladder
from redelve.challenge.server.database_tables import SCORED, DevelopmentScore, Entry
from redelve.challenge.server.services import Services

Shown = dict[int, dict[str, ShownScore]]
"""Scores by entry and dataset."""
PORTION = 500


def of_entries(services: Services, session: Session, entries: Sequence[Entry]) -> Shown:
    """What is shown of some entries, as the challenge's rules say."""
    if services.challenge.rules.validation_feedback == "ladder":
        return _by_ladder(services, session, entries)
    rounding, secret = roundings(services.challenge), f"feedback:{services.key}".encode()
    found: Shown = defaultdict(dict)
    for entry_id, dataset, ber, outcomes in _exact(session, [entry.id for entry in entries]):
        lot = f"{dataset}:".encode() + outcomes
        shown = rounding[dataset].rounded(ber, secret, lot)
        found[entry_id][dataset] = rounding[dataset].shown(shown)
    return found


def roundings(challenge: Challenge) -> dict[str, Rounding]:
    """How the validation BER of each dataset is rounded."""
    return {name: Rounding.of(challenge.truths(name, "valid")) for name in challenge.names}


def _by_ladder(services: Services, session: Session, entries: Sequence[Entry]) -> Shown:
    """The best so far of each participant, in the order in which entries were received."""
    rounding = roundings(services.challenge)
    users = {entry.user_id for entry in entries}
    query = select(Entry.id, Entry.user_id).where(Entry.state == SCORED, Entry.user_id.in_(users))
    order = [tuple(row) for row in session.execute(query.order_by(Entry.received_at, Entry.id))]
    bers = {(number, dataset): ber for number, dataset, ber, _ in _exact(session, [one for one, _ in order])}
    lines: dict[tuple[int, str], list[int]] = defaultdict(list)
    for entry_id, user_id in order:
        for dataset in rounding:
            if (entry_id, dataset) in bers:
                lines[user_id, dataset].append(entry_id)
    wanted, found = {entry.id for entry in entries}, Shown(defaultdict(dict))
    for (_, dataset), line in lines.items():
        steps = ladder([bers[entry_id, dataset] for entry_id in line], rounding[dataset])
        for entry_id, best in zip(line, steps, strict=True):
            if entry_id in wanted:
                found.setdefault(entry_id, {})[dataset] = rounding[dataset].shown(best)
    return found


def _exact(session: Session, entry_ids: Sequence[int]) -> Iterable[tuple[int, str, float, bytes]]:
    """The exact BERs with the outcomes they come of; they do not leave this module."""
    table = DevelopmentScore
    for start in range(0, len(entry_ids), PORTION):
        query = select(table.entry_id, table.dataset, table.content, table.outcomes)
        chosen = table.entry_id.in_(entry_ids[start : start + PORTION])
        for entry_id, dataset, content, outcomes in session.execute(query.where(chosen)):
            part: dict[str, Any] | None = content["parts"].get("valid")
            if part is not None:
                yield entry_id, dataset, part["ber"], outcomes or b""
