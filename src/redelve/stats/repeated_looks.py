"""Looking again at a t-test while training sets are added: p-values that allow for all planned looks.

The same p-value is asked for at every look (Pocock 1977, Biometrika 64:191–199). What it means for all of
them together is the chance, under the hypothesis, that any look has one as small: a repeated p-value
(Jennison and Turnbull 2000, Group Sequential Methods, chapter 9). Looks share their training sets, so that
is far less than their number times p. Normal theory at the t-tests' levels (the same, section 4.4) is up to
a fifth too small for four sets or so; but under the hypothesis t statistics of growing samples are a Markov
chain (Hall, Wijsman and Ghosh 1965, Annals of Mathematical Statistics 36:575–614), whose single steps are
known in closed form.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from redelve.stats.mean_squares import FloatArray

CELLS, FARTHEST = 120, 6.0
"""The chain is followed in so many cells of |z| up to the farthest, z being the normal score of the p-value:
levels come out by up to a fiftieth too small (a two-hundredth at 5 %), never too large."""
NOMINAL = np.logspace(-8, -0.05, 80)
"""The p-values whose meaning for all looks is computed; between them it is interpolated."""


@dataclass(frozen=True)
class RepeatedLooks:
    """Looks planned after so many training sets, and what a p-value at one of them says allowing for all.

    >>> looks = RepeatedLooks((4, 8, 16, 32))
    >>> round(looks.of_each(0.05), 4), looks.over_all(np.array([0.0125])).round(3).tolist()
    (0.0148, [0.043])
    """

    looks: tuple[int, ...]

    def over_all(self, p_values: FloatArray) -> FloatArray:
        """Two-sided p-values that allow for all looks: the chance that any of them has one as small."""
        p = np.asarray(p_values, dtype=np.float64)
        if len(self.looks) == 1:
            return p
        with np.errstate(divide="ignore"):
            factor = np.exp(np.interp(np.log(p), np.log(NOMINAL), _factors(self.looks)))
        return np.asarray(np.minimum(p * factor, 1.0))

    def one_sided(self, p_values: FloatArray) -> FloatArray:
        """One-sided p-values that allow for all looks; those of one half or more stay what they are."""
        p = np.asarray(p_values, dtype=np.float64)
        return np.asarray(np.where(p < 0.5, self.over_all(2 * p) / 2, p))

    def of_each(self, level: float) -> float:
        """The level of each look at which that of all of them is `level`: the inverse of `over_all`."""
        if len(self.looks) == 1:
            return level
        factors = _factors(self.looks)
        return float(level / np.exp(np.interp(np.log(level), np.log(NOMINAL) + factors, factors)))


@lru_cache(maxsize=64)
def _factors(looks: tuple[int, ...]) -> FloatArray:
    """The logarithm of what each of the `NOMINAL` p-values is multiplied by to allow for all looks."""
    from scipy.special import ndtr, ndtri

    edges = np.linspace(0.0, FARTHEST, CELLS + 1)
    beyond = np.tile(2 * ndtr(-edges), (len(NOMINAL), 1))
    place = -ndtri(NOMINAL / 2) * CELLS / FARTHEST
    found, sets = np.zeros_like(NOMINAL), looks[0]
    for look in looks:
        for now in range(sets, look):
            beyond = _in_cells(beyond) @ _step(now)
        found += (ends := _between(beyond, place))
        beyond, sets = np.maximum(beyond - ends[:, None], 0.0), look
    return np.asarray(np.log(found / NOMINAL))


def _in_cells(beyond: FloatArray) -> FloatArray:
    """Chances of the cells, and of all beyond the last, from those of what lies beyond each edge."""
    return np.append(beyond[:, :-1] - beyond[:, 1:], beyond[:, -1:], axis=1)


def _between(beyond: FloatArray, place: FloatArray) -> FloatArray:
    """Chances beyond a place between two edges, the logarithm being nearly linear there."""
    low = np.minimum(place.astype(np.int64), CELLS - 1)
    rows, logs = np.arange(len(place)), np.log(np.maximum(beyond, 1e-300))
    return np.asarray(np.exp(logs[rows, low] + (place - low) * (logs[rows, low + 1] - logs[rows, low])))


@lru_cache(maxsize=32)
def _step(sets: int) -> FloatArray:
    """From the middle of each cell, with so many training sets: chances to be beyond each edge with one more.

    With r = Σx/√(nΣx²), and sin θ the part that the new set has of a uniform direction in n + 1 dimensions,
    r′ = (√n·r·cos θ + sin θ)/√(n + 1); √n·tan θ has a t distribution with n degrees of freedom.
    """
    edges = np.linspace(0.0, FARTHEST, CELLS + 1)
    middles = np.append((edges[1:] + edges[:-1]) / 2, FARTHEST + FARTHEST / CELLS)
    here = np.sqrt(sets) * _cosines(middles, sets)[:, None]
    there = np.sqrt(sets + 1.0) * _cosines(edges, sets + 1)[None, :]
    return np.asarray(_above(sets, here, there) + _above(sets, -here, there))


def _cosines(scores: FloatArray, sets: int) -> FloatArray:
    """r where the two-sided p-value has the normal score z."""
    from scipy.special import ndtr, stdtrit

    t = -stdtrit(sets - 1.0, ndtr(-scores))
    return np.asarray(t / np.sqrt(t**2 + sets - 1))


def _above(sets: int, here: FloatArray, there: FloatArray) -> FloatArray:
    """The chance that here·cos θ + sin θ is at least `there`: θ lies between two angles."""
    from scipy.special import stdtr

    reach, turn = np.sqrt(1 + here**2), np.arctan(here)
    angle = np.arcsin(np.minimum(there / reach, 1.0))
    low, high = (
        stdtr(float(sets), np.sqrt(sets) * np.tan(np.minimum(one - turn, np.pi / 2)))
        for one in (angle, np.pi - angle)
    )
    return np.asarray(np.where(there < reach, high - low, 0.0))
