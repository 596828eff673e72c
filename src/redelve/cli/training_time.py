"""redelve training-time and redelve study hamey: how long do trials take that may fail?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from redelve.cli import options as of
from redelve.cli.options import Command, UsageError
from redelve.cli.outputs import refuse_inputs

if TYPE_CHECKING:
    from redelve.nets import Engine
    from redelve.report.drawing import Picture
    from redelve.studies.hamey import Grid, HameyFigures, Setting, TableRow, TrainingProblem, TrialPlan


class TrainingTimeOptions(of.VerbOptions):
    """What `redelve training-time` is told."""

    limit = of.number("T", "the time at which trials without success were stopped", "limit")
    column = of.text("c", "the column with the times", "column")
    group = of.text("g", "the column with the names of the algorithms", "column")
    out = of.text("o", "write the graphs: a .pdf file, or a folder", "file")


TRAINING_TIME = Command(
    "redelve training-time",
    "Measure how long trials take that may fail: efficiency, best limit, success rate without a limit, and\n"
    "the comparison of several algorithms. The table is in CSV with a line of names. Its column time has\n"
    "the time of success; a failed trial has nothing there, or failed, or inf, or the limit as >2000. A\n"
    "column success (1 or 0) may tell instead, and a column algorithm or group whose trials they are.",
    "times.csv [ -T limit ] [ -c column ] [ -g column ] [ -o file ]",
    TrainingTimeOptions.declared(),
    least=1,
)


def _training_time(given: TrainingTimeOptions) -> str:
    """The measures in words; the graphs are written if they are wanted."""
    from redelve.report.trial_times import describe, measure_table, write_graphs

    path = Path(given.arguments[0])
    refuse_inputs(given.out, given.arguments)
    measured = measure_table(path, limit=given.limit, column=given.column, group=given.group)
    graphs = "" if given.out is None else f"\nGraphs: {write_graphs(given.out, measured)}\n"
    return f"{describe(measured)}\n{graphs}"


def training_time(argv: Sequence[str] | None = None) -> int:
    """Entry point."""
    return of.run_verb(TRAINING_TIME, TrainingTimeOptions, _training_time, argv)


SEVERAL = of.Wanted("a number, or several with commas")


def _numbers(letter: str, meaning: str, argument: str) -> of.TypedOption[tuple[float, ...]]:
    """Numbers separated by commas."""
    made = of.Option(letter, meaning, argument)
    return of.TypedOption(
        made, lambda given: tuple(map(SEVERAL.number, given[-1].split(","))), (), SEVERAL.words
    )


class HameyOptions(of.VerbOptions):
    """What `redelve study hamey` is told."""

    complaint = '{option} must be {wanted}: got "{text}"'

    table = of.texts("t", "the table to make anew: 1", "number")
    figures = of.flag("f", "draw figures 1 to 4 into the folder of -o")
    problem = of.texts("p", "a problem to measure (several times; else xor and encoder)", "name")
    search = of.text("s", "search for the most efficient r, α and η of a problem", "name")
    trials = of.whole("n", "trials N (of a search: those that judge the best)", wanted=of.FROM_0)
    limit = of.whole("T", "the limit T in epochs", "epochs", wanted=of.FROM_0)
    range = _numbers("r", "initial weights within ±r; of a search: values, as 1,1.4,2", "r")
    momentum = _numbers("a", "momentum α; of a search: values", "alpha")
    rate = _numbers("e", "learning rate η; of a search: values", "eta")
    first = of.whole("k", "trials of each setting in the first round of a search", wanted=of.FROM_0)
    algorithm = of.text("m", "back-propagation (unless told otherwise) or descending-epsilon", "name")
    device = of.text("d", "where to train: cpu, or cuda (with torch)", "device", "cpu")
    backend = of.text("b", "numpy or torch", "name")
    dtype = of.text("y", "float64 or float32 (on a GPU float32 unless told otherwise)", "name")
    seed = of.text("S", "another number draws other networks", "number", "")
    out = of.text("o", "write text, CSV, HTML, figures and times to a folder", "folder")


STUDY_HAMEY = Command(
    "redelve study hamey",
    "Train thousands of small networks and measure how long they take: table 1 of Hamey (1992) beside\n"
    "the printed numbers, and figures 1 to 4. Problems: xor, encoder (encoder-n-m), parity-n, two-spirals;\n"
    "those that are not in table 1 need -r, -a, -e and -T. With --search, look for the best r, α and η.",
    "[ --table 1 ] [ --figures ] [ --problem name ]… [ --search name ] [ options ]",
    HameyOptions.declared(),
    most=0,
)


def _study_hamey(given: HameyOptions) -> Iterator[str]:
    """The search, or the table and the figures."""
    if given.figures and given.out is None:
        raise UsageError("figures need a folder: give it with -o")
    for table in given.table:
        if table != "1":
            raise UsageError(f'there is no table "{table}": the paper has table 1')
    yield from _search(given) if given.search is not None else _table_and_figures(given)


def _table_and_figures(given: HameyOptions) -> Iterator[str]:
    """Both if neither is asked for; the figures only where there is a folder for them."""
    from redelve.studies.hamey import compare_with_table, describe_row, run_trials

    engine, rows = _engine(given), []
    wants_table = given.table or not given.figures
    for plan in _plans(given) if wants_table else ():
        rows.append(compare_with_table(run_trials(plan, engine)))
        yield f"{describe_row(rows[-1])}\n\n"
    if given.out is not None:
        yield _write(Path(given.out), given, rows, engine)


def _write(folder: Path, given: HameyOptions, rows: Sequence[TableRow], engine: Engine) -> str:
    from redelve.report.trial_times import describe
    from redelve.studies.hamey import describe_row, figure_pictures, table_of
    from redelve.studies.hamey.hamey_page import page_of, write_study

    parts, tables = [describe_row(row) for row in rows], [table_of(rows)] if rows else []
    pictures: tuple[Picture, ...] = ()
    if given.figures or not given.table:
        figures = _figures(given, rows, engine)
        pictures = figure_pictures(figures)
        parts += [f"Figure 1\n{describe(figures.first)}", f"Figure 2\n{describe(figures.second)}"]
    page = page_of("\n\n".join(parts), tables, pictures)
    write_study(folder, page, [row.trials for row in rows])
    shown = "" if rows else "\n\n".join(parts) + "\n\n"
    return f"{shown}Written: {folder}\n"


def _figures(given: HameyOptions, rows: Sequence[TableRow], engine: Engine) -> HameyFigures:
    """Figures 3 and 4 are those of the table's exclusive-or."""
    from redelve.studies.hamey import (
        PUBLISHED,
        TrialPlan,
        compare_with_table,
        exclusive_or,
        run_figures,
        run_trials,
    )

    known = PUBLISHED["xor"]
    plan = TrialPlan(
        exclusive_or(), known.setting, _else(given.trials, known.trials), known.limit, _stream(given, "table")
    )
    same = (row for row in rows if row.problem.name == "xor" and row.trials.plan.setting == plan.setting)
    row = next(same, None)
    optimised = (row or compare_with_table(run_trials(plan, engine))).measured
    return run_figures(optimised, trials=_else(given.trials, 1000), engine=engine)


