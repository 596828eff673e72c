"""Calibration of margins: how often methods that differ by the margin are called equivalent, or not worse."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import combinations, product

import numpy as np

from benchmarks.calibration.equivalence_over_tasks import over_tasks_table
from benchmarks.calibration.sections import Effort, Finding, Section, margin, percent, table
from benchmarks.calibration.simulation import Generator
from redelve.stats.families import PairFamily, PairSquares, Truths, family_of
from redelve.stats.mean_squares import FloatArray, crossed_variance, t_quantile

LEVEL = 0.05
CHUNK = 200
"""Data sets drawn at a time."""
KINDS = ("own", "common")
MARGINS = (3.0, 10.0, 30.0)
"""The margin over the standard error of a difference."""


@dataclass(frozen=True)
class AtTheMargin:
    """Half of the methods lose more than the others by exactly the margin.

    `times` is the margin over the true standard error of a difference. Training sets and test cases are
    harder or easier for all methods alike with a standard deviation of `shared`, which moves the losses, and
    with them a margin that is a share of them, but no difference.
    """

    methods: int
    training_sets: int
    is_common: bool
    times: float
    is_share: bool = False
    test_cases: int = 40
    sd_training: float = 0.2
    sd_cases: float = 0.5
    shared: float = 1.0

    @property
    def size(self) -> float:
        """The margin, in the units of the loss."""
        sets, cases = self.training_sets, self.test_cases
        variance = (self.sd_training**2 + 1 / cases) / sets
        variance += self.sd_cases**2 / (cases if self.is_common else cases * sets)
        return self.times * float(np.sqrt(2 * variance))

    @property
    def worse(self) -> Truths:
        """Which methods lose more than the others."""
        return np.arange(self.methods) >= (self.methods + 1) // 2

    @property
    def base(self) -> float:
        """What the better methods lose; a margin of one twentieth of it where it is a share."""
        return 20 * self.size


def draw(setting: AtTheMargin, count: int, rng: Generator) -> FloatArray:
    """Losses[n, method, i, j]."""
    k, i, j = setting.methods, setting.training_sets, setting.test_cases
    sets = 1 if setting.is_common else i
    losses = rng.normal(size=(count, k, i, j)) + setting.sd_training * rng.normal(size=(count, k, i, 1))
    losses += setting.sd_cases * rng.normal(size=(count, k, sets, j))
    losses += setting.shared * rng.normal(size=(count, 1, i, 1))
    losses += setting.shared * rng.normal(size=(count, 1, sets, j))
    losses += setting.base + setting.size * setting.worse[:, None, None]
    return np.asarray(losses)


def squares_of(losses: FloatArray, is_common: bool) -> PairSquares:
    """What `stats.families` finds of all pairs, of many data sets at once."""
    _, k, sets, cases = losses.shape
    pairs = list(combinations(range(k), 2))
    found = [mean_squares(losses[:, a] - losses[:, b], is_common) for a, b in pairs]
    mean, between, of_cases, residual = (np.stack(part, axis=-1) for part in zip(*found, strict=True))
    alike = np.ones(len(pairs))
    shared = np.maximum(of_cases - residual, 0.0) / cases if is_common else None
    return PairSquares(mean, between / cases, residual / cases, sets * alike, cases * alike, shared)


def mean_squares(losses: FloatArray, is_common: bool) -> tuple[FloatArray, ...]:
    """Means of tables [n, i, j] and mean squares of training sets, test cases and residual."""
    _, sets, cases = losses.shape
    rows, mean = losses.mean(axis=2), losses.mean(axis=(1, 2))
    training = cases * rows.var(axis=1, ddof=1)
    rest = losses - rows[..., None]
    if not is_common:
        residual = np.square(rest).sum(axis=(1, 2)) / (sets * (cases - 1))
        return mean, training, residual, residual
    columns = rest.mean(axis=1, keepdims=True)
    of_cases = sets * np.square(columns).sum(axis=(1, 2)) / (cases - 1)
    residual = np.square(rest - columns).sum(axis=(1, 2)) / ((sets - 1) * (cases - 1))
    return mean, training, of_cases, residual


def interval(losses: FloatArray, is_common: bool) -> tuple[FloatArray, FloatArray]:
    """Ends of the 95 % intervals of expected losses, from tables [n, i, j]."""
    sets, cases = losses.shape[1:]
    mean, *squares = mean_squares(losses, is_common)
    variance, df = squares[0], np.full_like(mean, sets - 1.0)
    if is_common:
        variance, df = crossed_variance((squares[0], squares[1], squares[2]), (sets, cases))
    width = t_quantile(df, 0.95) * np.sqrt(variance / (sets * cases))
    return mean - width, mean + width


def amounts(setting: AtTheMargin, losses: FloatArray) -> FloatArray:
    """The margin of each pair as a report has it, [n, pair]."""
    pairs = list(combinations(range(setting.methods), 2))
    if not setting.is_share:
        return np.full((len(losses), len(pairs)), setting.size)
    lows = [interval(losses[:, method], setting.is_common)[0] for method in range(setting.methods)]
    ends = np.maximum(np.stack(lows, axis=-1), 0.0)
    share = setting.size / setting.base
    return share * np.stack([np.minimum(ends[:, a], ends[:, b]) for a, b in pairs], axis=-1)


def below(family: PairFamily, bound: FloatArray) -> Truths:
    """Whether the whole interval of a difference lies below a bound: a test of the bound that speaks."""
    squares = family.squares
    moved = replace(family, squares=replace(squares, differences=squares.differences - bound))
    return np.asarray((squares.differences < bound) & (moved.p_values() < LEVEL))


def verdicts(setting: AtTheMargin, losses: FloatArray) -> tuple[Truths, Truths]:
    """Of many data sets, whether any pair at the margin is called equivalent, or the worse one not worse."""
    family = family_of(squares_of(losses, setting.is_common), setting.methods)
    amount = amounts(setting, losses)
    above = replace(family, squares=replace(family.squares, differences=-family.squares.differences))
    first_ok, second_ok = below(family, amount), below(above, amount)
    worse = setting.worse
    apart = np.array([worse[b] and not worse[a] for a, b in combinations(range(setting.methods), 2)])
    return np.any((first_ok & second_ok)[:, apart], axis=1), np.any(second_ok[:, apart], axis=1)


def wrong(setting: AtTheMargin, count: int, rng: Generator) -> tuple[float, float]:
    """Per cent of data sets with a false "equivalent", and with a false "not worse"."""
    sizes = [min(CHUNK, count - done) for done in range(0, count, CHUNK)]
    equivalent, not_worse = zip(*(verdicts(setting, draw(setting, size, rng)) for size in sizes), strict=True)
    return percent(np.concatenate(equivalent)), percent(np.concatenate(not_worse))


def settings() -> Iterator[AtTheMargin]:
    """All that is measured."""
    for methods, sets, kind, is_share in product((2, 5, 10), (4, 8), KINDS, (False, True)):
        for times in MARGINS:
            yield AtTheMargin(methods, sets, kind == "common", times, is_share)


WORDS = """Half of the methods lose more than the others by exactly the margin. Per cent of data sets in
which any such pair is called equivalent within the margin, and in which any worse method is called not
worse by more than the margin: both are wrong. The margin is 3, 10 and 30 standard errors of a difference
(smallest to largest of the three are given), as an amount, or as a share of the smaller loss, which then
is a twentieth; training sets and test cases that are hard for all methods move the losses, and with them
a share, by several times the standard error of a difference. 40 test cases, each training set with its
own or one set for all. At most 5 is right."""


def equivalence_section(rng: Generator, effort: Effort) -> Section:
    """Margins: k = 2, 5, 10, four and eight training sets, amounts and shares."""
    rows, findings = [], []
    count = max(effort.least // 2, 2)
    every = {one: wrong(one, count, rng) for one in settings()}
    for methods, sets in product((2, 5, 10), (4, 8)):
        row: list[object] = [methods, sets]
        for kind, is_share in product(KINDS, (False, True)):
            same = [AtTheMargin(methods, sets, kind == "common", times, is_share) for times in MARGINS]
            for place, what in enumerate(("equivalent", "not worse")):
                rates = [every[one][place] for one in same]
                row.append(f"{min(rates):.1f} – {max(rates):.1f}")
                where = f"k = {methods}, I = {sets}, {kind} test sets, {'share' if is_share else 'amount'}"
                findings.append(Finding(f"margin: wrongly {what}", where, max(rates), count))
        rows.append(row)
    head = ["methods", "training sets"]
    head += [
        f"{kind}, {'share' if is_share else 'amount'}: {what}"
        for kind, is_share in product(KINDS, (False, True))
        for what in ("equivalent", "not worse")
    ]
    note = f"{count:,} data sets each; the standard error of 5 is {margin(count)}."
    more, found = over_tasks_table(effort)
    body = f"{table(head, rows)}\n\n{more}"
    return Section("Equivalence and non-inferiority", f"{WORDS} {note}", body, (*findings, *found))
