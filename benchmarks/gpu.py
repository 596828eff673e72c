"""What a GPU does in a second: a million trials of exclusive-or, PROBEN1's tables, matrix rates.

`python -m benchmarks.gpu [rates] [xor] [proben1]`, on a machine with CUDA. Times are those of training with
CUDA started.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.bench_nets import PROBLEMS, training_cases
from redelve.nets import (
    Architecture,
    Data,
    Engine,
    GradientDescent,
    MaxEpochs,
    Procedure,
    Rprop,
    Sets,
    Success,
    initial_weights,
    layered,
    train,
    training,
)
from redelve.nets.backend import captured

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
    """Tables 3, 4 and 8 to 12, 42 datasets: seconds in which a batch was in `train`, and of the whole."""
    from redelve.studies.proben1.making import make_study

    batches: list[tuple[float, float, int]] = []
    original = training.train

    def timed(*arguments: object, **options: object) -> object:
        begin = perf_counter()
        trained = original(*arguments, **options)  # type: ignore[arg-type]
        batches.append((begin, perf_counter(), int(trained.epochs.max())))
        return trained

    exclusive_or(1000)
    vars(training)["train"] = timed
    begin = perf_counter()
    study = make_study(TABLES, engine=CUDA)
    print(f"proben1: {_covered(batches):.1f} s of training, {perf_counter() - begin:.1f} s in all,"
          f" {len(batches)} batches, {sum(epochs for *_, epochs in batches):,} epochs")  # fmt: skip
    print("\n".join(line for line in str(study).splitlines() if " of " in line))


def _covered(spans: Sequence[tuple[float, float, int]]) -> float:
    """Seconds that lie in any of the spans, of which several may be under way at once."""
    total = reached = 0.0
    for begin, end, _ in sorted(spans):
        total += max(0.0, end - max(begin, reached))
        reached = max(reached, end)
    return total


def rates(epochs: int = 100) -> None:
    """Training against the matrix products of its epochs alone, and against the largest product's rate."""
    import torch

    peak = 2 * 8192**3 / _seconds(_product(torch, (8192, 8192), (8192, 8192))) / 1e12
    print(f"product of 8192 × 8192 in float32: {peak:.1f} TFLOP/s")
    print("| problem | runs | µs an epoch | µs, products alone | TFLOP/s | of products alone | share |")
    for name in ("glass1", "thyroid1", "gene1"):
        data, sizes = training_cases(name), PROBLEMS[name][1]
        network = layered(sizes, "softsign", "identity", shortcuts=True)
        for runs in (60, 600, 6000):
            weights = initial_weights(network, range(runs), 0.5)
            more = max(100, 200_000 // runs)
            took = [
                min(_train_seconds(network, weights, data, count) for _ in range(3))
                for count in (epochs, epochs + more)
            ]
            epoch = (took[1] - took[0]) / more
            alone, flops = _products_alone(torch, network, runs, data.cases)
            achieved, attainable = (flops / seconds / 1e12 for seconds in (epoch, alone))
            print(
                f"| {name} | {runs} | {1e6 * epoch:.0f} | {1e6 * alone:.0f} | {achieved:.2f} "
                f"| {attainable:.2f} | {alone / epoch:.0%} |"
            )


def _train_seconds(network: Architecture, weights: NDArray[Any], data: Data, epochs: int) -> float:
    procedure = Procedure(Rprop(delta0=0.01, variant="plain"), MaxEpochs(epochs))
    begin = perf_counter()
    train(network, weights, Sets(data), procedure, engine=CUDA)
    return perf_counter() - begin


def _products_alone(torch: Any, network: Architecture, runs: int, cases: int) -> tuple[float, float]:
    """Seconds and operations of the matrix products of an epoch, on tables of their own."""
    works, flops = [], 0.0
    for wire in network.wiring.wires:
        high, wide = wire.height, wire.width
        shapes = [((runs, high, wide), (runs, wide, cases)), ((runs, high, cases), (runs, cases, wide))]
        shapes += [] if wire.source is None else [((runs, wide, high), (runs, high, cases))]
        works += [_product(torch, *pair) for pair in shapes]
        flops += 2.0 * runs * high * wide * cases * len(shapes)
    return _seconds(lambda: [work() for work in works]), flops


def _product(torch: Any, first: tuple[int, ...], second: tuple[int, ...]) -> Callable[[], Any]:
    left, right = (torch.rand(shape, device="cuda") for shape in (first, second))
    out = torch.matmul(left, right)
    return lambda: torch.matmul(left, right, out=out)


def _seconds(work: Callable[[], Any], repeats: int = 50) -> float:
    """Seconds of one replay of work that was captured."""
    import torch

    work()
    torch.cuda.synchronize()

    def often() -> None:
        for _ in range(repeats):
            work()

    replay = captured(often)
    replay()
    torch.cuda.synchronize()
    begin = perf_counter()
    replay()
    torch.cuda.synchronize()
    return (perf_counter() - begin) / repeats


if __name__ == "__main__":
    chosen = sys.argv[1:] or ["rates", "xor", "proben1"]
    if "rates" in chosen:
        rates()
    if "xor" in chosen:
        exclusive_or()
    if "proben1" in chosen:
        proben1()
