"""Calibration of metrics that are no means of cases, end to end: answers, pseudo-values, claims, intervals.

Two linear discriminants, or two least-squares fits, see different inputs that are equally useful. What a
trained model is worth on endless cases is known by formula; the truth is its mean over training sets.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from math import log, pi, sqrt
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_expit, ndtr

from benchmarks.calibration.sections import Effort, Finding, Section, margin, percent, table
from benchmarks.calibration.simulation import Generator
from redelve.answers.answer import Answer, score
from redelve.answers.losses import parse_loss
from redelve.answers.predictions import ClassProbabilities, Guesses, Target, Truth
from redelve.findings.claims import LEVEL
from redelve.findings.task import ComparedTask, comparisons_on, finding_of
from redelve.model import Scheme
from redelve.run.pooled_answers import pooled_over_folds
from redelve.run.results import InstanceFacts, Job, MethodFacts, Record, Results, TaskFacts, TaskResults
from redelve.stats.families import family_of
from redelve.stats.mean_squares import FloatArray

Design = Literal["common", "own", "one", "folds"]
WORDS: dict[Design, str] = {
    "common": "common test set",
    "own": "own test sets",
    "one": "one trained model",
    "folds": "10 folds",
}
SCHEMES: dict[Design, Scheme] = {
    "common": "common",
    "own": "hierarchical",
    "one": "hierarchical",
    "folds": "cross-validation",
}
OF_CLASSES = ("roc_auc", "average_precision", "balanced_accuracy", "f1", "matthews_corrcoef", "log_loss")
OF_SCORES = ("roc_auc", "average_precision")
OF_NUMBERS = ("rmse", "r2")
FEATURES = 3
APART = 1.6
"""The distance of the classes' means, in standard deviations of a method's inputs."""
TRAINING, FOLDS, TRUTHS = 100, 10, 4000
SHRINKAGE = 0.001
CLASSES = (Target("kind", "categorical", ("no", "yes")),)
SIZE = (Target("size", "real"),)
ADDRESS = "/made/up/std.100"
NODES, WEIGHTS = np.polynomial.hermite_e.hermegauss(60)
WEIGHTS = WEIGHTS / sqrt(2 * pi)
Flags = NDArray[np.bool_]


@dataclass(frozen=True)
class MetricSetting:
    """A design with its numbers; `share` is that of positive cases, None where numbers are predicted.

    A second method that is `shrunken` puts the cases of a fold in the order of its discriminant, but its
    scores hardly differ, and go up with the share of positive cases in its training set. Where both are
    `mute` the scores of the first are random and those of the second all the same.
    """

    design: Design
    sets: int
    cases: int
    share: float | None = 0.5
    shrunken: bool = False
    mute: bool = False

    def __str__(self) -> str:
        sets = f"{self.sets} training sets, " if self.design in ("common", "own") else ""
        share = "" if self.share is None else f", {100 * self.share:g} % positive"
        kind = ", one method shrunken" if self.shrunken else ", mute methods" if self.mute else ""
        return f"{WORDS[self.design]}, {sets}{self.cases} cases{share}{kind}"

    @property
    def training(self) -> int:
        """How many cases train."""
        return self.cases * (FOLDS - 1) // FOLDS if self.design == "folds" else TRAINING

    @property
    def metrics(self) -> tuple[str, ...]:
        """What is measured."""
        if self.shrunken or self.mute:
            return OF_SCORES
        return OF_NUMBERS if self.share is None else OF_CLASSES


SETTINGS = (
    MetricSetting("common", 4, 200, 0.5),
    MetricSetting("common", 8, 200, 0.1),
    MetricSetting("common", 4, 1000, 0.03),
    MetricSetting("own", 8, 200, 0.5),
    MetricSetting("own", 8, 100, 0.2),
    MetricSetting("one", 1, 200, 0.5),
    MetricSetting("one", 1, 400, 0.05),
    MetricSetting("folds", FOLDS, 200, 0.5),
    MetricSetting("folds", FOLDS, 200, 0.2),
    MetricSetting("folds", FOLDS, 200, 0.225, shrunken=True),
    MetricSetting("common", 4, 200, 0.2, mute=True),
    MetricSetting("own", 8, 100, 0.2, mute=True),
    MetricSetting("own", 8, 200, 0.5, mute=True),
    MetricSetting("one", 1, 200, 0.2, mute=True),
    MetricSetting("folds", FOLDS, 200, 0.2, mute=True),
    MetricSetting("folds", FOLDS, 200, 0.225, mute=True),
    MetricSetting("common", 4, 200, None),
    MetricSetting("own", 8, 60, None),
    MetricSetting("one", 1, 200, None),
    MetricSetting("folds", FOLDS, 200, None),
)

# What trained models are worth


@dataclass(frozen=True)
class Discriminants:
    """Trained models whose scores are w·x + b; a row for each, of one method."""

    weights: FloatArray
    offsets: FloatArray

    def scores(self, inputs: FloatArray) -> FloatArray:
        """The scores of all models (rows) for all cases."""
        return self.weights @ inputs.T + self.offsets[:, None]


def learnt(counts: tuple[int, int], share: float, models: int, rng: Generator) -> Discriminants:
    """Linear discriminants from so many negative and positive cases, by the classes' means."""
    centre = np.full(FEATURES, APART / sqrt(FEATURES))
    low, high = (rng.standard_normal((models, FEATURES)) / sqrt(count) for count in counts)
    return between(low, high + centre, share)


