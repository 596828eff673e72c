"""Does a command behave as redelve's do? A check that anyone can run on a command of their own."""

from __future__ import annotations

import contextlib
import io
import tempfile
from collections.abc import Sequence
from typing import NamedTuple

from redelve.cli.options import USAGE
from redelve.cli.subcommands import COMMANDS, Subcommand

NONSENSE = "--no-such-option"
NOWHERE = "/no/such/place"
MOST_LINES = 2
"""What went wrong, and how the command is used."""


class _Outcome(NamedTuple):
    code: object
    out: str
    err: str


def check_command(name: str, command: Subcommand | None = None) -> list[str]:
    """Try whether a command explains itself, and tells in a line what it can't do.

    Parameters
    ----------
    name
        What is written after `redelve`.
    command
        The command, if it is not registered under the name.

    Returns
    -------
    list of str
        What is wrong, a sentence each; empty if nothing is.

    Examples
    --------
    >>> check_command("methods")
    []
    """
    chosen = COMMANDS[name] if command is None else command
    found = []
    if len(chosen.purpose.splitlines()) != 1:
        found.append(f"its purpose is no line of text: {chosen.purpose!r}")
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        found += _wrong_help(name, _called(chosen, ["-h"]))
        found += _wrong_refusal(NONSENSE, _called(chosen, [NONSENSE]), USAGE)
        found += _wrong_refusal(NOWHERE, _called(chosen, [NOWHERE]))
    return found


def _called(command: Subcommand, words: Sequence[str]) -> _Outcome:
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            code: object = command.run(words)
        except BaseException as error:
            code = f"{type(error).__name__}: {error}"
    return _Outcome(code, out.getvalue(), err.getvalue())


def _wrong_help(name: str, outcome: _Outcome) -> list[str]:
    found = []
    if outcome.code != 0 or outcome.err:
        found.append(f"-h ends with {outcome.code!r}, not 0: {outcome.err}")
    if not outcome.out.startswith(("usage: redelve " + name, "usage: " + name)):
        found.append(f'-h begins with "{outcome.out[:40]}", not with "usage: redelve {name}"')
    return found


def _wrong_refusal(word: str, outcome: _Outcome, wanted: int | None = None) -> list[str]:
    """What is wrong with how a word is refused; None: with any exit code, if it is refused at all."""
    if wanted is None and outcome.code == 0:
        return []
    found = []
    if not isinstance(outcome.code, int) or outcome.code != (wanted or outcome.code):
        found.append(f'given "{word}" it ends with {outcome.code!r}, not with exit code {wanted or 1}')
    if not 1 <= len(outcome.err.splitlines()) <= MOST_LINES:
        found.append(
            f'given "{word}" it prints {len(outcome.err.splitlines())} lines on standard error, not 1'
        )
    return found
