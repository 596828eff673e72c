"""Does relevance determination help? Neal's study with DELVE (1998), made anew."""

from redelve.studies.neal.paper_findings import FINDINGS, QUESTIONS, JudgedFinding, judge
from redelve.studies.neal.printed_digits import PrintedArray, printed_arrays
from redelve.studies.neal.relevance_plan import NealPlan, plan_for
from redelve.studies.neal.relevance_study import NealStudy, make_study

__all__ = [
    "FINDINGS",
    "QUESTIONS",
    "JudgedFinding",
    "NealPlan",
    "NealStudy",
    "PrintedArray",
    "judge",
    "make_study",
    "plan_for",
    "printed_arrays",
]
