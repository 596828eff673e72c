"""Reading test scores or labels before the end, by any route: there is nothing that could be read."""

import io
import logging
import os
import re
import shutil
import zipfile
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import numpy as np
import pytest
from sqlalchemy import func, select

from redelve.challenge import Challenge
from redelve.challenge.challenge_files import labels_bytes
from redelve.challenge.server.database_tables import FinalScore, QueuedJob, RankingMade
from tests.challenge.attacks.tools import Scene, Wire, operations
from tests.challenge.server.bench import ENDS, LABELS, OPENS, PASSWORD, SIZES, START, Bench, answers, running

PHASES = (START, LABELS)


def entry_of(challenge: Challenge, *, right: bool, faulty: bool = False) -> bytes:
    """An entry whose test answers are all right, or as many of each kind in an order that knows nothing.

    It is not compressed: the file has the same size whatever is in it.
    """
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_STORED) as archive:
        for name, entry in answers(challenge, seed=3).items():
            truths = challenge.truths(name, "test")
            test = truths if right else np.sort(truths)
            for part, given in {**entry.answers, "test": test}.items():
                data = labels_bytes(given.astype(np.int8))
                content = b"?\n" + data if faulty and part == "test" else data
                archive.writestr(zipfile.ZipInfo(f"{name}_{part}.resu"), content)
            archive.writestr(zipfile.ZipInfo(f"{name}.guess"), b"0.25\n")
    return target.getvalue()


def everything(played: Scene) -> Iterator[tuple[str, str]]:
    """All that every GET route answers to everybody, with its headers."""
    for operation in operations(played.bench.app):
        if operation.method == "GET":
            numbers = ("1", "2") if "entry_id" in operation.in_path else ("1",)
            for path in {operation.at(entry_id=number) for number in numbers}:
                for name in ("Ada", "Olga", None):
                    headers = {} if name is None else {"Cookie": played.cookie(name)}
                    headers |= played.bench.headers(name) if name in played.bench.tokens else {}
                    answer = played.wire("GET", path, headers)
                    assert answer.status < 500, path
                    yield f"{name} {path}", f"{answer.status} {sorted(answer.headers.items())} {answer.text}"


def log_in(played: Scene) -> None:
    for name in ("Ada", "Bob", "Olga"):
        if name not in played.browsers:
            played.browsers[name] = played.bench.browser()
        answer = played.browsers[name].fill("/login", name=name, password=PASSWORD)
        assert answer.status_code == 303


def record(folder: Path, caplog: pytest.LogCaptureFixture, *, right: bool) -> dict[str, str]:
    """Everything that can be seen of a challenge before its end: answers, log, files, tables."""
    with running(folder) as bench, caplog.at_level(logging.DEBUG, "redelve"):
        played = Scene(bench)
        for path in bench.challenge.folder.rglob("*.*"):
            os.utime(path, (0, 0))  # both servers have data of the same age
        for name in ("Ada", "Bob"):
            bench.join(name)
        played.browsers["Olga"] = bench.organiser()
        caplog.clear()
        seen = {}
        for faulty in (False, True):
            sent = bench.send("Ada", entry_of(bench.challenge, right=right, faulty=faulty))
            seen[f"sent {faulty}"] = f"{sent.status_code} {sorted(sent.headers.items())} {sent.text}"
            bench.work()
        for moment in PHASES:
            bench.clock.set(moment)
            bench.work()
            log_in(played)
            seen |= {f"{moment} {key}": text for key, text in everything(played)}
        seen["log"] = caplog.text
        stored = [path.stat() for path in bench.settings.uploads.rglob("*.zip")]
        seen["files"] = str(sorted(found.st_size for found in stored))
        return {key: veiled(text) for key, text in seen.items()}


def veiled(text: str) -> str:
    """The text without what is drawn at random anyway: digests of files and tokens."""
    text = re.sub(r"\b[0-9a-f]{64}\b", "DIGEST", text)
    return re.sub(r"redelve=[\w-]{43}|\b[0-9a-f]{32}\b|tmp\S*|pytest-\S*", "RANDOM", text)


