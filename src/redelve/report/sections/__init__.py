"""What a report is made of: sections, each one class; the panels and the context that they look at.

A section of your own is a subclass of `Section` and one line, `SECTIONS.add("name", YourSection)`, or an
entry point of the group `redelve.sections`. It then appears on the page, in Markdown and LaTeX, and its
tables and figures as files.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from pkgutil import iter_modules
from typing import Any, Final, TypeVar

from redelve.errors import ANY_FAULT, fault_told, is_own, place_of
from redelve.findings import Findings, LearningCurve, TaskFindings
from redelve.model.prototask import DataDescription
from redelve.registry import Registry, ValueKind
from redelve.report.drawing import FigureLook, Picture, look_of
from redelve.report.formatting import ReportTable, escape_latex, escape_markdown, slug
from redelve.run.results import Results, TaskFacts

PLAIN = """\
{% for text in part.words %}
<p>{{ text }}</p>
{% endfor %}
{% for found in part.lone_tables %}{{ table(found, looks) }}{% endfor %}
{% for one in part.pictures %}{{ picture(one, looks) }}{% endfor %}
{% if part.notes %}
<ul class="caveats">{% for text in part.notes %}<li>{{ text }}</li>{% endfor %}</ul>
{% endif %}
"""
MOST_IN_MATRIX = 12
"""Of so many fixed models a page has every comparison; of more, those with the best and with the next."""
ONE_TABLE = "{{ table(part.tables[0], looks, heading=false) }}\n"

MOST_COMPARED: Final = 30
"""With more methods, tables of pairs show these, which come first, and everybody against the very first."""
Pair = TypeVar("Pair")


def worth_showing(
    pairs: Sequence[Pair], names_of: Callable[[Pair], tuple[str, str]], order: Sequence[str], most: int | None
) -> list[Pair]:
    """All pairs if people can read so many; else those among the first methods, and with the very first."""
    if most is None or len(pairs) <= most * (most - 1) // 2:
        return list(pairs)
    first, near = order[0], frozenset(order[:most])
    return [one for one in pairs if near.issuperset(names := names_of(one)) or first in names]


def pairs_left_out(shown: int, total: int, most: int | None, name: str) -> str:
    """What is said below a table of pairs that lacks some; nothing if it has all."""
    if most is None or shown == total:
        return ""
    return (
        f" Of {total:,} comparisons {shown:,} are shown: among the {most} methods that come first, and of "
        f"all others with the very first. A report into a folder has all of them, in tables/{name}.csv."
    )


def methods_left_out(count: int, most: int | None, name: str) -> str:
    """The same below a table with a row and a column for every method."""
    if most is None or count <= most:
        return ""
    return (
        f" Of {count} methods the {most} that come first are shown. "
        f"A report into a folder has all of them, in tables/{name}.csv."
    )


def allowed_for(task: TaskFindings) -> str:
    """What the adjusted p-values of a task's comparisons allow for, in words."""
    if not len(task.contests):
        return "no comparison: none could be made"
    claim = task.contests[0].claim
    return (claim.allowed_for if claim else "") or "the one comparison that is made"


# --- what sections look at ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class ReportContext:
    """How a report came about; every part may be left out."""

    command: str = ""
    data: tuple[DataDescription, ...] = ()
    archive: str = ""
    version: str = ""
    elapsed: float | None = None
    """Seconds from the first job to the last."""

    def data_of(self, dataset: str) -> DataDescription | None:
        """What is said of a dataset, if anything."""
        return next((one for one in self.data if one.dataset == dataset), None)


@dataclass(frozen=True)
class Panel:
    """One prototask: its tasks by training-set size, its curves, its methods by loss at the largest size."""

    prototask: str
    tasks: tuple[TaskFindings, ...]
    curves: tuple[LearningCurve, ...]
    methods: tuple[str, ...]
    everybody: tuple[str, ...] = ()
    """All methods in the order of the results, by which they look the same in every figure."""
    failed: tuple[str, ...] = ()
    """Methods with a job that failed at the largest size."""

    @property
    def key(self) -> str:
        """The prototask's name, fit for files and anchors."""
        return slug(self.prototask)

    @property
    def title(self) -> str:
        """What a reader calls it."""
        return self.largest.task.title

    @property
    def largest(self) -> TaskFindings:
        """The task with the most training cases."""
        return self.tasks[-1]

    @property
    def is_standardised(self) -> bool:
        """Whether every loss of the panel has a standardised value; metrics are shown as they are."""
        if self.largest.judged_by.is_metric:
            return False
        found = [one for task in self.tasks for one in task.methods if one.mean is not None]
        return bool(found) and all(one.standardised is not None for one in found)

    def look(self, method: str) -> FigureLook:
        """How a method is drawn here and everywhere else."""
        return look_of((self.everybody or self.methods).index(method))

    def curve(self, method: str) -> LearningCurve | None:
        """A method's learning curve."""
        return next((curve for curve in self.curves if curve.method == method), None)


