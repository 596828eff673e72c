"""A section of the report: which job took longest."""

from collections.abc import Iterator

from redelve.findings import Findings
from redelve.report.sections import ReportContext, Section


class Slowest(Section):
    place = 450
    title = "The slowest job"

    def words(self, findings: Findings, about: ReportContext) -> Iterator[str]:
        costs = [(one.costs.training_seconds, one.job) for one in findings.results.records if one.costs]
        timed = [(seconds, job) for seconds, job in costs if seconds is not None]
        if timed:  # nobody timed what scores from elsewhere are of
            seconds, job = max(timed, key=lambda pair: pair[0])
            yield f"{job} trained for {seconds:.2g} seconds, longer than any other job."
