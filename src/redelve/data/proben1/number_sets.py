"""A PROBEN1 problem as three sets of numbers: what neural networks are trained, stopped and tested with.

And what an attentive user would remark of them before setting methods to work.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from redelve.data.compressed_names import plain_name
from redelve.data.files import StrPath
from redelve.data.proben1.data_sources import data_file
from redelve.data.proben1.dt_files import DtFile, read_dt
from redelve.data.proben1.file_sources import genuine
from redelve.data.proben1.problem_names import ORDERS, Variant, check_order, is_name, parse_name
from redelve.errors import SpecError
from redelve.model.dataset import Numbers

Rows = NDArray[np.int64]
SETS = ("training", "validation", "test")


@dataclass(frozen=True, eq=False)
class ExampleSet:
    """Some examples: their rows in the file from 0, their inputs and their outputs."""

    rows: Rows = field(repr=False)
    inputs: Numbers = field(repr=False)
    outputs: Numbers = field(repr=False)

    def __len__(self) -> int:
        return len(self.rows)


@dataclass(frozen=True, eq=False)
class Proben1Problem:
    """The training, validation and test set of a file; unpacks into the three.

    >>> from redelve.data.proben1.dt_files import DtHeader
    >>> made = DtFile(DtHeader(0, 1, 0, 1, 2, 1, 1), np.arange(4.0)[:, None], np.zeros((4, 1)))
    >>> [part.inputs[:, 0].tolist() for part in partition(made, "d")]
    [[2.0, 3.0], [0.0], [1.0]]
    """

    name: str
    file: DtFile = field(repr=False)
    training: ExampleSet
    validation: ExampleSet
    test: ExampleSet

    def __iter__(self) -> Iterator[ExampleSet]:
        return iter((self.training, self.validation, self.test))

    @property
    def training_data(self) -> ExampleSet:
        """Training and validation set together: the training set where no validation set is used (2.3)."""
        return _set(self.file, np.concatenate([self.training.rows, self.validation.rows]))


def problem(source: StrPath, *, order: str | None = None, folder: StrPath | None = None) -> Proben1Problem:
    """The problem of a name such as `glass1d`, or of a .dt file of your own; `order` is a letter a to f."""
    file, name, letter, _ = load(source, order=order, folder=folder)
    return partition(file, letter, name=name)


def load(
    source: StrPath, *, order: str | None = None, folder: StrPath | None = None
) -> tuple[DtFile, str, str, Variant | None]:
    """The file, its name, the letter of its order and, if it is PROBEN1's own, what it is."""
    text = str(source)
    if is_file_name(text):
        letter = check_order(order or "a")
        name = bare_name(text)
        file, variant = read_dt(text), genuine(text, name)
        if variant is not None:
            variant = replace(variant, order=letter)
            return file, str(variant), letter, variant
        return file, name if letter == "a" else f"{name}-{letter}", letter, None
    variant = parse_name(text)
    if order is not None and order != variant.order:
        raise SpecError(f'"{text}" and order "{order}" contradict each other: give one of them')
    return data_file(variant, folder=folder), str(variant), variant.order, variant


def is_file_name(text: str) -> bool:
    """Whether a text is meant as a file: it ends in .dt (perhaps compressed), or is no name of PROBEN1's."""
    return Path(plain_name(text)).suffix == ".dt" or (not is_name(text) and Path(text).is_file())


def bare_name(path: str) -> str:
    """A file's name without folder and endings."""
    return Path(plain_name(Path(path).name)).stem


def partition(file: DtFile, order: str = "a", *, name: str = "") -> Proben1Problem:
    """The three sets of a file, read in one of the six orders of section 2.3."""
    sizes = dict(zip(SETS, file.header.sizes, strict=True))
    rows: dict[str, Rows] = {}
    start = 0
    for which in ORDERS[check_order(order)]:
        rows[which] = np.arange(start, start + sizes[which], dtype=np.int64)
        start += sizes[which]
    training, validation, test = (_set(file, rows[which]) for which in SETS)
    return Proben1Problem(name or file.source, file, training, validation, test)


def _set(file: DtFile, rows: Rows) -> ExampleSet:
    return ExampleSet(rows, file.inputs[rows], file.outputs[rows])


MOST_NAMED = 8


def constant_inputs(parts: Proben1Problem) -> list[str]:
    """Inputs that never change in training and validation set; many of PROBEN1's own files have some."""
    seen = parts.training_data.inputs
    constant = np.flatnonzero((seen == seen[0]).all(axis=0)) + 1
    if not len(constant):
        return []
    named = ", ".join(f"in{number}" for number in constant[:MOST_NAMED].tolist())
    more = f" and {len(constant) - MOST_NAMED} more" if len(constant) > MOST_NAMED else ""
    verb = "is" if len(constant) == 1 else "are"
    return [f"{named}{more} {verb} constant in the training data: nothing can be learnt from it"]


def lacking_classes(parts: Proben1Problem) -> list[str]:
    """Classes without a case in the training or in the test set."""
    found = []
    consequences = ("nothing can be learnt of it there", "how well it is told from others is not tested")
    both = (("training set", parts.training), ("test set", parts.test))
    for (which, part), consequence in zip(both, consequences, strict=True):
        lacking = [f"c{place}" for place in (np.flatnonzero(part.outputs.sum(axis=0) == 0) + 1).tolist()]
        if lacking:
            found.append(
                f"the {which} ({len(part)} examples) has no case of class {', '.join(lacking)}: {consequence}"
            )
    return found


def twins(parts: Proben1Problem) -> list[str]:
    """Test cases that are trained on as well, or equal one that is."""
    known = {values.tobytes() for values in _values(parts.training_data.inputs, parts.training_data.outputs)}
    tested = [values.tobytes() for values in _values(parts.test.inputs, parts.test.outputs)]
    shared = sum(values in known for values in tested)
    if not shared:
        return []
    return [
        f"{shared / len(tested):.1%} of test cases have a twin, equal in every value, in the training data: "
        "if these are copies, losses are too low"
    ]


def _values(inputs: Numbers, outputs: Numbers) -> Numbers:
    return np.ascontiguousarray(np.hstack([inputs, outputs]) + 0.0)
