"""One delve directory: its two parts, and what of the built-in one is still to be generated."""
# ruff: noqa: PTH103, PTH110, PTH112, PTH113, PTH118, PTH119, PTH208
# Every command imports this, and pathlib alone takes half as long as Python itself to start.

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Literal, NamedTuple

from redelve.data.catalogue import CATALOGUE
from redelve.data.compressed_names import ENDINGS, plain_name
from redelve.errors import LocationError, reason_of
from redelve.registry import Registry

Part = Literal["data", "methods"]
BUILT_IN: Registry[Mapping[str, str]] = Registry("part of the built-in directory")
BUILT_IN.add("methods", "redelve.methods.builtin.summaries:SUMMARIES")  # a name, for methods come after data
PARTS: tuple[Part, ...] = ("data", "methods")


def is_delve_directory(path: str) -> bool:
    """Whether the name starts with "delve" and the directory has the parts `data` and `methods`."""
    named = os.path.basename(path).startswith("delve")
    return named and all(os.path.isdir(os.path.join(path, part)) for part in PARTS)


def within_root(path: str) -> tuple[Part, tuple[str, ...]] | None:
    """The part of a delve directory that an absolute true path is in, and the names that follow it."""
    names: list[str] = []
    head, name = os.path.split(path)
    while name:
        for part in PARTS:
            if name == part and is_delve_directory(head):
                return part, tuple(reversed(names))
        names.append(name)
        head, name = os.path.split(head)
    return None


def exists(path: str) -> bool:
    """Whether there is something at `path`, or a compressed file that stands for it."""
    return os.path.exists(path) or any(os.path.isfile(path + ending) for ending in ENDINGS)


class Root(NamedTuple):
    """A delve directory; the built-in one also has, in waiting, all that redelve can generate."""

    path: str
    is_builtin: bool = False

    def folder(self, part: Part, names: Sequence[str] = ()) -> str:
        """The true path that the names have, or would have, in this root."""
        return os.path.join(self.path, part, *names)

    def waiting(self, part: Part) -> list[str]:
        """The datasets or methods that will be generated when something in them is first asked for."""
        if not self.is_builtin:
            return []
        return list(CATALOGUE) if part == "data" else list(BUILT_IN["methods"])

    def has(self, part: Part, names: Sequence[str]) -> bool:
        """Whether the names lead to something, generated or waiting."""
        if exists(self.folder(part, names)):
            return True
        return len(names) < 2 and self.is_builtin and (not names or names[0] in self.waiting(part))

    def generate(self, part: Part, names: Sequence[str]) -> None:
        """Put the dataset or method that the names begin with into place, if it is still waiting."""
        if not names or os.path.isdir(self.folder(part, names[:1])) or names[0] not in self.waiting(part):
            return
        from redelve.data.catalogue.materialise import made_files, write_folder  # listing needs none

        name = names[0]
        files = made_files(name, CATALOGUE[name]) if part == "data" else {"Summary": BUILT_IN[part][name]}
        write_folder(files, self.folder(part, names[:1]))
        with suppress(OSError):  # the other part, without which this would not look like a delve directory
            os.makedirs(self.folder("methods" if part == "data" else "data"), exist_ok=True)

    def defines(self, names: Sequence[str], specification: str) -> bool:
        """Whether a dataset or prototask is specified here, rather than only added to."""
        folder = self.folder("data", names)
        if len(names) != 1 or os.path.isdir(folder):
            return exists(os.path.join(folder, specification))
        return names[0] in self.waiting("data")

    def listdir(self, part: Part, names: Sequence[str]) -> list[str]:
        """What the directory holds, in ASCII order, without hidden files and without endings like .gz."""
        folder = self.folder(part, names)
        try:
            found = os.listdir(folder) if os.path.isdir(folder) else []
        except OSError as error:
            raise LocationError(f'can\'t read directory "{folder}": {reason_of(error)}') from error
        seen = {self._plain(folder, name) for name in found if not name.startswith(".")}
        return sorted(seen.union([] if names else self.waiting(part)))

    @staticmethod
    def _plain(folder: str, name: str) -> str:
        plain = plain_name(name)
        return name if plain == name or os.path.isdir(os.path.join(folder, name)) else plain
