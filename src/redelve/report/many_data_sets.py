"""What a report on many data sets begins with: the answer over all of them, and a table of every one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from math import isfinite

from redelve.findings import AcrossTasks, Findings, TaskFindings
from redelve.report import formatting
from redelve.report.first_screen import MOST_NAMED, PlainAnswer, named, unit_of
from redelve.report.formatting import Cell, Mark, ReportColumn, ReportTable, Row, listed, per_cent
from redelve.report.sections import Panel


def answer_over(findings: Findings, found: Sequence[Panel]) -> PlainAnswer:
    """Over several data sets, each of which counts once."""
    across = findings.across
    if across is None:
        return PlainAnswer(_leaders(found), "Averages over these data sets make no sense.", "")
    leader = across.by_loss[0].method
    return PlainAnswer(_which_over(across, found), _sure_over(across), _more_over(leader, found))


def _leaders(found: Sequence[Panel]) -> str:
    """Who had the smallest loss how often, where nothing can be averaged."""
    first = Counter(panel.largest.leader for panel in found if panel.largest.leader)
    told = [f"{name} on {times}" for name, times in first.most_common(MOST_NAMED)]
    return f"Of {len(found)} data sets, the smallest loss was that of {listed(told)}."


def _which_over(across: AcrossTasks, found: Sequence[Panel]) -> str:
    best, count = across.by_loss[0], len(across.tasks)
    stars = sum(best.method in panel.largest.best_group for panel in found)
    share = ""
    if not across.judged_by.is_shift and isfinite(best.average):
        share = f" with {per_cent(best.average)} of the loss of always giving the same answer"
    return (
        f"Over {count} data sets {best.method} did best on average{share}; "
        f"it may be the best on {stars} of {len(found)}."
    )


def _sure_over(across: AcrossTasks) -> str:
    if not across.pairs:
        return (
            f"{len(across.tasks)} data sets are too few to say which method is better on others like them: "
            "it takes three."
        )
    if across.is_planned:
        shown = [f"{pair.winner} is better than {pair.loser}" for pair in across.pairs if pair.winner]
        what = named(shown, "planned comparisons show a difference")
        return f"{'It is 95 % sure that ' + what if shown else 'No planned comparison shows a difference'}."
    worse = across.worse
    rest = [one.method for one in across.by_loss if one.method not in worse]
    if not worse:
        return "On average over data sets like these no method was shown to be better than another."
    if len(rest) == 1:
        return f"It is 95 % sure that {rest[0]} is the best on average over data sets like these."
    return (
        f"It is 95 % sure that {named(worse, 'methods')} {'is' if len(worse) == 1 else 'are'} not the best "
        f"on average over data sets like these; {named(rest, 'others')} could not be told apart."
    )


def _more_over(leader: str, found: Sequence[Panel]) -> str:
    several = [panel for panel in found if len(panel.tasks) > 1]
    if not several:
        return "Whether more data would help cannot be told: only one training-set size was tried."
    verdicts = Counter(_verdict(panel, leader) for panel in several)
    parts = [
        f"{text} on {verdicts[verdict]}"
        for verdict, text in (("yes", "would help"), ("no", "would hardly help"))
        if verdicts[verdict]
    ]
    if not parts:
        return f"Whether more data would help {leader} cannot be told on any of {len(several)} data sets."
    rest = verdicts["cannot be told"]
    told = f"; on {rest} that cannot be told" if rest else ""
    return f"More data {' and '.join(parts)} of the {len(several)} data sets with several sizes{told}."


def _verdict(panel: Panel, method: str) -> str:
    curve = panel.curve(method)
    return "cannot be told" if curve is None or curve.more_data is None else curve.more_data.verdict


def ordered_methods(findings: Findings, found: Sequence[Panel]) -> tuple[str, ...]:
    """All methods by their average loss, or by their mean place where there is no average."""
    everybody = tuple(findings.results.methods)
    if findings.across is not None:
        first = [one.method for one in findings.across.by_loss]
        return (*first, *(name for name in everybody if name not in first))
    places = {name: [panel.methods.index(name) for panel in found] for name in everybody}
    return tuple(sorted(everybody, key=lambda name: sum(places[name])))


def datasets_table(findings: Findings, found: Sequence[Panel]) -> ReportTable:
    """A row for every data set, a column for every method: losses, and a star where it may be the best."""
    names = ordered_methods(findings, found)
    rows = [_dataset_row(panel, names) for panel in found]
    if findings.across is not None:
        ranked = {one.method: one for one in findings.across.methods}
        cells = [_average(ranked[name].average) if name in ranked else _average(None) for name in names]
        rows.insert(0, (Cell("Average"), Cell(formatting.UNKNOWN), *cells))
    return ReportTable(
        "datasets",
        "Every method on every data set",
        (
            ReportColumn("Data set"),
            ReportColumn("Training cases", ("training_set_size",)),
            *(ReportColumn(name, (name,)) for name in names),
        ),
        tuple(rows),
        f"{_what_is_shown(found)}. ★: may be the best there, not shown to be worse than another. Methods by "
        "their average, in which every data set counts once.",
    )


def _what_is_shown(found: Sequence[Panel]) -> str:
    if not found or not all(panel.is_standardised for panel in found):
        return "At the largest training-set size; losses standardised where that is possible"
    unit = "0" if found[0].largest.judged_by.is_shift else "1"
    return (
        f"Standardised loss at the largest training-set size, where {unit} is what the best constant answer "
        "loses"
    )


def _average(value: float | None) -> Cell:
    return Cell(formatting.plain(value, 3), (value,))


def _dataset_row(panel: Panel, names: Sequence[str]) -> Row:
    task = panel.largest
    return (
        Cell(panel.prototask, link=f"#{panel.key}"),
        formatting.count_cell(task.task.training_set_size),
        *(_dataset_cell(task, name, panel.is_standardised) for name in names),
    )


def _dataset_cell(task: TaskFindings, name: str, is_standardised: bool) -> Cell:
    finding = next((one for one in task.methods if one.method == name), None)
    if finding is None:
        return Cell(formatting.UNKNOWN, (None,))
    mark: Mark = "best" if name in task.best_group else ""
    value, error = unit_of(task.judged_by, task.task.targets).shown(finding.mean, finding.standard_error)
    if is_standardised:
        value, error = finding.standardised, finding.standardised_error
    return Cell(formatting.by_error(value, error), (value,), mark)
