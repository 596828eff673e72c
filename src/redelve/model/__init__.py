"""The nouns: frozen values, each with a digest."""

from redelve.model.assignment import Assignment, Scheme
from redelve.model.cases import Cases, Column, NumberColumn, WrittenColumn, cases_from_rows, written
from redelve.model.dataset import Attribute, Dataset, DatasetSpec
from redelve.model.prototask import (
    CATEGORICAL,
    AttributePrior,
    DependencyPrior,
    Instance,
    Prior,
    Prototask,
    PrototaskData,
    Task,
    extract,
    used_attributes,
)
from redelve.model.ranges import Range, parse_range
from redelve.model.values import Censored, is_missing, is_value

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
