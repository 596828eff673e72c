"""Checking a prototask: its specification, its lists of cases and its own data file (manual 4.1, 4.4)."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from redelve.data.delve.case_files import RawCases, read_cases
from redelve.data.delve.case_lists import parse_case_numbers
from redelve.data.delve.check.check_reports import CheckedSource, FileReport, noted
from redelve.data.delve.check.prior_rules import check_prior
from redelve.data.delve.check.value_rules import check_cases
from redelve.data.delve.keyed_lines import KeyedEntry, numbered_lines, parse_entries, shown, strip_comment
from redelve.data.delve.prototask_spec import parse_prototask_spec
from redelve.data.delve.reading import LARGEST_LIST
from redelve.data.delve.roots import Overlay
from redelve.data.problems import Problems
from redelve.errors import FormatError, SpecError
from redelve.model import Column, Dataset, DatasetSpec, Prototask, PrototaskData, extract
from redelve.model.dataset import NO_COMMONALITY, Rows
from redelve.model.designs import draw
from redelve.model.prototask import missing_rows, used_attributes

Entries = dict[str, KeyedEntry]
SIZES = "training-set-sizes"
DESIGN = (
    SIZES,
    "test-set-size",
    "test-set-selection",
    "maximum-number-of-instances",
    "training-set-selection",
    "maximum-dependency-range",
)
RANDOM_ORDER = "Random-order"
MOST_COMPARED = 200_000  # values of a column that are compared as texts even if they are plain numbers


def check_prototask(source: CheckedSource, name: str, *, is_local: bool = False) -> list[FileReport]:
    """What is wrong with a prototask and, unless `is_local`, with its priors."""
    problems, prototask, entries = parsed_prototask(source, name)
    data: PrototaskData | None = None
    reports: list[FileReport] = []
    if entries:
        data, reports = _selected(source, prototask, problems)
        is_ordered = not awaits_order(source.library.overlay, prototask)
        reports += _check_stored(source, prototask, data if is_ordered else None, problems)
    if data is not None:
        if not {problem.field for problem in problems} & set(DESIGN):
            _check_sizes(prototask, source.spec, data, problems, entries)
        _check_targets(data, problems, entries)
    if not is_local:
        reports += _check_priors(source, prototask, data if source.is_clean else None)
    return [FileReport.of(problems), *reports]


def parsed_prototask(source: CheckedSource, name: str) -> tuple[Problems, Prototask, Entries]:
    """The specification as far as it can be understood, its problems and its entries by key."""
    spec = source.spec
    problems, text = source.opened(f"{name}/Prototask.spec", "specification file")
    if text is None:
        return problems, Prototask(name, spec.name, (), (), "", 1, (), 1), {}
    found = Problems(problems.path)
    prototask = parse_prototask_spec(text, name, spec, found)
    for problem in found:
        if spec.attributes or problem.field not in ("inputs", "targets"):
            problems.add(problem.line, problem.rule, field=problem.field, value=problem.value)
    return problems, prototask, parse_entries(numbered_lines(text), Problems(problems.path))


def _check_priors(
    source: CheckedSource, prototask: Prototask, data: PrototaskData | None
) -> list[FileReport]:
    names = source.library.overlay.priors(source.spec.name, prototask.name)
    if not names:
        problems = Problems(f"/{source.spec.name}/{prototask.name}")
        problems.add(None, 'there is no prior file: write at least "std.prior"')
        return [FileReport.of(problems)]
    return [check_prior(source, prototask, name, data) for name in names]


def _selected(
    source: CheckedSource, prototask: Prototask, problems: Problems
) -> tuple[PrototaskData | None, list[FileReport]]:
    """The prototask's cases, if they can be had, and what is wrong with the files that choose them."""
    broken = {problem.field for problem in problems}
    spec, cases, folder = source.spec, source.cases, prototask.name
    reports, case_list, data = [], None, None
    is_sound = cases is not None and not broken & {"inputs", "targets", "cases"} and bool(spec.attributes)
    if "cases" not in broken and prototask.cases not in ("all", "no missing"):
        count = None if cases is None else cases.count
        case_list, report = _listed(source, f"{folder}/{prototask.cases}", "case file", count)
        reports.append(report)
        is_sound = is_sound and not report.count
    if cases is not None and is_sound:
        data = extract(Dataset(spec, cases), prototask, case_list=case_list)
    if "order" in broken:
        return None, reports
    if prototask.order == "retain":
        return data, reports
    if awaits_order(source.library.overlay, prototask):
        return None if spec.has_commonality else data, reports  # groups will be together only then
    count = None if data is None else data.cases.count
    order, report = _listed(source, f"{folder}/{prototask.order}", "order file", count, is_order=True)
    if data is not None and not report.count:
        rows = np.asarray(order, dtype=np.int64) - 1
        data = replace(data, cases=data.cases.select(rows), case_numbers=data.case_numbers[rows])
    return data if not report.count else None, [*reports, report]


def awaits_order(overlay: Overlay, prototask: Prototask) -> bool:
    """Whether a random order is still to be made: the manual (4.4) has dcheck run before dgenorder."""
    place = f"/{prototask.dataset}/{prototask.name}/{RANDOM_ORDER}"
    return prototask.order == RANDOM_ORDER and not overlay.locate_all(place)


