"""Plan and run: from methods and assignments to jobs, from jobs to records; nothing is saved or shown."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import cached_property
from itertools import product

import numpy as np

from redelve.answers import losses_for, score
from redelve.baselines import baselines_by_loss
from redelve.designs import commonality_units, describe
from redelve.errors import PredictionError, RedelveError, SpecError
from redelve.executors import InProcess, Workers, as_they_end
from redelve.isolation import Limits, Outcome, learn_and_answer
from redelve.lessons import TestInputs, TrainingSet, portable_columns
from redelve.methods.contract import METHODS, Method
from redelve.model import Assignment, Cases, Instance
from redelve.model.digests import digest
from redelve.predictions import Target, Truth, target_of, truth_of
from redelve.provenance import environment
from redelve.results import InstanceFacts, Job, MethodFacts, Record, Results, TaskFacts
from redelve.seeds import seed

LEAVE_OUT = "leave out"
BASELINE = "baseline"
FALLBACK = "constant"
"""The method that answers for one that failed, where that is wanted."""


@dataclass(frozen=True)
class Experiment:
    """Which methods work on which tasks, how often, judged by which losses, under which limits."""

    methods: Mapping[str, Method]
    assignments: Mapping[str, Assignment]
    runs: int = 1
    losses: tuple[str, ...] | None = None
    limits: Limits = field(default_factory=Limits)
    on_failure: str = LEAVE_OUT
    _cache: dict[str, TaskFacts] = field(default_factory=dict, repr=False, compare=False)

    def __post_init__(self) -> None:
        if not self.methods or not self.assignments:
            raise SpecError("an experiment needs at least one method and at least one task")
        if self.runs < 1:
            raise SpecError(f"runs must be 1 or more, not {self.runs}")
        if self.on_failure not in (LEAVE_OUT, BASELINE):
            raise SpecError(f'on_failure is "{self.on_failure}": choose "{LEAVE_OUT}" or "{BASELINE}"')

    def facts(self, address: str) -> TaskFacts:
        """What the analysis must know of a task."""
        if address not in self._cache:
            self._cache[address] = task_facts(self.assignments[address], self.losses)
        return self._cache[address]

    @cached_property
    def _method_digests(self) -> dict[str, str]:
        return {name: method.digest for name, method in self.methods.items()}

    def digest(self, job: Job) -> str:
        """What the job's outcome depends on: the method, the instance's cases, the seed."""
        assignment = self.assignments[job.task]
        instance = assignment.instances[job.instance].digest
        named = [job.method, self._method_digests[job.method], job.task, assignment.digest, instance, job.run]
        return digest([*named, self.limits.threads])

    def results(self, records: Iterable[Record]) -> Results:
        """Records together with what their tasks and methods are."""
        methods = {
            name: MethodFacts(name, method.digest, dict(method.identity), method.summary)
            for name, method in self.methods.items()
        }
        tasks = {address: self.facts(address) for address in self.assignments}
        return Results(tasks, methods, tuple(records))


def plan(experiment: Experiment, *, done: Collection[str] = ()) -> list[Job]:
    """The jobs of an experiment, less those whose digests are in `done`: that is all that resuming is.

    Jobs come instance by instance, so that whatever is finished when a run is stopped can be compared.
    """
    jobs = []
    for address, assignment in experiment.assignments.items():
        targets = assignment_targets(assignment)
        for instance, run, name in product(
            range(len(assignment.instances)), range(experiment.runs), experiment.methods
        ):
            if (reason := experiment.methods[name].why_not(targets)) is not None:
                raise SpecError(f'method "{name}" can\'t work on {address}: {reason}')
            job = Job(address, name, instance, run)
            if experiment.digest(job) not in done:
                jobs.append(job)
    return jobs


def run(experiment: Experiment, jobs: Sequence[Job], workers: Workers | None = None) -> Iterator[Record]:
    """Records as they are made, in no fixed order; what is in them does not depend on the workers."""
    packages = (pack(experiment, job) for job in jobs)
    yield from as_they_end(workers or InProcess(), perform, packages, lost)


@dataclass(frozen=True)
class Package:
    """All that is needed to do one job anywhere; the truths are for scoring and never reach the method."""

    job: Job
    digest: str
    seed: int
    method: Method
    training: TrainingSet
    inputs: TestInputs
    truths: tuple[Truth, ...] = field(repr=False)
    losses: tuple[str, ...] | None
    limits: Limits
    on_failure: str


def pack(experiment: Experiment, job: Job) -> Package:
    """Everything a worker needs for a job."""
    assignment = experiment.assignments[job.task]
    instance = assignment.instances[job.instance]
    training, inputs, truths = split(assignment, instance)
    return Package(
        job,
        experiment.digest(job),
        seed("job", job.method, job.task, instance.digest, job.run),
        experiment.methods[job.method],
        training,
        inputs,
        truths,
        experiment.losses,
        experiment.limits,
        experiment.on_failure,
    )


def split(assignment: Assignment, instance: Instance) -> tuple[TrainingSet, TestInputs, tuple[Truth, ...]]:
    """What the method sees and what scoring sees: the only place where both exist."""
    data, prior = assignment.data, assignment.task.prior
    attributes, columns = data.attributes, data.cases.columns
    count = len(data.inputs)
    training = portable_columns(attributes, prior, columns, instance.training)
    inputs = portable_columns(data.inputs, prior, columns[:count], instance.testing)
    return (
        TrainingSet(data.inputs, data.targets, prior, Cases(training, len(instance.training))),
        TestInputs(data.inputs, prior, Cases(inputs, len(instance.testing))),
        truths_of(assignment, instance),
    )


def truths_of(assignment: Assignment, instance: Instance) -> tuple[Truth, ...]:
    """The true targets of an instance's test cases."""
    columns = assignment.data.cases.columns[len(assignment.data.inputs) :]
    try:
        return tuple(
            truth_of(target, column.texts()[instance.testing])
            for target, column in zip(assignment_targets(assignment), columns, strict=True)
        )
    except PredictionError as error:  # no fault of a method
        raise SpecError(f"{assignment.address}, instance {instance.number}: {error}") from None


