"""One mutated input after the other, each read by a process of its own that is forked for it."""

from __future__ import annotations

import contextlib
import json
import os
import re
import resource
import shlex
import shutil
import signal
import sys
import time
import tomllib
import traceback
import zipfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from random import Random
from xml.etree import ElementTree

from tests.fuzzing import mutations
from tests.fuzzing.python_calls import call_of
from tests.fuzzing.scenes import DELVE, SCENES, TARGETS, Target, copied
from tests.fuzzing.score_scenes import FURTHER, FURTHER_SCENES, OPTIONS_ALONE

CPU_SECONDS = 60
WALL_SECONDS = 300.0
"""For a busy machine, and for what waits without working."""
MEMORY = 8 << 30
CODES = (0, 1, 2, 3)
LONGEST = 5000
"""Characters of a complaint."""
RAW = re.compile(
    r"Traceback|\[Errno|Exception ignored|\b(Key|Type|Attribute|Index|Assertion|Recursion|Memory)Error\b|"
    r"NoneType|object at 0x|ufunc|broadcast|invalid literal for|unhashable|DeprecationWarning|RuntimeWarning"
)
"""Words of Python's own, which tell a user nothing."""
CHECKS = ("archive verify", "proben1 check", "check-method", "challenge check", "challenge verify")
QUIET_FILES = ("lock", "released")
OPTION_WORDS = (
    *("-t", "-m", "-s", "-r", "-o", "-l", "-K", "-D", "-G", "-d", "-c", "-g", "-k", "-x", "-n", "-E", "-P"),
    *("-T", "-M", "-f", "-R", "-N", "-b", "--until-settled", "--bad", "-", "--", "-q", "-h", "y", "label"),
    *("cv", "time", "10x3", "2x", "3", "0", "-1", "1e9", "nan", "99999999999999999999", "2%", "-5%", "inf%"),
    *(
        "constant",
        "lin-1",
        "nobody",
        "methods.py",
        "methods.py:nothing",
        "methods.py:make",
        "no.py",
        ":",
        "a:b",
    ),
    *("S", "Z", "accuracy", "Mx", "L9", "utf-8", "utf-99", ",", ".", "1/2", "0/0", "out", "no/where"),
    *(
        "-H",
        "-L",
        "-Q",
        "-F",
        "-R",
        "-S",
        "-W",
        "-a",
        "-B",
        "-C",
        "-u",
        "-p",
        "inspect",
        "tsml",
        "1/4",
        "0,1",
    ),
    *("1,0", "a", "b", "a:b", "a=3", "group", "s.csv", "questions.csv", "worst", "xor", "parity-3", "0-4"),
    *("", " ", "'", "é", "\udcff", "x\0y", "a" * 300, "d.csv", "y=1", "=", "x='unclosed", "30min", "9zz"),
)


@dataclass(frozen=True)
class Trial:
    """What was tried, and what was wrong about how it ended."""

    number: int
    about: str
    ends: tuple[str, ...] = ()
    """Of each call: the call, its exit code, what it said last."""
    codes: tuple[int, ...] = ()
    findings: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.number}: {self.about}\n" + "".join(
            f"    {one}\n" for one in self.findings or self.ends
        )


