"""What was found, for readers, and every guess."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from pathlib import Path

from redelve.report.formatting import guard_formula
from redelve.report.study_page import StudyPage, write_folder
from redelve.studies.wcci.guess_trials import Tried
from redelve.studies.wcci.way_findings import Study
from redelve.studies.wcci.way_tables import answers, describe, tables_of
from redelve.studies.wcci.ways_figure import pictures_of

COLUMNS = (
    "problem",
    "classifier",
    "instance",
    "truth",
    "sigma",
    "way",
    "value",
    "low",
    "high",
    "fits",
    "seconds",
)


def page_of(study: Study) -> StudyPage:
    """What was found, as a page."""
    return StudyPage(
        "Which way guesses the performance of a classifier best?",
        "After Guyon, Saffari, Dror and Buhmann, Performance prediction challenge, WCCI 2006",
        describe(study),
        headlines=answers(study),
        pictures=pictures_of(study),
        tables=tables_of(study),
    )


def write_study(folder: Path, study: Study, trials: Sequence[Tried]) -> Path:
    """Write everything that was found."""
    return write_folder(folder, page_of(study), {"guesses.csv": guesses_csv(trials)})


def guesses_csv(trials: Sequence[Tried]) -> str:
    """A line for every guess of every trial."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(COLUMNS)
    for one in trials:
        task = (guard_formula(one.task.problem), guard_formula(one.task.classifier), one.task.instance)
        for guess in one.guesses:
            cells = (guess.way, guess.value, guess.low, guess.high, guess.fits, guess.seconds)
            writer.writerow([*task, one.truth, one.sigma, *("" if cell is None else cell for cell in cells)])
    return out.getvalue()
