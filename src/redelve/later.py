"""Names that a package takes from its modules only when they are first used, so that importing it is fast."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module


def names_in(package: str, modules: Mapping[str, Sequence[str]]) -> Callable[[str], object]:
    """A package's `__getattr__`, for the names that its modules have."""
    module_of = {name: module for module, names in modules.items() for name in names}

    def load(name: str) -> object:
        if name not in module_of:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = getattr(import_module(f"{package}.{module_of[name]}"), name)
        setattr(sys.modules[package], name, value)
        return value

    return load
