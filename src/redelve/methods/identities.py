"""What makes a thing the thing it is, in plain values: the same in every process, changed by every change."""

from __future__ import annotations

import dis
import hashlib
import inspect
import re
import sys
import sysconfig
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, partial
from pathlib import Path
from types import BuiltinFunctionType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np

ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")
DEEPEST = 12
USUAL = frozenset(("redelve", "numpy", "scipy", "sklearn", "pandas", "pyarrow"))
"""What is imported of the packages whose versions every record has."""


def plain(value: Any, depth: int = 0) -> Any:
    """`value` as numbers, texts, lists and dictionaries; never a memory address.

    Functions and classes go by name, and by a hash of their code where they are the user's own; estimators
    by class and parameters; arrays by a hash of their contents.
    """
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if depth > DEEPEST:
        return class_path(type(value))
    further = partial(plain, depth=depth + 1)
    for types, describe in _DESCRIPTIONS:
        if isinstance(value, types):
            return describe(value, further)
    return _object(value, further)


def _number(value: Any, _: Any) -> Any:
    return value.item()


def _array(value: Any, further: Any) -> Any:
    if value.dtype == object:
        return {"array": [further(item) for item in value.ravel().tolist()], "shape": list(value.shape)}
    content = np.ascontiguousarray(value).tobytes()
    return {"array": _hash(content), "type": str(value.dtype), "shape": list(value.shape)}


def _sequence(value: Any, further: Any) -> Any:
    return [further(item) for item in value]


def _set(value: Any, further: Any) -> Any:
    return {"set": sorted((further(item) for item in value), key=repr)}


def _mapping(value: Any, further: Any) -> Any:
    return {str(further(key)): further(item) for key, item in value.items()}


def _partial(value: Any, further: Any) -> Any:
    parts = {"partial": value.func, "arguments": value.args, "keywords": value.keywords}
    return {name: further(part) for name, part in parts.items()}


def _method(value: Any, further: Any) -> Any:
    return {"method": value.__func__.__qualname__, "of": further(value.__self__)}


def _function(value: Any, _: Any) -> Any:
    named = {"function": f"{value.__module__}.{value.__qualname__}"}
    return named if is_installed(value) else {**named, "code": code_digest(value)}


def _class(value: Any, _: Any) -> Any:
    return _class_entry(value)


def _module(value: Any, _: Any) -> Any:
    return {"module": value.__name__}


def _path(value: Any, _: Any) -> Any:
    return str(value)


def _random_state(value: Any, further: Any) -> Any:
    return {"generator": class_path(type(value)), "state": further(value.get_state(legacy=False))}


def _generator(value: Any, further: Any) -> Any:
    return {"generator": class_path(type(value)), "state": further(value.bit_generator.state)}


_DESCRIPTIONS: tuple[tuple[Any, Any], ...] = (
    (np.generic, _number),
    (np.ndarray, _array),
    (Mapping, _mapping),
    ((list, tuple, range), _sequence),
    ((set, frozenset), _set),
    (partial, _partial),
    (MethodType, _method),
    (FunctionType, _function),
    (BuiltinFunctionType | np.ufunc, lambda value, _: {"function": getattr(value, "__name__", repr(value))}),
    (type, _class),
    (ModuleType, _module),
    (Path, _path),
    (np.random.RandomState, _random_state),
    (np.random.Generator, _generator),
    ((bytes, bytearray), lambda value, _: {"bytes": _hash(bytes(value))}),
)


def _class_entry(kind: type) -> dict[str, Any]:
    named = {"class": class_path(kind)}
    return named if is_installed(kind) else {**named, "code": code_digest(kind)}


def _object(value: Any, further: Any) -> Any:
    described = _class_entry(type(value))
    if hasattr(value, "get_params"):
        parameters = value.get_params(deep=False)
        return {**described, "parameters": {name: further(parameters[name]) for name in sorted(parameters)}}
    if hasattr(value, "to_numpy"):
        return {**described, "values": further(value.to_numpy()), "names": further(_labels(value))}
    state = getattr(value, "__dict__", None)
    if state is not None:
        return {**described, "state": {name: further(item) for name, item in sorted(state.items())}}
    return {**described, "text": ADDRESS.sub("", repr(value))}


def _labels(table: Any) -> list[str]:
    return [str(label) for label in getattr(table, "columns", [getattr(table, "name", "")])]


def class_path(kind: type) -> str:
    """Where a class is to be found, by the public way if there is one.

    >>> from sklearn.linear_model import Ridge
    >>> class_path(Ridge)
    'sklearn.linear_model.Ridge'
    """
    parts = kind.__module__.split(".")
    for end in range(1, len(parts) + 1):
        found = getattr(sys.modules.get(".".join(parts[:end])), kind.__qualname__, None)
        if found is kind:
            return f"{'.'.join(parts[:end])}.{kind.__qualname__}"
    return f"{kind.__module__}.{kind.__qualname__}"


# Packages


def packages_used(thing: Any) -> tuple[str, ...]:
    """The installed packages that an estimator, its parts or a function come from, beside the usual ones.

    >>> from sklearn.linear_model import Ridge
    >>> packages_used(Ridge())
    ()
    """
    found = {module.partition(".")[0] for module in _modules(thing, set())}
    return tuple(sorted({name for top in found - USUAL - sys.stdlib_module_names for name in _named(top)}))


