"""The description of a table: a small TOML file that says what each column is, for people to change."""

from __future__ import annotations

import json
import os
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, NoReturn, get_args

from redelve.data.delve.keyed_lines import shown
from redelve.data.files import StrPath, read_text, write_atomic
from redelve.data.tables.first_look import DesignChoice
from redelve.errors import FormatError, LocationError, SpecError
from redelve.model import Scheme, parse_range
from redelve.model.dataset import ORIGINS
from redelve.model.prototask import CATEGORICAL, TYPES

Use = Literal["input", "target", "ignore", "group"]
USES: tuple[Use, ...] = get_args(Use)
Kind = Literal["classification", "regression"]
KINDS: tuple[Kind, ...] = get_args(Kind)
SELECTIONS = (*(name for name in get_args(Scheme) if name != "fixed"), "disjoint", "holdout")
FORMAT = 1
LARGEST_FILE = 16 * 2**20

TOP_KEYS = ("format", "name", "target", "origin", "encoding", "decimal", "missing", "columns", "design")
COLUMN_KEYS = ("use", "type", "range", "levels", "unit", "in_frame")
DIVIDING_KEYS = ("training_set_sizes", "test_set_size", "instances")
FOLDING_KEYS = ("folds", "repetitions", "stratify")
FORWARD_KEYS = ("gap", "by")
DESIGN_KEYS = ("selection", *DIVIDING_KEYS, *FOLDING_KEYS, *FORWARD_KEYS, "order")
MOST_INSTANCES = 10_000
DECIMALS = (".", ",")

BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")
LINE_IN_MESSAGE = re.compile(r" ?\(at (?:line (\d+), column \d+|end of document)\)")


@dataclass(frozen=True)
class ColumnDescription:
    """What one column is: its use and, where it is used, its type and the values it may have.

    What is None is inferred from the table. `reason` is why it was inferred so, a comment in the file.
    A column that is ignored but `in_frame` is shown to estimators and functions, and encoded for nobody.
    """

    name: str
    use: Use
    type: str | None = None
    range: str | None = None
    levels: tuple[str, ...] | None = None
    unit: float | None = None
    reason: str = field(default="", compare=False)
    in_frame: bool = False


@dataclass(frozen=True)
class Description:
    """What a table is about; what it leaves out (a column, the design) is inferred from the table."""

    name: str | None = None
    target: str | None = None
    columns: tuple[ColumnDescription, ...] = ()
    design: DesignChoice | None = None
    origin: str = "natural"
    source: str = field(default="the description", compare=False)
    """The file it was read from, for messages."""
    missing: tuple[str, ...] = ()
    """Codes for missing values, each for all columns or, as in age=-1, for one."""
    encoding: str | None = None
    decimal: str | None = None
    is_nameless: bool = field(default=False, compare=False)
    """Whether its random sets are not to depend on the name, for nobody gave it one."""

    @property
    def named_target(self) -> str | None:
        """The target that it names, one way or the other."""
        columns = (column.name for column in self.columns if column.use == "target")
        return self.target or next(columns, None)

    def column(self, name: str) -> ColumnDescription | None:
        """What is said of the column with this name, if anything."""
        return next((column for column in self.columns if column.name == name), None)


def for_another_target(first: Description, target: str) -> Description:
    """What a description says of the same table when another column is predicted.

    Kept are uses and types; ranges, levels and the design are inferred anew, for other rows may be used.
    """
    kept = [column for column in first.columns if column.name != target and column.use != "target"]
    columns = tuple(ColumnDescription(one.name, one.use, one.type, unit=one.unit) for one in kept)
    return replace(first, target=target, columns=columns, design=None)


# --- writing -----------------------------------------------------------------------------------------------


def write_description(path: StrPath, description: Description) -> None:
    """Write what a table is about to a new file, for people to change.

    Parameters
    ----------
    path
        The file, usually ``.toml``. One that exists is never overwritten.
    description
        What a table is about, as in ``from_file(…).description``.

    Raises
    ------
    RedelveError
        The file exists already and says something else: it may have been edited.

    Notes
    -----
    The file is TOML 1.0, with the reason for every decision as a comment; it appears whole or not at all.
    docs/own-data.md tells what may be changed.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import pandas as pd
    >>> import redelve
    >>> table = pd.DataFrame({"x": [n % 13 for n in range(60)], "y": [n % 7 for n in range(60)]})
    >>> task = redelve.from_frame(table, "y")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_description(Path(folder, "mine.toml"), task.description)
    ...     read_description(Path(folder, "mine.toml")).target
    'y'
    """
    text = format_description(description)
    if Path(path).is_file() and Path(path).read_bytes() == text.encode():
        return  # somebody who began at the same time was quicker
    if Path(path).exists() or Path(path).is_symlink():
        raise LocationError(
            f"{os.fspath(path)}: exists already and may have been edited: read it with read_description, or "
            "remove it to have a new one written"
        )
    write_atomic(path, text)


