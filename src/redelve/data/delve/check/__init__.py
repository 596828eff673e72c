"""Checking datasets, prototasks and priors: every violation is found, not only the first (manual 3.4)."""

from redelve.data.delve.check.address_rules import check
from redelve.data.delve.check.check_reports import FileReport
from redelve.data.delve.check.prototask_rules import awaits_order

__all__ = ["FileReport", "awaits_order", "check"]
