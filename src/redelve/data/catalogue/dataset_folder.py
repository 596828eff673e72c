"""A dataset's folder as DELVE lays it out, put together from rows of values as they are to be written."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

Rows = Sequence[Sequence[str]]
"""The values of each case; a commonality index such as `@7` may follow them."""

RANDOM_ORDER = "Random-order"


class AttributeLine(NamedTuple):
    """A line of Dataset.spec, and the type for std.prior."""

    name: str
    range: str
    description: str
    type: str = "real"


class PrototaskPlan(NamedTuple):
    """What a generated prototask predicts, and how its standard instances are drawn."""

    inputs: tuple[int, ...]
    targets: tuple[int, ...]
    types: Mapping[int, str]
    test_set_size: int
    training_set_sizes: tuple[int, ...]
    origin: str
    selection: str = "hierarchical"
    maximum_instances: int = 8
    order: tuple[int, ...] = ()
    """The cases' numbers, from 1, in the order that Random-order is to have; the dataset's own if empty."""
    stratified: bool = False
    dependency: str = ""
    """What is thought of the dependence between cases that have a commonality index, if some have."""

    def specification(self) -> str:
        """The text of Prototask.spec, laid out as in figure 4.4 of the manual."""
        return (
            "Cases: all\n"
            f"Inputs: {_listed(self.inputs)}\n"
            f"Order: {RANDOM_ORDER if self.order else 'retain'}\n"
            f"Origin: {self.origin}\n"
            f"Targets: {_listed(self.targets)}\n"
            f"Test-Set-Size: {self.test_set_size}\n"
            f"Training-Set-Sizes: {_listed(self.training_set_sizes)}\n"
            f"Test-Set-Selection: {self.selection}\n"
            f"Maximum-Number-Of-Instances: {self.maximum_instances}\n"
        ) + "Training-Set-Selection: stratified\n" * self.stratified

    def standard_prior(self) -> str:
        """The text of std.prior: any relevance and any noise level is thought possible."""
        dependency = f"dependency {self.dependency}\n" if self.dependency else ""
        used = self.inputs + self.targets
        return dependency + "".join(f"{number} NLMH {self.types[number]}\n" for number in used)

    def files(self, rows: Rows) -> dict[str, str]:
        """The files of the prototask's folder; every case is used."""
        used = [number - 1 for number in self.inputs + self.targets]
        ordered = [rows[number - 1] for number in self.order] if self.order else rows
        found = {
            "Prototask.spec": self.specification(),
            "std.prior": self.standard_prior(),
            "Prototask.data": lines([*(row[column] for column in used), *mark(row)] for row in ordered),
        }
        return found | ({RANDOM_ORDER: lines([str(number)] for number in self.order)} if self.order else {})


def dataset_files(
    rows: Rows,
    specification: str,
    prototasks: Mapping[str, PrototaskPlan],
    documents: Mapping[str, str],
) -> dict[str, str]:
    """All files of a dataset's folder; `documents` are added as they are (Summary, Source/Notes …)."""
    files = {"Dataset.spec": specification, "Dataset.data": lines(rows), **documents}
    for name, plan in prototasks.items():
        files.update({f"{name}/{file}": text for file, text in plan.files(rows).items()})
    return files


def attribute_lines(attributes: Sequence[AttributeLine]) -> str:
    """The lines of Dataset.spec that follow `Attributes:`, in columns; nothing is under anybody's control."""
    names = max(len(attribute.name) for attribute in attributes)
    ranges = max(len(attribute.range) for attribute in attributes)
    digits = len(str(len(attributes)))
    return "".join(
        f" {number:{digits}} {one.name:{names}} u {one.range:{ranges}} # {one.description}\n"
        for number, one in enumerate(attributes, 1)
    )


def lines(rows: Iterable[Sequence[str]]) -> str:
    """One line for each case, the values separated by single blanks."""
    return "".join(f"{' '.join(row)}\n" for row in rows)


def mark(row: Sequence[str]) -> Sequence[str]:
    """The commonality index that follows a case's values, if there is one.

    >>> mark(["0.5", "red", "@7"]), mark(["0.5", "red"])
    (['@7'], [])
    """
    return row[-1:] if row[-1].startswith("@") else []


def _listed(numbers: Sequence[int]) -> str:
    return " ".join(str(number) for number in numbers)
