"""The catalogue: datasets that are generated, or made of other packages' files, each known by name.

Modules that fetch and combine datasets (`downloads`, `openml`, `arrays`) are not loaded here, so that
commands which list datasets start fast.
"""

from __future__ import annotations

from functools import partial

from redelve.data.catalogue.carriers import CARRIED, Catalogue, Files, packaged, require_carrier
from redelve.registry import ValueKind

CATALOGUE_VERSION = 2
"""To be raised whenever a generator changes what it generates; not when datasets are added."""

CATALOGUE = Catalogue("dataset", "redelve.datasets", of=ValueKind("a function", callable))
"""What makes each dataset's files; a function registered by another package has the same form."""

CATALOGUE.add("demo", "redelve.data.catalogue.demo:files")

KINDS = ("8fm", "8fh", "8nm", "8nh", "32fm", "32fh", "32nm", "32nh")
FAMILIES = {family: tuple(f"{family}-{kind}" for kind in KINDS) for family in ("bank", "kin", "pumadyn")}
"""The simulated families, and their members: number of inputs, fairly linear or not, medium or high noise."""

for _family, _members in FAMILIES.items():
    for _member in _members:
        CATALOGUE.add(_member, f"redelve.data.catalogue.{_family}:{_member.replace('-', '_')}")

for _name in CARRIED:
    CATALOGUE.add(_name, partial(packaged, _name))

OWN_PROTOTASKS = ("boston", "image-seg", "mushrooms", "splice")
"""Datasets of the DELVE archive that other packages carry; their prototasks are redelve's choice."""


def provenance(dataset: str) -> str:
    """What must be said of a dataset that bears the name of one in the DELVE archive; else nothing.

    >>> provenance("kin-8nm")
    "redelve's replica of kin-8nm, not the original data"
    >>> provenance("iris")
    ''
    """
    if dataset == "demo" or any(dataset in members for members in FAMILIES.values()):
        return f"redelve's replica of {dataset}, not the original data"
    if dataset == "abalone":
        return "the cases and prototask age of the DELVE archive; prototask rings is redelve's own"
    if dataset in OWN_PROTOTASKS:
        return f"redelve's own prototasks of {dataset}, not those of the DELVE archive"
    return ""


__all__ = [
    "CATALOGUE",
    "CATALOGUE_VERSION",
    "FAMILIES",
    "KINDS",
    "OWN_PROTOTASKS",
    "Files",
    "provenance",
    "require_carrier",
]
