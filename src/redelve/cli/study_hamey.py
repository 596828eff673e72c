"""redelve study hamey: training times of small networks, table 1 and figures 1 to 4 of Hamey (1992)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from redelve.cli.options import Command, Given, Option, UsageError, run

if TYPE_CHECKING:
    from redelve.nets import Engine
    from redelve.report.drawing import Picture
    from redelve.studies.hamey import Grid, HameyFigures, Setting, TableRow, TrainingProblem, TrialPlan

COMMAND = Command(
    "redelve study hamey",
    "Train thousands of small networks and measure how long they take: table 1 of Hamey (1992) beside\n"
    "the printed numbers, and figures 1 to 4. Problems: xor, encoder (encoder-n-m), parity-n, two-spirals;\n"
    "those that are not in table 1 need -r, -a, -e and -T. With --search, look for the best r, α and η.",
    "[ --table 1 ] [ --figures ] [ --problem name ]… [ --search name ] [ options ]",
    (
        Option("t", "the table to make anew: 1", "number", "table"),
        Option("f", "draw figures 1 to 4 into the folder of -o", None, "figures"),
        Option("p", "a problem to measure (several times; else xor and encoder)", "name", "problem"),
        Option("s", "search for the most efficient r, α and η of a problem", "name", "search"),
        Option("n", "trials N (of a search: those that judge the best)", "number", "trials"),
        Option("T", "the limit T in epochs", "epochs", "limit"),
        Option("r", "initial weights within ±r; of a search: values, as 1,1.4,2", "r", "range"),
        Option("a", "momentum α; of a search: values", "alpha", "momentum"),
        Option("e", "learning rate η; of a search: values", "eta", "rate"),
        Option("k", "trials of each setting in the first round of a search", "number", "first"),
        Option("m", "back-propagation (unless told otherwise) or descending-epsilon", "name", "algorithm"),
        Option("d", "where to train: cpu, or cuda (with torch)", "device", "device"),
        Option("b", "numpy or torch", "name", "backend"),
        Option("y", "float64 or float32 (on a GPU float32 unless told otherwise)", "name", "dtype"),
        Option("S", "another number draws other networks", "number", "seed"),
        Option("o", "write text, CSV, HTML, figures and times to a folder", "folder", "out"),
    ),
    most=0,
)


def study(given: Given) -> Iterator[str]:
    """The search, or the table and the figures."""
    if given.has("f") and not given.has("o"):
        raise UsageError("figures need a folder: give it with -o")
    for table in given.options.get("t", ()):
        if table != "1":
            raise UsageError(f'there is no table "{table}": the paper has table 1')
    yield from _search(given) if given.has("s") else _table_and_figures(given)


def _table_and_figures(given: Given) -> Iterator[str]:
    """Both if neither is asked for; the figures only where there is a folder for them."""
    from redelve.studies.hamey import compare_with_table, describe_row, run_trials

    engine, rows = _engine(given), []
    wants_table = given.has("t") or not given.has("f")
    for plan in _plans(given) if wants_table else ():
        rows.append(compare_with_table(run_trials(plan, engine)))
        yield f"{describe_row(rows[-1])}\n\n"
    if (out := given.value("o")) is not None:
        yield _write(Path(out), given, rows, engine)


def _write(folder: Path, given: Given, rows: Sequence[TableRow], engine: Engine) -> str:
    from redelve.report.trial_times import describe
    from redelve.studies.hamey import describe_row, figure_pictures, table_of
    from redelve.studies.hamey.hamey_page import page_of, write_study

    parts, tables = [describe_row(row) for row in rows], [table_of(rows)] if rows else []
    pictures: tuple[Picture, ...] = ()
    if given.has("f") or not given.has("t"):
        figures = _figures(given, rows, engine)
        pictures = figure_pictures(figures)
        parts += [f"Figure 1\n{describe(figures.first)}", f"Figure 2\n{describe(figures.second)}"]
    page = page_of("\n\n".join(parts), tables, pictures)
    write_study(folder, page, [row.trials for row in rows])
    shown = "" if rows else "\n\n".join(parts) + "\n\n"
    return f"{shown}Written: {folder}\n"


def _figures(given: Given, rows: Sequence[TableRow], engine: Engine) -> HameyFigures:
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
        exclusive_or(), known.setting, _whole(given, "n", known.trials), known.limit, _stream(given, "table")
    )
    same = (row for row in rows if row.problem.name == "xor" and row.trials.plan.setting == plan.setting)
    row = next(same, None)
    optimised = (row or compare_with_table(run_trials(plan, engine))).measured
    return run_figures(optimised, trials=_whole(given, "n", 1000), engine=engine)


def _plans(given: Given) -> list[TrialPlan]:
    from redelve.studies.hamey import PUBLISHED, TrialPlan, problem_named

    plans = []
    for name in given.options.get("p", ("xor", "encoder")):
        problem = problem_named(name)
        known = PUBLISHED.get(problem.name)
        setting = _setting(given, problem, None if known is None else known.setting)
        trials = _whole(given, "n", 1000 if known is None else known.trials)
        limit = _whole(given, "T", None if known is None else known.limit)
        plans.append(TrialPlan(problem, setting, trials, limit, _stream(given, "table")))
    return plans


def _setting(given: Given, problem: TrainingProblem, known: Setting | None) -> Setting:
    """What table 1 has, with what is given put in its place."""
    from redelve.studies.hamey import Setting

    numbers = [_numbers(given, letter) for letter in "rae"]
    if any(values is not None and len(values) > 1 for values in numbers):
        raise UsageError("give one value each of -r, -a and -e: several are for --search")
    if known is None and None in numbers:
        raise UsageError(f"{problem.name} is not in table 1: give -r, -a, -e and -T")
    defaults = (0.0, 0.0, 0.0) if known is None else (known.r, known.momentum, known.rate)
    r, momentum, rate = (
        default if values is None else values[0] for values, default in zip(numbers, defaults, strict=True)
    )
    return Setting(r, momentum, rate, given.value("m") or "back-propagation")


def _search(given: Given) -> Iterator[str]:
    from redelve.studies.hamey import problem_named, run_search
    from redelve.studies.hamey.hamey_page import page_of, write_study
    from redelve.studies.hamey.search import describe_search, search_table

    problem = problem_named(given.value("s") or "")
    found = run_search(problem, _grid(given, problem), stream=given.value("S") or "", engine=_engine(given))
    text = describe_search(found)
    yield f"{text}\n"
    if (out := given.value("o")) is not None:
        folder = write_study(Path(out), page_of(text, [search_table(found)]), [found.fresh.trials])
        yield f"\nWritten: {folder}\n"


def _grid(given: Given, problem: TrainingProblem) -> Grid:
    from redelve.studies.hamey import grid_for

    usual = grid_for(problem)
    return replace(
        usual,
        ranges=_numbers(given, "r") or usual.ranges,
        momenta=_numbers(given, "a") or usual.momenta,
        rates=_numbers(given, "e") or usual.rates,
        first=_whole(given, "k", usual.first),
        limit=_whole(given, "T", usual.limit),
        fresh=_whole(given, "n", usual.fresh),
        algorithm=given.value("m") or usual.algorithm,
    )


def _engine(given: Given) -> Engine:
    """A device other than the processor needs torch, and is fastest in float32."""
    from redelve.nets import Engine

    device = given.value("d") or "cpu"
    backend = given.value("b") or ("numpy" if device == "cpu" else "torch")
    return Engine(backend, given.value("y") or ("float64" if device == "cpu" else "float32"), device)


def _stream(given: Given, purpose: str) -> str:
    return f"{purpose} {given.value('S') or ''}".rstrip()


def _whole(given: Given, letter: str, default: int | None) -> int:
    text = given.value(letter)
    if text is None:
        if default is None:
            raise UsageError(f"-{letter} is missing: give a number")
        return default
    if not text.isdecimal():
        raise UsageError(f'-{letter} must be a whole number: got "{text}"')
    return int(text)


def _numbers(given: Given, letter: str) -> tuple[float, ...] | None:
    text = given.value(letter)
    if text is None:
        return None
    try:
        return tuple(map(float, text.split(",")))
    except ValueError:
        raise UsageError(f'-{letter} must be a number, or several with commas: got "{text}"') from None


def main(argv: Sequence[str] | None = None) -> int:
    """Entry point."""
    return run(COMMAND, study, argv)
