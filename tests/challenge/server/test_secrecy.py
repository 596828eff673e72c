"""Before the end nothing depends on the test labels: no page, no document, no row, no log line."""

import logging
import re
from pathlib import Path

import numpy as np
import pytest
from sqlalchemy import func, select

from redelve.challenge import DatasetEntry
from redelve.challenge.packing import pack_bytes
from redelve.challenge.server.database_tables import FinalScore, QueuedJob, RankingMade
from tests.challenge.server.bench import ENDS, LABELS, PASSWORD, Bench, answers, running

PAGES = (
    *("/", "/data", "/leaderboard", "/leaderboard/ada", "/leaderboard/nova", "/learning", "/api", "/entries"),
    *("/entries/1", "/entries/1/state", "/submit", "/tables/overall.csv", "/tables/ada.csv"),
    *("/api/v1/leaderboard", "/api/v1/challenge", "/api/v1/data"),
)
ORGANISERS = ("/organiser", "/organiser/audit", "/organiser/audit.csv", "/entries/1")


def with_test_answers(bench: Bench, *, right: bool) -> bytes:
    """The same entry but for the test cases, all of which are right or wrong."""
    found = {}
    for name, entry in answers(bench.challenge, seed=3).items():
        truths = bench.challenge.truths(name, "test")
        given = {**entry.answers, "test": (truths if right else -truths).astype(np.int8)}
        found[name] = DatasetEntry(given, {}, entry.guess)
    return pack_bytes(found)


def everything_seen(bench: Bench, caplog: pytest.LogCaptureFixture, *, right: bool) -> dict[str, str]:
    """All that a participant and an organiser can see, in two phases before the end."""
    bench.join("Ada")
    data = with_test_answers(bench, right=right)
    with caplog.at_level(logging.DEBUG, "redelve"):
        caplog.clear()
        assert bench.send("Ada", data).status_code == 201
        bench.work()
        logged = caplog.text
    participant, organiser = bench.browser(), bench.organiser()
    seen = {"log": logged}
    for moment in (bench.clock.now(), LABELS):
        bench.clock.set(moment)
        bench.work()
        for browser, name in ((participant, "Ada"), (organiser, "Olga")):
            assert browser.fill("/login", name=name, password=PASSWORD).status_code == 303
        for path in PAGES:
            seen[f"{moment} participant {path}"] = participant.get(path).text
        for path in ORGANISERS:
            seen[f"{moment} organiser {path}"] = organiser.get(path).text
        seen[f"{moment} entry"] = str(bench.entry("Ada", 1))
        sealed = bench.client.get("/api/v1/ranking")
        assert sealed.status_code == 403
        seen[f"{moment} ranking"] = sealed.text
        token = participant.token("/account")
        seen = {key: text.replace(token, "TOKEN") for key, text in seen.items()}
        seen = {key: text.replace(organiser.token("/organiser"), "TOKEN") for key, text in seen.items()}
    return seen


@pytest.mark.slow  # attacks/test_sealed.py compares every route, the log and the files in the quick tests
def test_what_is_seen_before_the_end_is_the_same_for_any_test_answers(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    seen = []
    for right in (True, False):
        with running(tmp_path / str(right)) as bench:
            found = everything_seen(bench, caplog, right=right)
            entry = bench.entry("Ada", 1)
            upload = rf"{entry['sha256']}|\b{entry['size']}\b|{entry['size'] / 1024:.1f} KiB"
            found = {key: re.sub(upload, "THE UPLOAD", text) for key, text in found.items()}
            seen.append(found)
    assert seen[0].keys() == seen[1].keys()
    for key in seen[0]:
        assert seen[0][key] == seen[1][key], key


def test_no_test_score_exists_before_the_end(bench: Bench) -> None:
    bench.join("Ada")
    bench.send("Ada")
    bench.clock.set(LABELS)
    bench.work()
    with bench.services.database.reading() as session:
        for table in (FinalScore, RankingMade):
            assert session.scalar(select(func.count()).select_from(table)) == 0
        assert set(session.scalars(select(QueuedJob.kind))) == {"check"}
    bench.clock.set(ENDS)
    bench.work()
    with bench.services.database.reading() as session:
        assert session.scalar(select(func.count()).select_from(FinalScore)) == 2


def test_a_final_job_that_came_too_early_does_nothing(bench: Bench) -> None:
    """Even with a job smuggled into the queue, test cases are not scored before the end."""
    from redelve.challenge.server import jobs

    bench.join("Ada")
    bench.send("Ada")
    bench.work()
    with bench.services.database.writing() as session:
        jobs.add(session, jobs.FINAL, bench.clock.now(), 1, 1)
    bench.work()
    with bench.services.database.reading() as session:
        assert session.scalar(select(func.count()).select_from(FinalScore)) == 0


def test_test_labels_are_not_read_before_the_end(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    from redelve.challenge import Challenge

    read: list[str] = []
    truths = Challenge.truths

    def watched(self: Challenge, dataset: str, part: str) -> object:
        read.append(part)
        return truths(self, dataset, part)

    bench.join("Ada")
    assert bench.send("Ada").status_code == 201
    monkeypatch.setattr(Challenge, "truths", watched)
    bench.work()
    for path in PAGES:
        bench.client.get(path)
    assert set(read) == {"train", "valid"}
