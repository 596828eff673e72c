"""Does a section keep to the contract? Numbered checks that anyone can run on a section of their own."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache, cached_property
from html.parser import HTMLParser

import numpy as np

from redelve.answers.predictions import Target, Truth
from redelve.data.scores.score_table import ScoreTable
from redelve.errors import ANY_FAULT, SpecError
from redelve.findings import Findings, find
from redelve.model.numbered_checks import (
    CheckReport,
    DoubtfulError,
    NotApplicableError,
    NumberedChecks,
    must,
)
from redelve.model.prototask import AttributeRow, DataDescription
from redelve.report.drawing import Picture, look_of, save
from redelve.report.formatting import ReportTable, latex, markdown, to_csv
from redelve.report.page import render_part
from redelve.report.sections import (
    SECTIONS,
    PagePart,
    ReportContext,
    Section,
    sections,
)
from redelve.run.results import Costs, InstanceFacts, Job, MethodFacts, Record, Results, TaskFacts
from redelve.seeds import generator
from redelve.store.score_results import results_of_scores

HOSTILE = "<b></b>&|$%_{1}"
"""A method's name that is text in no format without care."""
BROUGHT = "scores from elsewhere"
SHAPES: Mapping[str, tuple[tuple[str, ...], tuple[int, ...], tuple[str, ...]]] = {
    "one method on one task": (("p",), (16,), ("lin",)),
    "three methods at two sizes": (("p",), (16, 32), ("lin", "knn", "constant")),
    "four prototasks": (("p", "q", "r", "s"), (16,), ("lin", "knn", "constant")),
    "a name full of signs": (("p",), (16,), ("lin", HOSTILE)),
    BROUGHT: (("p",), (20,), ("lin", "knn", "constant")),
}
"""Prototasks, training-set sizes and methods of the small findings that sections are tried on."""
ABOUT = ReportContext(HOSTILE, (DataDescription("data", HOSTILE, attributes=(AttributeRow(HOSTILE),)),))
NAME = re.compile("[a-z0-9]+(-[a-z0-9]+)*")
VOID = frozenset(("br", "hr", "img", "meta", "link", "input", "use", "path", "stop"))
CHECKS = NumberedChecks["CheckedSection"]()


def check_section(section: Section | type[Section] | str) -> CheckReport:
    """Try a section on small findings of every shape.

    Parameters
    ----------
    section
        A section, its class, or the name of one that is registered.

    Returns
    -------
    CheckReport
        A finding for each of the checks R001 to R008, over findings of all shapes.

    Examples
    --------
    >>> check_section("failures").passed
    True
    """
    sections()
    found = SECTIONS[section] if isinstance(section, str) else section
    made = found if isinstance(found, Section) else found() if isinstance(found, type) else None
    if not isinstance(made, Section):
        raise SpecError(f"{section!r} is no section: make it a subclass of redelve.report.sections.Section")
    return CHECKS.report(type(made).__name__, CheckedSection(made))


@dataclass(frozen=True)
class CheckedSection:
    """The section under examination."""

    section: Section

    def parts(self, shape: str) -> tuple[PagePart, ...]:
        """What it shows of small findings, made anew."""
        return tuple(self.section.parts(small_findings(shape), ABOUT))

    @cached_property
    def shown(self) -> dict[str, tuple[PagePart, ...]]:
        """What it shows of all small findings that it does not fail on: failing is told once, in R003."""
        found = {}
        for shape in SHAPES:
            with suppress(*ANY_FAULT):
                found[shape] = self.parts(shape)
        if not any(found.values()):
            raise NotApplicableError("it shows nothing of the small findings")
        return found

    @property
    def everything(self) -> list[PagePart]:
        """All of it together."""
        return [part for parts in self.shown.values() for part in parts]

    @cached_property
    def pages(self) -> list[tuple[PagePart, PartReader]]:
        """All of it, with what its HTML is made of."""
        return [(part, _read(self, part)) for part in self.everything]

    @property
    def tables(self) -> list[ReportTable]:
        """Every table that it has."""
        return [table for part in self.everything for table in part.tables]

    @property
    def pictures(self) -> list[Picture]:
        """Every picture that it has."""
        return [picture for part in self.everything for picture in part.pictures]

    @property
    def others(self) -> list[Section]:
        """The sections beside it."""
        return [one for one in sections() if type(one) is not type(self.section)]


