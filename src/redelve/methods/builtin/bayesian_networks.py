"""mlp-mc-1 to -6: networks sampled from their posterior, of all training sets of a batch at once (Neal 1998).

A chain's networks do not depend on the other chains; training sets of equal shape are sampled together.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np

from redelve.errors import SpecError
from redelve.methods.builtin.bayesian_answers import BayesianPredictor, SampledLesson
from redelve.methods.builtin.early_stopping import LARGEST_SEED
from redelve.methods.builtin.network_lessons import NumberLesson, lessons_of
from redelve.methods.contract import METHODS, BatchMethod, BuiltIn, numerical_only
from redelve.methods.shown import TrainingSet
from redelve.methods.views import View
from redelve.model.dataset import Numbers
from redelve.nets import Architecture, Data, Engine, layered
from redelve.nets.backend import side_by_side
from redelve.nets.sampling import NetworkPrior, SamplingPlan, ScalePrior, sample


@dataclass(frozen=True)
class BayesianRecipe:
    """What is sampled and how: the network, the prior, and the plan of each of so many chains."""

    hidden: int = 25
    direct: bool = False
    prior: NetworkPrior = field(default_factory=NetworkPrior)
    plan: SamplingPlan = field(default_factory=SamplingPlan)
    chains: int = 1

    def __post_init__(self) -> None:
        for name in ("hidden", "chains"):
            if getattr(self, name) < 1:
                raise SpecError(f"{name}={getattr(self, name)}: give 1 or more")

    def architecture(self, inputs: int, outputs: int) -> Architecture:
        """One hidden layer of tanh units, linear outputs, perhaps direct connections."""
        return layered((inputs, self.hidden, outputs), "tanh", "identity", shortcuts=self.direct)


@dataclass(frozen=True, eq=False)
class BayesianSampling(BatchMethod):
    """A method that samples networks by a recipe. `engine` is where that is done, not what is done.

    On a GPU, where a small batch takes as long as a large one, tasks of equal shape go together.
    """

    recipe: BayesianRecipe = BayesianRecipe()
    engine: Engine = field(default=Engine(dtype="float32"), compare=False)
    late_imports = ("scipy.special",)

    @property
    def mixes_tasks(self) -> bool:  # type: ignore[override]
        """Whether instances of several tasks are given together."""
        return not self.engine.is_numpy

    @property
    def largest_batch(self) -> int:  # type: ignore[override]
        """How many instances at once."""
        return 64 if self.engine.is_numpy else 4096

    @property
    def summary(self) -> str:  # type: ignore[override]
        """The recipe, in words and numbers."""
        return f"Bayesian networks as mlp-mc-3 describes them, but by this recipe:\n{self.recipe}\n"

    @property
    def identity(self) -> Mapping[str, Any]:
        """The recipe."""
        return {"kind": "bayesian networks", "version": 1, "recipe": _plain(asdict(self.recipe))}

    def why_not(self, targets: Any) -> str | None:
        """Levels: it predicts numbers."""
        return numerical_only(self.name, targets)

    def learn_many(
        self, trainings: Sequence[TrainingSet], rngs: Sequence[np.random.Generator]
    ) -> list[BayesianPredictor]:
        """Sample the networks of all training sets."""
        for training in trainings:
            if reason := self.why_not(training.targets):
                raise SpecError(reason)
        views = [View(training) for training in trainings]
        tasks = [
            _ChainTask(place, view, lesson, rng.integers(LARGEST_SEED, size=self.recipe.chains).tolist())
            for place, (view, rng) in enumerate(zip(views, rngs, strict=True))
            for lesson in lessons_of(view, together=False, centred=True)
            if isinstance(lesson, NumberLesson)
        ]
        found: dict[int, list[SampledLesson]] = defaultdict(list)
        groups = _by_shape(tasks)
        works = [partial(self._sampled, alike) for alike in groups]
        for alike, made in zip(groups, side_by_side(self.engine, works), strict=True):
            for task, sampled in zip(alike, made, strict=True):
                found[task.place].append(sampled)
        return [BayesianPredictor(view, tuple(found[place])) for place, view in enumerate(views)]

    def _sampled(self, tasks: Sequence[_ChainTask]) -> list[SampledLesson]:
        recipe, chains = self.recipe, self.recipe.chains
        network = recipe.architecture(*tasks[0].shape[1:])
        inputs, targets = (
            np.repeat(np.array([getattr(task, name) for task in tasks]), chains, axis=0)
            for name in ("inputs", "targets")
        )
        seeds = [seed for task in tasks for seed in task.seeds]
        data = Data(inputs.astype(self.engine.dtype), targets.astype(self.engine.dtype))
        made = sample(network, data, recipe.prior, recipe.plan, seeds=seeds, engine=self.engine)
        return [
            SampledLesson(
                network,
                task.lesson.positions[0],
                task.view.encoded.input_names,
                made.of_chains(slice(number * chains, (number + 1) * chains)),
                recipe.prior.noise_df,
                self.engine,
                recipe.plan.passes * chains,
            )
            for number, task in enumerate(tasks)
        ]


class MonteCarloMethod(BayesianSampling, BuiltIn):
    """One that comes with redelve."""

    numbers_only = True

    def __init__(self, called: str, recipe: BayesianRecipe, engine: Engine | None = None) -> None:
        object.__setattr__(self, "called", called)
        object.__setattr__(self, "recipe", recipe)
        object.__setattr__(self, "engine", engine or Engine(dtype="float32"))

    name = BuiltIn.name
    summary = BuiltIn.summary
    identity = BuiltIn.identity
    why_not = BuiltIn.why_not

    def on(self, engine: Engine) -> MonteCarloMethod:
        """The same method, computed elsewhere."""
        return MonteCarloMethod(self.called, self.recipe, engine)


@dataclass(frozen=True, eq=False)
class _ChainTask:
    """What the chains of one training set and target are to learn."""

    place: int
    view: View
    lesson: NumberLesson
    seeds: list[int]

    @property
    def inputs(self) -> Numbers:
        given: Numbers = self.view.inputs
        return given if given.shape[1] else np.zeros((len(given), 1))

    @property
    def targets(self) -> Numbers:
        return self.lesson.targets

    @property
    def shape(self) -> tuple[int, int, int]:
        return len(self.inputs), self.inputs.shape[1], self.targets.shape[1]


def _by_shape(tasks: Sequence[_ChainTask]) -> list[list[_ChainTask]]:
    groups: dict[tuple[int, int, int], list[_ChainTask]] = defaultdict(list)
    for task in tasks:
        groups[task.shape].append(task)
    return list(groups.values())


def _plain(value: Any) -> Any:
    """Values that JSON has, for an identity: an infinite alpha is a text."""
    if isinstance(value, dict):
        return {name: _plain(each) for name, each in value.items()}
    return str(value) if isinstance(value, float) and np.isinf(value) else value


def bayesian(
    like: str | BayesianRecipe = "mlp-mc-6",
    *,
    passes: int | None = None,
    chains: int | None = None,
    engine: Engine | None = None,
) -> BayesianSampling:
    """Bayesian networks by a recipe of your own: a built-in one made shorter or longer, or any.

    Parameters
    ----------
    like
        The name of a built-in method whose recipe to begin with, or a recipe.
    passes
        How many passes over the training cases a chain may take.
    chains
        How many chains there are for each training set.
    engine
        On what to compute; a GPU is `Engine("torch", "float32", "cuda")`.

    Returns
    -------
    BayesianSampling
        A method for `assess`, with the recipe in its identity. Without changes to the recipe of a built-in
        method it is that method.

    Examples
    --------
    >>> from redelve.methods.builtin.bayesian_networks import bayesian
    >>> bayesian("mlp-mc-3", passes=3000).recipe.plan.passes
    3000
    >>> bayesian("mlp-mc-3").name
    'mlp-mc-3'
    """
    if isinstance(like, str):
        known = METHODS[like]
        if not isinstance(known, MonteCarloMethod):
            raise SpecError(f'"{like}" is not sampled: begin with one of mlp-mc-1 to mlp-mc-6')
        recipe = known.recipe
    else:
        known, recipe = None, like
    changed = recipe
    if passes is not None:
        changed = replace(changed, plan=replace(changed.plan, passes=passes))
    if chains is not None:
        changed = replace(changed, chains=chains)
    if known is not None and changed == recipe:
        return known if engine is None else known.on(engine)
    return BayesianSampling(changed, engine or Engine(dtype="float32"))


_NO_RELEVANCE = NetworkPrior(relevance=None)
_LONG = SamplingPlan(passes=180_000)
_MOVES = SamplingPlan(steps=25, scale_steps=8, exchanges=8, kept=30)
_RASMUSSEN = SamplingPlan(passes=300_000, window=10, persistence=0.95)

MLP_MC_1 = MonteCarloMethod("mlp-mc-1", BayesianRecipe(direct=True, plan=_RASMUSSEN))
MLP_MC_2 = MonteCarloMethod("mlp-mc-2", BayesianRecipe(direct=True))
MLP_MC_3 = MonteCarloMethod("mlp-mc-3", BayesianRecipe())
MLP_MC_4 = MonteCarloMethod("mlp-mc-4", BayesianRecipe(prior=_NO_RELEVANCE))
MLP_MC_2B = MonteCarloMethod("mlp-mc-2b", BayesianRecipe(direct=True, plan=_LONG))
MLP_MC_3B = MonteCarloMethod("mlp-mc-3b", BayesianRecipe(plan=_LONG))
MLP_MC_4B = MonteCarloMethod("mlp-mc-4b", BayesianRecipe(prior=_NO_RELEVANCE, plan=_LONG))
MLP_MC_5 = MonteCarloMethod("mlp-mc-5", BayesianRecipe(plan=_MOVES, chains=4))
MLP_MC_6 = MonteCarloMethod(
    "mlp-mc-6", BayesianRecipe(prior=NetworkPrior(noise=ScalePrior(0.3, 2.0)), plan=_MOVES, chains=4)
)
