"""Small sections: other losses, validity notes and rules, text for a paper, what was done, where and when."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from redelve.findings import Findings, TaskFindings
from redelve.findings.failures import FailedJobs, failed_jobs_of
from redelve.findings.findings import LEVELS, Coverage
from redelve.findings.validity import Note, rules_for
from redelve.model.prototask import DataDescription
from redelve.report.formatting import (
    METHOD,
    TASK,
    UNKNOWN,
    Cell,
    ReportColumn,
    ReportTable,
    Row,
    count_cell,
    error_cell,
    name_cell,
    seconds,
    with_error,
)
from redelve.report.sections import (
    MOST_COMPARED,
    MOST_IN_MATRIX,
    ONE_TABLE,
    SECTIONS,
    PagePart,
    Panel,
    ReportContext,
    Section,
    collections_of,
    panels,
)
from redelve.report.sections.card import identity_text, summary_of
from redelve.report.sections.one_prototask import shown_contests
from redelve.report.words import in_order
from redelve.run.results import Record, Results

MOST_FAILURES = 200


class WhereTheyDiffer(Section):
    """The leader and who comes next, case by case, where the cases have names of their own."""

    place = 250
    title = "Where the leader and the next differ"
    anchor = "differ"
    template = """\
{{ table(part.tables[0], looks, heading=false) }}
{% for found in part.tables[1:] %}
<details><summary>{{ found.title }}</summary>
{{ table(found, looks, heading=false) }}
</details>
{% endfor %}
"""

    def parts(self, findings: Findings, about: ReportContext) -> tuple[PagePart, ...]:
        """What they agree on, and the cases that decide."""
        if not any(one.names is not None for task in findings.tasks for one in task.task.instances):
            return ()
        from redelve.findings.differences import leading_differences
        from redelve.report.difference_views import agreement_table, deciding_table

        if not (found := leading_differences(findings)):
            return ()
        deciding = (deciding_table(one) for one in found if one.pairs.by_part.size)
        return (PagePart(self.anchor, self.title, tables=(agreement_table(found), *deciding)),)


SECTIONS.add("differ", WhereTheyDiffer)


class OtherLosses(Section):
    """Losses that the tasks are not judged by, coverage of intervals, and errors as published ones are."""

    place = 300
    title = "Other losses"
    template = """\
{% for found in part.tables %}{{ table(found, looks, heading=found.name != "other-losses") }}{% endfor %}
"""

    def tables(self, findings: Findings, about: ReportContext) -> Iterable[ReportTable]:
        """As many as there are."""
        several = (other_losses_table(findings), coverage_table(findings))
        published = [table for one in collections_of(findings.results) for table in one.tables(findings)]
        return (*(table for table in several if table is not None), *published)


SECTIONS.add("other-losses", OtherLosses)


def other_losses_table(findings: Findings) -> ReportTable | None:
    """Means and standard errors by every other loss; None where there is none."""
    codes = {task.loss: task.loss_words for task in (*findings.tasks, *findings.other_losses)}
    if not findings.other_losses:
        return None
    at = {(task.task.address, task.loss): task for task in (*findings.tasks, *findings.other_losses)}
    rows = []
    for task in findings.tasks:
        for name in findings.results.methods:
            cells = [_loss_cell(at.get((task.task.address, code)), name) for code in codes]
            if any(cell.numbers for cell in cells):
                rows.append((Cell(task.task.address), name_cell(name), *cells))
    columns = [ReportColumn(f"{words} ({code})", (code, f"{code}_se")) for code, words in codes.items()]
    return ReportTable(
        "other-losses",
        "Every loss",
        (TASK, METHOD, *columns),
        tuple(rows),
        "Expected loss ± standard error, not standardised; – where a method gives no answer that the loss "
        "can judge. "
        "Methods are judged by the first loss; the others describe, and nothing is claimed by them.",
    )


def _loss_cell(task: TaskFindings | None, method: str) -> Cell:
    finding = next((one for one in task.methods if one.method == method), None) if task else None
    if finding is None or task is None:
        return Cell(UNKNOWN)
    return error_cell(finding.mean, finding.standard_error)


def coverage_table(findings: Findings) -> ReportTable | None:
    """Shares of cases inside central predictive intervals; None where no method gave distributions."""
    found = {(one.task, one.method, one.level): one for one in findings.coverage}
    pairs = dict.fromkeys((task, method) for task, method, _ in found)
    rows = [
        (
            Cell(task),
            name_cell(method),
            *(_coverage_cell(found.get((task, method, level))) for level in LEVELS),
        )
        for task, method in pairs
    ]
    if not rows:
        return None
    columns = [
        ReportColumn(f"{100 * level:.0f} % interval", (f"at_{level}", f"at_{level}_se")) for level in LEVELS
    ]
    return ReportTable(
        "coverage",
        "Coverage of predictive intervals",
        (TASK, METHOD, *columns),
        tuple(rows),
        "Per cent of test cases inside the central interval of their predictive distribution ± standard "
        "error; a calibrated method has as many as the column says.",
    )


def _coverage_cell(found: Coverage | None) -> Cell:
    if found is None:
        return Cell(UNKNOWN)
    share, error = 100 * found.share, found.standard_error
    percent = None if error is None else 100 * error
    return Cell(with_error(share, percent), (share, percent))


class ValiditySection(Section):
    """Every validity note, the worst first."""

    place = 400
    title = "Validity notes"
    anchor = "validity"
    template = """\
{% if found %}
<p><strong>invalid</strong>: should not be published; <strong>caution</strong>: belongs beside the results; \
<strong>note</strong>: good to know.</p>
<ul class="notes">
{% for note in found %}{{ notice(note) }}{% endfor %}
</ul>
{% else %}
<p>No rule found anything to say.</p>
{% endif %}
"""

    def tables(self, findings: Findings, about: ReportContext) -> Iterable[ReportTable]:
        """The notes."""
        return (notes_table(in_order(findings.notes)),)

    def values(self, findings: Findings, about: ReportContext) -> Mapping[str, Any]:
        """The notes as they are."""
        return {"found": in_order(findings.notes)}


SECTIONS.add("validity", ValiditySection)


def notes_table(notes: Sequence[Note]) -> ReportTable:
    """Validity notes."""
    rows = [
        (
            Cell(note.code),
            Cell(note.severity),
            Cell(note.title),
            Cell(note.text),
        )
        for note in notes
    ]
    return ReportTable(
        "validity",
        "Validity notes",
        (
            ReportColumn("Rule"),
            ReportColumn("Severity"),
            ReportColumn("Title"),
            ReportColumn("Note"),
        ),
        tuple(rows),
    )


class FailuresSection(Section):
    """Jobs that did not come to an answer."""

    place = 500
    title = "Failures"
    template = ONE_TABLE

    def tables(self, findings: Findings, about: ReportContext) -> Iterable[ReportTable]:
        """One, if there are failures."""
        found = failures_table(findings.results)
        return () if found is None else (found,)


SECTIONS.add("failures", FailuresSection)


def failures_table(results: Results) -> ReportTable | None:
    """Jobs that did not come to an answer, those that failed alike in one row; None where all did."""
    if not results.failures:
        return None
    failed = failed_jobs_of(results)
    left_out = len(failed) - MOST_FAILURES
    return ReportTable(
        "failures",
        "Jobs that failed",
        (
            METHOD,
            TASK,
            ReportColumn("Jobs", ("jobs",)),
            ReportColumn("Of", ("of",)),
            ReportColumn("Status"),
            ReportColumn("First message"),
        ),
        tuple(map(_failure, failed[:MOST_FAILURES])),
        f"{left_out} more reasons are in the archive." if left_out > 0 else "",
    )


def _failure(one: FailedJobs) -> Row:
    status = one.status if one.fallback is None else f"{one.status}, {one.fallback} stood in"
    return (
        name_cell(one.method),
        Cell(one.task),
        count_cell(one.jobs),
        count_cell(one.jobs_in_all),
        Cell(status),
        Cell(one.reason),
    )


class PaperSection(Section):
    """How to cite the numbers: a sentence for each comparison."""

    place = 700
    title = "Text for a paper"
    anchor = "paper"
    template = """\
