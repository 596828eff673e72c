"""redelve study wcci: which way guesses the performance of a classifier best?"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from redelve.cli import verb_options as of
from redelve.cli.options import Command, UsageError

if TYPE_CHECKING:
    from redelve.studies.wcci import WcciPlan


class WcciOptions(of.VerbOptions):
    """What `redelve study wcci` is told."""

    instances = of.whole("n", "training sets of each problem (10)", wanted=of.FROM_0)
    datasets = of.text("d", "problems, separated by commas", "names")
    classifiers = of.text("c", "classifiers, separated by commas; selection is the best of several", "names")
    out = of.text("o", "the folder for trials, tables, figures and page (wcci-study)", "folder", "wcci-study")
    quick = of.flag("k", "a small study that only shows how it goes")
    list = of.flag("l", "list problems and classifiers")
    quiet = of.flag("q", "don't tell what is being done")


COMMAND = Command(
    "redelve study wcci",
    "Train classifiers on many small training sets, guess their balanced error rate by every way, and see\n"
    "how far the guesses are from the truth, known from many test cases. Everything is kept in a folder:\n"
    "the same command, given again, goes on where it was stopped; the kept trials are in its archive.",
    "[ --instances N ] [ --datasets names ] [ -o folder ] [ --quick ]",
    WcciOptions.declared(),
    most=0,
)


def study(given: WcciOptions) -> str:
    """Do the trials that are missing, then tell what all of them say."""
    from redelve.studies.wcci import make_trials
    from redelve.studies.wcci.way_findings import study_of
    from redelve.studies.wcci.way_tables import describe
    from redelve.studies.wcci.wcci_page import write_study

    if given.list:
        return _listed()
    folder = Path(given.out)
    trials = make_trials(_plan(given), folder, (lambda _: None) if given.quiet else _tell)
    found = study_of(trials)
    write_study(folder, found, trials)
    return f"{describe(found)}\n\nWritten: {folder}\n"


def _tell(what: str) -> None:
    sys.stderr.write(f"{what}\n")


def _listed() -> str:
    from redelve.studies.wcci import CLASSIFIERS, PROBLEMS, SELECTION

    problems = "".join(f"  {name:10}{PROBLEMS[name].about}\n" for name in PROBLEMS)
    return f"problems:\n{problems}classifiers: {', '.join((*CLASSIFIERS, SELECTION))}\n"


def _plan(given: WcciOptions) -> WcciPlan:
    from redelve.studies.wcci.guess_trials import QUICK, WcciPlan

    plan = QUICK if given.quick else WcciPlan()
    if given.instances is not None:
        plan = replace(plan, instances=given.instances)
    if given.datasets is not None:
        plan = replace(plan, problems=_names(given.datasets))
    if given.classifiers is not None:
        plan = replace(plan, classifiers=_names(given.classifiers))
    return plan


def _names(text: str) -> tuple[str, ...]:
    names = tuple(dict.fromkeys(name.strip() for name in text.split(",") if name.strip()))
    if not names:
        raise UsageError(f'names are missing: got "{text}"')
    return names


def main(argv: Sequence[str] | None = None) -> int:
    """Entry point."""
    return of.run_verb(COMMAND, WcciOptions, study, argv)
