"""Records that come fast are put on the disk together; what was flushed is there, whatever happens then."""

from __future__ import annotations

import os
import stat
import threading
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from redelve.errors import FormatError, LocationError
from redelve.run.results import Record
from redelve.store import Archive, fresh_records
from redelve.store.fresh_records import fresh_files
from redelve.store.layout import FRESH
from tests.store.made import assert_same, assert_same_answer, failed, listing, make_archive, many, usual


def together(path: Path, records: list[Record]) -> Archive:
    archive = make_archive(path, [])
    with closing(archive.commits()) as commits:
        for record in records:
            archive.add(record, commits)
    return archive


def in_one_commit(path: Path, records: list[Record]) -> Archive:
    """However fast the disk is."""
    archive = make_archive(path, [])
    fresh_records.write_together(path / FRESH, [archive._prepared(record) for record in records])
    return archive


def test_records_kept_together_come_back_fresh_and_compacted(tmp_path: Path) -> None:
    records = sorted(many(*usual(), runs=2), key=lambda record: record.job)
    archive = in_one_commit(tmp_path / "a", records)
    assert len(fresh_files(tmp_path / "a" / FRESH)) == 1
    for _ in range(2):
        found = Archive.open(tmp_path / "a").load(answers=True).records
        for one, other in zip(records, found, strict=True):
            assert_same(one, other)
            assert_same_answer(one.answer, other.answer)
        assert archive.done() == {record.digest for record in records}
        assert archive.verify().ok
        archive.compact()


def test_compacted_archives_are_the_same_however_records_came(tmp_path: Path) -> None:
    records = list(many(*usual(), runs=2))
    archives = [
        make_archive(tmp_path / "one by one", records),
        together(tmp_path / "together", records),
        in_one_commit(tmp_path / "in one", records[::-1]),
    ]
    for archive in archives:
        archive.compact()
    first, *others = (listing(archive.root) for archive in archives)
    assert all(other == first for other in others)


def test_failed_jobs_and_other_columns_have_files_of_their_own(tmp_path: Path) -> None:
    first, second, third, fourth = list(many(*usual()))[:4]
    bare = replace(fourth, answer=None)
    archive = in_one_commit(tmp_path / "a", [first, failed(second), third, bare])
    assert len(fresh_files(tmp_path / "a" / FRESH)) == 3
    assert archive.done(retry_failed=True) == {first.digest, third.digest, fourth.digest}
    assert archive.done() == {one.digest for one in (first, second, third, fourth)}
    assert {one.status for one in archive.load().records} == {"done", "failed"}


def test_large_records_are_not_put_into_one_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fresh_records, "MOST_TOGETHER", 5000)
    records = list(many(*usual()))
    archive = in_one_commit(tmp_path / "a", records)
    assert 2 <= len(fresh_files(tmp_path / "a" / FRESH)) < len(records)
    assert len(archive.load().records) == len(records)


def test_what_was_flushed_is_on_the_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file's contents are synchronised before it gets its name, and the folder after."""
    steps: list[str] = []
    fsync, replaced = os.fsync, Path.replace

    def noted_fsync(handle: int) -> None:
        fsync(handle)
        steps.append("folder" if stat.S_ISDIR(os.fstat(handle).st_mode) else "file")

    def noted_replace(path: Path, target: Path) -> Path:
        steps.append("name")
        return replaced(path, target)

    archive = make_archive(tmp_path / "a", [])
    monkeypatch.setattr(os, "fsync", noted_fsync)
    monkeypatch.setattr(Path, "replace", noted_replace)
    with closing(archive.commits()) as commits:
        for record in list(many(*usual()))[:3]:
            archive.add(record, commits)
            commits.flush()
            assert steps == ["file", "name", "folder"]
            assert record.digest in archive.done()
            steps.clear()


def test_arrays_that_are_used_again_do_no_harm(tmp_path: Path) -> None:
    record = next(many(*usual()))
    losses = {code: np.array(values) for code, values in record.losses.items()}
    archive = make_archive(tmp_path / "a", [])
    with closing(archive.commits()) as commits:
        archive.add(replace(record, losses=losses), commits)
        for values in losses.values():
            values[:] = -1.0
    assert_same(archive.load().records[0], record)


def test_what_goes_wrong_is_raised_and_nothing_hangs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise LocationError("no space left")

    archive, (first, second, *_) = make_archive(tmp_path / "a", []), many(*usual())
    monkeypatch.setattr(fresh_records, "write_together", full)
    commits = archive.commits()
    archive.add(first, commits)
    for use in (commits.flush, lambda: archive.add(second, commits), commits.close):
        with pytest.raises(LocationError, match="no space left"):
            use()
    assert archive.done() == frozenset()


def test_whoever_is_faster_than_the_disk_waits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fresh_records, "MOST_WAITING", 1)
    may_write, sizes, write = threading.Event(), list[int](), fresh_records.write_together

    def slowly(folder: Path, records: list[object]) -> None:
        sizes.append(len(records))
        may_write.wait()
        write(folder, records)  # type: ignore[arg-type]

    monkeypatch.setattr(fresh_records, "write_together", slowly)
    archive, records = make_archive(tmp_path / "a", []), list(many(*usual()))
    threading.Timer(0.05, may_write.set).start()
    with closing(archive.commits()) as commits:
        for record in records:
            archive.add(record, commits)
    assert max(sizes) == 1
    assert archive.done() == {record.digest for record in records}


def test_a_file_of_several_that_tells_something_else_is_refused(tmp_path: Path) -> None:
    archive = in_one_commit(tmp_path / "a", list(many(*usual())))
    (file,) = fresh_files(tmp_path / "a" / FRESH)
    for name in (file.path.name.replace("several", "done"), "0" * 32 + file.path.name[32:]):
        file.path.rename(other := file.path.with_name(name))
        with pytest.raises(FormatError):
            archive.load()
        assert not archive.verify().ok
        other.rename(file.path)
    assert archive.verify().ok
