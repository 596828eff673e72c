"""Everything that results have to say, put together for a report."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from redelve.answers.losses import primary_loss_for
from redelve.errors import StatisticsError
from redelve.findings.across import AcrossTasks, LearningCurve, across_tasks, learning_curves
from redelve.findings.beside_losses import MethodCosts, costs_of
from redelve.findings.over_runs import ManyRuns, many_runs
from redelve.findings.task import TaskFindings, analyse
from redelve.findings.validity import Note, check_results
from redelve.run.results import Results


@dataclass(frozen=True)
class Findings:
    """Findings of every task by its primary loss, of the other losses beside it, and of tasks together."""

    results: Results
    tasks: tuple[TaskFindings, ...]
    other_losses: tuple[TaskFindings, ...]
    curves: tuple[LearningCurve, ...]
    across: AcrossTasks | None
    costs: tuple[MethodCosts, ...]
    notes: tuple[Note, ...]
    runs: tuple[ManyRuns, ...]
    """Of tasks with one training and one test set and several runs: what differs between seeds."""

    def task(self, address: str) -> TaskFindings:
        """What was found on a task by its primary loss."""
        for found in self.tasks:
            if found.task.address == address:
                return found
        raise StatisticsError(f"nothing was found on {address}: no method has losses there")


def find(results: Results, loss: str | None = None) -> Findings:
    """Analyse everything; `loss` is the one to judge by, else squared error or zero-one."""
    judged, others = [], []
    for address, facts in results.tasks.items():
        work = results.on(address)
        codes = tuple(work.losses)
        chosen = loss or primary_loss_for(facts.targets)
        if chosen not in codes:
            if loss is not None and codes:
                raise StatisticsError(
                    f'{address} has no loss "{loss}": it has {", ".join(codes)}; '
                    "an archive can be rescored for others"
                )
            chosen = codes[0] if codes else chosen
        if not codes:
            continue
        judged.append(analyse(work, chosen))
        others += [analyse(work, code) for code in codes if code != chosen]
    if not judged:
        raise StatisticsError("there is nothing to analyse: no job came to an answer")
    return Findings(
        results,
        tuple(judged),
        tuple(others),
        learning_curves(judged),
        across_tasks(_same_loss(judged)),
        tuple(cost for task in judged for cost in costs_of(results, task)),
        check_results(results),
        tuple(runs for task in judged if (runs := many_runs(results, task)) is not None),
    )


def _same_loss(findings: Sequence[TaskFindings]) -> list[TaskFindings]:
    """Averages are over tasks judged by the same loss: the one that most of them have."""
    codes = [task.loss for task in findings]
    commonest = max(dict.fromkeys(codes), key=codes.count)
    return [task for task in findings if task.loss == commonest]
