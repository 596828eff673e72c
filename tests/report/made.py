"""Results made of bare numbers, for reports to show."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from redelve.answers.predictions import Target, Truth
from redelve.findings import Findings, find
from redelve.run.results import Costs, InstanceFacts, Job, MethodFacts, Record, Results, TaskFacts

TARGET = Target("y", "real")
ENVIRONMENT = {"python": "3.11", "processor": "a processor"}


def task_facts(
    address: str, size: int, *, instances: int = 4, cases: int = 30, target: Target = TARGET, **more: object
) -> TaskFacts:
    """A task with test sets of its own for every training set."""
    each = tuple(
        InstanceFacts(
            f"instance {number}",
            size,
            np.arange(number * cases, (number + 1) * cases),
            (Truth.exact(target, np.zeros(cases)),),
        )
        for number in range(instances)
    )
    known: dict[str, object] = {
        "address": address,
        "digest": f"digest of {address}",
        "data_digest": "digest of the data",
        "training_set_size": size,
        "scheme": "hierarchical",
        "repetitions": 1,
        "targets": (target,),
        "instances": each,
        "baselines": {"S": 2.0, "A": 1.0},
        "usage": "assessment",
        "origin": "artificial",
        "input_count": 3,
        "case_count": 1000,
    }
    return TaskFacts(**{**known, **more})  # type: ignore[arg-type]


def record(job: Job, losses: Mapping[str, np.ndarray], seconds: float = 0.1, **more: object) -> Record:
    """A job done, or as `more` says."""
    known: dict[str, object] = {
        "job": job,
        "digest": str(job),
        "seed": hash((job.instance, job.run)) % 1000,
        "status": "done",
        "losses": losses,
        "costs": Costs(seconds, seconds / 10, seconds, 100 << 20),
        "started": f"2026-01-01T00:00:{job.instance:02d}.000+00:00",
        "environment": ENVIRONMENT,
    }
    return Record(**{**known, **more})  # type: ignore[arg-type]


def method_facts(name: str, **identity: object) -> MethodFacts:
    return MethodFacts(name, f"digest of {name}", {"kind": "test", **identity}, f"How {name} learns.")


def made_results(
    means: Mapping[str, float],
    *,
    tasks: Sequence[TaskFacts] | None = None,
    runs: int = 1,
    spread: float = 0.2,
    seed: int = 1,
) -> Results:
    """Losses around each method's mean, less with more training cases, one table for every task."""
    rng = np.random.default_rng(seed)
    tasks = tasks or [task_facts(f"/data/proto/std.{size}", size) for size in (16, 32, 64)]
    records = []
    for facts in tasks:
        for number, instance in enumerate(facts.instances):
            cases = len(instance.case_numbers)
            hardness = rng.gamma(2.0, spread / 2, cases)
            for place, (name, mean) in enumerate(means.items()):
                for run in range(runs):
                    noise = rng.gamma(2.0, spread / 2, cases)
                    losses = (mean + hardness + noise) * (16 / facts.training_set_size) ** 0.3
                    job = Job(facts.address, name, number, run)
                    records.append(record(job, {"S": losses, "A": np.sqrt(losses)}, 0.01 * 10**place))
    return Results(
        {facts.address: facts for facts in tasks},
        {name: method_facts(name) for name in means},
        tuple(records),
    )


def made_findings(**options: object) -> Findings:
    """Three methods, two of them hard to tell apart, on three sizes."""
    means = {"lin": 0.30, "knn": 0.31, "constant": 1.0}
    return find(made_results(means, **options))  # type: ignore[arg-type]


def many_tasks() -> list[TaskFacts]:
    """Four prototasks with two sizes each."""
    return [
        task_facts(f"/{name}/proto/std.{size}", size) for name in ("a", "b", "c", "d") for size in (16, 32)
    ]
