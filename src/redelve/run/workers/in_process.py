"""This process, one job after the other."""

from __future__ import annotations

from redelve.errors import SpecError
from redelve.run.workers.worker_contract import EXECUTORS


class InProcess:
    """This process, one job after the other."""

    at_once = 1

    def executor(self) -> None:
        """Nobody else."""
        return

    def close(self) -> None:
        """Nothing to let go of."""


def serial(count: int | None = None) -> InProcess:
    """This process; it is one, whatever is asked for."""
    if count not in (None, 1):
        raise SpecError(f'"serial" is one process, not {count}: choose "processes" or leave out the count')
    return InProcess()


EXECUTORS.add("serial", serial)
