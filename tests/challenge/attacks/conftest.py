"""The servers that are attacked."""

from collections.abc import Iterator

import pytest

from tests.challenge.attacks.tools import Scene, scene
from tests.challenge.server.conftest import bench, database, new_postgresql

__all__ = ["bench", "database", "new_postgresql", "played"]


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scene]:
    """A server with accounts and entries, for attacks of a module that leave nothing behind."""
    with scene(tmp_path_factory.mktemp("played")) as found:
        yield found
