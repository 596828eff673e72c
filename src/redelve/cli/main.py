"""`redelve <command>`: DELVE's thirteen commands, redelve's own verbs and those of other packages."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import NamedTuple

from redelve import __version__
from redelve.cli import FAILURE, USAGE
from redelve.cli.options import open_streams, shown, warned_in_lines
from redelve.errors import RedelveError, SpecError, hint
from redelve.registry import Registry, ValueKind

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


COMMANDS: Registry[Subcommand] = Registry(
    "command", "redelve.commands", of=ValueKind("a Subcommand", lambda given: isinstance(given, Subcommand))
)
VERBS = {
    "assess": Subcommand("run methods on data, compare them, write a report", "redelve.cli.assess:assess"),
    "compare": Subcommand(
        "compare models by scores that were computed elsewhere", "redelve.cli.compare:compare"
    ),
    "race": Subcommand(
        "find the best of several models with as few answers as that takes", "redelve.cli.evaluations:race"
    ),
    "gate": Subcommand("is a new model worse than the old one? for CI", "redelve.cli.evaluations:gate"),
    "differ": Subcommand("tell where two methods of an archive differ", "redelve.cli.differ:differ"),
    "report": Subcommand("analyse an archive and write a report", "redelve.cli.assess:report"),
    "add": Subcommand("run one more method on an archive's tasks", "redelve.cli.adding:add"),
    "archive": Subcommand(
        "verify, merge, compact, export or import archives of results", "redelve.cli.archive:archive"
    ),
    "methods": Subcommand("list the methods that are known by name", "redelve.cli.methods:methods"),
    "check-method": Subcommand(
        "try whether a method keeps to the contract", "redelve.cli.methods:check_method"
    ),
    "training-time": Subcommand(
        "measure how long trials take that may fail, from a table of times",
        "redelve.cli.training_time:training_time",
    ),
    "predict": Subcommand(
        "guess how well a method will do on new cases, with an interval", "redelve.cli.predict:predict"
    ),
    "study": Subcommand(
        "make published tables anew and set them beside the printed numbers", "redelve.cli.main:study"
    ),
    "challenge": Subcommand(
        "prepare, run, enter and score challenges in predicting performance", "redelve.cli.main:challenge"
    ),
    "csv": Subcommand("write a dataset as comma-separated values", "redelve.cli.showing:csv"),
    "proben1": Subcommand(
        "list PROBEN1's problems; check, export and download files in its format",
        "redelve.cli.proben1:proben1",
    ),
    "apply": Subcommand("apply a method to the task in a directory", "redelve.cli.methods:apply"),
    "root": Subcommand("print the path of the built-in delve directory", "redelve.cli.showing:root"),
}
DELVE_COMMANDS = {
    "dcheck": Subcommand("validate datasets, prototasks and priors", "redelve.cli.preparing:dcheck"),
    "dgenorder": Subcommand("generate a random order for a prototask", "redelve.cli.preparing:dgenorder"),
    "dgenproto": Subcommand("generate prototask data files", "redelve.cli.preparing:dgenproto"),
    "dinfo": Subcommand("get information about datasets", "redelve.cli.information:dinfo"),
    "dls": Subcommand("list contents of data directories", "redelve.cli.showing:dls"),
    "dmore": Subcommand("show data files", "redelve.cli.showing:dmore"),
    "mgendata": Subcommand("generate task data files", "redelve.cli.method_directories:mgendata"),
    "mgendir": Subcommand("generate task directories", "redelve.cli.method_directories:mgendir"),
    "minfo": Subcommand("get information about learning methods", "redelve.cli.information:minfo"),
    "mloss": Subcommand("generate loss files from predictions", "redelve.cli.loss_commands:mloss"),
    "mls": Subcommand("list contents of method directories", "redelve.cli.showing:mls"),
    "mmore": Subcommand("show method files", "redelve.cli.showing:mmore"),
    "mstats": Subcommand("estimate and compare expected losses", "redelve.cli.loss_commands:mstats"),
}
STUDIES = {
    "proben1": Subcommand(
        "Prechelt (1994): linear networks, architectures and their comparison, tables 3 to 12",
        "redelve.cli.proben1:study_proben1",
    ),
    "hamey": Subcommand(
        "Hamey (1992): training times of exclusive-or and encoder, table 1 and figures",
        "redelve.cli.training_time:study_hamey",
    ),
    "wcci": Subcommand(
        "WCCI 2006: which way to predict the performance of a classifier guesses best",
        "redelve.cli.predict:study_wcci",
    ),
    "neal": Subcommand(
        "Neal (1998): does relevance determination help? findings as tests, with verdicts",
        "redelve.cli.relevance:study_neal",
    ),
}
CHALLENGE = {
    "example": Subcommand(
        "make a challenge of five datasets, ready to be served", "redelve.cli.challenge_data:example"
    ),
    "prepare": Subcommand(
        "make challenge data from datasets of the catalogue or tables", "redelve.cli.challenge_data:prepare"
    ),
    "check": Subcommand("check a zip of answers against a challenge", "redelve.cli.challenge_entries:check"),
    "pack": Subcommand(
        "make a zip of answers from files, or from a method's answers", "redelve.cli.challenge_entries:pack"
    ),
    "score": Subcommand("score a zip with the labels at hand", "redelve.cli.challenge_entries:score"),
    "serve": Subcommand("run the server of a challenge", "redelve.cli.challenge_server:serve"),
    "worker": Subcommand(
        "score entries for a server, in a process of its own", "redelve.cli.challenge_server:worker"
    ),
    "submit": Subcommand(
        "send a zip of answers to a server and wait for its score", "redelve.cli.challenge_entries:submit"
    ),
    "verify": Subcommand(
        "check labels, rules and ranking of a challenge from outside", "redelve.cli.challenge_verify:verify"
    ),
    "demo": Subcommand("show a challenge from beginning to end", "redelve.cli.challenge_server:demo"),
}

for _name, _command in {**VERBS, **DELVE_COMMANDS}.items():
    COMMANDS.add(_name, _command)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command that is named first."""
    open_streams()
    with warned_in_lines("redelve"):
        return _run(list(sys.argv[1:] if argv is None else argv))


