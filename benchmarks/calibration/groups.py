"""Calibration of cross-validation by groups, with methods that really learn."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
from scipy.spatial import cKDTree

from benchmarks.calibration.sections import Effort, Finding, Section, margin, table
from benchmarks.calibration.simulation import Generator
from redelve.model.dataset import Rows
from redelve.stats.grouped import GroupedLosses, Scale, analyse_groups, compare_groups, grouped_losses
from redelve.stats.mean_squares import FloatArray

MOST_LEFT_ALONE, FOLDS, NEW_GROUPS = 12, 10, 40

Guess = Callable[[Rows, Rows], FloatArray]
"""Answers for some cases of what was trained without some groups."""


@dataclass(frozen=True)
class GroupKind:
    """How groups make cases alike: shares of the variance of inputs and noise that a group has in common.

    `classes` are signs of the number to predict; `labelled` gives all cases of a group one random class.
    """

    name: str
    inputs: float
    noise: float
    classes: bool = False
    labelled: bool = False

    @property
    def scale(self) -> Scale:
        """The scale of the intervals."""
        return "logit" if self.classes or self.labelled else "log"


KINDS = (
    GroupKind("squared error, noise of cases", 0.5, 0.0),
    GroupKind("squared error, noise half of groups", 0.5, 0.5),
    GroupKind("squared error, noise mostly of groups", 0.2, 0.9),
    GroupKind("errors", 0.5, 0.5, classes=True),
    GroupKind("errors, a class for each group", 0.9, 0.0, labelled=True),
)


@dataclass(frozen=True, eq=False)
class GroupedCases:
    """Cases in the order of their groups; two methods see two inputs each, all equally useful."""

    inputs: tuple[FloatArray, FloatArray]
    targets: FloatArray
    groups: Rows
    is_class: bool

    def part(self, groups: int, *, first: bool) -> GroupedCases:
        """The first so many groups, or all others."""
        chosen = self.groups < groups if first else self.groups >= groups
        first_input, second_input = (each[chosen] for each in self.inputs)
        return GroupedCases(
            (first_input, second_input), self.targets[chosen], self.groups[chosen], self.is_class
        )

    @property
    def starts(self) -> Rows:
        """The first case of each group."""
        return np.searchsorted(self.groups, np.arange(int(self.groups.max()) + 1))

    def losses(self, rows: Rows, guesses: FloatArray) -> FloatArray:
        """Squared errors, or errors of classes."""
        wrong = self.targets[rows] - guesses
        return np.asarray(wrong != 0 if self.is_class else wrong**2, dtype=np.float64)


def draw_cases(kind: GroupKind, sizes: Rows, rng: Generator) -> GroupedCases:
    """Cases of so many groups of these sizes."""
    groups = np.repeat(np.arange(sizes.size), sizes)

    def mixed(share: float, columns: int) -> FloatArray:
        own, common = rng.normal(size=(groups.size, columns)), rng.normal(size=(sizes.size, columns))
        return np.asarray(np.sqrt(share) * common[groups] + np.sqrt(1 - share) * own)

    first, second = mixed(kind.inputs, 2), mixed(kind.inputs, 2)
    targets = first[:, 0] + second[:, 0] + np.sqrt(2) * mixed(kind.noise, 1)[:, 0]
    if kind.labelled:
        targets = rng.choice([-1.0, 1.0], sizes.size)[groups]
        first[:, 0] += targets / 2
        second[:, 0] += targets / 2
    is_class = kind.classes or kind.labelled
    return GroupedCases((first, second), np.sign(targets) if is_class else targets, groups, is_class)


def nearest_guess(cases: GroupedCases, method: int) -> Guess:
    """The nearest training case's target."""
    inputs, starts = cases.inputs[method], cases.starts
    distances = ((inputs[:, None] - inputs[None]) ** 2).sum(axis=-1)
    near = np.minimum.reduceat(distances, starts, axis=1)
    places = [block.argmin(axis=1) for block in np.split(distances, starts[1:], axis=1)]
    told = cases.targets[np.column_stack(places) + starts]

    def guess(rows: Rows, without: Rows) -> FloatArray:
        allowed = near[rows]
        allowed[:, without] = np.inf
        return np.asarray(told[rows, allowed.argmin(axis=1)])

    return guess


