"""Files of your own in PROBEN1's format: .dt files checked, and written out of any task."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from redelve.data.files import read_text, write_atomic
from redelve.data.proben1.data_sources import rebuilt_file
from redelve.data.proben1.dt_files import DT_LIMIT, parse_dt, write_dt
from redelve.data.proben1.exporting import Export, export
from redelve.data.proben1.proben1_tasks import assignment
from redelve.data.proben1.problem_names import parse_name, variants_of
from redelve.data.proben1.representation import STANDARD, Rules
from redelve.data.problems import Problems
from redelve.data.tasks import PROBEN1_FILES, is_table, task
from redelve.errors import RedelveError, SpecError
from redelve.model import Assignment

ORDERS_WRITTEN = (1, 2, 3)


class FileCheck(NamedTuple):
    """What is wrong with a file, or what it holds and what is unusual about it; and whether it will do."""

    lines: tuple[str, ...]
    will_do: bool


def check_file(path: str) -> FileCheck:
    """Everything that is to be said of a .dt file."""
    problems = Problems(path)
    file = parse_dt(read_text(path, limit=DT_LIMIT), problems)
    if file is None or len(problems):
        return FileCheck(tuple(map(str, problems)), False)
    try:
        made = assignment(path)
    except RedelveError as error:
        return FileCheck((f"{path}: {error}",), False)
    sizes = " + ".join(map(str, file.header.sizes))
    targets = ", ".join(f"{one.name} ({one.range})" for one in made.data.targets)
    inputs = counted(len(made.data.inputs), "input")
    notes = (f"  {note}" for note in made.notes)
    return FileCheck((f"{path}: {inputs}, {sizes} examples, target {targets}", *notes), True)


def counted(number: int, noun: str) -> str:
    """A number of things.

    >>> counted(1, "input"), counted(3, "output")
    ('1 input', '3 outputs')
    """
    return f"{number} {noun}{'s' * (number != 1)}"


class WrittenFile(NamedTuple):
    """A .dt file that was written, with the text beside it."""

    path: Path
    beside: Path
    made: Export

    def __str__(self) -> str:
        head = self.made.file.header
        sizes = " + ".join(map(str, head.sizes))
        counts = f"{counted(head.inputs, 'input')}, {counted(head.outputs, 'output')}, {sizes} examples"
        return f"{self.path} and {self.beside.name}: {counts}"


def export_files(
    data: str,
    out: str = ".",
    *,
    target: str | None = None,
    orders: Sequence[int] = ORDERS_WRITTEN,
    instance: int | None = None,
    rules: Rules = STANDARD,
) -> Iterator[WrittenFile]:
    """Write a task in PROBEN1's format, in several random orders or as one of its instances is divided.

    `data` is an address, a table or a .dt file; `out` a folder, or for one file a name that ends in .dt.
    """
    given = _one_task(data, target, instance)
    for number in orders if instance is None else (instance,):
        made = export(given, permutation=number, instance=instance, rules=rules)
        path = Path(out) if is_dt(out) else Path(out) / _name(given, number, instance)
        path.parent.mkdir(parents=True, exist_ok=True)
        made.write(path)
        beside = path.with_name(f"{path.name.partition('.')[0]}.txt")
        write_atomic(beside, made.readme())
        yield WrittenFile(path, beside, made)


def rebuild_files(names: Sequence[str], out: str = ".") -> Iterator[str]:
    """Write PROBEN1's files anew out of other packages' files, telling what is written.

    A name is that of a file, such as glass1, or of a problem, for all three.
    """
    for name in names:
        for one in variants_of(name) or (str(parse_name(name)),):
            variant = parse_name(one)
            made = rebuilt_file(variant)
            path = Path(out) / f"{variant.file}.dt"
            path.parent.mkdir(parents=True, exist_ok=True)
            write_dt(path, made)
            yield f"{path}: {made.source}, the numbers of PROBEN1's own"


def is_dt(name: str) -> bool:
    """Whether a name is that of a .dt file."""
    return name.endswith(PROBEN1_FILES)


def _one_task(data: str, target: str | None, instance: int | None) -> Assignment:
    """The task meant; of several training-set sizes any will do, unless one of its instances is wanted."""
    found = task(data, target if is_table(data) else None).assignments
    if len({one.task.prototask.name for one in found}) > 1:
        raise SpecError(f"{data} has several prototasks: give one, as in {found[0].address}")
    if instance is not None and len(found) > 1:
        raise SpecError(f"{data} has several training-set sizes: give one, as in {found[0].address}")
    return found[0]


def _name(given: Assignment, number: int, instance: int | None) -> str:
    _, dataset, prototask, _ = given.address.split("/")
    return f"{dataset}-{prototask}{number if instance is None else f'-instance{number}'}.dt"
