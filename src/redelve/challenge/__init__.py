"""Challenges in predicting performance: data, rules, submissions, scoring, and the server that runs them.

Each name, listed in `__init__.pyi`, is loaded when it is first used.
"""

from __future__ import annotations


def __getattr__(name: str) -> object:
    from redelve.registry import stub_name

    return stub_name(__name__, name)


def __dir__() -> list[str]:
    return list(__getattr__("__all__"))
