"""The methods of the study: the paper's, Rasmussen's and redelve's own; cut short where that is asked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from redelve.errors import SpecError, hint
from redelve.methods.builtin.ard_process import ArdProcess
from redelve.methods.builtin.bayesian_networks import MonteCarloMethod, bayesian
from redelve.methods.builtin.engine_methods import EngineMethod
from redelve.methods.builtin.network_recipes import BatchDescent, ConjugateGradients
from redelve.methods.contract import METHODS, BatchMethod, Method, Predictor
from redelve.methods.shown import TrainingSet
from redelve.nets import Engine
from redelve.studies.neal.transformed_target import StretchedTarget

WHOLE_PASSES = 60_000
"""The paper's passes over the training cases (restored): 20,000 iterations, 4 networks, 3/4 of the cases."""
FEWEST_PASSES = 1000
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
MOST_TEN_TIMES = 256
"""The paper asks about convergence with few cases; with more, ten times the passes take long."""


def source_of(name: str) -> str:
    """The built-in method that one of the study is made of."""
    return STRETCHED.get(name, "mlp-mc-3" if name == TEN_TIMES else name)


def is_wanted(name: str, prototask: str, size: int) -> bool:
    """Whether a method works on a task: longer runs and stretched targets are for some only."""
    dataset = prototask.partition("/")[0]
    if name in STRETCHED:
        return dataset.startswith("bank-")
    if name == TEN_TIMES and size > MOST_TEN_TIMES:
        return False
    return dataset in MORE_TIME if name in LONGER or name == TEN_TIMES else True


@dataclass(frozen=True)
class Effort:
    """How much methods may do: `passes` over the training cases, and `chains` if not as they usually have."""

    passes: int = WHOLE_PASSES
    chains: int | None = None

    def __post_init__(self) -> None:
        if self.passes < FEWEST_PASSES:
            raise SpecError(f"passes={self.passes}: give {FEWEST_PASSES} or more")

    def of(self, usual: int) -> int:
        """A method's iterations or passes, as many times fewer as these are fewer than the paper's."""
        return round(usual * self.passes / WHOLE_PASSES)


def make_method(name: str, effort: Effort, engine: Engine) -> Method:
    """A method of the study, as long as wanted, on this engine."""
    if name not in EVERY:
        raise SpecError(f'"{name}" is no method of this study{hint(name, EVERY)}')
    method = METHODS[source_of(name)]
    if isinstance(method, MonteCarloMethod):
        passes = effort.of(method.recipe.plan.passes) * (10 if name == TEN_TIMES else 1)
        made = bayesian(source_of(name), passes=passes, chains=effort.chains, engine=_placed(method, engine))
        studied = StudiedMethod(made, passes * made.recipe.chains)
    elif isinstance(method, EngineMethod):
        studied = _stopped_early(method, effort, engine)
    elif isinstance(method, ArdProcess):
        studied = StudiedMethod(replace(method, engine=_placed(method, engine)))
    else:
        return method
    on_device = not engine.is_numpy
    studied = replace(studied, mixes_tasks=on_device, is_whole=on_device)
    return studied if name not in STRETCHED else StretchedTarget(studied)


def _stopped_early(method: EngineMethod, effort: Effort, engine: Engine) -> StudiedMethod:
    recipe = method.recipe
    assert isinstance(recipe, BatchDescent | ConjugateGradients)
    recipe = replace(recipe, engine=_placed(recipe, engine))
    if isinstance(recipe, ConjugateGradients):
        return StudiedMethod(replace(method, recipe=recipe))
    iterations = effort.of(recipe.iterations)
    changes = () if iterations == recipe.iterations else (("iterations", iterations),)
    made = replace(method, recipe=replace(recipe, iterations=iterations))
    return StudiedMethod(made, iterations * recipe.networks * 3 // 4, changes)


def _placed(thing: Any, engine: Engine) -> Engine:
    """A method's own engine on the wanted device, with its own precision."""
    own: Engine = thing.engine
    return own if engine.is_numpy else replace(own, backend=engine.backend, device=engine.device)


@dataclass(frozen=True, eq=False)
class StudiedMethod(BatchMethod):
    """A built-in method that learns many training sets at once, with an identity that tells its length."""

    inner: BatchMethod
    passes: int | None = None
    """Forward and backward passes over the training cases in all; None where nobody counts them."""
    changes: tuple[tuple[str, int], ...] = ()
    mixes_tasks: bool = False
    is_whole: bool = False
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

    def learn_many(
        self, trainings: Sequence[TrainingSet], rngs: Sequence[np.random.Generator]
    ) -> Sequence[Predictor]:
        """What the method learns."""
        return self.inner.learn_many(trainings, rngs)
