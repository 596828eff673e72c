"""Calibration of the gate: false blocks, models let in that lost the margin, and how often it can tell.

`python -m benchmarks.calibration.gates` prints this section alone.
"""

from __future__ import annotations

import contextlib
import io
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal

import numpy as np

from benchmarks.calibration.sections import Effort, Finding, Section, margin, table
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


def grouped(groups: int, builds: Builds, count: int, rng: Generator) -> tuple[float, float]:
    """Shares passed and blocked where cases come in groups of 1 to 11, half of whose answers change alike."""
    passed = blocked = 0
    for start in range(0, count, 100):
        many, sizes = min(100, count - start), rng.integers(1, 12, groups)
        shape = many, int(sizes.sum())
        alike = np.repeat(rng.random((many, groups)), sizes, axis=1)
        uniform = np.where(rng.random(shape) < 0.5, alike, rng.random(shape))
        wins, losses = builds.chances
        d = (uniform < wins).astype(float) - (uniform > 1 - losses)
        sums = np.add.reduceat(d, np.cumsum(sizes) - sizes, axis=1) / sizes.max()
        passes = not_worse_p_value(sums, builds.amount, weights=sizes / sizes.max()) <= ALPHA
        passed += int(passes.sum())
        blocked += int(((worse_p_value(sums) <= ALPHA) & ~passes).sum())
    return passed / count, blocked / count


def commanded(builds: Builds, count: int, folder: Path, rng: Generator) -> tuple[float, float, float]:
    """The shares of the exit codes 0, 1 and 2 of `redelve gate`, on files with right and wrong answers.

    Each must be the one that the tests of these differences give.
    """
    codes = [0, 0, 0]
    files = folder / "new.csv", folder / "main.csv"
    drawn = builds.draw(count, rng)
    passes = not_worse_p_value(drawn, builds.amount) <= ALPHA
    expected = np.where(passes, 0, np.where(worse_p_value(drawn) <= ALPHA, 1, 2))
    for differences, code in zip(drawn, expected, strict=True):
        both = rng.random(builds.cases) < 0.7
        right = [np.where(differences == 0, both, sign * differences > 0) for sign in (1, -1)]
        for path, one in zip(files, right, strict=True):
            path.write_text("case,correct\n" + "".join(f"{i},{int(x)}\n" for i, x in enumerate(one)))
        with _silent():
            told = main(["gate", str(files[0]), "--than", str(files[1]), "--margin", str(builds.amount)])
        if told != code:
            raise AssertionError(f"redelve gate exits with {told}, its tests say {code}")
        codes[told] += 1
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
    return float(np.mean(settled)) if settled else float("nan")


WORDS = """
A new model and an old one on the same cases. *Blocked*: nothing changed but by chance, and the gate says
"worse". *Passed*: the model lost just the margin, and the gate says "not worse". Each is meant to be at
most 5 %. Of right and wrong answers the share told changes; *rubric* scores are in halves of a mark, *rare
losses* are the only changes there are, *mostly the same* scores change in a fifth of the cases by any
amount; *groups* of cases, half of whose answers change alike, count as one each. *Through the command*:
files are written and `redelve gate` is run on them; each exit code is compared with what the tests of these
differences say, and all agree, so that the true rate is the exact one below. *Told*: of unchanged builds
with not enough evidence, how often as many fresh cases as the gate told show that the model is not worse;
80 % is meant. *A fixed threshold* blocks wherever the mean falls by more than the margin. The second table
has the exact chances of the three exits, with a margin of 0.05 and 15 % of answers that change."""
SIZES = (50, 200, 1000)
MARGINS = (0.01, 0.05, 0.1)
CHANGES = (0.02, 0.15, 0.4)


def gate_section(rng: Generator, effort: Effort) -> Section:
    """The gate of CI."""
    found = [*_binary(rng, effort), *_bounded(rng, effort), *_by_command(rng, effort)]
    told = [_told(cases, amount, rng, effort) for cases, amount in ((50, 0.05), (200, 0.05), (200, 0.02))]
    found += _in_groups(rng, effort)  # last: what is drawn for the rest stays
    rows = [[f.what, f.where, f.percent, f"{f.count:,}"] for f in (*found, *told)]
    head = ["cases", "lost", "not worse", "worse", "not enough evidence", "a fixed threshold blocks"]
    exact = [_exact(cases, lost) for cases in SIZES for lost in (0.0, 0.05, 0.1)]
    body = [
        table(["what", "setting", "%", "builds"], rows),
        table(head, exact),
    ]
    errors = ", ".join(f"{margin(count)} of {count:,}" for count in (effort.some, effort.least))
    words = f"{WORDS} Standard errors at 5 % are {errors}. {_worst()}"
    return Section("The gate", words, "\n\n".join(body), (*found, *told))


