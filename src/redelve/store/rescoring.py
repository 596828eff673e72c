"""New losses for the predictions that an archive holds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pyarrow as pa

from redelve.answers.answer import baselines_by_loss, score
from redelve.answers.losses import Loss, LossLike, chosen_losses
from redelve.errors import PredictionError
from redelve.model.dataset import Numbers
from redelve.run.more_losses import all_truths
from redelve.run.results import TaskFacts
from redelve.store.fact_files import read_task, write_task
from redelve.store.fresh_records import RowSource
from redelve.store.heads import Head
from redelve.store.layout import task_path
from redelve.store.record_rows import KEYS, LOSS, answer_of
from redelve.store.snapshot import NEW, Snapshot, SnapshotEntry


@dataclass(frozen=True)
class RescoredSource(RowSource):
    """Rows as they are, with more losses."""

    source: RowSource
    former: Head
    added: Mapping[str, Numbers]

    def losses(self, head: Head) -> pa.Table:
        """Keys and losses, a row for each case."""
        has_some = bool(self.former.losses)
        table = self.source.losses(self.former) if has_some else self.source.answers(head).select([*KEYS])
        for code, losses in self.added.items():
            table = table.append_column(LOSS + code, pa.array(losses))
        return table

    def answers(self, head: Head) -> pa.Table:
        """Keys and answers, a row for each case."""
        return self.source.answers(head)

    @property
    def schema(self) -> pa.Schema:
        """The types of the columns of answers."""
        return self.source.schema


def rescored(snapshot: Snapshot, wanted: Sequence[LossLike]) -> list[SnapshotEntry]:
    """Every record, with those losses that it lacks, that suit its task and that its answer allows."""
    losses = chosen_losses(wanted)
    tasks: dict[tuple[str, str], TaskFacts] = {}
    entries = []
    for entry in snapshot.resolved.kept:
        key = (entry.head.job.task, entry.head.task_digest)
        if key not in tasks:
            tasks[key] = read_task(task_path(snapshot.root, *key), snapshot.root)
            _describe(snapshot.root, tasks[key], losses)
        entries.append(_rescored(entry, tasks[key], losses))
    return entries


def _rescored(entry: SnapshotEntry, facts: TaskFacts, losses: Sequence[Loss]) -> SnapshotEntry:
    head = entry.head
    lacking = [one for one in losses if one.code not in head.losses and one.applies_to(facts.targets)]
    answer = None
    if lacking and head.answer:
        table = entry.source.answers(head)
        columns = {name: table.column(name).combine_chunks() for name in head.answer}
        answer = answer_of(facts.targets, columns, head.job)
    if answer is None:
        return entry
    try:
        instance = facts.instances[head.job.instance]
        added = score(answer, instance.truths, lacking, instance.units)
    except PredictionError as error:
        raise PredictionError(f"{head.job}: {error}") from None
    if not added:
        return entry
    more = replace(head, losses=tuple(sorted({*head.losses, *added})))
    return SnapshotEntry(more, RescoredSource(entry.source, head, added), NEW)


def _describe(root: Path, facts: TaskFacts, losses: Sequence[Loss]) -> None:
    """Add what the best constant answer loses by the new losses to the task's description."""
    suited = [one for one in losses if one.applies_to(facts.targets) and one.code not in facts.baselines]
    if suited:
        own = {one.code: one for one in suited if not one.is_builtin}
        baselines = baselines_by_loss(all_truths(facts), suited)
        write_task(root, replace(facts, baselines=baselines, own_losses=own))
