"""A method's work on tasks: the directories that it has for them, and the files there."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from redelve.answers.losses import Loss, parse_loss
from redelve.data.delve.case_lists import CaseLists, read_instances
from redelve.data.delve.cases_used import CaseEvidence, difference, evidence_in, evidence_of
from redelve.data.delve.reading import CODING_USED, INSTANCES_USED, Library, TaskSource
from redelve.data.delve.roots import MethodAddress, TaskName, join_address
from redelve.data.files import read_text
from redelve.errors import LocationError, SpecError, reason_of
from redelve.model import Instance
from redelve.model.coding import Coding


@dataclass(frozen=True)
class MethodTask:
    """A method's work on a task: the files under one mpath in all active delve directories."""

    library: Library
    address: MethodAddress

    @cached_property
    def source(self) -> TaskSource:
        """The task worked on."""
        return self.library.task(self.address.data)

    @cached_property
    def names(self) -> frozenset[str]:
        """The files there are, compressed ones by their plain names."""
        overlay = self.library.overlay
        if overlay.kind(str(self.address), "methods") != "directory":
            raise LocationError(f'no results under "{self.address}": not found in delve path')
        return frozenset(overlay.listdir(str(self.address), "methods"))

    def find(self, name: str) -> Path | None:
        """A file of the task directory; the first in search order if several roots have one."""
        places = self.library.overlay.locate_all(f"{self.address}/{name}", "methods")
        return Path(places[0]) if places else None

    def require(self, name: str) -> Path:
        """A file of the task directory that must be there."""
        path = self.find(name)
        if path is None:
            raise LocationError(f'no file "{name}" under "{self.address}": run mgendata first')
        return path

    def read(self, name: str) -> tuple[str, str] | None:
        """A file's text and path, if it is there."""
        path = self.find(name)
        return None if path is None else (read_text(path), str(path))

    @cached_property
    def case_lists(self) -> CaseLists | None:
        """The explicit instances this method was run on, if they are not the standard ones."""
        found = self.read(INSTANCES_USED)
        return None if found is None else read_instances(*found)

    @cached_property
    def evidence(self) -> CaseEvidence:
        """What the directory tells of the cases that it was made for."""
        return evidence_in(self.read, len(self.source.task.prototask.targets))

    @cached_property
    def instances(self) -> tuple[Instance, ...] | None:
        """The task's instances as the active data have them; None where the cases are not at hand."""
        source = self.source
        dataset, prototask, _ = self.address.data
        places = (f"/{dataset}/Dataset.data", f"/{dataset}/{prototask}/Prototask.data")
        if not any(self.library.overlay.locate_all(place) for place in places):
            return None
        return source.instances(self.case_lists)

    @cached_property
    def other_data(self) -> str | None:
        """How the cases that the directory was made for differ from the active ones; None where they do not.

        None also where the data are not at hand, or nothing tells the cases.
        """
        if not self.evidence.is_there or self.instances is None:
            return None
        found = difference(self.evidence, evidence_of(self.source, self.instances))
        if found is None:
            return None
        dataset = self.source.dataset.name
        said = self.library.overlay.provenance(dataset)
        return f"{found}; /{dataset} is {said}" if said else f"{found}; /{dataset} has other cases now"

    def refuse_other_data(self) -> None:
        """Raise an error where the directory was made for other cases than those that are active."""
        if self.other_data is not None:
            raise SpecError(
                f"{self.address} was made for other data than the active ones ({self.other_data}): put the "
                f"data that it was made for into a delve directory of your own, where they take the place "
                f"of redelve's, or run mgendata and the method again"
            )

    def codings_used(self) -> Mapping[int, Coding]:
        """The encodings recorded by mgendata."""
        found = self.read(CODING_USED)
        if found is None:
            raise LocationError(
                f'coding file "{self.address}/{CODING_USED}" not found in delve path: run mgendata'
            )
        return self.source.codings(*found)

    def loss(self, code: str) -> Loss:
        """The loss with this code; the file of a loss matrix lies in the prototask's directory."""

        def load_matrix(name: str) -> str:
            cpath = f"/{self.address.dataset}/{self.address.prototask}/{name}"
            return read_text(self.library.overlay.locate(cpath, what="loss matrix"))

        return parse_loss(code, load_matrix)


def method_tasks(library: Library, path: str) -> list[tuple[Path, str, MethodTask]]:
    """True directory, name to show and files of every task directory that `path` stands for."""
    overlay = library.overlay
    true_path = Path(overlay.true_path(path))
    names = overlay.method_names(str(true_path))
    if not true_path.is_dir():
        raise LocationError(f'no directory "{path}": make it with mgendir')
    address = MethodAddress.parse(join_address(names))
    if address.method is None:
        raise LocationError(f'"{path}" is not a method\'s directory: change to one inside "methods"')
    found = [
        (directory, os.path.normpath(path) if not parts else str(Path(path, *parts)), parts)
        for directory, parts in _task_directories(true_path, 4 - len(names))
    ]
    if not found:
        raise LocationError(f'there are no task directories below "{path}": make them with mgendir')
    return [
        (
            directory,
            _as_written(path, shown),
            MethodTask(library, MethodAddress.parse(join_address((*names, *parts)))),
        )
        for directory, shown, parts in found
    ]


def _as_written(path: str, shown: str) -> str:
    return f"./{shown}" if path.startswith("./") and not shown.startswith(".") else shown


def _task_directories(directory: Path, depth: int) -> Iterator[tuple[Path, tuple[str, ...]]]:
    """The directories exactly `depth` levels down, tasks in the order of their sizes."""
    if depth == 0:
        yield directory, ()
        return
    try:
        inside = [entry for entry in directory.iterdir() if entry.is_dir() and not entry.name.startswith(".")]
    except OSError as error:
        raise LocationError(f'can\'t read directory "{directory}": {reason_of(error)}') from error
    for entry in sorted(inside, key=lambda entry: _order(entry.name)):
        if depth > 1 or TaskName.parse(entry.name) is not None:
            for found, parts in _task_directories(entry, depth - 1):
                yield found, (entry.name, *parts)


def _order(name: str) -> tuple[int, str]:
    parsed = TaskName.parse(name)
    return (0, name) if parsed is None else (parsed.training_set_size, parsed.prior)
