"""PROBEN1's problems and the names of their variants: `glass1`, or `glass1d` for another order of sets."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from redelve.errors import SpecError, did_you_mean

Kind = Literal["classification", "approximation"]
PERMUTATIONS = (1, 2, 3)
ORDERS = {
    "a": ("training", "validation", "test"),
    "b": ("training", "test", "validation"),
    "c": ("validation", "training", "test"),
    "d": ("validation", "test", "training"),
    "e": ("test", "validation", "training"),
    "f": ("test", "training", "validation"),
}
"""In which order the sets stand in a file, by the letter at the end of a name (section 2.3)."""
SAME_WITHOUT_VALIDATION = {"c": "a", "f": "e"}
"""Orders that give the same training data and test set where no validation set is used (section 2.3)."""
WITHOUT_VALIDATION = "abde"
"""The orders that differ when no validation set is used."""
QUARTERS = "quarters"
NAME = re.compile(r"([a-z]+)([0-9]+)([a-z]?)", re.ASCII)


@dataclass(frozen=True)
class ProblemFacts:
    """One of the fifteen problems, as sections 3.1 and 3.2 and tables 1 and 2 tell of it."""

    name: str
    kind: Kind
    inputs: int
    outputs: int
    examples: int
    title: str
    credit: str = ""
    """Whom a publication must name, where the report asks for it."""
    order_kept: bool = False
    """Whether the first permutation has the examples in their original order."""

    @property
    def directory(self) -> str:
        """The problem's directory in the original archive."""
        return "heart" if self.name.startswith("heart") else self.name


WOLBERG = (
    "the data was originally obtained from the University of Wisconsin Hospitals, Madison, from "
    "Dr. William H. Wolberg"
)
DETRANO = "V.A. Medical Center, Long Beach and Cleveland Clinic Foundation; Robert Detrano, M.D., Ph.D."
HEART = (
    "Hungarian Institute of Cardiology, Budapest; Andras Janosi, M.D.; University Hospital, Zurich, "
    "Switzerland; William Steinbrunn, M.D.; University Hospital, Basel, Switzerland; Matthias Pfisterer, "
    f"M.D.; {DETRANO}"
)
_CLASSES: Kind = "classification"
_NUMBERS: Kind = "approximation"
_ALL = (
    ProblemFacts("building", _NUMBERS, 14, 3, 4208, "Energy consumption in a building", order_kept=True),
    ProblemFacts("cancer", _CLASSES, 9, 2, 699, "Diagnosis of breast cancer", WOLBERG),
    ProblemFacts("card", _CLASSES, 51, 2, 690, "Approval of credit cards"),
    ProblemFacts("diabetes", _CLASSES, 8, 2, 768, "Diabetes of Pima Indians"),
    ProblemFacts("flare", _NUMBERS, 24, 3, 1066, "Number of solar flares"),
    ProblemFacts("gene", _CLASSES, 120, 3, 3175, "Splice junctions in nucleotide sequences"),
    ProblemFacts("glass", _CLASSES, 9, 6, 214, "Types of glass"),
    ProblemFacts("heart", _CLASSES, 35, 2, 920, "Heart disease", HEART),
    ProblemFacts("hearta", _NUMBERS, 35, 1, 920, "Heart disease, number of vessels", HEART),
    ProblemFacts("heartac", _NUMBERS, 35, 1, 303, "Heart disease, number of vessels, Cleveland", DETRANO),
    ProblemFacts("heartc", _CLASSES, 35, 2, 303, "Heart disease, Cleveland", DETRANO),
    ProblemFacts("horse", _CLASSES, 58, 3, 364, "Fate of horses with colic"),
    ProblemFacts("mushroom", _CLASSES, 125, 2, 8124, "Edible and poisonous mushrooms"),
    ProblemFacts("soybean", _CLASSES, 82, 19, 683, "Diseases of soybeans"),
    ProblemFacts("thyroid", _CLASSES, 21, 3, 7200, "Function of the thyroid", order_kept=True),
)
DATASETS = {one.name: one for one in _ALL}


@dataclass(frozen=True)
class Variant:
    """A problem, one of its three permutations, and an order of its three sets.

    >>> str(parse_name("glass1")), str(parse_name("glass1a")), parse_name("heartac3f").order
    ('glass1', 'glass1', 'f')
    """

    dataset: ProblemFacts
    permutation: int
    order: str = "a"

    @property
    def file(self) -> str:
        """The name of the data file, without its ending."""
        return f"{self.dataset.name}{self.permutation}"

    def __str__(self) -> str:
        """The preferred name: the letter a is left out."""
        return self.file if self.order == "a" else f"{self.file}{self.order}"


def parse_name(name: str) -> Variant:
    """The variant that a name such as `glass1` or `glass1d` stands for."""
    match = NAME.fullmatch(name)
    if match is None or match[1] not in DATASETS:
        bare = match[1] if match else name
        near = did_you_mean(bare, DATASETS)
        hint = f' (did you mean "{near}1"?)' if near else ""
        raise SpecError(
            f'"{name}" is no dataset of PROBEN1{hint}: a name is a problem ({", ".join(DATASETS)}), a '
            "permutation 1 to 3 and perhaps an order a to f, as in glass1 or glass1d"
        )
    if int(match[2]) not in PERMUTATIONS:
        raise SpecError(f'"{name}": PROBEN1 has the permutations 1, 2 and 3 of {match[1]}, not {match[2]}')
    return Variant(DATASETS[match[1]], int(match[2]), check_order(match[3] or "a"))


def check_order(order: str) -> str:
    """One of the letters a to f."""
    if order not in ORDERS:
        meaning = "; ".join(f"{letter}: {', '.join(sets)}" for letter, sets in ORDERS.items())
        raise SpecError(f'"{order}" is no order of the sets: the letters are a to f ({meaning})')
    return order


def is_name(text: str) -> bool:
    """Whether a text has the form of a name, with a known problem."""
    match = NAME.fullmatch(text)
    return match is not None and match[1] in DATASETS


def variants_of(dataset: str) -> tuple[str, ...]:
    """The variants that the dataset of an address stands for; none if it is not PROBEN1's.

    >>> variants_of("glass1d"), variants_of("glass"), variants_of("glass1-quarters"), variants_of("kin")
    (('glass1d',), ('glass1', 'glass2', 'glass3'), ('glass1', 'glass1b', 'glass1d', 'glass1e'), ())
    """
    if dataset in DATASETS:
        return tuple(f"{dataset}{number}" for number in PERMUTATIONS)
    name, separator, kind = dataset.partition("-")
    try:
        variant = parse_name(name)
    except SpecError:
        return ()
    if separator and kind != QUARTERS:
        return ()
    orders = WITHOUT_VALIDATION if separator else variant.order
    return tuple(str(Variant(variant.dataset, variant.permutation, letter)) for letter in orders)


def all_names() -> tuple[str, ...]:
    """The forty-five data files."""
    return tuple(f"{name}{number}" for name in DATASETS for number in PERMUTATIONS)
