"""Calibration of what is said of classifiers: balanced errors, areas under curves, places in a ranking."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from benchmarks.calibration.sections import Effort, Finding, Section, listing, margin, percent
from benchmarks.calibration.simulation import Generator
from redelve.stats.auc import area_under_curve, compare_areas
from redelve.stats.balanced_errors import BalancedErrors
from redelve.stats.estimates import Interval
from redelve.stats.paired_errors import Outcomes, compare_balanced_errors
from redelve.stats.standings import place_entries, score_worse_p_values

Flags = NDArray[np.bool_]
LIKENESS = 0.6
"""The share of cases on which a classifier meets a difficulty that others meet, too."""


@dataclass(frozen=True)
class Classes:
    """Cases of the negative and the positive class, and each classifier's error rates in them."""

    counts: tuple[int, int]
    rates: tuple[tuple[float, float], ...]

    @property
    def truths(self) -> NDArray[np.int8]:
        """The classes of all cases."""
        return np.repeat(np.array([-1, 1], dtype=np.int8), self.counts)

    @property
    def bers(self) -> NDArray[np.float64]:
        """The true balanced error rates."""
        return np.asarray(np.array(self.rates).mean(axis=1))

    def draw(self, rng: Generator) -> Flags:
        """Which cases each classifier gets wrong; two have a case's difficulty in common."""
        size = sum(self.counts)
        shared, own = rng.random(size), rng.random((len(self.rates), size))
        common = rng.random((len(self.rates), size)) < LIKENESS
        limits = np.repeat(np.array(self.rates), self.counts, axis=1)
        return np.asarray(np.where(common, shared, own) < limits)

    def words(self) -> str:
        """The setting in a table."""
        told = "; ".join(f"{low:g}, {high:g}" for low, high in dict.fromkeys(self.rates))
        return f"m = {self.counts[0]}, {self.counts[1]}, p = {told}"


LARGE = Classes((3000, 1000), ((0.1, 0.3), (0.1, 0.3)))
SMALL = Classes((80, 20), ((0.1, 0.3), (0.1, 0.3)))
RARE = Classes((371, 13), ((0.05, 0.5), (0.05, 0.5)))
GOOD = Classes((1000, 100), ((0.005, 0.02), (0.005, 0.02)))
UNLIKE = Classes((400, 100), ((0.1, 0.3), (0.25, 0.15)))
UNLIKE_RARE = Classes((371, 13), ((0.02, 0.2), (0.2, 0.02)))
UNLIKE_FEW = Classes((97, 3), ((0.02, 0.2), (0.2, 0.02)))
"""The same BER, made in different classes."""


def error_coverages(setting: Classes, count: int, rng: Generator) -> tuple[float, float]:
    """How often the interval of a BER holds the truth, and ± 1.96 σ of equation 1."""
    hits = np.zeros((count, 2))
    (truth, *_), (low, high) = setting.bers, setting.rates[0]
    for hit in hits:
        wrong = rng.binomial(setting.counts, (low, high))
        found = BalancedErrors((-1, 1), setting.counts, (int(wrong[0]), int(wrong[1])))
        hit[0] = _holds(found.interval(), float(truth))
        hit[1] = abs(found.ber - truth) <= 1.959964 * found.standard_error
    return percent(hits[:, 0]), percent(hits[:, 1])


def paired_errors(setting: Classes, count: int, rng: Generator) -> tuple[float, float]:
    """How often two classifiers with the same BER are told apart, and the interval holds zero."""
    truths = setting.truths
    hits = np.zeros((count, 2))
    for hit in hits:
        wrong = setting.draw(rng)
        answers = np.where(wrong, -truths, truths)
        found = compare_balanced_errors(truths, answers[0], answers[1])
        hit[:] = found.p_value is not None and found.p_value < 0.05, _holds(found.interval(), 0.0)
    return percent(hits[:, 0]), percent(hits[:, 1])


AREAS = (
    (3000, 1000, 1.0),
    (80, 20, 1.0),
    (371, 13, 0.8),
    (100, 100, 2.0),
    (20, 20, 0.3),
    (200, 10, 2.0),
    (200, 5, 2.0),
)
"""Negative and positive cases, and how many standard deviations apart their confidences are."""


def areas(setting: tuple[int, int, float], count: int, rng: Generator) -> tuple[float, float, float]:
    """Coverage of an area's interval, level of the comparison, coverage of the difference's interval."""
    from scipy.special import ndtr

    negatives, positives, apart = setting
    truths = np.repeat(np.array([-1, 1]), (negatives, positives))
    truth = float(ndtr(apart / np.sqrt(2)))
    hits = np.zeros((count, 3))
    for hit in hits:
        shared = rng.standard_normal(truths.size)
        both = np.sqrt(LIKENESS) * shared + np.sqrt(1 - LIKENESS) * rng.standard_normal((2, truths.size))
        both += apart * (truths > 0)
        found = compare_areas(truths, both[0], both[1])
        p = found.p_value
        hit[:2] = _holds(area_under_curve(truths, both[0]).interval(), truth), p is not None and p < 0.05
        hit[2] = _holds(found.interval(), 0.0)
    return percent(hits[:, 0]), percent(hits[:, 1]), percent(hits[:, 2])


