"""What the thirteen commands share: options, help, errors and exit codes (manual, appendix C).

Argparse and dataclasses are not used because each takes half as long to import as Python takes to start.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from redelve.errors import RedelveError

FAILURE, USAGE, INTERRUPTED, BROKEN_PIPE = 1, 2, 130, 141


Meaning = str | Callable[[], str]
"""What an option is for; a function is called for the help alone, to list what is registered."""


class Option(NamedTuple):
    """An option such as -l or -c file; `argument` names what follows it, if anything does."""

    letter: str
    meaning: Meaning
    argument: str | None = None
    long: str | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """How the option may be written: -l, --long."""
        return (f"-{self.letter}",) if self.long is None else (f"-{self.letter}", f"--{self.long}")

    @property
    def explanation(self) -> str:
        """What the help says of it."""
        return self.meaning if isinstance(self.meaning, str) else self.meaning()

    @property
    def heading(self) -> str:
        """How the help shows it."""
        return ", ".join(self.names) + (f" {self.argument}" if self.argument else "")


HELP = Option("h", "print this help", long="help")


class Command(NamedTuple):
    """What a command is called, what it takes and what it does."""

    name: str
    purpose: str
    synopsis: str
    options: tuple[Option, ...] = ()
    least: int = 0
    most: int | None = 1

    @property
    def usage(self) -> str:
        """The command's first line of help."""
        return f"usage: {self.name} {self.synopsis}"

    @property
    def help(self) -> str:
        """The text that -h prints."""
        entries = [(option.heading, option.explanation) for option in (*self.options, HELP)]
        entries.append(("--", "end of the options: all that follows are arguments"))
        width = max(len(heading) for heading, _ in entries) + 2
        lines = "".join(f"  {heading:{width}}{meaning}\n" for heading, meaning in entries)
        return f"{self.usage}\n\n{self.purpose}\n\n{lines}"


class Given(NamedTuple):
    """What the user gave: arguments, and for each option the values it got, by its letter."""

    arguments: tuple[str, ...]
    options: dict[str, tuple[str, ...]]

    def has(self, letter: str) -> bool:
        """Whether the option was given."""
        return letter in self.options

    def value(self, letter: str) -> str | None:
        """The argument of an option (the last one if given twice)."""
        return self.options[letter][-1] if letter in self.options else None

    def path(self) -> str:
        """The only argument, or else the current directory."""
        return self.arguments[0] if self.arguments else "."


class UsageError(RedelveError):
    """The command was called wrongly."""


def parse(command: Command, argv: Sequence[str]) -> Given:
    """Take options and arguments apart; they may stand in any order, and `--` ends the options.

    >>> mloss = Command("mloss", "", "", (Option("l", "losses", "losses"), Option("q", "quiet")))
    >>> parse(mloss, ["-q", "-l", "S", "--", "-x"])
    Given(arguments=('-x',), options={'q': ('',), 'l': ('S',)})
    """
    known = {name: option for option in (*command.options, HELP) for name in option.names}
    arguments: list[str] = []
    options: dict[str, tuple[str, ...]] = {}
    rest = list(argv)
    while rest:
        word = rest.pop(0)
        if word == "--":
            arguments += rest
            break
        if word == "-" or not word.startswith("-"):
            arguments.append(word)
        else:
            letter, value = _take_option(known, word, rest)
            options[letter] = (*options.get(letter, ()), value)
    if "h" not in options:
        _check_count(command, arguments)
    return Given(tuple(arguments), options)


def _take_option(known: dict[str, Option], word: str, rest: list[str]) -> tuple[str, str]:
    """The option's letter and value; what belongs to it, or is still to be read, changes in `rest`."""
    is_long = word.startswith("--")
    name, separator, attached = word.partition("=") if is_long else (word[:2], "", word[2:])
    if name not in known:
        raise UsageError(f'unknown option "{name}"')
    option = known[name]
    if option.argument is None:
        if separator:
            raise UsageError(f'option "{name}" takes no argument')
        if attached:
            rest.insert(0, f"-{attached}")
        return option.letter, ""
    if separator or attached:
        return option.letter, attached
    if not rest:
        raise UsageError(f'option "{name}" needs an argument: {option.heading}')
    return option.letter, rest.pop(0)


def _check_count(command: Command, arguments: Sequence[str]) -> None:
    if len(arguments) < command.least:
        raise UsageError("an argument is missing")
    if command.most is not None and len(arguments) > command.most:
        raise UsageError(f'too many arguments: "{arguments[command.most]}"')


def write(pieces: Iterable[str]) -> None:
    """Write texts to standard output as they come."""
    for piece in pieces:
        sys.stdout.write(piece)
    sys.stdout.flush()


def run(
    command: Command,
    action: Callable[[Given], str | Iterable[str]],
    argv: Sequence[str] | None,
    *,
    show: Callable[[Iterable[str]], None] = write,
) -> int:
    """Parse, call `action`, show the text it returns; the only place where errors become exit codes."""
    _accept_any_name()
    try:
        given = parse(command, sys.argv[1:] if argv is None else argv)
        if given.has("h"):
            write([command.help])
            return 0
        result = action(given)
        show([result] if isinstance(result, str) else result)
    except (RedelveError, OSError, KeyboardInterrupt) as error:
        return _failed(command, error)
    return 0


def _failed(command: Command, error: BaseException) -> int:
    """Tell in one line what went wrong (quietly if nobody wants to know), and choose the exit code."""
    _settle_output()
    if isinstance(error, KeyboardInterrupt):
        return INTERRUPTED
    if isinstance(error, BrokenPipeError):
        return BROKEN_PIPE
    sys.stderr.write(f"{command.name}: {' '.join(str(error).splitlines())}\n")
    if isinstance(error, UsageError):
        sys.stderr.write(f"{command.usage} (-h explains)\n")
        return USAGE
    return FAILURE


def _settle_output() -> None:
    """Write out what is still in store or, where nobody takes it, forget it, so that the exit stays quiet."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _accept_any_name() -> None:
    """Let file names that are not proper text, or not in the terminal's alphabet, pass through."""
    reconfigure = getattr(sys.stdout, "reconfigure", None)
    if reconfigure is not None:
        is_utf8 = sys.stdout.encoding.lower().replace("-", "") == "utf8"
        reconfigure(errors="surrogateescape" if is_utf8 else "backslashreplace")
