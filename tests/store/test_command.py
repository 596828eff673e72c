"""`redelve archive` on the command line."""

from __future__ import annotations

from pathlib import Path

import pytest

from redelve.store import Archive
from tests.conftest import RunCommand
from tests.store.made import make_archive, make_method, make_record, make_task, many, usual

RECORDS = 12


@pytest.fixture
def here(tmp_path: Path) -> Path:
    make_archive(tmp_path / "here")
    return tmp_path / "here"


def test_verify_and_compact(here: Path, run_command: RunCommand) -> None:
    said = run_command("archive", ["verify", str(here)])
    assert (said.code, said.err) == (0, "")
    assert said.out.startswith("12 records in ")
    assert said.out.endswith("no problems\n")
    assert run_command("archive", ["compact", str(here)]).out == "12 records\n"
    next(here.rglob("losses/**/*.parquet")).write_bytes(b"nonsense")
    said = run_command("archive", ["verify", str(here)])
    assert said.code == 1
    assert "the checksum does not agree" in said.out


def test_merge(tmp_path: Path, run_command: RunCommand) -> None:
    records = list(many(*usual()))
    make_archive(tmp_path / "one", records[:5])
    make_archive(tmp_path / "two", records[3:])
    said = run_command("archive", ["merge", "all", "one", "two"], cwd=tmp_path)
    assert (said.code, said.err) == (0, "")
    assert said.out == "one: 5 records added, 0 known already\ntwo: 7 records added, 2 known already\n"
    assert len(Archive.open(tmp_path / "all").done()) == RECORDS


def test_what_was_merged_is_told_even_if_the_next_archive_is_refused(
    tmp_path: Path, run_command: RunCommand
) -> None:
    make_archive(tmp_path / "one")
    said = run_command("archive", ["merge", "all", "one", "two"], cwd=tmp_path)
    assert said.code == 1
    assert said.out == "one: 12 records added, 0 known already\n"
    assert "two: no such archive" in said.err
    assert len(Archive.open(tmp_path / "all").done()) == RECORDS


def test_rescore(tmp_path: Path, run_command: RunCommand) -> None:
    task, method = make_task(), make_method()
    make_archive(tmp_path / "a", [make_record(task, method, n, codes=["S"]) for n in range(3)])
    said = run_command("archive", ["rescore", str(tmp_path / "a"), "-l", "CA"])
    assert said.code == 1
    said = run_command("archive", ["rescore", str(tmp_path / "a"), "-l", "C,A"])
    assert (said.out, said.code) == ("3 of 3 records have C A now\n", 0)


def test_export_and_import(tmp_path: Path, run_command: RunCommand) -> None:
    from redelve.data.delve.reading import Library
    from redelve.data.delve.roots import DataAddress, active
    from redelve.run.experiment import task_facts

    facts = task_facts(Library(active()).task(DataAddress.parse("/demo/age/std.32")).assignment())
    method = make_method()
    archive = Archive.open(tmp_path / "a", create=True)
    archive.register({facts.address: facts}, {"lin": method})
    for instance in range(len(facts.instances)):
        archive.add(make_record(facts, method, instance))
    said = run_command("archive", ["export", "a", "--delve", "delve-x"], cwd=tmp_path)
    assert (said.code, said.err) == (0, "")
    assert said.out.endswith("1 task directories written\n")
    said = run_command("archive", ["import", "b", "--delve=delve-x"], cwd=tmp_path)
    assert (said.out, said.err, said.code) == (f"{len(facts.instances)} records imported\n", "", 0)
    results = Archive.open(tmp_path / "b").load()
    assert results.task(facts.address).digest == facts.digest
    one, other = archive.load().records[0].losses["S"], results.records[0].losses["S"]
    assert one.tolist() == other.tolist()


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        (["verify"], "an argument is missing"),
        (["burn", "a"], 'unknown action "burn": choose verify, compact'),
        (["compact", "a", "b"], 'too many arguments: "b"'),
        (["merge", "here"], "merge needs the archives"),
        (["export", "here"], "need a delve directory: -d folder"),
        (["rescore", "here"], "rescore needs the losses"),
    ],
)
def test_wrong_calls(here: Path, argv: list[str], message: str, run_command: RunCommand) -> None:
    said = run_command("archive", argv, cwd=here.parent)
    assert said.code == 2
    assert message in said.err


def test_what_is_not_there(tmp_path: Path, run_command: RunCommand) -> None:
    said = run_command("archive", ["verify", "nothing"], cwd=tmp_path)
    assert said.code == 1
    assert "no such archive" in said.err
