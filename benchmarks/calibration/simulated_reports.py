"""Reports on simulated data as `redelve.assess` would make them, without its executor.

The designs are those that redelve chooses for such data by itself, the facts of the tasks those of its own
experiment; what the data themselves decide (stratified folds, what the best constant loses) is made anew for
every data set. A test compares the texts with those of `assess`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache

import numpy as np
import pandas as pd

from benchmarks.calibration.exchangeable import PROBLEMS, Drawn, Numbers, Problem, Rows
from benchmarks.calibration.simulation import Generator
from redelve.answers.answer import baselines_by_loss, losses_for
from redelve.answers.predictions import Truth
from redelve.data.tables.first_look import choose_design
from redelve.data.tables.named_designs import fold_lists
from redelve.data.tasks import task
from redelve.findings import Findings, find
from redelve.model import Assignment
from redelve.run.experiment import task_facts
from redelve.run.results import Job, MethodFacts, Record, Results, TaskFacts

LEVELS = ("a", "b")
TARGET = "y"


@dataclass(frozen=True)
class PlannedTask:
    """A task's facts and, for every instance, the training and the test cases as rows of the data."""

    facts: TaskFacts
    rows: tuple[tuple[Rows, Rows], ...]


def frame_of(problem: Problem, drawn: Drawn) -> pd.DataFrame:
    """The data as a user has them."""
    frame = pd.DataFrame(drawn.inputs, columns=[f"x{k}" for k in range(drawn.inputs.shape[1])])
    codes = drawn.targets.astype(int)
    frame[TARGET] = np.array(LEVELS)[codes] if problem.has_classes else drawn.targets
    return frame


@cache
def planned_tasks(problem: str, cases: int, columns: int, name: str) -> tuple[PlannedTask, ...]:
    """The tasks that redelve makes of such a table, smallest training sets first."""
    kind = PROBLEMS[problem]
    drawn = kind.draw(cases, columns, np.random.default_rng(0))
    taken = task(frame_of(kind, drawn), TARGET, name=name, groups=drawn.groups)
    return tuple(planned(one, kind.code) for one in taken.assignments)


def planned(one: Assignment, code: str) -> PlannedTask:
    """What is known of a task before its data are drawn anew."""
    numbers = one.data.case_numbers
    rows = tuple((numbers[each.training] - 1, numbers[each.testing] - 1) for each in one.instances)
    return PlannedTask(task_facts(one, [code]), rows)


def tasks_for(problem: Problem, drawn: Drawn, name: str) -> tuple[PlannedTask, ...]:
    """The tasks of this very data set."""
    found = planned_tasks(problem.name, *drawn.inputs.shape, name)
    if problem.has_classes and found[0].facts.scheme == "cross-validation":
        found = (_stratified(found[0], drawn.targets, name),)
    found = tuple(standardised(problem, one, drawn.targets) for one in found)
    return tuple(with_truths(one, drawn.targets) for one in found) if problem.has_classes else found


def with_truths(planned: PlannedTask, targets: Numbers) -> PlannedTask:
    """The task with the truths of these cases, which tell how the classes are spread over folds."""
    target = planned.facts.targets[0]
    instances = tuple(
        replace(one, truths=(Truth.exact(target, targets[test]),))
        for one, (_, test) in zip(planned.facts.instances, planned.rows, strict=True)
    )
    return PlannedTask(replace(planned.facts, instances=instances), planned.rows)


def _stratified(planned: PlannedTask, targets: Numbers, name: str) -> PlannedTask:
    """Folds that have their share of each class."""
    classes = targets.astype(np.int64)
    counts = {level: int((classes == code).sum()) for code, level in enumerate(LEVELS)}
    choice, numbers = choose_design(len(targets), class_counts=counts), np.arange(1, len(targets) + 1)
    lists = fold_lists(choice, numbers, seed_names=(name, choice.order), classes=classes)
    rows = tuple((np.asarray(train) - 1, np.asarray(test) - 1) for train, test in lists)
    instances = tuple(
        replace(one, training_set_size=len(train), case_numbers=test + 1)
        for one, (train, test) in zip(planned.facts.instances, rows, strict=True)
    )
    return PlannedTask(replace(planned.facts, instances=instances), rows)


def standardised(problem: Problem, planned: PlannedTask, targets: Numbers) -> PlannedTask:
    """The task with what the best constant answer loses on these test cases."""
    tested = np.unique(np.concatenate([test for _, test in planned.rows]))
    truth = Truth.exact(planned.facts.targets[0], targets[tested])
    losses = losses_for(planned.facts.targets, [problem.code])
    return replace(planned, facts=replace(planned.facts, baselines=baselines_by_loss([truth], losses)))


def known_methods(count: int) -> dict[str, MethodFacts]:
    """Methods that see a column each, the column of their number."""
    names = [f"m{number}" for number in range(count)]
    return {name: MethodFacts(name, name, {"kind": "function"}, f"{name} sees a column.") for name in names}


def records_of(
    problem: Problem,
    drawn: Drawn,
    planned: PlannedTask,
    names: Sequence[str],
    instances: Iterable[int],
    start: int,
) -> list[Record]:
    """What these methods lose on these instances of a task, in records numbered from the start."""
    made: list[Record] = []
    for instance in instances:
        train, test = planned.rows[instance]
        y, truth = drawn.targets[train], drawn.targets[test]
        for name in names:
            column = int(name[1:])
            x, asked = drawn.inputs[train, column], drawn.inputs[test, column]
            losses = {problem.code: problem.loss(problem.learn(x, y, asked), truth)}
            job = Job(planned.facts.address, name, instance)
            made.append(Record(job, f"{job}", start + len(made), "done", losses))
    return made


def simulated_results(problem: Problem, several: Sequence[Drawn]) -> Results:
    """What all methods lose on the tasks of these data sets, each with the column of its number."""
    methods = known_methods(several[0].inputs.shape[1])
    tasks: dict[str, TaskFacts] = {}
    records: list[Record] = []
    for number, drawn in enumerate(several):
        for one in tasks_for(problem, drawn, f"data{number}"):
            tasks[one.facts.address] = one.facts
            records += records_of(problem, drawn, one, list(methods), range(len(one.rows)), len(records))
    return Results(tasks, methods, tuple(records))


def simulated_findings(problem: Problem, cases: int, methods: int, tasks: int, rng: Generator) -> Findings:
    """The findings on so many new data sets, tasks of one report."""
    several = [problem.draw(cases, methods, rng) for _ in range(tasks)]
    return find(simulated_results(problem, several), problem.code)
