"""Many trials of a problem as one batch: when did each network answer all cases correctly?"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from time import perf_counter

import numpy as np
from numpy.typing import NDArray

from redelve.errors import SpecError
from redelve.nets import (
    DescendingEpsilon,
    Engine,
    GradientDescent,
    MaxEpochs,
    Procedure,
    Sets,
    Success,
    initial_weights,
    train,
)
from redelve.seeds import seed
from redelve.stats.training_time import TrialTimes, trial_times
from redelve.studies.hamey.training_problems import TrainingProblem

TOLERANCE = 0.4
"""Hamey's τ_c: an output is correct if it is nearer than this to its target."""

PerTrial = float | tuple[float, ...]
ALGORITHMS: dict[str, Callable[[PerTrial, PerTrial], GradientDescent | DescendingEpsilon]] = {
    "back-propagation": GradientDescent,
    "descending-epsilon": DescendingEpsilon,
}


@dataclass(frozen=True)
class Setting:
    """How networks are trained: initial weights in [-r, r], momentum α, rate η, and the algorithm."""

    r: float
    momentum: float
    rate: float
    algorithm: str = "back-propagation"

    def __post_init__(self) -> None:
        if self.algorithm not in ALGORITHMS:
            raise SpecError(f'algorithm "{self.algorithm}": known are {", ".join(ALGORITHMS)}')
        if not (self.r > 0 and 0 <= self.momentum < 1 and self.rate > 0):
            raise SpecError(f"{self}: give r > 0, 0 ≤ α < 1 and η > 0")

    def __str__(self) -> str:
        return f"r = {self.r:g}, α = {self.momentum:g}, η = {self.rate:g}"


@dataclass(frozen=True)
class TrialPlan:
    """So many trials of a problem, stopped at the limit T. Another `stream` draws other networks."""

    problem: TrainingProblem
    setting: Setting
    trials: int
    limit: int
    stream: str = ""

    def __post_init__(self) -> None:
        if self.trials < 2 or self.limit < 2:
            raise SpecError(f"{self.trials} trials of at most {self.limit} epochs: give 2 or more of both")

    def seeds(self, first: int = 0) -> range:
        """The seeds of the trials from number `first` on: a trial's does not depend on how many there are."""
        start = seed("study", "hamey", self.problem.name, str(self.setting), self.stream) >> 1
        return range(start + first, start + self.trials)


@dataclass(frozen=True, eq=False)
class Trials:
    """The trials of a plan: epochs of each (those of a failed one are the limit), and the seconds it took."""

    plan: TrialPlan
    epochs: NDArray[np.int64]
    succeeded: NDArray[np.bool_]
    seconds: float

    @property
    def times(self) -> TrialTimes:
        """For the measures. A network that is correct before it has learnt anything counts as one epoch."""
        return trial_times(np.maximum(self.epochs, 1), self.succeeded, limit=self.plan.limit)

    def and_more(self, other: Trials) -> Trials:
        """These trials and others of the same plan."""
        plan = replace(self.plan, trials=len(self.epochs) + len(other.epochs))
        epochs = np.concatenate((self.epochs, other.epochs))
        succeeded = np.concatenate((self.succeeded, other.succeeded))
        return Trials(plan, epochs, succeeded, self.seconds + other.seconds)


def run_trials(plan: TrialPlan, engine: Engine | None = None) -> Trials:
    """Train all networks of a plan at once.

    >>> from redelve.studies.hamey import Setting, exclusive_or
    >>> found = run_trials(TrialPlan(exclusive_or(), Setting(1.4, 0.65, 7.0), trials=100, limit=300))
    >>> bool(0.6 < found.succeeded.mean() < 0.9)
    True
    """
    return run_together([plan], engine)[0]


def run_together(plans: Sequence[TrialPlan], engine: Engine | None = None, first: int = 0) -> list[Trials]:
    """Train the networks of several settings of one problem as one batch, from trial `first` of each on.

    Algorithm and limit must be the same in all of them.
    """
    begin = perf_counter()
    engine, one = engine or Engine(), plans[0]
    sizes = [plan.trials - first for plan in plans]
    weights = np.concatenate(
        [
            initial_weights(one.problem.architecture, plan.seeds(first), plan.setting.r, engine.dtype)
            for plan in plans
        ]
    )
    rates = _per_trial([plan.setting.rate for plan in plans], sizes)
    momenta = _per_trial([plan.setting.momentum for plan in plans], sizes)
    procedure = Procedure(
        ALGORITHMS[one.setting.algorithm](rates, momenta),
        Success(TOLERANCE) | MaxEpochs(one.limit),
        strips=one.limit,
    )
    trained = train(one.problem.architecture, weights, Sets(one.problem.data), procedure, engine=engine)
    succeeded = trained.epochs < one.limit
    seconds = (perf_counter() - begin) / len(plans)
    cuts = np.cumsum(sizes)[:-1]
    parts = zip(plans, np.split(trained.epochs, cuts), np.split(succeeded, cuts), strict=True)
    return [Trials(plan, epochs, flags, seconds) for plan, epochs, flags in parts]


def _per_trial(values: Sequence[float], sizes: Sequence[int]) -> PerTrial:
    """One number where all trials have the same, else one for each."""
    return values[0] if len(set(values)) == 1 else tuple(np.repeat(values, sizes).tolist())
