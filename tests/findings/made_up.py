"""Results made of arrays, without any method having run."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from redelve import seeds
from redelve.answers.predictions import Target, Truth
from redelve.model import Scheme
from redelve.run.results import Costs, InstanceFacts, Job, MethodFacts, Record, Results, TaskFacts

Numbers = NDArray[np.float64]
WEIGHT = Target("weight", "real")


def task(
    address: str = "/made/up/std.64",
    *,
    instances: int = 4,
    cases: int = 50,
    scheme: Scheme = "hierarchical",
    **changes: Any,
) -> TaskFacts:
    """A task with that many instances and test cases."""
    size = int(address.rpartition(".")[2])
    facts = []
    for number in range(instances):
        start = 0 if scheme == "common" else number * cases
        truth = Truth.exact(WEIGHT, np.zeros(cases))
        facts.append(InstanceFacts(f"i{number}", size, np.arange(start, start + cases) + 1, (truth,)))
    made = TaskFacts(
        address, f"digest of {address}", "data", size, scheme, 1, (WEIGHT,), tuple(facts), {"S": 2.0}
    )
    return replace(made, **changes)


def method(name: str, **identity: object) -> MethodFacts:
    return MethodFacts(name, f"digest of {name}", {"kind": name, **identity}, f"{name} does something.")


def results(
    tasks: Sequence[TaskFacts],
    losses: Mapping[str, Mapping[str, Sequence[Any]]],
    *,
    code: str = "S",
    methods: Mapping[str, MethodFacts] | None = None,
) -> Results:
    """Results from losses by method and task's address: one array per instance, or one per run of each.

    None in place of an array is a job that failed.
    """
    records = []
    for name, by_task in losses.items():
        for address, by_instance in by_task.items():
            for number, given in enumerate(by_instance):
                runs = given if isinstance(given, list) else [given]
                for run, values in enumerate(runs):
                    records.append(record(Job(address, name, number, run), values, code))
    known = methods or {name: method(name) for name in losses}
    return Results({facts.address: facts for facts in tasks}, known, tuple(records))


def record(job: Job, values: Numbers | None, code: str = "S") -> Record:
    digest = str(job)
    seed = seeds.seed(digest)
    costs = Costs(0.1 * len(job.method), 0.01, 0.1, 10_000_000)
    if values is None:
        return Record(job, digest, seed, "crashed", message="killed by signal 11", costs=costs)
    return Record(job, digest, seed, "done", {code: np.asarray(values, dtype=np.float64)}, costs=costs)


def draws(name: str, mean: float, facts: TaskFacts, *, runs: int = 1) -> list[Any]:
    """Gaussian losses around a mean, with effects of training sets; the same for the same name."""
    rng = seeds.generator("losses", name, facts.address)
    tables = []
    for one in facts.instances:
        effect = 0.05 * rng.normal()
        table = [mean + effect + 0.5 * rng.normal(size=len(one.case_numbers)) for _ in range(runs)]
        tables.append(table[0] if runs == 1 else table)
    return tables
