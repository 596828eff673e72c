"""Submissions: a zip of answers, confidences and guesses, read in memory and checked to the last line.

The zip comes from strangers. Nothing is ever extracted to disk; names, kinds and numbers of entries are
checked before anything is read, and reading stops at the size that the expected number of lines can have.
"""

from __future__ import annotations

import hashlib
import re
import stat
import struct
import zipfile
import zlib
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import BinaryIO, TypeVar

from redelve.challenge.challenge_files import PARTS, Int8Array, parse_confidences, parse_guess, parse_labels
from redelve.challenge.challenge_folder import Challenge
from redelve.data.delve.keyed_lines import shown
from redelve.data.problems import Problems
from redelve.errors import RedelveError, did_you_mean
from redelve.model.dataset import Numbers

Values = TypeVar("Values", Int8Array, Numbers)

MOST_PROBLEMS = 40
PER_ANSWER, PER_CONFIDENCE, SLACK = 28, 40, 64
"""Bytes that a line may have, with its end, and that a file may have besides."""
ENCRYPTED = 0x1
END_RECORD, LOCATOR, PER_ENTRY = 22, 20, 1024
"""Bytes of a zip's last record and of the one before it in huge ones, and of an entry in its directory."""
ZIP64 = b"PK\x06\x07"
NO_ZIP = (
    "this is no zip file, or a damaged one, or one with a comment: make a zip of the .resu, .conf and "
    ".guess files"
)
SYSTEMS = ("__MACOSX", ".DS_Store", "Thumbs.db", "desktop.ini")
"""What systems put into zips unasked; it is passed over."""
IN_A_FOLDER = (
    "the files must lie at the top of the zip, or in a plain folder: zip the files, not paths to them"
)
FOLDERS = re.compile(r"(?:\w[\w .()+-]{0,99}/){1,5}")
PLAIN = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
DAMAGE = (
    zipfile.BadZipFile,
    zlib.error,
    struct.error,
    EOFError,
    OSError,
    ValueError,
    RuntimeError,
    LookupError,
)


class SubmissionError(RedelveError):
    """A submission cannot be taken; each of `problems` tells the participant what to mend."""

    def __init__(self, problems: Sequence[str]) -> None:
        self.problems = tuple(problems)
        super().__init__("; ".join(self.problems))


@dataclass(frozen=True)
class ArchiveLimits:
    """What a zip may have at most: bytes in all, as it lies and taken out, and entries."""

    compressed: int = 64 << 20
    uncompressed: int = 512 << 20
    entries: int = 400


USUAL = ArchiveLimits()


@dataclass(frozen=True, eq=False)
class DatasetEntry:
    """What is submitted for one dataset, by part."""

    answers: Mapping[str, Int8Array]
    confidences: Mapping[str, Numbers] = field(default_factory=dict)
    guess: float | None = None

    def __post_init__(self) -> None:
        for name in ("answers", "confidences"):
            held = dict(getattr(self, name))
            for values in held.values():
                values.setflags(write=False)
            object.__setattr__(self, name, MappingProxyType(held))


@dataclass(frozen=True, eq=False)
class Submission:
    """What was submitted, by dataset; `datasets` are all that the challenge has."""

    entries: Mapping[str, DatasetEntry]
    datasets: tuple[str, ...]

    @property
    def lacks(self) -> tuple[str, ...]:
        """The files that a complete entry would have besides."""
        lacking = []
        for name in self.datasets:
            entry = self.entries.get(name)
            lacking += [f"{name}_{part}.resu" for part in PARTS if not entry or part not in entry.answers]
            lacking += [f"{name}.guess"] if entry is None or entry.guess is None else []
        return tuple(lacking)

    @property
    def is_complete(self) -> bool:
        """Whether it can be in the final ranking: answers to all parts of all datasets, and all guesses."""
        return not self.lacks

    @cached_property
    def digest(self) -> str:
        """SHA-256 of what is submitted; the same for the same content, however it was zipped."""
        hasher = hashlib.sha256()
        for name, entry in sorted(self.entries.items()):
            files: dict[str, Int8Array | Numbers] = {
                **{f"{name}_{part}.resu": values for part, values in entry.answers.items()},
                **{f"{name}_{part}.conf": values for part, values in entry.confidences.items()},
            }
            for file, values in sorted(files.items()):
                hasher.update(f"{file}:{values.size}\n".encode() + values.tobytes())
            hasher.update(f"{name}.guess:{entry.guess!r}\n".encode())
        return hasher.hexdigest()


