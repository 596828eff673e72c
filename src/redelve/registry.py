"""Registries: one line makes a loss, encoding, dataset or method known by name, here or in another package.

Other packages register by entry points: a group such as `redelve.methods` holds names and "module:attribute".
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache
from importlib import import_module
from typing import Any, Generic, NamedTuple, ParamSpec, TypeGuard, TypeVar, cast

from redelve.errors import ANY_FAULT, SpecError, did_you_mean, fault_told, hint

T = TypeVar("T")
P = ParamSpec("P")
R = TypeVar("R")
INFO = (".dist-info", ".egg-info")
LONGEST_VALUE = 60
"""Characters of a value in a message."""
MOST_BITS = sys.float_info.max_exp - 1
"""Of a whole number; a larger one is no float, and one of 4,300 digits can't even be written."""
HALF = "[\ud800-\udfff]"
HALF_IN_NO_PATH = "[\ud800-\udc7f\udd00-\udfff]"
"""Python has the others in the place of bytes of a file's name that are no UTF-8.

Both are compiled where they are used, for every command imports this module.
"""


class _Fault(NamedTuple):
    """Why what is registered is of no use, and the error that told it."""

    told: str
    cause: BaseException | None = None


class Registry(Generic[T]):
    """Names and what they stand for; a string "module:name" is imported when first asked for.

    With a `group`, what installed packages registered under it by entry points is known as well. With
    `own_name`, the attribute in which things of this kind say their own name, it must be the name registered;
    with `of`, things must be of that kind. What cannot be loaded is an error for who asks for it by name;
    `items` leaves it out with a warning. Another package is tried once, what was added by hand each time.

    >>> colours = Registry[int]("colour")
    >>> colours.add("red", 1)
    >>> colours["red"]
    1
    >>> colours["rde"]
    Traceback (most recent call last):
    redelve.errors.SpecError: unknown colour "rde": known are red (did you mean "red"?)
    """

    def __init__(
        self, kind: str, group: str | None = None, *, own_name: str = "", of: ValueKind | None = None
    ) -> None:
        self.kind = kind
        self.group = group
        self.own_name = own_name
        self.of = of
        self.changes = 0
        """How often something was added or removed: what was made of an older state is out of date."""
        self._items: dict[str, T | str | _Fault] = {}
        self._installed: dict[str, T | str | _Fault] | None = None if group else {}
        """What was found by entry points; None until somebody looks."""
        self._told: set[str] = set()

    def add(self, name: str, item: T | str) -> None:
        """Register `item`; the same name twice is an error."""
        if not isinstance(name, str) or not name:
            raise SpecError(f"{value_told(name)} is no name of a {self.kind}: give a text that is not empty")
        if name in self._items or name in (self._installed or {}):
            raise SpecError(f'{self.kind} "{name}" is registered twice: choose another name')
        if not isinstance(item, str) and (fault := self._fault(name, item)):
            raise SpecError(f'{self.kind} "{name}" {fault}')
        self._items[name] = item
        self.changes += 1

    def remove(self, name: str) -> None:
        """Forget a name, as to define what it stands for anew in a notebook."""
        kept = self._kept(name)
        if name not in kept:
            raise SpecError(self._unknown(name))
        del kept[name]
        self.changes += 1

    def __getitem__(self, name: str) -> T:
        item = self._found(name)
        if isinstance(item, _Fault):
            raise SpecError(item.told) from item.cause
        return item

    def __contains__(self, name: object) -> bool:
        return name in self._kept(name)

    def __iter__(self) -> Iterator[str]:
        return iter(sorted({*self._items, *self._others()}))

    def items(self) -> Iterator[tuple[str, T]]:
        """The names in their order, and what they stand for."""
        for name in self:
            item = self._found(name)
            if isinstance(item, _Fault):
                self._warn(item.told)
            else:
                yield name, item

    def _found(self, name: str) -> T | _Fault:
        kept = self._kept(name)
        if name not in kept:
            raise SpecError(self._unknown(name))
        item = kept[name]
        if isinstance(item, str):
            item = self._loaded(name, item)
            if kept is self._installed or not isinstance(item, _Fault):
                kept[name] = item
        return item

    def _kept(self, name: object) -> dict[str, T | str | _Fault]:
        """Where the name is, if it is anywhere; packages are looked for only if it is not redelve's own."""
        return self._items if name in self._items else self._others()

    def _others(self) -> dict[str, T | str | _Fault]:
        """What installed packages have under the group; a name that is taken stays whose it is.

        It is kept when it is whole, for another thread may ask meanwhile. That one looks, too, and finds the
        same; a lock would stay locked in a process that is forked meanwhile.
        """
        if self._installed is not None:
            return self._installed
        found: dict[str, T | str | _Fault] = {}
        places: dict[str, str] = {}
        taken = []
        for name, place in installed(str(self.group)):
            told = f'{self.kind} "{name}" of {place} is left out: the name is taken'
            if name in self._items:
                taken.append(f"{told}; {self._way_out(name, place)}")
            elif (first := places.setdefault(name, place)) != place:
                told = f'{self.kind} "{name}" is registered twice, by {first} and {place}'
                found[name] = _Fault(f"{told}; {self._way_out(name, place)}")
            else:
                found[name] = place
        if self._installed is None:
            self._installed = found
        for told in taken:
            self._warn(told)
        return self._installed

    def _warn(self, told: str) -> None:
        """Say once what is left out."""
        if told not in self._told:
            import warnings  # not loaded by every command

            self._told.add(told)
            warnings.warn(told, stacklevel=3)

    def _fault(self, name: str, item: object) -> str:
        """What is wrong with a thing, if anything."""
        if self.of is not None and not self.of.has(item):
            return f"is {value_told(item)}, not {self.of.words}"
        own = getattr(item, self.own_name, "") if self.own_name else ""
        if isinstance(own, str) and own not in ("", name):
            return f'calls itself "{own}": register it under that name, or give it this one'
        return ""

    def _loaded(self, name: str, place: str) -> T | _Fault:
        """What is at the place, or why that is of no use."""
        module, _, attribute = place.partition(":")
        cause: BaseException | None = None
        try:
            item = cast(T, getattr(import_module(module), attribute))
            if fault := self._fault(name, item):
                fault += f" ({place})"
        except ANY_FAULT as error:
            if module.startswith("redelve."):
                raise
            cause, fault = error, f"cannot be loaded from {place}: {fault_told(error)}"
        if not fault:
            return item
        by_hand = f'mend the module {module}, or remove "{name}"'
        way_out = by_hand if name in self._items else self._way_out(name, place)
        return _Fault(f'{self.kind} "{name}" {fault}; {way_out}', cause)

    def _way_out(self, name: str, place: str) -> str:
        from importlib.metadata import entry_points

        found = (one.dist for one in entry_points(group=str(self.group), name=name) if one.value == place)
        package = next((one.name for one in found if one), place.partition(":")[0].partition(".")[0])
        return f"mend or uninstall the package {package}"

    def _unknown(self, name: str) -> str:
        return f'unknown {self.kind} "{name}": known are {", ".join(self)}{hint(str(name), self)}'


