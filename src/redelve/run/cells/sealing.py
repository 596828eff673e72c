"""A method as bytes, which only its cell opens; and which installed libraries its cell begins with.

A cell is forked from a process that has loaded libraries, so that it need not load them itself. What that
process has loaded reaches every cell, so it loads modules of a fixed list of packages only, never a module of
a method's: that is imported by its own cell, every time. Which modules these are follows from the method
alone: neither what other methods need nor what a cell reports changes them.
"""

from __future__ import annotations

import pickletools
import sys
import warnings
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

from redelve.errors import SpecError
from redelve.methods.adapters.program import Program
from redelve.methods.contract import Method
from redelve.run.cells.limits_and_outcome import Limits

LARGE = frozenset(("joblib", "pandas", "scipy", "sklearn"))
BUILT_IN = frozenset(("numpy", "redelve", "threadpoolctl")) | LARGE
"""Packages that a cell may find loaded: importing them changes nothing for others and begins no threads."""
APART = frozenset(("catboost", "lightgbm", "polars", "pyarrow", "statsmodels", "torch", "xgboost"))
"""Packages that take long to import; found loaded by cells of methods that use them, and by no others."""
WITH_EFFECTS = frozenset(("experimental", "conftest", "tests", "testing", "_testing"))
"""Parts of these packages whose import does change something, or that no method needs."""
LONGEST_NAME = 100
MOST_MODULES = 1000
"""So many are looked at, at most, for what they import."""


@dataclass(frozen=True)
class SealedMethod:
    """A method as bytes: no code of its own runs where it is only carried."""

    content: bytes = field(repr=False)
    kind: str
    modules: tuple[str, ...]
    """What its cells find loaded, of packages that are built in."""
    apart: tuple[str, ...]
    """What its cells find loaded of other packages; cells that find others have another ancestor."""
    own: tuple[str, ...]
    """Modules of other packages that it is made of, which its cells import themselves."""
    is_program: bool = False
    """Whether it is a program, which its adapter confines: it needs files of its own."""

    @property
    def ancestor(self) -> tuple[str, ...]:
        """What tells its cells' ancestor from others: a small one is forked five times as fast."""
        large = [name for name in self.modules if name.partition(".")[0] in LARGE]
        return (*self.apart, *(("large",) if large else ()))


def sealed(method: Method | SealedMethod) -> SealedMethod:
    """The method as bytes; a SpecError where it can't be had so."""
    if isinstance(method, SealedMethod):
        return method
    import cloudpickle

    kind = type(method).__name__
    try:
        content = cloudpickle.dumps(method)
    except Exception as error:
        raise SpecError(
            f"{kind} can't be sent to another process: {type(error).__name__}: {error}; "
            "give it settings that can be pickled, or Limits(isolated=False) and no other limits"
        ) from error
    named = sorted(set(_modules_named_in(content)))
    known = _imported_by(named)
    own = [name for name in known if name.partition(".")[0] not in BUILT_IN | APART | sys.stdlib_module_names]
    is_program = isinstance(method, Program) and method.confined is not False
    modules, apart = tuple(harmless(known, BUILT_IN)), tuple(harmless(known, APART))
    return SealedMethod(content, kind, modules, apart, tuple(own), is_program)


def carried(method: Method, name: str, limits: Limits) -> Method | SealedMethod:
    """A method as workers have it: where it has cells, no code of its own runs outside of them.

    If it can't be sent to a cell, and nobody said that it must, it is left as it is.
    """
    if not limits.needs_a_cell:
        return method
    try:
        return sealed(method)
    except SpecError as error:
        if limits.must_isolate:
            raise
        warnings.warn(f'method "{name}" has no process of its own: {error}', stacklevel=2)
        return method


def harmless(names: Iterable[str], packages: frozenset[str]) -> list[str]:
    """Those of the modules that belong to the packages and whose import changes nothing."""
    parts = {name: name.split(".") for name in names}
    return [name for name, split in parts.items() if split[0] in packages and not WITH_EFFECTS & {*split}]


def _modules_named_in(content: bytes) -> Iterator[str]:
    """Texts in a pickle that are names of modules loaded here."""
    for _, value, _ in pickletools.genops(content):
        if isinstance(value, str) and len(value) < LONGEST_NAME:
            name = value.partition(" ")[0]  # the oldest way to pickle: "module name"
            if name in sys.modules:
                yield name


def _imported_by(modules: Iterable[str]) -> list[str]:
    """The modules, and what those of the user's among them and those they import have imported."""
    ours, waiting, seen = BUILT_IN | APART, deque(modules), set(modules)
    while waiting and len(seen) < MOST_MODULES:
        name = waiting.popleft()
        if name.partition(".")[0] in ours | sys.stdlib_module_names:
            continue
        for origin in set(map(_origin, list(vars(sys.modules[name]).values()))) - seen:
            if origin in sys.modules:
                seen.add(origin)
                waiting.append(origin)
    return sorted(seen)


def _origin(value: Any) -> str:
    """The module that a value is, or is of."""
    origin = value.__name__ if isinstance(value, ModuleType) else getattr(value, "__module__", None)
    return origin if isinstance(origin, str) else ""
