"""Table 1 made anew: the measures of a problem's trials beside the printed ones."""

from __future__ import annotations

import textwrap
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import hypot, isfinite, sqrt

import numpy as np

from redelve.report import formatting
from redelve.report.formatting import Cell, ReportColumn, ReportTable
from redelve.report.trial_times import Measured, measure
from redelve.seeds import generator
from redelve.stats.training_time import Tail, TrialTimes, estimate_efficiency
from redelve.stats.training_time.tail import NO_FAILURES
from redelve.studies import compared
from redelve.studies.hamey.batch_trials import TrialPlan, Trials
from redelve.studies.hamey.published import PUBLISHED, PublishedRow
from redelve.studies.hamey.training_problems import TrainingProblem

RESAMPLES = 100
"""Of the trials, for the spread of T_E, T_E1 and T_E2."""

WIDTH = 100
LIMITS = ("T_E", "T_E1", "T_E2")
BY_LIMIT = ("λ_T", "t̄_T", "t̄_H")
"""What depends on the limit T, and is compared with what was printed for the same T only."""

TWO_FORMS = ("λ", "t̄_C")
"""What the printed formulas give differs from what follows from the model (docs/training-time.md)."""

MEANINGS = {
    "e": "peak efficiency", "T_E": "best limit", "T_E1": "half as efficient, from",
    "T_E2": "half as efficient, to", "t̄_E": "epochs per success", "a": "tail model", "k": "tail model",
    "T_0": "the tail begins", "γ": "succeeded before", "λ": "success rate without limit",
    "t̄_C": "mean without limit", "λ_T": "success rate", "t̄_T": "mean of successes", "t̄_H": "harmonic mean",
}  # fmt: skip
CAPTION = (
    "Published errors: none are printed but that of e; the others are ours for as many trials as were "
    "published, joined with the error of rounding. Errors of T_E, T_E1 and T_E2 are by bootstrap and rough. "
    "z: ours less the published number, in combined standard errors."
)

Found = tuple[float | None, float | None]
"""A number and its standard error, each None where there is none."""


@dataclass(frozen=True)
class TableLine:
    """A measure: as printed, if it was, and ours; `note` says how it is to be read, or why there is none."""

    symbol: str
    published: float | None
    published_error: float | None
    ours: float | None
    error: float | None
    note: str = ""

    @property
    def cell(self) -> compared.ComparedCell | None:
        """Both numbers, where both are there and finite."""
        if (
            self.published is None
            or self.ours is None
            or not (isfinite(self.published) and isfinite(self.ours))
        ):
            return None
        return compared.ComparedCell(
            self.note, self.symbol, self.published, self.published_error, self.ours, self.error
        )

    @property
    def z(self) -> float | None:
        """The difference in combined standard errors, where both errors are known."""
        if self.error is None or self.published_error is None or self.cell is None:
            return None
        return self.cell.z


@dataclass(frozen=True)
class TableRow:
    """A problem: its trials, all that was measured, and every measure beside the printed one."""

    trials: Trials
    measured: Measured
    lines: tuple[TableLine, ...]

    @property
    def problem(self) -> TrainingProblem:
        """What was learnt."""
        return self.trials.plan.problem

    def line(self, symbol: str) -> TableLine:
        """The first line with this symbol."""
        return next(line for line in self.lines if line.symbol == symbol)

    @property
    def notes(self) -> tuple[str, ...]:
        """What must be said beside the numbers."""
        return tuple(dict.fromkeys((*self.measured.efficiency.caveats, *self.measured.tail.caveats)))


def compare_with_table(trials: Trials) -> TableRow:
    """All measures of some trials, beside those of table 1 if it has this problem in this setting."""
    plan = trials.plan
    known = PUBLISHED.get(plan.problem.name)
    known = known if known is not None and known.setting == plan.setting else None
    measured = measure(plan.problem.title, trials.times)
    return TableRow(trials, measured, tuple(_lines(measured, known)))


def _lines(measured: Measured, known: PublishedRow | None) -> Iterator[TableLine]:
    for symbol, (ours, error) in _measures(measured).items():
        number = None if known is None else known.numbers.get(symbol)
        if number is None and ours is None and measured.tail.reason == NO_FAILURES:
            continue
        shared = None if known is None else _published_error(measured, known, symbol, error)
        value = None if number is None else number.value
        yield TableLine(symbol, value, shared, ours, error, _note(symbol, ours, measured))
        if symbol in TWO_FORMS and measured.tail.fits:
            yield _model_line(symbol, measured.tail)


def _published_error(
    measured: Measured, known: PublishedRow, symbol: str, error: float | None
) -> float | None:
    """Ours for as many trials as were published, joined with the error of rounding.

    None where the numbers cannot be compared: what depends on T, with another T.
    """
    if error is None or symbol not in known.numbers:
        return None
    if symbol in BY_LIMIT and measured.trials.limit != known.limit:
        return None
    if symbol in LIMITS:
        theirs = limit_errors(measured.trials, known.trials)[LIMITS.index(symbol)] or 0.0
    else:
        theirs = error * sqrt(measured.trials.trials / known.trials)
    return hypot(theirs, known.numbers[symbol].unit / sqrt(12))


def _note(symbol: str, ours: float | None, measured: Measured) -> str:
    if symbol == "T_E2" and measured.efficiency.range_is_open:
        return "or beyond the limit"
    tail = measured.tail
    if not tail.fits:
        return (tail.reason or "") if ours is None else ""
    return "as printed" if symbol in TWO_FORMS else ""


