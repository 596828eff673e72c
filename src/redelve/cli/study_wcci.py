"""redelve study wcci: which way guesses the performance of a classifier best?"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from redelve.cli.options import Command, Given, Option, UsageError, run

if TYPE_CHECKING:
    from redelve.studies.wcci import WcciPlan

COMMAND = Command(
    "redelve study wcci",
    "Train classifiers on many small training sets, guess their balanced error rate by every way, and see\n"
    "how far the guesses are from the truth, known from many test cases. Everything is kept in a folder:\n"
    "the same command, given again, goes on where it was stopped; the kept trials are in its archive.",
    "[ --instances N ] [ --datasets names ] [ -o folder ] [ --quick ]",
    (
        Option("n", "training sets of each problem (10)", "number", "instances"),
        Option("d", "problems, separated by commas", "names", "datasets"),
        Option(
            "c", "classifiers, separated by commas; selection is the best of several", "names", "classifiers"
        ),
        Option("o", "the folder for trials, tables, figures and page (wcci-study)", "folder", "out"),
        Option("k", "a small study that only shows how it goes", None, "quick"),
        Option("l", "list problems and classifiers", None, "list"),
        Option("q", "don't tell what is being done", None, "quiet"),
    ),
    most=0,
)
FOLDER = "wcci-study"


def study(given: Given) -> Iterator[str]:
    """Do the trials that are missing, then tell what all of them say."""
    from redelve.studies.wcci import make_trials
    from redelve.studies.wcci.way_findings import study_of
    from redelve.studies.wcci.way_tables import describe
    from redelve.studies.wcci.wcci_page import write_study

    if given.has("l"):
        yield _listed()
        return
    folder = Path(given.value("o") or FOLDER)
    trials = make_trials(_plan(given), folder, (lambda _: None) if given.has("q") else _tell)
    found = study_of(trials)
    write_study(folder, found, trials)
    yield f"{describe(found)}\n\nWritten: {folder}\n"


def _tell(what: str) -> None:
    sys.stderr.write(f"{what}\n")


def _listed() -> str:
    from redelve.studies.wcci import CLASSIFIERS, PROBLEMS, SELECTION

    problems = "".join(f"  {name:10}{PROBLEMS[name].about}\n" for name in PROBLEMS)
    return f"problems:\n{problems}classifiers: {', '.join((*CLASSIFIERS, SELECTION))}\n"


def _plan(given: Given) -> WcciPlan:
    from redelve.studies.wcci.guess_trials import QUICK, WcciPlan

    plan = QUICK if given.has("k") else WcciPlan()
    if (count := given.value("n")) is not None:
        if not count.isdecimal():
            raise UsageError(f'option "-n" needs a whole number, not "{count}"')
        plan = replace(plan, instances=int(count))
    if (names := given.value("d")) is not None:
        plan = replace(plan, problems=_names(names))
    if (names := given.value("c")) is not None:
        plan = replace(plan, classifiers=_names(names))
    return plan


def _names(text: str) -> tuple[str, ...]:
    names = tuple(dict.fromkeys(name.strip() for name in text.split(",") if name.strip()))
    if not names:
        raise UsageError(f'names are missing: got "{text}"')
    return names


def main(argv: Sequence[str] | None = None) -> int:
    """Entry point."""
    return run(COMMAND, study, argv)
