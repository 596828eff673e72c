"""A task with everything that is needed to work on it: its cases and its instances."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

from redelve.model.cases import Rows
from redelve.model.dataset import DatasetSpec
from redelve.model.digests import digest
from redelve.model.prototask import Instance, PrototaskData, Task

Scheme = Literal["hierarchical", "common", "cross-validation", "nested-cross-validation"]


@dataclass(frozen=True)
class Assignment:
    """A task, its cases and the instances drawn from them: what methods are set to work on.

    `scheme` tells which analysis fits: own test set for each instance, one test set for all, or folds that
    train and test on each other's cases (then each of `repetitions` has equally many; see `designs.nest`).
    """

    dataset: DatasetSpec
    task: Task
    data: PrototaskData = field(repr=False)
    instances: tuple[Instance, ...] = field(repr=False)
    scheme: Scheme
    repetitions: int = 1
    notes: tuple[str, ...] = ()
    """What must be said of the design beside every result."""

    @property
    def address(self) -> str:
        """The task's address, such as `/demo/age/std.128`."""
        return self.task.address

    @property
    def commonality(self) -> Rows | None:
        """The cases' commonality indexes, where the dataset has them."""
        return self.data.cases.commonality if self.dataset.has_commonality else None

    @cached_property
    def digest(self) -> str:
        """A hash of the task, of every value in use and of every training and test set."""
        return digest(
            [self.task.digest, self.data.cases.content_digest, [one.digest for one in self.instances]]
        )
