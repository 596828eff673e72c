"""A place to run commands in: a delve directory of one's own, and programs that know nothing of redelve."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.conftest import Result, RunCommand, make_root, write_tree


@dataclass(frozen=True)
class Workbench:
    """A delve directory and a way to run commands in it."""

    root: Path
    run: RunCommand

    @staticmethod
    def at(folder: Path, run: RunCommand, files: Mapping[str, str] | None = None) -> Workbench:
        return Workbench(make_root(folder / "delve", files), run)

    def write(self, files: Mapping[str, str]) -> None:
        write_tree(self.root, files)

    def do(self, name: str, *argv: str, cwd: Path | None = None) -> Result:
        """Run a command that must succeed."""
        result = self.run(name, list(argv), cwd or self.root)
        assert result.code == 0, f"{name} {' '.join(argv)}: {result.err}"
        return result

    def fail(self, name: str, *argv: str, cwd: Path | None = None) -> str:
        """What a command that must fail complains of."""
        result = self.run(name, list(argv), cwd or self.root)
        assert result.code == 1, f"{name} {' '.join(argv)} did not fail: {result.out}"
        assert result.out == ""
        return result.err

    def violations(self, *argv: str) -> str:
        """What dcheck has found wrong, which must be something."""
        result = self.run("dcheck", list(argv), self.root)
        assert (result.code, result.err) == (1, "")
        return result.out

    def method(self, name: str) -> Path:
        folder = self.root / "methods" / name
        folder.mkdir(parents=True, exist_ok=True)
        return folder

    def task(self, method: str, task: str, *options: str) -> Path:
        """The directory of a method's work on a task, with its data files."""
        self.do("mgendir", "-q", task, cwd=self.method(method))
        folder = self.method(method) / task
        self.do("mgendata", "-q", *options, cwd=folder)
        return folder


def awk(program: str, folder: Path, target: str, *sources: str) -> None:
    """Run an awk program on files of a task directory, once per instance: {} in names is its number."""
    for number in instances(folder):
        paths = [source.format(number) for source in sources]
        with (folder / target.format(number)).open("w") as output:
            subprocess.run(["awk", program, *paths], cwd=folder, stdout=output, check=True)


def instances(folder: Path) -> range:
    """The numbers of the instances that have data files."""
    return range(len(list(folder.glob("train.*"))))


def column(path: Path) -> list[float]:
    """The numbers in a file that has one on every line."""
    return [float(line) for line in path.read_text().split()]


def table(path: Path) -> list[list[str]]:
    """The words of every line of a file."""
    return [line.split() for line in path.read_text().splitlines()]


def dataset(
    attributes: Sequence[str], rows: Sequence[str], *, order: str = "uninformative", extra: str = ""
) -> dict[str, str]:
    """The two files of a dataset."""
    listed = "".join(f"{number} {attribute}\n" for number, attribute in enumerate(attributes, 1))
    spec = f"Origin: artificial\nUsage: development\nOrder: {order}\n{extra}Attributes:\n{listed}"
    return {"Dataset.spec": spec, "Dataset.data": "".join(f"{row}\n" for row in rows)}


def prototask(prior: str, **keys: str) -> dict[str, str]:
    """The two files of a prototask; keys are written with "_" for "-"."""
    entries = {
        "Cases": "all",
        "Order": "retain",
        "Origin": "artificial",
        "Test_Set_Selection": "hierarchical",
        "Maximum_Number_Of_Instances": "8",
        **keys,
    }
    lines = [f"{key.replace('_', '-')}: {value}\n" for key, value in entries.items()]
    return {"Prototask.spec": "".join(lines), "std.prior": prior}


def under(folder: str, files: Mapping[str, str]) -> dict[str, str]:
    """The files, moved into a folder."""
    return {f"{folder}/{name}": text for name, text in files.items()}
