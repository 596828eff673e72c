"""Any program as a method, by DELVE's files (manual 7.4, 7.5): train.0, test.0 in, cguess.0 and its kin out.

Each job has a directory of its own, which holds no targets; the program is confined to it where the
machine can do that, so that it can't find them elsewhere either.
"""

from __future__ import annotations

import hashlib
import os
import re
import shlex
import stat
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from redelve.answers.answer import Answer
from redelve.answers.predictions import Target
from redelve.data.delve.coding_files import read_codings, write_codings
from redelve.data.delve.figure_files import write_normalization
from redelve.data.delve.prediction_files import AnswerFiles
from redelve.data.delve.prior_files import write_prior
from redelve.data.delve.task_files import encoded_text
from redelve.data.files import file_digest, is_named_file
from redelve.errors import PredictionError, RedelveError, SpecError
from redelve.methods.adapters import confinement
from redelve.methods.contract import Method
from redelve.methods.shown import EncodedTraining, TestInputs, TrainingSet
from redelve.methods.views import Takes, check_takes, why_not_taken
from redelve.model import Attribute, DatasetSpec, parse_range
from redelve.model.coding import Coding
from redelve.model.encodings import default_coding, measure
from redelve.registry import check_kind, each_of, kinds_named, named_fields

Confined = bool | Literal["if possible"]
Texts = NDArray[np.object_]

LARGEST_SEED = 2**31 - 1
LARGEST_FILE = 1 << 30
PROBABILITIES = ("prob.0", "lprob.0", "prob.L.0", "lprob.L.0", "prob.Q.0", "lprob.Q.0")
STEMS = ("cguess", "guess", "prob", "lprob")


