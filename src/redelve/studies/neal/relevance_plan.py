"""What the study runs: prototasks, training-set sizes, methods, and how long they may take."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

from redelve.data.tasks import assignments_for
from redelve.errors import SpecError, hint
from redelve.model import Assignment
from redelve.nets import Engine
from redelve.run.cells import Limits
from redelve.run.experiment import Experiment
from redelve.run.results import Job
from redelve.seeds import seed as seed_of
from redelve.studies.neal.tested_methods import EVERY, Effort, is_wanted, make_method

PROTOTASKS = (
    "kin-8nm/dist",
    "kin-32nm/dist",
    "pumadyn-8nm/accel",
    "pumadyn-32nm/accel",
    "bank-8nm/rej",
    "bank-32nm/rej",
)
SIZES = (64, 128, 256, 512, 1024)
LOSSES = ("S", "L")


@dataclass(frozen=True)
class NealPlan:
    """Every method on every task that it is wanted on; another seed draws other networks, not other data."""

    prototasks: tuple[str, ...] = PROTOTASKS
    sizes: tuple[int, ...] = SIZES
    methods: tuple[str, ...] = EVERY
    effort: Effort = field(default_factory=Effort)
    seed: int = 0

    @cached_property
    def tasks(self) -> dict[str, Assignment]:
        """The tasks by address, those of a prototask by size."""
        return assignments_for(list(self.prototasks), sizes=list(self.sizes))

    def jobs(self) -> dict[Job, int]:
        """Every job and its seed."""
        return {
            job: seed_of("study neal", self.seed, job.method, job.task, job.instance)
            for method in self.methods
            for address, task in self.tasks.items()
            if is_wanted(method, address.strip("/"), task.task.training_set_size)
            for job in (Job(address, method, place) for place in range(len(task.instances)))
        }

    def experiment(self, engine: Engine) -> Experiment:
        """All of it."""
        jobs = self.jobs()
        used = {job.method for job in jobs}
        methods = {name: make_method(name, self.effort, engine) for name in self.methods if name in used}
        limits = Limits(isolated=False)
        return Experiment(methods, self.tasks, losses=LOSSES, limits=limits, jobs=jobs)


SMALL = NealPlan(
    ("kin-8nm/dist", "pumadyn-8nm/accel", "pumadyn-32nm/accel", "bank-8nm/rej"),
    (64, 128, 256),
    effort=Effort(10_000),
)
PLANS = {"small": SMALL, "whole": NealPlan()}


def plan_for(  # noqa: PLR0913  (options of a command)
    size: str = "small",
    *,
    passes: int | None = None,
    chains: int | None = None,
    methods: Sequence[str] = (),
    prototasks: Sequence[str] = (),
    sizes: Sequence[int] = (),
    seed: int = 0,
) -> NealPlan:
    """The small or the whole plan, with what is given in the place of its own."""
    if size not in PLANS:
        raise SpecError(f'size is "{size}": choose {" or ".join(PLANS)}')
    usual = PLANS[size]
    effort = Effort(passes or usual.effort.passes, chains)
    plan = NealPlan(
        tuple(map(_prototask, prototasks)) or usual.prototasks,
        tuple(sizes) or usual.sizes,
        tuple(methods) or usual.methods,
        effort,
        seed,
    )
    for name in plan.methods:
        make_method(name, effort, Engine())
    for one in plan.sizes:
        if one not in SIZES:
            raise SpecError(f"sizes are {', '.join(map(str, SIZES))}: got {one}")
    return plan


def _prototask(name: str) -> str:
    """A prototask by its name or by that of its dataset."""
    for known in PROTOTASKS:
        if name.strip("/") in (known, known.partition("/")[0]):
            return known
    names = [one.partition("/")[0] for one in PROTOTASKS]
    raise SpecError(f'"{name}" is none of the paper\'s: choose among {", ".join(names)}{hint(name, names)}')
