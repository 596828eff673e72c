"""Methods of the user's own on the command line: what a file such as methods.py holds."""

from __future__ import annotations

import ast
import inspect
import sys
from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

from redelve.cli.options import UsageError

FACTORIES = ("make", "method", "main", "create", "build")


def own_methods(text: str) -> dict[str, Any]:
    """The methods that methods.py:forest, methods.py:all_of_them (a dictionary) or methods.py stand for."""
    if ":" not in text:
        return estimators_of(text)
    held = own_method(text)
    return dict(held) if isinstance(held, Mapping) else {own_name(text): held}


def own_name(text: str) -> str:
    """What the method is called: by its attribute or, if that says nothing, by its file."""
    place, _, attribute = text.rpartition(":")
    return Path(place).stem if place and attribute in FACTORIES else attribute


def own_method(text: str) -> Any:
    """A built-in method's name, or what a module or a file holds."""
    place, separator, attribute = text.rpartition(":")
    if not separator:
        return text
    held = attribute_of(place, attribute)
    is_function = inspect.isfunction(held) or inspect.isclass(held)
    if not is_function or _required(held):
        return held
    try:
        return held()
    except Exception as error:
        raise UsageError(f"{text} makes no method ({type(error).__name__}: {error})") from None


def estimators_of(place: str) -> dict[str, Any]:
    """All estimators that a file makes, by the names that they have there."""
    try:
        held = vars(_module(place)).items()
    except UsageError:
        raise
    except Exception as error:
        raise UsageError(f"can't load {place} ({type(error).__name__}: {error})") from None
    found = {name: one for name, one in held if not name.startswith("_") and _is_estimator(one)}
    if not found:
        raise UsageError(
            f"{place} holds no estimator, nothing with fit and predict: write forest = "
            f"RandomForestClassifier() there, or name a function, as in {place}:make"
        )
    return found


def _is_estimator(one: object) -> bool:
    return not inspect.isclass(one) and hasattr(one, "fit") and hasattr(one, "predict")


def _required(function: Any) -> list[str]:
    """The parameters that have no default."""
    parameters = inspect.signature(function).parameters.values()
    return [one.name for one in parameters if one.default is one.empty and one.kind not in (2, 4)]


def attribute_of(place: str, attribute: str) -> Any:
    """What a file, method.py, or a module holds by that name; what can't be loaded is told in a line."""
    try:
        return getattr(_module(place), attribute)
    except UsageError:
        raise
    except Exception as error:
        told = f"{type(error).__name__}: {error}"
        raise UsageError(
            f'can\'t load "{attribute}" from {place} ({told}): give file.py:function or module:function'
        ) from None


def _module(place: str) -> ModuleType:
    """What a file or a module defines; its folder is looked in from now on."""
    path = Path(place)
    if path.suffix != ".py":
        return import_module(place)
    if not path.is_file():
        raise UsageError(f'"{place}" is not there: give file.py:function')
    look_beside(path)
    return import_module(path.stem)


def look_beside(path: Path) -> None:
    """Import from the folder of a file before others from now on."""
    folder = str(path.resolve().parent)
    if sys.path[:1] != [folder]:
        sys.path.insert(0, folder)


def imported_by(names: Sequence[str]) -> list[str]:
    """What files among these names of methods import, as they say it: no code of theirs is run."""
    files = [Path(name.partition(":")[0]) for name in names]
    found: list[str] = []
    for path in files:
        if path.suffix == ".py" and path.is_file():
            look_beside(path)
            found += _imports(path)
    return found


def _imports(path: Path) -> list[str]:
    """The modules that a file names in its imports; none if it is no Python."""
    try:
        parts = list(ast.walk(ast.parse(path.read_bytes())))
    except (OSError, SyntaxError, ValueError):  # importing it will tell
        return []
    named = [one.name for part in parts if isinstance(part, ast.Import) for one in part.names]
    return named + [str(part.module) for part in parts if isinstance(part, ast.ImportFrom) and not part.level]
