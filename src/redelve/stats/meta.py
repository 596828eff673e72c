"""Differences on many tasks taken together, each with its standard error: random effects.

Tasks are a sample of tasks. On each, two methods differ by an effect of its own, known with an error of its
own: y_t = μ + u_t + e_t, u_t with variance τ², e_t with variance v_t. The standard errors of tasks rest on
few training sets, so they are drawn towards each other first (as in `families`). τ² is Paule and Mandel's
(1982, Journal of Research of the National Bureau of Standards 87:377–385), the interval of μ that of
Hartung and Knapp (2001, Statistics in Medicine 20:3875–3889) with the factor kept at one or more (Röver,
Knapp and Friede 2015, BMC Medical Research Methodology 15:99) on degrees of freedom after Kenward and Roger
(1997). See docs/comparisons.md.

The last axis of every array is that of the tasks; axes before it are those of many pairs at once.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from redelve.errors import StatisticsError
from redelve.stats.families import Truths
from redelve.stats.mean_squares import FloatArray, f_p_value, t_quantile
from redelve.stats.moderation import SPREAD, trigamma_inverse

STEPS = 200
"""Newton's steps to the variance between tasks, at most; they come from below, each nearer than the last."""
MOST_DF = 1e6
LEAST_DF = 2
"""Fewer degrees of freedom are not taken: with three tasks intervals are wide enough as they are."""


