"""What `dinfo` and `minfo` show: facts about roots, datasets, prototasks and tasks (manual 3.1, 4.1, 4.3)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from redelve.data.delve.option_words import write_option
from redelve.model import Attribute, AttributePrior, DatasetSpec, Prototask, Task
from redelve.model.coding import Coding, Normalization
from redelve.model.encodings import bind, default_coding
from redelve.model.prototask import used_attributes

NAME_WIDTH, CONTROL_WIDTH, RANGE_WIDTH = 10, 4, 13
COLUMN_NAME_WIDTH, TYPE_WIDTH, LEVEL_WIDTH, CODING_WIDTH = 15, 8, 11, 12


@dataclass(frozen=True)
class Item:
    """One fact: its key, its label, its value for programs, and the lines below the label if it has any."""

    key: str
    label: str
    terse: str
    block: tuple[str, ...] = ()
    is_block: bool = False
    is_shown: bool = True

    def text(self) -> str:
        """The fact for a person to read."""
        if not self.is_block:
            return f"{self.label}: {self.terse}" if self.terse else self.label
        return "\n".join((f"{self.label}:", *self.block))


def listing(key: str, label: str, names: Iterable[str], *, is_shown: bool = True) -> Item:
    """A fact that is a list of names."""
    names = tuple(names)
    return Item(key, label, " ".join(names), tuple(f"    {name}" for name in names), True, is_shown)


def dataset_items(spec: DatasetSpec, prototasks: Sequence[str]) -> list[Item]:
    """The facts about a dataset."""
    items = [
        Item("dataset", "Dataset", f"/{spec.name}"),
        Item("title", "Title", spec.title or "no title", is_shown=False),
        Item("origin", "Origin", spec.origin),
        Item("usage", "Usage", spec.usage),
        Item("order", "Order", spec.order),
        Item("commonality", "Commonality indexes are present", "", is_shown=spec.has_commonality),
        Item("number-of-attributes", "Number of attributes", str(len(spec.attributes))),
        Item(
            "attributes",
            "Attributes",
            " ".join(str(attribute.number) for attribute in spec.attributes),
            attribute_table(spec.attributes),
            is_block=True,
            is_shown=False,
        ),
        listing("prototasks", "Prototasks", prototasks),
    ]
    extra = [Item(key, key.capitalize(), value, is_shown=False) for key, value in spec.extra]
    absent = set() if spec.has_commonality else {"commonality"}
    return [
        item for item in items + extra if item.key not in absent | ({"title"} if not spec.title else set())
    ]


def attribute_facts(spec: DatasetSpec) -> dict[str, str]:
    """The facts that can be asked for by attribute: code,N nature,N range,N comment,N."""
    facts = {"title": spec.title or "no title"}
    for attribute in spec.attributes:
        facts[f"code,{attribute.number}"] = attribute.name
        facts[f"nature,{attribute.number}"] = attribute.control
        facts[f"range,{attribute.number}"] = str(attribute.range)
        facts[f"comment,{attribute.number}"] = attribute.description
    return facts


def attribute_table(attributes: Sequence[Attribute]) -> tuple[str, ...]:
    """One line per attribute; a description that finds no room goes to a line of its own."""
    width = max([NAME_WIDTH, *(len(attribute.name) + 1 for attribute in attributes)])
    indent = 4 + width + CONTROL_WIDTH
    lines = [f"  # {'name':{width}}{'c/u':{CONTROL_WIDTH}}{'range':{RANGE_WIDTH}}description"]
    for attribute in attributes:
        head = f"{attribute.number:3} {attribute.name:{width}}{attribute.control:{CONTROL_WIDTH}}"
        allowed = str(attribute.range)
        if len(allowed) < RANGE_WIDTH:
            lines.append(f"{head}{allowed:{RANGE_WIDTH}}{attribute.description}".rstrip())
        else:
            lines.append(head + allowed)
            if attribute.description:
                lines.append(" " * (indent + RANGE_WIDTH) + attribute.description)
    return tuple(lines)


def prototask_items(spec: DatasetSpec, prototask: Prototask, tasks: Sequence[str]) -> list[Item]:
    """The facts about a prototask."""
    inputs, targets = used_attributes(spec, prototask)
    sizes = " ".join(map(str, prototask.training_set_sizes))
    items = [
        Item("prototask", "Prototask", f"/{prototask.dataset}/{prototask.name}"),
        Item("origin", "Origin", prototask.origin),
        Item("cases", "Cases", prototask.cases),
        Item("order", "Order", prototask.order),
        Item("test-set-size", "Test set size", str(prototask.test_set_size)),
        Item("training-set-sizes", "Training set sizes", sizes),
        Item("test-set-selection", "Test set selection", prototask.test_set_selection),
        Item("maximum-number-of-instances", "Maximum number of instances", str(prototask.maximum_instances)),
    ]
    if prototask.stratified:
        items.append(Item("training-set-selection", "Training set selection", "stratified"))
    if prototask.dependency_range is not None:
        reach = str(prototask.dependency_range)
        items.append(Item("maximum-dependency-range", "Maximum dependency range", reach))
    for key, attributes in (("inputs", inputs), ("targets", targets)):
        numbers = " ".join(str(attribute.number) for attribute in attributes)
        items.append(Item(key, key.capitalize(), numbers, attribute_table(attributes), is_block=True))
    items.append(listing("tasks", "Tasks", tasks))
    return items + [Item(key, key.capitalize(), value, is_shown=False) for key, value in prototask.extra]


def task_items(spec: DatasetSpec, task: Task, codings: Mapping[int, Coding] | None = None) -> list[Item]:
    """The facts about a task; with `codings`, those actually used instead of the default ones."""
    items = [
        Item("task", "Task", task.address),
        Item("training-set-size", "Training set size", str(task.training_set_size)),
    ]
    if (dependency := task.prior.dependency) is not None:
        reach = "" if dependency.range is None else f" range={dependency.range}"
        items.append(Item("dependency", "Dependency between cases", f"{dependency.level.lower()}{reach}"))
    inputs, targets = used_attributes(spec, task.prototask)
    for key, attributes in (("inputs", inputs), ("targets", targets)):
        level = "noise-lev" if key == "targets" and codings is None else "relevance"
        lines = coding_table(attributes, task, codings, level)
        numbers = " ".join(str(attribute.number) for attribute in attributes)
        items.append(Item(key, key.capitalize(), numbers, lines, is_block=True))
    return items


def prior_facts(task: Task) -> dict[str, str]:
    """The facts that can be asked for by attribute: prior,type,N prior,level,N prior,<option>,N."""
    facts = {"prior": task.prior.name}
    for prior in task.prior.attributes:
        facts[f"prior,type,{prior.number}"] = prior.type
        facts[f"prior,level,{prior.number}"] = prior.level
        for key in ("passive", "center", "unit", "order", "missing"):
            value = getattr(prior, key)
            if value is not None:
                facts[f"prior,{key},{prior.number}"] = write_option(key, value).partition("=")[2]
    return facts


def coding_table(
    attributes: Sequence[Attribute], task: Task, codings: Mapping[int, Coding] | None, level: str
) -> tuple[str, ...]:
    """One line per encoded column: number, attribute, type, level, coding and its options."""
    rows = [(attribute, *_coded(attribute, task, codings)) for attribute in attributes]
    names = [name for _, _, _, columns in rows for name in columns]
    width = max([COLUMN_NAME_WIDTH, *(len(name) + 1 for name in names)])
    heading = "def coding" if codings is None else "coding"
    titles = f"{'type':{TYPE_WIDTH}}{level:{LEVEL_WIDTH}}{heading:{CODING_WIDTH}}options"
    lines = [f"  col attr {'name':{width}}{titles}"]
    column = 0
    for attribute, prior, coding, columns in rows:
        facts = f"{prior.type:{TYPE_WIDTH}}{prior.level.lower():{LEVEL_WIDTH}}{coding.method:{CODING_WIDTH}}"
        if not columns:
            lines.append(f"    - {attribute.number:3}  {attribute.name:{width}}{facts}{_options(coding)}")
        for position, name in enumerate(columns):
            column += 1
            tail = f"{facts}{_options(coding)}" if position == 0 else " " * TYPE_WIDTH + "..."
            lines.append(f"{column:5} {attribute.number:3}  {name:{width}}{tail}")
    return tuple(lines)


def _coded(
    attribute: Attribute, task: Task, codings: Mapping[int, Coding] | None
) -> tuple[AttributePrior, Coding, tuple[str, ...]]:
    prior = task.prior.attribute(attribute.number)
    coding = default_coding(prior) if codings is None else codings[attribute.number]
    encoder = bind(attribute, prior, coding, Normalization(0.0, 1.0, 0.0, 1.0, 0.0, 1.0))
    return prior, coding, encoder.names


def _options(coding: Coding) -> str:
    given = [
        write_option(key, getattr(coding, key))
        for key in ("passive", "center", "unit", "missing")
        if getattr(coding, key) is not None
    ]
    if coding.scale != "sqrt":
        given.append(write_option("scale", coding.scale))
    return " ".join(given) or "-"


def render(items: Sequence[Item], *, is_terse: bool = False) -> str:
    """The facts as text: with labels for people, or one value a line for programs."""
    return "\n".join(item.terse if is_terse else item.text() for item in items)
