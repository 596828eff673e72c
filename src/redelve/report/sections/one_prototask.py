"""One prototask: expected losses, every pair compared, statistics over runs, and its figures."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import pairwise
from typing import Any

from redelve.answers.losses import Loss
from redelve.findings import Contest, Findings, MethodFinding, TaskFindings
from redelve.findings.findings import ManyRuns, MethodRuns, RunPair
from redelve.findings.places import best_first, board_on
from redelve.report import formatting
from redelve.report.drawing import Picture
from redelve.report.formatting import (
    CASES,
    METHOD,
    Cell,
    Mark,
    ReportColumn,
    ReportTable,
    Row,
    contender_column,
    count_cell,
    error_cell,
    name_cell,
    slug,
)
from redelve.report.loss_figures import curves_picture, rasmussen_picture
from redelve.report.race_words import UNEQUAL_SETS
from redelve.report.sections import (
    MOST_COMPARED,
    MOST_IN_MATRIX,
    SECTIONS,
    PagePart,
    Panel,
    ReportContext,
    Section,
    allowed_for,
    methods_left_out,
    pairs_left_out,
    panels,
    worth_showing,
)
from redelve.report.uncertainty_and_costs import costs_table, front_picture, variance_picture
from redelve.report.words import (
    OPEN_PLACES,
    PLACES,
    UNTESTED_BEST,
    place_cells,
    summarise_panel,
    uncertainty_sentence,
)

PART = 4
"""Significant digits of a run's statistics."""
MOST_DRAWN = 3
"""Of so many data sets the page has every figure; of more, curves alone. A folder has all of them."""


class PrototaskSection(Section):
    """Everything on one prototask; a part for each."""

    place = 100
    title = "Prototask"
    template = """\
<div class="answer">
<p class="headline">{{ said.headline }}</p>
<dl>
{% for reply in said.replies %}
<div><dt>{{ reply.question }}</dt>
<dd>{% for text in reply.sentences %}<p>{{ text }}</p>{% endfor %}</dd></div>
{% endfor %}
</dl>
</div>
{% if figures.get("rasmussen") and not in_brief %}
<h3>Losses and significance</h3>
{{ picture(figures.rasmussen, looks) }}
{% endif %}
{% if figures.get("curves") %}
<h3>Learning curves</h3>
{{ picture(figures.get("curves"), looks) }}
{% endif %}
<h3>{{ losses_heading }}</h3>
{{ table(losses, looks, heading=false) }}
{% if figures.get("variance") %}
<h3>Where the uncertainty comes from</h3>
{% if uncertainty %}<p>{{ uncertainty }}</p>{% endif %}
{% if in_brief %}{{ table(figures.variance.table, looks, heading=false) }}
{% else %}{{ picture(figures.get("variance"), looks) }}{% endif %}
{% endif %}
{% if nearest %}
<h3>Comparisons with the best and with the next</h3>
{{ table(nearest, looks, heading=false) }}
{% elif matrices %}
<h3>{{ "Pairs compared" if pairs.whole else "Every pair compared" }}</h3>
{{ table(matrices[0], looks) }}
{% for matrix in matrices[1:] %}
<details><summary>{{ matrix.title }}</summary>
{{ table(matrix, looks, heading=false) }}
</details>
{% endfor %}
<details><summary>{{ "Comparisons" if pairs.whole else "All comparisons" }} in one table, to sort</summary>
{{ table(pairs, looks, heading=false) }}
</details>
{% endif %}
{% if runs %}
<h3>Runs with different seeds</h3>
{% for found in runs %}{{ table(found, looks, heading=not loop.first) }}{% endfor %}
{% endif %}
{% if figures.get("front") %}
<h3>Costs</h3>
{% if not in_brief %}{{ picture(figures.get("front"), looks, with_table=false) }}{% endif %}
{{ table(figures.front.table, looks, heading=false) }}
{% endif %}
{% if caveats %}
<h3>What must be said beside these numbers</h3>
<ul class="caveats">{% for text in caveats %}<li>{{ text }}</li>{% endfor %}</ul>
{% endif %}
"""

    def parts(self, findings: Findings, about: ReportContext) -> tuple[PagePart, ...]:
        """A part for every prototask, called by its name."""
        found = panels(findings)
        in_brief = len(found) > MOST_DRAWN
        return tuple(_part(findings, panel, in_brief=in_brief) for panel in found)