@named_fields
@dataclass(frozen=True, eq=False)
class Program(Method):
    """A program in any language that reads train.0 and test.0 in its directory and writes predictions there.

    Parameters
    ----------
    command
        A list of words, or a line for the shell. In it ``{train}``, ``{test}``, ``{guess}`` and
        ``{seed}`` stand for the names of the files and for a random seed, which is also in the
        environment as ``REDELVE_SEED``. Words that name files are the program's own.
    guesses
        The file that ``{guess}`` stands for.
    codings
        Encodings to change, as ``{"AGE": "nm-sqr"}``.
    takes
        Which targets the program is for: ``"all"``, ``"numerical"`` or ``"categorical"``.
    reads
        Files and folders that the program may read, besides its own files, the system's and Python's.
    env_keep
        Environment variables that the program may see.
    confined
        Whether the program must be confined: True, False, or ``"if possible"``.
    described
        A summary of what it does.
    name
        What to call it in messages; by default the name of its file.

    Raises
    ------
    RedelveError
        There is no command, or an option is none of those allowed.

    Notes
    -----
    The files are those of Rasmussen et al. (1996), The DELVE manual, chapter 7, encoded as
    ``mgendata`` does. Predictions are read from cguess.0, guess.0, cguess.S.0 and the like, prob.0 and
    lprob.0. A confined program may write in its directory only and reaches no test target
    (docs/methods.md).

    Examples
    --------
    >>> import redelve
    >>> zero = redelve.Program("awk '{ print 0 }' {test} > {guess}", takes="numerical", name="zero")
    >>> zero.name, zero.takes
    ('zero', 'numerical')
    """

    command: str | Sequence[str]
    guesses: str = field(default="cguess", kw_only=True)
    codings: Mapping[str, str] = field(default_factory=dict, kw_only=True)
    takes: Takes = field(default="all", kw_only=True)
    reads: str | os.PathLike[str] | Sequence[str | os.PathLike[str]] = field(default=(), kw_only=True)
    env_keep: str | Sequence[str] = field(default=(), kw_only=True)
    confined: Confined = field(default="if possible", kw_only=True)
    described: str = field(default="", kw_only=True)
    name: str = field(default="", kw_only=True)
    looks_at = "columns"

    def __post_init__(self) -> None:
        given = self.command.strip() if isinstance(self.command, str) else self.command
        if not isinstance(given, str | list | tuple) or not given:
            raise SpecError('a program needs a command, as ["python", "mymethod.py", "{train}", "{test}"]')
        if self.guesses not in STEMS:
            raise SpecError(f'guesses is "{self.guesses}": choose one of {", ".join(STEMS)}')
        if self.confined not in (True, False, "if possible"):
            raise SpecError(f'confined is "{self.confined}": choose True, False or "if possible"')
        check_takes(self.takes)
        for name, kind in (("codings", "Mapping[str, str]"), ("described", "str"), ("name", "str")):
            check_kind(name, getattr(self, name), kinds_named(kind))
        object.__setattr__(self, "env_keep", _each_checked("env_keep", self.env_keep, "str"))
        confinement.environment({}, self.env_keep)
        reads = _each_checked("reads", self.reads, "StrPath")
        object.__setattr__(self, "reads", tuple(str(Path(path).resolve()) for path in reads))
        object.__setattr__(self, "_files", tuple(self._own_files()))
        object.__setattr__(self, "name", self.name or self._default_name())

    def _given_words(self) -> tuple[str, ...]:
        return (self.command,) if isinstance(self.command, str) else tuple(map(str, self.command))

    def _own_files(self) -> Iterator[tuple[str, str]]:
        """Words that name files, with the files' true paths."""
        words = shlex.split(self.command) if isinstance(self.command, str) else self._given_words()
        for word in dict.fromkeys(words):
            if is_named_file(word):
                yield word, str(Path(word).resolve() if os.sep not in word else Path(word).absolute())

    @property
    def files(self) -> dict[str, str]:
        """The program's own files: the words that name them, and their true paths."""
        return dict(self._files)  # type: ignore[attr-defined]

    def _default_name(self) -> str:
        """The name of the first file after the interpreter, or else of the first word."""
        words = self._given_words() if not isinstance(self.command, str) else shlex.split(self.command)
        scripts = [Path(word).stem for word in words[1:] if word in self.files]
        return scripts[0] if scripts else Path(words[0]).name

    @cached_property
    def identity(self) -> Mapping[str, Any]:
        """The command as given and a hash of each file that it names."""
        return {
            "kind": "program",
            "command": self.command if isinstance(self.command, str) else list(self._given_words()),
            "files": {
                word: file_digest(path, partial(hashlib.blake2b, digest_size=16))
                for word, path in self.files.items()
            },
            "guesses": self.guesses,
            "codings": dict(self.codings),
            "reads": [Path(path).name for path in each_of(self.reads)],
            "confined": self.confined,
        }

    @property
    def summary(self) -> str:  # type: ignore[override]
        """What the user says of the program, and the command."""
        shown = self.command if isinstance(self.command, str) else shlex.join(self._given_words())
        return f"{self.described or 'A program, which is not described.'}\nCommand: {shown}\n"

    def why_not(self, targets: tuple[Target, ...]) -> str | None:
        """What the user said of targets that the program takes."""
        return why_not_taken(self.name, self.takes, targets)

    def learn(self, training: TrainingSet, rng: np.random.Generator) -> ProgramPredictor:
        """Encode the training cases; the program itself is run when the test inputs are there."""
        return ProgramPredictor(self, _Lesson.of(training, self.codings), int(rng.integers(LARGEST_SEED)))

    def mechanism(self) -> confinement.Mechanism | None:
        """How the program will be confined here; where it can't be, an error if it must, else a warning."""
        if self.confined is False:
            return None
        found = confinement.mechanism()
        if found is None:
            message = "this machine offers neither Landlock nor namespaces, so programs can't be confined"
            if self.confined is True:
                raise RedelveError(f'{message}: run it elsewhere, or give confined="if possible"')
            warnings.warn(f"not confined: {message} and might find targets", stacklevel=3)
        return found


def _each_checked(name: str, given: object, kind: str) -> tuple[Any, ...]:
    """One or several, each of the kind that it must be."""
    each = each_of(given)
    for one in each:
        check_kind(name, one, kinds_named(kind))
        if one == "":
            raise SpecError(f"{name} holds an empty text: leave it out")
    return each


@dataclass(frozen=True, eq=False)
class ProgramPredictor:
    """A program, what it learns from, and its seed."""

    program: Program
    lesson: _Lesson
    seed: int

    def predict(self, inputs: TestInputs) -> Answer:
        """Run the program in a new directory and read what it wrote there."""
        with confinement.job_directory() as directory:
            for name, text in self.lesson.files(inputs):
                (directory / name).write_text(text)
            ending = confinement.run(self._order(directory))
            if ending.status != 0:
                raise RedelveError(_failure(self.program, ending))
            try:
                return _answer(self.lesson, directory, len(inputs))
            except RedelveError as error:
                said = f"; it printed: {ending.printed}" if ending.printed else ""
                raise PredictionError(f'program "{self.program.name}": {error}{said}') from None

    def _order(self, directory: Path) -> confinement.Order:
        files = self.program.files
        command = self._command(files)
        reads = confinement.readable(command, (*files.values(), *map(str, each_of(self.program.reads))))
        told = {"HOME": str(directory), "TMPDIR": str(directory), "REDELVE_SEED": str(self.seed)}
        given = confinement.environment(told, self.program.env_keep)
        return confinement.Order(command, directory, reads, self.program.mechanism(), given)

    def _command(self, files: Mapping[str, str]) -> tuple[str, ...]:
        given = self.program.command
        if isinstance(given, str):
            for word, path in files.items():
                given = path.join(re.split(rf"(?<![^\s'\"]){re.escape(word)}(?![^\s'\";|&])", given))
            return "/bin/sh", "-c", self._filled(given)
        return tuple(self._filled(files.get(str(word), str(word))) for word in given)

    def _filled(self, word: str) -> str:
        stands_for = {
            "{train}": "train.0",
            "{test}": "test.0",
            "{guess}": f"{self.program.guesses}.0",
            "{seed}": str(self.seed),
        }
        for mark, meaning in stands_for.items():
            word = word.replace(mark, meaning)
        return word


