"""PROBEN1's data files: seven header lines, then a line of numbers for each example (Prechelt 1994, app. C).

Read strictly, by their lines; what is unusual but can be worked with is told in `DtFile.cautions`. A file is
written with single blanks and the shortest digits that stand for the same numbers.
"""

from __future__ import annotations

import gzip
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, field, fields, replace
from itertools import chain
from typing import NamedTuple

import numpy as np

from redelve.data.delve.keyed_lines import shown
from redelve.data.files import StrPath, read_text, write_atomic
from redelve.data.problems import Problems
from redelve.errors import FormatError, SpecError, hint
from redelve.model.dataset import Numbers
from redelve.text_numbers import parse_number

DT_LIMIT = 512 << 20
"""Bytes, after decompression, that a file may have."""
MOST_DIGITS = 12
MOST_PROBLEMS = 20
"""After so many bad lines no further ones are looked for."""
HEADER_LINE = re.compile(r"\s*([A-Za-z_]\w*)\s*=\s*(.*?)\s*", re.ASCII)
DIGITS = re.compile(r"\d+", re.ASCII)


@dataclass(frozen=True)
class DtHeader:
    """The numbers of coefficients of each kind, and of examples in each set."""

    bool_in: int
    real_in: int
    bool_out: int
    real_out: int
    training_examples: int
    validation_examples: int
    test_examples: int

    @property
    def inputs(self) -> int:
        """How many input coefficients an example has."""
        return self.bool_in + self.real_in

    @property
    def outputs(self) -> int:
        """How many output coefficients an example has."""
        return self.bool_out + self.real_out

    @property
    def examples(self) -> int:
        """How many examples there are in all three sets."""
        return self.training_examples + self.validation_examples + self.test_examples

    @property
    def sizes(self) -> tuple[int, int, int]:
        """The sizes of training, validation and test set."""
        return self.training_examples, self.validation_examples, self.test_examples

    @property
    def has_standard_sizes(self) -> bool:
        """Whether the sets are halves and quarters, as in every file of PROBEN1."""
        return self.sizes == standard_sizes(self.examples)


KEYS = tuple(one.name for one in fields(DtHeader))


def standard_sizes(examples: int) -> tuple[int, int, int]:
    """50 %, 25 % and 25 % of the examples, rounded as in PROBEN1's files: what is odd goes to earlier sets.

    >>> standard_sizes(214), standard_sizes(699)
    ((107, 54, 53), (350, 175, 174))
    """
    rest = examples // 2
    return examples - rest, rest - rest // 2, rest // 2


@dataclass(frozen=True, eq=False)
class DtFile:
    """A file's header and examples, in its order; `lines` are the numbers of their lines, from 1."""

    header: DtHeader
    inputs: Numbers = field(repr=False)
    outputs: Numbers = field(repr=False)
    source: str = ""
    lines: range = field(default=range(0), repr=False)
    cautions: tuple[str, ...] = ()
    """What is unusual about the file, though it can be used."""
    is_rebuilt: bool = False
    """Whether it was made anew of other packages' files."""

    def __post_init__(self) -> None:
        for name, width in (("inputs", self.header.inputs), ("outputs", self.header.outputs)):
            values = np.array(getattr(self, name), dtype=np.float64)
            if values.shape != (self.header.examples, width):
                raise SpecError(
                    f"the {name} have the shape {values.shape}, but the header asks for "
                    f"{(self.header.examples, width)}: change one of them"
                )
            values.setflags(write=False)
            object.__setattr__(self, name, values)
        if not self.lines:
            first = len(KEYS) + 1
            object.__setattr__(self, "lines", range(first, first + self.header.examples))


def read_dt(path: StrPath, *, limit: int = DT_LIMIT) -> DtFile:
    """The file, which may be compressed; an error names the first line that breaks the format."""
    problems = Problems(path)
    found = parse_dt(read_text(path, limit=limit), problems)
    problems.raise_first()
    assert found is not None
    return found


