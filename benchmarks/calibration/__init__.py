"""Levels of the tests and coverages of the intervals, by simulation: `python -m benchmarks.calibration`.

Writes docs/calibration.md. A test at 5 % should reject a true hypothesis 5 % of the time, and a 95 % interval
hold the true value 95 % of the time.
"""

from __future__ import annotations

import json
from argparse import ArgumentParser
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np

from benchmarks.calibration.brought_scores import brought_scores
from benchmarks.calibration.classifiers import classifiers_section
from benchmarks.calibration.curves import curves_section
from benchmarks.calibration.equivalence import equivalence_section
from benchmarks.calibration.gates import gate_section
from benchmarks.calibration.groups import groups_section
from benchmarks.calibration.heavy_tails import heavy_tails_section
from benchmarks.calibration.in_slices import slices_section
from benchmarks.calibration.in_time import in_time_section
from benchmarks.calibration.learning_races import learning_races
from benchmarks.calibration.many import bayesian, many_methods, many_tasks
from benchmarks.calibration.metrics import metrics_section
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
from benchmarks.calibration.paper_verdicts import paper_verdicts_section
from benchmarks.calibration.partition import partition_section, runs_section
from benchmarks.calibration.printed_tables import printed_tables_section
from benchmarks.calibration.question_races import question_race_section
from benchmarks.calibration.resamples import cross_validated_intervals, cross_validation, predicted_power
from benchmarks.calibration.sampled_networks import sampled_networks
from benchmarks.calibration.sections import Effort, Finding, Make, Section
from benchmarks.calibration.stated_power import stated_powers
from benchmarks.calibration.stated_questions import stated_questions
from benchmarks.calibration.times import efficiency_comparisons, efficiency_intervals, tails_section
from benchmarks.calibration.until_settled import until_settled
from benchmarks.calibration.where_they_differ import agreement_section
from benchmarks.calibration.whole_reports import measure_all, whole_reports_section

SEED = 1996
FULL = Effort()
KEPT = Path(__file__).with_name("kept")
"""What was measured, a file for each section."""
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
    in_time_section,
    metrics_section,
    question_race_section,
    gate_section,
    brought_scores,
    stated_questions,
    slices_section,
    agreement_section,
    paper_verdicts_section,
    sampled_networks,
    printed_tables_section,
    learning_races,
)

INTRODUCTION = """# Calibration

Written by `python -m benchmarks.calibration` of what it measured before and keeps, and of what it measures
now (`--section NAME` one section, `--anew` all, in hours); do not edit.
[statistics.md](statistics.md) and [comparisons.md](comparisons.md) explain what is measured."""

OVERVIEW = f"""## Every test and interval offered

Losses are simulated with a true mean of zero as y = a + b + ε, where training sets contribute a (standard
deviation σ_a), test cases b (σ_b, absent in the hierarchical scheme) and the rest ε (standard deviation 1).
There are {TEST_CASES} test cases and I training sets unless said otherwise. *Skewed* terms are exponential
(skewness 2), *heavy-tailed* ones have a t distribution with 5 degrees of freedom; both are centred and
scaled. Random numbers are NumPy's default generator seeded with [{SEED}, section number from 0], the section
after the overview being 0. Means and mean squares of Gaussian losses are drawn from their known joint
distribution; the tests of the package confirm on drawn losses that this is the same.

Per cent, smallest to largest over all settings measured, with the setting of the worst; the sections below
have each of them. A *level* (nominal 5) is how often a true hypothesis is rejected, of any pair where there
are many; a *coverage* (nominal 95) how often an interval holds the truth. *Certainty* (nominal 10) is how
often one of two equal methods is given a posterior probability above 0.95 of being better. For power the
number is predicted less achieved, in points; *stated power* (nominal 80) is how often a difference is found
that was stated to be found with power 0.8. Bold: more than one point on the wrong side (certainty: two,
stated power: five).
*Data sets each* is the smallest number of simulated data sets behind a percentage; extremes over many
settings lie one or two standard errors too far out."""


OPENING: Make = whole_reports_section
"""The first section, before the overview; what it takes an hour to measure is kept beside it."""


def section_names() -> dict[str, Make]:
    """What `--section` takes: the names of the functions, with hyphens and without "section"."""
    return {make.__name__.removesuffix("_section").replace("_", "-"): make for make in (OPENING, *SECTIONS)}


def one_section(name: str, effort: Effort = FULL) -> Section:
    """A section by itself, with the random numbers that it has on the page."""
    make = section_names()[name]
    return make(np.random.default_rng([SEED, SECTIONS.index(make) if make in SECTIONS else 0]), effort)


def kept_section(name: str, folder: Path = KEPT) -> Section | None:
    """What was measured of a section before; None where nothing was."""
    path = folder / f"{name}.json"
    if not path.exists():
        return None
    told = json.loads(path.read_text("utf-8"))
    findings = tuple(Finding(**one) for one in told.pop("findings"))
    return Section(**told, findings=findings)


def keep_section(name: str, section: Section, folder: Path = KEPT) -> None:
    """Write it down, for pages that are made later."""
    folder.mkdir(exist_ok=True)
    section = replace(section, findings=_extremes(section.findings))
    text = json.dumps(asdict(section), ensure_ascii=False, indent=1)
    (folder / f"{name}.json").write_text(f"{text}\n", encoding="utf-8")


def _extremes(findings: Sequence[Finding]) -> tuple[Finding, ...]:
    """What the overview shows: the smallest and the largest of each, and what rests on the fewest data."""
    of_each: dict[str, list[Finding]] = {}
    for finding in findings:
        of_each.setdefault(finding.what, []).append(finding)
    chosen = (
        (min(some, key=_percent), max(some, key=_percent), min(some, key=lambda one: one.count))
        for some in of_each.values()
    )
    return tuple(dict.fromkeys(finding for several in chosen for finding in several))


def _percent(finding: Finding) -> float:
    return finding.percent


def page(folder: Path = KEPT) -> str:
    """The whole of docs/calibration.md, of the sections that were measured."""
    names = [name for name, make in section_names().items() if make is not OPENING]
    sections = [one for one in (kept_section(name, folder) for name in names) if one is not None]
    findings = [finding for section in sections for finding in section.findings]
    opening = one_section("whole-reports").text()
    head = f"{INTRODUCTION}\n\n{opening}\n\n{OVERVIEW}\n\n{overview(findings)}"
    return "\n\n".join([head, *(section.text() for section in sections)]) + "\n"


def main(arguments: Sequence[str], effort: Effort = FULL) -> int:
    """Measure what is asked for and write the page to the path given, by default docs/calibration.md."""
    parser = ArgumentParser(prog="python -m benchmarks.calibration")
    parser.add_argument("path", nargs="?", type=Path, default=Path("docs/calibration.md"))
    parser.add_argument("--section", choices=section_names(), help="measure this section alone, kept or not")
    parser.add_argument("--anew", action="store_true", help="measure all again, kept or not")
    parser.add_argument("--kept", type=Path, default=KEPT, help="the folder that keeps what was measured")
    chosen = parser.parse_args(arguments)
    if effort == FULL and chosen.section in (None, "whole-reports"):
        measure_all(anew=chosen.anew)
    for name, make in section_names().items():
        is_due = name == chosen.section or (
            chosen.section is None and (chosen.anew or kept_section(name, chosen.kept) is None)
        )
        if make is not OPENING and is_due:
            keep_section(name, one_section(name, effort), chosen.kept)
    chosen.path.write_text(page(chosen.kept), encoding="utf-8")
    return 0