def _named(top: str) -> Sequence[str]:
    """The packages to install for an import; looking through all of them takes a while."""
    from importlib.metadata import PackageNotFoundError, distribution

    try:
        return (distribution(top).name,)
    except PackageNotFoundError:
        return _distributions().get(top, ())


def _modules(thing: Any, seen: set[int]) -> Iterator[str]:
    """The modules of a thing, of its parameters and of what a function refers to."""
    if id(thing) in seen or thing is None or isinstance(thing, bool | int | float | str):
        return
    seen.add(id(thing))
    if isinstance(thing, ModuleType):
        yield thing.__name__
    elif isinstance(thing, list | tuple):
        for part in thing:
            yield from _modules(part, seen)
    elif isinstance(thing, FunctionType):
        yield from _imports(thing.__code__)
        used = [thing.__globals__[name] for name in _names(thing.__code__) & thing.__globals__.keys()]
        for part in (*used, *(cell.cell_contents for cell in thing.__closure__ or () if _is_filled(cell))):
            yield from _modules(part, seen)
    else:
        yield (thing if isinstance(thing, type) else type(thing)).__module__
        for part in thing.get_params(deep=True).values() if _is_estimator(thing) else ():
            yield from _modules(part, seen)


def _is_estimator(thing: Any) -> bool:
    return hasattr(thing, "get_params") and not isinstance(thing, type)


def _imports(code: CodeType) -> Iterator[str]:
    for one in dis.get_instructions(code):
        if one.opname == "IMPORT_NAME":
            yield one.argval
    for inner in _inner(code):
        yield from _imports(inner)


@cache
def _distributions() -> Mapping[str, Sequence[str]]:
    from importlib.metadata import packages_distributions

    return packages_distributions()


# Code


@cache
def _installed_places() -> tuple[str, ...]:
    paths = sysconfig.get_paths()
    places = ("stdlib", "platstdlib", "purelib", "platlib")
    return tuple({str(Path(paths[place]).resolve()) for place in places})


def is_installed(thing: Any) -> bool:
    """Whether a function or class comes from Python or an installed package: then its name identifies it."""
    module = sys.modules.get(getattr(thing, "__module__", None) or "")
    file = getattr(module, "__file__", None)
    if module is None or module.__name__ == "__main__":
        return False
    if file is None:
        return True
    top = module.__name__.partition(".")[0]
    return top in ("redelve", "sklearn") or str(Path(file).resolve()).startswith(_installed_places())


def code_digest(thing: Any) -> str:
    """A hash of what a function or class does: its code, constants, defaults, closure, and its own helpers.

    Names that lead to other functions, classes and plain values of the user's are followed; what comes from
    installed packages is not. Comments and layout do not count.
    """
    return _hash(repr(_code(thing, set())).encode())


def _hash(content: bytes) -> str:
    return hashlib.blake2b(content, digest_size=16).hexdigest()


def _code(thing: Any, seen: set[int]) -> Any:
    if id(thing) in seen:
        return thing.__qualname__
    seen.add(id(thing))
    if isinstance(thing, type):
        return _class_code(thing, seen)
    code = thing.__code__
    closure = [_value(cell.cell_contents, seen) for cell in thing.__closure__ or () if _is_filled(cell)]
    defaults = [_value(item, seen) for item in thing.__defaults__ or ()]
    keywords = {name: _value(item, seen) for name, item in (thing.__kwdefaults__ or {}).items()}
    used = sorted(name for name in _names(code) if name in thing.__globals__)
    known = {name: _value(thing.__globals__[name], seen) for name in used}
    return [_instructions(code), closure, defaults, keywords, known]


def _class_code(kind: type, seen: set[int]) -> Any:
    members = {}
    for name, member in sorted(vars(kind).items()):
        bare = getattr(member, "__func__", getattr(member, "fget", member))
        if isinstance(bare, FunctionType):
            members[name] = _code(bare, seen)
        elif not name.startswith("__") and not inspect.isdatadescriptor(member):
            members[name] = _value(member, seen)
    bases = [_code(base, seen) if not is_installed(base) else class_path(base) for base in kind.__bases__]
    return [members, bases]


def _value(value: Any, seen: set[int]) -> Any:
    is_code = isinstance(value, FunctionType | type)
    if is_code and not is_installed(value):
        return _code(value, seen)
    return plain(value)


def _is_filled(cell: Any) -> bool:
    try:
        return cell.cell_contents is not cell
    except ValueError:
        return False


def _inner(code: CodeType) -> list[CodeType]:
    return [constant for constant in code.co_consts if isinstance(constant, CodeType)]


def _names(code: CodeType) -> set[str]:
    return set(code.co_names).union(*(_names(inner) for inner in _inner(code)))


def _instructions(code: CodeType) -> Any:
    constants = [
        _instructions(constant) if isinstance(constant, CodeType) else plain(constant)
        for constant in code.co_consts
    ]
    return [code.co_code.hex(), constants, list(code.co_names), list(code.co_varnames)]
