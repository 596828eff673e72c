"""Whatever a user has, a name, an estimator, a function, a program, as a method."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from redelve.errors import SpecError
from redelve.methods.contract import METHODS, Method


def as_method(thing: Any, *, name: str | None = None) -> Method:
    """A built-in method's name, an estimator, a function or a program (its words) as a Method.

    >>> as_method("constant").name
    'constant'
    """
    if isinstance(thing, Method):
        return thing
    if isinstance(thing, str):
        return METHODS[thing]
    if isinstance(thing, Path) or (isinstance(thing, list | tuple) and thing):
        from redelve.methods.adapters.program import Program

        return Program(
            [str(thing)] if isinstance(thing, Path) else [str(word) for word in thing], name=name or ""
        )
    if hasattr(thing, "fit"):
        from redelve.methods.adapters.sklearn_adapter import sklearn_method

        return sklearn_method(thing, name=name)
    if callable(thing):
        from redelve.methods.adapters.callables import callable_method

        return callable_method(thing, name=name)
    raise SpecError(
        f"can't make a method of {type(thing).__name__} {str(thing)[:60]!r}: "
        "give the name of a built-in method, a scikit-learn estimator, "
        "a function of training inputs, training targets and test inputs, or the words of a command"
    )
