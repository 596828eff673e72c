"""The sum of two independent t variables, scaled: its tail and its quantiles, for many scales at once."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]

NODES = 128
"""So many distances are solved for; more are interpolated between them."""


def stretch(mix: FloatArray, dfs: tuple[float, float], level: float) -> FloatArray:
    """The distance over √(a² + c²), by v = (c − a)/(c + a)."""
    if mix.size <= NODES:
        return _solved_stretch(mix, dfs, level)
    turn = np.pi * (np.arange(NODES) + 0.5) / NODES
    coefficients = 2 / NODES * np.cos(np.outer(np.arange(NODES), turn))
    coefficients = coefficients @ _solved_stretch(np.cos(turn), dfs, level)
    coefficients[0] /= 2
    return np.asarray(np.polynomial.chebyshev.chebval(mix, coefficients))


def _solved_stretch(mix: FloatArray, dfs: tuple[float, float], level: float) -> FloatArray:
    """The same by the secant in logarithms, in which tails are almost straight, kept between bounds."""
    from scipy.special import stdtrit

    parts = np.array([1 - mix, 1 + mix]) / np.hypot(1 - mix, 1 + mix)
    quantiles, wider = (np.array([stdtrit(df, 1 - level / n) for df in dfs])[:, None] for n in (2, 4))
    scales = np.square(parts / quantiles)
    low, high = np.log(parts.max(axis=0)), np.log((parts / quantiles * wider).sum(axis=0))
    before, at_before = high, _log_tail(high, scales, dfs) - np.log(level)
    guess = low
    for _ in range(40):
        value = _log_tail(guess, scales, dfs) - np.log(level)
        low, high = np.where(value > 0, guess, low), np.where(value > 0, high, guess)
        if np.all((np.abs(value) < 1e-12) | (high - low < 1e-14)):
            break
        with np.errstate(divide="ignore", invalid="ignore"):
            step = guess - value * (guess - before) / (value - at_before)
        middle = np.where((step > low) & (step < high), step, (low + high) / 2)
        before, at_before, guess = guess, value, np.where(np.abs(value) < 1e-12, guess, middle)
    return np.asarray(np.exp(guess))


def _log_tail(log: FloatArray, scales: FloatArray, dfs: tuple[float, float]) -> FloatArray:
    return np.log(np.maximum(two_t_tail(np.exp(2 * log), (scales[0], scales[1]), dfs), 1e-300))


def two_t_tail(
    squared: FloatArray, scales: tuple[FloatArray, FloatArray], dfs: tuple[float, float]
) -> FloatArray:
    """P((√A·T + √C·T′)² > `squared`): given both chi-squares the sum is normal, so average a normal tail."""
    from scipy.special import erfc

    (first, first_weights), (second, second_weights) = _chi_square_nodes(dfs[0]), _chi_square_nodes(dfs[1])
    total = np.zeros(np.broadcast_shapes(squared.shape, scales[0].shape, scales[1].shape))
    spread = scales[0][..., None] / first
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        for scale, weight in zip(second, second_weights, strict=True):
            variance = spread + (scales[1] / scale)[..., None]
            total += weight * (erfc(np.sqrt(squared[..., None] / (2 * variance))) @ first_weights)
    return total


def _chi_square_nodes(df: float) -> tuple[FloatArray, FloatArray]:
    """Nodes and weights for averaging over a chi-square variable divided by its degrees of freedom.

    The trapezium rule in its logarithm, as far as the density exceeds e⁻⁴⁰ of its greatest value; for such
    integrands its error falls exponentially with the number of nodes (Trefethen and Weideman 2014).
    """
    step = min(0.35, 0.6 * np.sqrt(2 / df))
    edge = 80 / df
    reach = edge + np.sqrt(2 * edge)
    log = np.arange(-reach, np.log1p(reach) + step, step)
    weights = np.exp(df / 2 * (log - np.exp(log) + 1))
    return np.exp(log), weights / weights.sum()
