"""dinfo and minfo: facts about roots, datasets, prototasks and tasks (manual 1.3, 3.1, 4.1, 4.3, C)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from redelve import __version__
from redelve.cli.options import Command, Given, Option, UsageError, run
from redelve.data.delve.method_tasks import MethodTask
from redelve.data.delve.option_words import write_option
from redelve.data.delve.reading import Library
from redelve.data.delve.roots import DataAddress, MethodAddress, Overlay, active
from redelve.errors import LocationError
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


def dataset_items(spec: DatasetSpec, prototasks: Sequence[str], said: Sequence[Item] = ()) -> list[Item]:
    """The facts about a dataset; at the end what must be said of where it comes from."""
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
        *said,
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
    inputs, targets = (
        [spec.attribute(one) for one in numbers] for numbers in (prototask.inputs, prototask.targets)
    )
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


OPTIONS = (
    Option("a", "print all that is known, not only what is of interest", long="all"),
    Option("k", "print only these facts; several keys in quotes, with blanks between", "keys", long="keys"),
    Option("q", "print the keys of the facts instead of the facts", long="query"),
    Option("t", "terse: no headings, for use by programs", long="terse"),
    Option("v", "print the version of the software", long="version"),
)
RELEVANCES = "relevances"
VERSION = f"redelve {__version__}\n"


@dataclass
class QuestionFacts:
    """What is known: a list of items for each level, the asked one first, and facts found only by key."""

    levels: list[list[Item]] = field(default_factory=list)
    by_key: dict[str, str] = field(default_factory=dict)

    def put(self, items: list[Item], by_key: Mapping[str, str] | None = None) -> None:
        """Add a level below those that are there."""
        self.levels.insert(0, items)
        self.by_key |= by_key or {}

    def answer(self, given: Given) -> str:
        """The facts asked for; keys are looked up at the asked level, then at those above it."""
        if (keys := given.value("k")) is not None:
            chosen = [self._lookup(key.lower()) for key in keys.split() or [keys]]
        else:
            chosen = [item for item in self.levels[0] if given.has("a") or item.is_shown]
        if given.has("q"):
            return " ".join(item.key for item in chosen) + "\n"
        return render(chosen, is_terse=given.has("t")) + "\n"

    def _lookup(self, key: str) -> Item:
        for level in self.levels:
            for item in level:
                if item.key == key:
                    return item
        if key in self.by_key:
            return Item(key, key.capitalize(), self.by_key[key])
        known = " ".join(item.key for item in self.levels[0])
        raise LocationError(f'unknown key "{key}": known here are {known}')


def _path_items(overlay: Overlay, names: Sequence[Item]) -> list[Item]:
    return [listing("delve_path", "Delve path", [root.path for root in overlay.roots]), *names]


def provenance_items(overlay: Overlay, dataset: str) -> list[Item]:
    """Where a dataset comes from, if that must be said; demo's screens are the manual's, so only by key."""
    said = overlay.provenance(dataset)
    return [Item("provenance", "Provenance", said)] if said and dataset != "demo" else []


def data_facts(library: Library, address: DataAddress) -> QuestionFacts:
    """The facts about a root, dataset, prototask or task, with those of the levels above."""
    overlay, facts = library.overlay, QuestionFacts()
    facts.put(_path_items(overlay, [listing("datasets", "Datasets", overlay.datasets())]))
    if address.dataset is None:
        return facts
    spec = library.dataset_spec(address.dataset)
    said = provenance_items(overlay, address.dataset)
    facts.put(dataset_items(spec, overlay.prototasks(address.dataset), said), attribute_facts(spec))
    facts.by_key["provenance"] = overlay.provenance(address.dataset)
    if address.prototask is None:
        return facts
    prototask = library.prototask(spec, address.prototask)
    priors = {"priors": " ".join(overlay.priors(address.dataset, address.prototask))}
    tasks = overlay.tasks(address.dataset, address.prototask)
    facts.put([*prototask_items(spec, prototask, tasks), *said], priors)
    if address.task is None:
        return facts
    task = library.task(address).task
    facts.put(task_items(spec, task), prior_facts(task))
    return facts


def method_facts(library: Library, address: MethodAddress) -> QuestionFacts:
    """The same as a method has used them: only the datasets, prototasks and tasks it was applied to."""
    overlay, facts = library.overlay, QuestionFacts()
    facts.put(_path_items(overlay, [listing("methods", "Methods", overlay.methods())]))
    method, dataset, prototask, _ = address
    if method is None:
        return facts
    used = listing("datasets", "Datasets", overlay.method_datasets(method))
    facts.put([Item("method", "Method", f"/{method}"), used])
    if dataset is None:
        return facts
    spec = library.dataset_spec(dataset)
    said = provenance_items(overlay, dataset)
    facts.put(dataset_items(spec, overlay.method_prototasks(method, dataset), said), attribute_facts(spec))
    if prototask is None:
        return facts
    tasks = overlay.method_tasks(method, dataset, prototask)
    facts.put(prototask_items(spec, library.prototask(spec, prototask), tasks))
    if address.task is not None:
        work = MethodTask(library, address)
        facts.put(task_items(spec, work.source.task, work.codings_used()), prior_facts(work.source.task))
    return facts


DINFO = Command(
    "dinfo",
    "Tell about all data, a dataset, a prototask or a task; a method's name in front is ignored.",
    "[ -a | -k keys ] [ -q ] [ -t ] [ dpath | mpath ]",
    OPTIONS,
)


def _refuse_all_and_some(given: Given) -> None:
    if given.has("a") and given.has("k"):
        raise UsageError("choose --all or --keys, not both")


def _dinfo(given: Given) -> str:
    """The information that was asked for."""
    if given.has("v"):
        return VERSION
    _refuse_all_and_some(given)
    overlay = active()
    address = DataAddress.parse(overlay.dpath(given.path()))
    facts = data_facts(Library(overlay), address)
    if RELEVANCES in (given.value("k") or "").lower().split():
        facts.levels[0].append(_relevances(address))
    return facts.answer(given)


def _relevances(address: DataAddress) -> Item:
    """Which inputs matter: found by sampling networks, so only where it is asked for."""
    from redelve.performance.input_relevance import input_relevances

    if address.prototask is None:
        raise LocationError(f'"{RELEVANCES}" are those of a prototask or a task: name one')
    found = input_relevances(str(address))
    means = found.widths.mean(axis=1).ravel().tolist()
    names = found.inputs * len(found.targets)
    terse = " ".join(f"{name} {mean:.4g}" for name, mean in zip(names, means, strict=True))
    return Item(RELEVANCES, "Relevances", terse, tuple(str(found).splitlines()), is_block=True)


def dinfo(argv: Sequence[str] | None = None) -> int:
    """Run the command."""
    return run(DINFO, _dinfo, argv)


MINFO = Command(
    "minfo",
    "Tell about all methods, a method, or a dataset, prototask or task as a method has used it.",
    "[ -a | -k keys ] [ -q ] [ -t ] [ mpath ]",
    OPTIONS,
)


def _minfo(given: Given) -> str:
    """The information that was asked for."""
    if given.has("v"):
        return VERSION
    _refuse_all_and_some(given)
    overlay = active()
    return method_facts(Library(overlay), MethodAddress.parse(overlay.mpath(given.path()))).answer(given)


def minfo(argv: Sequence[str] | None = None) -> int:
    """Run the command."""
    return run(MINFO, _minfo, argv)
