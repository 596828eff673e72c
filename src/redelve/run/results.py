"""What came of the jobs: a record of each, and many records together with what the tasks and methods are."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from redelve.answers.answer import Answer
from redelve.answers.case_identity import names_digest, truths_digest
from redelve.answers.losses import Loss, RememberedLoss, in_order, known_loss, primary_loss_for
from redelve.answers.losses.brought_scores import BROUGHT
from redelve.answers.predictions import Target, Truth
from redelve.errors import LocationError
from redelve.model import Scheme
from redelve.model.dataset import Numbers
from redelve.run.races import EarlierLook, Race

Status = Literal["done", "failed", "out of time", "out of memory", "crashed"]
Told = Mapping[str, float | str]
"""What a method tells of its own training, by name: epochs, errors, why it stopped."""
ANSWERS = "answers to a case"
"""What records tell whose losses are means over several answers: how many these are on average."""
IMPORTED = "imported"
"""Marks, in an environment, work of which there are files only: few digits, and a seed nobody knows."""
SECONDS_ALLOWED, MEMORY_ALLOWED, UNLIMITED = "seconds allowed", "bytes allowed", "no limit"
"""What the environment of a job that ran out of time or memory tells of its limits."""
ISOLATION = "isolation"
"""What the environment of a record calls how its method was kept from the true targets."""
CELL = "a process of its own"
SHARED = "none: its code shared a process with the true targets"
KNOWN_CODE = "none, and no code but of redelve and scikit-learn"
STATUSES: tuple[Status, ...] = ("done", "failed", "out of time", "out of memory", "crashed")


@dataclass(frozen=True, order=True)
class Job:
    """One piece of work: a method learns from an instance's training set and answers for its test set."""

    task: str
    method: str
    instance: int
    run: int = 0

    def __str__(self) -> str:
        run = f", run {self.run}" if self.run else ""
        return f"/{self.method}{self.task}, instance {self.instance}{run}"


@dataclass(frozen=True)
class Costs:
    """What a job took; None where it could not be measured. Scoring is not counted."""

    training_seconds: float | None = None
    prediction_seconds: float | None = None
    cpu_seconds: float | None = None
    peak_memory: int | None = None
    """Bytes in use at the highest point while the method was at work, what Python itself takes included."""


@dataclass(frozen=True, eq=False)
class Record:
    """A job done: its answer and the loss of every test case, or why there is none.

    Parameters
    ----------
    job
        Task, method, instance and run.
    digest
        A hash of task, method, instance and run, so that work is not done twice.
    seed
        The seed that the method's generator was made of.
    status
        ``"done"``, or what went wrong: ``"failed"``, ``"out of time"``, ``"out of memory"``, ``"crashed"``.
    losses
        The loss of every test case, by the loss's code.
    answer
        What the method said; an archive gives it only when asked.
    message
        Why there is no answer.
    fallback
        The method whose answer stands in where this one failed.
    costs
        Seconds, processor time and memory.
    started
        When, as ISO 8601 in UTC.
    environment
        Versions of packages, platform, processor: where it was done.
    told
        What the method told of its training.

    Notes
    -----
    The loss of every case is kept, so that means, tests and intervals can be computed later (Rasmussen
    et al. 1996, The DELVE manual, chapter 8).

    Examples
    --------
    >>> import redelve
    >>> assessment = redelve.assess(["constant"], "demo/age", sizes=[512], losses=["S"])
    >>> record = assessment.results.records[0]
    >>> record.status, record.job.method, sorted(record.losses)
    ('done', 'constant', ['S'])
    """

    job: Job
    digest: str
    seed: int
    status: Status
    losses: Mapping[str, Numbers] = field(default_factory=dict, repr=False)
    answer: Answer | None = field(default=None, repr=False)
    message: str = ""
    fallback: str | None = None
    costs: Costs = field(default_factory=Costs)
    started: str = ""
    """When, as ISO 8601 in UTC."""
    environment: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Versions of packages, platform, processor: where it was done."""
    told: Told = field(default_factory=dict, repr=False)
    """What the method told of its training."""

    @property
    def has_losses(self) -> bool:
        """Whether there is anything to analyse: the method's own answer or that of its stand-in."""
        return bool(self.losses)


