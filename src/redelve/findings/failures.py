"""Which jobs failed and why: equal reasons told once, with how often each came."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from redelve.run.results import Record, Results, Status

if TYPE_CHECKING:
    import pandas as pd

WORDS: dict[Status, str] = {
    "failed": "failed",
    "out of time": "ran out of time",
    "out of memory": "ran out of memory",
    "crashed": "crashed",
}
MOST_CHARACTERS = 300
NUMBER = re.compile(r"\d+")


@dataclass(frozen=True)
class FailedJobs:
    """Jobs of one method on one task that failed for one reason.

    Messages that differ in numbers alone are one reason; `message` is the first of them, complete.
    """

    method: str
    task: str
    status: Status
    message: str
    jobs: int
    jobs_in_all: int
    """How many jobs the method had on the task, done ones too."""
    stood_in: int
    """For how many of them another method answered."""
    fallback: str | None = None
    """Which method that was."""

    @property
    def reason(self) -> str:
        """The message on one line, and cut where it is very long."""
        return on_one_line(self.message) or f"no message: {self.status}"


def on_one_line(message: str) -> str:
    """The message without line breaks, and cut where it is very long."""
    line = " ".join(message.split()).removeprefix("RedelveError: ")
    return line if len(line) <= MOST_CHARACTERS else f"{line[:MOST_CHARACTERS]}…"


def failed_jobs_of(results: Results) -> tuple[FailedJobs, ...]:
    """Every reason for which jobs failed, by method and task, in the order of the jobs."""
    alike: dict[tuple[str, str, Status, str], list[Record]] = {}
    for one in results.failures:
        kind = NUMBER.sub("#", one.message)
        alike.setdefault((one.job.method, one.job.task, one.status, kind), []).append(one)
    return tuple(_together(results, several) for several in alike.values())


def _together(results: Results, several: Sequence[Record]) -> FailedJobs:
    first = several[0]
    return FailedJobs(
        first.job.method,
        first.job.task,
        first.status,
        first.message,
        len(several),
        len(results.of(first.job.method, first.job.task)),
        sum(one.fallback is not None for one in several),
        next((one.fallback for one in several if one.fallback is not None), None),
    )


def methods_without_results(results: Results) -> tuple[str, ...]:
    """The methods that had jobs and finished none of them."""
    tried = dict.fromkeys(record.job.method for record in results.records)
    done = {record.job.method for record in results.records if record.status == "done"}
    return tuple(name for name in tried if name not in done)


def failure_sentences(results: Results) -> tuple[str, ...]:
    """For every method that failed somewhere how often it did, and why the first time."""
    by_method: dict[str, list[FailedJobs]] = {}
    for one in failed_jobs_of(results):
        by_method.setdefault(one.method, []).append(one)
    counts = {name: sum(record.job.method == name for record in results.records) for name in by_method}
    return tuple(_sentence(several, counts[name]) for name, several in by_method.items())


def _sentence(several: Sequence[FailedJobs], jobs: int) -> str:
    """Such as: mine failed in all 5 jobs: ValueError: no."""
    first, failed = several[0], sum(one.jobs for one in several)
    verb = WORDS[first.status] if len({one.status for one in several}) == 1 else WORDS["failed"]
    others = len({(one.status, NUMBER.sub("#", one.message)) for one in several}) - 1
    more = f" (and {others} other reason{'s' * (others > 1)})" if others else ""
    instead = _stand_in(sum(one.stood_in for one in several), failed)
    return f"{first.method} {verb} in {_share(failed, jobs)}{instead}: {first.reason}{more}"


def _stand_in(jobs: int, failed: int) -> str:
    """Whose losses are counted in place of a method's own, and for how many of the jobs that failed.

    >>> _stand_in(3, 3), _stand_in(2, 3), _stand_in(0, 3)
    (', where the best constant answer stands in', ', for 2 of which the best constant answer stands in', '')
    """
    if not jobs:
        return ""
    where = "where" if jobs == failed else f"for {jobs} of which"
    return f", {where} the best constant answer stands in"


def _share(failed: int, jobs: int) -> str:
    noun = f"job{'s' * (jobs != 1)}"
    if failed < jobs:
        return f"{failed} of {jobs} {noun}"
    return "its only job" if jobs == 1 else f"all {jobs} {noun}"


def failures_frame(found: Iterable[FailedJobs]) -> pd.DataFrame:
    """A row for every method, task and reason, with the complete message."""
    import pandas as pd

    rows = [
        {
            "method": one.method,
            "task": one.task,
            "status": one.status,
            "jobs": one.jobs,
            "of": one.jobs_in_all,
            "stood_in": one.stood_in,
            "message": one.message,
        }
        for one in found
    ]
    return pd.DataFrame(rows, columns=["method", "task", "status", "jobs", "of", "stood_in", "message"])
