"""Tasks, methods and records for tests, made without running anything."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np

from redelve.answers.answer import Answer, baselines_by_loss, losses_for, score
from redelve.answers.distributions import Normal
from redelve.answers.predictions import Guesses, Target, TargetDistributions, Truth
from redelve.model.dataset import digest
from redelve.run.results import Costs, InstanceFacts, Job, MethodFacts, Record, TaskFacts
from redelve.store import Archive
from redelve.store.fresh_records import write_together
from redelve.store.layout import FRESH

AGE = Target("age", "real")
TASK = "/demo/age/std.32"
METHODS = ("lin", "knn")


def make_task(
    address: str = TASK,
    targets: Sequence[Target] = (AGE,),
    *,
    instances: int = 3,
    cases: int = 5,
    data: str = "data",
    codes: Sequence[str] | None = None,
) -> TaskFacts:
    facts = tuple(_instance(address, targets, number, cases) for number in range(instances))
    every = [
        Truth.exact(target, np.concatenate([one.truths[n].values for one in facts]))
        for n, target in enumerate(targets)
    ]
    return TaskFacts(
        address=address,
        digest=digest([address, data, instances, cases]),
        data_digest=digest(data),
        training_set_size=32,
        scheme="hierarchical",
        repetitions=1,
        targets=tuple(targets),
        instances=facts,
        baselines=baselines_by_loss(every, losses_for(targets, codes)),
        usage="assessment",
        notes=("test sets are small",),
    )


def _instance(address: str, targets: Sequence[Target], number: int, cases: int) -> InstanceFacts:
    rng = np.random.default_rng([number, *address.encode()])
    truths = tuple(Truth.exact(target, true_values(rng, target, cases)) for target in targets)
    numbers = np.arange(number * cases, (number + 1) * cases, dtype=np.int64) + 1
    return InstanceFacts(f"instance-{number}", 32, numbers, truths, numbers // 2)


def true_values(rng: np.random.Generator, target: Target, cases: int) -> np.ndarray:
    if target.kind == "categorical":
        return rng.integers(len(target.levels), size=cases).astype(float)
    values = rng.normal(size=cases) * 10
    return np.rint(values) if target.kind == "integer" else values


def make_method(name: str = "lin", **settings: object) -> MethodFacts:
    identity = {"kind": name, **settings}
    return MethodFacts(name, digest(identity), identity, f"{name} does what it can")


def normal_answer(task: TaskFacts, job: Job) -> Answer:
    truths = task.instances[job.instance].truths
    rng = np.random.default_rng(list(str(job).encode()))
    each = tuple(
        Normal(truth.values + rng.normal(size=len(truth)), 1 + rng.random(len(truth))) for truth in truths
    )
    return Answer(distributions=TargetDistributions(task.targets, each))


def guess_answer(task: TaskFacts, job: Job) -> Answer:
    rng = np.random.default_rng(list(str(job).encode()))
    count = len(task.instances[job.instance].case_numbers)
    return Answer(Guesses(task.targets, tuple(true_values(rng, target, count) for target in task.targets)))


def make_record(
    task: TaskFacts,
    method: MethodFacts,
    instance: int = 0,
    run: int = 0,
    *,
    answer: Answer | None = None,
    codes: Sequence[str] | None = None,
    started: str = "2026-01-01T00:00:00.000+00:00",
) -> Record:
    job = Job(task.address, method.name, instance, run)
    answer = answer or normal_answer(task, job)
    losses = score(answer, task.instances[instance].truths, losses_for(task.targets, codes))
    return Record(
        job,
        digest([task.digest, method.digest, instance, run]),
        2**63 + instance,
        "done",
        losses,
        answer,
        "a warning, perhaps",
        costs=Costs(0.5, 0.25, 0.7, 10**8),
        started=started,
        environment={"python": "3.11", "machine": "abacus"},
    )


def failed(record: Record, **changes: object) -> Record:
    given = {"message": "ValueError: no", "started": record.started, **changes}
    return Record(record.job, record.digest, record.seed, "failed", **given)  # type: ignore[arg-type]


def many(
    tasks: Mapping[str, TaskFacts], methods: Mapping[str, MethodFacts], runs: int = 1
) -> Iterator[Record]:
    for task in tasks.values():
        for method in methods.values():
            for instance in range(len(task.instances)):
                for run in range(runs):
                    yield make_record(task, method, instance, run)


def usual() -> tuple[dict[str, TaskFacts], dict[str, MethodFacts]]:
    tasks = {address: make_task(address) for address in (TASK, "/demo/age/std.64")}
    return tasks, {name: make_method(name) for name in METHODS}


def make_archive(path: Path, records: Sequence[Record] | None = None) -> Archive:
    tasks, methods = usual()
    archive = Archive.open(path, create=True)
    archive.register(tasks, methods)
    for record in many(tasks, methods) if records is None else records:
        archive.add(record)
    return archive


def assert_same(one: Record, other: Record) -> None:
    for name in ("job", "digest", "seed", "status", "message", "fallback", "costs", "started"):
        assert getattr(one, name) == getattr(other, name), name
    assert dict(one.environment) == dict(other.environment)
    assert one.losses.keys() == other.losses.keys()
    for code in one.losses:
        np.testing.assert_array_equal(one.losses[code], other.losses[code])


def assert_same_answer(one: Answer | None, other: Answer | None) -> None:
    assert (one is None) == (other is None)
    if one is None or other is None:
        return
    assert one.guesses == other.guesses
    assert one.probabilities == other.probabilities
    assert dict(one.guesses_for) == dict(other.guesses_for)
    assert (one.distributions is None) == (other.distributions is None)
    if one.distributions is not None and other.distributions is not None:
        assert one.targets == other.targets
        pairs = zip(one.distributions.distributions, other.distributions.distributions, strict=True)
        for mine, theirs in pairs:
            assert type(mine) is type(theirs)
            for name, values in mine.parameters().items():
                np.testing.assert_array_equal(values, theirs.parameters()[name])


def listing(root: Path) -> dict[str, bytes]:
    return {
        path.relative_to(root).as_posix(): path.read_bytes() for path in root.rglob("*") if path.is_file()
    }


def half_compacted(root: Path) -> Path:
    """An archive with compacted records, with one that is fresh, and with fresh ones kept together."""
    records = list(many(*usual()))
    archive = make_archive(root, records[:8])
    archive.compact()
    archive.add(records[8])
    write_together(root / FRESH, [archive._prepared(record) for record in records[9:]])
    return root
