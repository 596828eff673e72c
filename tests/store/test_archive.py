"""Opening, adding and loading; versions side by side; errors that tell the way out."""

from __future__ import annotations

import copy
import json
import pickle
import subprocess
import sys
import zipfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from redelve.errors import FormatError, LocationError, PredictionError, SpecError
from redelve.run.results import Costs
from redelve.store import Archive, layout
from redelve.store.layout import MARKER, read_document, write_document
from redelve.store.record_rows import RecordTable
from tests.store.made import (
    TASK,
    assert_same,
    failed,
    make_archive,
    make_method,
    make_record,
    make_task,
    many,
    usual,
)


def test_records_come_back_fresh_and_compacted(tmp_path: Path) -> None:
    records = sorted(many(*usual(), runs=2), key=lambda record: record.job)
    archive = make_archive(tmp_path / "a", records)
    for _ in range(2):
        results = Archive.open(tmp_path / "a").load()
        assert len(results.records) == len(records)
        for one, other in zip(records, results.records, strict=True):
            assert_same(one, other)
            assert other.answer is None
        archive.compact()


def test_done_tells_the_digests_held(tmp_path: Path) -> None:
    tasks, methods = usual()
    first, second, third = list(many(tasks, methods))[:3]
    archive = make_archive(tmp_path / "a", [first, failed(second)])
    for _ in range(2):
        assert archive.done() == {first.digest, second.digest}
        assert archive.done(retry_failed=True) == {first.digest}
        archive.compact()
    archive.add(third)
    assert archive.done() == {first.digest, second.digest, third.digest}


def test_a_retried_job_replaces_its_failure(tmp_path: Path) -> None:
    record = next(many(*usual()))
    archive = make_archive(tmp_path / "a", [failed(record)])
    archive.compact()
    archive.add(failed(record, message="again", started="2027"))
    assert archive.load().records[0].message == "again"
    archive.add(record)
    for _ in range(2):
        (back,) = archive.load().records
        assert_same(record, back)
        archive.compact()
    assert archive.verify().ok


def test_losses_are_slices_without_a_copy(tmp_path: Path) -> None:
    archive = make_archive(tmp_path / "a")
    archive.compact()
    first, second = archive.load().of("lin", TASK)[:2]
    one, other = first.losses["S"], second.losses["S"]
    assert not one.flags.owndata
    assert not one.flags.writeable
    assert other.ctypes.data - one.ctypes.data == one.nbytes
    assert list(first.losses) == ["A", "C", "L", "S"]
    assert "Q" not in first.losses
    assert first.has_losses
    assert "S" in repr(first.losses)


