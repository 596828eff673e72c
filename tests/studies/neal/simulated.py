"""Studies that never were: losses of every method on every task, with known expected values."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy import special

from redelve.studies.neal.paper_findings import ALL, BANK, FINDINGS, KIN, PUMADYN, QUESTIONS, Duel, Look

TASKS = tuple((prototask, size) for prototask, sizes in (*KIN, *PUMADYN, *BANK) for size in sizes)
METHODS = tuple(
    dict.fromkeys(
        name for one in (*FINDINGS, *QUESTIONS) for part in one.parts for name in (*part.better, *part.worse)
    )
)
Mean = Callable[[str, str, int], float]


def simulated(rng: np.random.Generator, mean: Mean = lambda *_: 1.0, spread: float = 0.1) -> Look:
    """A study whose expected losses are known; training sets are easy or hard for all methods."""
    losses: dict[tuple[str, int], dict[str, NDArray[np.float64]]] = {}
    for prototask, size in TASKS:
        count = 4 if size == ALL[-1] else 8
        common, own = rng.normal(size=count), rng.normal(size=(len(METHODS), count))
        losses[prototask, size] = {
            name: mean(name, prototask, size) * np.exp(spread * (common + row))
            for name, row in zip(METHODS, own, strict=True)
        }

    def look(better: str, worse: str, prototask: str, size: int) -> Duel:
        first, second = (losses[prototask, size][name] for name in (better, worse))
        away = first - second
        t = float(away.mean() / (away.std(ddof=1) / len(away) ** 0.5))
        p = 2 * float(special.stdtr(len(away) - 1, -abs(t)))
        return Duel(prototask, size, better, worse, (float(first.mean()), float(second.mean())), t, p)

    return look