def _run(words: list[str]) -> int:
    try:
        if not words or words[0] in ("-h", "--help"):
            return shown("redelve", usage())
        if words[0] in ("-v", "--version"):
            return shown("redelve", f"redelve {__version__}\n")
        if words[0] == "help":
            return _run([*words[1:], "--help"])
        if words[0] not in COMMANDS:
            sys.stderr.write(_unknown(words[0]))
            return USAGE
        command = COMMANDS[words[0]]
    except RedelveError as error:  # a package registered what can't be loaded, or a name twice
        sys.stderr.write(f"redelve: {error}\n")
        return FAILURE
    return command.run(words[1:])


def usage() -> str:
    """What `redelve` alone prints."""
    purposes = ({name: one.purpose for name, one in group.items()} for group in (VERBS, DELVE_COMMANDS))
    titles = (
        "the main job",
        "DELVE's commands (each is a program of its own too)",
        "commands of other packages",
    )
    lines = [f"redelve {__version__}: find out, validly, how well learning methods learn.", ""]
    lines.append("usage: redelve <command> [ arguments ]     (redelve <command> -h explains a command)")
    for title, commands in zip(titles, (*purposes, others()), strict=True):
        if commands:
            lines += ["", f"{title}:", *(f"  {name:15}{purpose}" for name, purpose in commands.items())]
    return "\n".join(lines) + "\n"


def others() -> dict[str, str]:
    """The commands of installed packages and what they are for; one that can't be loaded says so."""
    return {name: _purpose_of(name) for name in COMMANDS if name not in VERBS and name not in DELVE_COMMANDS}


def _purpose_of(name: str) -> str:
    try:
        return COMMANDS[name].purpose
    except SpecError as error:
        return str(error)


def _unknown(word: str) -> str:
    return f'redelve: unknown command "{word}": redelve -h lists them{hint(word, COMMANDS)}\n'


def study(argv: Sequence[str]) -> int:
    """redelve study: published tables, made anew and set beside what was printed."""
    return _dispatch("study", STUDIES, argv)


def challenge(argv: Sequence[str]) -> int:
    """redelve challenge: run a challenge in predicting performance, or take part in one."""
    return _dispatch("challenge", CHALLENGE, argv)


def _dispatch(verb: str, choices: Mapping[str, Subcommand], words: Sequence[str]) -> int:
    """A verb that has verbs of its own: run what is named first."""
    if not words or words[0] in ("-h", "--help"):
        head = f"usage: redelve {verb} <name> [ arguments ]     (redelve {verb} <name> -h explains it)"
        lines = "".join(f"  {name:10}{one.purpose}\n" for name, one in choices.items())
        return shown(f"redelve {verb}", f"{head}\n\n{lines}")
    if words[0] not in choices:
        told = f"redelve {verb} -h lists them{hint(words[0], choices)}"
        sys.stderr.write(f'redelve {verb}: unknown name "{words[0]}": {told}\n')
        return USAGE
    return choices[words[0]].run(words[1:])
