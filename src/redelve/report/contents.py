"""The tables of one prototask: expected losses, comparisons, curves, variation, costs, other losses."""

from __future__ import annotations

from collections.abc import Sequence

from redelve.answers.losses import Loss
from redelve.findings import Contest, Findings, MethodFinding, TaskFindings
from redelve.report import rounding
from redelve.report.panels import Panel, slug, variance_shares
from redelve.report.table_values import Cell, Mark, ReportColumn, ReportTable, Row
from redelve.stats.multiple import guarded_p_value

METHOD = ReportColumn("Method")
CASES = ReportColumn("Training cases", ("training_set_size",))
TASK = ReportColumn("Task")
SOURCES = (
    "training sets",
    "seeds",
    "test cases",
    "training set × test case",
    "test cases and residual",
    "residual",
)


def name_cell(method: str) -> Cell:
    """A method's name with its swatch."""
    return Cell(method, method=method)


def count_cell(number: int | None) -> Cell:
    """A whole number."""
    return Cell(rounding.UNKNOWN) if number is None else Cell(str(number), (number,))


def error_cell(value: float | None, error: float | None, mark: Mark = "") -> Cell:
    """A number and its standard error."""
    return Cell(rounding.with_error(value, error), (value, error), mark)


def losses_table(panel: Panel) -> ReportTable:
    """Expected losses of every method at every size."""
    rows = [
        _loss_row(panel, task, finding)
        for task in reversed(panel.tasks)
        for finding in sorted(task.methods, key=lambda one: (one.mean is None, one.mean or 0.0))
    ]
    judged_by = panel.largest.judged_by
    return ReportTable(
        f"losses-{panel.key}",
        f"Expected {judged_by.words} on {panel.prototask}",
        (
            CASES,
            METHOD,
            ReportColumn("Expected loss ± SE", ("loss", "loss_se")),
            ReportColumn("95 % interval", ("low", "high")),
            ReportColumn("Standardised ± SE", ("standardised", "standardised_se")),
            ReportColumn("May be the best", hint="not shown to be worse than another method"),
            ReportColumn("Training sets", ("training_sets",)),
            ReportColumn("Runs", ("runs",)),
            ReportColumn("Failed", ("failed",)),
        ),
        tuple(rows),
        _losses_caption(judged_by),
    )


def _losses_caption(loss: Loss) -> str:
    unit = "0" if loss.is_shift else "1"
    return (
        "SE: standard error, for new training sets and new test cases. "
        f"Standardised: {unit} is what the best constant answer loses. "
        "★: the truly best of these methods is among those so marked with 95 % confidence."
    )


def _loss_row(panel: Panel, task: TaskFindings, finding: MethodFinding) -> Row:
    bounds = finding.bounds
    low, high = bounds or (None, None)
    best = finding.method in task.best_group
    word = "yes" if best else "no" if task.group else rounding.UNKNOWN
    return (
        count_cell(task.task.training_set_size),
        name_cell(finding.method),
        error_cell(finding.mean, finding.standard_error),
        Cell(rounding.interval(bounds, finding.standard_error), (low, high)),
        error_cell(finding.standardised, finding.standardised_error),
        Cell(word, mark="best" if best else ""),
        count_cell(finding.instances),
        count_cell(finding.runs),
        count_cell(finding.failed),
    )


def pairs_table(panel: Panel) -> ReportTable:
    """Every comparison, one to a row."""
    rows = [_pair_row(task, contest) for task in reversed(panel.tasks) for contest in task.contests]
    return ReportTable(
        f"pairs-{panel.key}",
        f"All comparisons on {panel.prototask}",
        (
            CASES,
            ReportColumn("A"),
            ReportColumn("B"),
            ReportColumn("A − B ± SE", ("difference", "difference_se")),
            ReportColumn("95 % interval", ("low", "high")),
            ReportColumn("Standardised", ("standardised",)),
            ReportColumn("p", ("p",)),
            ReportColumn("p, cautious", ("cautious_p",)),
            ReportColumn("p, adjusted", ("adjusted_p",)),
            ReportColumn("Finding"),
        ),
        tuple(rows),
        "Differences of expected loss, A minus B; negative: A loses less. Adjusted: by Holm's method for "
        "all pairs "
        "of the task, starting from the cautious p-value.",
    )


