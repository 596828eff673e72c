"""Looking again at a t-test while training sets are added: p-values that allow for all planned looks.

The same p-value is asked for at every look (Pocock 1977, Biometrika 64:191–199), or the same evidence: the
likelihood ratio of t for a difference against none, weighed over differences that are likely (Wald 1945,
Annals of Mathematical Statistics 16:117–186). For a single difference such a rule needs the fewest
observations on average (Wald and Wolfowitz 1948, the same 19:326–339); see docs/decisions/0027.

What a p-value at a look means for all looks together is the chance, under the hypothesis, that any look has
one as small, or as much evidence: a repeated p-value (Jennison and Turnbull 2000, Group Sequential Methods,
chapter 9). Looks share their training sets, so that is far less than their number times p. Normal theory at
the t-tests' levels (the same, section 4.4) is up to a fifth too small for four sets or so; but under the
hypothesis t statistics of growing samples are a Markov chain (Hall, Wijsman and Ghosh 1965, Annals of
Mathematical Statistics 36:575–614), whose single steps are known in closed form.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from redelve.stats.mean_squares import FloatArray

CELLS, FARTHEST = 120, 6.0
"""The chain is followed in so many cells of |z| up to the farthest, z being the normal score of the p-value:
levels come out by up to a fiftieth too small (a two-hundredth at 5 %), never too large."""
NOMINAL = np.logspace(-8, -0.05, 80)
"""The p-values whose meaning for all looks is computed; between them it is interpolated."""
EVIDENCE = np.linspace(24.0, -1.5, 100)
"""The same for logarithms of evidence."""
EFFECTS, LIKELY = 2.0 ** np.arange(-2.0, 13.25, 0.5), 1.75
"""Differences that evidence weighs, in standard deviations, and those that it gives most weight."""
LAST = 4.0
"""At the last look so many times less evidence will do: there is nothing to wait for."""
SCORES = np.linspace(0.0, 9.0, 181)
"""The normal scores of p-values whose evidence is computed."""


@dataclass(frozen=True)
class RepeatedLooks:
    """Looks planned after so many training sets, and what a p-value at one of them says allowing for all.

    >>> looks = RepeatedLooks((4, 8, 16, 32))
    >>> round(looks.of_each(0.05), 4), looks.over_all(np.array([0.0125])).round(3).tolist()
    (0.0148, [0.043])
    """

    looks: tuple[int, ...]
    by_evidence: bool = False
    """Whether looks ask for the same evidence, so that a clear winner is found soon, or the same p-value."""
    place: int = 0
    """That of the look whose p-values are asked about."""

    def at(self, sets: int) -> RepeatedLooks:
        """The same looks, of which the one after so many training sets is at hand.

        >>> looks = RepeatedLooks((4, 8, 16), by_evidence=True)
        >>> [round(100 * looks.at(sets).of_each(0.05), 2) for sets in looks.looks]
        [2.77, 1.17, 1.73]
        """
        return replace(self, place=self.looks.index(sets)) if self.by_evidence else self

    def over_all(self, p_values: FloatArray) -> FloatArray:
        """Two-sided p-values that allow for all looks: the chance of one as small, or of as much evidence."""
        p = np.asarray(p_values, dtype=np.float64)
        if len(self.looks) == 1:
            return p
        levels, factors = self._here
        with np.errstate(divide="ignore"):
            factor = np.exp(np.interp(np.log(p), levels, factors))
        return np.asarray(np.minimum(p * factor, 1.0))

    def one_sided(self, p_values: FloatArray) -> FloatArray:
        """One-sided p-values that allow for all looks; those of one half or more stay what they are."""
        p = np.asarray(p_values, dtype=np.float64)
        return np.asarray(np.where(p < 0.5, self.over_all(2 * p) / 2, p))

    def of_each(self, level: float) -> float:
        """The level of the look at hand at which that of all looks is `level`: the inverse of `over_all`."""
        if len(self.looks) == 1:
            return level
        levels, factors = self._here
        return float(level / np.exp(np.interp(np.log(level), levels + factors, factors)))

    @property
    def _here(self) -> tuple[FloatArray, FloatArray]:
        """Levels of the look at hand, and what they are multiplied by for all looks, in logarithms."""
        levels, chances = _chances(self.looks, self.by_evidence)
        return np.log(levels[self.place]), np.log(chances / levels[self.place])


@lru_cache(maxsize=64)
def _chances(looks: tuple[int, ...], by_evidence: bool) -> tuple[FloatArray, FloatArray]:
    """Levels of [look, number], and for each number the chance that any look is below its level."""
    from scipy.special import ndtr, ndtri

    levels = _same_evidence(looks) if by_evidence else np.tile(NOMINAL, (len(looks), 1))
    edges = np.linspace(0.0, FARTHEST, CELLS + 1)
    beyond = np.tile(2 * ndtr(-edges), (levels.shape[1], 1))
    found, sets = np.zeros(levels.shape[1]), looks[0]
    for look, level in zip(looks, levels, strict=True):
        for now in range(sets, look):
            beyond = _in_cells(beyond) @ _step(now)
        found += (ends := _between(beyond, -ndtri(level / 2) * CELLS / FARTHEST))
        beyond, sets = np.maximum(beyond - ends[:, None], 0.0), look
    return levels, found


def _same_evidence(looks: tuple[int, ...]) -> FloatArray:
    """Levels of [look, number] at which there is as much evidence as each of `EVIDENCE`, less at the last."""
    from scipy.special import ndtr

    levels = np.empty((len(looks), len(EVIDENCE)))
    for place, sets in enumerate(looks):
        asked = EVIDENCE - np.log(LAST) * (place == len(looks) - 1)
        found = log_evidence(sets, SCORES)
        scores = np.interp(asked, found, SCORES) + np.maximum(asked - found[-1], 0.0)
        levels[place] = 2 * ndtr(-scores)
    return levels


def log_evidence(sets: int, scores: FloatArray) -> FloatArray:
    """The logarithm of the likelihood ratio of t, at p-values with these normal scores, weighed over effects.

    The density of t for a difference of d standard deviations, over that for none, is
    exp(−nd²(1 − r²)/2)·I(√n·d·r)/I(0) with I(m) = ∫₀^∞ yⁿ⁻¹ exp(−(y − m)²/2) dy and r² = t²/(t² + n − 1)
    (Johnson, Kotz and Balakrishnan 1995, Continuous Univariate Distributions 2, section 31.4).
    """
    from scipy.special import logsumexp

    r, shift = _cosines(scores, sets), np.sqrt(sets) * EFFECTS[:, None]
    ratios = _log_integral(sets - 1, shift * r) - _log_integral(sets - 1, np.zeros(1))
    ratios -= shift**2 * (1 - r**2) / 2
    far = EFFECTS / LIKELY
    weights = far**2 / (1 + far**3)
    return np.asarray(logsumexp(ratios, axis=0, b=(weights / weights.sum())[:, None]))


def _log_integral(power: int, mean: FloatArray) -> FloatArray:
    """log ∫₀^∞ y^power·exp(−(y − mean)²/2) dy, by parts: I_k = m·I_{k−1} + (k − 1)·I_{k−2}."""
    from scipy.special import ndtr

    before = np.sqrt(2 * np.pi) * ndtr(mean)
    ratio, logs = mean + np.exp(-(mean**2) / 2) / before, np.log(before)
    for k in range(1, power + 1):
        logs += np.log(ratio)
        ratio = mean + k / ratio
    return np.asarray(logs)


def _in_cells(beyond: FloatArray) -> FloatArray:
    """Chances of the cells, and of all beyond the last, from those of what lies beyond each edge."""
    return np.append(beyond[:, :-1] - beyond[:, 1:], beyond[:, -1:], axis=1)


def _between(beyond: FloatArray, place: FloatArray) -> FloatArray:
    """Chances beyond a place between two edges, the logarithm being nearly linear there."""
    low = np.minimum(place.astype(np.int64), CELLS - 1)
    rows, logs = np.arange(len(place)), np.log(np.maximum(beyond, 1e-300))
    return np.asarray(np.exp(logs[rows, low] + (place - low) * (logs[rows, low + 1] - logs[rows, low])))


@lru_cache(maxsize=32)
def _step(sets: int, cells: int = CELLS) -> FloatArray:
    """From the middle of each cell, with so many training sets: chances to be beyond each edge with one more.

    With r = Σx/√(nΣx²), and sin θ the part that the new set has of a uniform direction in n + 1 dimensions,
    r′ = (√n·r·cos θ + sin θ)/√(n + 1); √n·tan θ has a t distribution with n degrees of freedom.
    """
    edges = np.linspace(0.0, FARTHEST, cells + 1)
    middles = np.append((edges[1:] + edges[:-1]) / 2, FARTHEST + FARTHEST / cells)
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
