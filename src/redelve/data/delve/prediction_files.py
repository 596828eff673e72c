"""From predictions to losses: find prediction files, decode them, compute each case's loss (manual 7.5)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from redelve.answers.losses import Loss
from redelve.answers.predictions import (
    NO_GUESS,
    ClassProbabilities,
    Prediction,
    Target,
    TargetLogProbabilities,
    Truth,
    guesses_of,
    target_of,
    truth_of,
)
from redelve.data.delve.figure_files import read_normalization, write_losses
from redelve.data.files import read_text
from redelve.errors import FormatError, LocationError, PredictionError, SpecError
from redelve.model import Attribute, Task
from redelve.model.coding import Coding, Normalization
from redelve.model.encodings import Encoder, bind, whole
from redelve.text_numbers import parse_limit, tcl

Texts = NDArray[np.object_]
Numbers = NDArray[np.float64]
Progress = Callable[[str], None]

DISTRIBUTIONS = ("prob", "lprob", "ptarg", "lptarg")
CODABLE = ("guess", "ptarg", "lptarg")
LARGEST_FILE = 4 << 30


@dataclass(frozen=True)
class TaskDirectory:
    """A method's task directory, overlaid: what to look up there and how targets were coded."""

    task: Task
    targets: tuple[Attribute, ...]
    codings: Mapping[int, Coding]
    names: frozenset[str]
    find: Callable[[str], Path | None]
    raw_targets: Callable[[int], Sequence[Texts]]

    def read(self, name: str) -> tuple[str, str]:
        """A file's path and text."""
        path = self.find(name)
        if path is None:
            raise LocationError(f'no file "{name}" in the task directory: run mgendata first')
        return str(path), read_text(path, limit=LARGEST_FILE)

    @cached_property
    def target_list(self) -> tuple[Target, ...]:
        """The targets as predictions know them."""
        prior = self.task.prior
        return tuple(target_of(attribute, prior.attribute(attribute.number)) for attribute in self.targets)


def prediction_stem(loss: Loss, directory: TaskDirectory, instances: Sequence[int]) -> str | None:
    """The name, without instance number, of the predictions a loss is computed from.

    Files made for this loss come before general ones (manual, appendix C); coded ones before decoded
    ones, which may be left over from an earlier run; explicit distributions before target probabilities.
    """
    roots = ("guess",) if loss.takes == "guesses" else DISTRIBUTIONS[: 2 if loss.code == "Q" else 4]
    for suffix in (f".{loss.code}", ""):
        for root in roots:
            for prefix in ("c", "") if root in CODABLE else ("",):
                stem = f"{prefix}{root}{suffix}"
                if any(f"{stem}.{number}" in directory.names for number in instances):
                    return stem
    return None


def score(
    directory: TaskDirectory, loss: Loss, stem: str, instance: InstanceScoring, progress: Progress
) -> Iterator[tuple[str, str]]:
    """Names and contents of the decoded prediction file, if any, and of the loss file."""
    name = f"{stem}.{instance.number}"
    if name not in directory.names:
        raise LocationError(
            f'no prediction file "{name}", though other instances have one: make it, or choose with -i'
        )
    path, text = directory.read(name)
    coded = stem.startswith("c")
    if coded:
        progress(f"  decoding {name}...")
    progress(f"  decoding targets.{instance.number}...")
    try:
        decoded, prediction = instance.prediction(stem, _Answers(path, text))
        if coded:
            yield name[1:], decoded
        progress(f"  creating loss.{loss.code}.{instance.number}...")
        yield (
            f"loss.{loss.code}.{instance.number}",
            write_losses(loss.of(instance.truths, prediction).tolist()),
        )
    except PredictionError as error:
        raise PredictionError(f"{path}: {error}") from None


@dataclass(frozen=True)
class _Answers:
    """The lines of a prediction file, empty ones at the end left out."""

    path: str
    text: str

    @cached_property
    def rows(self) -> list[list[str]]:
        return [line.split() for line in self.text.rstrip().split("\n")] if self.text.strip() else []

    def table(self, width: int, count: int) -> list[list[str]]:
        """The words of each case; a lone `?` stands for the whole line."""
        if len(self.rows) != count:
            raise FormatError(
                self.path, None, f"expected predictions for {count} test cases but got {len(self.rows)}"
            )
        table = []
        for line, words in enumerate(self.rows, start=1):
            if len(words) != width and words != [NO_GUESS]:
                plural = "s" * (width != 1)
                raise FormatError(self.path, line, f"expected {width} value{plural} but got {len(words)}")
            table.append(words if len(words) == width else words * width)
        return table

    def numbers(self, width: int, count: int) -> Numbers:
        """The numbers of each case; -Inf is allowed, as the log of a zero probability."""
        values = np.empty((count, width), dtype=np.float64)
        for line, words in enumerate(self.table(width, count), start=1):
            for position, word in enumerate(words):
                number = parse_limit(word)
                if number is None:
                    raise FormatError(self.path, line, f'expected a number but got "{word}"')
                values[line - 1, position] = number
        return values


