"""Merging archives: every record once, conflicts told and kept, nothing lost."""

from __future__ import annotations

import re
import zipfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from redelve.answers.answer import Answer
from redelve.answers.predictions import Guesses
from redelve.errors import LocationError
from redelve.store import Archive
from tests.conftest import RunCommand
from tests.store.made import (
    AGE,
    TASK,
    assert_same,
    failed,
    listing,
    make_archive,
    make_method,
    make_record,
    make_task,
    many,
    usual,
)


@pytest.mark.parametrize("compacted", [True, False])
def test_merged_archives_hold_every_record_once(tmp_path: Path, compacted: bool) -> None:
    records = sorted(many(*usual(), runs=2), key=lambda record: record.job)
    here = make_archive(tmp_path / "here", records[:15])
    there = make_archive(tmp_path / "there", records[10:])
    if compacted:
        here.compact()
        there.compact()
    before = listing(tmp_path / "there")
    report = here.merge(there)
    assert (report.added, report.known, report.conflicts) == (9, 5, ())
    for one, other in zip(records, here.load().records, strict=True):
        assert_same(one, other)
    assert here.verify().problems == ()
    assert listing(tmp_path / "there") == before
    assert str(here.merge(there)) == "0 records added, 14 known already"


def test_merging_in_any_order_gives_the_same_files(tmp_path: Path) -> None:
    records = list(many(*usual()))
    parts = [make_archive(tmp_path / str(part), records[part::3]) for part in range(3)]
    forward, backward = (Archive.open(tmp_path / name, create=True) for name in "fb")
    for part in parts:
        forward.merge(part)
    for part in reversed(parts):
        backward.merge(part)
    names = ("losses", "answers", "jobs", "truths", "methods", "tasks")
    first, second = (
        {name: data for name, data in listing(tmp_path / root).items() if name.startswith(names)}
        for root in "fb"
    )
    assert first == second


def test_a_conflict_is_told_and_both_sides_are_kept(tmp_path: Path) -> None:
    task, method = make_task(), make_method()
    record = make_record(task, method)
    other = replace(
        make_record(task, method, answer=Answer(Guesses((AGE,), (np.zeros(5),)))), digest=record.digest
    )
    here, there = make_archive(tmp_path / "here", [record]), make_archive(tmp_path / "there", [other])
    report = here.merge(there)
    assert report.conflicts == (f"/lin{TASK}, instance 0 ({record.digest})",)
    assert "conflict: /lin/demo/age/std.32, instance 0" in str(report)
    (kept,) = here.load().records
    assert_same(record, kept)
    assert len(list((tmp_path / "here" / "conflicts").iterdir())) == 1
    checked = here.verify()
    assert checked.ok
    assert checked.notes == ("conflicts: holds 1 records that contradict others of the same digest",)
    here.merge(there)
    assert len(list((tmp_path / "here" / "conflicts").iterdir())) == 1


def test_a_finished_job_takes_the_place_of_a_failed_one(tmp_path: Path) -> None:
    record = next(many(*usual()))
    here = make_archive(tmp_path / "here", [failed(record)])
    assert here.merge(make_archive(tmp_path / "there", [record])).conflicts == ()
    assert here.load().records[0].status == "done"
    there = make_archive(tmp_path / "late", [failed(record, started="2099")])
    assert here.merge(there).conflicts == ()
    assert here.load().records[0].status == "done"


def test_other_versions_are_taken_over_side_by_side(tmp_path: Path) -> None:
    archives = []
    for name, k in (("here", 1), ("there", 2)):
        archive = Archive.open(tmp_path / name, create=True)
        method = make_method("knn", k=k)
        archive.register({TASK: make_task()}, {"knn": method})
        archive.add(make_record(make_task(), method))
        archives.append(archive)
    archives[0].merge(archives[1])
    merged = Archive.open(tmp_path / "here")
    assert len(merged.done()) == 2
    assert merged.verify().ok
    with pytest.raises(LocationError, match="is there in 2 versions"):
        merged.load()


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        (
            {"data": "original"},
            " on different data (a changed table, say), which cannot be compared",
        ),
        ({"cases": 4}, ", of different designs"),
    ],
)
def test_results_on_other_data_are_kept_apart_and_never_analysed_together(
    tmp_path: Path, changed: dict[str, object], why: str, run_command: RunCommand
) -> None:
    tasks = [make_task(), make_task(**changed)]  # type: ignore[arg-type]
    for name, task in zip(("here", "there"), tasks, strict=True):
        archive = Archive.open(tmp_path / name, create=True)
        method = make_method(f"of-{name}")
        archive.register({TASK: task}, {method.name: method})
        for number in range(3):
            archive.add(make_record(task, method, number))
    told = run_command("archive", ["merge", "here", "there"], cwd=tmp_path).out
    names = [f"{TASK}@{task.digest[:8]}" for task in tasks]
    assert f"kept apart, as different tasks: {', '.join(sorted(names))}{why}" in told
    refused = run_command("report", ["here"], cwd=tmp_path)
    assert refused.code == 1
    assert f"is there in 2 versions{why}: choose" in refused.err
    assert all(name in refused.err for name in names)
    for name, own, other in zip(names, ("of-here", "of-there"), ("of-there", "of-here"), strict=True):
        shown = run_command("report", ["here", "-t", name], cwd=tmp_path)
        assert shown.code == 0, shown.err
        assert f"{own} " in shown.out
        assert f"{other} had" not in shown.out


def zipped(root: Path, path: Path, inside: str = "") -> Path:
    with zipfile.ZipFile(path, "w") as file:
        for name, data in listing(root).items():
            file.writestr(f"{inside}{name}", data)
    return path


@pytest.mark.parametrize("inside", ["", "results/"])
def test_a_zipped_archive_can_be_read_and_merged(tmp_path: Path, inside: str) -> None:
    records = list(many(*usual()))
    make_archive(tmp_path / "there", records).compact()
    path = zipped(tmp_path / "there", tmp_path / "there.zip", inside)
    archive = Archive.open(path)
    assert archive.verify().ok
    assert len(archive.load(answers=True).records) == len(records)
    here = make_archive(tmp_path / "here", records[:3])
    assert here.merge(archive).added == len(records) - 3
    for change in (lambda: archive.add(records[0]), archive.compact, lambda: archive.merge(here)):
        with pytest.raises(
            LocationError, match=f"^{re.escape(str(path))}: .*can only be read: unzip it first"
        ):
            change()
