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