@cache
def small_findings(shape: str) -> Findings:
    """What is found of losses made up by a seed; with hostile names a job failed."""
    prototasks, sizes, methods = SHAPES[shape]
    if shape == BROUGHT:
        return find(_brought(sizes[0], methods))
    tasks = [_task(f"/data/{prototask}/std.{size}", size) for prototask in prototasks for size in sizes]
    records = [
        _record(Job(task.address, name, number)) for task in tasks for name in methods for number in (0, 1)
    ]
    if HOSTILE in methods:
        records[-1] = replace(records[-1], status="failed", losses={}, message=f"no {HOSTILE}")
    facts = {name: MethodFacts(name, f"digest of {name}", {"kind": "made up"}, "") for name in methods}
    return find(Results({task.address: task for task in tasks}, facts, tuple(records)))


def _brought(count: int, models: Sequence[str]) -> Results:
    """Right and wrong answers to so many questions: there was no training, and nothing was timed."""
    import pandas as pd

    rows = [
        {"model": name, "case": f"q{number}", "score": float(number % (place + 2) > 0)}
        for place, name in enumerate(models)
        for number in range(count)
    ]
    table = ScoreTable("check section", pd.DataFrame(rows), "accuracy", True, (0.0, 1.0))
    return results_of_scores(table)


def _task(address: str, size: int) -> TaskFacts:
    target = Target("y", "real")
    each = tuple(
        InstanceFacts(f"{number}", size, np.arange(20) + 20 * number, (Truth.exact(target, np.zeros(20)),))
        for number in (0, 1)
    )
    return TaskFacts(
        address, f"digest of {address}", "", size, "hierarchical", 1, (target,), each, {"S": 2.0},
        "assessment", "artificial", 3, 1000,
    )  # fmt: skip


def _record(job: Job) -> Record:
    losses = generator("check section", str(job)).gamma(2.0, 0.5, 20)
    costs = Costs(0.1, 0.1, 0.1, 1 << 20)
    return Record(job, str(job), 1, "done", {"S": losses, "A": np.sqrt(losses)}, costs=costs)


