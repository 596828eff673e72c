"""What a report on one data set begins with: the answer in three sentences, one picture and one table.

The sentences are for people who do not do statistics: which, how sure, would more data help. No p-values, no
powers of ten, no standard errors: the rest of the report has them. How a loss is written in the reader's
units is decided here and nowhere else.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import isfinite, isnan, sqrt
from typing import TYPE_CHECKING, Literal

from redelve.answers.losses import Loss, SquaredError
from redelve.answers.predictions import Target
from redelve.findings import Findings, LearningCurve, MethodFinding, TaskFindings
from redelve.findings.places import board_on
from redelve.report import formatting
from redelve.report.drawing import INK, LONGEST_LABEL, PAPER, RULE, FigureLook, Picture, label, new_figure
from redelve.report.formatting import (
    MINUS,
    UNKNOWN,
    Cell,
    ReportColumn,
    ReportTable,
    Row,
    contender_column,
    listed,
    name_cell,
    per_cent,
    target_unit,
)
from redelve.report.race_words import UNEQUAL_SETS, how_often_false, race_headline
from redelve.report.sections import Panel, panels
from redelve.report.words import (
    OPEN_PLACES,
    PLACES,
    UNTESTED_BEST,
    board_sentence,
    cases_sentence,
    no_value,
    on_fewer_sets,
    place_cells,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

NOTHING = "No job came to an answer, so there is nothing to analyse."
TRAINING_SETS = ReportColumn("Training sets", ("training_sets",))
LONGEST_ROW = 34
"""The letters of a name that find room beside a row: settings and solvers often differ at their ends."""
MOST_NAMED = 4
"""So many methods are named in a sentence; more are counted."""
WIDTH, ROW, LETTER = 4.6, 0.27, 0.075
"""Inches, of a picture that a telephone shows at three quarters of its size."""


@dataclass(frozen=True)
class PlainAnswer:
    """Three sentences."""

    which: str
    how_sure: str
    more_data: str

    @property
    def sentences(self) -> tuple[str, ...]:
        """Those that there are."""
        return tuple(text for text in (self.which, self.how_sure, self.more_data) if text)


def plain_answer(findings: Findings) -> PlainAnswer:
    """The answer of a whole report: of its one data set, or over all of them."""
    found = panels(findings)
    if not found:
        return PlainAnswer(NOTHING, "", "")
    if len(found) == 1:
        return answer_on(found[0])
    from redelve.report.many_data_sets import answer_over  # which is made of words from here

    return answer_over(findings, found)


# --- losses in the reader's units --------------------------------------------------------------------------


@dataclass(frozen=True)
class LossUnit:
    """How an expected loss is written for its reader: what it is called, and the number with its error."""

    title: str
    phrase: str
    """Within a sentence, with {} for the number."""
    loss: Loss
    kind: Literal["as shown", "share", "root"] = "as shown"

    def shown(self, value: float | None, error: float | None) -> tuple[float | None, float | None]:
        """The number and its standard error in this unit; a root's by the delta method."""
        if value is None:
            return None, None
        if self.kind == "share":
            return 100 * value, None if error is None else 100 * error
        if self.kind == "as shown":
            return self.loss.shown_value(value), None if error is None else self.loss.shown_spread(error)
        root = sqrt(max(value, 0.0))
        return root, error / (2 * root) if error is not None and root > 0 else None

    @property
    def is_per_cent(self) -> bool:
        """Whether it is written in per cent, so that differences of it are percentage points."""
        return self.kind == "share" or self.loss.in_per_cent

    @property
    def has_shares(self) -> bool:
        """Whether a difference is a share of the number: it has a natural zero, and smaller is better."""
        return self.loss.best_value is None and not self.loss.is_shift

    @property
    def noun(self) -> str:
        """What falls as methods get better."""
        return "typical error" if self.kind == "root" else self.loss.what_falls

    def fall(self, share: float) -> float:
        """A fall of the loss as the share by which the number shown falls."""
        return 1 - sqrt(max(1 - share, 0.0)) if self.kind == "root" else share

    def words(self, value: float | None) -> str:
        """An expected loss within a sentence: "8.8 % errors", "a typical error of 5,920"."""
        return self.phrase.format(number(self.shown(value, None)[0]))


