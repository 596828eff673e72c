"""Have chains converged? Split R̂ and effective sizes, after Vehtari et al. (2021)."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray


def split_rhat(draws: ArrayLike) -> float:
    """R̂ of chains × draws, every chain cut into halves (Gelman et al. 2013, section 11.4; not by ranks).

    The root of (within + between/n)/within: near 1 where the halves of all chains agree. One chain will do.

    >>> split_rhat([[1.0, 2.0, 1.0, 2.0], [1.0, 2.0, 2.0, 1.0]]) < 1
    True
    >>> round(split_rhat([[0.0, 1.0, 5.0, 6.0]]), 1)
    5.0
    """
    halves = _halves(draws)
    count = halves.shape[1]
    if count < 2:
        return float("nan")
    within = halves.var(axis=1, ddof=1).mean()
    between = halves.mean(axis=1).var(ddof=1)
    if within == 0:
        return 1.0 if between == 0 else float("inf")
    return float(np.sqrt((count - 1) / count + between / within))


def effective_size(draws: ArrayLike) -> float:
    """How many independent draws chains × draws are worth for a mean (Vehtari et al. 2021, eq. 10 to 13).

    Autocorrelations of the split chains are added as long as sums of neighbours are positive and fall
    (Geyer 1992).

    >>> effective_size(np.random.default_rng(1).normal(size=(4, 250))) > 700
    True
    """
    halves = _halves(draws)
    chains, count = halves.shape
    if count < 4:
        return float("nan")
    centred = halves - halves.mean(axis=1, keepdims=True)
    size = 2 ** int(np.ceil(np.log2(2 * count)))
    spectrum = np.abs(np.fft.rfft(centred, size)) ** 2
    covariances = np.fft.irfft(spectrum, size)[:, :count] / count
    within = covariances[:, 0].mean() * count / (count - 1)
    total = within * (count - 1) / count + (halves.mean(axis=1).var(ddof=1) if chains > 1 else 0.0)
    if total == 0:
        return float(chains * count)
    correlations = 1 - (within - covariances.mean(axis=0) * count / (count - 1)) / total
    correlations[0] = 1.0
    pairs = correlations[: count // 2 * 2].reshape(-1, 2).sum(axis=1)
    positive = int(np.argmax(pairs <= 0)) if (pairs <= 0).any() else len(pairs)
    time = -1 + 2 * np.minimum.accumulate(pairs[: max(positive, 1)]).sum()
    return float(min(chains * count / time, chains * count * np.log10(chains * count)))


def _halves(draws: ArrayLike) -> NDArray[np.float64]:
    table = np.atleast_2d(np.asarray(draws, dtype=np.float64))
    half = table.shape[1] // 2
    return np.concatenate([table[:, :half], table[:, table.shape[1] - half :]])
