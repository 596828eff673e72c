"""Forged requests, frames, redirects and cookies: what another site can make a browser do."""

import re
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.challenge.attacks.tools import Operation, Scene, Wire, operations, state_of
from tests.challenge.server.bench import PASSWORD, Bench, running

CHANGING = ("POST", "PUT", "PATCH", "DELETE")


def forms(played: Scene) -> list[Operation]:
    """All routes that change something for who has a cookie."""
    found = [
        operation
        for operation in operations(played.bench.app)
        if operation.method in CHANGING and not operation.is_api
    ]
    assert len(found) >= 14
    return found


def refused(played: Scene, operation: Operation, name: str, token: str | None, **headers: str) -> None:
    """Send a form as somebody, with a token or none; it must be refused and change nothing."""
    fields = dict.fromkeys(operation.in_body, "x") | {"name": "Mallory", "password": PASSWORD}
    fields.pop("form_token", None)
    if token is not None:
        fields["form_token"] = token
        headers["X-Form-Token"] = token
    headers["Cookie"] = played.cookie(name)
    answer = played.wire.form(operation.at(), fields, headers)
    assert answer.status == 403, (str(operation), answer.status)
    assert "set-cookie" not in answer.headers


TOKENS = ("none", "empty", "of another", "of the organiser", "of somebody not logged in", "made up")


@pytest.mark.parametrize("kind", TOKENS)
def test_no_route_changes_anything_without_the_visitors_own_token(played: Scene, kind: str) -> None:
    guest = played.bench.browser()
    tokens = {
        "none": None,
        "empty": "",
        "of another": played.form_token("Bob"),
        "of the organiser": played.form_token("Olga"),
        "of somebody not logged in": guest.token("/login"),
        "made up": "0" * 64,
    }
    before = state_of(played.services)
    for operation in forms(played):
        for name in ("Ada", "Olga"):
            if (name, kind) != ("Olga", "of the organiser"):
                refused(played, operation, name, tokens[kind])
    assert state_of(played.services) == before


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://testserver.evil.example"},
        {"Origin": "http://testserver@evil.example"},
        {"Origin": "http://[::1"},
        {"Origin": ""},
        {"Sec-Fetch-Site": "cross-site"},
    ],
    ids=str,
)
def test_no_route_changes_anything_for_another_site_even_with_the_token(
    played: Scene, headers: dict[str, str]
) -> None:
    token = played.form_token("Ada")
    before = state_of(played.services)
    for operation in forms(played):
        refused(played, operation, "Ada", token, **headers)
    assert state_of(played.services) == before


def test_the_same_forms_are_taken_from_our_own_pages(played: Scene) -> None:
    """The refusals above are about the token and the origin: with both right it works."""
    token = played.form_token("Bob")
    headers = {"Cookie": played.cookie("Bob"), "Origin": "http://testserver", "Sec-Fetch-Site": "same-origin"}
    answer = played.wire.form("/account/tokens", {"form_token": token, "label": "mine"}, headers)
    assert answer.status == 200
    assert "new-token" in answer.text


def test_no_route_changes_anything_when_it_is_only_looked_at(played: Scene) -> None:
    """An image or a link of another site makes a browser send GET with its cookies."""
    before = state_of(played.services)
    for operation in operations(played.bench.app):
        if operation.method == "GET":
            for name in ("Ada", "Olga"):
                path = f"{operation.at()}?undo=true&ends=now&reason=x&label=x"
                assert played.wire("GET", path, {"Cookie": played.cookie(name)}).status < 500
    assert state_of(played.services) == before


@pytest.mark.parametrize(
    "method", ["HEAD", "PUT", "PATCH", "DELETE", "TRACE", "OPTIONS", "POST", "GET", "CONNECT"]
)
def test_a_route_does_nothing_by_another_method(played: Scene, method: str) -> None:
    known = {(operation.method, operation.path) for operation in operations(played.bench.app)}
    before = state_of(played.services)
    for operation in operations(played.bench.app):
        if (method, operation.path) not in known:
            headers = {"Cookie": played.cookie("Olga"), "X-HTTP-Method-Override": "POST"}
            assert played.wire(method, operation.at(), headers).status in (404, 405), str(operation)
    assert state_of(played.services) == before


