"""Cross-validated metrics: of the answers of all folds, as the metric says which of them can be compared."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from redelve.answers.losses import Loss, Units
from redelve.answers.predictions import ClassProbabilities, DecisionValues, Guesses, Prediction, Truth
from redelve.model.dataset import Numbers
from redelve.model.designs.folds import outer_folds
from redelve.run.results import InstanceFacts, Record, Results, TaskFacts

RAISED = (
    "{} of few test cases, as a fold has, is higher than of many: compare methods by it, but do not take it "
    "for what new cases will show"
)
FOLDED = ("cross-validation", "nested-cross-validation", "time")


def pooled_metrics(facts: TaskFacts, codes: Iterable[str]) -> list[Loss]:
    """The metrics among these losses that take folds together, or see that a set is one of several."""
    if len(facts.instances) == 1:
        return []
    several = [loss for code in codes if not (loss := facts.loss(code)).mean_of_cases]
    return several if facts.scheme in FOLDED else [one for one in several if one.is_raised_by_few]


def pooled_over_folds(results: Results) -> Results:
    """The same with pseudo-values of the answers of all folds, repetition by repetition and run by run.

    A fold may have too few cases of a class for a metric of guessed classes, and the mean of folds' metrics
    is not that of all cases; scores are compared within folds. Pairs of folds, which only means of cases have
    a use for, lose what they have. A metric that few cases raise is worked out anew of each of several test
    sets or training sets, too, and what the best constant answer has of all is not comparable with it.
    """
    changed: dict[str, Mapping[str, Numbers]] = {}
    tasks = dict(results.tasks)
    for address, facts in results.tasks.items():
        codes = {code for name in results.methods for one in results.of(name, address) for code in one.losses}
        several = pooled_metrics(facts, sorted(codes))
        tasks[address] = _without_constant(facts, [one for one in several if one.is_raised_by_few])
        for metric in several:
            for name in results.methods:
                for pool in _pools(facts, results.of(name, address), metric.code):
                    for record, values in zip(pool, _pooled(facts, pool, metric), strict=True):
                        changed[record.digest] = {**changed.get(record.digest, {}), metric.code: values}
    if not changed:
        return results
    records = [
        replace(one, losses=_replaced(one, changed[one.digest])) if one.digest in changed else one
        for one in results.records
    ]
    return replace(results, tasks=tasks, records=tuple(records))


def _without_constant(facts: TaskFacts, raised: Sequence[Loss]) -> TaskFacts:
    """The task with a note of metrics that few cases raise, and without what the best constant has of all."""
    if not raised:
        return facts
    baselines = {**facts.baselines, **dict.fromkeys(one.code for one in raised)}
    notes = dict.fromkeys((*facts.notes, *(RAISED.format(one.shown_name) for one in raised)))
    return replace(facts, baselines=baselines, notes=tuple(notes))


def _replaced(record: Record, values: Mapping[str, Numbers]) -> dict[str, Numbers]:
    losses = {**record.losses, **values}
    return {code: found for code, found in losses.items() if found.size}


def _pools(facts: TaskFacts, records: Sequence[Record], code: str) -> list[list[Record]]:
    """The records whose test cases are all cases, once; pairs of folds, and sets, are by themselves."""
    if facts.scheme not in FOLDED:
        return [[one] for one in records if code in one.losses]
    folds = _folds(facts)
    found: dict[tuple[int, int], list[Record]] = {}
    for record in records:
        if code in record.losses:
            repetition = record.job.instance // folds
            key = record.job.run, min(repetition, facts.repetitions)
            found.setdefault(key, []).append(record)
    return list(found.values())


def _folds(facts: TaskFacts) -> int:
    """The folds of one repetition."""
    if facts.scheme == "nested-cross-validation":
        return outer_folds(len(facts.instances), facts.repetitions)
    return len(facts.instances) // facts.repetitions


def _pooled(facts: TaskFacts, records: Sequence[Record], metric: Loss) -> list[Numbers]:
    """The pseudo-values of each record's cases; none of pairs of folds. Without answers, what there is."""
    folds = (
        outer_folds(len(facts.instances), facts.repetitions)
        if facts.scheme == "nested-cross-validation"
        else None
    )
    if folds is not None and records[0].job.instance >= folds * facts.repetitions:
        return [np.empty(0) for _ in records]
    joined = _joined(facts, records, metric)
    if joined is None:
        return [one.losses[metric.code] for one in records]
    values = metric.of_units([joined[0]], *joined[1:])
    edges = np.flatnonzero(np.diff(joined[-1])) + 1
    return [np.array(part) for part in np.split(values, edges)]


def _joined(
    facts: TaskFacts, records: Sequence[Record], metric: Loss
) -> tuple[Truth, Prediction, Units | None, Units] | None:
    """What a metric judges in all these records together; None where some record has nothing for it.

    Which cases belong together comes after truths and predictions, then the fold of each case.
    """
    parts = [None if one.answer is None else metric.part_of(one.answer) for one in records]
    known = [part for part in parts if part is not None]
    instances = [facts.instances[one.job.instance] for one in records]
    has_truths = all(one.truths for one in instances)
    if len(known) < len(records) or len(set(map(type, known))) > 1 or not has_truths:
        return None
    truth = _joined_truth([one.truths[0] for one in instances])
    folds = np.repeat(np.arange(len(instances)), [len(one.case_numbers) for one in instances])
    return truth, joined_predictions(known), _units(instances), folds


def why_no_number(facts: TaskFacts, records: Sequence[Record], metric: Loss) -> str | None:
    """Why a method's records have a metric that is not a number, as far as the metric can tell."""
    lacking = [one for one in records if np.isnan(one.losses.get(metric.code, 0.0)).any()][:1]
    if facts.scheme in FOLDED:
        lacking = _pools(facts, records, metric.code)[0]
    joined = _joined(facts, lacking, metric)
    return None if joined is None else metric.why_no_number([joined[0]], *joined[1:])


def _units(instances: Sequence[InstanceFacts]) -> Units | None:
    units = [one.units for one in instances if one.units is not None]
    return np.concatenate(units) if len(units) == len(instances) else None


def _joined_truth(several: Sequence[Truth]) -> Truth:
    values = np.concatenate([one.values for one in several])
    return Truth(several[0].target, values, np.concatenate([one.censoring for one in several]))


def joined_predictions(several: Sequence[Prediction]) -> Prediction:
    """Predictions of the same kind, one after the other."""
    first = several[0]
    if isinstance(first, ClassProbabilities):
        shares = [one for one in several if isinstance(one, ClassProbabilities)]
        told = [one.told for one in shares if one.told is not None]
        kept = np.concatenate(told) if len(told) == len(shares) else None
        return ClassProbabilities(first.target, np.concatenate([one.logs for one in shares]), kept)
    if isinstance(first, DecisionValues):
        scores = [one.values for one in several if isinstance(one, DecisionValues)]
        return DecisionValues(first.target, np.concatenate(scores))
    assert isinstance(first, Guesses)
    columns = [one.values for one in several if isinstance(one, Guesses)]
    return Guesses(first.targets, tuple(np.concatenate(column) for column in zip(*columns, strict=True)))