def read_submission(
    source: Path | BinaryIO, challenge: Challenge, *, limits: ArchiveLimits = USUAL
) -> Submission:
    """The submission in a zip; every problem found is told at once, up to a bound."""
    reader = _Reader(challenge, limits)
    with Path(source).open("rb") if isinstance(source, str | Path) else nullcontext(source) as stream:
        found = reader.read(stream)
    if reader.problems:
        raise SubmissionError(reader.problems)
    return found


@dataclass(frozen=True)
class _Wanted:
    """A file that a submission may have."""

    dataset: str
    part: str
    kind: str
    lines: int

    @property
    def most_bytes(self) -> int:
        """The size that it cannot exceed."""
        return SLACK + self.lines * {"resu": PER_ANSWER, "conf": PER_CONFIDENCE, "guess": 0}[self.kind]


def wanted_files(challenge: Challenge) -> dict[str, _Wanted]:
    """The files that a submission may have, by name."""
    found = {}
    for dataset in challenge.datasets:
        for part in PARTS:
            for kind in ("resu", "conf"):
                wanted = _Wanted(dataset.name, part, kind, dataset.sizes[part])
                found[f"{dataset.name}_{part}.{kind}"] = wanted
        found[f"{dataset.name}.guess"] = _Wanted(dataset.name, "", "guess", 1)
    return found


def _bare_name(name: str) -> str:
    """The name without the plain folders that it lies in; with anything else before it, the whole name.

    >>> _bare_name("my results/anna.guess"), _bare_name("../anna.guess")
    ('anna.guess', '../anna.guess')
    """
    found = FOLDERS.match(name)
    return name if found is None else name[found.end() :]


def _is_passed_over(member: zipfile.ZipInfo) -> bool:
    """Whether an entry is a folder, or a file that a system put in unasked."""
    name = member.orig_filename
    if name.startswith("__MACOSX/"):
        return ".." not in name
    bare = _bare_name(name)
    is_folder = not bare and not member.file_size
    return is_folder or bare in SYSTEMS or (bare.startswith("._") and "/" not in bare)


