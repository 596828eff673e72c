"""The demonstration's challenge with its three participants, and a headless Chromium to look at it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path

import pytest

from redelve.challenge import Challenge, example, pack
from redelve.challenge.packing import PublicData, read_public
from redelve.challenge.server.app import create_app
from redelve.challenge.server.client import Client
from redelve.challenge.server.clock import ManualClock
from redelve.challenge.server.demonstration import OPENS, PASSWORD, PHASES, Scripted, answer, scripted
from redelve.challenge.server.services import Services, open_services
from redelve.challenge.server.serving import ServingPlace, in_background
from redelve.challenge.server.settings import Settings
from tests.browsers import browser, chromium
from tests.challenge.server.bench import CHEAP

__all__ = ["browser", "chromium"]


@dataclass(frozen=True)
class Stage:
    """A running server: where it is, its clock, and the zips that were sent."""

    url: str
    challenge: Challenge
    clock: ManualClock
    services: Services
    zips: dict[str, Path]


@pytest.fixture(scope="module")
def stage(chromium: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    """The demonstration in its third week: three participants have sent their entries."""
    folder = tmp_path_factory.mktemp("demo")
    challenge = example(folder / "challenge", phases=PHASES)
    clock = ManualClock(OPENS + timedelta(days=1))
    settings = replace(Settings.for_folder(folder / "challenge"), poll_seconds=0.1, passwords=CHEAP)
    services = open_services(settings, clock)
    data = [read_public(challenge, name) for name in challenge.names]
    zips = {}
    with in_background(create_app(settings, services=services), ServingPlace(port=0)) as url:
        for number, person in enumerate(scripted()):
            zips[person.name] = take_part(url, person, data, folder / f"{number}.zip")
            clock.advance(days=7)
        yield Stage(url, challenge, clock, services, zips)


def take_part(url: str, person: Scripted, data: Sequence[PublicData], path: Path) -> Path:
    """Learn and send an entry, as the demonstration does, but with data that were read once for all."""
    pack(path, {each.name: answer(person, each) for each in data})
    with Client(url) as nobody:
        token = nobody.register(person.name, PASSWORD)
    with Client(url, token) as client:
        assert client.wait(client.submit(path, "all datasets")["id"])["state"] == "scored"
    return path
