"""Forward in time: a method learns from a window of cases and is tested on the block that follows it.

Losses are one number per block. Windows move on with the blocks, overlap, and hold the blocks tested before;
neighbouring blocks of a series depend on each other. So no plain t-test is right, for the same reason as in
cross-validation, and for another one.
"""

from __future__ import annotations

from dataclasses import replace

from numpy.typing import ArrayLike

from redelve.stats.resampled import Resampled, ResampledComparison, analyse_resampled, compare_resampled

BLOCKS = (
    "the standard error counts blocks of cases, not cases, which allows for dependence within a block "
    "(Ibragimov and Müller 2010), and is widened for windows that overlap (Nadeau and Bengio 2003); in "
    "simulations with six blocks a 5 % test found a difference where there was none in 1 to 4 % of cases"
)
"""Measured: docs/calibration.md."""
LONG_MEMORY = (
    "where what happens at one time tells of times as far away as a block is long, 95 % intervals of a "
    "single loss hold it in 75 to 90 % only"
)
THESE_TIMES = (
    "the result is about times like those of the test blocks: where the process changes, the future differs"
)


def analyse_forward(losses: ArrayLike, *, ratio: float) -> Resampled:
    """Expected loss on the cases after a window, with variance (1/K + n_test/n_train) s² and K − 1 degrees.

    `losses` are the mean losses of the K test blocks; `ratio` is cases in a block over cases in a window.
    Means of consecutive blocks are nearly independent where a block is long against the memory of the series,
    and a t-test of them keeps its level even if their variances differ (Ibragimov and Müller 2010, Journal of
    Business & Economic Statistics 28:453–468). What the shared training cases add, blocks do not show: the
    factor is that of Nadeau and Bengio (2003, Machine Learning 52:239–281), where the variance of a training
    set's effect is to that of a test set's mean as n_test to n_train.

    >>> result = analyse_forward([3.0, 4.0, 2.0, 5.0, 3.0], ratio=1 / 5)
    >>> result.mean, round(result.standard_error, 4), result.degrees_of_freedom
    (3.4, 0.7211, 4.0)
    """
    return _told(analyse_resampled(losses, ratio=ratio))


def compare_forward(first: ArrayLike, second: ArrayLike, *, ratio: float) -> ResampledComparison:
    """Two methods on the same windows and blocks, block by block; see `analyse_forward`."""
    found = compare_resampled(first, second, ratio=ratio)
    return replace(found, differences=_told(found.differences))


def _told(found: Resampled) -> Resampled:
    """The same with the caveats of this design, where there is a standard error."""
    return (
        found if found.standard_error is None else replace(found, caveats=(BLOCKS, LONG_MEMORY, THESE_TIMES))
    )
