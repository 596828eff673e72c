"""Plan and run: from methods and assignments to jobs, from jobs to records; nothing is saved or shown."""

from __future__ import annotations

import pickle
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import cache, cached_property, lru_cache, partial
from itertools import pairwise, product
from typing import Any

import numpy as np

from redelve.answers.answer import Answer, baselines_by_loss, losses_for, score
from redelve.answers.losses import Loss, LossLike, Units, chosen_losses
from redelve.answers.predictions import Target, Truth, targets_of, truths_in
from redelve.errors import ANY_FAULT, PredictionError, RedelveError, SpecError, blame
from redelve.methods.contract import METHODS, BatchMethod, LooksAt, Method
from redelve.methods.shown import TestInputs, TrainingSet
from redelve.model import Assignment, Attribute, Cases, Column, Instance, Prior
from redelve.model.dataset import Numbers, canonical, digest, digest_of_text
from redelve.model.designs import commonality_units, describe
from redelve.model.prototask import VALIDATION, portable_columns
from redelve.run.cells import (
    CellLesson,
    Limits,
    Outcome,
    SealedMethod,
    carried,
    has_known_code,
    learn_and_answer,
    learn_and_answer_together,
    let_go,
    rest,
)
from redelve.run.pooled_answers import FOLDED, pooled_over_folds
from redelve.run.results import (
    ISOLATION,
    KNOWN_CODE,
    MEMORY_ALLOWED,
    SECONDS_ALLOWED,
    SHARED,
    UNLIMITED,
    InstanceFacts,
    Job,
    MethodFacts,
    Record,
    Results,
    Status,
    TaskFacts,
    environment,
)
from redelve.run.workers import InProcess, Ongoing, Workers, batches_as_they_end
from redelve.run.workers.processes import dump
from redelve.seeds import seed

LEAVE_OUT = "leave out"
BASELINE = "baseline"
FALLBACK = "constant"
MOST_RUNS = 1_000_000
"""The method that answers for one that failed, where that is wanted."""
NUMPYS_OWN: Any = {"divide": "warn", "over": "warn", "under": "ignore", "invalid": "warn"}
"""How numpy takes what is no number unless told; a method's module may have told it otherwise here."""
WHOLE = ("tasks", "losses_of", "learners", "packages", "losses")
"""What an experiment knows from the moment it is made."""
Begin = Callable[[Sequence[Job]], bool]
"""Whether jobs that are done together may begin now."""


def begin_at_once(jobs: Sequence[Job]) -> bool:
    """Jobs begin as soon as there is somebody to do them."""
    return True


