"""Bounds on the error of a classifier from its errors on the training cases and its capacity.

Every bound holds with probability `level` whatever the distribution of the cases, and speaks of classes one
by one (`errors` and `counts`), so that it bounds the balanced error rate; give one class for the error rate.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import exp, lgamma, log, sqrt

import numpy as np

from redelve.errors import StatisticsError
from redelve.stats.estimates import check_level


def vc_bound(errors: Sequence[int], counts: Sequence[int], dimension: int, level: float = 0.95) -> float:
    """Training error and √((h (ln(2n/h) + 1) − ln(η/4))/n) (Burges 1998, eq. 3), averaged over classes.

    h is the Vapnik–Chervonenkis dimension; η = 1 − level is shared out evenly among the classes. With h ≥ n
    nothing is bounded: the value is 1.

    >>> round(vc_bound([5], [10_000], 11), 4)
    0.0995
    """
    check_level(level)
    if dimension < 1:
        raise StatisticsError(f"a VC dimension is 1 or more: got {dimension}")
    each = (1 - level) / len(counts)
    parts = [_vc_part(wrong, count, dimension, each) for wrong, count in zip(errors, counts, strict=True)]
    return sum(parts) / len(parts)


def _vc_part(wrong: int, count: int, dimension: int, failure: float) -> float:
    if dimension >= count:
        return 1.0
    growth = dimension * (log(2 * count / dimension) + 1)
    return min(wrong / count + sqrt((growth - log(failure / 4)) / count), 1.0)


def rademacher_bound(
    training_error: float, random_fit: float, counts: Sequence[int], level: float = 0.95
) -> float:
    """Training error, empirical Rademacher complexity and 3 √(ln(2/η) Σ c²/2).

    `random_fit` is the mean of 1 − 2 ê, with ê the (balanced) training error on random labels: how well the
    learner fits noise (Bartlett and Mendelson 2002; Mohri, Rostamizadeh and Talwalkar 2018, theorem 3.5).
    c is what one case adds to the balanced error, 1/(K n_c). It is a bound only if the learner fits random
    labels as well as any rule it could have chosen.

    >>> round(rademacher_bound(0.05, 0.1, [500, 500]), 4)
    0.2788
    """
    check_level(level)
    squares = sum(1 / count for count in counts) / len(counts) ** 2
    return min(training_error + max(random_fit, 0.0) + 3 * sqrt(log(2 / (1 - level)) * squares / 2), 1.0)


def compression_bound(
    errors: Sequence[int], counts: Sequence[int], kept: Sequence[int], level: float = 0.95
) -> float:
    """The bound of a rule that a part of the cases determines, such as the support vectors.

    `kept` cases of each class are enough to learn the same rule; `errors` are those among the others. The
    exact binomial bound on the others is taken at (1 − level)/(n C(n, d)) for the n cases of which d are kept
    (Littlestone and Warmuth 1986; Langford 2005, section 6), shared among the classes.
    """
    check_level(level)
    cases, compressed = sum(counts), sum(kept)
    choices = log(cases) + lgamma(cases + 1) - lgamma(compressed + 1) - lgamma(cases - compressed + 1)
    log_failure = log((1 - level) / len(counts)) - choices
    parts = [
        binomial_upper(wrong, count - one, log_failure)
        for wrong, count, one in zip(errors, counts, kept, strict=True)
    ]
    return sum(parts) / len(parts)


def binomial_upper(wrong: int, count: int, log_failure: float) -> float:
    """The largest error rate for which `wrong` or fewer errors have probability exp(log_failure) or more.

    >>> round(binomial_upper(0, 100, log(0.05)), 4)
    0.0295
    """
    if count <= wrong:
        return 1.0
    if wrong == 0:
        return 1 - exp(log_failure / count)
    from scipy.optimize import brentq
    from scipy.stats import binom

    def excess(rate: float) -> float:
        return float(binom.logcdf(wrong, count, rate)) - log_failure

    top = 1 - float(np.finfo(np.float64).eps)
    return 1.0 if excess(top) > 0 else float(brentq(excess, wrong / count, top))
