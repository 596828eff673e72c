"""Calibration of agreement and reliability: coverage of κ and correlations, levels of tests."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from benchmarks.calibration.sections import Effort, Finding, Section, margin, table
from benchmarks.calibration.simulation import Generator
from redelve.stats.agreement import Association, error_kappa, loss_correlation
from redelve.stats.mean_squares import FloatArray
from redelve.stats.reliability import reliability_diagram, spiegelhalter_test

Pair = tuple[FloatArray, FloatArray]
SIZES = (50, 200, 1000)
ENOUGH = 400_000
CLUSTER = 4
RESAMPLES = 199


def _errors(rate: float) -> Callable[[Generator, int], Pair]:
    """Errors of two methods; a third of the cases are hard for both."""

    def draw(rng: Generator, cases: int) -> Pair:
        chance = np.where(rng.random(cases) < 1 / 3, 2.0, 0.5) * rate
        one, two = (rng.random((2, cases)) < chance).astype(np.float64)
        return one, two

    return draw


def _squares(rng: Generator, cases: int) -> Pair:
    noise = rng.normal(size=cases)
    return np.square(noise - 0.5 * rng.normal(size=cases)), np.square(noise - 0.5 * rng.normal(size=cases))


AGREEMENT: dict[str, tuple[Callable[[Generator, int], Pair], Callable[..., Association]]] = {
    "κ, errors of 20 %": (_errors(0.2), error_kappa),
    "κ, errors of 5 %": (_errors(0.05), error_kappa),
    "correlation, errors of 20 %": (_errors(0.2), loss_correlation),
    "rank correlation, squared errors": (_squares, loss_correlation),
}


def coverage(name: str, cases: int, count: int, rng: Generator, *, clusters: bool = False) -> float:
    """Per cent of 95 % intervals that hold the truth, of those that there are.

    In clusters each case is there four times, so that there are a quarter as many independent ones.
    """
    draw, statistic = AGREEMENT[name]
    truth = statistic(*draw(rng, ENOUGH)).value
    assert truth is not None
    held = []
    for _ in range(count):
        if clusters:
            one, two = (np.repeat(losses, CLUSTER) for losses in draw(rng, cases // CLUSTER))
            found = statistic(one, two, np.arange(one.size) // CLUSTER)
        else:
            found = statistic(*draw(rng, cases))
        if found.low is not None and found.high is not None:
            held.append(found.low <= truth <= found.high)
    return 100 * float(np.mean(held))


def false_alarms(cases: int, count: int, rng: Generator) -> tuple[float, float, float]:
    """Per cent of calibrated probabilities that the test, Spiegelhalter's z and the band find fault with."""
    found = np.zeros(3)
    for _ in range(count):
        said = rng.beta(1, 2, size=cases)
        diagram = reliability_diagram(said, rng.random(cases) < said, rng=rng, resamples=RESAMPLES)
        assert diagram.test is not None
        assert diagram.spiegelhalter is not None
        assert diagram.band is not None
        where, low, high = diagram.band
        curve = diagram.frequencies[np.searchsorted(diagram.probabilities, where)]
        is_outside = bool(((curve < low - 1e-12) | (curve > high + 1e-12)).any())
        found += np.array([diagram.test.p_value <= 0.05, diagram.spiegelhalter.p_value <= 0.05, is_outside])
    first, second, third = (100 * found / count).tolist()
    return first, second, third


def clustered_alarms(cases: int, count: int, rng: Generator) -> float:
    """The same of Spiegelhalter's z, where every case is there four times."""
    found = 0
    for _ in range(count):
        said = rng.beta(1, 2, size=cases // CLUSTER)
        happened = rng.random(said.size) < said
        labels = np.arange(said.size * CLUSTER) // CLUSTER
        test = spiegelhalter_test(np.repeat(said, CLUSTER), np.repeat(happened, CLUSTER), labels)
        found += test is not None and test.p_value <= 0.05
    return 100 * found / count


WORDS = """Above, per cent of 95 % intervals of Cohen's κ and of the correlation of two methods' losses that
hold the truth, of those that there are (none where a method makes no error). In clusters every case is
there four times. Below, per cent of calibrated probabilities (beta with parameters 1 and 2) that are found
fault with at 5 %, with {} draws. Standard errors {} above and {} below."""


def agreement_section(rng: Generator, effort: Effort) -> Section:
    """Agreement of two methods, and reliability of probabilities."""
    count, fewer = effort.least, effort.few
    held = {
        (name, clusters): [coverage(name, cases, count, rng, clusters=clusters) for cases in SIZES]
        for name in AGREEMENT
        for clusters in (False, True)
    }
    told = {f"{name}, in clusters" if clusters else name: held[name, clusters] for name, clusters in held}
    rows = [[what, *rates] for what, rates in told.items()]
    findings = [
        Finding("interval of κ or correlation", f"{what}, {cases} cases", rate, count)
        for what, rates in told.items()
        for cases, rate in zip(SIZES, rates, strict=True)
    ]
    alarms = [false_alarms(cases, fewer, rng) for cases in SIZES]
    clustered = [clustered_alarms(cases, fewer, rng) for cases in SIZES]
    names = ("test by draws", "Spiegelhalter's z", "band of the whole curve")
    below: dict[str, tuple[float, ...]] = dict(zip(names, zip(*alarms, strict=True), strict=True))
    below["Spiegelhalter's z, in clusters"] = tuple(clustered)
    findings += [
        Finding(f"calibration, {what}", f"{cases} cases", rate, fewer)
        for what, rates in below.items()
        for cases, rate in zip(SIZES, rates, strict=True)
    ]
    lower = [[what, *rates] for what, rates in below.items()]
    head = [f"{cases} cases" for cases in SIZES]
    body = f"{table(['interval', *head], rows)}\n\n{table(['calibrated probabilities', *head], lower)}"
    words = WORDS.format(RESAMPLES, margin(count), margin(fewer))
    return Section("Agreement and reliability", words, body, tuple(findings))
