"""What the comparison says, in sentences."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from redelve.studies.compared import CellTally
from redelve.studies.proben1 import printed
from redelve.studies.proben1.comparison import Compared
from redelve.studies.proben1.plan import SINGLE

RULE = (
    "A number agrees if the printed one lies within 3 % of ours, or within two combined standard errors. "
    "z is the difference, ours less printed, in combined standard errors."
)
PAIRS = {
    (3, 4): "Linear networks (tables 3 and 4)",
    (8, 9): "Pivot architectures (tables 8 and 9)",
    (10, 11): "No-shortcut architectures (tables 10 and 11)",
    (5, 6): "Architecture search (tables 5 and 6)",
}
"""Tables that tell of the same runs: of classification and of approximation problems."""
AGREEING = {
    "test": "test errors",
    "test sd": "their standard deviations",
    "class": "classification errors",
    "epochs": "total epochs",
}


def headlines(tables: Sequence[Compared]) -> list[str]:
    """The main results, a sentence or two for each kind of table."""
    found = {table.number: table for table in tables if table.rows}
    lines = []
    for numbers, name in PAIRS.items():
        pair = [found[number] for number in numbers if number in found]
        if pair:
            lines.append(f"{name}: {_search(pair) if 5 in numbers else _figures(pair)}.")
    if 7 in found:
        lines.append(f"Pivot architectures (table 7): {_pivots(found[7])}.")
    if all(number in found for number in (8, 9, 10, 11)):
        lines.append(f"Tables 8 to 11 together: {_together([found[number] for number in (8, 9, 10, 11)])}.")
    if 12 in found:
        lines.append(f"Pivot against no-shortcut (table 12): {_verdicts(found[12])}.")
    return lines


def seed_ranges(by_seed: Sequence[Sequence[Compared]]) -> list[str]:
    """How many cells agree seed by seed: the fewest and the most, a sentence for each kind of table."""
    lines = []
    for numbers, name in PAIRS.items():
        pairs = [[one for one in tables if one.number in numbers and one.rows] for tables in by_seed]
        if any(pairs) and 5 not in numbers:
            found = {title: [tally(pair, column) for pair in pairs] for column, title in AGREEING.items()}
            told = [f"{title} for {_range(counts)}" for title, counts in found.items() if counts[0].cells]
            lines.append(f"{name}, each of {len(by_seed)} seeds by itself: agreement in {'; '.join(told)}.")
    twelve = [one for tables in by_seed for one in tables if one.number == 12 and one.rows]
    if twelve:
        same, telling = zip(*map(_same_winners, twelve), strict=True)
        lines.append(
            f"Table 12, each seed by itself: the better architecture is the printed one in {_span(same)} "
            f"of {telling[0]} cells that are significant in the report."
        )
    return lines


def _range(counts: Sequence[CellTally]) -> str:
    return f"{_span([found.agreeing for found in counts])} of {len(counts[0].cells)} datasets"


def _span(numbers: Sequence[int]) -> str:
    least, most = min(numbers), max(numbers)
    return f"{least}" if least == most else f"{least} to {most}"


def _same_winners(table: Compared) -> tuple[int, int]:
    """Of the cells that are significant in the report: how many have the same winner here; how many."""
    given = printed.verdicts()
    telling = [choice.agrees for name, choice in table.choices("better") if given[name].better]
    return sum(telling), len(telling)


def tally(tables: Iterable[Compared], column: str) -> CellTally:
    """How many datasets agree in a column of several tables; mushroom1, of one run, is left out."""
    cells = (cell for table in tables for cell in table.tally(column).cells)
    return CellTally.of(cell for cell in cells if cell.row != SINGLE)


def _figures(tables: Sequence[Compared]) -> str:
    parts = []
    for column, name in AGREEING.items():
        found = tally(tables, column)
        if found.cells:
            misses = ", ".join(cell.row for cell in found.misses)
            parts.append(f"{name} for {found} datasets" + (f" (not {misses})" if misses else ""))
    return f"agreement in {'; '.join(parts)}"


def _together(tables: Sequence[Compared]) -> str:
    missed = {cell.row for cell in tally(tables, "test").misses}
    names = dict.fromkeys(row.dataset for table in tables for row in table.rows)
    good = sum(name not in missed for name in names)
    return f"test errors of both architectures agree for {good} of {len(names)} datasets"


def _search(tables: Sequence[Compared]) -> str:
    parts = []
    for column, name in (("valid_err", "lowest validation errors"), ("test_err", "their test errors")):
        parts.append(f"{name} for {tally(tables, column)} datasets")
    choices = [choice for table in tables for _, choice in table.choices("best")]
    found = sum(choice.agrees for choice in choices)
    return (
        f"agreement in {'; '.join(parts)}; the best network is the printed one for {found} of {len(choices)}"
    )


def _pivots(table: Compared) -> str:
    choices = [choice for _, choice in table.choices("pivot")]
    found = sum(choice.agrees for choice in choices)
    counts = table.tally("connections")
    exact = sum(cell.difference == 0 for cell in counts.cells)
    return (
        f"a search of ours finds the printed one for {found} of {len(choices)} datasets; "
        f"the printed numbers of connections are ours for {exact} of {len(choices)}"
    )


def _verdicts(table: Compared) -> str:
    given = printed.verdicts()
    telling = [(name, choice) for name, choice in table.choices("better") if given[name].better]
    others = [choice for name, choice in table.choices("better") if not given[name].better]
    same = [choice for _, choice in telling if choice.agrees]
    certain = sum(not choice.ours.startswith("none") for choice in same)
    misses = ", ".join(name for name, choice in telling if not choice.agrees)
    return (
        f"the better architecture is the printed one in {len(same)} of the {len(telling)} cells that are "
        f"significant in the report, in {certain} of them significantly"
        + (f" (not {misses})" if misses else "")
        + f"; of the {len(others)} others {sum(choice.agrees for choice in others)} are not significant here"
    )