SECTIONS.add("prototask", PrototaskSection)


def _part(findings: Findings, panel: Panel, *, in_brief: bool) -> PagePart:
    pictures = panel_pictures(findings, panel)
    figures = {picture.name.partition("-")[0]: picture for picture in pictures}
    values = _values(findings, panel)
    tables = [values["losses"], values["pairs"], *values["matrices"], *values["runs"]]
    tables += [picture.table for picture in pictures if picture.table is not None]
    if "front" not in figures and not panel.largest.task.is_fixed:
        tables.append(costs_table(findings, panel))
    shown = {**values, "figures": figures, "said": summarise_panel(panel), "in_brief": in_brief}
    return PagePart(panel.key, panel.title, tables=tuple(tables), pictures=pictures, values=shown)


def _values(findings: Findings, panel: Panel) -> Mapping[str, Any]:
    is_fixed = panel.largest.task.is_fixed
    is_long = is_fixed and len(panel.largest.methods) > MOST_IN_MATRIX
    return {
        "losses": losses_table(panel),
        "losses_heading": "Scores" if is_fixed else "Expected losses",
        "pairs": pairs_table(panel),
        "nearest": nearest_table(panel) if is_long and panel.largest.contests else None,
        "matrices": tuple(matrix_table(task) for task in reversed(panel.tasks) if task.contests),
        "runs": runs_tables(findings, panel),
        "uncertainty": uncertainty_sentence(panel.largest),
        "caveats": tuple(dict.fromkeys(caveat for task in panel.tasks for caveat in task.caveats)),
    }


def panel_pictures(findings: Findings, panel: Panel) -> tuple[Picture, ...]:
    """The figures of one prototask."""
    if panel.largest.task.is_fixed:
        return ()
    several = (
        rasmussen_picture(panel),
        curves_picture(panel),
        variance_picture(panel),
        front_picture(findings, panel),
    )
    return tuple(picture for picture in several if picture is not None)


def losses_table(panel: Panel) -> ReportTable:
    """Expected losses of every method at every size."""
    rows = [row for task in reversed(panel.tasks) for row in _loss_rows(task)]
    judged_by, facts = panel.largest.judged_by, panel.largest.task
    may_be = ReportColumn("May be the best", hint="not shown to be worse than another")
    middle = (contender_column(facts.contender), ReportColumn(_value_title(judged_by), ("loss", "loss_se")))
    of_learning = (
        CASES,
        *middle,
        ReportColumn("Standardised ± SE", ("standardised", "standardised_se")),
        may_be,
        ReportColumn("Training sets", ("training_sets",)),
        ReportColumn("Runs", ("runs",)),
        ReportColumn("Failed", ("failed",)),
    )
    board = board_on(panel.largest) if facts.is_fixed else None
    answers = (ReportColumn("Answers per case", ("answers",)),)
    of_models = (*middle, may_be, *(() if board is None else PLACES), *answers)
    return ReportTable(
        f"losses-{panel.key}",
        f"{'Mean' if facts.is_fixed else 'Expected'} {panel.largest.loss_words} on {panel.title}",
        of_models if facts.is_fixed else of_learning,
        tuple(rows),
        _losses_caption(panel.largest) + (f" {OPEN_PLACES}" if board else ""),
    )


def _value_title(loss: Loss) -> str:
    """What stands above the values that users are shown."""
    if not loss.is_metric:
        return "Expected loss ± SE"
    return f"{loss.shown_name[:1].upper()}{loss.shown_name[1:]}{loss.shown_unit and ' (%)'} ± SE"


