"""Sixty runs of RPROP at once against sixty runs of torch's own; scikit-learn's MLP; Hamey's exclusive-or."""

from __future__ import annotations

import os
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.timing import Row, best_of
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
)

COMMAND = "python -m benchmarks nets"
RUNS, EPOCHS = 60, 20
BESIDE = Path(__file__).parents[2] / "shared" / "data" / "proben1"
FOLDER = Path(os.environ.get("REDELVE_PROBEN1", BESIDE))

# PROBEN1's pivot architectures (Prechelt 1994, table 7): training cases, sizes, largest ratio allowed.
PROBLEMS: dict[str, tuple[int, tuple[int, ...], float]] = {
    "glass1": (107, (9, 16, 8, 6), 1 / 10),
    "cancer1": (350, (9, 4, 2, 2), 1 / 10),
    "heart1": (460, (35, 32, 2), 1 / 10),
    "thyroid1": (3600, (21, 16, 8, 3), 1 / 3),
    "gene1": (1588, (120, 4, 2, 3), 1 / 3),
}


def training_cases(name: str) -> Data:
    """The training cases of a PROBEN1 file; random ones of the same shape where there is none."""
    cases, sizes, _ = PROBLEMS[name]
    path = FOLDER / f"{name}.dt"
    if path.exists():
        values = np.loadtxt(path, skiprows=7, max_rows=cases)
    else:
        values = np.random.default_rng(1).random((cases, sizes[0] + sizes[-1]))
    return Data(values[:, : sizes[0]], values[:, sizes[0] :])


def ours(name: str, data: Data) -> None:
    network = layered(PROBLEMS[name][1], "softsign", "identity", shortcuts=True)
    procedure = Procedure(Rprop(delta0=0.01, variant="irprop-"), MaxEpochs(EPOCHS))
    weights = initial_weights(network, range(RUNS), 0.5)
    train(network, weights, Sets(data), procedure, engine=Engine(dtype="float32"))


def torchs(name: str, data: Data, threads: int, runs: int = RUNS) -> None:
    """The same networks and epochs, run after run, as torch's users write them."""
    import torch

    class Network(torch.nn.Module):  # type: ignore[misc, name-defined, unused-ignore]
        def __init__(self, sizes: tuple[int, ...]) -> None:
            super().__init__()
            ends = range(1, len(sizes))
            self.layers = torch.nn.ModuleList(torch.nn.Linear(sum(sizes[:end]), sizes[end]) for end in ends)

        def forward(self, values: Any) -> Any:
            for layer in self.layers[:-1]:
                values = torch.cat([values, torch.nn.functional.softsign(layer(values))], dim=1)
            return self.layers[-1](values)

    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    inputs, targets = (torch.tensor(each, dtype=torch.float32) for each in (data.inputs, data.targets))
    for _ in range(runs):
        network = Network(PROBLEMS[name][1])
        optimiser = torch.optim.Rprop(network.parameters(), lr=0.01, step_sizes=(0.0, 50.0))
        for _ in range(EPOCHS):
            optimiser.zero_grad()
            torch.nn.functional.mse_loss(network(inputs), targets).backward()
            optimiser.step()
    torch.set_num_threads(before)


def torch_row(name: str) -> Row:
    data = training_cases(name)
    cores = os.cpu_count() or 1
    single, several = best_of(2, lambda: torchs(name, data, 1, 1), lambda: torchs(name, data, cores, 1))
    threads = 1 if single <= several else cores
    mine, theirs = best_of(3, lambda: ours(name, data), lambda: torchs(name, data, threads))
    return {
        "name": f"nets: {RUNS} runs of {EPOCHS} epochs of RPROP on {name} (seconds)",
        "ours": mine,
        "alternative": theirs,
        "against": f"{RUNS} runs of torch.nn.Module with torch.optim.Rprop, the better of 1, {cores} threads",
        "ratio": mine / theirs,
        "bound": PROBLEMS[name][2],
        "command": COMMAND,
    }


def sklearns(data: Data) -> None:
    from sklearn.neural_network import MLPRegressor

    for seed in range(RUNS):
        network = MLPRegressor(
            hidden_layer_sizes=(16, 8),
            activation="tanh",
            solver="sgd",
            alpha=0.0,
            batch_size=data.cases,
            max_iter=EPOCHS,
        )
        network.set_params(learning_rate_init=0.01, tol=0.0, n_iter_no_change=EPOCHS, random_state=seed)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that training has not converged is no news here
            network.fit(data.inputs, data.targets)


def momentum_descent(data: Data) -> None:
    network = layered(PROBLEMS["glass1"][1], "tanh", "identity")
    procedure = Procedure(GradientDescent(0.01 / data.cases, momentum=0.9), MaxEpochs(EPOCHS))
    train(network, initial_weights(network, range(RUNS), 0.5), Sets(data), procedure)


def sklearn_row() -> Row:
    data = training_cases("glass1")
    mine, theirs = best_of(3, lambda: momentum_descent(data), lambda: sklearns(data))
    return {
        "name": f"nets: {RUNS} runs of {EPOCHS} epochs of gradient descent on glass1, no shortcuts (seconds)",
        "ours": mine,
        "alternative": theirs,
        "against": f"{RUNS} fits of scikit-learn's MLPRegressor, full batches, float64",
        "ratio": mine / theirs,
        "bound": None,
        "command": COMMAND,
    }


def exclusive_or(dtype: str = "float64") -> NDArray[np.int64]:
    """Hamey 1992, table 1: how many epochs each of 10,000 trials took, 2000 at most."""
    data = Data([[0, 0], [0, 1], [1, 0], [1, 1]], [[0], [1], [1], [0]])
    network = Architecture((2, 2, 1), ("logistic", "logistic"))
    procedure = Procedure(GradientDescent(7.0, momentum=0.65), Success(0.4) | MaxEpochs(2000))
    weights = initial_weights(network, range(10_000), 1.4)
    return train(network, weights, Sets(data), procedure, engine=Engine(dtype=dtype)).epochs


def exclusive_or_row(dtype: str) -> Row:
    (mine,) = best_of(2, lambda: exclusive_or(dtype))
    return {
        "name": f"nets: exclusive-or, 10,000 trials of at most 2000 epochs, {dtype} (seconds)",
        "ours": mine,
        "alternative": 6.0,
        "against": "six seconds",
        "ratio": mine / 6.0,
        "bound": 1.0,
        "command": COMMAND,
    }


def run() -> list[Row]:
    rows = [exclusive_or_row("float64"), exclusive_or_row("float32"), sklearn_row()]
    try:
        import torch  # noqa: F401
    except ImportError:
        print("nets: torch is not installed, its comparisons are left out")
        return rows
    return rows + [torch_row(name) for name in PROBLEMS]
