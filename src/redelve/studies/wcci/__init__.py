"""Which way guesses the performance of a classifier best? The questions of the WCCI 2006 challenge."""

from redelve.studies.wcci.classifiers import CLASSIFIERS, SELECTION
from redelve.studies.wcci.guess_trials import TrialTask, Tried, WcciPlan, make_trials
from redelve.studies.wcci.two_class_problems import PROBLEMS

__all__ = ["CLASSIFIERS", "PROBLEMS", "SELECTION", "TrialTask", "Tried", "WcciPlan", "make_trials"]
