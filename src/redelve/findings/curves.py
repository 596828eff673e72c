"""Learning curves: a method's expected loss as training sets grow, with its uncertainty at every size."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt

from redelve.findings.task import TaskFindings


@dataclass(frozen=True)
class CurvePoint:
    """The expected loss at one training-set size."""

    address: str
    training_set_size: int
    mean: float
    standard_error: float | None
    low: float | None
    high: float | None
    standardised: float | None
    standardised_error: float | None


@dataclass(frozen=True)
class LearningCurve:
    """One method on one prototask."""

    method: str
    prototask: str
    loss: str
    points: tuple[CurvePoint, ...]
    is_shift: bool = False
    """Whether the loss has no natural zero."""

    @property
    def would_more_data_help(self) -> str:
        """What the last step up in size did to the expected loss, and whether that exceeds its uncertainty.

        The two are taken as independent. They share test cases, which makes them vary together, so the
        standard error of their difference is, if anything, too large.
        """
        if len(self.points) < 2:
            return ""
        before, last = self.points[-2:]
        if before.standard_error is None or last.standard_error is None or not before.mean:
            return ""
        gain = before.mean - last.mean
        error = sqrt(before.standard_error**2 + last.standard_error**2)
        sizes = f"from {before.training_set_size} to {last.training_set_size} training cases"
        if gain > 2 * error:
            return f"yes: {sizes} the loss fell by {self._amount(gain, '.2g')}"
        if gain < -2 * error:
            return f"no: {sizes} the loss rose by {self._amount(-gain, '.2g')}"
        return f"not shown: {sizes} the loss changed by {self._amount(-gain, '+.1g')}, within its error"

    def _amount(self, change: float, form: str) -> str:
        """A change in per cent of the loss before it; as it is where the loss has no natural zero."""
        if self.is_shift:
            return f"{change:{form}}"
        return f"{100 * change / self.points[-2].mean:{form}} %"


def prototask_of(address: str) -> str:
    """`/demo/age` for `/demo/age/std.128`."""
    return address.rpartition("/")[0]


def learning_curves(findings: Sequence[TaskFindings]) -> tuple[LearningCurve, ...]:
    """A curve for every method and prototask that has results, sizes in increasing order."""
    points: dict[tuple[str, str, str, bool], list[CurvePoint]] = {}
    for task in findings:
        for method in task.methods:
            if method.mean is None:
                continue
            low, high = method.interval() or (None, None)
            point = CurvePoint(
                task.task.address,
                task.task.training_set_size,
                method.mean,
                method.standard_error,
                low,
                high,
                method.standardised,
                method.standardised_error,
            )
            key = (prototask_of(task.task.address), method.method, task.loss, task.judged_by.is_shift)
            points.setdefault(key, []).append(point)
    return tuple(
        LearningCurve(
            method, prototask, loss, tuple(sorted(found, key=lambda point: point.training_set_size)), is_shift
        )
        for (prototask, method, loss, is_shift), found in points.items()
    )
