"""PROBEN1's tables 3 to 12 (Prechelt 1994), made anew and set beside the printed numbers."""

from redelve.studies.proben1.comparison import Compared, compare
from redelve.studies.proben1.comparison_page import describe
from redelve.studies.proben1.making import Proben1Study, make_runs, make_study
from redelve.studies.proben1.plan import Amounts, Proben1Plan, Sheet, make_plan
from redelve.studies.proben1.readings import READINGS, TrainingReading, find_reading
from redelve.studies.proben1.sheet_runs import Runs

__all__ = [
    "READINGS",
    "Amounts",
    "Compared",
    "Proben1Plan",
    "Proben1Study",
    "Runs",
    "Sheet",
    "TrainingReading",
    "compare",
    "describe",
    "find_reading",
    "make_plan",
    "make_runs",
    "make_study",
]
