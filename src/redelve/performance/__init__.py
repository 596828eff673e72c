"""Predicting performance: how well will a trained classifier do on new cases, and how sure is that?"""

from redelve.performance.bench import Bench, BenchSettings
from redelve.performance.checked_arrays import from_arrays
from redelve.performance.guesses import PerformanceGuess, Prediction
from redelve.performance.known_cases import KnownCases
from redelve.performance.measures import Measure, measure_for
from redelve.performance.predicting import bench_for, predict, predict_performance
from redelve.performance.ways import WAYS, Way, parse_way

__all__ = [
    "WAYS",
    "Bench",
    "BenchSettings",
    "KnownCases",
    "Measure",
    "PerformanceGuess",
    "Prediction",
    "Way",
    "bench_for",
    "from_arrays",
    "measure_for",
    "parse_way",
    "predict",
    "predict_performance",
]
