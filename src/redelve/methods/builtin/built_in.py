"""What the methods that come with redelve have in common: a name, a version, a summary."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from redelve.answers.predictions import Target
from redelve.methods.builtin.summaries import SUMMARIES
from redelve.methods.contract import Method


class BuiltIn(Method):
    """A method of redelve's own; whatever changes its results must change its version."""

    called: ClassVar[str]
    version: ClassVar[int] = 1

    @property
    def name(self) -> str:
        """The name by which it is registered."""
        return self.called

    @property
    def summary(self) -> str:  # type: ignore[override]
        """What the method does (manual 7.1)."""
        return SUMMARIES[self.called]

    @property
    def identity(self) -> Mapping[str, Any]:
        """Its name and version, which stand for all that its summary says."""
        return {"kind": "built-in", "name": self.called, "version": self.version}


def numerical_only(name: str, targets: tuple[Target, ...], instead: str = "logistic") -> str | None:
    """Why a method that predicts numbers can't do it for these targets."""
    for target in targets:
        if target.kind == "categorical":
            return f'"{name}" predicts numbers, but target "{target.name}" is categorical: use "{instead}"'
    return None


def categorical_only(name: str, targets: tuple[Target, ...], instead: str = "lin-1") -> str | None:
    """Why a method that predicts levels can't do it for these targets."""
    for target in targets:
        if target.kind != "categorical":
            return f'"{name}" predicts levels, but target "{target.name}" is {target.kind}: use "{instead}"'
    return None
