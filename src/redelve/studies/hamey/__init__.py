"""Hamey (1992): how long networks take to learn, table 1 and figures 1 to 4 (docs/study-hamey.md)."""

from redelve.studies.hamey.batch_trials import ALGORITHMS, Setting, TrialPlan, Trials, run_trials
from redelve.studies.hamey.hamey_figures import HameyFigures, figure_pictures, run_figures
from redelve.studies.hamey.published import PUBLISHED, PublishedRow
from redelve.studies.hamey.search import Grid, HalvingSearch, grid_for, run_search
from redelve.studies.hamey.table import TableLine, TableRow, compare_with_table, describe_row, table_of
from redelve.studies.hamey.training_problems import (
    TrainingProblem,
    encoder,
    exclusive_or,
    parity,
    problem_named,
    two_spirals,
)

__all__ = [
    "ALGORITHMS",
    "PUBLISHED",
    "Grid",
    "HalvingSearch",
    "HameyFigures",
    "PublishedRow",
    "Setting",
    "TableLine",
    "TableRow",
    "TrainingProblem",
    "TrialPlan",
    "Trials",
    "compare_with_table",
    "describe_row",
    "encoder",
    "exclusive_or",
    "figure_pictures",
    "grid_for",
    "parity",
    "problem_named",
    "run_figures",
    "run_search",
    "run_trials",
    "table_of",
    "two_spirals",
]
