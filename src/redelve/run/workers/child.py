"""A Python process of our own that answers one message after the other, and dies with us; and its messages.

A message is a length, a header in JSON, and bytes. Reading it runs no code.
"""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import signal
import socket
import struct
import subprocess
import sys
import time
import weakref
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from redelve.errors import RedelveError

LENGTH = struct.Struct(">Q")
LARGEST = 1 << 32
"""No honest message is longer."""
CHUNK = 1 << 20


class FrameError(ValueError):
    """Bytes that are no message of ours."""


def packed(header: Mapping[str, Any], blob: bytes | memoryview = b"") -> bytes:
    """A header of plain values and bytes as one message."""
    text = json.dumps(header).encode()
    return b"".join((LENGTH.pack(len(text)), text, blob))


def unpacked(message: bytes | memoryview) -> tuple[dict[str, Any], memoryview]:
    """The header and the bytes of a message."""
    view = memoryview(message)
    if len(view) < LENGTH.size:
        raise FrameError("the message is cut short")
    (count,) = LENGTH.unpack(view[: LENGTH.size])
    try:
        header = json.loads(bytes(view[LENGTH.size : LENGTH.size + count]))
    except (ValueError, RecursionError) as error:
        raise FrameError(f"its header can't be read: {error}") from None
    if not isinstance(header, dict):
        raise FrameError("its header holds no names")
    return header, view[LENGTH.size + count :]


def write_frame(descriptor: int, message: bytes) -> None:
    """Write a whole message; a short one at once, so that who reads it wakes up once."""
    head = LENGTH.pack(len(message))
    for part in (head + message,) if len(message) < CHUNK else (head, message):
        view = memoryview(part)
        while view:
            view = view[os.write(descriptor, view[:CHUNK]) :]


def read_frame(descriptor: int) -> bytes | None:
    """Read a whole message; None when the other side is gone."""
    head = _read(descriptor, LENGTH.size)
    if head is None:
        return None
    (count,) = LENGTH.unpack(head)
    if count > LARGEST:
        raise FrameError(f"a message of {count} bytes is too long")
    return _read(descriptor, count)


def _read(descriptor: int, count: int) -> bytes | None:
    parts, missing = [], count
    while missing:
        try:
            part = os.read(descriptor, min(missing, CHUNK))
        except ConnectionResetError:  # it went before it had read all that it was sent
            return None
        if not part:
            return None
        parts.append(part)
        missing -= len(part)
    return b"".join(parts)


DESCRIPTORS = 3
"""How many can come with a frame."""


def send(channel: socket.socket, message: bytes, descriptors: list[int]) -> None:
    """A frame with descriptors."""
    frame = LENGTH.pack(len(message)) + message
    sent = socket.send_fds(channel, [frame], descriptors)
    if sent < len(frame):
        channel.sendall(frame[sent:])


def received(channel: socket.socket) -> tuple[bytes, list[int]] | None:
    """The message of a frame and the descriptors that came with it; None when the other side is gone."""
    try:
        head, descriptors, _, _ = socket.recv_fds(channel, LENGTH.size, DESCRIPTORS)
        while head and len(head) < LENGTH.size:
            head += channel.recv(LENGTH.size - len(head))
    except ConnectionResetError:
        return None
    if not head:
        return None
    message = bytearray()
    (count,) = LENGTH.unpack(head)
    while len(message) < count:
        if not (part := channel.recv(count - len(message))):
            return None
        message += part
    return bytes(message), descriptors


PROGRAM = Path(__file__).with_name("child_main.py")
GRACE = 2.0
"""Seconds for a child to clear up after itself."""
THREAD_VARIABLES = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "BLIS_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
    "NUMEXPR_NUM_THREADS",
    "NUMBA_NUM_THREADS",
    "LOKY_MAX_CPU_COUNT",
)
"""What tells BLAS, OpenMP and others how many threads to use."""


class ChildDied(Exception):
    """The child is gone; `code` is its exit code, or the negative number of the signal that killed it."""

    def __init__(self, code: int) -> None:
        self.code = code
        super().__init__(describe_exit(code))


def describe_exit(code: int) -> str:
    """How a process ended.

    >>> describe_exit(-11)
    'killed by signal 11 (SIGSEGV)'
    >>> describe_exit(3)
    'ended with exit code 3'
    """
    if code >= 0:
        return f"ended with exit code {code}"
    try:
        return f"killed by signal {-code} ({signal.Signals(-code).name})"
    except ValueError:
        return f"killed by signal {-code}"


def thread_variables(threads: int) -> dict[str, str]:
    """The variables that hold libraries back to so many threads."""
    return dict.fromkeys(THREAD_VARIABLES, str(threads))


def child_environment(threads: int) -> dict[str, str]:
    """The environment of a child: few threads, and sets of texts in the same order everywhere."""
    return {
        **os.environ,
        **thread_variables(threads),
        "PYTHONHASHSEED": "0",
        "OBJC_DISABLE_INITIALIZE_FORK_SAFETY": "YES",
    }


FOR_A_TEST = "PYTEST_CURRENT_TEST"
"""Which pytest sets anew for each test, and no library reads."""


