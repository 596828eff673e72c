"""From a file or a data frame to nouns: what is given, what is inferred, what is left out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from redelve.data.files import StrPath
from redelve.data.tables.corrections import MissingLike, NamesLike, corrected
from redelve.data.tables.dates import dates_in, span
from redelve.data.tables.description import (
    KINDS,
    ColumnDescription,
    Description,
    Kind,
    Use,
    read_description,
)
from redelve.data.tables.first_look import DesignChoice, suspicions
from redelve.data.tables.frame_tables import column_of_values, table_from_frame
from redelve.data.tables.inputs_and_target import TargetLike, with_target
from redelve.data.tables.named_designs import named_design, with_gap
from redelve.data.tables.table_columns import (
    NUMBERS_FOR_DATES,
    ColumnFacts,
    as_type,
    attribute_names,
    infer_input,
    infer_target,
    legal_name,
    other_kind,
    target_of_kind,
)
from redelve.data.tables.table_files import Table, bare_name, read_table
from redelve.data.tables.table_nouns import TableNouns
from redelve.errors import FormatError, SpecError
from redelve.model import CATEGORICAL, Assignment, Dataset, OwnTable, Prior, Prototask
from redelve.model.dataset import Rows
from redelve.registry import named_options

Labels = Sequence[Any] | NDArray[Any]
ONLY_IN_FRAME = "; only estimators and functions, which get your columns as they are, see it"


@dataclass(frozen=True)
class Intake:
    """A table as redelve's nouns, with what was understood of it and what was left out."""

    dataset: Dataset
    prototask: Prototask
    prior: Prior
    description: Description
    assignments: tuple[Assignment, ...] = field(repr=False)
    left_out: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    """What looks wrong about the table, with the option that cures it."""
    other: Callable[[], Intake] | None = field(default=None, repr=False, compare=False)
    """Makes the other kind of task of it, where numbers in the target may be classes or numbers."""

    def __repr__(self) -> str:
        sizes = ", ".join(str(one.task.training_set_size) for one in self.assignments)
        target = ", ".join(one.name for one in self.assignments[0].data.targets) if self.assignments else "?"
        return (
            f"<Intake {self.dataset.spec.name}: {self.dataset.cases.count} cases, target {target}, training "
            f"sets of {sizes}; print it to see what was understood>"
        )

    def __str__(self) -> str:
        """What was understood of the table, for its owner to look over."""
        lines = [f"{self.dataset.spec.name}: {self.dataset.cases.count} cases"]
        width = max(len(column.name) for column in self.description.columns)
        for column in self.description.columns:
            more = "in frame" if column.in_frame else column.type
            what = column.use if more is None else f"{column.use}, {more}"
            lines.append(f"  {column.name:{width}}  {what:18} {column.reason}")
        design = self.description.design
        lines += [f"  {reason}" for reason in (design.reasons if design else ())]
        others = [note for note in self.left_out if note not in self.warnings]
        lines += [f"  {note}" for note in others if not note.startswith("column ")]
        lines += [f"  Warning: {warning}" for warning in self.warnings]
        return "\n".join(lines)