def installed(group: str) -> list[tuple[str, str]]:
    """The names and places that installed packages registered under the group."""
    if not _any_registers():
        return []
    from importlib.metadata import entry_points  # takes several times as long to import as Python to start

    return sorted({(one.name, one.value) for one in entry_points(group=group)})


def _any_registers() -> bool:
    """Whether any installed package has entry points for redelve, by a look at the files that name them.

    Every listing of datasets asks this, so it keeps to the cheapest calls, and out of Python's own library.
    """
    own = os.path.dirname(os.__file__)  # noqa: PTH120  (pathlib is slow to import)
    for place in sys.path:
        if place in (own, f"{own}/lib-dynload"):
            continue
        try:
            with os.scandir(place or ".") as found:
                if any(_registers(one.path) for one in found if one.name.endswith(INFO)):
                    return True
        except OSError:
            continue
    return False


def _registers(folder: str) -> bool:
    path = f"{folder}/entry_points.txt"
    if not os.access(path, os.R_OK):  # most packages have none: an error for each takes longer
        return False
    file = os.open(path, os.O_RDONLY)
    try:
        return b"[redelve." in os.read(file, os.fstat(file).st_size)
    finally:
        os.close(file)


def stub_name(package: str, name: str) -> object:
    """A name that a package's `__init__.pyi` imports, or `__all__`; for the package's `__getattr__`.

    The stub is the only list of names: type checkers read it, and so does this when the first name is used.
    """
    module = sys.modules[package]
    places = _places(package)
    if name == "__all__":
        value: object = sorted(places)
    elif name in places:
        value = getattr(import_module(places[name]), name)
    else:
        raise AttributeError(f"module {package!r} has no attribute {name!r}", name=name, obj=module)
    setattr(module, name, value)
    return value


@cache
def _places(package: str) -> dict[str, str]:
    """The names in a package's stub, and the modules where they are."""
    import ast
    from pkgutil import get_data

    tree = ast.parse(get_data(package, "__init__.pyi") or b"")
    imports = [node for node in tree.body if isinstance(node, ast.ImportFrom)]
    return {alias.name: str(node.module) for node in imports for alias in node.names}


