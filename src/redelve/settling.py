"""Until settled: methods race over training sets, look by look, and drop out when they are shown to be worse.

Looks are planned before the first job. Between two looks the methods still in the race work on the next
training sets; then `findings.racing` looks, the race is kept in the archive, and it goes on until one method
is left, all that are left are equivalent within the margin, or training sets or time are used up.
"""

from __future__ import annotations

import re
import time
from collections.abc import Collection, Generator, Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING

from redelve.data.tables.first_look import FEWEST_TO_DIVIDE
from redelve.errors import SpecError
from redelve.findings.by_method import primary_loss
from redelve.findings.claims import LEVEL, parts_of_level, prototask_of
from redelve.findings.margin import Margin
from redelve.findings.racing import look_at
from redelve.model import Assignment
from redelve.model.designs import draw_task
from redelve.run.experiment import Experiment
from redelve.run.races import Race, RaceLook, RacePlan
from redelve.run.results import Job, Record, Results
from redelve.run.workers import workers_for
from redelve.stats.sequential import FIRST_LOOK, MOST_SETS, planned_looks
from redelve.store import Archive
from redelve.store.archive import Watch, carry_out
from redelve.store.look_files import begun_race, keep_looks, looked_before, now

if TYPE_CHECKING:
    from redelve.run.progress import RecordStream
    from redelve.run.workers import WorkersLike

ENOUGH_SETS = (16, 8, FIRST_LOOK)
"""The size raced is the largest with so many training sets; if none has, the largest with the next number."""
UNITS = {"": 1.0, "s": 1.0, "min": 60.0, "h": 3600.0, "d": 86400.0}
SPAN = re.compile(r"\s*+(\d++(?:\.\d*+)?+|\.\d++)\s*+([a-z]*+)\s*+")

Work = tuple[str, str]
"""A task and a method."""
BudgetLike = float | str
"""Seconds, or a text such as "30min"."""


def seconds_of(budget: BudgetLike) -> float:
    """A span of time in seconds.

    >>> seconds_of("30min"), seconds_of("1.5 h"), seconds_of(90)
    (1800.0, 5400.0, 90.0)
    """
    found = SPAN.fullmatch(f"{budget:f}" if isinstance(budget, float) else str(budget))
    if found is None or found[2] not in UNITS or not float(found[1]) > 0:
        raise SpecError(f'budget is "{budget}": give seconds, or a span of time such as 90s, 30min, 8h or 2d')
    return float(found[1]) * UNITS[found[2]]


def check_racers(methods: Collection[str]) -> None:
    """Refuse a race of one, which is over before it begins."""
    if len(methods) < 2:
        told = "".join(f" ({name})" for name in methods)
        raise SpecError(
            f"a race needs two methods or more, not {len(methods)}{told}: name another one to compare it "
            "with, or assess it without until_settled (--until-settled)"
        )


# Which training sets


def raced_assignments(assignments: Iterable[Assignment]) -> dict[str, Assignment]:
    """For every prototask the training-set size that is raced, with as many training sets as there may be."""
    prototasks: dict[str, list[Assignment]] = {}
    for one in assignments:
        prototasks.setdefault(prototask_of(one.address), []).append(one)
    chosen = [_raced(several) for several in prototasks.values()]
    return {one.address: one for one in chosen}


def _raced(several: Sequence[Assignment]) -> Assignment:
    """The largest size that gives enough training sets."""
    drawn = sorted(map(_redrawn, several), key=lambda one: -one.task.training_set_size)
    for enough in ENOUGH_SETS:
        for one in drawn:
            if len(one.instances) >= enough:
                return one
    most = max(len(one.instances) for one in drawn)
    raise SpecError(
        f"{prototask_of(drawn[0].address)}: a race looks after {FIRST_LOOK} training sets for the first "
        f"time, but there are {most}: choose a smaller training-set size, or assess it without until_settled"
    )


def check_design(assignment: Assignment) -> None:
    """Refuse a task whose training sets can't be added one by one, be it chosen or for want of cases."""
    if assignment.scheme in ("hierarchical", "common"):
        return
    cases = assignment.data.cases.count
    if cases < FEWEST_TO_DIVIDE:
        raise SpecError(
            f"{assignment.address}: {cases} cases are too few for training sets that share no case, which a "
            "race adds one by one: assess it without until_settled, or gather more cases"
        )
    what = "goes forward in time" if assignment.scheme == "time" else "is cross-validated"
    raise SpecError(
        f"{assignment.address} {what}, so its training sets overlap, and a race adds training sets that "
        "share no case: leave out that design if you chose it (--cv, --design, [design] in a description), "
        "gather more groups if you did not, or assess it without until_settled"
    )


def _redrawn(assignment: Assignment) -> Assignment:
    """The task with as many training sets as a race may use; one whose sets are listed stays as it is."""
    task = assignment.task
    check_design(assignment)
    if draw_task(assignment.dataset, task, assignment.data) != assignment.instances:
        return assignment
    longer = replace(task, prototask=replace(task.prototask, maximum_instances=MOST_SETS))
    try:
        instances = draw_task(assignment.dataset, longer, assignment.data)
    except SpecError:  # its test cases can't be divided into so many test sets
        return assignment
    counted = f"of {len(assignment.instances)} training sets"
    notes = [f"in the usual design {note}" if counted in note else note for note in assignment.notes]
    return replace(assignment, task=longer, instances=instances, notes=tuple(notes))


# The race


