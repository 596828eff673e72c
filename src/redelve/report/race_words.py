"""A race in words: its verdict in one line, and what each look found."""

from __future__ import annotations

from collections.abc import Sequence

from redelve.answers.losses import Loss
from redelve.findings.claims import LEVEL
from redelve.findings.margin import Margin
from redelve.report import formatting
from redelve.report.formatting import listed
from redelve.run.races import Race
from redelve.text_numbers import at_most

UNEQUAL_SETS = (
    "Means over different training sets are not comparable; differences are taken over common sets."
)


def race_headline(race: Race, judge: Loss | None = None) -> str:
    """The verdict: better, equivalent within the margin, or open and what would settle it."""
    if not race.looks:
        return before_the_first_look(race)
    so_far = f"After {race.sets} of {race.plan.looks[-1]} training sets"
    left = race.left
    if race.verdict == "better":
        return f"{so_far} it is settled: {left[0]} is the best of {best_of(race)} (95 % confidence)."
    if race.verdict == "equivalent":
        others = f", and {listed(race.dropped)} {_was(race.dropped)} worse" if race.dropped else ""
        margin = "" if race.plan.margin is None else Margin.of(race.plan.margin).shown(judge)
        return (
            f"{so_far} it is settled: {listed(left)} are equivalent within {margin}{others} "
            "(95 % confidence)."
        )
    if len(left) < 2:
        return f"{so_far} the race is over: {listed(race.failed)} failed, so there is nothing to compare."
    return f"{so_far} it is open which of {listed(left)} is the best: {_outlook(race)}."


def before_the_first_look(race: Race) -> str:
    """That nothing is known yet."""
    return f"Nothing can be said yet: the first look comes after {race.plan.looks[0]} training sets."


def how_often_false(race: Race) -> str:
    """The share of races that say anything false, and where it is larger."""
    return (
        f"at most {at_most(race.plan.level)} of races. It can be several times as often where a "
        "few training sets have far larger differences than all others."
    )


def best_of(race: Race) -> str:
    """Whom the winner of a race is the best of."""
    count = len(race.plan.methods) - len(race.failed)
    return f"the {count} methods that did not fail" if race.failed else f"these {count} methods"


def _was(names: Sequence[str]) -> str:
    return "is" if len(names) == 1 else "are"


def _outlook(race: Race) -> str:
    """What would settle an open race."""
    needed = race.looks[-1].needed
    if needed is None:
        outlook = "more training sets alone would hardly settle it"
    else:
        more = max(needed - race.sets, 1)
        outlook = f"about {more} more training set{'s' * (more != 1)} would settle it"
    return outlook if race.is_over else f"{outlook}; the same command goes on from here"


def race_sentences(race: Race) -> tuple[str, ...]:
    """How sure the verdict is, and how it came about."""
    return (_rule(race), *(text for number in range(len(race.looks)) for text in _look(race, number)))


def _rule(race: Race) -> str:
    plan = race.plan
    looks = listed([str(sets) for sets in plan.looks])
    planned, where = f"Looks were planned after {looks} training sets", "at any of them "
    if len(plan.looks) == 1:
        planned, where = f"One look was planned, after {looks} training sets", ""
    return f"{planned}; anything false is said {where}in {how_often_false(race)}"


def _look(race: Race, number: int) -> list[str]:
    look, said = race.looks[number], []
    if look.dropped:
        p = max(look.p_values[name] for name in look.dropped) * LEVEL / race.plan.share
        said.append(
            f"After {look.sets} training sets {listed(look.dropped)} {_were(look.dropped)} shown not to be "
            f"the best ({formatting.p_equals(p)} allowing for all methods and looks) and dropped out."
        )
    if look.failed:
        said.append(f"{listed(look.failed)} left the race after {look.sets} training sets: jobs failed.")
    if number == len(race.looks) - 1 and race.verdict == "equivalent":
        said.append(_equivalence(race))
    return said


def _were(names: Sequence[str]) -> str:
    return "was" if len(names) == 1 else "were"


def _equivalence(race: Race) -> str:
    assert race.plan.margin is not None
    margin = Margin.of(race.plan.margin)
    p = race.looks[-1].p_equivalent * LEVEL / race.plan.share
    by = f"{margin} of the smaller one" if margin.is_relative else f"{margin}"
    return (
        f"The expected losses of {listed(race.left)} differ by less than {by} "
        f"({formatting.p_equals(p)} allowing for all pairs and looks)."
    )
