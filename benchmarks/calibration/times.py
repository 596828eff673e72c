"""Calibration of the measures of trial times: intervals of the efficiency, its comparison, the tail."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import inf

import numpy as np

from benchmarks.calibration.sections import Effort, Finding, Section, listing, margin, percent, table
from benchmarks.calibration.simulation import Generator
from redelve.stats.estimates import Interval
from redelve.stats.mean_squares import FloatArray
from redelve.stats.training_time import (
    Tail,
    TrialTimes,
    bootstrap_efficiency,
    compare_efficiency,
    estimate_efficiency,
    fit_tail,
    trial_times,
)

Part = Callable[[Generator, int], FloatArray]
Share = Callable[[FloatArray], FloatArray]
RESAMPLES = 400
SIZES = (30, 100, 1000, 10_000)


@dataclass(frozen=True)
class Kind:
    """A kind of trial: how likely it is, how times are drawn, and the share that has succeeded by a time."""

    weight: float
    draw: Part
    share: Share


@dataclass(frozen=True)
class Setting:
    """A mixture of kinds of trials, the rest never succeeding, with a limit; `whole` rounds up to epochs."""

    name: str
    kinds: tuple[Kind, ...]
    limit: float
    whole: bool = False

    def draw(self, count: int, rng: Generator) -> FloatArray:
        """Times of trials, infinite if they never succeed."""
        kind = np.searchsorted(np.cumsum([k.weight for k in self.kinds]), rng.random(count), side="right")
        times = np.full(count, inf)
        for number, each in enumerate(self.kinds):
            chosen = kind == number
            times[chosen] = each.draw(rng, int(chosen.sum()))
        return np.ceil(times) if self.whole else times

    def trials(self, count: int, rng: Generator, scale: float = 1.0) -> TrialTimes:
        """Trials with at least one success, all times multiplied by `scale`."""
        while True:
            times = self.draw(count, rng)
            if (times <= self.limit).any():
                return trial_times(scale * times, times <= self.limit, limit=scale * self.limit)

    def share(self, times: FloatArray) -> FloatArray:
        """Share of trials that have succeeded by a time."""
        return np.asarray(sum(kind.weight * kind.share(times) for kind in self.kinds))

    def efficiency(self) -> float:
        """The true peak: the share over the mean time spent, which is the integral of what is left."""
        if self.whole:
            grid = np.arange(0.0, self.limit + 1)
            share = self.share(grid)
            spent = np.concatenate(([0.0], np.cumsum(1 - share)[:-1]))
        else:
            grid = np.concatenate(([0.0], np.geomspace(1e-4, self.limit, 20_000)))
            share = self.share(grid)
            spent = np.concatenate(([0.0], np.cumsum(np.diff(grid) * (1 - (share[1:] + share[:-1]) / 2))))
        return float(1000 * (share[1:] / spent[1:]).max())


def gamma(weight: float, start: float, shape: float, scale: float, end: float = inf) -> Kind:
    """Gamma times after `start`, those beyond `end` drawn anew."""
    from scipy.special import gammainc, gammaincinv

    whole = float(gammainc(shape, (end - start) / scale)) if end < inf else 1.0
    return Kind(
        weight,
        lambda rng, n: start + scale * gammaincinv(shape, whole * rng.random(n)),
        lambda t: np.minimum(gammainc(shape, np.maximum(t - start, 0.0) / scale) / whole, 1.0),
    )


def lomax(weight: float, start: float, a: float, k: float) -> Kind:
    """The tail of Hamey's model."""
    return Kind(
        weight,
        lambda rng, n: start + np.expm1(-np.log1p(-rng.random(n)) / k) / a,
        lambda t: -np.expm1(-k * np.log1p(a * np.maximum(t - start, 0.0))),
    )


def lognormal(weight: float, mean: float, sd: float) -> Kind:
    """Logarithms are normal."""
    from scipy.special import ndtr

    return Kind(
        weight,
        lambda rng, n: np.exp(mean + sd * rng.normal(size=n)),
        lambda t: ndtr((np.log(np.maximum(t, 1e-300)) - mean) / sd),
    )


def settings() -> tuple[Setting, ...]:
    """From trials like those that Hamey (1992) published to the harshest."""
    return (
        exclusive_or(),
        Setting("encoder", (gamma(1.0, 60, 4, 16),), 600, whole=True),
        Setting("heavy tails", (lognormal(0.5, 4, 0.6), lomax(0.3, 20, 0.02, 0.7)), 3000),
        Setting("flat peak", (gamma(0.9, 20, 1, 100),), 1000),
        Setting("success is rare", (gamma(0.1, 30, 2, 30),), 500),
        Setting("restart at once", (lognormal(1.0, 3, 2),), 2000),
    )


