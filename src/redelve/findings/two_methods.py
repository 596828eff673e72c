"""Two methods on some tasks and over them, as if there were no others."""

from __future__ import annotations

from collections.abc import Sequence

from redelve.findings.claims import Contest
from redelve.findings.margin import Margin
from redelve.findings.over_tasks import PairOverTasks
from redelve.findings.racing import judged_tasks
from redelve.findings.task import comparisons_on
from redelve.findings.tasks_together import across_tasks
from redelve.run.results import Results


def compare_methods(
    results: Results,
    first: str,
    second: str,
    addresses: Sequence[str],
    code: str | None = None,
    margin: Margin | None = None,
) -> tuple[Contest, ...]:
    """Two methods on some tasks: comparisons that allow for each other and for nothing else."""
    return compare_everywhere(results, (first, second), addresses, code, margin)[0]


def compare_everywhere(
    results: Results,
    names: tuple[str, str],
    addresses: Sequence[str],
    code: str | None = None,
    margin: Margin | None = None,
) -> tuple[tuple[Contest, ...], PairOverTasks | None]:
    """The same, and the two over these tasks; None with fewer than three prototasks."""
    for name in names:
        results.method(name)
    both = results.select(methods=names, tasks=tuple(addresses))
    compared = [comparisons_on(both.on(address), code, planned=[names]) for address in addresses]
    found = judged_tasks(results.races, compared, margin)
    across = across_tasks(found, compared, margin)
    pairs = () if across is None else across.pairs
    return tuple(task.contest(*names) for task in found), next(iter(pairs), None)