@dataclass(frozen=True)
class Settling:
    """How to race: the margin, who works, where and how long from now on, and the loss to judge by."""

    margin: Margin | None = None
    budget: float | None = None
    """Seconds for all races together: no job begins that would probably end after them."""
    archive: Path | None = None
    workers: WorkersLike = 1
    watch: Watch = lambda records, jobs: records
    retry: str | None = None
    """Which failed jobs of the part of a race that is not decided yet are done again."""
    loss: str | None = None
    """The loss to judge by; the usual one of each task if left out."""
    started: float = field(default_factory=time.monotonic)
    longest: dict[Work, float] = field(default_factory=dict)
    """The seconds that the longest job of a method on a task took."""
    out: set[Job] = field(default_factory=set)
    """Jobs that were handed out and have not ended."""

    @property
    def elapsed(self) -> float:
        """The seconds since it was asked for."""
        return time.monotonic() - self.started

    def may_begin(self, jobs: Sequence[Job]) -> bool:
        """Whether the budget leaves time for these jobs, after those that were handed out before them."""
        if self.budget is None:
            return True
        hands = max(workers_for(self.workers).at_once // 2, 1)
        needed = self._expected(self.out) / hands + self._expected(jobs)
        is_time = self.elapsed + needed < self.budget
        self.out.update(jobs if is_time else ())
        return is_time

    def _expected(self, jobs: Iterable[Job]) -> float:
        """The seconds of some jobs, if none takes longer than the longest of its kind; 0 for the first."""
        return sum(self.longest.get((job.task, job.method), 0.0) for job in jobs)

    def learn(self, records: Iterable[Record]) -> None:
        """Remember how long jobs took."""
        for record in records:
            costs, work = record.costs, (record.job.task, record.job.method)
            seconds = (costs.training_seconds or 0.0) + (costs.prediction_seconds or 0.0)
            self.longest[work] = max(seconds, self.longest.get(work, 0.0))
            self.out.discard(record.job)

    def watched(self, records: RecordStream, jobs: Sequence[Job]) -> RecordStream:
        """The records; how long their jobs took is remembered."""
        return self.watch(self._timed(records), jobs)

    def _timed(self, records: RecordStream) -> Generator[Record, None, None]:
        with closing(records):
            for record in records:
                self.learn([record])
                yield record


def settle(experiment: Experiment, how: Settling) -> Results:
    """The results of races, one after the other, with what each of them found."""
    check_racers(experiment.methods)
    how = replace(how, workers=workers_for(how.workers, threads=experiment.limits.threads))
    experiment = replace(experiment, may_begin=how.may_begin)
    plans = [_plan(experiment, address, how) for address in experiment.assignments]
    if how.archive is not None:
        how = replace(how, archive=Archive.open(how.archive, create=True).root)
    begun = [_begun(plan, how.archive) for plan in plans]  # all plans are fixed before the first job
    records: list[Record] = []
    races = {kept.plan.task: _run_race(kept, experiment, how, records) for kept in begun}
    if not records:
        raise SpecError(
            f"the budget of {how.budget:g} s was used up before any job was done: give the same command "
            "again with a larger one"
        )
    looked = {} if how.archive is None else looked_before(how.archive, races)
    return replace(experiment.results(records), races=races, looked=looked)


def _plan(experiment: Experiment, address: str, how: Settling) -> RacePlan:
    facts = experiment.tasks[address]
    codes = [loss.code for loss in experiment.losses_of[address]]
    loss = how.loss or primary_loss(facts)
    if loss not in codes:
        raise SpecError(f'{address} has no loss "{loss}" to judge a race by: it has {", ".join(codes)}')
    judge = facts.loss(loss)
    if how.margin is not None and judge.is_shift and judge.limits(facts.targets)[0] < 0:
        how.margin.refuse_share(f"{judge.words} on {address}")
    return RacePlan(
        address,
        facts.digest,
        loss,
        {name: one.digest for name, one in experiment.learners.items()},
        planned_looks(len(facts.instances)),
        LEVEL / parts_of_level(len(experiment.assignments)),
        None if how.margin is None else str(how.margin),
        experiment.runs,
    )


def _begun(plan: RacePlan, archive: Path | None) -> Race:
    """The race with this plan, as far as it went."""
    return Race(plan) if archive is None else begun_race(archive, plan)


def _run_race(kept: Race, experiment: Experiment, how: Settling, records: list[Record]) -> Race:
    """A race, from where it was stopped; its records are added to those given."""
    race = Race(kept.plan)
    while not race.is_over:
        leg = _leg(experiment, race)
        is_new = len(race.looks) >= len(kept.looks)
        retry = how.retry if is_new else "none"  # what was decided stays
        made = carry_out(leg, how.archive, workers=how.workers, watch=how.watched, retry=retry).records
        how.learn(made)
        records += made
        if len(made) < len(leg.jobs or ()):
            break
        race = replace(race, looks=(*race.looks, _next_look(experiment, race, kept, records)))
        if how.archive is not None and len(race.looks) > len(kept.looks):
            keep_looks(how.archive, race)
    return race


def _next_look(experiment: Experiment, race: Race, kept: Race, records: list[Record]) -> RaceLook:
    """The next look: as it was taken before, or taken now."""
    number = len(race.looks)
    if number < len(kept.looks):
        return kept.looks[number]
    work = experiment.results(records).on(race.plan.task)
    return look_at(work, race, now())


def _leg(experiment: Experiment, race: Race) -> Experiment:
    """The jobs between two looks: the methods still in the race on the next training sets."""
    address, number = race.plan.task, len(race.looks)
    instances = range(race.sets, race.plan.looks[number])
    jobs = {
        Job(address, name, instance, run): experiment.seed(Job(address, name, instance, run))
        for instance, run, name in product(instances, range(experiment.runs), race.left)
    }
    methods = {name: experiment.methods[name] for name in race.left}
    only: Mapping[str, Assignment] = {address: experiment.assignments[address]}
    return replace(experiment, methods=methods, assignments=only, jobs=jobs)