def named_options(function: Callable[P, R], *, takes_any: bool = False) -> Callable[P, R]:
    """The function, which refuses options that it does not have and values that are of no kind it takes.

    It tells which option may be meant (Python does so itself from 3.13 on), and what to give. `help` and
    editors see the function's own parameters. With `takes_any` the function sees to values itself.

    >>> @named_options
    ... def assess(methods, *, runs=1): ...
    >>> assess([], run=5)
    Traceback (most recent call last):
    TypeError: assess() has no option 'run': did you mean 'runs'?
    >>> @named_options
    ... def gate(new, *, looks: int = 1): ...
    >>> gate([], looks="x")
    Traceback (most recent call last):
    redelve.errors.SpecError: looks='x': gate() takes a whole number
    """
    import functools
    import inspect

    parameters = inspect.signature(function).parameters.values()
    known = [one.name for one in parameters if one.kind in (one.POSITIONAL_OR_KEYWORD, one.KEYWORD_ONLY)]
    checked_ones = () if takes_any else parameters
    takes = {one.name: kinds for one in checked_ones if (kinds := kinds_named(str(one.annotation)))}
    called = function.__qualname__.split(".")[-2 if function.__name__ == "__init__" else -1]

    @functools.wraps(function)
    def checked(*arguments: P.args, **options: P.kwargs) -> R:
        if unknown := [name for name in options if name not in known]:
            raise TypeError("; ".join(_no_option(called, name, known) for name in unknown))
        for name, value in (*zip(known, arguments, strict=False), *options.items()):
            if name in takes and not any(
                kind.has(value) for kind in reversed(takes[name])
            ):  # None comes last
                raise _not_of_kind(name, value, takes[name], f"{called}() takes")
            _check_contents(name, value, takes.get(name, ()))
        return function(*arguments, **options)

    return checked


def named_fields(kind: type[T]) -> type[T]:
    """The dataclass, with refusals as of `named_options`; one with `__post_init__` sees to values there."""
    made = named_options(getattr(kind, "__init__"), takes_any=hasattr(kind, "__post_init__"))  # noqa: B009
    setattr(kind, "__init__", made)  # noqa: B010 (mypy)
    return kind


def _no_option(function: str, name: str, known: Iterable[str]) -> str:
    meant = did_you_mean(name, known)
    told = (
        f"did you mean {meant!r}?" if meant else f"it has {', '.join(one for one in known if one != 'self')}"
    )
    return f"{function}() has no option {name!r}: {told}"


def _check_contents(name: str, value: object, kinds: Sequence[ValueKind]) -> None:
    """Refuse what no file, message or float can hold, in a value or in a list of them."""
    may_be_path = not kinds or VALUE_KINDS["os.PathLike[str]"] in kinds
    halves = HALF_IN_NO_PATH if may_be_path else HALF
    for one in value if isinstance(value, list | tuple) else [value]:
        if isinstance(one, str) and (half := re.search(halves, one)):
            told = f"{ascii(half[0])[1:-1]} is half a character, which can't be written: leave it out"
            raise SpecError(f"{name}={value_told(value)}: {told}")
        if isinstance(one, int) and one.bit_length() > MOST_BITS:
            raise SpecError(f"{name} is a number of {one.bit_length():,} bits: give one below 1e308")


class ValueKind(NamedTuple):
    """What a value may be, in words and as a test."""

    words: str
    has: Callable[[object], bool]


def is_subclass_of(kind: type) -> Callable[[object], bool]:
    """Whether a thing is a class of that kind."""
    return lambda value: isinstance(value, type) and issubclass(value, kind)


def _is_flag(value: object) -> bool:
    return type(value).__name__ in ("bool", "bool_") or (isinstance(value, int) and value in (0, 1))


def _is_number(value: object) -> bool:
    from numbers import Real  # here and below: DELVE's commands start without it

    return isinstance(value, Real)


def _is_integral(value: object) -> bool:
    from numbers import Integral

    return isinstance(value, Integral)


def _is_list_of(kind: ValueKind) -> Callable[[object], bool]:
    return lambda value: _is_list(value) and all(map(kind.has, value))


def _is_list(value: object) -> TypeGuard[Collection[object]]:
    """Whether it has members one after the other and can be looked at twice: an array with one axis, too."""
    is_one = isinstance(value, str | bytes | Mapping) or getattr(value, "ndim", 1) != 1
    return isinstance(value, Collection) and not is_one


def _is_list_of_pairs(value: object) -> bool:
    return _is_list(value) and all(
        _is_list_of(A_TEXT)(one) and len(cast(str, one)) == len("ab") for one in value
    )


