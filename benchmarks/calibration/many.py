"""Calibration of what compares many methods or many tasks: Holm, the group of the best, and rank tests."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from benchmarks.calibration.sections import Effort, Finding, Section, listing, margin, percent
from benchmarks.calibration.simulation import Design, Generator, draw_gaussian
from redelve.stats.bayesian_tests import signed_rank
from redelve.stats.mean_squares import FloatArray, cautious_p_value, f_test, t_test
from redelve.stats.multiple import AllPairs, Pair, best_group, holm
from redelve.stats.ranks import count_wins, critical_difference, friedman, wilcoxon, wilcoxon_all

CHUNK = 100
"""Data sets of many methods drawn at a time."""


@dataclass(frozen=True)
class Methods:
    """Equally good methods, each with variation of its own, or a best one ahead of the others.

    `sd_test_cases` is None where each training set has its own test cases. With `skewed` the effects of
    training sets on the best method are one less an exponential, which is the direction that harms it: most
    training sets make it look a little worse than it is. Those on the others do not vary.
    """

    methods: int
    training_sets: int
    sd_training: float
    sd_test_cases: float | None
    ahead: float = 0.0
    test_cases: int = 40
    skewed: bool = False

    def words(self) -> str:
        """The setting in the tables."""
        ahead = f", the best ahead by {self.ahead:g}" if self.ahead else ""
        return f"k = {self.methods}, I = {self.training_sets}{ahead}"


@dataclass(frozen=True)
class Outcome:
    """A comparison of which only the difference and the p-value matter."""

    difference: float
    p_value: float
    standard_error: float = 1.0
    caveats: tuple[str, ...] = ()


def all_pairs(differences: FloatArray, p_values: FloatArray, methods: int) -> AllPairs:
    """Every pair of methods from differences and p-values, as `compare_all` would make it."""
    names = [str(i) for i in range(methods)]
    tests = [Outcome(float(d), float(p)) for d, p in zip(differences, p_values, strict=True)]
    adjusted = holm([test.p_value for test in tests])
    pairs = [
        Pair(*pair, test, p) for pair, test, p in zip(combinations(names, 2), tests, adjusted, strict=True)
    ]
    return AllPairs(tuple(names), tuple(pairs), len(pairs), ())


def draw_methods(setting: Methods, count: int, rng: Generator) -> FloatArray:
    """Losses[n, method, i, j]; the first method is the best."""
    size, shape = (count, setting.methods), (setting.training_sets, setting.test_cases)
    losses = rng.normal(size=(*size, *shape))
    if setting.skewed:
        losses[:, :1] += setting.sd_training * (1 - rng.exponential(size=(count, 1, shape[0], 1)))
    else:
        losses += setting.sd_training * rng.normal(size=(*size, shape[0], 1))
    if setting.sd_test_cases is not None:
        losses += setting.sd_test_cases * rng.normal(size=(*size, 1, shape[1]))
    losses[:, 0] -= setting.ahead
    return np.asarray(losses)


def mean_squares(losses: FloatArray) -> tuple[FloatArray, tuple[FloatArray, FloatArray, FloatArray]]:
    """Mean and mean squares of every table losses[..., i, j] (manual eqs. 13–16)."""
    sets, cases = losses.shape[-2:]
    means = losses.mean(axis=(-2, -1))
    training = cases * np.square(losses.mean(axis=-1) - means[..., None]).sum(axis=-1)
    shared = sets * np.square(losses.mean(axis=-2) - means[..., None]).sum(axis=-1)
    residual = np.square(losses - means[..., None, None]).sum(axis=(-2, -1)) - training - shared
    return means, (training / (sets - 1), shared / (cases - 1), residual / ((sets - 1) * (cases - 1)))


def simulate_methods(setting: Methods, count: int, rng: Generator) -> tuple[float, float]:
    """Per cent of data sets whose group lacks the truly best method, and with any pair found different."""
    first, second = (np.array(x) for x in zip(*combinations(range(setting.methods), 2), strict=True))
    shape, missed, found = (setting.training_sets, setting.test_cases), 0, 0
    for start in range(0, count, CHUNK):
        losses = draw_methods(setting, min(CHUNK, count - start), rng)
        means, squares = mean_squares(losses[:, first] - losses[:, second])
        if setting.sd_test_cases is None:
            p_values = t_test(means, squares[0], shape).p_value
        else:
            p_values = cautious_p_value(means, squares, shape)
        for d, p in zip(means, p_values, strict=True):
            comparisons = all_pairs(d, p, setting.methods)
            missed += "0" not in best_group(comparisons).members
            found += min(pair.adjusted_p_value or 1.0 for pair in comparisons.pairs) < 0.05
    return 100 * missed / count, 100 * found / count


OWN = (Methods(2, 2, 0.3, None), Methods(5, 4, 0.3, None), Methods(8, 8, 0.3, None))
COMMON = (
    Methods(4, 2, 0.5, 0.5),
    Methods(5, 4, 0.1, 0.5),
    Methods(5, 8, 0.5, 0.5),
    Methods(10, 4, 0.1, 0.5),
)
AHEAD = (Methods(5, 4, 0.3, None, ahead=0.2),)
SKEWED = tuple(Methods(k, 4, 1.0, None, skewed=True) for k in (2, 5, 10))


def many_methods(rng: Generator, effort: Effort) -> Section:
    """Holm's family-wise error rate, and how often the group of the best lacks the best."""
    findings: list[Finding] = []
    for name, settings in (
        ("own test cases", OWN),
        ("common test cases", COMMON),
        ("the best ahead", AHEAD),
        ("the best skewed to its harm", SKEWED),
    ):
        for setting in settings:
            count = effort.least if setting.sd_test_cases is not None else effort.few
            missed, found = simulate_methods(setting, count, rng)
            findings.append(Finding(f"group of the best, {name}", setting.words(), missed, count))
            if settings in (OWN, COMMON):
                findings.append(Finding(f"Holm over all pairs, {name}", setting.words(), found, count))
    findings += plain_group(rng, effort.least)
    words = f"""k methods that are equally good (or one ahead), 40 test cases. Per cent of data sets in
        which the group lacks the truly best method, and in which any pair of equal methods has an adjusted p
        below 5 %. Both start from the cautious p-value. *Skewed to its harm*: most training sets make the
        best method look a little worse than it is, a few much better (one less an exponential), and those of
        the others have no effect. Standard errors {margin(effort.few)} ({effort.few:,} data sets) and
        {margin(effort.least)} ({effort.least:,})."""
    return Section("Many methods on one task", words, listing(findings, "per cent"), tuple(findings))


