"""The catalogue: datasets that are generated or packaged, each known by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from redelve.registry import Registry

Files = Mapping[str, str]
"""A dataset's folder as text: each file's path within the folder (with "/") and its content."""

CATALOGUE_VERSION = 1
"""To be raised whenever a generator changes what it generates."""

CATALOGUE: Registry[Callable[[], Files]] = Registry("dataset")
CATALOGUE.add("demo", "redelve.datasets.demo:files")

KINDS = ("8fm", "8fh", "8nm", "8nh", "32fm", "32fh", "32nm", "32nh")
FAMILIES = {family: tuple(f"{family}-{kind}" for kind in KINDS) for family in ("bank", "kin", "pumadyn")}
"""The simulated families, and their members: number of inputs, fairly linear or not, medium or high noise."""

for _family, _members in FAMILIES.items():
    for _member in _members:
        CATALOGUE.add(_member, f"redelve.datasets.{_family}:{_member.replace('-', '_')}")
