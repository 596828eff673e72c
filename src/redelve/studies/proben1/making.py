"""The whole study: what is stored is read, what is missing is run and stored, all of it is compared."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

from redelve.nets import Engine
from redelve.studies.proben1 import store
from redelve.studies.proben1.comparison import Compared, compare
from redelve.studies.proben1.plan import Proben1Plan
from redelve.studies.proben1.training_runs import run_sheets

Progress = Callable[[str], None]


def make_tables(
    plan: Proben1Plan, engine: Engine, *, folder: Path | None = None, progress: Progress = lambda _: None
) -> tuple[Compared, ...]:
    """The tables of a plan beside the printed ones; with a folder, runs are kept there as they finish."""
    done = {} if folder is None else store.load_stored(folder, plan.sheets)
    began, runs = time.monotonic(), {}
    for found in run_sheets(plan.sheets, engine, done):
        sheet = found.sheet
        runs[sheet.part, sheet.dataset] = found
        before = done.get((sheet.part, sheet.dataset))
        made = len(found.reasons) - (0 if before is None else len(before.reasons))
        if folder is not None and made:
            store.save(folder, found)
        if made:
            seconds = time.monotonic() - began
            count = f"{len(runs)} of {len(plan.sheets)}"
            progress(f"{count}: {sheet.dataset}, {sheet.part}, runs made: {made} ({seconds:.0f} s)")
    return compare(plan, runs)
