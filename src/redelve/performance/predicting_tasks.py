"""How well will methods of redelve do on new cases of a task?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from redelve.answers.losses import LossLike
from redelve.answers.predictions import Truth
from redelve.data.tables.table_nouns import dates_noted
from redelve.errors import SpecError
from redelve.methods.adapters.array_cases import numbered_rows
from redelve.methods.contract import LooksAt, Method
from redelve.methods.shown import TestInputs, TrainingSet
from redelve.model import Assignment, Instance
from redelve.model.dataset import Rows
from redelve.model.designs.dependence import group_labels, has_groups
from redelve.performance.bench import BenchSettings
from redelve.performance.grouped_guesses import check_enough_groups
from redelve.performance.guesses import Prediction
from redelve.performance.predicting import WaysLike, bench_for, predict, with_dates
from redelve.run.experiment import assignment_targets, lessons_of, truths_of


def predict_task(
    methods: Mapping[str, Method],
    assignment: Assignment,
    *,
    loss: LossLike | None = None,
    ways: WaysLike | None = None,
    settings: BenchSettings | None = None,
) -> Prediction:
    """Guess how methods, each with its name, that learn from all cases of a task will do on new ones.

    Several are a choice, as of `predict_performance`.
    """
    for name, method in methods.items():
        if (reason := method.why_not(assignment_targets(assignment))) is not None:
            raise SpecError(f'method "{name}" can\'t work on this table: {reason}')
    sees = {method.looks_at for method in methods.values()}
    cases = AssignmentCases(assignment, sees.pop() if len(sees) == 1 else "both")
    found = predict(bench_for(methods, cases, loss, settings, cases.groups()), ways)
    return with_dates(found, dates_noted(assignment.notes))


@dataclass(frozen=True, eq=False)
class AssignmentCases:
    """The cases of a task with one target; methods look at its columns, the user's frame or both."""

    assignment: Assignment
    looks_at: LooksAt = "columns"

    @cached_property
    def truth(self) -> Truth:
        """The true target of every case."""
        every = np.arange(self.assignment.data.cases.count)
        truths = truths_of(self.assignment, Instance(0, every[:0], every))
        if len(truths) != 1:
            raise SpecError(f"there are {len(truths)} targets: predict works on one")
        return truths[0]

    def groups(self) -> Rows | None:
        """The group of each case, numbered from 0, where the table tells groups."""
        commonality = self.assignment.commonality
        if commonality is None or not has_groups(commonality):
            return None
        labels = group_labels(commonality, self.assignment.data.cases.count)
        codes = np.unique(labels, return_inverse=True)[1].astype(np.int64)
        check_enough_groups(int(codes.max()) + 1)
        return codes

    def training(self, rows: Rows) -> TrainingSet:
        """These cases to learn from."""
        return lessons_of(self.assignment, Instance(0, rows, rows[:0]), self.looks_at)[0]

    def testing(self, rows: Rows, *, probabilities: bool = False) -> TestInputs:
        """These cases without their targets."""
        return lessons_of(self.assignment, Instance(0, rows[:0], rows), self.looks_at)[1]

    def relabelled(self, codes: Rows) -> None:
        """Nothing: the task has the classes it has."""
        return

    def alike(self) -> Rows | None:
        """A number for each case, the same for inputs that are written alike."""
        import pandas as pd

        data = self.assignment.data
        columns = data.cases.columns[: len(data.inputs)]
        return numbered_rows(pd.DataFrame({number: column.texts() for number, column in enumerate(columns)}))