def least_squares_guess(cases: GroupedCases, method: int) -> Guess:
    """A linear function, or its sign where classes are predicted."""
    inputs = np.column_stack([np.ones(cases.targets.size), cases.inputs[method]])
    products = np.add.reduceat(inputs[:, :, None] * inputs[:, None, :], cases.starts, axis=0)
    answers = np.add.reduceat(inputs * cases.targets[:, None], cases.starts, axis=0)
    whole, of_all = products.sum(axis=0), answers.sum(axis=0)

    def guess(rows: Rows, without: Rows) -> FloatArray:
        weights = np.linalg.solve(
            whole - products[without].sum(axis=0), of_all - answers[without].sum(axis=0)
        )
        return np.asarray(np.sign(inputs[rows] @ weights) if cases.is_class else inputs[rows] @ weights)

    return guess


def lost_by_nearest(known: GroupedCases, new: GroupedCases, method: int) -> float:
    """What the nearest known case loses on new ones."""
    places = cKDTree(known.inputs[method]).query(new.inputs[method])[1]
    return float(new.losses(np.arange(new.targets.size), known.targets[places]).mean())


def lost_by_least_squares(known: GroupedCases, new: GroupedCases, method: int) -> float:
    """What the linear function of the known cases loses on new ones."""
    both = [np.column_stack([np.ones(one.targets.size), one.inputs[method]]) for one in (known, new)]
    found = both[1] @ np.linalg.lstsq(both[0], known.targets, rcond=None)[0]
    guesses = np.sign(found) if known.is_class else found
    return float(new.losses(np.arange(new.targets.size), guesses).mean())


LEARNERS = {
    "nearest neighbour": (nearest_guess, lost_by_nearest),
    "least squares": (least_squares_guess, lost_by_least_squares),
}


def cross_validate(cases: GroupedCases, guess: Guess, folds: Rows) -> GroupedLosses:
    """What the package makes of folds of groups and pairs of them, `folds` being that of each group."""
    count = int(folds.max()) + 1
    groups = [np.flatnonzero(folds == fold) for fold in range(count)]
    rows = [np.flatnonzero(folds[cases.groups] == fold) for fold in range(count)]
    outer = [cases.losses(own, guess(own, left)) for own, left in zip(rows, groups, strict=True)]
    inner: list[list[FloatArray]] = [[] for _ in range(count)]
    for one, two in combinations(range(count), 2):
        tested = np.concatenate([rows[one], rows[two]])
        losses = cases.losses(tested, guess(tested, np.concatenate([groups[one], groups[two]])))
        inner[two].append(losses[: rows[one].size])
        inner[one].append(losses[rows[one].size :])
    whole = [[np.concatenate(each) for each in inner]]
    return grouped_losses(outer, [cases.groups[own] for own in rows], whole)


@dataclass(frozen=True)
class GroupSetting:
    """So many groups, of 5 to 20 cases each, how cases of a group are alike, and who learns."""

    groups: int
    kind: GroupKind
    learner: str

    def draw(self, rng: Generator) -> tuple[tuple[GroupedLosses, GroupedLosses], FloatArray]:
        """Both methods' losses, and what they lose on new groups when they are trained on all of these."""
        every = draw_cases(self.kind, rng.integers(5, 21, self.groups + NEW_GROUPS), rng)
        known, new = (every.part(self.groups, first=first) for first in (True, False))
        count = self.groups if self.groups <= MOST_LEFT_ALONE else FOLDS
        folds = np.empty(self.groups, dtype=np.int64)
        folds[rng.permutation(self.groups)] = np.arange(self.groups) * count // self.groups
        learn, lost = LEARNERS[self.learner]
        first, second = (cross_validate(known, learn(known, method), folds) for method in (0, 1))
        return (first, second), np.array([lost(known, new, method) for method in (0, 1)])


