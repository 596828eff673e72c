"""The one door to tasks: addresses, files, frames and what was made ready before, all as assignments."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from numbers import Integral
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeGuard

from redelve.answers.predictions import Target, targets_of
from redelve.data.compressed_names import plain_name
from redelve.data.delve.reading import Library
from redelve.data.delve.roots import DataAddress, Overlay, TaskName, active
from redelve.data.files import StrPath, is_named_file
from redelve.data.tables import Description, Intake, from_file, from_frame
from redelve.data.tables.assembly import Labels
from redelve.data.tables.corrections import MissingLike, NamesLike
from redelve.data.tables.description import Kind, for_another_target, read_description
from redelve.data.tables.first_look import DesignChoice
from redelve.data.tables.inputs_and_target import TargetLike
from redelve.data.tables.table_columns import legal_name
from redelve.errors import LocationError, SpecError, kind_told
from redelve.model import Assignment
from redelve.registry import named_options, value_told

if TYPE_CHECKING:
    import pandas as pd

STANDARD_PRIOR = "std"
PROBEN1 = "proben1:"
"""Before the name of a PROBEN1 problem, such as proben1:glass1, proben1:glass or proben1:glass1-quarters."""
TABLES = (".csv", ".tsv", ".parquet", ".arff", ".csv.gz", ".tsv.gz", ".arff.gz")
COMPRESSIBLE = (".csv", ".tsv", ".arff")
PROBEN1_FILES = (".dt", ".dt.gz")


@dataclass(frozen=True)
class NamedTasks:
    """The tasks that an address, a file of PROBEN1 or an assignment stands for; printed, a line for each."""

    name: str
    assignments: tuple[Assignment, ...] = field(repr=False)

    def __str__(self) -> str:
        return "\n".join(map(_summarised, self.assignments))


TaskLike = str | os.PathLike[str] | Assignment | Intake | NamedTasks
"""What names a task, or is one made ready; a data frame becomes one by `task`, which is told the target."""

TasksLike = TaskLike | Iterable[Any] | Any
"""One task or several, or what tasks are made of: data frames, (X, y), a dictionary of names and frames."""

SizesLike = int | Sequence[int] | None
"""Training-set sizes as a user may put it: one, several, or None for all."""


@named_options
def task(  # noqa: PLR0913  (options of a public function are explicit)
    source: TaskLike | pd.DataFrame | tuple[Any, Any],
    target: TargetLike | None = None,
    *,
    name: str | None = None,
    groups: str | Labels | None = None,
    kind: Kind | None = None,
    design: str | DesignChoice | None = None,
    gap: int | None = None,
    ignore: NamesLike | None = None,
    missing: MissingLike | None = None,
    encoding: str | None = None,
    decimal: str | None = None,
    description: Description | StrPath | None = None,
    sizes: SizesLike = None,
) -> Intake | NamedTasks:
    """Make tasks of whatever holds them.

    Parameters
    ----------
    source
        One of

        * an address in the catalogue or in your DELVE directories, such as ``"kin-8nm/dist"`` (every
          training-set size), ``"demo"`` (every prototask) or ``"demo/age/std.128"`` (one task);
        * the path of a table: ``.csv``, ``.tsv``, ``.arff`` (each also with ``.gz``) or ``.parquet``;
        * the path of a PROBEN1 file (``.dt``), or the name of a problem, such as ``"proben1:glass1"``;
        * a data frame, or inputs and target as ``(X, y)``, frames or arrays;
        * what this function, `from_file` or `from_frame` returned, or a single `Assignment`.
    target
        The column to predict; of a frame also the values themselves, as in ``task(X, y)``. For tables
        and frames only, and needed there unless `description` names it.
    name
        What to call a frame's dataset (``"data"`` if left out).
    groups
        The column that tells which cases belong together; for a frame also a label for each row.
    kind
        ``"classification"`` or ``"regression"``, where the target's numbers could be either. If left out,
        redelve infers it, and `assess` takes the other one if only that suits its methods.
    design
        How training and test sets are made: ``"cv"``, ``"cv 10x3"`` (ten folds, three times),
        ``"nested"``, ``"time"`` (learn from a window, test on what comes after it), ``"time by date"``,
        ``"holdout"`` or ``"disjoint"``. For tables and frames only; the number of
        cases decides if it is left out.
    gap
        With ``"time"``, how many cases are left out between what trains and what tests.
    ignore
        Columns of a table or frame to leave out: a name, or several.
    missing
        Codes that stand for missing values, such as ``-999``: one, several, or for some columns their own, as
        in ``{"age": -1}``.
    encoding
        The encoding of a text file, such as ``"latin-1"``; told from the file if left out.
    decimal
        How the file writes decimal numbers, ``"."`` or ``","``; told from the file if left out.
    description
        How to read the columns: a `Description`, or the path of a file that `write_description` wrote.
        redelve infers what it does not say.
    sizes
        The training-set size, or several, to choose among those that the source has; all if left out.

    Returns
    -------
    Intake or NamedTasks
        Something to hand to `assess`. Its ``assignments`` are the tasks, one for each training-set
        size; print it to see what redelve understood of the source.

    Raises
    ------
    RedelveError
        The source is no task, or lacks a target, a column or a training-set size that was asked for.

    Notes
    -----
    Tables get a design that suits their number of cases, with training sets that share no case where
    there are enough of them (docs/own-data.md). Tasks with an address have the design that their
    prototask says (Rasmussen et al. 1996, The DELVE manual, chapter 5).

    Examples
    --------
    >>> import redelve
    >>> print(redelve.task("demo/age", sizes=[64, 128]))
    /demo/age/std.64: 4 inputs, 8 instances of 64 training cases
    /demo/age/std.128: 4 inputs, 8 instances of 128 training cases
    """
    options: dict[str, Any] = {
        "groups": groups,
        "kind": kind,
        "design": design,
        "gap": gap,
        "description": description,
    }
    options |= {"ignore": ignore, "missing": missing, "encoding": encoding, "decimal": decimal}
    chosen = _task(source, target, sizes=sizes, name=name, options=options)
    _check_sizes(chosen.assignments, sizes)
    return chosen


def _task(
    source: TaskLike | pd.DataFrame | tuple[Any, Any],
    target: TargetLike | None = None,
    *,
    sizes: SizesLike,
    name: str | None = None,
    options: Mapping[str, Any] = MappingProxyType({}),
) -> Intake | NamedTasks:
    """The same, whether or not all sizes asked for are there."""
    if is_pair(source):
        _refuse_options("tables and data frames", target=target)
        source, target = source
    if isinstance(source, Assignment):
        source = NamedTasks(source.address, (source,))
    if isinstance(source, str | os.PathLike) and not is_table(source):
        source = _named(os.fspath(source), sizes)
    if isinstance(source, Intake | NamedTasks):
        _refuse_options("tables and data frames", target=target, name=name, **options)
        return _with_sizes(source, sizes)
    if isinstance(source, str | os.PathLike):
        made = from_file(source, _column_name(target), name=name, **options)
    else:
        _refuse_options("files", encoding=options.get("encoding"), decimal=options.get("decimal"))
        of_frame = {key: one for key, one in options.items() if key not in ("encoding", "decimal")}
        made = from_frame(source, target, name=name, **of_frame)
    return _with_sizes(made, sizes)


Takes = Callable[[tuple[Target, ...]], bool]
"""Whether somebody can work on these targets."""


def suited(tasks: TaskLike, takes: Takes) -> TaskLike:
    """The tasks or, where only that `takes` their target, the same table as the other kind of task.

    So numbers that may be classes are classes for classifiers, and two numbers are numbers for regressors.
    """
    return _suited(tasks, takes) if isinstance(tasks, Intake) else tasks


def _suited(tasks: Intake, takes: Takes) -> Intake | NamedTasks:
    if tasks.other is None or takes(_targets(tasks)):
        return tasks
    other = tasks.other()
    sizes = [one.task.training_set_size for one in tasks.assignments]
    known = {one.task.training_set_size for one in other.assignments}
    return _with_sizes(other, sizes if known.issuperset(sizes) else None) if takes(_targets(other)) else tasks


def _targets(tasks: Intake) -> tuple[Target, ...]:
    return targets_of(tasks.assignments[0].data.targets, tasks.prior)


def assignments_for(
    tasks: TasksLike,
    target: TargetLike | None = None,
    *,
    sizes: SizesLike = None,
    options: Mapping[str, Any] = MappingProxyType({}),
    takes: Takes = lambda _: True,
) -> dict[str, Assignment]:
    """The assignments meant, by address; `sizes` chooses among the training-set sizes.

    `target` and `options` are those of `task`, for tables and frames; `takes` decides what numbers are that
    could be classes.
    """
    found: dict[str, Assignment] = {}
    sources: dict[str, str] = {}
    for name, one in _each(tasks):
        made = _task(one, target, sizes=sizes, name=name, options=options)
        source = os.fspath(one) if isinstance(one, str | os.PathLike) else ""
        for assignment in (_suited(made, takes) if isinstance(made, Intake) else made).assignments:
            held = found.setdefault(assignment.address, assignment)
            sources.setdefault(assignment.address, source)
            if held.digest != assignment.digest:
                raise SpecError(
                    f"two different tasks are called {assignment.address}: give one of them another name, as "
                    'in task(frame, "price", name="houses")'
                )
    if not found:
        raise SpecError("there is no task: give an address such as kin-8nm/dist, a file or a data frame")
    _check_sizes(found.values(), sizes)
    if len(found) > 1:
        _check_names(found, sources)
    return found


def _check_names(found: Mapping[str, Assignment], sources: Mapping[str, str]) -> None:
    """Refuse different tables of one name: they would count as one data set, with one learning curve."""
    of_each = {(one.dataset.name, id(one.data)): one for one in found.values()}
    if len(of_each) > len({name for name, _ in of_each}):
        from redelve.data.namesakes import refuse_namesakes

        refuse_namesakes(list(of_each.values()), sources)


def _check_sizes(found: Collection[Assignment], sizes: SizesLike) -> None:
    """Refuse sizes that no task has: leaving them out would answer another question."""
    known = {one.task.training_set_size for one in found}
    if wrong := [size for size in _asked(sizes) if size not in known]:
        every = {size for one in found for size in one.task.prototask.training_set_sizes}
        there = ", ".join(map(str, sorted(every)))
        raise SpecError(
            f"no task here has training sets of {wrong[0]} cases: there are {there}; leave that size out, or "
            "write it into the design (`training_set_sizes` in a table's description)"
        )


def _each(tasks: TasksLike) -> Iterable[tuple[str | None, Any]]:
    """Every source of tasks, with the name that a dictionary gives it."""
    if (
        isinstance(tasks, str | os.PathLike | Assignment | Intake | NamedTasks)
        or is_frame(tasks)
        or is_pair(tasks)
        or getattr(tasks, "ndim", 0) == 2  # an array of inputs, with the target beside it
    ):
        return [(None, tasks)]
    if isinstance(tasks, Mapping):
        of_tables = {name for name, one in tasks.items() if is_frame(one) or is_pair(one)}
        return [(str(name) if name in of_tables else None, one) for name, one in tasks.items()]
    if not isinstance(tasks, Iterable) or getattr(tasks, "ndim", 1) == 0:
        raise SpecError(
            f"tasks is {value_told(tasks)}: give an address such as kin-8nm/dist, a file, a data frame with "
            "target=…, (X, y), or what task(…) returns"
        )
    return [(None, one) for one in tasks]


def _column_name(target: TargetLike | None) -> str | None:
    """The name of a file's column."""
    if target is None or isinstance(target, str):
        return target
    if isinstance(target, Integral):
        return str(target)
    raise SpecError(f"target is {kind_told(target)}: of a file, give the name of the column to predict")


