"""How often predictive intervals held the truth, where methods gave distributions."""

from __future__ import annotations

from redelve.findings import Findings
from redelve.findings.beside_losses import Coverage, coverage_of
from redelve.report.contents import METHOD, TASK, name_cell
from redelve.report.rounding import UNKNOWN, with_error
from redelve.report.table_values import Cell, ReportColumn, ReportTable

LEVELS = (0.5, 0.9)


def coverage_table(findings: Findings) -> ReportTable | None:
    """Shares of cases inside central predictive intervals; None where no method gave distributions."""
    found = {
        (one.task, one.method, level): one for level in LEVELS for one in coverage_of(findings.results, level)
    }
    pairs = dict.fromkeys((task, method) for task, method, _ in found)
    rows = [
        (Cell(task), name_cell(method), *(_cell(found.get((task, method, level))) for level in LEVELS))
        for task, method in pairs
    ]
    if not rows:
        return None
    columns = [
        ReportColumn(f"{100 * level:.0f} % interval", (f"at_{level}", f"at_{level}_se")) for level in LEVELS
    ]
    return ReportTable(
        "coverage",
        "Coverage of predictive intervals",
        (TASK, METHOD, *columns),
        tuple(rows),
        "Per cent of test cases inside the central interval of their predictive distribution ± standard "
        "error; a calibrated method has as many as the column says.",
    )


def _cell(found: Coverage | None) -> Cell:
    if found is None:
        return Cell(UNKNOWN)
    share, error = 100 * found.share, found.standard_error
    percent = None if error is None else 100 * error
    return Cell(with_error(share, percent), (share, percent))
