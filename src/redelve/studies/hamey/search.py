"""The search over r, α and η: halves of a grid drop out while trials double, and the best is tried afresh."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import product
from math import ceil

from redelve.errors import SpecError
from redelve.nets import Engine
from redelve.report import formatting
from redelve.report.formatting import Cell, ReportColumn, ReportTable
from redelve.stats.training_time import Efficiency, compare_efficiency, estimate_efficiency
from redelve.studies.hamey.batch_trials import Setting, TrialPlan, Trials, run_together, run_trials
from redelve.studies.hamey.published import PUBLISHED
from redelve.studies.hamey.training_problems import TrainingProblem

FINALISTS = 8
"""The search ends when so few settings are left."""

LEVEL = 0.05
SHOWN = 12
CAPTION = (
    "Half of the settings drop out after each round, and those left get as many trials again. Settings that "
    "dropped out early have wide intervals; none of the intervals allows for the choice of the best."
)


@dataclass(frozen=True)
class Grid:
    """Values of r, α and η, all combinations of which are tried; `first` trials each in the first round.

    `limit` is T during the search and afterwards, `fresh` the number of trials that judge the best setting.
    """

    ranges: tuple[float, ...]
    momenta: tuple[float, ...]
    rates: tuple[float, ...]
    first: int
    limit: int
    fresh: int
    algorithm: str = "back-propagation"

    def settings(self) -> list[Setting]:
        """All combinations."""
        return [
            Setting(r, momentum, rate, self.algorithm)
            for r, momentum, rate in product(self.ranges, self.momenta, self.rates)
        ]


GRIDS = {
    "xor": Grid(
        (0.6, 1.0, 1.4, 1.8, 2.2), (0.0, 0.3, 0.5, 0.65, 0.8, 0.9), (3, 5, 6, 7, 8, 10), 100, 200, 10_000
    ),
    "encoder-10-5": Grid(
        (0.5, 0.8, 1.1, 1.4), (0.0, 0.1, 0.2, 0.4), (1.3, 1.5, 1.7, 1.9, 2.1), 20, 600, 1000
    ),
}  # fmt: skip
ANY_GRID = Grid((0.5, 1.0, 2.0), (0.0, 0.5, 0.9), (0.3, 1.0, 3.0, 10.0), 50, 1000, 1000)


def grid_for(problem: TrainingProblem) -> Grid:
    """The grid that is searched if none is given."""
    return GRIDS.get(problem.name, ANY_GRID)


@dataclass(frozen=True)
class Candidate:
    """A setting with its trials so far; no efficiency where all of them failed."""

    trials: Trials
    efficiency: Efficiency | None

    @property
    def setting(self) -> Setting:
        """r, α and η."""
        return self.trials.plan.setting

    @property
    def order(self) -> tuple[int, float]:
        """Those with more trials first, then by efficiency."""
        return -len(self.trials.epochs), -self.e

    @property
    def e(self) -> float:
        """The efficiency, or nothing."""
        return 0.0 if self.efficiency is None else self.efficiency.efficiency


@dataclass(frozen=True)
class HalvingSearch:
    """All settings, best first; those not told from the best; the best with trials of its own."""

    problem: TrainingProblem
    candidates: tuple[Candidate, ...]
    near: tuple[Candidate, ...]
    fresh: Candidate
    published: Candidate | None

    @property
    def best(self) -> Candidate:
        """The one that was picked."""
        return self.candidates[0]


def run_search(
    problem: TrainingProblem, grid: Grid, *, stream: str = "", engine: Engine | None = None
) -> HalvingSearch:
    """Find the most efficient setting, then measure it with networks that had no part in its choice."""
    found: dict[Setting, Candidate] = {}
    left, done, size = grid.settings(), 0, grid.first
    while True:
        plans = [TrialPlan(problem, setting, size, grid.limit, f"search {stream}") for setting in left]
        for trials in run_together(plans, engine, first=done):
            known = found.get(trials.plan.setting)
            found[trials.plan.setting] = _judged(trials if known is None else known.trials.and_more(trials))
        left.sort(key=lambda setting: found[setting].order)
        if len(left) <= FINALISTS:
            break
        left = left[: max(FINALISTS, ceil(len(left) / 2))]
        done, size = size, 2 * size
    ranked = tuple(sorted(found.values(), key=lambda candidate: candidate.order))
    if ranked[0].efficiency is None:
        raise SpecError(f"{problem.name}: no trial succeeded in {grid.limit} epochs: give a higher limit")
    return HalvingSearch(
        problem,
        ranked,
        _near(ranked[: len(left)]),
        *_afresh(problem, ranked[0].setting, grid, stream, engine),
    )


def _afresh(
    problem: TrainingProblem, setting: Setting, grid: Grid, stream: str, engine: Engine | None
) -> tuple[Candidate, Candidate | None]:
    """The best setting with fresh networks, and the published one if it is another."""
    plan = TrialPlan(problem, setting, grid.fresh, grid.limit, f"fresh {stream}")
    known = PUBLISHED.get(problem.name)
    other = None if known is None or grid.algorithm != known.setting.algorithm else known.setting
    return _judged(run_trials(plan, engine)), (
        None if other in (None, setting) else _judged(run_trials(replace(plan, setting=other), engine))
    )


def _judged(trials: Trials) -> Candidate:
    return Candidate(trials, estimate_efficiency(trials.times) if trials.succeeded.any() else None)


def _near(finalists: Sequence[Candidate]) -> tuple[Candidate, ...]:
    """The best, and the finalists that a test at 5 % does not tell from it."""
    best = finalists[0]
    others = [one for one in finalists[1:] if one.efficiency is not None]
    p_values = [compare_efficiency(best.trials.times, one.trials.times).p_value for one in others]
    return best, *(one for one, p in zip(others, p_values, strict=True) if p is None or p > LEVEL)


# --- words -------------------------------------------------------------------------------------------------


def describe_search(search: HalvingSearch) -> str:
    """What was searched, the finalists, the best one judged afresh."""
    count = sum(len(one.trials.epochs) for one in search.candidates)
    lines = [
        f"{search.problem.title} {search.problem.layers}: {len(search.candidates)} settings, {count} trials "
        f"of at most {search.best.trials.plan.limit} epochs",
        "",
        f"  {'r':>6}{'α':>7}{'η':>7}{'trials':>9}{'e':>18}  95 % interval",
        *map(_candidate_line, search.candidates[:SHOWN]),
        "",
        f"Not told from the best at 5 %: {_spans(search.near)}",
        "",
        *_verdict(search),
    ]
    return "\n".join(lines)


def _candidate_line(one: Candidate) -> str:
    setting, found = one.setting, one.efficiency
    numbers = f"{setting.r:>8g}{setting.momentum:>7g}{setting.rate:>7g}{len(one.trials.epochs):>9}"
    return f"{numbers}{_e(found):>18}  {_interval(found)}"


def _spans(near: Sequence[Candidate]) -> str:
    values = zip(
        "rαη",
        zip(*((one.setting.r, one.setting.momentum, one.setting.rate) for one in near), strict=True),
        strict=True,
    )
    return ", ".join(f"{name} {min(each):g} to {max(each):g}" for name, each in values)


def _verdict(search: HalvingSearch) -> list[str]:
    best, fresh, other = search.best, search.fresh, search.published
    lines = [
        f"Best: {best.setting}",
        f"  e in the search   {_e(best.efficiency)}  (the highest of many: too high on average)",
        f"  e judged afresh   {_e(fresh.efficiency)}  with {len(fresh.trials.epochs)} networks that had no "
        f"part in the choice, 95 % interval {_interval(fresh.efficiency)}",
    ]
    if other is not None:
        test = compare_efficiency(fresh.trials.times, other.trials.times)
        lines.append(
            f"  published setting {_e(other.efficiency)}  ({other.setting}); difference "
            f"{formatting.with_error(test.difference, test.standard_error)}, "
            f"{formatting.p_equals(test.p_value)}"
        )
    return lines


def search_table(search: HalvingSearch) -> ReportTable:
    """Every setting with its efficiency."""
    columns = (
        ReportColumn("r", ("r",)), ReportColumn("α", ("momentum",)), ReportColumn("η", ("rate",)),
        ReportColumn("trials", ("trials",)), ReportColumn("successes", ("successes",)),
        ReportColumn("e", ("e", "standard_error")), ReportColumn("95 % interval", ("low", "high")),
    )  # fmt: skip
    rows = tuple(map(_table_row, search.candidates))
    return ReportTable("search", f"Search over r, α and η: {search.problem.title}", columns, rows, CAPTION)


def _table_row(one: Candidate) -> tuple[Cell, ...]:
    setting, found, count = one.setting, one.efficiency, len(one.trials.epochs)
    successes = int(one.trials.succeeded.sum())
    bounds = None if found is None else found.interval()
    return (
        *(
            Cell(f"{value:g}", (value,))
            for value in (setting.r, setting.momentum, setting.rate, count, successes)
        ),
        Cell(_e(found), (one.e, None if found is None else found.standard_error)),
        Cell(_interval(found), bounds or (None, None)),
    )


def _e(found: Efficiency | None) -> str:
    return "0" if found is None else formatting.with_error(found.efficiency, found.standard_error)


def _interval(found: Efficiency | None) -> str:
    return (
        formatting.UNKNOWN if found is None else formatting.interval(found.interval(), found.standard_error)
    )
