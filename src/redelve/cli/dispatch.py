"""Verbs that have verbs of their own: the word after them chooses a module of this room."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from importlib import import_module


def usage(verb: str, choices: Mapping[str, str]) -> str:
    """What the verb alone prints."""
    lines = [f"usage: redelve {verb} <name> [ arguments ]     (redelve {verb} <name> -h explains it)", ""]
    return "\n".join([*lines, *(f"  {name:10}{about}" for name, about in choices.items())]) + "\n"


def dispatch(verb: str, choices: Mapping[str, str], argv: Sequence[str] | None) -> int:
    """Run what is named first."""
    words = list(sys.argv[1:] if argv is None else argv)
    if not words or words[0] in ("-h", "--help"):
        sys.stdout.write(usage(verb, choices))
        return 0
    if words[0] not in choices:
        sys.stderr.write(f'redelve {verb}: unknown name "{words[0]}": redelve {verb} -h lists them\n')
        return 2
    code: int = import_module(f"redelve.cli.{verb}_{words[0].replace('-', '_')}").main(words[1:])
    return code
