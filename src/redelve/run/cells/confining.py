"""A cell without network, files and other processes: what it may still see, and how it is kept to that.

By namespaces of its own, else by Landlock, as programs are (`methods.adapters.confinement`).
"""

from __future__ import annotations

import ctypes
import os
import signal
import struct
import sys
import sysconfig
import tempfile
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any, Literal

from redelve.methods.adapters import confinement, launcher
from redelve.run.workers.child import thread_variables

Confined = bool | Literal["if possible"]
"""Whether methods must be confined, are where that can be had, or are not."""
CHOICES: tuple[Confined, ...] = (True, False, "if possible")
CAPABILITIES_VERSION = 0x20080522  # _LINUX_CAPABILITY_VERSION_3 of capset(2)


@cache
def mechanism() -> str | None:
    """How a cell can be confined here; None if it can't."""
    if sys.platform != "linux":
        return None
    if confinement.namespaces_work():
        return "namespaces"
    return "Landlock" if launcher.landlock_version() > 0 else None


ARITHMETIC = ("OPENBLAS_CORETYPE", "MKL_CBWR", "NPY_DISABLE_CPU_FEATURES", "ATEN_CPU_CAPABILITY")
"""Variables on which the last bits of results depend."""


def environment(threads: int) -> dict[str, str]:
    """What confined cells know of the environment: a list of names that tell nothing about the user."""
    return {**confinement.environment({}, ARITHMETIC), **thread_variables(threads), "PYTHONHASHSEED": "0"}


def readable(modules: Iterable[str]) -> list[str]:
    """What a confined cell may read: the system, Python, installed packages, and the method's own code."""
    installed = {sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")}
    installed |= {place for place in sys.path if place.endswith(("site-packages", "dist-packages"))}
    redelve = Path(__file__).parents[2]
    own = [str(path) for name in modules for path in _code_of(name)]
    return [*confinement.readable((sys.executable,)), *sorted(installed), str(redelve), *own]


def _code_of(name: str) -> Iterator[Path]:
    """The files and packages of Python code beside a module, itself included; nothing else of its folder."""
    top = sys.modules.get(name.partition(".")[0])
    file = getattr(top, "__file__", None)
    if file is None:
        return
    place = Path(file).resolve()
    folder = place.parent.parent if place.name == "__init__.py" else place.parent
    yield from folder.glob("*.py")
    yield from (path.parent for path in folder.glob("*/__init__.py"))


def confine(order: dict[str, Any]) -> None:
    """Confine this process as ordered; what goes on after this may be a child of it."""
    directory, reads = order["directory"], order["reads"]
    os.environ.update(HOME=directory, TMPDIR=directory)
    tempfile.tempdir = None
    if order["mechanism"] == "namespaces":
        launcher.confine_by_namespace(directory, reads)
        if (first := os.fork()) != 0:
            _follow(first)
        ctypes.CDLL(None).prctl(launcher.PR_SET_PDEATHSIG, signal.SIGKILL)
        _show_own_processes()
    os.chdir(directory)
    launcher.drop_privileges()
    _drop_capabilities()
    if order["mechanism"] == "Landlock":
        launcher.confine_by_landlock(directory, reads)


def _show_own_processes() -> None:
    """A /proc of its own, to be read only; where the machine does not allow that, there is none."""
    flags = launcher.MS_RDONLY | launcher.MS_NOSUID | launcher.MS_NODEV
    ctypes.CDLL(None).mount(b"proc", b"/proc", b"proc", ctypes.c_ulong(flags), None)


def _follow(process: int) -> None:
    """Wait for the first process of the namespaces, and end as it ended."""
    _, status = os.waitpid(process, 0)
    code = os.waitstatus_to_exitcode(status)
    if code < 0:
        if -code not in (signal.SIGKILL, signal.SIGSTOP):
            signal.signal(-code, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    os._exit(code)


def _drop_capabilities() -> None:
    """Give up what root, or the first of its own namespace, may do beside others."""
    header = struct.pack("Ii", CAPABILITIES_VERSION, 0)
    if ctypes.CDLL(None, use_errno=True).capset(header, bytes(24)) != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"capset: {os.strerror(number)}")