def test_two_entries_that_differ_in_their_test_answers_look_the_same_everywhere(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Bodies, headers and sizes of every GET route for everybody in both phases, log lines, stored files."""
    first = record(tmp_path / "a", caplog, right=True)
    second = record(tmp_path / "b", caplog, right=False)
    assert len(first) > 100
    assert first.keys() == second.keys()
    for key, text in first.items():
        assert text == second[key], key


def test_the_entries_of_that_test_do_differ_in_the_end(bench: Bench) -> None:
    """What looked the same before the end is told apart after it: the test above can fail."""
    for name, right in (("Ada", True), ("Bob", False)):
        bench.join(name)
        assert bench.send(name, entry_of(bench.challenge, right=right)).status_code == 201
    bench.work()
    development = [bench.entry(name, number)["development"] for number, name in ((1, "Ada"), (2, "Bob"))]
    assert development[0] == development[1]
    bench.clock.set(ENDS)
    bench.work()
    ada, bob = (
        bench.entry(name, number)["final"]["ada"]["parts"]["test"]["ber"]
        for number, name in ((1, "Ada"), (2, "Bob"))
    )
    assert ada == 0
    assert bob > 0.1


def test_the_server_does_without_the_test_labels_until_the_end(bench: Bench) -> None:
    """They are not on the machine: nothing can be computed from them, so no time and no size can tell."""
    bench.join("Ada")
    data = entry_of(bench.challenge, right=True)
    secret, vault = bench.challenge.folder / "secret", bench.challenge.folder.parent / "vault"
    vault.mkdir()
    for path in list(secret.glob("*_test.labels")):
        shutil.move(path, vault)
    assert bench.send("Ada", data).status_code == 201
    bench.work()
    assert bench.entry("Ada", 1)["state"] == "scored"
    wire = Wire(bench.app)
    for moment in PHASES:
        bench.clock.set(moment)
        bench.work()
        for operation in operations(bench.app):
            if operation.method == "GET":
                assert wire("GET", operation.at(), bench.headers("Ada")).status < 500, str(operation)
    for path in vault.iterdir():
        shutil.move(path, secret)
    bench.clock.set(ENDS)
    bench.work()
    assert bench.entry("Ada", 1)["final"]["ada"]["parts"]["test"]["ber"] == 0


def test_test_labels_are_asked_for_by_nobody_before_the_end(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: set[str] = set()
    truths, path_of = Challenge.truths, Challenge.labels_path
    data = entry_of(bench.challenge, right=True)

    def watched_truths(self: Challenge, dataset: str, part: str) -> object:
        asked.add(part)
        return truths(self, dataset, part)

    def watched_path(self: Challenge, dataset: str, part: str) -> Path:
        asked.add(part)
        return path_of(self, dataset, part)

    monkeypatch.setattr(Challenge, "truths", watched_truths)
    monkeypatch.setattr(Challenge, "labels_path", watched_path)
    bench.join("Ada")
    bench.send("Ada", data)
    organiser = bench.organiser()
    for moment in PHASES:
        bench.clock.set(moment)
        bench.work()
        organiser.fill("/login", name="Olga", password=PASSWORD)
        for operation in operations(bench.app):
            if operation.method == "GET":
                cookie = f"redelve={organiser.client.cookies['redelve']}"
                Wire(bench.app)("GET", operation.at(), {"Cookie": cookie, **bench.headers("Ada")})
    assert asked == {"train", "valid"}
    bench.clock.set(ENDS)
    bench.work()
    assert asked == {"train", "valid", "test"}


def test_no_table_has_anything_about_test_cases_before_the_end(bench: Bench) -> None:
    bench.join("Ada")
    bench.send("Ada")
    for moment in PHASES:
        bench.clock.set(moment)
        bench.work()
    with bench.services.database.reading() as session:
        for table in (FinalScore, RankingMade):
            assert session.scalar(select(func.count()).select_from(table)) == 0
        assert set(session.scalars(select(QueuedJob.kind))) == {"check"}
    held = bench.entry("Ada", 1)
    assert held["final"] is None
    assert all(set(scores["parts"]) == {"train", "valid"} for scores in held["development"].values())


def test_no_document_of_the_api_mentions_scores_of_test_cases_before_the_end(played: Scene) -> None:
    """A new field that leaks would have a name: R, δ and weights exist for test cases only."""
    for operation in operations(played.bench.app):
        if operation.method == "GET" and operation.is_api and not operation.path.endswith("openapi.json"):
            text = played.wire("GET", operation.at(), played.bench.headers("Ada")).text
            for word in ('"guess_error"', '"weight"', '"score"', '"score_error"'):
                assert word not in text, str(operation)


def test_nobody_can_ask_for_the_end_but_the_organiser(played: Scene) -> None:
    """Ranking, export and its file stay sealed, even for the organiser, as long as the challenge runs."""
    assert played.wire("GET", "/api/v1/ranking").status == 403
    olga = {"Cookie": played.cookie("Olga")}
    token = {"form_token": played.form_token("Olga")}
    assert played.wire.form("/organiser/export", token, olga).status == 403
    assert played.wire("GET", "/organiser/exports/1", olga).status == 403
    exports = played.bench.settings.data / "exports"
    exports.mkdir(exist_ok=True)
    (exports / "challenge-archive-1.zip").write_bytes(b"left by an earlier server")
    assert played.wire("GET", "/organiser/exports/1", olga).status == 403
    shutil.rmtree(exports)


def test_validation_labels_cannot_be_had_before_their_time(played: Scene) -> None:
    for base in ("/data", "/api/v1/data"):
        for name in ("ada_valid.labels", "ada_test.labels", "../secret/ada_valid.labels"):
            for who in ("Ada", "Olga"):
                headers = {"Cookie": played.cookie(who), "Date": "Sun, 01 Mar 2026 00:00:00 GMT"}
                assert played.wire("GET", f"{base}/ada/{name}", headers).status == 404
    assert "labels" not in played.wire("GET", "/api/v1/data").text.replace("ada_train.labels", "").replace(
        "nova_train.labels", ""
    )


def test_after_the_labels_phase_began_test_labels_are_still_kept(bench: Bench) -> None:
    for moment in (LABELS, ENDS):
        bench.clock.set(moment)
        for base in ("/data", "/api/v1/data"):
            assert bench.client.get(f"{base}/ada/ada_valid.labels").status_code == 200
            assert bench.client.get(f"{base}/ada/ada_test.labels").status_code == 404


@pytest.mark.parametrize("path", ["/data.zip", "/api/v1/data.zip"])
def test_the_zip_of_all_data_has_what_may_be_had_and_no_more(bench: Bench, path: str) -> None:
    """At every moment anew: a zip that was made before does not stay, nor does it come too early."""
    names = bench.challenge.names
    start = {file.name for name in names for file in bench.challenge.public_files(name)}
    bench.clock.set(OPENS - timedelta(seconds=1))
    assert bench.client.get(path).status_code == 404
    for moment, labels in ((OPENS, False), (LABELS, True), (ENDS, True), (OPENS, False)):
        bench.clock.set(moment)
        with zipfile.ZipFile(io.BytesIO(bench.client.get(path).content)) as archive:
            found = set(archive.namelist())
        assert found == start | {f"{name}_valid.labels" for name in names if labels}
    assert len(list((bench.settings.data / "downloads").iterdir())) == 1


def test_problems_of_an_entry_tell_nothing_of_the_truth(bench: Bench) -> None:
    """A faulty test file is described by what is in it; the rest of it makes no difference."""
    bench.join("Ada")
    found = []
    for number, right in ((1, True), (2, False)):
        bench.send("Ada", entry_of(bench.challenge, right=right, faulty=True))
        bench.work()
        held = bench.entry("Ada", number)
        assert held["state"] == "refused"
        found.append((held["problems"], held["reason"]))
    assert found[0] == found[1]
    assert f"{SIZES['test']}" in str(found[0])
