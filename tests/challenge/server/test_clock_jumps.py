"""A clock that jumps forward ends nothing before an organiser has said that it is right."""

from datetime import timedelta

import pytest
from sqlalchemy import select

from redelve.challenge.server.clock import ManualClock, SystemClock
from redelve.challenge.server.database_tables import AuditNote
from redelve.challenge.server.services import open_services
from redelve.challenge.server.standing import Stage
from redelve.challenge.server.worker import Worker
from tests.challenge.server.bench import ENDS, LABELS, PASSWORD, START, Bench


@pytest.fixture
def played(bench: Bench) -> Bench:
    bench.join("Ada")
    assert bench.send("Ada").status_code == 201
    bench.work()
    return bench


def test_a_jump_while_the_server_runs_ends_nothing(played: Bench) -> None:
    played.clock.jump(days=60)
    played.work()
    assert played.client.get("/health").json() == {"stage": "development"}
    assert played.client.get("/data/ada/ada_valid.labels").status_code == 404
    assert played.client.get("/api/v1/ranking").status_code == 403
    refused = played.send("Ada")
    assert (refused.status_code, refused.json()["error"]["code"]) == (503, "clock")
    assert "clock jumped" in played.client.get("/").text
    played.clock.jump(days=-60)  # somebody has set it right
    played.work()
    assert played.services.stage() is Stage.DEVELOPMENT
    assert played.send("Ada").status_code == 201
    assert "clock jumped" not in played.client.get("/").text


def test_an_organiser_confirms_and_the_challenge_ends(played: Bench) -> None:
    organiser = played.organiser()
    assert organiser.fill("/organiser", "/organiser/clock").status_code == 409
    played.clock.jump(days=60)
    assert "clock says" in organiser.get("/organiser").text
    assert organiser.fill("/organiser", "/organiser/clock").status_code == 303
    assert played.services.stage() is Stage.ENDED
    played.work()
    assert played.client.get("/api/v1/ranking").status_code == 200
    with played.services.database.reading() as session:
        (note,) = session.scalars(select(AuditNote).where(AuditNote.action == "clock confirmed"))
    assert note.actor == "Olga"
    assert note.details["to"] == played.clock.now().isoformat()


def test_a_participant_cannot_confirm(played: Bench) -> None:
    browser = played.browser()
    browser.fill("/login", name="Ada", password=PASSWORD)
    played.clock.jump(days=60)
    assert browser.fill("/account", "/organiser/clock").status_code == 403
    assert played.services.stage() is Stage.DEVELOPMENT


def test_a_start_long_after_the_last_run_asks_first(played: Bench) -> None:
    """Fifteen seconds with a clock sixty days ahead ended a challenge for ever."""
    ahead = ManualClock(START + timedelta(days=60))
    wrong = open_services(played.settings, ahead)
    Worker(wrong).run_until_idle()
    ahead.advance(seconds=15)
    Worker(wrong).run_until_idle()
    assert wrong.stage() is Stage.DEVELOPMENT
    assert wrong.clock.reading().is_held
    assert wrong.now() == START + timedelta(seconds=15)
    wrong.close()
    again = open_services(played.settings, ManualClock(START + timedelta(minutes=1)))
    assert again.stage() is Stage.DEVELOPMENT
    assert not again.clock.reading().is_held
    again.close()


def test_other_processes_follow_a_confirmation(played: Bench) -> None:
    other = open_services(played.settings, played.clock)
    organiser = played.organiser()
    played.clock.jump(days=60)
    assert other.clock.reading().is_held
    organiser.fill("/organiser", "/organiser/clock")
    assert other.stage() is Stage.ENDED
    other.close()


@pytest.mark.parametrize(
    ("days_off", "is_held"),
    [(0.9, False), (20, False), (45, True)],
    ids=["a night", "within a phase", "over one"],
)
def test_a_server_that_was_off_asks_only_where_a_date_has_passed(
    played: Bench, days_off: float, is_held: bool
) -> None:
    clock = ManualClock(START + timedelta(days=days_off))
    later = open_services(played.settings, clock)
    assert later.clock.reading().is_held == is_held
    assert (later.now() == clock.now()) != is_held
    later.close()


def test_time_that_passes_brings_the_end_by_itself(played: Bench) -> None:
    """Nobody is asked where the clock goes as it should, even if it is set by a little."""
    played.clock.set(LABELS - timedelta(minutes=1))
    played.work()
    played.clock.jump(seconds=90)
    assert played.services.stage() is Stage.LABELS
    played.clock.set(ENDS)
    played.work()
    assert played.services.stage() is Stage.ENDED


def test_a_night_off_over_the_end_is_no_question(played: Bench) -> None:
    played.clock.set(ENDS - timedelta(hours=8))
    played.work()
    later = open_services(played.settings, ManualClock(ENDS + timedelta(hours=1)))
    assert later.stage() is Stage.ENDED
    later.close()


def test_the_machines_clock_runs_evenly() -> None:
    clock = SystemClock()
    first, second = clock.running(), clock.running()
    assert 0 <= second - first < 5
