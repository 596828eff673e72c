"""Entries: what is taken, what is refused, what counts."""

import errno
import io
import os
import zipfile
from pathlib import Path

import pytest

from redelve.challenge import ChallengeLimits
from redelve.challenge.packing import pack_bytes
from redelve.challenge.server.settings import RateLimits
from redelve.challenge.server.uploads import Receiver
from tests.challenge.server.bench import ENDS, START, Bench, answers, running, zipped


def files_in(bench: Bench) -> list[Path]:
    return list(bench.settings.uploads.rglob("*.zip*"))


def test_an_entry_is_scored_on_validation_cases(bench: Bench) -> None:
    bench.join("Ada")
    sent = bench.send("Ada", wrong=0.0)
    assert (sent.status_code, sent.json()["state"]) == (201, "received")
    bench.work()
    entry = bench.entry("Ada", sent.json()["id"])
    assert (entry["state"], entry["is_complete"], entry["final"]) == ("scored", True, None)
    assert entry["development"]["ada"]["parts"]["valid"]["ber"] == 0
    assert set(entry["development"]["ada"]["parts"]) == {"train", "valid"}
    assert [event["state"] for event in entry["history"]] == ["received", "checking", "scored"]
    assert all(event["reason"] and event["at"] for event in entry["history"])


def test_a_faulty_entry_is_refused_with_what_to_mend(bench: Bench) -> None:
    bench.join("Ada")
    number = bench.send("Ada", b"this is no zip").json()["id"]
    bench.work()
    entry = bench.entry("Ada", number)
    assert entry["state"] == "refused"
    assert "no zip file" in entry["problems"][0]


def test_an_incomplete_entry_is_scored_but_says_what_it_lacks(bench: Bench) -> None:
    bench.join("Ada")
    one = {"ada": answers(bench.challenge)["ada"]}
    number = bench.send("Ada", pack_bytes(one)).json()["id"]
    bench.work()
    entry = bench.entry("Ada", number)
    assert (entry["state"], entry["is_complete"]) == ("scored", False)
    assert "lacks nova_train.resu" in entry["reason"]


class TestQuota:
    def test_entries_of_a_day_are_limited(self, tmp_path: Path) -> None:
        with running(tmp_path, limits=ChallengeLimits(submissions_per_day=2)) as bench:
            bench.join("Ada")
            codes = [bench.send("Ada").status_code for _ in range(3)]
            assert codes == [201, 201, 429]
            assert len(files_in(bench)) == 2
            bench.clock.advance(hours=12)  # the next day in UTC
            assert bench.send("Ada").status_code == 201

    def test_refused_and_cancelled_entries_do_not_count(self, tmp_path: Path) -> None:
        with running(tmp_path, limits=ChallengeLimits(submissions_per_day=1)) as bench:
            bench.join("Ada")
            bench.send("Ada", b"no zip")
            bench.work()
            cancelled = bench.send("Ada").json()["id"]
            answer = bench.client.post(f"/api/v1/entries/{cancelled}/cancel", headers=bench.headers("Ada"))
            assert answer.json()["state"] == "cancelled"
            assert bench.send("Ada").status_code == 201
            assert bench.work() == 1  # the cancelled one is not scored

    def test_a_scored_entry_cannot_be_cancelled(self, bench: Bench) -> None:
        bench.join("Ada")
        bench.send("Ada")
        bench.work()
        answer = bench.client.post("/api/v1/entries/1/cancel", headers=bench.headers("Ada"))
        assert answer.status_code == 409

    def test_one_participants_entries_do_not_count_for_another(self, tmp_path: Path) -> None:
        with running(tmp_path, limits=ChallengeLimits(submissions_per_day=1)) as bench:
            bench.join("Ada")
            bench.join("Bob")
            assert [bench.send(name).status_code for name in ("Ada", "Bob", "Ada")] == [201, 201, 429]


def test_uploads_are_limited_even_if_they_are_refused(tmp_path: Path) -> None:
    with running(tmp_path, rates=RateLimits(uploads=(3, 3600))) as bench:
        bench.join("Ada")
        codes = []
        for _ in range(4):
            codes.append(bench.send("Ada", b"x").status_code)
            bench.work()
        assert codes == [201] * 3 + [429]
        bench.clock.advance(hours=1)
        assert bench.send("Ada", b"x").status_code == 201


def test_an_upload_sent_again_with_the_same_key_is_one_entry(tmp_path: Path) -> None:
    with running(tmp_path, limits=ChallengeLimits(submissions_per_day=1)) as bench:
        bench.join("Ada")
        bench.join("Bob")
        key = {"Idempotency-Key": "abc"}
        first, again = bench.send("Ada", headers=key), bench.send("Ada", headers=key)
        assert (first.status_code, again.status_code) == (201, 200)
        assert first.json()["id"] == again.json()["id"]
        assert bench.send("Bob", headers=key).json()["id"] != first.json()["id"]
        assert len(files_in(bench)) == 2
        bench.clock.set(ENDS)
        assert bench.send("Ada", headers=key).status_code == 200  # it was in time