def _failure(program: Program, ending: confinement.Ending) -> str:
    how = f"ended with status {ending.status}"
    if ending.status > 128:
        how = f"was ended by signal {ending.status - 128}"
    said = f"it printed: {ending.printed}" if ending.printed else "it printed nothing"
    return f'program "{program.name}" {how}; {said}'


# What goes in


@dataclass(frozen=True, eq=False)
class _Lesson:
    """Training cases, encoded as for a task directory."""

    training: TrainingSet
    encoded: EncodedTraining
    codings: Mapping[int, Coding]
    dataset: DatasetSpec

    @staticmethod
    def of(training: TrainingSet, changed: Mapping[str, str]) -> _Lesson:
        attributes = (*training.inputs, *training.target_attributes)
        dataset = _dataset(attributes)
        defaults = {one.number: default_coding(training.prior.attribute(one.number)) for one in attributes}
        text = "".join(f"{name} {coding}\n" for name, coding in changed.items())
        codings = read_codings(text, "codings", dataset, defaults)
        return _Lesson(training, training.encode(codings), codings, dataset)

    def files(self, inputs: TestInputs) -> Iterator[tuple[str, str]]:
        """Names and contents of all that the program is given."""
        encoders, count = self.encoded.encoders, len(self.training.inputs)
        yield "train.0", encoded_text(encoders, self.training.cases.columns, self.training.cases.count)
        yield "test.0", encoded_text(encoders[:count], inputs.cases.columns, inputs.cases.count)
        yield "Coding-used", write_codings(self.codings, self.dataset)
        yield "normalize.0", write_normalization(self._statistics())
        yield f"{self.training.prior.name}.prior", write_prior(self.training.prior)

    def _statistics(self) -> dict[int, Any]:
        attributes = (*self.training.inputs, *self.training.target_attributes)
        pairs = zip(attributes, self.training.cases.columns, strict=True)
        prior = self.training.prior
        return {
            one.number: measure(column)
            for one, column in pairs
            if prior.attribute(one.number).type in ("real", "integer")
        }


def _dataset(attributes: Sequence[Attribute]) -> DatasetSpec:
    """A specification that knows the attributes in use; the numbers between are not told."""
    known = {one.number: one for one in attributes}
    unknown = parse_range("?")
    every = (
        known.get(number, Attribute(number, f"attribute-{number}", "?", unknown))
        for number in range(1, max(known) + 1)
    )
    return DatasetSpec("task", tuple(every), "natural", "?", "informative")


# What comes out


def _answer(lesson: _Lesson, directory: Path, count: int) -> Answer:
    """Everything that was predicted, coded or not."""
    names, targets = sorted(entry.name for entry in directory.iterdir()), lesson.training.targets
    for name in PROBABILITIES:
        if name in names and (len(targets) > 1 or targets[0].kind != "categorical"):
            raise PredictionError(f"{name} is for a single categorical target: write cguess.0 instead")
    found = AnswerFiles(
        names,
        lambda name: (name, _read(directory / name)),
        targets,
        count,
        encoders=lesson.encoded.target_encoders,
        codes=("", "L", "Q"),
    ).answer()
    if found is None:
        raise PredictionError("it wrote none of cguess.0, guess.0, prob.0 and lprob.0")
    return found


def _read(path: Path) -> str:
    """A file's text; a link is not followed, since it might lead to what the program itself can't read."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    with os.fdopen(descriptor, "rb") as stream:
        status = os.fstat(stream.fileno())
        if not stat.S_ISREG(status.st_mode) or status.st_nlink != 1 or status.st_size > LARGEST_FILE:
            raise PredictionError(f"{path.name} must be a plain file of at most {LARGEST_FILE} bytes")
        text = stream.read().decode("utf-8", "replace")
    return text.replace("\r\n", "\n").replace("\r", "\n")
