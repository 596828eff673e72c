"""Looking at a race: who drops out, whether it is settled, and what its pairs may claim.

P-values allow for all planned looks, so whatever is said at any of them, of methods and of pairs, is false in
at most 5 % of races. A pair is compared at the last look that both took part in. See docs/until-settled.md.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from itertools import permutations

import numpy as np

from redelve.errors import StatisticsError
from redelve.findings.by_method import MethodLosses, losses_of
from redelve.findings.claims import LEVEL, Claim, FamilyClaims, Names, TaskPairs
from redelve.findings.margin import Margin
from redelve.findings.task import ComparedTask, TaskFindings, claimed, comparisons_on, pair_squares
from redelve.model.dataset import Numbers
from redelve.run.races import Race, RaceLook, RacePlan
from redelve.run.results import Results, TaskResults
from redelve.stats.families import PairFamily, Places, judged, unmoderated
from redelve.stats.repeated_looks import RepeatedLooks
from redelve.stats.sequential import decide, directed, family_at_look, one_sided, sets_needed


def look_at(work: TaskResults, race: Race, when: str = "") -> RaceLook:
    """What the next look of a race finds, whose jobs are all done."""
    number = len(race.looks)
    sets, entrants = race.plan.looks[number], race.entrants(number)
    failed = tuple(name for name in entrants if _has_failed(work, race, name, sets))
    running = tuple(name for name in entrants if name not in failed)
    if len(running) < 2:
        return RaceLook(sets, when, dict.fromkeys(running, 1.0), (), failed)
    pairs = _pairs_at(_restricted(work, dict.fromkeys(running, sets)), race.plan.loss)
    family, places = family_at_look(pairs.squares, len(running)), _places(pairs.names, running)
    within = _within_margin(work, race, running, sets)
    better = _allowance(race.plan).at(sets).one_sided(directed(family, places, len(running)))
    made = decide(better, race.plan.share, within)
    stays = [name for name, is_in in zip(running, made.stays, strict=True) if is_in]
    found = RaceLook(
        sets,
        when,
        dict(zip(running, map(float, made.p_values), strict=True)),
        tuple(name for name in running if name not in stays),
        failed,
        float(made.p_equivalent),
    )
    after = replace(race, looks=(*race.looks, found))
    return found if after.verdict != "open" else replace(found, needed=_needed(work, after, pairs))


def _allowance(plan: RacePlan) -> RepeatedLooks:
    """What p-values at the looks of a race allow for."""
    if plan.rule == "same evidence":
        return RepeatedLooks(plan.looks, by_evidence=True)
    return RepeatedLooks(plan.allowed_for)


def _has_failed(work: TaskResults, race: Race, method: str, sets: int) -> bool:
    """Whether a method lacks losses: it answered to fewer jobs than the look is about, or has no value."""
    records = work.records.get(method, ())
    if sum(record.has_losses for record in records) < sets * race.plan.runs:
        return True
    tables = (one.losses[race.plan.loss] for one in records if race.plan.loss in one.losses)
    return any(np.isnan(table).any() for table in tables)


def _restricted(work: TaskResults, sets: Mapping[str, int]) -> TaskResults:
    """The work of some methods, each on its first training sets only."""
    kept = {
        name: [one for one in work.records[name] if one.job.instance < count] for name, count in sets.items()
    }
    return replace(work, records=kept)


def _pairs_at(work: TaskResults, code: str) -> TaskPairs:
    pairs = comparisons_on(work, code).pairs
    assert pairs is not None
    return pairs


def _places(pairs: Sequence[Names], names: Sequence[str]) -> Places:
    return [names.index(one) for one, _ in pairs], [names.index(two) for _, two in pairs]


def _within_margin(work: TaskResults, race: Race, names: Sequence[str], sets: int) -> Numbers | None:
    """p[j, i] against "i is worse than j by the margin or more", each pair by its own t-test.

    A share s of the smaller expected loss is tested as it is: that of i is less than 1 + s times that of j
    (Fieller 1954, Journal of the Royal Statistical Society B 16:175–185, tests a ratio by such a difference).
    """
    if race.plan.margin is None:
        return None
    margin = Margin.of(race.plan.margin)
    held = losses_of(_restricted(work, dict.fromkeys(names, sets)), race.plan.loss)
    pairs = list(permutations(range(len(names)), 2))
    second = [_enlarged(held[name], margin) for name in names]
    places = [i for _, i in pairs], [len(names) + j for j, _ in pairs]
    squares = pair_squares(work.facts, [*(held[name] for name in names), *second], places)
    p = np.ones((len(names), len(names)))
    rows, columns = zip(*pairs, strict=True)
    p[rows, columns] = one_sided(squares.differences, unmoderated(squares).single_p_values())
    return _allowance(race.plan).at(sets).one_sided(p)


def _enlarged(losses: MethodLosses, margin: Margin) -> MethodLosses:
    """Losses that are worse by just the margin."""
    factor, more = (1 + margin.value, 0.0) if margin.is_relative else (1.0, margin.value)
    tables = {number: factor * table + more for number, table in losses.by_instance.items()}
    return replace(losses, method=f"{losses.method} and the margin", by_instance=tables)


def _needed(work: TaskResults, race: Race, pairs: TaskPairs) -> int | None:
    """How many training sets would settle the race, if differences and variances are what they seem."""
    left, squares = race.left, pairs.squares
    means = {name: _mean(work, race, name) for name in left}
    leader = min(left, key=means.__getitem__)
    margin = None if race.plan.margin is None else Margin.of(race.plan.margin).amount(list(means.values()))
    shared = np.zeros_like(squares.between) if squares.shared is None else squares.shared
    sought = []
    for place, names in enumerate(pairs.names):
        if leader in names and all(name in left for name in names):
            fixed = float(shared[place] / squares.training_sets[place])
            known = float(squares.between[place]), fixed
            gap = abs(float(squares.differences[place]))
            sought.append(_sets_for(gap, margin, known, race))
    return None if not sought or None in sought else max(one for one in sought if one is not None)


def _sets_for(gap: float, margin: float | None, squares: tuple[float, float], race: Race) -> int | None:
    """The fewest training sets that show a difference, or less than the margin, at the last look's level."""
    count, looks = len(race.left), _allowance(race.plan).at(race.plan.looks[-1])
    each = 2 * race.plan.share / (count - 1)
    shown = [sets_needed(gap, squares, looks.of_each(each / count) / 2)]
    if margin is not None:
        shown.append(sets_needed(margin - gap, squares, looks.of_each(each) / 2))
    return min((one for one in shown if one is not None), default=None)