def is_frame(given: object) -> bool:
    """Whether something is a data frame, whoever made it."""
    return hasattr(given, "columns") and not isinstance(given, type)


def is_pair(given: object) -> TypeGuard[tuple[Any, Any]]:
    """Whether something is (X, y): a table of inputs and as many values."""
    if not isinstance(given, tuple) or len(given) != 2:
        return False
    inputs, values = given
    is_table = is_frame(inputs) or getattr(inputs, "ndim", 0) == 2
    return (
        is_table
        and not is_frame(values)
        and getattr(values, "ndim", 1) in (1, 2)
        and hasattr(values, "__len__")
    )


def is_table(source: str | os.PathLike[str]) -> bool:
    """Whether the name's ending is that of a table.

    >>> is_table("people.csv"), is_table("people.CSV.xz"), is_table("kin-8nm/dist")
    (True, True, False)
    """
    name = os.fspath(source).lower()
    return name.endswith(TABLES) or plain_name(name).endswith(COMPRESSIBLE)


def is_data_file(source: str | os.PathLike[str]) -> bool:
    """Whether the name's ending is that of a table or of a PROBEN1 file, so that it is no address."""
    return is_table(source) or os.fspath(source).lower().endswith(PROBEN1_FILES)


def described_in(folder: Path, name: str, target: str | None) -> tuple[Path, Description]:
    """Where a folder has the description of a table, and what it says; a second target has its own file."""
    stem = Path(name).name.partition(".")[0]
    first = folder / f"{stem}.toml"
    if not first.exists():
        return first, Description(is_nameless=True)
    said = read_description(first)
    if target is None or said.named_target in (None, target):
        return first, said
    own = folder / f"{stem}-{legal_name(target, 'target')}.toml"
    return own, read_description(own) if own.exists() else for_another_target(said, target)


