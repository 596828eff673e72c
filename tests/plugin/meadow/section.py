"""A section of the report: which job took longest."""

from collections.abc import Iterator

from redelve.findings import Findings
from redelve.report.sections import ReportContext, Section


class Slowest(Section):
    place = 450
    title = "The slowest job"

    def words(self, findings: Findings, about: ReportContext) -> Iterator[str]:
        timed = [(one.costs.training_seconds, one.job) for one in findings.results.records if one.costs]
        seconds, job = max(timed, key=lambda pair: pair[0] or 0.0)
        yield f"{job} trained for {seconds:.2g} seconds, longer than any other job."
