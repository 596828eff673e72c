"""`redelve <command>`: DELVE's thirteen commands and redelve's own verbs."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module

from redelve import __version__

DELVE_COMMANDS = {
    "dcheck": "validate datasets, prototasks and priors",
    "dgenorder": "generate a random order for a prototask",
    "dgenproto": "generate prototask data files",
    "dinfo": "get information about datasets",
    "dls": "list contents of data directories",
    "dmore": "show data files",
    "mgendata": "generate task data files",
    "mgendir": "generate task directories",
    "minfo": "get information about learning methods",
    "mloss": "generate loss files from predictions",
    "mls": "list contents of method directories",
    "mmore": "show method files",
    "mstats": "estimate and compare expected losses",
}
VERBS = {
    "assess": "run methods on data, compare them, write a report",
    "report": "analyse an archive and write a report",
    "archive": "verify, merge, compact, export or import archives of results",
    "methods": "list the built-in methods",
    "check-method": "try whether a method keeps to the contract",
    "training-time": "measure how long trials take that may fail, from a table of times",
    "predict": "guess how well a method will do on new cases, with an interval",
    "study": "make published tables anew and set them beside the printed numbers",
    "challenge": "prepare, run, enter and score challenges in predicting performance",
    "csv": "write a dataset as comma-separated values",
    "proben1": "list PROBEN1's problems; check, export and download files in its format",
    "apply": "apply a built-in method to the task in a directory",
    "root": "print the path of the built-in delve directory",
}


def usage() -> str:
    """What `redelve` alone prints."""
    groups = (
        ("the main job", VERBS),
        ("DELVE's commands (each is a program of its own too)", DELVE_COMMANDS),
    )
    lines = [f"redelve {__version__}: find out, validly, how well learning methods learn.", ""]
    lines.append("usage: redelve <command> [ arguments ]     (redelve <command> -h explains a command)")
    for title, commands in groups:
        lines += ["", f"{title}:", *(f"  {name:15}{purpose}" for name, purpose in commands.items())]
    return "\n".join(lines) + "\n"


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command that is named first."""
    words = list(sys.argv[1:] if argv is None else argv)
    if not words or words[0] in ("-h", "--help"):
        sys.stdout.write(usage())
        return 0
    if words[0] in ("-v", "--version"):
        sys.stdout.write(f"redelve {__version__}\n")
        return 0
    if words[0] not in DELVE_COMMANDS | VERBS:
        sys.stderr.write(f'redelve: unknown command "{words[0]}": redelve -h lists them\n')
        return 2
    code: int = import_module(_module(words[0])).main(words[1:])
    return code


def _module(command: str) -> str:
    """Where a command is; none is called as a module of the standard library."""
    return f"redelve.cli.{'csv_export' if command == 'csv' else command.replace('-', '_')}"
