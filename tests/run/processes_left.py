"""Processes that tests of workers and cells may leave behind."""

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

    What this run left has its processes among its ancestors, or none at all any more.
    """
    found = [one for one in psutil.process_iter(["cmdline"]) if one.info["cmdline"] == ["sleep", "987654"]]
    own = {one.pid for one in psutil.Process().children(recursive=True)}
    return [one for one in found if one.pid in own or _is_orphan(one)]


def _is_orphan(process: psutil.Process) -> bool:
    try:
        return bool(process.ppid() <= 1)
    except psutil.NoSuchProcess:
        return False
