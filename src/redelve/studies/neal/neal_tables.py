"""The study as tables: losses, verdicts, coverage, times, and agreement with the printed digits."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import combinations

import numpy as np

from redelve.report import formatting
from redelve.report.formatting import Cell, ReportColumn, ReportTable, error_cell, name_cell, slug
from redelve.studies.neal.must_hold import MustHold
from redelve.studies.neal.paper_findings import JudgedFinding, JudgedPart
from redelve.studies.neal.printed_digits import PrintedArray, printed_arrays
from redelve.studies.neal.relevance_study import NealStudy
from redelve.studies.neal.tested_methods import EVERY

SIGNIFICANT = 0.09
"""The figures show p-values up to this one."""
REPLICA = "The data are redelve's replicas of the families, not the original ones."
OUTCOMES = ("same winner", "printed only", "here only", "neither", "opposite")


def methods_of(study: NealStudy) -> tuple[str, ...]:
    """The methods that were run, in the order of the list."""
    return tuple(name for name in EVERY if name in study.results.methods)


def tables_of(study: NealStudy, held: Sequence[MustHold]) -> tuple[ReportTable, ...]:
    """Every table."""
    return (
        findings_table(study.judged, "findings", "The six findings"),
        findings_table(study.answered, "questions", "The open questions"),
        must_hold_table(held),
        printed_table(study),
        *losses_tables(study),
        coverage_table(study),
        log_loss_table(study),
        times_table(study),
    )


def findings_table(judged: Iterable[JudgedFinding], name: str, title: str) -> ReportTable:
    """A row for each part, the verdict on the finding in its first."""
    columns = (
        ReportColumn("Finding"),
        ReportColumn("Verdict"),
        ReportColumn("Claim"),
        ReportColumn("Tests", ("tests",)),
        ReportColumn("For, against", ("in_favour", "against")),
        ReportColumn("t", ("statistic",)),
        ReportColumn("p", ("p_value",)),
        ReportColumn("Deciding test"),
    )
    rows = [row for one in judged for row in _finding_rows(one)]
    caption = (
        "One-sided tests at 2.5 %, paired by training sets. A claim that must hold everywhere: the largest "
        "p-value decides; one that must hold somewhere: the smallest by Holm's rule. t is negative in favour "
        "of the claim. For and against: tests significant in either direction, by Holm's rule where several "
        "are asked. Of 100 studies of equal methods at most five give a finding another verdict than "
        f"“cannot tell”. {REPLICA}"
    )
    return ReportTable(name, title, columns, tuple(rows), caption)


def _finding_rows(judged: JudgedFinding) -> list[tuple[Cell, ...]]:
    rows = []
    for place, part in enumerate(judged.parts):
        first = f"{judged.finding.number}. {judged.finding.words}" if place == 0 else ""
        rows.append((Cell(first), Cell(judged.verdict if place == 0 else ""), *_part_cells(part)))
    return rows


def _part_cells(part: JudgedPart) -> tuple[Cell, ...]:
    counts = (float(part.in_favour), float(part.against))
    return (
        Cell(f"{part.part.words}: {part.verdict}"),
        Cell(str(part.tests), (float(part.tests),)),
        Cell(f"{part.in_favour}, {part.against}", counts),
        Cell(formatting.plain(part.statistic, 3), (part.statistic,)),
        Cell(formatting.p_value(part.p_value), (part.p_value,)),
        Cell(part.deciding),
    )


def must_hold_table(held: Sequence[MustHold]) -> ReportTable:
    """What `--check` looks at."""
    columns = (ReportColumn("What must hold"), ReportColumn("Found"), ReportColumn("Does it?"))
    rows = tuple((Cell(one.words), Cell(one.found), Cell("yes" if one.holds else "no")) for one in held)
    return ReportTable(
        "must-hold",
        "What must hold of redelve's own methods",
        columns,
        rows,
        "`--check` exits with 1 if one of these does not hold. The verdicts above do not count.",
    )


def losses_tables(study: NealStudy) -> tuple[ReportTable, ...]:
    """Standardised squared errors, a table for each prototask."""
    return tuple(_losses(study, prototask) for prototask in study.plan.prototasks)


def _losses(study: NealStudy, prototask: str) -> ReportTable:
    sizes = [size for size in study.plan.sizes if (prototask, size) in study.tasks]
    rows = []
    for name in methods_of(study):
        cells = []
        for size in sizes:
            found = {one.method: one for one in study.tasks[prototask, size].methods}.get(name)
            given = (None, None) if found is None else (found.standardised, found.standardised_error)
            cells.append(error_cell(*given))
        if any(cell.numbers and cell.numbers[0] is not None for cell in cells):
            rows.append((name_cell(name), *cells))
    columns = (ReportColumn("Method"), *(ReportColumn(f"{n}", (f"at_{n}", f"at_{n}_se")) for n in sizes))
    caption = f"Standardised squared error ± one standard error by the number of training cases. {REPLICA}"
    return ReportTable(f"losses-{slug(prototask)}", f"{prototask}", columns, tuple(rows), caption)


def coverage_table(study: NealStudy) -> ReportTable:
    """How many test cases lie in the central 90 % intervals."""
    columns = (
        ReportColumn("Method"),
        *(ReportColumn(one, (one, f"{one}_se")) for one in study.plan.prototasks),
    )
    rows = []
    for name in methods_of(study):
        shares = [study.coverage.get((name, prototask)) for prototask in study.plan.prototasks]
        if any(one is not None for one in shares):
            rows.append((name_cell(name), *map(_share, shares)))
    return ReportTable(
        "coverage",
        "Coverage of 90 % intervals",
        columns,
        tuple(rows),
        "Per cent of the test cases, mean over the training sets of all sizes ± standard error.",
    )


def _share(shares: np.ndarray | None) -> Cell:
    if shares is None or len(shares) < 2:
        return Cell(formatting.UNKNOWN)
    mean, error = 100 * float(shares.mean()), 100 * float(shares.std(ddof=1)) / len(shares) ** 0.5
    return Cell(f"{mean:.1f} ± {error:.1f}", (mean, error))


def log_loss_table(study: NealStudy) -> ReportTable:
    """Losses L, less those of the best constant distribution."""
    known = {
        (one.task.address.strip("/").rpartition("/")[0], one.task.training_set_size): one
        for one in study.findings.other_losses
        if one.loss == "L"
    }
    places = [place for place in study.tasks if place in known]
    columns = (
        ReportColumn("Method"),
        *(ReportColumn(f"{task.partition('/')[0]} {size}", (f"{task}.{size}",)) for task, size in places),
    )
    rows = []
    for name in methods_of(study):
        found = [{one.method: one for one in known[place].methods}.get(name) for place in places]
        values = [None if one is None else one.standardised for one in found]
        if any(value is not None for value in values):
            rows.append((name_cell(name), *(Cell(formatting.plain(value, 3), (value,)) for value in values)))
    return ReportTable(
        "log-losses",
        "Minus the log density of the targets",
        columns,
        tuple(rows),
        "Less that of the best constant normal distribution: smaller is better, 0 is as good as that one.",
    )


def times_table(study: NealStudy) -> ReportTable:
    """Passes and seconds of each method: of the processor, or on a device of the clock."""
    seconds = "CPU seconds" if study.device == "cpu" else "Seconds"
    columns = (
        ReportColumn("Method"),
        ReportColumn("Passes", ("passes",)),
        ReportColumn("Training sets", ("training_sets",)),
        ReportColumn(seconds, ("seconds",)),
        ReportColumn("a training set", ("seconds_each",)),
    )
    rows = tuple(_time_row(study, name) for name in methods_of(study))
    caption = (
        "Forward and backward passes over the training cases of one training set, all networks and chains "
        f"together, where they are counted; seconds of training, on {study.device}, of all training sets."
    )
    return ReportTable("times", "Times", columns, rows, caption)


def _time_row(study: NealStudy, name: str) -> tuple[Cell, ...]:
    costs = [one.costs for one in study.results.records if one.job.method == name]
    taken = [one.cpu_seconds if study.device == "cpu" else one.training_seconds for one in costs]
    passes, total = study.passes.get(name), float(sum(one or 0.0 for one in taken))
    return (
        name_cell(name),
        Cell(formatting.UNKNOWN if passes is None else f"{passes:,}", (passes,)),
        Cell(str(len(costs)), (float(len(costs)),)),
        Cell(f"{total:.1f}", (total,)),
        Cell(formatting.plain(total / len(costs), 2), (total / len(costs),)),
    )


def printed_table(study: NealStudy) -> ReportTable:
    """How often significant differences are the printed ones."""
    counted = (ReportColumn(one, (slug(one),)) for one in OUTCOMES)
    columns = (ReportColumn("Figure"), ReportColumn("Pairs", ("pairs",)), *counted)
    rows = []
    for prototask, figure in dict.fromkeys((one.prototask, one.figure) for one in printed_arrays()):
        arrays = [one for one in printed_arrays() if (one.prototask, one.figure) == (prototask, figure)]
        counts = Counter(outcome for array in arrays for outcome in outcomes_of(study, array))
        if total := sum(counts.values()):
            cells = (Cell(str(counts[one]), (float(counts[one]),)) for one in OUTCOMES)
            rows.append((Cell(f"{prototask}, {figure}"), Cell(str(total), (float(total),)), *cells))
    caption = (
        "Pairs of methods on a task whose p-values (of the comparison alone, as in print) are at most 0.09, "
        f"in print and here; the figures' digits as far as the text at hand keeps their places. {REPLICA}"
    )
    return ReportTable("printed", "Beside the printed p-values", columns, tuple(rows), caption)


def outcomes_of(study: NealStudy, array: PrintedArray) -> list[str]:
    """What became of each pair of an array that was run here."""
    found = []
    for first, second in combinations(array.methods, 2):
        duel = study.duels.get((first, second, array.prototask, array.size))
        if duel is not None:
            ours = None if duel.p_value > SIGNIFICANT else first if duel.statistic < 0 else second
            found.append(outcome_of(array.better(first, second), ours))
    return found


def outcome_of(printed: str | None, ours: str | None) -> str:
    """How two outcomes agree.

    >>> outcome_of("a", "a"), outcome_of("a", None), outcome_of(None, None), outcome_of("a", "b")
    ('same winner', 'printed only', 'neither', 'opposite')
    """
    if printed is None and ours is None:
        return "neither"
    if printed is None or ours is None:
        return "here only" if printed is None else "printed only"
    return "same winner" if printed == ours else "opposite"