def format_description(description: Description) -> str:
    """The description as TOML, with the reasons as comments."""
    lines = [
        "# What redelve understood of a table. Change what is wrong: this file is never overwritten.",
        f"# use: {', '.join(USES)}; type: {', '.join(TYPES)}.",
        f"format = {FORMAT}",
    ]
    for key in ("name", "target"):
        if (value := getattr(description, key)) is not None:
            lines.append(f"{key} = {_quoted(value)}")
    lines.append(f"origin = {_quoted(description.origin)}")
    for key in ("encoding", "decimal"):
        if (value := getattr(description, key)) is not None:
            lines.append(f"{key} = {_quoted(value)}")
    if description.missing:
        lines.append(f"missing = {_listed(description.missing)}")
    for column in description.columns:
        lines += ["", f"[columns.{_key(column.name)}]", *_column_lines(column)]
    if description.design is not None:
        lines += ["", "[design]", *_design_lines(description.design)]
    return "\n".join(lines) + "\n"


def _column_lines(column: ColumnDescription) -> list[str]:
    lines = _comments([column.reason] if column.reason else [])
    lines.append(f"use = {_quoted(column.use)}")
    if column.type is not None:
        lines.append(f"type = {_quoted(column.type)}")
    if column.range is not None:
        lines.append(f"range = {_quoted(column.range)}")
    if column.levels is not None:
        lines.append(f"levels = {_listed(column.levels)}")
    if column.unit is not None:
        lines.append(f"unit = {float(column.unit)!r}")
    if column.in_frame:
        lines.append("in_frame = true  # estimators and functions get it as it is; false: nobody does")
    return lines


def _design_lines(design: DesignChoice) -> list[str]:
    lines = [*_comments(design.reasons), f"selection = {_quoted(design.selection)}"]
    if design.is_cross_validation:
        lines += [f"folds = {design.folds}", f"repetitions = {design.repetitions}"]
        lines.append(f"stratify = {str(bool(design.stratify)).lower()}")
    else:
        lines.append(f"training_set_sizes = {list(design.training_set_sizes)}")
        lines += [f"test_set_size = {design.test_set_size}", f"instances = {design.instances}"]
    if design.is_forward:
        lines += [f"by = {_quoted(design.by)}"] if design.by is not None else []
        return [*lines, f"gap = {design.gap}  # cases between what trains and what tests"]
    return [*lines, f"order = {_quoted(design.order)}  # another name, another random order"]


def _comments(sentences: tuple[str, ...] | list[str]) -> list[str]:
    printable = ("".join(c if c.isprintable() else " " for c in sentence) for sentence in sentences)
    return [f"# {sentence[:1].upper()}{sentence[1:]}." for sentence in printable]


def _listed(levels: tuple[str, ...]) -> str:
    on_one_line = f"[{', '.join(map(_quoted, levels))}]"
    if len(on_one_line) <= 100:
        return on_one_line
    return "[\n" + "".join(f"  {_quoted(level)},\n" for level in levels) + "]"


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _key(name: str) -> str:
    return name if BARE_KEY.fullmatch(name) else _quoted(name)


# --- reading -----------------------------------------------------------------------------------------------


def read_description(path: StrPath) -> Description:
    """Read what a table is about from a file that `write_description` wrote, or that you did.

    Parameters
    ----------
    path
        The TOML file.

    Returns
    -------
    Description
        What to give as ``description`` to `task`, `from_file` or `from_frame`.

    Raises
    ------
    RedelveError
        The file is not there, or a key or value is not allowed; the message names the line.

    Notes
    -----
    Every key and value is checked. What the file leaves out, a column or the design, redelve infers
    from the table (docs/own-data.md).

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> import redelve
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "mine.toml")
    ...     _ = path.write_text('target = "price"\\n[columns.id]\\nuse = "ignore"\\n')
    ...     description = read_description(path)
    >>> description.target, [(column.name, column.use) for column in description.columns]
    ('price', [('id', 'ignore')])
    """
    return parse_description(read_text(path, limit=LARGEST_FILE), os.fspath(path))


