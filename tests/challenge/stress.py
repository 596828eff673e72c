"""The parts of the stress test that run as processes of their own, to be killed: server, worker, client."""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from redelve.challenge.server.app import create_app
from redelve.challenge.server.client import Client, ServerRefused
from redelve.challenge.server.services import open_services
from redelve.challenge.server.serving import ServingPlace, bound, server_of
from redelve.challenge.server.settings import PasswordCost, RateLimits, Settings
from redelve.challenge.server.worker import Worker
from redelve.errors import LocationError

PASSWORD = "correct horse"
PATIENCE = 60
"""How often a client tries again before it gives up: a server that was killed needs seconds to be back."""
PLENTY = (10**6, 3600)
ANY_NUMBER = RateLimits(PLENTY, PLENTY, PLENTY, PLENTY, PLENTY, PLENTY)


@dataclass(frozen=True)
class Plan:
    """Who sends how much to where. All participants come from one address, so rates are not limited."""

    folder: str
    database: str | None
    port: int
    participants: int
    rounds: int
    zips: int
    clients: int = 4
    workers: int = 2
    lease_seconds: float = 1.0

    @property
    def place(self) -> Path:
        return Path(self.folder)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def settings(self) -> Settings:
        """As a real server has them, but with short leases, and jobs are not given up after three kills."""
        usual = Settings.for_folder(self.place / "challenge", database=self.database)
        return replace(
            usual,
            workers=0,
            lease_seconds=self.lease_seconds,
            poll_seconds=0.1,
            attempts=1000,
            passwords=PasswordCost(1, 8, 1),
            rates=ANY_NUMBER,
        )

    def zip_of(self, participant: int, turn: int) -> int:
        """Which of the zips a participant sends at a turn."""
        return (3 * participant + turn) % self.zips


def serve(plan: Plan) -> None:
    """The server without workers."""
    listening = bound(ServingPlace(port=plan.port))
    server_of(create_app(plan.settings()), ServingPlace(port=plan.port)).run(sockets=[listening])


def work(plan: Plan) -> None:
    """A worker, for ever."""
    Worker(open_services(plan.settings())).run(threading.Event())


def take_part(plan: Plan, number: int) -> None:
    """Several participants in turns; what the server acknowledged is written down at once."""
    mine = range(number, plan.participants, plan.clients)
    clients = {person: Client(plan.url, join(plan, person), attempts=PATIENCE) for person in mine}
    with (plan.place / f"acknowledged-{number}.jsonl").open("a") as acknowledged:
        for turn in range(plan.rounds):
            for person, client in clients.items():
                chosen = plan.zip_of(person, turn)
                entry = client.submit(plan.place / f"{chosen}.zip", f"{person}/{turn}")
                told = {"person": person, "turn": turn, "zip": chosen, "entry": entry["id"]}
                acknowledged.write(json.dumps(told | {"sha256": entry["sha256"]}) + "\n")
                acknowledged.flush()
            next(iter(clients.values())).get("/api/v1/leaderboard")


def name_of(person: int) -> str:
    return f"participant {person:04}"


def join(plan: Plan, person: int) -> str:
    """Register and make a token, as often as it takes; a name that is taken is one's own by then."""
    credentials = {"name": name_of(person), "password": PASSWORD}
    with Client(plan.url) as client:
        again_until_answered(client, "/api/v1/accounts", credentials)
        token = again_until_answered(client, "/api/v1/tokens", credentials)
    assert token is not None
    return str(token["token"])


def again_until_answered(client: Client, path: str, document: dict[str, str]) -> Any:
    for _ in range(PATIENCE):
        try:
            return client.post(path, document)
        except LocationError:
            time.sleep(0.5)
        except ServerRefused as refused:
            if refused.code == "name_taken":
                return None
            if refused.status != 503:
                raise
            time.sleep(0.5)
    raise AssertionError(f"{path}: the server did not come back")


def play(role: str, plan: Plan, number: int) -> None:
    """A process: what it prints goes to a file."""
    with (plan.place / f"{role}-{number}.log").open("a") as log:
        os.dup2(log.fileno(), sys.stdout.fileno())
        os.dup2(log.fileno(), sys.stderr.fileno())
        if role == "client":
            take_part(plan, number)
        else:
            {"server": serve, "worker": work}[role](plan)
