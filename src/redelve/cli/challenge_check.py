"""redelve challenge check: whether a zip of answers would be taken, and what to mend if not."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from redelve.cli.options import FAILURE, Command, Given, run
from redelve.errors import LocationError

COMMAND = Command(
    "redelve challenge check",
    "Check a zip of answers against a challenge: its folder, or one with the files of its data page.",
    "challenge answers.zip",
    least=2,
    most=2,
)


def check(given: Given) -> Iterator[str]:
    """Tell what is in the zip."""
    from redelve.challenge.packing import read_downloads
    from redelve.challenge.submissions import read_submission

    folder, name = given.arguments
    if not Path(name).is_file():
        raise LocationError(f"{name}: no such file: give the zip of answers")
    found = read_submission(Path(name), read_downloads(folder))
    for dataset, entry in found.entries.items():
        guess = "no guess" if entry.guess is None else f"guess {entry.guess:g}"
        extra = ", confidences" if entry.confidences else ""
        yield f"  {dataset:12} {' '.join(entry.answers)}; {guess}{extra}\n"
    if found.is_complete:
        yield "complete: it can enter the final ranking\n"
    else:
        yield f"not complete, for the final ranking it lacks {', '.join(found.lacks)}\n"


def main(argv: Sequence[str] | None = None) -> int:
    """Entry point; a zip that would not be taken has all its problems listed."""
    from redelve.challenge.submissions import SubmissionError

    problems: tuple[str, ...] = ()

    def checked(given: Given) -> str:
        nonlocal problems
        try:
            return "".join(check(given))
        except SubmissionError as error:
            problems = error.problems
            return ""

    code = run(COMMAND, checked, argv)
    for problem in problems:
        sys.stderr.write(f"{COMMAND.name}: {problem}\n")
    return FAILURE if problems else code
