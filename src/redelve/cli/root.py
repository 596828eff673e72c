"""redelve root: where the built-in delve directory is, for use in DELVE_PATH."""

from __future__ import annotations

from collections.abc import Sequence

from redelve.cli.options import Command, run
from redelve.data.delve.roots import make_builtin_root

COMMAND = Command("redelve root", "Print the path of the built-in delve directory.", "", most=0)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command."""
    return run(COMMAND, lambda _: f"{make_builtin_root()}\n", argv)
