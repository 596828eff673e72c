"""redelve: find out, validly, how well learning methods learn and which is better.

Importing this is fast: each name is loaded from its room when it is first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from redelve.designs import cross_validation_lists, describe, draw, explicit_instances, random_order
    from redelve.encodings import default_coding, fit
    from redelve.errors import RedelveError
    from redelve.library import Library
    from redelve.losses import parse_loss
    from redelve.methods.linear import lin_1
    from redelve.model import Dataset, DatasetSpec, Instance, Prior, Prototask, Task, extract, parse_range
    from redelve.predictions import ClassProbabilities, Guesses, Target, TargetLogProbabilities, Truth
    from redelve.roots import active
    from redelve.stats import (
        analyse_common,
        analyse_hierarchical,
        analyse_runs_common,
        analyse_runs_hierarchical,
        compare_common,
        compare_hierarchical,
        compare_runs_common,
        compare_runs_hierarchical,
        pool_units,
    )

__version__ = "0.1.0"

_ROOMS = {
    "designs": ("cross_validation_lists", "describe", "draw", "explicit_instances", "random_order"),
    "encodings": ("default_coding", "fit"),
    "errors": ("RedelveError",),
    "library": ("Library",),
    "losses": ("parse_loss",),
    "methods.linear": ("lin_1",),
    "model": ("Dataset", "DatasetSpec", "Instance", "Prior", "Prototask", "Task", "extract", "parse_range"),
    "predictions": ("ClassProbabilities", "Guesses", "Target", "TargetLogProbabilities", "Truth"),
    "roots": ("active",),
    "stats": (
        "analyse_common",
        "analyse_hierarchical",
        "analyse_runs_common",
        "analyse_runs_hierarchical",
        "compare_common",
        "compare_hierarchical",
        "compare_runs_common",
        "compare_runs_hierarchical",
        "pool_units",
    ),
}
_ROOM_OF = {name: room for room, names in _ROOMS.items() for name in names}

__all__ = [
    "ClassProbabilities",
    "Dataset",
    "DatasetSpec",
    "Guesses",
    "Instance",
    "Library",
    "Prior",
    "Prototask",
    "RedelveError",
    "Target",
    "TargetLogProbabilities",
    "Task",
    "Truth",
    "__version__",
    "active",
    "analyse_common",
    "analyse_hierarchical",
    "analyse_runs_common",
    "analyse_runs_hierarchical",
    "compare_common",
    "compare_hierarchical",
    "compare_runs_common",
    "compare_runs_hierarchical",
    "cross_validation_lists",
    "default_coding",
    "describe",
    "draw",
    "explicit_instances",
    "extract",
    "fit",
    "lin_1",
    "parse_loss",
    "parse_range",
    "pool_units",
    "random_order",
]


def __getattr__(name: str) -> object:
    if name not in _ROOM_OF:
        raise AttributeError(f"module 'redelve' has no attribute '{name}'")
    return getattr(import_module(f"redelve.{_ROOM_OF[name]}"), name)


def __dir__() -> list[str]:
    return __all__
