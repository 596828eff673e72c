"""The same data under several names: tasks are known by their digests, and results on them stand together."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import replace
from pathlib import Path
from typing import Any

from redelve.model import Assignment
from redelve.run.results import Record, Results, TaskFacts
from redelve.store.fact_files import SHOWN_DIGITS, differing, read_task, task_paths
from redelve.store.layout import MARKER

Mark = tuple[Any, ...]
"""What makes a task what it is, its dataset's name apart."""


def mark_of(facts: TaskFacts) -> Mark:
    """What makes a task what it is, its name apart: every value, every training and every test set."""
    sets = tuple(one.digest for one in facts.instances)
    return facts.data_digest, _of_task(facts.address), facts.scheme, facts.repetitions, facts.targets, sets


def _of_task(address: str) -> str:
    """An address without the dataset's name: prototask, prior and training-set size.

    >>> _of_task("/people/age/std.64")
    'age/std.64'
    """
    return "/".join(address.split("/")[2:])


def mark_of_assignment(assignment: Assignment) -> Mark:
    """The same of a task that nothing was run on yet."""
    from redelve.run.experiment import assignment_targets

    targets = assignment_targets(assignment)
    sets = tuple(one.digest for one in assignment.instances)
    place, cases = _of_task(assignment.address), assignment.data.cases
    return cases.content_digest, place, assignment.scheme, assignment.repetitions, targets, sets


def same_tasks(tasks: Iterable[TaskFacts]) -> dict[str, str]:
    """For each task whose data an earlier name has too, that name; names are in the order of the alphabet."""
    first: dict[Mark, str] = {}
    found: dict[str, str] = {}
    for facts in sorted(tasks, key=lambda one: one.address):
        name = first.setdefault(mark_of(facts), facts.address)
        if name != facts.address:
            found[facts.address] = name
    return found


def joined(results: Results) -> Results:
    """The results with those on the same data under several names together, under the first name.

    Where one method has done a job under both names, the record under the first name counts. Races stay by
    themselves: their p-values are of their own methods.
    """
    results = _saying_apart(results)
    names = same_tasks(one for one in results.tasks.values() if one.address not in results.races)
    if not names:
        return results
    ranked = sorted(results.records, key=lambda one: one.job.task in names)
    records: dict[object, Record] = {}
    for record in ranked:
        job = replace(record.job, task=names.get(record.job.task, record.job.task))
        records.setdefault(job, replace(record, job=job))
    tasks = {address: facts for address, facts in results.tasks.items() if address not in names}
    for name in dict.fromkeys(names.values()):
        others = ", ".join(other for other, first in names.items() if first == name)
        told = f"{others} has the same data and the same sets: its results stand here"
        tasks[name] = replace(tasks[name], left_out=(*tasks[name].left_out, told))
    return replace(results, tasks=tasks, records=tuple(records.values()))


def _saying_apart(results: Results) -> Results:
    """The results, where tasks with the same data as another one that is raced, or is not, say so."""
    tasks = dict(results.tasks)
    for other, first in same_tasks(results.tasks.values()).items():
        if not results.races.keys().isdisjoint((other, first)):
            told = f"the same data and sets as {first}; they stand apart because of a race"
            tasks[other] = replace(tasks[other], notes=(*tasks[other].notes, told))
    return replace(results, tasks=tasks)


def adopted(path: Path, assignments: Mapping[str, Assignment]) -> dict[str, Assignment]:
    """The tasks, under the names by which an archive knows the same data, so that its results count."""
    if not (path / MARKER).is_file():
        return dict(assignments)
    known: dict[Mark, str] = {}
    addresses = set()
    for place in task_paths(path):
        facts = read_task(place, path, with_truths=False)
        addresses.add(facts.address)
        known.setdefault(mark_of(facts), facts.address)
    made = [_named(one, known, addresses) for one in assignments.values()]
    return {one.address: one for one in made}


def _named(one: Assignment, known: Mapping[Mark, str], addresses: set[str]) -> Assignment:
    """The task by the name of the same data, unless its own name is there already."""
    address = one.address if one.address in addresses else known.get(mark_of_assignment(one), one.address)
    if address == one.address:
        return one
    name = address.split("/")[1]
    task = replace(one.task, prototask=replace(one.task.prototask, dataset=name))
    told = f"{one.address} has the same data as {address} of the archive, and goes by that name"
    left_out = (*one.left_out, told)
    return replace(one, dataset=replace(one.dataset, name=name), task=task, left_out=left_out)


def same_data_told(tasks: Sequence[TaskFacts], raced: Set[str]) -> tuple[str, ...]:
    """Which tasks are the same under several names, in words; those that are raced stand apart."""
    same = same_tasks(tasks).items()
    aside = {other: "; apart, because of a race" for other, name in same if {other, name} & raced}
    return tuple(f"{other} is {name}: same data, same sets{aside.get(other, '')}" for other, name in same)


def aliases(root: Path, tasks: Mapping[str, TaskFacts]) -> dict[str, str]:
    """Other names of these tasks in an archive, with the versions meant, and the name here of each."""
    known = {mark_of(facts): address for address, facts in tasks.items()}
    every = [read_task(path, root, with_truths=False) for path in task_paths(root)]
    same = [(facts, known[mark]) for facts in every if (mark := mark_of(facts)) in known]
    return {f"{facts.address}@{facts.digest}": own for facts, own in same if facts.address != own}


def with_others(results: Results, there: Results, names: Mapping[str, str]) -> Results:
    """The results with those of methods that only the others have, by the names of tasks here."""
    new = [one for one in there.records if one.job.method not in results.methods and one.status == "done"]
    moved = [replace(one, job=replace(one.job, task=names[one.job.task])) for one in new]
    methods = {name: there.methods[name] for name in {one.job.method for one in new}}
    return replace(results, methods={**results.methods, **methods}, records=(*results.records, *moved))


def apart(root: Path) -> Iterator[str]:
    """The tasks that an archive holds in several versions, with what differs."""
    found: dict[str, list[TaskFacts]] = {}
    for path in task_paths(root):
        one = read_task(path, root, with_truths=False)
        found.setdefault(one.address, []).append(one)
    for address, versions in found.items():
        if len(versions) > 1:
            shown = ", ".join(f"{address}@{one.digest[:SHOWN_DIGITS]}" for one in versions)
            yield f"{shown}{differing(versions)}"