def each_of(value: object) -> tuple[Any, ...]:
    """The members of a list, or the value alone: a text is one, whatever its letters are.

    >>> each_of("ab"), each_of(["ab", "c"]), each_of(3)
    (('ab',), ('ab', 'c'), (3,))
    """
    return tuple(value) if _is_list(value) else (value,)


def is_iterable(value: object) -> TypeGuard[Iterable[Any]]:
    """Whether it has members to look at, once at least; an array without axes says so wrongly."""
    return isinstance(value, Iterable) and getattr(value, "ndim", 1) > 0


def _is_called(name: str) -> Callable[[object], bool]:
    """Whether it is of a class of that name, which need not be imported for that."""
    return lambda value: any(one.__name__ == name for one in type(value).__mro__)


A_TEXT = ValueKind("a text", lambda value: isinstance(value, str))
A_WHOLE_NUMBER = ValueKind("a whole number", lambda value: isinstance(value, int) or _is_integral(value))
VALUE_KINDS = {
    "None": ValueKind("None", lambda value: value is None),
    "bool": ValueKind("True or False", _is_flag),
    "str": A_TEXT,
    "int": A_WHOLE_NUMBER,
    "float": ValueKind("a number", _is_number),
    "UnitsOfScore": ValueKind("a number in units of the score, such as 0.01", _is_number),
    "os.PathLike[str]": ValueKind("a path", lambda value: isinstance(value, os.PathLike)),
    "tuple[float, float]": ValueKind("two numbers, as (0, 1)", lambda value: isinstance(value, list | tuple)),
    "Sequence[str]": ValueKind("a list of texts", _is_list_of(A_TEXT)),
    "Sequence[tuple[str, str]]": ValueKind("a list of pairs of names", _is_list_of_pairs),
    "Iterable[str]": ValueKind(
        "a list of texts", lambda value: is_iterable(value) and not isinstance(value, str | bytes)
    ),
    "Sequence[int]": ValueKind("a list of whole numbers", _is_list_of(A_WHOLE_NUMBER)),
    "Labels": ValueKind("a label for each case", _is_list),
    "Progress": ValueKind("a function", callable),
    "Limits": ValueKind("Limits(…)", _is_called("Limits")),
    "Margin": ValueKind("a Margin", _is_called("Margin")),
    "Results": ValueKind("Results, as Archive.open(folder).load() gives", _is_called("Results")),
    "DesignChoice": ValueKind("a design", _is_called("DesignChoice")),
    "Description": ValueKind("a description", _is_called("Description")),
    "Mapping[str, str]": ValueKind("a dictionary", lambda value: isinstance(value, Mapping)),
    "Mapping[str, int]": ValueKind("a dictionary", lambda value: isinstance(value, Mapping)),
}
"""By the annotation; parameters with an annotation that is not here see to their values themselves."""
OF_OTHER_NAME = {
    "StrPath": "str | os.PathLike[str]",
    "NamesLike": "str | Sequence[str]",
    "BudgetLike": "float | str",
    "MarginLike": "Margin | str | float",
    "SizesLike": "int | Sequence[int] | None",
    "Missing": "str",
    "Kind": "str",
    "LimitsLike": "tuple[float, float] | str",
}


def kinds_named(annotation: str) -> tuple[ValueKind, ...]:
    """The kinds of value that an annotation allows; none if it names any that is not known here."""
    whole = " | ".join(OF_OTHER_NAME.get(one, one) for one in annotation.split(" | "))
    names = whole.split(" | ")
    return tuple(VALUE_KINDS[one] for one in names) if all(one in VALUE_KINDS for one in names) else ()


def check_kind(name: str, value: object, kinds: Sequence[ValueKind]) -> None:
    """Refuse a value that is of none of these kinds."""
    if not any(kind.has(value) for kind in kinds):
        raise _not_of_kind(name, value, kinds, "give")
    _check_contents(name, value, kinds)


def _not_of_kind(name: str, value: object, kinds: Sequence[ValueKind], takes: str) -> SpecError:
    return SpecError(f"{name}={value_told(value)}: {takes} {' or '.join(kind.words for kind in kinds)}")


def value_told(value: object) -> str:
    """A value as a message shows it, or what it is where that would be long, tell nothing or fail.

    >>> value_told("x"), value_told(10**5000), value_told(object())
    ("'x'", 'a int', 'a object')
    """
    try:
        text = " ".join(repr(value).split())
    except Exception:
        return f"a {type(value).__name__}"
    return f"a {type(value).__name__}" if len(text) > LONGEST_VALUE or " at 0x" in text else text
