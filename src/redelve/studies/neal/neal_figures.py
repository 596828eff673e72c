"""Rasmussen's figures of the study, with the p-values of each comparison alone, as the paper has them."""

from __future__ import annotations

from dataclasses import replace

from redelve.findings import Contest, TaskFindings
from redelve.report.drawing import Picture
from redelve.report.loss_figures import rasmussen_picture
from redelve.report.sections import Panel, panels
from redelve.studies.neal.neal_tables import REPLICA
from redelve.studies.neal.relevance_study import NealStudy
from redelve.studies.neal.tested_methods import EVERY

CAPTION = (
    "A box for each number of training cases. Ticks: standardised squared error; lines: ± one standard "
    "error. Below, the digit in the column of A and the row of B is the p-value of A being better than B, in "
    "units of 0.01 rounded up, of this comparison alone, as in the paper; a dot where it exceeds 0.09. "
    f"An arrow with a number: a loss beyond the scale. {REPLICA}"
)


def pictures_of(study: NealStudy) -> tuple[Picture, ...]:
    """A figure for each prototask."""
    return tuple(_picture(panel) for panel in panels(study.findings))


def _picture(panel: Panel) -> Picture:
    present = {one.method for task in panel.tasks for one in task.methods}
    ordered = tuple(name for name in EVERY if name in present)
    alone = replace(panel, methods=ordered, tasks=tuple(map(taken_alone, panel.tasks)))
    drawn = rasmussen_picture(alone)
    return replace(drawn, name=f"neal-{drawn.name.removeprefix('rasmussen-')}", caption=CAPTION)


def taken_alone(task: TaskFindings) -> TaskFindings:
    """The same with p-values that allow for no other comparison."""
    return replace(task, contests=tuple(map(_alone, task.contests)))


def _alone(contest: Contest) -> Contest:
    return replace(contest, claim=replace(contest.claim, adjusted_p_value=contest.p_value))