def test_a_cookie_opens_nothing_of_the_api(played: Scene) -> None:
    """What takes cookies asks for form tokens; what asks for none takes no cookies."""
    before = state_of(played.services)
    for operation in operations(played.bench.app):
        if operation.is_api:
            with_cookie = played.wire(operation.method, operation.at(), {"Cookie": played.cookie("Olga")})
            without = played.wire(operation.method, operation.at())
            assert with_cookie.status == without.status, str(operation)
            if "now" not in with_cookie.text:
                assert with_cookie.body == without.body, str(operation)
    assert state_of(played.services) == before


@pytest.mark.parametrize(
    "kind", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=e", ""]
)
def test_the_api_takes_no_document_that_a_form_of_another_site_can_send(played: Scene, kind: str) -> None:
    """Browsers send these kinds across sites without asking; JSON they do not."""
    before = state_of(played.services)
    body = b'{"name": "Mallory", "password": "correct horse"}'
    headers = {"Content-Type": kind} if kind else {}
    for path in ("/api/v1/accounts", "/api/v1/tokens"):
        assert played.wire("POST", path, headers, body).status in (400, 415, 422)
    assert state_of(played.services) == before


def test_no_answer_lets_other_sites_read_it(played: Scene) -> None:
    for operation in operations(played.bench.app):
        headers = {"Origin": "https://evil.example", "Access-Control-Request-Method": "POST"}
        for method in (operation.method, "OPTIONS"):
            answer = played.wire(method, operation.at(), headers)
            assert not [name for name in answer.headers if name.startswith("access-control")]
            assert answer.headers["cross-origin-resource-policy"] == "same-origin"


# Session fixation and cookies


def test_the_cookie_before_login_is_worth_nothing_after_it(bench: Bench) -> None:
    """Mallory gives Ada a cookie, for instance from a machine both use, and waits for her to log in."""
    bench.join("Ada")
    for cookie in ("chosen", None):
        mallory, ada = bench.browser(), bench.browser()
        mallory.get("/login")
        fixed = cookie or mallory.client.cookies["redelve"]
        for browser in (mallory, ada):
            browser.client.cookies.set("redelve", fixed, domain="testserver.local")
        assert ada.fill("/login", name="Ada", password=PASSWORD).status_code == 303
        own = [each.value for each in ada.client.cookies.jar]
        assert any(value != fixed for value in own)
        assert mallory.get("/account").status_code == 401
        token = mallory.token("/login")
        answer = mallory.client.post("/account/tokens", data={"form_token": token, "label": "x"})
        assert answer.status_code == 401


def test_every_way_in_gives_a_new_cookie_and_ends_the_old_session(bench: Bench) -> None:
    browser = bench.browser()
    cookies = []
    browser.get("/login")
    cookies.append(browser.client.cookies["redelve"])
    browser.register("Ada")
    cookies.append(browser.client.cookies["redelve"])
    browser.fill("/login", name="Ada", password=PASSWORD)
    cookies.append(browser.client.cookies["redelve"])
    link = bench.services.organiser_link()
    browser.fill(str(link), name="Olga", password=PASSWORD)
    cookies.append(browser.client.cookies["redelve"])
    assert len(set(cookies)) == 4
    for old in cookies[:3]:
        stranger = bench.browser()
        stranger.client.cookies.set("redelve", old, domain="testserver.local")
        assert stranger.get("/account").status_code == 401


@pytest.mark.parametrize("is_secure", [False, True])
def test_cookies_are_for_this_host_and_no_script(tmp_path: Path, is_secure: bool) -> None:
    with running(tmp_path, secure=is_secure) as bench:
        answer = bench.client.get("/login")
        flags = {part.strip().lower() for part in answer.headers["set-cookie"].split(";")[1:]}
    name = answer.headers["set-cookie"].split("=")[0]
    assert name == ("__Host-redelve" if is_secure else "redelve")
    assert {"httponly", "samesite=lax", "path=/"} <= flags
    assert ("secure" in flags) == is_secure
    assert not any(flag.startswith("domain") for flag in flags)
    assert len(answer.headers["set-cookie"].split("=")[1].split(";")[0]) == 43


def test_no_cookie_is_given_to_who_only_looks(played: Scene) -> None:
    for path in ("/", "/data", "/leaderboard", "/learning", "/api", "/api/v1/challenge", "/health"):
        assert "set-cookie" not in played.wire("GET", path).headers


