"""From a file or a data frame to nouns: what is given, what is inferred, what is left out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from redelve.data.compressed_names import plain_name
from redelve.data.files import StrPath
from redelve.data.tables.dates import dates_in, span
from redelve.data.tables.description import ColumnDescription, Description, Use, read_description
from redelve.data.tables.design_choice import DesignChoice
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
)
from redelve.data.tables.table_files import (
    Table,
    TableColumn,
    arrow_column,
    check_names,
    read_table,
    table_from_arrow,
)
from redelve.data.tables.table_nouns import TableNouns
from redelve.errors import FormatError, SpecError
from redelve.model import Assignment, Dataset, Prior, Prototask
from redelve.registry import named_options


def table_from_frame(frame: Any, source: str = "the data frame") -> Table:
    """The table in a pandas DataFrame, an arrow table or anything that has `to_arrow`; no index is kept."""
    if isinstance(frame, pa.Table):
        return table_from_arrow(frame, source)
    if hasattr(frame, "to_arrow"):
        return table_from_arrow(frame.to_arrow(), source)
    if not (hasattr(frame, "dtypes") and hasattr(frame, "columns") and hasattr(frame, "iloc")):
        raise SpecError(
            f"expected a pandas DataFrame but got {type(frame).__name__}: make one with pandas.DataFrame(…), "
            "give inputs and target as from_frame(X, y), or the path of a file"
        )
    if getattr(frame.columns, "nlevels", 1) > 1:
        raise SpecError("the data frame has column names of several levels: join them into one text each")
    if not len(frame):
        raise SpecError("the data frame has no rows: give at least 10")
    names = [str(name) for name in frame.columns]
    check_names(names, source)
    return Table(source, tuple(_column(name, frame.iloc[:, place]) for place, name in enumerate(names)))


def column_of_values(name: str, values: Any) -> TableColumn:
    """A column of loose values: a list, an array or a series."""
    try:
        return arrow_column(name, pa.array(values, from_pandas=True))
    except (pa.ArrowException, UnicodeError, ValueError, TypeError) as problem:
        raise SpecError(f"{name}: {problem}: give a list of texts or whole numbers") from None


def _column(name: str, series: Any) -> TableColumn:
    dtype = series.dtype
    if hasattr(dtype, "categories") and hasattr(dtype, "ordered"):
        return _categories(name, series)
    try:
        return arrow_column(name, pa.Array.from_pandas(series))
    except (pa.ArrowException, UnicodeError, ValueError, TypeError) as problem:
        if dtype.kind != "O":
            return TableColumn(name, pa.nulls(len(series), pa.string()), "other", declared=str(dtype))
        return _texts(name, series, problem)


def _categories(name: str, series: Any) -> TableColumn:
    levels = [str(level) for level in series.dtype.categories]
    codes = pa.array(series.cat.codes.to_numpy(), from_pandas=True)
    known = pa.compute.if_else(pa.compute.less(codes, 0), pa.scalar(None, codes.type), codes)
    texts = pa.array(levels, pa.string()).take(known)
    kind = "ordered" if series.dtype.ordered else "categories"
    return TableColumn(name, texts, kind, tuple(levels), str(series.dtype))  # type: ignore[arg-type]


def _texts(name: str, series: Any, problem: Exception) -> TableColumn:
    """A column of mixed Python objects, each as text."""
    gone = series.isna().to_numpy()
    texts = [None if is_gone else str(value) for value, is_gone in zip(series, gone, strict=True)]
    try:
        return arrow_column(name, pa.array(texts, pa.string()))
    except (pa.ArrowException, UnicodeError):
        raise SpecError(f'column "{name}" can\'t be read as text ({problem}): clean it first') from None


Labels = Sequence[Any] | NDArray[Any]


@dataclass(frozen=True)
class Intake:
    """A table as redelve's nouns, with what was understood of it and what was left out."""

    dataset: Dataset
    prototask: Prototask
    prior: Prior
    description: Description
    assignments: tuple[Assignment, ...] = field(repr=False)
    left_out: tuple[str, ...] = ()

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
            what = column.use if column.use in ("ignore", "group") else f"{column.use}, {column.type}"
            lines.append(f"  {column.name:{width}}  {what:18} {column.reason}")
        design = self.description.design
        lines += [f"  {reason}" for reason in (design.reasons if design else ())]
        lines += [f"  {note}" for note in self.left_out if not note.startswith("column ")]
        return "\n".join(lines)


