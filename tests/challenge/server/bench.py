"""A small challenge with a server whose clock and workers are in the tests' hands."""

from __future__ import annotations

import atexit
import re
import shutil
import tempfile
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any, cast

import httpx
import numpy as np
from fastapi import FastAPI

from redelve.challenge import (
    Challenge,
    ChallengeDataset,
    ChallengeLimits,
    ChallengeRules,
    DatasetEntry,
    Phases,
    challenge_text,
)
from redelve.challenge import read_challenge as read
from redelve.challenge.challenge_files import labels_bytes
from redelve.challenge.packing import pack_bytes
from redelve.challenge.server.app import create_app
from redelve.challenge.server.clock import ManualClock
from redelve.challenge.server.services import Services, open_services
from redelve.challenge.server.settings import PasswordCost, Settings
from redelve.challenge.server.worker import Worker

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # it would rather have a successor of httpx
    from starlette.testclient import TestClient

__all__ = ["TestClient"]
OPENS = datetime(2026, 1, 1, tzinfo=UTC)
LABELS = datetime(2026, 2, 20, tzinfo=UTC)
ENDS = datetime(2026, 3, 1, tzinfo=UTC)
START = datetime(2026, 1, 10, 12, tzinfo=UTC)
PHASES = Phases(OPENS, LABELS, ENDS)
SIZES = {"train": 60, "valid": 40, "test": 400}
CHEAP = PasswordCost(1, 8, 1)
PASSWORD = "correct horse"
LIMITS = ChallengeLimits()
RULES = ChallengeRules()