def between(low: FloatArray, high: FloatArray, share: float) -> Discriminants:
    """The discriminants between two means in each row."""
    weights = high - low
    return Discriminants(weights, log(share / (1 - share)) - (weights * (high + low)).sum(axis=1) / 2)


def best_discriminant(share: float) -> Discriminants:
    """The one that endless cases would teach."""
    centre = np.full((1, FEATURES), APART / sqrt(FEATURES))
    return between(np.zeros_like(centre), centre, share)


def worth(models: Discriminants, share: float) -> dict[str, FloatArray]:
    """What each model has on endless cases, metric by metric."""
    centre = np.full(FEATURES, APART / sqrt(FEATURES))
    spread = np.sqrt(np.square(models.weights).sum(axis=1))
    above, below = models.weights @ centre + models.offsets, models.offsets
    hit, false = ndtr(above / spread), ndtr(below / spread)
    called = share * hit + (1 - share) * false
    points = above[:, None] + spread[:, None] * NODES
    others = below[:, None] + spread[:, None] * NODES
    over = share * ndtr((above[:, None] - points) / spread[:, None])
    ranked = over / (over + (1 - share) * ndtr((below[:, None] - points) / spread[:, None]))
    lost = -share * (log_expit(points) @ WEIGHTS) - (1 - share) * (log_expit(-others) @ WEIGHTS)
    return {
        "roc_auc": ndtr((above - below) / (sqrt(2) * spread)),
        "average_precision": ranked @ WEIGHTS,
        "balanced_accuracy": (hit + 1 - false) / 2,
        "f1": 2 * share * hit / (share + called),
        "matthews_corrcoef": sqrt(share * (1 - share)) * (hit - false) / np.sqrt(called * (1 - called)),
        "log_loss": lost,
    }


def fits(cases: int, models: int, rng: Generator) -> FloatArray:
    """Coefficients of least-squares fits of one method: the intercept, and its inputs'."""
    inputs = rng.standard_normal((models, cases, FEATURES))
    noise = rng.standard_normal((models, cases)) * sqrt(1 + FEATURES)
    return fitted(inputs, inputs.sum(axis=2) + noise)


