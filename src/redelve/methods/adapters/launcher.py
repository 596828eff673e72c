"""Runs a program that must not see more than it is given; a script of its own, started by `program`.

`python -I -S launcher.py ORDER`, the order in JSON: command, directory, reads, mechanism, parent. It imports
nothing of redelve, and stays as the program's guardian: when the program ends, or the process that asked for
it, whatever the program left running ends too.

Confinement is by Landlock (Linux 5.13 or newer), else by namespaces of the program's own.
"""

from __future__ import annotations

import ctypes
import json
import os
import signal
import stat
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NoReturn

CANT_CONFINE, CANT_RUN, NOT_FOUND = 125, 126, 127

PR_SET_PDEATHSIG, PR_CAPBSET_DROP, PR_SET_CHILD_SUBREAPER, PR_SET_NO_NEW_PRIVS = 1, 24, 36, 38
CREATE_RULESET, ADD_RULE, RESTRICT_SELF = 444, 445, 446
PATH_BENEATH, ASK_VERSION = 1, 1
EXECUTE, WRITE_FILE, READ_FILE, READ_DIR, TRUNCATE, IOCTL_DEV = (1 << bit for bit in (0, 1, 2, 3, 14, 15))
FILE_RIGHTS = EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE | IOCTL_DEV
RIGHTS_BY_VERSION = {1: 13, 2: 14, 3: 15, 4: 15}  # how many of the file rights each version knows; then 16
DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom")

MOST_ROUNDS = 10_000
MOST_STEPS = 1000

CLONE_NEWNS, CLONE_NEWIPC, CLONE_NEWUSER, CLONE_NEWPID, CLONE_NEWNET = (
    0x20000,
    0x08000000,
    0x10000000,
    0x20000000,
    0x40000000,
)
MS_RDONLY, MS_NOSUID, MS_NODEV, MS_REMOUNT, MS_BIND = 1, 2, 4, 32, 4096
MS_REC, MS_PRIVATE = 16384, 1 << 18


def _libc() -> Any:
    return ctypes.CDLL(None, use_errno=True)


def _checked(result: int, what: str) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")
    return result


def _prctl(option: int, value: int) -> int:
    number: int = _libc().prctl(option, ctypes.c_ulong(value), 0, 0, 0)
    return number


# Landlock


def landlock_version() -> int:
    """The version of Landlock that the kernel offers; 0 if none."""
    if sys.platform != "linux":
        return 0
    found: int = _libc().syscall(CREATE_RULESET, None, ctypes.c_size_t(0), ctypes.c_uint32(ASK_VERSION))
    return max(found, 0)


def confine_by_landlock(directory: str, reads: list[str]) -> None:
    """From now on only `reads` can be read and executed, and only `directory` changed; no TCP either."""
    version = landlock_version()
    every = (1 << RIGHTS_BY_VERSION.get(version, 16)) - 1
    network, scopes = (3 if version >= 4 else 0), (3 if version >= 6 else 0)
    handled = (ctypes.c_uint64 * 3)(every, network, scopes)
    size = 8 * (1 + (version >= 4) + (version >= 6))
    libc = _libc()
    ruleset = _checked(
        libc.syscall(CREATE_RULESET, handled, ctypes.c_size_t(size), ctypes.c_uint32(0)),
        "landlock_create_ruleset",
    )
    for path in reads:
        _allow(libc, ruleset, path, every & (EXECUTE | READ_FILE | READ_DIR))
    for path in DEVICES:
        _allow(libc, ruleset, path, every & (READ_FILE | WRITE_FILE))
    _allow(libc, ruleset, directory, every)
    _checked(libc.syscall(RESTRICT_SELF, ruleset, ctypes.c_uint32(0)), "landlock_restrict_self")
    os.close(ruleset)


class _PathBeneath(ctypes.Structure):
    _pack_ = 1
    _layout_ = "ms"
    _fields_ = (("allowed_access", ctypes.c_uint64), ("parent_fd", ctypes.c_int32))


def _allow(libc: Any, ruleset: int, path: str, rights: int) -> None:
    """Add a rule; a path that does not exist needs none."""
    try:
        place = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return
    if not stat.S_ISDIR(os.fstat(place).st_mode):
        rights &= FILE_RIGHTS
    rule = _PathBeneath(rights, place)
    result = libc.syscall(ADD_RULE, ruleset, PATH_BENEATH, ctypes.byref(rule), ctypes.c_uint32(0))
    os.close(place)
    _checked(result, f"landlock_add_rule {path}")


# Namespaces


def confine_by_namespace(directory: str, reads: list[str]) -> None:
    """A file system that holds nothing but `reads`, read-only, and `directory`; no network, no other process.

    The calling process becomes the first of its own process namespace's parent: fork after this.
    """
    libc, user, group = _libc(), os.getuid(), os.getgid()
    spaces = CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWIPC | CLONE_NEWNET
    _checked(libc.unshare(spaces), "unshare")
    Path("/proc/self/setgroups").write_text("deny")
    Path("/proc/self/uid_map").write_text(f"{user} {user} 1")
    Path("/proc/self/gid_map").write_text(f"{group} {group} 1")
    _mount(libc, "none", "/", None, MS_REC | MS_PRIVATE)
    root = f"{directory}/.root"
    Path(root).mkdir()
    _mount(libc, "redelve", root, "tmpfs", MS_NOSUID | MS_NODEV)
    for path in (*sorted(reads, key=os.path.realpath), *DEVICES):  # a folder comes before what is in it
        _show(libc, path, root, writable=path in DEVICES)
    _show(libc, directory, root, writable=True)
    _mount(libc, "redelve", root, None, MS_REMOUNT | MS_BIND | MS_RDONLY | MS_NOSUID | MS_NODEV)
    os.chroot(root)
    os.chdir("/")


