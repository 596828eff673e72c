"""Let a method learn and answer, and bring back what came of it, whatever the method does."""

from redelve.run.cells.asking import (
    cells_ahead,
    expect,
    learn_and_answer,
    learn_and_answer_together,
    let_go,
    rest,
)
from redelve.run.cells.job_and_outcome import (
    LONGEST_MESSAGE,
    CellLesson,
    Limits,
    Outcome,
    SealedMethod,
    carried,
    has_known_code,
)
from redelve.run.cells.working import work, work_together

__all__ = [
    "LONGEST_MESSAGE",
    "CellLesson",
    "Limits",
    "Outcome",
    "SealedMethod",
    "carried",
    "cells_ahead",
    "expect",
    "has_known_code",
    "learn_and_answer",
    "learn_and_answer_together",
    "let_go",
    "rest",
    "work",
    "work_together",
]
