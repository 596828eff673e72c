"""redelve: find out, validly, how well learning methods learn and which is better.

Importing this is fast: each name is loaded from its room when it is first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from redelve.later import names_in

if TYPE_CHECKING:
    from redelve.answers import Answer
    from redelve.assessment import Assessment, assess
    from redelve.designs import cross_validation_lists, describe, draw, explicit_instances, nest, random_order
    from redelve.distributions import Normal, NormalMixture, Quantiles, Samples, Student
    from redelve.encodings import default_coding, fit
    from redelve.errors import RedelveError
    from redelve.executors import Dask, Processes
    from redelve.experiment import Experiment, plan, run
    from redelve.intake import from_file, from_frame, read_description, write_description
    from redelve.isolation import Limits
    from redelve.library import Library
    from redelve.losses import parse_loss
    from redelve.methods.adapt import as_method
    from redelve.methods.callables import callable_method
    from redelve.methods.checking import check_method
    from redelve.methods.contract import METHODS, Method
    from redelve.methods.linear import lin_1
    from redelve.methods.program import Program
    from redelve.methods.sklearn_adapter import sklearn_method
    from redelve.model import (
        Assignment,
        Dataset,
        DatasetSpec,
        Instance,
        Prior,
        Prototask,
        Task,
        extract,
        parse_range,
    )
    from redelve.performance import Prediction, predict_performance
    from redelve.predictions import (
        ClassProbabilities,
        Guesses,
        Target,
        TargetDistributions,
        TargetLogProbabilities,
        Truth,
    )
    from redelve.results import Record, Results
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
    from redelve.store import Archive

__version__ = "0.1.0"

_LATER = {
    "answers": ("Answer",),
    "assessment": ("Assessment", "assess"),
    "designs": ("cross_validation_lists", "describe", "draw", "explicit_instances", "nest", "random_order"),
    "distributions": ("Normal", "NormalMixture", "Quantiles", "Samples", "Student"),
    "encodings": ("default_coding", "fit"),
    "errors": ("RedelveError",),
    "executors": ("Dask", "Processes"),
    "experiment": ("Experiment", "plan", "run"),
    "intake": ("from_file", "from_frame", "read_description", "write_description"),
    "isolation": ("Limits",),
    "library": ("Library",),
    "losses": ("parse_loss",),
    "methods.adapt": ("as_method",),
    "methods.callables": ("callable_method",),
    "methods.checking": ("check_method",),
    "methods.contract": ("METHODS", "Method"),
    "methods.linear": ("lin_1",),
    "methods.program": ("Program",),
    "methods.sklearn_adapter": ("sklearn_method",),
    "model": (
        "Assignment",
        "Dataset",
        "DatasetSpec",
        "Instance",
        "Prior",
        "Prototask",
        "Task",
        "extract",
        "parse_range",
    ),
    "performance": ("Prediction", "predict_performance"),
    "predictions": (
        "ClassProbabilities",
        "Guesses",
        "Target",
        "TargetDistributions",
        "TargetLogProbabilities",
        "Truth",
    ),
    "results": ("Record", "Results"),
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
    "store": ("Archive",),
}

__all__ = [
    "METHODS",
    "Answer",
    "Archive",
    "Assessment",
    "Assignment",
    "ClassProbabilities",
    "Dask",
    "Dataset",
    "DatasetSpec",
    "Experiment",
    "Guesses",
    "Instance",
    "Library",
    "Limits",
    "Method",
    "Normal",
    "NormalMixture",
    "Prediction",
    "Prior",
    "Processes",
    "Program",
    "Prototask",
    "Quantiles",
    "Record",
    "RedelveError",
    "Results",
    "Samples",
    "Student",
    "Target",
    "TargetDistributions",
    "TargetLogProbabilities",
    "Task",
    "Truth",
    "__version__",
    "active",
    "analyse_common",
    "analyse_hierarchical",
    "analyse_runs_common",
    "analyse_runs_hierarchical",
    "as_method",
    "assess",
    "callable_method",
    "check_method",
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
    "from_file",
    "from_frame",
    "lin_1",
    "nest",
    "parse_loss",
    "parse_range",
    "plan",
    "pool_units",
    "predict_performance",
    "random_order",
    "read_description",
    "run",
    "sklearn_method",
    "write_description",
]

__getattr__ = names_in(__name__, _LATER)


def __dir__() -> list[str]:
    return __all__
