"""Networks of the batched engine for users of scikit-learn: estimators, and a search in few batches."""

from redelve.methods.batched.batched_mlp import BatchedMLPClassifier, BatchedMLPRegressor
from redelve.methods.batched.batched_search import BatchedSearchCV
from redelve.methods.batched.bayesian_mlp import BayesianMLPRegressor
from redelve.methods.batched.company import trained_together

__all__ = [
    "BatchedMLPClassifier",
    "BatchedMLPRegressor",
    "BatchedSearchCV",
    "BayesianMLPRegressor",
    "trained_together",
]