def make_challenge(
    folder: Path,
    *,
    phases: Phases = PHASES,
    limits: ChallengeLimits = LIMITS,
    rules: ChallengeRules = RULES,
) -> Challenge:
    """Two datasets with labels at random."""
    datasets = tuple(ChallengeDataset(name, "dense", SIZES, 3) for name in ("ada", "nova"))
    for number, dataset in enumerate(datasets):
        public, secret = folder / "public" / dataset.name, folder / "secret"
        public.mkdir(parents=True)
        secret.mkdir(exist_ok=True, mode=0o700)
        rng = np.random.default_rng(number)
        (public / f"{dataset.name}.param").write_text("features = 3\n")
        for part, size in SIZES.items():
            labels = np.where(rng.permutation(size) < size // 3, 1, -1).astype(np.int8)
            place = public if part == "train" else secret
            (place / f"{dataset.name}_{part}.labels").write_bytes(labels_bytes(labels))
            (public / f"{dataset.name}_{part}.data").write_text("1 2 3\n" * size)
    text = challenge_text("A trial <b>", "Some words.\n\nMore words.", datasets, phases, limits, rules)
    (folder / "challenge.toml").write_text(text)
    return read(folder)


def answers(
    challenge: Challenge, *, wrong: float = 0.2, seed: int = 0, guess: float | None = None
) -> dict[str, DatasetEntry]:
    """Answers of which a share is wrong, with a guess."""
    found = {}
    for dataset in challenge.names:
        rng = np.random.default_rng([seed, len(dataset)])
        parts, confidences = {}, {}
        for part in SIZES:
            truths = challenge.truths(dataset, part)
            given = np.where(rng.random(truths.size) < wrong, -truths, truths).astype(np.int8)
            parts[part], confidences[part] = given, given + rng.normal(0, 0.1, given.size)
        found[dataset] = DatasetEntry(parts, confidences, wrong if guess is None else guess)
    return found


def zipped(challenge: Challenge, **options: Any) -> bytes:
    """A whole submission."""
    return pack_bytes(answers(challenge, **options))


@dataclass
class Bench:
    """A server in this process: its app, clock, services and a worker that works when it is told to."""

    challenge: Challenge
    settings: Settings
    clock: ManualClock
    app: FastAPI
    client: TestClient
    tokens: dict[str, str] = field(default_factory=dict)

    @property
    def services(self) -> Services:
        """What the app works with."""
        return cast(Services, self.app.state.services)

    def work(self) -> int:
        """Do all jobs there are."""
        return Worker(self.services, "tester").run_until_idle()

    # Participants by API

    def join(self, name: str) -> str:
        """Register; the token of the new account."""
        answer = self.client.post("/api/v1/accounts", json={"name": name, "password": PASSWORD})
        assert answer.status_code == 201, answer.text
        made = self.client.post("/api/v1/tokens", json={"name": name, "password": PASSWORD})
        assert made.status_code == 201, made.text
        self.tokens[name] = made.json()["token"]
        return self.tokens[name]

    def headers(self, name: str) -> dict[str, str]:
        """What the API wants to see."""
        return {"Authorization": f"Bearer {self.tokens[name]}"}

    def send(self, name: str, data: bytes | None = None, **options: Any) -> httpx.Response:
        """Send an entry."""
        extra: Mapping[str, str] = options.pop("headers", {})
        body = zipped(self.challenge, **options) if data is None else data
        headers = {**self.headers(name), **extra}
        return cast(httpx.Response, self.client.post("/api/v1/entries", content=body, headers=headers))

    def entry(self, name: str, number: int) -> dict[str, Any]:
        """What the API tells of an entry."""
        answer = self.client.get(f"/api/v1/entries/{number}", headers=self.headers(name))
        assert answer.status_code == 200, answer.text
        return cast(dict[str, Any], answer.json())

    # Browsers

    def browser(self) -> Browser:
        """A browser with cookies of its own."""
        return Browser(TestClient(self.app, follow_redirects=False))

    def organiser(self) -> Browser:
        """A browser of somebody who followed the organiser's link."""
        link = self.services.organiser_link()
        assert link is not None
        browser = self.browser()
        answer = browser.fill(link, name="Olga", password=PASSWORD)
        assert answer.status_code == 303, answer.text
        return browser


@dataclass
class Browser:
    """Loads pages and sends their forms, with the token that the page has."""

    client: TestClient

    def get(self, path: str) -> httpx.Response:
        """Load a page."""
        return cast(httpx.Response, self.client.get(path))

    def token(self, path: str) -> str:
        """The token in a page's forms."""
        found = re.search(r'name="form_token" value="(\w+)"', self.get(path).text)
        assert found is not None, path
        return found[1]

    def fill(self, path: str, target: str | None = None, **fields: str) -> httpx.Response:
        """Load a page and send one of its forms."""
        form = {"form_token": self.token(path), **fields}
        return cast(httpx.Response, self.client.post(target or path, data=form))

    def register(self, name: str) -> httpx.Response:
        """Register and be logged in."""
        return self.fill("/register", name=name, password=PASSWORD)


@cache
def _migrated() -> Path:
    """The files of a server that was started once, to begin with: tests need not wait for migrations."""
    folder = Path(tempfile.mkdtemp(prefix="redelve-migrated-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    make_challenge(folder / "challenge")
    settings = replace(Settings.for_folder(folder / "challenge"), passwords=CHEAP)
    open_services(settings, ManualClock(START)).close()
    return settings.data


@contextmanager
def running(
    folder: Path,
    *,
    database: str | None = None,
    limits: ChallengeLimits = LIMITS,
    rules: ChallengeRules = RULES,
    **changes: Any,
) -> Iterator[Bench]:
    """A server for a new challenge in a folder."""
    challenge = make_challenge(folder / "challenge", limits=limits, rules=rules)
    if database is None:
        shutil.copytree(_migrated(), folder / "challenge" / "server")
        (folder / "challenge" / "server").chmod(0o700)
    settings = Settings.for_folder(folder / "challenge", database=database)
    settings = replace(settings, workers=0, passwords=CHEAP, **changes)
    clock = ManualClock(START)
    app = create_app(settings, clock=clock)
    with TestClient(app, follow_redirects=False) as client:
        yield Bench(challenge, settings, clock, app, client)
