"""Many participants at once, server and workers killed at random: nothing is lost, nothing scored twice."""

from __future__ import annotations

import hashlib
import json
import multiprocessing
import random
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest
from sqlalchemy import func, select

from redelve.challenge import (
    Challenge,
    DatasetEntry,
    Phases,
    example,
    pack,
    prepare_challenge,
    read_submission,
    score_submission,
    scores_to_json,
)
from redelve.challenge.challenge_files import PARTS
from redelve.challenge.server import organising
from redelve.challenge.server.audit import Actor
from redelve.challenge.server.database_tables import (
    SCORED,
    DevelopmentScore,
    Entry,
    EntryEvent,
    FinalScore,
    QueuedJob,
    RankingMade,
    User,
)
from redelve.challenge.server.jobs import DONE, LEASED, WAITING
from redelve.challenge.server.services import Services, open_services
from redelve.challenge.server.serving import ServingPlace, bound
from tests.challenge.server.conftest import new_postgresql  # noqa: F401 (a fixture)
from tests.challenge.small import some_patterns
from tests.challenge.stress import PASSWORD, Plan, play

PROCESSES = multiprocessing.get_context("forkserver")
PROCESSES.set_forkserver_preload(["redelve.challenge.server.app", "tests.challenge.stress"])
NAMES = ("anna", "berta", "carla", "doris", "emma")


@dataclass
class Crew:
    """The processes; whoever is killed is started again at once."""

    plan: Plan
    rng: random.Random
    running: dict[tuple[str, int], BaseProcess] = field(default_factory=dict)
    killed: Counter[str] = field(default_factory=Counter)

    def start(self, role: str, number: int = 0) -> BaseProcess:
        process = PROCESSES.Process(target=play, args=(role, self.plan, number), daemon=True)
        process.start()
        self.running[role, number] = process
        return process

    def kill_one(self) -> None:
        """Kill −9 the server or one of the workers, in turns, and start it again."""
        role = ("server", "worker")[self.killed.total() % 2]
        number = self.rng.randrange(self.plan.workers) if role == "worker" else 0
        self.running[role, number].kill()
        self.running[role, number].join()
        self.killed[role] += 1
        self.start(role, number)

    def wait_for_server(self, seconds: float = 60.0) -> None:
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            try:
                httpx.get(f"{self.plan.url}/health").raise_for_status()
            except httpx.HTTPError:
                time.sleep(0.05)
            else:
                return
        raise AssertionError(f"no server after {seconds} s: {self.log('server')}")

    def log(self, role: str, number: int = 0) -> str:
        return (self.plan.place / f"{role}-{number}.log").read_text()[-2000:]

    def stop(self) -> None:
        for process in self.running.values():
            process.kill()
            process.join()


@contextmanager
def crew_for(plan: Plan, seed: int) -> Iterator[Crew]:
    """A server and workers that run as long as the block does."""
    crew = Crew(plan, random.Random(seed))
    try:
        crew.start("server")
        crew.wait_for_server()
        for number in range(plan.workers):
            crew.start("worker", number)
        yield crew
    finally:
        crew.stop()


@dataclass(frozen=True)
class Stress:
    """How often something is killed while entries are sent and after the end, and the time for it all."""

    kills: int
    kills_after_end: int
    pause: float
    seconds: float


def end_of_challenge(services: Services) -> None:
    """An organiser lets the challenge end now."""
    link = services.organiser_link()
    assert link is not None
    secret = link.rpartition("/")[2]
    user = services.accounts.use_invitation(services.now(), "here", secret, "Olga", PASSWORD)
    moments = {"validation_labels": "now", "ends": "now"}
    organising.move_phases(services, Actor(user), moments, "everybody has sent everything")


