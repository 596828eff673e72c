"""64 settings on 8 folds: BatchedSearchCV against GridSearchCV with MLPRegressor of the same size."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.timing import Row

COMMAND = "python -m benchmarks search"
CASES, FOLDS, EPOCHS, HIDDEN, BATCH = 2000, 8, 50, 32, 200
RATES = np.geomspace(3e-4, 3e-2, 8)
PENALTIES = np.geomspace(1e-4, 1.0, 8)
STEPS = -(-(CASES * (FOLDS - 1) // FOLDS) // BATCH)
"""Steps in an epoch: MLPRegressor adds its penalty in each of them, the engine once in all."""


def table() -> tuple[Any, Any, Any, Any]:
    """Friedman's first function with noise (1991), standardised: cases to search with, 10,000 new ones."""
    from sklearn.datasets import make_friedman1

    x, y = make_friedman1(n_samples=CASES + 10_000, noise=1.0, random_state=0)
    x = (x - 0.5) * np.sqrt(12)
    y = (y - y[:CASES].mean()) / y[:CASES].std()
    return x[:CASES], y[:CASES], x[CASES:], y[CASES:]


def folds() -> Any:
    from sklearn.model_selection import KFold

    return KFold(FOLDS, shuffle=True, random_state=0)


def theirs(x: Any, y: Any) -> Any:
    from sklearn.model_selection import GridSearchCV
    from sklearn.neural_network import MLPRegressor

    network = MLPRegressor(
        hidden_layer_sizes=(HIDDEN,), batch_size=BATCH, max_iter=EPOCHS, n_iter_no_change=EPOCHS, tol=0.0
    )
    grid = {"learning_rate_init": RATES, "alpha": PENALTIES, "random_state": [0]}
    return GridSearchCV(network, grid, cv=folds(), scoring="neg_mean_squared_error").fit(x, y)


def ours(x: Any, y: Any) -> Any:
    from redelve.methods.batched import BatchedMLPRegressor, BatchedSearchCV

    network = BatchedMLPRegressor(
        (HIDDEN,),
        activation="relu",
        solver="adam",
        batch_size=BATCH,
        max_iter=EPOCHS,
        early_stopping=False,
        measure_every=EPOCHS,
    )
    grid = {"learning_rate_init": RATES, "alpha": PENALTIES * STEPS, "random_state": [0]}
    return BatchedSearchCV(network, grid, cv=folds(), scoring="neg_mean_squared_error").fit(x, y)


def timed(action: Callable[[], Any]) -> tuple[float, float, Any]:
    wall, cpu = time.perf_counter(), time.process_time()
    made = action()
    return time.perf_counter() - wall, time.process_time() - cpu, made


def run() -> list[Row]:
    x, y, new_x, new_y = table()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that training has not converged is no news here
        mine, other = timed(lambda: ours(x, y)), timed(lambda: theirs(x, y))
    name = f"search: 64 settings × {FOLDS} folds, {CASES} cases, {HIDDEN} relu units, {EPOCHS} epochs of Adam"
    rows = [
        {
            "name": f"{name} ({unit} seconds)",
            "ours": mine[place],
            "alternative": other[place],
            "against": "GridSearchCV with MLPRegressor, one process",
            "ratio": mine[place] / other[place],
            "bound": 1 / 10,
            "command": COMMAND,
        }
        for place, unit in ((0, "wall"), (1, "CPU"))
    ]
    for search in (mine[2], other[2]):
        search.new_loss = float(((search.predict(new_x) - new_y) ** 2).mean())
        search.all_losses = -search.cv_results_["mean_test_score"]
    difference = mine[2].all_losses - other[2].all_losses
    print(f"search: best settings {mine[2].best_params_} and {other[2].best_params_}")
    print(
        f"search: mean difference of the 64 losses {difference.mean():.5f}, sd {difference.std(ddof=1):.5f}"
    )
    rows.append(
        {
            "name": "search: squared error of the best setting's refit on 10,000 new cases",
            "ours": mine[2].new_loss,
            "alternative": other[2].new_loss,
            "against": "the same of MLPRegressor's search",
            "ratio": mine[2].new_loss / other[2].new_loss,
            "bound": None,
            "command": COMMAND,
        }
    )
    return rows
