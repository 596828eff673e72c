"""What the results themselves do not know: the command, the data in words, whose problems they are."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from redelve.registry import Registry

if TYPE_CHECKING:
    from redelve.findings import Findings
    from redelve.model import Assignment
    from redelve.report.table_values import ReportTable
    from redelve.run.results import Results, TaskFacts


@dataclass(frozen=True)
class AttributeRow:
    """One attribute of a dataset, in words."""

    name: str
    role: str = ""
    type: str = ""
    range: str = ""
    description: str = ""


@dataclass(frozen=True)
class DataDescription:
    """A dataset in words; `source` is where others can get it (an address, a DOI, a paper)."""

    dataset: str
    title: str = ""
    source: str = ""
    attributes: tuple[AttributeRow, ...] = ()


@dataclass(frozen=True)
class ReportContext:
    """How a report came about; every part may be left out."""

    command: str = ""
    data: tuple[DataDescription, ...] = ()
    archive: str = ""
    version: str = ""
    elapsed: float | None = None
    """Seconds from the first job to the last."""

    def data_of(self, dataset: str) -> DataDescription | None:
        """What is said of a dataset, if anything."""
        return next((one for one in self.data if one.dataset == dataset), None)


def described(assignments: Iterable[Assignment]) -> tuple[DataDescription, ...]:
    """The datasets of the assignments in words, with the attributes that their tasks use."""
    found: dict[str, DataDescription] = {}
    for one in assignments:
        name, title = one.dataset.name, one.dataset.title or ""
        if name not in found:
            rows = (*_rows(one, "input"), *_rows(one, "target"))
            found[name] = DataDescription(name, title, attributes=rows)
    return tuple(found.values())


def _rows(assignment: Assignment, role: str) -> Iterable[AttributeRow]:
    prior = assignment.task.prior
    for one in assignment.data.inputs if role == "input" else assignment.data.targets:
        kind = prior.attribute(one.number).type
        yield AttributeRow(one.name, role, kind, str(one.range), one.description)


class ProblemCollection:
    """A published collection of problems, and what its readers expect of results on them."""

    def source(self, facts: TaskFacts) -> str:
        """Where others get the data of a task; empty for tasks that are not of the collection."""
        raise NotImplementedError

    def validation_sets(self, facts: TaskFacts) -> str:
        """What the collection says of validation sets; empty for tasks that are not of the collection."""
        raise NotImplementedError

    def words(self, findings: Findings) -> Mapping[int, str]:
        """Sentences for a paper by the number of the card's point, where they follow from the records."""
        raise NotImplementedError

    def tables(self, findings: Findings) -> tuple[ReportTable, ...]:
        """The results in the collection's own terms."""
        raise NotImplementedError


COLLECTIONS: Registry[type[ProblemCollection]] = Registry("problem collection")
COLLECTIONS.add("proben1", "redelve.studies.proben1.checklist:Proben1Collection")


def collections_of(results: Results) -> tuple[ProblemCollection, ...]:
    """The collections to ask: none where no task is in historical use, as published problems are.

    A file of the user's own may have the name of a published one.
    """
    if all(facts.usage != "historical" for facts in results.tasks.values()):
        return ()
    return tuple(COLLECTIONS[name]() for name in COLLECTIONS)
