"""What there is to check at an address: a dataset, a prototask or a prior file (manual, appendix C)."""

from __future__ import annotations

from dataclasses import replace

from redelve.data.compressed_names import plain_name
from redelve.data.delve.check.check_reports import CheckedSource, FileReport, noted
from redelve.data.delve.check.prior_rules import check_prior
from redelve.data.delve.check.prototask_rules import check_prototask, parsed_prototask
from redelve.data.delve.check.value_rules import check_cases
from redelve.data.delve.dataset_spec import parse_dataset_spec
from redelve.data.delve.reading import Library
from redelve.data.delve.roots import DataAddress
from redelve.data.delve.roots.overlay import PRIOR
from redelve.data.problems import Problems
from redelve.errors import LocationError
from redelve.model import DatasetSpec


def check(library: Library, address: DataAddress, *, is_local: bool = False) -> list[FileReport]:
    """All that is wrong at the address and, unless `is_local`, below it.

    A specification that others are checked against is checked with them.
    """
    dataset, prototask, file = address
    if dataset is None:
        raise LocationError(f'"{address}" is neither a dataset, a prototask nor a prior file')
    prior = None if file is None else _prior_name(address, plain_name(file))
    library.overlay.require_dataset(dataset)
    if prototask is not None:
        library.overlay.require_prototask(dataset, prototask)
    report, source = _check_dataset_spec(library, dataset)
    if prototask is None:
        return [report, *_check_dataset(source, is_local=is_local)]
    if prior is None:
        missing, source = _with_cases(source, prototask)
        return [report, *missing, *check_prototask(source, prototask, is_local=is_local)]
    problems, parsed, _ = parsed_prototask(source, prototask)
    return [report, FileReport.of(problems), check_prior(source, parsed, prior)]


def _prior_name(address: DataAddress, file: str) -> str:
    if not file.endswith(PRIOR) or file == PRIOR:
        raise LocationError(
            f'"{address}" is neither a dataset, a prototask nor a prior file: leave out "{file}"'
        )
    return file.removesuffix(PRIOR)


def _check_dataset_spec(library: Library, name: str) -> tuple[FileReport, CheckedSource]:
    source = CheckedSource(library, DatasetSpec(name, (), "", "", ""))
    problems, text = source.opened("Dataset.spec", "specification file")
    if text is not None:
        source = replace(source, spec=parse_dataset_spec(text, name, problems))
    return FileReport.of(problems), source


def _check_dataset(source: CheckedSource, *, is_local: bool) -> list[FileReport]:
    spec, overlay = source.spec, source.library.overlay
    problems, report = Problems(f"/{spec.name}/Dataset.data"), None
    with noted(problems):
        path = overlay.locate(problems.path, what="data file")
        report, cases = check_cases(path, spec.attributes, has_commonality=spec.has_commonality)
        source = replace(source, cases=cases, is_clean=not report.count)
    reports = [report or FileReport.of(problems)]
    for name in [] if is_local else overlay.prototasks(spec.name):
        reports += check_prototask(source, name)
    return reports


def _with_cases(source: CheckedSource, prototask: str) -> tuple[list[FileReport], CheckedSource]:
    """The dataset with its cases, or else why it has none; Prototask.data can stand for them."""
    name, overlay = source.spec.name, source.library.overlay
    problems = Problems(f"/{name}/Dataset.data")
    has_own = overlay.locate_all(f"/{name}/{prototask}/Prototask.data")
    if not source.spec.attributes or (has_own and not overlay.locate_all(problems.path)):
        return [], source
    with noted(problems):
        return [], replace(source, cases=source.library.dataset(source.spec).cases)
    return [FileReport.of(problems)], source
