"""Registries: one line makes a loss, encoding, dataset or method known by name, here or in another package.

Other packages register by entry points: a group such as `redelve.methods` holds names and "module:attribute".
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from importlib import import_module
from typing import Generic, ParamSpec, TypeVar, cast

from redelve.errors import SpecError, did_you_mean, hint

T = TypeVar("T")
P = ParamSpec("P")
R = TypeVar("R")
INFO = (".dist-info", ".egg-info")


class Registry(Generic[T]):
    """Names and what they stand for; a string "module:name" is imported when first asked for.

    With a `group`, what installed packages registered under it by entry points is known as well. With
    `own_name`, the attribute in which things of this kind say their own name, it must be the name registered.

    >>> colours = Registry[int]("colour")
    >>> colours.add("red", 1)
    >>> colours["red"]
    1
    >>> colours["rde"]
    Traceback (most recent call last):
    redelve.errors.SpecError: unknown colour "rde": known are red (did you mean "red"?)
    """

    def __init__(self, kind: str, group: str | None = None, *, own_name: str | None = None) -> None:
        self.kind = kind
        self.group = group
        self.own_name = own_name
        self.changes = 0
        """How often something was added or removed: what was made of an older state is out of date."""
        self._items: dict[str, T | str] = {}
        self._is_complete = group is None

    def add(self, name: str, item: T | str) -> None:
        """Register `item`; the same name twice is an error."""
        if name in self._items:
            raise SpecError(f'{self.kind} "{name}" is registered twice: choose another name')
        if not isinstance(item, str):
            self._check_name(name, item)
        self._items[name] = item
        self.changes += 1

    def remove(self, name: str) -> None:
        """Forget a name, as to define what it stands for anew in a notebook."""
        if name not in self:
            raise SpecError(self._unknown(name))
        del self._items[name]
        self.changes += 1

    def __getitem__(self, name: str) -> T:
        if name not in self:
            raise SpecError(self._unknown(name))
        item = self._items[name]
        if isinstance(item, str):
            item = self._imported(name, item)
            self._check_name(name, item)
            self._items[name] = item
        return item

    def __contains__(self, name: object) -> bool:
        if name not in self._items:
            self._complete()
        return name in self._items

    def __iter__(self) -> Iterator[str]:
        self._complete()
        return iter(sorted(self._items))

    def items(self) -> Iterator[tuple[str, T]]:
        """The names in their order, and what they stand for."""
        return ((name, self[name]) for name in self)

    def _complete(self) -> None:
        """Add what installed packages have under the group, once."""
        if self._is_complete:
            return
        found: dict[str, T | str] = {}
        for name, place in installed(str(self.group)):
            if (other := self._items.get(name, found.get(name))) is not None:
                where = f" (the other is {other})" if isinstance(other, str) else ""
                raise SpecError(
                    f'{self.kind} "{name}" is registered twice: {place} must choose another name{where}'
                )
            found[name] = place
        self._items.update(found)
        self._is_complete = True

    def _check_name(self, name: str, item: T) -> None:
        own = getattr(item, self.own_name, "") if self.own_name else ""
        if isinstance(own, str) and own not in ("", name):
            raise SpecError(
                f'{self.kind} "{name}" calls itself "{own}": register it under that name, or give it this one'
            )

    def _imported(self, name: str, place: str) -> T:
        module, _, attribute = place.partition(":")
        try:
            return cast(T, getattr(import_module(module), attribute))
        except (ImportError, AttributeError) as error:
            if module.startswith("redelve."):
                raise
            raise SpecError(f'{self.kind} "{name}" cannot be loaded from {place}: {error}') from error

    def _unknown(self, name: str) -> str:
        return f'unknown {self.kind} "{name}": known are {", ".join(self)}{hint(name, self)}'


def installed(group: str) -> list[tuple[str, str]]:
    """The names and places that installed packages registered under the group."""
    if not _any_registers():
        return []
    from importlib.metadata import entry_points  # takes several times as long to import as Python to start

    return sorted({(one.name, one.value) for one in entry_points(group=group)})


def _any_registers() -> bool:
    """Whether any installed package has entry points for redelve, by a look at the files that name them."""
    for place in sys.path:
        try:
            with os.scandir(place or ".") as found:
                if any(
                    _registers(one.path) for one in found if one.name.endswith((".dist-info", ".egg-info"))
                ):
                    return True
        except OSError:
            continue
    return False


def _registers(folder: str) -> bool:
    try:
        with open(f"{folder}/entry_points.txt", "rb") as file:  # noqa: PTH123  (pathlib is slow to import)
            return b"[redelve." in file.read()
    except OSError:
        return False


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


def named_options(function: Callable[P, R]) -> Callable[P, R]:
    """The function, which refuses options that it does not have and tells which one may be meant.

    Python does so itself from 3.13 on. `help` and editors see the function's own parameters.

    >>> @named_options
    ... def assess(methods, *, runs=1): ...
    >>> assess([], run=5)
    Traceback (most recent call last):
    TypeError: assess() has no option 'run': did you mean 'runs'?
    """
    import functools
    import inspect

    parameters = inspect.signature(function).parameters.values()
    known = [one.name for one in parameters if one.kind in (one.POSITIONAL_OR_KEYWORD, one.KEYWORD_ONLY)]

    @functools.wraps(function)
    def checked(*arguments: P.args, **options: P.kwargs) -> R:
        if unknown := [name for name in options if name not in known]:
            raise TypeError("; ".join(_no_option(function.__name__, name, known) for name in unknown))
        return function(*arguments, **options)

    return checked


def _no_option(function: str, name: str, known: Iterable[str]) -> str:
    meant = did_you_mean(name, known)
    told = f"did you mean {meant!r}?" if meant else f"it has {', '.join(known)}"
    return f"{function}() has no option {name!r}: {told}"