class PartReader(HTMLParser):
    """Reads the HTML of a part: tags that are not closed in order, anchors, and what lies outside."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.crossed: list[str] = []
        self.tags: list[str] = []
        self.anchors: list[str] = []
        self.outside: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Remember the tag and where it leads."""
        self.tags.append(tag)
        self.open += [] if tag in VOID else [tag]
        for name, value in attrs:
            self.anchors += [value or ""] if name == "id" else []
            leads = name in ("href", "src", "action", "data") and not (value or "").startswith("#")
            self.outside += [value or ""] if leads else []

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Remember a tag that needs no end."""
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag: str) -> None:
        """Close the tag."""
        if tag not in VOID and (not self.open or self.open.pop() != tag):
            self.crossed.append(tag)


def _read(subject: CheckedSection, part: PagePart) -> PartReader:
    methods = sorted({name for _, _, names in SHAPES.values() for name in names})
    looks = {name: look_of(number) for number, name in enumerate(methods)}
    reader = PartReader()
    reader.feed(str(render_part(subject.section, part, looks)))
    reader.close()
    return reader


# What a section says of itself


@CHECKS.check(
    "R001",
    "it has a place and a title",
    "`place` is the number by which sections are ordered: redelve's own have 0, 50, 100, … 1100. `title` is "
    "its heading, `anchor` (made of the title unless given) the name that links lead to.",
)
def _itself(subject: CheckedSection) -> None:
    place, title = (getattr(subject.section, name, None) for name in ("place", "title"))
    must(
        isinstance(place, int | float) and not isinstance(place, bool),
        f"its place is {place!r}: give a number",
    )
    must(isinstance(title, str) and bool(title.strip()), f"its title is {title!r}: give a text")
    anchor = subject.section.anchor
    must(
        not anchor or NAME.fullmatch(anchor) is not None,
        f'its anchor is "{anchor}": use a-z, 0-9 and hyphens',
    )


@CHECKS.check(
    "R002",
    "no other section has its place",
    "Sections of one place stand in the order of their registered names, which may not be what you want.",
)
def _own_place(subject: CheckedSection) -> None:
    place = getattr(subject.section, "place", None)
    if same := [type(one).__name__ for one in subject.others if one.place == place]:
        raise DoubtfulError(f"{same[0]} has the place {place} as well")


# What it shows


@CHECKS.check(
    "R003",
    "it has something or nothing to say of any findings",
    "A section is asked for every report: of one method, of many tasks, with failed jobs, of scores from "
    "elsewhere, which have no costs. Where it does not apply it returns nothing.",
)
def _every_shape(subject: CheckedSection) -> None:
    for shape in SHAPES:
        try:
            parts = subject.parts(shape)
        except ANY_FAULT as error:
            must(False, f"{shape}: {type(error).__name__}: {error}")
        must(all(isinstance(part, PagePart) for part in parts), f"{shape}: parts() returned {parts!r}")


@CHECKS.check(
    "R004",
    "the same findings show the same",
    "Reports are kept under version control: the same findings must give the same words and tables.",
)
def _steady(subject: CheckedSection) -> None:
    for shape, parts in subject.shown.items():
        first, second = ([_in_text(subject, part) for part in both] for both in (parts, subject.parts(shape)))
        must(first == second, f"{shape}: shown twice, it is not the same")


def _in_text(subject: CheckedSection, part: PagePart) -> tuple[str, ...]:
    words = (*subject.section.markdown(part), *subject.section.latex(part))
    return (*words, *(write(table) for table in part.tables for write in (markdown, latex, to_csv)))


@CHECKS.check(
    "R005",
    "tables and figures have names of their own",
    "A name is a file in the folder with everything and an anchor on the page: lower case, digits and "
    "hyphens, and not one that another section uses.",
)
def _names(subject: CheckedSection) -> None:
    for shape, parts in subject.shown.items():
        beside = [part for one in subject.others for part in one.parts(small_findings(shape), ABOUT)]
        taken = {name for part in beside for name in _named(part)}
        own = [name for part in parts for name in _named(part)]
        for name in own:
            fit = NAME.fullmatch(name.partition(" ")[2]) is not None
            must(fit, f"the {name} needs a name of a-z, 0-9 and hyphens")
            must(name not in taken and own.count(name) == 1, f"the {name} is there twice")


def _named(part: PagePart) -> list[str]:
    tables = [f"table {table.name}" for table in part.tables]
    return [f"anchor {part.anchor}", *tables, *(f"figure {picture.name}" for picture in part.pictures)]


# How it shows it


@CHECKS.check(
    "R006",
    "its HTML is well-formed and needs nothing from outside",
    "A report is one page that works without a network and runs no script but its own. Tags are closed in "
    "order, and nothing is fetched.",
)
def _html(subject: CheckedSection) -> None:
    for _, found in subject.pages:
        must(not found.crossed and not found.open, f"not closed in order: {[*found.crossed, *found.open]}")
        must(not found.outside, f"it leads outside: {found.outside[:1]}")
        banned = {"script", "iframe", "object", "link", "img"} & set(found.tags)
        must(not banned, f"it has {sorted(banned)}")


@CHECKS.check(
    "R007",
    "names are only text",
    "Methods, tasks and messages come from anywhere. In a template of your own leave escaping on; in "
    "`markdown` and `latex` of your own use escape_markdown and escape_latex.",
)
def _only_text(subject: CheckedSection) -> None:
    for part, found in subject.pages:
        must("b" not in found.tags, f'"{HOSTILE}" is taken for HTML')
        said = "\n".join(subject.section.markdown(part))
        must("<b>" not in said, f'"{HOSTILE}" is not escaped in Markdown')
        must("_{1}" not in "\n".join(subject.section.latex(part)), f'"{HOSTILE}" is not escaped in LaTeX')


@CHECKS.check(
    "R008",
    "figures are drawn, the same every time, and described",
    "A figure has a title, a description for those who cannot see it, and a caption; drawn twice it is the "
    "same bytes.",
)
def _figures(subject: CheckedSection) -> None:
    if not subject.pictures:
        raise NotApplicableError("it has no figures")
    for one in subject.pictures:
        must(bool(one.title and one.description and one.caption), f"{one.name} lacks words")
        must(save(one, "svg") == save(one, "svg"), f"{one.name} is drawn differently each time")
