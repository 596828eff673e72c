"""Processes that tests of workers and cells may leave behind."""

import os
from collections.abc import Mapping

import psutil


def children(of: str = "child_main") -> list[psutil.Process]:
    """The processes that this one started with such a word in their command, and that have not ended."""
    return [one for one in psutil.Process().children() if of in _command_of(one)]


def _command_of(process: psutil.Process) -> str:
    """How it was started; nothing where it has just ended."""
    try:
        return " ".join(process.cmdline())
    except psutil.NoSuchProcess:
        return ""


def sleepers() -> list[psutil.Process]:
    """The programs that methods of these tests start and leave; those of other test runs do not count.

    What this run left has its processes among its ancestors, or has none any more and no other run's name.
    """
    found = [one for one in psutil.process_iter(["cmdline"]) if one.info["cmdline"] == ["sleep", "987654"]]
    own = {one.pid for one in psutil.Process().children(recursive=True)}
    return [one for one in found if one.pid in own or _is_own_orphan(one)]


def _is_own_orphan(process: psutil.Process) -> bool:
    try:
        theirs = _run_in(process.environ())
        return bool(process.ppid() <= 1) and theirs in (_run_in(os.environ), _run_in({}))
    except psutil.NoSuchProcess:
        return False


def _run_in(variables: Mapping[str, str]) -> list[str | None]:
    """Which run of the tests, and which of its processes; a confined cell's programs are not told."""
    return [variables.get(name) for name in ("PYTEST_XDIST_TESTRUNUID", "PYTEST_XDIST_WORKER")]
