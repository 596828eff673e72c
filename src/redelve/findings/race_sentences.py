"""A race over questions in words: the verdict, who dropped out, and what would settle it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from redelve.findings.elimination import QuestionRace

MOST_NAMES = 6


def race_told(race: QuestionRace) -> str:
    """The verdict first, then the scores of those that are left and who dropped out when."""
    lines = [f"{_so_far(race)} {_verdict(race)}.", *_scores(race)]
    if race.dropped:
        lines.append(_dropped(race))
    return "\n".join([*lines, *(f"Note: {note}." for note in race.notes)])


def _so_far(race: QuestionRace) -> str:
    pool = race.rules.pool.size
    share = 100 * race.calls / (pool * len(race.models))
    asked = f"{race.questions_seen:,} of {pool:,} questions"
    return f"After {asked} and {race.calls:,} scores ({share:.1f} % of all)"


def _verdict(race: QuestionRace) -> str:
    left, sure = race.left, f"{100 * (1 - race.rules.level):g} % confidence"
    if race.verdict == "best":
        return f"it is settled: {left[0]} is the best of {len(race.models)} models ({sure})"
    if race.verdict == "equivalent":
        return f"it is settled: {names(left)} are equivalent within {shown_margin(race)} ({sure})"
    return f"it is open which of {names(left)} is the best: {_outlook(race)}"


def _outlook(race: QuestionRace) -> str:
    if not race.units_seen:
        return f"nothing can be said before {len(race.next_units)} questions are answered by all"
    needed = race.needed
    if needed is None:
        return "more questions would hardly settle it"
    return f"about {about(needed)} more question{'s' * (needed != 1)} would settle it"


def about(count: int) -> str:
    """A number of which only the first two digits are worth telling.

    >>> about(3392), about(87)
    ('3,400', '87')
    """
    digits = max(len(str(count)) - 2, 0)
    return f"{round(count, -digits):,}"


def shown_margin(race: QuestionRace) -> str:
    """The margin in units of the score."""
    worst, best = race.rules.limits
    return f"{(race.rules.margin or 0.0) * abs(best - worst):g}"


def names(several: Sequence[str]) -> str:
    """Names in words; of many only the first ones.

    >>> names(["a", "b", "c"]), names([f"m{i}" for i in range(9)])
    ('a, b and c', 'm0, m1, m2, m3, m4 and 4 more')
    """
    if len(several) == 1:
        return several[0]
    if len(several) > MOST_NAMES:
        return f"{', '.join(several[: MOST_NAMES - 1])} and {len(several) - MOST_NAMES + 1} more"
    return f"{', '.join(several[:-1])} and {several[-1]}"


def _scores(race: QuestionRace) -> list[str]:
    """Mean scores of those that are left, the best first."""
    shown = [(name, race.mean_score(name)) for name in race.left[:MOST_NAMES]]
    return [f"  {name}: mean score {score:.4g}" for name, score in shown if score is not None]


def _dropped(race: QuestionRace) -> str:
    """How many were shown not to be the best, and the last of them."""
    last = race.dropped[-1]
    count = len(race.dropped)
    whole = f"{names(race.dropped)} {'was' if count == 1 else 'were'} shown not to be the best"
    first, after = min(race.dropped_after.values()), race.dropped_after[last]
    when = f"after {after:,} questions" if first == after else f"after {first:,} to {after:,} questions"
    return f"{whole}, {when}."
