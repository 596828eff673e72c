"""Compaction: the same bytes in whatever order records came, and no crash loses or doubles one."""

from __future__ import annotations

import io
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow import ipc

from redelve.answers.losses import usual_losses
from redelve.errors import FormatError
from redelve.run.results import Costs, Record
from redelve.store import Archive, record_rows
from redelve.store.record_rows import LOSS, USUAL_LOSSES
from tests.fuzzing.inside import seal
from tests.store.made import (
    TASK,
    assert_same,
    failed,
    guess_answer,
    listing,
    make_archive,
    make_record,
    many,
    usual,
)

SAME = ("losses/", "answers/", "jobs/", "truths/", "tasks/", "methods/")


def predictions(root: Path) -> dict[str, bytes]:
    return {name: data for name, data in listing(root).items() if name.startswith(SAME)}


def elsewhere(record: Record, rng: random.Random) -> Record:
    """The same done on another machine, at another time."""
    return replace(
        record,
        costs=Costs(rng.random(), rng.random(), rng.random(), rng.randrange(10**9)),
        started=f"2026-01-{rng.randrange(1, 28):02}",
        environment={"machine": str(rng.random())},
        message=f"at {rng.random()}",
    )


def mixed_records() -> list[Record]:
    """Answers of different kinds, several runs, failures with and without a stand-in."""
    tasks, methods = usual()
    records = list(many(tasks, methods, runs=2))
    for number, record in enumerate(records):
        task, method = tasks[record.job.task], methods[record.job.method]
        if number % 5 == 1:
            answer = guess_answer(task, record.job)
            records[number] = make_record(task, method, record.job.instance, record.job.run, answer=answer)
        if number % 7 == 2:
            records[number] = failed(record)
        if number % 7 == 3:
            records[number] = failed(record, losses=record.losses, answer=record.answer, fallback="constant")
    return records