def unit_of(loss: Loss, targets: Sequence[Target] = ()) -> LossUnit:
    """The unit of a loss: a metric's own, per cent for errors that are counted, the target's for squares.

    What is in the target's unit says so: "RMSE 3.2 €" where it is called "price [€]", else "3.2 in price".
    """
    found = _plain_unit(loss)
    if not (loss.in_target_unit or found.kind == "root") or len(targets) != 1:
        return found
    unit = target_unit(targets)
    name = unit or f" in {targets[0].name}"
    phrase = f"{found.phrase}{name.replace('{', '{{').replace('}', '}}')}"
    return replace(found, phrase=phrase, title=f"{found.title}{unit and f',{unit}'}")


def _plain_unit(loss: Loss) -> LossUnit:
    has_own_name = loss.is_metric and (not loss.mean_of_cases or loss.shown_name != loss.words)
    if loss.in_per_cent or loss.best_value is not None or has_own_name:
        name, per = loss.shown_name, loss.shown_unit
        return LossUnit(f"{name[0].upper()}{name[1:]}{',' * bool(per)}{per}", f"{name} {{}}{per}", loss)
    if loss.is_share:
        return LossUnit("Errors, %", "{} % errors", loss, "share")
    if isinstance(loss, SquaredError):
        return LossUnit("Typical error (root mean square)", "a typical error of {}", loss, "root")
    words = loss.words.removeprefix("mean ")
    return LossUnit(f"Mean {words}", f"a mean {words} of {{}}", loss)


def number(value: float | None) -> str:
    """A number with three significant digits, written out: thousands are grouped, nothing is a power of ten.

    >>> number(35_214_000.0), number(0.0031416), number(-12.0), number(None)
    ('35,200,000', '0.00314', '−12.0', '–')
    """
    if value is None or isnan(value):
        return UNKNOWN
    if not isfinite(value):
        return "∞"
    if value == 0:
        return "0"
    exponent = int(f"{value:.2e}".partition("e")[2])
    return f"{round(value, 2 - exponent):,.{max(2 - exponent, 0)}f}".replace("-", MINUS)


def named(names: Sequence[str], count: str, last: str = "and") -> str:
    """The names, or how many there are."""
    return listed(names, last) if len(names) <= MOST_NAMED else f"{len(names)} {count}"


# --- the sentences ------------------------------------------------------------------------------------------


def answer_on(panel: Panel) -> PlainAnswer:
    """Of one data set, by its largest training sets."""
    return PlainAnswer(_which(panel.largest), _how_sure(panel.largest), more_data(panel))


def _which(task: TaskFindings) -> str:
    if task.race is not None:
        return race_headline(task.race, task.judged_by)
    if task.leader is None:
        return no_value(task)
    loss = unit_of(task.judged_by, task.task.targets).words(task.method(task.leader).mean)
    if len(task.methods) == 1:
        alone = f"{task.leader} is the only {task.task.contender} with results"
        return f"{alone}, with {loss}{_beside_nothing(task)}."
    others = [name for name in task.best_group if name != task.leader]
    if task.best_group and not others:
        best = f"{task.leader} is the best of these {len(task.methods)} {task.task.contender}s"
        return f"{best}{on_fewer_sets(task)}, with {loss}{_ahead(task)}."
    rivals = [name for name in others if name not in task.leaders]
    may_be = f"; {_rivals(task, rivals)} may be the best as well" if rivals else ""
    did = f"{did_best(task.leaders, f'{task.task.contender}s')}{on_fewer_sets(task)}"
    return f"{did}, with {loss}{may_be}{_beside_nothing(task)}."


def did_best(leaders: Sequence[str], contenders: str) -> str:
    """Who did best, or who tied.

    >>> did_best(["a"], "models"), did_best(["a", "b"], "models")
    ('a did best', 'a and b tied for best')
    """
    return f"{named(leaders, contenders)} {'did' if len(leaders) == 1 else 'tied for'} best"


def _rivals(task: TaskFindings, others: Sequence[str]) -> str:
    is_anybody = len(others) > 1 and len(task.best_group) == len(task.methods)
    return "any other" if is_anybody else named(others, "others")


