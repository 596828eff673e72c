"""The whole study: what its archive lacks is run, then all of it is compared with what is printed."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from redelve.data.files import AtomicFiles
from redelve.nets import Engine
from redelve.run.results import Job, Record
from redelve.run.workers import workers_for
from redelve.studies.carried_out import carry_out
from redelve.studies.proben1.comparison import Compared, compare
from redelve.studies.proben1.plan import Proben1Plan, Sheet
from redelve.studies.proben1.sheet_runs import runs_csv, runs_of

Progress = Callable[[str], None]
FEW = 200
"""So many runs are made about as fast as other processes get started."""


def make_tables(
    plan: Proben1Plan, engine: Engine, *, folder: Path | None = None, progress: Progress = lambda _: None
) -> tuple[Compared, ...]:
    """The tables of a plan beside the printed ones; with a folder, runs are kept in its archive.

    On NumPy `engine.threads` processes train a batch each; on torch, or where there is not much to do, this
    process trains one batch after the other, with as many threads.
    """
    hands = engine.threads or 1 if engine.is_numpy and plan.run_count > FEW else 1
    experiment = plan.experiment(replace(engine, threads=1) if hands > 1 else engine)
    told = _SheetProgress(plan.sheets, progress)
    results = carry_out(
        experiment,
        folder,
        workers=workers_for(hands),
        answers=True,
        began=told.begin,
        ended=told.end,
    )
    runs = runs_of(results, plan.sheets)
    if folder is not None:
        with AtomicFiles() as files:
            files.write(folder / "runs.csv", runs_csv(runs.values()))
    return compare(plan, runs)


class _SheetProgress:
    """Tells of every sheet that becomes complete."""

    def __init__(self, sheets: Sequence[Sheet], tell: Progress) -> None:
        self._tell, self._began = tell, time.monotonic()
        self._sheets = {job: sheet for sheet in sheets for job in sheet.jobs}
        self._total = len(sheets)
        self._wanted: Counter[Sheet] = Counter()
        self._made: Counter[Sheet] = Counter()

    def begin(self, jobs: Sequence[Job]) -> None:
        self._wanted.update(self._sheets[job] for job in jobs)
        self._complete = self._total - len(self._wanted)

    def end(self, record: Record) -> None:
        sheet = self._sheets[record.job]
        self._made[sheet] += 1
        made = self._made[sheet]
        if made == self._wanted[sheet]:
            self._complete += 1
            seconds = time.monotonic() - self._began
            count = f"{self._complete} of {self._total}"
            self._tell(f"{count}: {sheet.dataset}, {sheet.part}, runs made: {made} ({seconds:.0f} s)")
