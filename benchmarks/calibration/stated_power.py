"""Calibration of the power that a report states: a pilot says what would be found, another one tries."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import combinations
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from benchmarks.calibration.sections import Effort, Finding, Section, listing, margin, percent
from benchmarks.calibration.simulation import Generator
from redelve.stats.assurance import assured_difference, assured_training_sets, pilot_of
from redelve.stats.estimates import Scheme
from redelve.stats.families import (
    PairFamily,
    PairSquares,
    family_of,
    pairs_of_sets,
    size_weights,
    unmoderated,
)
from redelve.stats.mean_squares import FloatArray

Places = NDArray[np.int64]
TEST_CASES = 100
MOST_SETS = 400
"""No second experiment has more."""
WATCHED = 3
"""Pairs of a data set that are put to the test: more would say little more."""


@dataclass(frozen=True)
class Field:
    """Equal methods: standard deviations of training sets and of common test cases, residual one.

    `unstable` multiplies the deviation of training sets for half of the methods.
    """

    methods: int
    training_sets: int
    sd_training: float
    sd_test_cases: float | None = None
    unstable: float = 1.0
    level: float = 0.05

    def words(self) -> str:
        """The setting in a few words."""
        cases = "" if self.sd_test_cases is None else f", σ_b = {self.sd_test_cases:g}"
        uneven = "" if self.unstable == 1 else f", half of the methods {self.unstable:g}×"
        return f"k = {self.methods}, I = {self.training_sets}, σ_a = {self.sd_training:g}{cases}{uneven}"

    def family(self, rng: Generator) -> PairFamily:
        """One experiment, analysed."""
        shape = (self.methods, self.training_sets, TEST_CASES)
        spread = np.full((self.methods, 1, 1), self.sd_training)
        spread[: self.methods // 2] *= self.unstable
        losses = rng.standard_normal(shape) + spread * rng.standard_normal((*shape[:2], 1))
        if self.sd_test_cases is not None:
            losses += self.sd_test_cases * rng.standard_normal((shape[0], 1, shape[2]))
        first, second = zip(*combinations(range(self.methods), 2), strict=True)
        scheme: Scheme = "hierarchical" if self.sd_test_cases is None else "common"
        squares = pairs_of_sets([list(one) for one in losses], (first, second), scheme)
        return family_of(squares, self.methods)


def claimed(family: PairFamily, places: Places, shifts: FloatArray, level: float) -> FloatArray:
    """Which of some pairs the family's rule claims if their true differences are not zero but `shifts`.

    Variances do not change with that, so each pair has a shift of its own.
    """
    squares, few, many = family.squares, len(places), family.pairs
    some = PairSquares(
        squares.differences[places] + shifts,
        squares.between[places],
        squares.within[places],
        squares.training_sets[places],
        squares.test_cases[places],
        None if squares.shared is None else squares.shared[places],
    )
    chosen = (family.variances[places], family.prior_df[places], 0.0, family.unfloored[places])
    together = PairFamily(some, *chosen).p_values() / few * many
    own = unmoderated(some).p_values() / few * family.guard
    return np.asarray(np.maximum(together, own) < level)


def stated(field: Field, count: int, rng: Generator) -> FloatArray:
    """For each pilot the share of its pairs that a second experiment like it finds at the X stated."""
    hits = np.zeros(count)
    for one in range(count):
        pilot, later = field.family(rng), field.family(rng)
        places = rng.permutation(pilot.pairs)[:WATCHED]
        shifts = [_difference(pilot, int(place), field.level) for place in places]
        hits[one] = claimed(later, places, np.array(shifts), field.level).mean()
    return hits


def _difference(family: PairFamily, place: int, level: float) -> float:
    pilot = pilot_of(family, place)
    return np.inf if pilot is None else assured_difference(pilot, level)


def extended(field: Field, difference: float, count: int, rng: Generator) -> FloatArray:
    """Whether an experiment with as many training sets as the pilot asks for finds a difference."""
    hits = np.zeros(count)
    for one in range(count):
        pilot = pilot_of(field.family(rng), 0)
        sets = None if pilot is None else assured_training_sets(pilot, difference, field.level)
        larger = replace(field, training_sets=min(sets or MOST_SETS, MOST_SETS))
        hits[one] = claimed(larger.family(rng), np.array([0]), np.array([difference]), field.level)[0]
    return hits


def found(field: Field, deviations: float, count: int, rng: Generator) -> FloatArray:
    """Share of pairs that are claimed where the difference is so many deviations of the set means."""
    shift = deviations * sqrt(2 * (field.sd_training**2 + 1 / TEST_CASES))
    hits = np.zeros(count)
    for one in range(count):
        family = field.family(rng)
        places = rng.permutation(family.pairs)[:WATCHED]
        hits[one] = claimed(family, places, np.full(len(places), shift), field.level).mean()
    return hits


OWN = tuple(Field(k, sets, sd) for k in (2, 5, 10) for sets in (4, 8) for sd in (0.0, 0.1, 0.4))
COMMON = tuple(
    Field(k, sets, *sds)
    for k in (2, 5, 10)
    for sets in (4, 8)
    for sds in ((0.0, 0.1), (0.1, 0.3), (0.2, 1.0))
)
UNEVEN = tuple(Field(10, sets, 0.1, unstable=5.0) for sets in (4, 8))
GROUPS = {"own test cases": OWN, "common test cases": COMMON, "methods that differ": UNEVEN}
LONGER = tuple(Field(k, sets, 0.1) for k in (2, 5, 10) for sets in (4, 8))
ONE_SD = sqrt(2 * (0.1**2 + 1 / TEST_CASES))
HEADLINE = Field(10, 8, 0.1, level=0.05 * float(size_weights(5)[0]))
"""Ten methods on a table of 8192 cases: eight training sets of 512, the largest of five sizes."""


def stated_powers(rng: Generator, effort: Effort) -> Section:
    """What is stated to be found with power 0.8, and how often it is."""
    count = max(effort.least // 2, 1)
    findings = [
        Finding(f"stated power 0.8, {group}", field.words(), percent(stated(field, count, rng)), count)
        for group, fields in GROUPS.items()
        for field in fields
    ]
    findings += [
        Finding("stated training sets", field.words(), percent(extended(field, ONE_SD, count, rng)), count)
        for field in LONGER
    ]
    share = percent(found(HEADLINE, 2.0, count, rng))
    findings.append(Finding("two deviations, largest of 5 sizes", HEADLINE.words(), share, count))
    words = f"""A pilot states which difference an experiment like it finds with power 0.8 by the rule of the
        whole family (k methods, all pairs, at 5 %), or how many training sets would find one deviation of
        the mean differences of sets; a second experiment is simulated with that true difference, or with that
        number. Per cent of second experiments that claim it, {count:,} pilots per line, up to {WATCHED}
        pairs of each; standard error at most {margin(count, 80.0)}. σ_ε = 1, {TEST_CASES} test cases. Where
        methods differ, it is the mean over pairs. Last, how often two deviations are claimed among ten
        methods, at the level that the largest of five training-set sizes has."""
    return Section("Stated power", words, listing(findings, "found"), tuple(findings))
