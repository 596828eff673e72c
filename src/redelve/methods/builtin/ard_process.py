"""gp-ard: Gaussian processes with a relevance of each input, all training sets at once (Rasmussen 1996)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial

import numpy as np

from redelve.answers.answer import Answer
from redelve.errors import SpecError
from redelve.methods.builtin.ard_evidence import JITTER, PARTS, ProcessLessons, VaguePriors
from redelve.methods.builtin.constant import constant_part
from redelve.methods.builtin.gaussian_process import ConditionedProcess
from redelve.methods.builtin.learnt import some_of
from redelve.methods.contract import BatchMethod, BuiltIn
from redelve.methods.shown import TestInputs, TrainingSet
from redelve.methods.views import Labels, View, ViewPart, answer_of
from redelve.model.dataset import Numbers
from redelve.nets import Engine
from redelve.nets.backend import side_by_side
from redelve.stats.lockstep import minimise_together

FEWEST_CASES = 5
CHOICE_CASES = 1024
CASES = 2048
EVALUATIONS = 200
MEANS, DEVIATIONS = (-1.0, -3.0, -3.0, -3.0), (1.0, 3.0, 3.0, 3.0)
"""Of the logs of signal, constant, slope and noise."""
MEAN_RELEVANCE = 1.0
START = (0.0, -2.0, -2.0, -2.0)


@dataclass(frozen=True, eq=False)
class ArdProcess(BuiltIn, BatchMethod):
    """Processes whose parameters have the largest posterior density, found side by side."""

    called: str = "gp-ard"  # type: ignore[misc]
    engine: Engine = field(default_factory=Engine)
    numbers_only = True
    late_imports = ("scipy.linalg", "scipy.linalg.lapack", "scipy.spatial.distance")

    def learn_many(
        self, trainings: Sequence[TrainingSet], rngs: Sequence[np.random.Generator]
    ) -> list[ArdPredictor]:
        """Fit the processes of all columns of all training sets."""
        for training in trainings:
            if (reason := self.why_not(training.targets)) is not None:
                raise SpecError(reason)
        views = [View(training) for training in trainings]
        columns = [_columns(view, rng) for view, rng in zip(views, rngs, strict=True)]
        found = iter(_fitted([one for own in columns for one in own], self.engine))
        return [
            ArdPredictor(view, tuple((one.position, next(found)) for one in own))
            for view, own in zip(views, columns, strict=True)
        ]


@dataclass(frozen=True, eq=False)
class ProcessColumn:
    """One column of a target: inputs, normalised values, the cases that parameters are chosen by."""

    position: int
    inputs: Numbers
    values: Numbers
    mean: float
    scale: float
    few: Labels

    @property
    def shape(self) -> tuple[int, int]:
        """What columns that are worked on together have in common."""
        return len(self.few), self.inputs.shape[1]


def _columns(view: View, rng: np.random.Generator) -> list[ProcessColumn]:
    found = []
    inputs = view.inputs if view.inputs.shape[1] else np.zeros((len(view.inputs), 1))
    for position in view.numerical:
        columns = view.columns(position)
        if len(columns) < FEWEST_CASES or not (columns != columns[0]).any():
            continue
        for column in columns.T:
            some = some_of(len(column), CASES, rng)
            mean, scale = float(column[some].mean()), float(column[some].std()) or 1.0
            few = some_of(len(some), CHOICE_CASES, rng)
            found.append(
                ProcessColumn(position, inputs[some], (column[some] - mean) / scale, mean, scale, few)
            )
    return found


def _fitted(columns: Sequence[ProcessColumn], engine: Engine) -> list[RelevantProcess]:
    """Parameters of lessons of equal shape are looked for together."""
    alike: dict[tuple[int, int], list[int]] = defaultdict(list)
    for place, column in enumerate(columns):
        alike[column.shape].append(place)
    found: dict[int, RelevantProcess] = {}
    works = [partial(chosen_logs, [columns[place] for place in places], engine) for places in alike.values()]
    for places, logs in zip(alike.values(), side_by_side(engine, works), strict=True):
        found |= {place: _conditioned(columns[place], own) for place, own in zip(places, logs, strict=True)}
    return [found[place] for place in range(len(columns))]


def chosen_logs(columns: Sequence[ProcessColumn], engine: Engine) -> Numbers:
    """The logs of largest posterior density, a row for each column."""
    width = columns[0].shape[1]
    prior = VaguePriors(np.array(MEANS), np.array(DEVIATIONS), MEAN_RELEVANCE)
    shown = ProcessLessons(
        np.array([one.inputs[one.few] for one in columns]),
        np.array([one.values[one.few] for one in columns]),
        engine,
    )

    def evaluate(logs: Numbers, rows: Labels) -> tuple[Numbers, Numbers]:
        value, slope = shown.evidence(logs, rows)
        more, steeper = prior.cost(logs)
        return value + more, slope + steeper

    start = np.tile(np.r_[START, np.full(width, -np.log(width))], (len(columns), 1))
    return minimise_together(evaluate, start, evaluations=EVALUATIONS).points


class RelevantProcess(ConditionedProcess):
    """One with a linear part and a relevance of each input."""

    def predict(self, inputs: Numbers) -> tuple[Numbers, Numbers]:
        """Mean and standard deviation, noise included (Rasmussen and Williams 2006, 2.25 and 2.26)."""
        from scipy.linalg import solve_triangular

        signal, constant, slope, noise = np.exp(self.logs[:PARTS]).tolist()
        between = _covariance(inputs, self.inputs, self.logs)
        explained = solve_triangular(self.factor, between.T, lower=True, check_finite=False)
        alone = signal + constant + slope * (inputs**2).sum(axis=1)
        variance = np.maximum(alone - (explained**2).sum(axis=0), 0.0) + noise
        return self.mean + self.scale * (between @ self.weights), self.scale * np.sqrt(variance)

    @property
    def relevances(self) -> Numbers:
        """The inverse length scale of each encoded input."""
        return np.asarray(np.exp(0.5 * self.logs[PARTS:]))


def _conditioned(column: ProcessColumn, logs: Numbers) -> RelevantProcess:
    from scipy.linalg import cho_solve

    covariance = _covariance(column.inputs, column.inputs, logs)
    np.fill_diagonal(covariance, covariance.diagonal() + np.exp(logs[3]) + JITTER)
    factor = np.asarray(np.linalg.cholesky(covariance), dtype=np.float64)
    weights = cho_solve((factor, True), column.values, check_finite=False)
    return RelevantProcess(column.inputs, logs, weights, factor, column.mean, column.scale)


def _covariance(one: Numbers, other: Numbers, logs: Numbers) -> Numbers:
    """Of noiseless values."""
    from scipy.spatial.distance import cdist

    signal, constant, slope, _ = np.exp(logs[:PARTS]).tolist()
    widths = np.exp(0.5 * logs[PARTS:])
    curved = signal * np.exp(-0.5 * cdist(one * widths, other * widths, "sqeuclidean"))
    return np.asarray(curved + constant + slope * (one @ other.T))


@dataclass(frozen=True, eq=False)
class ArdPredictor:
    """The processes of a training set, by the positions of their targets; else a constant is answered."""

    view: View
    processes: tuple[tuple[int, RelevantProcess], ...]

    def relevances(self) -> dict[str, dict[str, float]]:
        """For each target the relevance of each encoded input: its inverse length scale.

        Of an angular target it is the mean of those for sine and cosine.
        """
        names = self.view.encoded.input_names
        found = {}
        for position in dict.fromkeys(position for position, _ in self.processes):
            own = [process.relevances for place, process in self.processes if place == position]
            means = np.mean(own, axis=0).tolist()
            found[self.view.targets[position].name] = dict(zip(names, means, strict=False))
        return found

    def predict(self, inputs: TestInputs) -> Answer:
        """The answer in the original domain."""
        shown = self.view.test(inputs)
        shown = shown if shown.shape[1] else np.zeros((len(shown), 1))
        parts: dict[int, ViewPart] = {}
        for position in dict.fromkeys(position for position, _ in self.processes):
            own = [process.predict(shown) for place, process in self.processes if place == position]
            learnt = np.column_stack([mean for mean, _ in own])
            normal = self.view.normal(position, learnt, own[0][1])
            parts[position] = ViewPart(self.view.decoded(position, learnt), distribution=normal)
        for position in set(range(len(self.view.targets))) - parts.keys():
            parts[position] = constant_part(self.view.training, position, len(inputs))
        return answer_of(self.view.targets, parts)


GP_ARD = ArdProcess()
