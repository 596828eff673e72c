"""Which records of an archive are wanted: by method, task and version."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, TypeVar

from redelve.errors import LocationError
from redelve.run.results import MethodFacts, TaskFacts
from redelve.store.fact_files import read_methods, read_task, task_path, task_paths
from redelve.store.snapshot import SnapshotEntry

SHOWN_DIGITS = 8


class _Described(Protocol):
    @property
    def digest(self) -> str: ...


Facts = TypeVar("Facts", bound=_Described)
Versions = dict[str, dict[str, Facts]]


@dataclass(frozen=True)
class Chosen:
    """The entries wanted, with what their methods and tasks are."""

    entries: tuple[SnapshotEntry, ...]
    methods: Mapping[str, MethodFacts]
    tasks: Mapping[str, TaskFacts]


def choose(
    root: Path,
    entries: Sequence[SnapshotEntry],
    methods: Sequence[str] | None,
    tasks: Sequence[str] | None,
    registered: tuple[Mapping[str, MethodFacts], Mapping[str, TaskFacts]],
) -> Chosen:
    """The entries of the methods and tasks named, or of all; one version of each."""
    known_methods = _by_name(read_methods(root), lambda one: one.name)
    bare = (read_task(path, root, with_truths=False) for path in task_paths(root))
    known_tasks = _by_name(bare, lambda one: one.address)
    used = {entry.head.job.method: set[str]() for entry in entries}
    used_tasks = {entry.head.job.task: set[str]() for entry in entries}
    for entry in entries:
        used[entry.head.job.method].add(entry.head.method_digest)
        used_tasks[entry.head.job.task].add(entry.head.task_digest)
    chosen_methods = _versions("method", known_methods, methods, used, registered[0])
    chosen_tasks = _versions("task", known_tasks, tasks, used_tasks, registered[1])
    wanted = [entry for entry in entries if _is_wanted(entry, chosen_methods, chosen_tasks)]
    filled = {
        name: read_task(task_path(root, name, facts.digest), root) for name, facts in chosen_tasks.items()
    }
    return Chosen(_last_of_each(wanted), chosen_methods, filled)


def _by_name(facts: Iterable[Facts], name: Callable[[Facts], str]) -> Versions[Facts]:
    found: Versions[Facts] = {}
    for one in facts:
        found.setdefault(name(one), {})[one.digest] = one
    return found


def _versions(
    kind: str,
    known: Versions[Facts],
    wanted: Sequence[str] | None,
    used: Mapping[str, set[str]],
    registered: Mapping[str, Facts],
) -> dict[str, Facts]:
    """One version of each name that is wanted."""
    chosen: dict[str, Facts] = {}
    for text in known if wanted is None else wanted:
        name, _, start = (text, "", "") if text in known else text.rpartition("@")
        if name not in known:
            raise LocationError(f'no {kind} "{text}" in the archive: there are {", ".join(known) or "none"}')
        matching = [digest for digest in known[name] if digest.startswith(start)]
        usable = [digest for digest in matching if digest in used.get(name, ())] or matching
        if name in registered and registered[name].digest in usable:
            usable = [registered[name].digest]
        if len(usable) != 1:
            shown = " or ".join(f"{name}@{digest[:SHOWN_DIGITS]}" for digest in usable or known[name])
            raise LocationError(f'{kind} "{text}" is there in {len(usable)} versions: choose {shown}')
        chosen[name] = known[name][usable[0]]
    return chosen


def _is_wanted(
    entry: SnapshotEntry, methods: Mapping[str, MethodFacts], tasks: Mapping[str, TaskFacts]
) -> bool:
    head = entry.head
    method, task = methods.get(head.job.method), tasks.get(head.job.task)
    if method is None or task is None:
        return False
    return method.digest == head.method_digest and task.digest == head.task_digest


def _last_of_each(entries: Sequence[SnapshotEntry]) -> tuple[SnapshotEntry, ...]:
    """Of several records of one job, made under different limits, the one made last."""
    found: dict[object, SnapshotEntry] = {}
    for entry in sorted(entries, key=lambda entry: (entry.head.started, entry.head.digest)):
        found[entry.head.job] = entry
    return tuple(found.values())
