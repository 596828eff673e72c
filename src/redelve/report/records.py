"""Tables of what was done rather than what was found: failures, methods, data, where it ran."""

from __future__ import annotations

from collections.abc import Sequence

from redelve.findings import Findings
from redelve.findings.validity import Note
from redelve.report.card import identity_text, summary_of
from redelve.report.contents import METHOD, TASK, count_cell, name_cell
from redelve.report.context import DataDescription, ReportContext
from redelve.report.rounding import seconds
from redelve.report.table_values import Cell, ReportColumn, ReportTable, Row
from redelve.run.results import Record, Results

MOST_FAILURES = 200
MOST_CHARACTERS = 400


def failures_table(results: Results) -> ReportTable | None:
    """Jobs that did not come to an answer; None where all did."""
    failed = list(results.failures)
    if not failed:
        return None
    left_out = len(failed) - MOST_FAILURES
    return ReportTable(
        "failures",
        "Jobs that failed",
        (
            METHOD,
            TASK,
            ReportColumn("Instance", ("instance",)),
            ReportColumn("Run", ("run",)),
            ReportColumn("Status"),
            ReportColumn("Message"),
        ),
        tuple(_failure(record) for record in failed[:MOST_FAILURES]),
        f"{left_out} more are in the archive." if left_out > 0 else "",
    )


def _failure(record: Record) -> Row:
    message = record.message.strip()
    if len(message) > MOST_CHARACTERS:
        message = f"{message[:MOST_CHARACTERS]}…"
    status = f"{record.status}, {record.fallback} stood in" if record.fallback else record.status
    return (
        name_cell(record.job.method),
        Cell(record.job.task),
        count_cell(record.job.instance),
        count_cell(record.job.run),
        Cell(status),
        Cell(message),
    )


def notes_table(notes: Sequence[Note]) -> ReportTable:
    """Validity notes."""
    rows = [(Cell(note.code), Cell(note.severity), Cell(note.title), Cell(note.text)) for note in notes]
    return ReportTable(
        "validity",
        "Validity notes",
        (ReportColumn("Rule"), ReportColumn("Severity"), ReportColumn("Title"), ReportColumn("Note")),
        tuple(rows),
    )


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
        (METHOD, ReportColumn("Summary"), ReportColumn("Identity"), ReportColumn("Digest")),
        tuple(rows),
    )


def attributes_table(data: DataDescription) -> ReportTable:
    """The attributes of a dataset."""
    rows = [
        (Cell(one.name), Cell(one.role), Cell(one.type), Cell(one.range), Cell(one.description))
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
    return ReportTable("provenance", "Provenance", (ReportColumn("What"), ReportColumn("Value")), tuple(rows))


def _environments(records: Sequence[Record]) -> dict[str, list[str]]:
    found: dict[str, dict[str, None]] = {}
    for record in records:
        for name, value in record.environment.items():
            found.setdefault(name, {})[value] = None
    return {name: sorted(values) for name, values in found.items()}