def _listed(
    source: CheckedSource, place: str, what: str, count: int | None, *, is_order: bool = False
) -> tuple[list[int], FileReport]:
    """The numbers in a file, which must be among 1 to `count`; in an order, all of them."""
    problems, text = source.opened(place, what, LARGEST_LIST)
    numbers = [] if text is None else parse_case_numbers(text, problems)
    if text is None or count is None:
        return numbers, FileReport.of(problems)
    if max(numbers, default=0) > count:
        for line, raw in numbered_lines(text):
            word = strip_comment(raw)
            if word.isascii() and word.isdigit() and len(word) < 16 and int(word) > count:
                problems.add(line, f'case "{word}" does not exist: there are cases 1 to {count}', value=word)
    absent = set(range(1, count + 1)).difference(numbers) if is_order else set()
    if absent:
        first = min(absent)
        rule = f'{len(absent)} of the {count} cases are not listed, the first is "{first}": run dgenorder'
        problems.add(None, rule, value=str(first))
    return numbers, FileReport.of(problems)


def _check_sizes(
    prototask: Prototask, spec: DatasetSpec, data: PrototaskData, problems: Problems, entries: Entries
) -> None:
    """Instances must be to be had for every standard size of training sets."""
    line, told = entries[SIZES].line, set()
    commonality = data.cases.commonality if spec.has_commonality else None
    classes = class_count = None
    if prototask.stratified:
        classes, class_count = _classes(data), len(data.targets[0].range.values)
        if (classes < 0).any():
            number = data.case_numbers[int(np.argmax(classes < 0))]
            rule = f'no stratified sets: the target of case "{number}" is missing or not in its range'
            problems.add(line, rule, field=SIZES)
            return
    for size in prototask.training_set_sizes:
        try:
            draw(
                prototask,
                size,
                data.cases.count,
                commonality=commonality,
                classes=classes,
                class_count=class_count,
            )
        except SpecError as error:
            if str(error) not in told:
                problems.add(
                    line, f'no training set of "{size}" cases: {error}', field=SIZES, value=str(size)
                )
            told.add(str(error))


def _classes(data: PrototaskData) -> Rows:
    """The class of each case, −1 where it is none of the target's values."""
    positions = {value: code for code, value in enumerate(data.targets[0].range.values)}
    texts = data.cases.columns[-1].texts()
    return np.fromiter((positions.get(text, -1) for text in texts), np.int64, len(texts))


def _check_targets(data: PrototaskData, problems: Problems, entries: Entries) -> None:
    """Nothing can be learnt from, or judged on, a case without target."""
    for target, column in zip(data.targets, data.cases.columns[len(data.inputs) :], strict=True):
        rows = np.flatnonzero(missing_rows([column], data.cases.count))
        if len(rows):
            first = data.case_numbers[rows].min()
            rule = f'{target.name} is missing in {len(rows)} cases, first in case "{first}"'
            way_out = 'write "Cases: no missing", or list the cases'
            problems.add(entries["targets"].line, f"{rule}: {way_out}", field="targets", value=str(first))


def _check_stored(
    source: CheckedSource, prototask: Prototask, data: PrototaskData | None, problems: Problems
) -> list[FileReport]:
    """Prototask.data, if there is one, must hold what would be extracted now."""
    spec, overlay = source.spec, source.library.overlay
    cpath = f"/{spec.name}/{prototask.name}/Prototask.data"
    is_known = spec.attributes and not {problem.field for problem in problems} & {"inputs", "targets"}
    if not is_known or not overlay.locate_all(cpath):
        return []
    found = Problems(cpath)
    with noted(found):
        path = overlay.locate(cpath, what="data file")
        found = Problems(path)
        attributes = [attribute for group in used_attributes(spec, prototask) for attribute in group]
        try:
            raw = read_cases(path, len(attributes))
        except FormatError:
            raw = None
        if raw is None or data is None:
            return [check_cases(path, attributes, has_commonality=spec.has_commonality)[0]]
        _check_fresh(raw, data, found, has_commonality=spec.has_commonality)
    return [FileReport.of(found)]


def _check_fresh(raw: RawCases, data: PrototaskData, problems: Problems, *, has_commonality: bool) -> None:
    if raw.count != data.cases.count:
        rule = f'stale: it has "{raw.count}" cases, but the prototask has {data.cases.count}: run dgenproto'
        problems.add(None, rule, value=str(raw.count))
        return
    columns = zip(data.attributes, raw.columns, data.cases.columns, strict=True)
    differing = [
        (row, attribute.name, stored, fresh)
        for attribute, stored, fresh in columns
        if (row := _first_difference(stored, fresh)) is not None
    ]
    if differing:
        row, name, stored, fresh = min(differing, key=lambda entry: entry[0])
        is_text, should = shown(stored.texts()[row]), shown(fresh.texts()[row])
        rule = f'stale: "{is_text}" stands here, but "{should}" would be extracted: run dgenproto'
        problems.add(raw.line(row), rule, field=name, value=is_text)
        return
    expected = data.cases.commonality if has_commonality else None
    pair = [np.full(raw.count, NO_COMMONALITY) if one is None else one for one in (raw.commonality, expected)]
    if not np.array_equal(pair[0], pair[1]):
        row = int(np.argmax(pair[0] != pair[1]))
        problems.add(raw.line(row), "stale: the commonality index is another one: run dgenproto")


def _first_difference(stored: Column, fresh: Column) -> int | None:
    """The first case in which two columns differ; long columns of plain numbers are compared as numbers."""
    left, right = stored.numbers(), fresh.numbers()
    odd = np.isnan(left)
    differs = (left != right) & ~(odd & np.isnan(right))
    if len(left) <= MOST_COMPARED or odd.any():
        differs |= stored.texts() != fresh.texts()
    return int(np.argmax(differs)) if differs.any() else None