def _pair_row(task: TaskFindings, contest: Contest) -> Row:
    bounds = contest.bounds
    low, high = bounds or (None, None)
    shift = contest.standard.spread(contest.difference)
    error = contest.standard.spread(contest.standard_error)
    cautious = guarded_p_value(contest.test)
    found = f"{contest.winner} loses less" if contest.winner else "not told apart"
    return (
        count_cell(task.task.training_set_size),
        name_cell(contest.first),
        name_cell(contest.second),
        error_cell(contest.difference, contest.standard_error),
        Cell(rounding.interval(bounds, contest.standard_error), (low, high)),
        Cell(rounding.by_error(shift, error), (shift,)),
        Cell(rounding.p_value(contest.p_value), (contest.p_value,)),
        Cell(rounding.p_value(cautious), (cautious,)),
        Cell(rounding.p_value(contest.adjusted_p_value), (contest.adjusted_p_value,)),
        Cell(found, mark=_mark(contest, contest.first)),
    )


def _mark(contest: Contest, first: str) -> Mark:
    """How `first` fared in a comparison."""
    if contest.winner is None:
        return "open"
    return "better" if contest.winner == first else "worse"


def matrix_table(task: TaskFindings) -> ReportTable:
    """Every method (row) against every other (column): difference, p-values, a mark."""
    names = [one.method for one in task.methods]
    contests = {frozenset((one.first, one.second)): one for one in task.contests}
    rows = [
        (
            name_cell(row),
            *(_matrix_cell(row, column, contests.get(frozenset((row, column)))) for column in names),
        )
        for row in names
    ]
    return ReportTable(
        f"matrix-{slug(task.task.address)}",
        f"Row minus column on {task.task.address}",
        (ReportColumn("Row − column"), *(ReportColumn(name, (name,)) for name in names)),
        tuple(rows),
        "Difference of expected loss ± standard error; p of this comparison alone, then adjusted for all "
        "pairs. "
        "▼ the row's method loses less, ▲ it loses more (adjusted p < 0.05), · could not be told apart.",
        is_matrix=True,
    )


def _matrix_cell(row: str, column: str, contest: Contest | None) -> Cell:
    if row == column or contest is None:
        return Cell("" if row == column else rounding.UNKNOWN, (None,))
    sign = 1.0 if contest.first == row else -1.0
    difference = None if contest.difference is None else sign * contest.difference
    cautious = guarded_p_value(contest.test)
    lines = (rounding.p_equals(cautious), f"adj. {rounding.p_value(contest.adjusted_p_value)}")
    text = rounding.with_error(difference, contest.standard_error)
    return Cell(text, (difference,), _mark(contest, row), lines=lines)


def curves_table(panel: Panel) -> ReportTable:
    """Losses by size, a row per method, and whether more data would help."""
    sizes = [task.task.training_set_size for task in panel.tasks]
    standardised = panel.is_standardised
    rows = []
    for curve in panel.curves:
        at = {point.training_set_size: point for point in curve.points}
        cells = []
        for size in sizes:
            point = at.get(size)
            if point is None:
                cells.append(Cell(rounding.UNKNOWN))
            elif standardised:
                cells.append(error_cell(point.standardised, point.standardised_error))
            else:
                cells.append(error_cell(point.mean, point.standard_error))
        rows.append((name_cell(curve.method), *cells, Cell(curve.would_more_data_help or "cannot be told")))
    kind = "Standardised" if standardised else "Expected"
    return ReportTable(
        f"curves-{panel.key}",
        f"{kind} loss by training-set size on {panel.prototask}",
        (
            METHOD,
            *(ReportColumn(f"{size}", (f"at_{size}", f"at_{size}_se")) for size in sizes),
            ReportColumn("Would more data help?"),
        ),
        tuple(rows),
        "± standard error. Whether more data would help is judged by the last step of the curve alone.",
    )


def variance_table(panel: Panel) -> ReportTable:
    """Standard deviations by source, and each source's share of the squared standard error."""
    found = [(task, one, variance_shares(one)) for task in reversed(panel.tasks) for one in task.methods]
    sources = [source for source in SOURCES if any(source in shares for _, _, shares in found)]
    rows = [_variance_row(task, one, shares, sources) for task, one, shares in found if shares]
    columns = [
        ReportColumn(f"SD: {source}", (_part("sd", source), _part("share", source))) for source in sources
    ]
    return ReportTable(
        f"variance-{panel.key}",
        f"Where the uncertainty comes from on {panel.prototask}",
        (CASES, METHOD, *columns, ReportColumn("SE", ("se",)), ReportColumn("Mostly due to")),
        tuple(rows),
        "Standard deviation of the loss by source; in brackets the source's share of the squared standard "
        "error (SE). "
        "A variance estimated below zero is given as zero.",
    )


def _part(kind: str, source: str) -> str:
    return f"{kind}_{slug(source).replace('-', '_')}"