def _worst() -> str:
    """The largest exact chances of both faults, over the settings of right and wrong answers."""
    settings = [(cases, amount, changed) for cases in SIZES for amount in MARGINS for changed in CHANGES]
    blocked = max(exit_shares(Builds(cases, amount, 0.0, changed))[1] for cases, amount, changed in settings)
    passed = max(
        exit_shares(Builds(cases, amount, amount, changed))[0] for cases, amount, changed in settings
    )
    told = f"at most {100 * blocked:.2f} % are blocked, {100 * passed:.2f} % passed"
    return f"Summed exactly over all counts of right and wrong answers, {told} in any of these settings."


def _binary(rng: Generator, effort: Effort) -> list[Finding]:
    found = []
    for cases in SIZES:
        for amount in MARGINS:
            for changed in CHANGES:
                where = f"{cases} cases, margin {amount:g}, {100 * changed:g} % change"
                for what, lost in (("unchanged, blocked", 0.0), ("lost the margin, passed", amount)):
                    builds = Builds(cases, amount, lost, changed)
                    rate = 100 * _counted(builds, effort.some, rng)[1 if lost == 0 else 0]
                    found.append(Finding(f"gate: {what}", where, rate, effort.some))
    return found


def _counted(builds: Builds, count: int, rng: Generator) -> tuple[float, float]:
    """Shares passed and blocked, from counts of right and wrong answers."""
    chances = [*builds.chances, 1 - sum(builds.chances)]
    counts = rng.multinomial(builds.cases, chances, size=count).astype(float)
    values = np.broadcast_to(SIGNS, counts.shape)
    passes = not_worse_p_value(values, builds.amount, counts=counts) <= ALPHA
    blocks = (worse_p_value(values, counts=counts) <= ALPHA) & ~passes
    return float(passes.mean()), float(blocks.mean())


def _bounded(rng: Generator, effort: Effort) -> list[Finding]:
    found = []
    for shape in SHAPES:
        for cases in SIZES:
            where = f"{shape}, {cases} cases, margin 0.05"
            lost = simulated(Builds(cases, 0.05, 0.05, shape=shape), effort.least, rng)
            found.append(Finding("gate: lost the margin, passed", where, 100 * lost[0], effort.least))
            if shape != "rare losses":
                same = simulated(Builds(cases, 0.05, shape=shape), effort.least, rng)
                found.append(Finding("gate: unchanged, blocked", where, 100 * same[1], effort.least))
    return found


def _in_groups(rng: Generator, effort: Effort) -> list[Finding]:
    found = []
    for groups in (20, 40, 100):
        where = f"{groups} groups of 1 to 11 cases, margin 0.05"
        same = grouped(groups, Builds(groups, 0.05), effort.least, rng)
        lost = grouped(groups, Builds(groups, 0.05, 0.05), effort.least, rng)
        found.append(Finding("gate: unchanged, blocked", where, 100 * same[1], effort.least))
        found.append(Finding("gate: lost the margin, passed", where, 100 * lost[0], effort.least))
    return found


def _by_command(rng: Generator, effort: Effort) -> list[Finding]:
    count = effort.least
    with TemporaryDirectory() as folder:
        same = commanded(Builds(200, 0.05), count, Path(folder), rng)
        lost = commanded(Builds(200, 0.05, 0.05), count, Path(folder), rng)
    where = "through the command, 200 cases, margin 0.05"
    return [
        Finding("gate: unchanged, blocked", where, 100 * same[1], count),
        Finding("gate: lost the margin, passed", where, 100 * lost[0], count),
    ]


def _told(cases: int, amount: float, rng: Generator, effort: Effort) -> Finding:
    rate = 100 * settled_as_told(Builds(cases, amount), effort.least, rng)
    return Finding("gate: cases told to settle it", f"{cases} cases, margin {amount:g}", rate, effort.least)


def _exact(cases: int, lost: float) -> list[object]:
    from scipy.stats import norm

    builds = Builds(cases, 0.05, lost)
    spread = np.sqrt((builds.discordant - lost**2) / cases)
    fixed = 100 * float(norm.sf((0.05 - lost) / spread))
    return [str(cases), f"{lost:g}", *(100 * share for share in exit_shares(builds)), fixed]


if __name__ == "__main__":
    import sys

    sys.stdout.write(gate_section(np.random.default_rng(1996), Effort()).text() + "\n")
