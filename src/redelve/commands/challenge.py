"""redelve challenge: run a challenge in predicting performance, or take part in one."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module

SUBVERBS = {
    "example": "make a challenge of five datasets, ready to be served",
    "prepare": "make challenge data from datasets of the catalogue or tables",
    "check": "check a zip of answers against a challenge",
    "pack": "make a zip of answers from files, or from a method's answers",
    "score": "score a zip with the labels at hand",
    "serve": "run the server of a challenge",
    "worker": "score entries for a server, in a process of its own",
    "submit": "send a zip of answers to a server and wait for its score",
    "demo": "show a challenge from beginning to end",
}


def usage() -> str:
    """What `redelve challenge` alone prints."""
    lines = [
        "usage: redelve challenge <what> [ arguments ]     (redelve challenge <what> -h explains it)",
        "",
    ]
    return "\n".join([*lines, *(f"  {name:10}{about}" for name, about in SUBVERBS.items())]) + "\n"


def main(argv: Sequence[str] | None = None) -> int:
    """Do what is named first."""
    words = list(sys.argv[1:] if argv is None else argv)
    if not words or words[0] in ("-h", "--help"):
        sys.stdout.write(usage())
        return 0
    if words[0] not in SUBVERBS:
        sys.stderr.write(f'redelve challenge: unknown word "{words[0]}": redelve challenge -h lists them\n')
        return 2
    code: int = import_module(f"redelve.commands.challenge_{words[0].replace('-', '_')}").main(words[1:])
    return code