def parse_description(text: str, path: str = "description") -> Description:
    """The description in `text`; `path` is for messages."""
    try:
        entries = tomllib.loads(text)
    except (ValueError, RecursionError) as problem:  # no TOML, or a number with too many digits
        place = LINE_IN_MESSAGE.search(str(problem))
        line = int(place[1]) if place and place[1] else None
        cause = LINE_IN_MESSAGE.sub("", str(problem))
        raise FormatError(path, line, shown(f"not TOML: {cause[:1].lower()}{cause[1:]}", 400)) from None
    return _described(_Entries(path, text, (), entries))


def _described(top: _Entries) -> Description:
    version = top.values.get("format", FORMAT)
    if version != FORMAT or isinstance(version, bool):
        top.fail("format", f"this version of redelve reads format {FORMAT} but got {version!r}")
    top.check_keys(TOP_KEYS)
    columns = top.table("columns")
    return Description(
        top.text("name"),
        top.text("target"),
        tuple(_column(name, columns.table(name)) for name in columns.values),
        _design(top.table("design")) if "design" in top.values else None,
        top.choice("origin", ORIGINS) or "natural",
        top.path,
        top.texts("missing") or (),
        top.text("encoding"),
        top.choice("decimal", DECIMALS),
    )


def _column(name: str, entries: _Entries) -> ColumnDescription:
    entries.check_keys(COLUMN_KEYS)
    column = ColumnDescription(
        name,
        entries.choice("use", USES) or "input",
        entries.choice("type", TYPES),
        entries.text("range"),
        entries.texts("levels"),
        entries.positive("unit"),
        in_frame=entries.flag("in_frame"),
    )
    if column.in_frame and column.use != "ignore":
        entries.fail("in_frame", 'it goes with use = "ignore" and no other: inputs are in the frame anyway')
    if column.range is not None:
        _check_range(column, entries)
    if column.levels is not None:
        _check_levels(column, entries)
    if (column.unit is None) == (column.type == "angular"):
        entries.fail("unit", "the length of a full turn, such as 360.0, goes with type angular and no other")
    return column


def _check_range(column: ColumnDescription, entries: _Entries) -> None:
    if column.type in CATEGORICAL or column.levels is not None:
        entries.fail("range", 'a range is for numbers: give the values of categories as levels = ["a", "b"]')
    try:
        parse_range(column.range or "")
    except SpecError as problem:
        entries.fail("range", str(problem))


def _check_levels(column: ColumnDescription, entries: _Entries) -> None:
    levels = column.levels or ()
    if column.type is not None and column.type not in CATEGORICAL:
        entries.fail("levels", f"levels are for categories, but the type is {column.type}: give a range")
    if len(set(levels)) < max(len(levels), 2):
        entries.fail("levels", "list two levels or more, each of them once")


def _design(entries: _Entries) -> DesignChoice:
    entries.check_keys(DESIGN_KEYS)
    selection = entries.choice("selection", SELECTIONS)
    if selection is None:
        entries.fail("selection", f"it is missing: give {', '.join(SELECTIONS)}")
    order = entries.text("order") or "standard"
    if selection != "time":
        entries.refuse(FORWARD_KEYS, selection)
    if selection in ("cross-validation", "nested-cross-validation"):
        is_nested = selection == "nested-cross-validation"
        entries.refuse(DIVIDING_KEYS, selection)
        folds, repetitions = entries.whole("folds", 3 if is_nested else 2), entries.whole("repetitions", 1)
        stratify = entries.flag("stratify") if "stratify" in entries.values else None
        return DesignChoice(selection, folds=folds, repetitions=repetitions, stratify=stratify, order=order)
    entries.refuse(FOLDING_KEYS, selection)
    sizes, instances = entries.wholes("training_set_sizes"), entries.whole("instances", 1)
    tested = entries.whole("test_set_size", 1, most=10**12)
    gap, by = entries.whole("gap", 0, most=10**12), entries.text("by")
    return DesignChoice(selection, sizes, tested, instances, order=order, gap=gap, by=by)