@dataclass(frozen=True)
class RandomEffects:
    """The mean μ of an effect over tasks, and how far it varies between them.

    `between` is τ². `spread` is the variance with which the effect on a new task is predicted: the largest
    of τ², what the effects vary beyond their errors, and half of what they vary.
    """

    means: FloatArray
    standard_errors: FloatArray
    between: FloatArray
    spread: FloatArray
    tasks: int
    df: FloatArray
    """Degrees of freedom of the standard errors: T − 1, or fewer where some tasks are known far better."""

    def p_values(self) -> FloatArray:
        """Of the hypothesis that the mean effect is zero."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return f_p_value(np.square(self.means / self.standard_errors), 1.0, self.df)

    def half_widths(self, level: float) -> FloatArray:
        """Of intervals that miss the mean effect in `level` of cases, each by itself."""
        return np.asarray(t_quantile(self.df, 1 - level) * self.standard_errors)

    def prediction_half_widths(self, level: float) -> FloatArray:
        """Of intervals about the mean that miss the effect on a new task in `level` of cases."""
        total = np.sqrt(self.spread + np.square(self.standard_errors))
        return np.asarray(t_quantile(self.df, 1 - level) * total)


def random_effects(
    effects: ArrayLike, variances: ArrayLike, *, between: ArrayLike | None = None
) -> RandomEffects:
    """Combine the effects on tasks, given the variances of their errors.

    Parameters
    ----------
    effects : array, tasks last
        The difference between two methods on every task, in comparable units.
    variances : array of the same shape
        Squared standard errors of these effects; `moderated_variances` makes good ones of rough ones.
    between : array, optional
        The variance τ² between tasks. By default Paule and Mandel's.

    Returns
    -------
    RandomEffects
        The mean over tasks with its standard error, and what predicts a new task.

    Notes
    -----
    With w_t = 1/(v_t + τ²) the mean is Σw_t y_t/Σw_t, its squared standard error max(q, 1)/Σw_t with
    q = Σw_t (y_t − μ)²/(T − 1) (Hartung and Knapp 2001, equation 6; Röver et al. 2015, equation 10). By Paule
    and Mandel's τ² the factor q is one where τ² > 0. There are T − 1 degrees of freedom where all errors are
    alike, else fewer (`effective_df`).

    Examples
    --------
    >>> found = random_effects([0.10, 0.30, 0.35, 0.65], [0.01, 0.01, 0.02, 0.02])
    >>> round(float(found.means), 3), round(float(found.standard_errors), 3), round(float(found.between), 3)
    (0.335, 0.112, 0.036)
    """
    y, v = _checked(effects, variances)
    tasks = y.shape[-1]
    tau = paule_mandel(y, v) if between is None else np.asarray(between, dtype=np.float64)
    weights = 1 / (v + tau[..., None])
    total = weights.sum(axis=-1)
    means = (weights * y).sum(axis=-1) / total
    q = (weights * np.square(y - means[..., None])).sum(axis=-1) / (tasks - 1)
    seen = y.var(axis=-1, ddof=1)
    spread = np.maximum(np.maximum(tau, seen - v.mean(axis=-1)), seen / 2)
    errors = np.sqrt(np.maximum(q, 1.0) / total)
    return RandomEffects(means, errors, tau, spread, tasks, effective_df(v, tau))


def effective_df(variances: FloatArray, between: FloatArray) -> FloatArray:
    """Degrees of freedom of the squared standard error 1/Σw_t, by how well it is known.

    Satterthwaite's 2V²/Var(V), with V = 1/Σw_t and the variance of τ² from its expected information
    ½(Σw² − 2Σw³/Σw + (Σw²)²/(Σw)²) (Kenward and Roger 1997, Biometrics 53:983–997; the information as in
    Viechtbauer 2005, Journal of Educational and Behavioral Statistics 30:261–293). That is
    (Σw)²/Σw² + 1 − 2ΣwΣw³/(Σw²)²: T − 1 where all weights are alike, fewer where some tasks count most. T − 1
    would be too many far in the tail, where τ² came out too small and weights too unequal. τ² is taken to be
    the median of the errors' variances at least: below that, little is known of it, and the factor q ≥ 1
    makes errors large anyway.

    >>> round(float(effective_df(np.array([1.0, 1.0, 1.0, 1.0]), np.array(2.0))), 9)
    3.0
    """
    least = np.median(variances, axis=-1)
    w = 1 / (variances + np.maximum(between, least)[..., None])
    first, second, third = (np.power(w, power).sum(axis=-1) for power in (1, 2, 3))
    found = first**2 / second + 1 - 2 * first * third / second**2
    return np.asarray(np.maximum(found, min(LEAST_DF, variances.shape[-1] - 1)))


def paule_mandel(effects: ArrayLike, variances: ArrayLike) -> FloatArray:
    """The variance between tasks with which the weighted squares Σ(y_t − μ)²/(v_t + τ²) are T − 1, or zero.

    Newton's method from zero (DerSimonian and Kacker 2007, Contemporary Clinical Trials 28:105–114, section
    2.3): the squares fall and are convex in τ², so its steps never go too far.
    """
    y, v = _checked(effects, variances)
    tau = np.zeros(y.shape[:-1])
    for _ in range(STEPS):
        weights = 1 / (v + tau[..., None])
        mean = (weights * y).sum(axis=-1) / weights.sum(axis=-1)
        squares = weights * np.square(y - mean[..., None])
        excess = squares.sum(axis=-1) - (y.shape[-1] - 1)
        slope = (weights * squares).sum(axis=-1)
        step = np.where(excess > 0, excess / np.where(slope > 0, slope, 1.0), 0.0)
        tau = tau + step
        if np.all(step <= 1e-12 * tau):
            break
    return np.asarray(tau)


def moderated_variances(variances: ArrayLike, df: ArrayLike) -> FloatArray:
    """Variances of tasks, each on few degrees of freedom, drawn towards each other as far as they agree.

    Empirical Bayes (Smyth 2004, section 6.2), as in `families` but for tasks, which share nothing: what the
    logarithms vary beyond 0.8 of their sampling variance ψ′(ν/2) gives the prior's degrees of freedom, at
    most T − 2 times those of a task. A task whose variance is not known (NaN or zero) has that of the
    prior.
    """
    v = np.asarray(variances, dtype=np.float64)
    own = np.broadcast_to(np.minimum(np.asarray(df, dtype=np.float64), MOST_DF), v.shape)
    known = np.isfinite(v) & (v > 0) & (own > 0)
    if not known.any(axis=-1).all():
        raise StatisticsError("no task has a standard error: nothing can be said of tasks together")
    prior, centre = _prior_of_tasks(np.where(known, v, 1.0), np.where(known, own, 1.0), known)
    own = np.where(known, own, 0.0)
    drawn = prior * centre + own * np.where(known, v, 0.0)
    return np.asarray(np.where(known, drawn / (prior + own), centre))


def _prior_of_tasks(v: FloatArray, df: FloatArray, known: Truths) -> tuple[FloatArray, FloatArray]:
    """Degrees of freedom and variance of the prior; none (zero) with fewer than three tasks known."""
    from scipy.special import digamma, polygamma

    half, count = df / 2, known.sum(axis=-1, keepdims=True)
    logs = np.log(v) - digamma(half) + np.log(half)
    mean = np.where(known, logs, 0.0).sum(axis=-1, keepdims=True) / count
    squares = np.where(known, np.square(logs - mean), 0.0).sum(axis=-1, keepdims=True)
    sampling = np.where(known, polygamma(1, half), 0.0).sum(axis=-1, keepdims=True) / count
    excess = squares / np.maximum(count - 1, 1) - SPREAD * sampling
    free = np.where(excess > 0, 2 * trigamma_inverse(np.maximum(excess, 1e-6)), np.inf)
    most = (count - 2) * np.where(known, df, 0.0).max(axis=-1, keepdims=True)
    prior = np.minimum(free, np.maximum(most, 0.0))
    is_one = prior > 0
    shape = np.where(is_one, prior / 2, 1.0)
    shift = np.where(is_one, digamma(shape) - np.log(shape), 0.0)
    return prior, np.exp(mean + shift)


def _checked(effects: ArrayLike, variances: ArrayLike) -> tuple[FloatArray, FloatArray]:
    y, v = np.asarray(effects, dtype=np.float64), np.asarray(variances, dtype=np.float64)
    if y.ndim < 1 or y.shape != v.shape or y.shape[-1] < 2:
        raise StatisticsError(
            "effects on tasks are combined with two tasks or more and a variance for each: got shapes "
            f"{y.shape} and {v.shape}"
        )
    if not (np.isfinite(y).all() and np.isfinite(v).all() and (v > 0).all()):
        raise StatisticsError("effects must be finite and their variances above zero: leave other tasks out")
    return y, v
