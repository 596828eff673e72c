"""redelve predict and study wcci: how well will a method do on new cases, and which way guesses best?"""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from redelve.cli import options as of
from redelve.cli import table_options as tables
from redelve.cli.options import Command, Progress, UsageError, reporter
from redelve.cli.outputs import check_file, refuse_inputs

if TYPE_CHECKING:
    from redelve.performance import BenchSettings
    from redelve.studies.wcci import WcciPlan

USUAL_METHOD = "forest"
SECONDS_OF_SILENCE = 5.0


class PredictOptions(of.VerbOptions):
    """What `redelve predict` is told."""

    target = of.text("t", "the column to predict", "column")
    group = of.text("g", "the column that tells which cases belong together", "column")
    method = of.names("m", "methods by name (`redelve methods` lists them), or methods.py, methods.py:mine")
    loss = of.text("l", "ber, error, a loss (S, A, Q, L) or a metric: accuracy, roc_auc, rmse, r2", "loss")
    ways = of.names(
        "w", "ways to guess by, separated by commas, such as kfold:5,632+ (-W lists them)", "ways"
    )
    list_ways = of.flag("W", "list the ways")
    level = of.number("L", "the level of the intervals, 0.95", "level")
    seed = of.whole("s", "the seed of splits and fits, a whole number", wanted=of.ANY, default=0)
    jobs = of.whole("j", "how many processes fit models", wanted=of.ANY, default=1)
    out = of.text("o", "write the guesses to this .csv file too", "file")
    ignore, missing = tables.ignore(), tables.missing()
    encoding, decimal = tables.encoding(), tables.decimal()
    quiet = of.quiet()


PREDICT = Command(
    "redelve predict",
    "Guess how well a method, trained on all cases of a table, will do on new ones: several ways side by\n"
    "side, each with an interval and its cost. Of several methods the best by cross-validation is chosen,\n"
    "and the guess is corrected for that. docs/predicting.md tells which way to trust.",
    "data.csv -t column [ -m methods ] [ options ]",
    PredictOptions.declared(),
    least=0,
)


def _predict(given: PredictOptions) -> str:
    """The guesses, side by side; a table of them is written if it is wanted."""
    if given.list_ways:
        return _ways()
    if not given.arguments:
        raise UsageError("an argument is missing: the table")
    refuse_inputs(given.out, given.arguments)
    check_file(given.out, "guesses", ".csv")
    from redelve.data.files import write_atomic
    from redelve.data.tables import from_file
    from redelve.methods.contract import named_methods
    from redelve.performance.predicting_tasks import predict_task

    table = from_file(given.arguments[0], given.target, groups=given.group, **given.some(*tables.CORRECTIONS))
    of.tell_warnings("redelve predict", table.warnings)
    prediction = predict_task(
        named_methods(of.methods_told(given.method or (USUAL_METHOD,))),
        table.assignments[0],
        loss=given.loss,
        ways=given.ways or None,
        settings=_settings(given),
    )
    told = (note for note in table.left_out if note not in table.warnings)
    notes = "".join(f"{note}\n" for note in told if not note.startswith("attribute "))
    if given.out is None:
        return f"{notes}{prediction}\n"
    write_atomic(given.out, prediction.frame().to_csv(index=False))
    return f"{notes}{prediction}\n\nGuesses: {given.out}\n"


def _ways() -> str:
    from redelve.performance import WAYS

    width = max(map(len, WAYS)) + 2
    return "".join(f"{name:{width}}{(WAYS[name].__doc__ or '').splitlines()[0]}\n" for name in WAYS)


def _settings(given: PredictOptions) -> BenchSettings:
    from redelve.performance import BenchSettings

    return BenchSettings(
        seed=given.seed,
        jobs=given.jobs,
        level=0.95 if given.level is None else given.level,
        progress=_Teller(reporter(is_quiet=given.quiet)),
    )


class _Teller:
    """Tells on standard error, every few seconds, how far slow fits are."""

    def __init__(self, tell: Progress) -> None:
        self.tell, self.last = tell, time.monotonic()

    def __call__(self, name: str, done: int, total: int) -> None:
        if done < total and time.monotonic() - self.last >= SECONDS_OF_SILENCE:
            self.last = time.monotonic()
            self.tell(f"{name}: {done} of {total} fits")


def predict(argv: Sequence[str] | None = None) -> int:
    """Entry point."""
    return of.run_verb(PREDICT, PredictOptions, _predict, argv)


class WcciOptions(of.VerbOptions):
    """What `redelve study wcci` is told."""

    instances = of.whole("n", "training sets of each problem (10)", wanted=of.FROM_0)
    datasets = of.names("d", "problems, separated by commas")
    classifiers = of.names("c", "classifiers, separated by commas; selection is the best of several")
    out = of.text("o", "the folder for trials, tables, figures and page (wcci-study)", "folder", "wcci-study")
    quick = of.flag("k", "a small study that only shows how it goes")
    list = of.flag("l", "list problems and classifiers")
    quiet = of.flag("q", "don't tell what is being done")


STUDY_WCCI = Command(
    "redelve study wcci",
    "Train classifiers on many small training sets, guess their balanced error rate by every way, and see\n"
    "how far the guesses are from the truth, known from many test cases. Everything is kept in a folder:\n"
    "the same command, given again, goes on where it was stopped; the kept trials are in its archive.",
    "[ --instances N ] [ --datasets names ] [ -o folder ] [ --quick ]",
    WcciOptions.declared(),
    most=0,
)


def _study_wcci(given: WcciOptions) -> str:
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
    from dataclasses import replace

    from redelve.studies.wcci.guess_trials import QUICK, WcciPlan

    plan = QUICK if given.quick else WcciPlan()
    if given.instances is not None:
        plan = replace(plan, instances=given.instances)
    if given.datasets:
        plan = replace(plan, problems=given.datasets)
    if given.classifiers:
        plan = replace(plan, classifiers=given.classifiers)
    return plan


def study_wcci(argv: Sequence[str] | None = None) -> int:
    """Entry point."""
    return of.run_verb(STUDY_WCCI, WcciOptions, _study_wcci, argv)
