"""Rule V017: a few cases carry so much of a loss that intervals of its expected value miss too often."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import isinf

import numpy as np

from redelve.findings.validity import Note, ValidityRule, rule
from redelve.model.dataset import Numbers
from redelve.run.results import Record, Results, TaskFacts
from redelve.stats.mean_squares import LossTail, loss_tail

Seen = tuple[LossTail, str, str]
"""A tail, and whose it is on which task."""


@rule(
    "V017",
    "heavy tails",
    "caution",
    "A t interval of a mean needs more cases the more skewed their losses are (Cochran 1977: 25 times the "
    "squared skewness). With fewer, intervals of expected losses hold the truth less than 93 % of the time, "
    "and mostly miss on the hopeful side: the rare case that costs most was not seen. Differences between "
    "methods suffer less. More test cases help, or a loss that grows less, as the absolute error.",
)
def heavy_tails(self: ValidityRule, results: Results) -> Iterator[Note]:
    """Losses without an upper limit whose squared skewness is a twenty-fifth of the cases or more."""
    seen: dict[str, list[Seen]] = {}
    for address, facts in results.tasks.items():
        for code, found in _tails(results, facts):
            seen.setdefault(facts.loss(code).words, []).append((*found, address))
    for words, several in seen.items():
        tail, method, task = max(several, key=lambda one: one[0].strength)
        tasks = tuple(dict.fromkeys(address for _, _, address in several))
        others = len(several) - 1
        more = f", and too much in {others} other result{'s' * (others != 1)}" if others else ""
        yield self.note(
            f"1 % of the test cases carry {100 * tail.top_share:.0f} % of the {words} of {method} on {task}"
            f"{more}: 95 % intervals of its expected value hold it less often than they say, and mostly "
            "miss because the true loss is larger",
            tasks,
            tuple(dict.fromkeys(name for _, name, _ in several)),
        )


def _tails(results: Results, facts: TaskFacts) -> Iterator[tuple[str, tuple[LossTail, str]]]:
    """The heavy tails on a task, with the code of the loss and the method."""
    work = results.on(facts.address)
    for name, records in work.records.items():
        for code in next((record.losses for record in records if record.losses), {}):
            low, high = work.losses[code].limits
            if isinf(high):
                tail = loss_tail(_by_case(records, facts, code), low)
                if tail.is_heavy:
                    yield code, (tail, name)


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
