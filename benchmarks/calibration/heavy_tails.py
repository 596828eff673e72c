"""Calibration of rule V017: where it keeps silent, intervals of expected losses cover."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from benchmarks.calibration.equivalence import interval
from benchmarks.calibration.sections import Effort, Finding, Section, percent, table
from benchmarks.calibration.simulation import Generator
from redelve.stats.mean_squares import FloatArray, loss_tail

Shape = tuple[int, ...]
SETS = 8
LEARNING = 0.1
"""Standard deviation of what the training set changes in a prediction, the noise having one."""


def _student(df: int) -> Callable[[Generator, Shape], FloatArray]:
    return lambda rng, shape: rng.standard_t(df, size=shape) / np.sqrt(df / (df - 2))


def log_normal(sd: float) -> Callable[[Generator, Shape], FloatArray]:
    """Numbers whose logarithm has this standard deviation, less their mean, over their deviation."""
    mean, spread = np.exp(sd**2 / 2), np.sqrt((np.exp(sd**2) - 1) * np.exp(sd**2))
    return lambda rng, shape: (np.exp(sd * rng.normal(size=shape)) - mean) / spread


NOISES: dict[str, Callable[[Generator, Shape], FloatArray]] = {
    "Gaussian": lambda rng, shape: rng.normal(size=shape),
    "t, 8 df": _student(8),
    "t, 5 df": _student(5),
    "t, 4 df": _student(4),
    "t, 3 df": _student(3),
    "log-normal 0.3": log_normal(0.3),
    "log-normal 0.5": log_normal(0.5),
    "log-normal 0.7": log_normal(0.7),
    "log-normal 1.4": log_normal(1.4),
}


@dataclass(frozen=True)
class TailSetting:
    """Squared or absolute errors of a good guess under some noise; `cases` are all distinct test cases."""

    noise: str
    cases: int
    is_common: bool
    is_squared: bool = True

    @property
    def words(self) -> str:
        """The setting in a table."""
        loss = "squared" if self.is_squared else "absolute"
        return f"{self.noise}, {loss}, {self.cases} cases, {'common' if self.is_common else 'own'} test sets"

    def draw(self, count: int, rng: Generator) -> FloatArray:
        """Losses[n, i, j]."""
        shape = (count, 1, self.cases) if self.is_common else (count, SETS, self.cases // SETS)
        error = NOISES[self.noise](rng, shape) - LEARNING * rng.normal(size=(count, SETS, shape[2]))
        return self._loss(error)

    def truth(self, rng: Generator) -> float:
        """The expected loss: known for squared errors, drawn for absolute ones."""
        if self.is_squared:
            return 1 + LEARNING**2
        draws = NOISES[self.noise](rng, (4_000_000,)) - LEARNING * rng.normal(size=4_000_000)
        return float(np.abs(draws).mean())

    def _loss(self, error: FloatArray) -> FloatArray:
        return np.asarray(np.square(error) if self.is_squared else np.abs(error))


def measured(setting: TailSetting, count: int, rng: Generator) -> tuple[float, float, float]:
    """Per cent of data sets with an interval that covers, with a warning, and missed without a warning."""
    truth = setting.truth(rng)
    covered, warned = [], []
    for done in range(0, count, 200):
        losses = setting.draw(min(200, count - done), rng)
        low, high = interval(losses, setting.is_common)
        covered.append((low <= truth) & (truth <= high))
        cases = losses.mean(axis=1) if setting.is_common else losses.reshape(len(losses), -1)
        warned.append(np.array([loss_tail(row).is_heavy() for row in cases]))
    held, told = np.concatenate(covered), np.concatenate(warned)
    return percent(held.tolist()), percent(told.tolist()), percent((~held & ~told).tolist())


def tail_settings() -> Iterator[TailSetting]:
    """All that is measured."""
    for noise in NOISES:
        for cases in (64, 104, 400, 1000, 4000):
            for is_common in (False, True):
                yield TailSetting(noise, cases, is_common)
    for noise in ("t, 3 df", "log-normal 0.7"):
        for cases in (104, 1000):
            yield TailSetting(noise, cases, True, is_squared=False)


def false_warnings(methods: int, cases: int, count: int, rng: Generator) -> float:
    """Per cent of tables with Gaussian noise in which any method is warned of.

    Methods share the noise; half as much is their own.
    """
    warned = 0
    for _ in range(count):
        errors = rng.normal(size=cases) - 0.5 * rng.normal(size=(methods, cases))
        warned += any(loss_tail(row).is_heavy(methods) for row in np.square(errors))
    return 100 * warned / count


FALSE_AT = tuple((methods, cases) for methods in (1, 2, 10) for cases in (60, 100, 200, 400, 1000))

WORDS = """Losses of a good guess when the noise is as said (log-normal: targets whose logarithm has
that standard deviation), eight training sets, each with its own test cases or all with the same.
*Covers*: 95 % intervals of the expected loss that hold it. *Warned*: rule V017 speaks, because the
squared skewness of the cases' losses is at least 0.04 of their number (Cochran 1977) and the worst 1 %
of them carry more than they do in 95 % of data with Gaussian noise (of k methods: 100 − 5/k %). The
first alone would speak in 87 % of Gaussian tables with 60 cases and 71 % with 100. *Missed, not
warned*: intervals that miss without a word; with fewer than 200 cases some are, because heavy tails
cannot be seen there. Log-normal 0.7 with 1000 cases is what prices look like. *False warnings* are
tables with Gaussian noise and k methods that share it, with half as much of their own, in which any
method is warned of; at most about 5 % is right."""


def heavy_tails_section(rng: Generator, effort: Effort) -> Section:
    """Coverage under heavy tails, and when rule V017 speaks."""
    rows, findings = [], []
    count = max(effort.least // 2, 2)
    for setting in tail_settings():
        covers, warned, unwarned = measured(setting, count, rng)
        rows.append([setting.words, covers, warned, unwarned])
        findings.append(
            Finding("interval that misses without a warning of heavy tails", setting.words, unwarned, count)
        )
        if warned < 50:
            findings.append(Finding("interval where no heavy tails are noted", setting.words, covers, count))
    more = []
    for methods, cases in FALSE_AT:
        rate = false_warnings(methods, cases, count, rng)
        more.append([methods, cases, rate])
        where = f"k = {methods}, {cases} cases"
        findings.append(Finding("false warning of heavy tails, Gaussian noise", where, rate, count))
    body = table(["setting", "covers", "warned", "missed, not warned"], rows)
    body += f"\n\n{table(['methods', 'cases', 'false warnings'], more)}"
    return Section("Heavy tails", f"{WORDS} {count:,} data sets each.", body, tuple(findings))
