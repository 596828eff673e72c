"""redelve: find out, validly, how well learning methods learn and which is better.

Importing this is fast: each name is loaded from its room when it is first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from redelve.later import names_in

if TYPE_CHECKING:
    from redelve.answers.answer import Answer
    from redelve.answers.distributions import Normal, NormalMixture, Quantiles, Samples, Student
    from redelve.answers.losses import parse_loss
    from redelve.answers.predictions import (
        ClassProbabilities,
        Guesses,
        Target,
        TargetDistributions,
        TargetLogProbabilities,
        Truth,
    )
    from redelve.assessment import assess
    from redelve.data.delve.reading import Library
    from redelve.data.delve.roots import active
    from redelve.data.tables import from_file, from_frame, read_description, write_description
    from redelve.data.tasks import task
    from redelve.errors import RedelveError
    from redelve.methods.adapters.adapt import as_method
    from redelve.methods.adapters.callables import callable_method
    from redelve.methods.adapters.program import Program
    from redelve.methods.adapters.sklearn_adapter import sklearn_method
    from redelve.methods.builtin.linear import lin_1
    from redelve.methods.conformance.checking import check_method
    from redelve.methods.contract import METHODS, Method
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
    from redelve.model.designs import (
        cross_validation_lists,
        describe,
        draw,
        explicit_instances,
        nest,
        random_order,
    )
    from redelve.model.encodings import default_coding, fit
    from redelve.performance import Prediction, predict_performance
    from redelve.report.assessed import Assessment
    from redelve.run.cells import Limits
    from redelve.run.experiment import Experiment
    from redelve.run.results import Record, Results
    from redelve.run.workers import Dask, Processes
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
    "answers.answer": ("Answer",),
    "assessment": ("assess",),
    "report.assessed": ("Assessment",),
    "data.tasks": ("task",),
    "model.designs": (
        "cross_validation_lists",
        "describe",
        "draw",
        "explicit_instances",
        "nest",
        "random_order",
    ),
    "answers.distributions": ("Normal", "NormalMixture", "Quantiles", "Samples", "Student"),
    "model.encodings": ("default_coding", "fit"),
    "errors": ("RedelveError",),
    "run.workers": ("Dask", "Processes"),
    "run.experiment": ("Experiment",),
    "data.tables": ("from_file", "from_frame", "read_description", "write_description"),
    "run.cells": ("Limits",),
    "data.delve.reading": ("Library",),
    "answers.losses": ("parse_loss",),
    "methods.adapters.adapt": ("as_method",),
    "methods.adapters.callables": ("callable_method",),
    "methods.conformance.checking": ("check_method",),
    "methods.contract": ("METHODS", "Method"),
    "methods.builtin.linear": ("lin_1",),
    "methods.adapters.program": ("Program",),
    "methods.adapters.sklearn_adapter": ("sklearn_method",),
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
    "answers.predictions": (
        "ClassProbabilities",
        "Guesses",
        "Target",
        "TargetDistributions",
        "TargetLogProbabilities",
        "Truth",
    ),
    "run.results": ("Record", "Results"),
    "data.delve.roots": ("active",),
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
    "pool_units",
    "predict_performance",
    "random_order",
    "read_description",
    "sklearn_method",
    "task",
    "write_description",
]

__getattr__ = names_in(__name__, _LATER)


def __dir__() -> list[str]:
    return __all__
