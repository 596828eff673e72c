"""What may follow `redelve`: DELVE's commands, redelve's own verbs, commands of other packages."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module
from typing import NamedTuple

from redelve.errors import SpecError
from redelve.registry import Registry

Main = Callable[[Sequence[str]], int]


class Subcommand(NamedTuple):
    """A command: what it is for, in a line, and what runs it.

    `main` is given the words that follow the command's name and returns the exit code; it may be written as
    "module:function", to be imported when it is called.
    """

    purpose: str
    main: Main | str

    def run(self, words: Sequence[str]) -> int:
        """The exit code."""
        if not isinstance(self.main, str):
            return self.main(words)
        module, _, function = self.main.partition(":")
        code: int = getattr(import_module(module), function)(words)
        return code


COMMANDS: Registry[Subcommand] = Registry("command", "redelve.commands")
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
    "methods": "list the methods that are known by name",
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

for _name, _purpose in {**VERBS, **DELVE_COMMANDS}.items():
    # none is called as a module of the standard library
    _module = "csv_export" if _name == "csv" else _name.replace("-", "_")
    COMMANDS.add(_name, Subcommand(_purpose, f"redelve.cli.{_module}:main"))


def others() -> dict[str, str]:
    """The commands of installed packages and what they are for; one that can't be loaded says so."""
    return {name: _purpose_of(name) for name in COMMANDS if name not in VERBS and name not in DELVE_COMMANDS}


def _purpose_of(name: str) -> str:
    try:
        return COMMANDS[name].purpose
    except SpecError as error:
        return str(error)
