"""Prototasks, priors, tasks and instances (manual 4); assignments, which are tasks ready to be worked on,
and their data in words.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Literal

import numpy as np

from redelve.errors import SpecError
from redelve.model.dataset import (
    Attribute,
    Cases,
    Column,
    Dataset,
    DatasetSpec,
    NumberColumn,
    Rows,
    SelectedColumn,
    WrittenColumn,
    digest,
    written,
)
from redelve.model.own_table import OwnTable
from redelve.model.ranges import is_missing

SELECTIONS = ("hierarchical", "common")
TYPES = ("binary", "nominal", "ordinal", "integer", "real", "angular")
NO_MISSING = "no missing"
"""What a prototask says that leaves out the cases in which a value that it uses is missing."""
NO_INDICATORS = "no columns for missing values"
"""In the digest of tasks that once had such columns for inputs without missing values."""
CATEGORICAL = ("binary", "nominal", "ordinal")
VALIDATION = "Validation-Examples"
"""The key in a prototask's `extra` that tells how many of the last training cases are for validation."""


@dataclass(frozen=True)
class Prototask:
    """Which cases, which inputs, which targets; and how the standard instances are to be drawn."""

    name: str
    dataset: str
    inputs: tuple[int, ...]
    targets: tuple[int, ...]
    origin: str
    test_set_size: int
    training_set_sizes: tuple[int, ...]
    maximum_instances: int
    cases: str = "all"
    order: str = "retain"
    test_set_selection: str = "hierarchical"
    stratified: bool = False
    dependency_range: int | None = None
    extra: tuple[tuple[str, str], ...] = ()

    @property
    def scheme(self) -> Literal["hierarchical", "common"]:
        """Whether its standard instances have test cases of their own or share them."""
        return "common" if self.test_set_selection == "common" else "hierarchical"

    @property
    def is_sequential(self) -> bool:
        """Whether the original order is kept because nearby cases may depend on each other."""
        return self.dependency_range is not None

    @property
    def digest(self) -> str:
        """A hash of the specification."""
        return digest(self)


@dataclass(frozen=True)
class AttributePrior:
    """What is believed beforehand of one attribute: its relevance (or noise level) and type."""

    number: int
    level: str
    type: str
    passive: str | None = None
    center: float | None = None
    unit: float | None = None
    order: tuple[str, ...] | None = None
    missing: str | None = None


@dataclass(frozen=True)
class DependencyPrior:
    """How strongly cases with a common index, or near in sequence, are thought to depend on each other."""

    level: str
    range: int | None = None


@dataclass(frozen=True)
class Prior:
    """The prior information regarded as available for a task."""

    name: str
    attributes: tuple[AttributePrior, ...]
    dependency: DependencyPrior | None = None

    def attribute(self, number: int) -> AttributePrior:
        """What is believed of the attribute with this number."""
        if number not in self._by_number:
            raise SpecError(f'prior "{self.name}" says nothing of attribute {number}: add a line for it')
        return self._by_number[number]

    @cached_property
    def _by_number(self) -> dict[int, AttributePrior]:
        """The first that is said of each attribute: every one of thousands is asked for."""
        return {one.number: one for one in reversed(self.attributes)}

    @property
    def digest(self) -> str:
        """A hash of the prior."""
        return digest(self)


@dataclass(frozen=True)
class Task:
    """A prototask with prior information and a training-set size: enough to define an expected loss."""

    prototask: Prototask
    prior: Prior
    training_set_size: int

    @property
    def name(self) -> str:
        """The task's own name, such as `std.128`."""
        return f"{self.prior.name}.{self.training_set_size}"

    @property
    def address(self) -> str:
        """The task's full address, such as `/demo/age/std.128`."""
        return f"/{self.prototask.dataset}/{self.prototask.name}/{self.name}"

    @property
    def digest(self) -> str:
        """A hash of the task."""
        return digest(self)


@dataclass(frozen=True, eq=False)
class Instance:
    """A training set and a test set: positions in the prototask's list of cases, from 0."""

    number: int
    training: Rows = field(repr=False)
    testing: Rows = field(repr=False)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Instance):
            return NotImplemented
        return (
            self.number == other.number
            and np.array_equal(self.training, other.training)
            and np.array_equal(self.testing, other.testing)
        )

    def __hash__(self) -> int:
        return hash(self.digest)

    @property
    def digest(self) -> str:
        """A hash of the positions used for training and testing."""
        return digest(self)