def fitted(inputs: FloatArray, targets: FloatArray) -> FloatArray:
    """Least squares with an intercept, for each of several data sets."""
    design = np.concatenate([np.ones((*inputs.shape[:-1], 1)), inputs], axis=-1)
    squares = np.swapaxes(design, -1, -2) @ design
    return np.asarray(np.linalg.solve(squares, (np.swapaxes(design, -1, -2) @ targets[..., None]))[..., 0])


def fit_worth(coefficients: FloatArray) -> dict[str, FloatArray]:
    """RMSE and R² of each fit on endless cases; the other method's inputs are noise to it."""
    away = np.square(coefficients[:, 0]) + np.square(coefficients[:, 1:] - 1).sum(axis=1)
    errors, variance = 1 + FEATURES + away, 1 + 2 * FEATURES
    return {"rmse": np.sqrt(errors), "r2": 1 - errors / variance}


@cache
def truths(setting: MetricSetting) -> Mapping[str, float]:
    """The expected metrics, over training sets."""
    if setting.mute:
        return {"roc_auc": 0.5, "average_precision": setting.share or 0.0}
    rng = np.random.default_rng([7, setting.training])
    if setting.share is None:
        best = np.array([[0.0, *np.ones(FEATURES)]])
        found = fit_worth(best if setting.design == "one" else fits(setting.training, TRUTHS, rng))
    elif setting.design == "one":
        found = worth(best_discriminant(setting.share), setting.share)
    else:
        counts = class_counts(setting)
        found = worth(learnt(counts, setting.share, TRUTHS, rng), setting.share)
    return {name: float(values.mean()) for name, values in found.items()}


def class_counts(setting: MetricSetting) -> tuple[int, int]:
    """How many negative and positive cases train."""
    positive = round(setting.training * (setting.share or 0.0))
    return setting.training - positive, positive


# One data set


def drawn(setting: MetricSetting, rng: Generator) -> Results:
    """The results of both methods on one data set, with their pseudo-values."""
    instances, answers = _classes(setting, rng) if setting.share is not None else _numbers(setting, rng)
    targets = SIZE if setting.share is None else CLASSES
    losses = [parse_loss(name) for name in setting.metrics]
    facts = TaskFacts(
        ADDRESS, "t", "d", setting.training, SCHEMES[setting.design], 1, targets, tuple(instances), {}
    )
    records = []
    for name, several in answers.items():
        for number, answer in enumerate(several):
            found = score(answer, instances[number].truths, losses)
            job = Job(ADDRESS, name, number)
            records.append(Record(job, f"{name} {number}", 1, "done", found, answer))
    methods = {name: MethodFacts(name, name, {}, "") for name in answers}
    return pooled_over_folds(Results({ADDRESS: facts}, methods, tuple(records)))


def _instances(truth: FloatArray, target: Target, setting: MetricSetting) -> list[InstanceFacts]:
    """Test sets: the rows of the truths, one for all where they are shared."""
    rows = [truth] * setting.sets if truth.ndim == 1 else list(truth)
    numbers = np.arange(truth.size).reshape(truth.shape)
    return [
        InstanceFacts(
            str(k), setting.training, numbers if truth.ndim == 1 else numbers[k], (Truth.exact(target, row),)
        )
        for k, row in enumerate(rows)
    ]


