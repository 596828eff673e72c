"""How often something may be tried; counted in the database, so that it holds over several processes."""

from __future__ import annotations

from datetime import datetime, timedelta
from ipaddress import IPv6Address, ip_address

from sqlalchemy import delete, update
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.orm import Session

from redelve.challenge.server.database_tables import RateCount
from redelve.challenge.server.refusals import Refusal
from redelve.challenge.server.secrets_kept import kept_hash

Limit = tuple[int, int]


def count(session: Session, key: str, limit: Limit | None, now: datetime) -> None:
    """Count an attempt; raise a problem if there were too many in this stretch of time."""
    if limit is None:
        return
    times, seconds = limit
    moment = int(now.timestamp())
    window = moment - moment % seconds
    if _raised(session, _key(key, seconds), window) > times:
        raise Refusal(
            429,
            "too_many",
            f"Too many attempts: {times} in {_span(seconds)} are allowed. Try again later.",
            retry_after=window + seconds - moment,
        )


def holder(address: str) -> str:
    """What counts as one place: an address of IPv4; of IPv6 its first half, as one party has all the rest.

    >>> holder("2001:db8::1") == holder("2001:db8::2"), holder("::ffff:192.0.2.1")
    (True, '192.0.2.1')
    """
    try:
        found = ip_address(address)
    except ValueError:
        return address
    if not isinstance(found, IPv6Address):
        return str(found)
    return str(found.ipv4_mapped or IPv6Address(int(found) >> 64 << 64))


def forgive(session: Session, key: str, limit: Limit) -> None:
    """Forget the attempts, as after a login that succeeded."""
    session.execute(delete(RateCount).where(RateCount.key == _key(key, limit[1])))


def take_back(session: Session, key: str, limit: Limit, now: datetime) -> None:
    """Let an attempt not count, as where it was no guess."""
    moment, seconds = int(now.timestamp()), limit[1]
    held = update(RateCount).where(RateCount.key == _key(key, seconds))
    held = held.where(RateCount.window == moment - moment % seconds, RateCount.count > 0)
    session.execute(held.values(count=RateCount.count - 1))


def sweep(session: Session, now: datetime) -> None:
    """Forget stretches of time that are over."""
    old = int((now - timedelta(days=1)).timestamp())
    session.execute(delete(RateCount).where(RateCount.window < old))


def _raised(session: Session, key: str, window: int) -> int:
    insert = sqlite.insert if session.get_bind().dialect.name == "sqlite" else postgresql.insert
    statement = insert(RateCount).values(key=key, window=window, count=1)
    upsert = statement.on_conflict_do_update(
        index_elements=[RateCount.key, RateCount.window], set_={"count": RateCount.count + 1}
    ).returning(RateCount.count)
    return int(session.execute(upsert).scalar_one())


def _key(key: str, seconds: int) -> str:
    return f"{kept_hash(key)}:{seconds}"


def _span(seconds: int) -> str:
    return f"{seconds // 3600} h" if seconds % 3600 == 0 else f"{max(1, seconds // 60)} min"
