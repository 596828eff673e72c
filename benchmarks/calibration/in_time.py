"""Calibration of windows that move forward in time, on series with a memory, with methods that learn."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from benchmarks.calibration.sections import Effort, Finding, Section, margin, percent, rejections, table
from benchmarks.calibration.simulation import Generator
from redelve.data.tables.named_designs import CasesKnown, completed, named_design, windows
from redelve.stats.forward import analyse_forward, compare_forward
from redelve.stats.mean_squares import FloatArray

Learner = Literal["linear regression", "nearest neighbour"]
LEARNERS: tuple[Learner, ...] = ("linear regression", "nearest neighbour")
CASES = (60, 200, 400)
MEMORIES = (0.0, 0.5, 0.9, 0.97)
AT_ONCE = 100


@dataclass(frozen=True)
class SeriesSetting:
    """How many cases there are, how much one remembers of the one before, and who learns."""

    cases: int
    memory: float
    learner: Learner

    def __str__(self) -> str:
        return f"{self.cases} cases, memory {self.memory:g}, {self.learner}"


def series(rng: Generator, shape: tuple[int, int], memory: float) -> FloatArray:
    """Stationary autoregressive series with variance 1, in rows."""
    steps = rng.standard_normal(shape)
    made = np.empty(shape)
    made[:, 0] = steps[:, 0]
    for time in range(1, shape[1]):
        made[:, time] = memory * made[:, time - 1] + np.sqrt(1 - memory**2) * steps[:, time]
    return made


def block_losses(setting: SeriesSetting, count: int, rng: Generator) -> tuple[FloatArray, FloatArray, float]:
    """Mean squared errors of two equally good methods on the blocks of many series, and n_test/n_train.

    The target is the sum of two inputs and noise; each method sees one of the inputs.
    """
    design = completed(named_design("time"), CasesKnown(setting.cases, None, None))
    (size,) = design.training_set_sizes
    places = windows(design, size, setting.cases)
    inputs = [series(rng, (count, setting.cases), setting.memory) for _ in range(2)]
    targets = inputs[0] + inputs[1] + series(rng, (count, setting.cases), setting.memory)
    losses = [np.empty((count, len(places))) for _ in range(2)]
    for seen, found in zip(inputs, losses, strict=True):
        for k, one in enumerate(places):
            trained = (seen[:, one.training], targets[:, one.training])
            guesses = _guesses(setting.learner, *trained, seen[:, one.testing])
            found[:, k] = ((targets[:, one.testing] - guesses) ** 2).mean(axis=1)
    tested = sum(len(one.testing) for one in places)
    return losses[0], losses[1], tested / (size * len(places))


def _guesses(learner: Learner, inputs: FloatArray, targets: FloatArray, asked: FloatArray) -> FloatArray:
    if learner == "linear regression":
        x, y = (some - some.mean(axis=1, keepdims=True) for some in (inputs, targets))
        slope = (x * y).sum(axis=1, keepdims=True) / (x * x).sum(axis=1, keepdims=True)
        fitted = targets.mean(axis=1, keepdims=True) + slope * (asked - inputs.mean(axis=1, keepdims=True))
        return np.asarray(fitted)
    found = np.empty_like(asked)
    for start in range(0, len(asked), AT_ONCE):
        some = slice(start, start + AT_ONCE)
        nearest = np.abs(asked[some][:, :, None] - inputs[some][:, None, :]).argmin(axis=2)
        found[some] = np.take_along_axis(targets[some], nearest, axis=1)
    return found


def measured(setting: SeriesSetting, count: int, rng: Generator) -> tuple[float, float]:
    """Level of the comparison, and coverage of the interval of one method's loss."""
    first, second, ratio = block_losses(setting, count, rng)
    p_values = [
        compare_forward(one, two, ratio=ratio).p_value for one, two in zip(first, second, strict=True)
    ]
    truth = float(np.concatenate([first, second]).mean())
    intervals = [analyse_forward(one, ratio=ratio).interval() or (np.inf, -np.inf) for one in first]
    covered = percent([low <= truth <= high for low, high in intervals])
    return rejections(np.array(p_values, dtype=np.float64)), covered


def in_time_section(rng: Generator, effort: Effort) -> Section:
    """Forward in time: levels and coverages by the length and the memory of a series."""
    findings: list[Finding] = []
    rows = []
    for learner in LEARNERS:
        for cases in CASES:
            cells: list[object] = [learner, str(cases)]
            for memory in MEMORIES:
                setting = SeriesSetting(cases, memory, learner)
                level, cover = measured(setting, effort.least, rng)
                findings.append(Finding("comparison forward in time", str(setting), level, effort.least))
                findings.append(Finding("interval forward in time", str(setting), cover, effort.least))
                cells.append(f"{level:.1f} / {cover:.1f}")
            rows.append(cells)
    words = f"""Per cent of true hypotheses rejected at 5 %, and of 95 % intervals of a loss that hold the
        truth, forward in time: half of the cases are tested in six blocks, each by what is learnt from the
        window before it. Inputs and noise are autoregressive; *memory* is the correlation of a value with the
        one before (with 0.97 it is above a half for 22 steps, where a block of 200 cases has 16). Two methods
        see an input each, both equally useful. Standard errors {margin(effort.least)}."""
    head = ("learner", "cases", *(f"memory {memory:g}" for memory in MEMORIES))
    return Section("Forward in time", words, table(head, rows), tuple(findings))
