"""The nouns behind the addresses: specifications, cases and instances of the active delve directories."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from redelve.answers.predictions import Target, Truth, target_of, truths_in
from redelve.data.delve.case_files import read_cases
from redelve.data.delve.case_lists import CaseLists, read_case_numbers
from redelve.data.delve.coding_files import read_codings
from redelve.data.delve.dataset_spec import read_dataset_spec
from redelve.data.delve.prior_files import check_covers, read_prior
from redelve.data.delve.prototask_spec import read_prototask_spec
from redelve.data.delve.roots import DataAddress, Overlay, active
from redelve.data.files import read_text
from redelve.data.problems import Problems
from redelve.errors import LocationError, SpecError
from redelve.model import Assignment, Instance, Prior, Prototask, PrototaskData, Task, is_missing
from redelve.model.coding import Coding
from redelve.model.dataset import Cases, Dataset, DatasetSpec, NumberColumn, Rows, WrittenColumn
from redelve.model.designs import draw_task, explicit_instances, prototask_caveats
from redelve.model.encodings import default_coding
from redelve.model.prototask import extract, used_attributes

INSTANCES_USED = "Instances-used"
CODING_USED = "Coding-used"
LARGEST_LIST = 1 << 30


@dataclass(frozen=True)
class Library:
    """What the active delve directories hold, as nouns."""

    overlay: Overlay
    _cases: dict[Prototask, PrototaskData] = field(default_factory=dict, repr=False, compare=False)

    def _read(self, cpath: str, what: str, limit: int = 64 << 20) -> tuple[str, str]:
        path = self.overlay.locate(cpath, what=what)
        return read_text(path, limit=limit), path

    def dataset_spec(self, dataset: str) -> DatasetSpec:
        """What Dataset.spec says."""
        self.overlay.require_dataset(dataset)
        text, path = self._read(f"/{dataset}/Dataset.spec", "specification file")
        return read_dataset_spec(text, dataset, path)

    def dataset(self, spec: DatasetSpec) -> Dataset:
        """A dataset with its cases."""
        return Dataset(spec, self._cases_in(f"/{spec.name}/Dataset.data", len(spec.attributes)))

    def _cases_in(self, cpath: str, width: int) -> Cases:
        raw = read_cases(self.overlay.locate(cpath, what="data file"), width)
        return Cases(raw.columns, raw.count, raw.commonality, dict(raw.comments))

    def prototask(self, spec: DatasetSpec, prototask: str) -> Prototask:
        """What Prototask.spec says."""
        self.overlay.require_prototask(spec.name, prototask)
        text, path = self._read(f"/{spec.name}/{prototask}/Prototask.spec", "specification file")
        return read_prototask_spec(text, prototask, spec, path)

    def prior(self, spec: DatasetSpec, prototask: Prototask, name: str) -> Prior:
        """What a prior file says, which must speak of every attribute in use."""
        text, path = self._read(f"/{spec.name}/{prototask.name}/{name}.prior", "prior file")
        prior = read_prior(text, name, spec, path)
        problems = Problems(path)
        check_covers(prior, prototask, spec, problems)
        problems.raise_first()
        return prior

    def task(self, address: DataAddress) -> TaskSource:
        """A task, from its address."""
        if address.dataset is None or address.prototask is None or address.task is None:
            raise LocationError(f"{address} is not a DELVE task: give /dataset/prototask/task")
        spec = self.dataset_spec(address.dataset)
        prototask = self.prototask(spec, address.prototask)
        name = self.overlay.require_task(address.dataset, address.prototask, address.task)
        prior = self.prior(spec, prototask, name.prior)
        return TaskSource(self, spec, Task(prototask, prior, name.training_set_size))

    def prototask_data(self, spec: DatasetSpec, prototask: Prototask) -> PrototaskData:
        """The cases of a prototask, read once: from Dataset.data, or else from Prototask.data."""
        if prototask not in self._cases:
            self._cases[prototask] = self._extract(spec, prototask)
        return self._cases[prototask]

    def _extract(self, spec: DatasetSpec, prototask: Prototask) -> PrototaskData:
        if not self.overlay.locate_all(f"/{spec.name}/Dataset.data"):
            return self._stored_prototask_data(spec, prototask)
        case_list = order = None
        if prototask.cases not in ("all", "no missing"):
            case_list = self._case_numbers(prototask, prototask.cases, "case file")
        if prototask.order != "retain":
            order = self._case_numbers(prototask, prototask.order, "order file")
        dataset = self.dataset(spec)
        try:
            return extract(dataset, prototask, case_list=case_list, order=order)
        except SpecError as error:
            names = [prototask.cases] * (case_list is not None) + [prototask.order] * (order is not None)
            raise SpecError(f"/{spec.name}/{prototask.name} ({', '.join(names)}): {error}") from None

    def _case_numbers(self, prototask: Prototask, name: str, what: str) -> list[int]:
        text, path = self._read(f"/{prototask.dataset}/{prototask.name}/{name}", what, LARGEST_LIST)
        return read_case_numbers(text, path)

    def _stored_prototask_data(self, spec: DatasetSpec, prototask: Prototask) -> PrototaskData:
        inputs, targets = used_attributes(spec, prototask)
        cpath = f"/{spec.name}/{prototask.name}/Prototask.data"
        cases = self._cases_in(cpath, len(inputs) + len(targets))
        return PrototaskData(inputs, targets, cases, np.arange(1, cases.count + 1))


@dataclass(frozen=True)
class TaskSource:
    """A task and where its cases are to be had."""

    library: Library
    dataset: DatasetSpec
    task: Task

    @cached_property
    def data(self) -> PrototaskData:
        """The prototask's cases, read when first asked for."""
        return self.library.prototask_data(self.dataset, self.task.prototask)

    @cached_property
    def targets(self) -> tuple[Target, ...]:
        """What is to be predicted; the cases need not be read for it."""
        _, targets = used_attributes(self.dataset, self.task.prototask)
        return tuple(target_of(one, self.task.prior.attribute(one.number)) for one in targets)

    @property
    def said(self) -> tuple[str, ...]:
        """What must be said of where the dataset comes from; of demo nothing, which is no benchmark."""
        text = "" if self.dataset.name == "demo" else self.library.overlay.provenance(self.dataset.name)
        return (text,) if text else ()

    @property
    def commonality(self) -> Rows | None:
        """The cases' commonality indexes, where the dataset has them."""
        return self.data.cases.commonality if self.dataset.has_commonality else None

    def default_codings(self) -> dict[int, Coding]:
        """The encodings the prior suggests, by attribute number."""
        prototask, prior = self.task.prototask, self.task.prior
        numbers = prototask.inputs + prototask.targets
        return {number: default_coding(prior.attribute(number)) for number in numbers}

    def codings(self, text: str, path: str) -> dict[int, Coding]:
        """The encodings of a file, and the default ones for attributes it leaves out."""
        return read_codings(text, path, self.dataset, self.default_codings())

    def instances(self, lists: CaseLists | None = None) -> tuple[Instance, ...]:
        """The standard instances, or those given by lists of case numbers."""
        prototask = self.task.prototask
        if lists is not None:
            numbers = self.data.case_numbers
            return explicit_instances(prototask, numbers, lists, commonality=self.commonality)
        return draw_task(self.dataset, self.task, self.data)

    def test_truths(self, instances: Sequence[Instance]) -> Sequence[Truth]:
        """The true targets of all test cases of these instances, each case once."""
        return self._truths(np.unique(np.concatenate([instance.testing for instance in instances])))

    def test_truths_of(self, instance: Instance) -> Sequence[Truth]:
        """The true targets of an instance's test cases, in their order."""
        return self._truths(instance.testing)

    @cached_property
    def _held_targets(self) -> list[NumberColumn | WrittenColumn]:
        """The targets in memory, as numbers where all are plain ones.

        Those of a large file are else read anew whenever a column is asked. Names of classes stay as written.
        """
        held: list[NumberColumn | WrittenColumn] = []
        columns = self.data.cases.columns[len(self.data.inputs) :]
        for target, column in zip(self.targets, columns, strict=True):
            if target.kind != "categorical" and not np.isnan(numbers := column.numbers()).any():
                held.append(NumberColumn(numbers))
            else:
                held.append(WrittenColumn(column.texts()))
        return held

    def _truths(self, rows: Rows) -> Sequence[Truth]:
        chosen = [
            NumberColumn(one.values[rows])
            if isinstance(one, NumberColumn)
            else WrittenColumn(one.values[rows])
            for one in self._held_targets
        ]
        return truths_in(self.targets, chosen)

    def assignment(self, lists: CaseLists | None = None) -> Assignment:
        """The task with its cases and its standard or listed instances, for methods to work on."""
        prototask = self.task.prototask
        notes, scheme = (*self.said, *prototask_caveats(prototask)), prototask.scheme
        return Assignment(self.dataset, self.task, self.data, self.instances(lists), scheme, notes=notes)


def dataset_as_csv(name: str) -> str:
    """A line of names, then a line for each case, comma-separated; missing values are empty."""
    import csv  # one command needs it, all that read cases import this module
    from io import StringIO

    address = DataAddress.parse(name if name.startswith("/") else f"/{name}")
    library = Library(active())
    dataset = library.dataset(library.dataset_spec(address.dataset or ""))
    buffer = StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow([attribute.name for attribute in dataset.spec.attributes])
    columns = [column.texts().tolist() for column in dataset.cases.columns]
    writer.writerows(["" if is_missing(text) else text for text in row] for row in zip(*columns, strict=True))
    return buffer.getvalue()
