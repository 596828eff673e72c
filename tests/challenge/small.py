"""A small challenge, and entries for it, that the tests of this folder share."""

from datetime import UTC, datetime
from pathlib import Path

import numpy as np

from redelve.challenge import Challenge, DatasetEntry, Patterns, Phases, prepare_challenge

PHASES = Phases(
    datetime(2026, 1, 1, tzinfo=UTC), datetime(2026, 2, 1, tzinfo=UTC), datetime(2026, 3, 1, tzinfo=UTC)
)


def some_patterns(seed: int, cases: int = 888, features: int = 5) -> Patterns:
    rng = np.random.default_rng(seed)
    values = rng.integers(0, 1000, (cases, features)).astype(np.int16)
    labels = np.where(values[:, 0] + rng.normal(0, 100, cases) > 600, 1, -1).astype(np.int8)
    return Patterns(values, labels, "drawn for tests")


def small_challenge(folder: Path, names: tuple[str, ...] = ("anna", "berta")) -> Challenge:
    sources = {name: some_patterns(number) for number, name in enumerate(names)}
    return prepare_challenge(folder, sources, title="Small", phases=PHASES, seed=0)


def entry_with(
    challenge: Challenge, name: str, wrong: float, guess: float | None, seed: int = 0
) -> DatasetEntry:
    """Answers of which about the given share is wrong, with confidences that belong to them."""
    rng = np.random.default_rng(seed)
    answers, confidences = {}, {}
    for part in ("train", "valid", "test"):
        truths = challenge.truths(name, part)
        given = np.where(rng.random(truths.size) < wrong, -truths, truths).astype(np.int8)
        answers[part] = given
        confidences[part] = given * rng.random(truths.size)
    return DatasetEntry(answers, confidences, guess)
