"""PROBEN1 (Prechelt 1994): its problems by their names, its rules of representation, its error measures."""

from redelve.proben1.errors import RunErrors, errors_frame, run_errors
from redelve.proben1.exporting import Export, export
from redelve.proben1.measures import (
    HALF,
    REJECTED,
    STRICT,
    Thresholds,
    Verdict,
    classification_error,
    classify,
    decide,
    squared_error_percentage,
    true_classes,
    winner_takes_all,
)
from redelve.proben1.names import DATASETS, ORDERS, Variant, all_names, is_name, parse_name, variants_of
from redelve.proben1.phrases import Benchmark, Network, Phrase, phrases_for
from redelve.proben1.problems import ExampleSet, Proben1Problem, partition, problem
from redelve.proben1.representation import (
    Rules,
    codings,
    input_coding,
    output_coding,
    represent_input,
    represent_output,
)
from redelve.proben1.sources import download, locate
from redelve.proben1.tasks import (
    assignment,
    assignment_of,
    named,
    permutations,
    quarters,
    validation_size,
)

__all__ = [
    "DATASETS",
    "HALF",
    "ORDERS",
    "REJECTED",
    "STRICT",
    "Benchmark",
    "ExampleSet",
    "Export",
    "Network",
    "Phrase",
    "Proben1Problem",
    "Rules",
    "RunErrors",
    "Thresholds",
    "Variant",
    "Verdict",
    "all_names",
    "assignment",
    "assignment_of",
    "classification_error",
    "classify",
    "codings",
    "decide",
    "download",
    "errors_frame",
    "export",
    "input_coding",
    "is_name",
    "locate",
    "named",
    "output_coding",
    "parse_name",
    "partition",
    "permutations",
    "phrases_for",
    "problem",
    "quarters",
    "represent_input",
    "represent_output",
    "run_errors",
    "squared_error_percentage",
    "true_classes",
    "validation_size",
    "variants_of",
    "winner_takes_all",
]
