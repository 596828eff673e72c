"""Levels of the tests and coverages of the intervals, by simulation: `python -m benchmarks.calibration`.

Writes docs/calibration.md. A test at 5 % should reject a true hypothesis 5 % of the time, and a 95 % interval
hold the true value 95 % of the time.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from benchmarks.calibration.classifiers import classifiers_section
from benchmarks.calibration.curves import curves_section
from benchmarks.calibration.equivalence import equivalence_section
from benchmarks.calibration.groups import groups_section
from benchmarks.calibration.heavy_tails import heavy_tails_section
from benchmarks.calibration.many import bayesian, many_methods, many_tasks
from benchmarks.calibration.one_task import (
    TEST_CASES,
    common_gaussian,
    common_shapes,
    coverages,
    few_test_cases,
    hierarchical_levels,
    powers,
    runs_table,
    units_table,
)
from benchmarks.calibration.over_tasks import over_tasks_section
from benchmarks.calibration.overview import overview
from benchmarks.calibration.partition import partition_section, runs_section
from benchmarks.calibration.resamples import cross_validated_intervals, cross_validation, predicted_power
from benchmarks.calibration.sections import Effort, Make
from benchmarks.calibration.stated_power import stated_powers
from benchmarks.calibration.times import efficiency_comparisons, efficiency_intervals, tails_section
from benchmarks.calibration.until_settled import until_settled

SEED = 1996
FULL = Effort()
SECTIONS: tuple[Make, ...] = (
    hierarchical_levels,
    common_gaussian,
    common_shapes,
    few_test_cases,
    coverages,
    powers,
    runs_table,
    units_table,
    many_methods,
    many_tasks,
    bayesian,
    cross_validation,
    cross_validated_intervals,
    predicted_power,
    efficiency_intervals,
    efficiency_comparisons,
    tails_section,
    runs_section,
    partition_section,
    classifiers_section,
    over_tasks_section,
    stated_powers,
    until_settled,
    groups_section,
    curves_section,
    equivalence_section,
    heavy_tails_section,
)

INTRODUCTION = f"""# Calibration

Written by `python -m benchmarks.calibration`, in about half an hour; do not edit.
[statistics.md](statistics.md) and [comparisons.md](comparisons.md) explain what is measured.

Losses are simulated with a true mean of zero as y = a + b + ε, where training sets contribute a (standard
deviation σ_a), test cases b (σ_b, absent in the hierarchical scheme) and the rest ε (standard deviation 1).
There are {TEST_CASES} test cases and I training sets unless said otherwise. *Skewed* terms are exponential
(skewness 2), *heavy-tailed* ones have a t distribution with 5 degrees of freedom; both are centred and
scaled. Random numbers are NumPy's default generator seeded with [{SEED}, section number from 0], the section
after the overview being 0. Means and mean squares of Gaussian losses are drawn from their known joint
distribution; the tests of the package confirm on drawn losses that this is the same."""

OVERVIEW = """## Every test and interval offered

Per cent, smallest to largest over all settings measured, with the setting of the worst; the sections below
have each of them. A *level* (nominal 5) is how often a true hypothesis is rejected, of any pair where there
are many; a *coverage* (nominal 95) how often an interval holds the truth. *Certainty* (nominal 10) is how
often one of two equal methods is given a posterior probability above 0.95 of being better. For power the
number is predicted less achieved, in points; *stated power* (nominal 80) is how often a difference is found
that was stated to be found with power 0.8. Bold: more than one point on the wrong side (certainty: two,
stated power: five).
*Data sets each* is the smallest number of simulated data sets behind a percentage; extremes over many
settings lie one or two standard errors too far out."""


def page(effort: Effort = FULL) -> str:
    """The whole of docs/calibration.md."""
    sections = [make(np.random.default_rng([SEED, k]), effort) for k, make in enumerate(SECTIONS)]
    findings = [finding for section in sections for finding in section.findings]
    head = f"{INTRODUCTION}\n\n{OVERVIEW}\n\n{overview(findings)}"
    return "\n\n".join([head, *(section.text() for section in sections)]) + "\n"


def section_text(name: str, effort: Effort = FULL) -> str:
    """One section by the name of the function that makes it."""
    known = [make.__name__ for make in SECTIONS]
    if name not in known:
        raise SystemExit(f"there is no section {name}: choose one of {', '.join(known)}")
    place = known.index(name)
    return SECTIONS[place](np.random.default_rng([SEED, place]), effort).text()


def main(arguments: Sequence[str], effort: Effort = FULL) -> int:
    """Write the page to the path given, by default docs/calibration.md; `--section name` prints one alone."""
    if arguments and arguments[0] == "--section":
        print(section_text(arguments[1], effort))
        return 0
    path = Path(arguments[0]) if arguments else Path("docs/calibration.md")
    path.write_text(page(effort), encoding="utf-8")
    return 0
