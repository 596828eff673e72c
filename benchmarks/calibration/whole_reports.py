"""Whole reports: how many contain a false claim, or an interval that misses the truth?

A report is the text as printed, parsed for claims, and all intervals that the page prints. What was measured
is kept in `whole_reports.json`, a cell at a time, so that a long run can be stopped and goes on where it was.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from textwrap import fill

import numpy as np

from benchmarks.calibration.exchangeable import PROBLEMS, Numbers, Problem
from benchmarks.calibration.sections import Effort, Section, table
from benchmarks.calibration.simulated_reports import planned_tasks, simulated_findings
from benchmarks.calibration.simulation import Generator
from redelve.findings import Findings, MoreData, TaskFindings
from redelve.findings.claims import Outlook
from redelve.findings.over_tasks import PairOverTasks
from redelve.report.first_screen import plain_answer
from redelve.report.sections import panels
from redelve.report.sections.overview import MAY_BE_BEST, told_in_full
from redelve.seeds import generator

TITLE = "Whole reports on equal methods"
KEPT = Path(__file__).with_name("whole_reports.json")
CLAIM = re.compile(r"loses less than|(was|were) shown to (be worse|lose more)|is the best of|95 % sure")
"""Words that claim a difference between methods."""


@dataclass(frozen=True)
class Cell:
    """A setting: a problem, numbers of cases, methods and tasks, and how many reports are made."""

    problem: str
    cases: int
    methods: int
    tasks: int = 1
    reports: int = 1000

    @property
    def key(self) -> str:
        """The name under which it is kept."""
        return f"{self.problem}; n = {self.cases}; k = {self.methods}; tasks = {self.tasks}"


@dataclass(frozen=True)
class Outcome:
    """What one report said: claims of its text, of its tasks and over tasks, and all its intervals.

    Arrays are tasks × methods or tasks × pairs; `quoted` is the place of the interval beside the winner.
    `falls` are by how much losses would fall at twice the data, a row for each learning curve.
    """

    text_claims: bool
    claims: bool
    claims_over_tasks: bool
    means: Numbers
    losses: Numbers
    differences: Numbers
    over_tasks: Numbers
    falls: Numbers
    quoted: tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class Measured:
    """Shares of reports, in per cent: with a false claim, with an interval that misses.

    `quotes` are reports that quote an interval beside a winner, `wrong_quotes` those in which it misses.
    `losses` are intervals of expected losses, each taken alone, that miss: reports print none.
    """

    reports: int
    designs: str
    claims: float
    differences: float
    falls: float
    losses: float
    quotes: float
    wrong_quotes: float


def report_on(problem: Problem, cell: Cell, rng: Generator) -> Outcome:
    """One report on new data."""
    findings = simulated_findings(problem, cell.cases, cell.methods, cell.tasks, rng)
    for contest in (one for found in findings.tasks for one in found.contests):
        contest.__dict__["outlook"] = Outlook(None, "")  # claims nothing, and takes most of the time
    text = all_words(findings)
    return Outcome(
        is_claiming(text, findings),
        any(one.winner for found in findings.tasks for one in found.contests),
        any(one.winner for one in _pairs_over_tasks(findings)),
        np.array([[one.mean for one in found.methods] for found in findings.tasks]),
        np.array([[_ends(one.bounds) for one in found.methods] for found in findings.tasks]),
        np.array([[_ends(one.bounds) for one in found.contests] for found in findings.tasks]),
        np.array([_ends(one.claim.bounds) for one in _pairs_over_tasks(findings)]).reshape(-1, 2),
        np.array([_fall_ends(one.more_data) for one in findings.curves]),
        tuple(_quoted(findings)),
    )


def all_words(findings: Findings) -> str:
    """What a report says of every data set, and the plain words that its page begins with."""
    return "\n".join((told_in_full(findings), *plain_answer(findings).sentences))


def _fall_ends(more: MoreData | None) -> tuple[float, float]:
    return (-np.inf, np.inf) if more is None else (more.low, more.high)


def _pairs_over_tasks(findings: Findings) -> tuple[PairOverTasks, ...]:
    return () if findings.across is None else findings.across.pairs


def _flat(text: str) -> str:
    return " ".join(text.split())


def is_claiming(text: str, findings: Findings) -> bool:
    """Whether a text claims that methods differ, in words or by a star that is not there."""
    cells = sum(len(found.methods) for found in findings.tasks)
    stars = text.count(MAY_BE_BEST) - text.count(f"{MAY_BE_BEST} may be the best")
    return CLAIM.search(_flat(text)) is not None or stars < cells


def _ends(bounds: tuple[float, float] | None) -> tuple[float, float]:
    return (-np.inf, np.inf) if bounds is None else bounds


def _quoted(findings: Findings) -> list[tuple[int, int]]:
    """The places (task, pair) of intervals that the text quotes beside a winner."""
    places = {found.task.address: number for number, found in enumerate(findings.tasks)}
    found = []
    for panel in panels(findings):
        nearest = _nearest_loser(panel.largest)
        if nearest is not None:
            found.append((places[panel.largest.task.address], nearest))
    return found


def _nearest_loser(task: TaskFindings) -> int | None:
    behind = [number for number, one in enumerate(task.contests) if one.winner == task.leader]
    return min(behind, key=lambda number: abs(task.contests[number].difference or 0.0), default=None)


def measure(cell: Cell) -> Measured:
    """Many reports of one setting."""
    problem = PROBLEMS[cell.problem]
    rng = generator("whole reports", cell.key)
    found = [report_on(problem, cell, rng) for _ in range(cell.reports)]
    means = np.array([one.means for one in found])
    true_means = means.mean(axis=(0, 2) if problem.is_equal else 0)
    expected = np.broadcast_to(true_means[:, None] if problem.is_equal else true_means, means.shape[1:])
    first, second = np.triu_indices(cell.methods, 1)
    truth = expected[:, first] - expected[:, second]
    missed = [_missed(one.differences, truth) for one in found]
    any_missed = [
        miss.any() or _missed(one.over_tasks, 0.0).any() for one, miss in zip(found, missed, strict=True)
    ]
    sizes = [
        one.facts.training_set_size for one in planned_tasks(cell.problem, cell.cases, cell.methods, "data0")
    ]
    fall = true_fall(cell.problem, max(sizes), cell.methods) if len(sizes) > 1 else np.zeros(1)
    wrong = [any(miss[place] for place in one.quoted) for one, miss in zip(found, missed, strict=True)]
    false = [problem.is_equal and one.text_claims for one in found]
    if any((one.claims or one.claims_over_tasks) != one.text_claims for one in found):
        raise AssertionError("a text claims what the findings do not, or the other way round")
    return Measured(
        cell.reports,
        _designs(problem, cell),
        100 * float(np.mean(false)),
        100 * float(np.mean(any_missed)),
        100 * float(np.mean([_missed(one.falls, _of_curves(fall, one.falls)).any() for one in found])),
        100 * float(np.mean([_missed(one.losses, expected) for one in found])),
        100 * float(np.mean([bool(one.quoted) for one in found])),
        100 * float(np.mean(wrong)),
    )


def _of_curves(fall: Numbers, falls: Numbers) -> Numbers:
    """The true fall of every curve: methods come in their order on each task."""
    return np.tile(fall, len(falls) // len(fall))


@cache
def true_fall(name: str, size: int, methods: int, sets: int = 3000) -> Numbers:
    """By how much the expected loss of each method falls from so many training cases to twice as many."""
    problem, rng = PROBLEMS[name], generator("true fall", name, size, methods)
    sums = np.zeros((2, methods))
    for _ in range(sets):
        drawn = problem.draw(2 * size + 100, methods, rng)
        asked, truth = drawn.inputs[-100:], drawn.targets[-100:]
        for place, cases in enumerate((size, 2 * size)):
            x, y = drawn.inputs[:cases], drawn.targets[:cases]
            for column in range(methods):
                answers = problem.learn(x[:, column], y, asked[:, column])
                sums[place, column] += problem.loss(answers, truth).mean()
    small, large = sums / sets
    if problem.is_equal:
        small, large = (np.full(methods, one.mean()) for one in (small, large))
    return np.asarray(small - large if problem.code == "L" else 1 - large / small)


def _missed(bounds: Numbers, truth: Numbers | float) -> Numbers:
    return np.asarray((bounds[..., 0] > truth) | (bounds[..., 1] < truth))


def _designs(problem: Problem, cell: Cell) -> str:
    """The designs that redelve chose, in a few words."""
    findings = simulated_findings(problem, cell.cases, cell.methods, 1, np.random.default_rng(0))
    sizes = [found.task.training_set_size for found in findings.tasks]
    sets = {len(found.task.instances) for found in findings.tasks}
    scheme = findings.tasks[0].task.scheme
    if "cross-validation" in scheme:
        return f"{min(sets)} folds" if scheme == "cross-validation" else "nested folds"
    ends = f"{min(sizes)} – {max(sizes)}" if len(sizes) > 1 else f"{sizes[0]}"
    own = "a common test set" if scheme == "common" else "test sets of their own"
    return f"{min(sets)} or more sets of {ends}, {own}"


REGRESSION = "regression, nearest neighbour"
CASES = (60, 200, 1000, 8192)
OTHER_KINDS = ("regression, a line", "groups of ten", "log-normal targets")
CELLS: tuple[Cell, ...] = (
    *(Cell(REGRESSION, n, k) for n in CASES for k in (2, 5, 10)),
    *(Cell(REGRESSION, 1000, k) for k in (20, 50)),
    *(Cell(REGRESSION, n, k, reports=most) for n in (60, 200, 8192) for k, most in ((20, 500), (50, 300))),
    *(Cell(kind, n, k) for kind in ("0–1 loss", "log loss") for n in CASES for k in (2, 5, 10)),
    *(
        Cell(kind, n, k, reports=most)
        for kind in OTHER_KINDS
        for n in CASES
        for k, most in ((2, 1000), (5, 400), (10, 400))
    ),
    *(
        Cell(kind, n, k, reports=most)
        for kind in ("0–1 loss", "log loss", *OTHER_KINDS)
        for n in CASES
        for k, most in ((20, 200), (50, 100))
    ),
    *(Cell(REGRESSION, n, k, 5, reports=400) for n in (200, 1000) for k in (5, 10)),
    *(Cell(REGRESSION, n, k, 20, reports=200) for n in (200, 1000) for k in (5, 10)),
)
WITH_A_WINNER: tuple[Cell, ...] = tuple(
    Cell("one method better", n, k, reports=300) for n in (200, 1000, 8192) for k in (2, 5, 10)
)
EVERY_CELL = (*CELLS, *WITH_A_WINNER)


def kept() -> dict[str, Measured]:
    """What was measured before, by the key of its cell."""
    if not KEPT.exists():
        return {}
    return {key: Measured(**values) for key, values in json.loads(KEPT.read_text("utf-8")).items()}


def keep(found: dict[str, Measured]) -> None:
    """Write it down, a line for each cell."""
    lines = [f'"{key}": {json.dumps(asdict(one), ensure_ascii=False)}' for key, one in sorted(found.items())]
    KEPT.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


def measure_all(cells: Sequence[Cell] = EVERY_CELL, *, anew: bool = False) -> dict[str, Measured]:
    """All cells; those that were measured before with as many reports or more are taken as they are."""
    if anew:
        KEPT.unlink(missing_ok=True)
    for cell in cells:
        known = kept().get(cell.key)
        if known is None or known.reports < cell.reports:
            measured = measure(cell)
            keep({**kept(), cell.key: measured})
    return kept()


WORDS = """
Of reports on equal methods, how many contain a false sentence? Each method sees a column of its own of a
problem that treats all columns alike, so every claim is false and every true difference is zero. redelve
chooses the design, methods learn, the report is the text as printed. It claims something if it says of a
method that it loses less, is the best or was shown to be worse, or if a method at any size lacks the star of
those that may be the best; the marks, stars and digits of the page are the same claims. At most 5 % may
claim anything. Per cent ± Monte-Carlo standard error, in parentheses the number of reports; "–": not
measured. A test compares the texts with those of `redelve.assess`.
"""
INTERVALS = """
Per cent of the same reports in which any printed interval of a difference misses, of all pairs, sizes and
tasks, then those in which any interval of what twice the data would do to a method misses: at most 5 % may,
of either kind. In parentheses the per cent of intervals of one expected loss taken alone that miss: reports
print none of these, `frame()` has them as `low` and `high`.
"""
SEVERAL = """
Several tasks in one report, each a data set of its own: claims on any task or over all of them, then reports
in which an interval misses.
"""
WINNER = """
One method is better than the others, which are alike. Of the interval that the text quotes beside the winner:
how often there is one, how often it is there and misses, and how often any interval of a difference misses.
"""
METHODS = (2, 5, 10, 20, 50)


def whole_reports_section(rng: Generator, effort: Effort) -> Section:
    """The tables, from what is kept: each cell has random numbers of its own name, not those of `rng`."""
    found = kept()
    parts = [
        _by_methods(found, _claims),
        _words(INTERVALS),
        _by_methods(found, _intervals),
        _words(SEVERAL),
        _several(found),
        _words(WINNER),
        _winners(found),
    ]
    return Section(TITLE, WORDS, "\n\n".join(parts), ())


def _words(text: str) -> str:
    return fill(" ".join(text.split()), width=106, break_on_hyphens=False)


def _error(percent: float, reports: int) -> float:
    """Monte-Carlo standard error; that of one report where none, or every one, was counted."""
    share = min(max(percent / 100, 1 / reports), 1 - 1 / reports)
    return 100 * float(np.sqrt(share * (1 - share) / reports))


def _by_methods(found: Mapping[str, Measured], shown: Callable[[Measured], str]) -> str:
    """A row for every problem and number of cases, a column for every number of methods."""
    rows = []
    for problem, cases in dict.fromkeys((cell.problem, cell.cases) for cell in CELLS if cell.tasks == 1):
        cells = [found.get(Cell(problem, cases, methods).key) for methods in METHODS]
        if not any(cells):
            continue
        design = next(one.designs for one in cells if one is not None)
        rows.append([problem, cases, design, *("–" if one is None else shown(one) for one in cells)])
    return table(["problem", "cases", "design", *(f"k = {methods}" for methods in METHODS)], rows)


def _claims(one: Measured) -> str:
    return f"{one.claims:.1f} ± {_error(one.claims, one.reports):.1f} ({one.reports:,})"


def _intervals(one: Measured) -> str:
    return f"{one.differences:.1f}, {one.falls:.1f} ({one.losses:.1f})"


def _several(found: Mapping[str, Measured]) -> str:
    rows: list[list[object]] = []
    for cell in (one for one in CELLS if one.tasks > 1 and one.key in found):
        one = found[cell.key]
        claims = f"{one.claims:.1f} ± {_error(one.claims, one.reports):.1f}"
        shares = (claims, one.differences, one.falls)
        rows.append([cell.tasks, cell.cases, cell.methods, f"{one.reports:,}", *shares])
    head = ["tasks", "cases", "methods", "reports", "any false claim", "any difference misses"]
    return table([*head, "twice the data: any misses"], rows)


def _winners(found: Mapping[str, Measured]) -> str:
    rows: list[list[object]] = []
    for cell in (one for one in WITH_A_WINNER if one.key in found):
        one = found[cell.key]
        rows.append(
            [cell.cases, cell.methods, f"{one.reports:,}", one.quotes, one.wrong_quotes, one.differences]
        )
    head = ["cases", "methods", "reports", "quoted", "quoted and misses", "any interval misses"]
    return table(head, rows)
