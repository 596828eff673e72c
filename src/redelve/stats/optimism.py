"""Errors of prediction from resampled cases: the bootstrap, .632 and .632+, and the price of having selected.

Losses of cases are weighted: 1/n each for a mean, 1/(K n_c) for a mean over K classes (balanced errors). The
weights sum to one. Where classes matter, resamples are drawn class by class.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from redelve.errors import StatisticsError
from redelve.stats.estimates import Interval, check_level
from redelve.stats.mean_squares import FloatArray

IntArray = NDArray[np.int64]

OUTSIDE = 0.632
"""The share of cases that a bootstrap sample holds, 1 − 1/e."""
CELLS = 5_000_000
"""Samples times cases that are worked on at once."""


@dataclass(frozen=True)
class BootstrapError:
    """The leave-one-out bootstrap: `case_losses` are means over the samples without the case, NaN if none."""

    mean: float
    standard_error: float
    case_losses: FloatArray
    samples: int


@dataclass(frozen=True)
class PointSixThreeTwo:
    """The .632 or .632+ estimate with what it is made of; `weight` is that of the bootstrap error."""

    mean: float
    weight: float
    overfitting: float
    """R̂ of Efron and Tibshirani (1997, section 3): 0 for none, 1 for as bad as no information."""


@dataclass(frozen=True)
class SelectionError:
    """The loss of whichever model looked best, estimated where that look does not count."""

    mean: float
    values: FloatArray
    """One for each bootstrap sample."""

    def interval(self, level: float = 0.95) -> Interval:
        """The percentiles of the bootstrap values (Tsamardinos, Greasidou and Borboudakis 2018)."""
        check_level(level)
        low, high = np.quantile(self.values, [(1 - level) / 2, (1 + level) / 2])
        return float(low), float(high)


def leave_one_out_bootstrap(
    counts: IntArray, losses: FloatArray, weights: FloatArray, classes: IntArray
) -> BootstrapError:
    """Êrr⁽¹⁾ of Efron and Tibshirani (1997, section 2) and its standard error (their section 5).

    counts[b, i] is how often sample b holds case i, losses[b, i] the loss of case i after training on sample
    b; it is not looked at where the count is above 0. With few samples their standard error is too large by
    noise alone; what noise would give is taken off, as Wager, Hastie and Efron (2014) do for forests. What
    then remains above the variance of independent cases with these mean losses is trusted the less, the more
    the noise itself varies: v² against v² + 2 Σ noise², v being that variance.
    """
    if len(counts) < 2:
        raise StatisticsError(f"the bootstrap needs two samples or more: got {len(counts)}")
    outside = counts == 0
    times = outside.sum(axis=0)
    with np.errstate(invalid="ignore"):
        means = np.where(outside, losses, 0.0).sum(axis=0) / times
    seen = times > 0
    if not seen.any():
        raise StatisticsError(
            f"no case is outside any of the {len(counts)} bootstrap samples: draw more of them"
        )
    shares = np.where(seen, weights, 0.0) / weights[seen].sum()
    mean = float((shares * np.where(seen, means, 0.0)).sum())
    variance = _delta_variance(counts, np.where(outside, losses, 0.0), shares, classes)
    return BootstrapError(mean, sqrt(variance), means, len(counts))


def _delta_variance(counts: IntArray, losses: FloatArray, shares: FloatArray, classes: IntArray) -> float:
    """Σ D̂ᵢ² less what noise adds, drawn towards the variance of independent cases and never below it."""
    outside = counts == 0
    times = np.maximum(outside.sum(axis=0), 1)
    means = losses.sum(axis=0) / times
    counts_errors = bool(np.isin(losses, (0.0, 1.0)).all())
    direct, independent = np.zeros(len(shares)), 0.0
    for one in np.unique(classes):
        members = (classes == one) & (shares > 0)
        size = int(members.sum())
        if size < 2:
            continue
        parts = shares[members] * (means[members] - means[members].mean())
        direct[members] = (2 + 1 / (size - 1)) * parts
        independent += float(shares[members].sum()) ** 2 * _spread(means[members], counts_errors) / size
    averages = losses @ shares
    apart = counts - counts.mean(axis=0)
    through_training = (apart.T @ averages) / times
    noise = (apart**2).sum(axis=0) * averages.var(ddof=1) / times**2
    found = float(((direct + through_training) ** 2).sum() - noise.sum())
    doubt = 2 * float((noise**2).sum())
    trust = independent**2 / (independent**2 + doubt) if independent > 0 else 0.0
    return independent + trust * max(found - independent, 0.0)


def _spread(means: FloatArray, counts_errors: bool) -> float:
    """Variance of a case's loss; one of 0 or 1 varies by p (1 − p), however its mean over samples varies."""
    mean = float(means.mean())
    return mean * (1 - mean) if counts_errors else float(means.var(ddof=1))