def _losses_caption(task: TaskFindings) -> str:
    unit = "0" if task.judged_by.is_shift else "1"
    standard = "" if task.task.is_fixed else f"Standardised: {unit} is what the best constant answer loses. "
    start = f"SE: standard error, for {task.task.what_is_new}. {standard}"
    start += f"{UNEQUAL_SETS} " if task.unequal_sets else ""
    if task.is_planned:
        return f"{start}{UNTESTED_BEST}"
    return (
        f"{start}★: not shown to be worse than another {task.task.contender}; with 95 % confidence the truly "
        "best is so marked."
    )


def _loss_rows(task: TaskFindings) -> list[Row]:
    board = board_on(task) if task.task.is_fixed else None
    return [_loss_row(task, finding, place_cells(board, finding.method)) for finding in task.by_loss]


def _loss_row(task: TaskFindings, finding: MethodFinding, places: Row) -> Row:
    best = finding.method in task.best_group
    word = "yes" if best else "no" if task.best_group else formatting.UNKNOWN
    middle = name_cell(finding.method), error_cell(*finding.shown)
    may_be, runs = Cell(word, mark="best" if best else ""), count_cell(finding.runs)
    if task.task.is_fixed:
        return (*middle, may_be, *places, _answers_cell(finding.answers))
    return (
        count_cell(task.task.known_size),
        *middle,
        error_cell(finding.standardised, finding.standardised_error),
        may_be,
        count_cell(finding.instances),
        runs,
        count_cell(finding.failed),
    )


def _answers_cell(mean: float) -> Cell:
    """How many answers to a case there are on average."""
    return count_cell(int(mean)) if mean.is_integer() else Cell(f"{mean:.3g}", (mean,))


def pairs_table(panel: Panel, most: int | None = MOST_COMPARED) -> ReportTable:
    """Every comparison that people can read, one to a row; planned ones all."""
    name, total = f"pairs-{panel.key}", sum(len(task.contests) for task in panel.tasks)
    rows = [
        _pair_row(task, contest)
        for task in reversed(panel.tasks)
        for contest in shown_contests(task, None if task.is_planned else most)
    ]
    is_whole = len(rows) == total
    titled = name, f"{'All comparisons' if is_whole else 'Comparisons'} on {panel.title}"
    more = pairs_left_out(len(rows), total, most, name)
    return _comparisons_table(
        panel, titled, rows, more, None if is_whole else partial(pairs_table, panel, None)
    )


def nearest_table(panel: Panel) -> ReportTable:
    """Of many methods at the largest size: each against the best and against the next, the best first."""
    task = panel.largest
    order = [one.method for one in task.by_loss]
    wanted = [(order[0], name) for name in order[1:]] + list(pairwise(order))
    kept = {
        frozenset(pair): task.by_pair[frozenset(pair)] for pair in wanted if frozenset(pair) in task.by_pair
    }
    left_out = sum(len(one.contests) for one in panel.tasks) - len(kept)
    more = f" {left_out:,} more comparisons are in the report's folder (-o FOLDER) and in Python's `compare`."
    titled = f"nearest-{panel.key}", f"Comparisons with the best and with the next on {panel.title}"
    places = {name: place for place, name in enumerate(order)}
    rows = [_pair_row(task, best_first(one, places)) for one in kept.values()]
    return _comparisons_table(panel, titled, rows, more)


def _comparisons_table(
    panel: Panel,
    titled: tuple[str, str],
    rows: Sequence[Row],
    more: str,
    whole: Callable[[], ReportTable] | None = None,
) -> ReportTable:
    task = panel.largest
    return ReportTable(
        *titled,
        (
            *(() if task.task.is_fixed else (CASES,)),
            ReportColumn("A"),
            ReportColumn("B"),
            ReportColumn("A − B ± SE", ("difference", "difference_se")),
            ReportColumn("95 % interval", ("low", "high")),
            *(() if task.task.is_fixed else (ReportColumn("Standardised", ("standardised",)),)),
            ReportColumn("p, alone", ("p",)),
            ReportColumn("p, adjusted", ("adjusted_p",)),
            ReportColumn("Finding"),
            *_margin_columns(task),
        ),
        tuple(rows),
        f"Differences of {_of_what(task.judged_by)}. The intervals hold all together in "
        f"95 % of reports, and the adjusted p-values allow for {allowed_for(panel.largest)}; findings rest "
        "on them alone. The first p-value is of one comparison by itself: nothing is claimed by it."
        f"{_margin_caption(task)}{more}",
        whole=whole,
    )


