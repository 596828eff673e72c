"""Addresses: the names in a canonical path such as /demo/age/std.128 (manual 1.3, C)."""
# ruff: noqa: PTH119

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import NamedTuple

from redelve.errors import LocationError


def split_address(cpath: str) -> tuple[str, ...]:
    """The names of a canonical path, none of which can lead out of a delve directory.

    >>> split_address("/demo/age"), split_address("/")
    (('demo', 'age'), ())
    """
    if not cpath.startswith("/"):
        raise LocationError(f'bad path "{cpath}": an address starts with "/"')
    names = () if cpath == "/" else tuple(cpath[1:].removesuffix("/").split("/"))
    for name in names:
        if name in ("", ".", "..") or "\0" in name or os.path.basename(name) != name:
            shown = cpath.replace("\0", "\\0")
            raise LocationError(f'bad path "{shown}": no name in it may be empty, ".", ".." or hold a NUL')
    return names


def join_address(names: Sequence[str]) -> str:
    """The canonical path of the names."""
    return "/" + "/".join(names)


class DataAddress(NamedTuple):
    """What a dpath names: the root, a dataset, a prototask or a task."""

    dataset: str | None = None
    prototask: str | None = None
    task: str | None = None

    @classmethod
    def parse(cls, dpath: str) -> DataAddress:
        """The address written as /dataset/prototask/task, or as its beginning."""
        return cls(*_at_most(3, dpath))

    @property
    def names(self) -> tuple[str, ...]:
        """The names there are."""
        return tuple(name for name in self if name is not None)

    def below(self, name: str) -> DataAddress:
        """The address one level further down."""
        return DataAddress.parse(join_address((*self.names, name)))

    def __str__(self) -> str:
        return join_address(self.names)


class MethodAddress(NamedTuple):
    """What an mpath names: the root, a method, or the method's work on a dataset, prototask or task."""

    method: str | None = None
    dataset: str | None = None
    prototask: str | None = None
    task: str | None = None

    @classmethod
    def parse(cls, mpath: str) -> MethodAddress:
        """The address written as /method/dataset/prototask/task, or as its beginning."""
        return cls(*_at_most(4, mpath))

    @property
    def data(self) -> DataAddress:
        """The same without the method."""
        return DataAddress(self.dataset, self.prototask, self.task)

    @property
    def names(self) -> tuple[str, ...]:
        """The names there are."""
        return tuple(name for name in self if name is not None)

    def __str__(self) -> str:
        return join_address(self.names)


def _at_most(count: int, cpath: str) -> tuple[str, ...]:
    names = split_address(cpath)
    if len(names) > count:
        raise LocationError(f'path contains too many directory names: "{cpath}"')
    return names


class TaskName(NamedTuple):
    """A task's own name, taken apart: the prior's name and the size of the training sets."""

    prior: str
    training_set_size: int

    def __str__(self) -> str:
        return f"{self.prior}.{self.training_set_size}"

    @classmethod
    def parse(cls, name: str) -> TaskName | None:
        """The two parts of a name such as `std.128`, or None.

        >>> TaskName.parse("std.128"), TaskName.parse("std"), TaskName.parse("std.08")
        (TaskName(prior='std', training_set_size=128), None, None)
        """
        prior, _, size = name.rpartition(".")
        if not prior or not size.isascii() or not size.isdigit() or size.startswith("0") or len(size) > 15:
            return None
        return cls(prior, int(size))