def _plans(given: HameyOptions) -> list[TrialPlan]:
    from redelve.studies.hamey import PUBLISHED, TrialPlan, problem_named

    plans = []
    for name in given.problem or ("xor", "encoder"):
        problem = problem_named(name)
        known = PUBLISHED.get(problem.name)
        setting = _setting(given, problem, None if known is None else known.setting)
        trials = _else(given.trials, 1000 if known is None else known.trials)
        limit = _else(given.limit, None if known is None else known.limit)
        plans.append(TrialPlan(problem, setting, trials, limit, _stream(given, "table")))
    return plans


def _setting(given: HameyOptions, problem: TrainingProblem, known: Setting | None) -> Setting:
    """What table 1 has, with what is given put in its place."""
    from redelve.studies.hamey import Setting

    numbers = (given.range, given.momentum, given.rate)
    if any(len(values) > 1 for values in numbers):
        raise UsageError("give one value each of -r, -a and -e: several are for --search")
    if known is None and () in numbers:
        raise UsageError(f"{problem.name} is not in table 1: give -r, -a, -e and -T")
    defaults = (0.0, 0.0, 0.0) if known is None else (known.r, known.momentum, known.rate)
    r, momentum, rate = (
        values[0] if values else default for values, default in zip(numbers, defaults, strict=True)
    )
    return Setting(r, momentum, rate, given.algorithm or "back-propagation")


def _search(given: HameyOptions) -> Iterator[str]:
    from redelve.studies.hamey import problem_named, run_search
    from redelve.studies.hamey.hamey_page import page_of, write_study
    from redelve.studies.hamey.search import describe_search, search_table

    problem = problem_named(given.search or "")
    found = run_search(problem, _grid(given, problem), stream=given.seed, engine=_engine(given))
    text = describe_search(found)
    yield f"{text}\n"
    if given.out is not None:
        folder = write_study(Path(given.out), page_of(text, [search_table(found)]), [found.fresh.trials])
        yield f"\nWritten: {folder}\n"


def _grid(given: HameyOptions, problem: TrainingProblem) -> Grid:
    from dataclasses import replace

    from redelve.studies.hamey import grid_for

    usual = grid_for(problem)
    return replace(
        usual,
        ranges=given.range or usual.ranges,
        momenta=given.momentum or usual.momenta,
        rates=given.rate or usual.rates,
        first=_else(given.first, usual.first),
        limit=_else(given.limit, usual.limit),
        fresh=_else(given.trials, usual.fresh),
        algorithm=given.algorithm or usual.algorithm,
    )


def _engine(given: HameyOptions) -> Engine:
    """A device other than the processor needs torch, and is fastest in float32."""
    from redelve.nets import Engine

    is_cpu = given.device == "cpu"
    backend = given.backend or ("numpy" if is_cpu else "torch")
    return Engine(backend, given.dtype or ("float64" if is_cpu else "float32"), given.device)


def _stream(given: HameyOptions, purpose: str) -> str:
    return f"{purpose} {given.seed}".rstrip()


def _else(number: int | None, usual: int | None) -> int:
    """What was given, or what is usual; the limit of a problem that is not in table 1 has no usual one."""
    found = usual if number is None else number
    if found is None:
        raise UsageError("-T is missing: give a number")
    return found


def study_hamey(argv: Sequence[str] | None = None) -> int:
    """Entry point."""
    return of.run_verb(STUDY_HAMEY, HameyOptions, _study_hamey, argv)
