"""The catalogue: datasets that are generated, or made of other packages' files, each known by name."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from redelve.data.catalogue.carriers import CARRIED, packaged, require_carrier
from redelve.data.catalogue.catalogue import Catalogue, Files
from redelve.later import names_in

if TYPE_CHECKING:
    from redelve.data.catalogue.arrays import TaskFactors, array_factors, task_array
    from redelve.data.catalogue.downloads import Download, fetch
    from redelve.data.catalogue.openml import read_splits

CATALOGUE_VERSION = 1
"""To be raised whenever a generator changes what it generates; not when datasets are added."""

CATALOGUE = Catalogue("dataset")
CATALOGUE.add("demo", "redelve.data.catalogue.demo:files")

KINDS = ("8fm", "8fh", "8nm", "8nh", "32fm", "32fh", "32nm", "32nh")
FAMILIES = {family: tuple(f"{family}-{kind}" for kind in KINDS) for family in ("bank", "kin", "pumadyn")}
"""The simulated families, and their members: number of inputs, fairly linear or not, medium or high noise."""

for _family, _members in FAMILIES.items():
    for _member in _members:
        CATALOGUE.add(_member, f"redelve.data.catalogue.{_family}:{_member.replace('-', '_')}")

for _name in CARRIED:
    CATALOGUE.add(_name, partial(packaged, _name))

_LATER = {
    "arrays": ("TaskFactors", "array_factors", "task_array"),
    "downloads": ("Download", "fetch"),
    "openml": ("read_splits",),
}
"""What is loaded when it is first used, so that commands which list datasets start fast."""

__all__ = [
    "CATALOGUE",
    "CATALOGUE_VERSION",
    "FAMILIES",
    "KINDS",
    "Download",
    "Files",
    "TaskFactors",
    "array_factors",
    "fetch",
    "read_splits",
    "require_carrier",
    "task_array",
]

__getattr__ = names_in(__name__, _LATER)
