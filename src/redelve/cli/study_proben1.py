"""redelve study proben1: tables 3 to 12 of PROBEN1 (Prechelt 1994) beside the printed numbers."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from redelve.cli import verb_options as of
from redelve.cli.options import Command, UsageError
from redelve.cli.progress_lines import reporter

FROM_0, FROM_1 = (of.Wanted(f"a whole number from {least} on", least) for least in (0, 1))


class Proben1StudyOptions(of.VerbOptions):
    """What `redelve study proben1` is told."""

    complaint = '-{letter} takes {wanted}: got "{text}"'

    table = of.texts("t", "tables, as 3 or 3,4 or 8-11 (several times; else all)", "numbers")
    datasets = of.names("d", "datasets, as glass1,horse2 or glass for all three (else all)")
    reading = of.text("r", "how to train for tables 5 to 12: printed, or best (else best)", "name", "best")
    runs = of.whole("n", "runs of each network (else 10 of linear ones, 60 of the others)", wanted=FROM_1)
    searches = of.whole("s", "searches of 36 runs each for tables 5 to 7 (else 1)", wanted=FROM_1, default=1)
    quick = of.flag("x", "a demonstration: three small datasets, few runs")
    device = of.text("g", "where to train: cpu, or cuda (with torch)", "device", "cpu")
    backend = of.text("b", "numpy or torch (else numpy, on a GPU torch)", "name")
    dtype = of.text("y", "float32 (unless told otherwise) or float64", "name", "float32")
    threads = of.whole("j", "threads (else one for each processor)", wanted=FROM_1)
    seed = of.whole("S", "another number draws other networks", wanted=FROM_0, default=0)
    out = of.text("o", "keep runs and write text, HTML and CSV in a folder", "folder")
    quiet = of.quiet()


COMMAND = Command(
    "redelve study proben1",
    "Train the networks of PROBEN1's section 3.3 and set its tables 3 to 12 beside the printed ones, with\n"
    "z-scores: linear networks (3, 4), the search for architectures (5, 6, 7), pivot architectures (8, 9),\n"
    "the same without shortcuts (10, 11), and the comparison of both (12). The data files are looked for in\n"
    "the folder that REDELVE_PROBEN1 names. With -o, runs are kept in a folder's archive: the same command\n"
    "given again makes only those that are missing.",
    "[ --table numbers ]… [ --datasets names ] [ --quick ] [ -o folder ] [ options ]",
    Proben1StudyOptions.declared(),
    most=0,
)


def study(given: Proben1StudyOptions) -> Iterator[str]:
    """Run what is missing, then show the tables."""
    from redelve.nets import Engine
    from redelve.studies.proben1 import make_study

    backend = given.backend or ("numpy" if given.device == "cpu" else "torch")
    folder = None if given.out is None else Path(given.out)
    found = make_study(
        _tables(given.table),
        datasets=given.datasets,
        reading=given.reading,
        runs=given.runs,
        searches=given.searches,
        is_quick=given.quick,
        seed=given.seed,
        folder=folder,
        progress=reporter(is_quiet=given.quiet),
        engine=Engine(backend, given.dtype, given.device, threads=given.threads or _mine()),
    )
    yield f"{found}\n"
    if folder is not None:
        yield f"\nWritten: {found.write(folder)}\n"


def _tables(texts: Sequence[str]) -> list[int]:
    from redelve.studies.proben1.printed import TABLES

    tables = [number for text in texts for number in _numbers(text)]
    for number in tables:
        if number not in TABLES:
            raise UsageError(f"there is no table {number}: PROBEN1's results are tables 3 to 12")
    return tables or list(TABLES)


def _numbers(text: str) -> list[int]:
    """The numbers that a list such as 3,8-11 names."""
    found: list[int] = []
    for part in text.replace("…", "-").split(","):
        first, dash, last = part.partition("-")
        if not first.strip().isdecimal() or (dash and not last.strip().isdecimal()):
            raise UsageError(f'tables are told as 3 or 3,4 or 8-11: got "{text}"')
        found += range(int(first), int(last if dash else first) + 1)
    return found


def _mine() -> int:
    """How many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command."""
    return of.run_verb(COMMAND, Proben1StudyOptions, study, argv)
