"""What sbatch, squeue and scancel do, with processes of this machine; the state is in FAKE_SLURM."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

SHIM = '#!/bin/sh\nexec "{python}" -S -E "{here}" {name} "$@"\n'


def install(folder: Path) -> None:
    """Put the commands into a folder for PATH."""
    for name in ("sbatch", "squeue", "scancel"):
        (folder / name).write_text(SHIM.format(python=sys.executable, here=__file__, name=name))
        (folder / name).chmod(0o755)


def main(command: str, *words: str) -> None:
    state = Path(os.environ["FAKE_SLURM"])
    with (state / "commands").open("a") as log:
        log.write(" ".join((command, *words)) + "\n")
    options = dict(word[2:].partition("=")[::2] for word in words if word.startswith("--"))
    others = [word for word in words if not word.startswith("--")]
    {"sbatch": sbatch, "squeue": squeue, "scancel": scancel}[command](state, options, others)


def sbatch(state: Path, options: dict[str, str], scripts: list[str]) -> None:
    if options.get("partition") == "nowhere":
        sys.exit("sbatch: error: invalid partition specified: nowhere")
    number = 1 + len(list(state.glob("*_1")))
    first, _, last = options["array"].partition("-")
    for task in range(int(first), int(last) + 1):
        log = options["output"].replace("%A", str(number)).replace("%a", str(task))
        environment = {
            **os.environ,
            "SLURM_ARRAY_JOB_ID": str(number),
            "SLURM_ARRAY_TASK_ID": str(task),
        }
        with Path(log).open("ab") as file:
            process = subprocess.Popen(
                ["/bin/sh", scripts[0]],
                stdin=subprocess.DEVNULL,
                stdout=file,
                stderr=file,
                env=environment,
                start_new_session=True,
            )
        (state / f"{number}_{task}").write_text(json.dumps([process.pid, options["job-name"]]))
    print(number)


def squeue(state: Path, options: dict[str, str], _: list[str]) -> None:
    for task, pid, name in tasks(state):
        if name == options["name"]:
            print(task, "RUNNING" if is_alive(pid) else "CANCELLED")


def scancel(state: Path, options: dict[str, str], chosen: list[str]) -> None:
    for task, pid, name in tasks(state):
        if task in chosen or name == options.get("name"):
            with contextlib.suppress(ProcessLookupError):
                os.killpg(pid, signal.SIGKILL)


def tasks(state: Path) -> Iterator[tuple[str, int, str]]:
    """The names that SLURM has for tasks, their processes and the names of their arrays."""
    for path in sorted(state.glob("[0-9]*_*")):
        pid, name = json.loads(path.read_text())
        yield path.name, pid, name


def is_alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


if __name__ == "__main__":
    main(*sys.argv[1:])