@dataclass(frozen=True)
class _Entries:
    """Typed access to one table of a file; errors name the file, the line and the key."""

    path: str
    source: str
    place: tuple[str, ...]
    values: Mapping[str, Any]

    def fail(self, key: str, message: str) -> NoReturn:
        """Raise an error about a key."""
        name = ".".join(_key(part) for part in (*self.place, key))
        line = _line_of(self.source, self.place, key)
        raise FormatError(self.path, line, shown(f"{name}: {message}", 400))

    def _wrong(self, key: str, expected: str) -> NoReturn:
        value = self.values.get(key)
        got = "nothing" if value is None else json.dumps(value, default=str, ensure_ascii=False)[:60]
        self.fail(key, f"expected {expected} but got {got}")

    def check_keys(self, known: tuple[str, ...]) -> None:
        """Refuse keys that mean nothing here."""
        for key in self.values:
            if key not in known:
                self.fail(key, f"unknown key; known here are {', '.join(known)}")

    def refuse(self, keys: tuple[str, ...], selection: str) -> None:
        """Refuse keys that belong to another kind of design."""
        for key in keys:
            if key in self.values:
                self.fail(key, f"this does not go with selection {selection}: leave it out")

    def table(self, key: str) -> _Entries:
        """A table, empty if it is left out."""
        value = self.values.get(key, {})
        if not isinstance(value, dict):
            self._wrong(key, "a table in brackets")
        return _Entries(self.path, self.source, (*self.place, key), value)

    def text(self, key: str) -> str | None:
        """A text that is not empty, or None if it is left out."""
        value = self.values.get(key)
        if value is not None and (not isinstance(value, str) or not value.strip()):
            self._wrong(key, "a text in quotes")
        return value

    def choice(self, key: str, allowed: tuple[Any, ...]) -> Any:
        """One of several words, or None if it is left out."""
        value = self.values.get(key)
        if value is not None and value not in allowed:
            self._wrong(key, f"one of {', '.join(allowed)}")
        return value

    def texts(self, key: str) -> tuple[str, ...] | None:
        """A list of texts, or None if it is left out."""
        value = self.values.get(key)
        if value is None:
            return None
        if not isinstance(value, list) or not all(isinstance(item, str) and item.strip() for item in value):
            self._wrong(key, "a list of texts in quotes, none of them empty,")
        return tuple(value)

    def positive(self, key: str) -> float | None:
        """A number above 0, or None if it is left out."""
        value = self.values.get(key)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < 1e300:
            self._wrong(key, "a number above 0")
        return float(value)

    def whole(self, key: str, least: int, *, most: int = MOST_INSTANCES) -> int:
        """A whole number, 0 if it is left out."""
        value = self.values.get(key)
        if value is None:
            return 0
        if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
            self._wrong(key, f"a whole number from {least} to {most}")
        return value

    def wholes(self, key: str) -> tuple[int, ...]:
        """A list of different whole numbers above 0, empty if it is left out."""
        value = self.values.get(key)
        if value is None:
            return ()
        is_list = isinstance(value, list) and len(value) > 0
        if not is_list or not all(type(item) is int and 0 < item < 10**12 for item in value or ()):
            self._wrong(key, "a list of whole numbers above 0 like [64, 128]")
        if len(set(value or ())) < len(value or ()):
            self._wrong(key, "each size once")
        return tuple(value or ())

    def flag(self, key: str) -> bool:
        """True or false; false if it is left out."""
        value = self.values.get(key, False)
        if not isinstance(value, bool):
            self._wrong(key, "true or false")
        return value


def _line_of(text: str, place: tuple[str, ...], key: str) -> int | None:
    """The line on which a key is given, as far as simple TOML goes; else that of its table."""
    current: tuple[str, ...] = ()
    table_line = None
    for number, line in enumerate(text.split("\n"), start=1):
        if line.lstrip().startswith("["):
            current = _path_in(line) or current
            if current in (place, (*place, key)):
                table_line = number
        elif current == place and "=" in line and _path_in(line.split("=", 1)[0] + "= 0") == (key,):
            return number
    return table_line


def _path_in(line: str) -> tuple[str, ...]:
    """The names in a table's header or before an equals sign; empty if there are none."""
    try:
        entries: Any = tomllib.loads(line)
    except (ValueError, RecursionError):
        return ()
    names = []
    while isinstance(entries, dict) and entries:
        name, entries = next(iter(entries.items()))
        names.append(name)
    return tuple(names)
