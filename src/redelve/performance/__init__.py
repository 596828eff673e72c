"""Predicting performance: how well will a trained classifier do on new cases, and how sure is that?"""

from redelve.performance.bench import Bench, BenchSettings
from redelve.performance.guesses import PerformanceGuess, Prediction
from redelve.performance.learners import EstimatorLearner, Learner, Learnt, learner_for
from redelve.performance.measures import Measure, measure_for
from redelve.performance.predicting import PredictionOptions, bench_for, predict_learners, predict_performance
from redelve.performance.ways import WAYS, Way, parse_way

__all__ = [
    "WAYS",
    "Bench",
    "BenchSettings",
    "EstimatorLearner",
    "Learner",
    "Learnt",
    "Measure",
    "PerformanceGuess",
    "Prediction",
    "PredictionOptions",
    "Way",
    "bench_for",
    "learner_for",
    "measure_for",
    "parse_way",
    "predict_learners",
    "predict_performance",
]
