"""Datasets: what the attributes are, where the cases come from, and the cases themselves (manual 3)."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

from redelve.errors import SpecError
from redelve.model.cases import Cases
from redelve.model.digests import digest
from redelve.model.ranges import Range, parse_range
from redelve.text_numbers import is_integer

ORIGINS = ("natural", "cultivated", "simulated", "artificial")
USAGES = ("development", "assessment", "historical", "?")
ORDERS = ("informative", "uninformative", "?")
CONTROLS = ("c", "u", "?")


@dataclass(frozen=True)
class Attribute:
    """One quantity recorded for every case; numbers start at 1."""

    number: int
    name: str
    control: str
    range: Range
    description: str = ""


CASE_NUMBER = Attribute(0, "CASE", "?", parse_range("1..Inf"), "Number of the case in the original order")


@dataclass(frozen=True)
class DatasetSpec:
    """What Dataset.spec says: characteristics of the dataset and of each attribute."""

    name: str
    attributes: tuple[Attribute, ...]
    origin: str
    usage: str
    order: str
    title: str | None = None
    has_commonality: bool = False
    extra: tuple[tuple[str, str], ...] = ()

    def attribute(self, identifier: str | int) -> Attribute:
        """The attribute with this number or name; 0 is the case number of an informative order."""
        text = str(identifier)
        if text == "0":
            if self.order != "informative":
                raise SpecError(
                    f'attribute 0 needs an informative order, but the order of "{self.name}" is {self.order}'
                )
            return CASE_NUMBER
        if is_integer(text) and len(text) < 16 and 1 <= int(text) <= len(self.attributes):
            return self.attributes[int(text) - 1]
        if text in self._by_name:
            return self._by_name[text]
        known = ", ".join(attribute.name for attribute in self.attributes[:12])
        raise SpecError(
            f'dataset "{self.name}" has no attribute "{text}": '
            f"it has numbers 1 to {len(self.attributes)} and names {known}"
        )

    @cached_property
    def _by_name(self) -> dict[str, Attribute]:
        return {attribute.name: attribute for attribute in self.attributes}

    @property
    def digest(self) -> str:
        """A hash of the specification."""
        return digest(self)


@dataclass(frozen=True)
class Dataset:
    """A specification together with its cases."""

    spec: DatasetSpec
    cases: Cases = field(repr=False)

    @property
    def digest(self) -> str:
        """A hash of the specification and of every value."""
        return digest(self)
