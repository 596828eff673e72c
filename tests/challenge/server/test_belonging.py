"""A database, its files and its challenge belong together: mixing them up is told, and loses nothing."""

import os
from dataclasses import replace
from pathlib import Path

import pytest

from redelve.challenge.server.belonging import MARK
from redelve.challenge.server.services import open_services
from redelve.challenge.server.settings import Settings
from redelve.challenge.server.worker import Worker
from redelve.errors import FormatError, LocationError, RedelveError, SpecError
from tests.challenge.server.bench import ENDS, Bench, make_challenge


@pytest.fixture
def played(bench: Bench) -> Bench:
    """A server with an entry."""
    bench.join("Ada")
    assert bench.send("Ada").status_code == 201
    return bench


def elsewhere(bench: Bench, name: str) -> str:
    return f"sqlite:///{bench.settings.data / name}"


def test_the_same_files_and_database_go_on(played: Bench) -> None:
    services = open_services(played.settings, played.clock, may_change=False)
    assert Worker(services).run_until_idle() == 1
    services.close()


def test_a_new_database_does_not_take_the_entries_of_another_for_orphans(played: Bench) -> None:
    """As when --database is forgotten: an hour-old upload would be swept."""
    (kept,) = played.settings.uploads.rglob("*.zip")
    os.utime(kept, (1, 1))
    with pytest.raises(LocationError, match="uploads does not belong to this database"):
        open_services(replace(played.settings, database=elsewhere(played, "new.sqlite3")))
    assert kept.exists()


def test_two_databases_do_not_share_a_folder_even_without_entries(bench: Bench, tmp_path: Path) -> None:
    for database in (elsewhere(bench, "new.sqlite3"), elsewhere(bench, "newer.sqlite3")):
        with pytest.raises(LocationError, match="new database needs a new folder"):
            open_services(replace(bench.settings, database=database))
    other = Settings.for_folder(bench.challenge.folder, data=tmp_path / "other")
    open_services(other).close()
    with pytest.raises(LocationError, match="--data"):
        open_services(replace(bench.settings, database=other.database))
    open_services(bench.settings).close()


def test_a_worker_with_another_folder_is_refused(played: Bench, tmp_path: Path) -> None:
    with pytest.raises(LocationError, match="--data"):
        open_services(replace(played.settings, data=tmp_path / "nothing here"), may_change=False)
    played.work()
    assert played.entry("Ada", 1)["state"] == "scored"


def flip(path: Path) -> None:
    lines = path.read_text().split()
    path.write_text("\n".join(["1" if lines[0] == "-1" else "-1", *lines[1:]]) + "\n")


def test_entries_are_not_judged_by_other_labels(played: Bench) -> None:
    flip(played.challenge.labels_path("nova", "valid"))
    with pytest.raises(SpecError, match=r"other labels \(nova\)"):
        open_services(played.settings)


def test_datasets_may_change_until_there_are_entries_but_not_under_a_worker(bench: Bench) -> None:
    flip(bench.challenge.labels_path("ada", "valid"))
    with pytest.raises(SpecError, match=r"other labels \(ada\)"):
        open_services(bench.settings, may_change=False)
    open_services(bench.settings).close()
    open_services(bench.settings, may_change=False).close()


def test_limits_title_and_phases_may_change(played: Bench) -> None:
    path = played.challenge.folder / "challenge.toml"
    path.write_text(
        path.read_text().replace("megabytes = 64", "megabytes = 65").replace("A trial", "Another")
    )
    services = open_services(played.settings)
    assert (services.challenge.limits.megabytes, services.challenge.title[:7]) == (65, "Another")
    services.close()


@pytest.mark.parametrize("is_written", [False, True])
def test_a_start_that_was_cut_off_is_no_harm(
    bench: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_written: bool
) -> None:
    replaced = Path.replace

    def killed(path: Path, target: Path) -> None:
        if is_written:
            replaced(path, target)
        raise KeyboardInterrupt

    fresh = Settings.for_folder(bench.challenge.folder, data=tmp_path / "fresh")
    monkeypatch.setattr(Path, "replace", killed)
    with pytest.raises(KeyboardInterrupt):
        open_services(fresh)
    monkeypatch.undo()
    open_services(fresh).close()
    assert (fresh.uploads / MARK).is_file()
    (fresh.uploads / MARK).unlink()
    with pytest.raises(LocationError, match="--data"):
        open_services(fresh)


@pytest.mark.parametrize("lost", ["secret/ada_valid.labels", "public/nova/nova_test.data"])
def test_files_that_are_missing_are_told_at_the_start(tmp_path: Path, lost: str) -> None:
    make_challenge(tmp_path / "challenge")
    (tmp_path / "challenge" / lost).unlink()
    with pytest.raises(RedelveError, match=Path(lost).name):
        open_services(Settings.for_folder(tmp_path / "challenge"))


def test_too_few_labels_are_told_at_the_start(tmp_path: Path) -> None:
    challenge = make_challenge(tmp_path / "challenge")
    path = challenge.labels_path("ada", "valid")
    path.write_text("\n".join(path.read_text().split()[:-1]) + "\n")
    with pytest.raises(FormatError, match=r"ada_valid\.labels"):
        open_services(Settings.for_folder(tmp_path / "challenge"))


def test_a_folder_that_cannot_be_is_told(tmp_path: Path) -> None:
    make_challenge(tmp_path / "challenge")
    with pytest.raises(LocationError, match="--data"):
        open_services(Settings.for_folder(tmp_path / "challenge", data=tmp_path / "challenge/challenge.toml"))


def test_test_labels_that_come_late_cost_no_entry(played: Bench) -> None:
    """Missing at the end they are asked for; put in place, everything is tried again at once."""
    played.work()
    paths = [played.challenge.labels_path(name, "test") for name in played.challenge.names]
    texts = [path.read_bytes() for path in paths]
    for path in paths:
        path.unlink()
    played.services.challenge._truths.clear()
    played.clock.set(ENDS)
    played.work()
    organiser = played.organiser()
    assert "1 entry could not be scored" in played.client.get("/leaderboard").text
    assert "Without them there is no final ranking" in organiser.get("/organiser").text
    for path, text in zip(paths, texts, strict=True):
        path.write_bytes(text)
    assert organiser.fill("/organiser", "/organiser/retry").status_code == 303
    played.work()
    ranking = played.client.get("/api/v1/ranking").json()
    assert [row["participant"] for row in ranking["overall"]] == ["Ada"]
    assert "could not be scored" not in played.client.get("/leaderboard").text
    assert organiser.fill("/organiser", "/organiser/retry").status_code == 409
