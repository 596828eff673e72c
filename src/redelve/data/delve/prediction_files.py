"""Prediction files, read and written here alone: cguess.n, guess.n, prob.n, ptarg.n … (manual 7.5).

`PredictionFile` holds the words of one, `AnswerFiles` makes an answer of those of an instance,
`InstanceScoring` goes on from them to the loss of every case.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import product
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from redelve.answers.answer import Answer
from redelve.answers.losses import Loss
from redelve.answers.predictions import (
    NO_GUESS,
    ClassProbabilities,
    Guesses,
    Prediction,
    Target,
    TargetLogProbabilities,
    Truth,
    guesses_of,
    target_of,
    truth_of,
)
from redelve.data.delve.figure_files import LARGEST_FILE, read_normalization, write_losses
from redelve.data.delve.number_columns import format_columns
from redelve.data.files import read_text
from redelve.errors import FormatError, LocationError, PredictionError, SpecError
from redelve.model import Attribute, Task
from redelve.model.coding import Coding, Normalization
from redelve.model.dataset import Numbers
from redelve.model.encodings import Encoder, bind, whole
from redelve.text_numbers import parse_limit, tcl

Texts = NDArray[np.object_]
Progress = Callable[[str], None]

DISTRIBUTIONS = ("prob", "lprob", "ptarg", "lptarg")
PREDICTIONS = ("cguess", "guess", "prob", "lprob", "ptarg", "lptarg", "cptarg", "clptarg")
CODABLE = ("guess", "ptarg", "lptarg")


# Reading


@dataclass(frozen=True)
class PredictionFile:
    """The lines of a prediction file, empty ones at the end left out."""

    path: str
    text: str

    @cached_property
    def rows(self) -> list[list[str]]:
        """The words of every line."""
        return [line.split() for line in self.text.rstrip().split("\n")] if self.text.strip() else []

    def table(self, width: int) -> Texts:
        """The words of each case, a row for each; a lone `?` stands for the whole line."""
        for line, words in enumerate(self.rows, start=1):
            if len(words) != width and words != [NO_GUESS]:
                raise FormatError(self.path, line, f"expected {width} values but got {len(words)}")
        rows = [words if len(words) == width else words * width for words in self.rows]
        return np.array(rows, dtype=object).reshape(len(rows), width)

    def numbers(self, width: int) -> Numbers:
        """The numbers of each case; -Inf is allowed, as the log of a zero probability."""
        table = self.table(width)
        values = np.empty(table.shape, dtype=np.float64)
        for place, word in np.ndenumerate(table):
            number = parse_limit(word)
            if number is None:
                raise FormatError(self.path, place[0] + 1, f'expected a number but got "{word}"')
            values[place] = number
        return values

    def guesses(self, targets: Sequence[Target], encoders: Sequence[Encoder] | None = None) -> list[Texts]:
        """The words of the guesses, a column for each target; coded ones are decoded by the encoders."""
        if encoders is None:
            return list(self.table(len(targets)).T)
        columns = self.table(sum(len(encoder.names) for encoder in encoders)).T
        decoded, start = [], 0
        for encoder in encoders:
            end = start + len(encoder.names)
            decoded.append(_decode_target(encoder, columns[start:end]))
            start = end
        return decoded

    def probabilities(self, target: Target, *, is_log: bool) -> ClassProbabilities:
        """Probabilities of a categorical target's levels, or their logarithms."""
        make = ClassProbabilities.from_logs if is_log else ClassProbabilities.from_probabilities
        return make(target, self.numbers(len(target.levels)))


def _decode_target(encoder: Encoder, columns: Texts) -> Texts:
    silent = (columns == NO_GUESS).all(axis=0)
    decoded = encoder.decode(list(np.where(silent, "0", columns))).copy()
    decoded[silent] = NO_GUESS
    return decoded


@dataclass(frozen=True)
class AnswerFiles:
    """The prediction files of one instance and run: their names, and how to read one (path and text).

    `encoders` are those of the targets, where coded guesses are to be read too; these come before others.
    """

    names: Collection[str]
    read: Callable[[str], tuple[str, str]]
    targets: tuple[Target, ...]
    count: int
    instance: int = 0
    run: str = ""
    encoders: Sequence[Encoder] | None = None
    codes: Sequence[str] = ("",)
    """The losses whose class probabilities may serve; "" stands for those of all losses."""

    def answer(self) -> Answer | None:
        """Guesses, those for single losses, and class probabilities; None where there are none of them."""
        found = self._guesses()
        probabilities = self._probabilities()
        general = found.pop("", None)
        if general is None and not found and probabilities is None:
            return None
        return Answer(guesses=general, probabilities=probabilities, guesses_for=found)

    def _guesses(self) -> dict[str, Guesses]:
        """Guesses by the code of the loss that they are for."""
        coded = "" if self.encoders is None else "c?"
        pattern = re.compile(rf"({coded})guess{self.run}(?:\.(.+))?\.{self.instance}")
        matches = [match for name in sorted(self.names) if (match := pattern.fullmatch(name))]
        found = {}
        for match in sorted(matches, key=lambda match: match[1]):  # coded ones last: they count
            words = self._file(match[0]).guesses(self.targets, self.encoders if match[1] else None)
            found[match[2] or ""] = guesses_of(self.targets, words)
        return found

    def _probabilities(self) -> ClassProbabilities | None:
        for code, root in product(self.codes, ("prob", "lprob")):
            name = f"{root}{self.run}{'.' * bool(code)}{code}.{self.instance}"
            if name in self.names and len(self.targets) == 1:
                return self._file(name).probabilities(self.targets[0], is_log=root == "lprob")
        return None

    def _file(self, name: str) -> PredictionFile:
        file = PredictionFile(*self.read(name))
        if len(file.rows) != self.count:
            raise FormatError(
                file.path, None, f"expected {self.count} lines, one per case, but got {len(file.rows)}"
            )
        return file


