"""The queue: leases, workers that die, and results that count once."""

import os
import threading
import time
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from sqlalchemy import func, select

from redelve.challenge.server import jobs, scoring_work
from redelve.challenge.server.clock import ManualClock
from redelve.challenge.server.database_tables import (
    DevelopmentScore,
    Entry,
    EntryEvent,
    FinalScore,
    QueuedJob,
)
from redelve.challenge.server.services import Services
from redelve.challenge.server.worker import WORK, Worker, sweep
from tests.challenge.server.bench import ENDS, Bench


@pytest.fixture
def services(bench: Bench) -> Services:
    """Services with leases by a clock of the test's own, and an entry that waits."""
    bench.join("Ada")
    bench.send("Ada")
    return replace(bench.services, lease_clock=ManualClock(datetime(2026, 1, 1, tzinfo=UTC)))


def advance(services: Services, seconds: float) -> None:
    clock = services.lease_clock
    assert isinstance(clock, ManualClock)
    clock.advance(seconds=seconds)


def rows(services: Services, table: type) -> int:
    with services.database.reading() as session:
        return session.scalar(select(func.count()).select_from(table)) or 0


def job(services: Services) -> QueuedJob:
    with services.database.reading() as session:
        return session.scalars(select(QueuedJob)).one()


def test_a_job_is_leased_to_one_worker(services: Services) -> None:
    assert jobs.take(services, "one") is not None
    assert jobs.take(services, "two") is None


def test_the_job_of_a_dead_worker_is_taken_over(services: Services) -> None:
    jobs.take(services, "one")
    advance(services, 61)
    lease = jobs.take(services, "two")
    assert lease is not None
    scoring_work.check(services, lease)
    assert (job(services).state, job(services).owner, job(services).attempts) == ("done", "two", 2)
    with services.database.reading() as session:
        assert [event.state for event in session.scalars(select(EntryEvent).order_by(EntryEvent.id))] == [
            *("received", "checking", "checking", "scored"),
        ]


def test_a_lease_that_is_kept_alive_is_not_taken(services: Services) -> None:
    lease = jobs.take(services, "one")
    assert lease is not None
    for _ in range(5):
        advance(services, 40)
        assert jobs.keep_alive(services, lease)
        assert jobs.take(services, "two") is None


def test_who_lost_the_lease_has_done_nothing(services: Services) -> None:
    slow = jobs.take(services, "slow")
    assert slow is not None
    advance(services, 61)
    quick = jobs.take(services, "quick")
    assert quick is not None
    assert not jobs.keep_alive(services, slow)
    scoring_work.check(services, quick)
    scoring_work.check(services, slow)
    jobs.fail(services, slow, "too late to complain")
    assert rows(services, DevelopmentScore) == 2  # one for each dataset
    assert (job(services).state, job(services).owner) == ("done", "quick")


def test_a_slow_worker_that_finishes_first_is_not_counted_either(services: Services) -> None:
    slow = jobs.take(services, "slow")
    assert slow is not None
    advance(services, 61)
    quick = jobs.take(services, "quick")
    assert quick is not None
    scoring_work.check(services, slow)
    assert rows(services, DevelopmentScore) == 0
    scoring_work.check(services, quick)
    assert rows(services, DevelopmentScore) == 2


def test_after_three_deaths_the_entry_fails_with_a_reason(services: Services) -> None:
    for _ in range(3):
        assert jobs.take(services, "doomed") is not None
        advance(services, 61)
    assert jobs.take(services, "another") is None
    with services.database.reading() as session:
        entry = session.scalars(select(Entry)).one()
    assert (entry.state, job(services).state) == ("failed", "given up")
    assert "stopped unexpectedly, 3 times" in entry.reason


