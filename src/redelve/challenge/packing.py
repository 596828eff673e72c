"""The participant's side: read public data, let a method answer, pack the answers into a zip."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from redelve.answers import Answer
from redelve.challenge.folder import Challenge
from redelve.challenge.submissions import DatasetEntry
from redelve.errors import LocationError, PredictionError, SpecError
from redelve.formats.challenge import (
    PARTS,
    FloatArray,
    Int8Array,
    confidences_bytes,
    guess_bytes,
    labels_bytes,
    read_confidences,
    read_data,
    read_guess,
    read_labels,
    read_parameters,
)
from redelve.formats.files import StrPath, write_atomic
from redelve.lessons import TestInputs, TrainingSet
from redelve.methods.contract import Method
from redelve.model import Attribute, AttributePrior, Cases, Column, NumberColumn, Prior, parse_range, written
from redelve.seeds import generator
from redelve.stats.balanced_errors import balanced_errors

if TYPE_CHECKING:
    from scipy.sparse import csr_array

FOLDS = 10
MOST_NUMBERS = 200_000_000
MOMENT = (1980, 1, 1, 0, 0, 0)
"""The time written into zips, always the same: the same answers give the same bytes."""


@dataclass(frozen=True, eq=False)
class PublicData:
    """What participants have of a dataset: patterns of all parts, labels of the training part."""

    name: str
    patterns: Mapping[str, FloatArray | csr_array] = field(repr=False)
    labels: Int8Array = field(repr=False)


def read_public(challenge: Challenge, name: str) -> PublicData:
    """The public files of a dataset."""
    param, *_ = challenge.public_files(name)
    parameters = read_parameters(param)
    told = challenge.dataset(name)
    if (parameters.kind, parameters.features, parameters.sizes) != (
        told.kind,
        told.features,
        dict(told.sizes),
    ):
        raise SpecError(f"{param} and challenge.toml tell different sizes or kinds of {name}: correct one")
    patterns = {part: read_data(param.with_name(f"{name}_{part}.data"), parameters, part) for part in PARTS}
    labels = read_labels(param.with_name(f"{name}_train.labels"), parameters.train)
    return PublicData(name, patterns, labels)


def pack(path: StrPath, entries: Mapping[str, DatasetEntry]) -> Path:
    """Write the zip to be submitted."""
    place = Path(path)
    write_atomic(place, pack_bytes(entries))
    return place


def pack_bytes(entries: Mapping[str, DatasetEntry]) -> bytes:
    """The zip to be submitted; the same entries give the same bytes."""
    if not any(entry.answers for entry in entries.values()):
        raise SpecError("there are no answers to pack: give those for one dataset at least")
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, entry in entries.items():
            for part, answers in entry.answers.items():
                _add(archive, f"{name}_{part}.resu", labels_bytes(answers))
            for part, confidences in entry.confidences.items():
                _add(archive, f"{name}_{part}.conf", confidences_bytes(confidences))
            if entry.guess is not None:
                _add(archive, f"{name}.guess", guess_bytes(entry.guess))
    return out.getvalue()


def _add(archive: zipfile.ZipFile, name: str, data: bytes) -> None:
    member = zipfile.ZipInfo(name, MOMENT)
    member.compress_type = zipfile.ZIP_DEFLATED
    archive.writestr(member, data)


def entries_in(folder: StrPath, challenge: Challenge) -> dict[str, DatasetEntry]:
    """What the .resu, .conf and .guess files of a folder hold for the datasets of a challenge."""
    place = Path(folder)
    found = {}
    for dataset in challenge.datasets:
        sizes = dataset.sizes
        answers = {
            part: read_labels(path, sizes[part])
            for part in PARTS
            if (path := place / f"{dataset.name}_{part}.resu").is_file()
        }
        confidences = {
            part: read_confidences(path, sizes[part])
            for part in PARTS
            if (path := place / f"{dataset.name}_{part}.conf").is_file()
        }
        guess = place / f"{dataset.name}.guess"
        if answers:
            found[dataset.name] = DatasetEntry(
                answers, confidences, read_guess(guess) if guess.is_file() else None
            )
    if not found:
        names = f"{challenge.names[0]}_valid.resu and so on"
        raise LocationError(f"{place}: there are no answers to pack: put in {names}")
    return found


def entry_of_method(method: Method, data: PublicData, *, seed: int = 0) -> DatasetEntry:
    """A method's answers to all parts, with its guess from ten-fold cross-validation of the training part.

    Where the method gives probabilities, a pattern is called positive if its probability exceeds the share of
    positive training cases: that makes the balanced error small, not the plain one.
    """
    everything = np.arange(data.labels.size)
    train = _dense(data.patterns["train"])
    parts = {part: train if part == "train" else _dense(data.patterns[part]) for part in PARTS}
    learned = _Learned.of(method, train, data.labels, generator("challenge", "entry", data.name, seed))
    found = {part: learned.answer(values) for part, values in parts.items()}
    order = generator("challenge", "folds", data.name, seed).permutation(everything)
    answers = np.empty(order.size, dtype=np.int8)
    for number, fold in enumerate(_folds(order, data.labels)):
        rest = np.setdiff1d(everything, fold)
        rng = generator("challenge", "fold", data.name, seed, number)
        answers[fold] = _Learned.of(method, train[rest], data.labels[rest], rng).answer(train[fold])[0]
    guess = balanced_errors(data.labels, answers).ber
    confidences = {part: values for part, (_, values) in found.items() if values is not None}
    return DatasetEntry({part: labels for part, (labels, _) in found.items()}, confidences, guess)


def _folds(order: np.ndarray[Any, np.dtype[np.int64]], labels: Int8Array) -> list[Any]:
    """Up to ten folds with like shares of both classes."""
    arranged = np.concatenate([order[labels[order] == label] for label in (-1, 1)])
    rarer = int(min((labels > 0).sum(), (labels < 0).sum()))
    if rarer < 2:
        raise SpecError("a class has fewer than two training cases: there is nothing to guess the error from")
    count = min(FOLDS, rarer)
    return [np.sort(arranged[number::count]) for number in range(count)]


@dataclass(frozen=True, eq=False)
class _Learned:
    """What a method has learned of patterns, and the share of positive ones among them."""

    predictor: Any
    share: float
    width: int

    @staticmethod
    def of(method: Method, values: FloatArray, labels: Int8Array, rng: np.random.Generator) -> _Learned:
        inputs, target, prior = _attributes(values.shape[1])
        classes: Column = written(["yes" if label > 0 else "no" for label in labels.tolist()])
        cases = Cases((*map(NumberColumn, values.T), classes), len(values))
        training = TrainingSet(inputs, (target,), prior, cases)
        if (reason := method.why_not(training.targets)) is not None:
            raise SpecError(f'method "{method.name}" cannot work on two classes: {reason}')
        return _Learned(method.learn(training, rng), float((labels > 0).mean()), values.shape[1])

    def answer(self, values: FloatArray) -> tuple[Int8Array, FloatArray | None]:
        """Classes and, where the method tells them, probabilities of the positive one."""
        inputs, _, prior = _attributes(self.width)
        found: Answer = self.predictor.predict(
            TestInputs(inputs, prior, Cases(tuple(map(NumberColumn, values.T)), len(values)))
        )
        if found.probabilities is not None:
            positive = np.asarray(found.probabilities.values[:, 1], dtype=np.float64)
            return np.where(positive > self.share, 1, -1).astype(np.int8), positive
        if found.guesses is None:
            raise PredictionError("the method gives neither classes nor their probabilities")
        return np.where(found.guesses.values[0] > 0.5, 1, -1).astype(np.int8), None


def _attributes(width: int) -> tuple[tuple[Attribute, ...], Attribute, Prior]:
    """Features f1, f2 … as integers, and the label, no or yes."""
    inputs = tuple(Attribute(n, f"f{n}", "?", parse_range("0..999")) for n in range(1, width + 1))
    target = Attribute(width + 1, "label", "?", parse_range("no yes"))
    priors = [AttributePrior(one.number, "?", "integer") for one in inputs]
    return inputs, target, Prior("std", (*priors, AttributePrior(width + 1, "?", "binary")))


def _dense(values: Any) -> FloatArray:
    if values.shape[0] * values.shape[1] > MOST_NUMBERS:
        raise SpecError(
            f"{values.shape[0]} patterns of {values.shape[1]} features are too many for a dense table: use "
            "an estimator that takes sparse input and pack its answers"
        )
    return np.asarray(values.toarray() if hasattr(values, "toarray") else values, dtype=np.float64)
