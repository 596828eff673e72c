"""Expected losses, comparisons and standardised losses: arrays in, small values out (docs/statistics.md).

Each name, listed in `__init__.pyi`, is loaded when it is first used. The functions `power` and
`balanced_errors` are in the modules of those names.
"""

from __future__ import annotations


def __getattr__(name: str) -> object:
    from redelve.registry import stub_name

    return stub_name(__name__, name)


def __dir__() -> list[str]:
    return list(__getattr__("__all__"))
