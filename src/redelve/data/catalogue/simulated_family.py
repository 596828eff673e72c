"""What the members of DELVE's simulated families have in common: names, specifications, formats, files."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from redelve.data.catalogue.dataset_folder import (
    AttributeLine,
    PrototaskPlan,
    Rows,
    attribute_lines,
    dataset_files,
)
from redelve.model.dataset import Numbers
from redelve.seeds import seed

CASES = 8192
DEVELOPMENT = ("8fm", "8nh")
"""The members of each family on which methods may be developed: both degrees of linearity and of noise."""


class Member(NamedTuple):
    """A dataset of a family: so many inputs, (fairly) linear or not, of medium or high unpredictability.

    >>> Member.named("kin-32nh")
    Member(family='kin', inputs=32, linearity='n', noise='h')
    """

    family: str
    inputs: int
    linearity: str
    noise: str

    @classmethod
    def named(cls, name: str) -> Member:
        """The member that a dataset's name stands for."""
        family, kind = name.split("-")
        return cls(family, int(kind[:-2]), kind[-2], kind[-1])

    @property
    def kind(self) -> str:
        """The name without the family's."""
        return f"{self.inputs}{self.linearity}{self.noise}"

    @property
    def name(self) -> str:
        """The dataset's name."""
        return f"{self.family}-{self.kind}"

    @property
    def seed(self) -> int:
        """Where the random numbers of this dataset start."""
        return seed("dataset", self.name)

    @property
    def description(self) -> str:
        """The member's properties in words."""
        linearity = "fairly linear" if self.linearity == "f" else "non-linear"
        noise = "medium" if self.noise == "m" else "high"
        return f"{self.inputs} inputs, {linearity}, {noise} unpredictability"


class Simulation(NamedTuple):
    """The cases of a dataset, a row for each, and what the targets would be without noise, where known."""

    inputs: Numbers
    targets: Numbers
    noise_free: Numbers | None = None

    @property
    def noise_share(self) -> float:
        """The share of the targets' variance that is noise."""
        assert self.noise_free is not None
        return float(np.var(self.targets - self.noise_free) / np.var(self.targets))

    def scientific(self) -> list[list[str]]:
        """The cases with eight significant digits, inputs and then target."""
        columns = zip(self.inputs.tolist(), self.targets.tolist(), strict=True)
        return [[f"{value:.7e}" for value in (*inputs, target)] for inputs, target in columns]


class Account(NamedTuple):
    """What a family's documents say; the places {…} are filled in for each member."""

    prototask: str
    summary: str
    notes: str


def member_files(
    member: Member, attributes: Sequence[AttributeLine], rows: Rows, account: Account
) -> dict[str, str]:
    """All files of a member's folder; the last attribute is the target."""
    documents = {
        "Summary": account.summary.format(name=member.name, description=member.description) + REPLICA,
        "Source/Notes": account.notes.format(name=member.name, description=member.description) + COMMON_NOTES,
    }
    plan = prototask_plan(attributes)
    return dataset_files(rows, specification(member, attributes), {account.prototask: plan}, documents)


REPLICA = """\
This is redelve's replica, not the original data: the cases are others.
"""
COMMON_NOTES = """\

Usage. DELVE sorted whole families by their use. redelve recommends two of the
eight members of each family for development (8fm and 8nh, which show both
degrees of linearity and of unpredictability) and keeps the others for
assessments.

Cases are independent and in random order. The random bits come from integer
arithmetic (SplitMix64, the seed being a hash of the dataset's name), and all
that follows uses only operations whose results are fixed to the last bit, so
the file is the same on every machine.
"""


def specification(member: Member, attributes: Sequence[AttributeLine]) -> str:
    """The text of Dataset.spec."""
    usage = "development" if member.kind in DEVELOPMENT else "assessment"
    title = f"{member.description} (redelve's replica, not the original)"
    head = f"Title: {title}\nOrigin: simulated\nUsage: {usage}\n"
    return head + "Order: uninformative\nAttributes:\n" + attribute_lines(attributes)


def prototask_plan(attributes: Sequence[AttributeLine]) -> PrototaskPlan:
    """The one prototask: the last attribute from all the others; half of the cases are for testing."""
    count = len(attributes)
    return PrototaskPlan(
        inputs=tuple(range(1, count)),
        targets=(count,),
        types={number: attribute.type for number, attribute in enumerate(attributes, 1)},
        test_set_size=CASES // 2,
        training_set_sizes=(64, 128, 256, 512, 1024),
        origin="simulated",
    )
