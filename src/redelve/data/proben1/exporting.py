"""Any task as a .dt file: PROBEN1's representation of its attributes, and sets of 50 %, 25 % and 25 %."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from redelve.data.files import StrPath
from redelve.data.proben1.dt_files import DtFile, DtHeader, standard_sizes, write_dt
from redelve.data.proben1.representation import STANDARD, Rules, check_writable, codings
from redelve.errors import SpecError
from redelve.model import CATEGORICAL, Assignment, Cases
from redelve.model.coding import Coding
from redelve.model.dataset import Numbers
from redelve.model.designs import random_order, random_order_of_groups
from redelve.model.encodings import fit
from redelve.seeds import seed

Rows = NDArray[np.int64]
DELVE_SEEDS = 900_000_000
WIDEST = 100_000
SCALES = {
    "training": "numbers are scaled by the least and greatest value in training and validation set",
    "all": "numbers are scaled by the least and greatest value of all cases, as in PROBEN1's own files: "
    "something of the test cases is so known beforehand",
}


@dataclass(frozen=True)
class Export:
    """A .dt file, and what its coefficients stand for."""

    file: DtFile
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    source: str
    rules: Rules = STANDARD
    cautions: tuple[str, ...] = ()

    def write(self, path: StrPath) -> None:
        """Write the file."""
        write_dt(path, self.file)

    def readme(self) -> str:
        """What must be published beside the file: where it comes from and what each coefficient is (2.4)."""
        lines = [f"{self.source}, in PROBEN1's representation (Prechelt 1994, section 2.4).", ""]
        lines += [f"input {place}: {name}" for place, name in enumerate(self.inputs, start=1)]
        lines += [f"output {place}: {name}" for place, name in enumerate(self.outputs, start=1)]
        sizes = ", ".join(map(str, self.file.header.sizes))
        lines += ["", f"Training, validation and test set have {sizes} examples."]
        lines += [f"Note: {SCALES[self.rules.scaled_by]}."]
        lines += [f"Note: {caution}." for caution in self.cautions]
        return "\n".join(lines) + "\n"


def export(
    given: Assignment, *, permutation: int = 1, instance: int | None = None, rules: Rules = STANDARD
) -> Export:
    """A task's cases as a .dt file.

    `permutation` numbers random orders of the cases, of which PROBEN1 makes three; 0 keeps the prototask's
    own order. With `instance` the sets are those of one of the task's instances instead, a third of its
    training cases for validation.
    """
    division = _permuted(given, permutation) if instance is None else _of_instance(given, instance)
    cases = given.data.cases.select(division.rows)
    trained = sum(division.sizes[:2])
    fitted = cases if rules.scaled_by == "all" else cases.select(np.arange(trained, dtype=np.int64))
    width = len(given.data.inputs)
    chosen = codings(given, rules)
    inputs = _coded(given, (0, width), cases, fitted, chosen)
    outputs = _coded(given, (width, len(given.data.attributes)), cases, fitted, chosen)
    header = DtHeader(*_kinds(inputs), *_kinds(outputs), *division.sizes)
    named = given.address if instance is not None else given.address.rpartition("/")[0]
    source = f"{named} of redelve, {division.what}"
    cautions = (*division.cautions, *_outside(inputs.values[trained:]))
    return Export(
        DtFile(header, inputs.values, outputs.values, source),
        inputs.names,
        outputs.names,
        source,
        rules,
        cautions,
    )


class _Division(NamedTuple):
    rows: Rows
    sizes: tuple[int, int, int]
    what: str
    cautions: tuple[str, ...] = ()


def _permuted(given: Assignment, permutation: int) -> _Division:
    """The cases in a random order and divided; cases that belong together stay in one set."""
    count, groups = given.data.cases.count, given.commonality
    if permutation < 0:
        raise SpecError(f"permutations are numbered from 1, and 0 keeps the order: got {permutation}")
    if count < 4:
        raise SpecError(f"{given.address} has {count} cases: at least 4 are needed for three sets")
    prototask = given.task.prototask
    number = seed("proben1", prototask.dataset, prototask.name, permutation) % DELVE_SEEDS
    if permutation == 0:
        rows, what = np.arange(count, dtype=np.int64), "in its own order"
    elif groups is None:
        rows, what = random_order(count, number) - 1, f"permutation {permutation}"
    else:
        rows, what = random_order_of_groups(groups, number) - 1, f"permutation {permutation}"
    cautions: tuple[str, ...] = ()
    if prototask.is_sequential and permutation:
        cautions = ("the task is sequential: a random order puts neighbouring cases into different sets",)
    sizes = standard_sizes(count)
    return _Division(rows, sizes if groups is None else _whole_groups(groups[rows], sizes), what, cautions)


def _whole_groups(groups: Rows, sizes: tuple[int, int, int]) -> tuple[int, int, int]:
    """Sizes a little larger, so that no group is cut."""
    ends = np.append(np.flatnonzero((groups[1:] != groups[:-1]) | (groups[1:] < 0)) + 1, len(groups))
    first, second = (int(ends[np.searchsorted(ends, size)]) for size in (sizes[0], sizes[0] + sizes[1]))
    if second == len(groups) or first == second:
        raise SpecError("a group of cases is so large that three sets of whole groups can't be made")
    return first, second - first, len(groups) - second


def _of_instance(given: Assignment, number: int) -> _Division:
    if not 0 <= number < len(given.instances):
        raise SpecError(f"{given.address} has the instances 0 to {len(given.instances) - 1}, not {number}")
    one = given.instances[number]
    validation = round(len(one.training) / 3)
    sizes = (len(one.training) - validation, validation, len(one.testing))
    return _Division(np.concatenate([one.training, one.testing]), sizes, f"instance {number}")


@dataclass(frozen=True, eq=False)
class _Coefficients:
    names: tuple[str, ...]
    values: Numbers = field(repr=False)


def _coded(
    given: Assignment, span: tuple[int, int], cases: Cases, fitted: Cases, chosen: Mapping[int, Coding]
) -> _Coefficients:
    """The attributes from one place to another as coefficients."""
    names: list[str] = []
    columns: list[Numbers] = []
    for place in range(*span):
        attribute = given.data.attributes[place]
        coding, prior = chosen[attribute.number], given.task.prior.attribute(attribute.number)
        if prior.type not in CATEGORICAL:
            check_writable(attribute, coding, cases.columns[place])
        encoder = fit(attribute, prior, coding, fitted.columns[place])
        if len(names) + len(encoder.names) > WIDEST:
            raise SpecError(
                f"{given.address} would have more than {WIDEST} coefficients: leave attributes out"
            )
        names += encoder.names
        columns += [one.numbers for one in encoder.encode(cases.columns[place])]
    return _Coefficients(tuple(names), np.column_stack(columns))


def _kinds(coefficients: _Coefficients) -> tuple[int, int]:
    """All boolean or all real, as in PROBEN1's own files."""
    count = coefficients.values.shape[1]
    return (count, 0) if np.isin(coefficients.values, (0.0, 1.0)).all() else (0, count)


def _outside(tested: Numbers) -> Sequence[str]:
    outside = int(((tested < 0) | (tested > 1)).any(axis=1).sum())
    return (f"{outside} test examples have inputs outside 0…1",) if outside else ()