def panels(findings: Findings) -> tuple[Panel, ...]:
    """A panel for every prototask and loss."""
    grouped: dict[str, list[TaskFindings]] = {}
    for task in findings.tasks:
        grouped.setdefault(task.task.address.rpartition("/")[0], []).append(task)
    return tuple(_panel(findings, prototask, tasks) for prototask, tasks in grouped.items())


def _panel(findings: Findings, prototask: str, tasks: Sequence[TaskFindings]) -> Panel:
    by_size = tuple(sorted(tasks, key=lambda task: task.task.training_set_size))
    everybody = tuple(findings.results.methods)
    found = [one.method for one in by_size[-1].by_loss]
    methods = (*found, *(name for name in everybody if name not in found))
    curves = {one.method: one for one in findings.curves if one.prototask == prototask}
    last = by_size[-1].task.address
    failed = dict.fromkeys(one.job.method for one in findings.results.failures if one.job.task == last)
    known = tuple(curves[name] for name in methods if name in curves)
    return Panel(prototask, by_size, known, methods, everybody, tuple(failed))


class ProblemCollection:
    """A published collection of problems, and what its readers expect of results on them."""

    def source(self, facts: TaskFacts) -> str:
        """Where others get the data of a task; empty for tasks that are not of the collection."""
        raise NotImplementedError

    def validation_sets(self, facts: TaskFacts) -> str:
        """What the collection says of validation sets; empty for tasks that are not of the collection."""
        raise NotImplementedError

    def words(self, findings: Findings) -> Mapping[int, str]:
        """Sentences for a paper by the number of the card's point, where they follow from the records."""
        raise NotImplementedError

    def tables(self, findings: Findings) -> tuple[ReportTable, ...]:
        """The results in the collection's own terms."""
        raise NotImplementedError


COLLECTIONS: Registry[type[ProblemCollection]] = Registry("problem collection")
COLLECTIONS.add("proben1", "redelve.studies.proben1.checklist:Proben1Collection")


def collections_of(results: Results) -> tuple[ProblemCollection, ...]:
    """The collections to ask: none where no task is in historical use, as published problems are.

    A file of the user's own may have the name of a published one.
    """
    if all(facts.usage != "historical" for facts in results.tasks.values()):
        return ()
    return tuple(COLLECTIONS[name]() for name in COLLECTIONS)


# --- sections ----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class PagePart:
    """What a section shows under one heading; `tables` has those of its pictures as well."""

    anchor: str
    title: str
    words: tuple[str, ...] = ()
    tables: tuple[ReportTable, ...] = ()
    pictures: tuple[Picture, ...] = ()
    notes: tuple[str, ...] = ()
    values: Mapping[str, Any] = field(default_factory=dict)
    """What the section's template shows besides."""

    @property
    def lone_tables(self) -> tuple[ReportTable, ...]:
        """The tables that belong to no picture."""
        pictured = {picture.table.name for picture in self.pictures if picture.table is not None}
        return tuple(table for table in self.tables if table.name not in pictured)