@pytest.mark.parametrize("is_compacted", [False, True])
def test_losses_are_there_when_results_are_loaded_all_or_those_chosen(
    tmp_path: Path, is_compacted: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    archive = make_archive(tmp_path / "a")
    if is_compacted:
        archive.compact()
    every, some = archive.load(), archive.load(losses=["S", "Q"])
    monkeypatch.setattr(RecordTable, "column", None)
    for one, other in zip(every.records, some.records, strict=True):
        assert list(other.losses) == ["S"]
        assert np.array_equal(one.losses["S"], other.losses["S"])
        assert all(len(losses) for losses in one.losses.values())


def test_results_can_be_sent_to_other_processes(tmp_path: Path) -> None:
    archive = make_archive(tmp_path / "a")
    archive.compact()
    results = archive.load()
    for copied in (pickle.loads(pickle.dumps(results)), copy.deepcopy(results)):
        for one, other in zip(results.records, copied.records, strict=True):
            assert_same(one, other)


def test_results_stay_readable_while_the_archive_is_compacted(tmp_path: Path) -> None:
    records = list(many(*usual()))
    archive = make_archive(tmp_path / "a", records[:4])
    archive.compact()
    before = archive.load()
    for record in records[4:]:
        archive.add(record)
    archive.compact()
    expected = {record.digest: record for record in records}
    for record in before.records:
        assert_same(expected[record.digest], record)


def test_some_methods_and_tasks_can_be_chosen(tmp_path: Path) -> None:
    archive = make_archive(tmp_path / "a")
    results = archive.load(methods=["knn"], tasks=[TASK])
    assert list(results.methods) == ["knn"]
    assert list(results.tasks) == [TASK]
    assert {record.job.method for record in results.records} == {"knn"}
    with pytest.raises(LocationError, match=r'no method "svm" in the archive: there are knn, lin'):
        archive.load(methods=["svm"])
    one = archive.load(methods="knn", tasks=TASK)
    assert len(one.records) == len(results.records)


def test_records_can_be_chosen_by_digest(tmp_path: Path) -> None:
    record = next(many(*usual()))
    archive = make_archive(tmp_path / "a")
    assert [one.digest for one in archive.load(digests={record.digest}).records] == [record.digest]


def test_versions_of_a_method_lie_side_by_side(tmp_path: Path) -> None:
    task, old, new = make_task(), make_method("knn", k=1), make_method("knn", k=5)
    archive = Archive.open(tmp_path / "a", create=True)
    for method in (old, new):
        archive.register({TASK: task}, {"knn": method})
        for instance in range(3):
            archive.add(make_record(task, method, instance))
    archive.compact()
    assert archive.load().method("knn").digest == new.digest, "the one registered last"
    other = Archive.open(tmp_path / "a")
    told = (
        r"2 versions, with different settings or code: choose by methods=… \(redelve report -m\) knn@\w{8} "
        r"\(results of [\d-]+\) or knn@"
    )
    with pytest.raises(LocationError, match=told):
        other.load()
    results = other.load(methods=[f"knn@{old.digest[:6]}"])
    assert results.method("knn").identity == old.identity
    assert len(results.of("knn", TASK)) == 3
    wanted = {make_record(task, old, instance).digest for instance in range(3)}
    assert other.load(digests=wanted).method("knn").identity == old.identity
    assert other.verify().ok


def test_versions_of_a_task_lie_side_by_side(tmp_path: Path) -> None:
    method = make_method()
    old, new = make_task(data="old"), make_task(data="new", cases=7)
    archive = Archive.open(tmp_path / "a", create=True)
    for task in (old, new):
        archive.register({TASK: task}, {"lin": method})
        archive.add(make_record(task, method))
    archive.compact()
    assert len(archive.load().records[0].losses["S"]) == 7
    results = Archive.open(tmp_path / "a").load(tasks=[f"{TASK}@{old.digest[:8]}"])
    assert len(results.records[0].losses["S"]) == 5
    assert results.task(TASK).data_digest == old.data_digest


def test_the_same_digest_with_other_data_is_refused(tmp_path: Path) -> None:
    archive = make_archive(tmp_path / "a", [])
    task = replace(make_task(), data_digest="something else")
    with pytest.raises(SpecError, match=r"with other data_digest .* keep these results in another archive"):
        archive.register({TASK: task}, {})


def test_the_last_of_several_records_of_a_job_is_taken(tmp_path: Path) -> None:
    record = next(many(*usual()))
    later = replace(record, digest="other-threads", started="2026-02-02")
    archive = make_archive(tmp_path / "a", [record, later])
    archive.compact()
    assert [one.digest for one in archive.load().records] == ["other-threads"]
    assert archive.done() == {record.digest, "other-threads"}
    assert [one.digest for one in archive.load(digests={record.digest}).records] == [record.digest]


def test_adding_without_registering_works_where_there_is_one_version(tmp_path: Path) -> None:
    make_archive(tmp_path / "a", [])
    record = next(many(*usual()))
    Archive.open(tmp_path / "a").add(record)
    assert Archive.open(tmp_path / "a").done() == {record.digest}
    empty = Archive.open(tmp_path / "b", create=True)
    with pytest.raises(SpecError, match="not described in the archive: register"):
        empty.add(record)


def test_threads_and_archives_may_add_at_once(tmp_path: Path) -> None:
    records = list(many(*usual(), runs=3))
    make_archive(tmp_path / "a", [])

    def add(part: int) -> None:
        archive = Archive.open(tmp_path / "a")
        for number, record in enumerate(records[part::4]):
            archive.add(record)
            if number % 3 == 0:
                archive.compact()

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(add, range(4)))
    archive = Archive.open(tmp_path / "a")
    assert archive.done() == {record.digest for record in records}
    archive.compact()
    assert archive.verify().problems == ()
    assert len(archive.load().records) == len(records)


def test_bad_records_are_refused_when_they_are_added(tmp_path: Path) -> None:
    archive = make_archive(tmp_path / "a", [])
    record = next(many(*usual()))
    with pytest.raises(SpecError, match="the task has instances 0 to 2"):
        archive.add(replace(record, job=replace(record.job, instance=9)))
    with pytest.raises(PredictionError, match="has 5 test cases, but there are 2 losses or answers"):
        archive.add(replace(record, answer=None, losses={"S": np.zeros(2)}))
    with pytest.raises(FormatError, match=r'"\.\./x" is no digest'):
        archive.add(replace(record, digest="../x"))
    with pytest.raises(SpecError, match="more than 64 bits"):
        archive.add(replace(record, seed=-1))
    assert archive.done() == frozenset()