class _Reader:
    """Reads one zip, collecting problems."""

    def __init__(self, challenge: Challenge, limits: ArchiveLimits) -> None:
        self.challenge, self.limits = challenge, limits
        self.wanted = wanted_files(challenge)
        self.problems: list[str] = []

    def note(self, problem: str) -> None:
        """Keep a problem, unless there are too many already."""
        if len(self.problems) < MOST_PROBLEMS:
            self.problems.append(problem)
        elif len(self.problems) == MOST_PROBLEMS:
            self.problems.append("there are more problems: mend these first")

    def read(self, stream: BinaryIO) -> Submission:
        """What the zip holds, as far as it is sound."""
        size = stream.seek(0, 2)
        stream.seek(0)
        if size > self.limits.compressed:
            self.note(
                f"the zip has {size} bytes; at most {self.limits.compressed} are taken: leave out what is "
                "not asked for"
            )
            return self.submission({})
        if problem := self.directory_trouble(stream, size):
            self.note(problem)
            return self.submission({})
        try:
            archive = zipfile.ZipFile(stream)
        except DAMAGE:
            self.note(NO_ZIP)
            return self.submission({})
        with archive:
            members = [member for member in archive.infolist() if not _is_passed_over(member)]
            if self.members_are_sound(members):
                return self.submission(self.contents(archive, members))
        return self.submission({})

    def directory_trouble(self, stream: BinaryIO, size: int) -> str | None:
        """What is wrong with the record at the end: the directory it tells of will be read as a whole."""
        stream.seek(max(size - LOCATOR - END_RECORD, 0))
        tail = stream.read(LOCATOR + END_RECORD)
        record = tail[-END_RECORD:]
        if len(record) < END_RECORD or not record.startswith(b"PK\x05\x06") or record[-2:] != b"\0\0":
            return NO_ZIP
        entries, directory = struct.unpack("<HI", record[10:16])
        if entries > self.limits.entries or directory > self.limits.entries * PER_ENTRY:
            return (
                f"the zip has {entries} entries in a directory of {directory} bytes; at most "
                f"{self.limits.entries} are taken: leave out the others"
            )
        return "the zip is of the kind for huge files: make a usual one" if tail[:4] == ZIP64 else None

    def members_are_sound(self, members: Sequence[zipfile.ZipInfo]) -> bool:
        """Whether names, kinds, numbers and declared sizes are as they should be."""
        if not members:
            self.note("the zip is empty: put in the .resu files at least")
        if len(members) > self.limits.entries:
            self.note(f"the zip has {len(members)} entries; at most {self.limits.entries} are taken")
            return False
        seen: set[str] = set()
        for member in members:
            name = _bare_name(member.orig_filename)
            if problem := self.trouble(member, name):
                self.note(f'"{shown(member.orig_filename, 80)}": {problem}')
            elif name in seen:
                self.note(f'"{name}" is in the zip twice: leave one out')
            seen.add(name)
        total = sum(member.file_size for member in members)
        if total > self.limits.uncompressed:
            self.note(f"the files have {total} bytes in all; at most {self.limits.uncompressed} are taken")
        return not self.problems

    def trouble(self, member: zipfile.ZipInfo, name: str) -> str | None:
        """What is wrong with an entry, whose name without its folder is given, before it is read."""
        mode = member.external_attr >> 16
        if "/" in name or "\\" in name:
            return IN_A_FOLDER
        if stat.S_IFMT(mode) not in (0, stat.S_IFREG):
            return "this is a link or something special: put in the file itself"
        if name not in self.wanted or member.orig_filename != member.filename:
            return self.unknown_name(name)
        if member.flag_bits & ENCRYPTED:
            return "this is encrypted: zip it without a password"
        if member.compress_type not in PLAIN:
            return "this is compressed in an unusual way: use the usual one, deflate"
        most = self.wanted[name].most_bytes
        return None if member.file_size <= most else self.too_large(name, member.file_size)

    def too_large(self, name: str, size: int) -> str:
        """How a file that is too large is described."""
        wanted = self.wanted[name]
        return (
            f"has {size} bytes or more, but {wanted.lines} lines need at most {wanted.most_bytes}: put in "
            f"{wanted.lines} lines, a value on each; is this the file of another part or dataset?"
        )

    def unknown_name(self, name: str) -> str:
        """What to say of a name that is not asked for, with the one that was perhaps meant."""
        near = did_you_mean(name[:100], self.wanted)
        meant = f" (did you mean {near}?)" if near else ""
        names = ", ".join(self.challenge.names[:10])
        return (
            f"there is no such file to submit{meant}: names are NAME_train.resu, NAME_valid.conf, NAME.guess "
            f"and so on, NAME being one of {names}"
        )

    def contents(
        self, archive: zipfile.ZipFile, members: Sequence[zipfile.ZipInfo]
    ) -> dict[str, tuple[_Wanted, bytes]]:
        """The bytes of each file, read no further than it may go."""
        found = {}
        for member in members:
            name = _bare_name(member.filename)
            wanted = self.wanted[name]
            try:
                with archive.open(member) as stream:
                    data = stream.read(wanted.most_bytes + 1)
            except DAMAGE:
                self.note(f"{name}: damaged within the zip: make the zip again")
                continue
            if len(data) > wanted.most_bytes:
                self.note(f"{name}: {self.too_large(name, len(data))}")
            else:
                found[name] = wanted, data
        return found

    def submission(self, held: Mapping[str, tuple[_Wanted, bytes]]) -> Submission:
        """The files put together by dataset."""
        entries = {}
        for dataset in self.challenge.names:
            answers = self.parsed(held, dataset, "resu", parse_labels)
            confidences = self.parsed(held, dataset, "conf", parse_confidences)
            for part in confidences:
                if f"{dataset}_{part}.resu" not in held:
                    self.note(
                        f"{dataset}_{part}.conf is there, but not {dataset}_{part}.resu: add the answers"
                    )
            guess = self.guess(held.get(f"{dataset}.guess"))
            if answers or guess is not None:
                entries[dataset] = DatasetEntry(answers, confidences, guess)
        if not self.problems and not any(entry.answers for entry in entries.values()):
            self.note("there are no answers: put in NAME_valid.resu, at least, for one dataset")
        return Submission(MappingProxyType(entries), self.challenge.names)

    def parsed(
        self,
        held: Mapping[str, tuple[_Wanted, bytes]],
        dataset: str,
        kind: str,
        parse: Callable[[bytes, Problems, int | None], Values | None],
    ) -> dict[str, Values]:
        """A dataset's files of a kind, by part."""
        found = {}
        for part in PARTS:
            name = f"{dataset}_{part}.{kind}"
            if name in held:
                wanted, data = held[name]
                problems = Problems(name)
                values = parse(data, problems, wanted.lines)
                self.note_all(problems)
                if values is not None:
                    found[part] = values
        return found

    def guess(self, held: tuple[_Wanted, bytes] | None) -> float | None:
        """The guess, if there is any."""
        if held is None:
            return None
        problems = Problems(f"{held[0].dataset}.guess")
        value = parse_guess(held[1], problems)
        self.note_all(problems)
        return value

    def note_all(self, problems: Problems) -> None:
        """Keep a file's problems."""
        for problem in problems:
            self.note(str(problem))