def plain_group(rng: Generator, count: int) -> list[Finding]:
    """What the group of ten methods would be worth if it were made from plain p-values."""
    setting = Methods(10, 2, 0.5, 0.5)
    losses = draw_methods(setting, count, rng)
    means, squares = mean_squares(losses[:, :1] - losses[:, 1:])
    p = f_test(means, squares, (2, setting.test_cases)).p_value
    worse = np.where(means > 0, p / 2, 1 - p / 2)
    missed = percent(np.asarray(9 * worse.min(axis=1) < 0.05, dtype=np.float64))
    return [Finding("group of the best from plain p-values (not offered)", setting.words(), missed, count)]


RANKED = ((5, 3), (5, 5), (10, 4), (14, 4), (30, 5), (20, 10), (10, 20))
"""Numbers of tasks and of methods."""


def rank_levels(
    tasks: int, methods: int, count: int, draw: Callable[[tuple[int, int]], FloatArray]
) -> FloatArray:
    """Per cent of data sets in which Friedman's F, his χ² and Nemenyi's test find a difference."""
    widest, hits = critical_difference(methods, tasks), np.zeros((count, 3))
    for hit in hits:
        result = friedman(draw((tasks, methods)))
        p_values = (result.p_value, result.chi_square_p_value)
        hit[:2] = [p is not None and p < 0.05 for p in p_values]
        hit[2] = max(result.mean_ranks) - min(result.mean_ranks) >= widest
    return np.asarray(100 * hits.mean(axis=0))


def wilcoxon_level(tasks: int, count: int, draw: Callable[[int], FloatArray]) -> float:
    """Per cent of data sets in which the signed-rank test rejects."""
    p_values = (wilcoxon(draw(tasks), np.zeros(tasks)).p_value for _ in range(count))
    return percent([p is not None and p < 0.05 for p in p_values])


