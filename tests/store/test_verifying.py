"""Damage is found and told in plain words; archives made to do harm do none."""

from __future__ import annotations

import contextlib
import re
import shutil
import zipfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow import ipc

from redelve.answers.answer import Answer
from redelve.answers.predictions import Guesses
from redelve.data.files import file_digest
from redelve.errors import FormatError, RedelveError
from redelve.store import Archive
from redelve.store.fresh_records import fresh_files
from redelve.store.layout import read_document, write_document
from tests.store.made import half_compacted, listing, make_method, make_record, make_task, many, usual


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return half_compacted(tmp_path_factory.mktemp("sound") / "a")


@pytest.fixture
def root(sound: Path, tmp_path: Path) -> Path:
    return shutil.copytree(sound, tmp_path / "a")


def one(root: Path, pattern: str) -> Path:
    return sorted(root.glob(pattern))[0]


def problems(root: Path) -> str:
    report = Archive(root).verify()
    assert bool(report.problems) != report.ok
    return "\n".join(report.problems)


def test_a_sound_archive_has_no_problems(root: Path) -> None:
    report = Archive.open(root).verify()
    assert (report.records, report.problems, report.notes) == (12, (), ())
    assert str(report) == f"12 records in {len(listing(root))} files: no problems"


def test_any_changed_byte_is_found(root: Path) -> None:
    for path in sorted(root.rglob("*")):
        if path.is_file() and path.name != "lock":
            data = path.read_bytes()
            for position in (0, len(data) // 2, len(data) - 2):
                changed = bytearray(data)
                changed[position] ^= 0x20 if path.suffix == ".json" else 0xFF
                path.write_bytes(bytes(changed))
                assert problems(root), f"{path}, byte {position}"
            path.write_bytes(data)
    assert not problems(root)


def test_a_missing_file_is_found(root: Path) -> None:
    for pattern in (
        "losses/**/*.parquet",
        "jobs/*",
        "tasks/*/*",
        "truths/*/*",
        "methods/*/*",
        "environments/*",
    ):
        path = one(root, pattern)
        data = path.read_bytes()
        path.unlink()
        assert problems(root), pattern
        path.write_bytes(data)


def test_what_does_not_belong_there_is_found(root: Path) -> None:
    (root / "fresh" / "thoughts.txt").write_text("hm")
    (root / "losses" / ".x.tmp").write_text("half")
    spare = one(root, "losses/**/*.parquet")
    shutil.copy(spare, spare.with_name("0123456789abcdef.parquet"))
    report = Archive(root).verify()
    told = "\n".join(report.problems)
    assert "fresh/thoughts.txt: no file of an archive" in told
    assert "left by an interrupted compaction" in told
    assert "losses/.x.tmp: half-written" in report.notes[0]
    Archive(root).compact()
    assert "interrupted" not in problems(root)
    assert (root / "losses" / ".x.tmp").exists(), "somebody may be writing it"


def rewritten(root: Path, path: Path, change: Callable[[pa.Table], pa.Table]) -> None:
    """Change a compacted file and make all checksums fit."""
    pq.write_table(change(pq.read_table(path, partitioning=None)), path)
    name = path.relative_to(root).as_posix()
    content = read_document(root / "manifest.json")
    content["files"][name] = {"sha256": file_digest(path), "bytes": path.stat().st_size}
    write_document(root / "manifest.json", content)


def with_column(name: str, change: Callable[[Any], Any]) -> Callable[[pa.Table], pa.Table]:
    def changed(table: pa.Table) -> pa.Table:
        values = [change(value) for value in table.column(name).to_pylist()]
        position = table.schema.names.index(name)
        return table.set_column(position, name, pa.array(values, table.schema.field(name).type))

    return changed


@pytest.mark.parametrize(
    ("pattern", "change", "message"),
    [
        ("losses/**/*.parquet", with_column("loss.S", lambda x: x / 2), "losses S do not follow from"),
        ("losses/**/*.parquet", with_column("loss.S", lambda _: None), "a loss S is missing"),
        ("losses/**/*.parquet", with_column("case", lambda x: x + 1), 'column "case" does not fit'),
        ("losses/**/*.parquet", lambda table: table.drop_columns(["loss.S"]), 'no column "loss.S"'),
        ("losses/**/*.parquet", lambda table: table.slice(0, 5), "expected 10 rows but got 5"),
        (
            "answers/**/*.parquet",
            with_column("normal.location.age", lambda x: x + 1),
            "changed since it was made",
        ),
        ("answers/**/*.parquet", with_column("normal.scale.age", lambda x: -x), "scale must be positive"),
        ("jobs/*.parquet", with_column("status", lambda _: "splendid"), 'unknown status "splendid"'),
        ("jobs/*.parquet", with_column("cases", lambda _: 2**62), "far too large"),
        ("jobs/*.parquet", with_column("digest", lambda x: "../" + x), "no digest|do not tell of the same"),
        ("jobs/*.parquet", with_column("task_digest", lambda _: "f" * 32), "no such file|is not described"),
        ("jobs/*.parquet", lambda table: table.drop_columns(["seed"]), "expected the columns digest, method"),
        (
            "circumstances/*.parquet",
            with_column("environment", lambda _: "../../etc/passwd"),
            "no digest of an environment",
        ),
    ],
)
def test_changes_with_right_checksums_are_found(
    root: Path, pattern: str, change: Callable[[pa.Table], pa.Table], message: str
) -> None:
    paths = sorted(root.glob(pattern))
    path = next((path for path in paths if pq.read_metadata(path).num_rows == 10), paths[0])
    rewritten(root, path, change)
    assert re.search(message, problems(root)), problems(root)
    with contextlib.suppress(RedelveError):  # no other error
        for record in Archive(root).load(answers=True).records:
            assert all(len(losses) for losses in record.losses.values())


@pytest.mark.parametrize("is_compacted", [False, True])
def test_losses_that_now_count_as_infinite_do_so_in_archives_of_before(
    tmp_path: Path, is_compacted: bool
) -> None:
    """Found by mutated archives: 1e308 with a right checksum was a number, and NumPy warned of its sums."""
    task, method = make_task(), make_method()
    far = Answer(Guesses(task.targets, (np.full(5, 1e100),)))
    record = make_record(task, method, answer=far, codes=["A", "S"])
    of_before = replace(record, losses={"A": np.full(5, 1e100), "S": np.full(5, 1e200)})
    archive = Archive.open(tmp_path / "a", create=True)
    archive.register({task.address: task}, {method.name: method})
    archive.add(of_before)
    if is_compacted:
        archive.compact()
    (found,) = archive.load().records
    assert all(np.isposinf(losses).all() for losses in found.losses.values())
    assert not problems(tmp_path / "a")


def test_a_missing_loss_of_a_fresh_record_is_no_number(root: Path) -> None:
    fresh = fresh_files(root / "fresh")[0]
    table = with_column("loss.S", lambda _: None)(fresh.table())
    with ipc.new_file(made := root / "made", table.schema) as out:
        out.write_table(table)
    made.rename(fresh.path.with_name(fresh.path.name.replace(fresh.checksum, file_digest(made))))
    fresh.path.unlink()
    with pytest.raises(FormatError, match=r"the record of .*: a loss S is missing where there should be one"):
        Archive.open(root).load()


def changed_instances(change: Callable[[list[Any]], object]) -> Callable[[dict[str, Any]], object]:
    return lambda content: change(content["instances"])


def with_count(count: int) -> Callable[[dict[str, Any]], object]:
    return changed_instances(lambda each: each[1].update(cases=count))


def with_codes(*codes: object) -> Callable[[dict[str, Any]], object]:
    told = {"colour": {"values": ["red", "blue"], "cases": [list(codes)] * 3}}
    return lambda content: content.update(columns=told)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        *(
            (with_count(count), 'expected "cases".*15')
            for count in (1 << 70, -(1 << 70), 1 << 63, (1 << 63) - 1, 10**9, -1, 0)
        ),
        (changed_instances(list.clear), 'there are no "instances"'),
        (changed_instances(list.pop), 'expected "cases" of the instances to make 15'),
        *(
            (with_codes(0, 1, 0, 1, code), 'column "colour" does not fit')
            for code in (2, -1, 1 << 70, 0.5, True, None, "x", [0])
        ),
        (with_codes(0, 1, 0, 1), 'column "colour" does not fit'),
    ],
)
def test_changed_descriptions_of_tasks_are_refused(
    root: Path, change: Callable[[dict[str, Any]], object], message: str
) -> None:
    """Found by mutated archives: a count of 2**70 ended in NumPy's TypeError, one of 10**9 took gigabytes."""
    path = one(root, "tasks/*/*.json")
    content = read_document(path)
    change(content)
    write_document(path, content)
    with pytest.raises(FormatError, match=message):
        Archive.open(root).load()


