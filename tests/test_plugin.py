"""A package as somebody else would write it adds one of each kind, and all are used from the command line."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Sequence
from pathlib import Path

import pytest

PLUGIN = Path(__file__).with_name("plugin")
PROJECT = tomllib.loads((PLUGIN / "pyproject.toml").read_text())["project"]
KINDS = ("methods", "losses", "encodings", "datasets", "executors", "sections", "commands", "readers")
CHECKS = """
import json
from pathlib import Path
from redelve.answers.loss_checks import check_loss
from redelve.cli.command_check import check_command
from redelve.data.catalogue.dataset_check import check_dataset
from redelve.data.scores.reader_checks import check_reader
from redelve.methods.conformance.checking import check_method
from redelve.model.encodings.encoding_checks import check_encoding
from redelve.report.section_checks import check_section
from redelve.run.executor_check import check_executor

if __name__ == "__main__":
    Path("check.ledger").write_text("ann|q1|3\\nbob|q1|2\\n")
    reports = {
        "method": check_method("nearest"),
        "loss": check_loss("H"),
        "encoding": check_encoding("thousands"),
        "dataset": check_dataset("waves"),
        "executor": check_executor("threads"),
        "section": check_section("slowest"),
        "command": check_command("tally"),
        "reader": check_reader("ledgers", ["check.ledger"]),
    }
    print(json.dumps({kind: [str(report), report.passed] for kind, report in reports.items()}))
