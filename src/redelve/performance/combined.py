"""A guess put together from two others; which ones, `redelve study wcci` taught (docs/predicting.md)."""

from __future__ import annotations

from dataclasses import dataclass

from redelve.performance.bench import Bench, FitFinding
from redelve.performance.bootstraps import Point632Plus, out_of_bag
from redelve.performance.guesses import PerformanceGuess
from redelve.performance.ways import Repeated, Way, independent_of_all, normal_interval

SOURCE = "the larger standard error of the two, which see the same cases"


@dataclass(frozen=True)
class Combined(Way):
    """The mean of repeated cross-validation, mostly a little too high, and .632+, mostly a little too low."""

    key = "combined"
    k: int = 10
    times: int = 5
    samples: int = 100

    def guess(self, bench: Bench) -> PerformanceGuess:
        """Guess by the mean of both; as they see the same cases, the mean is not taken to be surer."""
        parts = Repeated(self.k, self.times).guess(bench), Point632Plus(self.samples).guess(bench)
        value = sum(part.value or 0.0 for part in parts) / 2
        error = max(part.standard_error or 0.0 for part in parts)
        rounds = [bench.folds(self.k, repetition) for repetition in range(self.times)]
        interval, source = normal_interval(value, error, bench.level), SOURCE
        if interval is None:
            interval, source = independent_of_all(bench, rounds[0])
        rounds.append(out_of_bag(bench, self.samples)[1])
        return bench.guess(self.name, FitFinding(value, interval, source, error or None), rounds, more=1)
