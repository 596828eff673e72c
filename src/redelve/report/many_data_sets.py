"""What a report on many data sets begins with: the answer over all of them, and a table of every one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from math import isfinite
from typing import TYPE_CHECKING

from redelve.findings import AcrossTasks, Findings, TaskFindings
from redelve.findings.claims import prototask_of
from redelve.findings.places import LeaderBoard, board_over
from redelve.report import formatting
from redelve.report.drawing import Picture, look_of
from redelve.report.first_screen import (
    MOST_NAMED,
    PlainAnswer,
    did_best,
    draw_rows,
    named,
    rows_figure,
    unit_of,
)
from redelve.report.formatting import (
    CASES,
    Cell,
    Mark,
    ReportColumn,
    ReportTable,
    Row,
    contender_column,
    listed,
    name_cell,
    per_cent,
)
from redelve.report.race_words import UNEQUAL_SETS
from redelve.report.sections import Panel
from redelve.report.words import OPEN_PLACES, PLACES, place_cells

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MOST_COLUMNS = 12
"""So many methods are columns of a table; more are rows, where there are fewer data sets."""
NO_MODEL_EVERYWHERE = "No two tasks have scores of all models, so there are no averages over tasks."


def _which_question(across: AcrossTasks) -> str:
    """What an average over tasks is about, and what it is not."""
    count = len(across.tasks)
    if across.contender != "model":
        return f"This is about new tasks like these {count}." if across.pairs else ""
    if not across.pairs:
        return f"For new cases of these {count} tasks alone, compare all cases together (--pooled)."
    return (
        f"This is about new tasks like these {count}; for new cases of these very tasks compare all cases "
        "together (--pooled)."
    )


def _tasks_word(across: AcrossTasks) -> str:
    return "data sets" if across.is_standardised else "tasks"


def answer_over(findings: Findings, found: Sequence[Panel]) -> PlainAnswer:
    """Over several data sets, each of which counts once."""
    across = findings.across
    if across is None:
        why = (
            NO_MODEL_EVERYWHERE
            if findings.results.is_fixed
            else "Averages over these data sets make no sense."
        )
        return PlainAnswer(_leaders(found), why, "")
    leader = across.by_loss[0].method
    more = _more_over(leader, found) if across.is_standardised else _which_question(across)
    return PlainAnswer(_which_over(across, found), _sure_over(across), more)


def _leaders(found: Sequence[Panel]) -> str:
    """Who had the smallest loss how often, where nothing can be averaged."""
    first = Counter(name for panel in found for name in panel.largest.leaders)
    told = listed([f"{name} on {times}" for name, times in first.most_common(MOST_NAMED)])
    ties = "; those that tie count each" if any(len(one.largest.leaders) > 1 for one in found) else ""
    if all(panel.largest.task.is_fixed for panel in found):
        return f"Of {len(found)} tasks, the best scores were those of {told}{ties}."
    return f"Of {len(found)} data sets, the smallest loss was that of {told}{ties}."


def _which_over(across: AcrossTasks, found: Sequence[Panel]) -> str:
    best, share, gone = across.by_loss[0], "", _not_averaged(across, found)
    if not across.is_standardised:
        share = f", with {unit_of(across.judged_by).words(best.average)}"
    elif not across.judged_by.is_shift and isfinite(best.average):
        share = f" with {per_cent(best.average)} of the loss of always giving the same answer"
    # who may be the best is not told where it was not asked for
    stars = (
        "" if across.is_planned else f"; {_stars(across.leaders, found, _tasks_word(across) if gone else '')}"
    )
    why = f" {_why_not(across, gone)}" if gone else ""
    return (
        f"Over {_which_are_averaged(across, found)} {did_best(across.leaders, f'{across.contender}s')} on "
        f"average{share}{stars}.{why}"
    )


def _not_averaged(across: AcrossTasks, found: Sequence[Panel]) -> list[Panel]:
    """The data sets that do not count in the average."""
    averaged = set(map(prototask_of, across.tasks))
    return [panel for panel in found if prototask_of(panel.largest.task.address) not in averaged]


def _which_are_averaged(across: AcrossTasks, found: Sequence[Panel]) -> str:
    """How many data sets count in the average; their names, if others do not."""
    gone, what = _not_averaged(across, found), _tasks_word(across)
    if not gone:
        return f"{len(across.tasks)} {what}"
    names = [panel.title for panel in found if panel not in gone]
    told = f" ({listed(names)})" if len(names) <= MOST_NAMED else ""
    return f"{len(across.tasks)} of the {len(found)} {what}{told}"


def _why_not(across: AcrossTasks, gone: Sequence[Panel]) -> str:
    """Which data sets do not count in the average, and why."""
    by_another = [panel for panel in gone if panel.largest.loss != across.judged_by.code]
    without = [panel for panel in gone if panel not in by_another]
    what, told = _tasks_word(across), list[str]()
    judge = "loss" if across.is_standardised else "score"
    for panels, why in (
        (by_another, f"judged by another loss ({_losses(by_another)}, not {across.judged_by.words})"),
        (without, f"not every {across.contender} has a {judge} there that can be averaged"),
    ):
        if panels:
            names = named([panel.title for panel in panels], what)
            told.append(f"{names} {'is' if len(panels) == 1 else 'are'} not in the average: {why}.")
    return " ".join(told)


def _losses(found: Sequence[Panel]) -> str:
    return listed(list(dict.fromkeys(panel.largest.judged_by.words for panel in found)), "or")


def _stars(leaders: Sequence[str], found: Sequence[Panel], of_all: str) -> str:
    """On how many data sets each of the leaders may be the best; `of_all`, if they are more than averaged."""
    stars = [sum(name in panel.largest.best_group for panel in found) for name in leaders]
    whole = f"all {len(found)} {of_all}" if of_all else str(len(found))
    if len(leaders) == 1:
        of_it = f"may be the best on {stars[0]}"
        return f"of {whole} it {of_it}" if of_all else f"it {of_it} of {whole}"
    each = zip(leaders[1:MOST_NAMED], stars[1:], strict=False)
    others = [f"{name} on {count}" for name, count in each]
    return f"of {whole}, {listed([f'{leaders[0]} may be the best on {stars[0]}', *others])}"


def _sure_over(across: AcrossTasks) -> str:
    tasks, contender = _tasks_word(across), across.contender
    if not across.pairs:
        return (
            f"{len(across.tasks)} {tasks} are too few to say which {contender} is better on others like "
            "them: it takes three."
        )
    if across.is_planned:
        shown = [f"{pair.winner} is better than {pair.loser}" for pair in across.pairs if pair.winner]
        what = named(shown, "planned comparisons show a difference")
        return f"{'It is 95 % sure that ' + what if shown else 'No planned comparison shows a difference'}."
    worse = across.worse
    rest = [one.method for one in across.by_loss if one.method not in worse]
    if not worse:
        return f"On average over {tasks} like these no {contender} was shown to be better than another."
    if len(rest) == 1:
        return f"It is 95 % sure that {rest[0]} is the best on average over {tasks} like these."
    are = "is" if len(worse) == 1 else "are"
    left = named(rest, f"others, {rest[0]} among them,")
    return (
        f"It is 95 % sure that {named(worse, f'{contender}s')} {are} not the best on average over {tasks} "
        f"like these; {left} could not be told apart."
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


def averages_picture(findings: Findings) -> Picture | None:
    """Averages of scores over tasks; None where losses are standardised, or there are no averages."""
    across = findings.across
    if across is None or across.is_standardised:
        return None
    title, count = unit_of(across.judged_by).title, len(across.tasks)
    return Picture(
        "averages",
        "Averages over tasks",
        f"{title}, averaged over {count} tasks, of {len(across.methods)} {across.contender}s, best first. "
        "The table below the figure has the same numbers.",
        f"{title}, averaged over {count} tasks, the best on top; a line is ± one standard error, for these "
        "very tasks. Filled: not shown to be worse than another on average over tasks like these.",
        lambda: _draw_averages(across, tuple(findings.results.methods)),
    )


def _draw_averages(across: AcrossTasks, everybody: Sequence[str]) -> Figure:
    order = [one.method for one in across.by_loss]
    figure, axes = rows_figure(order)
    looks = {name: look_of(everybody.index(name)) for name in order}
    filled = [name for name in order if across.pairs and name not in across.worse]
    draw_rows(axes, {one.method: one.shown for one in across.by_loss}, looks, filled)
    axes.set_xlabel(unit_of(across.judged_by).title)
    return figure


def ordered_methods(findings: Findings, found: Sequence[Panel]) -> tuple[str, ...]:
    """All methods by their average loss, or by their mean place where there is no average."""
    everybody = tuple(findings.results.methods)
    if findings.across is not None:
        first = [one.method for one in findings.across.by_loss]
        return (*first, *(name for name in everybody if name not in first))
    places = {name: [panel.methods.index(name) for panel in found] for name in everybody}
    return tuple(sorted(everybody, key=lambda name: sum(places[name])))


def datasets_table(findings: Findings, found: Sequence[Panel]) -> ReportTable:
    """Every method on every data set: losses, a star where it may be the best; the shorter side on top."""
    names = ordered_methods(findings, found)
    is_fixed, contender = findings.results.is_fixed, findings.results.contender
    board = _board(findings)
    what = "task" if is_fixed else "data set"
    rows = _by_method(findings, found, names) if is_turned(findings) else _by_data_set(findings, found, names)
    size = _size_column(found)
    columns = (
        (
            contender_column(contender),
            ReportColumn("Average", ("average",)),
            *(() if board is None else PLACES[1:]),
            *_numbers(_titles(found)),
        )
        if is_turned(findings)
        else (ReportColumn(what.capitalize()), size, *_numbers(names))
    )
    return ReportTable(
        "datasets",
        f"Every {contender} on every {what}",
        columns,
        tuple(rows),
        f"{_what_is_shown(found)}. ★: may be the best there, not shown to be worse than another. "
        f"{contender.capitalize()}s {_in_which_order(findings, found, what)}"
        f"{_of_races(found)}"
        f"{f' {OPEN_PLACES}' if board and is_turned(findings) else ''}",
    )


def _in_which_order(findings: Findings, found: Sequence[Panel], what: str) -> str:
    across = findings.across
    if across is None:
        return "by their mean place, since there is no average."
    if gone := _not_averaged(across, found):
        how = f"by their average over {_which_are_averaged(across, found)}, each of which counts once."
        return f"{how} {_why_not(across, gone)}"
    return f"by their average, in which every {what} counts once."


def _of_races(found: Sequence[Panel]) -> str:
    """Said where methods of a data set have different training sets, be it by a race."""
    unequal = [panel.largest for panel in found if panel.largest.unequal_sets]
    if not unequal:
        return ""
    who = "that dropped out of a race" if all(task.is_raced for task in unequal) else "without some results"
    return f" Methods {who} have fewer training sets. {UNEQUAL_SETS}"


def _size_column(found: Sequence[Panel]) -> ReportColumn:
    """How much a score is of: cases of fixed models, cases that methods learnt from, or folds."""
    if all(panel.largest.task.is_fixed for panel in found):
        return ReportColumn("Cases", ("cases",))
    return CASES if _has_size(found) else ReportColumn("Folds", ("folds",))


def _has_size(found: Sequence[Panel]) -> bool:
    return any(panel.largest.task.has_size for panel in found)


def _board(findings: Findings) -> LeaderBoard | None:
    across = findings.across
    return None if across is None or across.is_standardised else board_over(across)


def is_turned(findings: Findings) -> bool:
    """Whether methods are rows, since there are too many of them to be columns."""
    methods, tasks = len(findings.results.methods), len(findings.results.tasks)
    return methods > MOST_COLUMNS and methods > tasks


def _numbers(titles: Sequence[str]) -> tuple[ReportColumn, ...]:
    return tuple(ReportColumn(title, (title,)) for title in titles)


def _titles(found: Sequence[Panel]) -> tuple[str, ...]:
    return tuple(panel.title for panel in found)


def _averages(findings: Findings, names: Sequence[str]) -> dict[str, Cell]:
    """The average of every method that has one."""
    across = findings.across
    ranked = {} if across is None else {one.method: one.shown[0] for one in across.methods}
    return {name: _average(ranked.get(name)) for name in names}


def _by_method(findings: Findings, found: Sequence[Panel], names: Sequence[str]) -> list[Row]:
    averages, board = _averages(findings, names), _board(findings)
    return [
        (
            name_cell(name),
            averages[name],
            *place_cells(board, name)[1:],
            *(_dataset_cell(one.largest, name, one.is_standardised) for one in found),
        )
        for name in names
    ]


def _by_data_set(findings: Findings, found: Sequence[Panel], names: Sequence[str]) -> list[Row]:
    rows = [_dataset_row(panel, names, has_size=_has_size(found)) for panel in found]
    if findings.across is not None:
        rows.insert(0, (Cell("Average"), Cell(formatting.UNKNOWN), *_averages(findings, names).values()))
    return rows


def _what_is_shown(found: Sequence[Panel]) -> str:
    if found and not _has_size(found):
        judges = {unit_of(panel.largest.judged_by).title for panel in found}
        return judges.pop() if len(judges) == 1 else "Scores in their own units"
    if not found or not all(panel.is_standardised for panel in found):
        return "At the largest training-set size; losses standardised where that is possible"
    unit = "0" if found[0].largest.judged_by.is_shift else "1"
    return (
        f"Standardised loss at the largest training-set size, where {unit} is what the best constant answer "
        "loses"
    )


def _average(value: float | None) -> Cell:
    return Cell(formatting.plain(value, 3), (value,))


def _dataset_row(panel: Panel, names: Sequence[str], *, has_size: bool) -> Row:
    task, facts = panel.largest, panel.largest.task
    size = facts.case_count if facts.is_fixed else facts.training_set_size
    if not facts.is_fixed and not facts.has_size:
        size = 0 if has_size else len(facts.instances)
    return (
        Cell(panel.title, link=f"#{panel.key}"),
        formatting.count_cell(size) if size else Cell(formatting.UNKNOWN),
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
