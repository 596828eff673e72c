"""Whose is it? Entries, tokens and pages of others, with one's own token and cookie."""

from pathlib import Path

import pytest

from tests.challenge.attacks.tools import Operation, Scene, operations, scene, state_of
from tests.challenge.server.bench import ENDS, LABELS, PASSWORD, Bench

OWNED = ("entry_id", "token_id")


def owned(played: Scene) -> list[Operation]:
    """All routes to something that belongs to an account."""
    found = [each for each in operations(played.bench.app) if set(each.in_path) & set(OWNED)]
    found = [each for each in found if not each.path.startswith("/organiser")]
    assert len(found) >= 7
    return found


def ask(played: Scene, operation: Operation, who: str, number: int) -> tuple[int, bytes]:
    """The answer to somebody, with every right they have."""
    path = operation.at(**dict.fromkeys(OWNED, str(number)))
    headers = {"Cookie": played.cookie(who)}
    if who in played.bench.tokens:
        headers |= played.bench.headers(who)
    if operation.method == "POST" and not operation.is_api:
        answer = played.wire.form(path, {"form_token": played.form_token(who)}, headers)
    else:
        answer = played.wire(operation.method, path, headers)
    return answer.status, answer.body


@pytest.mark.parametrize("number", [1, 2])
def test_what_belongs_to_another_is_not_there(played: Scene, number: int) -> None:
    """The answer is the same, byte for byte, as for what does not exist."""
    before = state_of(played.services)
    for operation in owned(played):
        if "token_id" in operation.in_path and number == 2:
            continue  # this one is Bob's own
        there, missing = ask(played, operation, "Bob", number), ask(played, operation, "Bob", 7)
        assert there[0] == 404, str(operation)
        assert there == missing, str(operation)
    assert state_of(played.services) == before


def test_the_same_requests_work_for_who_owns_it(played: Scene) -> None:
    for operation in owned(played):
        if operation.method == "GET":
            assert ask(played, operation, "Ada", 1)[0] == 200, str(operation)


def test_nobody_without_a_login_gets_any_of_it(played: Scene) -> None:
    before = state_of(played.services)
    for operation in owned(played):
        assert played.wire(operation.method, operation.at()).status in (401, 403), str(operation)
    assert state_of(played.services) == before


def test_no_page_of_the_organiser_is_for_participants(played: Scene) -> None:
    """By cookie, by token, and with a form token of their own."""
    before = state_of(played.services)
    found = [each for each in operations(played.bench.app) if each.path.startswith("/organiser")]
    assert len(found) >= 10
    token = played.form_token("Bob")
    for operation in found:
        headers = {"Cookie": played.cookie("Bob"), **played.bench.headers("Bob"), "X-Form-Token": token}
        if operation.method == "GET":
            assert played.wire("GET", operation.at(), headers).status == 403, str(operation)
        else:
            fields = {"form_token": token, "reason": "x", "ends": "now"}
            assert played.wire.form(operation.at(), fields, headers).status == 403, str(operation)
        assert played.wire(operation.method, operation.at()).status in (401, 403), str(operation)
    assert state_of(played.services) == before


@pytest.mark.parametrize(
    "field", ["role", "is_organiser", "id", "user_id", "received_at", "state", "disqualified_at"]
)
def test_no_field_that_is_not_asked_for_has_an_effect(bench: Bench, field: str) -> None:
    """Mass assignment: a registration with more than name and password."""
    document = {"name": "Mallory", "password": PASSWORD, field: "organiser" if field == "role" else 1}
    answer = bench.client.post("/api/v1/accounts", json=document)
    assert answer.status_code == 201
    assert answer.json()["role"] == "participant"
    assert answer.json()["id"] == 1
    browser = bench.browser()
    browser.fill("/register", name="Mallory 2", password=PASSWORD, role="organiser", is_organiser="true")
    assert browser.get("/organiser").status_code == 403


def test_the_key_of_another_upload_gives_nothing_away(bench: Bench) -> None:
    """An Idempotency-Key is looked up among one's own entries only."""
    for name in ("Ada", "Bob"):
        bench.join(name)
    key = {"Idempotency-Key": "the same"}
    first = bench.send("Ada", headers=key).json()
    second = bench.send("Bob", b"PK", headers=key)
    assert second.status_code == 201
    assert second.json()["id"] != first["id"]
    assert second.json()["participant"] == "Bob"


def test_a_board_tells_of_names_and_scores_only(played: Scene) -> None:
    """No label, no digest of a file, no address, no token of anybody is on the boards."""
    entry = played.bench.entry("Ada", 1)
    for path in ("/leaderboard", "/leaderboard/ada", "/api/v1/leaderboard", "/tables/ada.csv", "/learning"):
        text = played.wire("GET", path, {"Cookie": played.cookie("Bob")}).text
        assert entry["sha256"] not in text
        assert "192.0.2." not in text
        assert "testclient" not in text


def test_a_new_password_ends_sessions_and_tokens(bench: Bench) -> None:
    """Who stole the old password may have made tokens with it."""
    bench.join("Ada")
    thief = bench.browser()
    thief.fill("/login", name="Ada", password=PASSWORD)
    page = bench.organiser().fill("/organiser", "/organiser/users/1/link").text
    link = page.split('id="reset-link">')[1].split("<")[0].removeprefix("http://testserver")
    assert bench.browser().fill(link, password="a new password").status_code == 303
    assert thief.get("/account").status_code == 401
    assert bench.client.get("/api/v1/account", headers=bench.headers("Ada")).status_code == 401


@pytest.mark.parametrize("moment", [LABELS, ENDS])
def test_the_walls_stand_in_every_phase(tmp_path: Path, moment: object) -> None:
    with scene(tmp_path) as played:
        played.bench.clock.set(moment)  # type: ignore[arg-type]
        played.bench.work()
        for name in ("Ada", "Bob"):
            played.browsers[name].fill("/login", name=name, password=PASSWORD)
        for operation in owned(played):
            assert ask(played, operation, "Bob", 1)[0] == 404, str(operation)
