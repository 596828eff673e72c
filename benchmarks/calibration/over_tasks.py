"""Calibration of random effects over tasks: intervals of the mean difference, and of a new task's."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import Literal

import numpy as np

from benchmarks.calibration.sections import Effort, Finding, Section, listing, margin, percent, rejections
from benchmarks.calibration.simulation import Generator
from redelve.stats.mean_squares import FloatArray
from redelve.stats.meta import RandomEffects, moderated_variances, random_effects

CHUNK = 500
"""Data sets of many methods drawn at a time."""
ERROR_SPREAD = 0.7
"""Standard deviation of the logarithms of the tasks' error deviations."""


@dataclass(frozen=True)
class Tasks:
    """Some tasks, whose effects vary with a deviation in units of a typical task's error."""

    tasks: int
    training_sets: int
    sd_tasks: float
    shape: Literal["Gaussian", "exponential"] = "Gaussian"

    def words(self) -> str:
        """The setting in tables."""
        return f"T = {self.tasks}, I = {self.training_sets}, τ = {self.sd_tasks:g}"


def draw_tasks(setting: Tasks, count: int, rng: Generator) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Effects with mean zero, their variances as estimated, and the effect on a task that was not seen."""
    size, df = (count, setting.tasks), setting.training_sets - 1
    true = np.exp(2 * ERROR_SPREAD * rng.normal(size=size))
    drawn = (count, setting.tasks + 1)
    of_tasks = rng.normal(size=drawn) if setting.shape == "Gaussian" else rng.exponential(size=drawn) - 1
    effects = setting.sd_tasks * of_tasks[:, :-1] + np.sqrt(true) * rng.normal(size=size)
    return effects, true * rng.chisquare(df, size=size) / df, setting.sd_tasks * of_tasks[:, -1]


def simulate_tasks(
    setting: Tasks, count: int, rng: Generator, *, level: float = 0.05, is_moderated: bool = True
) -> tuple[float, float]:
    """Per cent of data sets whose interval holds the mean, and whose prediction holds a new task."""
    effects, variances, new = draw_tasks(setting, count, rng)
    df = setting.training_sets - 1
    known = moderated_variances(variances, df) if is_moderated else variances
    found = random_effects(effects, known)
    return _held(found, found.half_widths(level), 0.0), _held(found, found.prediction_half_widths(level), new)


def _held(found: RandomEffects, widths: FloatArray, truth: FloatArray | float) -> float:
    return percent(np.asarray(np.abs(found.means - truth) <= widths, dtype=np.float64))


def simulate_pairs(methods: int, setting: Tasks, count: int, rng: Generator, level: float = 0.05) -> float:
    """Per cent of data sets of equal methods in which any pair is claimed over tasks at a level."""
    return rejections(least_p_values(methods, setting, count, rng), level)


def least_p_values(methods: int, setting: Tasks, count: int, rng: Generator) -> FloatArray:
    """The smallest p-value of all pairs of equal methods, times the number of pairs, of many data sets."""
    first, second = (list(side) for side in zip(*combinations(range(methods), 2), strict=True))
    chunk = CHUNK if methods <= 10 else CHUNK // 5
    found = []
    for start in range(0, count, chunk):
        size = (min(chunk, count - start), setting.tasks, setting.training_sets, methods)
        errors = np.exp(ERROR_SPREAD * rng.normal(size=(*size[:2], 1, 1))) * np.sqrt(setting.training_sets)
        of_tasks = setting.sd_tasks * rng.normal(size=(*size[:2], 1, methods))
        means = of_tasks + errors * rng.normal(size=size)
        differences = np.moveaxis(means[..., first] - means[..., second], 1, -1)
        variances = differences.var(axis=1, ddof=1) / setting.training_sets
        moderated = moderated_variances(variances, setting.training_sets - 1)
        p_values = random_effects(differences.mean(axis=1), moderated).p_values()
        found.append(len(first) * p_values.min(axis=-1))
    return np.concatenate(found)


GAUSSIAN = tuple(
    Tasks(tasks, sets, sd) for tasks in (3, 5, 10, 30) for sets in (4, 8) for sd in (0.0, 0.5, 1.0, 3.0)
)
SKEWED = tuple(Tasks(tasks, 8, sd, "exponential") for tasks in (5, 10, 30) for sd in (1.0, 3.0))

PAIRS = tuple(
    (methods, Tasks(tasks, sets, sd))
    for methods in (2, 5, 10, 20)
    for tasks in (3, 5, 20)
    for sets in (4, 8)
    for sd in (0.0, 1.0, 3.0)
)
TAILS = tuple(Tasks(tasks, 8, sd) for tasks in (5, 10, 20, 30) for sd in (1.0, 3.0))
TAIL = 0.001


def over_tasks_section(rng: Generator, effort: Effort) -> Section:
    """Coverage over tasks, with Gaussian and with skewed effects of tasks."""
    findings: list[Finding] = []
    count = effort.some
    for name, settings in (("", GAUSSIAN), (", skewed tasks", SKEWED)):
        for setting in settings:
            mean, new = simulate_tasks(setting, count, rng)
            findings.append(Finding(f"mean over tasks, interval{name}", setting.words(), mean, count))
            findings.append(Finding(f"new task, prediction interval{name}", setting.words(), new, count))
    for setting in (one for one in GAUSSIAN if one.sd_tasks == 0.5):
        mean, _ = simulate_tasks(setting, count, rng, is_moderated=False)
        findings.append(
            Finding("mean over tasks, errors as they are (not offered)", setting.words(), mean, count)
        )
    for methods, setting in PAIRS:
        least, where = (
            least_p_values(methods, setting, effort.least, rng),
            f"k = {methods}, {setting.words()}",
        )
        for what, level in (("", 0.05), (" at a report's share", 0.05 / (setting.tasks + 1))):
            findings.append(
                Finding(f"pairs over tasks, any claim{what}", where, rejections(least, level), len(least))
            )
    for setting in TAILS:
        mean, _ = simulate_tasks(setting, effort.many, rng, level=TAIL)
        what = "mean over tasks, misses of 99.9 % intervals, times 50"
        findings.append(Finding(what, setting.words(), 50 * (100 - mean), effort.many))
    words = f"""T tasks with differences that vary between them with deviation τ, in units of a typical task's
        standard error; the standard errors vary by a factor of two either way (their logarithms have a
        deviation of {ERROR_SPREAD}) and are estimated from I training sets. Per cent of data sets whose
        interval holds the mean difference, and whose prediction interval holds the difference on a task
        that was not seen. *Skewed*: exponential effects of tasks. *Errors as they are*: without drawing
        the tasks' variances towards each other. *Any claim*: how often k equal methods are told apart over
        tasks at 5 % for all pairs, and at the share that a report gives these claims, one part in T + 1 of
        its 5 %. *Misses of 99.9 % intervals, times 50*: 5 is right; on T − 1 degrees of freedom there were 5
        to 10 (decision 30). Standard error {margin(count)} ({count:,} data sets; claims
        {margin(effort.least)}, {effort.least:,}; 99.9 % intervals 0.5, {effort.many:,})."""
    return Section("Differences over tasks", words, listing(findings, "per cent"), tuple(findings))
