"""Dataset.spec: what a dataset is and what its attributes are (manual 3.4)."""

from __future__ import annotations

import re

from redelve.data.delve.keyed_lines import KeyedFields, numbered_lines, parse_entries, shown, strip_comment
from redelve.data.problems import Problems
from redelve.errors import SpecError
from redelve.model.dataset import CONTROLS, ORDERS, ORIGINS, USAGES, Attribute, DatasetSpec
from redelve.model.ranges import Range, parse_range
from redelve.text_numbers import is_integer

COMMONALITY = "commonality indexes are present"
KEY_LINE = re.compile(r"\s*[A-Za-z][A-Za-z_\- ]*:(?!\S)")
Lines = list[tuple[int, str]]


def parse_dataset_spec(text: str, name: str, problems: Problems) -> DatasetSpec:
    """The specification in `text`; violations go to `problems`."""
    keyed, attribute_lines, has_commonality, has_section = _sections(text)
    entries = parse_entries(keyed, problems)
    fields = KeyedFields(entries, problems)
    if not has_section:
        problems.add(None, '"attributes" is not specified: add a line "Attributes:"', field="attributes")
    known = ("origin", "usage", "order", "title")
    return DatasetSpec(
        name,
        _attributes(attribute_lines, problems),
        fields.choice("origin", ORIGINS),
        fields.choice("usage", USAGES),
        fields.choice("order", ORDERS),
        entries["title"].value or None if "title" in entries else None,
        has_commonality,
        tuple((key, entry.value) for key, entry in entries.items() if key not in known),
    )


def read_dataset_spec(text: str, name: str, path: str) -> DatasetSpec:
    """The specification in `text`; the first violation is raised."""
    problems = Problems(path)
    spec = parse_dataset_spec(text, name, problems)
    problems.raise_first()
    return spec


def _sections(text: str) -> tuple[Lines, Lines, bool, bool]:
    keyed: Lines = []
    attributes: Lines = []
    has_commonality = has_section = within = False
    for number, line in numbered_lines(text):
        if strip_comment(line).lower() == "attributes:":
            within = has_section = True
            continue
        if strip_comment(line).lower() == COMMONALITY:
            has_commonality = True
            continue
        if within and KEY_LINE.match(line):
            within = False
        (attributes if within else keyed).append((number, line))
    return keyed, attributes, has_commonality, has_section


def _attributes(lines: Lines, problems: Problems) -> tuple[Attribute, ...]:
    attributes: list[Attribute] = []
    names: set[str] = set()
    for number, line in lines:
        if not strip_comment(line):
            continue
        attribute = _attribute(number, line, len(attributes) + 1, problems)
        if attribute.name in names:
            problems.add(number, f'attribute name "{attribute.name}" is used twice', field=attribute.name)
        names.add(attribute.name)
        attributes.append(attribute)
    if not attributes:
        problems.add(None, "there are no attributes", field="attributes")
    return tuple(attributes)


def _attribute(number: int, line: str, expected: int, problems: Problems) -> Attribute:
    definition, _, comment = line.partition("#")
    words = definition.split(None, 3)
    if len(words) < 4:
        problems.add(
            number,
            f'expected "number name c|u range # description" but got "{shown(line.strip())}"',
            field=f"attribute {expected}",
            value=line.strip(),
        )
    index, name, control, allowed = (*words, *[""] * 4)[:4]
    field = f"attribute {name or expected}"
    if words and index != str(expected):
        problems.add(number, f'expected index {expected} but got "{shown(index)}"', field=field, value=index)
    if is_integer(name):
        problems.add(
            number, f'the name "{name}" looks like an integer: choose another', field=field, value=name
        )
    if len(words) > 2 and control not in CONTROLS:
        problems.add(
            number, f'bad control "{shown(control)}": should be c, u, or ?', field=field, value=control
        )
    values = Range(())
    try:
        values = parse_range(allowed) if allowed else values
    except SpecError as error:
        problems.add(number, str(error), field=field, value=allowed)
    return Attribute(expected, name, control, values, comment.strip())


def write_dataset_spec(spec: DatasetSpec) -> str:
    """The specification as text."""
    lines = [f"Origin: {spec.origin}", f"Usage: {spec.usage}", f"Order: {spec.order}"]
    if spec.title is not None:
        lines.append(f"Title: {spec.title}")
    lines += [f"{key.capitalize()}: {value}" for key, value in spec.extra]
    if spec.has_commonality:
        lines.append("Commonality indexes are present")
    lines.append("Attributes:")
    digits = len(str(len(spec.attributes)))
    width = max(len(attribute.name) for attribute in spec.attributes)
    for attribute in spec.attributes:
        tail = f" # {attribute.description}" if attribute.description else ""
        head = f" {attribute.number:{digits}} {attribute.name:{width}} {attribute.control}"
        lines.append(f"{head} {attribute.range}{tail}")
    return "\n".join(lines) + "\n"
