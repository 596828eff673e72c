"""Connections to the database: SQLite in the server's folder, or PostgreSQL."""

from __future__ import annotations

import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from alembic import command
from alembic.config import Config
from alembic.util import CommandError
from sqlalchemy import Connection, Engine, create_engine, event, make_url, text
from sqlalchemy.engine import URL
from sqlalchemy.exc import ArgumentError, SQLAlchemyError
from sqlalchemy.orm import Session, sessionmaker

from redelve.errors import LocationError, OptionalPackageError

BUSY_SECONDS = 60
PRAGMAS = ("synchronous=FULL", "foreign_keys=ON")
"""What SQLite is told for each connection: what is committed outlives a loss of power."""
MIGRATION_LOCK = 7227  # any number, the same in all processes
WRITES = "redelve_writes"


class Database:
    """Sessions for reading and for writing.

    SQLite has one writer at a time: a writing session takes its turn when it begins (`BEGIN IMMEDIATE`), so
    it cannot find at its first change that what it has read is out of date.
    """

    def __init__(self, url: str) -> None:
        self.engine = _engine(_checked(url))
        self.is_sqlite = self.engine.dialect.name == "sqlite"
        self._turn = threading.RLock()
        self._reader = sessionmaker(self.engine, expire_on_commit=False)
        self._writer = sessionmaker(self.engine.execution_options(**{WRITES: True}), expire_on_commit=False)

    @contextmanager
    def reading(self) -> Iterator[Session]:
        """A session that changes nothing."""
        with self._reader() as session:
            yield session

    @contextmanager
    def writing(self) -> Iterator[Session]:
        """A session whose changes are kept together when the block ends well, and dropped otherwise."""
        if self.is_sqlite:
            with self._turn, self._writer.begin() as session:
                yield session
        else:
            with self._writer.begin() as session:
                yield session

    def migrate(self) -> None:
        """Bring the tables up to date; processes that start at the same time do it one after another."""
        try:
            with self.failures_told(), self._writer.kw["bind"].begin() as connection:
                if not self.is_sqlite:
                    connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": MIGRATION_LOCK})
                command.upgrade(migration_config(connection), "head")
        except CommandError as problem:
            raise LocationError(
                f"{self.engine.url!r}: the tables were made by a newer version of redelve, which this one "
                "does not know: use that version, or a newer one, or restore the backup from before"
            ) from problem

    @contextmanager
    def failures_told(self) -> Iterator[None]:
        """Refuse a file that is no database, is damaged or has other tables, in a sentence."""
        try:
            yield
        except SQLAlchemyError as problem:
            raise LocationError(f"{self.engine.url!r}: {_first_line(problem)}") from problem

    def close(self) -> None:
        """Let the connections go."""
        self.engine.dispose()


def migration_config(connection: Connection) -> Config:
    """Alembic's view of the migrations that come with the package."""
    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent / "migrations"))
    config.attributes["connection"] = connection
    return config


def _checked(url: str) -> URL:
    try:
        found = make_url(url)
    except ArgumentError:
        raise LocationError(
            f'database "{url}" is no address: write sqlite:///file or postgresql+psycopg://user:word@host/name'
        ) from None
    if found.drivername in ("postgresql", "postgres"):
        found = found.set(drivername="postgresql+psycopg")
    if found.get_backend_name() not in ("sqlite", "postgresql"):
        raise LocationError(f'database "{found.drivername}" is not supported: sqlite and postgresql are')
    return found


def _engine(url: URL) -> Engine:
    if url.get_backend_name() == "sqlite":
        waiting = {"timeout": BUSY_SECONDS}
        engine = create_engine(url, connect_args=waiting, pool_size=10, max_overflow=40, hide_parameters=True)
        event.listen(engine, "connect", _prepare_sqlite)
        event.listen(engine, "begin", _begin_sqlite)
        return engine
    try:
        return create_engine(url, pool_pre_ping=True, pool_size=10, max_overflow=20, hide_parameters=True)
    except ModuleNotFoundError as problem:
        raise OptionalPackageError(
            f"a database in PostgreSQL needs {problem.name}: pip install 'redelve[postgresql]'"
        ) from None


def _prepare_sqlite(connection: Any, _: object) -> None:
    connection.isolation_level = None  # SQLAlchemy begins, not the driver
    cursor = connection.cursor()
    write_ahead(cursor)
    for pragma in PRAGMAS:
        cursor.execute(f"PRAGMA {pragma}")
    cursor.close()


def write_ahead(cursor: sqlite3.Cursor) -> None:
    """Give the file a write-ahead journal: where others do so too, SQLite itself does not wait its turn."""
    last = time.monotonic() + BUSY_SECONDS
    while True:
        try:
            cursor.execute("PRAGMA journal_mode=WAL")
            return
        except sqlite3.OperationalError as problem:
            if problem.sqlite_errorcode != sqlite3.SQLITE_BUSY or time.monotonic() > last:
                raise
            time.sleep(0.01)


def _begin_sqlite(connection: Connection) -> None:
    is_writer = connection.get_execution_options().get(WRITES, False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if is_writer else "BEGIN")


def _first_line(problem: Exception) -> str:
    return str(getattr(problem, "orig", None) or problem).strip().splitlines()[0]
