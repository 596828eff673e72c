"""redelve: find out, validly, how well learning methods learn and which is better.

Importing this is fast: each public name, listed in `__init__.pyi`, is loaded when it is first used.
"""

from __future__ import annotations

__version__ = "0.1.0"


def __getattr__(name: str) -> object:
    from redelve.registry import stub_name

    return stub_name(__name__, name)


def __dir__() -> list[str]:
    return list(__getattr__("__all__"))