def parse_dt(text: str, problems: Problems) -> DtFile | None:
    """The file with this text; None if the header is unusable, and every violation among the problems."""
    lines = text.rstrip().split("\n") if text.strip() else []
    if not lines:
        problems.add(None, f"the file is empty: a .dt file begins with {KEYS[0]}=… and six more such lines")
        return None
    head = _Head.of(lines, problems)
    if head is None:
        return None
    body = lines[head.lines :]
    if not _counts_agree(head.header, len(body), head.lines, problems):
        return None
    values = _values(head.header, body, head.lines + 1, problems)
    if values is None:
        return None
    made = DtFile(
        head.header,
        values[:, : head.header.inputs],
        values[:, head.header.inputs :],
        problems.path,
        range(head.lines + 1, head.lines + 1 + len(body)),
    )
    return remarked(made, head.cautions)


def remarked(file: DtFile, besides: Sequence[str] = ()) -> DtFile:
    """The same file with all that is unusual about it, after what is known besides."""
    return replace(file, cautions=(*besides, *_cautions(file)))


class _Head(NamedTuple):
    header: DtHeader
    lines: int
    cautions: tuple[str, ...]

    @staticmethod
    def of(lines: Sequence[str], problems: Problems) -> _Head | None:
        """The lines at the beginning that have an equals sign."""
        found: dict[str, int] = {}
        count = next((place for place, line in enumerate(lines) if "=" not in line), len(lines))
        for number, line in enumerate(lines[:count], start=1):
            _header_line(line, number, found, problems)
            if len(problems) >= MOST_PROBLEMS:
                return None
        if missing := [key for key in KEYS if key not in found]:
            problems.add(
                count + 1 if count < len(lines) else count,
                f"the header lacks {', '.join(missing)}: a .dt file begins with the seven lines "
                f"{', '.join(f'{key}=…' for key in KEYS)}",
            )
        if len(problems):
            return None
        order = () if tuple(found) == KEYS else ("the header's lines are not in PROBEN1's order",)
        return _Head(DtHeader(**found), count, order)


def _header_line(line: str, number: int, found: dict[str, int], problems: Problems) -> None:
    match = HEADER_LINE.fullmatch(line)
    if match is None or match[1] not in KEYS:
        key = shown(line.partition("=")[0].strip(), 40)
        problems.add(number, f'unknown header key "{key}"{hint(key, KEYS)}: the keys are {", ".join(KEYS)}')
        return
    key, value = match[1], match[2]
    if key in found:
        problems.add(number, f"{key} is given twice: leave one out")
    elif not DIGITS.fullmatch(value) or len(value) > MOST_DIGITS:
        problems.add(
            number,
            f'expected a whole number for {key} but got "{shown(value, 40)}": write it like {key}=9',
        )
    else:
        found[key] = int(value)
        return
    found.setdefault(key, 0)


def _counts_agree(header: DtHeader, lines: int, before: int, problems: Problems) -> bool:
    """Whether there is anything to learn, and a line for each example; checked before anything is made."""
    for side, count in (("in", header.inputs), ("out", header.outputs)):
        if not count:
            problems.add(None, f"there are no {side}puts: one of bool_{side} and real_{side} must not be 0")
    if not header.training_examples:
        problems.add(None, "training_examples is 0: there is nothing to learn from")
    if header.examples != lines:
        few = lines < header.examples
        sizes = " + ".join(map(str, header.sizes))
        problems.add(
            before + (lines if few else header.examples + 1),
            f"the header tells of {sizes} = {header.examples} examples, but there are {lines} lines of data: "
            f"{'the file is cut off, or the header wrong' if few else 'correct the header'}",
        )
    return not len(problems)


def _values(header: DtHeader, body: Sequence[str], first: int, problems: Problems) -> Numbers | None:
    """All coefficients, a row for each example."""
    width = header.inputs + header.outputs
    rows = [line.split() for line in body]
    for number, row in enumerate(rows, start=first):
        if len(row) != width:
            problems.add(number, _wrong_width(header, len(row)))
            if len(problems) >= MOST_PROBLEMS:
                break
    if len(problems):
        return None
    known = {text: parse_number(text) for text in set(chain.from_iterable(rows))}
    if bad := {text for text, value in known.items() if value is None}:
        _name_bad_values(header, rows, first, bad, problems)
        return None
    flat = np.fromiter((known[text] for row in rows for text in row), np.float64, len(rows) * width)
    return flat.reshape(len(rows), width)


def _wrong_width(header: DtHeader, count: int) -> str:
    return (
        f"expected {header.inputs + header.outputs} numbers (inputs: {header.inputs}, outputs: "
        f"{header.outputs}, as the header says) but got {count}: correct the line, or the header"
    )


