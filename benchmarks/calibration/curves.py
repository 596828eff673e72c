"""Calibration of what is said of twice the data: coverage and wrong verdicts, over shapes of curves."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import product

import numpy as np

from benchmarks.calibration.heavy_tails import log_normal
from benchmarks.calibration.sections import Effort, Finding, Section, margin, prose, spread, table
from benchmarks.calibration.simulation import Generator
from redelve.findings.curves import WORTH
from redelve.stats.extrapolation import TwiceTheData, at_twice_the_data, means_by_set
from redelve.stats.mean_squares import FloatArray

Curve = Callable[[FloatArray], FloatArray]
"""Expected loss by training-set size, the largest being 1, where the loss is 1."""


def power_law(rest: float, exponent: float) -> Curve:
    """Falls towards `rest` as a power of the size."""
    return lambda x: rest + (1 - rest) * x**-exponent


def exponential(rest: float, rate: float) -> Curve:
    """Falls towards `rest` exponentially."""
    return lambda x: rest + (1 - rest) * np.exp(-rate * (x - 1))


def level_from(corner: float, rest: float, exponent: float) -> Curve:
    """A power law that stops falling at a size."""
    return lambda x: rest + (1 - rest) * (np.minimum(x, corner) / corner) ** -exponent


def stretched(rest: float, rate: float, power: float) -> Curve:
    """Falls as the exponential of a power of the size."""
    return lambda x: rest + (1 - rest) * np.exp(-rate * (x**power - 1))


def logistic(rest: float, steepness: float, middle: float) -> Curve:
    """Falls as a logistic function of the size's logarithm."""
    return lambda x: rest + (1 - rest) * (1 + middle**steepness) / (1 + (middle * x) ** steepness)


def double_descent(peak: float) -> Curve:
    """A power law with a peak at a size, which is half as high at a third of an octave to each side."""

    def loss(x: FloatArray) -> FloatArray:
        return np.asarray(0.6 + 0.4 * x**-0.5 + 0.3 * np.exp(-((np.log2(x / peak) / 0.4) ** 2)))

    return lambda x: loss(x) / loss(np.ones(1))


KNOWN: dict[str, Curve] = {
    "flat": np.ones_like,
    "power law, c = 0.1, to 0": power_law(0, 0.1),
    "power law, c = 0.3, to one half": power_law(0.5, 0.3),
    "power law, c = 0.5, to one half": power_law(0.5, 0.5),
    "power law, c = 0.5, to 0.8": power_law(0.8, 0.5),
    "power law, c = 1, to one half": power_law(0.5, 1),
    "power law, c = 1, to 0.8": power_law(0.8, 1),
    "power law, c = 1.8, to one half": power_law(0.5, 1.8),
    "exponential, rate 1, to one half": exponential(0.5, 1),
    "exponential, rate 2, to 0.8": exponential(0.8, 2),
    "exponential, rate 3, to 0.9": exponential(0.9, 3),
}
UNKNOWN: dict[str, Curve] = {
    "level from half the largest size, before c = 0.5": level_from(0.5, 0.5, 0.5),
    "level from half the largest size, before c = 1": level_from(0.5, 0.5, 1),
    "level from a quarter of it, before c = 1": level_from(0.25, 0.8, 1),
    "level from three quarters of it, before c = 0.5": level_from(0.75, 0.5, 0.5),
    "stretched exponential": stretched(0.5, 2, 0.5),
    "logistic": logistic(0.5, 2, 3),
    "rises as n^0.1": lambda x: x**0.1,
}
BREAKING: dict[str, Curve] = {
    "double descent, its peak at the largest size": double_descent(1.0),
    "double descent, its peak at half of it": double_descent(0.5),
    "a staircase, 10 % lower from the largest size on": lambda x: np.where(x < 1, 1.1, 1.0),
    "level, but 30 % lower at twice the largest size": lambda x: np.where(x > 1, 0.7, 1.0),
}
"""Shapes that no sizes up to the largest can tell from those that the interval knows."""


@dataclass(frozen=True)
class Trial:
    """How a curve is measured: sizes that double, training sets, and how these vary.

    `sd` is the deviation of a training set's mean loss at the largest size, in parts of the loss; smaller
    sets vary more. A part of the variance, `shared`, is the same at all sizes (test cases); with
    `is_nested` the training sets of a size are parts of those of the next, so that they are those of other
    instances.
    """

    sizes: int
    training_sets: int
    sd: float
    shared: float = 0.0
    is_nested: bool = False

    def words(self) -> str:
        """The setting in tables."""
        nested = ", nested" if self.is_nested else ""
        return (
            f"{self.sizes} sizes, I = {self.training_sets}, sd {100 * self.sd:g} %, "
            f"{100 * self.shared:g} % shared{nested}"
        )


