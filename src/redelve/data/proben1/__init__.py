"""PROBEN1 (Prechelt 1994): its problems by their names, its rules of representation, its files."""

from redelve.data.proben1.exporting import Export, export
from redelve.data.proben1.file_sources import download, locate
from redelve.data.proben1.number_sets import ExampleSet, Proben1Problem, partition, problem
from redelve.data.proben1.proben1_tasks import (
    assignment,
    assignment_of,
    named,
    permutations,
    quarters,
    validation_size,
)
from redelve.data.proben1.problem_names import (
    DATASETS,
    ORDERS,
    Variant,
    all_names,
    is_name,
    parse_name,
    variants_of,
)
from redelve.data.proben1.representation import (
    Rules,
    codings,
    input_coding,
    output_coding,
    represent_input,
    represent_output,
)

__all__ = [
    "DATASETS",
    "ORDERS",
    "ExampleSet",
    "Export",
    "Proben1Problem",
    "Rules",
    "Variant",
    "all_names",
    "assignment",
    "assignment_of",
    "codings",
    "download",
    "export",
    "input_coding",
    "is_name",
    "locate",
    "named",
    "output_coding",
    "parse_name",
    "partition",
    "permutations",
    "problem",
    "quarters",
    "represent_input",
    "represent_output",
    "validation_size",
    "variants_of",
]
