"""Beyond one prototask: what is said of many tasks together."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from redelve.findings import AcrossTasks, Findings, PairOverTasks
from redelve.findings.places import best_first, board_over
from redelve.findings.tasks_together import PairsInRope
from redelve.report import formatting
from redelve.report.drawing import INK, MUTED, FigureLook, Picture, draw_marker, label, look_of, new_figure
from redelve.report.formatting import (
    Cell,
    Mark,
    ReportColumn,
    ReportTable,
    Row,
    contender_column,
    error_cell,
    listed,
    name_cell,
    several_names,
)
from redelve.report.sections import (
    MOST_COMPARED,
    MOST_IN_MATRIX,
    SECTIONS,
    ReportContext,
    Section,
    methods_left_out,
    pairs_left_out,
    worth_showing,
)
from redelve.report.words import OPEN_PLACES, PLACES, board_sentence, place_cells
from redelve.stats.bayesian_tests import RopeProbabilities
from redelve.text_numbers import per_cents

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST_PAIRS = 6
"""So many planned comparisons are told in a sentence."""


class Across(Section):
    """Many tasks together, where there are several prototasks."""

    place = 50
    title = "Across data sets"
    needs = "across"
    anchor = "across"
    template = """\
{% for text in part.words %}<p>{{ text }}</p>
{% endfor %}
{% for found in shown %}{{ table(found, looks) }}{% endfor %}
<ul class="caveats">{% for text in caveats %}<li>{{ text }}</li>{% endfor %}</ul>
"""

    def title_for(self, findings: Findings) -> str:
        """Models are compared over tasks, as their owners call them."""
        return "Over tasks" if findings.results.is_fixed else self.title

    def words(self, findings: Findings, about: ReportContext) -> Iterable[str]:
        """What is claimed over tasks, and what is known of a margin."""
        return over_tasks_words(findings.across) if findings.across else ()

    def tables(self, findings: Findings, about: ReportContext) -> Iterable[ReportTable]:
        """Averages, pairs and ranks if there are enough tasks, wins."""
        return across_tables(findings.across) if findings.across else ()

    def values(self, findings: Findings, about: ReportContext) -> Mapping[str, Any]:
        """Caveats, and the tables that a page has room for: of many methods, some pairs alone."""
        if findings.across is None:
            return {}
        tables = across_tables(findings.across)
        if findings.results.is_fixed and len(findings.across.methods) > MOST_IN_MATRIX:
            tables = (tables[0], *nearest_pairs(findings.across))
        return {"caveats": findings.across.caveats, "shown": tables}


SECTIONS.add("across", Across)


def across_tables(across: AcrossTasks) -> tuple[ReportTable, ...]:
    """All that there is to say."""
    found = [averages_table(across)]
    if across.pairs:
        found.append(pairs_table(across))
    found.append(wins_table(across))
    if across.wilcoxon:
        found.append(wilcoxon_table(across))
    if across.rope:
        found.append(rope_table(across))
    return tuple(found)


def averages_table(across: AcrossTasks) -> ReportTable:
    """Average standardised losses and mean ranks."""
    board = None if across.is_standardised else board_over(across)
    rows = [
        (
            name_cell(one.method),
            error_cell(*one.shown),
            Cell(f"{one.mean_rank:.2f}", (one.mean_rank,)),
            *place_cells(board, one.method),
        )
        for one in across.by_loss
    ]
    unit = f"{across.judged_by.shown_unit and ' (%)'}" if not across.is_standardised else ""
    return ReportTable(
        "across-averages",
        f"Average {_what(across)} over {len(across.tasks)} tasks",
        (
            contender_column(across.contender),
            ReportColumn(f"Average{unit} ± SE", ("average", "average_se")),
            ReportColumn("Mean rank", ("mean_rank",)),
            *(() if board is None else PLACES),
        ),
        tuple(rows),
        f"{_which_tasks(across)} {friedman_sentence(across)}{f' {OPEN_PLACES}' if board else ''}",
    )


def _what(across: AcrossTasks) -> str:
    """What is averaged."""
    return f"standardised {across.judged_by.words}" if across.is_standardised else across.judged_by.shown_name


def _which_tasks(across: AcrossTasks) -> str:
    count = len(across.tasks)
    if across.is_standardised:
        return f"Over {count} tasks, one of each prototask: the one with the largest training sets."
    return f"Each of the {count} tasks counts once, however many cases it has; SE is for these very tasks."


def pairs_table(across: AcrossTasks, most: int | None = MOST_COMPARED) -> ReportTable:
    """Random effects of pairs: mean difference with its interval, and what to expect of a new task."""
    order = [one.method for one in across.by_loss]
    shown = worth_showing(across.pairs, lambda pair: (pair.first, pair.second), order, most)
    more = pairs_left_out(len(shown), len(across.pairs), most, "across-pairs")
    whole = None if len(shown) == len(across.pairs) else partial(pairs_table, across, None)
    return _table_of_pairs(across, shown, "across-pairs", more, whole)


def nearest_pairs(across: AcrossTasks) -> tuple[ReportTable, ...]:
    """Of many methods, each against the best and against the next; none where pairs have no claims."""
    order = [one.method for one in across.by_loss]
    known = {frozenset((pair.first, pair.second)): pair for pair in across.pairs}
    wanted = dict.fromkeys(map(frozenset, ((order[0], name) for name in order[1:])))
    wanted |= dict.fromkeys(map(frozenset, pairwise(order)))
    places = {name: place for place, name in enumerate(order)}
    kept = [best_first(known[pair], places) for pair in wanted if pair in known]
    if not kept:
        return ()
    more = (
        f" These are comparisons with the best and with the next; {len(across.pairs) - len(kept):,} more, "
        "and tables of wins and ranks, are in the report's folder (-o FOLDER)."
    )
    return (_table_of_pairs(across, kept, "across-nearest", more),)


def _table_of_pairs(
    across: AcrossTasks,
    pairs: Sequence[PairOverTasks],
    name: str,
    more: str,
    whole: Callable[[], ReportTable] | None = None,
) -> ReportTable:
    return ReportTable(
        name,
        "Differences over tasks",
        (
            ReportColumn("A"),
            ReportColumn("B"),
            ReportColumn("A − B ± SE", ("difference", "difference_se")),
            ReportColumn("95 % interval", ("low", "high")),
            ReportColumn("p, adjusted", ("adjusted_p",)),
            ReportColumn("SD between tasks", ("between",)),
            ReportColumn("New task, 95 %", ("new_low", "new_high")),
            *_margin_columns(across),
        ),
        tuple((*_pair_row(pair), *_margin_cells(pair)) for pair in pairs),
        f"Mean differences of {_differences_of(across)} over tasks like these, by random effects that weigh "
        f"each task by its standard error (Paule and Mandel, Hartung and Knapp). {_marks(across)} "
        f"(adjusted p below 0.05, allowing for {pairs[0].claim.allowed_for}; intervals likewise); ·: not "
        "told apart. New task: there lies the difference on a task that was not seen, in 95 % of cases, of "
        f"each pair by itself.{_margin_caption(across)}{more}",
        whole=whole,
    )


def _differences_of(across: AcrossTasks) -> str:
    if across.is_standardised:
        return "standardised losses"
    points = across.judged_by.difference_unit and ", in percentage points,"
    return f"{across.judged_by.shown_name}{points}"


def _marks(across: AcrossTasks) -> str:
    if across.is_standardised:
        return "▼: A loses less, ▲: it loses more"
    return "▼: A is better, ▲: it is worse"


def _margin_columns(across: AcrossTasks) -> tuple[ReportColumn, ...]:
    if across.margin is None:
        return ()
    what = "A − B, share" if across.margin.is_relative else "A − B, amount"
    within = ReportColumn(f"Within {_shown_margin(across)}")
    return ReportColumn(f"{what}, 95 %", ("margin_low", "margin_high")), within


def _shown_margin(across: AcrossTasks) -> str:
    assert across.margin is not None
    return across.margin.shown(None if across.is_standardised else across.judged_by)


def _margin_cells(pair: PairOverTasks) -> tuple[Cell, ...]:
    if pair.within is None:
        return ()
    if (bounds := pair.within.bounds) is None:
        return Cell(formatting.UNKNOWN), Cell("cannot be told")
    is_share = pair.within.verdict.margin.is_relative
    bounds = bounds if is_share else pair.shown_interval(bounds) or bounds
    ends = per_cents(*bounds) if is_share else " to ".join(map(formatting.plain, bounds))
    able = pair.not_worse
    found = "equivalent" if pair.is_equivalent else f"{able[0]} not worse" if able else "open"
    mark: Mark = "equivalent" if pair.is_equivalent else ""
    return Cell(ends, bounds), Cell(found, mark=mark)


def _margin_caption(across: AcrossTasks) -> str:
    if across.margin is None:
        return ""
    what = "loss" if across.is_standardised else "score"
    how = (
        "the geometric mean over tasks of the ratio of losses, less one"
        if across.margin.is_relative
        else f"the mean over tasks in the units of the {what}"
    )
    return (
        f" The margin of {_shown_margin(across)} is judged by {how}: equivalent where all of its interval "
        f"lies within the margin, not worse where it leaves out that the {across.contender} is worse by more."
    )


def _pair_row(pair: PairOverTasks) -> Row:
    mark: Mark = "open" if pair.winner is None else "better" if pair.winner == pair.first else "worse"
    bounds, error = pair.shown_interval(pair.claim.bounds), pair.shown_spread(pair.standard_error)
    between, prediction = pair.shown_spread(pair.between), pair.shown_interval(pair.prediction)
    return (
        name_cell(pair.first),
        name_cell(pair.second),
        error_cell(pair.shown(pair.difference), error, mark),
        Cell(formatting.interval(bounds, error, leaves_out_zero=pair.winner is not None), bounds or ()),
        Cell(formatting.p_value(pair.claim.adjusted_p_value), (pair.claim.adjusted_p_value,)),
        Cell(formatting.plain(between, 2), (between,)),
        Cell(formatting.interval(prediction, error), prediction or ()),
    )


def wins_table(across: AcrossTasks, most: int | None = MOST_COMPARED) -> ReportTable:
    """Wins, ties and losses of the row's method against the column's."""
    names, count = [one.method for one in across.by_loss][:most], len(across.by_loss)
    rows = [(name_cell(row), *(_wins_cell(across, row, column) for column in names)) for row in names]
    decided = next(iter(across.wins.values())).decided_by if across.wins else ""
    return ReportTable(
        "across-wins",
        "Tasks won, not told apart and lost",
        (ReportColumn("Row against column"), *(ReportColumn(name, (name,)) for name in names)),
        tuple(rows),
        f"On how many of {len(across.tasks)} tasks the row's {across.contender} wins – is not told apart – "
        f"loses ({decided}). "
        "A summary, not a test; a task that is neither won nor lost may only have too little data."
        f"{methods_left_out(count, most, 'across-wins')}",
        is_matrix=True,
        whole=None if len(names) == count else partial(wins_table, across, None),
    )


def _wins_cell(across: AcrossTasks, row: str, column: str) -> Cell:
    if row == column:
        return Cell("", (None,))
    if (found := across.wins.get((row, column))) is not None:
        wins, ties, losses = found.wins, found.ties, found.losses
    elif (found := across.wins.get((column, row))) is not None:
        wins, ties, losses = found.losses, found.ties, found.wins
    else:
        return Cell(formatting.UNKNOWN, (None,))
    return Cell(f"{wins} – {ties} – {losses}", (wins - losses,))


def wilcoxon_table(across: AcrossTasks, most: int | None = MOST_COMPARED) -> ReportTable:
    """Signed-rank tests of pairs."""
    names, order = [one.method for one in across.methods], [one.method for one in across.by_loss]
    shown = worth_showing(across.wilcoxon, lambda pair: (names[pair.first], names[pair.second]), order, most)
    rows = [
        (
            name_cell(names[pair.first]),
            name_cell(names[pair.second]),
            Cell(f"{pair.test.first_better:g}", (pair.test.first_better,)),
            Cell(f"{pair.test.second_better:g}", (pair.test.second_better,)),
            Cell(formatting.p_value(pair.test.p_value), (pair.test.p_value,)),
            Cell(formatting.p_value(pair.adjusted_p_value), (pair.adjusted_p_value,)),
        )
        for pair in shown
    ]
    return ReportTable(
        "across-wilcoxon",
        "Wilcoxon's signed-rank tests",
        (
            ReportColumn("A"),
            ReportColumn("B"),
            ReportColumn("Rank sum, A better", ("a_better",)),
            ReportColumn("Rank sum, B better", ("b_better",)),
            ReportColumn("p", ("p",)),
            ReportColumn("p, adjusted", ("adjusted_p",)),
        ),
        tuple(rows),
        f"Over {len(across.tasks)} tasks{', one of each prototask' * across.is_standardised}; adjusted by "
        "Holm's method among themselves. "
        "They describe: what is claimed over tasks is in the table of differences."
        f"{pairs_left_out(len(rows), len(across.wilcoxon), most, 'across-wilcoxon')}",
        whole=None if len(rows) == len(across.wilcoxon) else partial(wilcoxon_table, across, None),
    )


def rope_table(across: AcrossTasks, most: int | None = MOST_COMPARED) -> ReportTable:
    """Posterior probabilities of practical differences."""
    order = [one.method for one in across.by_loss]
    shown = worth_showing(list(across.rope), lambda pair: pair, order, most)
    assert isinstance(across.rope, PairsInRope)
    found = across.rope.of(shown)
    rows = [_rope_row(*pair, one) for pair, one in zip(shown, found, strict=True)]
    width = found[0].half_width
    return ReportTable(
        "across-rope",
        "Practically better, practically the same",
        (
            ReportColumn("A"),
            ReportColumn("B"),
            ReportColumn("A better", ("a_better",)),
            ReportColumn("Practically the same", ("same",)),
            ReportColumn("B better", ("b_better",)),
        ),
        tuple(rows),
        "Posterior probabilities by the Bayesian signed-rank test (Benavoli et al. 2014, 2017); "
        f"{'standardised losses' if across.is_standardised else 'scores'} that "
        f"differ by less than {width:g} are practically the same. They describe: as rules of decision they "
        "have no error rate that is kept."
        f"{pairs_left_out(len(rows), len(across.rope), most, 'across-rope')}",
        whole=None if len(rows) == len(across.rope) else partial(rope_table, across, None),
    )


def _rope_row(first: str, second: str, found: RopeProbabilities) -> Row:
    return (
        name_cell(first),
        name_cell(second),
        Cell(f"{found.left:.2f}", (found.left,)),
        Cell(f"{found.rope:.2f}", (found.rope,)),
        Cell(f"{found.right:.2f}", (found.right,)),
    )


def over_tasks_words(across: AcrossTasks) -> tuple[str, ...]:
    """What is claimed of tasks together, and who is equivalent within a margin."""
    board = "" if across.is_standardised else board_sentence(board_over(across), across.contender)
    return tuple(text for text in (over_tasks_sentence(across), board, margin_sentence(across)) if text)


def margin_sentence(across: AcrossTasks) -> str:
    """Who is equivalent over tasks to the method with the smallest average, or not worse by more."""
    if across.margin is None or not across.pairs:
        return ""
    if across.pairs[0].within and across.pairs[0].within.why_not and not _judged(across.pairs):
        return across.pairs[0].margin_words
    if across.is_planned:
        return " ".join(pair.margin_words for pair in across.pairs[:MOST_PAIRS])
    leader = min(across.methods, key=lambda one: one.average).method
    others = {_other(pair, leader): pair for pair in across.pairs if leader in (pair.first, pair.second)}
    same = [name for name, pair in others.items() if pair.is_equivalent]
    close = [name for name, pair in others.items() if name not in same and name in pair.not_worse]
    margin = f"the margin of {_shown_margin(across)}"
    parts = [f"{_are(same)} equivalent to {leader} within {margin}"] if same else []
    parts += [f"{_are(close)} not worse than {leader} by more than {margin}"] if close else []
    if not parts:
        nobody = f"On average over tasks no {across.contender} was shown to be equivalent"
        return f"{nobody} to {leader} within {margin}."
    return f"On average over tasks {'; '.join(parts)}."


def _judged(pairs: Sequence[PairOverTasks]) -> list[PairOverTasks]:
    return [pair for pair in pairs if pair.within is not None and not pair.within.why_not]


def _other(pair: PairOverTasks, name: str) -> str:
    return pair.second if pair.first == name else pair.first


def _are(names: Sequence[str]) -> str:
    return f"{listed(names)} {'is' if len(names) == 1 else 'are'}"


def over_tasks_sentence(across: AcrossTasks) -> str:
    """What is claimed of tasks together."""
    count = len(across.tasks)
    if not across.pairs:
        kind = "prototasks" if across.is_standardised else "tasks"
        return f"{count} {kind} are too few for claims over tasks: three at least are needed."
    named = f"On average over tasks like these {count}"
    worse = across.worse
    if not worse:
        better = "lose less" if across.is_standardised else "be better"
        return f"{named} no {across.contender} was shown to {better} than another."
    rest = [one.method for one in across.by_loss if one.method not in worse]
    lose = "lose more" if across.is_standardised else "be worse"
    those = several_names(worse, f"{across.contender}s")
    shown = f"{named}, {those} {'was' if len(worse) == 1 else 'were'} shown to {lose} than some other"
    if len(rest) == 1:
        return f"{shown}; {rest[0]} was not (95 % confidence)."
    return f"{shown}; {listed(rest)} were not (95 % confidence)."


def friedman_sentence(across: AcrossTasks) -> str:
    """What Friedman's test says of all methods together; it describes, and claims nothing."""
    found = across.friedman
    if found is None:
        few = f"Rank tests take three {'prototasks' if across.is_standardised else 'tasks'} at least."
        return "No ranks are compared: the comparisons were planned." if across.pairs else few
    if found.p_value is None:
        return "Friedman's test is not defined here: all tasks tie all of them."
    return (
        f"Friedman's test of all ranks (F form, {found.df1} and {found.df2} degrees of freedom): "
        f"{formatting.p_equals(found.p_value)} by itself; ranks describe, and nothing is claimed by them."
    )