def test_odd_messages_and_costs_are_kept_as_well_as_can_be(tmp_path: Path) -> None:
    record = next(many(*usual()))
    costs = Costs(np.float64(1.5), float("inf"), None, np.int64(7))  # type: ignore[arg-type]
    archive = make_archive(tmp_path / "a", [replace(record, message="file \udc80 and \0", costs=costs)])
    archive.compact()
    (back,) = archive.load().records
    assert back.message == "file ? and \0"
    assert back.costs == Costs(1.5, None, None, 7)


def test_opening_what_is_no_archive(tmp_path: Path) -> None:
    with pytest.raises(LocationError, match="no such archive"):
        Archive.open(tmp_path / "nothing")
    with pytest.raises(LocationError, match=r"not an archive, it has no file redelve-archive\.json"):
        Archive.open(tmp_path)
    (tmp_path / "letter.txt").write_text("Dear")
    with pytest.raises(LocationError, match="no empty folder: choose another path"):
        Archive.open(tmp_path, create=True)
    with pytest.raises(FormatError, match="neither a folder nor a sound zip file"):
        Archive.open(tmp_path / "letter.txt")


def test_a_zip_file_whose_beginning_is_lost_is_refused_in_words(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as packed:
        for number in range(3):
            packed.writestr(f"archive/{number}.json", "{}" * 50)
    (tmp_path / "a.zip").write_bytes((tmp_path / "a.zip").read_bytes()[20:])
    with pytest.raises(FormatError, match="neither a folder nor a sound zip file: invalid argument"):
        Archive.open(tmp_path / "a.zip")


def test_creating_twice_is_opening(tmp_path: Path) -> None:
    make_archive(tmp_path / "a")
    assert len(Archive.open(tmp_path / "a", create=True).load().records) == 12


@pytest.mark.parametrize(
    ("version", "message"), [(2, "newer than 1, .* upgrade redelve"), (0, "no format version 0")]
)
def test_other_format_versions_are_refused_by_name(tmp_path: Path, version: int, message: str) -> None:
    make_archive(tmp_path / "a")
    write_document(tmp_path / "a" / MARKER, {"format": "redelve archive", "version": version})
    with pytest.raises(FormatError, match=message):
        Archive.open(tmp_path / "a")


def test_documents_are_plain_json_with_a_checksum(tmp_path: Path) -> None:
    make_archive(tmp_path / "a")
    path = next((tmp_path / "a" / "methods").glob("lin/*.json"))
    content = json.loads(path.read_text())
    assert content["identity"] == {"kind": "lin"}
    content["summary"] = "better than it is"
    path.write_text(json.dumps(content))
    with pytest.raises(FormatError, match="the checksum does not agree"):
        read_document(path)


def test_there_is_no_pickle_in_an_archive(tmp_path: Path) -> None:
    archive = make_archive(tmp_path / "a")
    archive.compact()
    kinds = {path.suffix for path in (tmp_path / "a").rglob("*") if path.is_file()}
    assert kinds == {".parquet", ".json", ""}  # "" is the lock


def test_a_path_with_a_nul_is_no_path(tmp_path: Path) -> None:
    with pytest.raises(LocationError, match="it holds a NUL character"):
        Archive.open(tmp_path / "a\0b", create=True)


def test_who_comes_second_while_an_archive_is_made_uses_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first one makes it and goes on, between the second one's look for it and its own making."""
    root, made = tmp_path / "a", layout.create

    def late(place: Path, made_by: str) -> None:
        made(place, "the first")
        (place / "methods").mkdir()
        made(place, made_by)

    monkeypatch.setattr(layout, "create", late)
    assert Archive.open(root, create=True).verify().ok
    assert read_document(root / MARKER)["created by"] == "the first"


TRIES = """
from redelve.cli.main import main
for data in ("d\\udcff.csv", "d\\udcff.parquet"):
    out = f"out-{data}"
    assert main(["assess", data, "-t", "y", "-m", "constant", "-o", out, "-q"]) == 0
    assert main(["archive", "compact", out]) == 0
    assert main(["archive", "verify", out]) == 0
    assert main(["report", out]) == 0
"""


@pytest.mark.skipif(sys.platform != "linux", reason="names of files are UTF-8 elsewhere")
def test_a_name_that_is_no_utf8_may_be_that_of_files_and_archives(tmp_path: Path) -> None:
    frame = pd.DataFrame({"a": range(40), "y": [k % 7 + 0.5 for k in range(40)]})
    frame.to_csv(tmp_path / "d\udcff.csv", index=False)
    frame.to_parquet(tmp_path / "d.parquet")
    (tmp_path / "d.parquet").rename(tmp_path / "d\udcff.parquet")
    done = subprocess.run([sys.executable, "-c", TRIES], cwd=tmp_path, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