def shown_contests(task: TaskFindings, most: int | None = MOST_COMPARED) -> list[Contest]:
    """The comparisons of a task that a page shows."""
    order = [one.method for one in task.by_loss]
    names = task.pairs.names
    shown = worth_showing(range(len(names)), names.__getitem__, order, most)
    return [task.pairs[place] for place in shown]


def _of_what(loss: Loss) -> str:
    """What differences are of, and which sign is good."""
    if not loss.is_metric:
        return "expected loss, A minus B; negative: A loses less"
    sign = "above 0" if loss.higher_is_better else "below 0"
    points = ", in percentage points" if loss.difference_unit else ""
    return f"{loss.shown_name}{points}, A minus B; {sign}: A is better"


def _margin_columns(task: TaskFindings) -> tuple[ReportColumn, ...]:
    if task.margin is None:
        return ()
    return ReportColumn("Margin", ("margin",)), ReportColumn(f"Within {task.margin.shown(task.judged_by)}")


def _margin_caption(task: TaskFindings) -> str:
    """What a margin means; empty where none was given."""
    if task.margin is None:
        return ""
    share = " of the smaller expected loss, at the low end of its interval" if task.margin.is_relative else ""
    margin = task.margin.shown(task.judged_by)
    return (
        f" Equivalent: all of the interval lies within a margin of {margin}{share}; "
        f"not worse: it leaves out that the {task.task.contender} is worse by more than that."
        f"{_of_race(task)}"
    )


def _of_race(task: TaskFindings) -> str:
    """Who is equivalent by the race's own tests, not by the interval."""
    if task.race is None or not task.race.equivalent:
        return ""
    return f" Of {formatting.listed(task.race.equivalent)} the race found so by one-sided tests."


def _margin_cells(contest: Contest) -> tuple[Cell, ...]:
    if contest.verdict is None:
        return ()
    judge = contest.judged_by
    amount = contest.verdict.amount if judge is None else judge.shown_spread(contest.verdict.amount)
    mark: Mark = "equivalent" if contest.is_equivalent else ""
    return Cell(formatting.plain(amount, 2), (amount,)), Cell(_about_margin(contest), mark=mark)


def _about_margin(contest: Contest) -> str:
    """What is known of a margin, in a word or two."""
    if contest.is_equivalent:
        return "equivalent"
    if contest.not_worse:
        return f"{contest.not_worse[0]} not worse"
    return "same losses" if contest.is_same else "open"


def _pair_row(task: TaskFindings, contest: Contest) -> Row:
    difference, spread, bounds = contest.shown
    low, high = bounds or (None, None)
    shift = contest.standard.spread(contest.difference)
    error = contest.standard.spread(contest.standard_error)
    alone = contest.claim.own_p_value
    open_words = "not compared" if contest.why_untested else "not told apart"
    found = f"{contest.winner} {_is_better(task.judged_by)}" if contest.winner else open_words
    is_fixed = task.task.is_fixed
    return (
        *(() if is_fixed else (count_cell(task.task.known_size),)),
        name_cell(contest.first),
        name_cell(contest.second),
        error_cell(difference, spread),
        Cell(formatting.interval(bounds, spread, leaves_out_zero=contest.winner is not None), (low, high)),
        *(() if is_fixed else (Cell(formatting.by_error(shift, error), (shift,)),)),
        Cell(formatting.p_value(alone), (alone,)),
        Cell(formatting.p_value(contest.adjusted_p_value), (contest.adjusted_p_value,)),
        Cell(found, mark=_mark(contest, contest.first)),
        *_margin_cells(contest),
    )


