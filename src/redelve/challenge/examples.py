"""Ready challenges: one of embedded and generated data, and one of three of the WCCI 2006 challenge's own."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from redelve.challenge.challenge_folder import Challenge
from redelve.challenge.patterns import HIGHEST, Patterns, patterns_from
from redelve.challenge.phases import Phases
from redelve.challenge.preparation import prepare_challenge, refuse_existing
from redelve.data.files import StrPath
from redelve.model.dataset import Numbers
from redelve.seeds import generator

REAL = ("ada", "hiva", "sylva")
TITLE = "How well will it do?"
DESCRIPTION = (
    "Five two-class problems. Predict the classes of validation and test patterns, and guess your balanced "
    "error rate on the test set: the guess counts as well as the error."
)


def example(folder: StrPath, *, seed: int = 0, phases: Phases | None = None) -> Challenge:
    """A challenge of five datasets: dense, mixed with 10⁵ test cases, sparse binary, two unbalanced ones.

    To try things out with: whoever has redelve can make the same data, labels and all.
    """
    refuse_existing(folder)
    sources = {
        "anna": _mixed(seed),
        "gerda": _digits(),
        "hilda": _compounds(seed),
        "nora": _words(seed),
        "sylvia": _rare(seed),
    }
    return prepare_challenge(folder, sources, title=TITLE, description=DESCRIPTION, phases=phases, seed=seed)


def real_example(folder: StrPath, *, seed: int = 0, phases: Phases | None = None) -> Challenge:
    """A challenge of ADA, HIVA and SYLVA, as far as labels are public; needs the package that has them."""
    refuse_existing(folder)
    sources = {name: patterns_from(name, positive="yes") for name in REAL}
    description = (
        "Three datasets of the WCCI 2006 performance prediction challenge, whose training parts are divided "
        "anew. Numbers obtained here are not those of that challenge."
    )
    title = "WCCI 2006 once more: ADA, HIVA and SYLVA"
    return prepare_challenge(folder, sources, title=title, description=description, phases=phases, seed=seed)


def _digits() -> Patterns:
    """Handwritten digits, odd against even, as GINA was: dense and continuous."""
    return patterns_from("digits", positive=["1", "3", "5", "7", "9"])


def _mixed(seed: int) -> Patterns:
    """People with numbers and categories, a quarter of them positive: 111 000 cases, so 10⁵ for the test."""
    rng = generator("challenge", "example", "anna", seed)
    cases = 111_000
    numbers = rng.standard_normal((cases, 6))
    categories = [rng.choice(levels, cases, p=_shares(rng, levels)) for levels in (2, 3, 5)]
    effects = [rng.normal(0, 0.7, levels) for levels in (2, 3, 5)]
    score = numbers[:, 0] + 0.6 * numbers[:, 1] * numbers[:, 2] - 0.5 * np.abs(numbers[:, 3])
    for codes, effect in zip(categories, effects, strict=True):
        score += effect[codes]
    labels = _labels(score + rng.normal(0, 0.7, cases), 0.25)
    binary = [
        codes == level for codes, many in zip(categories, (2, 3, 5), strict=True) for level in range(many)
    ]
    features = np.column_stack([_scale(numbers), np.column_stack(binary[1:]).astype(np.int16)])
    return Patterns(features, labels, "generated: numbers and categories, a quarter positive")


def _compounds(seed: int) -> Patterns:
    """Compounds with properties that are there or not, 3.5 % of them active: binary and unbalanced."""
    rng = generator("challenge", "example", "hilda", seed)
    cases, properties, parts = 11_100, 200, 12
    share = rng.beta(0.6, 5, (parts, properties))
    mixture = rng.dirichlet(np.full(parts, 0.3), cases)
    features = (rng.random((cases, properties)) < mixture @ share).astype(np.int16)
    weights = rng.normal(size=properties) * (rng.random(properties) < 0.1)
    score = features @ weights + 2 * mixture[:, 0] + rng.normal(0, 0.5, cases)
    kept = np.ptp(features, axis=0) > 0
    return Patterns(features[:, kept], _labels(score, 0.035), "generated: binary properties, 3.5 % positive")


def _words(seed: int) -> Patterns:
    """Texts as sets of words, some on a subject: sparse and binary, as NOVA was."""
    rng = generator("challenge", "example", "nora", seed)
    cases, words = 5_550, 3_000
    usual = 1 / np.arange(1, words + 1) ** 0.9
    subjects = [usual * np.exp(rng.normal(0, 0.9, words)) for _ in range(2)]
    labels = np.where(rng.random(cases) < 0.285, 1, -1).astype(np.int8)
    features = np.zeros((cases, words), dtype=np.int16)
    for label, weights in zip((-1, 1), subjects, strict=True):
        rows = np.flatnonzero(labels == label)
        lengths = rng.integers(15, 60, rows.size)
        drawn = rng.choice(words, int(lengths.sum()), p=weights / weights.sum())
        features[np.repeat(rows, lengths), drawn] = 1
    kept = features.any(axis=0)
    return Patterns(features[:, kept], labels, "generated: sets of words on two subjects")


def _rare(seed: int) -> Patterns:
    """Pieces of land, 6 % of one kind, half of the features distractors: mixed, unbalanced, like SYLVA."""
    rng = generator("challenge", "example", "sylvia", seed)
    cases = 22_200
    place = rng.standard_normal((cases, 10))
    soil = rng.integers(0, 8, cases)
    score = place[:, 0] - 0.8 * place[:, 1] ** 2 + 0.5 * place[:, 2] + rng.normal(0, 1.0, 8)[soil]
    labels = _labels(score + rng.normal(0, 0.15, cases), 0.062)
    true = [_scale(place), *((soil == kind).astype(np.int16)[:, None] for kind in range(8))]
    features = np.hstack(true)
    return Patterns(
        np.hstack([features, features[rng.permutation(cases)]]),
        labels,
        "generated: numbers and kinds of soil, and those of another place as distractors, 6.2 % positive",
    )


def _shares(rng: np.random.Generator, levels: int) -> Numbers:
    return rng.dirichlet(np.full(levels, 4.0))


def _scale(numbers: Numbers) -> NDArray[np.int16]:
    """Columns of numbers as whole ones from 0 to 999."""
    low, high = numbers.min(axis=0), numbers.max(axis=0)
    return np.asarray(np.rint(HIGHEST * (numbers - low) / (high - low)), dtype=np.int16)


def _labels(score: Numbers, share: float) -> NDArray[np.int8]:
    """Positive is the given share with the highest scores."""
    return np.where(score > np.quantile(score, 1 - share), 1, -1).astype(np.int8)
