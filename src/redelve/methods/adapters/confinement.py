"""What a program may see: where it can be kept to that on this machine, and how it is started."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Literal

from redelve.errors import RedelveError
from redelve.methods.adapters import launcher

Mechanism = Literal["landlock", "namespace"]

SYSTEM = (
    "/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/etc", "/nix/store",
    "/sys/devices/system/cpu", "/proc/cpuinfo", "/proc/meminfo", "/proc/stat",
)  # fmt: skip
"""Where an operating system keeps programs and libraries, none of them the user's data."""
INTERPRETER = ("bin", "lib", "lib64", "libexec", "include", "share", "etc", "ssl", "pyvenv.cfg")
KEPT = ("PATH", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "SYSTEMROOT")
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS")
FORBIDDEN = ("DELVE", "REDELVE")
TAIL = 1500
GRACE = 5.0
PREFIX = "redelve-job-"
ABANDONED_AFTER = 60.0
"""Seconds before a directory that nobody holds counts as abandoned: a new one is not locked at once."""


@cache
def mechanism() -> Mechanism | None:
    """How a program can be confined here: by Landlock, by namespaces, or not at all."""
    if sys.platform != "linux":
        return None
    if launcher.landlock_version() > 0:
        return "landlock"
    return "namespace" if namespaces_work() else None


@cache
def namespaces_work() -> bool:
    """Whether this user may make namespaces: tried by running a program that does nothing."""
    if sys.platform != "linux":
        return False
    with tempfile.TemporaryDirectory(prefix=PREFIX) as directory:
        order = Order(("true",), Path(directory), readable(("true",)), "namespace", environment({}, ()))
        return run(order).status == 0


@dataclass(frozen=True)
class Order:
    """A program to be run: its words, its directory, what it may read and know, how it is confined."""

    command: tuple[str, ...]
    directory: Path
    reads: tuple[str, ...]
    mechanism: Mechanism | None
    environment: Mapping[str, str] = field(repr=False)


@dataclass(frozen=True)
class Ending:
    """How a program ended, and the end of what it printed."""

    status: int
    printed: str


def run(order: Order) -> Ending:
    """Run a program to its end; whatever happens here, it and all that it started end too."""
    told = {
        "command": order.command,
        "directory": str(order.directory),
        "reads": order.reads,
        "mechanism": order.mechanism,
        "parent": os.getpid(),
    }
    with tempfile.TemporaryFile() as printed:
        process = subprocess.Popen(
            [sys.executable, "-I", "-S", launcher.__file__, json.dumps(told)],
            cwd=order.directory,
            env=dict(order.environment),
            stdin=subprocess.DEVNULL,
            stdout=printed,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            status = process.wait()
        finally:
            _end(process)
        return Ending(status, _tail(printed.fileno()))


def _end(process: subprocess.Popen[bytes]) -> None:
    """Ask the guardian to end everything; if it does not, end it by force."""
    if process.poll() is None:
        process.terminate()
        try:
            process.wait(GRACE)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
    if os.name == "posix":
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except (ProcessLookupError, PermissionError):
            return


def _tail(descriptor: int) -> str:
    size = os.fstat(descriptor).st_size
    os.lseek(descriptor, max(size - TAIL, 0), os.SEEK_SET)
    return os.read(descriptor, TAIL).decode("utf-8", "replace").strip()


@contextmanager
def job_directory() -> Iterator[Path]:
    """A new directory, removed in the end; one whose job was killed is removed by a later job.

    The job holds a lock on its directory, so that a later one can tell that it is at work no more.
    """
    _remove_abandoned(Path(tempfile.gettempdir()))
    with tempfile.TemporaryDirectory(prefix=PREFIX, ignore_cleanup_errors=True) as place:
        held = _locked(Path(place))
        try:
            yield Path(place).resolve()
        finally:
            if held is not None:
                os.close(held)


def _locked(directory: Path) -> int | None:
    """An open directory that no other process has locked, now locked; None where that can't be had."""
    try:
        import fcntl

        held = os.open(directory, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except (ImportError, OSError):
        return None
    try:
        fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(held)
        return None
    return held


def _remove_abandoned(folder: Path) -> None:
    before = time.time() - ABANDONED_AFTER
    for directory in folder.glob(f"{PREFIX}*"):
        with suppress(OSError):
            status = directory.lstat()
            is_old = status.st_mtime < before and status.st_uid == os.getuid()
            if is_old and (held := _locked(directory)) is not None:
                shutil.rmtree(directory, ignore_errors=True)
                os.close(held)


def environment(added: Mapping[str, str], keep: Sequence[str]) -> dict[str, str]:
    """The environment of a program: where programs are, the language, one thread, and what the user keeps."""
    for name in keep:
        if name.upper().startswith(FORBIDDEN):
            raise RedelveError(
                f'environment variable "{name}" can\'t be kept: it may lead the program to the targets'
            )
    given = {name: os.environ[name] for name in (*KEPT, *keep) if name in os.environ}
    threads = {name: os.environ.get(name, "1") for name in THREADS}
    return {"PATH": os.defpath, **threads, **given, **added}


def readable(command: Sequence[str], reads: Sequence[str] = ()) -> tuple[str, ...]:
    """What a program may read: the system, Python, the folders of PATH, its own files and `reads`."""
    paths = os.environ.get("PATH", os.defpath).split(os.pathsep)
    hidden = tuple(_hidden())
    shown = [str(part) for place in SYSTEM for part in _without(Path(place), hidden)]
    shown += [place for place in (*_interpreter(), *paths) if Path(place).is_absolute()]
    own = [word for word in (*command, shutil.which(command[0]) or "") if Path(word).is_file()]
    own += [os.path.realpath(word) for word in own]
    named = [str(Path(path).expanduser().resolve()) for path in reads]
    return tuple(dict.fromkeys([*shown, *own, *named]))


def _interpreter() -> Iterator[str]:
    """The parts of Python's own folders; the folder itself may be the user's project."""
    for prefix in dict.fromkeys((sys.prefix, sys.base_prefix, sys.exec_prefix)):
        for part in INTERPRETER:
            yield str(Path(prefix) / part)


def _hidden() -> Iterator[Path]:
    """Places that may hold targets: they stay unreadable even where a system folder contains them."""
    yield Path.cwd().resolve()
    for name in ("REDELVE_HOME", "DELVE_PATH"):
        for entry in os.environ.get(name, "").split(os.pathsep):
            if entry:
                yield Path(entry).expanduser().resolve()


def _without(place: Path, hidden: Sequence[Path]) -> Iterator[Path]:
    """A folder, or those of its parts that do not lead to anything hidden."""
    real = place.resolve()
    if not real.exists() or any(real.is_relative_to(path) for path in hidden):
        return
    if not any(path.is_relative_to(real) for path in hidden):
        yield place
        return
    for part in sorted(real.iterdir()):
        yield from _without(part, hidden)