@dataclass(frozen=True)
class Experiment:
    """Which methods work on which tasks, how often, judged by which losses, under which limits.

    Every method works on every instance of every task, `runs` times, with seeds made of the jobs' names; or
    `jobs` names the jobs themselves, each with its seed, as a study does whose seeds are published.
    """

    methods: Mapping[str, Method]
    assignments: Mapping[str, Assignment]
    runs: int = 1
    losses: Sequence[LossLike] | None = None
    """The losses to judge by, or their codes; all usual ones that suit a task if left out."""
    limits: Limits = field(default_factory=Limits)
    on_failure: str = LEAVE_OUT
    jobs: Mapping[Job, int] | None = None
    shard: tuple[int, int] = (1, 1)
    """Which part of the jobs, of how many parts, is done here."""
    may_begin: Begin = field(default=begin_at_once, repr=False, compare=False)
    """After the first jobs that may not begin none does; those under way come to their end."""
    tasks: Mapping[str, TaskFacts] = field(init=False, repr=False, compare=False)
    """What the analysis must know of the tasks, by address."""
    learners: Mapping[str, MethodFacts] = field(init=False, repr=False, compare=False)
    """What is known of the methods, by name."""
    packages: Mapping[str, tuple[str, ...]] = field(init=False, repr=False, compare=False)
    """The installed packages whose versions belong to the results of each method."""
    losses_of: Mapping[str, tuple[Loss, ...]] = field(init=False, repr=False, compare=False)
    """The losses that judge on each task."""
    carried: dict[str, Method | SealedMethod] = field(
        init=False, repr=False, compare=False, default_factory=dict
    )
    """The methods as they are handed to workers, by name: sealed where each job has a cell."""
    terms: dict[tuple[str, str], Terms] = field(init=False, repr=False, compare=False, default_factory=dict)
    """What the jobs of each method on each task have in common, from the first of them on."""
    named: dict[tuple[str, str], tuple[str, str]] = field(
        init=False, repr=False, compare=False, default_factory=dict
    )
    """How what their digests are made of begins and ends, by task and method."""

    def __post_init__(self) -> None:
        if not self.methods or not self.assignments:
            raise SpecError("an experiment needs at least one method and at least one task")
        if not 1 <= self.runs <= MOST_RUNS:
            bound = "1 or more" if self.runs < 1 else f"at most {MOST_RUNS:,}"
            raise SpecError(f"runs must be {bound}, not {self.runs}")
        if self.on_failure not in (LEAVE_OUT, BASELINE):
            raise SpecError(f'on_failure is "{self.on_failure}": choose "{LEAVE_OUT}" or "{BASELINE}"')
        tasks = {address: task_facts(one, self.losses) for address, one in self.assignments.items()}
        losses_of = {address: losses_for(facts.targets, self.losses) for address, facts in tasks.items()}
        for (address, facts), (name, method) in product(tasks.items(), self.methods.items()):
            if (reason := method.why_not(facts.targets)) is not None:
                raise SpecError(f'method "{name}" can\'t work on {address}: {reason}')
        learners = {}
        for name, one in self.methods.items():
            try:
                identity = dict(one.identity)
                learners[name] = MethodFacts(name, digest(identity), identity, one.summary)
            except ANY_FAULT as error:
                blame(f'the identity of method "{name}"', one, error)
                raise
        packages = {name: one.packages for name, one in self.methods.items()}
        losses = None if self.losses is None else chosen_losses(self.losses)
        values = (tasks, losses_of, learners, packages, losses)
        for name, value in zip(WHOLE, values, strict=True):
            object.__setattr__(self, name, value)

    @cached_property
    def known(self) -> frozenset[str]:
        """The methods made of redelve's and scikit-learn's code alone, which may share a process."""
        return frozenset(name for name, one in self.methods.items() if has_known_code(one))

    def digest(self, job: Job) -> str:
        """What the job's outcome depends on: the method, the instance's cases, the seed."""
        pair = job.task, job.method
        begins, ends = self.named.get(pair) or self.named.setdefault(pair, self._names(*pair))
        instance = self.tasks[job.task].instances[job.instance].digest
        own_seed = "" if self.jobs is None else f",{self.jobs[job]}"
        return digest_of_text(f'{begins},"{instance}",{job.run},{self.limits.threads}{own_seed}{ends}')

    def _names(self, address: str, name: str) -> tuple[str, str]:
        """A list of names as JSON, up to the instance's and after the seed."""
        names = [name, self.learners[name].digest, address, self.tasks[address].digest]
        own = None if self.methods[name].looks_at == "columns" else self.assignments[address].own
        return canonical(names)[:-1], "]" if own is None else f',"{own.digest}"]'

    def seed(self, job: Job) -> int:
        """The job's seed."""
        if self.jobs is not None:
            return self.jobs[job]
        return seed("job", job.method, job.task, self.tasks[job.task].instances[job.instance].digest, job.run)

    def truths(self, job: Job) -> tuple[Truth, ...]:
        """The true targets of the job's test cases."""
        return self.tasks[job.task].instances[job.instance].truths

    def results(self, records: Iterable[Record]) -> Results:
        """Records together with what their tasks and methods are."""
        made = Results(self.tasks, self.learners, tuple(records))
        has_folds = any(facts.scheme in FOLDED for facts in self.tasks.values())
        is_raised = any(loss.is_raised_by_few for several in self.losses_of.values() for loss in several)
        return pooled_over_folds(made) if has_folds or is_raised else made


