"""What would settle an open comparison, in words: assurance at the level that will be applied."""

from __future__ import annotations

from dataclasses import dataclass
from math import nan
from typing import Literal

from redelve.answers.losses import Loss
from redelve.findings.margin import Margin
from redelve.stats.assurance import Pilot, assured_difference, assured_test_cases, assured_training_sets
from redelve.text_numbers import per_cent, significant

Repeats = Literal["training sets", "folds", "runs", "test cases"]
"""What a comparison has several of: its variance is that between these."""

SHARE_SOUGHT = 0.02
"""The difference, as a share of the better method's loss, that advice is given for where no margin is."""
POWER = 0.8


@dataclass(frozen=True)
class Sought:
    """The difference that advice is given for: the user's margin, or a share of the better method's loss."""

    mean: float | None
    """The better method's loss; None where it has no shares."""
    margin: Margin | None = None
    metric: Loss | None = None
    """A metric whose best value is 1: of these a difference of 0.02 is sought, not a share of the loss."""

    @property
    def amount(self) -> float:
        """In the units of the loss."""
        if self.margin is not None and not self.margin.is_relative:
            return self.margin.value
        if self.metric is not None and self.margin is None:
            return SHARE_SOUGHT
        return (self.margin.value if self.margin else SHARE_SOUGHT) * (self.mean or nan)

    def write(self, amount: float) -> str:
        """A difference in words: a share, or an amount where the margin is one."""
        if self.margin is not None and not self.margin.is_relative:
            return significant(amount)
        if self.metric is not None and self.margin is None:
            return f"{significant(self.metric.shown_spread(amount))}{self.metric.shown_unit}"
        return per_cent(amount / (self.mean or nan))

    def __str__(self) -> str:
        if self.margin is not None:
            return f"one as large as the margin of {self.margin}"
        return f"{100 * SHARE_SOUGHT:g} %" if self.metric is None else self.write(SHARE_SOUGHT)


def advice_of(
    pilot: Pilot, level: float, sought: Sought, *, repeats: Repeats = "training sets", training_set_size: int
) -> str:
    """What an experiment like the pilot would find with power 0.8, and how much more would find it.

    `level` is what this task and size have of the level of the whole family.
    """
    smallest = smallest_found(pilot, level)
    start = f"As it stands, a difference of {sought.write(smallest)} would be found with power {POWER:g}"
    if smallest <= sought.amount:
        return f"{start}: enough for {'' if sought.margin else 'one of '}{sought}."
    if repeats == "folds":
        return f"{start}."
    return f"{start}. {_more(pilot, level, sought, _unit(repeats, training_set_size))}"


def smallest_found(pilot: Pilot, level: float) -> float:
    """The smallest difference that would be found with power 0.8."""
    return assured_difference(pilot, level, power=POWER)


def _unit(repeats: Repeats, training_set_size: int) -> str:
    return f"training sets of {training_set_size}" if repeats == "training sets" else repeats


def _more(pilot: Pilot, level: float, sought: Sought, unit: str) -> str:
    """How many more would find the difference; other test cases where no number of the unit would."""
    sets = assured_training_sets(pilot, sought.amount, level, power=POWER)
    if sets is not None:
        return f"{_counted(sets - pilot.training_sets, unit)} would find {sought}."
    start = f"With {pilot.test_cases:.0f} test cases no number of {unit} would find {sought}"
    cases = assured_test_cases(pilot, sought.amount, level, power=POWER)
    if cases is None:
        return f"{start}; it takes more of both."
    return f"{start}; {_counted(cases - round(pilot.test_cases), 'test cases')} would."


def _counted(more: int, unit: str) -> str:
    one = {"test cases": "test case", "runs": "run"}.get(unit, unit.replace("sets", "set"))
    return f"{more} more {one if more == 1 else unit}"
