"""Calibration of verdicts on a paper's findings: how often equal methods get one that tells something."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy import special

from benchmarks.calibration.sections import Effort, Finding, Section, listing, margin
from benchmarks.calibration.simulation import Generator
from redelve.studies.neal.paper_findings import (
    ALL,
    BANK,
    FINDINGS,
    KIN,
    PUMADYN,
    QUESTIONS,
    Duel,
    Look,
    judge,
)

TASKS = tuple((prototask, size) for prototask, sizes in (*KIN, *PUMADYN, *BANK) for size in sizes)
SEVERAL = (*FINDINGS, QUESTIONS[3])
"""All findings, and one of the questions, which are alike."""
METHODS = tuple(
    dict.fromkeys(
        name for one in (*FINDINGS, *QUESTIONS) for part in one.parts for name in (*part.better, *part.worse)
    )
)
Mean = Callable[[str, str, int], float]
Noise = Callable[[Generator, tuple[int, ...]], NDArray[np.float64]]
NOISES: dict[str, Noise] = {
    "normal": lambda rng, shape: rng.normal(size=shape),
    "skewed": lambda rng, shape: rng.exponential(size=shape) - 1,
    "heavy-tailed": lambda rng, shape: rng.standard_t(5, size=shape) * 0.6**0.5,
}


def simulated_study(
    rng: Generator,
    mean: Mean = lambda *_: 1.0,
    spread: float = 0.1,
    noise: str = "normal",
    shared: float = 0.0,
) -> Look:
    """Losses of every method on every task around known means; training sets are easy or hard for all.

    `shared` is the part of a method's variance that is the same at all sizes of a prototask.
    """
    draw, losses = NOISES[noise], {}
    for prototask in dict.fromkeys(prototask for prototask, _ in TASKS):
        kept = draw(rng, (len(METHODS), 8))
        for size in ALL:
            own = shared**0.5 * kept + (1 - shared) ** 0.5 * draw(rng, (len(METHODS), 8))
            every = np.exp(spread * (draw(rng, (8,)) + own))[:, : 4 if size == ALL[-1] else 8]
            losses[prototask, size] = {
                name: mean(name, prototask, size) * row for name, row in zip(METHODS, every, strict=True)
            }

    def look(better: str, worse: str, prototask: str, size: int) -> Duel:
        first, second = (losses[prototask, size][name] for name in (better, worse))
        away = first - second
        t = float(away.mean() / (away.std(ddof=1) / len(away) ** 0.5))
        p = 2 * float(special.stdtr(len(away) - 1, -abs(t)))
        return Duel(prototask, size, better, worse, (float(first.mean()), float(second.mean())), t, p)

    return look


def decided(rng: Generator, studies: int, noise: str = "normal", shared: float = 0.0) -> dict[str, float]:
    """Per cent of studies of equal methods in which a finding holds or fails, by its number."""
    counts = dict.fromkeys((one.number for one in SEVERAL), 0)
    for _ in range(studies):
        look = simulated_study(rng, noise=noise, shared=shared)
        for one in SEVERAL:
            counts[one.number] += judge(one, look).verdict != "cannot tell"
    return {number: 100 * count / studies for number, count in counts.items()}


def paper_verdicts_section(rng: Generator, effort: Effort) -> Section:
    """Levels of the verdicts of `redelve study neal`."""
    studies = max(effort.least // 2, 1)
    findings = []
    for noise, shared in (("normal", 0.0), ("normal", 0.5), ("skewed", 0.0), ("heavy-tailed", 0.0)):
        where = f"{noise} log losses{', half of the variance common to all sizes' if shared else ''}"
        findings += [
            Finding("verdict on a paper's finding", f"{where}; finding {number}", rate, studies)
            for number, rate in decided(rng, studies, noise, shared).items()
        ]
    words = f"""Studies of equal methods on six prototasks and five sizes, eight training sets each (four of
        1024 cases), whose findings are judged as `redelve study neal` does ([study-neal.md](study-neal.md)):
        per cent of studies in which a finding holds or fails. At most 5 are promised; standard error of 5 per
        cent: {margin(studies)}."""
    body = listing(findings, "holds or fails")
    return Section("Verdicts on the findings of a paper", words, body, tuple(findings))
