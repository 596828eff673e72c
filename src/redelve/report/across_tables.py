"""Tables of many tasks together: averages, wins, signed ranks, practical equivalence."""

from __future__ import annotations

from redelve.findings import AcrossTasks
from redelve.report import rounding
from redelve.report.contents import METHOD, error_cell, name_cell
from redelve.report.table_values import Cell, ReportColumn, ReportTable, Row


def across_tables(across: AcrossTasks) -> tuple[ReportTable, ...]:
    """All that there is to say."""
    found = [averages_table(across), wins_table(across)]
    if across.wilcoxon:
        found.append(wilcoxon_table(across))
    if across.rope:
        found.append(rope_table(across))
    return tuple(found)


def averages_table(across: AcrossTasks) -> ReportTable:
    """Average standardised losses and mean ranks."""
    ordered = sorted(across.methods, key=lambda one: one.average)
    rows = [
        (
            name_cell(one.method),
            error_cell(one.average, one.standard_error),
            Cell(f"{one.mean_rank:.2f}", (one.mean_rank,)),
        )
        for one in ordered
    ]
    return ReportTable(
        "across-averages",
        f"Average standardised {across.judged_by.words} over {len(across.tasks)} tasks",
        (
            METHOD,
            ReportColumn("Average ± SE", ("average", "average_se")),
            ReportColumn("Mean rank", ("mean_rank",)),
        ),
        tuple(rows),
        f"Averages over all {len(across.tasks)} tasks; mean ranks over {len(across.ranked_tasks)}, one of "
        "each prototask.",
    )


def wins_table(across: AcrossTasks) -> ReportTable:
    """Wins, ties and losses of the row's method against the column's."""
    names = [one.method for one in across.methods]
    rows = [(name_cell(row), *(_wins_cell(across, row, column) for column in names)) for row in names]
    decided = next(iter(across.wins.values())).decided_by if across.wins else ""
    return ReportTable(
        "across-wins",
        "Tasks won, not told apart and lost",
        (ReportColumn("Row against column"), *(ReportColumn(name, (name,)) for name in names)),
        tuple(rows),
        f"On how many of {len(across.tasks)} tasks the row's method wins – is not told apart – loses "
        f"({decided}). "
        "A summary, not a test; a task that is neither won nor lost may only have too little data.",
        is_matrix=True,
    )


def _wins_cell(across: AcrossTasks, row: str, column: str) -> Cell:
    if row == column:
        return Cell("", (None,))
    if (found := across.wins.get((row, column))) is not None:
        wins, ties, losses = found.wins, found.ties, found.losses
    else:
        found = across.wins[column, row]
        wins, ties, losses = found.losses, found.ties, found.wins
    return Cell(f"{wins} – {ties} – {losses}", (wins - losses,))


def wilcoxon_table(across: AcrossTasks) -> ReportTable:
    """Signed-rank tests of all pairs."""
    names = [one.method for one in across.methods]
    rows = [
        (
            name_cell(names[pair.first]),
            name_cell(names[pair.second]),
            Cell(f"{pair.test.first_better:g}", (pair.test.first_better,)),
            Cell(f"{pair.test.second_better:g}", (pair.test.second_better,)),
            Cell(rounding.p_value(pair.test.p_value), (pair.test.p_value,)),
            Cell(rounding.p_value(pair.adjusted_p_value), (pair.adjusted_p_value,)),
        )
        for pair in across.wilcoxon
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
        f"Over {len(across.ranked_tasks)} tasks, one of each prototask; adjusted by Holm's method.",
    )


def rope_table(across: AcrossTasks) -> ReportTable:
    """Posterior probabilities of practical differences."""
    rows = [_rope_row(across, first, second) for first, second in across.rope]
    width = next(iter(across.rope.values())).half_width
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
        "standardised losses that "
        f"differ by less than {width:g} are practically the same.",
    )


def _rope_row(across: AcrossTasks, first: str, second: str) -> Row:
    found = across.rope[first, second]
    return (
        name_cell(first),
        name_cell(second),
        Cell(f"{found.left:.2f}", (found.left,)),
        Cell(f"{found.rope:.2f}", (found.rope,)),
        Cell(f"{found.right:.2f}", (found.right,)),
    )


def friedman_sentence(across: AcrossTasks) -> str:
    """What Friedman's test says of all methods together."""
    found = across.friedman
    if found is None:
        return (
            f"{len(across.ranked_tasks)} prototasks are too few for tests over tasks: three at least are "
            "needed."
        )
    if found.p_value is None:
        return "Friedman's test is not defined here: all tasks tie all methods."
    verdict = (
        "the ranks of the methods differ by more than chance explains"
        if found.p_value < 0.05
        else "no difference was shown"
    )
    return (
        f"Friedman's test over {found.tasks} tasks (F form, {found.df1} and {found.df2} degrees of freedom): "
        f"{rounding.p_equals(found.p_value)}; {verdict}."
    )