def test_errors_of_the_server_are_tried_again_then_told(
    bench: Bench, services: Services, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise ZeroDivisionError("some secret 0.123")

    monkeypatch.setitem(WORK, "check", broken)
    assert Worker(services).run_until_idle() == 3
    entry = bench.entry("Ada", 1)
    assert entry["state"] == "failed"
    assert "ZeroDivisionError" in entry["reason"]
    assert "secret" not in str(entry)
    monkeypatch.undo()
    organiser = bench.organiser()
    assert organiser.fill("/organiser", "/organiser/entries/1/retry").status_code == 303
    bench.work()
    assert bench.entry("Ada", 1)["state"] == "scored"


def test_a_file_that_is_gone_fails_and_is_not_stuck(bench: Bench, services: Services) -> None:
    for path in bench.settings.uploads.rglob("*.zip"):
        path.unlink()
    Worker(services).run_until_idle()
    assert bench.entry("Ada", 1)["state"] == "failed"


def test_a_running_job_beats_its_heart(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """With a lease of 0.3 s and a job of 1 s, no other worker gets it."""
    bench.join("Ada")
    bench.send("Ada")
    services = replace(bench.services, settings=replace(bench.settings, lease_seconds=0.3))
    check, taken = WORK["check"], []

    def slow(*given: object) -> None:
        until = time.monotonic() + 1
        while time.monotonic() < until:
            taken.append(jobs.take(services, "thief"))
            time.sleep(0.05)
        check(*given)  # type: ignore[arg-type]

    monkeypatch.setitem(WORK, "check", slow)
    Worker(services).step()
    assert set(taken) == {None}
    assert bench.entry("Ada", 1)["state"] == "scored"


def test_many_workers_score_every_entry_once(bench: Bench) -> None:
    for name in ("Ada", "Bob", "Cem"):
        bench.join(name)
        for number in range(6):
            bench.send(name, seed=number)
    stop = threading.Event()
    workers = [Worker(bench.services, f"worker {number}") for number in range(4)]
    threads = [threading.Thread(target=worker.run_until_idle) for worker in workers]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not stop.is_set()
    assert rows(bench.services, DevelopmentScore) == 18 * 2
    bench.clock.set(ENDS)
    threads = [threading.Thread(target=worker.run_until_idle) for worker in workers]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    bench.work()
    assert rows(bench.services, FinalScore) == 18 * 2
    assert bench.client.get("/api/v1/ranking").status_code == 200


class TestOrphans:
    def old(self, path: Path) -> Path:
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(b"left behind")
        os.utime(path, (1, 1))
        return path

    def test_files_without_an_entry_are_swept(self, bench: Bench) -> None:
        bench.join("Ada")
        bench.send("Ada")
        (kept,) = bench.settings.uploads.rglob("*.zip")
        os.utime(kept, (1, 1))
        gone = [
            self.old(bench.settings.uploads / "ab" / "abc.zip"),
            self.old(bench.settings.uploads / "cd" / "x.zip.part"),
        ]
        assert sweep(bench.services) == 2
        assert kept.exists()
        assert not any(path.exists() for path in gone)

    def test_fresh_files_are_left_alone(self, bench: Bench) -> None:
        fresh = bench.settings.uploads / "ab" / "abc.zip.part"
        fresh.parent.mkdir()
        fresh.write_bytes(b"on its way")
        assert sweep(bench.services) == 0
        assert fresh.exists()


def test_a_clock_that_is_put_back_does_not_keep_the_job_of_a_dead_worker(services: Services) -> None:
    jobs.take(services, "doomed")
    advance(services, -3600)
    lease = jobs.take(services, "heir")
    assert lease is not None
    assert lease.attempt == 2
    advance(services, -30)  # as clocks of two machines may differ
    assert jobs.take(services, "thief") is None


def test_an_end_that_is_moved_under_the_worker_is_not_acted_upon(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The worker has seen the end; before it writes that down, an organiser's later end is there."""
    bench.join("Ada")
    bench.send("Ada")
    bench.work()
    bench.clock.set(ENDS)
    organiser, worker = bench.organiser(), Worker(bench.services)

    def moved_meanwhile(_: Worker) -> bool:
        bench.clock.advance(seconds=-1)
        moved = organiser.fill("/organiser", "/organiser/phases", ends="2026-03-02T00:00", reason="later")
        bench.clock.advance(seconds=1)
        return moved.status_code == 303

    monkeypatch.setattr(Worker, "_has_ending_to_do", moved_meanwhile)
    worker.look_after()
    monkeypatch.undo()
    assert rows(bench.services, QueuedJob) == 1  # that of the check
    bench.clock.advance(days=1)
    bench.work()
    ranking = bench.client.get("/api/v1/ranking").json()
    assert [row["participant"] for row in ranking["overall"]] == ["Ada"]