EQUAL = (
    Classes((3000, 1000), ((0.1, 0.3),) * 8),
    Classes((371, 13), ((0.05, 0.5),) * 8),
    Classes((1000, 100), ((0.005, 0.02),) * 20),
    Classes((400, 100), ((0.1, 0.3), (0.25, 0.15), (0.2, 0.2)) * 3),
    Classes((371, 13), UNLIKE_RARE.rates * 2),
    Classes((97, 3), UNLIKE_FEW.rates * 2),
)


def places(setting: Classes, count: int, rng: Generator) -> tuple[float, float]:
    """How often any of equal entries is shown to be worse, and the first is left out of the best group."""
    hits = np.zeros((count, 2))
    truths = setting.truths
    for hit in hits:
        outcomes = Outcomes.of(truths, setting.draw(rng))
        found = place_entries(outcomes.bers, outcomes.worse_p_values())
        hit[:] = (found.first > 1).any(), not found.may_be_best[0]
    return percent(hits[:, 0]), percent(hits[:, 1])


GUESSES: tuple[tuple[Classes, tuple[float, ...]], ...] = (
    (Classes((3000, 1000), ((0.1, 0.3),) * 6), (0.2,) * 6),
    (Classes((3000, 1000), ((0.1, 0.3), (0.1, 0.2), (0.1, 0.26)) * 2), (0.2, 0.2, 0.16) * 2),
    (Classes((371, 13), ((0.1, 0.3), (0.1, 0.2), (0.1, 0.26)) * 2), (0.2, 0.2, 0.16) * 2),
    (Classes((400, 100), ((0.1, 0.26), (0.1, 0.28), (0.1, 0.29)) * 2), (0.16, 0.18, 0.19) * 2),
)
"""Entries whose true scores p + |g − p| are all 0.2, with their guesses."""


def scored_places(
    setting: Classes, guesses: Sequence[float], count: int, rng: Generator
) -> tuple[float, float]:
    """The same for entries whose true scores are equal, ranked by R."""
    hits = np.zeros((count, 2))
    truths = setting.truths
    for hit in hits:
        outcomes = Outcomes.of(truths, setting.draw(rng))
        found = place_entries(outcomes.bers, score_worse_p_values(outcomes, guesses))
        hit[:] = (found.first > 1).any(), not found.may_be_best[0]
    return percent(hits[:, 0]), percent(hits[:, 1])


def classifiers_section(rng: Generator, effort: Effort) -> Section:
    """Intervals and comparisons of balanced errors and areas, and places in a ranking."""
    found = [*_of_errors(rng, effort), *_of_areas(rng, effort.least), *_of_places(rng, effort.least)]
    words = f"""Classifiers on one test set, m₋ and m₊ cases of the two classes and error rates p₋ and p₊.
        On {100 * LIKENESS**2:.0f} % of the cases two of them meet the same difficulty. Coverages of 95 %
        intervals, and how often two with the same BER or the same area are told apart at 5 %.
        *Same BER, unlike classes*: one is better on the one class, one on the other. *Places*: how often any
        of several equally good entries is shown to be worse, and how often the best group lacks one that is
        as good as the best; by R, of entries with equal true scores p + |g − p|. Standard errors
        {margin(effort.least)} to {margin(effort.some)}."""
    return Section("Classifiers", words, listing(found, "per cent"), tuple(found))


def _of_errors(rng: Generator, effort: Effort) -> list[Finding]:
    found = []
    for setting in (LARGE, SMALL, RARE, GOOD, UNLIKE_FEW):
        sound, plain = error_coverages(setting, effort.some, rng)
        found.append(Finding("interval of a balanced error", setting.words(), sound, effort.some))
        found.append(
            Finding("σ of equation 1, ± 1.96 (to compare with)", setting.words(), plain, effort.some)
        )
    for setting in (LARGE, SMALL, RARE, GOOD, UNLIKE, UNLIKE_RARE, UNLIKE_FEW):
        name = "alike" if len(set(setting.rates)) == 1 else "same BER, unlike classes"
        level, coverage = paired_errors(setting, effort.few, rng)
        found.append(Finding(f"comparison of balanced errors, {name}", setting.words(), level, effort.few))
        found.append(Finding("interval of a difference of BERs", setting.words(), coverage, effort.few))
    return found


def _of_areas(rng: Generator, count: int) -> list[Finding]:
    found = []
    names = ("interval of an area", "comparison of areas", "interval of a difference of areas")
    for setting in AREAS:
        where = f"m = {setting[0]}, {setting[1]}, {setting[2]:g} standard deviations apart"
        for name, value in zip(names, areas(setting, count, rng), strict=True):
            found.append(Finding(name, where, value, count))
    return found


def _of_places(rng: Generator, count: int) -> list[Finding]:
    found = []
    names = ("places of entries, {}", "best group of entries, {}")
    for setting in EQUAL:
        where = f"{len(setting.rates)} entries, {setting.words()}"
        for name, value in zip(names, places(setting, count, rng), strict=True):
            found.append(Finding(name.format("by BER"), where, value, count))
    for setting, guesses in GUESSES:
        where = f"{len(guesses)} entries, {setting.words()}"
        for name, value in zip(names, scored_places(setting, guesses, count, rng), strict=True):
            found.append(Finding(name.format("by R"), where, value, count))
    return found


def _holds(interval: Interval | None, truth: float) -> bool:
    return interval is not None and interval[0] <= truth <= interval[1]