@named_options
def from_frame(  # noqa: PLR0913  (options of a public function are explicit)
    frame: Any,
    target: TargetLike | None = None,
    *,
    name: str | None = None,
    groups: str | Labels | None = None,
    kind: Kind | None = None,
    design: str | DesignChoice | None = None,
    gap: int | None = None,
    ignore: NamesLike | None = None,
    missing: MissingLike | None = None,
    description: Description | StrPath | None = None,
) -> Intake:
    """Make tasks of a data frame.

    Parameters
    ----------
    frame
        A pandas DataFrame, a pyarrow Table, or anything else that has columns with names.
    target
        The column to predict, by its name, or the values to predict, one for each row, as in
        ``from_frame(X, y)``. May be left out if `description` names it.
    name
        What to call the dataset; ``"data"`` if left out.
    groups
        The name of a column that tells which cases belong together, or a label for each row. Cases of
        one group never stand in a training set and in a test set at once.
    kind
        ``"classification"`` or ``"regression"``, where the target's numbers could be either. If left out,
        redelve infers it, and `assess` takes the other one if only that suits its methods.
    design
        How training and test sets are made: ``"cv"``, ``"cv 10x3"`` (ten folds, three times),
        ``"nested"``, ``"time"`` (learn from a window, test on what comes after it), ``"time by date"``,
        ``"holdout"`` or ``"disjoint"``. The number of cases decides if it is left out.
    gap
        With ``"time"``, how many cases are left out between what trains and what tests.
    ignore
        Columns to leave out: a name, or several.
    missing
        Codes that stand for missing values, such as ``-999``: one, several, or for some columns their own, as
        in ``{"age": -1}``.
    description
        How to read the columns: a `Description`, or the path of a file that `write_description` wrote.
        redelve infers what it does not say.

    Returns
    -------
    Intake
        The tasks, as ``assignments``, one for each training-set size; what redelve understood of every
        column, as ``description``, with reasons; what it ``left_out``; and ``warnings`` of what looks wrong.
        Print it to look it over.

    Raises
    ------
    RedelveError
        No target is given, a column is not there, or there are too few cases.

    Notes
    -----
    The number of cases decides the design: training sets that share no case where there are enough, else
    cross-validation, with its caveats (docs/own-data.md). Estimators and functions are shown the frame as
    it is, built-in methods what redelve understood of it.

    Examples
    --------
    >>> import pandas as pd
    >>> import redelve
    >>> houses = pd.DataFrame({"area": range(30, 130)})
    >>> houses["price"] = 3 * houses["area"] + houses["area"] % 7
    >>> task = redelve.from_frame(houses, "price", name="houses")
    >>> [one.address for one in task.assignments]
    ['/houses/price/std.90']
    """
    frame, target, arrays = with_target(frame, target)
    given = _with_design(_given(description), design, gap)
    table = replace(table_from_frame(frame), arrays=arrays)
    if ignore is not None or missing is not None or given.missing:
        table, given = corrected(table, given, ignore, missing)
    return _made_ready(table, target, name or "data", groups, kind, given)


@named_options
def from_file(  # noqa: PLR0913  (options of a public function are explicit)
    path: StrPath,
    target: str | None = None,
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
) -> Intake:
    """Make tasks of a table in a file.

    Parameters
    ----------
    path
        A file that ends in ``.csv``, ``.tsv``, ``.arff`` (each also with ``.gz``) or ``.parquet``.
    target
        The column to predict; may be left out if `description` names it.
    name
        What to call the dataset; the file's name if left out.
    groups
        The name of a column that tells which cases belong together, or a label for each row.
    kind
        ``"classification"`` or ``"regression"``, where the target's numbers could be either.
    design
        How training and test sets are made: ``"cv"``, ``"cv 10x3"`` (ten folds, three times),
        ``"nested"``, ``"time"`` (learn from a window, test on what comes after it), ``"time by date"``,
        ``"holdout"`` or ``"disjoint"``. The number of cases decides if it is left out.
    gap
        With ``"time"``, how many cases are left out between what trains and what tests.
    ignore
        Columns to leave out: a name, or several.
    missing
        Codes that stand for missing values, such as ``-999``: one, several, or for some columns their own, as
        in ``{"age": -1}``.
    encoding
        The encoding of a text file, such as ``"latin-1"``; told from the file if left out.
    decimal
        How the file writes decimal numbers, ``"."`` or ``","``; told from the file if left out.
    description
        What redelve need not infer of the columns and the design: a `Description`, or the path of one's file.

    Returns
    -------
    Intake
        The tasks and what redelve understood of the table, as `from_frame` returns them.

    Raises
    ------
    RedelveError
        The file cannot be read, no target is given, a column is not there, or there are too few cases.

    Notes
    -----
    What the columns of each format become, and how the number of cases decides the design, is in
    docs/own-data.md.

    Examples
    --------
    >>> import tempfile
    >>> import pandas as pd
    >>> import redelve
    >>> houses = pd.DataFrame([(area, 3 * area + area % 7) for area in range(30, 130)])
    >>> with tempfile.NamedTemporaryFile(suffix=".csv") as file:
    ...     houses.to_csv(file.name, header=["area", "price"], index=False)
    ...     task = redelve.from_file(file.name, "price")
    >>> [(column.name, column.use, column.type) for column in task.description.columns]
    [('area', 'input', 'integer'), ('price', 'target', 'integer')]
    """
    given = _with_design(_given(description), design, gap)
    given = replace(given, encoding=encoding or given.encoding, decimal=decimal or given.decimal)
    table = read_table(path, encoding=given.encoding, decimal=given.decimal)
    if ignore is not None or missing is not None or given.missing:
        table, given = corrected(table, given, ignore, missing)
    return _made_ready(table, target, name, groups, kind, given)