def _ahead(task: TaskFindings) -> str:
    """How far the leader is ahead of the next method, where that can be put into a few words."""
    first, second, unit = (
        task.by_loss[0].mean,
        task.by_loss[1].mean,
        unit_of(task.judged_by, task.task.targets),
    )
    name = task.by_loss[1].method
    sets = {task.unequal_sets.get(one.method) for one in task.by_loss[:2]}
    if first is None or second is None or not isfinite(second) or len(sets) > 1:
        return ""
    if task.judged_by.higher_is_better or unit.is_per_cent:
        return f": the next, {name}, has {unit.words(second)}"
    if task.judged_by.is_shift or not 0 < first < second:
        return ""
    return f": {per_cent(unit.fall(1 - first / second))} less than the next, {name}"


def _beside_nothing(task: TaskFindings) -> str:
    """Said of a leader that is no better than an answer that needs no method."""
    assert task.leader is not None
    if not task.method(task.leader).loses_more_than_constant:
        return ""
    return "; always giving the same answer would do as well or better"


def _how_sure(task: TaskFindings) -> str:
    if task.race is not None:
        return f"Anything false is said in {how_often_false(task.race)}"
    if not task.contests or task.leader is None:
        return "Nothing could be compared." if len(task.methods) > 1 else ""
    return _planned(task) if task.is_planned else _group(task)


def _group(task: TaskFindings) -> str:
    group, worse = task.best_group, task.worse
    if not group:
        tried = "cases" if task.task.is_fixed else "training sets"
        return f"Each {task.task.contender} was worse than some other: they were tried on different {tried}."
    if len(group) == 1:
        what = (
            "That is 95 % sure" if group[0] == task.leader else f"It is 95 % sure that {group[0]} is the best"
        )
        return f"{what}: every other {task.task.contender} was shown to be worse."
    if not worse:
        return (
            f"None of the {len(group)} {task.task.contender}s could be ruled out as the best{_missed(task)}."
        )
    among = listed(group, "or") if len(group) <= MOST_NAMED else f"among {len(group)} of them"
    lost = _were(worse, task.task.contender)
    return f"It is 95 % sure that the best is {among}; {lost} shown to be worse{_missed(task)}."


def _were(names: Sequence[str], contender: str) -> str:
    return f"{named(names, f'{contender}s')} {'was' if len(names) == 1 else 'were'}"


def _planned(task: TaskFindings) -> str:
    shown = [f"{one.winner} is better than {one.loser}" for one in task.contests if one.winner]
    open_pairs = [f"{one.first} and {one.second}" for one in task.contests if not one.winner]
    told = [f"It is 95 % sure that {named(shown, 'planned comparisons show a difference')}"] if shown else []
    if open_pairs:
        pairs = named(open_pairs, "planned pairs")
        told.append(f"{pairs} could not be told apart")
    text = "; ".join(told)
    return f"{text[0].upper()}{text[1:]}."


def _missed(task: TaskFindings) -> str:
    """How small a difference this experiment could not see, by the leader's nearest rival."""
    rivals = [name for name in task.best_group if name != task.leader]
    contest = task.by_pair.get(frozenset((task.leader or "", rivals[0]))) if rivals else None
    smallest = None if contest is None else contest.outlook.smallest_found
    if contest is None or smallest is None or not isfinite(smallest):
        return ""
    between = " between the first two" if len(task.best_group) > 2 else ""
    what = _unseen(task, smallest) if smallest <= contest.span else "any difference"
    return f", and {what}{between} may have gone unseen"


def _unseen(task: TaskFindings, smallest: float) -> str:
    unit, mean = unit_of(task.judged_by, task.task.targets), task.method(task.leader or "").mean or 0.0
    if unit.is_per_cent:
        return f"a difference below about {number(100 * smallest)} percentage points"
    if not unit.has_shares:
        return f"a difference below about {number(smallest)}"
    if mean <= 0 or smallest >= mean:
        return "even a large difference"
    return f"a difference below about {per_cent(-unit.fall(-smallest / mean))} of the {unit.noun}"


def more_data(panel: Panel) -> str:
    """What twice the data would do for the leader."""
    if panel.largest.task.is_fixed:
        return _more_cases(panel.largest)
    if not panel.largest.task.has_size:
        return ""
    if len(panel.tasks) < 2:
        return "Whether more data would help cannot be told: only one training-set size was tried."
    leader = panel.largest.leader
    curve = None if leader is None else panel.curve(leader)
    if curve is None or curve.more_data is None or curve.more_data.verdict == "cannot be told":
        return "Whether more data would help cannot be told from these results."
    return f"{_fall(curve, unit_of(panel.largest.judged_by))}."


