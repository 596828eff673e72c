"""A server for each test, and a real PostgreSQL for those that ask for one."""

import shutil
import tempfile
import warnings
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path

import pytest

from tests.challenge.server.bench import Bench, running


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    with running(tmp_path) as found:
        yield found


@pytest.fixture(scope="session")
def new_postgresql() -> Iterator[Callable[[], str]]:
    """Makes a new database on each call; PostgreSQL comes with the package pgserver."""
    folder = Path(tempfile.mkdtemp(prefix="redelve-postgresql-"))
    folder.chmod(0o755)  # the server drops the rights of root and must reach its files
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            pgserver = pytest.importorskip("pgserver", reason="PostgreSQL comes with pgserver")
            server = pgserver.get_server(folder / "data", cleanup_mode="delete")
    except Exception as problem:  # whatever the machine lacks
        shutil.rmtree(folder, ignore_errors=True)
        pytest.skip(f"PostgreSQL does not start here: {problem}")
    server.psql("ALTER SYSTEM SET fsync = off;")  # a machine that crashes loses this trial only
    server.psql("SELECT pg_reload_conf();")
    numbers = count()

    def make() -> str:
        name = f"trial_{next(numbers)}"
        server.psql(f"CREATE DATABASE {name};")
        return str(server.get_uri(name))

    yield make
    server.cleanup()
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(params=["sqlite", "postgresql"])
def database(request: pytest.FixtureRequest) -> str | None:
    """The address of an empty database of either kind; None for the usual place of SQLite."""
    return None if request.param == "sqlite" else request.getfixturevalue("new_postgresql")()