def _with_design(given: Description, design: str | DesignChoice | None, gap: int | None) -> Description:
    """The description with the design that was asked for by name, which comes before its own."""
    asked = named_design(design, gap) if isinstance(design, str) else design
    if asked is None and gap is not None:
        if given.design is None:
            raise SpecError(f'gap={gap} is for design "time": give design="time" as well')
        asked = with_gap(given.design, gap)
    return given if asked is None else replace(given, design=asked)


def _made_ready(
    table: Table,
    target: str | None,
    name: str | None,
    groups: str | Labels | None,
    kind: Kind | None,
    given: Description,
) -> Intake:
    if groups is not None:
        table, given = _with_groups(table, given, groups)
    return assignments_from_table(table, target, name=name, kind=kind, description=given)


def assignments_from_table(
    table: Table,
    target: str | None = None,
    *,
    name: str | None = None,
    kind: Kind | None = None,
    description: Description | StrPath | None = None,
) -> Intake:
    """The assignments in a table, one for each training-set size; what is not described is inferred."""
    given = _given(description)
    _check_description(table, given)
    target = _target_name(table, given, target)
    _check_kind(given, target, kind)
    used, left_out = _cases_with_target(table, target)
    facts = tuple(map(ColumnFacts, used.columns))
    columns = tuple(_settled(one, given, target, kind) for one in facts)
    name = legal_name(given.name or name or Path(bare_name(table.source)).stem)
    own = _own_table(table, used.rows, target, columns)
    plan = TableNouns(facts, replace(given, name=name, target=target, columns=columns), own)
    told = (*table.notes, *left_out, *_ignored(columns))
    doubts = suspicions(facts, columns, plan.target, plan.without_twins)
    made = [plan.assignment(size) for size in plan.prototask.training_set_sizes]
    return Intake(
        plan.dataset,
        plan.prototask,
        plan.prior,
        replace(plan.description, design=plan.design),
        tuple(replace(one, left_out=told, notes=(*one.notes, *doubts)) for one in made),
        (*told, *plan.renamed),
        (*table.notes, *doubts),
        None if kind is not None else _other(table, target, name, given, plan),
    )


def _other(
    table: Table, target: str, name: str, given: Description, plan: TableNouns
) -> Callable[[], Intake] | None:
    """The same table with its target taken the other way, where only inference decided."""
    said = given.column(target)
    if said is not None and (said.type is not None or said.levels is not None or said.range is not None):
        return None
    facts = next(one for one in plan.facts if one.name == target)
    kind = other_kind(facts, plan.target)
    if kind is None:
        return None
    return partial(assignments_from_table, table, target, name=name, kind=kind, description=given)


def _own_table(
    table: Table, rows: Rows | None, target: str, columns: Sequence[ColumnDescription]
) -> OwnTable | None:
    """The user's frame without what no method is shown: target, groups, what the user ignores."""
    if table.own is None:
        return None
    hidden = [one for one in columns if one.use == "group" or (one.use == "ignore" and not one.in_frame)]
    count = table.row_count if table.rows is None else None
    return OwnTable(table.own, count, target, tuple(one.name for one in hidden), rows, table.arrays)


def _check_kind(given: Description, target: str, kind: Kind | None) -> None:
    if kind is not None and kind not in KINDS:
        raise SpecError(f'kind is "{kind}": choose {" or ".join(KINDS)}')
    said = given.column(target)
    if kind is None or said is None or said.type is None:
        return
    if (said.type in CATEGORICAL) != (kind == "classification"):
        raise SpecError(f'kind is "{kind}", but {given.source} has type = "{said.type}": change one')


def _given(description: Description | StrPath | None) -> Description:
    if description is None:
        return Description()
    return description if isinstance(description, Description) else read_description(description)


def _with_groups(table: Table, given: Description, groups: str | Labels) -> tuple[Table, Description]:
    """The table with a column of groups, described as such."""
    if isinstance(groups, str):
        name = table.column(groups).name
    else:
        if len(groups) != table.row_count:
            raise SpecError(
                f"{len(groups)} group labels are given for {table.row_count} rows: give one for each"
            )
        name = attribute_names([*table.names, "group"])[-1]
        table = replace(table, columns=(*table.columns, column_of_values(name, groups)))
    said = given.column(name)
    if said is not None and said.use != "group":
        raise SpecError(f'column "{name}" tells groups, but is described with use = "{said.use}": change one')
    others = tuple(column for column in given.columns if column.name != name)
    return table, replace(given, columns=(*others, ColumnDescription(name, "group")))


