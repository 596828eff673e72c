"""From what a user calls a task to assignments: addresses, tables made ready, assignments as they are."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from redelve.data.delve.reading import Library
from redelve.data.delve.roots import DataAddress, Overlay, TaskName, active
from redelve.data.tables import Intake
from redelve.errors import LocationError, SpecError
from redelve.model import Assignment

TaskLike = str | Assignment | Intake
"""An address such as `kin-8nm/dist` (all its training-set sizes), or something made ready from a table."""

STANDARD_PRIOR = "std"
PROBEN1 = "proben1:"
"""Before the name of a PROBEN1 problem, such as proben1:glass1, proben1:glass or proben1:glass1-quarters."""


def assignments_for(
    tasks: TaskLike | Iterable[TaskLike], *, sizes: Sequence[int] | None = None
) -> dict[str, Assignment]:
    """The assignments meant, by address; `sizes` chooses among the training-set sizes."""
    given = [tasks] if isinstance(tasks, str | Assignment | Intake) else list(tasks)
    library = Library(active())
    found: dict[str, Assignment] = {}
    for one in given:
        for assignment in _assignments(library, one, sizes):
            held = found.setdefault(assignment.address, assignment)
            if held.digest != assignment.digest:
                raise SpecError(
                    f"two different tasks are called {assignment.address}: give one of them another name"
                )
    if not found:
        raise SpecError("there is no task: give an address such as kin-8nm/dist")
    return found


def _assignments(library: Library, task: TaskLike, sizes: Sequence[int] | None) -> list[Assignment]:
    if isinstance(task, str) and task.startswith(PROBEN1):
        from redelve.data.proben1 import named

        return [named(task.removeprefix(PROBEN1))]
    if isinstance(task, str):
        return [library.task(one).assignment() for one in addresses(library.overlay, task, sizes)]
    every = [task] if isinstance(task, Assignment) else list(task.assignments)
    known = [one.task.training_set_size for one in every]
    chosen = _chosen(known, sizes, every[0].task.prototask.name)
    return [one for one in every if one.task.training_set_size in chosen]


def addresses(overlay: Overlay, name: str, sizes: Sequence[int] | None = None) -> list[DataAddress]:
    """The tasks that a name stands for: itself, or all that lie below it, with the standard prior if any."""
    address = DataAddress.parse(name if name.startswith("/") else f"/{name}")
    if address.dataset is None:
        raise LocationError('"/" is no task: give an address such as kin-8nm/dist (`dls /` lists datasets)')
    overlay.require_dataset(address.dataset)
    if address.task is not None:
        return [address]
    prototasks = [address.prototask] if address.prototask else overlay.prototasks(address.dataset)
    found = []
    for prototask in prototasks:
        overlay.require_prototask(address.dataset, prototask)
        parsed = [TaskName.parse(task) for task in overlay.tasks(address.dataset, prototask)]
        known = [task for task in parsed if task is not None]
        standard = [task for task in known if task.prior == STANDARD_PRIOR] or known
        chosen = _chosen([task.training_set_size for task in standard], sizes, prototask)
        parent = DataAddress(address.dataset, prototask)
        found += [parent.below(str(task)) for task in standard if task.training_set_size in chosen]
    return found


def _chosen(known: Sequence[int], sizes: Sequence[int] | None, prototask: str) -> set[int]:
    chosen = set(known) if sizes is None else set(known) & set(sizes)
    if not chosen:
        wanted, there = (", ".join(map(str, some)) for some in (sizes or (), sorted(set(known))))
        raise SpecError(f'prototask "{prototask}" has no training-set size {wanted}: it has {there}')
    return chosen