def _shape(setting: MetricSetting) -> tuple[int, ...]:
    if setting.design == "own":
        return setting.sets, setting.cases
    return (setting.cases,) if setting.design in ("common", "one") else (FOLDS, setting.cases // FOLDS)


Drawn = tuple[list[InstanceFacts], dict[str, list[Answer]]]


def _classes(setting: MetricSetting, rng: Generator) -> Drawn:
    share = setting.share or 0.5
    shape = _shape(setting)
    positive = rng.random(shape) < share
    if setting.design == "folds":  # stratified, as redelve draws them
        positive = np.zeros(shape, dtype=bool)
        more, over = divmod(round(setting.cases * share), FOLDS)
        positive[:, :more] = True
        positive[:over, more] = True
    answers: dict[str, list[Answer]] = {}
    for name in ("first", "second"):
        centre = APART / sqrt(FEATURES)
        inputs = rng.standard_normal((*shape, FEATURES)) + centre * positive[..., None]
        models = _models(setting, inputs, positive, rng)
        if setting.shrunken and name == "second":
            models = shrunken(models, positive)
        scores = _scores(models, inputs)
        if setting.mute:
            scores = rng.standard_normal(scores.shape) if name == "first" else np.zeros_like(scores)
        answers[name] = [_probabilities(row) for row in scores]
    return _instances(positive.astype(np.float64), CLASSES[0], setting), answers


def _models(setting: MetricSetting, inputs: FloatArray, positive: Flags, rng: Generator) -> Discriminants:
    share = setting.share or 0.5
    if setting.design == "one":
        return best_discriminant(share)
    if setting.design != "folds":
        return learnt(class_counts(setting), share, setting.sets, rng)
    sums = [np.where(one[..., None], inputs, 0.0).sum(axis=1) for one in (~positive, positive)]
    counts = [one.sum(axis=1) for one in (~positive, positive)]
    means = [
        (every.sum(axis=0) - every) / (count.sum() - count)[:, None]
        for every, count in zip(sums, counts, strict=True)
    ]
    return between(means[0], means[1], share)


def shrunken(models: Discriminants, positive: Flags) -> Discriminants:
    """Models of folds with hardly any weights, and the log odds of their training sets: a large penalty."""
    ups, sizes = positive.sum(axis=1), positive.shape[1]
    training = positive.sum() - ups
    odds = np.log(training / (positive.size - sizes - training))
    return Discriminants(SHRINKAGE * models.weights, SHRINKAGE * models.offsets + odds)


def _scores(models: Discriminants, inputs: FloatArray) -> FloatArray:
    """For each training set the scores of its test cases."""
    if inputs.ndim == 2:
        return models.scores(inputs)
    return np.asarray((inputs * models.weights[:, None, :]).sum(axis=2) + models.offsets[:, None])


def _probabilities(scores: FloatArray) -> Answer:
    logs = np.stack([log_expit(-scores), log_expit(scores)], axis=1)
    return Answer(probabilities=ClassProbabilities(CLASSES[0], logs))


def _numbers(setting: MetricSetting, rng: Generator) -> Drawn:
    shape = _shape(setting)
    both = [rng.standard_normal((*shape, FEATURES)) for _ in range(2)]
    truth = both[0].sum(axis=-1) + both[1].sum(axis=-1) + rng.standard_normal(shape)
    answers = {}
    for name, inputs in zip(("first", "second"), both, strict=True):
        coefficients = _coefficients(setting, inputs, truth, rng)
        if inputs.ndim == 2:
            guesses = coefficients[:, :1] + coefficients[:, 1:] @ inputs.T
        else:
            guesses = coefficients[:, :1] + (inputs * coefficients[:, None, 1:]).sum(axis=2)
        answers[name] = [Answer(guesses=Guesses(SIZE, (row,))) for row in guesses]
    return _instances(truth, SIZE[0], setting), answers


def _coefficients(
    setting: MetricSetting, inputs: FloatArray, truth: FloatArray, rng: Generator
) -> FloatArray:
    if setting.design == "one":
        return np.array([[0.0, *np.ones(FEATURES)]])
    if setting.design != "folds":
        return fits(setting.training, setting.sets, rng)
    kept = [np.delete(np.arange(FOLDS), fold) for fold in range(FOLDS)]
    rows = np.stack([inputs[one].reshape(-1, FEATURES) for one in kept])
    return fitted(rows, np.stack([truth[one].ravel() for one in kept]))


# Rates


@dataclass(frozen=True)
class Rates:
    """Per cent of false claims, of intervals that hold the truth, and of data sets without an interval."""

    level: float
    coverage: float
    without: float


def outcomes(setting: MetricSetting, count: int, rng: Generator) -> Iterator[tuple[str, bool, bool | None]]:
    """For every data set and metric whether a difference is claimed, and whether the interval holds."""
    known = truths(setting)
    for _ in range(count):
        work = drawn(setting, rng).on(ADDRESS)
        for name in setting.metrics:
            found = comparisons_on(work, name)
            yield name, _is_claimed(found), _holds(work, found, known[name])


def _is_claimed(found: ComparedTask) -> bool:
    """Whether the report would claim a difference of the two methods, by its p-value."""
    if found.pairs is None:
        return False
    return bool(family_of(found.pairs.squares, 2).p_values()[0] < LEVEL)


def _holds(work: TaskResults, found: ComparedTask, truth: float) -> bool | None:
    loss = work.losses[found.code]
    bounds = finding_of(work, found.losses["first"], found.standard, loss.limits).bounds
    if bounds is None:
        return None
    low, high = sorted(map(loss.loss.metric_value, bounds))
    return low <= truth <= high


def measured(setting: MetricSetting, count: int, rng: Generator) -> dict[str, Rates]:
    """The rates of every metric in a setting."""
    claims: dict[str, list[bool]] = {name: [] for name in setting.metrics}
    held: dict[str, list[bool | None]] = {name: [] for name in setting.metrics}
    for name, claimed, holds in outcomes(setting, count, rng):
        claims[name].append(claimed)
        held[name].append(holds)
    return {name: _rates(claims[name], held[name]) for name in setting.metrics}


def _rates(claims: Sequence[bool], held: Sequence[bool | None]) -> Rates:
    known = [one for one in held if one is not None]
    cover = percent(known) if known else float("nan")
    return Rates(percent(claims), cover, 100 - 100 * len(known) / len(held))


def metrics_section(rng: Generator, effort: Effort) -> Section:
    """Metrics: levels and coverages by design."""
    findings: list[Finding] = []
    tables, count = [], effort.least // 2
    for names, settings in (
        (OF_CLASSES, [one for one in SETTINGS if one.share is not None]),
        (OF_NUMBERS, [one for one in SETTINGS if one.share is None]),
    ):
        rows = []
        for setting in settings:
            found = measured(setting, count, rng)
            for name, rates in found.items():
                findings.append(Finding(f"comparison by {name}", str(setting), rates.level, count))
                if rates.without < MOST_WITHOUT:
                    findings.append(Finding(f"interval of {name}", str(setting), rates.coverage, count))
            rows.append([str(setting), *(_cell(found.get(name)) for name in names)])
        tables.append(table(("design", *names), rows))
    words = f"""Per cent of true hypotheses rejected at 5 % by the claims of a report, and of 95 % intervals
        that hold the truth; in brackets, where it is not 0, the share of data sets that have no interval
        because a class has too few cases, or because few cases raise average precision. Two linear
        discriminants (two least-squares fits) see three inputs
        each, equally useful. *Shrunken*: the second puts the cases of each fold in the order of its
        discriminant by scores that hardly differ, around the log odds of its training set. *Mute*: the
        scores of the first are random, those of the second all the same. The truth is the
        mean, over training sets, of what a trained model has on endless cases. Standard errors
        {margin(count)}."""
    return Section("Metrics that are no means of cases", words, "\n\n".join(tables), tuple(findings))


MOST_WITHOUT = 50.0
"""Where more data sets have no interval, those that have one are too select to speak for it."""


def _cell(rates: Rates | None) -> str:
    if rates is None:
        return "–"
    without = f" ({rates.without:.0f})" if rates.without >= 0.5 else ""
    covered = "–" if np.isnan(rates.coverage) else f"{rates.coverage:.1f}"
    return f"{rates.level:.1f} / {covered}{without}"