def ranks_picture(findings: Findings) -> Picture | None:
    """The critical-difference diagram; None without rank tests."""
    across = findings.across
    if across is None or across.nemenyi is None:
        return None
    tasks = len(across.tasks)
    return Picture(
        "ranks",
        "Mean ranks over tasks",
        f"Mean ranks of {len(across.methods)} {across.contender}s over {tasks} tasks; bars join those whose "
        "mean ranks differ by "
        f"less than the critical difference {across.nemenyi.critical_difference:.2f}.",
        f"Mean ranks over {tasks} tasks, 1 being the best. A bar joins {across.contender}s whose mean ranks "
        "differ by less "
        "than the critical difference (CD) of Nemenyi's test at 5 % (Demšar 2006). This describes: what is "
        "claimed over tasks is in the table of differences. Mean ranks change when others join or leave.",
        lambda: draw_ranks(across, tuple(findings.results.methods)),
    )


def draw_ranks(across: AcrossTasks, everybody: Sequence[str]) -> Figure:
    """The critical-difference diagram; methods look as they do everywhere, by their place in `everybody`."""
    figure = new_figure(5.2, ranks_height(across))
    draw_ranks_on(figure.add_axes((0.26, 0, 0.48, 1)), across, everybody)
    return figure


def ranks_height(across: AcrossTasks) -> float:
    """Inches that the diagram takes."""
    bars = () if across.nemenyi is None else [group for group in across.nemenyi.groups if len(group) > 1]
    return 0.75 + 0.16 * len(bars) + 0.24 * ((len(across.methods) + 1) // 2)


def draw_ranks_on(axes: Axes, across: AcrossTasks, everybody: Sequence[str]) -> None:
    """The diagram on axes of one's own; names stand beside them."""
    nemenyi = across.nemenyi
    assert nemenyi is not None
    count = len(across.methods)
    order = sorted(range(count), key=lambda k: nemenyi.mean_ranks[k])
    bars = [group for group in nemenyi.groups if len(group) > 1]
    rows = (count + 1) // 2
    axes.set_xlim(1, count)
    axes.set_ylim(-(0.2 + 0.16 * len(bars) + 0.24 * rows), 0.55)
    axes.axis("off")
    axes.plot([1, count], [0, 0], color=INK, lw=1, clip_on=False)
    for rank in range(1, count + 1):
        axes.plot([rank, rank], [0, 0.06], color=INK, lw=1, clip_on=False)
        axes.text(rank, 0.1, str(rank), ha="center", va="bottom", fontsize=8)
    _draw_difference(axes, nemenyi.critical_difference, count)
    for level, group in enumerate(bars):
        ends = [nemenyi.mean_ranks[k] for k in group]
        y = -0.1 - 0.16 * level
        axes.plot(
            [min(ends) - 0.02, max(ends) + 0.02],
            [y, y],
            color=INK,
            lw=3.2,
            solid_capstyle="butt",
            clip_on=False,
        )
    for place, k in enumerate(order):
        name = across.methods[k].method
        look = look_of(everybody.index(name))
        _draw_rank(axes, (place, rows, len(bars)), nemenyi.mean_ranks[k], look, name)


def _draw_difference(axes: Axes, width: float, count: int) -> None:
    """The critical difference as a length; said in words where it is longer than the axis."""
    if width <= count - 1:
        axes.plot([1, 1 + width], [0.38, 0.38], color=INK, lw=1.2, marker="|", markersize=5, clip_on=False)
    axes.text(1, 0.43, f"CD = {width:.2f}", ha="left", va="bottom", fontsize=8)


def _draw_rank(axes: Axes, place: tuple[int, int, int], rank: float, look: FigureLook, name: str) -> None:
    position, rows, bars = place
    is_left = position < rows
    step = position if is_left else 2 * rows - 1 - position
    y = -0.2 - 0.16 * bars - 0.24 * step
    low, high = axes.get_xlim()
    end = low - 0.06 * (high - low) if is_left else high + 0.06 * (high - low)
    axes.plot([rank, rank, end], [0, y, y], color=MUTED, lw=0.7, clip_on=False)
    draw_marker(axes, end, y, look)
    text = f"{label(name)} {rank:.2f}" if is_left else f"{rank:.2f} {label(name)}"
    axes.annotate(
        text,
        (end, y),
        (-6 if is_left else 6, 0),
        textcoords="offset points",
        ha="right" if is_left else "left",
        va="center",
        fontsize=8.5,
        annotation_clip=False,
    )
