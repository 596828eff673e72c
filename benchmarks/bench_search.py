"""64 settings on 8 folds: BatchedSearchCV against GridSearchCV with MLPRegressor of the same size."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.timing import Row

COMMAND = "python -m benchmarks search"
CASES, FOLDS, EPOCHS, HIDDEN, BATCH, SEEDS = 2000, 8, 50, 32, 200, 12
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


def theirs(x: Any, y: Any, rates: Any = RATES) -> Any:
    from sklearn.model_selection import GridSearchCV
    from sklearn.neural_network import MLPRegressor

    network = MLPRegressor(
        hidden_layer_sizes=(HIDDEN,), batch_size=BATCH, max_iter=EPOCHS, n_iter_no_change=EPOCHS, tol=0.0
    )
    grid = {"learning_rate_init": rates, "alpha": PENALTIES, "random_state": [0]}
    return GridSearchCV(network, grid, cv=folds(), scoring="neg_mean_squared_error").fit(x, y)


def ours(x: Any, y: Any, rates: Any = RATES) -> Any:
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
    grid = {"learning_rate_init": rates, "alpha": PENALTIES * STEPS, "random_state": [0]}
    return BatchedSearchCV(network, grid, cv=folds(), scoring="neg_mean_squared_error").fit(x, y)


def timed(action: Callable[[], Any]) -> tuple[float, float, Any]:
    wall, cpu = time.perf_counter(), time.process_time()
    made = action()
    return time.perf_counter() - wall, time.process_time() - cpu, made


def run() -> list[Row]:
    x, y, new_x, new_y = table()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that training has not converged is no news here
        for search in (ours, theirs):  # what is imported and looked for once is no part of a search
            search(x[:80], y[:80], RATES[:1])
        mine, other = timed(lambda: ours(x, y)), timed(lambda: theirs(x, y))
    name = f"search: 64 settings × {FOLDS} folds, {CASES} cases, {HIDDEN} relu units, {EPOCHS} epochs of Adam"
    rows = [
        {
            "name": f"{name} ({unit} seconds)",
            "ours": mine[place],
            "alternative": other[place],
            "against": "GridSearchCV with MLPRegressor, one process",
            "ratio": mine[place] / other[place],
            "bound": bound,
            "command": COMMAND,
        }
        for place, unit, bound in ((0, "wall", None), (1, "CPU", 1 / 10))
    ]
    losses = [over_seeds(search, x, y, new_x, new_y) for search in (mine[2], other[2])]
    for search, found in zip((mine[2], other[2]), losses, strict=True):
        error = found.std(ddof=1) / np.sqrt(SEEDS)
        print(f"search: best {search.best_params_}: {found.mean():.5f} ± {error:.5f} on new cases")
    rows.append(
        {
            "name": f"search: squared error of the best setting on 10,000 new cases, mean of {SEEDS} seeds",
            "ours": losses[0].mean(),
            "alternative": losses[1].mean(),
            "against": "the same of MLPRegressor's search",
            "ratio": losses[0].mean() / losses[1].mean(),
            "bound": None,
            "command": COMMAND,
        }
    )
    return rows


def over_seeds(search: Any, x: Any, y: Any, new_x: Any, new_y: Any) -> Any:
    """The error of the best setting on new cases, fitted from other first weights."""
    from sklearn.base import clone

    found = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for seed in range(SEEDS):
            model = clone(search.best_estimator_).set_params(random_state=seed).fit(x, y)
            found.append(((model.predict(new_x) - new_y) ** 2).mean())
    return np.array(found)
