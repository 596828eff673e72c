"""From results to findings: arrays for `stats`, and the small values that reports show."""

from redelve.findings.by_method import MethodLosses, loss_codes, losses_on, primary_loss
from redelve.findings.claims import Claim, Contest
from redelve.findings.curves import CurvePoint, LearningCurve, MoreData
from redelve.findings.evaluation_rules import identical_scores, saturation, unequal_subsets
from redelve.findings.findings import Findings, MethodCosts, costs_of, find, learning_curves
from redelve.findings.loss_rules import equal_runs, heavy_tails, rare_class
from redelve.findings.margin import Margin, MarginLike, MarginOverTasks, MarginVerdict, judged_within
from redelve.findings.over_tasks import PairOverTasks
from redelve.findings.task import (
    MethodFinding,
    TaskFindings,
    analyse_task,
    expected_loss,
    paired_test,
    standard_of,
)
from redelve.findings.tasks_together import AcrossTasks, RankedMethod, across_tasks
from redelve.findings.two_methods import compare_everywhere, compare_methods

__all__ = [
    "AcrossTasks",
    "Claim",
    "Contest",
    "CurvePoint",
    "Findings",
    "LearningCurve",
    "Margin",
    "MarginLike",
    "MarginOverTasks",
    "MarginVerdict",
    "MethodCosts",
    "MethodFinding",
    "MethodLosses",
    "MoreData",
    "PairOverTasks",
    "RankedMethod",
    "TaskFindings",
    "across_tasks",
    "analyse_task",
    "compare_everywhere",
    "compare_methods",
    "costs_of",
    "equal_runs",
    "expected_loss",
    "find",
    "heavy_tails",
    "identical_scores",
    "judged_within",
    "learning_curves",
    "loss_codes",
    "losses_on",
    "paired_test",
    "primary_loss",
    "rare_class",
    "saturation",
    "standard_of",
    "unequal_subsets",
]
