"""Phases by the server's clock, and what an organiser may move."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from sqlalchemy import select

from redelve.challenge import Phases
from redelve.challenge.server.database_tables import AuditNote
from redelve.challenge.server.standing import PhaseSchedule, Stage
from tests.challenge.server.bench import ENDS, LABELS, OPENS, PHASES, START, Bench, zipped

SECOND = timedelta(seconds=1)


@pytest.mark.parametrize(
    ("moment", "stage"),
    [
        (OPENS - SECOND, Stage.BEFORE),
        (OPENS, Stage.DEVELOPMENT),
        (LABELS - SECOND, Stage.DEVELOPMENT),
        (LABELS, Stage.LABELS),
        (ENDS - SECOND, Stage.LABELS),
        (ENDS, Stage.ENDED),
    ],
)
def test_each_instant_belongs_to_the_phase_it_begins(moment: datetime, stage: Stage) -> None:
    assert PhaseSchedule(PHASES).stage(moment) is stage


def test_what_comes_next_is_told() -> None:
    assert PhaseSchedule(PHASES).next_change(START) == ("validation labels are published", LABELS)
    assert PhaseSchedule(PHASES).next_change(ENDS) is None


def test_before_opening_nothing_is_given_or_taken(bench: Bench) -> None:
    bench.join("Ada")
    bench.clock.set(OPENS - SECOND)
    assert bench.client.get("/api/v1/data").json() == {}
    assert bench.client.get("/data/ada/ada_train.data").status_code == 404
    refused = bench.send("Ada")
    assert (refused.status_code, refused.json()["error"]["code"]) == (403, "not_open")


def test_validation_labels_appear_when_their_phase_begins(bench: Bench) -> None:
    path = "/data/ada/ada_valid.labels"
    bench.clock.set(LABELS - SECOND)
    assert bench.client.get(path).status_code == 404
    bench.clock.set(LABELS)
    labels = bench.client.get(path)
    assert labels.text.split() == [str(label) for label in bench.challenge.truths("ada", "valid").tolist()]
    assert bench.client.get("/data/ada/ada_test.labels").status_code == 404


def test_an_upload_counts_by_when_its_last_byte_came(bench: Bench) -> None:
    """Begun in time, finished one second late: refused, and no file is left."""
    bench.join("Ada")
    bench.clock.set(ENDS - 30 * SECOND)
    data = zipped(bench.challenge)

    def slowly() -> Iterator[bytes]:
        yield data[:1000]
        bench.clock.set(ENDS)
        yield data[1000:]

    late = bench.client.post("/api/v1/entries", content=slowly(), headers=bench.headers("Ada"))
    assert (late.status_code, late.json()["error"]["code"]) == (403, "ended")
    assert list(bench.settings.uploads.rglob("*.zip*")) == []


@pytest.mark.parametrize("header", ["Date", "X-Forwarded-Date", "If-Unmodified-Since", "X-Received-At"])
def test_no_header_of_a_client_moves_the_clock(bench: Bench, header: str) -> None:
    bench.join("Ada")
    bench.clock.set(ENDS)
    sent = bench.send("Ada", headers={header: "Thu, 01 Jan 2026 00:00:00 GMT"})
    assert sent.status_code == 403


def test_the_end_once_acted_upon_stays_even_if_the_clock_goes_back(bench: Bench) -> None:
    bench.join("Ada")
    bench.send("Ada")
    bench.clock.set(ENDS)
    bench.work()
    bench.clock.set(START)
    assert bench.services.stage() is Stage.ENDED
    assert bench.send("Ada").status_code == 403


class TestMovingPhases:
    def moved(self, bench: Bench, **fields: str) -> int:
        organiser = bench.organiser()
        answer = organiser.fill("/organiser", "/organiser/phases", reason="more time", **fields)
        return answer.status_code

    def test_the_end_can_be_moved_and_is_in_the_audit_log(self, bench: Bench) -> None:
        assert self.moved(bench, ends="2026-03-10T00:00") == 303
        assert bench.services.schedule().phases.ends == datetime(2026, 3, 10, tzinfo=UTC)
        with bench.services.database.reading() as session:
            note = session.scalars(select(AuditNote).where(AuditNote.action == "phases moved")).one()
        assert note.actor == "Olga"
        assert note.details["changed"] == {"ends": [ENDS.isoformat(), "2026-03-10T00:00:00+00:00"]}
        assert note.details["reason"] == "more time"

    def test_now_ends_the_challenge(self, bench: Bench) -> None:
        assert self.moved(bench, validation_labels="now", ends="now") == 303
        assert bench.services.stage() is Stage.ENDED

    @pytest.mark.parametrize(
        "fields",
        [
            {"opens": "2026-02-01T00:00"},  # it is open already
            {"ends": "2026-01-05T00:00"},  # in the past
            {"ends": "2026-02-01T00:00"},  # before the labels
            {"ends": "soon"},
            {"ends": "9999-12-31T23:59:59-14:00"},
        ],
    )
    def test_what_makes_no_sense_is_refused(self, bench: Bench, fields: dict[str, str]) -> None:
        assert self.moved(bench, **fields) == 422
        assert bench.services.schedule().phases == PHASES

    def test_nothing_moves_after_the_end(self, bench: Bench) -> None:
        bench.clock.set(ENDS)
        assert self.moved(bench, ends="2026-04-01T00:00") == 409

    def test_a_participant_cannot_move_them(self, bench: Bench) -> None:
        browser = bench.browser()
        browser.register("Ada")
        answer = browser.fill("/account", "/organiser/phases", ends="now", reason="mine")
        assert answer.status_code == 403
        assert bench.services.schedule().phases == PHASES


def test_times_are_read_and_shown_in_the_challenges_zone(bench: Bench, tmp_path: Path) -> None:
    toml = bench.settings.challenge / "challenge.toml"
    toml.write_text(toml.read_text().replace("[phases]\n", '[phases]\ntime_zone = "Europe/Zurich"\n'))
    from redelve.challenge.server.app import create_app
    from tests.challenge.server.bench import Bench as Other
    from tests.challenge.server.bench import TestClient

    app = create_app(bench.settings, clock=bench.clock)
    other = Other(bench.challenge, bench.settings, bench.clock, app, TestClient(app))
    assert "2026-03-01 01:00 Europe/Zurich (00:00 UTC)" in other.client.get("/").text
    organiser = other.organiser()
    organiser.fill("/organiser", "/organiser/phases", ends="2026-03-05T12:00", reason="noon there")
    assert other.services.schedule().phases.ends == datetime(2026, 3, 5, 11, tzinfo=UTC)
    other.services.close()


def test_phases_must_come_in_order() -> None:
    assert PhaseSchedule(Phases(OPENS, LABELS, ENDS), closed=LABELS).deadline == LABELS