def point632(apparent: float, bootstrap: float) -> PointSixThreeTwo:
    """0.368 times the error on the training cases and 0.632 times the bootstrap's (Efron 1983).

    >>> round(point632(0.1, 0.3).mean, 4)
    0.2264
    """
    return PointSixThreeTwo((1 - OUTSIDE) * apparent + OUTSIDE * bootstrap, OUTSIDE, 0.0)


def point632_plus(apparent: float, bootstrap: float, no_information: float) -> PointSixThreeTwo:
    """The .632+ estimate, which leans on the bootstrap the more the rule overfits.

    With γ̂ the error where inputs tell nothing: Êrr⁽¹⁾′ = min(Êrr⁽¹⁾, γ̂), R̂′ = (Êrr⁽¹⁾′ − err)/(γ̂ − err), the
    weight is 0.632/(1 − 0.368 R̂′) (Efron and Tibshirani 1997, section 3).

    >>> found = point632_plus(0.0, 0.5, 0.5)
    >>> round(found.mean, 4), round(found.weight, 4), found.overfitting
    (0.5, 1.0, 1.0)
    """
    held = min(bootstrap, no_information)
    overfitting = 0.0
    if held > apparent and no_information > apparent:
        overfitting = (held - apparent) / (no_information - apparent)
    weight = OUTSIDE / (1 - (1 - OUTSIDE) * overfitting)
    return PointSixThreeTwo((1 - weight) * apparent + weight * held, weight, overfitting)


def bootstrap_bias_corrected(
    losses: FloatArray, weights: FloatArray, classes: IntArray, rng: np.random.Generator, samples: int = 500
) -> SelectionError:
    """The loss of the best of several models, corrected for having chosen it (BBC-CV).

    losses[i, m] is the cross-validated loss of case i by model m. Each bootstrap sample of cases chooses the
    model; the cases outside judge it (Tsamardinos, Greasidou and Borboudakis 2018).
    """
    if losses.ndim != 2 or losses.shape[1] < 2:
        raise StatisticsError(f"a choice needs the losses of two models or more: got shape {losses.shape}")
    at_once = max(CELLS // len(losses), 1)
    sizes = [min(at_once, samples - start) for start in range(0, samples, at_once)]
    values = np.concatenate([_chosen_losses(losses, weights, classes, rng, size) for size in sizes])
    if not values.size:
        raise StatisticsError(f"no class has enough cases to be drawn from: got {len(losses)} cases")
    return SelectionError(float(values.mean()), values)


def _chosen_losses(
    losses: FloatArray, weights: FloatArray, classes: IntArray, rng: np.random.Generator, samples: int
) -> FloatArray:
    """What each sample's choice costs on the cases outside; none where a class has no case outside."""
    counts = draw_counts(classes, samples, rng)
    chosen = ((counts * weights) @ losses).argmin(axis=1)
    outside = _balanced(counts == 0, weights, classes)
    usable = np.flatnonzero(outside.sum(axis=1) > 0)
    judged: FloatArray = (outside[usable] @ losses)[np.arange(usable.size), chosen[usable]]
    return judged


def draw_counts(classes: IntArray, samples: int, rng: np.random.Generator) -> IntArray:
    """How often each bootstrap sample holds each case; as many of each class as there are."""
    counts = np.zeros((samples, classes.size), dtype=np.int64)
    for one in np.unique(classes):
        members = np.flatnonzero(classes == one)
        counts[:, members] = rng.multinomial(members.size, np.full(members.size, 1 / members.size), samples)
    return counts


def _balanced(outside: NDArray[np.bool_], weights: FloatArray, classes: IntArray) -> FloatArray:
    """Weights of the cases outside, each class at its share of the whole; zero where a class is missing."""
    found = np.zeros(outside.shape)
    complete = np.ones(len(outside), dtype=bool)
    for one in np.unique(classes):
        members = classes == one
        part = outside[:, members] * weights[members]
        total = part.sum(axis=1)
        complete &= total > 0
        share = weights[members].sum() / np.where(total > 0, total, 1.0)
        found[:, members] = part * share[:, None]
    return found * complete[:, None]


def fold_optimism(fold_losses: FloatArray) -> float:
    """How much the smallest cross-validated loss flatters: mean over folds of e_k(best) − min_m e_k(m).

    fold_losses[k, m] is the mean loss of model m on fold k; best has the smallest mean over the folds
    (Tibshirani and Tibshirani 2009).

    >>> fold_optimism(np.array([[0.2, 0.1], [0.2, 0.5]]))
    0.05
    """
    best = int(fold_losses.mean(axis=0).argmin())
    return float(np.mean(fold_losses[:, best] - fold_losses.min(axis=1)))
