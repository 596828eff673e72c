"""The nouns: frozen values, each with a digest."""

from redelve.model.cases import Cases, Column, NumberColumn, WrittenColumn, cases_from_rows, written
from redelve.model.dataset import Attribute, Dataset, DatasetSpec
from redelve.model.prototask import (
    CATEGORICAL,
    Assignment,
    AttributePrior,
    DependencyPrior,
    Instance,
    Prior,
    Prototask,
    PrototaskData,
    Scheme,
    Task,
    extract,
    used_attributes,
)
from redelve.model.ranges import Censored, Range, is_missing, is_value, parse_range

__all__ = [
    "CATEGORICAL",
    "Assignment",
    "Attribute",
    "AttributePrior",
    "Cases",
    "Censored",
    "Column",
    "Dataset",
    "DatasetSpec",
    "DependencyPrior",
    "Instance",
    "NumberColumn",
    "Prior",
    "Prototask",
    "PrototaskData",
    "Range",
    "Scheme",
    "Task",
    "WrittenColumn",
    "cases_from_rows",
    "extract",
    "is_missing",
    "is_value",
    "parse_range",
    "used_attributes",
    "written",
]