def assignment_targets(assignment: Assignment) -> tuple[Target, ...]:
    """What is to be predicted."""
    prior = assignment.task.prior
    return tuple(target_of(one, prior.attribute(one.number)) for one in assignment.data.targets)


def perform(package: Package) -> Record:
    """Do one job: let the method learn and answer, then score the answer."""
    started = datetime.now(UTC).isoformat(timespec="milliseconds")
    outcome = learn_and_answer(package.method, package.training, package.inputs, package.seed, package.limits)
    record = Record(
        package.job,
        package.digest,
        package.seed,
        outcome.status,
        message=outcome.message,
        costs=outcome.costs,
        started=started,
        environment=environment(),
    )
    record = _scored(record, package, outcome)
    if record.status != "done" and package.on_failure == BASELINE:
        return _stood_in_for(record, package)
    return record


def _scored(record: Record, package: Package, outcome: Outcome) -> Record:
    """The record with its losses; an answer that does not fit the task makes it a failed one."""
    if outcome.answer is None:
        return record
    try:
        targets = tuple(truth.target for truth in package.truths)
        losses = score(outcome.answer, package.truths, losses_for(targets, package.losses))
    except RedelveError as error:
        return replace(record, status="failed", message=str(error))
    return replace(record, losses=losses, answer=outcome.answer)


def _stood_in_for(record: Record, package: Package) -> Record:
    """The best constant answer in place of a method's own, so that a failure costs but does not vanish."""
    outcome = learn_and_answer(
        METHODS[FALLBACK], package.training, package.inputs, package.seed, Limits(isolated=False)
    )
    return replace(_scored(record, package, outcome), status=record.status, fallback=FALLBACK)


def lost(package: Package, reason: str) -> Record:
    """The record of a job whose worker died with it, again and again."""
    record = Record(
        package.job,
        package.digest,
        package.seed,
        "crashed",
        message=reason,
        started=datetime.now(UTC).isoformat(timespec="milliseconds"),
        environment=environment(),
    )
    return _stood_in_for(record, package) if package.on_failure == BASELINE else record


def task_facts(assignment: Assignment, codes: Sequence[str] | None = None) -> TaskFacts:
    """What scoring and analysis must know of a task."""
    design = describe(
        assignment.instances,
        assignment.commonality,
        dependency_range=assignment.task.prototask.dependency_range,
    )
    units = None
    if assignment.commonality is not None:
        units = commonality_units(assignment.instances, assignment.commonality)
    instances = tuple(
        InstanceFacts(
            instance.digest,
            len(instance.training),
            assignment.data.case_numbers[instance.testing],
            truths_of(assignment, instance),
            None if units is None else units[number],
        )
        for number, instance in enumerate(assignment.instances)
    )
    targets = assignment_targets(assignment)
    return TaskFacts(
        address=assignment.address,
        digest=assignment.digest,
        data_digest=assignment.data.cases.content_digest,
        training_set_size=assignment.task.training_set_size,
        scheme=assignment.scheme,
        repetitions=assignment.repetitions,
        targets=targets,
        instances=instances,
        baselines=baselines_by_loss(_all_truths(assignment), losses_for(targets, codes)),
        usage=assignment.dataset.usage,
        origin=assignment.dataset.origin,
        input_count=len(assignment.data.inputs),
        case_count=assignment.data.cases.count,
        notes=tuple(dict.fromkeys((*assignment.notes, *design.caveats()))),
        training_overlap=design.training_sets == "overlapping",
        test_overlap=design.test_sets == "overlapping",
    )


def _all_truths(assignment: Assignment) -> tuple[Truth, ...]:
    """The true targets of all test cases in use, each case once."""
    rows = np.unique(np.concatenate([instance.testing for instance in assignment.instances]))
    return truths_of(assignment, Instance(0, rows[:0], rows))