def _named(name: str, sizes: SizesLike) -> NamedTasks:
    """What a text stands for that is no table: a file of PROBEN1, one of its problems, or an address."""
    if is_data_file(name):
        from redelve.data.proben1 import assignment

        return NamedTasks(name, (assignment(name),))
    if name.startswith(PROBEN1):
        from redelve.data.proben1 import named

        return NamedTasks(name, (named(name.removeprefix(PROBEN1)),))
    if is_named_file(name):
        raise SpecError(f'"{name}" is no table that can be read: give one of {", ".join(TABLES)}')
    library = Library(active())
    _refuse_folder(library.overlay, name)
    found = addresses(library.overlay, name, sizes)
    return NamedTasks(name, tuple(library.task(one).assignment() for one in found))


def _refuse_folder(overlay: Overlay, name: str) -> None:
    """Refuse a folder that is there and has the name of no dataset."""
    first = name.strip("/").partition("/")[0]
    is_address = not first or (first not in (".", "..") and overlay.is_dataset(first))
    if not is_address and os.path.isdir(name):  # noqa: PTH112  (a text that may be anything)
        raise SpecError(
            f'"{name}" is a folder, and no dataset is called so: give a table in it, a file that ends in '
            f"{', '.join(TABLES[:4])}, or a dataset that `dls /` lists"
        )


