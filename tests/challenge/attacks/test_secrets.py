"""Passwords, tokens and links: in no log, no audit log, no error, no table, whatever goes wrong."""

import json
import logging
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from sqlalchemy import select, text
from sqlalchemy.exc import OperationalError

from redelve.challenge.server.accounts import Accounts
from redelve.challenge.server.database import Database
from redelve.challenge.server.database_tables import DatabaseTable
from redelve.challenge.server.worker import Worker
from tests.challenge.attacks.tools import Wire, operations
from tests.challenge.server.bench import Bench

WORD = "a password to be kept 7391"


@dataclass
class Told:
    """Secrets, and everything the server wrote where others may read."""

    secrets: dict[str, str] = field(default_factory=dict)
    shown: list[str] = field(default_factory=list)


def walk(bench: Bench) -> Told:
    """Everything that has to do with secrets: register, log in, make tokens, follow links, fail at it all."""
    told = Told({"password": WORD})
    browser = bench.browser()
    link = str(bench.services.organiser_link())
    told.secrets["organiser link"] = link.rpartition("/")[2]
    browser.fill(link, name="Olga", password=WORD)
    told.secrets["cookie of Olga"] = browser.client.cookies["redelve"]
    ada = bench.browser()
    ada.fill("/register", name="Ada", password=WORD)
    told.secrets["cookie"] = ada.client.cookies["redelve"]
    told.secrets["form token"] = ada.token("/account")
    page = ada.fill("/account", "/account/tokens", label="laptop").text
    told.secrets["token"] = page.split('new-token">')[1].split("<")[0]
    page = browser.fill("/organiser", "/organiser/users/2/link").text
    told.secrets["reset link"] = page.split('reset-link">')[1].split("<")[0].rpartition("/")[2]
    headers = {"Authorization": f"Bearer {told.secrets['token']}"}
    for body in (b"PK", b""):
        told.shown.append(bench.client.post("/api/v1/entries", content=body, headers=headers).text)
    bench.work()
    for name in ("Ada", "Olga", WORD, told.secrets["token"]):
        wrong = bench.browser().fill("/login", name=name, password=WORD + "x")
        told.shown.append(wrong.text.replace(f'value="{WORD}"', "").replace(f'value="{name[:60]}"', ""))
        document = {"name": name, "password": WORD + "x", "label": "x" * 500}
        told.shown.append(bench.client.post("/api/v1/tokens", json=document).text)
    told.shown += [
        browser.get(path).text for path in ("/organiser", "/organiser/audit", "/organiser/audit.csv")
    ]
    ada.fill("/account", "/logout")
    return told


def everything_kept(bench: Bench) -> Iterator[str]:
    with bench.services.database.reading() as session:
        for name, table in DatabaseTable.metadata.tables.items():
            if name != "facts":  # the key that forms are signed with lies there
                yield from map(repr, session.execute(select(*table.columns)))


def test_no_secret_is_in_a_log_a_page_of_the_organiser_an_error_or_a_table(
    bench: Bench, caplog: pytest.LogCaptureFixture
) -> None:
    """Logs of all packages at the finest level, those of the database's statements included."""
    with caplog.at_level(logging.DEBUG):
        logging.getLogger("sqlalchemy.engine").setLevel(logging.DEBUG)
        try:
            told = walk(bench)
        finally:
            logging.getLogger("sqlalchemy.engine").setLevel(logging.NOTSET)
    assert "INSERT INTO" in caplog.text
    own = [line for line in caplog.text.splitlines() if not re.search(r"httpx|httpcore", line)]
    places = {
        "log": "\n".join(own),
        "shown": "\n".join(told.shown),
        "kept": "\n".join(everything_kept(bench)),
    }
    for kind, secret in told.secrets.items():
        for place, content in places.items():
            if (kind, place) == ("cookie of Olga", "shown"):
                continue
            assert secret not in content, f"{kind} in {place}"


