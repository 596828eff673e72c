"""Does a command behave as redelve's do? Numbered checks that anyone can run on a command of their own."""

from __future__ import annotations

import contextlib
import io
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from redelve.cli import NO_RESULT, USAGE
from redelve.cli.main import COMMANDS, Subcommand
from redelve.model.numbered_checks import CheckReport, NotApplicableError, NumberedChecks, must

NONSENSE = "--no-such-option"
NOWHERE = "/no/such/place"
MOST_LINES = 2
"""What went wrong, and how the command is used."""


class CommandOutcome(NamedTuple):
    """How a command ended, and what it printed."""

    code: object
    out: str
    err: str


@dataclass(frozen=True)
class CheckedCommand:
    """The command under examination."""

    name: str
    command: Subcommand

    def given(self, words: Sequence[str]) -> CommandOutcome:
        """What comes of the command with these words, in an empty folder."""
        out, err = io.StringIO(), io.StringIO()
        with (
            tempfile.TemporaryDirectory() as folder,
            contextlib.chdir(folder),
            contextlib.redirect_stdout(out),
            contextlib.redirect_stderr(err),
        ):
            try:
                code: object = self.command.run(words)
            except BaseException as error:
                code = f"{type(error).__name__}: {error}"
        return CommandOutcome(code, out.getvalue(), err.getvalue())


CHECKS = NumberedChecks[CheckedCommand]()


def check_command(name: str, command: Subcommand | None = None) -> CheckReport:
    """Try whether a command explains itself, and tells in a line what it can't do.

    Parameters
    ----------
    name
        What is written after `redelve`.
    command
        The command, if it is not registered under the name.

    Returns
    -------
    CheckReport
        A finding for each of the checks K001 to K004; the command runs in an empty folder.

    Examples
    --------
    >>> check_command("methods").passed
    True
    """
    return CHECKS.report(name, CheckedCommand(name, COMMANDS[name] if command is None else command))


@CHECKS.check("K001", "its purpose is a line of text", "`redelve -h` lists it beside the others.")
def _purpose(subject: CheckedCommand) -> None:
    purpose = subject.command.purpose
    must(isinstance(purpose, str) and len(purpose.splitlines()) == 1, f"it is {purpose!r}")


@CHECKS.check(
    "K002",
    "-h explains it",
    'Printed on standard output, with exit code 0, beginning with "usage: redelve" and its name.',
)
def _help(subject: CheckedCommand) -> None:
    outcome = subject.given(["-h"])
    must(outcome.code == 0, f"-h ends with {outcome.code!r}")
    must(not outcome.err, f"-h prints on standard error: {outcome.err}")
    begins = outcome.out.startswith((f"usage: redelve {subject.name}", f"usage: {subject.name}"))
    must(begins, f'it begins with "{outcome.out[:40]}"')


@CHECKS.check(
    "K003",
    "an option that it does not have is refused",
    f"Exit code {USAGE} ({NO_RESULT} of a command whose exit code {USAGE} is a verdict), and a line on "
    "standard error, which the command's usage may follow.",
)
def _nonsense(subject: CheckedCommand) -> None:
    outcome = subject.given([NONSENSE])
    must(outcome.code in (USAGE, NO_RESULT), f"given {NONSENSE} it ends with {outcome.code!r}")
    _check_lines(outcome)


@CHECKS.check(
    "K004",
    "what is not there is told in a line",
    "A user's mistake is no traceback: an exit code above 0, and a line on standard error.",
)
def _nowhere(subject: CheckedCommand) -> None:
    outcome = subject.given([NOWHERE])
    if outcome.code == 0:
        raise NotApplicableError(f"it takes {NOWHERE}")
    must(isinstance(outcome.code, int), f"given {NOWHERE} it ends with {outcome.code}")
    _check_lines(outcome)


def _check_lines(outcome: CommandOutcome) -> None:
    count = len(outcome.err.splitlines())
    must(1 <= count <= MOST_LINES, f"it prints {count} lines on standard error: {outcome.err}")