def _with_sizes(tasks: Intake | NamedTasks, sizes: SizesLike) -> Intake | NamedTasks:
    """The same without the training-set sizes that were not asked for."""
    every = tasks.assignments
    known = [one.task.training_set_size for one in every]
    chosen = _chosen(known, sizes, every[0].task.prototask.name)
    return replace(tasks, assignments=tuple(one for one in every if one.task.training_set_size in chosen))


def _refuse_options(what: str, **options: object) -> None:
    for option, value in options.items():
        if value is not None:
            raise SpecError(f"{option}={value!r} is for {what} only: leave it out")


def _summarised(assignment: Assignment) -> str:
    instances = assignment.instances
    sizes = f"{len(instances)} instances of {assignment.task.training_set_size} training cases"
    if len(instances) == 1:
        sizes = f"{len(instances[0].training)} training cases, {len(instances[0].testing)} test cases"
    notes = "".join(f"\n  {note}" for note in assignment.notes)
    return f"{assignment.address}: {len(assignment.data.inputs)} inputs, {sizes}{notes}"


def addresses(overlay: Overlay, name: str, sizes: SizesLike = None) -> list[DataAddress]:
    """The tasks that a name stands for: itself, or all that lie below it, with the standard prior if any."""
    address = DataAddress.parse(name if name.startswith("/") else f"/{name}")
    if address.dataset is None:
        raise LocationError('"/" is no task: give an address such as kin-8nm/dist (`dls /` lists datasets)')
    overlay.require_dataset(address.dataset)
    if address.task is not None:
        return [address]
    prototasks = [address.prototask] if address.prototask else overlay.prototasks(address.dataset)
    found = []
    for prototask in prototasks:
        overlay.require_prototask(address.dataset, prototask)
        parsed = [TaskName.parse(name) for name in overlay.tasks(address.dataset, prototask)]
        known = [one for one in parsed if one is not None]
        standard = [one for one in known if one.prior == STANDARD_PRIOR] or known
        chosen = _chosen([one.training_set_size for one in standard], sizes, prototask)
        parent = DataAddress(address.dataset, prototask)
        found += [parent.below(str(one)) for one in standard if one.training_set_size in chosen]
    return found


def _asked(sizes: SizesLike) -> list[int]:
    if isinstance(sizes, str) or not isinstance(sizes, int | Integral | Iterable | None):
        raise SpecError(f"sizes is {sizes!r}: give a whole number, or several in a list")
    if sizes is None or isinstance(sizes, int | Integral):
        return [] if sizes is None else [int(sizes)]
    if not (asked := list(sizes)):
        raise SpecError("sizes is empty: give some training-set sizes, or None for all")
    return asked


def _chosen(known: Sequence[int], sizes: SizesLike, prototask: str) -> set[int]:
    asked = _asked(sizes) or known
    chosen = set(known) & set(asked)
    if not chosen:
        wanted, there = (", ".join(map(str, some)) for some in (asked, sorted(set(known))))
        raise SpecError(f'prototask "{prototask}" has no training-set size {wanted}: it has {there}')
    return chosen