@dataclass(frozen=True)
class InstanceFacts:
    """What scoring and analysis must know of an instance: its test cases, their truths and units."""

    digest: str
    training_set_size: int
    case_numbers: NDArray[np.int64] = field(repr=False)
    truths: tuple[Truth, ...] = field(repr=False)
    units: NDArray[np.int64] | None = field(default=None, repr=False)
    """Labels of dependent cases, where the dataset has commonality indexes."""
    names: NDArray[np.str_] | None = field(default=None, repr=False)
    """What the cases are called, where they come with names of their own and without truths."""
    weights: Numbers | None = field(default=None, repr=False)
    """How much each case counts, where they do not count alike."""
    columns: Mapping[str, NDArray[np.str_]] = field(default_factory=dict, repr=False)
    """What else is known of the cases, by the name of the column, where they came with more than scores."""

    @property
    def has_groups(self) -> bool:
        """Whether some of its cases belong together, so that there are fewer units than cases."""
        return self.units is not None and np.unique(self.units).size < self.units.size

    @cached_property
    def cases_digest(self) -> str:
        """Which test cases these are: a hash of their true values or names, in their order."""
        return truths_digest(self.truths) if self.names is None else names_digest(self.names)


@dataclass(frozen=True)
class TaskFacts:
    """What the analysis must know of a task; enough to score old predictions by new losses."""

    address: str
    digest: str
    data_digest: str
    training_set_size: int
    scheme: Scheme
    repetitions: int
    targets: tuple[Target, ...]
    instances: tuple[InstanceFacts, ...] = field(repr=False)
    baselines: Mapping[str, float | None]
    """The loss of the best constant answer, by code; what losses are standardised by (manual 8.3)."""
    usage: str = "?"
    origin: str = "?"
    input_count: int = 0
    case_count: int = 0
    notes: tuple[str, ...] = ()
    """What must be said of the design beside every result."""
    training_overlap: bool = False
    test_overlap: bool = False
    own_losses: Mapping[str, Loss] = field(default_factory=dict, repr=False)
    """Losses used here that do not come with redelve, by code: others may not know them."""
    left_out: tuple[str, ...] = ()
    """What of the data is not in use, in words: columns such as dates, ids and texts, cases."""
    test_ratio: float | None = None
    """Test cases over training cases, where folds are known by their scores alone."""
    remarks: tuple[str, ...] = ()
    """What reading scores of elsewhere found: the number of the validity rule that tells it, and the text."""
    is_fixed: bool = field(init=False, repr=False, compare=False)
    """Whether models are compared as they are: there are no training sets."""
    has_size: bool = field(init=False, repr=False, compare=False)
    """Whether anybody knows how many cases methods learnt from."""
    known_size: int | None = field(init=False, repr=False, compare=False)
    """How many cases methods learnt from; None where nobody knows."""
    contender: str = field(init=False, repr=False, compare=False)
    """What is compared, in the user's word: "method", "model"."""
    title: str = field(init=False, repr=False, compare=False)
    """What a reader calls the data: "/demo/age", or the name that fixed models' scores came with."""
    setting: str = field(init=False, repr=False, compare=False)
    """What losses are about, to begin a sentence with: "With 128 training cases", "On 500 cases"."""
    inner_setting: str = field(init=False, repr=False, compare=False)
    """The same inside a sentence."""
    what_is_new: str = field(init=False, repr=False, compare=False)
    """What a standard error is for: what could have been others."""

    def __post_init__(self) -> None:
        is_fixed, prototask = self.scheme == "fixed", self.address.rpartition("/")[0]
        has_size = not is_fixed and self.test_ratio is None and self.training_set_size > 0
        of_sets = "folds" if self.test_ratio is not None else "training sets"
        setting = f"Over {len(self.instances)} {of_sets}"
        if has_size:
            setting = f"With {self.training_set_size} training cases"
        elif is_fixed:
            setting = f"On {len(self.instances[0].case_numbers):,} cases"
        told = {
            "is_fixed": is_fixed,
            "has_size": has_size,
            "known_size": self.training_set_size if has_size else None,
            "contender": "model" if is_fixed else "method",
            "title": prototask.lstrip("/") if is_fixed else prototask,
            "setting": setting,
            "inner_setting": f"{setting[:1].lower()}{setting[1:]}",
            "what_is_new": "new cases" if is_fixed else "new training sets and new test cases",
        }
        for name, value in told.items():
            object.__setattr__(self, name, value)

    def loss(self, code: str) -> Loss:
        """The loss of this code, as far as it is known here."""
        return self.own_losses.get(code) or known_loss(code) or RememberedLoss(code)


