"""Calibration of margins over tasks: how often methods that differ by the margin are called equivalent."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations, product
from textwrap import fill

import numpy as np

from benchmarks.calibration.sections import Effort, Finding, percent, table
from benchmarks.calibration.simulation import Generator
from redelve.seeds import generator
from redelve.stats.families import Truths
from redelve.stats.mean_squares import FloatArray
from redelve.stats.meta import moderated_variances, random_effects

LEVEL = 0.05
CHUNK = 250
"""Data sets drawn at a time."""
TIMES = (3.0, 10.0)
"""The margin over the standard error of the mean over tasks."""
SPREADS = (0.0, 1.0)
"""The deviation of true differences between tasks, over the standard error of a task's difference."""
SPREAD_OF_ERRORS = 0.5
"""Standard deviation of the logarithms of the tasks' relative errors."""


@dataclass(frozen=True)
class MarginTasks:
    """Half of the methods lose more than the others, by exactly the margin on average over tasks.

    `noise` is the relative deviation of one training set's mean loss, `rougher` how much larger it is for the
    worse methods. Tasks have losses of any size where the margin is a share, of one size where it is an
    amount; training sets that are hard for all methods move all losses by a fifth.
    """

    methods: int
    tasks: int
    training_sets: int
    times: float
    is_share: bool
    spread: float = 0.0
    noise: float = 0.1
    rougher: float = 1.0

    @property
    def kind(self) -> str:
        """The margin in words, and which method varies more between training sets."""
        more = "" if self.rougher == 1 else f", the {'worse' if self.rougher > 1 else 'better'} rougher"
        return f"{'share' if self.is_share else 'amount'}{more}"

    @property
    def error(self) -> float:
        """Standard error of a typical task's difference between a better and a worse method."""
        both = self.noise**2 * (1 + self.rougher**2)
        return float(np.sqrt(both * np.exp(2 * SPREAD_OF_ERRORS**2) / self.training_sets))

    @property
    def size(self) -> float:
        """The margin: an amount, or the logarithm of one more than a share."""
        return self.times * self.error * float(np.sqrt((1 + self.spread**2) / self.tasks))

    @property
    def worse(self) -> Truths:
        """Which methods lose more than the others."""
        return np.arange(self.methods) >= (self.methods + 1) // 2


def draw_losses(setting: MarginTasks, count: int, rng: Generator) -> FloatArray:
    """Mean losses[n, task, training set, method]."""
    shape = (count, setting.tasks, setting.training_sets, setting.methods)
    rough = np.where(setting.worse, setting.rougher, 1.0)
    errors = setting.noise * np.exp(SPREAD_OF_ERRORS * rng.normal(size=(*shape[:2], 1, 1))) * rough
    noise = 0.2 * rng.normal(size=(*shape[:3], 1)) + errors * rng.normal(size=shape)
    of_tasks = setting.spread * setting.error / np.sqrt(2) * rng.normal(size=(*shape[:2], 1, shape[3]))
    effects = of_tasks + setting.size * setting.worse
    if not setting.is_share:
        return np.asarray(1 + effects + noise)
    scale = np.exp(rng.normal(size=(*shape[:2], 1, 1)))
    return np.asarray(scale * np.exp(effects) * np.maximum(1 + noise, 0.01))


def bounds_of(
    setting: MarginTasks, losses: FloatArray, level: float = LEVEL
) -> tuple[FloatArray, FloatArray]:
    """Ends of the intervals of all pairs, [n, pair], as a report has them for its claims over tasks."""
    first, second = (list(side) for side in zip(*combinations(range(setting.methods), 2), strict=True))
    means = losses.mean(axis=2)
    scaled = losses / means[:, :, None] if setting.is_share else losses
    values = np.log(means) if setting.is_share else means
    effects = np.moveaxis(values[..., first] - values[..., second], 1, -1)
    own = (scaled[..., first] - scaled[..., second]).var(axis=2, ddof=1) / setting.training_sets
    moderated = moderated_variances(np.moveaxis(own, 1, -1), setting.training_sets - 1)
    found = random_effects(effects, moderated)
    widths = found.half_widths(level / len(first))
    return found.means - widths, found.means + widths