def test_paths_that_lead_out_of_the_archive_are_refused(root: Path, tmp_path: Path) -> None:
    victim = tmp_path / "victim.parquet"
    victim.write_text("precious")
    content = read_document(root / "manifest.json")
    for name in ("../victim.parquet", "losses/../../victim.parquet", "/etc/passwd"):
        write_document(
            root / "manifest.json", {"files": {**content["files"], name: {"sha256": "", "bytes": 1}}}
        )
        with pytest.raises(FormatError, match="is no file of an archive"):
            Archive.open(root).compact()
        with pytest.raises(FormatError, match="is no file of an archive"):
            Archive.open(root).load()
    assert victim.read_text() == "precious"


@pytest.mark.parametrize("kind", ["jobs", "circumstances"])
def test_a_list_of_files_that_lacks_one_is_refused(root: Path, kind: str) -> None:
    files = read_document(root / "manifest.json")["files"]
    lost = next(name for name in files if name.startswith(f"{kind}/"))
    kept = {name: about for name, about in files.items() if name != lost}
    write_document(root / "manifest.json", {"files": kept})
    told = r"it lists \d+ files of jobs and \d+ of circumstances.*take it from a copy of the archive"
    with pytest.raises(FormatError, match=told):
        Archive.open(root).load()
    with pytest.raises(FormatError, match=told):
        Archive.open(root).compact()
    assert re.search(told, problems(root))


