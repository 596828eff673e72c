"""Tables I and II of the WCCI 2006 challenge as printed, and table II made anew from BER, σ and δ.

Guyon, Saffari, Dror and Buhmann (2006), Performance prediction challenge.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt

from redelve.stats.balanced_errors import ranking_score


@dataclass(frozen=True)
class PublishedDataset:
    """A line of table I; `sparsity` and `positive` in per cent, `ratio` is training cases to features."""

    name: str
    sparsity: float
    type: str
    positive: float
    ratio: float
    features: int
    test_cases: int


@dataclass(frozen=True)
class PublishedScore:
    """A line of table II: the best entry on a dataset as of December 14, 2005."""

    dataset: str
    ber: float
    auc: float
    sigma: float
    delta: float
    weight: float
    score: float

    def made_anew(self) -> tuple[float, float]:
        """Weight and R by equation 2, from the printed BER, σ and δ."""
        found = ranking_score(self.ber, self.sigma, self.ber + self.delta)
        return found.weight, found.score


TABLE_I = (
    PublishedDataset("ADA", 79.4, "mixed", 24.8, 86.4, 48, 41471),
    PublishedDataset("GINA", 69.2, "cont.", 49.2, 3.25, 970, 31532),
    PublishedDataset("HIVA", 90.9, "binary", 3.5, 2.38, 1617, 38449),
    PublishedDataset("NOVA", 99.7, "binary", 28.5, 0.1, 16969, 17537),
    PublishedDataset("SYLVA", 77.9, "mixed", 6.2, 60.58, 216, 130858),
)
TABLE_II = (
    PublishedScore("ADA", 0.1747, 0.9102, 0.0026, 0.0096, 0.9751, 0.1841),
    PublishedScore("GINA", 0.0445, 0.9566, 0.0012, 0.0011, 0.6001, 0.0453),
    PublishedScore("HIVA", 0.3062, 0.7089, 0.0089, 0.0023, 0.2277, 0.3067),
    PublishedScore("NOVA", 0.0458, 0.9900, 0.0021, 0.0032, 0.7821, 0.0483),
    PublishedScore("SYLVA", 0.0065, 0.9991, 0.0006, 0.0006, 0.6321, 0.0069),
)
DISAGREE = {
    (
        "GINA",
        "weight",
    ): "0.60015 from the printed δ and σ, printed 0.6001: cut off, not rounded, or made from more digits",
    ("GINA", "score"): "0.0452 from the printed numbers, printed 0.0453; numbers that round to the printed "
    "BER, δ and weight give 0.04524 at most, so one of the cells is a misprint",
}
"""The cells of table II that its other columns do not give to the last digit."""
SIGMA_TOO_LARGE = ("ADA", "HIVA", "NOVA")
"""Datasets whose printed σ exceeds what equation 1 can give for the printed BER with table I's test set."""


def largest_sigma(dataset: PublishedDataset, ber: float) -> float:
    """The largest σ of equation 1 over all ways in which a BER may be made up of the classes' error rates."""
    positives = dataset.test_cases * dataset.positive / 100
    negatives = dataset.test_cases - positives
    steps = (2 * ber * step / 10_000 for step in range(10_001))
    rates = ((rate, 2 * ber - rate) for rate in steps if rate <= 1 and 2 * ber - rate <= 1)
    return max(sqrt(a * (1 - a) / positives + b * (1 - b) / negatives) / 2 for a, b in rates)
