"""*.prior: what is believed beforehand of each attribute, one line each (manual 4.3, 4.4)."""

from __future__ import annotations

from dataclasses import dataclass

from redelve.data.delve.keyed_lines import numbered_lines, shown, strip_comment
from redelve.data.delve.option_words import parse_options, write_option
from redelve.data.problems import Problems
from redelve.errors import SpecError
from redelve.model.coding import MISSING_TREATMENTS
from redelve.model.dataset import Attribute, DatasetSpec
from redelve.model.prototask import CATEGORICAL, TYPES, AttributePrior, DependencyPrior, Prior, Prototask

LEVELS = "NLMH"


@dataclass(frozen=True)
class _Line:
    number: int
    words: list[str]
    problems: Problems

    def complain(self, rule: str, value: str = "") -> None:
        self.problems.add(self.number, rule, field=self.words[0], value=value)


def parse_prior(text: str, name: str, dataset: DatasetSpec, problems: Problems) -> Prior:
    """The prior in `text`; violations, also of the dataset's specification, go to `problems`."""
    attributes: dict[int, AttributePrior] = {}
    dependency = None
    for number, raw in numbered_lines(text):
        words = strip_comment(raw).split()
        if not words:
            continue
        line = _Line(number, words, problems)
        if words[0].lower() == "dependency":
            if dependency is not None:
                line.complain("the dependency between cases is given twice")
            dependency = _dependency(line)
        elif (prior := _attribute_prior(line, dataset)) is not None:
            if prior.number in attributes:
                line.complain(f'attribute "{words[0]}" has two lines')
            attributes[prior.number] = prior
    return Prior(name, tuple(attributes.values()), dependency)


def read_prior(text: str, name: str, dataset: DatasetSpec, path: str) -> Prior:
    """The prior in `text`; the first violation is raised."""
    problems = Problems(path)
    prior = parse_prior(text, name, dataset, problems)
    problems.raise_first()
    return prior


def check_covers(prior: Prior, prototask: Prototask, dataset: DatasetSpec, problems: Problems) -> None:
    """Every input and target of the prototask must have a line in the prior."""
    known = {attribute.number for attribute in prior.attributes}
    for number in prototask.inputs + prototask.targets:
        if number not in known:
            name = dataset.attribute(number).name
            problems.add(None, f"no line for attribute {number} ({name})", field=name)


def _attribute_prior(line: _Line, dataset: DatasetSpec) -> AttributePrior | None:
    if len(line.words) < 3:
        line.complain(
            f'expected "attribute level type [option=value ...]" but got "{shown(" ".join(line.words))}"'
        )
        return None
    try:
        attribute = dataset.attribute(line.words[0])
    except SpecError as error:
        line.complain(str(error), line.words[0])
        return None
    _check_level(line, line.words[1])
    kind = line.words[2].lower()
    if kind not in TYPES:
        line.complain(f'unknown type "{shown(kind)}": should be {", ".join(TYPES)}', kind)
        return None
    options = parse_options(line.words[3:], line.complain)
    prior = AttributePrior(
        attribute.number,
        line.words[1].upper(),
        kind,
        options.passive,
        options.center,
        options.unit,
        options.order,
        options.missing,
    )
    _check_fits(line, attribute, prior)
    return prior


def _check_level(line: _Line, level: str) -> None:
    letters = level.upper()
    if not letters or set(letters) - set(LEVELS) or len(set(letters)) < len(letters):
        line.complain(f'bad level "{shown(level)}": should be one or more of N, L, M, H', level)


def _check_fits(line: _Line, attribute: Attribute, prior: AttributePrior) -> None:
    if prior.type in CATEGORICAL:
        _check_categories(line, attribute, prior)
    elif prior.passive is not None or prior.order is not None:
        line.complain(f"a {prior.type} attribute has no passive value and no order of values")
    if prior.type == "angular" and (prior.unit is None or not prior.unit > 0):
        line.complain("an angular attribute needs unit=modulus, a positive number")
    if prior.missing is not None and prior.missing not in MISSING_TREATMENTS:
        line.complain(f'bad missing option "{prior.missing}": should be {", ".join(MISSING_TREATMENTS)}')


def _check_categories(line: _Line, attribute: Attribute, prior: AttributePrior) -> None:
    try:
        values = attribute.range.values
    except SpecError as error:
        line.complain(f"a {prior.type} attribute needs a finite range: {error}")
        return
    if prior.type == "binary" and len(values) != 2:
        line.complain(f"expected two values in range of a binary attribute, but got {len(values)}")
    if len(values) < 2:
        line.complain(
            f"a {prior.type} attribute needs at least two values in its range, but has {len(values)}"
        )
    if prior.passive is not None and prior.passive not in values:
        line.complain(
            f'bad passive value "{prior.passive}": should be one of {" ".join(values)}', prior.passive
        )
    if prior.order is not None and sorted(prior.order) != sorted(values):
        line.complain(f"order={','.join(prior.order)} is no rearrangement of the values {' '.join(values)}")
    first = (prior.order or values)[:1]
    if prior.type == "ordinal" and prior.passive is not None and prior.passive not in first:
        line.complain(f'only the first value of an ordinal attribute can be passive, not "{prior.passive}"')


def _dependency(line: _Line) -> DependencyPrior:
    words = line.words
    if len(words) < 2:
        line.complain('expected "dependency level [range=n]"')
        return DependencyPrior("")
    _check_level(line, words[1])
    reach = None
    for word in words[2:]:
        key, _, value = word.partition("=")
        if key.lower() != "range" or not value.isascii() or not value.isdigit() or len(value) > 15:
            line.complain(f'expected "range=n" but got "{shown(word)}"', word)
        else:
            reach = int(value)
    return DependencyPrior(words[1].upper(), reach)


def write_prior(prior: Prior) -> str:
    """The prior as text."""
    lines = []
    if prior.dependency is not None:
        reach = "" if prior.dependency.range is None else f" range={prior.dependency.range}"
        lines.append(f"dependency {prior.dependency.level}{reach}")
    for attribute in prior.attributes:
        options = "".join(
            " " + write_option(key, getattr(attribute, key))
            for key in ("passive", "center", "unit", "order", "missing")
            if getattr(attribute, key) is not None
        )
        lines.append(f"{attribute.number} {attribute.level} {attribute.type}{options}")
    return "".join(line + "\n" for line in lines)
