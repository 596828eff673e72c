"""Rule V021: where one class is rare, the share of errors says little of how well it is recognised."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from redelve.findings.validity import Note, ValidityRule, rule
from redelve.run.results import Results, TaskFacts

RARE_CLASS = 0.10
"""The share of cases below which a class is rare."""


@rule(
    "V021",
    "a rare class judged by errors",
    "caution",
    "Where one class has few of the cases, answering with the commonest one is right most of the time, and a "
    "method may do that alone. Accuracy and zero-one loss then hide whether the rare class is recognised. "
    "Balanced accuracy counts each class alike; AUC and average precision judge the order of the cases.",
    is_of_judge=True,
)
def rare_class(self: ValidityRule, results: Results) -> Iterator[Note]:
    """Tasks that are judged by errors and whose smallest class has less than a tenth of the test cases."""
    judges = {record.job.task: tuple(record.losses) for record in results.records if record.losses}
    for address, codes in judges.items():
        facts = results.tasks[address]
        found = smallest_share(facts) if any(facts.loss(code).is_share for code in codes) else None
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
