"""What was measured, for readers, and the times of all trials."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from redelve.report.drawing import Picture
from redelve.report.formatting import ReportTable
from redelve.report.study_page import StudyPage, write_folder
from redelve.studies.hamey.batch_trials import Trials


def page_of(text: str, tables: Sequence[ReportTable] = (), pictures: Sequence[Picture] = ()) -> StudyPage:
    """Tables and figures as a page."""
    return StudyPage(
        "Training times of feed-forward networks, made anew",
        "Leonard G. C. Hamey, Benchmarking feed-forward neural networks: models and measures, NIPS 4, 1992",
        text,
        pictures=pictures,
        tables=tables,
    )


def write_study(folder: Path, page: StudyPage, trials: Sequence[Trials]) -> Path:
    """Write the page and the times of trials."""
    times = {f"times-{each.plan.problem.name}.csv": times_csv(each) for each in trials}
    return write_folder(folder, page, times)


def times_csv(trials: Trials) -> str:
    """A table that `redelve training-time` reads: the epochs of each trial, `>T` for those that failed."""
    epochs = np.char.mod("%d", np.maximum(trials.epochs, 1))
    times = np.where(trials.succeeded, epochs, f">{trials.plan.limit}")
    return "time\n" + "\n".join(times.tolist()) + "\n"