def plan(experiment: Experiment, *, done: Collection[str] = ()) -> list[Job]:
    """The jobs of an experiment, less those whose digests are in `done`: that is all that resuming is.

    Jobs come instance by instance, so that whatever is finished when a run is stopped can be compared.
    """
    jobs = _every_job(experiment) if experiment.jobs is None else experiment.jobs
    known = frozenset(done)
    return [job for job in _in_shard(jobs, experiment) if experiment.digest(job) not in known]


def shard_of(text: str | None) -> tuple[int, int]:
    """Which part of how many; the only one if none is named.

    >>> shard_of("2/8"), shard_of(None)
    ((2, 8), (1, 1))
    """
    if text is None:
        return 1, 1
    number, _, count = text.partition("/")
    if not (number.strip().isdecimal() and count.strip().isdecimal() and 1 <= int(number) <= int(count)):
        raise SpecError(f'"{text}" is no shard: give which part of how many, as in "2/8"')
    return int(number), int(count)


def _in_shard(jobs: Iterable[Job], experiment: Experiment) -> Iterator[Job]:
    """The jobs of the part; every part has its share of each method's."""
    number, count = experiment.shard
    for place, job in enumerate(jobs):
        if sum(divmod(place, len(experiment.methods))) % count == number - 1:
            yield job


def _every_job(experiment: Experiment) -> Iterator[Job]:
    for address, assignment in experiment.assignments.items():
        numbers = range(len(assignment.instances))
        for instance, run, name in product(numbers, range(experiment.runs), experiment.methods):
            yield Job(address, name, instance, run)


def run(
    experiment: Experiment,
    jobs: Sequence[Job],
    workers: Workers | None = None,
    is_done: Callable[[str], bool] | None = None,
) -> Ongoing[Batch, Record]:
    """Records as they are made, in no fixed order; what is in them does not depend on the workers.

    The jobs of a `BatchMethod` on a task are done together, with the same records as one by one. A job is
    left out if `is_done` says of its digest, when its turn comes, that somebody else has done it.

    Stopping early (an exception, Ctrl-C, `close`) loses the jobs under way and leaves no process behind.
    """
    workers = workers or InProcess()
    batches = _batches(experiment, jobs, workers, is_done)
    return batches_as_they_end(workers, perform_batch, batches, lost_batch, Batch.parts)