def run_through(plan: Plan, stress: Stress, services: Services) -> dict[str, float]:
    """Clients send all they have, the challenge ends, the ranking is made; how long it took."""
    start, until = time.monotonic(), time.monotonic() + stress.seconds
    with crew_for(plan, seed=5) as crew:
        clients = [crew.start("client", number) for number in range(plan.clients)]
        while any(client.is_alive() for client in clients):
            assert time.monotonic() < until, f"clients are not done: {crew.log('client')}"
            if crew.killed.total() < stress.kills:
                crew.kill_one()
                crew.wait_for_server()
            time.sleep(crew.rng.uniform(0.0, stress.pause))
        assert [client.exitcode for client in clients] == [0] * plan.clients, crew.log("client")
        sent = time.monotonic() - start
        end_of_challenge(services)
        for _ in range(stress.kills_after_end):
            time.sleep(crew.rng.uniform(0.0, stress.pause))
            crew.kill_one()
        wait_for_ranking(services, until)
        print(f"killed: {dict(crew.killed)}")
    return {"sent": sent, "ranked": time.monotonic() - start}


def wait_for_ranking(services: Services, until: float) -> None:
    while True:
        with services.database.reading() as session:
            if session.scalar(select(func.count()).select_from(RankingMade)):
                return
            left = session.scalar(select(func.count()).where(QueuedJob.state.in_((WAITING, LEASED))))
        assert time.monotonic() < until, f"the ranking is not made: {left} jobs are left"
        time.sleep(0.2)


def make_zips(challenge: Challenge, plan: Plan) -> list[dict[str, DatasetEntry]]:
    """A few zips whose answers are wrong in different places."""
    made = []
    for number in range(plan.zips):
        rng = np.random.default_rng(number)
        entries = {name: some_answers(challenge, name, rng, 0.1 + 0.03 * number) for name in challenge.names}
        pack(plan.place / f"{number}.zip", entries)
        made.append(entries)
    return made


def some_answers(challenge: Challenge, name: str, rng: np.random.Generator, wrong: float) -> DatasetEntry:
    given = {}
    for part in PARTS:
        truths = challenge.truths(name, part)
        given[part] = np.where(rng.random(truths.size) < wrong, -truths, truths).astype(np.int8)
    return DatasetEntry(given, {}, wrong)


# What must hold afterwards


def acknowledged(plan: Plan) -> list[dict[str, Any]]:
    """What clients were told that it was received."""
    lines = [
        line
        for number in range(plan.clients)
        for line in (plan.place / f"acknowledged-{number}.jsonl").read_text().splitlines()
    ]
    return [json.loads(line) for line in lines]


def check_nothing_lost_or_doubled(plan: Plan, services: Services) -> None:
    told = acknowledged(plan)
    assert len(told) == plan.participants * plan.rounds
    with services.database.reading() as session:
        entries = {entry.id: entry for entry in session.scalars(select(Entry))}
    assert len({each["entry"] for each in told}) == len(told) == len(entries)
    for each in told:
        entry = entries[each["entry"]]
        assert entry.label == f"{each['person']}/{each['turn']}"
        assert entry.sha256 == each["sha256"]
    digests = [hashlib.sha256((plan.place / f"{n}.zip").read_bytes()).hexdigest() for n in range(plan.zips)]
    assert all(each["sha256"] == digests[each["zip"]] for each in told)
    for entry in entries.values():
        stored = services.settings.uploads / entry.stored
        assert hashlib.sha256(stored.read_bytes()).hexdigest() == entry.sha256


def check_scored_once(plan: Plan, services: Services) -> None:
    count = plan.participants * plan.rounds
    with services.database.reading() as session:
        assert Counter(session.scalars(select(Entry.state))) == {SCORED: count}
        scored = Counter(session.scalars(select(EntryEvent.entry_id).where(EntryEvent.state == SCORED)))
        jobs = Counter(tuple(row) for row in session.execute(select(QueuedJob.kind, QueuedJob.state)))
        for table in (DevelopmentScore, FinalScore):
            assert session.scalar(select(func.count()).select_from(table)) == 5 * count
    assert len(scored) == count
    assert set(scored.values()) == {1}
    assert jobs == {("check", DONE): count, ("final", DONE): count, ("ranking", DONE): 1}


