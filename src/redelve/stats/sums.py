"""Sums of squares of a table of losses, block by block, without a second table in memory.

Every sum is taken about a mean found in a first pass, and what rounding left over in that mean is removed
afterwards (the corrected two-pass algorithm; Chan, Golub and LeVeque, 1983). Losses near 10⁹ with a standard
deviation of 1 thus lose no digits that they had.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from redelve.errors import StatisticsError

FloatArray = NDArray[np.float64]
Losses = FloatArray | Sequence[FloatArray] | Sequence[Sequence[float]]
"""One row of losses per training set: a two-dimensional array, or one vector per training set."""

BLOCK = 2**16
"""Losses held in one block: half a megabyte, which stays in the processor's cache."""


@dataclass(frozen=True)
class Sums:
    """The overall mean and the sums of squares about means; `test_cases` is None for nested losses."""

    mean: float
    training_sets: float
    test_cases: float | None
    residual: float


def as_rows(losses: Losses) -> list[FloatArray]:
    """The losses as one vector per training set; float64 input is viewed, not copied."""
    try:
        rows = [np.asarray(row, dtype=np.float64) for row in losses]
    except (TypeError, ValueError) as error:
        raise StatisticsError(f"losses must be a table of numbers: {error}") from None
    for i, row in enumerate(rows):
        if row.ndim != 1:
            raise StatisticsError(
                "losses must be one row per training set, one column per test case: "
                f"got shape {row.shape} for training set {i}; for several runs use the analyses of runs"
            )
    return rows


def shape_of(rows: Sequence[FloatArray]) -> str:
    """How a table of losses is described in an error: `3 × 200`, or `2 × (200, 199)` where rows differ."""
    sizes = [row.size for row in rows]
    columns = str(sizes[0]) if sizes and len(set(sizes)) == 1 else f"({', '.join(map(str, sizes))})"
    return f"{len(rows)} × {columns}"


def row_means(rows: Sequence[FloatArray], whose: str = "") -> FloatArray:
    """Mean loss of each training set; NaN losses are an error that names the first, infinite ones pass."""
    with np.errstate(invalid="ignore", over="ignore"):
        means = np.array([row.sum() / row.size for row in rows])
    if np.isnan(means).any():
        _refuse_nan(rows, whose)
    return means


def _refuse_nan(rows: Sequence[FloatArray], whose: str) -> None:
    for i, row in enumerate(rows):
        found = np.flatnonzero(np.isnan(row))
        if found.size:
            raise StatisticsError(
                f"{whose}the loss of training set {i}, test case {found[0]} (from 0) is not a number; "
                "give failed predictions the loss of a default guess: leaving them out favours who fails"
            )


def crossed_sums(rows: Sequence[FloatArray], minus: Sequence[FloatArray] | None, about: FloatArray) -> Sums:
    """Two-way sums of squares of `rows`, or of `rows` − `minus` (manual eqs. 13–16 without the divisors).

    `about` holds the row means as far as they are known; the blocks find what is missing in them.
    """
    training_sets, test_cases = len(rows), rows[0].size
    left = np.zeros(training_sets)
    cases = residual = 0.0
    for block in _blocks(rows, minus, about):
        left += block.sum(axis=1)
        column = block.mean(axis=0)
        cases += float(column @ column)
        np.subtract(block, column, out=block)
        residual += float(np.einsum("ij,ij->", block, block))
    left /= test_cases
    centre = float(left.mean())
    deviation = left - centre
    mean, training = _between(about, left)
    return Sums(
        mean=mean,
        training_sets=test_cases * training,
        test_cases=training_sets * max(cases - test_cases * centre * centre, 0.0),
        residual=max(residual - test_cases * float(deviation @ deviation), 0.0),
    )


def nested_sums(rows: Sequence[FloatArray], minus: Sequence[FloatArray] | None, about: FloatArray) -> Sums:
    """One-way sums of squares of `rows`, or of `rows` − `minus` (manual eqs. 4–6 without the divisors).

    Rows may differ in length: the sum between training sets is then that of unweighted means (Yates 1934)
    times the harmonic mean of the lengths, so that its expectation keeps its form.
    """
    left = np.zeros(len(rows))
    residual = 0.0
    for i, row in enumerate(rows):
        second = None if minus is None else [minus[i]]
        within = 0.0
        for block in _blocks([row], second, about[i : i + 1]):
            left[i] += block.sum()
            within += float(block[0] @ block[0])
        left[i] /= row.size
        residual += max(float(within - row.size * left[i] ** 2), 0.0)
    mean, training = _between(about, left)
    return Sums(mean, harmonic_size(rows) * training, None, residual)


def harmonic_size(rows: Sequence[FloatArray]) -> float:
    """Harmonic mean of the numbers of test cases; the number itself where all are equal."""
    sizes = [row.size for row in rows]
    return float(sizes[0]) if len(set(sizes)) == 1 else len(sizes) / sum(1 / size for size in sizes)


def _between(about: FloatArray, left: FloatArray) -> tuple[float, float]:
    """Overall mean and sum of squares of the row means, which are given as `about` + `left`."""
    deviation = (about - about[0]) + left
    centre = float(deviation.mean())
    deviation = deviation - centre
    return float(about[0]) + centre, float(deviation @ deviation)


def _blocks(
    rows: Sequence[FloatArray], minus: Sequence[FloatArray] | None, about: FloatArray
) -> Iterator[FloatArray]:
    """Blocks of columns of `rows` (− `minus`) less `about`; each block overwrites the one before."""
    test_cases = rows[0].size
    width = min(test_cases, max(1, BLOCK // len(rows)))
    buffer = np.empty((len(rows), width))
    for start in range(0, test_cases, width):
        part = slice(start, min(start + width, test_cases))
        block = buffer[:, : part.stop - start]
        for i, row in enumerate(rows):
            if minus is None:
                np.subtract(row[part], about[i], out=block[i])
            else:
                np.subtract(row[part], minus[i][part], out=block[i])
                block[i] -= about[i]
        yield block