ENTRANCES = ("/login", "/register", "/logout", "/link/{secret}")
OFTEN = ("login", "invitation", "make_token")
SELDOM = ("register", "session_user", "token_user", "use_invitation")
FAILING = [*OFTEN, *(pytest.param(method, marks=pytest.mark.slow) for method in SELDOM)]


@pytest.mark.parametrize("method", FAILING)
def test_an_error_of_the_server_tells_no_secret(
    bench: Bench, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch, method: str
) -> None:
    """Wherever the server fails, its answer is a plain sentence and its log names no secret."""
    browser = bench.browser()
    browser.register("Ada")
    cookie, token = browser.client.cookies["redelve"], browser.token("/account")
    link = str(bench.services.organiser_link())

    def fail(*_: object, **__: object) -> None:
        raise RuntimeError("out of order")

    monkeypatch.setattr(Accounts, method, fail)
    wire, seen = Wire(bench.app), set()
    secrets = {WORD, cookie, token, link.rpartition("/")[2]}
    with caplog.at_level(logging.DEBUG):
        for operation in sorted(operations(bench.app), key=lambda each: each.path in ENTRANCES):
            path = operation.at(secret=link.rpartition("/")[2])
            headers = {"Cookie": f"redelve={cookie}", "Authorization": f"Bearer {cookie}"}
            if operation.is_api:
                document = json.dumps({"name": "Ada", "password": WORD}).encode()
                answer = wire(
                    operation.method, path, headers | {"Content-Type": "application/json"}, document
                )
            else:
                fields = dict.fromkeys(operation.in_body, WORD) | {"form_token": token, "name": "Eve"}
                send = wire.form if operation.method == "POST" else lambda p, _, h: wire("GET", p, h)
                answer = send(path, fields, headers)
            if answer.status == 500:
                seen.add(str(operation))
                assert "out of order" not in answer.text
                assert not any(secret in answer.text for secret in secrets)
    assert seen
    for secret in secrets:
        assert secret not in caplog.text


def test_what_the_database_refuses_is_logged_without_the_values(bench: Bench) -> None:
    """SQLAlchemy's errors show the values of a statement: hashes, names, which answers were wrong."""
    with pytest.raises(OperationalError) as caught, bench.services.database.reading() as session:
        session.execute(text("SELECT * FROM nowhere WHERE secret = :secret"), {"secret": WORD})
    assert WORD not in str(caught.value)


def test_both_kinds_of_databases_hide_values(tmp_path: Path) -> None:
    for url in (f"sqlite:///{tmp_path}/x", "postgresql://user:word@localhost/none"):
        database = Database(url)
        assert database.engine.hide_parameters
        database.close()


def test_the_log_of_a_job_that_fails_shows_no_scores(bench: Bench, caplog: pytest.LogCaptureFixture) -> None:
    """The rows that could not be written hold which validation answers were wrong."""
    bench.join("Ada")
    bench.send("Ada")
    with bench.services.database.writing() as session:
        session.execute(text("DROP TABLE development_scores"))
    with caplog.at_level(logging.DEBUG, "redelve"):
        Worker(bench.services, "tester").step()
    assert "development_scores" in caplog.text
    assert "[parameters:" not in caplog.text


def test_secrets_are_long_and_random(bench: Bench) -> None:
    cookies, links = set(), set()
    for _ in range(20):
        browser = bench.browser()
        browser.get("/login")
        cookies.add(browser.client.cookies["redelve"])
        links.add(str(bench.services.organiser_link()).rpartition("/")[2])
    assert len(cookies) == len(links) == 20
    assert {len(word) for word in cookies | links} == {43}  # 256 bits


def test_pages_with_secrets_are_kept_by_no_cache_and_told_to_no_other_site(bench: Bench) -> None:
    browser = bench.browser()
    browser.register("Ada")
    page = browser.fill("/account", "/account/tokens")
    link = bench.client.get(str(bench.services.organiser_link()))
    for answer in (page, link):
        assert answer.headers["cache-control"] == "no-store"
        assert answer.headers["referrer-policy"] == "same-origin"