def draw_curves(curve: Curve, trial: Trial, count: int, rng: Generator) -> tuple[FloatArray, float]:
    """Means[n, size, set], and by how much the loss truly falls at twice the largest size."""
    x = np.exp2(np.arange(1.0 - trial.sizes, 1.0))
    losses = curve(x)
    fall = float(1 - curve(np.array([2.0]))[0] / losses[-1])
    deviation = trial.sd * losses * x**-0.5
    if trial.is_nested:
        own = _nested(trial, count, rng)
    else:
        own = rng.normal(size=(count, trial.sizes, trial.training_sets))
    shared = rng.normal(size=(count, 1, trial.training_sets))
    both = np.sqrt(trial.shared) * shared + np.sqrt(1 - trial.shared) * own
    return losses[:, None] + deviation[:, None] * both, fall


def _nested(trial: Trial, count: int, rng: Generator) -> FloatArray:
    """Effects of training sets taken one after another: set i of a size is part of set i // 2 of the next."""
    sets, sizes = trial.training_sets, trial.sizes
    parts = rng.normal(size=(count, sets * 2 ** (sizes - 1)))
    found = []
    for size in range(sizes):
        taken = parts[:, : sets * 2**size].reshape(count, sets, 2**size)
        found.append(taken.sum(axis=2) / 2 ** (size / 2))
    return np.stack(found, axis=1)


@dataclass(frozen=True)
class CurveRates:
    """Per cent of data sets: interval holds the fall or there is none; verdicts; those that are wrong."""

    coverage: float
    yes: float
    no: float
    false_yes: float
    false_no: float


def simulate_curves(
    curve: Curve, trial: Trial, count: int, rng: Generator, *, level: float = 0.05
) -> CurveRates:
    """What is said of twice the data, and how often it is wrong."""
    means, fall = draw_curves(curve, trial, count, rng)
    sizes = [64 * 2**k for k in range(trial.sizes)]
    found = at_twice_the_data(means_by_set(sizes, means), level=level)
    return _rates(found, fall)


def _rates(found: TwiceTheData, fall: float) -> CurveRates:
    held = ~np.isfinite(found.low) | ((found.low <= fall) & (fall <= found.high))
    yes = 100 * float(np.mean(found.low >= WORTH))
    no = 100 * float(np.mean(found.high < WORTH))
    return CurveRates(
        100 * float(np.mean(held)), yes, no, yes if fall < WORTH else 0.0, no if fall >= WORTH else 0.0
    )


def trials(sizes: Iterable[int] = (2, 3, 5)) -> tuple[Trial, ...]:
    """Numbers of sizes and of training sets, precisions, and dependence between sizes."""
    ways = ((0.0, False), (0.8, False), (0.5, True))
    return tuple(
        Trial(count, sets, sd, *way)
        for count, sets, sd, way in product(sizes, (4, 8), (0.01, 0.05, 0.2), ways)
    )


def curves_section(rng: Generator, effort: Effort) -> Section:
    """Verdicts on twice the data for shapes that the interval knows, and for others."""
    findings: list[Finding] = []
    lines: list[list[object]] = []
    count = effort.least
    for kind, curves in (("known shapes", KNOWN), ("other shapes", UNKNOWN), ("breaking shapes", BREAKING)):
        for name, curve in curves.items():
            each = [(trial, simulate_curves(curve, trial, count, rng)) for trial in trials()]
            lines.append(_line(name, curve, [rates for _, rates in each]))
            findings += _findings(kind, name, each, count)
    head = ["curve", "falls by (%)", "interval holds", "yes", "no", "false yes", "false no"]
    words = f"""Learning curves of known shapes, and of shapes that the interval does not know. The loss at
        2, 3 or 5 sizes, each twice the one before, is measured with 4 or 8 training sets whose mean losses
        vary by 1, 5 or 20 % (at the largest size; smaller sets vary more); sizes vary independently, share
        80 % of the variance (test cases), or share half while training sets are nested. *Yes*: the whole
        interval says that twice the data make the loss fall by {100 * WORTH:g} % or more; *no*: by less;
        else it cannot be told. Smallest to largest per cent over the {len(trials())} settings; standard
        error {margin(count)} ({count:,} data sets each). Where no shape fits there is no interval, which
        counts as held. The last four turn, or break off, at the largest size or right beside it."""
    skewed, more = skewed_effects(rng.spawn(1)[0], effort)
    return Section("Twice the data", words, f"{table(head, lines)}\n\n{skewed}", (*findings, *more))


def _line(name: str, curve: Curve, rates: list[CurveRates]) -> list[object]:
    fall = 100 * float(1 - curve(np.array([2.0]))[0])
    return [
        name,
        fall,
        spread([one.coverage for one in rates]),
        spread([one.yes for one in rates]),
        spread([one.no for one in rates]),
        max(one.false_yes for one in rates),
        max(one.false_no for one in rates),
    ]


def _findings(kind: str, name: str, each: list[tuple[Trial, CurveRates]], count: int) -> Iterable[Finding]:
    for trial, rates in each:
        where = f"{name}; {trial.words()}"
        if kind == "known shapes":
            yield Finding("fall at twice the data, interval", where, rates.coverage, count)
        yield Finding(f"twice the data: false yes, {kind}", where, rates.false_yes, count)
        yield Finding(f"twice the data: false no, {kind}", where, rates.false_no, count)


