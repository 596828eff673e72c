"""Migrations, SQLite's settings, and addresses of databases."""

from pathlib import Path

import pytest
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import inspect, text

from redelve.challenge.server.database import PRAGMAS, Database, migration_config
from redelve.challenge.server.database_tables import DatabaseTable, Fact, User
from redelve.errors import LocationError


@pytest.fixture
def database(tmp_path: Path) -> Database:
    return Database(f"sqlite:///{tmp_path / 'trial.sqlite3'}")


def test_migrations_make_the_tables_that_the_code_expects(database: Database) -> None:
    database.migrate()
    database.migrate()
    with database.engine.connect() as connection:
        context = MigrationContext.configure(connection)
        assert compare_metadata(context, DatabaseTable.metadata) == []
    database.close()


def test_migrations_can_be_taken_back(database: Database) -> None:
    database.migrate()
    with database.engine.begin() as connection:
        command.downgrade(migration_config(connection), "base")
        assert set(inspect(connection).get_table_names()) == {"alembic_version"}
    database.close()


def test_migrations_are_in_the_package() -> None:
    import redelve.challenge.server.migrations as room

    folder = Path(str(room.__file__)).parent
    assert (folder / "env.py").is_file()
    assert list((folder / "versions").glob("m0001_*.py"))


def test_sqlite_waits_for_its_turn_and_keeps_what_it_promised(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("redelve.challenge.server.database.PRAGMAS", PRAGMAS)  # as they are without tests
    with database.engine.connect() as connection:
        found = {
            name: connection.execute(text(f"PRAGMA {name}")).scalar()
            for name in ("journal_mode", "synchronous", "foreign_keys", "busy_timeout")
        }
    assert found == {"journal_mode": "wal", "synchronous": 2, "foreign_keys": 1, "busy_timeout": 60000}
    database.close()


def test_a_block_that_fails_changes_nothing(database: Database) -> None:
    database.migrate()

    def half_done() -> None:
        with database.writing() as session:
            session.add(Fact(name="half", content={}))
            session.flush()
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        half_done()
    with database.reading() as session:
        assert session.get(Fact, "half") is None
    database.close()


@pytest.mark.parametrize("url", ["nonsense", "mysql://x/y", "", "sqlite"])
def test_addresses_that_cannot_be_are_refused_with_a_way_out(url: str) -> None:
    with pytest.raises(LocationError, match="sqlite"):
        Database(url)


def test_a_database_out_of_reach_is_told_in_one_line_without_the_password(tmp_path: Path) -> None:
    database = Database("postgresql://me:hush@127.0.0.1:1/none")
    with pytest.raises(LocationError) as caught:
        database.migrate()
    assert "hush" not in str(caught.value)
    assert "127.0.0.1" in str(caught.value)
    database.close()


def test_tables_of_a_newer_version_are_refused_in_a_sentence(database: Database) -> None:
    database.migrate()
    with database.engine.begin() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    with pytest.raises(LocationError, match="made by a newer version of redelve") as caught:
        database.migrate()
    assert "\n" not in str(caught.value)
    database.close()


def test_tables_of_the_first_version_are_brought_up_to_date_with_their_rows(database: Database) -> None:
    with database.engine.begin() as connection:
        command.upgrade(migration_config(connection), "0001")
        connection.execute(
            text(
                "INSERT INTO users (id, name, name_key, password_hash, role, created_at) "
                "VALUES (1, 'Ada', 'ada', 'x', 'participant', '2026-01-01')"
            )
        )
    database.migrate()
    with database.reading() as session:
        user = session.get_one(User, 1)
        assert (user.name, user.chosen_entry_id) == ("Ada", None)
    database.close()
