"""How dinfo and minfo answer: which facts of which level, printed for people or for programs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from redelve import __version__
from redelve.cli.information import (
    Item,
    attribute_facts,
    dataset_items,
    listing,
    prior_facts,
    prototask_items,
    render,
    task_items,
)
from redelve.cli.options import Given, Option
from redelve.data.delve.method_tasks import MethodTask
from redelve.data.delve.reading import Library
from redelve.data.delve.roots import DataAddress, MethodAddress, Overlay
from redelve.errors import LocationError

OPTIONS = (
    Option("a", "print all that is known, not only what is of interest", long="all"),
    Option("k", "print only these facts; several keys in quotes, with blanks between", "keys", long="keys"),
    Option("q", "print the keys of the facts instead of the facts", long="query"),
    Option("t", "terse: no headings, for use by programs", long="terse"),
    Option("v", "print the version of the software", long="version"),
)
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


def data_facts(library: Library, address: DataAddress) -> QuestionFacts:
    """The facts about a root, dataset, prototask or task, with those of the levels above."""
    overlay, facts = library.overlay, QuestionFacts()
    facts.put(_path_items(overlay, [listing("datasets", "Datasets", overlay.datasets())]))
    if address.dataset is None:
        return facts
    spec = library.dataset_spec(address.dataset)
    facts.put(dataset_items(spec, overlay.prototasks(address.dataset)), attribute_facts(spec))
    if address.prototask is None:
        return facts
    prototask = library.prototask(spec, address.prototask)
    priors = {"priors": " ".join(overlay.priors(address.dataset, address.prototask))}
    facts.put(prototask_items(spec, prototask, overlay.tasks(address.dataset, address.prototask)), priors)
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
    facts.put(dataset_items(spec, overlay.method_prototasks(method, dataset)), attribute_facts(spec))
    if prototask is None:
        return facts
    tasks = overlay.method_tasks(method, dataset, prototask)
    facts.put(prototask_items(spec, library.prototask(spec, prototask), tasks))
    if address.task is not None:
        work = MethodTask(library, address)
        facts.put(task_items(spec, work.source.task, work.codings_used()), prior_facts(work.source.task))
    return facts
