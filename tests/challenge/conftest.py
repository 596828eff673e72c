"""For all tests of challenges: databases that wait for no disk."""

from collections.abc import Iterator

import pytest

PRAGMAS = "redelve.challenge.server.database.PRAGMAS"


@pytest.fixture(scope="session", autouse=True)
def _databases_wait_for_no_disk() -> Iterator[None]:
    """No test outlives a loss of power; test_database.py has what SQLite is told otherwise."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(PRAGMAS, ("synchronous=OFF", "foreign_keys=ON"))
        yield
