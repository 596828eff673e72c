"""Who is really ahead: ranks, sums of ranks, and which places the evidence leaves open to each entry.

Starts from one-sided p-values [i, j] that entry i is worse than entry j, such as those of
`paired_errors.Outcomes`. See docs/challenge.md.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from redelve.errors import StatisticsError
from redelve.stats.balanced_errors import larger_p_values, scores_at, upward_reach
from redelve.stats.estimates import check_level
from redelve.stats.mean_squares import FloatArray
from redelve.stats.paired_errors import Outcomes, beyond

Flags = NDArray[np.bool_]
Whole = NDArray[np.int64]


@dataclass(frozen=True)
class RankSums:
    """Ranks of entries on every dataset (a row each), 1 for the smallest score, averaged over ties.

    `places` order the entries by the sum of their ranks: 1, 2, 2, 4 where two are tied.
    """

    ranks: FloatArray
    sums: FloatArray
    means: FloatArray
    places: Whole


@dataclass(frozen=True)
class OpenPlaces:
    """From which to which place every entry may truly stand, and stretches of the ranking, as `Standings`."""

    first: Whole
    last: Whole
    groups: Whole


@dataclass(frozen=True)
class Standings:
    """Which places the evidence leaves open to each entry, for one dataset.

    All true places lie from `first` to `last` with probability 1 − level at least. `may_be_best` is the group
    that holds the truly best entry with that probability; `p_values` are for being the best, adjusted for
    all rivals. `groups` number stretches of the ranking: no entry of a stretch has been shown to be worse
    than the one that heads it.
    """

    first: Whole
    last: Whole
    p_values: FloatArray
    may_be_best: Flags
    groups: Whole
    level: float
    worse: Flags
    """[i, j]: whether entry i is shown to be worse than entry j, all of these right at once."""


def rank_sums(scores: ArrayLike) -> RankSums:
    """Ranks per dataset, their sum (the challenge's global score) and their mean.

    >>> found = rank_sums([[0.1, 0.3, 0.2], [0.5, 0.5, 0.4]])
    >>> found.sums.tolist(), found.places.tolist()
    ([3.5, 5.5, 3.0], [2, 3, 1])
    """
    from scipy.stats import rankdata

    table = np.asarray(scores, dtype=np.float64)
    if table.ndim != 2 or not table.size or not np.isfinite(table).all():
        raise StatisticsError(
            "ranks need a table of numbers, a row for each dataset, a column for each entry, without gaps: "
            f"got shape {table.shape}"
        )
    ranks = np.asarray(rankdata(table, axis=1), dtype=np.float64)
    sums = ranks.sum(axis=0)
    return RankSums(ranks, sums, sums / len(table), rankdata(sums, method="min").astype(np.int64))


def place_entries(scores: ArrayLike, worse: ArrayLike, *, level: float = 0.05) -> Standings:
    """Where entries may truly stand, given their scores and p-values [i, j] that i is worse than j.

    Holm's method over all ordered pairs keeps the chance of any false "worse" below `level`; an entry's place
    is then at least one more than the number shown to be better, and so on from the other end (Klein, Wright
    and Wieczorek 2020, Journal of the Royal Statistical Society A 183:589–606, for intervals of the scores).
    The best group is that of `multiple.best_group`: multiple comparisons with the best (Hsu 1984).
    """
    check_level(level)
    values, table = np.asarray(scores, dtype=np.float64), np.array(worse, dtype=np.float64)
    count = values.size
    if values.ndim != 1 or table.shape != (count, count) or not count:
        raise StatisticsError(
            f"p-values are a square table for the entries: got shape {table.shape} for {values.shape} scores"
        )
    np.fill_diagonal(table, 1.0)
    shown = _holm_rejects(table, level)
    best = np.minimum(table.min(axis=1) * max(count - 1, 1), 1.0)
    return Standings(
        first=1 + shown.sum(axis=1),
        last=count - shown.sum(axis=0),
        p_values=best,
        may_be_best=best >= level,
        groups=_groups(values, shown),
        level=level,
        worse=shown,
    )


def open_places(scores: ArrayLike, worse: ArrayLike) -> OpenPlaces:
    """The places that are left, given scores (less is better) and whether i was shown worse than j, [i, j].

    Where all that was shown is true, an entry has as many better ones at least as it was shown to be worse
    than, and as many worse ones as were shown to be worse than it; so the places hold together with the
    confidence of the claims (Klein, Wright and Wieczorek 2020; Mogstad, Romano, Shaikh and Wilhelm 2024,
    Review of Economic Studies 91:476–518).

    >>> found = open_places([0.1, 0.2, 0.3], [[0, 0, 0], [0, 0, 0], [1, 0, 0]])
    >>> found.first.tolist(), found.last.tolist(), found.groups.tolist()
    ([1, 1, 2], [2, 3, 3], [1, 1, 2])
    """
    values, shown = np.asarray(scores, dtype=np.float64), np.asarray(worse, dtype=np.bool_)
    if values.ndim != 1 or shown.shape != (values.size, values.size):
        raise StatisticsError(
            f"what was shown is a square table for the entries: got {shown.shape} for {values.shape} scores"
        )
    return OpenPlaces(1 + shown.sum(axis=1), values.size - shown.sum(axis=0), _groups(values, shown))


def score_worse_p_values(outcomes: Outcomes, guesses: ArrayLike) -> FloatArray:
    """One-sided p-values [i, j] that entry i has the larger true score, if guesses count as in equation 2.

    On an endless test set R is ρ = p + |g − p| = max(g, 2p − g), p being the true BER and g the guess (Guyon
    et al. 2006, below equation 2). That ρ_i ≤ ρ_j says ρ_i ≤ g_j or ρ_i ≤ 2p_j − g_j, and is rejected if both
    are (Berger 1982: intersection–union): the first where g_i > g_j or else by p_i > (g_i + g_j)/2, the
    second by p_j < (g_i + g_j)/2 or by p_i − p_j > (g_i − g_j)/2 at half the level each. Each of these is
    decided as by the interval of that BER or difference.
    """
    guess = np.asarray(guesses, dtype=np.float64)
    if guess.shape != (outcomes.entries,):
        raise StatisticsError(f"one guess for each of {outcomes.entries} entries: got shape {guess.shape}")
    bers, counts = outcomes.bers, np.array(outcomes.counts, dtype=np.float64)
    middle = (guess[:, None] + guess) / 2
    errors = np.broadcast_to(outcomes.errors, (*middle.shape, counts.size))
    above = larger_p_values(errors.swapaxes(0, 1), counts, middle)
    below = beyond(middle - bers, upward_reach, errors, np.broadcast_to(counts, errors.shape))
    paired = outcomes.beyond_p_values((guess[:, None] - guess) / 2)
    against_guess = np.where(guess[:, None] > guess, 0.0, above)
    p_values = np.maximum(against_guess, np.minimum(2 * np.minimum(below, paired), 1.0))
    np.fill_diagonal(p_values, 1.0)
    return np.asarray(p_values)


def apart_p_values(values: ArrayLike, errors: ArrayLike) -> FloatArray:
    """One-sided p-values [i, j] that entry i is worse than j, from estimates with standard errors alone.

    The normal test of two independent estimates. Entries judged by the same cases mostly err together, which
    makes it careful; use `Outcomes` where the outcome of every case may be used.

    >>> apart_p_values([0.2, 0.1], [0.03, 0.04]).round(4).tolist()
    [[1.0, 0.0228], [0.9772, 1.0]]
    """
    from scipy.stats import norm

    found, spread = np.asarray(values, dtype=np.float64), np.asarray(errors, dtype=np.float64)
    if found.shape != spread.shape or found.ndim != 1 or (spread <= 0).any():
        raise StatisticsError(
            f"each value needs a standard error above 0: got shapes {found.shape} and {spread.shape}"
        )
    p_values = norm.sf((found[:, None] - found) / np.hypot(spread[:, None], spread))
    np.fill_diagonal(p_values, 1.0)
    return np.asarray(p_values, dtype=np.float64)


def true_scores(bers: ArrayLike, guesses: ArrayLike) -> FloatArray:
    """ρ = p + |g − p|: the score that a true BER and a guess would have on an endless test set."""
    return scores_at(bers, 0.0, guesses)


def _holm_rejects(p_values: FloatArray, level: float) -> Flags:
    """Which hypotheses Holm's (1979) method rejects; the diagonal is not counted."""
    count = len(p_values) * (len(p_values) - 1)
    if not count:
        return np.zeros(p_values.shape, dtype=np.bool_)
    ordered = np.sort(p_values[~np.eye(len(p_values), dtype=np.bool_)])
    allowed = level / np.arange(count, 0, -1)
    kept = np.flatnonzero(ordered > allowed)
    limit = ordered[kept[0] - 1] if kept.size and kept[0] else (-1.0 if kept.size else np.inf)
    shown = p_values <= limit
    np.fill_diagonal(shown, False)
    return np.asarray(shown)


def _groups(scores: FloatArray, shown: Flags) -> Whole:
    """Stretches of the ranking; a new one begins with an entry shown to be worse than the last one's head."""
    found = np.zeros(scores.size, dtype=np.int64)
    head, number = -1, 0
    for entry in np.argsort(scores, kind="stable").tolist():
        if head < 0 or shown[entry, head]:
            head, number = entry, number + 1
        found[entry] = number
    return found