@dataclass(frozen=True)
class PrototaskData:
    """A prototask's cases in their order: inputs, then targets; and each case's number in the dataset."""

    inputs: tuple[Attribute, ...]
    targets: tuple[Attribute, ...]
    cases: Cases
    case_numbers: Rows = field(repr=False, compare=False)

    @property
    def attributes(self) -> tuple[Attribute, ...]:
        """Inputs, then targets: one for each column."""
        return self.inputs + self.targets


def extract(
    dataset: Dataset,
    prototask: Prototask,
    *,
    case_list: Sequence[int] | None = None,
    order: Sequence[int] | None = None,
) -> PrototaskData:
    """The prototask's cases: chosen by its `cases`, put into its `order`, cut to its attributes.

    `case_list` and `order` are the contents of the files the specification names, counting from 1.
    """
    inputs, targets = used_attributes(dataset.spec, prototask)
    columns = [_column(dataset, attribute) for attribute in inputs + targets]
    rows = _chosen_rows(dataset.cases.count, prototask, columns, case_list)
    if order is not None:
        rows = rows[_positions(order, len(rows))]
    cases = dataset.cases.with_columns(columns).select(rows)
    return PrototaskData(inputs, targets, cases, rows + 1)


def used_attributes(
    spec: DatasetSpec, prototask: Prototask
) -> tuple[tuple[Attribute, ...], tuple[Attribute, ...]]:
    """The attributes a prototask takes as inputs and as targets, as they are there.

    Where it leaves out all cases with missing values, their ranges do not admit these, so that no encoding
    has a column for them.
    """
    inputs = tuple(_used(spec.attribute(number), prototask) for number in prototask.inputs)
    return inputs, tuple(_used(spec.attribute(number), prototask) for number in prototask.targets)


def _used(attribute: Attribute, prototask: Prototask) -> Attribute:
    if prototask.cases != NO_MISSING or not attribute.range.missing:
        return attribute
    return replace(attribute, range=attribute.range.without_missing())


def _column(dataset: Dataset, attribute: Attribute) -> Column:
    if attribute.number == 0:
        return written(str(number) for number in range(1, dataset.cases.count + 1))
    return dataset.cases.columns[attribute.number - 1]


def _chosen_rows(
    count: int, prototask: Prototask, columns: Sequence[Column], case_list: Sequence[int] | None
) -> Rows:
    if case_list is not None:
        for number in case_list:
            if not 1 <= number <= count:
                raise SpecError(f"case {number} doesn't exist: the dataset has cases 1 to {count}")
        return np.unique(np.asarray(case_list, dtype=np.int64)) - 1
    rows = np.arange(count, dtype=np.int64)
    if prototask.cases == NO_MISSING:
        return rows[~missing_rows(columns, count)]
    return rows


def missing_rows(columns: Sequence[Column], count: int) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Which cases lack a value in at least one of the columns."""
    lacking = np.zeros(count, dtype=np.bool_)
    for column in columns:
        if np.isnan(column.numbers()).any():
            lacking |= np.fromiter((is_missing(text) for text in column.texts()), np.bool_, count)
    return lacking


def _positions(order: Sequence[int], count: int) -> Rows:
    positions = np.asarray(order, dtype=np.int64) - 1
    if len(positions) != count:
        raise SpecError(
            f"the order lists {len(positions)} cases but the prototask has {count}: run dgenorder"
        )
    if not _is_rearrangement(positions):
        numbers, times = np.unique(positions + 1, return_counts=True)
        odd = numbers[(numbers < 1) | (numbers > count) | (times > 1)][0]
        raise SpecError(f"the order is no rearrangement of the cases 1 to {count}: look at case {odd}")
    return positions


def portable_columns(
    attributes: Sequence[Attribute], prior: Prior, columns: Sequence[Column], rows: Rows
) -> tuple[Column, ...]:
    """The given cases' values without any tie to the file they came from, cheap to send elsewhere."""
    found: list[Column] = []
    chosen_of: Rows | None = None
    for attribute, column in zip(attributes, columns, strict=True):
        is_numerical = prior.attribute(attribute.number).type not in CATEGORICAL
        source, places = column, rows
        if isinstance(column, SelectedColumn):  # not all of its rows for the sake of a few
            if column.rows is not chosen_of:  # most often the same of all columns
                chosen_of, chosen = column.rows, column.rows[rows]
            source, places = column.source, chosen
        if is_numerical and not np.count_nonzero(np.isnan(numbers := source.numbers()[places])):
            found.append(NumberColumn(numbers))
        else:
            found.append(WrittenColumn(source.texts()[places]))
    return tuple(found)


