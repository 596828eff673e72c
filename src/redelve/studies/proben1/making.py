"""The whole study: what its archive lacks is run, then all of it is compared with what is printed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

from redelve.errors import SpecError
from redelve.nets import Engine
from redelve.run.progress import told_by_groups
from redelve.store.archive import carry_out
from redelve.studies import ARCHIVE
from redelve.studies.proben1.comparison import Compared, compare
from redelve.studies.proben1.comparison_page import describe, write_study
from redelve.studies.proben1.comparison_words import seed_ranges
from redelve.studies.proben1.data_at_hand import about_data, with_data_at_hand
from redelve.studies.proben1.plan import QUICK, QUICK_RUNS, Amounts, Proben1Plan, make_plan
from redelve.studies.proben1.readings import find_reading
from redelve.studies.proben1.sheet_runs import Runs, joined, runs_csv, runs_of
from redelve.studies.proben1.verdict_words import verdict_lines, verdicts_csv
from redelve.studies.proben1.verdicts import ENOUGH, TABLES_OF, StudyVerdict, judge, lacking, pool

Progress = Callable[[str], None]
FEW = 200
"""So many runs are made about as fast as other processes get started."""


@dataclass(frozen=True)
class Proben1Study:
    """Tables beside the printed ones, how they were made, and every run; printed, it reads like a report."""

    tables: tuple[Compared, ...]
    about: tuple[str, ...]
    runs: tuple[Runs, ...] = field(repr=False)
    by_seed: tuple[tuple[Compared, ...], ...] = field(default=(), repr=False)
    """The tables of each seed, where there are several; `tables` have the runs of all."""

    @cached_property
    def verdict(self) -> StudyVerdict:
        """Whether print could be one more sample of these runs."""
        return judge(self.runs)

    @property
    def told(self) -> tuple[str, ...]:
        """The ranges over seeds and the verdict, a sentence each."""
        return (*seed_ranges(self.by_seed), *verdict_lines(self.verdict))

    def __str__(self) -> str:
        return describe(self.tables, self.about, self.told)

    def write(self, folder: Path) -> Path:
        """Write page, text, tables, cells, verdicts and runs."""
        further = {"runs.csv": runs_csv(self.runs), "verdicts.csv": verdicts_csv(self.verdict)}
        return write_study(folder, self.tables, self.about, further, self.told)


def make_study(  # noqa: PLR0913  (options of a public function are explicit)
    tables: Iterable[int],
    *,
    datasets: Sequence[str] = (),
    reading: str = "best",
    runs: int | None = None,
    searches: int = 1,
    is_quick: bool = False,
    seed: int = 0,
    seeds: Sequence[int] = (),
    is_check: bool = False,
    engine: Engine,
    folder: Path | None = None,
    progress: Progress = lambda _: None,
) -> Proben1Study:
    """Some tables made anew: on these datasets (none: all at hand), so often (None: as published) by seed.

    Runs of several seeds are taken together. With `is_check` there are five from `seed` on where none are
    given, and a study too small for a verdict is refused before anything is run. With a folder, runs are kept
    in its archive, and those that it holds are not made again.
    """
    usual = Amounts(QUICK_RUNS, QUICK_RUNS) if is_quick else Amounts()
    amounts = Amounts(runs or usual.linear, runs or usual.multilayer, searches)
    drawn = tuple(dict.fromkeys(seeds)) or (tuple(range(seed, seed + ENOUGH)) if is_check else (seed,))
    how = find_reading(reading)
    wanted = datasets or (QUICK if is_quick else None)
    plans = [make_plan(tables, how, datasets=wanted, amounts=amounts, seed=one) for one in drawn]
    plans = plans if datasets else list(map(with_data_at_hand, plans))
    if is_check:
        _check(plans)
    made = [make_runs(plan, engine, folder=folder, progress=progress) for plan in plans]
    every = tuple(runs for found in made for runs in found.values())
    pooled = {key: joined(runs) for key, runs in pool(every).items()} if len(made) > 1 else made[0]
    by_seed = tuple(compare(*pair) for pair in zip(plans, made, strict=True)) if len(made) > 1 else ()
    about = _about(plans[0], engine, drawn)
    return Proben1Study(compare(plans[0], pooled), about, every, by_seed)


def _check(plans: Sequence[Proben1Plan]) -> None:
    """Refuse what has no verdict."""
    if not any(sheet.part in TABLES_OF for sheet in plans[0].sheets):
        raise SpecError(
            f"tables {', '.join(map(str, plans[0].tables))} have no verdict: ask for 3, 4 or 8 to 12"
        )
    if reasons := lacking(sheet for plan in plans for sheet in plan.sheets):
        raise SpecError(f"{'; '.join(reasons.values())}: make as many runs as published, of five seeds (0-4)")


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


def _about(plan: Proben1Plan, engine: Engine, seeds: Sequence[int]) -> tuple[str, ...]:
    """How the numbers were made: each reading once, and the engine."""
    parts: dict[str, list[str]] = {}
    for sheet in plan.sheets:
        names = parts.setdefault(sheet.reading.identity, [])
        if sheet.part not in names:
            names.append(sheet.part)
    lines = [f"{', '.join(names)}: {identity}" for identity, names in parts.items()]
    several = [f"runs of seeds {', '.join(map(str, seeds))} together"] if len(seeds) > 1 else []
    trained = f"trained with {engine.backend} in {engine.dtype} on {engine.device}"
    return (*lines, *several, *about_data(plan), trained)
