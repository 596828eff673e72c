"""Which way guesses the performance of a classifier best? The questions of the WCCI 2006 challenge."""

from redelve.studies.wcci.problems import PROBLEMS
from redelve.studies.wcci.trials import CLASSIFIERS, SELECTION, Plan, Task, Tried, carry_out

__all__ = ["CLASSIFIERS", "PROBLEMS", "SELECTION", "Plan", "Task", "Tried", "carry_out"]
