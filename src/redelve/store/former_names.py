"""Tasks that an archive of before knows by another name: only ASCII letters were kept then."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from redelve.data.tables.table_columns import former_name
from redelve.model import Assignment
from redelve.store.fact_files import task_path


def as_known(assignments: Mapping[str, Assignment], archive: Path) -> dict[str, Assignment]:
    """The assignments by the names that the archive knows them by, the very same cases and sets."""
    found = {}
    for one in assignments.values():
        former = before(one)
        is_known = task_path(archive, former.address, former.digest).exists()
        chosen = former if is_known else one
        found[chosen.address] = chosen
    return found


def before(assignment: Assignment) -> Assignment:
    """The assignment as it was called before."""
    dataset = replace(assignment.dataset, name=former_name(assignment.dataset.name))
    prototask = assignment.task.prototask
    called = replace(prototask, name=former_name(prototask.name, "target"), dataset=dataset.name)
    return replace(assignment, dataset=dataset, task=replace(assignment.task, prototask=called))