class Section:
    """One section of a report: its place, its title, and what it has to show.

    Subclass it, give it a `place` and a `title`, and override what it shows: `words`, `tables`, `pictures`,
    `notes`. A section that has nothing to show is left out. redelve's own sections have the places 0
    (summary), 50, 100, 250, 300, … 1100 (rules). `template` says in Jinja how the page shows a part; in it,
    `part` is the `PagePart`, `table(found, looks)` and `picture(one, looks)` show one.
    """

    place: int
    title: str
    anchor: str = ""
    """The name that links on the page lead to; made of the title unless it is given."""
    template: str = PLAIN
    needs: str = ""
    """The part of the findings that it is about, such as "across"; where there is none it is not asked."""
    is_appendix: bool = False
    """Whether Markdown and LaTeX have it after all tables."""

    def words(self, findings: Findings, about: ReportContext) -> Iterable[str]:
        """Paragraphs."""
        return ()

    def tables(self, findings: Findings, about: ReportContext) -> Iterable[ReportTable]:
        """Tables, each with a name of its own; those without rows are on the page alone."""
        return ()

    def pictures(self, findings: Findings, about: ReportContext) -> Iterable[Picture]:
        """Figures; the table that a picture has need not be among `tables`."""
        return ()

    def notes(self, findings: Findings, about: ReportContext) -> Iterable[str]:
        """What must be said beside it all."""
        return ()

    def values(self, findings: Findings, about: ReportContext) -> Mapping[str, Any]:
        """What a template of the section's own asks for."""
        return {}

    def parts(self, findings: Findings, about: ReportContext) -> tuple[PagePart, ...]:
        """One part with everything, or none."""
        if self.needs and not getattr(findings, self.needs):
            return ()
        asked = (findings, about)
        pictures = tuple(self.pictures(*asked))
        tables = (*self.tables(*asked), *(one.table for one in pictures if one.table is not None))
        found = (tuple(self.words(*asked)), tables, pictures, tuple(self.notes(*asked)), self.values(*asked))
        if not any(found):
            return ()
        return (PagePart(self.anchor or slug(self.title), self.title_for(findings), *found),)

    def title_for(self, findings: Findings) -> str:
        """What the part is called in this report."""
        return self.title

    def markdown(self, part: PagePart) -> list[str]:
        """Lines of Markdown before the part's tables."""
        if not part.words and not part.notes:
            return []
        lines = [f"## {escape_markdown(part.title)}", ""]
        for text in part.words:
            lines += [escape_markdown(text), ""]
        return [*lines, *(f"* {escape_markdown(text)}" for text in part.notes), *([""] * bool(part.notes))]

    def latex(self, part: PagePart) -> list[str]:
        """Lines of LaTeX before the part's tables."""
        if not part.words and not part.notes:
            return []
        lines = [rf"\section*{{{escape_latex(part.title)}}}"]
        for text in (*part.words, *part.notes):
            lines += [escape_latex(text), ""]
        return lines

    def files(self, part: PagePart) -> Mapping[str, str]:
        """Further files of a folder with everything, by their names."""
        return {}


def _is_section(given: object) -> bool:
    is_one = isinstance(given, type) and issubclass(given, Section)
    return is_one and isinstance(getattr(given, "place", None), int | float)


SECTIONS: Registry[type[Section]] = Registry(
    "section",
    "redelve.sections",
    of=ValueKind("a subclass of redelve.report.sections.Section with a `place` and a `title`", _is_section),
)
Shown = tuple[tuple[Section, tuple[PagePart, ...]], ...]
"""Every section in its place, with what it has to show."""


def sections() -> list[Section]:
    """Every section that is registered, in the order of their places."""
    for module in iter_modules(__path__):
        import_module(f"{__name__}.{module.name}")
    made = (_made(section) for _, section in SECTIONS.items())
    return sorted(made, key=lambda section: section.place)


def _made(section: type[Section]) -> Section:
    try:
        return section()
    except ANY_FAULT as error:
        return instead_of(section, error)


def show(findings: Findings, about: ReportContext) -> Shown:
    """What every section shows of the findings."""
    return tuple(_shown(section, findings, about) for section in sections())


def _shown(
    section: Section, findings: Findings, about: ReportContext
) -> tuple[Section, tuple[PagePart, ...]]:
    try:
        parts = tuple(section.parts(findings, about))
        if not type(section).__module__.startswith("redelve."):
            for part in parts:  # in text, too
                section.markdown(part), section.latex(part), section.files(part)
    except ANY_FAULT as error:
        failed = instead_of(section, error)
        return failed, failed.parts(findings, about)
    return section, parts


class FailedSection(Section):
    """Stands in the place of another package's section, and says how that failed."""

    def __init__(self, failed: Section | type[Section], error: BaseException) -> None:
        self.place = failed.place
        self.title = str(getattr(failed, "title", "Untitled"))
        self.told = (
            f"The section {place_of(failed)} could not be made: {fault_told(error)}. It is not redelve's: "
            "mend or uninstall the package that brings it (check_section tells more)."
        )

    def words(self, findings: Findings, about: ReportContext) -> Iterable[str]:
        """What happened, and the way out."""
        return (self.told,)


def instead_of(failed: Section | type[Section], error: BaseException) -> FailedSection:
    """What a report has where another package's section failed; that redelve's own fail is a bug."""
    if is_own(failed):
        raise error
    return FailedSection(failed, error)