<p>How to cite these numbers: one sentence for each comparison with the {{ contender }} that did best, with \
its difference ± standard error, interval and p-value. {{ rest }}</p>
{% for pairs in prototasks %}{% for address, with_leader, others in pairs %}
<details{{ " open" if loop.first }}><summary>{{ address }}</summary>
<blockquote>
{% for text in with_leader %}<p>{{ text }}</p>{% endfor %}
</blockquote>
{% if others %}
<details><summary>{{ others | length }} more comparisons on {{ address }}</summary>
<blockquote>
{% for text in others %}<p>{{ text }}</p>{% endfor %}
</blockquote>
</details>
{% endif %}
</details>
{% endfor %}{% endfor %}
"""

    def values(self, findings: Findings, about: ReportContext) -> Mapping[str, Any]:
        """For each prototask: each task's address, and its comparisons, those with the leader first."""
        is_long = findings.results.is_fixed and len(findings.results.methods) > MOST_IN_MATRIX
        many = any(len(shown_contests(task)) < len(task.contests) for task in findings.tasks)
        lacking = f", as far as they are of the {MOST_COMPARED} methods that come first" if many else ""
        rest = f"The other comparisons are folded{lacking}."
        if is_long:
            rest = "The other comparisons are in the report's folder (-o FOLDER)."
        paragraphs = [_paragraphs(panel, with_others=not is_long) for panel in panels(findings)]
        told = {"rest": rest, "lacking": lacking, "contender": findings.results.contender}
        return {"prototasks": paragraphs, **told}


SECTIONS.add("paper", PaperSection)


def _paragraphs(panel: Panel, *, with_others: bool) -> list[tuple[str, list[str], list[str]]]:
    return [_of_task(task, with_others) for task in reversed(panel.tasks) if task.contests]