def _name_bad_values(
    header: DtHeader, rows: Sequence[Sequence[str]], first: int, bad: set[str], problems: Problems
) -> None:
    for number, row in enumerate(rows, start=first):
        for place, text in enumerate(row):
            if text in bad:
                problems.add(number, _bad_value(header, place, text), value=shown(text))
                if len(problems) >= MOST_PROBLEMS:
                    return


def _bad_value(header: DtHeader, place: int, text: str) -> str:
    inside = place < header.inputs
    which = f"input {place + 1}" if inside else f"output {place - header.inputs + 1}"
    plain = text.lower().lstrip("+-")
    if plain in ("nan", "?", "na", "null", "none"):
        way_out = (
            "a .dt file has no missing values: give a fixed value and an input that is 1 where the value is "
            "missing (PROBEN1, 2.4), or give redelve the table as .csv"
        )
    else:
        way_out = "values are finite decimal numbers such as 0.25, divided by blanks"
    return f'{which} is "{shown(text, 40)}": {way_out}'


def _cautions(file: DtFile) -> tuple[str, ...]:
    """What an attentive reader would remark; PROBEN1's own files have most of it."""
    header = file.header
    found = [*_not_boolean(file, "in"), *_not_boolean(file, "out"), *_outside(file)]
    for what, booleans, reals in (
        ("inputs", header.bool_in, header.real_in),
        ("outputs", header.bool_out, header.real_out),
    ):
        if booleans and reals:
            found.append(f"some {what} are boolean, some real; in PROBEN1's own files all are of one kind")
    if not header.has_standard_sizes:
        found.append(
            f"the sets have {', '.join(map(str, header.sizes))} examples; 50 %, 25 % and 25 % would be "
            f"{', '.join(map(str, standard_sizes(header.examples)))}"
        )
    return tuple(found)


def _not_boolean(file: DtFile, side: str) -> list[str]:
    values, count = (
        (file.inputs, file.header.bool_in) if side == "in" else (file.outputs, file.header.bool_out)
    )
    odd = ~np.isin(values[:, :count], (0.0, 1.0))
    if not odd.any():
        return []
    row, column = np.argwhere(odd)[0]
    return [
        f"{side}put {column + 1} is declared boolean but has the value {number_text(values[row, column])} "
        f"(line {file.lines[row]}): it is taken as real"
    ]


def _outside(file: DtFile) -> list[str]:
    found = []
    for side, values in (("in", file.inputs), ("out", file.outputs)):
        outside = (values < 0) | (values > 1)
        if outside.any():
            row, column = np.argwhere(outside)[0]
            first = f"{number_text(values[row, column])} of {side}put {column + 1} in line {file.lines[row]}"
            found.append(f"{side}put values outside 0…1: {int(outside.sum())}, the first {first}")
    return found


def number_text(value: float) -> str:
    """The shortest decimal digits that stand for the number, never with an exponent.

    >>> number_text(0.281387), number_text(1.0), number_text(7e-05)
    ('0.281387', '1', '0.00007')
    """
    return np.format_float_positional(value + 0.0, unique=True, trim="-")


def dt_text(file: DtFile) -> str:
    """The file as it is written: reading it again gives the same numbers, to the bit."""
    header = "".join(f"{key}={getattr(file.header, key)}\n" for key in KEYS)
    values = np.hstack([file.inputs, file.outputs]) + 0.0
    if not np.isfinite(values).all():
        row, column = np.argwhere(~np.isfinite(values))[0]
        raise SpecError(
            f"example {row + 1}, coefficient {column + 1} is {values[row, column]}: a .dt file holds finite "
            "numbers only"
        )
    different, places = np.unique(values, return_inverse=True)
    texts = np.array([number_text(value) for value in different.tolist()], dtype=object)[places]
    return header + "".join(" ".join(row) + "\n" for row in texts.reshape(values.shape).tolist())


def write_dt(path: StrPath, file: DtFile) -> None:
    """Write the file at once; compressed if its name ends in .gz."""
    data = dt_text(file).encode()
    name = os.fspath(path)
    if not name.endswith((".dt", ".dt.gz")):
        raise FormatError(path, None, "the name of a PROBEN1 file ends in .dt or .dt.gz: change it")
    write_atomic(path, gzip.compress(data, mtime=0) if name.endswith(".gz") else data)
