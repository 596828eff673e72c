"""Import in the warden what methods import, so that the next cell has it already."""

from __future__ import annotations

import importlib
import os
import sys
import warnings

FORKED_OFTEN = frozenset(("numpy", "scipy", "sklearn", "pandas", "joblib", "threadpoolctl", "redelve"))
"""Packages known to begin no threads when imported (BLAS takes care of its own)."""

_tried: set[str] = set()


def harmless_modules() -> list[str]:
    """What is loaded here of the libraries that methods are likely to use.

    Not of redelve itself: what a method needs of it comes with the method, and the rest no method needs.
    """
    return [name for name in sys.modules if name.partition(".")[0] in FORKED_OFTEN - {"redelve"}]


def preload(names: list[str]) -> None:
    """Import modules, unless that begins threads: a process with threads of others can't be forked safely."""
    new = [name for name in names if name not in _tried and name not in sys.modules]
    _tried.update(new)
    known = [name for name in new if name.partition(".")[0] in FORKED_OFTEN | sys.stdlib_module_names]
    other = [name for name in new if name not in known]
    _import(known)
    if other and _is_harmless(other):
        _import(other)


def _is_harmless(names: list[str]) -> bool:
    """Try it in a process of its own."""
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            before = _threads()
            _import(names)
            code = int(_threads() > before)
        finally:
            os._exit(code)
    return os.waitpid(pid, 0)[1] == 0


def _threads() -> int:
    try:
        return len(os.listdir("/proc/self/task"))  # noqa: PTH208
    except OSError:
        import threading

        return threading.active_count()


def _import(names: list[str]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in names:
            try:
                importlib.import_module(name)
            except Exception:  # a module that only its own package can import
                continue
