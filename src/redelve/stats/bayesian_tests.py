"""Probabilities that one method is practically better: Bayesian signed-rank and correlated t tests.

Differences are of losses, first method minus second: to the *left* of the region of practical equivalence
(rope) the first is better, to the right the second. See docs/comparisons.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from math import sqrt

import numpy as np
from numpy.typing import ArrayLike

from redelve.errors import StatisticsError
from redelve.stats.estimates import NO_VARIATION, Interval, t_interval
from redelve.stats.mean_squares import FloatArray
from redelve.stats.resampled import ROUNDING, corrected_variance, overlap_caveats

CHUNK = 2**21
"""Dirichlet weights held at a time: sixteen megabytes."""

POSTERIOR = (
    "these are degrees of belief, given the prior: 0.95 is no promise to be wrong in at most 5 % of such "
    "comparisons, and nothing here is adjusted for many comparisons"
)
MOST_PROBABLE = (
    "each number is the probability that its region is the likeliest place for the differences of tasks like "
    "these; it says nothing of the size of the differences there"
)
NO_ROPE = (
    "without a rope nothing can be found equivalent: of two equal methods one then seems better with "
    "probability above 0.95 in 10 to 19 % of comparisons (54 to 5 tasks)"
)
FEW = 10


@dataclass(frozen=True)
class RopeProbabilities:
    """Posterior probabilities that differences lie mostly left of, within and right of the rope.

    `standard_errors` are those of the simulation alone, in the same order; they vanish with more draws.
    """

    left: float
    rope: float
    right: float
    standard_errors: tuple[float, float, float]
    half_width: float
    tasks: int
    draws: int
    caveats: tuple[str, ...]


@dataclass(frozen=True)
class CorrelatedT:
    """Posterior of the expected difference on one data set: a t distribution, and its mass about the rope.

    All but the mean is None where the differences do not vary.
    """

    mean: float
    standard_error: float | None
    degrees_of_freedom: float | None
    left: float | None
    rope: float | None
    right: float | None
    half_width: float
    caveats: tuple[str, ...]

    def interval(self, level: float = 0.95) -> Interval | None:
        """Central credible interval, or None."""
        return t_interval(self.mean, self.standard_error, self.degrees_of_freedom, level)


@dataclass(frozen=True)
class PriorPlacement:
    """Dirichlet process prior: one pseudo-observation `place` that counts as `strength` tasks."""

    strength: float = 0.5
    place: float = 0.0


SYMMETRIC = PriorPlacement()
"""Half a task with no difference at all (Benavoli et al. 2017)."""


def signed_rank(
    differences: ArrayLike,
    *,
    rope: float,
    rng: np.random.Generator,
    prior: PriorPlacement = SYMMETRIC,
    draws: int = 50_000,
) -> RopeProbabilities:
    """Bayesian signed-rank test with a region of practical equivalence ±`rope`.

    Weights w ~ Dirichlet(s, 1, …, 1) on the pseudo-observation z₀ and the differences z give the share
    θ = Σ_ij w_i w_j of pairs with (z_i + z_j)/2 left of, in and right of the rope, pairs on an edge counting
    half on either side; a region's probability is how often its share is the largest, shared where shares tie
    (Benavoli, Corani, Demšar and Zaffalon 2017, JMLR 18(77)). `differences` has one entry per task, all in
    comparable units. Give `rng` a name: `redelve.seeds.generator("rope", "a against b")`.
    """
    return _signed_ranks([_checked(differences)], rope=rope, rng=rng, prior=prior, draws=draws)[0]


def signed_rank_all(
    table: ArrayLike,
    *,
    rope: float,
    rng: np.random.Generator,
    prior: PriorPlacement = SYMMETRIC,
    draws: int = 20_000,
    pairs: Sequence[tuple[int, int]] | None = None,
) -> dict[tuple[int, int], RopeProbabilities]:
    """`signed_rank` of pairs of columns (all, if none are named) of a table of tasks × methods.

    All are from the same weights: what the weights of one pair are is nothing to another, so the drawing,
    most of the work, is done once, and a pair's probabilities do not depend on which others are asked for.
    """
    values = np.asarray(table, dtype=np.float64)
    pairs = list(combinations(range(values.shape[1]), 2)) if pairs is None else pairs
    differences = [_checked(values[:, i] - values[:, j]) for i, j in pairs]
    found = _signed_ranks(differences, rope=rope, rng=rng, prior=prior, draws=draws)
    return dict(zip(pairs, found, strict=True))


def _signed_ranks(
    several: Sequence[FloatArray],
    *,
    rope: float,
    rng: np.random.Generator,
    prior: PriorPlacement,
    draws: int,
) -> list[RopeProbabilities]:
    _check_options(rope, prior, draws)
    points = [np.concatenate(([prior.place], values)) for values in several]
    wins = np.zeros((len(several), 3))
    size = max(1, CHUNK // points[0].size)
    for start in range(0, draws, size):
        weights = _weights(points[0].size, prior.strength, min(size, draws - start), rng)
        for k, each in enumerate(points):
            wins[k] += _largest(_shares(each, weights, rope)).sum(axis=1)
    return [_probabilities(won / draws, rope, several[0].size, draws) for won in wins]


def _probabilities(shares: FloatArray, rope: float, tasks: int, draws: int) -> RopeProbabilities:
    left, middle, right = (float(x) for x in shares)
    errors = tuple(sqrt(max(x * (1 - x), 0.0) / draws) for x in (left, middle, right))
    return RopeProbabilities(
        left=left,
        rope=middle,
        right=right,
        standard_errors=(errors[0], errors[1], errors[2]),
        half_width=rope,
        tasks=tasks,
        draws=draws,
        caveats=_caveats(tasks, rope),
    )


def correlated_t(differences: ArrayLike, *, ratio: float, rope: float) -> CorrelatedT:
    """Posterior of the difference from the resamples of one data set (Corani and Benavoli 2015).

    A t distribution with J − 1 degrees of freedom about the mean, with squared scale
    (1/J + ρ/(1 − ρ)) s²; `ratio` is ρ/(1 − ρ) = n_test/n_train, see `resampled.fold_ratio`.
    """
    values = _checked(differences)
    _check_options(rope, SYMMETRIC, 1)
    mean = float(values.mean())
    error = sqrt(corrected_variance(values, ratio))
    if error <= ROUNDING * float(np.abs(values).max()):
        return CorrelatedT(mean, None, None, None, None, None, rope, (NO_VARIATION,))
    df = float(values.size - 1)
    left, right = _tail((-rope - mean) / error, df), _tail((mean - rope) / error, df)
    found = (*overlap_caveats(values.size, ratio), POSTERIOR, *(() if rope else (NO_ROPE,)))
    return CorrelatedT(mean, error, df, left, max(1.0 - left - right, 0.0), right, rope, found)


def _checked(differences: ArrayLike) -> FloatArray:
    values = np.asarray(differences, dtype=np.float64).ravel()
    if values.size < 2:
        raise StatisticsError(f"a posterior needs at least two differences: got {values.size}")
    if not np.isfinite(values).all():
        position = int(np.flatnonzero(~np.isfinite(values))[0])
        raise StatisticsError(
            f"difference {position} (from 0) is not a finite number: got {values[position]}"
        )
    return values


def _check_options(rope: float, prior: PriorPlacement, draws: int) -> None:
    if not (np.isfinite(rope) and rope >= 0):
        raise StatisticsError(f"the rope reaches from −r to r with r ≥ 0, in units of the loss: got {rope}")
    if not (np.isfinite(prior.strength) and prior.strength > 0 and not np.isnan(prior.place)):
        raise StatisticsError(f"a prior has a strength above 0 and a place: got {prior}")
    if draws < 1:
        raise StatisticsError(f"the posterior is drawn at least once: got {draws} draws")


def _weights(points: int, strength: float, draws: int, rng: np.random.Generator) -> FloatArray:
    """Dirichlet weights, a column for each draw; the pseudo-observation comes first."""
    weights = rng.standard_exponential((draws, points))
    weights[:, 0] = rng.standard_gamma(strength, draws)
    return np.ascontiguousarray((weights / weights.sum(axis=1, keepdims=True)).T)


def _shares(points: FloatArray, weights: FloatArray, rope: float) -> FloatArray:
    """θ_left, θ_rope, θ_right of every draw; cumulated weights of sorted points make this linear in tasks."""
    order = np.argsort(points)
    ordered, weights = points[order], weights[order]
    up_to = np.concatenate((np.zeros((1, weights.shape[1])), np.cumsum(weights, axis=0)))

    def below(edge: float) -> FloatArray:
        """Weight of pairs with z_i + z_j below twice the edge, and half of those on it."""
        first = np.searchsorted(ordered, 2 * edge - ordered, side="left")
        last = np.searchsorted(ordered, 2 * edge - ordered, side="right")
        pairs = 2 * up_to[first] if (first == last).all() else up_to[first] + up_to[last]
        return np.asarray(np.einsum("jd,jd->d", weights, pairs) / 2)

    left, not_right = below(-rope), below(rope)
    if rope == 0:
        return np.stack((left, np.zeros_like(left), 1 - left))
    return np.stack((left, not_right - left, 1 - not_right))


def _largest(shares: FloatArray) -> FloatArray:
    """One for the largest share of every draw; draws with equal largest shares count in parts."""
    top = shares >= shares.max(axis=0) - 1e-12
    return np.asarray(top / top.sum(axis=0))


def _tail(t: float, df: float) -> float:
    from scipy.special import stdtr

    return float(stdtr(df, t))


def _caveats(tasks: int, rope: float) -> tuple[str, ...]:
    found = [POSTERIOR, MOST_PROBABLE]
    if rope == 0:
        found.append(NO_ROPE)
    if tasks < FEW:
        found.append(f"only {tasks} tasks: the prior counts, so try others before you conclude")
    return tuple(found)
