"""What belongs together: a database, its files and its challenge; mixed up, entries are lost or misjudged."""

from __future__ import annotations

import contextlib
import hashlib
from datetime import datetime
from pathlib import Path
from uuid import uuid4

from sqlalchemy import select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from redelve.challenge import Challenge, commitments
from redelve.challenge.commitments import Commitment, LabelsChanged
from redelve.challenge.server.database import Database
from redelve.challenge.server.database_tables import Entry, Fact
from redelve.challenge.server.settings import Settings
from redelve.data.files import write_atomic
from redelve.errors import LocationError, SpecError

MARK = "database-mark"
FILES, DATASETS, COMMITMENTS = "files", "datasets", "commitments"
KNOWN_PARTS = ("train", "valid")
"""Parts whose labels the server has from the start; those of test cases may come at the end."""


def check_files(challenge: Challenge) -> None:
    """Raise an error unless all files are there that participants get, and that validation scores need."""
    for name in challenge.names:
        for path in challenge.public_files(name):
            if not path.is_file():
                raise LocationError(f"{path}: there is no such file; participants need it")
        for part in KNOWN_PARTS:
            challenge.truths(name, part)


def lacking_test_labels(challenge: Challenge) -> list[Path]:
    """The files that are not there yet, and must be when the challenge ends."""
    paths = [challenge.labels_path(name, "test") for name in challenge.names]
    return [path for path in paths if not path.is_file()]


def settle(
    settings: Settings, challenge: Challenge, database: Database, now: datetime, *, may_change: bool
) -> None:
    """Note what belongs together at the first start; raise an error if it is something else later."""
    _settle_files(settings.uploads, database)
    with contextlib.suppress(IntegrityError), database.writing() as session:
        _note_datasets(session, challenge, may_change)
    with contextlib.suppress(IntegrityError), database.writing() as session:
        bind_labels(session, challenge, now, may_change=may_change)


def bound(session: Session) -> dict[str, Commitment]:
    """The hashes that bind labels and rules, with their salts."""
    fact = session.get(Fact, COMMITMENTS)
    return {} if fact is None else commitments.from_plain(fact.content)


def bind_labels(session: Session, challenge: Challenge, now: datetime, *, may_change: bool) -> None:
    """Bind the labels and rules that are not bound yet; raise an error where bound ones have changed."""
    fact = session.get(Fact, COMMITMENTS, with_for_update=True)
    held, given = bound(session), commitments.contents(challenge)
    if other := commitments.differing(held, given):
        if not may_change or _has_entries(session):
            raise LabelsChanged(commitments.changed_sentence(held, other, challenge))
        held = {key: one for key, one in held.items() if key not in other}
    gone = [key for key in held if key != commitments.RULES and key.rpartition("_")[0] not in challenge.names]
    fresh = {key: commitments.bind(text, now) for key, text in given.items() if key not in held}
    if not fresh and not gone:
        return
    plain = commitments.to_plain({key: one for key, one in held.items() if key not in gone} | fresh)
    if fact is None:
        session.add(Fact(name=COMMITMENTS, content=plain))
    else:
        fact.content = plain


def _settle_files(uploads: Path, database: Database) -> None:
    """The database has a name of its own, which is written into its folder once.

    A start that is cut off between the two is taken up again, since the folder is not settled then.
    """
    with contextlib.suppress(IntegrityError), database.writing() as session:
        if session.get(Fact, FILES) is None:
            session.add(Fact(name=FILES, content={"mark": uuid4().hex, "is_settled": False}))
    with database.reading() as session:
        held, has_entries = session.get_one(Fact, FILES).content, _has_entries(session)
    if not held["is_settled"]:
        if not has_entries and any(uploads.glob("??/*.zip")):
            raise _other_files(uploads)  # they would be swept as orphans
        _write_mark(uploads, held["mark"])
    path = uploads / MARK
    if not path.is_file() or path.read_text().strip() != held["mark"]:
        raise _other_files(uploads)
    if not held["is_settled"]:
        with database.writing() as session:
            session.get_one(Fact, FILES).content = {**held, "is_settled": True}


def _other_files(uploads: Path) -> LocationError:
    return LocationError(
        f"{uploads} does not belong to this database: give the right database with --database, or the right "
        "folder with --data; a new database needs a new folder"
    )


def _note_datasets(session: Session, challenge: Challenge, may_change: bool) -> None:
    """Keep a digest of every dataset: entries must be judged by the labels they were made for."""
    digests = {name: _digest(challenge, name) for name in challenge.names}
    fact = session.get(Fact, DATASETS)
    if fact is None:
        session.add(Fact(name=DATASETS, content=digests))
    elif fact.content != digests:
        if not may_change or _has_entries(session):
            differing = sorted(dict(fact.content.items() ^ digests.items()))
            raise SpecError(
                f"{challenge.folder}: the database was made for a challenge with other datasets, or other "
                f"labels ({', '.join(differing)}): put back the folder's files, or give another --database "
                "and --data"
            )
        fact.content = digests


def _digest(challenge: Challenge, name: str) -> str:
    dataset = challenge.dataset(name)
    parts = [dataset.kind, dataset.features, *(dataset.sizes[part] for part in sorted(dataset.sizes))]
    found = hashlib.sha256(repr(parts).encode())
    for part in KNOWN_PARTS:
        found.update(challenge.truths(name, part).tobytes())
    return found.hexdigest()


def _has_entries(session: Session) -> bool:
    return session.scalar(select(Entry.id).limit(1)) is not None


def _write_mark(uploads: Path, mark: str) -> None:
    """Write the mark whole or not at all, unless there is one."""
    if not (uploads / MARK).exists():
        write_atomic(uploads / MARK, mark, mode=0o600)
