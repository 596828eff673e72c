"""Minimising many functions side by side."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from redelve.seeds import generator
from redelve.stats.lockstep import Floats, minimise_together

Rows = NDArray[np.intp]


def valley(points: Floats, scale: Floats) -> tuple[Floats, Floats]:
    """Rosenbrock's function with its own steepness for each row: smallest, 0, at (1, 1)."""
    x, y = points.T
    value = scale * (y - x**2) ** 2 + (1 - x) ** 2
    slope = np.column_stack([-4 * scale * x * (y - x**2) - 2 * (1 - x), 2 * scale * (y - x**2)])
    return value, slope


def test_each_function_is_led_to_its_own_minimum() -> None:
    scale = np.array([1.0, 10.0, 100.0, 300.0])
    start = generator("valley").normal(size=(4, 2)) * 2
    found = minimise_together(lambda at, rows: valley(at, scale[rows]), start, tolerance=1e-7)
    assert found.points == pytest.approx(np.ones((4, 2)), abs=1e-5)
    assert found.evaluations.max() < 150


def test_quadratics_take_few_evaluations() -> None:
    rng = generator("quadratics")
    roots = rng.normal(size=(6, 5, 5))
    bowls = roots @ roots.swapaxes(1, 2) + np.eye(5)
    centres = rng.normal(size=(6, 5))

    def evaluate(at: Floats, rows: Rows) -> tuple[Floats, Floats]:
        away = at - centres[rows]
        slope = (bowls[rows] @ away[..., None])[..., 0]
        return 0.5 * (away * slope).sum(axis=1), slope

    found = minimise_together(evaluate, np.zeros((6, 5)), tolerance=1e-8)
    assert found.points == pytest.approx(centres, abs=1e-6)
    assert found.evaluations.max() < 60


def test_a_rows_outcome_is_the_same_alone_and_in_company() -> None:
    """Each coordinate has its own bend, so rows take many steps and sums of 37 products."""
    rng = generator("company")
    bends, start = rng.uniform(0.1, 9, size=(4, 37)), rng.normal(size=(4, 37))

    def evaluate(at: Floats, rows: Rows) -> tuple[Floats, Floats]:
        return (np.cosh(at) * bends[rows] + at).sum(axis=1), np.sinh(at) * bends[rows] + 1

    together = minimise_together(evaluate, start)
    for row in range(4):
        alone = minimise_together(lambda at, _, row=row: evaluate(at, np.array([row])), start[[row]])  # type: ignore[misc]
        assert np.array_equal(alone.points[0], together.points[row])
        assert alone.evaluations[0] == together.evaluations[row] > 5


def test_points_without_a_value_are_stepped_back_from() -> None:
    """-3x - log(1 - x) has no value from 1 on; its minimum is at 2/3."""

    def evaluate(at: Floats, rows: Rows) -> tuple[Floats, Floats]:
        x = at[:, 0]
        inside = x < 1
        rest = np.where(inside, 1 - x, 1.0)
        value = np.where(inside, -3 * x - np.log(rest), np.inf)
        return value, np.where(inside, -3 + 1 / rest, 0.0)[:, None]

    found = minimise_together(evaluate, np.array([[-5.0], [0.0]]), tolerance=1e-8)
    assert found.points[:, 0] == pytest.approx([2 / 3, 2 / 3], abs=1e-7)


def test_what_starts_at_its_minimum_is_evaluated_once() -> None:
    found = minimise_together(lambda at, rows: ((at**2).sum(axis=1), 2 * at), np.zeros((2, 3)))
    assert found.evaluations.tolist() == [1, 1]