# Frames, scripts, sniffing


def every_answer(played: Scene) -> dict[str, dict[str, str]]:
    """The headers of answers of all routes and of all kinds of errors."""
    found = {}
    for operation in operations(played.bench.app):
        for who in ({}, {"Cookie": played.cookie("Olga")}, {"Cookie": played.cookie("Ada")}):
            answer = played.wire(operation.method, operation.at(), who)
            found[f"{operation} {answer.status}"] = answer.headers
    for path in ("/nothing", "/static/app.js", "/static/nothing", "/data/", "/entries/x", "//evil.example/"):
        found[path] = played.wire("GET", path).headers
    large = {"Content-Length": str(10**9), "Content-Type": "application/json"}
    found["413"] = played.wire("POST", "/api/v1/accounts", large).headers
    return found


def test_every_answer_forbids_frames_foreign_scripts_and_sniffing(played: Scene) -> None:
    answers = every_answer(played)
    assert {key[-3:] for key in answers} >= {"200", "401", "403", "404", "413", "422"}
    for key, headers in answers.items():
        policy = dict(part.strip().split(" ", 1) for part in headers["content-security-policy"].split(";"))
        assert policy["default-src"] == "'none'", key
        assert policy["frame-ancestors"] == "'none'", key
        assert policy["script-src"] == policy["form-action"] == "'self'", key
        assert policy["base-uri"] == "'none'", key
        assert headers["x-frame-options"] == "DENY", key
        assert headers["x-content-type-options"] == "nosniff", key
        assert "server" not in headers, key
        if "/static/app.js" not in key:
            assert "public" not in headers["cache-control"] or key.startswith("/static"), key


def test_an_error_of_the_server_has_the_same_headers(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bench.app.state, "templates", None)
    answer = Wire(bench.app)("GET", "/")
    assert answer.status == 500
    assert "frame-ancestors 'none'" in answer.headers["content-security-policy"]
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["cache-control"] == "no-store"
    assert "NoneType" not in answer.text


def test_no_page_has_a_script_or_a_style_of_its_own(played: Scene) -> None:
    """So the policy needs no exception, and what is injected cannot run."""
    for operation in operations(played.bench.app):
        if operation.method == "GET" and not operation.is_api:
            page = played.wire("GET", operation.at(), {"Cookie": played.cookie("Olga")}).text
            assert not re.search(r"<script(?! src=\"/static/)", page), operation
            assert not re.search(r"\son\w+=|javascript:", page), operation


def test_what_participants_download_is_no_page(played: Scene) -> None:
    answer = played.wire("GET", "/data/ada/ada_train.data")
    assert answer.headers["content-type"].startswith("text/plain")
    assert answer.headers["content-disposition"].startswith("attachment")


# Open redirects


EVIL = "evil.example"
TARGETS = (f"https://{EVIL}", f"//{EVIL}", f"/\\{EVIL}", "javascript:alert(1)", f"%2f%2f{EVIL}")


@pytest.mark.parametrize("target", TARGETS)
def test_nobody_is_sent_to_another_site(bench: Bench, target: str) -> None:
    """Neither by a parameter that other servers know, nor by a path that looks like a host."""
    bench.join("Ada")
    browser, wire = bench.browser(), Wire(bench.app)
    names = ("next", "url", "redirect", "return_to", "continue")
    query = "&".join(f"{name}={target}" for name in names)
    form = dict.fromkeys(names, target) | {"name": "Ada", "password": PASSWORD}
    form["form_token"] = browser.token("/login")
    headers = {"Referer": f"https://{EVIL}/", "X-Forwarded-Host": EVIL, "X-Original-URL": target}
    answer = browser.client.post(f"/login?{query}", data=form, headers=headers)
    assert answer.status_code == 303
    places = [answer.headers["location"]]
    for path in (f"/{target}/", f"//{target}/..", f"/data/{target}/", f"/{target}/%2e%2e/data/"):
        places.append(wire("GET", f"{path}?{query}", headers).headers.get("location", ""))
    for place in filter(None, places):
        assert urlsplit(place).netloc in ("", "testserver"), place
        assert not place.startswith(("//", "/\\")), place
