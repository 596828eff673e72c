"""redelve assess: which method is better on your data, how sure that is, and whether more data would help."""

from __future__ import annotations

import re
import shlex
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from redelve.cli.options import Command, Given, Option, UsageError, run
from redelve.cli.progress_lines import QUIET
from redelve.errors import SpecError

if TYPE_CHECKING:
    from redelve.assessment import Options
    from redelve.data.tables import Intake
    from redelve.data.tasks import TaskLike
    from redelve.model import Assignment
    from redelve.run.cells import Limits
    from redelve.run.workers import Workers

COMMAND = Command(
    "redelve assess",
    "Run learning methods on tables (.csv, .tsv, .parquet, .arff, .dt) or on tasks of the catalogue,\n"
    "compare them, and write a report. Everything is kept in a folder: the same command, given again, goes\n"
    "on where it was stopped. What was understood of a table is written there, for you to change.",
    "data [ data … ] [ -t column ] [ options ]",
    (
        Option("t", "the column to predict", "column", "target"),
        Option(
            "m", "built-in methods, separated by commas (`redelve methods` lists them)", "names", "methods"
        ),
        Option("p", "a program as a method, name=command; may be given again", "program", "program"),
        Option("l", "the loss to judge by: S, A, L, C for numbers, Z, Q, L for classes", "code", "loss"),
        Option("s", "training-set sizes, separated by commas", "sizes", "sizes"),
        Option("r", "runs with different seeds on each training set", "number", "runs"),
        Option("o", "the folder for descriptions, archive and report", "folder", "out"),
        Option("g", "the column that tells which cases belong together", "column", "group"),
        Option("e", "who does the work: serial, processes or dask", "kind", "executor"),
        Option("w", "how many processes", "number", "workers"),
        Option("S", "the address of a Dask scheduler, such as tcp://host:8786", "address", "scheduler"),
        Option("T", "the most seconds that a job may take", "seconds", "time-limit"),
        Option("M", "the most memory that a job may take, such as 2G", "size", "memory-limit"),
        Option("f", "what becomes of jobs that fail: leave-out or baseline", "policy", "on-failure"),
        QUIET,
    ),
    least=1,
    most=None,
)
TABLES = (".csv", ".tsv", ".parquet", ".arff", ".csv.gz", ".tsv.gz", ".arff.gz")
PROBEN1 = (".dt", ".dt.gz")
UNITS = {"K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}
POLICIES = {"leave-out": "leave out", "baseline": "baseline"}


def assess(given: Given) -> Iterator[str]:
    """Do the main job, telling what is done."""
    from redelve.assessment import assess as carry_out

    out = Path(given.value("o") or _default_folder(given.arguments[0]))
    tasks: list[TaskLike] = []
    for name in given.arguments:
        task = _task(name, given, out)
        if not isinstance(task, str) and not given.has("q"):
            yield _understood(task, _description_path(name, out))
        tasks.append(task)
    assessment = carry_out(_methods(given), tasks, **_options(given, out))
    judged = assessment.judged_by(given.value("l"))
    yield f"{judged}\n"
    yield f"\nReport: {judged.report(out / 'report.html', command=_command_line(given))}\n"


def _default_folder(name: str) -> str:
    is_file = _is_table(name) or name.lower().endswith(PROBEN1)
    bare = Path(name).name.partition(".")[0] if is_file else re.sub("[/:]", "-", name.strip("/"))
    return f"{bare}-assessment"


def _is_table(name: str) -> bool:
    return name.lower().endswith(TABLES)


def _description_path(name: str, out: Path) -> Path:
    return out / f"{Path(name).name.partition('.')[0]}.toml"


def _task(name: str, given: Given, out: Path) -> str | Intake | Assignment:
    """A table made ready, by its description where there is one; else the address as it stands."""
    from redelve.data.tables import from_file, write_description

    if name.lower().endswith(PROBEN1):
        from redelve.data.proben1 import assignment

        return assignment(name)
    if not _is_table(name):
        if Path(name).is_file():
            raise SpecError(f'"{name}" is no table that can be read: give one of {", ".join(TABLES)}')
        return name
    path = _description_path(name, out)
    is_described = path.exists()
    intake = from_file(
        name, given.value("t"), groups=given.value("g"), description=path if is_described else None
    )
    if not is_described:
        out.mkdir(parents=True, exist_ok=True)
        write_description(path, intake.description)
    return intake


def _understood(task: Intake | Assignment, path: Path) -> str:
    """What was understood of the data, for the user to look over."""
    from redelve.model import Assignment

    return _fixed_partition(task) if isinstance(task, Assignment) else _table(task, path)


def _fixed_partition(assignment: Assignment) -> str:
    (instance,) = assignment.instances
    sizes = f"{len(instance.training)} training cases, {len(instance.testing)} test cases"
    notes = "".join(f"  {note}\n" for note in assignment.notes)
    return f"{assignment.address}: {len(assignment.data.inputs)} inputs, {sizes}\n{notes}\n"


def _table(intake: Intake, path: Path) -> str:
    lines = [f"{intake.dataset.spec.name}: {intake.dataset.cases.count} cases"]
    width = max(len(column.name) for column in intake.description.columns)
    for column in intake.description.columns:
        what = column.use if column.use in ("ignore", "group") else f"{column.use}, {column.type}"
        lines.append(f"  {column.name:{width}}  {what:18} {column.reason}")
    design = intake.description.design
    lines += [f"  {reason}" for reason in (design.reasons if design else ())]
    lines += [f"  {note}" for note in intake.left_out if not note.startswith("column ")]
    return "\n".join([*lines, f"  (change this in {path} and give the command again)", "", ""])


def _methods(given: Given) -> dict[str, Any] | None:
    """The methods named, and programs; None leaves the choice to redelve."""
    names = [name.strip() for name in (given.value("m") or "").split(",") if name.strip()]
    methods: dict[str, Any] = {name: name for name in names}
    for text in given.options.get("p", ()):
        name, separator, command = text.partition("=")
        if not separator or not name or not command.strip():
            raise UsageError(
                f'"{text}" is no program: give a name and a command, as in mine="awk -f mine.awk"'
            )
        methods[name] = shlex.split(command)
    return methods or None


def _options(given: Given, out: Path) -> Options:
    sizes = [_whole("s", size) for size in (given.value("s") or "").split(",") if size.strip()]
    policy = given.value("f") or "leave-out"
    if policy not in POLICIES:
        raise UsageError(f'unknown policy "{policy}": choose {" or ".join(POLICIES)}')
    options: Options = {
        "archive": out / "archive",
        "workers": _workers(given),
        "limits": _limits(given),
        "on_failure": POLICIES[policy],
        "progress": not given.has("q"),
    }
    if sizes:
        options["sizes"] = sizes
    if (runs := given.value("r")) is not None:
        options["runs"] = _whole("r", runs)
    return options


def _workers(given: Given) -> Workers:
    from redelve.run.workers import workers_from

    count = given.value("w")
    kind = given.value("e") or ("dask" if given.has("S") else "processes" if count else "serial")
    return workers_from(kind, count=None if count is None else _whole("w", count), scheduler=given.value("S"))


def _limits(given: Given) -> Limits:
    from redelve.run.cells import Limits

    seconds, memory = given.value("T"), given.value("M")
    return Limits(
        None if seconds is None else _positive("T", seconds),
        None if memory is None else _bytes(memory),
        isolated=True,
    )


def _bytes(text: str) -> int:
    unit = UNITS.get(text[-1:].upper(), 0)
    return int(_positive("M", text[:-1] if unit else text) * (unit or 1))


def _positive(letter: str, text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = 0.0
    if not 0 < number < float("inf"):
        raise UsageError(f'option "-{letter}" needs a number above 0, not "{text}"')
    return number


def _whole(letter: str, text: str) -> int:
    if not (text.strip().isascii() and text.strip().isdigit() and int(text) > 0):
        raise UsageError(f'option "-{letter}" needs whole numbers above 0, not "{text}"')
    return int(text)


def _command_line(given: Given) -> str:
    """The command as it can be given again."""
    return (
        shlex.join(["redelve", "assess", *sys.argv[2:]])
        if sys.argv[1:2] == ["assess"]
        else (shlex.join(["redelve", "assess", *given.arguments]))
    )


def main(argv: Sequence[str] | None = None) -> int:
    """Entry point."""
    return run(COMMAND, assess, argv)
