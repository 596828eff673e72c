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
