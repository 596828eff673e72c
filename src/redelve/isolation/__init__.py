"""Let a method learn and answer, and bring back what came of it, whatever the method does."""

from redelve.isolation.asking import learn_and_answer, learn_and_answer_together, let_go
from redelve.isolation.limits import LONGEST_MESSAGE, Lesson, Limits, Outcome
from redelve.isolation.working import work, work_together

__all__ = [
    "LONGEST_MESSAGE",
    "Lesson",
    "Limits",
    "Outcome",
    "learn_and_answer",
    "learn_and_answer_together",
    "let_go",
    "work",
    "work_together",
]
