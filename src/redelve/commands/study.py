"""redelve study: published tables, made anew and set beside what was printed."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module

STUDIES = {
    "proben1": "Prechelt (1994): linear networks, architectures and their comparison, tables 3 to 12",
    "hamey": "Hamey (1992): training times of exclusive-or and encoder, table 1 and figures",
    "wcci": "WCCI 2006: which way to predict the performance of a classifier guesses best",
}


def usage() -> str:
    """What `redelve study` alone prints."""
    lines = ["usage: redelve study <name> [ options ]     (redelve study <name> -h explains a study)", ""]
    return "\n".join([*lines, *(f"  {name:10}{about}" for name, about in STUDIES.items())]) + "\n"


def main(argv: Sequence[str] | None = None) -> int:
    """Run the study that is named first."""
    words = list(sys.argv[1:] if argv is None else argv)
    if not words or words[0] in ("-h", "--help"):
        sys.stdout.write(usage())
        return 0
    if words[0] not in STUDIES:
        sys.stderr.write(f'redelve study: unknown study "{words[0]}": redelve study -h lists them\n')
        return 2
    code: int = import_module(f"redelve.commands.study_{words[0]}").main(words[1:])
    return code
