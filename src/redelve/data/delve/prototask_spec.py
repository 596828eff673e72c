"""Prototask.spec: which cases, inputs and targets, and the standard tasks (manual 4.1, 4.4)."""

from __future__ import annotations

from redelve.data.delve.keyed_lines import KeyedFields, numbered_lines, parse_entries
from redelve.data.problems import Problems
from redelve.errors import SpecError
from redelve.model.dataset import ORIGINS, DatasetSpec
from redelve.model.prototask import SELECTIONS, Prototask

REQUIRED = (
    "cases",
    "inputs",
    "order",
    "origin",
    "targets",
    "test-set-size",
    "training-set-sizes",
    "test-set-selection",
    "maximum-number-of-instances",
)
STRATIFIED = "training-set-selection"
DEPENDENCY_RANGE = "maximum-dependency-range"


def parse_prototask_spec(text: str, name: str, dataset: DatasetSpec, problems: Problems) -> Prototask:
    """The specification in `text`; violations, also of the dataset's specification, go to `problems`."""
    entries = parse_entries(numbered_lines(text), problems)
    fields = KeyedFields(entries, problems)
    prototask = Prototask(
        name=name,
        dataset=dataset.name,
        inputs=_attributes("inputs", fields, dataset) if "inputs" in entries else _missing(fields, "inputs"),
        targets=_attributes("targets", fields, dataset),
        origin=fields.choice("origin", ORIGINS),
        test_set_size=fields.positive("test-set-size"),
        training_set_sizes=fields.positives("training-set-sizes"),
        maximum_instances=fields.positive("maximum-number-of-instances"),
        cases=_file_or("cases", ("all", "no missing"), fields),
        order=_file_or("order", ("retain",), fields),
        test_set_selection=fields.choice("test-set-selection", SELECTIONS),
        stratified=fields.choice(STRATIFIED, ("random", "stratified"), "random") == "stratified",
        dependency_range=fields.positive(DEPENDENCY_RANGE) if DEPENDENCY_RANGE in entries else None,
        extra=tuple(
            (key, entry.value)
            for key, entry in entries.items()
            if key not in (*REQUIRED, STRATIFIED, DEPENDENCY_RANGE)
        ),
    )
    _check_together(prototask, dataset, fields)
    return prototask


def read_prototask_spec(text: str, name: str, dataset: DatasetSpec, path: str) -> Prototask:
    """The specification in `text`; the first violation is raised."""
    problems = Problems(path)
    prototask = parse_prototask_spec(text, name, dataset, problems)
    problems.raise_first()
    return prototask


def _missing(fields: KeyedFields, key: str) -> tuple[int, ...]:
    fields.text(key)
    return ()


def _attributes(key: str, fields: KeyedFields, dataset: DatasetSpec) -> tuple[int, ...]:
    numbers: list[int] = []
    for word in fields.text(key).split():
        try:
            number = dataset.attribute(word).number
        except SpecError as error:
            fields.complain(key, str(error))
            continue
        if number in numbers:
            fields.complain(key, f'attribute "{word}" is listed twice')
        numbers.append(number)
    return tuple(numbers)


def _file_or(key: str, words: tuple[str, ...], fields: KeyedFields) -> str:
    value = " ".join(fields.text(key).split())
    if value in words:
        return value
    if "/" in value or "\\" in value or value.startswith(".") or " " in value:
        expected = " or ".join(f'"{word}"' for word in words)
        fields.complain(key, f'expected {expected} or a file name in the prototask directory, got "{value}"')
    return value


def _check_together(prototask: Prototask, dataset: DatasetSpec, fields: KeyedFields) -> None:
    both = set(prototask.inputs) & set(prototask.targets)
    if both:
        names = ", ".join(dataset.attribute(number).name for number in sorted(both))
        fields.complain("targets", f"{names} can't be both input and target")
    if prototask.is_sequential:
        _check_sequential(prototask, dataset, fields)
    if prototask.stratified and len(prototask.targets) == 1:
        target = dataset.attribute(prototask.targets[0])
        if not target.range.is_finite:
            fields.complain(
                STRATIFIED, f"stratified training sets need a finite target; {target.name} is not"
            )
    elif prototask.stratified:
        fields.complain(STRATIFIED, "stratified training sets need exactly one target")


def _check_sequential(prototask: Prototask, dataset: DatasetSpec, fields: KeyedFields) -> None:
    if prototask.order != "retain":
        fields.complain("order", "a sequential prototask must retain the original order")
    if dataset.order == "uninformative":
        fields.complain(DEPENDENCY_RANGE, "a sequential prototask needs a dataset whose order is informative")
    if dataset.has_commonality:
        fields.complain(DEPENDENCY_RANGE, "a sequential prototask can't have commonality indexes")
    if prototask.stratified:
        fields.complain(STRATIFIED, "a sequential prototask can't have stratified training sets")


def write_prototask_spec(prototask: Prototask) -> str:
    """The specification as text, in the order of the manual's figure 4.4."""
    lines = [
        f"Cases: {prototask.cases}",
        f"Inputs: {' '.join(map(str, prototask.inputs))}",
        f"Order: {prototask.order}",
        f"Origin: {prototask.origin}",
        f"Targets: {' '.join(map(str, prototask.targets))}",
        f"Test-Set-Size: {prototask.test_set_size}",
        f"Training-Set-Sizes: {' '.join(map(str, prototask.training_set_sizes))}",
        f"Test-Set-Selection: {prototask.test_set_selection}",
        f"Maximum-Number-Of-Instances: {prototask.maximum_instances}",
    ]
    if prototask.stratified:
        lines.append("Training-Set-Selection: stratified")
    if prototask.dependency_range is not None:
        lines.append(f"Maximum-Dependency-Range: {prototask.dependency_range}")
    lines += [f"{key.capitalize()}: {value}" for key, value in prototask.extra]
    return "\n".join(lines) + "\n"