def _is_rearrangement(positions: Rows) -> bool:
    """Whether every position from 0 on is there once."""
    seen = np.zeros(len(positions), dtype=np.bool_)
    if len(positions) and (positions.min() < 0 or positions.max() >= len(positions)):
        return False
    seen[positions] = True
    return bool(seen.all())


Scheme = Literal["hierarchical", "common", "cross-validation", "nested-cross-validation", "time", "fixed"]
"""How training and test sets relate; "fixed": no training sets, models as they are on a sample of cases."""


@dataclass(frozen=True)
class Assignment:
    """A task, its cases and the instances drawn from them: what methods are set to work on.

    `task`, `from_frame` and `from_file` make them, one for each training-set size.

    Parameters
    ----------
    dataset
        The dataset that the cases are from.
    task
        What is to be predicted from what, with prior information and a training-set size.
    data
        The cases, with inputs and targets.
    instances
        Training and test sets, as positions among the cases.
    scheme
        Which analysis fits: an own test set for each instance, one test set for all, folds that train
        and test on each other's cases, or windows of time with the blocks of cases after them.
    repetitions
        How often the cases were divided into folds; each repetition has equally many.
    notes
        What must be said of the design beside every result.
    left_out
        What of the data is not in use, in words: columns, cases. It does not enter the digest.
    own
        The user's own table, where the cases come from one: what estimators and functions are shown.

    Notes
    -----
    Task and instance are DELVE's words (Rasmussen et al. 1996, The DELVE manual, chapters 2 and 5). An
    assignment is a frozen value; its ``digest`` changes with every value and every training or test set.

    Examples
    --------
    >>> import redelve
    >>> (assignment,) = redelve.task("demo/age/std.128").assignments
    >>> assignment.address, assignment.scheme, len(assignment.instances)
    ('/demo/age/std.128', 'hierarchical', 8)
    """

    dataset: DatasetSpec
    task: Task
    data: PrototaskData = field(repr=False)
    instances: tuple[Instance, ...] = field(repr=False)
    scheme: Scheme
    repetitions: int = 1
    notes: tuple[str, ...] = ()
    """What must be said of the design beside every result."""
    left_out: tuple[str, ...] = ()
    """What of the data is not in use, in words."""
    own: OwnTable | None = field(default=None, repr=False, compare=False)

    @cached_property
    def address(self) -> str:
        """The task's address, such as `/demo/age/std.128`."""
        return self.task.address

    @property
    def commonality(self) -> Rows | None:
        """The cases' commonality indexes, where the dataset has them."""
        return self.data.cases.commonality if self.dataset.has_commonality else None

    @cached_property
    def digest(self) -> str:
        """A hash of the task, of every value in use and of every training and test set.

        Before missing values were left out of ranges, inputs had a column for them: those are other tasks.
        """
        parts = [self.task.digest, self.data.cases.content_digest, [one.digest for one in self.instances]]
        return digest([*parts, NO_INDICATORS] if self._has_fewer_columns else parts)

    @property
    def _has_fewer_columns(self) -> bool:
        """Whether the range of an input admits missing values, all of which the prototask leaves out."""
        prototask = self.task.prototask
        admitted = (self.dataset.attribute(number).range.missing for number in prototask.inputs)
        return prototask.cases == NO_MISSING and any(admitted)


@dataclass(frozen=True)
class AttributeRow:
    """One attribute of a dataset, in words."""

    name: str
    role: str = ""
    type: str = ""
    range: str = ""
    description: str = ""


@dataclass(frozen=True)
class DataDescription:
    """A dataset in words; `source` is where others can get it (an address, a DOI, a paper)."""

    dataset: str
    title: str = ""
    source: str = ""
    attributes: tuple[AttributeRow, ...] = ()


def described(assignments: Iterable[Assignment]) -> tuple[DataDescription, ...]:
    """The datasets of the assignments in words, with the attributes that their tasks use."""
    found: dict[str, DataDescription] = {}
    for one in assignments:
        name, title = one.dataset.name, one.dataset.title or ""
        if name not in found:
            rows = (*_rows(one, "input"), *_rows(one, "target"))
            found[name] = DataDescription(name, title, attributes=rows)
    return tuple(found.values())


def _rows(assignment: Assignment, role: str) -> Iterable[AttributeRow]:
    prior = assignment.task.prior
    for one in assignment.data.inputs if role == "input" else assignment.data.targets:
        kind = prior.attribute(one.number).type
        yield AttributeRow(one.name, role, kind, str(one.range), one.description)
