"""Texts and installed commands in processes of their own, forked from one that has the large packages.

Most of a short command's time is the import of numpy, scipy, scikit-learn, pandas and pyarrow. One program
imports them and forks for everything it is asked to run. Texts begin with nothing of redelve; commands, which
import what they need by themselves, with the rooms of it that most of them pass.
"""

from __future__ import annotations

import contextlib
import gc
import json
import os
import runpy
import select
import socket
import subprocess
import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from importlib.metadata import distribution
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple, NoReturn

LARGE = [
    *("fastapi", "httpx", "jinja2", "matplotlib.figure", "pandas", "pyarrow.parquet", "sqlalchemy.orm"),
    *("scipy.optimize", "scipy.stats"),
    *("sklearn.ensemble", "sklearn.linear_model", "sklearn.model_selection", "sklearn.pipeline"),
]
ROOMS = [
    *("redelve.cli.loss_commands", "redelve.cli.method_directories", "redelve.cli.showing"),
    *("redelve.findings", "redelve.report.page", "redelve.run.experiment", "redelve.stats", "redelve.store"),
]
PROGRAM = 'exec(__import__("tests.forks").forks.next_text())'
"""Each of its processes comes out of `next_text` with a text to run, among no names but Python's own."""
COMMANDS = "-commands"
"""What the place has at its end where commands are asked for."""
STAND_IN = """#!{python} -IS
import json, os, socket, sys
with socket.socket(socket.AF_UNIX) as forks:
    forks.connect({address!r})
    place = {{"folder": os.getcwd(), "environment": dict(os.environ)}}
    asked = {{"script": {script!r}, "words": sys.argv[1:], **place}}
    socket.send_fds(forks, [json.dumps(asked).encode() + b"\\n"], [0, 1, 2])
    code = int(forks.makefile().readline())
sys.exit(code if code >= 0 else 128 - code)
"""
"""A command that has the forking program run the installed one, with its own words, folder and streams."""


class Forks(NamedTuple):
    """The forking program, from outside."""

    address: str
    commands: Path
    """A folder with a stand-in for every installed command: the first one of PATH."""

    def run_text(self, text: str, folder: Path, log: Path) -> int:
        """Run a text as `python -W error -c` does, in a folder, complaints in a file; its exit code."""
        with (
            socket.socket(socket.AF_UNIX) as forks,
            Path(os.devnull).open("r+b") as nothing,
            log.open("wb") as said,
        ):
            forks.connect(self.address)
            asked = json.dumps({"text": text, "folder": str(folder), "environment": dict(os.environ)})
            places = [nothing.fileno(), nothing.fileno(), said.fileno()]
            socket.send_fds(forks, [asked.encode() + b"\n"], places)
            return int(forks.makefile().readline())


@contextmanager
def forks_running() -> Iterator[Forks]:
    """Start the forking program, and end it."""
    with TemporaryDirectory() as folder:
        forks = Forks(f"{folder}/asked", Path(folder, "commands"))
        forks.commands.mkdir()
        for command in distribution("redelve").entry_points.select(group="console_scripts"):
            _write_stand_in(forks, command.name)
        words = [sys.executable, "-W", "error", "-c", PROGRAM, forks.address]
        pipe, root = subprocess.PIPE, Path(__file__).parents[1]
        with subprocess.Popen(words, cwd=root, stdin=pipe, stdout=pipe) as program:
            assert program.stdout is not None
            assert [program.stdout.readline() for _ in range(2)] == [b"ready\n"] * 2
            yield forks


def _write_stand_in(forks: Forks, name: str) -> None:
    script = Path(sys.executable).parent / name
    text = STAND_IN.format(python=sys.executable, address=forks.address + COMMANDS, script=str(script))
    (forks.commands / name).write_text(text)
    (forks.commands / name).chmod(0o755)


# The program


def next_text() -> str:
    """The text to run, in its process; a command is run instead, which ends the process."""
    address = sys.argv.pop()
    for name in LARGE:
        import_module(name)
    if os.fork() == 0:
        address += COMMANDS
        for name in ROOMS:
            import_module(name)
    gc.freeze()  # a job's process does not look at all that is there already
    asked = _asked_of(address)
    os.environ.clear()
    os.environ.update(asked.environment)
    os.chdir(asked.folder)
    if asked.script:
        _run_script(asked.script, asked.words)
    return asked.text


class Asked(NamedTuple):
    """What is to be run, where: a text or an installed command with its words."""

    folder: str
    environment: dict[str, str]
    text: str = ""
    script: str = ""
    words: Sequence[str] = ()


def _asked_of(address: str) -> Asked:
    """Wait for requests until the input ends; each is returned in a process of its own."""
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(address)
        server.listen()
        print("ready", flush=True)
        while 0 not in select.select([0, server.fileno()], [], [])[0]:
            connection, _ = server.accept()
            with connection:
                if os.fork() == 0:
                    server.close()
                    return _in_place(connection)
            _reap(os.WNOHANG)
    _reap()
    sys.exit()


def _reap(how: int = 0) -> None:
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, how)[0]:
            pass


def _in_place(connection: socket.socket) -> Asked:
    """A request, its streams in place, in a process whose end its parent tells."""
    said, places, _, _ = socket.recv_fds(connection, 1 << 20, 3)
    while not said.endswith(b"\n"):
        said += connection.recv(1 << 20)
    if job := os.fork():
        connection.sendall(b"%d\n" % os.waitstatus_to_exitcode(os.waitpid(job, 0)[1]))
        os._exit(0)
    for number, place in enumerate(places):
        os.dup2(place, number)
        os.close(place)
    return Asked(**json.loads(said))


def _run_script(script: str, words: Sequence[str]) -> NoReturn:
    """Run an installed command as it runs itself: no warning is an error, its folder is first of the path."""
    kept = [one for one in warnings.filters if one != ("error", None, Warning, None, 0)]
    warnings.resetwarnings()
    warnings.filters[:] = kept  # type: ignore[index]
    sys.warnoptions.clear()
    sys.argv[:] = [script, *words]
    sys.path[0] = str(Path(script).parent)
    runpy.run_path(script, run_name="__main__")
    sys.exit()