def _is_better(loss: Loss) -> str:
    return "is better" if loss.is_metric else "loses less"


def _mark(contest: Contest, first: str) -> Mark:
    """How `first` fared in a comparison."""
    if contest.why_untested:
        return ""
    if contest.winner is None:
        return "equivalent" if contest.is_equivalent else "open"
    return "better" if contest.winner == first else "worse"


def matrix_table(task: TaskFindings, most: int | None = MOST_COMPARED) -> ReportTable:
    """Every method (row) against every other (column): difference, p-values, a mark; or the first methods."""
    name, count = f"matrix-{slug(task.task.address)}", len(task.by_loss)
    names = [one.method for one in task.by_loss][:most]
    rows = [
        (
            name_cell(row),
            *(_matrix_cell(row, column, task.by_pair.get(frozenset((row, column)))) for column in names),
        )
        for row in names
    ]
    return ReportTable(
        name,
        f"Row minus column on {task.task.title if task.task.is_fixed else task.task.address}",
        (ReportColumn("Row − column"), *(ReportColumn(name, (name,)) for name in names)),
        tuple(rows),
        f"Difference of {_difference_of(task.judged_by)} ± standard error; p allows for {allowed_for(task)}. "
        f"{_marks(task)} (p < 0.05), · could not be told apart."
        f"{_matrix_caption(task)}{methods_left_out(count, most, name)}",
        is_matrix=True,
        whole=None if len(names) == count else partial(matrix_table, task, None),
    )


def _marks(task: TaskFindings) -> str:
    if task.task.is_fixed:
        return "▼ the row's model is better, ▲ it is worse"
    return "▼ the row's method loses less, ▲ it loses more"


def _difference_of(loss: Loss) -> str:
    return loss.shown_name if loss.is_metric else "expected loss"


def _matrix_cell(row: str, column: str, contest: Contest | None) -> Cell:
    if row == column or contest is None:
        return Cell("" if row == column else formatting.UNKNOWN, (None,))
    if contest.why_untested:
        return Cell("not compared", (None,))
    sign = 1.0 if contest.first == row else -1.0
    shown, error, _ = contest.shown
    difference = None if shown is None else sign * shown
    lines = (formatting.p_equals(contest.adjusted_p_value), *_matrix_lines(row, contest))
    text = formatting.with_error(difference, error)
    return Cell(text, (difference,), _mark(contest, row), lines=lines)


def _matrix_caption(task: TaskFindings) -> str:
    margin = "" if task.margin is None else f" ≈ equivalent within a margin of {task.margin}."
    return f"{margin} – not planned, so not compared." if task.is_planned else margin


def _matrix_lines(row: str, contest: Contest) -> tuple[str, ...]:
    """What is known of the margin; the mark says it where there is no winner."""
    if contest.is_equivalent:
        return ("equivalent",)
    if contest.is_same:
        return ("same losses",)
    return ("not worse",) if row in contest.not_worse and contest.winner is None else ()


def runs_of(findings: Findings, panel: Panel) -> tuple[ManyRuns, ...]:
    """The tasks of a panel that have one partition and several runs."""
    by_address = {one.task.address: one for one in findings.runs}
    addresses = [task.task.address for task in reversed(panel.tasks)]
    return tuple(by_address[address] for address in addresses if address in by_address)


def runs_tables(findings: Findings, panel: Panel) -> tuple[ReportTable, ...]:
    """Statistics over runs, and comparisons by them; none where a task has several training sets."""
    found = runs_of(findings, panel)
    if not found:
        return ()
    made = [_statistics(panel, found)]
    if any(one.pairs for one in found):
        made.append(_comparisons(panel, found))
    return tuple(made)


