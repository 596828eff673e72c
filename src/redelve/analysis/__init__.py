"""From results to findings: arrays for `stats`, and the small values that reports show."""

from redelve.analysis.across import AcrossTasks, RankedMethod, across_tasks
from redelve.analysis.costs import MethodCosts, costs_of
from redelve.analysis.curves import CurvePoint, LearningCurve, learning_curves
from redelve.analysis.findings import Findings, find
from redelve.analysis.tables import MethodLosses, loss_codes, losses_on, primary_loss
from redelve.analysis.task import Contest, MethodFinding, TaskFindings, analyse_task, compare_methods

__all__ = [
    "AcrossTasks",
    "Contest",
    "CurvePoint",
    "Findings",
    "LearningCurve",
    "MethodCosts",
    "MethodFinding",
    "MethodLosses",
    "RankedMethod",
    "TaskFindings",
    "across_tasks",
    "analyse_task",
    "compare_methods",
    "costs_of",
    "find",
    "learning_curves",
    "loss_codes",
    "losses_on",
    "primary_loss",
]