class TestBodies:
    def test_a_body_that_is_announced_too_large_is_refused(self, tmp_path: Path) -> None:
        with running(tmp_path, limits=ChallengeLimits(megabytes=1)) as bench:
            bench.join("Ada")
            answer = bench.send("Ada", bytes(3 << 20))
            assert (answer.status_code, answer.json()["error"]["code"]) == (413, "too_large")
            assert files_in(bench) == []

    def test_a_body_of_unknown_length_is_stopped_while_it_streams(self, tmp_path: Path) -> None:
        with running(tmp_path, limits=ChallengeLimits(megabytes=1)) as bench:
            bench.join("Ada")
            pieces = (bytes(1 << 16) for _ in range(100))
            answer = bench.client.post("/api/v1/entries", content=pieces, headers=bench.headers("Ada"))
            assert answer.status_code == 413
            assert files_in(bench) == []

    @pytest.mark.parametrize("path", ["/api/v1/accounts", "/login", "/register"])
    def test_other_bodies_are_small(self, bench: Bench, path: str) -> None:
        big = "x" * (1 << 17)
        is_api = path.startswith("/api")
        sent = {"json": {"name": big, "password": ""}} if is_api else {"data": {"name": big}}
        answer = bench.client.post(path, **sent)
        assert answer.status_code == 413

    def test_an_empty_body_is_refused(self, bench: Bench) -> None:
        bench.join("Ada")
        assert bench.send("Ada", b"").status_code == 422
        assert files_in(bench) == []


def test_entries_of_others_are_not_there(bench: Bench) -> None:
    bench.join("Ada")
    bench.join("Bob")
    number = bench.send("Ada").json()["id"]
    for method, end in (("GET", ""), ("POST", "/cancel")):
        answer, missing = (
            bench.client.request(method, f"/api/v1/entries/{which}{end}", headers=bench.headers("Bob"))
            for which in (number, 99)
        )
        assert answer.status_code == missing.status_code == 404
        assert answer.content == missing.content


def test_an_organiser_cannot_take_part(bench: Bench) -> None:
    organiser = bench.organiser()
    token = organiser.token("/account")
    answer = organiser.client.post(
        "/submit",
        content=zipped(bench.challenge),
        headers={"X-Form-Token": token, "Accept": "application/json"},
    )
    assert answer.json()["error"]["code"] == "organiser"


def test_the_form_without_scripts_works_too(bench: Bench) -> None:
    browser = bench.browser()
    browser.register("Ada")
    form = {"form_token": browser.token("/submit"), "label": "by form"}
    files = {"file": ("entry.zip", zipped(bench.challenge), "application/zip")}
    answer = browser.client.post("/submit/form", data=form, files=files)
    assert (answer.status_code, answer.headers["location"]) == (303, "/entries/1")
    bench.work()
    page = browser.get("/entries/1").text
    assert "by form" in page
    assert "<svg" in page


def test_names_within_the_zip_cannot_reach_the_disk(bench: Bench, tmp_path: Path) -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("../../../evil.resu", "1\n")
    bench.join("Ada")
    bench.send("Ada", packed.getvalue())
    bench.work()
    assert bench.entry("Ada", 1)["state"] == "refused"
    assert list(tmp_path.rglob("evil*")) == []


def test_stored_files_are_for_the_server_only(bench: Bench) -> None:
    bench.join("Ada")
    bench.send("Ada")
    (stored,) = files_in(bench)
    assert stored.stat().st_mode & 0o077 == 0
    assert bench.settings.data.stat().st_mode & 0o077 == 0
    assert bench.clock.now() == START


@pytest.mark.parametrize("where", ["write", "fsync"])
def test_a_full_disk_is_told_and_leaves_nothing_behind(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, where: str
) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    bench.join("Ada")
    with monkeypatch.context() as patched:
        patched.setattr(*((Receiver, "take", full) if where == "write" else (os, "fsync", full)))
        refused = bench.send("Ada")
    assert (refused.status_code, refused.json()["error"]["code"]) == (503, "no_room")
    assert files_in(bench) == []
    assert "No space left on device" in caplog.text
    assert "Traceback" not in caplog.text
    assert bench.send("Ada").status_code == 201


def test_an_uploads_folder_that_is_gone_is_told(bench: Bench) -> None:
    bench.join("Ada")
    bench.settings.uploads.rename(bench.settings.data / "moved")
    bench.settings.uploads.write_text("no folder")
    assert bench.send("Ada").json()["error"]["code"] == "no_room"


def test_a_file_that_cannot_even_be_closed_is_forgotten(tmp_path: Path) -> None:
    receiver = Receiver(tmp_path, 100)

    class Broken:
        def close(self) -> None:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    receiver._file.close()
    receiver._file = Broken()  # type: ignore[assignment]
    receiver.drop()
    assert list(tmp_path.rglob("*.part")) == []


def test_a_file_that_is_refused_does_not_stay_on_the_disk(bench: Bench) -> None:
    bench.join("Ada")
    bench.send("Ada")
    bench.send("Ada", b"no zip")
    bench.work()
    assert bench.entry("Ada", 2)["state"] == "refused"
    assert len(files_in(bench)) == 1
    assert bench.entry("Ada", 1)["state"] == "scored"