@named_options
def from_frame(  # noqa: PLR0913  (options of a public function are explicit)
    frame: Any,
    target: TargetLike | None = None,
    *,
    name: str | None = None,
    groups: str | Labels | None = None,
    design: str | DesignChoice | None = None,
    gap: int | None = None,
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
    design
        How training and test sets are made: ``"cv"``, ``"cv 10x3"`` (ten folds, three times),
        ``"nested"``, ``"time"`` (learn from a window, test on what comes after it), ``"time by date"``,
        ``"holdout"`` or ``"disjoint"``. The number of cases decides if it is left out.
    gap
        With ``"time"``, how many cases are left out between what trains and what tests.
    description
        How to read the columns: a `Description`, or the path of a file that `write_description` wrote.
        redelve infers what it does not say.

    Returns
    -------
    Intake
        The tasks, as ``assignments``, one for each training-set size; what redelve understood of every
        column, as ``description``, with reasons; and what it ``left_out``. Print it to look it over.

    Raises
    ------
    RedelveError
        No target is given, a column is not there, or there are too few cases.

    Notes
    -----
    The number of cases decides the design: training sets that share no case where there are enough, else
    cross-validation, with its caveats (docs/own-data.md).

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
    frame, target = with_target(frame, target)
    table = table_from_frame(frame)
    given = _with_design(_given(description), design, gap)
    return _made_ready(table, target, name or "data", groups, given)


@named_options
def from_file(  # noqa: PLR0913  (options of a public function are explicit)
    path: StrPath,
    target: str | None = None,
    *,
    name: str | None = None,
    groups: str | Labels | None = None,
    design: str | DesignChoice | None = None,
    gap: int | None = None,
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
    design
        How training and test sets are made: ``"cv"``, ``"cv 10x3"`` (ten folds, three times),
        ``"nested"``, ``"time"`` (learn from a window, test on what comes after it), ``"time by date"``,
        ``"holdout"`` or ``"disjoint"``. The number of cases decides if it is left out.
    gap
        With ``"time"``, how many cases are left out between what trains and what tests.
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
    return _made_ready(read_table(path), target, name, groups, given)


def _with_design(given: Description, design: str | DesignChoice | None, gap: int | None) -> Description:
    """The description with the design that was asked for by name, which comes before its own."""
    asked = named_design(design, gap) if isinstance(design, str) else design
    if asked is None and gap is not None:
        if given.design is None:
            raise SpecError(f'gap={gap} is for design "time": give design="time" as well')
        asked = with_gap(given.design, gap)
    return given if asked is None else replace(given, design=asked)


def _made_ready(
    table: Table, target: str | None, name: str | None, groups: str | Labels | None, given: Description
) -> Intake:
    if groups is not None:
        table, given = _with_groups(table, given, groups)
    return assignments_from_table(table, target, name=name, description=given)


def assignments_from_table(
    table: Table,
    target: str | None = None,
    *,
    name: str | None = None,
    description: Description | StrPath | None = None,
) -> Intake:
    """The assignments in a table, one for each training-set size; what is not described is inferred."""
    given = _given(description)
    _check_description(table, given)
    target = _target_name(table, given, target)
    used, left_out = _cases_with_target(table, target)
    facts = tuple(map(ColumnFacts, used.columns))
    columns = tuple(_settled(one, given, target) for one in facts)
    name = legal_name(given.name or name or _stem(table.source))
    plan = TableNouns(facts, replace(given, name=name, target=target, columns=columns))
    told = (*left_out, *_ignored(columns))
    sizes = plan.prototask.training_set_sizes
    return Intake(
        plan.dataset,
        plan.prototask,
        plan.prior,
        replace(plan.description, design=plan.design),
        tuple(replace(plan.assignment(size), left_out=told) for size in sizes),
        (*told, *plan.renamed),
    )


def _given(description: Description | StrPath | None) -> Description:
    if description is None:
        return Description()
    return description if isinstance(description, Description) else read_description(description)


def _stem(source: str) -> str:
    return Path(plain_name(Path(source).name)).stem


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
        table = Table(table.source, (*table.columns, column_of_values(name, groups)))
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


def _settled(facts: ColumnFacts, given: Description, target: str) -> ColumnDescription:
    """What the column is: as described, and inferred where the description is silent."""
    said = given.column(facts.name)
    if said is None:
        return infer_target(facts) if facts.name == target else _dates_told(facts)
    use: Use = "target" if facts.name == target else said.use
    if use in ("ignore", "group"):
        return ColumnDescription(facts.name, use, reason="so described")
    if said.levels is not None:
        kind = said.type or ("binary" if len(said.levels) == 2 else "nominal")
        return replace(said, use=use, type=kind, reason="so described")
    if said.type is None:
        inferred = infer_target(facts) if use == "target" else _as_input(facts)
    else:
        inferred = as_type(facts, said.type, use, reason="so described")
    return replace(inferred, range=said.range or inferred.range, unit=said.unit)


def _dates_told(facts: ColumnFacts) -> ColumnDescription:
    """What is inferred of a column; of one left out because it holds dates, what they are good for."""
    inferred = None if facts.column.kind == "date" else infer_input(facts)
    if inferred is not None and inferred.use != "ignore":
        return inferred
    moments = dates_in(facts)
    if moments is None:
        return inferred or infer_input(facts)
    reason = (
        f"dates, {span(moments)}, are no input as they are: turn them into {NUMBERS_FOR_DATES}; they can "
        'tell the order of the cases, by design="time" (--design time)'
    )
    return ColumnDescription(facts.name, "ignore", reason=reason)


def _as_input(facts: ColumnFacts) -> ColumnDescription:
    """An input because the description wants it, though it might have been ignored."""
    inferred = infer_input(facts)
    if inferred.use == "input":
        return inferred
    kind = ("integer" if facts.is_whole else "real") if facts.is_numeric else "nominal"
    return as_type(facts, kind, reason="so described")


def _ignored(columns: Sequence[ColumnDescription]) -> tuple[str, ...]:
    return tuple(f'column "{one.name}" is ignored: {one.reason}' for one in columns if one.use == "ignore")