def rates_over_tasks(setting: MarginTasks, count: int, rng: Generator) -> tuple[float, float, float]:
    """Per cent of data sets with a false "equivalent", with a false "not worse", whose intervals all hold."""
    first, second = np.array(list(combinations(range(setting.methods), 2))).T
    apart = setting.worse[second] & ~setting.worse[first]
    truth = setting.size * (setting.worse[first].astype(np.float64) - setting.worse[second])
    equivalent, not_worse, hold = [], [], []
    for done in range(0, count, CHUNK):
        low, high = bounds_of(setting, draw_losses(setting, min(CHUNK, count - done), rng))
        second_ok = (low > -setting.size)[:, apart]
        equivalent.append((second_ok & (high < setting.size)[:, apart]).any(axis=1))
        not_worse.append(second_ok.any(axis=1))
        hold.append(((low <= truth) & (truth <= high)).all(axis=1))
    shares = [percent(np.concatenate(each)) for each in (equivalent, not_worse, hold)]
    return shares[0], shares[1], shares[2]


def margin_settings() -> Iterator[MarginTasks]:
    """All that is measured."""
    for methods, tasks, sets, is_share in product((2, 5, 10), (3, 5, 20), (4, 8), (True, False)):
        for times, spread in product(TIMES, SPREADS):
            yield MarginTasks(methods, tasks, sets, times, is_share, spread)
    for (noise, rougher), tasks, times in product(((0.1, 3.0), (0.3, 1 / 3)), (5, 20), TIMES):
        yield MarginTasks(2, tasks, 4, times, is_share=True, noise=noise, rougher=rougher)


WORDS = """**Over tasks**: The same on average over T tasks, with half of the methods worse by exactly
the margin there; the margin is 3 or 10 standard errors of the mean over tasks, true differences vary
between tasks not at all or as much as their standard errors (smallest to largest of the four). A share
is judged by the geometric mean of ratios. *Rougher*: one of two methods varies between training sets by
30 % of its loss and more, three times as much as the other, which a mean of ratios is most sensitive
to. *All hold*: data sets in which the intervals of all pairs, in the margin's own terms, hold the truth
(nominal 95). A report judges at one part in T + 1 of this level. {count} data sets each."""


def over_tasks_table(effort: Effort) -> tuple[str, list[Finding]]:
    """What it is, a row for every number of methods, tasks and training sets, and the findings.

    Random numbers are of its own name, so that it can be measured without the rest of the section.
    """
    count, rng = max(effort.least, 2), generator("margins over tasks")
    rates: dict[tuple[object, ...], list[tuple[float, float, float]]] = {}
    for one in margin_settings():
        key = one.methods, one.tasks, one.training_sets, one.kind
        rates.setdefault(key, []).append(rates_over_tasks(one, count, rng))
    rows, findings = [], []
    for (methods, tasks, sets, what), several in rates.items():
        equivalent, not_worse, hold = zip(*several, strict=True)
        ends = [f"{min(each):.1f} – {max(each):.1f}" for each in (equivalent, not_worse, hold)]
        rows.append([methods, tasks, sets, what, *ends])
        where = f"k = {methods}, T = {tasks}, I = {sets}, {what}"
        for verdict, each in (("equivalent", equivalent), ("not worse", not_worse)):
            findings.append(Finding(f"margin over tasks: wrongly {verdict}", where, max(each), count))
        findings.append(Finding("margin over tasks: all intervals hold", where, min(hold), count))
    head = ["methods", "tasks", "training sets", "margin", "wrongly equivalent", "wrongly not worse"]
    head.append("all hold")
    words = fill(" ".join(WORDS.format(count=f"{count:,}").split()), width=106, break_on_hyphens=False)
    return f"{words}\n\n{table(head, rows)}", findings
