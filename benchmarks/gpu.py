"""What a GPU does in a second: a million trials of exclusive-or, PROBEN1's tables, matrix rates.

`python -m benchmarks.gpu [xor] [proben1]`, on a machine with CUDA. Times are those of training with CUDA
started.
"""

from __future__ import annotations

import sys
from time import perf_counter

import numpy as np

from redelve.nets import (
    Architecture,
    Data,
    Engine,
    GradientDescent,
    MaxEpochs,
    Procedure,
    Sets,
    Success,
    initial_weights,
    train,
    training,
)

CUDA = Engine("torch", "float32", "cuda")
TABLES = (3, 4, 8, 9, 10, 11, 12)


def exclusive_or(trials: int = 1_000_000, limit: int = 2000) -> None:
    """Hamey 1992, table 1: a million networks, at most 2000 epochs each."""
    data = Data([[0, 0], [0, 1], [1, 0], [1, 1]], [[0], [1], [1], [0]])
    network = Architecture((2, 2, 1), ("logistic", "logistic"))
    procedure = Procedure(GradientDescent(7.0, momentum=0.65), Success(0.4) | MaxEpochs(limit), strips=limit)
    for count in (1000, trials)[-1 - (trials > 1000) :]:
        weights = initial_weights(network, range(count), 1.4, "float32")
        begin = perf_counter()
        trained = train(network, weights, Sets(data), procedure, engine=CUDA)
        seconds = perf_counter() - begin
        print(f"xor: {count:,} trials in {seconds:.2f} s, {np.mean(trained.epochs < limit):.4f} succeed,"
              f" {trained.epochs.sum():,} epochs")  # fmt: skip


def proben1() -> None:
    """Tables 3, 4 and 8 to 12, 42 datasets: seconds in `train`, and of the whole."""
    from redelve.studies.proben1 import network_method
    from redelve.studies.proben1.making import make_study

    spent = {"train": 0.0, "epochs": 0.0, "batches": 0.0}

    def timed(*arguments: object, **options: object) -> object:
        begin = perf_counter()
        trained = training.train(*arguments, **options)  # type: ignore[arg-type]
        spent["train"] += perf_counter() - begin
        spent["epochs"] += int(trained.epochs.max())
        spent["batches"] += 1
        return trained

    exclusive_or(1000)
    vars(network_method)["train"] = timed
    begin = perf_counter()
    study = make_study(TABLES, engine=CUDA)
    print(f"proben1: {spent}, {perf_counter() - begin:.1f} s in all")
    print("\n".join(line for line in str(study).splitlines() if " of " in line))


if __name__ == "__main__":
    chosen = sys.argv[1:] or ["xor", "proben1"]
    if "xor" in chosen:
        exclusive_or()
    if "proben1" in chosen:
        proben1()
