"""Scores of a submission: error rate, BER and AUC with their errors, and the ranking score."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from types import MappingProxyType
from typing import Any

import numpy as np

from redelve.answers.answer import Answer, score
from redelve.answers.losses import NegativeLogProbability, SquaredProbability
from redelve.answers.predictions import ClassProbabilities, Guesses, Target, Truth
from redelve.challenge.challenge_files import PARTS, Int8Array
from redelve.challenge.challenge_folder import Challenge
from redelve.challenge.submissions import DatasetEntry, Submission
from redelve.model.dataset import Numbers
from redelve.stats.auc import area_under_curve
from redelve.stats.balanced_errors import balanced_errors, ranking_score

LABEL = Target("label", "categorical", ("-1", "1"))
PROBABILITY_LOSSES = (SquaredProbability(), NegativeLogProbability())


@dataclass(frozen=True)
class PartScores:
    """Scores on a part. `ber_error` is σ of equation 1, `auc_error` DeLong's.

    Without confidences the area is that of the answers themselves, 1 − BER. `squared` and `log` are the mean
    losses Q and L of confidences that are probabilities of the positive class, None where some are not
    between 0 and 1.
    """

    cases: int
    error_rate: float
    error_rate_error: float
    error_positive: float
    error_negative: float
    ber: float
    ber_error: float
    ber_interval: tuple[float, float]
    auc: float
    auc_error: float | None
    has_confidences: bool
    squared: float | None = None
    log: float | None = None


@dataclass(frozen=True)
class DatasetScores:
    """Scores by part; guess, its error δ, weight and ranking score R (equation 2) only with the test part."""

    parts: Mapping[str, PartScores]
    guess: float | None = None
    guess_error: float | None = None
    weight: float | None = None
    score: float | None = None
    score_error: float | None = None


def score_submission(
    submission: Submission, challenge: Challenge, parts: Sequence[str] = PARTS
) -> dict[str, DatasetScores]:
    """Scores of everything submitted for the parts asked for, by dataset."""
    return {
        name: score_dataset(
            entry, {part: challenge.truths(name, part) for part in parts if part in entry.answers}
        )
        for name, entry in submission.entries.items()
    }


def score_dataset(entry: DatasetEntry, truths: Mapping[str, Int8Array]) -> DatasetScores:
    """Scores of one dataset's answers; only the parts whose truths are given are scored."""
    parts = {
        part: score_part(truths[part], entry.answers[part], entry.confidences.get(part)) for part in truths
    }
    test = parts.get("test")
    if test is None or entry.guess is None:
        return DatasetScores(MappingProxyType(parts), entry.guess)
    found = ranking_score(test.ber, test.ber_error, entry.guess)
    return DatasetScores(
        MappingProxyType(parts),
        entry.guess,
        found.guess_error,
        found.weight,
        found.score,
        found.standard_error,
    )


def score_part(truths: Int8Array, answers: Int8Array, confidences: Numbers | None = None) -> PartScores:
    """Scores of the answers to one part."""
    errors = balanced_errors(truths, answers)
    area = area_under_curve(truths, answers if confidences is None else confidences)
    losses = score(labelled(answers, confidences), [truth_of_labels(truths)], PROBABILITY_LOSSES)
    squared, log = (_mean(losses.get(loss.code)) for loss in PROBABILITY_LOSSES)
    negative, positive = errors.rates
    return PartScores(
        cases=errors.cases,
        error_rate=errors.error_rate,
        error_rate_error=errors.error_rate_error,
        error_positive=positive,
        error_negative=negative,
        ber=errors.ber,
        ber_error=errors.standard_error,
        ber_interval=errors.interval(),
        auc=area.auc,
        auc_error=area.standard_error,
        has_confidences=confidences is not None,
        squared=squared,
        log=log,
    )


def outcomes_of(submission: Submission, challenge: Challenge, part: str) -> dict[str, bytes]:
    """Which answers to a part are wrong, a bit each, by dataset: what paired comparisons need.

    With the answers these bits give the labels away: keep them as secret as those.
    """
    return {
        name: pack_outcomes(challenge.truths(name, part), entry.answers[part])
        for name, entry in submission.entries.items()
        if part in entry.answers
    }


def pack_outcomes(truths: Int8Array, answers: Int8Array) -> bytes:
    """Wrong answers as bits."""
    return np.packbits(truths != answers).tobytes()


def scores_to_json(scores: Mapping[str, DatasetScores]) -> dict[str, Any]:
    """Plain values that JSON can hold."""
    return {
        name: {
            **{one.name: getattr(found, one.name) for one in fields(DatasetScores) if one.name != "parts"},
            "parts": {part: asdict(values) for part, values in found.parts.items()},
        }
        for name, found in scores.items()
    }


def scores_from_json(plain: Mapping[str, Any]) -> dict[str, DatasetScores]:
    """What `scores_to_json` made."""
    found = {}
    for name, values in plain.items():
        parts = {
            part: PartScores(**{**given, "ber_interval": tuple(given["ber_interval"])})
            for part, given in values["parts"].items()
        }
        found[name] = DatasetScores(**{**values, "parts": MappingProxyType(parts)})
    return found


def truth_of_labels(labels: Int8Array) -> Truth:
    """The true classes of labels −1 and 1."""
    return Truth.exact(LABEL, (labels > 0).astype(np.float64))


def labelled(answers: Int8Array, confidences: Numbers | None) -> Answer:
    """The labels answered and, where all confidences are probabilities, these as well."""
    guesses = Guesses((LABEL,), ((answers > 0).astype(np.float64),))
    if confidences is None or confidences.min() < 0 or confidences.max() > 1:
        return Answer(guesses=guesses)
    rows = np.column_stack([1 - confidences, confidences])
    return Answer(guesses=guesses, probabilities=ClassProbabilities.from_probabilities(LABEL, rows))


def _mean(losses: Numbers | None) -> float | None:
    """The mean loss, if it is defined and finite."""
    return None if losses is None or not np.isfinite(losses).all() else float(losses.mean())
