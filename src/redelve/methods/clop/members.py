"""Objects made of objects: their members have names, and so have the members' hyperparameters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sklearn.utils import get_tags

from redelve.methods.clop.hyperparameters import Hyperparameter, HyperparameterRange
from redelve.methods.clop.objects import LearningObject

OBJECTS = Hyperparameter(
    "objects",
    HyperparameterRange(
        "list of learning objects",
        lambda value: (
            isinstance(value, list | tuple) and len(value) > 0 and all(hasattr(each, "fit") for each in value)
        ),
    ),
    "the members; a class stands for an object with default hyperparameters",
)


def made(item: Any) -> Any:
    """An object; of a class, one with default hyperparameters, as the paper writes `standardize`."""
    return item() if isinstance(item, type) else item


def name_of(item: Any) -> str:
    """The paper's name of an object, or that of its class."""
    return str(getattr(item, "called", type(item).__name__.lower()))


class Composition(LearningObject):
    """An object with a list of members.

    A member is called by its name in the paper, `kridge`; of several that are alike, `kridge-1`, `kridge-2`.
    Its hyperparameters can be read and set as `kridge__shrinkage`.
    """

    objects: Sequence[Any]

    def _make_members(self, objects: Any) -> Any:
        """The list as it was given, unless it has classes: clone wants to find it unchanged."""
        is_list = isinstance(objects, list | tuple)
        has_classes = is_list and any(isinstance(each, type) for each in objects)
        return [made(each) for each in objects] if has_classes else objects

    def _named(self) -> list[tuple[str, Any]]:
        if not OBJECTS.range.accepts(self.objects):
            return []
        names = [name_of(each) for each in self.objects]
        counted = [
            f"{name}-{names[: place + 1].count(name)}" if names.count(name) > 1 else name
            for place, name in enumerate(names)
        ]
        return list(zip(counted, self.objects, strict=True))

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Hyperparameters; with `deep`, the members and theirs too."""
        found: dict[str, Any] = super().get_params(deep=False)
        if deep:
            for name, member in self._named():
                found[name] = member
                for inner, value in member.get_params(deep=True).items():
                    found[f"{name}__{inner}"] = value
        return found

    def set_params(self, **values: Any) -> Any:
        """Set hyperparameters, members or hyperparameters of members."""
        if "objects" in values:
            self.objects = self._make_members(values.pop("objects"))
        named = dict(self._named())
        inner = {key: values.pop(key) for key in list(values) if key.partition("__")[0] in named}
        members = {name: made(inner.pop(name, member)) for name, member in named.items()}
        if any(members[name] is not member for name, member in named.items()):
            self.objects = list(members.values())
        for key, value in inner.items():
            name, _, rest = key.partition("__")
            members[name].set_params(**{rest: value})
        return super().set_params(**values)


def all_sparse(members: Sequence[Any]) -> bool:
    """Whether every member takes sparse tables."""
    return all(get_tags(each).input_tags.sparse for each in members)
