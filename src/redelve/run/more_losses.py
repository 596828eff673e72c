"""A loss or metric that results lack, worked out from what they have: an equal loss, or the answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from redelve.answers.answer import score
from redelve.answers.losses import Loss, RenamedLoss
from redelve.answers.predictions import Truth
from redelve.model.dataset import Numbers
from redelve.run.pooled_answers import pooled_over_folds
from redelve.run.results import Record, Results, TaskFacts


def lacks(results: Results, loss: Loss) -> bool:
    """Whether some record with other losses has none of these, on a task that the loss suits."""
    suited = {address for address, facts in results.tasks.items() if loss.applies_to(facts.targets)}
    return any(
        one.losses and loss.code not in one.losses for one in results.records if one.job.task in suited
    )


def with_loss(results: Results, loss: Loss) -> Results:
    """The same with this loss wherever it can be worked out, and with what the best constant answer loses."""
    tasks = {address: _described(facts, loss) for address, facts in results.tasks.items()}
    records = tuple(replace(one, losses=_more(one, tasks[one.job.task], loss)) for one in results.records)
    return pooled_over_folds(replace(results, tasks=tasks, records=records))


def _described(facts: TaskFacts, loss: Loss) -> TaskFacts:
    if loss.code in facts.baselines or not loss.applies_to(facts.targets):
        return facts
    own = facts.own_losses if loss.is_builtin else {**facts.own_losses, loss.code: loss}
    baseline = loss.baseline(all_truths(facts))
    return replace(facts, baselines={**facts.baselines, loss.code: baseline}, own_losses=own)


def _more(record: Record, facts: TaskFacts, loss: Loss) -> Mapping[str, Numbers]:
    if not record.losses or loss.code in record.losses or not loss.applies_to(facts.targets):
        return record.losses
    if isinstance(loss, RenamedLoss) and loss.is_equal and loss.renames.code in record.losses:
        return {**record.losses, loss.code: record.losses[loss.renames.code]}
    if record.answer is None:
        return record.losses
    instance = facts.instances[record.job.instance]
    return {**record.losses, **score(record.answer, instance.truths, [loss], instance.units)}


def all_truths(facts: TaskFacts) -> list[Truth]:
    """The true targets of all test cases in use, each case once."""
    numbers = np.concatenate([one.case_numbers for one in facts.instances])
    _, first = np.unique(numbers, return_index=True)
    found = []
    for position, target in enumerate(facts.targets):
        truths = [one.truths[position] for one in facts.instances]
        values = np.concatenate([truth.values for truth in truths])[first]
        found.append(Truth(target, values, np.concatenate([truth.censoring for truth in truths])[first]))
    return found
