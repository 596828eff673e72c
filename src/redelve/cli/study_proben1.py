"""redelve study proben1: tables 3 to 12 of PROBEN1 (Prechelt 1994) beside the printed numbers."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from redelve.cli.options import Command, Given, Option, UsageError, run
from redelve.cli.progress_lines import QUIET, reporter

if TYPE_CHECKING:
    from redelve.nets import Engine
    from redelve.studies.proben1 import Amounts, Proben1Plan

COMMAND = Command(
    "redelve study proben1",
    "Train the networks of PROBEN1's section 3.3 and set its tables 3 to 12 beside the printed ones, with\n"
    "z-scores: linear networks (3, 4), the search for architectures (5, 6, 7), pivot architectures (8, 9),\n"
    "the same without shortcuts (10, 11), and the comparison of both (12). The data files are looked for in\n"
    "the folder that REDELVE_PROBEN1 names. With -o, runs are kept in a folder's archive: the same command\n"
    "given again makes only those that are missing.",
    "[ --table numbers ]… [ --datasets names ] [ --quick ] [ -o folder ] [ options ]",
    (
        Option("t", "tables, as 3 or 3,4 or 8-11 (several times; else all)", "numbers", "table"),
        Option("d", "datasets, as glass1,horse2 or glass for all three (else all)", "names", "datasets"),
        Option("r", "how to train for tables 5 to 12: printed, or best (else best)", "name", "reading"),
        Option("n", "runs of each network (else 10 of linear ones, 60 of the others)", "number", "runs"),
        Option("s", "searches of 36 runs each for tables 5 to 7 (else 1)", "number", "searches"),
        Option("x", "a demonstration: three small datasets, few runs", None, "quick"),
        Option("g", "where to train: cpu, or cuda (with torch)", "device", "device"),
        Option("b", "numpy or torch (else numpy, on a GPU torch)", "name", "backend"),
        Option("y", "float32 (unless told otherwise) or float64", "name", "dtype"),
        Option("j", "threads (else one for each processor)", "number", "threads"),
        Option("S", "another number draws other networks", "number", "seed"),
        Option("o", "keep runs and write text, HTML and CSV in a folder", "folder", "out"),
        QUIET,
    ),
    most=0,
)
QUICK = ("cancer1", "glass1", "heartac1")
QUICK_RUNS = 5


def study(given: Given) -> Iterator[str]:
    """Run what is missing, then show the tables."""
    from redelve.studies.proben1 import describe, make_tables, write_study

    plan, engine = _plan(given), _engine(given)
    folder = None if given.value("o") is None else Path(given.value("o") or "")
    progress = reporter(is_quiet=given.has("q"))
    tables = make_tables(plan, engine, folder=folder, progress=progress)
    about = _about(plan, engine)
    yield f"{describe(tables, about)}\n"
    if folder is not None:
        yield f"\nWritten: {write_study(folder, tables, about)}\n"


def _plan(given: Given) -> Proben1Plan:
    from redelve.studies.proben1 import find_reading, make_plan
    from redelve.studies.proben1.printed import TABLES

    tables = [number for text in given.options.get("t", ()) for number in _numbers(text)]
    for number in tables:
        if number not in TABLES:
            raise UsageError(f"there is no table {number}: PROBEN1's results are tables 3 to 12")
    return make_plan(
        tables or TABLES,
        find_reading(given.value("r") or "best"),
        datasets=_datasets(given),
        amounts=_amounts(given),
        seed=_whole(given, "S", 0, least=0),
    )


def _numbers(text: str) -> list[int]:
    """The numbers that a list such as 3,8-11 names."""
    found: list[int] = []
    for part in text.replace("…", "-").split(","):
        first, dash, last = part.partition("-")
        if not first.strip().isdecimal() or (dash and not last.strip().isdecimal()):
            raise UsageError(f'tables are told as 3 or 3,4 or 8-11: got "{text}"')
        found += range(int(first), int(last if dash else first) + 1)
    return found


def _datasets(given: Given) -> list[str] | None:
    from redelve.data.proben1 import DATASETS, parse_name

    names = [name.strip() for text in given.options.get("d", ()) for name in text.split(",") if name.strip()]
    if not names:
        return list(QUICK) if given.has("x") else None
    found = []
    for name in names:
        found += [f"{name}{number}" for number in (1, 2, 3)] if name in DATASETS else [str(parse_name(name))]
    return found


def _amounts(given: Given) -> Amounts:
    from redelve.studies.proben1 import Amounts

    usual = Amounts(QUICK_RUNS, QUICK_RUNS) if given.has("x") else Amounts()
    return Amounts(
        _whole(given, "n", usual.linear), _whole(given, "n", usual.multilayer), _whole(given, "s", 1)
    )


def _engine(given: Given) -> Engine:
    from redelve.nets import Engine

    device = given.value("g") or "cpu"
    backend = given.value("b") or ("numpy" if device == "cpu" else "torch")
    mine = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    threads = _whole(given, "j", mine)
    return Engine(backend, given.value("y") or "float32", device, threads=threads)


def _whole(given: Given, letter: str, default: int, *, least: int = 1) -> int:
    text = given.value(letter)
    if text is None:
        return default
    if not text.isdecimal() or int(text) < least:
        raise UsageError(f'-{letter} takes a whole number from {least} on: got "{text}"')
    return int(text)


def _about(plan: Proben1Plan, engine: Engine) -> list[str]:
    """How the numbers were made: each reading once, and the engine."""
    parts: dict[str, list[str]] = {}
    for sheet in plan.sheets:
        names = parts.setdefault(sheet.reading.identity, [])
        if sheet.part not in names:
            names.append(sheet.part)
    lines = [f"{', '.join(names)}: {identity}" for identity, names in parts.items()]
    return [*lines, f"trained with {engine.backend} in {engine.dtype} on {engine.device}"]


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command."""
    return run(COMMAND, study, argv)
