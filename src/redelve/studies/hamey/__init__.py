"""Hamey (1992): how long networks take to learn, table 1 and figures 1 to 4 (docs/study-hamey.md)."""

from redelve.studies.hamey.batch_trials import ALGORITHMS, Plan, Setting, Trials, run_trials
from redelve.studies.hamey.hamey_figures import Figures, figure_pictures, run_figures
from redelve.studies.hamey.published import PUBLISHED, PublishedRow
from redelve.studies.hamey.search import Grid, Search, grid_for, run_search
from redelve.studies.hamey.table import Line, TableRow, compare_with_table, describe_row, table_of
from redelve.studies.hamey.training_problems import (
    Problem,
    encoder,
    exclusive_or,
    parity,
    problem_named,
    two_spirals,
)

__all__ = [
    "ALGORITHMS",
    "PUBLISHED",
    "Figures",
    "Grid",
    "Line",
    "Plan",
    "Problem",
    "PublishedRow",
    "Search",
    "Setting",
    "TableRow",
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
