"""The archive of an experiment is the same byte for byte, whoever did the work, and whatever befell it."""

import contextlib
import hashlib
import os
import signal
import threading
from pathlib import Path

import pytest
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import BayesianRidge

import redelve
from redelve.errors import LocationError
from redelve.methods.adapters.sklearn_adapter import sklearn_method
from redelve.run.workers import Processes, Workers, workers_from
from redelve.store.fresh_records import fresh_files

METHODS = {
    "forest": sklearn_method(RandomForestRegressor(10), inputs="encoded"),
    "bayes": sklearn_method(BayesianRidge(), inputs="encoded"),
    "knn-cv-1": "knn-cv-1",
}
BY_NATURE = ("circumstances", "environments")
"""Times, memory and machines: what differs between any two runs."""


def contents(archive: Path) -> dict[str, str]:
    files = [
        path for path in archive.rglob("*") if path.is_file() and path.name not in ("lock", "manifest.json")
    ]
    names = {str(path.relative_to(archive)): path for path in files}
    return {
        name: hashlib.sha256(path.read_bytes()).hexdigest()
        for name, path in names.items()
        if not name.startswith(BY_NATURE)
    }


def archived(folder: Path, workers: Workers, limits: redelve.Limits | None = None) -> dict[str, str]:
    redelve.assess(
        METHODS,
        "demo/age",
        sizes=[32, 64],
        runs=2,
        workers=workers,
        archive=folder,
        limits=limits or redelve.Limits(),
    )
    report = redelve.Archive.open(folder).verify()
    assert report.ok, str(report)
    return contents(folder)


@pytest.fixture(scope="module")
def serial(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    return archived(tmp_path_factory.mktemp("serial") / "archive", workers_from("serial"))


def test_there_is_something_to_compare(serial: dict[str, str]) -> None:
    assert {name.split("/")[0] for name in serial} >= {
        "answers",
        "jobs",
        "losses",
        "methods",
        "tasks",
        "truths",
    }


@pytest.mark.slow  # quick ones, with other processes: in cells, and killed now and then
@pytest.mark.parametrize("kind", ["processes", "dask"])
@pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::DeprecationWarning")
def test_other_workers_write_the_same_bytes(serial: dict[str, str], tmp_path: Path, kind: str) -> None:
    assert archived(tmp_path / "archive", workers_from(kind, count=2)) == serial


def test_isolation_writes_the_same_bytes(serial: dict[str, str], tmp_path: Path) -> None:
    isolated = redelve.Limits(seconds=120, isolated=True)
    assert archived(tmp_path / "archive", workers_from("processes", count=2), limits=isolated) == serial


def test_killed_workers_leave_the_same_bytes(serial: dict[str, str], tmp_path: Path) -> None:
    """A worker is killed whenever four more records are there: on slow machines the work goes on too."""
    workers, over, killed = Processes(2), threading.Event(), list[int]()

    def made() -> int:
        with contextlib.suppress(LocationError):  # compacted at this moment
            return sum(len(file.digests()) for file in fresh_files(tmp_path / "archive" / "fresh"))
        return 0

    def kill_now_and_then() -> None:
        while not over.wait(0.05):
            enough = made() >= 4 * (1 + len(killed))
            for pid in list(workers.pids)[:1] if enough else ():
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
                    killed.append(pid)

    killer = threading.Thread(target=kill_now_and_then)
    killer.start()
    try:
        found = archived(tmp_path / "archive", workers)
    finally:
        over.set()
        killer.join()
    assert killed
    assert found == serial