"""


def install(folder: Path) -> None:
    """What pip leaves behind of a package that is nothing but Python: its modules, its metadata."""
    name, version = PROJECT["name"], PROJECT["version"]
    shutil.copytree(PLUGIN / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    info = folder / f"{name}-{version}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
    groups = [
        "\n".join([f"[{group}]", *(f"{key} = {place}" for key, place in entries.items())])
        for group, entries in PROJECT["entry-points"].items()
    ]
    (info / "entry_points.txt").write_text("\n\n".join(groups) + "\n")


class Shell:
    """Commands where the package is installed, in a folder of their own."""

    def __init__(self, site: Path, folder: Path) -> None:
        self.folder = folder
        self._environment = {
            **os.environ,
            "PYTHONPATH": str(site),
            "PYTHONWARNINGS": "error",
            "REDELVE_HOME": str(folder / "home"),
        }
        self._environment.pop("DELVE_PATH", None)

    def python(self, words: Sequence[str], where: str = ".") -> str:
        """What a program prints, which must end well."""
        run = subprocess.run(
            [sys.executable, *words],
            cwd=self.folder / where,
            env=self._environment,
            capture_output=True,
            text=True,
            check=False,
            timeout=300,
        )
        assert run.returncode == 0, run.stdout + run.stderr
        return run.stdout

    def redelve(self, *words: str, where: str = ".") -> str:
        """What a command prints."""
        return self.python(["-m", "redelve", *words], where)


@pytest.fixture(scope="module")
def shell(tmp_path_factory: pytest.TempPathFactory) -> Shell:
    site, folder = tmp_path_factory.mktemp("site"), tmp_path_factory.mktemp("work")
    install(site)
    return Shell(site, folder)


@pytest.fixture(scope="module")
def assessed(shell: Shell) -> str:
    """An assessment with their dataset, method, loss and executor, and two workers."""
    options = ["-m", "nearest,lin-1", "-l", "H", "-e", "threads", "-w", "2", "-o", "out", "-q"]
    return shell.redelve("assess", "waves/height", *options)


def test_there_is_one_of_each_kind_in_a_file_of_its_own() -> None:
    places = [place for group in PROJECT["entry-points"].values() for place in group.values()]
    assert list(PROJECT["entry-points"]) == [f"redelve.{kind}" for kind in KINDS]
    assert len({place.partition(":")[0] for place in places}) == len(KINDS)


def test_everything_passes_its_conformance_check(shell: Shell) -> None:
    for text, passed in json.loads(shell.python(["-c", CHECKS])).values():
        assert passed, text


def test_their_method_is_listed_and_explained(shell: Shell) -> None:
    assert "nearest" in shell.redelve("methods")
    assert shell.redelve("methods", "nearest").startswith("The target of the training case whose inputs")


def test_their_dataset_is_listed_and_checked(shell: Shell) -> None:
    assert "waves" in shell.redelve("dls", "/")
    assert "no problems found" in shell.redelve("dcheck", "/waves")


def test_their_executor_is_listed(shell: Shell) -> None:
    assert "who does the work: dask, loky, processes, serial, slurm, threads\n" in shell.redelve(
        "assess", "-h"
    )


def test_they_are_assessed_by_their_loss(assessed: str) -> None:
    assert "nearest" in assessed
    assert "standardised huber loss" in assessed


@pytest.mark.usefixtures("assessed")
def test_the_archive_is_verified_with_their_loss(shell: Shell) -> None:
    told = shell.redelve("archive", "verify", "out/archive")
    assert "16 records" in told
    assert "not known here" not in told


@pytest.mark.usefixtures("assessed")
def test_their_command_reads_the_archive(shell: Shell) -> None:
    assert "tally          count the records of an archive" in shell.redelve("-h")
    assert shell.redelve("tally", "out/archive") == "lin-1        8\nnearest      8\n"


@pytest.mark.usefixtures("assessed")
def test_the_report_has_their_section(shell: Shell) -> None:
    page = (shell.folder / "out" / "report.html").read_text()
    assert "The slowest job" in page
    shell.redelve("report", "out/archive", "-l", "H", "-o", "again.md")
    assert "The slowest job" in (shell.folder / "again.md").read_text()


def test_scores_in_their_files_are_compared(shell: Shell) -> None:
    lines = [f"{name}|q{i}|{i % 5 + (name == 'ann')}" for name in ("ann", "bob") for i in range(20)]
    (shell.folder / "points.ledger").write_text("\n".join(lines) + "\n")
    assert "ann" in shell.redelve("compare", "points.ledger")


def test_their_encoding_is_used_for_files(shell: Shell) -> None:
    for part in ("data", "methods/mine"):
        (shell.folder / "delve" / part).mkdir(parents=True)
    mine = "delve/methods/mine"
    shell.redelve("mgendir", "-q", "waves", where=mine)
    task = f"{mine}/waves/height/std.16"
    (shell.folder / task / "codings").write_text("1 thousands\n")
    shell.redelve("mgendata", "-q", "-c", "codings", where=task)
    first = (shell.folder / task / "train.0").read_text().split()[0]
    (data,) = (shell.folder / "home").glob("delve-*/data/waves/height/Prototask.data")
    assert f"{1000 * float(first):.3f}" in data.read_text().split()


def test_their_method_is_applied_to_task_directories(shell: Shell) -> None:
    for part in ("data", "methods/nearest"):
        (shell.folder / "delve-theirs" / part).mkdir(parents=True)
    shell.redelve("mgendir", "-q", "waves/height/std.16", where="delve-theirs/methods/nearest")
    task = "delve-theirs/methods/nearest/waves/height/std.16"
    shell.redelve("mgendata", "-q", where=task)
    shell.redelve("apply", "nearest", "-q", where=task)
    shell.redelve("mloss", "-q", "-l", "S", where=task)
    assert all((shell.folder / task / f"{name}.0").exists() for name in ("guess", "loss.S"))


def test_the_guide_for_contributors_shows_these_files() -> None:
    guide = (PLUGIN.parent.parent / "CONTRIBUTING.md").read_text()
    shown = dict(re.findall(r"^`tests/plugin/(\S+)`:\n\n```\w+\n(.*?)^```$", guide, re.MULTILINE | re.DOTALL))
    files = [path for path in PLUGIN.rglob("*") if path.suffix in (".py", ".toml")]
    wanted = {path.relative_to(PLUGIN).as_posix(): path.read_text() for path in files}
    del wanted["meadow/__init__.py"]
    assert shown == wanted