# Skewed effects of training sets

EFFECTS: dict[str, Callable[[Generator, tuple[int, ...]], FloatArray]] = {
    "Gaussian": lambda rng, shape: rng.normal(size=shape),
    "log-normal 0.5": log_normal(0.5),
    "exponential": lambda rng, shape: rng.exponential(size=shape) - 1,
    "log-normal 1": log_normal(1.0),
    "exponential, turned round": lambda rng, shape: 1 - rng.exponential(size=shape),
}
SKEWED = ("flat", "power law, c = 0.5, to one half", "exponential, rate 3, to 0.9")
"""The curves that skewed effects are tried on."""


@dataclass(frozen=True)
class SkewedTrial:
    """A curve at some sizes; a part `shared` of the variance of training sets is the same at all of them."""

    curve: str
    sizes: tuple[int, ...]
    training_sets: int
    sd: float
    shared: float

    def words(self) -> str:
        """The setting in tables."""
        sizes = ", ".join(map(str, self.sizes))
        spreads = f"sd {100 * self.sd:g} %, {100 * self.shared:g} % shared"
        return f"{self.curve}; sizes {sizes}, I = {self.training_sets}, {spreads}"

    def simulate(self, effects: str, count: int, rng: Generator) -> SkewedRates:
        """What is said of twice the data, and how often it is wrong."""
        x, draw = np.array(self.sizes) / self.sizes[-1], EFFECTS[effects]
        losses, ahead = KNOWN[self.curve](x), KNOWN[self.curve](np.array([2.0]))
        shared = draw(rng, (count, 1, self.training_sets))
        own = draw(rng, (count, len(x), self.training_sets))
        both = np.sqrt(self.shared) * shared + np.sqrt(1 - self.shared) * own
        means = losses[:, None] + (self.sd * losses * x**-0.5)[:, None] * both
        found, fall = at_twice_the_data(means_by_set(self.sizes, means)), float(1 - ahead[0])
        return SkewedRates(_rates(found, fall), *_misses(found, fall))


@dataclass(frozen=True)
class SkewedRates:
    """Per cent of data sets: all that was counted, and intervals that lie below the fall, and above it."""

    all: CurveRates
    below: float
    above: float


def skewed_effects(rng: Generator, effort: Effort) -> tuple[str, list[Finding]]:
    """Known shapes where a few training sets have far larger, or smaller, losses than all others."""
    count, findings = effort.some, list[Finding]()
    sizes = ((32, 256), (128, 256), (64, 128, 256))
    settings = [SkewedTrial(*one) for one in product(SKEWED, sizes, (4, 8), (0.05, 0.2), (0.0, 0.8))]
    lines: list[list[object]] = []
    for effects in EFFECTS:
        rates = [each.simulate(effects, count, rng) for each in settings]
        lines.append(_skewed_line(effects, rates))
        if effects != "Gaussian":
            findings += _skewed_findings(effects, zip(settings, rates, strict=True), count)
    words = f"""Where a few training sets have far larger losses than all others (turned round: far
        smaller ones): {len(SKEWED)} of the known shapes ({"; ".join(SKEWED)}) at sizes 32 and 256, 128 and
        256, or 64, 128 and 256, with 4 or 8 training sets whose mean losses vary by 5 or 20 %, with nothing
        or 80 % of that variance shared by all sizes. *Understated*, *overstated*: the most intervals that
        lie below the true fall, or above it. Per cent over the {len(settings)} settings; standard error
        {margin(count)} ({count:,} data sets each)."""
    head = ["effects", "interval holds", "understated", "overstated", "false yes", "false no"]
    return f"{prose(words)}\n\n{table(head, lines)}", findings


def _misses(found: TwiceTheData, fall: float) -> tuple[float, float]:
    """Per cent of intervals that lie below the fall, and above it."""
    return 100 * float(np.mean(found.high < fall)), 100 * float(np.mean(found.low > fall))


def _skewed_line(effects: str, rates: list[SkewedRates]) -> list[object]:
    return [
        effects,
        spread([one.all.coverage for one in rates]),
        max(one.below for one in rates),
        max(one.above for one in rates),
        max(one.all.false_yes for one in rates),
        max(one.all.false_no for one in rates),
    ]


def _skewed_findings(
    effects: str, each: Iterable[tuple[SkewedTrial, SkewedRates]], count: int
) -> Iterable[Finding]:
    for trial, rates in each:
        where = f"{effects}; {trial.words()}"
        yield Finding("fall at twice the data, interval, skewed effects", where, rates.all.coverage, count)
        yield Finding("twice the data: false yes, skewed effects", where, rates.all.false_yes, count)
        yield Finding("twice the data: false no, skewed effects", where, rates.all.false_no, count)
