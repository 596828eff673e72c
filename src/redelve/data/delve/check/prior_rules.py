"""Checking a prior against the dataset, the prototask and the cases (manual 4.3, 4.4)."""

from __future__ import annotations

from collections.abc import Mapping

from redelve.data.delve.check.check_reports import CheckedSource, FileReport
from redelve.data.delve.keyed_lines import numbered_lines, strip_comment
from redelve.data.delve.prior_files import check_covers, parse_prior
from redelve.data.problems import Problems
from redelve.errors import ExtensionError, SpecError
from redelve.model import (
    CATEGORICAL,
    Attribute,
    AttributePrior,
    Column,
    DatasetSpec,
    Prior,
    Prototask,
    PrototaskData,
    is_missing,
)
from redelve.model.coding import Normalization
from redelve.model.encodings import bind, coded_columns, default_coding, measure
from redelve.model.ranges import SingleValue
from redelve.text_numbers import parse_number

ANY_SCALE = Normalization(0.0, 1.0, 0.0, 1.0, 0.0, 1.0)


def check_prior(
    source: CheckedSource, prototask: Prototask, name: str, data: PrototaskData | None = None
) -> FileReport:
    """What is wrong with a prior file; with `data`, also whether its types and encodings suit the cases."""
    spec = source.spec
    problems, text = source.opened(f"{prototask.name}/{name}.prior", "prior file")
    if text is None or not spec.attributes:
        return FileReport.of(problems)
    prior = parse_prior(text, name, spec, problems)
    bad_lines = {problem.line for problem in problems}
    check_covers(prior, prototask, spec, problems)
    _check_dependency(prior, prototask, spec, problems)
    columns, count = _columns(data), 0 if data is None else data.cases.count
    lines = _lines(text, spec)
    for each in prior.attributes:
        line, attribute = lines[each.number], spec.attribute(each.number)
        if line in bad_lines:
            continue
        try:
            _check_range(attribute, each)
            _check_encoding(attribute, each, columns.get(each.number), count)
        except ExtensionError:  # the prior is not at fault
            raise
        except SpecError as error:
            rule = str(error).removeprefix(f"attribute {attribute.name}: ")
            problems.add(line, rule, field=attribute.name)
    return FileReport.of(problems)


def _columns(data: PrototaskData | None) -> Mapping[int, Column]:
    if data is None:
        return {}
    pairs = zip(data.attributes, data.cases.columns, strict=True)
    return {attribute.number: column for attribute, column in pairs}


def _lines(text: str, spec: DatasetSpec) -> dict[int, int]:
    """The line on which each attribute's prior stands."""
    lines: dict[int, int] = {}
    for line, raw in numbered_lines(text):
        for word in strip_comment(raw).split()[:1]:
            try:
                lines[spec.attribute(word).number] = line
            except SpecError:
                continue
    return lines


def _check_dependency(prior: Prior, prototask: Prototask, spec: DatasetSpec, problems: Problems) -> None:
    """Where cases may depend on each other, the prior must tell how much, and in a sequence how far."""
    if prior.dependency is None and (prototask.is_sequential or spec.has_commonality):
        why = "the prototask is sequential" if prototask.is_sequential else "cases have commonality indexes"
        problems.add(None, f'{why}, but there is no line "dependency level [range=n]"', field="dependency")
    elif prior.dependency is not None and prior.dependency.range is None and prototask.is_sequential:
        problems.add(None, "the prototask is sequential, but range=n is not given", field="dependency")


def _check_range(attribute: Attribute, prior: AttributePrior) -> None:
    """Numerical types are for numbers."""
    if prior.type in CATEGORICAL:
        return
    for item in attribute.range.items:
        if not isinstance(item, SingleValue) or is_missing(item.text):
            continue
        number = parse_number(item.text)
        if number is None or (prior.type == "integer" and not number.is_integer()):
            wanted = "integers" if prior.type == "integer" else "numbers"
            raise SpecError(f'type "{prior.type}" is for {wanted}, but "{item.text}" is in the range')


def _check_encoding(attribute: Attribute, prior: AttributePrior, column: Column | None, count: int) -> None:
    coding = default_coding(prior)
    if column is None:
        bind(attribute, prior, coding, ANY_SCALE)
    else:
        statistics = None if prior.type in CATEGORICAL else measure(column)
        coded_columns(bind(attribute, prior, coding, statistics), column, count)