def _batches(
    experiment: Experiment, jobs: Sequence[Job], workers: Workers, is_done: Callable[[str], bool] | None
) -> Iterator[Batch]:
    """Batches as they are asked for; after the last the wardens that served here rest, else they end."""
    try:
        for together in grouped(experiment, jobs, hands=(workers.at_once + 1) // 2):
            left = together
            if is_done is not None:
                left = [job for job in together if not is_done(experiment.digest(job))]
            if left and not experiment.may_begin(left):
                return
            if left:
                yield pack_together(experiment, left)
    except BaseException:  # stopped early, too
        let_go()
        raise
    finally:
        rest()


def grouped(experiment: Experiment, jobs: Sequence[Job], hands: int = 1) -> Iterator[list[Job]]:
    """The jobs of each piece of work: one, or where the method learns many at once those on a task.

    Jobs of methods that may learn together are put together. Such jobs are cut into as many pieces as there
    are `hands` if that helps, more if a batch would be too large.
    """
    alike: dict[tuple[str, str, str], list[Job]] = defaultdict(list)
    for job in jobs:
        if isinstance(method := experiment.methods[job.method], BatchMethod):
            alike[_company(experiment, method, job)].append(job)
    for job in jobs:
        if not isinstance(method := experiment.methods[job.method], BatchMethod):
            yield [job]
        elif every := alike.pop(_company(experiment, method, job), None):
            fewest = 1 if method.is_whole else hands
            count = min(len(every), max(fewest, -(-len(every) // method.largest_batch)))
            edges = [len(every) * part // count for part in range(count + 1)]
            yield from (every[start:stop] for start, stop in pairwise(edges))


def _company(experiment: Experiment, method: BatchMethod, job: Job) -> tuple[str, str, str]:
    """What jobs that may be done together have in common; code of others shares a process with nobody."""
    company = method.company if job.method in experiment.known else ""
    return company, "" if company else job.method, "" if method.mixes_tasks else job.task


@dataclass(frozen=True)
class Terms:
    """What all jobs of a method on a task have in common."""

    method: Method | SealedMethod
    losses: tuple[Loss, ...]
    limits: Limits
    on_failure: str
    packages: tuple[str, ...]
    """Those whose versions belong to the record."""
    has_known_code: bool
    """Whether the method is made of redelve's and scikit-learn's code alone."""
    attributes: tuple[tuple[Attribute, ...], tuple[Attribute, ...], Prior] | None = field(repr=False)
    """What methods are told of inputs, of targets, and of both beforehand; None where they see a frame."""

    @cached_property
    def dumped(self) -> tuple[bytes, bytes, bytes]:
        """The method, the attributes and the rest as bytes, made once for all jobs."""
        rest = self.losses, self.limits, self.on_failure, self.packages, self.has_known_code
        return dump(self.method), dump(self.attributes), dump(rest)

    def __reduce__(self) -> tuple[Any, ...]:
        return terms_from, self.dumped


def terms_from(method: bytes, attributes: bytes, rest: bytes) -> Terms:
    """What jobs have in common, sent to another process; each has a method of its own there."""
    losses, limits, on_failure, packages, is_known = _kept(rest)
    return Terms(pickle.loads(method), losses, limits, on_failure, packages, is_known, _kept(attributes))


@lru_cache(maxsize=64)
def _kept(dumped: bytes) -> Any:
    """What many jobs come with is read once."""
    return pickle.loads(dumped)


@dataclass(frozen=True)
class Package:
    """All that is needed to do one job anywhere; the truths are for scoring and never reach the method."""

    job: Job
    digest: str
    seed: int
    terms: Terms
    training: TrainingSet
    inputs: TestInputs
    truths: tuple[Truth, ...] = field(repr=False)
    units: Units | None = field(default=None, repr=False)
    """Which test cases belong together, where a metric asks for that."""

    def __str__(self) -> str:
        return str(self.job)


@dataclass(frozen=True)
class Batch:
    """Jobs of one method, most often on one task, to be done together; often one job only.

    Jobs of several methods have a method that does them all.
    """

    packages: tuple[Package, ...]
    method: Method | SealedMethod | None = None

    def __str__(self) -> str:
        first, more = self.packages[0], len(self.packages) - 1
        return f"{first} and {more} more" if more else str(first)

    def __reduce__(self) -> tuple[Any, ...]:
        """A job alone leaves to its terms what all such jobs have: half of the time to send it."""
        first = self.packages[0]
        if len(self.packages) > 1 or first.terms.attributes is None:
            return Batch, (self.packages, self.method)
        cases = first.training.cases, first.training.validation_size, first.inputs.cases
        own = first.job, first.digest, first.seed, *cases, first.truths, first.units
        return batch_from, (first.terms, pickle.dumps(own, pickle.HIGHEST_PROTOCOL))

    def parts(self) -> list[Batch]:
        """The jobs by themselves."""
        return [Batch((package,)) for package in self.packages]

    def by_method(self) -> list[Batch]:
        """The jobs of each method."""
        names = dict.fromkeys(one.job.method for one in self.packages)
        return [Batch(tuple(one for one in self.packages if one.job.method == name)) for name in names]


def batch_from(terms: Terms, own: bytes) -> Batch:
    """A job alone, sent to another process."""
    assert terms.attributes is not None
    job, digest, seed, known, validation_size, asked, truths, units = pickle.loads(own)
    inputs, outputs, prior = terms.attributes
    targets = tuple(truth.target for truth in truths)
    training = TrainingSet(inputs, outputs, prior, known, validation_size, targets=targets)
    shown = training, TestInputs(inputs, prior, asked)
    return Batch((Package(job, digest, seed, terms, *shown, truths, units),))


def pack_together(experiment: Experiment, jobs: Sequence[Job]) -> Batch:
    """Everything a worker needs for a batch; runs on the same instance are shown the same copy of it."""
    if len(jobs) == 1:
        return Batch((pack(experiment, jobs[0]),))
    shown: dict[tuple[str, int], tuple[TrainingSet, TestInputs]] = {}
    for job in jobs:
        if (job.task, job.instance) not in shown:
            shown[job.task, job.instance] = _lessons(experiment, job)
    packages = tuple(pack(experiment, job, shown[job.task, job.instance]) for job in jobs)
    return Batch(packages, _method_of_all(experiment, jobs))


def _method_of_all(experiment: Experiment, jobs: Sequence[Job]) -> Method | SealedMethod | None:
    """The method that does jobs of several methods, as workers have it."""
    methods = [experiment.methods[job.method] for job in jobs]
    batched = [one for one in methods if isinstance(one, BatchMethod)]
    if len({job.method for job in jobs}) == 1 or len(batched) < len(methods):
        return None
    return carried(batched[0].among(batched), jobs[0].method, experiment.limits)


def _lessons(experiment: Experiment, job: Job) -> tuple[TrainingSet, TestInputs]:
    assignment = experiment.assignments[job.task]
    looks_at = experiment.methods[job.method].looks_at
    targets = experiment.tasks[job.task].targets
    return lessons_of(assignment, assignment.instances[job.instance], looks_at, targets)


def pack(experiment: Experiment, job: Job, shown: tuple[TrainingSet, TestInputs] | None = None) -> Package:
    """Everything a worker needs for a job; without `shown`, the method has a copy of the cases for itself."""
    training, inputs = shown or _lessons(experiment, job)
    terms, instance = _terms(experiment, job), experiment.tasks[job.task].instances[job.instance]
    units = instance.units
    if units is not None and all(loss.mean_of_cases for loss in terms.losses):
        units = None
    named = experiment.digest(job), experiment.seed(job)
    return Package(job, *named, terms, training, inputs, instance.truths, units)


def _terms(experiment: Experiment, job: Job) -> Terms:
    """What the job has in common with all of its method on its task."""
    pair = job.task, job.method
    if pair not in experiment.terms:
        method, limits = _carried(experiment, job.method), experiment.limits
        if limits.isolated is not isinstance(method, SealedMethod):
            limits = replace(limits, isolated=isinstance(method, SealedMethod))
        assignment = experiment.assignments[job.task]
        sees_frame = assignment.own is not None and experiment.methods[job.method].looks_at != "columns"
        attributes = assignment.data.inputs, assignment.data.targets, assignment.task.prior
        experiment.terms[pair] = Terms(
            method,
            experiment.losses_of[job.task],
            limits,
            experiment.on_failure,
            experiment.packages[job.method],
            job.method in experiment.known,
            None if sees_frame else attributes,
        )
    return experiment.terms[pair]


def _carried(experiment: Experiment, name: str) -> Method | SealedMethod:
    """A method as workers have it."""
    if name not in experiment.carried:
        experiment.carried[name] = carried(experiment.methods[name], name, experiment.limits)
    return experiment.carried[name]


def split(assignment: Assignment, instance: Instance) -> tuple[TrainingSet, TestInputs, tuple[Truth, ...]]:
    """What the method sees and what scoring sees."""
    return *lessons_of(assignment, instance), truths_of(assignment, instance)


def lessons_of(
    assignment: Assignment,
    instance: Instance,
    looks_at: LooksAt = "columns",
    targets: tuple[Target, ...] | None = None,
) -> tuple[TrainingSet, TestInputs]:
    """What the method sees: copies for it alone, so that nobody is hurt by what it does to them.

    What it does not look at is left out, as it may have to be sent to another process. Whoever knows already
    what the assignment's `targets` are hands them over.
    """
    data, prior = assignment.data, assignment.task.prior
    targets = assignment_targets(assignment) if targets is None else targets
    own = None if looks_at == "columns" else assignment.own
    shown = () if own is not None and looks_at == "frame" else data.inputs
    columns = (*data.cases.columns[: len(shown)], *data.cases.columns[len(data.inputs) :])
    training = portable_columns(shown + data.targets, prior, columns, instance.training)
    inputs = portable_columns(shown, prior, columns[: len(shown)], instance.testing)
    learnt, asked = Cases(training, len(instance.training)), Cases(inputs, len(instance.testing))
    extra = assignment.task.prototask.extra
    validation = int(dict(extra).get(VALIDATION, "0")) if extra else 0
    training_set = partial(TrainingSet, shown, data.targets, prior, learnt, validation, targets=targets)
    if own is None:
        return training_set(), TestInputs(shown, prior, asked)
    known, unknown = (data.case_numbers[rows] - 1 for rows in (instance.training, instance.testing))
    return (
        training_set(own.inputs(known), own.outputs(known)),
        TestInputs(shown, prior, asked, own.inputs(unknown)),
    )


def truths_of(assignment: Assignment, instance: Instance) -> tuple[Truth, ...]:
    """The true targets of an instance's test cases."""
    columns = target_columns(assignment, instance)
    try:
        return truths_in(assignment_targets(assignment), columns)
    except PredictionError as error:  # no fault of a method
        raise SpecError(f"{assignment.address}, instance {instance.number}: {error}") from None


def target_columns(assignment: Assignment, instance: Instance) -> tuple[Column, ...]:
    """The columns of an instance's true targets."""
    data, prior = assignment.data, assignment.task.prior
    return portable_columns(data.targets, prior, data.cases.columns[len(data.inputs) :], instance.testing)


def assignment_targets(assignment: Assignment) -> tuple[Target, ...]:
    """What is to be predicted."""
    return targets_of(assignment.data.targets, assignment.task.prior)


def perform(package: Package) -> Record:
    """Do one job: let the method learn and answer, then score the answer."""
    started, terms = datetime.now(UTC).isoformat(timespec="milliseconds"), package.terms
    outcome = learn_and_answer(terms.method, package.training, package.inputs, package.seed, terms.limits)
    return _recorded(package, outcome, started)


def perform_batch(batch: Batch) -> tuple[Record, ...]:
    """Do the jobs together, or where that does not come to an end as it should, one after the other.

    Those of several methods are first tried method by method.
    """
    if len(batch.packages) == 1:
        return (perform(batch.packages[0]),)
    first, started = batch.packages[0], datetime.now(UTC).isoformat(timespec="milliseconds")
    method = batch.method or first.terms.method
    if isinstance(method, BatchMethod | SealedMethod):
        lessons = [CellLesson(one.training, one.inputs, one.seed) for one in batch.packages]
        outcomes = learn_and_answer_together(method, lessons, first.terms.limits)
        if outcomes is not None:
            pairs = zip(batch.packages, outcomes, strict=True)
            return tuple(_recorded(package, outcome, started) for package, outcome in pairs)
    if batch.method is not None:
        return tuple(record for part in batch.by_method() for record in perform_batch(part))
    return tuple(perform(package) for package in batch.packages)


def _recorded(package: Package, outcome: Outcome, started: str) -> Record:
    """The record of an outcome, scored."""
    surroundings = _surroundings(outcome, package.terms)
    record = Record(
        package.job,
        package.digest,
        package.seed,
        *_scored(package, outcome),
        costs=outcome.costs,
        started=started,
        environment=surroundings,
        told=outcome.told,
    )
    if record.status != "done" and package.terms.on_failure == BASELINE:
        return _stood_in_for(record, package)
    return record


def _surroundings(outcome: Outcome, terms: Terms) -> Mapping[str, str]:
    """Where and how the job was done."""
    if outcome.status == "done":
        return _surrounded(terms.packages, _isolation(outcome, terms))
    met = _limits_met(outcome.status, terms.limits)
    return {**environment(terms.packages), **met, ISOLATION: _isolation(outcome, terms)}


@cache
def _surrounded(packages: tuple[str, ...], isolation: str) -> Mapping[str, str]:
    """The same for jobs that met no limit: records share it."""
    return {**environment(packages), ISOLATION: isolation}


def _isolation(outcome: Outcome, terms: Terms) -> str:
    """How the method was kept from the true targets: methods without code of others need not be."""
    return KNOWN_CODE if outcome.isolation == SHARED and terms.has_known_code else outcome.isolation


def _limits_met(status: Status, limits: Limits) -> dict[str, str]:
    """What a job that ran out of something was allowed, so that it is tried again when it may use more."""
    if status == "out of time":
        return {SECONDS_ALLOWED: UNLIMITED if limits.seconds is None else repr(limits.seconds)}
    if status == "out of memory":
        return {MEMORY_ALLOWED: UNLIMITED if limits.memory is None else repr(limits.memory)}
    return {}


def _scored(package: Package, outcome: Outcome) -> tuple[Status, Mapping[str, Numbers], Answer | None, str]:
    """How it ended, the losses, the answer, why there is none: one that does not fit the task has failed."""
    if outcome.answer is None:
        return outcome.status, {}, None, outcome.message
    try:
        with np.errstate(**NUMPYS_OWN):
            losses = score(outcome.answer, package.truths, package.terms.losses, package.units)
    except RedelveError as error:
        return "failed", {}, None, str(error)
    return outcome.status, losses, outcome.answer, outcome.message


def _stood_in_for(record: Record, package: Package) -> Record:
    """The best constant answer in place of a method's own, so that a failure costs but does not vanish."""
    outcome = learn_and_answer(
        METHODS[FALLBACK], package.training, package.inputs, package.seed, Limits(isolated=False)
    )
    status, losses, answer, message = _scored(package, outcome)
    if status != "done":
        message = f'{record.message}; and "{FALLBACK}", which should stand in: {message}'
        return replace(record, message=message)
    return replace(record, losses=losses, answer=answer, fallback=FALLBACK)


def lost(package: Package, reason: str) -> Record:
    """The record of a job whose worker died with it, again and again."""
    record = Record(
        package.job,
        package.digest,
        package.seed,
        "crashed",
        message=reason,
        started=datetime.now(UTC).isoformat(timespec="milliseconds"),
        environment=environment(package.terms.packages),
    )
    return _stood_in_for(record, package) if package.terms.on_failure == BASELINE else record


def lost_batch(batch: Batch, reason: str) -> tuple[Record, ...]:
    """The same for all jobs of a batch."""
    return tuple(lost(package, reason) for package in batch.packages)


def task_facts(assignment: Assignment, chosen: Sequence[LossLike] | None = None) -> TaskFacts:
    """What scoring and analysis must know of a task: asked of its cases first, then of what they are."""
    task, data, instances = assignment.task, assignment.data, assignment.instances
    tested = np.unique(np.concatenate([instance.testing for instance in instances]))
    columns = [target_columns(assignment, one) for one in (Instance(0, tested[:0], tested), *instances)]
    commonality = assignment.commonality
    design = describe(instances, commonality, dependency_range=task.prototask.dependency_range)
    is_folded = assignment.scheme not in ("hierarchical", "common")
    caveats = () if is_folded else design.caveats()  # what is special of folds is in its notes
    digests = [instance.digest for instance in instances]
    units = [None] * len(instances) if commonality is None else commonality_units(instances, commonality)
    targets = targets_of(data.targets, task.prior)
    try:
        every, *truths = [truths_in(targets, each) for each in columns]
    except PredictionError as error:  # no fault of a method
        raise SpecError(f"{assignment.address}, instance 0: {error}") from None
    losses = losses_for(targets, chosen)
    own_losses = {loss.code: loss for loss in losses if not loss.is_builtin}
    numbers = [data.case_numbers[instance.testing] for instance in instances]
    sizes = [len(instance.training) for instance in instances]
    return TaskFacts(
        address=assignment.address,
        digest=assignment.digest,
        data_digest=data.cases.content_digest,
        training_set_size=task.training_set_size,
        scheme=assignment.scheme,
        repetitions=assignment.repetitions,
        targets=targets,
        instances=tuple(map(InstanceFacts, digests, sizes, numbers, truths, units)),
        baselines=baselines_by_loss(every, losses),
        usage=assignment.dataset.usage,
        origin=assignment.dataset.origin,
        input_count=len(data.inputs),
        case_count=data.cases.count,
        notes=tuple(dict.fromkeys((*assignment.notes, *caveats))),
        training_overlap=design.training_sets == "overlapping",
        test_overlap=design.test_sets == "overlapping",
        own_losses=own_losses,
        left_out=assignment.left_out,
    )
