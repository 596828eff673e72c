"""Registries: one line makes a loss, encoding, dataset or method known by name."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from typing import Generic, TypeVar, cast

from redelve.errors import SpecError

T = TypeVar("T")


class Registry(Generic[T]):
    """Names and what they stand for; a string "module:name" is imported when first asked for.

    >>> colours = Registry[int]("colour")
    >>> colours.add("red", 1)
    >>> colours["red"]
    1
    >>> colours["rde"]
    Traceback (most recent call last):
    redelve.errors.SpecError: unknown colour "rde": known are red (did you mean "red"?)
    """

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self._items: dict[str, T | str] = {}

    def add(self, name: str, item: T | str) -> None:
        """Register `item`; the same name twice is an error."""
        if name in self._items:
            raise SpecError(f'{self.kind} "{name}" is registered twice: choose another name')
        self._items[name] = item

    def __getitem__(self, name: str) -> T:
        if name not in self._items:
            raise SpecError(self._unknown(name))
        item = self._items[name]
        if isinstance(item, str):
            module, attribute = item.split(":")
            item = cast(T, getattr(import_module(module), attribute))
            self._items[name] = item
        return item

    def __contains__(self, name: object) -> bool:
        return name in self._items

    def __iter__(self) -> Iterator[str]:
        return iter(sorted(self._items))

    def _unknown(self, name: str) -> str:
        import difflib  # only for this message: every command that lists datasets imports this module

        near = difflib.get_close_matches(name, list(self._items), n=1)
        hint = f' (did you mean "{near[0]}"?)' if near else ""
        return f'unknown {self.kind} "{name}": known are {", ".join(self)}{hint}'