@dataclass(frozen=True)
class MethodFacts:
    """What is known of a method: its identity and its summary."""

    name: str
    digest: str
    identity: Mapping[str, object]
    summary: str


@dataclass(frozen=True)
class LossFacts:
    """What the analysis must know of a loss on a task."""

    loss: Loss
    words: str
    """The loss as within a sentence."""
    best_words: str
    """What the best method has, such as "the smallest loss"."""
    is_shift: bool
    """Whether it has no natural zero."""
    is_share: bool
    """Whether it counts errors, each 0 or 1."""
    limits: tuple[float, float]
    """What is lost at least and at most."""
    difference_unit: str
    """What stands behind differences that users are shown."""


@dataclass(frozen=True)
class TaskResults:
    """What came of one task: the records of every method on it, by instance and run."""

    facts: TaskFacts
    records: Mapping[str, Sequence[Record]] = field(repr=False)
    primary: str
    """The loss that methods are judged by where nobody chooses."""
    losses: Mapping[str, LossFacts]
    """The losses that some record has, by code and in their order."""


@dataclass(frozen=True)
class Results:
    """Records, with what their tasks and methods are.

    Parameters
    ----------
    tasks
        What is known of the tasks, by address.
    methods
        What is known of the methods, by name.
    records
        What came of the jobs; their order does not matter.
    races
        The races on tasks whose training sets were added until they were settled, by address.
    looked
        What was analysed before, by address.

    Notes
    -----
    Results say nothing of which method is better: `Assessment` asks them. They come from `assess`, or
    from an archive by `Archive.load`.

    Examples
    --------
    >>> import redelve
    >>> results = redelve.assess(["constant"], "demo/age", sizes=[512], losses=["S"]).results
    >>> list(results.tasks), list(results.methods), len(results.of("constant", "/demo/age/std.512"))
    (['/demo/age/std.512'], ['constant'], 2)
    >>> list(results.failures)
    []
    """

    tasks: Mapping[str, TaskFacts]
    methods: Mapping[str, MethodFacts]
    records: tuple[Record, ...] = field(repr=False)
    races: Mapping[str, Race] = field(default_factory=dict, repr=False)
    looked: Mapping[str, tuple[EarlierLook, ...]] = field(default_factory=dict, repr=False, compare=False)
    failures: tuple[Record, ...] = field(init=False, repr=False)
    """The records of jobs that did not come to an answer of their own."""
    is_fixed: bool = field(init=False, repr=False, compare=False)
    """Whether all tasks compare models as they are, without training sets."""
    contender: str = field(init=False, repr=False, compare=False)
    """What is compared, in the user's word."""
    is_brought: bool = field(init=False, repr=False, compare=False)
    """Whether all scores were computed elsewhere: nothing was run, and nothing is known of jobs."""

    def __post_init__(self) -> None:
        is_fixed = bool(self.tasks) and all(facts.is_fixed for facts in self.tasks.values())
        object.__setattr__(self, "is_fixed", is_fixed)
        object.__setattr__(self, "contender", "model" if is_fixed else "method")
        codes = [code for facts in self.tasks.values() for code in facts.baselines]
        object.__setattr__(
            self, "is_brought", bool(codes) and all(code.startswith(BROUGHT) for code in codes)
        )
        records = tuple(sorted(self.records, key=lambda record: record.job))
        object.__setattr__(self, "records", records)
        object.__setattr__(self, "failures", tuple(one for one in records if one.status != "done"))

    def __repr__(self) -> str:
        done, count = len(self.records) - len(self.failures), len(self.records)
        what = f"{len(self.methods)} {self.contender}s on {len(self.tasks)} tasks"
        return f"<Results of {what}{'' if self.is_brought else f': {done} of {count} jobs done'}>"

    @cached_property
    def _by_pair(self) -> dict[tuple[str, str], list[Record]]:
        found: dict[tuple[str, str], list[Record]] = {}
        for record in self.records:
            found.setdefault((record.job.task, record.job.method), []).append(record)
        return found

    def is_looked_at(self, job: Job) -> bool:
        """Whether a look of a race was taken after a job, so that it stays as it is."""
        race = self.races.get(job.task)
        return race is not None and job.instance < race.sets

    @property
    def jobs_ahead(self) -> int:
        """How many jobs the races that are not over lack until their next looks."""
        count = 0
        for address, race in self.races.items():
            sets, methods = race.jobs_ahead
            done = [one for name in methods for one in self.of(name, address) if one.job.instance in sets]
            count += len(sets) * len(methods) * race.plan.runs - len(done)
        return count

    def of(self, method: str, task: str) -> Sequence[Record]:
        """The records of a method on a task, by instance and run."""
        return self._by_pair.get((task, method), [])

    def on(self, address: str) -> TaskResults:
        """What came of a task."""
        facts, records = self.task(address), {name: self.of(name, address) for name in self.methods}
        codes = in_order({code for each in records.values() for one in each for code in one.losses})
        losses = {code: facts.loss(code) for code in codes}
        told = {
            code: LossFacts(
                one,
                one.words,
                one.best_words,
                one.is_shift,
                one.is_share,
                one.limits(facts.targets),
                one.difference_unit,
            )
            for code, one in losses.items()
        }
        primary = primary_loss_for(facts.targets) if facts.targets else next(iter(told), "")
        return TaskResults(facts, records, primary, told)

    def task(self, address: str) -> TaskFacts:
        """What is known of a task."""
        if address not in self.tasks:
            raise LocationError(f'no results for task "{address}": there are {", ".join(self.tasks)}')
        return self.tasks[address]

    def method(self, name: str) -> MethodFacts:
        """What is known of a method."""
        if name not in self.methods:
            raise LocationError(f'no results of method "{name}": there are {", ".join(self.methods)}')
        return self.methods[name]

    def select(self, *, methods: Sequence[str] | None = None, tasks: Sequence[str] | None = None) -> Results:
        """The results of some methods and tasks only."""
        kept_methods = {name: self.method(name) for name in methods or self.methods}
        kept_tasks = {address: self.task(address) for address in tasks or self.tasks}
        records = tuple(
            record
            for record in self.records
            if record.job.method in kept_methods and record.job.task in kept_tasks
        )
        return replace(
            self,
            methods=kept_methods,
            tasks=kept_tasks,
            records=records,
            races={address: race for address, race in self.races.items() if address in kept_tasks},
            looked={address: looks for address, looks in self.looked.items() if address in kept_tasks},
        )


PACKAGES = ("redelve", "numpy", "scipy", "scikit-learn", "pandas", "pyarrow")


@cache
def environment(more: tuple[str, ...] = ()) -> dict[str, str]:
    """Where a job is done: what may make a difference to a result or to its costs.

    `more` are packages that the method uses beside the usual ones. Names of users, machines and folders stay
    out.
    """
    import platform
    from importlib.metadata import PackageNotFoundError, version

    found = {
        "python": platform.python_version(),
        "system": platform.system(),
        "machine": platform.machine(),
        "processor": _processor(),
        "cores": str(os.cpu_count() or 1),
    }
    for name in (*PACKAGES, *more):
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def _processor() -> str:
    import platform

    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:  # noqa: PTH123
            names = [line.partition(":")[2].strip() for line in file if line.startswith("model name")]
    except OSError:
        names = []
    return names[0] if names else platform.processor()
