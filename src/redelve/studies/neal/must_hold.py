"""What must hold for `--check` to pass: that relevance determination works, and that intervals cover.

Verdicts on the paper's findings do not count: where one fails on redelve's replicas, that is a result. What
takes the paper's number of passes is not asked of a shorter study.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np

from redelve.report import formatting
from redelve.studies.neal.relevance_study import NealStudy
from redelve.studies.neal.tested_methods import WHOLE_PASSES

STRICT = 0.001
COVER = (0.87, 0.93)
PUMADYN = "pumadyn-32nm/accel"
WITH_RELEVANCE = ("mlp-mc-5", "mlp-mc-6", "gp-ard")
WITHOUT = ("mlp-mc-4", "mlp-bgd-2")
MOST = {("mlp-mc-5", 64): 0.25, ("mlp-mc-5", 128): 0.13, ("mlp-mc-6", 64): 0.25, ("mlp-mc-6", 128): 0.13}
"""Standardised squared errors on pumadyn-32nm that the variants with better moves must not exceed."""
SAMPLERS = ("mlp-mc-5", "mlp-mc-6")


@dataclass(frozen=True)
class MustHold:
    """A claim, what was found, and whether it holds."""

    words: str
    found: str
    holds: bool


def must_hold(study: NealStudy) -> tuple[MustHold, ...]:
    """Every claim that the study can say something of."""
    is_whole = study.plan.effort.passes >= WHOLE_PASSES
    return (*_better(study), *(_small(study) if is_whole else ()), *_covering(study))


def is_sound(held: Sequence[MustHold]) -> bool:
    """Whether everything holds."""
    return all(one.holds for one in held)


def _better(study: NealStudy) -> list[MustHold]:
    """Relevance determination is better than none on pumadyn-32nm at 128 and 256 cases, p < .001."""
    found = []
    for method, rival, size in product(WITH_RELEVANCE, WITHOUT, (128, 256)):
        duel = study.duels.get((method, rival, PUMADYN, size))
        if duel is not None:
            losses = " against ".join(f"{loss:.3f}" for loss in duel.losses)
            words = f"{method} better than {rival} on pumadyn-32nm at {size}, p < {STRICT}"
            told = f"{losses}, {formatting.p_equals(duel.p_value)}"
            found.append(MustHold(words, told, duel.statistic < 0 and duel.p_value < STRICT))
    return found


def _small(study: NealStudy) -> list[MustHold]:
    found = []
    for (method, size), most in MOST.items():
        task = study.tasks.get((PUMADYN, size))
        loss = {one.method: one.standardised for one in task.methods}.get(method) if task else None
        if loss is not None:
            words = f"{method} at most {most} on pumadyn-32nm at {size}"
            found.append(MustHold(words, f"{loss:.3f}", loss <= most))
    return found


def _covering(study: NealStudy) -> list[MustHold]:
    """The intervals of methods that sample cover as they say, over all tasks together."""
    found = []
    for method in SAMPLERS:
        shares = [own.mean() for (name, _), own in study.coverage.items() if name == method]
        if shares:
            mean = float(np.mean(shares))
            words = f"90 % intervals of {method} cover {100 * COVER[0]:.0f} to {100 * COVER[1]:.0f} %"
            told = f"{100 * mean:.1f} %, mean over prototasks"
            found.append(MustHold(words, told, COVER[0] <= mean <= COVER[1]))
    return found
