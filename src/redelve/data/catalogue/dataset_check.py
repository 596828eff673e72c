"""Is a dataset fit for the catalogue? Numbered checks that anyone can run on a dataset of their own."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property

from redelve.data.catalogue import CATALOGUE, Files
from redelve.data.catalogue.materialise import fault_of, write_folder
from redelve.data.delve.check import check
from redelve.data.delve.reading import Library
from redelve.data.delve.roots import DataAddress, Overlay, Root
from redelve.data.tasks import addresses
from redelve.model.numbered_checks import CheckReport, NumberedChecks, must

NEEDED = ("Dataset.spec", "Dataset.data", "Summary")


@dataclass(frozen=True)
class CheckedDataset:
    """The dataset under examination, generated once."""

    name: str
    make: Callable[[], Files]

    @cached_property
    def files(self) -> Files:
        """What it generates."""
        return dict(self.make())

    @contextmanager
    def library(self) -> Iterator[Library]:
        """A delve directory that holds the dataset and nothing else."""
        with tempfile.TemporaryDirectory() as folder:
            root = os.path.join(folder, "delve-check")  # noqa: PTH118
            os.makedirs(os.path.join(root, "methods"))  # noqa: PTH103, PTH118
            write_folder(self.files, os.path.join(root, "data", self.name))  # noqa: PTH118
            yield Library(Overlay((Root(root),), root))


CHECKS = NumberedChecks[CheckedDataset]()


def check_dataset(dataset: str | Callable[[], Files]) -> CheckReport:
    """Try whether a dataset's files are the same each time, pass `dcheck`, and make tasks.

    Parameters
    ----------
    dataset
        The name of a dataset of the catalogue, or a function that makes its files as one would register it.

    Returns
    -------
    CheckReport
        A finding for each of the checks D001 to D004; what `dcheck` finds is in that of D003.

    Examples
    --------
    >>> check_dataset("demo").passed
    True
    """
    if isinstance(dataset, str):
        return CHECKS.report(dataset, CheckedDataset(dataset, CATALOGUE[dataset]))
    name = getattr(dataset, "__name__", "dataset")
    return CHECKS.report(name, CheckedDataset("checked", dataset))


@CHECKS.check(
    "D001",
    "it is a folder of texts",
    'Files by their paths within the folder, with "/": Dataset.spec, Dataset.data, Summary, and for each '
    "prototask a folder with Prototask.spec and std.prior.",
)
def _folder(dataset: CheckedDataset) -> None:
    fault = fault_of(dataset.files)
    must(not fault, f"it {fault}")
    for name in NEEDED:
        must(name in dataset.files, f"it has no file {name}")
    has_prototask = any(path.endswith("/Prototask.spec") for path in dataset.files)
    must(has_prototask, "it has no prototask: a folder with Prototask.spec and std.prior")


@CHECKS.check(
    "D002",
    "it is the same each time it is made",
    "Results are compared across machines: draw by a seed of the dataset's own, `redelve.seeds.generator`.",
)
def _same_twice(dataset: CheckedDataset) -> None:
    again = dict(dataset.make())
    different = sorted(
        path for path in {*dataset.files, *again} if dataset.files.get(path) != again.get(path)
    )
    must(not different, f"files that differ the second time: {', '.join(different)}")


@CHECKS.check("D003", "dcheck finds no problem", "What dcheck finds is listed, a line for each violation.")
def _dcheck(dataset: CheckedDataset) -> None:
    with dataset.library() as library:
        reports = list(check(library, DataAddress.parse(f"/{dataset.name}")))
        folder = library.overlay.roots[0].folder("data")
    problems = [line for report in reports for line in str(report).splitlines()]
    must(not problems, "; ".join(problems).replace(f"{folder}/", ""))


@CHECKS.check(
    "D004",
    "every task has instances",
    "The training and test sets of every prototask, prior and training-set size can be drawn.",
)
def _tasks(dataset: CheckedDataset) -> None:
    with dataset.library() as library:
        for address in addresses(library.overlay, dataset.name):
            count = len(library.task(address).assignment().instances)
            must(count > 0, f"{address} has no instances")
