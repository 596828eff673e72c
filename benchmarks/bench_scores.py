"""Scores that were brought: all pairs of many models, and long tables read and compared.

The alternatives do the least that such a comparison needs: NumPy the variances of all pairs' differences from
one matrix product, scipy a paired t-test for each pair (a part of them, counted up), pandas the reading and
the pivot of a table, with nothing compared. Times are of the processor.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchmarks.bench_findings import seconds
from benchmarks.timing import Row
from redelve.assessment import compare_scores

COMMAND = "python -m benchmarks scores"
Numbers = NDArray[np.float64]
CASES, LONG = 10_000, 10_000_000
TESTED = 400
"""Pairs of which scipy tests each; more are counted up."""

# Both run in a fresh process: seconds of CPU and megabytes at the peak, imports not counted.
MEASURE = """
import sys, time
import pandas
from redelve.assessment import compare_scores

def resident(field):
    with open("/proc/self/status") as status:
        return next(1024 * int(line.split()[1]) for line in status if line.startswith(field))

def bare(path):
    table = pandas.read_parquet(path) if path.endswith("parquet") else pandas.read_csv(path)
    return table.pivot(index="case", columns="model", values="accuracy")

ways = {"ours": lambda path: compare_scores(path).findings, "pandas": bare}
before, start = resident("VmRSS"), time.process_time()
held = ways[sys.argv[1]](sys.argv[2])
print(time.process_time() - start, (resident("VmHWM") - before) / 1e6)
"""


def made_scores(models: int, cases: int, seed: int = 1) -> Numbers:
    """Right and wrong answers[model, case] to questions that are hard for all, of models that differ."""
    rng = np.random.default_rng(seed)
    chances = rng.beta(2.0, 2.0, cases) + np.linspace(-0.1, 0.1, models)[:, None]
    return (rng.random((models, cases)) < chances).astype(np.float64)


def long_frame(scores: Numbers) -> pd.DataFrame:
    """A row for every score."""
    models, cases = scores.shape
    names = np.array([f"model-{number:04}" for number in range(models)], dtype=object)
    columns = {"model": np.repeat(names, cases), "case": np.tile(np.arange(cases), models)}
    return pd.DataFrame({**columns, "accuracy": scores.ravel().astype(np.int8)})


def plain_variances(scores: Numbers) -> Numbers:
    """Those of all pairs' differences, by NumPy."""
    centred = scores - scores.mean(axis=1, keepdims=True)
    products = centred @ centred.T
    own = np.diagonal(products)
    return np.asarray((own[:, None] + own - 2 * products) / (scores.shape[1] - 1))


def scipy_tests(scores: Numbers) -> float:
    """Seconds that paired t-tests of all pairs take."""
    from scipy.stats import ttest_rel

    pairs = list(combinations(range(len(scores)), 2))
    some = pairs[:: max(len(pairs) // TESTED, 1)]
    taken = seconds(lambda: [ttest_rel(scores[one], scores[two]) for one, two in some])
    return taken * len(pairs) / len(some)


def run(cases: int = CASES, long: int = LONG) -> list[Row]:
    """All rows."""
    compare_scores(long_frame(made_scores(3, 50))).findings  # noqa: B018  (packages are imported)
    return [
        *_pairs(29, cases, 1.0),
        *_pairs(500, cases, 60.0),
        *_files(100, long // 100, 2.0),
        *_files(1000, long // 1000, 2.0),
    ]


def _pairs(models: int, cases: int, bound: float) -> Iterator[Row]:
    scores = made_scores(models, cases)
    frame = long_frame(scores)
    what = f"{models} models × {cases:,} cases, all {models * (models - 1) // 2:,} pairs (seconds of CPU)"
    ours = seconds(lambda: compare_scores(frame).findings)
    yield _row(what, ours, bound, f"{bound:g} second{'s' * (bound != 1)}", 1.0)
    yield _row(
        what, ours, seconds(lambda: plain_variances(scores)), "bare NumPy: variances of all pairs", None
    )
    yield _row(what, ours, scipy_tests(scores), "scipy.stats.ttest_rel for each pair", None)


def _files(models: int, cases: int, bound: float) -> Iterator[Row]:
    with tempfile.TemporaryDirectory() as folder:
        frame = long_frame(made_scores(models, cases))
        for ending in ("parquet", "csv"):
            path = Path(folder) / f"scores.{ending}"
            if ending == "csv":
                frame.to_csv(path, index=False)
            else:
                frame.to_parquet(path)
            ours, theirs = (_measured(way, path) for way in ("ours", "pandas"))
            what = f"{models} models × {cases:,} cases, a row each, {ending.upper()}"
            against = "pandas: read and pivot"
            yield _row(f"read and compared: {what} (seconds of CPU)", ours[0], theirs[0], against, bound)
            yield _row(f"the same: {what} (MB at the peak)", ours[1], theirs[1], against, None)


def _measured(way: str, path: Path) -> list[float]:
    done = subprocess.run(
        [sys.executable, "-c", MEASURE, way, str(path)], capture_output=True, text=True, check=True
    )
    return [float(word) for word in done.stdout.split()]


def _row(name: str, ours: float, alternative: float, against: str, bound: float | None) -> Row:
    return {
        "name": name,
        "ours": ours,
        "alternative": alternative,
        "against": against,
        "ratio": ours / alternative,
        "bound": bound,
        "command": COMMAND,
    }