def check_scores(plan: Plan, services: Services, made: list[dict[str, DatasetEntry]]) -> None:
    """Every score is that of a direct computation, and the test BER that of bare NumPy."""
    challenge = services.challenge
    right = {}
    for number in range(plan.zips):
        submission = read_submission(plan.place / f"{number}.zip", challenge)
        for table, parts in ((DevelopmentScore, ("train", "valid")), (FinalScore, PARTS)):
            found = scores_to_json(score_submission(submission, challenge, parts))
            right[table.__tablename__, number] = json.loads(json.dumps(found))
    by_entry = {each["entry"]: each["zip"] for each in acknowledged(plan)}
    with services.database.reading() as session:
        for table in (DevelopmentScore, FinalScore):
            for row in session.execute(select(table.entry_id, table.dataset, table.content)):
                assert row.content == right[table.__tablename__, by_entry[row.entry_id]][row.dataset]
    for number, entries in enumerate(made):
        for name, entry in entries.items():
            truths, given = challenge.truths(name, "test"), entry.answers["test"]
            ber = np.mean([(given != truths)[truths == label].mean() for label in (-1, 1)])
            found = right["final_scores", number][name]["parts"]["test"]["ber"]
            assert found == pytest.approx(ber, abs=1e-12)


def check_ranking(plan: Plan, services: Services) -> None:
    """The ranking has the last five entries of every participant, and no others."""
    with services.database.reading() as session:
        board = session.scalars(select(RankingMade)).one().content
        users = set(session.scalars(select(User.id).where(User.role == "participant")))
        expected = set()
        for user in users:
            mine = select(Entry.id).where(Entry.user_id == user)
            expected |= set(
                session.scalars(mine.order_by(Entry.received_at.desc(), Entry.id.desc()).limit(5))
            )
    assert len(users) == plan.participants
    assert {row["entry"] for row in board["overall"]} == expected
    assert len(board["participants"]) == plan.participants
    assert board["finals"] == plan.participants * plan.rounds


def free_port() -> int:
    with bound(ServingPlace(port=0)) as listening:
        return int(listening.getsockname()[1])


def phases_about_now() -> Phases:
    now, day = datetime.now(UTC), timedelta(days=1)
    return Phases(now - day, now + day, now + 2 * day)


def check_all(challenge: Challenge, plan: Plan, stress: Stress) -> dict[str, float]:
    made = make_zips(challenge, plan)
    services = open_services(plan.settings())
    try:
        times = run_through(plan, stress, services)
        check_nothing_lost_or_doubled(plan, services)
        check_scored_once(plan, services)
        check_scores(plan, services, made)
        check_ranking(plan, services)
    finally:
        services.close()
    return times


@pytest.fixture(params=["SQLite", pytest.param("PostgreSQL", marks=pytest.mark.slow)])
def place(request: pytest.FixtureRequest) -> str | None:
    """The address of an empty database; None for the usual place of SQLite."""
    return None if request.param == "SQLite" else request.getfixturevalue("new_postgresql")()


def test_nothing_is_lost_when_server_and_workers_are_killed(tmp_path: Path, place: str | None) -> None:
    sources = {name: some_patterns(number) for number, name in enumerate(NAMES)}
    challenge = prepare_challenge(tmp_path / "challenge", sources, title="Trial", phases=phases_about_now())
    plan = Plan(str(tmp_path), place, free_port(), participants=8, rounds=4, zips=3, clients=2)
    check_all(challenge, plan, Stress(kills=3, kills_after_end=1, pause=0.5, seconds=120))


@pytest.mark.slow
def test_two_hundred_participants_send_two_thousand_entries(tmp_path: Path, place: str | None) -> None:
    """Five datasets, 10⁵ test cases in one. Run with -s to see how long it took."""
    challenge = example(tmp_path / "challenge", phases=phases_about_now())
    assert max(dataset.sizes["test"] for dataset in challenge.datasets) == 100_000
    plan = Plan(str(tmp_path), place, free_port(), participants=200, rounds=10, zips=8, lease_seconds=5.0)
    times = check_all(challenge, plan, Stress(kills=40, kills_after_end=10, pause=6.0, seconds=3600))
    rates = {name: round(2000 / seconds, 1) for name, seconds in times.items()}
    print(f"{'SQLite' if place is None else 'PostgreSQL'}: seconds {times}, entries per second {rates}")