def surroundings() -> tuple[object, ...]:
    """What a process begins with, of this one: its variables, its folder, what it may use."""
    import resource

    try:
        folder = os.getcwd()  # noqa: PTH109
    except OSError:  # it has been removed
        folder = ""
    names = [name for name in vars(resource) if name.startswith("RLIMIT_")]
    rights = [resource.getrlimit(getattr(resource, name)) for name in names]
    cores = os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else None
    known = {name: value for name, value in os.environ.items() if name != FOR_A_TEST}
    return known, folder, rights, cores, os.getpriority(os.PRIO_PROCESS, 0)


LONGEST_REST = 300.0
"""Seconds after which a child that nobody needs ends by itself."""
TOO_LATE = 30.0
"""So many seconds before that it is no longer asked for anything."""

_living: weakref.WeakSet[Child] = weakref.WeakSet()


class Child:
    """A process that runs `serve(requests, replies)` of a module, in a session of its own."""

    def __init__(self, module: str, environment: Mapping[str, str]) -> None:
        # no fork: threads of BLAS and OpenMP in this process would leave their locks behind
        self.channel, theirs = socket.socketpair()
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-P", str(PROGRAM), module, search_path()],
                bufsize=0,
                stdin=theirs.fileno(),
                stdout=theirs.fileno(),
                env=dict(environment),
                start_new_session=True,
            )
        self._to = self._from = self.channel.fileno()
        self._owner = os.getpid()
        self._has_greeted = False
        self._began_in = surroundings() if hasattr(os, "fork") else ()
        self._resting_since: float | None = None
        _living.add(self)

    @property
    def pid(self) -> int:
        """The process's number."""
        return self._process.pid

    @property
    def is_usable(self) -> bool:
        """Whether it belongs to this process and has not been found dead."""
        return self._process.returncode is None and os.getpid() == self._owner

    @property
    def is_resting(self) -> bool:
        """Whether it was told that nobody needs it, and was asked for nothing since."""
        return self._resting_since is not None

    def rest(self) -> None:
        """Tell it that nobody needs it for a while; it ends by itself if this takes long."""
        if self.is_usable and self._resting_since is None:
            self._resting_since = time.monotonic()
            self.tell(packed({"rest": LONGEST_REST}))

    def wakes(self) -> bool:
        """Whether it can be asked; one that rests if it lives, and all around is as when it began."""
        if self._resting_since is None or not self.is_usable:
            return self.is_usable
        is_late = time.monotonic() - self._resting_since > LONGEST_REST - TOO_LATE
        return not is_late and self._process.poll() is None and self._began_in == surroundings()

    def tell(self, message: bytes) -> None:
        """Send a message that needs no answer; if the child is dead, the next question will tell."""
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            write_frame(self._to, message)

    def ask(self, message: bytes) -> bytes:
        """The answer to a message. Whatever goes wrong, the child is not used again."""
        with self.asked():
            write_frame(self._to, message)
            answer = read_frame(self._from)
            if answer is None:
                raise BrokenPipeError
            return answer

    @contextlib.contextmanager
    def asked(self) -> Iterator[None]:
        """While the child is asked for something. Whatever goes wrong, it is not used again."""
        if not self.is_usable:
            raise ChildDied(self._process.returncode or 0)
        try:
            if not self._has_greeted and read_frame(self._from) is None:
                raise BrokenPipeError
            self._has_greeted, self._resting_since = True, None
            yield
        except (BrokenPipeError, ConnectionResetError):
            raise self._death() from None
        except BaseException:
            self.close()
            raise

    def _death(self) -> Exception:
        self.kill()
        code = self._process.returncode
        if self._has_greeted or code <= 0:
            return ChildDied(code)
        return RedelveError(
            f"{sys.executable} can't run redelve in another process: it {describe_exit(code)}, for a reason "
            'printed above; repair that, or work "serial" without limits and isolation'
        )

    def stop(self) -> None:
        """End the child and all that it started; any thread may do this, `kill` is for the one that asks."""
        if self._process.returncode is None and os.getpid() == self._owner:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self.pid, signal.SIGKILL)

    def kill(self) -> None:
        """End the child and all that it started, and forget it."""
        if os.getpid() != self._owner:
            return
        self.stop()
        self._process.wait()
        self.channel.close()
        _living.discard(self)

    def close(self) -> None:
        """Let the child clear up after itself for a moment, then make sure that it is gone.

        One that nobody has asked for anything has nothing to clear up.
        """
        if self._has_greeted and self._process.returncode is None and os.getpid() == self._owner:
            with contextlib.suppress(OSError, subprocess.TimeoutExpired):
                self.channel.shutdown(socket.SHUT_WR)
                self._process.wait(GRACE)
        self.kill()

    def __del__(self) -> None:
        if hasattr(self, "_owner") and self.is_usable:  # a thread has ended with its child
            self.close()


def search_path() -> str:
    """Where this process imports from; "" is the folder it is in."""
    return json.dumps([os.path.abspath(each) for each in sys.path])  # noqa: PTH100


@atexit.register
def _end_all() -> None:
    for child in list(_living):
        child.close()
