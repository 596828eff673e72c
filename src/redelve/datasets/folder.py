"""A dataset's folder as DELVE lays it out, put together from rows of values as they are to be written."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

Rows = Sequence[Sequence[str]]


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

    def specification(self) -> str:
        """The text of Prototask.spec, laid out as in figure 4.4 of the manual."""
        return (
            "Cases: all\n"
            f"Inputs: {_listed(self.inputs)}\n"
            "Order: retain\n"
            f"Origin: {self.origin}\n"
            f"Targets: {_listed(self.targets)}\n"
            f"Test-Set-Size: {self.test_set_size}\n"
            f"Training-Set-Sizes: {_listed(self.training_set_sizes)}\n"
            f"Test-Set-Selection: {self.selection}\n"
            f"Maximum-Number-Of-Instances: {self.maximum_instances}\n"
        )

    def standard_prior(self) -> str:
        """The text of std.prior: any relevance and any noise level is thought possible."""
        return "".join(f"{number} NLMH {self.types[number]}\n" for number in self.inputs + self.targets)

    def files(self, rows: Rows) -> dict[str, str]:
        """The files of the prototask's folder; every case is used, in the dataset's order."""
        used = [number - 1 for number in self.inputs + self.targets]
        return {
            "Prototask.spec": self.specification(),
            "std.prior": self.standard_prior(),
            "Prototask.data": lines([row[column] for column in used] for row in rows),
        }


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


def lines(rows: Iterable[Sequence[str]]) -> str:
    """One line for each case, the values separated by single blanks."""
    return "".join(f"{' '.join(row)}\n" for row in rows)


def _listed(numbers: Sequence[int]) -> str:
    return " ".join(str(number) for number in numbers)
