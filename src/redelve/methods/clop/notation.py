"""Learning objects as the paper writes them: `chain([standardize, neural])`. Nothing written is ever run."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import Any

from redelve.errors import SpecError, hint

LONGEST = 2000


def parse_object(text: str) -> Any:
    """The object that a text stands for; several, divided by commas, are a chain.

    Names are the paper's, values are numbers, texts, True, False, None and lists; lists may be in braces, as
    in the paper.

    >>> parse_object("standardize, kridge(balance=True)").objects[1].balance
    True
    """
    names = objects_by_name()
    try:
        tree = ast.parse(text.strip(), mode="eval").body if len(text) <= LONGEST else None
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        tree = None
    if tree is None:
        raise SpecError(
            f'"{text[:80]}" is no learning object: write one as kridge, kridge(balance=True) or '
            "standardize,kridge"
        )
    found = _Reader(names).value(tree)
    found = names["chain"](found) if isinstance(found, list) else found
    if not hasattr(found, "fit"):
        raise SpecError(f'"{text[:80]}" is no learning object: the objects are {", ".join(names)}')
    return found


def objects_by_name() -> dict[str, Any]:
    """Every learning object by its name, and `stacked`, which learns weights of ensembles."""
    from redelve.methods import clop

    return {**{each.called: each for each in clop.OBJECTS}, "stacked": clop.stacked}


class _Reader:
    """Makes values of a syntax tree: names that are known, their calls, and plain values; nothing else."""

    def __init__(self, known: Mapping[str, Any]) -> None:
        self.known = known

    def value(self, node: ast.expr) -> Any:
        """The value that a piece of the tree stands for."""
        match node:
            case ast.Constant(value=bool() | int() | float() | str() | None):
                return node.value
            case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() as number)):
                return -number
            case ast.List(elts=items) | ast.Tuple(elts=items) | ast.Set(elts=items):
                return [self.value(item) for item in items]
            case ast.Dict(keys=keys, values=values) if all(isinstance(key, ast.Constant) for key in keys):
                return {key.value: self.value(item) for key, item in zip(keys, values, strict=True)}  # type: ignore[union-attr]
            case ast.Name(id=name):
                return self.made(name, [], {})
            case ast.Call(func=ast.Name(id=name), args=args, keywords=keywords):
                given = {each.arg or "": self.value(each.value) for each in keywords}
                return self.made(name, [self.value(each) for each in args], given)
        raise SpecError(
            f'"{ast.unparse(node)[:80]}" is neither a learning object nor a number, text or list of them'
        )

    def made(self, name: str, args: list[Any], given: dict[str, Any]) -> Any:
        """The object of that name with these hyperparameters."""
        if name not in self.known:
            known = f"{', '.join(self.known)}{hint(name, self.known)}"
            raise SpecError(f'unknown learning object "{name[:80]}": known are {known}')
        kind = self.known[name]
        if not isinstance(kind, type):
            return kind
        try:
            return kind(*args, **given)
        except TypeError:
            takes = ", ".join(each.name for each in getattr(kind, "hyperparameters", ())) or "nothing"
            shown = ", ".join([*map(str, args), *(f"{key}={value}" for key, value in given.items())])
            raise SpecError(f"{name}({shown[:80]}) cannot be made: {name} takes {takes}") from None