def _mean(work: TaskResults, race: Race, name: str) -> float:
    held = losses_of(_restricted(work, {name: race.sets}), race.plan.loss)[name]
    return float(np.mean([table.mean() for table in held.by_instance.values()]))


def judged_tasks(
    races: Mapping[str, Race], compared: Sequence[ComparedTask], margin: Margin | None = None
) -> tuple[TaskFindings, ...]:
    """The findings of all tasks: those of a race claim what it does, all others are one family."""
    plain = [one for one in compared if one.address not in races]
    found = {one.task.address: one for one in claimed(plain, margin)}
    for one in compared:
        if one.address in races:
            found[one.address] = raced(one.work, races[one.address], one.code, margin)
    return tuple(found[one.address] for one in compared)


def refuse_another_question(
    results: Results, compared: Sequence[ComparedTask], margin: Margin | None, *, is_planned: bool
) -> None:
    """Raise an error if a report asks of a race what was not its plan: a race is reported whole."""
    for one in compared:
        if (race := results.races.get(one.address)) is None:
            continue
        _refuse_some_methods(race.plan, results.methods)
        if is_planned:
            raise StatisticsError(
                f"{one.address} is a race, which looks for the best of all its methods, so it has no planned "
                "comparisons: leave them out (compare, -c), or assess the methods in another archive without "
                "until_settled"
            )
        if one.code == race.plan.loss:
            _refuse_another_margin(race.plan, margin)


def _refuse_some_methods(plan: RacePlan, known: Collection[str]) -> None:
    """Raise an error if methods of a race are left out: its p-values allow for all of them."""
    if lacking := [name for name in plan.methods if name not in known]:
        raise StatisticsError(
            f"{plan.task} is a race of {', '.join(plan.methods)} and is reported whole: without "
            f"{', '.join(lacking)} its p-values would not allow for all methods; leave out the choice of "
            'methods (-m), or compare two of them in Python: assessment.compare("a", "b")'
        )


def _refuse_another_margin(plan: RacePlan, margin: Margin | None) -> None:
    """Raise an error if a race is asked about a margin that was not in its plan."""
    if margin is None or margin.is_that_of(plan.margin):
        return
    planned = "without a margin" if plan.margin is None else f"with a margin of {plan.margin}"
    raise StatisticsError(
        f"{plan.task} is a race that was planned {planned}, and a plan is not changed after a look: got a "
        f"margin of {margin}; leave it out (margin, -d), or race with it in another archive"
    )


def raced(work: TaskResults, race: Race, code: str, margin: Margin | None = None) -> TaskFindings:
    """What was found on a task with a race, by its looks: later training sets do not count.

    By another loss than the race's the pairs may claim at the same looks with the same shares; who is left in
    the race says nothing then.
    """
    if not race.looks:
        return comparisons_on(work, code, planned=()).findings(race=race)
    counting = {name: race.sets_of(name) for name in work.records if name in race.plan.methods}
    compared = comparisons_on(_restricted(work, counting), code)
    claims = _claims(work, race, compared)
    if code != race.plan.loss:
        return compared.findings(claims, margin)
    if margin is None and race.plan.margin is not None:
        margin = Margin.of(race.plan.margin)
    return compared.findings(claims, margin, race)


def _claims(work: TaskResults, race: Race, compared: ComparedTask) -> tuple[Claim, ...]:
    if compared.pairs is None:
        return ()
    found: dict[Names, Claim] = {}
    names = compared.pairs.names
    for number, look in enumerate(race.looks):
        running = {name: look.sets for name in compared.losses if name in look.p_values}
        if len(running) > 1:
            pairs = _pairs_at(_restricted(work, running), compared.code)
            later = {name for after in race.looks[number + 1 :] for name in after.p_values}
            made = _claims_at(family_at_look(pairs.squares, len(running)), race.plan, look.sets)
            found |= {
                pair: claim
                for pair, claim in zip(pairs.names, made, strict=True)
                if not later.issuperset(pair)
            }
    family = len(names) * round(LEVEL / race.plan.level)  # the races of a report share its level
    nothing = Claim(None, None, race.plan.share, family)
    return tuple(replace(found.get(pair, nothing), family=family, has_looks=True) for pair in names)


def _claims_at(family: PairFamily, plan: RacePlan, sets: int) -> FamilyClaims:
    """The claims of one look; what it has of the level is what a single look at as many pairs would have."""
    level, looks = plan.share, _allowance(plan).at(sets)
    share = family.pairs * looks.of_each(level / family.pairs)
    found = judged(family, LEVEL / level * family.p_values(looks), share)
    found = replace(found, ends=family.ends(level, looks))
    return FamilyClaims(found, family.pairs)
