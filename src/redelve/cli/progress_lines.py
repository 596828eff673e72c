"""Progress lines, which DELVE's commands write to standard error."""

from __future__ import annotations

import sys
from collections.abc import Callable

from redelve.cli.options import Option

QUIET = Option("q", "quiet: print no progress lines", long="quiet")
Progress = Callable[[str], None]


def to_stderr(line: str) -> None:
    """Show one line of progress at once."""
    sys.stderr.write(f"{line}\n")
    sys.stderr.flush()


def reporter(*, is_quiet: bool) -> Progress:
    """Where a command's progress lines go."""
    from redelve.data.delve.task_files import silent

    return silent if is_quiet else to_stderr
