"""Let a method learn and answer, and bring back what came of it, whatever the method does."""

from redelve.isolation.asking import learn_and_answer, let_go
from redelve.isolation.limits import LONGEST_MESSAGE, Limits, Outcome
from redelve.isolation.working import work

__all__ = ["LONGEST_MESSAGE", "Limits", "Outcome", "learn_and_answer", "let_go", "work"]