def _statistics(panel: Panel, found: tuple[ManyRuns, ...]) -> ReportTable:
    rows = [_runs_row(one, method) for one in found for method in one.methods]
    return ReportTable(
        f"runs-{panel.key}",
        f"Runs with different seeds on {panel.prototask}",
        (
            CASES,
            METHOD,
            ReportColumn("Runs", ("runs",)),
            ReportColumn("Mean", ("mean",)),
            ReportColumn("SD (n − 1)", ("sd",)),
            ReportColumn(
                "Best run", ("best",), "the run of lowest validation error, never of lowest test error"
            ),
            ReportColumn("Minimum", ("minimum",)),
            ReportColumn("Lower quartile", ("lower_quartile",)),
            ReportColumn("Median", ("median",)),
            ReportColumn("Upper quartile", ("upper_quartile",)),
            ReportColumn("Maximum", ("maximum",)),
        ),
        tuple(rows),
        f"Mean {found[0].task.loss(found[0].loss).words} of each run on the one test set, as PROBEN1 "
        "(Prechelt 1994, 2.8) wants runs reported. "
        "Best run: by validation error, – where the records have none. "
        "The standard deviation tells how much the seed matters with this training set, and nothing else.",
    )


def _runs_row(found: ManyRuns, one: MethodRuns) -> Row:
    summary = one.summary
    best = None if summary.best is None else summary.best.test_error
    _, lower, median, upper, _ = summary.quartiles
    ends = (best, summary.minimum, lower, median, upper, summary.maximum)
    return (
        count_cell(found.task.known_size),
        name_cell(one.method),
        count_cell(summary.runs),
        _number(summary.mean),
        _number(summary.standard_deviation, 2),
        *(_number(value) for value in ends),
    )


def _number(value: float | None, digits: int = PART) -> Cell:
    return Cell(formatting.plain(value, digits), (value,))


def _comparisons(panel: Panel, found: tuple[ManyRuns, ...]) -> ReportTable:
    caveats = tuple(dict.fromkeys(text for one in found for text in one.caveats))
    return ReportTable(
        f"run-pairs-{panel.key}",
        f"Runs compared on {panel.prototask}",
        (
            CASES,
            ReportColumn("A"),
            ReportColumn("B"),
            ReportColumn("A / B", ("ratio",), "geometric means of the runs' losses"),
            ReportColumn("A − B", ("difference",), "means of the runs' losses"),
            ReportColumn("p, runs", ("p_runs",), "Cochran and Cox's t-test over runs"),
            ReportColumn("Taken out", ("outliers_a", "outliers_b"), "outliers of A and of B"),
            ReportColumn("p, seeds and test cases", ("p",), "the task's own comparison, taken alone"),
        ),
        tuple(_run_pair_row(one, pair) for one in found for pair in one.pairs),
        "PROBEN1's test (Prechelt 1994, 2.8 and 3.3.4): logarithms, at most a tenth of a sample taken out if "
        "the rest is then normal, t-test with Cochran and Cox's approximation; in parentheses where a sample "
        "is not normal. Runs are neither training sets nor test cases: this p says whether new seeds would "
        "give the same order on these very sets. The last column is for new seeds and new test cases; "
        "neither is about other training sets, nor adjusted for the number of pairs.",
        notes=caveats,
    )


def _run_pair_row(found: ManyRuns, pair: RunPair) -> Row:
    compared = pair.comparison
    p_value = formatting.p_value(compared.p_value)
    by_name = {one.method: one.summary.mean for one in found.methods}
    removed = [len(sample.removed) for sample in compared.samples]
    own = None if pair.contest is None else pair.contest.p_value
    return (
        count_cell(found.task.known_size),
        name_cell(pair.first),
        name_cell(pair.second),
        _number(compared.ratio, 3),
        _number(by_name[pair.first] - by_name[pair.second], 3),
        Cell(p_value if compared.reliable else f"({p_value})", (compared.p_value,)),
        Cell(f"{removed[0]}, {removed[1]}", (float(removed[0]), float(removed[1]))),
        Cell(formatting.p_value(own), (own,)),
    )
