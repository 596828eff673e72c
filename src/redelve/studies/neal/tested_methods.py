"""The methods of the study: the paper's, Rasmussen's and redelve's own; cut short where that is asked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from redelve.errors import SpecError, hint
from redelve.methods.contract import METHODS, BatchMethod, Method, Predictor
from redelve.methods.shown import TrainingSet
from redelve.nets import Engine
from redelve.studies.neal.transformed_target import StretchedTarget

WHOLE_PASSES = 60_000
"""The paper's passes over the training cases (restored): 20,000 iterations, 4 networks, 3/4 of the cases."""
SIMPLE = ("lin-1", "knn-cv-1")
STOPPED = ("mlp-ese-1", "mlp-bgd-1", "mlp-bgd-2", "mlp-bgd-3", "mlp-bgd-2b")
SAMPLED = ("mlp-mc-1", "mlp-mc-2", "mlp-mc-3", "mlp-mc-4")
LONGER = {"mlp-mc-2b": "mlp-mc-2", "mlp-mc-3b": "mlp-mc-3", "mlp-mc-4b": "mlp-mc-4"}
TEN_TIMES = "mlp-mc-3-10x"
OWN = ("mlp-mc-5", "mlp-mc-6", "gp-ard")
STRETCHED = {
    "mlp-bgd-2-arcsine": "mlp-bgd-2",
    "mlp-mc-3-arcsine": "mlp-mc-3",
    "gp-ard-arcsine": "gp-ard",
}
EVERY = (*SIMPLE, *STOPPED, *SAMPLED, *LONGER, TEN_TIMES, *OWN, *STRETCHED)
"""In the order of figures and tables."""
MORE_TIME = ("pumadyn-32nm", "bank-8nm")
"""Where the paper ran methods longer."""


def known_methods() -> tuple[str, ...]:
    """Those of the list that this version of redelve has."""
    return tuple(name for name in EVERY if source_of(name) in METHODS)


def source_of(name: str) -> str:
    """The built-in method that one of the study is made of."""
    return STRETCHED.get(name, "mlp-mc-3" if name == TEN_TIMES else name)


def is_wanted(name: str, prototask: str) -> bool:
    """Whether a method works on a prototask: longer runs and stretched targets are for some only."""
    dataset = prototask.partition("/")[0]
    if name in STRETCHED:
        return dataset.startswith("bank-")
    return dataset in MORE_TIME if name in LONGER or name == TEN_TIMES else True


@dataclass(frozen=True)
class Effort:
    """How much each method may do: `passes` over the training cases, `chains` of those that sample."""

    passes: int = WHOLE_PASSES
    chains: int = 4
    kept: int = 25
    """Networks kept of a chain."""

    def __post_init__(self) -> None:
        if self.passes < 1000 or self.chains < 1:
            raise SpecError(f"passes={self.passes}, chains={self.chains}: give 1000 and 1 or more")


def make_method(name: str, effort: Effort, engine: Engine) -> Method:
    """A method of the study, as long and as wide as wanted, on this engine."""
    if name not in EVERY:
        raise SpecError(f'"{name}" is no method of this study{hint(name, EVERY)}')
    if source_of(name) not in METHODS:
        raise SpecError(f'"{name}" takes the method "{source_of(name)}", which this redelve has not')
    method = METHODS[source_of(name)]
    if not isinstance(method, BatchMethod):
        return method
    made = StudiedMethod(*_shortened(method, name, effort, engine), mixes_tasks=not engine.is_numpy)
    return made if name not in STRETCHED else StretchedTarget(made)


def _shortened(
    method: BatchMethod, name: str, effort: Effort, engine: Engine
) -> tuple[BatchMethod, str, tuple[tuple[str, int], ...]]:
    """The method, its name, and what of its recipe is not as usual."""
    recipe = getattr(method, "recipe", None)
    if recipe is None:
        return _on_engine(method, engine), source_of(name), ()
    changes = _changes(recipe, effort, 10 if name == TEN_TIMES else 1)
    made = _on_engine(replace(recipe, **changes), engine)
    return replace(method, recipe=made), source_of(name), tuple(changes.items())  # type: ignore[type-var]


def _changes(recipe: Any, effort: Effort, times: int) -> dict[str, int]:
    """Iterations or passes as many times fewer as the effort's are; chains and networks kept."""
    known = {one.name for one in fields(recipe)}
    share = effort.passes / WHOLE_PASSES * times
    found: dict[str, int] = {}
    for length in ("passes", "iterations"):
        if length in known and hasattr(recipe, "saved" if length == "iterations" else "chains"):
            found[length] = round(getattr(recipe, length) * share)
    if "chains" in known:
        found |= {"chains": effort.chains, "kept": effort.kept}
    return {key: value for key, value in found.items() if key in known and getattr(recipe, key) != value}


def _on_engine(thing: Any, engine: Engine) -> Any:
    """The same on a device; with NumPy it works as it always does."""
    own = getattr(thing, "engine", None)
    if engine.is_numpy or own is None:
        return thing
    return replace(thing, engine=replace(own, backend=engine.backend, device=engine.device))


@dataclass(frozen=True, eq=False)
class StudiedMethod(BatchMethod):
    """A built-in method that learns many training sets at once, with an identity that tells its length."""

    inner: BatchMethod
    source: str
    changes: tuple[tuple[str, int], ...]
    mixes_tasks: bool = False
    largest_batch: int = 512
    looks_at = "columns"

    @property
    def summary(self) -> str:  # type: ignore[override]
        """What it does, and what is not as usual."""
        said = "".join(f"\nHere {name} is {value}." for name, value in self.changes)
        return f"{self.inner.summary}{said}"

    @property
    def identity(self) -> Mapping[str, Any]:
        """The method's own, and the changes."""
        return {"kind": "study of Neal 1998", "inner": dict(self.inner.identity), **dict(self.changes)}

    @property
    def passes(self) -> int | None:
        """Forward and backward passes over the training cases in all; None where nobody counts them."""
        recipe: Any = getattr(self.inner, "recipe", None)
        if hasattr(recipe, "chains"):
            return int(recipe.passes * recipe.chains)
        return int(recipe.iterations * recipe.networks * 3 // 4) if hasattr(recipe, "saved") else None

    def learn_many(
        self, trainings: Sequence[TrainingSet], rngs: Sequence[np.random.Generator]
    ) -> Sequence[Predictor]:
        """What the method learns."""
        return self.inner.learn_many(trainings, rngs)