def _more_cases(task: TaskFindings) -> str:
    """How far the board is settled, and whether more cases would tell who is the best."""
    is_settled = task.best_group == (task.leader,)
    more = "More cases are not needed to find the best." if is_settled else cases_sentence(task)
    board = board_sentence(board_on(task), task.task.contender).partition(". There are")[0]
    return f"{board.rstrip('.')}. {more}" if board else more


def _fall(curve: LearningCurve, unit: LossUnit) -> str:
    found = curve.more_data
    assert found is not None
    amount = curve.amount if curve.is_shift else lambda share: curve.amount(unit.fall(share))
    twice = f"with twice the training cases the {unit.noun} of {curve.method} is"
    if found.verdict == "no":
        most = f"to fall by at most {amount(found.high)}" if found.high > 0 else "not to fall"
        return f"More data would hardly help: {twice} expected {most}"
    if found.fall is None:
        return f"More data would help: {twice} expected to fall by {amount(found.low)} or more"
    return f"More data would help: {twice} expected to fall by about {amount(found.fall)}"


# --- the picture and the table ------------------------------------------------------------------------------


def losses_picture(panel: Panel) -> Picture | None:
    """Every method's expected loss at the largest size; None where nobody has a finite one."""
    task = panel.largest
    if not any(_is_drawn(one) for one in task.methods):
        return None
    unit = unit_of(task.judged_by, task.task.targets)
    best = ", ".join(task.best_group) or "nobody"
    return Picture(
        f"answer-{panel.key}",
        f"Losses on {panel.prototask}",
        f"{unit.title} of {len(task.methods)} {task.task.contender}s, the best on top; may be the best: "
        f"{best}. The table below the figure has the same numbers.",
        f"{unit.title} {task.task.inner_setting}, the best on top; a line is ± one "
        "standard error. Filled: may be the best; hollow: shown to be worse, or not compared.",
        lambda: _draw(panel),
    )


def _is_drawn(one: MethodFinding) -> bool:
    return one.mean is not None and isfinite(one.mean)


def _draw(panel: Panel) -> Figure:
    figure, axes = rows_figure([one.method for one in panel.largest.methods])
    draw_losses(axes, panel.largest, {name: panel.look(name) for name in panel.methods})
    return figure


def rows_figure(names: Sequence[str]) -> tuple[Figure, Axes]:
    """A figure with a row for every name, and room for the names."""
    count, longest = len(names), max(len(label(name, LONGEST_ROW)) for name in names)
    left, height = 0.35 + LETTER * longest, ROW * count + 0.6
    width = WIDTH + LETTER * max(longest - LONGEST_LABEL, 0)
    figure = new_figure(width, height)
    sides = (left / width, 0.5 / height, 1 - (left + 0.15) / width, ROW * count / height)
    return figure, figure.add_axes(sides)


def draw_losses(axes: Axes, task: TaskFindings, looks: dict[str, FigureLook]) -> None:
    """Every method a row, the smallest loss on top."""
    unit = unit_of(task.judged_by, task.task.targets)
    shown = [one for one in task.by_loss if _is_drawn(one)]
    values = {one.method: unit.shown(one.mean, one.standard_error) for one in shown}
    draw_rows(axes, values, looks, task.best_group)
    axes.set_xlabel(unit.title)


def draw_rows(
    axes: Axes,
    values: Mapping[str, tuple[float | None, float | None]],
    looks: Mapping[str, FigureLook],
    filled: Sequence[str],
) -> None:
    """A value with its standard error for every name, the first on top."""
    for row, (name, (value, error)) in enumerate(values.items()):
        if value is not None:
            _draw_loss(axes, row, (value, error or 0.0), looks[name], name in filled)
    axes.set_ylim(len(values) - 0.5, -0.5)
    axes.set_yticks(range(len(values)), [label(name, LONGEST_ROW) for name in values])
    axes.tick_params(axis="y", length=0)
    _thin_out_ticks(axes)
    axes.grid(axis="x", color=RULE)
    axes.set_axisbelow(True)
    axes.spines["left"].set_visible(False)


