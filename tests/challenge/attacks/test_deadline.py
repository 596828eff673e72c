"""Submitting after the deadline by clock tricks: only the server's clock at the last byte counts."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from sqlalchemy import func, select

from redelve.challenge.server.database_tables import Entry
from tests.challenge.attacks.tools import Wire
from tests.challenge.server.bench import ENDS, OPENS, PASSWORD, Bench, zipped

MOMENT = timedelta(microseconds=1)


def entries_of(bench: Bench) -> int:
    with bench.services.database.reading() as session:
        return session.scalar(select(func.count()).select_from(Entry)) or 0


def slowly(bench: Bench, data: bytes, until: object) -> Iterator[bytes]:
    """The file in two pieces, between which the clock goes on."""
    yield data[:100]
    bench.clock.set(until)  # type: ignore[arg-type]
    yield data[100:]


@pytest.mark.parametrize(("last_byte", "code"), [(ENDS - MOMENT, 201), (ENDS, 403), (ENDS + MOMENT, 403)])
def test_an_upload_that_begins_before_and_ends_after_the_deadline_is_late(
    bench: Bench, last_byte: object, code: int
) -> None:
    bench.join("Ada")
    data = zipped(bench.challenge)
    bench.clock.set(ENDS - timedelta(minutes=5))
    body = slowly(bench, data, last_byte)
    answer = bench.client.post("/api/v1/entries", content=body, headers=bench.headers("Ada"))
    assert answer.status_code == code
    assert entries_of(bench) == (code == 201)
    assert len(list(bench.settings.uploads.rglob("*.zip*"))) == (code == 201)


def test_the_same_holds_for_the_page(bench: Bench) -> None:
    bench.clock.set(ENDS - timedelta(minutes=5))
    browser = bench.browser()
    browser.register("Ada")
    headers = {"X-Form-Token": browser.token("/submit")}
    body = slowly(bench, zipped(bench.challenge), ENDS)
    assert browser.client.post("/submit", content=body, headers=headers).status_code == 403
    form = {"form_token": headers["X-Form-Token"]}
    answer = browser.client.post("/submit/form", data=form, files={"file": ("a.zip", b"PK")})
    assert answer.status_code == 403
    assert entries_of(bench) == 0


CLAIMS = (
    {"Date": "Thu, 01 Jan 2026 00:00:00 GMT"},
    {"X-Timestamp": "1767225600"},
    {"If-Unmodified-Since": "Thu, 01 Jan 2026 00:00:00 GMT"},
    {"Last-Modified": "Thu, 01 Jan 2026 00:00:00 GMT"},
    {"X-Received-At": "2026-01-10T00:00:00Z", "X-Phase": "development"},
)


@pytest.mark.parametrize("claim", CLAIMS, ids=str)
def test_no_date_that_a_client_sends_is_believed(bench: Bench, claim: dict[str, str]) -> None:
    bench.join("Ada")
    bench.clock.set(ENDS)
    assert bench.send("Ada", headers=claim).status_code == 403
    query = "?received_at=2026-01-10T00:00:00Z&now=2026-01-10&submitted=2026-01-10&phase=development"
    answer = bench.client.post(f"/api/v1/entries{query}", content=b"PK", headers=bench.headers("Ada"))
    assert answer.status_code == 403
    assert entries_of(bench) == 0


def test_a_key_of_an_earlier_upload_brings_no_new_file_in(bench: Bench) -> None:
    """Sent again after the end it is the old entry; with another file it is refused."""
    bench.join("Ada")
    key = {"Idempotency-Key": "one"}
    first = bench.send("Ada", headers=key).json()
    bench.clock.set(ENDS)
    again = bench.send("Ada", headers=key)
    assert (again.status_code, again.json()["id"]) == (200, first["id"])
    other = bench.send("Ada", seed=9, headers=key)
    assert (other.status_code, other.json()["error"]["code"]) == (422, "key_reused")
    assert entries_of(bench) == 1


def test_a_clock_put_back_after_the_end_opens_nothing(bench: Bench) -> None:
    bench.join("Ada")
    bench.send("Ada")
    bench.clock.set(ENDS)
    bench.work()
    for moment in (ENDS - MOMENT, ENDS - timedelta(days=30)):
        bench.clock.set(moment)
        assert bench.send("Ada", seed=2).status_code == 403
        assert bench.client.get("/health").json() == {"stage": "ended"}
    assert entries_of(bench) == 1


def test_an_upload_over_a_clock_that_is_put_back_is_late(bench: Bench) -> None:
    """It began in time, the end was acted upon, and then the clock went back under it."""
    bench.join("Ada")
    data = zipped(bench.challenge)
    bench.clock.set(ENDS - timedelta(minutes=5))

    def pieces() -> Iterator[bytes]:
        yield data[:100]
        bench.clock.set(ENDS)
        bench.work()
        bench.clock.set(ENDS - timedelta(minutes=4))
        yield data[100:]

    answer = bench.client.post("/api/v1/entries", content=pieces(), headers=bench.headers("Ada"))
    assert answer.status_code == 403
    assert entries_of(bench) == 0


def test_the_organiser_cannot_open_what_has_ended(bench: Bench) -> None:
    bench.join("Ada")
    organiser = bench.organiser()
    bench.clock.set(ENDS)
    for work in (False, True):
        if work:
            bench.work()
        organiser.fill("/login", name="Olga", password=PASSWORD)
        for later in ("2026-04-01T00:00", "2027-01-01T00:00+00:00", "now"):
            answer = organiser.fill("/organiser", "/organiser/phases", ends=later, reason="one more day")
            assert answer.status_code == 409
        assert bench.send("Ada").status_code == 403


def test_an_end_moved_earlier_holds_for_uploads_on_their_way(bench: Bench) -> None:
    bench.join("Ada")
    organiser = bench.organiser()
    data, token = zipped(bench.challenge), organiser.token("/organiser")
    moved = []

    def pieces() -> Iterator[bytes]:
        yield data[:100]
        fields = {"ends": "now", "validation_labels": "now", "reason": "stop", "form_token": token}
        cookie = {"Cookie": f"redelve={organiser.client.cookies['redelve']}"}
        with ThreadPoolExecutor(1) as pool:  # this thread has an event loop of its own
            sent = pool.submit(Wire(bench.app).form, "/organiser/phases", fields, cookie)
            moved.append(sent.result().status)
        yield data[100:]

    answer = bench.client.post("/api/v1/entries", content=pieces(), headers=bench.headers("Ada"))
    assert moved == [303]
    assert answer.status_code == 403
    assert entries_of(bench) == 0


def test_before_the_opening_nothing_is_taken_either(bench: Bench) -> None:
    bench.join("Ada")
    bench.clock.set(OPENS - MOMENT)
    assert bench.send("Ada").status_code == 403
    assert bench.client.get("/data/ada/ada_train.data").status_code == 404
    assert entries_of(bench) == 0


def test_waiting_entries_cannot_be_exchanged_after_the_end(bench: Bench) -> None:
    """There is no route that changes the file of an entry; cancelling after the end brings no new one."""
    bench.join("Ada")
    number = bench.send("Ada").json()["id"]
    bench.clock.set(ENDS)
    for method in ("PUT", "PATCH", "POST"):
        answer = bench.client.request(
            method, f"/api/v1/entries/{number}", content=b"PK", headers=bench.headers("Ada")
        )
        assert answer.status_code == 405
    cancelled = bench.client.post(f"/api/v1/entries/{number}/cancel", headers=bench.headers("Ada"))
    assert cancelled.status_code == 200
    assert bench.send("Ada").status_code == 403
