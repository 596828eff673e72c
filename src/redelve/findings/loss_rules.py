"""Rules about losses: few cases carry too much (V017), a rare class is hidden (V021), runs repeat (V022)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import isinf

import numpy as np

from redelve.findings.validity import Note, ValidityRule, rule
from redelve.model.dataset import Numbers
from redelve.run.results import Record, Results, TaskFacts
from redelve.stats.mean_squares import LossTail, loss_tail

RARE_CLASS = 0.10
"""The share of cases below which a class is rare."""


@rule(
    "V017",
    "heavy tails",
    "caution",
    "A t interval of a mean needs more cases the more skewed their losses are (Cochran 1977: 25 times the "
    "squared skewness). Where there are fewer, and the worst 1 % of them carry far more of the loss than of "
    "squared Gaussian errors, intervals of expected losses hold the truth less than 93 % of the time and "
    "mostly miss on the hopeful side: the rare case that costs most was not seen. Differences "
    "suffer less. More test cases help, or a loss that grows less, as the absolute error.",
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
    what = "groups" if any(one.has_groups for one in results.tasks[task].instances) else "cases"
    yield self.note(
        f"{tail.words(what)} of {method} on {task}{more}: the true loss may well be larger than it looks",
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


@rule(
    "V021",
    "a rare class judged by errors",
    "caution",
    "Where one class has few of the cases, answering with the commonest one is right most of the time, and a "
    "method may do that alone. Accuracy and zero-one loss then hide whether the rare class is recognised. "
    "Balanced accuracy counts each class alike; AUC and average precision judge the order of the cases.",
    is_of_judge=True,
    is_of_learning=True,
)
def rare_class(self: ValidityRule, results: Results) -> Iterator[Note]:
    """Tasks that are judged by errors and whose smallest class has less than a tenth of the test cases."""
    judges = {record.job.task: tuple(record.losses) for record in results.records if record.losses}
    for address, codes in judges.items():
        facts = results.tasks[address]
        told = results.on(address).losses
        found = smallest_share(facts) if any(told[code].is_share for code in codes) else None
        if found is None or found[1] >= RARE_CLASS:
            continue
        name, share, largest = found
        yield self.note(
            f'{address}: class "{name}" has {100 * share:.2g} % of the test cases, and answering with the '
            f"commonest class is right in {100 * largest:.3g} %: judge by balanced_accuracy or roc_auc as "
            "well (judge_by=, -l)",
            (address,),
        )


def smallest_share(facts: TaskFacts) -> tuple[str, float, float] | None:
    """The rarest class, its share and that of the commonest; None where no classes are predicted."""
    if len(facts.targets) != 1 or facts.targets[0].kind != "categorical" or not facts.instances[0].truths:
        return None
    chosen = facts.instances[:1] if facts.scheme == "common" else facts.instances
    levels = np.concatenate([one.truths[0].level_indexes for one in chosen])
    counts = np.bincount(levels, minlength=len(facts.targets[0].levels)) / max(levels.size, 1)
    if np.count_nonzero(counts) < 2:
        return None
    rarest = int(np.argmin(np.where(counts > 0, counts, np.inf)))
    return facts.targets[0].levels[rarest], float(counts[rarest]), float(counts.max())


@rule(
    "V022",
    "runs that repeat each other",
    "note",
    "Runs differ in their seed alone. Where all runs of a method on a training set have the same losses to "
    "the last digit, the method does not use its seed: its runs add time, not information. Statistics are "
    "not wrong, for what the seed changes is then estimated as nothing.",
    is_of_learning=True,
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
