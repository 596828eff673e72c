"""A few small files for every reader, as its tool writes them; and which score to choose."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd

from tests.data.scores import (
    make_inspect_logs,
    test_benchopt_results,
    test_every_eval_ever,
    test_helm_statistics,
    test_lm_eval_samples,
    test_openml_predictions,
    test_tracked_tables,
    test_tsml_results,
)

Examples = tuple[list[Path], str | None]


def inspect(folder: Path) -> Examples:
    return [make_inspect_logs.FOLDER / "one.eval", make_inspect_logs.FOLDER / "two.json"], "match"


def lm_eval(folder: Path) -> Examples:
    made = test_lm_eval_samples
    rows = [made.sample(i, value) for i, value in enumerate((1, 0, 1, 1))]
    return [made.write(folder, model, rows, made.results(model)) for model in ("org/one", "org/two")], None


def every_eval_ever(folder: Path) -> Examples:
    return [test_every_eval_ever.two_models(folder / "all_samples.jsonl")], None


def helm(folder: Path) -> Examples:
    made = test_helm_statistics
    return [made.run(folder, model, [made.entry(i, 1.0) for i in range(3)]) for model in ("one", "two")], None


def openml(folder: Path) -> Examples:
    made = test_openml_predictions
    return [made.labels(folder / f"{name}.arff", {1}, 2) for name in ("tree", "forest")], None


def sklearn(folder: Path) -> Examples:
    columns = {"fit_time": [0.1, 0.2], "score_time": [0.1, 0.1], "test_score": [0.5, 0.75]}
    paths = [folder / "tree.csv", folder / "forest.csv"]
    for path in paths:
        pd.DataFrame(columns).to_csv(path, index=False)
    return paths, None


def predictions(folder: Path) -> Examples:
    truths, tree, log = np.array([1, 0, 1]), np.array([1, 1, 1]), np.array([0, 0, 1])
    np.savez(folder / "both.npz", y_true=truths, tree=tree, log=log)
    return [folder / "both.npz"], None


def benchopt(folder: Path) -> Examples:
    test_benchopt_results.curves().to_parquet(folder / "run.parquet")
    return [folder / "run.parquet"], None


def tsml(folder: Path) -> Examples:
    made = test_tsml_results
    return [made.resamples(folder / f"{name}_accuracy.csv") for name in ("HC2", "RDST")], None


def tracked(folder: Path) -> Examples:
    made = test_tracked_tables
    paths = [folder / name / "eval_results_table.json" for name in ("one", "two")]
    return [made.mlflow_table(path, [1.0, 3.0]) for path in paths], None


EXAMPLES: dict[str, Callable[[Path], Examples]] = {
    "inspect": inspect,
    "lm-eval": lm_eval,
    "every-eval-ever": every_eval_ever,
    "helm": helm,
    "openml": openml,
    "sklearn": sklearn,
    "predictions": predictions,
    "benchopt": benchopt,
    "tsml": tsml,
    "tracked": tracked,
}