# Writing


def write_guesses(guesses: Guesses, number: Callable[[float], str] = tcl) -> str:
    """A line for each case with its guesses, numbers as `number` writes them."""
    columns = [
        [_word(target, value, number) for value in values.tolist()]
        for target, values in zip(guesses.targets, guesses.values, strict=True)
    ]
    return _lines(columns)


def _word(target: Target, value: float, number: Callable[[float], str]) -> str:
    if np.isnan(value):
        return NO_GUESS
    return target.levels[int(value)] if target.kind == "categorical" else number(value)


def _lines(columns: Sequence[Iterable[str]]) -> str:
    return "".join(f"{' '.join(words)}\n" for words in zip(*columns, strict=True))


def answer_files(answer: Answer, truths: Sequence[Truth]) -> Iterator[tuple[str, str]]:
    """Names, without instance numbers, and contents of the files that hold an answer."""
    if answer.guesses is not None:
        yield "guess", write_guesses(answer.guesses)
    for code, guesses in answer.guesses_for.items():
        yield f"guess.{code}", write_guesses(guesses)
    if answer.probabilities is not None:
        yield "prob", "".join(format_columns(list(answer.probabilities.values.T)))
    if answer.distributions is not None:
        logs = answer.distributions.log_probability(truths).values.tolist()
        yield "lptarg.L", _lines([map(tcl, logs)])


# Scoring


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
    roots = ("guess",) if loss.takes == "guesses" else DISTRIBUTIONS[: 2 if loss.needs_every_level else 4]
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
        decoded, prediction = instance.prediction(stem, PredictionFile(path, text))
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
        return PredictionFile(*self.directory.read(name)).guesses(self.directory.target_list, self.encoders)

    @property
    def count(self) -> int:
        """The number of test cases."""
        return len(self.truths[0])

    def prediction(self, stem: str, file: PredictionFile) -> tuple[str, Prediction]:
        """The prediction in the original domain, as text for a file and as a value."""
        if stem not in self._cache:
            if len(file.rows) != self.count:
                raise FormatError(
                    file.path,
                    None,
                    f"expected predictions for {self.count} test cases but got {len(file.rows)}",
                )
            self._cache[stem] = self._predicted(stem.partition(".")[0], file)
        return self._cache[stem]

    def _predicted(self, root: str, file: PredictionFile) -> tuple[str, Prediction]:
        if root in ("guess", "cguess"):
            columns = file.guesses(
                self.directory.target_list, self.encoders if root.startswith("c") else None
            )
            return _lines(columns), guesses_of(self.directory.target_list, columns)
        if root in ("prob", "lprob"):
            return "", self._probabilities(file, is_log=root == "lprob")
        return self._target_probabilities(file, root)

    def _probabilities(self, file: PredictionFile, *, is_log: bool) -> Prediction:
        target = self.directory.target_list[0]
        if len(self.directory.target_list) > 1:
            raise PredictionError("class probabilities need exactly one target: give ptarg files instead")
        if target.kind != "categorical":
            raise PredictionError(f'"{target.name}" is {target.kind}: give ptarg files instead of prob files')
        return file.probabilities(target, is_log=is_log)

    def _target_probabilities(self, file: PredictionFile, root: str) -> tuple[str, Prediction]:
        values = file.numbers(1)[:, 0]
        is_log = root.endswith("lptarg")
        if root.startswith("c"):
            values = values + self._shift() if is_log else values * np.exp(self._shift())
        make = TargetLogProbabilities.from_logs if is_log else TargetLogProbabilities.from_probabilities
        return _lines([map(tcl, values.tolist())]), make(values)

    def _shift(self) -> Numbers:
        """Change of variable, case by case: the probability of a censored interval is no density."""
        shift = np.zeros(self.count)
        for encoder, truth in zip(self.encoders, self.truths, strict=True):
            shift += np.where(truth.censoring == 0, encoder.log_density_shift, 0.0)
        return shift