@dataclass
class Fuzzer:
    """Makes scenes when they are wanted, and trials in copies of them."""

    folder: Path
    seed: int
    is_kept: bool = False
    only: str | None = None
    """The one scene to take inputs from."""
    scenes: dict[str, Path] = field(default_factory=dict)

    def trial(self, number: int) -> Trial:
        """The trial of that number, which is always the same."""
        chance = Random(f"{self.seed}/{number}")
        if self.only == "calls" or (number % 10 == 4 and self.only is None):
            return self._in_python(number, chance)
        if number % 10 == 9:
            return self._with_options(number, chance)
        every = [one for one in (*TARGETS, *FURTHER) if self.only in (None, one.scene)]
        if self.only == "delve" or (self.only is None and number % 4 == 3):
            return self._with_file(number, chance, DELVE[number // 4 % len(DELVE)])
        return self._with_file(number, chance, every[number % len(every)])

    def _with_file(self, number: int, chance: Random, target: Target) -> Trial:
        place = self._copy(target.scene, number)
        file = target.file(chance, place)
        about = f"{target.scene}/{file.relative_to(place)}: {mutations.spoil(chance, file, place)}"
        return self._called(number, about, target.calls, place)

    def _in_python(self, number: int, chance: Random) -> Trial:
        about, work = call_of(chance)
        code, told = forked(work, self._copy("tables", number), self.folder / "told")
        findings = tuple(f"{about!a}: {one}" for one in wrong(["redelve"], code, told))
        if not self.is_kept:
            shutil.rmtree(self.folder / f"trial-{number}")
        return Trial(
            number, f"Python: {about!a}", ((told.splitlines() or [""])[-1][:500],), (code,), findings
        )

    def _with_options(self, number: int, chance: Random) -> Trial:
        every = [one for one in (*TARGETS, *FURTHER, *OPTIONS_ALONE) if one.scene != "export"]
        target = chance.choice(every)
        folder, *words = chance.choice(target.calls).split()
        for _ in range(chance.choice((1, 1, 2, 3))):
            has_part = words[1] in ("challenge", "archive", "proben1", "study")
            spot = chance.randrange(3 if has_part else 2, len(words) + 1)
            words[spot : spot + chance.choice((0, 0, 1))] = [chance.choice(OPTION_WORDS)]
        call = shlex.join([folder, *words])
        return self._called(number, f"options: {call!a}", (call,), self._copy(target.scene, number))

    def _copy(self, scene: str, number: int) -> Path:
        if scene not in self.scenes:
            made = self.folder / scene
            made.mkdir()
            make = {**SCENES, **FURTHER_SCENES}[scene]
            _, told = forked(lambda: make(made) or 0, made, self.folder / "told")
            assert "Traceback" not in told, told
            self.scenes[scene] = made
        return copied(self.scenes[scene], self.folder / f"trial-{number}")

    def _called(self, number: int, about: str, calls: Sequence[str], place: Path) -> Trial:
        ends, codes, findings = [], [], []
        for call in calls:
            cwd, *words = shlex.split(call)
            if not (place / cwd).is_dir():
                continue
            before = state(place)
            code, told = forked(partial(command, words), place / cwd, self.folder / "told")
            codes.append(code)
            ends.append(f"{call!a}: {code}: {(told.splitlines() or [''])[-1][:500]!a}")
            findings += [f"{call!a}: {one}" for one in wrong(words, code, told)]
            findings += [f"{call!a}: {one}" for one in half_files(place, before)]
        if not self.is_kept:
            shutil.rmtree(place)
        return Trial(number, about, tuple(ends), tuple(codes), tuple(findings))


def command(words: Sequence[str]) -> int:
    """What a user's call exits with."""
    from redelve.cli.main import main

    return main(list(words[1:] if words[0] == "redelve" else words))


def forked(work: Callable[[], int], cwd: Path, told: Path, seconds: int = CPU_SECONDS) -> tuple[int, str]:
    """Do it in a child process: its exit code (below 0: the signal that ended it), and what it said."""
    if not (child := os.fork()):
        _in_child(work, cwd, told, seconds)
    code = _waited(child)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child, signal.SIGKILL)
    return code, told.read_text(errors="replace")


def _in_child(work: Callable[[], int], cwd: Path, told: Path, seconds: int) -> None:
    os.setsid()
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    code = 70
    try:
        output = os.open(told, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.dup2(output, 1)
        os.dup2(output, 2)
        sys.stdout = os.fdopen(1, "w", buffering=1)
        sys.stderr = os.fdopen(2, "w", buffering=1, errors="backslashreplace")
        os.chdir(cwd)
        code = work()
    except BaseException:
        traceback.print_exc()
    finally:
        with contextlib.suppress(BaseException):
            sys.stdout.flush()
        os._exit(code)


def _waited(child: int) -> int:
    end = time.monotonic() + WALL_SECONDS
    while time.monotonic() < end:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.005)
    os.killpg(child, signal.SIGKILL)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def wrong(words: Sequence[str], code: int, told: str) -> Iterator[str]:
    """What is wrong about how a command ended."""
    if code < 0:
        yield f"hangs or crashes: {signal.Signals(-code).name}"
    elif code not in CODES:
        yield f"exit code {code}"
    is_python = "methods.py" in " ".join(words)  # a method's own error is told in its own words
    if (raw := RAW.search(told)) and not (is_python and "Traceback" not in told and "Errno" not in told):
        yield f"says {raw.group()!r}: {told[-1500:]!a}"
    said = [line for line in told.splitlines() if line.startswith(title(words)) and ": warning: " not in line]
    if code in complaining(words) and ((len(said) != 1 and not tells_problems(words)) or not told.strip()):
        yield f"{len(said)} sentences: {told[-1500:]!a}"
    if any(len(line) > LONGEST for line in said):
        yield f"a sentence of {max(map(len, said))} characters"


def complaining(words: Sequence[str]) -> tuple[int, ...]:
    """The exit codes that come with a complaint: a gate and a race tell their verdict by the others."""
    return (3,) if words[1:2] in (["gate"], ["race"]) else (1, 2)


def title(words: Sequence[str]) -> tuple[str, ...]:
    """How the complaint of a command begins."""
    return ("redelve ", "redelve:") if words[0] == "redelve" else (f"{words[0]}: ",)


def tells_problems(words: Sequence[str]) -> bool:
    """Whether it prints what is wrong with its input, one on a line, and no complaint of its own."""
    called = " ".join(words)
    return called.startswith(("dcheck", *(f"redelve {one}" for one in CHECKS)))


def state(folder: Path) -> dict[Path, tuple[int, int]]:
    """Every file with its size and time."""
    found = {}
    for path in folder.rglob("*"):
        with contextlib.suppress(OSError):
            if path.is_file() and not path.is_symlink():
                found[path] = (path.stat().st_size, path.stat().st_mtime_ns)
    return found


def half_files(folder: Path, before: dict[Path, tuple[int, int]]) -> Iterator[str]:
    """What was written since and is not whole."""
    for path, how in state(folder).items():
        if before.get(path) != how and "__pycache__" not in path.parts and not is_whole(path):
            yield f"half-written: {path.relative_to(folder)}"


def is_whole(path: Path) -> bool:
    """Whether a file has an end as its kind has."""
    if path.name in QUIET_FILES:
        return True
    data, ending = path.read_bytes(), path.suffix
    if path.name.startswith(".") or ending in (".tmp", ".part") or not data:
        return False
    try:
        if ending == ".json":
            json.loads(data)
        elif ending == ".toml":
            tomllib.loads(data.decode())
        elif ending == ".xml":
            ElementTree.fromstring(data)
        elif ending == ".zip":
            return zipfile.ZipFile(path).testzip() is None
    except (ValueError, zipfile.BadZipFile, ElementTree.ParseError):
        return False
    ends = {".html": b"</html>", ".parquet": b"PAR1", ".csv": b"\n", ".md": b"\n", ".tex": b"\n"}
    return data.rstrip(b" ").endswith(ends.get(ending, b"")) or data.endswith(ends[ending] + b"\n")
