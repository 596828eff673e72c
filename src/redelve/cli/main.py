"""`redelve <command>`: DELVE's thirteen commands, redelve's own verbs and those of other packages."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from redelve import __version__
from redelve.cli.options import FAILURE, USAGE
from redelve.cli.subcommands import COMMANDS, DELVE_COMMANDS, VERBS, others
from redelve.errors import RedelveError, did_you_mean


def usage() -> str:
    """What `redelve` alone prints."""
    groups = (
        ("the main job", VERBS),
        ("DELVE's commands (each is a program of its own too)", DELVE_COMMANDS),
        ("commands of other packages", others()),
    )
    lines = [f"redelve {__version__}: find out, validly, how well learning methods learn.", ""]
    lines.append("usage: redelve <command> [ arguments ]     (redelve <command> -h explains a command)")
    for title, commands in groups:
        if commands:
            lines += ["", f"{title}:", *(f"  {name:15}{purpose}" for name, purpose in commands.items())]
    return "\n".join(lines) + "\n"


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command that is named first."""
    words = list(sys.argv[1:] if argv is None else argv)
    try:
        if not words or words[0] in ("-h", "--help"):
            sys.stdout.write(usage())
            return 0
        if words[0] in ("-v", "--version"):
            sys.stdout.write(f"redelve {__version__}\n")
            return 0
        if words[0] not in COMMANDS:
            sys.stderr.write(_unknown(words[0]))
            return USAGE
        command = COMMANDS[words[0]]
    except RedelveError as error:  # a package registered what can't be loaded, or a name twice
        sys.stderr.write(f"redelve: {error}\n")
        return FAILURE
    return command.run(words[1:])


def _unknown(word: str) -> str:
    near = did_you_mean(word, COMMANDS)
    hint = f' (did you mean "{near}"?)' if near else ""
    return f'redelve: unknown command "{word}": redelve -h lists them{hint}\n'