def _mount(libc: Any, source: str, target: str, kind: str | None, flags: int) -> None:
    words = [None if word is None else os.fsencode(word) for word in (source, target, kind)]
    _checked(libc.mount(*words, ctypes.c_ulong(flags), None), f"mount {source} on {target}")


def _show(libc: Any, path: str, root: str, *, writable: bool) -> None:
    """Bind a path, freed of symbolic links, to the same place under the new root, if it is not yet there."""
    source = Path(os.path.realpath(path))
    target = Path(f"{root}{source}")
    if source.exists() and not target.exists():
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            target.mkdir()
        else:
            target.touch()
        _mount(libc, str(source), str(target), None, MS_BIND)
        if not writable:
            _mount(libc, str(source), str(target), None, MS_REMOUNT | MS_BIND | MS_RDONLY | MS_NOSUID)
    for link, goal in _links(path):
        place = Path(f"{root}{link}")
        if not os.path.lexists(place):
            place.parent.mkdir(parents=True, exist_ok=True)
            place.symlink_to(goal)


def _links(path: str) -> Iterator[tuple[str, str]]:
    """Every symbolic link on the way to a path, in its real folder, with what it says."""
    here, ahead = "/", path.split("/")
    for _ in range(MOST_STEPS):
        if not ahead:
            return
        here = os.path.normpath(f"{here}/{ahead.pop(0)}")
        if Path(here).is_symlink():
            goal = str(Path(here).readlink())
            yield here, goal
            ahead = [*goal.split("/"), *ahead]
            here = "/" if goal.startswith("/") else str(Path(here).parent)


# The program and its guardian


def drop_privileges() -> None:
    """No program that this process starts can gain privileges."""
    _checked(_prctl(PR_SET_NO_NEW_PRIVS, 1), "prctl")
    for capability in range(64):
        if _prctl(PR_CAPBSET_DROP, capability) < 0:
            return


def _be_the_program(order: dict[str, Any]) -> NoReturn:
    command = order["command"]
    for number in (signal.SIGTERM, signal.SIGPIPE):
        signal.signal(number, signal.SIG_DFL)
    try:
        os.chdir(order["directory"])
        if sys.platform == "linux":
            _prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
            if order["mechanism"]:
                drop_privileges()
            if order["mechanism"] == "landlock":
                confine_by_landlock(order["directory"], order["reads"])
    except OSError as problem:
        _leave(CANT_CONFINE, f"can't confine the program: {problem}")
    try:
        os.execvp(command[0], command)
    except FileNotFoundError:
        _leave(NOT_FOUND, f"can't find the program {command[0]}")
    except OSError as problem:
        _leave(CANT_RUN, f"can't run {command[0]}: {problem.strerror}")


def _leave(status: int, message: str) -> NoReturn:
    os.write(2, f"redelve: {message}\n".encode())
    os._exit(status)


def _children() -> list[int]:
    try:
        listed = Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()
    except OSError:
        return []
    return [int(word) for word in listed]


def _end_all() -> None:
    """Kill what is left: orphans come to this process, so its children are soon all there are."""
    for _ in range(MOST_ROUNDS):
        children = _children()
        if not children:
            return
        for child in children:
            try:
                os.kill(child, signal.SIGKILL)
                os.waitpid(child, 0)
            except OSError:
                continue


def _end_all_and_leave(*_: object) -> None:
    _end_all()
    os._exit(128 + signal.SIGTERM)


def _guard(order: dict[str, Any]) -> int:
    if sys.platform == "linux":
        _prctl(PR_SET_CHILD_SUBREAPER, 1)
        _prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
        if os.getppid() != order["parent"]:
            return CANT_RUN
    signal.signal(signal.SIGTERM, _end_all_and_leave)
    if order["mechanism"] == "namespace":
        return _guard_namespace(order)
    program = os.fork()
    if program == 0:
        _be_the_program(order)
    status = _waited(program)
    _end_all()
    return status


def _guard_namespace(order: dict[str, Any]) -> int:
    """One process more: it makes the namespaces, and its child, the first process in them, is the program."""
    middle = os.fork()
    if middle == 0:
        _prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        try:
            confine_by_namespace(order["directory"], order["reads"])
        except OSError as problem:
            _leave(CANT_CONFINE, f"can't confine the program: {problem}")
        first = os.fork()
        if first == 0:
            _be_the_first(order)
        os._exit(_waited(first))
    status = _waited(middle)
    _end_all()
    return status


def _be_the_first(order: dict[str, Any]) -> NoReturn:
    """The first process of a process namespace: when it ends, the kernel ends all others there."""
    _prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    program = os.fork()
    if program == 0:
        _be_the_program(order)
    os._exit(_waited(program))


def _waited(process: int) -> int:
    """The exit status of a process; orphans that end meanwhile are let go."""
    while True:
        found, status = os.wait()
        if found == process:
            code = os.waitstatus_to_exitcode(status)
            return code if code >= 0 else 128 - code


def main() -> int:
    """Run the program that is ordered."""
    if sys.argv[1] == "version":
        print(landlock_version())
        return 0
    return _guard(json.loads(sys.argv[1]))


if __name__ == "__main__":
    sys.exit(main())