def test_names_of_methods_and_tasks_cannot_lead_out(tmp_path: Path) -> None:
    tasks, _ = usual()
    record = next(many(*usual()))
    task = next(iter(tasks.values()))
    for number, name in enumerate(("..", "../../evil", "/etc", "a\\b", "con", "x" * 100)):
        archive = Archive.open(tmp_path / "inner" / "a", create=True)
        method = replace(usual()[1]["lin"], name=name)
        archive.register(tasks, {name: method})
        archive.add(replace(record, job=replace(record.job, method=name), digest=f"d{number}"))
        archive.compact()
        assert archive.load(methods=[name]).of(name, task.address)
    assert sorted(path.name for path in (tmp_path).iterdir()) == ["inner"]
    assert archive.verify().ok
    with pytest.raises(RedelveError, match="is no name for an archive"):
        archive.register({}, {"": replace(usual()[1]["lin"], name="")})


@pytest.mark.parametrize("name", ["../evil", "/evil", "a/../../evil", "C:evil", "a\\..\\evil"])
def test_zip_files_cannot_write_elsewhere(root: Path, tmp_path: Path, name: str) -> None:
    path = tmp_path / "bad.zip"
    with zipfile.ZipFile(path, "w") as file:
        for each, data in listing(root).items():
            file.writestr(each, data)
        file.writestr(name, "evil")
    with pytest.raises(FormatError, match="leads out of the archive: do not trust it"):
        Archive.open(path)


def test_zip_bombs_and_links_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "bomb.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("redelve-archive.json", b"0" * (1 << 27))
    with pytest.raises(FormatError, match="unzip it by hand if you trust it"):
        Archive.open(path)
    link = zipfile.ZipInfo("redelve-archive.json")
    link.external_attr = 0o120777 << 16
    with zipfile.ZipFile(path, "w") as file:
        file.writestr(link, "/etc/passwd")
    with pytest.raises(FormatError, match="do not trust it"):
        Archive.open(path)


def test_files_of_another_kind_are_told(root: Path) -> None:
    for text in ("", "[]", "{", "[" * 100_000, '{"version": 1}'):
        (root / "redelve-archive.json").write_text(text)
        with pytest.raises(FormatError):
            Archive.open(root)


def test_a_fresh_file_under_a_wrong_name_is_found(root: Path) -> None:
    path = one(root, "fresh/*")
    digest, rest = path.name.split(".", 1)
    path.rename(path.with_name(f"{digest[::-1]}.{rest}"))
    assert "the name does not fit the record" in problems(root)
