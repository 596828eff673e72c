"""The whole study: what its archive lacks is run, then all of it is compared with what is printed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from redelve.nets import Engine
from redelve.run.progress import told_by_groups
from redelve.store.archive import carry_out
from redelve.studies import ARCHIVE
from redelve.studies.proben1.comparison import Compared, compare
from redelve.studies.proben1.comparison_page import describe, write_study
from redelve.studies.proben1.data_at_hand import about_data, with_data_at_hand
from redelve.studies.proben1.plan import QUICK, QUICK_RUNS, Amounts, Proben1Plan, make_plan
from redelve.studies.proben1.readings import find_reading
from redelve.studies.proben1.sheet_runs import Runs, runs_csv, runs_of

Progress = Callable[[str], None]
FEW = 200
"""So many runs are made about as fast as other processes get started."""


@dataclass(frozen=True)
class Proben1Study:
    """Tables beside the printed ones, how they were made, and every run; printed, it reads like a report."""

    tables: tuple[Compared, ...]
    about: tuple[str, ...]
    runs: tuple[Runs, ...] = field(repr=False)

    def __str__(self) -> str:
        return describe(self.tables, self.about)

    def write(self, folder: Path) -> Path:
        """Write page, text, tables, cells and runs."""
        return write_study(folder, self.tables, self.about, {"runs.csv": runs_csv(self.runs)})


def make_study(  # noqa: PLR0913  (options of a public function are explicit)
    tables: Iterable[int],
    *,
    datasets: Sequence[str] = (),
    reading: str = "best",
    runs: int | None = None,
    searches: int = 1,
    is_quick: bool = False,
    seed: int = 0,
    engine: Engine,
    folder: Path | None = None,
    progress: Progress = lambda _: None,
) -> Proben1Study:
    """Some tables made anew: on these datasets (none: all at hand), so often (None: as published).

    With a folder, runs are kept in its archive, and those that it holds are not made again.
    """
    usual = Amounts(QUICK_RUNS, QUICK_RUNS) if is_quick else Amounts()
    amounts = Amounts(runs or usual.linear, runs or usual.multilayer, searches)
    wanted = datasets or (QUICK if is_quick else None)
    plan = make_plan(tables, find_reading(reading), datasets=wanted, amounts=amounts, seed=seed)
    plan = plan if datasets else with_data_at_hand(plan)
    found = make_runs(plan, engine, folder=folder, progress=progress)
    return Proben1Study(compare(plan, found), _about(plan, engine), tuple(found.values()))


def make_runs(
    plan: Proben1Plan, engine: Engine, *, folder: Path | None = None, progress: Progress = lambda _: None
) -> dict[tuple[str, str], Runs]:
    """The runs of a plan, by part and dataset.

    On NumPy `engine.threads` processes train a batch each; on torch, or where there is not much to do, this
    process trains one batch after the other, with as many threads.
    """
    hands = engine.threads or 1 if engine.backend == "numpy" and plan.run_count > FEW else 1
    experiment = plan.experiment(replace(engine, threads=1) if hands > 1 else engine)
    archive = None if folder is None else folder / ARCHIVE
    groups = {job: f"{sheet.dataset}, {sheet.part}" for sheet in plan.sheets for job in sheet.jobs}
    results = carry_out(
        experiment,
        archive,
        workers=hands,
        retry="all",
        answers=True,
        watch=lambda records, jobs: told_by_groups(records, jobs, groups, progress),
    )
    return runs_of(results, plan.sheets)


def _about(plan: Proben1Plan, engine: Engine) -> tuple[str, ...]:
    """How the numbers were made: each reading once, and the engine."""
    parts: dict[str, list[str]] = {}
    for sheet in plan.sheets:
        names = parts.setdefault(sheet.reading.identity, [])
        if sheet.part not in names:
            names.append(sheet.part)
    lines = [f"{', '.join(names)}: {identity}" for identity, names in parts.items()]
    return (*lines, *about_data(plan), f"trained with {engine.backend} in {engine.dtype} on {engine.device}")