@dataclass(frozen=True)
class GroupRates:
    """Per cent: tests that reject, intervals that hold the expected loss and that of the model itself."""

    level: float
    covered: float
    covered_model: float


def group_rates(setting: GroupSetting, count: int, rng: Generator) -> tuple[GroupRates, GroupRates]:
    """How often two equally good methods are told apart at 5 %, and how often 95 % intervals hold.

    First by folds alone, then with pairs of folds.
    """
    drawn = [setting.draw(rng) for _ in range(count)]
    truths = np.array([truth for _, truth in drawn])
    nested = [both for both, _ in drawn]
    folds = [tuple(replace(one, without=None) for one in both) for both in nested]
    return _rates(folds, truths, setting.kind.scale), _rates(nested, truths, setting.kind.scale)


def _rates(drawn: Sequence[Sequence[GroupedLosses]], truths: FloatArray, scale: Scale) -> GroupRates:
    expected = np.mean([one.units.mean() for both in drawn for one in both])
    tests = [compare_groups(*both).p_value for both in drawn]
    level = np.mean([p is not None and p < 0.05 for p in tests])
    found = [[analyse_groups(one, scale=scale).interval() for one in both] for both in drawn]
    ends = np.array([[(np.nan, np.nan) if one is None else one for one in both] for both in found])
    defined = ~np.isnan(ends[..., 0])
    covered = (ends[..., 0] <= expected) & (expected <= ends[..., 1])
    of_model = (ends[..., 0] <= truths) & (truths <= ends[..., 1])
    rates = level, covered[defined].mean(), of_model[defined].mean()
    return GroupRates(*(100 * float(rate) for rate in rates))


def settings() -> Iterator[GroupSetting]:
    """Everything that is measured."""
    for groups in (12, 20, 30):
        for learner in LEARNERS:
            for kind in KINDS:
                yield GroupSetting(groups, kind, learner)


RATES = ("level", "covers", "model")
NAMES = ("folds", "nested")


def groups_section(rng: Generator, effort: Effort) -> Section:
    """Levels and coverages of cross-validation by groups, folds alone and with pairs of folds."""
    count = max(effort.least // 4, 2)
    findings, rows = [], []
    for setting in settings():
        where = f"{setting.groups} groups, {setting.learner}, {setting.kind.name}"
        line: list[object] = [where]
        for name, found in zip(NAMES, group_rates(setting, count, rng), strict=True):
            line += [found.level, found.covered, found.covered_model]
            findings += [
                Finding(f"test by groups, {name}", where, found.level, count),
                Finding(f"interval by groups, {name}", where, found.covered, count),
                Finding(f"interval by groups of the model, {name}", where, found.covered_model, count),
            ]
        rows.append(line)
    words = f"""Cross-validation by groups of 5 to 20 cases: one group left out with 12 groups, else ten folds
        of whole groups. Two equally good methods, y = x₁ + x₂ + noise; each sees one of the two and an input
        that tells nothing. Inputs and noise have a part in common within a group: noise none, half or nine
        tenths. Errors are those of signs; or a group has one class at random, which moves its inputs.
        *Level*: per cent of data sets in which the test at 5 % rejects; *covers*: 95 % intervals that hold
        the expected loss at the training-set size of the folds; *model*: that hold what the model trained on
        all groups loses on {NEW_GROUPS} new ones. Folds alone (standard errors doubled), then with pairs of
        folds (jackknife). {count:,} data sets per line; standard error {margin(count)} near 5 %."""
    head = ["setting", *(f"{name}: {rate}" for name in NAMES for rate in RATES)]
    return Section("Cross-validation by groups", words, table(head, rows), tuple(findings))
