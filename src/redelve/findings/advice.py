"""What would settle an open comparison, in words: assurance at the level that will be applied."""

from __future__ import annotations

from typing import Literal

from redelve.stats.assurance import Pilot, assured_difference, assured_test_cases, assured_training_sets
from redelve.text_numbers import per_cent

Repeats = Literal["training sets", "folds", "runs", "test cases"]
"""What a comparison has several of: its variance is that between these."""

SHARE_SOUGHT = 0.02
"""The difference, as a share of the better method's loss, that advice is given for."""
SOUGHT = f"{100 * SHARE_SOUGHT:g} %"
POWER = 0.8


def advice_of(
    pilot: Pilot, level: float, mean: float, *, repeats: Repeats = "training sets", training_set_size: int
) -> str:
    """What an experiment like the pilot would find with power 0.8, and how much more would find two per cent.

    `level` is what this task and size have of the level of the whole family, `mean` the better method's loss.
    """
    smallest = assured_difference(pilot, level, power=POWER) / mean
    start = f"As it stands, a difference of {per_cent(smallest)} would be found with power {POWER:g}"
    if smallest <= SHARE_SOUGHT:
        return f"{start}: enough for one of {SOUGHT}."
    if repeats == "folds":
        return f"{start}."
    return f"{start}. {_more(pilot, level, SHARE_SOUGHT * mean, _unit(repeats, training_set_size))}"


def _unit(repeats: Repeats, training_set_size: int) -> str:
    return f"training sets of {training_set_size}" if repeats == "training sets" else repeats


def _more(pilot: Pilot, level: float, sought: float, unit: str) -> str:
    """How many more would find the difference; other test cases where no number of the unit would."""
    what = SOUGHT
    sets = assured_training_sets(pilot, sought, level, power=POWER)
    if sets is not None:
        return f"{_counted(sets - pilot.training_sets, unit)} would find {what}."
    start = f"With {pilot.test_cases:.0f} test cases no number of {unit} would find {what}"
    cases = assured_test_cases(pilot, sought, level, power=POWER)
    if cases is None:
        return f"{start}; it takes more of both."
    return f"{start}; {_counted(cases - round(pilot.test_cases), 'test cases')} would."


def _counted(more: int, unit: str) -> str:
    one = {"test cases": "test case", "runs": "run"}.get(unit, unit.replace("sets", "set"))
    return f"{more} more {one if more == 1 else unit}"