def _thin_out_ticks(axes: Axes) -> None:
    """No more numbers along the axis than find room: matplotlib takes them to have few digits."""
    ticks, (low, high) = axes.get_xticks(), axes.get_xlim()
    shown = [tick for tick in ticks if low <= tick <= high]
    longest = max(map(len, axes.xaxis.get_major_formatter().format_ticks(shown)), default=0)
    width = axes.get_window_extent().width / axes.figure.dpi
    most = max(int(width / (LETTER * (longest + 2))), 2)
    if len(shown) > most:
        axes.locator_params(axis="x", nbins=most)


def _draw_loss(axes: Axes, row: int, loss: tuple[float, float], look: FigureLook, may_be_best: bool) -> None:
    value, error = loss
    axes.plot([value - error, value + error], [row, row], color=look.colour, lw=2, solid_capstyle="butt")
    face, edge = (look.colour, INK) if may_be_best else (PAPER, look.colour)
    axes.plot([value], [row], look.marker, color=face, markersize=7, markeredgecolor=edge, markeredgewidth=1)


def answer_table(findings: Findings, panel: Panel) -> ReportTable:
    """The methods by their loss at the largest size: what they lose, who may be the best, what they cost."""
    task = panel.largest
    unit = unit_of(task.judged_by, task.task.targets)
    costs = {one.method: one.training_seconds for one in findings.costs if one.task == task.task.address}
    is_relative = _has_shares(task)
    has_times = any(seconds is not None for seconds in costs.values()) or task.task.has_size
    columns = [
        contender_column(task.task.contender),
        ReportColumn(f"{unit.title} ± SE", ("shown", "shown_se")),
    ]
    columns += [ReportColumn("Of a constant answer", ("standardised",))] if is_relative else []
    columns += [TRAINING_SETS] if task.unequal_sets else []
    columns += [ReportColumn("May be the best?")]
    board = board_on(task) if task.task.is_fixed else None
    columns += [] if board is None else list(PLACES[1:])
    columns += [ReportColumn("Time to learn", ("training_seconds",))] if has_times else []
    return ReportTable(
        f"answer-{panel.key}",
        f"The {task.task.contender}s {task.task.inner_setting}",
        tuple(columns),
        tuple(
            (
                *_answer_row(task, one, unit),
                *place_cells(board, one.method)[1:],
                *(_time_cells(costs.get(one.method)) if has_times else ()),
            )
            for one in task.by_loss
        ),
        _answer_caption(task, is_relative) + ("" if board is None else f" {OPEN_PLACES}"),
    )


def _answer_caption(task: TaskFindings, is_relative: bool) -> str:
    constant = "Of a constant answer: the loss as a share of what always giving the same answer loses. "
    start = f"± one standard error, for {task.task.what_is_new}. {constant if is_relative else ''}"
    start += f"{UNEQUAL_SETS} " if task.unequal_sets else ""
    if task.is_planned:
        return f"{start}{UNTESTED_BEST}"
    return f"{start}★: not shown to be worse than another; with 95 % confidence the truly best is so marked."


def _time_cells(seconds: float | None) -> Row:
    return (Cell(formatting.seconds(seconds), (seconds,)),)


def _answer_row(task: TaskFindings, one: MethodFinding, unit: LossUnit) -> Row:
    value, error = unit.shown(one.mean, one.standard_error)
    is_best = one.method in task.best_group
    word = "yes" if is_best else "no" if one.method in task.worse else formatting.UNKNOWN
    share: Row = (_share(one.standardised),) if _has_shares(task) else ()
    sets: Row = (formatting.count_cell(one.instances),) if task.unequal_sets else ()
    return (
        name_cell(one.method),
        formatting.error_cell(value, error),
        *share,
        *sets,
        Cell(word, mark="best" if is_best else ""),
    )


def _has_shares(task: TaskFindings) -> bool:
    """Whether losses can be told as shares of what a constant answer loses."""
    return not task.judged_by.is_shift and any(one.standardised is not None for one in task.methods)


def _share(standardised: float | None) -> Cell:
    text = formatting.per_cent(standardised) if standardised is not None and isfinite(standardised) else ""
    return Cell(text or formatting.UNKNOWN, (standardised,))
