"""The catalogue's class: a registry that lists only what can be made here."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from redelve.data.catalogue.carriers import absent_datasets, is_at_hand, require_carrier
from redelve.registry import Registry

Files = Mapping[str, str]
"""A dataset's folder as text: each file's path within the folder (with "/") and its content."""


class Catalogue(Registry[Callable[[], Files]]):
    """Datasets by name; one whose carrier is not installed is not listed, and says so when asked for."""

    def __getitem__(self, name: str) -> Callable[[], Files]:
        require_carrier(name)
        return super().__getitem__(name)

    def __contains__(self, name: object) -> bool:
        return super().__contains__(name) and is_at_hand(str(name))

    def __iter__(self) -> Iterator[str]:
        absent = absent_datasets()
        return (name for name in super().__iter__() if name not in absent)