def exclusive_or() -> Setting:
    """Made after table 1 of Hamey (1992): γ = 0.66 by 54, then a = 0.1 and k = 0.5 with λ = 0.7677."""
    return Setting("exclusive-or", (gamma(0.66, 12, 4.3, 4.7, 54), lomax(0.1077, 54, 0.1, 0.5)), 2000, True)


def counted(size: int, effort: Effort) -> int:
    """Data sets to draw: fewer where each takes long."""
    return max(4, effort.least // (1 if size < 1000 else 2 if size < 10_000 else 4))


def holds(interval: Interval | None, truth: float) -> bool:
    """Whether an interval is there and holds the truth."""
    return interval is not None and interval[0] <= truth <= interval[1]


def efficiency_covers(setting: Setting, size: int, count: int, rng: Generator) -> FloatArray:
    """Per cent of jackknife, bootstrap and percentile intervals that hold the true efficiency."""
    truth, hits = setting.efficiency(), np.zeros((count, 3))
    for hit in hits:
        trials = setting.trials(size, rng)
        hit[0] = holds(estimate_efficiency(trials).interval(), truth)
        drawn = bootstrap_efficiency(trials, seed=rng, resamples=RESAMPLES)
        hit[1:] = holds(drawn.interval(), truth), holds(drawn.percentile_interval(), truth)
    return np.asarray(100 * hits.mean(axis=0))


def jackknife_cover(setting: Setting, size: int, count: int, rng: Generator) -> float:
    """The first of these alone."""
    truth = setting.efficiency()
    drawn = (setting.trials(size, rng) for _ in range(count))
    return percent([holds(estimate_efficiency(trials).interval(), truth) for trials in drawn])


def comparison_level(
    pair: tuple[Setting, Setting], sizes: tuple[int, int], count: int, rng: Generator
) -> float:
    """Per cent of comparisons that find two algorithms of equal efficiency different."""
    scale, rejected = pair[1].efficiency() / pair[0].efficiency(), []
    for _ in range(count):
        found = compare_efficiency(pair[0].trials(sizes[0], rng), pair[1].trials(sizes[1], rng, scale))
        rejected.append(found.p_value is not None and found.p_value < 0.05)
    return percent(rejected)


def trials_name(size: int) -> str:
    """How the overview groups numbers of trials."""
    return "30 trials" if size < 100 else "100 or more trials"


KINDS = ("jackknife interval of e", "bootstrap interval of e", "percentile bootstrap of e (to compare with)")


def efficiency_intervals(rng: Generator, effort: Effort) -> Section:
    """Coverage of the intervals for the peak efficiency."""
    findings: list[Finding] = []
    rows: list[list[object]] = []
    for setting in settings():
        for size in SIZES:
            count = max(4, counted(size, effort) // 2)
            covers = efficiency_covers(setting, size, count, rng).tolist()
            where = f"{setting.name}, N = {size}"
            rows.append([where, *covers, f"{count:,}"])
            for kind, cover in zip(KINDS, covers, strict=True):
                findings.append(Finding(f"{kind}, {trials_name(size)}", where, cover, count))
    words = f"""Per cent of 95 % intervals that hold the true peak efficiency of N trials. *Exclusive-or* and
        *encoder* are made after the published problems (docs/training-time.md), *heavy tails* is half
        lognormal, three tenths Lomax with k = 0.7 and two tenths never, *flat peak* a constant rate after
        20 units of time and one in ten never, *success is rare* one trial in ten, *restart at once* a
        lognormal with σ = 2 whose best limit is at the 7th per cent of the trials or before. Intervals by
        jackknife, by bootstrap with correction of the bias ({RESAMPLES} resamples) and from bare percentiles.
        Standard errors {margin(counted(30, effort) // 2)} to {margin(counted(10_000, effort) // 2)}."""
    body = table(["setting", "jackknife", "bootstrap", "percentiles", "data sets"], rows)
    return Section("Trial times: intervals of the efficiency", words, body, tuple(findings))


PAIRS = ((0, 0), (1, 1), (2, 2), (3, 3), (4, 4), (5, 5), (0, 1), (2, 1), (3, 1), (4, 1))
UNEQUAL = (30, 1000)


def efficiency_comparisons(rng: Generator, effort: Effort) -> Section:
    """Level of the comparison of two efficiencies."""
    known, findings = settings(), []
    for first, second in PAIRS:
        pair = (known[first], known[second])
        for sizes in (*((size, size) for size in SIZES), UNEQUAL):
            count = counted(max(sizes), effort)
            what = f"comparison of e, {trials_name(min(sizes))}"
            shown = f"N = {sizes[0]}" if sizes[0] == sizes[1] else f"N = {sizes[0]} and {sizes[1]}"
            where = f"{pair[0].name}, {pair[1].name}, {shown}"
            findings.append(Finding(what, where, comparison_level(pair, sizes, count, rng), count))
    words = f"""Per cent of comparisons at 5 % that find a difference between two algorithms whose true
        efficiencies are the same: the second one's times are multiplied so that they are. Settings as
        before. Standard errors {margin(counted(30, effort))} to {margin(counted(10_000, effort))}."""
    body = listing(findings, "level")
    return Section("Trial times: comparison of efficiencies", words, body, tuple(findings))


@dataclass(frozen=True)
class TailSetting:
    """Trials whose tail follows the model, with the true success rate, mean and median without a limit."""

    setting: Setting
    rate: float
    mean: float | None
    size: int

    def median(self) -> float:
        """The time by which half of those that ever succeed have."""
        from scipy.optimize import brentq

        share = self.setting.share
        found = float(brentq(lambda t: float(share(np.array([t]))[0]) - self.rate / 2, 1e-9, 1e9))
        return float(np.ceil(found)) if self.setting.whole else found


def tail_settings() -> tuple[TailSetting, ...]:
    """Heavy and light tails; means are those of the kinds, weighed."""
    light = (gamma(0.5, 0, 1, 1e9, 40), lomax(0.4, 40, 0.01, 3))
    steady = (gamma(0.9, 20, 1, 100),)
    return (
        TailSetting(exclusive_or(), 0.7677, None, 1000),
        TailSetting(exclusive_or(), 0.7677, None, 10_000),
        TailSetting(Setting("k = 3", light, 200), 0.9, (0.5 * 20 + 0.4 * 90) / 0.9, 1000),
        TailSetting(Setting("k = 3", light, 200), 0.9, (0.5 * 20 + 0.4 * 90) / 0.9, 10_000),
        TailSetting(Setting("constant rate", steady, 200), 0.9, 120.0, 1000),
    )


def bursts(count: int, rng: Generator) -> TrialTimes:
    """Successes that come in bursts, which no smooth tail can follow; a fifth never succeeds."""
    burst = rng.choice(6, size=count, p=[0.3, 0.2, 0.14, 0.1, 0.06, 0.2])
    times = 1000.0 * (burst + 1) + 60 * rng.normal(size=count)
    return trial_times(np.where(burst < 5, np.ceil(times), inf), limit=6000)


def tail_covers(case: TailSetting, tails: Sequence[Tail]) -> list[tuple[str, float]]:
    """Per cent of the intervals that hold the truth, of those tails that the model fits."""
    found = [tail for tail in tails if tail.fits]
    median = case.median()
    covers = [
        ("asymptotic success rate", percent([holds(t.success_rate_interval, case.rate) for t in found])),
        ("corrected median", percent([holds(t.corrected_median_interval, median) for t in found])),
    ]
    if case.mean is not None:
        means = [holds(t.corrected_mean_interval, case.mean) for t in found if t.corrected_mean is not None]
        covers.append(("corrected mean", percent(means) if means else 100.0))
    return covers


def tails_section(rng: Generator, effort: Effort) -> Section:
    """Coverage of what the tail model gives, the printed form beside it, and refusals."""
    fewest, findings, rows = max(2, effort.least // 20), [], []
    for case in tail_settings():
        count = fewest if case.size > 1000 else 2 * fewest
        tails = [fit_tail(case.setting.trials(case.size, rng)) for _ in range(count)]
        where = f"{case.setting.name}, N = {case.size}"
        refused = percent([not tail.fits for tail in tails])
        for what, cover in tail_covers(case, tails):
            findings.append(Finding(f"{what}, interval", where, cover, count))
            rows.append([f"{what}, coverage", where, cover])
        rates = [tail.success_rate for tail in tails if tail.success_rate is not None]
        printed = [tail.as_published.success_rate for tail in tails if tail.as_published is not None]
        shown = f"{np.median(rates):.3f}", f"{np.median(printed):.3f}"
        rows.append([f"λ, true {case.rate:.3f}, median estimate", where, shown[0]])
        rows.append([f"λ as printed, true {case.rate:.3f}, median", where, shown[1]])
        rows.append(["model refused although it is true", where, refused])
    refused = percent([not fit_tail(bursts(1000, rng)).fits for _ in range(fewest)])
    rows.append(["model refused", "bursts, N = 1000", refused])
    words = f"""Per cent of 95 % intervals that hold the truth, T₀ being sought each time; medians of
        the estimates of λ by the form that follows from the model and by the one that is printed; and how
        often the model is refused. Tails of N trials: *exclusive-or* has k = 0.5 and no mean, *k = 3* a tail
        of a = 0.01 from 40 on with the limit 200, *constant rate* is exponential with the limit at 1.8 mean
        times. *Bursts* do not follow the model. {2 * fewest:,} data sets each, {fewest:,} where
        N = 10000 and of bursts; standard errors {margin(2 * fewest)} and {margin(fewest)}."""
    return Section(
        "Trial times: without a limit", words, table(["what", "setting", "found"], rows), tuple(findings)
    )