def _check_description(table: Table, given: Description) -> None:
    for column in given.columns:
        try:
            table.column(column.name)
        except SpecError as problem:
            raise FormatError(given.source, None, f"columns.{column.name}: {problem}") from None
    for use in ("target", "group"):
        several = [column.name for column in given.columns if column.use == use]
        if len(several) > 1:
            message = f'columns {", ".join(several)} all have use = "{use}": only one can'
            raise FormatError(given.source, None, message)


def _target_name(table: Table, given: Description, target: str | None) -> str:
    """The target that was asked for, if everything that names one agrees."""
    named = {
        "target argument": target,
        'description\'s key "target"': given.target,
        'column with use = "target"': next((c.name for c in given.columns if c.use == "target"), None),
    }
    names = {where: name for where, name in named.items() if name is not None}
    if not names:
        raise SpecError(
            'no target is given: name the column to predict, as in target="price" (-t price on the command '
            f"line); there are {', '.join(table.names[:12])}"
        )
    if len(set(names.values())) > 1:
        listed = " but ".join(f'the {where} says "{name}"' for where, name in names.items())
        raise SpecError(f"{listed}: name one target")
    chosen = table.column(next(iter(names.values()))).name
    said = given.column(chosen)
    if said is not None and said.use not in ("target", "input"):
        raise SpecError(f'"{chosen}" is the target, but its description says use = "{said.use}": change one')
    return chosen


def _cases_with_target(table: Table, target: str) -> tuple[Table, tuple[str, ...]]:
    gone = table.column(target).missing
    count = int(gone.sum())
    if 2 * count > table.row_count:
        raise SpecError(
            f'the target "{target}" is missing in {count} of {table.row_count} rows, more than half: choose '
            "another target, or leave those rows out yourself if you are sure that they don't matter"
        )
    if not count:
        return table, ()
    note = f'{count} of {table.row_count} rows lack the target "{target}" and are left out'
    return table.select(np.flatnonzero(~gone)), (note,)


def _settled(facts: ColumnFacts, given: Description, target: str, kind: Kind | None) -> ColumnDescription:
    """What the column is: as described, and inferred where the description is silent."""
    said = given.column(facts.name)
    if facts.name == target and kind is not None and (said is None or not (said.type or said.levels)):
        return target_of_kind(facts, kind)
    if said is None:
        return infer_target(facts) if facts.name == target else _dates_told(facts)
    use: Use = "target" if facts.name == target else said.use
    if use in ("ignore", "group"):
        reason = "so described" + _alone(facts) * (use == "group")
        return ColumnDescription(facts.name, use, reason=reason, in_frame=said.in_frame)
    if said.levels is not None:
        described = said.type or ("binary" if len(said.levels) == 2 else "nominal")
        return replace(said, use=use, type=described, reason="so described")
    if said.type is None:
        inferred = infer_target(facts) if use == "target" else _as_input(facts)
    else:
        inferred = as_type(facts, said.type, use, reason="so described")
    return replace(inferred, range=said.range or inferred.range, unit=said.unit)


def _alone(facts: ColumnFacts) -> str:
    """What becomes of the cases that a column of groups tells nothing of."""
    count = facts.missing
    return f"; {count} missing: each such case is a group of its own" if count else ""


def _dates_told(facts: ColumnFacts) -> ColumnDescription:
    """What is inferred of a column; of one left out because it holds dates, what they are good for."""
    inferred = None if facts.column.kind == "date" else infer_input(facts)
    if inferred is not None and inferred.use != "ignore":
        return inferred
    moments = dates_in(facts)
    if moments is None:
        return inferred or infer_input(facts)
    reason = (
        f"dates, {span(moments)}, are no input as they are: turn them into {NUMBERS_FOR_DATES}; `assess` "
        'can go forward in time by them, with design="time" (--design time)'
    )
    return ColumnDescription(facts.name, "ignore", reason=reason, in_frame=True)


def _as_input(facts: ColumnFacts) -> ColumnDescription:
    """An input because the description wants it, though it might have been ignored."""
    inferred = infer_input(facts)
    if inferred.use == "input":
        return inferred
    kind = ("integer" if facts.is_whole else "real") if facts.is_numeric else "nominal"
    return as_type(facts, kind, reason="so described")


def _ignored(columns: Sequence[ColumnDescription]) -> tuple[str, ...]:
    return tuple(
        f'column "{one.name}" is ignored: {one.reason}{ONLY_IN_FRAME * one.in_frame}'
        for one in columns
        if one.use == "ignore"
    )