@pytest.mark.parametrize("seed", range(4))
def test_files_are_the_same_whatever_the_order(
    tmp_path: Path, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(record_rows, "GROUP_CELLS", 60)  # several row groups
    records = mixed_records()
    plain = make_archive(tmp_path / "plain", records)
    plain.compact()
    rng = random.Random(seed)
    shuffled = [elsewhere(record, rng) for record in records]
    rng.shuffle(shuffled)
    archive = make_archive(tmp_path / "shuffled", [])
    for record in shuffled:
        archive.add(record)
        if rng.random() < 0.2:
            archive.compact()
    archive.compact()
    assert predictions(tmp_path / "shuffled") == predictions(tmp_path / "plain")
    assert archive.verify().ok


def test_compacting_again_changes_nothing(tmp_path: Path) -> None:
    archive = make_archive(tmp_path / "a", mixed_records())
    archive.compact()
    before = listing(tmp_path / "a")
    archive.compact()
    assert listing(tmp_path / "a") == before


def test_row_groups_end_with_records(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(record_rows, "GROUP_CELLS", 60)
    archive = make_archive(tmp_path / "a", list(many(*usual(), runs=4)))
    archive.compact()
    path = next((tmp_path / "a" / "losses").rglob("*.parquet"))
    about = pq.read_metadata(path)
    sizes = [about.row_group(group).num_rows for group in range(about.num_row_groups)]
    assert len(sizes) > 2
    assert all(size % 5 == 0 for size in sizes)


def test_pandas_reads_an_archive_directly(tmp_path: Path) -> None:
    records = list(many(*usual()))
    make_archive(tmp_path / "a", records).compact()
    frame = pd.read_parquet(tmp_path / "a" / "losses")
    means = frame.groupby(["method", "task"], observed=True)["loss.S"].mean()
    for pair, mean in means.items():
        own = [one.losses["S"] for one in records if (one.job.method, one.job.task) == pair]
        assert mean == pytest.approx(np.concatenate(own).mean(), rel=1e-12)
    jobs = pd.read_parquet(tmp_path / "a" / "jobs")
    assert set(jobs["digest"]) == {record.digest for record in records}
    costs = pd.read_parquet(tmp_path / "a" / "circumstances")
    assert costs["peak_memory"].tolist() == [10**8] * len(records)
    truths = pd.read_parquet(tmp_path / "a" / "truths")
    both = frame.merge(truths, on=["task", "instance", "case"])
    assert len(both) == len(frame)


# Crashes


class CrashError(BaseException):
    """The process is no more."""


@contextmanager
def crash_at(step: int, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[int]]:
    """Let the given change of the file system, and all later ones, not happen, clean-up included."""
    done = [0]

    def guard(change: Callable[..., Any]) -> Callable[..., Any]:
        def guarded(*given: Any, **named: Any) -> Any:
            done[0] += 1
            if done[0] > step:
                raise CrashError
            return change(*given, **named)

        return guarded

    with monkeypatch.context() as patch:
        for name in ("replace", "unlink", "mkdir", "rmdir"):
            patch.setattr(Path, name, guard(getattr(Path, name)))
        patch.setattr(os, "fsync", guard(os.fsync))
        with suppress(CrashError):
            yield done


def test_a_crash_at_any_step_of_compaction_loses_and_doubles_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tasks, methods = usual()
    records = list(many({TASK: tasks[TASK]}, methods))
    expected = sorted(records, key=lambda record: record.job)
    prepared = make_archive(tmp_path / "prepared", records[:4])
    prepared.compact()
    for record in records[4:]:
        prepared.add(record)
    step, steps = 0, 1
    while step < steps:
        archive = Archive.open(shutil.copytree(tmp_path / "prepared", tmp_path / str(step)))
        with crash_at(step, monkeypatch) as done:
            archive.compact()
        assert step > 0 or done[0] > 0
        steps = steps if done[0] <= step else step + 2
        after = Archive.open(tmp_path / str(step))
        assert after.done() == {record.digest for record in records}
        for one, other in zip(expected, after.load(answers=True).records, strict=True):
            assert_same(one, other)
        assert all("not in the manifest" in problem for problem in after.verify().problems)
        after.compact()
        assert after.verify().problems == ()
        assert len(pd.read_parquet(tmp_path / str(step) / "losses")) == 5 * len(records)
        step += 1
    assert steps > 20


def test_nothing_gets_its_name_before_it_is_on_the_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nor does the manifest come before the folders know the names that it lists."""
    archive, synced, named = make_archive(tmp_path / "a"), set[int](), list[Path]()
    fsync, replaced = os.fsync, Path.replace

    def noted_fsync(handle: int) -> None:
        fsync(handle)
        synced.add(os.fstat(handle).st_ino)

    def noted_replace(path: Path, target: Path) -> Path:
        assert path.stat().st_ino in synced
        if Path(target).name == "manifest.json":
            within = {above for one in named for above in one.relative_to(archive.root).parents}
            assert {(archive.root / one).stat().st_ino for one in within} <= synced
        named.append(Path(target))
        return replaced(path, target)

    monkeypatch.setattr(os, "fsync", noted_fsync)
    monkeypatch.setattr(Path, "replace", noted_replace)
    archive.compact()
    assert len([path for path in named if path.suffix == ".parquet"]) == 10
    assert named[-1].name == "manifest.json"


def test_a_crash_at_any_step_of_adding_loses_at_most_that_record(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = list(many(*usual()))[:2]
    for step in range(5):
        archive = make_archive(tmp_path / str(step), [first])
        is_in = False
        with crash_at(step, monkeypatch):
            archive.add(second)
            is_in = True
        after = Archive.open(tmp_path / str(step))
        assert {first.digest} <= after.done() <= {first.digest, second.digest}
        assert not is_in or second.digest in after.done()
        assert after.verify().ok
        assert len(after.load().records) == len(after.done())


SCRIPT = """
import sys
from pathlib import Path
from redelve.store import Archive
from tests.store.made import many, usual
archive, size = Archive.open(Path(sys.argv[1])), int(sys.argv[2])
records = list(many(*usual(), runs=40))
commits = archive.commits()
print("ready", flush=True)
for start in range(0, len(records), size):
    for record in records[start : start + size]:
        archive.add(record, commits if size > 1 else None)
    commits.flush()
    print(*(record.digest for record in records[start : start + size]), flush=True)
    if start % 9 == 8:
        archive.compact()
"""


@pytest.mark.skipif(sys.platform == "win32", reason="there is no kill -9")
@pytest.mark.parametrize(
    ("seed", "size"),
    [(0, 1), pytest.param(1, 1, marks=pytest.mark.slow), (2, 4), pytest.param(3, 4, marks=pytest.mark.slow)],
)
def test_kill_9_loses_at_most_what_is_under_way(tmp_path: Path, seed: int, size: int) -> None:
    make_archive(tmp_path / "a", [])
    command = [sys.executable, "-c", SCRIPT, str(tmp_path / "a"), str(size)]
    project = Path(__file__).parents[2]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=project) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        time.sleep(random.Random(seed).uniform(0.05, 1.0))
        process.send_signal(signal.SIGKILL)
        told = set(process.stdout.read().split())
    told = {digest for digest in told if len(digest) == 32}
    archive = Archive.open(tmp_path / "a")
    held = archive.done()
    assert told <= held
    assert len(held - told) <= size
    assert {record.digest for record in archive.load().records} == held
    archive.compact()
    assert archive.verify().problems == ()
    assert archive.done() == held
    assert len(pd.read_parquet(tmp_path / "a" / "jobs") if held else ()) == len(held)


def test_a_sound_file_with_texts_for_losses_is_refused(tmp_path: Path) -> None:
    """Somebody else may have made the archive; found by mutated archives."""
    archive = make_archive(tmp_path / "a")
    path = next(one for one in sorted((tmp_path / "a" / "fresh").iterdir()) if ".done." in one.name)
    table = ipc.open_file(path).read_all()
    spot = next(number for number, name in enumerate(table.column_names) if name.startswith(LOSS))
    texts = pa.array(["much"] * len(table))
    table = table.set_column(spot, table.column_names[spot], texts)
    made = io.BytesIO()
    with ipc.new_file(made, table.schema) as writer:
        writer.write_table(table)
    seal(path, made.getvalue())
    with pytest.raises(FormatError, match=r"the record of .*: damaged, or not what it should be"):
        archive.compact()


def test_a_sound_file_without_a_column_that_it_tells_of_is_refused(tmp_path: Path) -> None:
    archive = make_archive(tmp_path / "a")
    fresh = sorted((tmp_path / "a" / "fresh").iterdir())
    for path in (one for one in fresh if ".done." in one.name):
        table = ipc.open_file(path).read_all().drop_columns(["normal.scale.age"])
        made = io.BytesIO()
        with ipc.new_file(made, table.schema) as writer:
            writer.write_table(table)
        seal(path, made.getvalue())
    with pytest.raises(FormatError, match=r"the record of .*damaged"):
        archive.compact()


def test_files_of_losses_have_columns_of_the_losses_that_redelve_computes_unless_told() -> None:
    """They are part of the format: what other packages register must not change the files."""
    assert tuple(loss.code for loss in usual_losses() if loss.is_builtin) == USUAL_LOSSES
