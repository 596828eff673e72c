"""Calibration of chains of networks: Geweke's joint test of moves, and intervals for data of the prior."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from benchmarks.calibration.joint_distribution import NETWORK, PRIOR, Geweke
from benchmarks.calibration.sections import Effort, Finding, Section, margin, rejections, table
from benchmarks.calibration.simulation import Generator
from redelve.answers.distributions import NormalMixture
from redelve.nets import Architecture, Data, Engine, layered, predict
from redelve.nets.sampling import NetworkPrior, SamplingPlan, sample
from redelve.stats.mean_squares import FloatArray

DIRECT = Architecture((3, 2, 1), ("tanh", "identity"), shortcuts=True)
BOTH = SamplingPlan(steps=5, scale_steps=4, exchanges=2)
MOVES: dict[str, tuple[NetworkPrior, SamplingPlan, Architecture, str]] = {
    "trajectories and Gibbs": (PRIOR, SamplingPlan(steps=5), NETWORK, "float64"),
    "windows and persistence": (PRIOR, SamplingPlan(steps=7, window=3, persistence=0.8), NETWORK, "float64"),
    "no relevance": (replace(PRIOR, relevance=None), SamplingPlan(steps=5), NETWORK, "float64"),
    "t noise": (replace(PRIOR, noise_df=4.0), SamplingPlan(steps=5), NETWORK, "float64"),
    "scale move": (PRIOR, SamplingPlan(steps=1, scale_steps=5), NETWORK, "float64"),
    "exchanges": (PRIOR, SamplingPlan(steps=1, exchanges=3), NETWORK, "float64"),
    "all, direct connections": (PRIOR, BOTH, DIRECT, "float64"),
    "all, float32": (PRIOR, BOTH, NETWORK, "float32"),
}
"""What moves, by which prior and plan, of which networks, in which precision."""
TEST_CASES = 20


def joint_test(name: str, members: int, rounds: int, seed: int, backend: str = "numpy") -> Geweke:
    """Members after some rounds of parameters given targets and targets given parameters."""
    prior, plan, network, dtype = MOVES[name]
    engine = Engine(backend, dtype)
    return Geweke(members, prior, plan, network=network, engine=engine, seed=seed).run(rounds)


def prior_coverage(members: int, cases: int, seed: int, *, passes: int = 8000) -> FloatArray:
    """For data sets of networks of the prior: the share of new targets within 95 % predictive intervals."""
    random = np.random.default_rng(seed)
    network = layered((3, 6, 1), "tanh", "identity")
    start = Geweke(members, PRIOR, BOTH, network=network, seed=seed, cases=cases + TEST_CASES)
    inputs, targets = start.inputs, start.targets
    plan = replace(BOTH, steps=20, passes=passes, kept=200)
    seeds = random.integers(2**62, size=members).tolist()
    made = sample(network, Data(inputs[:, :cases], targets[:, :cases]), PRIOR, plan, seeds=seeds)
    found = []
    for member in range(members):
        outputs = predict(network, made.weights[member].astype(np.float64), inputs[member, cases:])
        locations = outputs[:, :, 0].T
        scales = np.broadcast_to(made.noise[member], locations.shape)
        law = NormalMixture(np.ones_like(locations), locations, scales)
        found.append(law.covers(targets[member, cases:, 0], 0.95).mean())
    return np.array(found)


def sampled_networks(rng: Generator, effort: Effort) -> Section:
    """The section."""
    repeats, members = max(2, effort.least // 100), max(50, effort.least // 2)
    rows, findings = [], []
    for name in MOVES:
        values = [
            value
            for _ in range(repeats)
            for value in joint_test(name, members, 8, int(rng.integers(2**31))).p_values().values()
        ]
        share = rejections(np.array(values))
        rows.append([name, len(values), share, f"{min(values):.2g}"])
        findings.append(Finding("joint test of chains", name, share, len(values)))
    coverage = []
    for cases in (5, 20, 60):
        shares = prior_coverage(max(20, effort.least // 5), cases, int(rng.integers(2**31)))
        error = 100 * float(shares.std(ddof=1)) / len(shares) ** 0.5
        coverage.append([cases, len(shares), 100 * float(shares.mean()), f"{error:.1f}"])
        findings.append(
            Finding(
                "predictive interval of networks", f"{cases} cases", 100 * float(shares.mean()), len(shares)
            )
        )
    head = ["moves", "p-values", "per cent below 0.05", "smallest"]
    second = ["cases", "data sets", "per cent covered", "±"]
    return Section(
        "Networks sampled from their posterior",
        f"""Geweke's (2004) joint test: {members} members begin with a draw from the prior; parameters given
        targets and targets given parameters are drawn in turn, eight times. If a move is right,
        hyperparameters and weights still have the prior's distribution: Kolmogorov and Smirnov's test of
        about ten of them (nominal 5; they are not quite independent, so the margin is more than
        ± {margin(repeats * 9)}). Below: how many new targets lie within 95 % predictive intervals, for data
        sets of networks drawn from the prior, 8,000 passes and one chain each; a mixture of 200 networks is
        a little narrower than the posterior's.""",
        f"{table(head, rows)}\n\n{table(second, coverage)}",
        tuple(findings),
    )
