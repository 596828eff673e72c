"""What would settle an open comparison, in words: assurance at the level that will be applied."""

from __future__ import annotations

from dataclasses import dataclass
from math import nan
from typing import Literal

from redelve.answers.losses import Loss
from redelve.findings.margin import Margin
from redelve.stats.assurance import Pilot, Prospects, pilot_of, prospects
from redelve.stats.families import PairFamily
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
    judge: Loss | None = None
    """What methods are judged by, in whose units amounts are written."""

    @property
    def amount(self) -> float:
        """In the units of the loss."""
        if self.margin is not None and not self.margin.is_relative:
            return self.margin.value
        if self.metric is not None and self.margin is None:
            return SHARE_SOUGHT
        return (self.margin.value if self.margin else SHARE_SOUGHT) * (self.mean or nan)

    def write(self, amount: float) -> str:
        """A difference in words: a share (of what, where losses are shares themselves), or an amount."""
        if self._is_amount:
            shown = amount if self.judge is None else self.judge.shown_spread(amount)
            return f"{significant(shown)}{'' if self.judge is None else self.judge.difference_unit}"
        is_share = self.judge is not None and self.judge.is_share
        return f"{per_cent(amount / (self.mean or nan))}{' of the loss' if is_share else ''}"

    @property
    def _is_amount(self) -> bool:
        return self.metric is not None if self.margin is None else not self.margin.is_relative

    def __str__(self) -> str:
        if self.margin is not None:
            return f"one as large as the margin of {self.margin.shown(self.judge)}"
        return f"{100 * SHARE_SOUGHT:g} %" if self.metric is None else self.write(SHARE_SOUGHT)


@dataclass(frozen=True)
class Outlook:
    """What an experiment like this one would find with power 0.8, and what would settle it, in words."""

    smallest_found: float | None
    advice: str


def outlook_of(
    place: tuple[PairFamily, int], level: float, sought: Sought | None, repeats: Repeats, size: int
) -> Outlook:
    """The smallest difference that would be found, and advice for the one that is sought, if any.

    `place` is a family and which of its pairs this is, `level` what this task and size have of the level of
    the whole report, `size` that of a training set.
    """
    amount = None if sought is None else sought.amount
    pilot = pilot_of(*place)
    if pilot is None:
        return Outlook(None, "")
    found = prospects(pilot, amount, level, power=POWER, can_grow=repeats != "folds")
    if sought is None:
        return Outlook(found.smallest, "")
    start = (
        f"As it stands, a difference of {sought.write(found.smallest)} would be found with power {POWER:g}"
    )
    if found.is_enough:
        start = f"{start}: enough for {'' if sought.margin else 'one of '}{sought}"
    elif repeats != "folds":
        unit = f"training sets of {size}" if repeats == "training sets" else repeats
        start = f"{start}. {_more(pilot, found, sought, unit)}"
    return Outlook(found.smallest, f"{start}.")


def _more(pilot: Pilot, found: Prospects, sought: Sought, unit: str) -> str:
    """How many more would find the difference; other test cases where no number of the unit would."""
    if found.training_sets is not None:
        return f"{_counted(found.training_sets - pilot.training_sets, unit)} would find {sought}"
    start = f"With {pilot.test_cases:.0f} test cases no number of {unit} would find {sought}"
    if found.test_cases is None:
        return f"{start}; it takes more of both"
    return f"{start}; {_counted(found.test_cases - round(pilot.test_cases), 'test cases')} would"


def _counted(more: int, unit: str) -> str:
    one = {"test cases": "test case", "runs": "run"}.get(unit, unit.replace("sets", "set"))
    return f"{more} more {one if more == 1 else unit}"