def many_tasks(rng: Generator, effort: Effort) -> Section:
    """Levels of the rank tests."""
    findings: list[Finding] = []
    names = ("Friedman, F", "Friedman, χ²", "Nemenyi, any pair")
    for tasks, methods in RANKED:
        levels = rank_levels(tasks, methods, effort.some, lambda size: rng.normal(size=size))
        for name, level in zip(names, levels.tolist(), strict=True):
            findings.append(Finding(name, f"N = {tasks}, k = {methods}", level, effort.some))
    findings += _unequal_spread(rng, effort.some)
    findings += _wilcoxon(rng, effort)
    findings.append(_false_wins(rng, effort.least))
    words = f"""Per cent of data sets in which a test at 5 % finds a difference between equally good
        methods; N tasks, k methods, Gaussian losses unless said otherwise. *Unequal spread*: the losses
        of the first method vary ten times as much as those of the others, so that all rankings are not
        equally likely although all means are equal. *Skewed differences* are exponential less one: their
        mean is zero but they are not symmetric, which is what the test supposes. Counts of wins are no
        test; the number is that of significant wins and losses of equal methods, per 100 tasks. Standard
        errors {margin(effort.some)} ({effort.some:,} data sets) to {margin(effort.least // 2)}."""
    return Section("Many tasks", words, listing(findings, "per cent"), tuple(findings))


def _wilcoxon(rng: Generator, effort: Effort) -> list[Finding]:
    draws: dict[str, Callable[[int], FloatArray]] = {
        "Wilcoxon": lambda tasks: rng.normal(size=tasks),
        "Wilcoxon, many ties": lambda tasks: np.round(2 * rng.normal(size=tasks)) / 2,
        "Wilcoxon, skewed differences of mean zero": lambda tasks: rng.exponential(size=tasks) - 1,
    }
    found = [
        Finding(name, f"N = {tasks}", wilcoxon_level(tasks, effort.few, draw), effort.few)
        for name, draw in draws.items()
        for tasks in (6, 12, 30, 300)
    ]
    count = effort.least // 2
    for tasks, methods in ((12, 4), (20, 6)):
        where, level = f"N = {tasks}, k = {methods}", _holm_level(tasks, methods, count, rng)
        found.append(Finding("Wilcoxon with Holm, any pair", where, level, count))
    return found


def _unequal_spread(rng: Generator, count: int) -> list[Finding]:
    def draw(size: tuple[int, int]) -> FloatArray:
        losses = rng.normal(size=size)
        losses[:, 0] *= 10
        return losses

    levels = rank_levels(30, 5, count, draw).tolist()
    names = ("Friedman, F, unequal spread", "Friedman, χ², unequal spread", "Nemenyi, unequal spread")
    return [Finding(name, "N = 30, k = 5", level, count) for name, level in zip(names, levels, strict=True)]


def _holm_level(tasks: int, methods: int, count: int, rng: Generator) -> float:
    found = []
    for _ in range(count):
        pairs = wilcoxon_all(rng.normal(size=(tasks, methods)))
        found.append(min(pair.adjusted_p_value or 1.0 for pair in pairs) < 0.05)
    return percent(found)


def _false_wins(rng: Generator, count: int) -> Finding:
    """Every task is one comparison of equal methods by the F-test; how many become wins or losses."""
    sample = draw_gaussian(Design(8, 200, 0.1, 0.25), count, rng)
    wins = count_wins(sample.means.tolist(), sample.f_test().tolist())
    false = 100 * (wins.wins + wins.losses) / count
    return Finding("count_wins: false wins and losses", "F-test on every task, I = 8", false, count)


def certainty(tasks: int, rope: float, count: int, rng: Generator) -> float:
    """Per cent of comparisons of equal methods in which one seems better with probability above 0.95."""
    found = [signed_rank(rng.normal(size=tasks), rope=rope, rng=rng, draws=1000) for _ in range(count)]
    return percent([max(result.left, result.right) > 0.95 for result in found])


def bayesian(rng: Generator, effort: Effort) -> Section:
    """How often the Bayesian signed-rank test is certain of what is not so."""
    findings = [
        Finding(
            f"Bayesian signed-rank, {name}",
            f"N = {tasks}",
            certainty(tasks, rope, effort.least, rng),
            effort.least,
        )
        for name, rope in (("no rope", 0.0), ("rope of a tenth of the spread", 0.1))
        for tasks in (5, 10, 30, 54)
    ]
    words = f"""Per cent of comparisons of two equally good methods (Gaussian differences between tasks,
        standard deviation 1) in which one of them seems better with probability above 0.95. A probability
        that is also a frequency would do so in 10 %. 1000 draws of the posterior each; {effort.least:,}
        data sets, standard error {margin(effort.least, 10.0)} near 10 %."""
    return Section("The Bayesian signed-rank test", words, listing(findings, "per cent"), tuple(findings))
