"""Calibration of the gate: false blocks, models let in that lost the margin, and how often it can tell.

`python -m benchmarks.calibration.gates` prints this section alone.
"""

from __future__ import annotations

import contextlib
import io
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np

from benchmarks.calibration.simulation import Generator
from redelve.cli.main import main
from redelve.stats.bounded_tests import not_worse_p_value, units_needed, worse_p_value
from redelve.stats.mean_squares import FloatArray

ALPHA = 0.05
SIGNS = np.array([1.0, -1.0, 0.0])
GateShape = Literal["right or wrong", "rubric", "rare losses", "mostly the same"]
SHAPES: tuple[GateShape, ...] = ("rubric", "rare losses", "mostly the same")


@dataclass(frozen=True)
class Builds:
    """Builds of a model that has lost so much, with so many cases, of which so many answers change."""

    cases: int
    amount: float
    """The margin."""
    lost: float = 0.0
    discordant: float = 0.15
    shape: GateShape = "right or wrong"

    @property
    def chances(self) -> tuple[float, float]:
        """Of a case won and of one lost."""
        changed = max(self.discordant, self.lost)
        return (changed - self.lost) / 2, (changed + self.lost) / 2

    def draw(self, count: int, rng: Generator) -> FloatArray:
        """Differences[build, case] of mean −lost."""
        uniform = rng.random((count, self.cases))
        wins, losses = self.chances
        d = (uniform < wins).astype(float) - (uniform > 1 - losses)
        if self.shape == "rubric":
            return np.asarray(
                d * 0.5 + rng.choice([-0.5, 0.0, 0.5], p=[0.1, 0.8, 0.1], size=d.shape) - self.lost / 2
            )
        if self.shape == "rare losses":
            return np.asarray(-0.5 * (uniform < 2 * self.lost))
        if self.shape == "mostly the same":
            return np.asarray(
                np.where(uniform < 0.2, rng.uniform(-1, 1, d.shape) * (1 - self.lost), 0.0) - self.lost
            )
        return np.asarray(d)


def exit_shares(builds: Builds) -> tuple[float, float, float]:
    """The exact chances of the three verdicts, of right and wrong answers: a sum over all counts."""
    from scipy.stats import multinomial

    n = builds.cases
    most = [min(n, int(n * p + 7 * np.sqrt(n * p + 1) + 5)) for p in builds.chances]
    wins, losses = np.meshgrid(np.arange(most[0] + 1), np.arange(most[1] + 1), indexing="ij")
    counts = np.stack([wins, losses, n - wins - losses], axis=-1)[wins + losses <= n]
    chance = multinomial.pmf(counts, n, [*builds.chances, 1 - sum(builds.chances)])
    counts, chance = counts[chance > 1e-12].astype(float), chance[chance > 1e-12]
    values = np.broadcast_to(SIGNS, counts.shape)
    passes = not_worse_p_value(values, builds.amount, counts=counts) <= ALPHA
    blocks = (worse_p_value(values, counts=counts) <= ALPHA) & ~passes
    passed, blocked = float(chance[passes].sum()), float(chance[blocks].sum())
    return passed, blocked, 1 - passed - blocked


def simulated(builds: Builds, count: int, rng: Generator) -> tuple[float, float, float]:
    """The shares of the three verdicts in simulated builds."""
    exits = np.zeros(3)
    for start in range(0, count, 500):
        d = builds.draw(min(500, count - start), rng)
        passes = not_worse_p_value(d, builds.amount) <= ALPHA
        blocks = (worse_p_value(d) <= ALPHA) & ~passes
        exits += passes.sum(), blocks.sum(), (~passes & ~blocks).sum()
    passed, blocked, unknown = exits / count
    return float(passed), float(blocked), float(unknown)


def commanded(builds: Builds, count: int, folder: Path, rng: Generator) -> tuple[float, float, float]:
    """The shares of the exit codes 0, 1 and 2 of `redelve gate`, on files with right and wrong answers."""
    codes = [0, 0, 0]
    files = folder / "new.csv", folder / "main.csv"
    for differences in builds.draw(count, rng):
        both = rng.random(builds.cases) < 0.7
        right = [np.where(differences == 0, both, sign * differences > 0) for sign in (1, -1)]
        for path, one in zip(files, right, strict=True):
            path.write_text("case,correct\n" + "".join(f"{i},{int(x)}\n" for i, x in enumerate(one)))
        with _silent():
            codes[main(["gate", str(files[0]), "--than", str(files[1]), "--margin", str(builds.amount)])] += 1
    return codes[0] / count, codes[1] / count, codes[2] / count


@contextlib.contextmanager
def _silent() -> Iterator[None]:
    with contextlib.redirect_stdout(io.StringIO()):
        yield


def settled_as_told(builds: Builds, count: int, rng: Generator) -> float:
    """Of unchanged builds with too little evidence, the share in which as many fresh cases as told pass."""
    settled = []
    for d in builds.draw(count, rng):
        if not_worse_p_value(d, builds.amount) > ALPHA:
            fresh = Builds(units_needed(d, builds.amount, ALPHA), builds.amount).draw(1, rng)
            settled.append(bool((not_worse_p_value(fresh, builds.amount) <= ALPHA).all()))
    return float(np.mean(settled))
