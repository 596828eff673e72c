"""Whatever a user has, a name, an estimator, a function, a program, as a method."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from redelve.errors import SpecError
from redelve.methods.contract import METHODS, Method
from redelve.registry import named_options

MethodsLike = Mapping[str, Any] | Iterable[str]
"""Methods by name, of any kind that `as_method` knows; or names of built-in ones."""


@named_options
def as_method(thing: Any, *, name: str | None = None) -> Method:
    """Make a method of whatever you have.

    Parameters
    ----------
    thing
        The name of a built-in method, a scikit-learn estimator, a function of training inputs,
        training targets and test inputs, the words of a command that follows DELVE's file protocol,
        the path of such a program, or a `Method`, which stays as it is.
    name
        What to call it in messages; by default the name of the estimator's class, of the function or
        of the program.

    Returns
    -------
    Method
        What `assess` and `check_method` work with.

    Raises
    ------
    RedelveError
        The thing is none of these, or the name of no built-in method.

    Notes
    -----
    Estimators are cloned for every job and get inputs encoded by DELVE's rules, fitted on training
    cases only (Rasmussen et al. 1996, The DELVE manual, chapter 7). What an estimator, a function or a
    program is shown, and what it may return, is in docs/methods.md; `redelve.methods.adapters` has one
    maker for each, with more options.

    Examples
    --------
    >>> import redelve
    >>> redelve.as_method("constant").name
    'constant'
    >>> from sklearn.linear_model import Ridge
    >>> redelve.as_method(Ridge(alpha=2.0)).name
    'Ridge'
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


def named_methods(methods: MethodsLike) -> dict[str, Method]:
    """Methods by name, made from whatever was given for them."""
    if isinstance(methods, Mapping):
        return {_checked_name(name): as_method(one) for name, one in methods.items()}
    found = {}
    for one in (methods,) if isinstance(methods, str) else methods:
        if not isinstance(one, str):
            raise SpecError(
                f"a method without a name was given ({type(one).__name__}): give a dictionary of names and "
                'methods, as in {"ridge": Ridge()}'
            )
        found[one] = METHODS[one]
    return found


def _checked_name(name: object) -> str:
    """A method's name, which is also the name of folders and a part of addresses."""
    if not isinstance(name, str) or not name or name[0] in ".-" or any(c in name for c in "/\\\0\n\t "):
        raise SpecError(
            f"bad name of a method: {name!r}; use letters, digits, dots and dashes, as in forest-500"
        )
    return name