@dataclass(frozen=True)
class InstanceScoring:
    """One instance: its encoders, its true targets and the way from answers to predictions."""

    directory: TaskDirectory
    number: int
    _cache: dict[str, tuple[str, Prediction]] = field(default_factory=dict, compare=False, repr=False)

    @cached_property
    def encoders(self) -> list[Encoder]:
        """The targets' encoders as mgendata used them."""
        statistics: dict[int, Normalization] = {}
        if f"normalize.{self.number}" in self.directory.names:
            path, text = self.directory.read(f"normalize.{self.number}")
            statistics = read_normalization(text, path)
        prior = self.directory.task.prior
        return [
            bind(
                attribute,
                prior.attribute(attribute.number),
                self.directory.codings[attribute.number],
                statistics.get(attribute.number),
            )
            for attribute in self.directory.targets
        ]

    @cached_property
    def truths(self) -> list[Truth]:
        """The true targets, decoded from targets.n where that exists, else taken from the data."""
        try:
            columns = self._decoded_targets() or self.directory.raw_targets(self.number)
            pairs = zip(self.directory.target_list, columns, strict=True)
            return [
                truth_of(target, whole(texts) if target.kind == "integer" else texts)
                for target, texts in pairs
            ]
        except PredictionError as error:  # no fault of the predictions
            place = self.directory.find(f"targets.{self.number}") or f"targets of instance {self.number}"
            raise SpecError(f"{place}: {error}") from None

    def _decoded_targets(self) -> list[Texts] | None:
        name = f"targets.{self.number}"
        if name not in self.directory.names:
            return None
        path, text = self.directory.read(name)
        answers = _Answers(path, text)
        return self._decode(answers.table(self._width, len(answers.rows)))

    @property
    def _width(self) -> int:
        return sum(len(encoder.names) for encoder in self.encoders)

    @property
    def count(self) -> int:
        """The number of test cases."""
        return len(self.truths[0])

    def _decode(self, table: list[list[str]]) -> list[Texts]:
        columns = np.array(table, dtype=object).reshape(len(table), self._width).T
        decoded, start = [], 0
        for encoder in self.encoders:
            end = start + len(encoder.names)
            decoded.append(_decode_target(encoder, columns[start:end]))
            start = end
        return decoded

    def prediction(self, stem: str, answers: _Answers) -> tuple[str, Prediction]:
        """The prediction in the original domain, as text for a file and as a value."""
        if stem not in self._cache:
            root = stem.partition(".")[0]
            is_coded = root.startswith("c")
            if root.removeprefix("c") == "guess":
                self._cache[stem] = self._guesses(answers, is_coded=is_coded)
            elif root in ("prob", "lprob"):
                self._cache[stem] = "", self._probabilities(answers, is_log=root == "lprob")
            else:
                self._cache[stem] = self._target_probabilities(answers, root)
        return self._cache[stem]

    def _guesses(self, answers: _Answers, *, is_coded: bool) -> tuple[str, Prediction]:
        targets = self.directory.target_list
        if is_coded:
            columns = self._decode(answers.table(self._width, self.count))
        else:
            table = answers.table(len(targets), self.count)
            columns = list(np.array(table, dtype=object).reshape(self.count, len(targets)).T)
        lines = (" ".join(words) + "\n" for words in zip(*columns, strict=True))
        return "".join(lines), guesses_of(targets, columns)

    def _probabilities(self, answers: _Answers, *, is_log: bool) -> Prediction:
        target = self.directory.target_list[0]
        if len(self.directory.target_list) > 1:
            raise PredictionError("class probabilities need exactly one target: give ptarg files instead")
        if target.kind != "categorical":
            raise PredictionError(f'"{target.name}" is {target.kind}: give ptarg files instead of prob files')
        rows = answers.numbers(len(target.levels), self.count)
        make = ClassProbabilities.from_logs if is_log else ClassProbabilities.from_probabilities
        return make(target, rows)

    def _target_probabilities(self, answers: _Answers, root: str) -> tuple[str, Prediction]:
        values = answers.numbers(1, self.count)[:, 0]
        is_log = root.endswith("lptarg")
        if root.startswith("c"):
            values = values + self._shift() if is_log else values * np.exp(self._shift())
        make = TargetLogProbabilities.from_logs if is_log else TargetLogProbabilities.from_probabilities
        return "".join(f"{tcl(value)}\n" for value in values.tolist()), make(values)

    def _shift(self) -> Numbers:
        """Change of variable, case by case: the probability of a censored interval is no density."""
        shift = np.zeros(self.count)
        for encoder, truth in zip(self.encoders, self.truths, strict=True):
            shift += np.where(truth.censoring == 0, encoder.log_density_shift, 0.0)
        return shift


def _decode_target(encoder: Encoder, columns: Texts) -> Texts:
    silent = (columns == NO_GUESS).all(axis=0)
    decoded = encoder.decode(list(np.where(silent, "0", columns))).copy()
    decoded[silent] = NO_GUESS
    return decoded
