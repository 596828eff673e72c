"""Checking datasets, prototasks and priors: every violation is found, not only the first (manual 3.4)."""

from redelve.checking.addresses import check
from redelve.checking.prototasks import awaits_order
from redelve.checking.reports import FileReport

__all__ = ["FileReport", "awaits_order", "check"]
