"""What the results themselves do not know: the command that made them, the data in words, where they are."""

from __future__ import annotations

from dataclasses import dataclass


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