def _model_line(symbol: str, tail: Tail) -> TableLine:
    """λ or the corrected mean by what follows from the model, not by the printed form."""
    ours = tail.success_rate if symbol == "λ" else tail.corrected_mean
    note = "does not exist, since k ≤ 1" if ours is None else "as follows from the model"
    return TableLine(symbol, None, None, ours, None, note)


def _measures(measured: Measured) -> dict[str, Found]:
    found, summary, tail = measured.efficiency, measured.summary, measured.tail
    spread = limit_errors(measured.trials, measured.trials.trials)
    model, form = tail.model, tail.as_published
    return {
        "e": (found.efficiency, found.standard_error),
        "T_E": (found.optimal_limit, spread[0]),
        "T_E1": (found.range[0], spread[1]),
        "T_E2": (found.range[1], None if found.range_is_open else spread[2]),
        "t̄_E": (found.effort, found.effort_error),
        "a": (None if model is None else model.a, None),
        "k": (None if model is None else model.k, None),
        "T_0": (None if model is None else model.start, None),
        "γ": (None if model is None else model.share_before, None),
        "λ": (tail.success_rate if form is None else form.success_rate, None),
        "t̄_C": (tail.corrected_mean if form is None else form.corrected_mean, None),
        "λ_T": (summary.success_rate, summary.success_rate_error),
        "t̄_T": (summary.mean, summary.mean_error),
        "t̄_H": (summary.harmonic_mean, summary.harmonic_mean_error),
    }


def limit_errors(trials: TrialTimes, size: int) -> tuple[float | None, ...]:
    """Spread of T_E, T_E1 and T_E2 in resamples of so many trials; None where some have no finite one."""
    rng = generator("study", "hamey", "limits", trials.trials)
    shares = np.append(trials.counts, trials.failures) / trials.trials
    drawn = []
    for counts in rng.multinomial(size, shares, size=RESAMPLES):
        kept = counts[:-1] > 0
        if not kept.any():
            return (None,) * len(LIMITS)
        resample = TrialTimes(trials.times[kept], counts[:-1][kept], int(counts[-1]), trials.limit)
        found = estimate_efficiency(resample)
        drawn.append((found.optimal_limit, *found.range))
    return tuple(float(each.std(ddof=1)) if np.isfinite(each).all() else None for each in np.array(drawn).T)


# --- words -------------------------------------------------------------------------------------------------


def describe_row(row: TableRow) -> str:
    """A problem as text: how it was measured, every measure, what to bear in mind."""
    plan, seconds = row.trials.plan, formatting.seconds(row.trials.seconds)
    lines = [
        f"{row.problem.title} {row.problem.layers}, {plan.setting.algorithm}, {plan.setting}",
        f"{plan.trials} trials of at most {plan.limit} epochs, trained in {seconds}",
        "",
        f"  {'':33}{'published':>12}{'ours':>18}{'z':>7}",
        *(_text_line(line, plan) for line in row.lines),
    ]
    if row.notes:
        lines.append("")
    notes = [
        textwrap.fill(note, WIDTH, initial_indent="  * ", subsequent_indent="    ") for note in row.notes
    ]
    return "\n".join([*lines, *notes])


def _text_line(line: TableLine, plan: TrialPlan) -> str:
    symbol = line.symbol.ljust(6 + sum(unicodedata.combining(each) > 0 for each in line.symbol))
    texts = f"{_published(line, plan):>12}{_ours(line):>18}{_z(line):>7}"
    return f"  {symbol}{MEANINGS[line.symbol]:27}{texts}  {_short(line.note)}".rstrip()


def table_of(rows: Sequence[TableRow]) -> ReportTable:
    """All problems as one table, ready for CSV, Markdown and HTML."""
    columns = (
        ReportColumn("problem"), ReportColumn("measure"), ReportColumn("meaning"),
        ReportColumn("published", ("published", "published_error")),
        ReportColumn("ours", ("ours", "our_error")),
        ReportColumn("z", ("z",)), ReportColumn("note"),
    )  # fmt: skip
    cells = [
        (
            Cell(f"{row.problem.title} {row.problem.layers}"),
            Cell(line.symbol),
            Cell(MEANINGS[line.symbol]),
            Cell(_published(line, row.trials.plan), (line.published, line.published_error)),
            Cell(_ours(line), (line.ours, line.error)),
            Cell(_z(line), (line.z,)),
            Cell(line.note),
        )
        for row in rows
        for line in row.lines
    ]
    return ReportTable("table-1", "Table 1: optimised benchmark results", columns, tuple(cells), CAPTION)


def _published(line: TableLine, plan: TrialPlan) -> str:
    """As printed, with the printed ± of e."""
    if line.published is None:
        return formatting.UNKNOWN
    known = PUBLISHED[plan.problem.name]
    margin = f" ± {known.e_margin:g}" if line.symbol == "e" else ""
    places = 0 if known.numbers[line.symbol].unit == 1 else len(f"{known.numbers[line.symbol].unit:g}") - 2
    return f"{line.published:.{places}f}{margin}" if isfinite(line.published) else "∞"


def _ours(line: TableLine) -> str:
    return formatting.with_error(line.ours, line.error) if line.error else formatting.plain(line.ours)


def _z(line: TableLine) -> str:
    return "" if line.z is None else f"{line.z:+.1f}".replace("-", formatting.MINUS)


def _short(note: str) -> str:
    return "does not fit (see below)" if note.startswith("the model does not fit") else note