def _of_task(task: TaskFindings, with_others: bool) -> tuple[str, list[str], list[str]]:
    """Comparisons with the leader, and the others; where comparisons were planned, all are the first kind."""
    places = {one.method: place for place, one in enumerate(task.by_loss)}
    first = list(task.contests) if task.is_planned else task.pairs.of_method(task.leader)
    first.sort(key=lambda one: places[one.first] + places[one.second])
    ids = set(map(id, first))
    others = [one for one in shown_contests(task) if with_others and id(one) not in ids]
    leading, rest = ([one.words for one in several] for several in (first, others))
    return task.task.title if task.task.is_fixed else task.task.address, leading, rest


class MethodsSection(Section):
    """Each method's summary and identity."""

    place = 800
    title = "Methods"
    template = """\
<dl class="methods">
{% for row in part.tables[0].rows %}
<div><dt>{{ swatch(row[0].text, looks) }}{{ row[0].text }}</dt>
<dd><p class="summary">{{ row[1].text }}</p><p><code>{{ row[2].text }}</code></p><p class="digest">digest \
{{ row[3].text }}</p></dd></div>
{% endfor %}
</dl>
"""

    def tables(self, findings: Findings, about: ReportContext) -> Iterable[ReportTable]:
        """The same as a table; of models nothing is known but their names."""
        return () if findings.results.is_fixed else (methods_table(findings.results),)


SECTIONS.add("methods", MethodsSection)


def methods_table(results: Results) -> ReportTable:
    """Each method's summary and identity."""
    rows = [
        (
            name_cell(name),
            Cell(summary_of(facts)),
            Cell(identity_text(facts.identity)),
            Cell(facts.digest[:12]),
        )
        for name, facts in results.methods.items()
    ]
    return ReportTable(
        "methods",
        "Methods",
        (
            METHOD,
            ReportColumn("Summary"),
            ReportColumn("Identity"),
            ReportColumn("Digest"),
        ),
        tuple(rows),
    )


class DataSection(Section):
    """The attributes of the data, where they are known."""

    place = 900
    title = "Data"

    def tables(self, findings: Findings, about: ReportContext) -> Iterable[ReportTable]:
        """A table for each dataset."""
        return [attributes_table(data) for data in about.data]


SECTIONS.add("data", DataSection)


def attributes_table(data: DataDescription) -> ReportTable:
    """The attributes of a dataset."""
    rows = [
        (
            Cell(one.name),
            Cell(one.role),
            Cell(one.type),
            Cell(one.range),
            Cell(one.description),
        )
        for one in data.attributes
    ]
    columns = ("Attribute", "Role", "Type", "Range", "Description")
    return ReportTable(
        f"attributes-{data.dataset}",
        f"Attributes of {data.dataset}",
        tuple(map(ReportColumn, columns)),
        tuple(rows),
        " ".join(part for part in (data.title, f"Source: {data.source}." if data.source else "") if part),
    )


class ProvenanceSection(Section):
    """Where, when and with what the results were made."""

    place = 1000
    title = "Provenance"
    template = ONE_TABLE

    def tables(self, findings: Findings, about: ReportContext) -> Iterable[ReportTable]:
        """One."""
        return (provenance_table(findings, about),)


SECTIONS.add("provenance", ProvenanceSection)


def provenance_table(findings: Findings, about: ReportContext) -> ReportTable:
    """Where, when and with what the results were made."""
    records = findings.results.records
    times = sorted(record.started for record in records if record.started)
    training = sum(record.costs.training_seconds or 0.0 for record in records)
    facts = {
        "Command": about.command,
        "Archive": about.archive,
        "redelve": about.version,
        "Jobs began": f"{times[0]} to {times[-1]}" if times else "",
        "Elapsed": seconds(about.elapsed) if about.elapsed is not None else "",
        "Time to learn, all jobs": seconds(training) if training else "",
    }
    rows = [(Cell(name), Cell(text)) for name, text in facts.items() if text]
    rows += [(Cell(name), Cell(", ".join(values))) for name, values in _environments(records).items()]
    return ReportTable(
        "provenance",
        "Provenance",
        (ReportColumn("What"), ReportColumn("Value")),
        tuple(rows),
    )


def _environments(records: Sequence[Record]) -> dict[str, list[str]]:
    found: dict[str, dict[str, None]] = {}
    for record in records:
        for name, value in record.environment.items():
            found.setdefault(name, {})[value] = None
    return {name: sorted(values) for name, values in found.items()}


class RulesSection(Section):
    """What the validity notes look for, and why."""

    place = 1100
    title = "Rules"
    template = """\
<p>What the validity notes look for, and why.</p>
<dl class="rules">
{% for rule in rules %}
<div id="rule-{{ rule.code }}"><dt>{{ rule.code }} <strong>{{ rule.title }}</strong> {{ severity(rule) }}\
</dt><dd>{{ rule.explanation }}</dd></div>
{% endfor %}
</dl>
"""

    def values(self, findings: Findings, about: ReportContext) -> Mapping[str, Any]:
        """Every rule that has something to look for in these results."""
        return {"rules": rules_for(findings.results)}


SECTIONS.add("rules", RulesSection)
