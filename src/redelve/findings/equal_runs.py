"""Rule V022: methods that ignore their seed, so that further runs of them repeat the first one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from redelve.findings.validity import Note, ValidityRule, rule
from redelve.run.results import Record, Results


@rule(
    "V022",
    "runs that repeat each other",
    "note",
    "Runs differ in their seed alone. Where all runs of a method on a training set have the same losses to "
    "the last digit, the method does not use its seed: its runs add time, not information. Statistics are "
    "not wrong, for what the seed changes is then estimated as nothing.",
)
def equal_runs(self: ValidityRule, results: Results) -> Iterator[Note]:
    """Methods of which every run on a training set has the same losses."""
    runs = 1 + max((record.job.run for record in results.records), default=0)
    if runs == 1:
        return
    by_method: dict[str, dict[tuple[str, int], list[Record]]] = {}
    for record in results.records:
        if record.losses:
            place = (record.job.task, record.job.instance)
            by_method.setdefault(record.job.method, {}).setdefault(place, []).append(record)
    same = [name for name, places in by_method.items() if _all_repeat(list(places.values()))]
    if same:
        yield self.note(
            f"all {runs} runs of {', '.join(same)} are equal to the last digit: no seed is used, and one run "
            "says as much in less time",
            methods=same,
        )


def _all_repeat(places: Sequence[Sequence[Record]]) -> bool:
    """Whether there are several runs, and no run differs from the first on the same training set."""
    several = [records for records in places if len(records) > 1]
    return bool(several) and all(_same(records[0], one) for records in several for one in records[1:])


def _same(one: Record, other: Record) -> bool:
    return one.losses.keys() == other.losses.keys() and all(
        np.array_equal(one.losses[code], other.losses[code], equal_nan=True) for code in one.losses
    )