def _variance_row(
    task: TaskFindings, finding: MethodFinding, shares: dict[str, float], sources: Sequence[str]
) -> Row:
    deviations = dict(finding.deviations)
    if "test cases and residual" in shares:
        deviations["test cases and residual"] = deviations.pop("residual")
    cells = []
    for source in sources:
        share, deviation = shares.get(source), deviations.get(source)
        text = (
            rounding.UNKNOWN
            if share is None
            else f"{rounding.plain(deviation, 2)} ({rounding.per_cent(share)})"
        )
        cells.append(Cell(text, (deviation, share)))
    main = max(shares, key=shares.__getitem__)
    return (
        count_cell(task.task.training_set_size),
        name_cell(finding.method),
        *cells,
        Cell(rounding.plain(finding.standard_error, 2), (finding.standard_error,)),
        Cell(f"{main} ({rounding.per_cent(shares[main])})"),
    )


def costs_table(findings: Findings, panel: Panel) -> ReportTable:
    """Times and memory."""
    addresses = {task.task.address: task for task in panel.tasks}
    rows = [
        (
            count_cell(addresses[cost.task].task.training_set_size),
            name_cell(cost.method),
            Cell(rounding.seconds(cost.training_seconds), (cost.training_seconds,)),
            Cell(rounding.seconds(cost.prediction_seconds), (cost.prediction_seconds,)),
            Cell(rounding.seconds(cost.cpu_seconds), (cost.cpu_seconds,)),
            Cell(rounding.size(cost.peak_memory), (cost.peak_memory,)),
            Cell(rounding.plain(cost.mean_loss, 3), (cost.mean_loss,)),
            Cell("yes" if cost.on_front else "no", mark="best" if cost.on_front else ""),
            count_cell(cost.jobs),
        )
        for cost in sorted(
            (one for one in findings.costs if one.task in addresses),
            key=lambda one: (-addresses[one.task].task.training_set_size, one.training_seconds or 0.0),
        )
    ]
    return ReportTable(
        f"costs-{panel.key}",
        f"Costs on {panel.prototask}",
        (
            CASES,
            METHOD,
            ReportColumn("Training", ("training_seconds",)),
            ReportColumn("Prediction", ("prediction_seconds",)),
            ReportColumn("CPU", ("cpu_seconds",)),
            ReportColumn("Peak memory", ("peak_memory_bytes",)),
            ReportColumn("Expected loss", ("loss",)),
            ReportColumn("On the front"),
            ReportColumn("Jobs", ("jobs",)),
        ),
        tuple(rows),
        "Medians over jobs. On the front: no other method has both a smaller mean loss and a smaller "
        "training time. "
        "Memory includes what Python itself takes.",
    )


def other_losses_table(findings: Findings) -> ReportTable | None:
    """Means and standard errors by every other loss; None where there is none."""
    codes = {task.loss: task.judged_by.words for task in (*findings.tasks, *findings.other_losses)}
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
        "★ not shown to be worse than another by that loss.",
    )


def _loss_cell(task: TaskFindings | None, method: str) -> Cell:
    finding = next((one for one in task.methods if one.method == method), None) if task else None
    if finding is None or task is None:
        return Cell(rounding.UNKNOWN)
    mark: Mark = "best" if method in task.best_group else ""
    return error_cell(finding.mean, finding.standard_error, mark)


def overview_table(found: Sequence[Panel]) -> ReportTable:
    """Who may be the best, task by task."""
    rows = [_overview_row(task) for panel in found for task in panel.tasks]
    return ReportTable(
        "overview",
        "Which method, task by task",
        (
            TASK,
            CASES,
            ReportColumn("Smallest loss"),
            ReportColumn("Standardised ± SE", ("standardised", "standardised_se")),
            ReportColumn("May be the best (95 %)"),
            ReportColumn("Shown to be worse"),
        ),
        tuple(rows),
        "May be the best: not shown to be worse than any other method. That is no evidence of being as good "
        "as the best.",
    )


def _overview_row(task: TaskFindings) -> Row:
    known = [one for one in task.methods if one.mean is not None]
    leader = min(known, key=lambda one: one.mean or 0.0, default=None)
    group = task.best_group
    worse = [one.method for one in task.methods if task.group and one.method not in group]
    return (
        Cell(task.task.address, link=f"#{slug(task.task.address.rpartition('/')[0])}"),
        count_cell(task.task.training_set_size),
        Cell(rounding.UNKNOWN) if leader is None else name_cell(leader.method),
        Cell(rounding.UNKNOWN)
        if leader is None
        else error_cell(leader.standardised, leader.standardised_error),
        Cell(", ".join(group) or rounding.UNKNOWN),
        Cell(", ".join(worse) or "none"),
    )
