"""What must hold on SQLite and on PostgreSQL alike, above all when many do it at once."""

import sqlite3
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import MagicMock

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import delete, func, select

from redelve.challenge import ChallengeLimits
from redelve.challenge.server import boards, entries, exports, jobs, organising, scoring_work
from redelve.challenge.server.audit import Actor
from redelve.challenge.server.clock import ManualClock
from redelve.challenge.server.database import Database, write_ahead
from redelve.challenge.server.database_tables import (
    REFUSED,
    DatabaseTable,
    DevelopmentScore,
    Entry,
    FinalScore,
    User,
)
from redelve.challenge.server.entries import Offer
from redelve.challenge.server.jobs import Lease
from redelve.challenge.server.refusals import Refusal
from redelve.challenge.server.services import open_services
from redelve.challenge.server.uploads import StoredUpload
from redelve.challenge.server.worker import Worker
from tests.challenge.server.bench import ENDS, PASSWORD, START, Bench, running


@pytest.fixture
def either(tmp_path: Path, database: str | None) -> Iterator[Bench]:
    with running(tmp_path, database=database, limits=ChallengeLimits(submissions_per_day=3)) as found:
        yield found


def at_once(*calls: Callable[[], Any]) -> list[Any]:
    """What came of calls made at the same time: values or problems."""
    gate, found = threading.Barrier(len(calls)), [None] * len(calls)

    def one(number: int) -> None:
        gate.wait()
        try:
            found[number] = calls[number]()
        except Exception as problem:
            found[number] = problem  # type: ignore[call-overload]

    threads = [threading.Thread(target=one, args=(number,)) for number in range(len(calls))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return found


def test_a_challenge_from_beginning_to_end(either: Bench) -> None:
    for name, wrong in (("Ada", 0.1), ("Bob", 0.3)):
        either.join(name)
        assert either.send(name, wrong=wrong).status_code == 201
    either.send("Bob", b"no zip")
    either.work()
    assert either.entry("Bob", 3)["state"] == "refused"
    organiser = either.organiser()
    moved = organiser.fill("/organiser", "/organiser/phases", ends="2026-03-02T00:00", reason="a day more")
    assert moved.status_code == 303
    either.clock.set(ENDS)
    assert either.client.get("/api/v1/ranking").status_code == 403
    either.clock.advance(days=1)
    either.work()
    ranking = either.client.get("/api/v1/ranking").json()
    assert [row["participant"] for row in ranking["overall"]] == ["Ada", "Bob"]
    organiser.fill("/login", name="Olga", password=PASSWORD)
    for path in ("/organiser", "/organiser/audit", "/leaderboard/ada", "/learning", "/entries/1"):
        assert organiser.get(path).status_code == 200, path
    organiser.fill("/organiser", "/organiser/entries/1/disqualify", reason="a trial")
    organiser.fill("/organiser", "/organiser/export")
    either.work()
    ranking = either.client.get("/api/v1/ranking").json()
    assert [row["participant"] for row in ranking["overall"]] == ["Bob"]


def test_times_come_back_in_utc(either: Bench) -> None:
    either.join("Ada")
    with either.services.database.reading() as session:
        assert session.scalars(select(User.created_at)).one() == START


def test_many_uploads_at_once_keep_to_the_quota(either: Bench) -> None:
    either.join("Ada")
    with either.services.database.reading() as session:
        ada = Actor(session.get_one(User, 1))

    def submit(number: int) -> Callable[[], Any]:
        stored = StoredUpload(f"aa/{number}.zip", 1, "0" * 64)
        return lambda: entries.submit(either.services, ada, stored, START, Offer())

    found = at_once(*(submit(number) for number in range(8)))
    refused = [one for one in found if isinstance(one, Refusal)]
    assert (len(refused), {one.code for one in refused}) == (5, {"quota"})


def test_the_same_upload_many_times_at_once_is_one_entry(either: Bench) -> None:
    either.join("Ada")
    with either.services.database.reading() as session:
        ada = Actor(session.get_one(User, 1))

    def submit(number: int) -> Callable[[], Any]:
        stored = StoredUpload(f"aa/{number}.zip", 1, "0" * 64)
        return lambda: entries.submit(either.services, ada, stored, START, Offer(client_key="k"))

    found = at_once(*(submit(number) for number in range(8)))
    assert {entry.id for entry, _ in found} == {1}
    assert sum(is_new for _, is_new in found) == 1


def test_one_name_many_times_at_once_is_one_account(either: Bench) -> None:
    accounts = either.services.accounts
    found = at_once(*(lambda: accounts.register(START, "here", "Ada", PASSWORD) for _ in range(6)))
    assert sorted(getattr(one, "code", "made") for one in found) == ["made"] + ["name_taken"] * 5


def test_guesses_at_once_are_all_counted(either: Bench) -> None:
    either.join("Ada")
    accounts = either.services.accounts
    found = at_once(*(lambda: accounts.login(START, "there", "Ada", "wrong word") for _ in range(9)))
    assert sorted(one.code for one in found) == ["too_many"] * 4 + ["wrong_login"] * 5


def test_a_link_used_twice_at_once_works_once(either: Bench) -> None:
    link = str(either.services.organiser_link()).removeprefix("/link/")
    accounts = either.services.accounts

    def use(name: str) -> Callable[[], Any]:
        return lambda: accounts.use_invitation(START, "here", link, name, PASSWORD)

    found = at_once(*(use(f"Olga {number}") for number in range(4)))
    assert sorted(getattr(one, "code", "used") for one in found) == ["link_used"] * 3 + ["used"]


def test_a_job_is_taken_by_one_of_many(either: Bench) -> None:
    either.join("Ada")
    either.send("Ada")
    found = at_once(*(lambda: jobs.take(either.services, "someone") for _ in range(8)))
    assert sum(lease is not None for lease in found) == 1


def test_of_two_results_one_is_kept(either: Bench) -> None:
    """A worker that was thought dead finishes together with the one that took over."""
    either.join("Ada")
    either.send("Ada")
    clock = ManualClock(START)
    services = replace(either.services, lease_clock=clock)
    leases = []
    for _ in range(2):
        leases.append(jobs.take(services, "a worker"))
        clock.advance(seconds=61)
    slow, quick = (lease for lease in leases if lease is not None)
    found = at_once(lambda: scoring_work.check(services, slow), lambda: scoring_work.check(services, quick))
    assert found == [None, None]
    with services.database.reading() as session:
        assert session.scalar(select(func.count()).select_from(DevelopmentScore)) == 2


def test_workers_of_their_own_share_the_work(either: Bench) -> None:
    for name in ("Ada", "Bob", "Cem"):
        either.join(name)
        for number in range(3):
            either.send(name, seed=number)
    others = [open_services(either.settings, either.clock) for _ in range(3)]
    at_once(*(Worker(other).run_until_idle for other in others))
    either.clock.set(ENDS)
    at_once(*(Worker(other).run_until_idle for other in others))
    either.work()
    with either.services.database.reading() as session:
        assert set(session.scalars(select(Entry.state))) == {"scored"}
        assert session.scalar(select(func.count()).select_from(FinalScore)) == 9 * 2
    assert len(either.client.get("/api/v1/ranking").json()["participants"]) == 3
    for other in others:
        other.close()


def test_servers_that_start_at_once_agree(tmp_path: Path, database: str | None) -> None:
    with running(tmp_path / "made", database=database) as made:
        settings = made.settings
        found = at_once(*(lambda: open_services(settings) for _ in range(4)))
        assert len({services.key for services in found}) == 1
        for services in found:
            services.close()


def test_an_empty_database_is_migrated_once_by_many(tmp_path: Path, database: str | None) -> None:
    url = database or f"sqlite:///{tmp_path / 'new.sqlite3'}"
    found = [Database(url) for _ in range(4)]
    assert at_once(*(one.migrate for one in found)) == [None] * 4
    with found[0].engine.connect() as connection:
        assert compare_metadata(MigrationContext.configure(connection), DatabaseTable.metadata) == []
    for one in found:
        one.close()


def test_a_new_file_that_others_open_too_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """SQLite gives up at once where two change the journal of a new file, whatever its timeout says."""
    busy = sqlite3.OperationalError("database is locked")
    busy.sqlite_errorcode = sqlite3.SQLITE_BUSY
    cursor = MagicMock()
    cursor.execute.side_effect = [busy, busy, None]
    write_ahead(cursor)
    assert cursor.execute.call_count == 3
    monkeypatch.setattr("redelve.challenge.server.database.BUSY_SECONDS", 0.0)
    cursor.execute.side_effect = busy
    with pytest.raises(sqlite3.OperationalError, match="locked"):
        write_ahead(cursor)


def test_a_ranking_counts_no_score_that_came_too_late_for_it(
    either: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Scores that come in while the ranking is made are in it, or else make it outdated."""
    for name in ("Ada", "Bob"):
        either.join(name)
        either.send(name)
    either.work()
    either.clock.set(ENDS)
    either.work()
    services, ranked = either.services, boards._ranked
    with services.database.writing() as session:
        late = [
            FinalScore(entry_id=2, dataset=score.dataset, content=score.content, outcomes=score.outcomes)
            for score in session.scalars(select(FinalScore).where(FinalScore.entry_id == 2))
        ]
        session.execute(delete(FinalScore).where(FinalScore.entry_id == 2))

    def ranked_as_more_comes_in(*given: Any, **options: Any) -> Any:
        found = ranked(*given, **options)
        with services.database.writing() as session:
            session.add_all(late)
        late.clear()
        return found

    monkeypatch.setattr(boards, "_ranked", ranked_as_more_comes_in)
    content = boards.final_board(services)
    assert [row["participant"] for row in content["overall"]] == ["Ada"]
    with services.database.reading() as session:
        assert boards.finals_done(session) == 2
    assert content["finals"] == 1


def test_rankings_and_exports_asked_for_at_once_are_counted_one_by_one(either: Bench) -> None:
    actor = Actor(name="organiser")
    found = at_once(*[partial(organising.rank_again, either.services, actor)] * 6)
    assert found == [None] * 6
    with either.services.database.reading() as session:
        assert boards.revision_of(session) == 7
    either.clock.set(ENDS)
    either.work()
    asked = at_once(*[partial(exports.ask, either.services, actor)] * 4)
    assert [one for one in asked if not isinstance(one, Refusal)] == [1]
    assert {one.code for one in asked if isinstance(one, Refusal)} == {"in_the_making"}


def test_cancelling_and_leasing_at_once_is_settled_without_a_deadlock(either: Bench) -> None:
    either.join("Ada")
    with either.services.database.reading() as session:
        ada = session.scalars(select(User)).one()
    services, actor = either.services, Actor(ada)
    for number in range(1, 11):
        assert either.send("Ada").status_code == 201
        cancelled, taken = at_once(
            partial(entries.cancel, services, actor, number), partial(jobs.take, services, "worker")
        )
        assert isinstance(cancelled, Entry | Refusal), cancelled
        assert taken is None or isinstance(taken, Lease), taken
        assert isinstance(cancelled, Refusal) != (taken is None)
        if taken is not None:
            with services.database.writing() as session:
                jobs.finish(services, session, taken, "a trial")
                session.get_one(Entry, number).state = REFUSED
