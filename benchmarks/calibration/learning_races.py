"""Races of equal methods that learn: how many say anything false, on the problems of whole reports.

The training sets are those that `assess(until_settled=True)` draws for such data, methods learn from them,
and the report of the race is the text as printed. A test compares the texts with those of `assess`.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache, partial
from itertools import product

import numpy as np

from benchmarks.calibration.exchangeable import PROBLEMS, Drawn, Problem
from benchmarks.calibration.sections import Effort, Finding, Section, table
from benchmarks.calibration.simulated_reports import (
    TARGET,
    PlannedTask,
    frame_of,
    known_methods,
    planned,
    records_of,
    standardised,
)
from benchmarks.calibration.simulation import Generator
from benchmarks.calibration.whole_reports import all_words, is_claiming
from redelve.data.tasks import task
from redelve.findings import Findings, find
from redelve.findings.claims import LEVEL
from redelve.findings.racing import look_at
from redelve.run.races import Race, RacePlan
from redelve.run.results import Record, Results
from redelve.settling import raced_assignments
from redelve.stats.sequential import planned_looks

NAME = "data0"
KINDS = tuple(name for name, one in PROBLEMS.items() if one.is_equal)
CASES = (1000, 8192)
METHODS = (2, 5)
TOO_FEW = (("groups of ten", 1000),)
"""Grouped cases that are so few are cross-validated, and are not raced."""


@cache
def raced_task(problem: str, cases: int, columns: int) -> PlannedTask:
    """The task that is raced on such a table."""
    kind = PROBLEMS[problem]
    drawn = kind.draw(cases, columns, np.random.default_rng(0))
    taken = task(frame_of(kind, drawn), TARGET, name=NAME, groups=drawn.groups)
    (one,) = raced_assignments(taken.assignments).values()
    return planned(one, kind.code)


def race_on(problem: Problem, drawn: Drawn) -> Results:
    """What comes of a race of methods that see a column each of these data."""
    one = standardised(problem, raced_task(problem.name, *drawn.inputs.shape), drawn.targets)
    facts, methods = one.facts, known_methods(drawn.inputs.shape[1])
    looks = planned_looks(len(facts.instances))
    digests = {name: about.digest for name, about in methods.items()}
    race = Race(RacePlan(facts.address, facts.digest, problem.code, digests, looks, LEVEL))
    results, records = Results({facts.address: facts}, methods, ()), list[Record]()
    while not race.is_over:
        instances = range(race.sets, looks[len(race.looks)])
        records += records_of(problem, drawn, one, race.left, instances, len(records))
        results = replace(results, records=tuple(records))
        race = replace(race, looks=(*race.looks, look_at(results.on(facts.address), race)))
    return replace(results, races={facts.address: race})


def says_anything(findings: Findings) -> bool:
    """Whether a race of equal methods drops one, claims a difference or says in words that there is one."""
    (found,) = findings.tasks
    assert found.race is not None
    has_dropped = bool(found.race.dropped)
    claims = has_dropped or any(one.winner for one in found.contests)
    if claims != is_claiming(all_words(findings), findings):
        raise AssertionError("a text claims what the findings do not, or the other way round")
    return claims


def races_of(cases: int, methods: int, effort: Effort) -> int:
    """Most of them where the rate is nearest 5 %: two methods, test sets of their own."""
    if methods > 2:
        return effort.least // 2
    return effort.some if cases == max(CASES) else effort.least


def false_words(name: str, cases: int, methods: int, effort: Effort, rng: Generator) -> Finding:
    """The share of races that say anything, all of which is false."""
    problem, count = PROBLEMS[name], races_of(cases, methods, effort)
    drawn = (problem.draw(cases, methods, rng) for _ in range(count))
    said = [says_anything(find(race_on(problem, one), problem.code)) for one in drawn]
    where = f"{name}, {cases} cases, k = {methods}"
    return Finding("race until settled, methods that learn", where, 100 * float(np.mean(said)), count)


WORDS = """
The problems of the first tables on this page, on which all methods are equal, raced: redelve draws up to 32
training sets, methods learn from them until the race is over, and the report is the text as printed. It is
false if a method is dropped or a difference claimed, at any look. With 1000 cases all training sets share a
test set; grouped cases are then too few to race. Standard errors at 5 % are 0.22 of 10,000 races (k = 2,
8,192 cases), 0.49 of 2,000 (k = 2, 1,000 cases) and 0.69 of 1,000 (k = 5).
"""


def learning_races(rng: Generator, effort: Effort) -> Section:
    """A row for each problem and number of cases; every cell has random numbers of its own."""
    rows = [one for one in product(KINDS, CASES) if one not in TOO_FEW]
    cells = list(product(rows, METHODS))
    makers = [
        partial(false_words, *row, k, effort, child)
        for (row, k), child in zip(cells, rng.spawn(len(cells)), strict=True)
    ]
    found = [make() for make in makers]
    rates = {cell: one.percent for cell, one in zip(cells, found, strict=True)}
    body = [
        [name, f"{cases:,}", _sets(name, cases), *(rates[(name, cases), k] for k in METHODS)]
        for name, cases in rows
    ]
    head = ["problem", "cases", "training sets", *(f"k = {k}, %" for k in METHODS)]
    return Section("Races of equal methods that learn", WORDS, table(head, body), tuple(found))


def _sets(name: str, cases: int) -> str:
    facts = raced_task(name, cases, METHODS[0]).facts
    return f"{len(facts.instances)} of {facts.training_set_size}"
