"""Rule V017: a few cases carry so much of a loss that intervals of its expected value miss too often."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import isinf

import numpy as np

from redelve.findings.validity import Note, ValidityRule, rule
from redelve.model.dataset import Numbers
from redelve.run.results import Record, Results, TaskFacts
from redelve.stats.mean_squares import LossTail, loss_tail


@rule(
    "V017",
    "heavy tails",
    "caution",
    "A t interval of a mean needs more cases the more skewed their losses are (Cochran 1977: 25 times the "
    "squared skewness). Where there are fewer, and the worst 1 % of them carry far more of the loss than of "
    "squared Gaussian errors, intervals of expected losses hold the truth less than 93 % of the time and "
    "mostly miss on the hopeful side: the rare case that costs most was not seen. Differences between "
    "methods suffer less. More test cases help, or a loss that grows less, as the absolute error.",
    is_of_judge=True,
)
def heavy_tails(self: ValidityRule, results: Results) -> Iterator[Note]:
    """Losses without an upper limit of which a few cases carry far more than they would of Gaussian ones."""
    seen = [
        (tail, name, task) for task, facts in results.tasks.items() for tail, name in _tails(results, facts)
    ]
    if not seen:
        return
    tail, method, task = max(seen, key=lambda one: one[0].strength)
    tasks = tuple(dict.fromkeys(address for _, _, address in seen))
    others = len(tasks) - 1
    more = f" ({others} other task{'s' * (others != 1)} alike)" if others else ""
    yield self.note(
        f"{tail.words} of {method} on {task}{more}: the true loss may well be larger than it looks",
        tasks,
        tuple(dict.fromkeys(name for _, name, _ in seen)),
    )


def _tails(results: Results, facts: TaskFacts) -> Iterator[tuple[LossTail, str]]:
    """The heavy tails on a task, with the method."""
    work = results.on(facts.address)
    for name, records in work.records.items():
        for code in next((record.losses for record in records if record.losses), {}):
            low, high = work.losses[code].limits
            if isinf(high):
                tail = loss_tail(_by_case(records, facts, code), low)
                if tail.is_heavy(len(work.records)):
                    yield tail, name


def _by_case(records: Sequence[Record], facts: TaskFacts, code: str) -> Numbers:
    """The mean loss of every case, or of every unit of cases that belong together."""
    kept = [record for record in records if code in record.losses]
    losses = np.concatenate([record.losses[code] for record in kept])
    _, places = np.unique(
        np.concatenate([_labels(facts, record.job.instance) for record in kept]), return_inverse=True
    )
    with np.errstate(invalid="ignore"):
        return np.asarray(np.bincount(places, losses) / np.bincount(places))


def _labels(facts: TaskFacts, number: int) -> Numbers:
    instance = facts.instances[number]
    return np.asarray(instance.case_numbers if instance.units is None else instance.units)
