"""Which way guesses the performance of a classifier best? The questions of the WCCI 2006 challenge."""

from redelve.studies.wcci.one_trial import CLASSIFIERS, SELECTION, TrialTask, Tried, WcciPlan, carry_out
from redelve.studies.wcci.two_class_problems import PROBLEMS

__all__ = ["CLASSIFIERS", "PROBLEMS", "SELECTION", "TrialTask", "Tried", "WcciPlan", "carry_out"]
