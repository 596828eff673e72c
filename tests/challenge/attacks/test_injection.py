"""HTML, formulas, SQL and line ends in every text that comes from outside."""

import csv
import io
import json
import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import quote

import pytest
from sqlalchemy import func, inspect, select
from sqlalchemy.orm import Session

from redelve.challenge.server.database_tables import DatabaseTable, Entry, Token, User
from redelve.challenge.server.texts import spreadsheet_safe
from tests.challenge.attacks.tools import (
    Answer,
    Member,
    Operation,
    Scene,
    Wire,
    crafted,
    operations,
    outcome,
    scene,
    state_of,
)
from tests.challenge.server.bench import PASSWORD, Bench, Browser, running, zipped

SCRIPTS = (
    *(
        "<script>alert(1)</script>",
        "<img src=x onerror=alert(1)>",
        '" onmouseover="alert(1)',
        "'><svg/onload=alert(1)>",
    ),
    *(
        "</title><script>1</script>",
        "{{7*7}}",
        "{% raw %}",
        "javascript:alert(1)",
        "&lt;b&gt;",
        "<!--",
        "]]>",
        "${7*7}",
    ),
)
FORMULAS = (
    "=1+1",
    "+1+1",
    "-1+1",
    "@SUM(1)",
    "=cmd|' /C calc'!A0",
    "a;=1+1",
    'a,"=1+1',
    "＝1+1",
    "%0A=1",
    "|calc",
    "a;  @x",
)
QUERIES = (
    *(
        "' OR '1'='1",
        "'; DROP TABLE users; --",
        '" OR ""="',
        "1); DROP TABLE entries; --",
        "%(name)s :name ?",
    ),
    *("' UNION SELECT password_hash FROM users --", "\\'; DELETE FROM entries; --", "Ada\u0000"),
    "$$; SELECT pg_sleep(5); $$",
)


class Tags(HTMLParser):
    """The tags of a page with their attributes."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.found: list[tuple[str, tuple[str, ...]]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, tuple(name for name, _ in attrs)))


def shape(text: str) -> list[tuple[str, tuple[str, ...]]]:
    """What a page is made of, whatever it tells."""
    return Tags(text).found


def pages_with(folder: Path, text: str) -> tuple[dict[str, str], dict[str, str]]:
    """All pages, and all tables, of a server on which that text stands wherever somebody could put it."""
    with running(folder) as bench:
        name = f"Z{text}"[:60]
        browser = bench.browser()
        assert browser.fill("/register", name=name, password=PASSWORD).status_code == 303
        assert browser.fill("/account", "/account/tokens", label=text).status_code == 200
        token = browser.fill("/account", "/account/tokens", label=text).text.split('new-token">')[1][:51]
        headers = {"Authorization": f"Bearer {token}"}
        faulty = crafted([Member(text.replace("/", "_"), b"1\n")])
        for body in (zipped(bench.challenge), faulty):
            answer = bench.client.post(f"/api/v1/entries?label={quote(text)}", content=body, headers=headers)
            assert answer.status_code == 201, answer.text
        bench.work()
        organiser = bench.organiser()
        for target in ("entries/2", "users/1"):
            path = f"/organiser/{target}/disqualify"
            assert organiser.fill("/organiser", path, reason=text).status_code == 303
        assert (
            organiser.fill(
                "/organiser", "/organiser/users/1/disqualify", reason=text, undo="true"
            ).status_code
            == 303
        )
        return _seen(browser, organiser)


def _seen(browser: Browser, organiser: Browser) -> tuple[dict[str, str], dict[str, str]]:
    own = (
        "/",
        "/account",
        "/entries",
        "/entries/1",
        "/entries/2",
        "/leaderboard",
        "/leaderboard/ada",
        "/learning",
    )
    pages = {path: browser.get(path).text for path in (*own, "/submit", "/data", "/api", "/none")}
    pages |= {path: organiser.get(path).text for path in ("/organiser", "/organiser/audit", "/entries/2")}
    tables = {path: browser.get(path).text for path in ("/tables/overall.csv", "/tables/ada.csv")}
    return pages, tables | {"/organiser/audit.csv": organiser.get("/organiser/audit.csv").text}


@pytest.fixture(scope="module")
def harmless(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Pages with a text of letters."""
    return pages_with(tmp_path_factory.mktemp("harmless"), "harmless")[0]


@pytest.mark.parametrize("text", ["<script>alert(1)</script>\"'<b onload=x>{{7*7}}"])
def test_html_in_names_labels_reasons_and_members_changes_no_page(
    tmp_path: Path, harmless: dict[str, str], text: str
) -> None:
    """Every page has the same tags and attributes as with harmless texts: nothing became markup."""
    pages, _ = pages_with(tmp_path, text)
    assert sum("&lt;script&gt;" in page for page in pages.values()) >= 6
    for path, page in pages.items():
        assert shape(page) == shape(harmless[path]), path
        assert "49" not in re.findall(r"Z[^ ]*\b49\b", page)


def test_html_in_a_name_is_shown_as_text(bench: Bench) -> None:
    """In the form that is shown again, and on one's own page."""
    plain = [tag for tag, _ in shape(bench.browser().get("/register").text)]
    for text in (f"x{script}" for script in SCRIPTS):
        bench.clock.advance(hours=1)  # registrations are counted by the hour
        browser = bench.browser()
        refused = browser.fill("/register", name=text, password="short")
        assert refused.status_code == 422
        tags = [tag for tag, names in shape(refused.text) if (tag, names) != ("p", ("class", "role"))]
        assert tags == plain, text
        assert browser.fill("/register", name=text, password=PASSWORD).status_code == 303, text
        assert "<script>alert" not in browser.get("/account").text


def test_an_answer_of_the_api_is_never_taken_for_a_page(played: Scene) -> None:
    """Names stand there as they are, in documents that no browser shows as HTML."""
    for operation in operations(played.bench.app):
        if operation.is_api and operation.method == "GET":
            headers = {"Authorization": f"Bearer {played.bench.tokens['Ada']}", "Accept": "text/html"}
            answer = played.wire("GET", operation.at(), headers)
            assert not answer.headers.get("content-type", "").startswith("text/html"), str(operation)
            assert answer.headers["x-content-type-options"] == "nosniff"


def cells(text: str) -> Iterator[str]:
    """The cells of a table as spreadsheets of either habit see them."""
    for separator in ",;\t":
        for row in csv.reader(io.StringIO(text), delimiter=separator):
            yield from row


@pytest.mark.parametrize(
    "text", ["a;=1+1", *(pytest.param(text, marks=pytest.mark.slow) for text in ("=1+1", 'x;"=1+1"'))]
)
def test_no_cell_of_a_table_begins_a_formula(tmp_path: Path, text: str) -> None:
    with running(tmp_path) as bench:
        browser = bench.browser()
        assert browser.fill("/register", name=text, password=PASSWORD).status_code == 303
        secret = browser.fill("/account", "/account/tokens").text.split('new-token">')[1].split("<")[0]
        bench.tokens["it"] = secret
        bench.send("it")
        bench.work()
        organiser = bench.organiser()
        organiser.fill("/organiser", "/organiser/users/1/disqualify", reason=text, undo="true")
        _, tables = _seen(browser, organiser)
    assert sum("1+1" in table for table in tables.values()) == 3
    for path, table in tables.items():
        for cell in cells(table):
            if re.fullmatch(r"-?[\d.e+-]*", cell):
                continue  # a number
            assert cell.lstrip(" \"'")[:1] not in ("=", "+", "@", "＝") or "'" in cell[:4], (path, cell)
            assert not re.match(r"\s*[=+@-]", cell), (path, cell)


@pytest.mark.parametrize("text", FORMULAS)
def test_formulas_are_defused(text: str) -> None:
    safe = spreadsheet_safe(text)
    for cell in re.split(r"[;,\t]", safe):
        assert not re.match(r"""[\s"]*[=+\-@|%＝]""", cell), safe
    assert safe.replace("'", "") == text.replace("'", "")


@pytest.mark.parametrize(
    "text", ["a\r\nSet-Cookie: redelve=x", "a\nX: y", "a\u0085b", "a\u2028b", "a\x1b[31m"]
)
def test_line_ends_and_control_characters_come_into_no_text(played: Scene, text: str) -> None:
    before = state_of(played.services, but=["audit_notes"])
    wire, token = played.wire, played.form_token("Ada")
    cookie = {"Cookie": played.cookie("Ada")}
    assert wire.form("/account/tokens", {"form_token": token, "label": text}, cookie).status == 422
    bearer = played.bench.headers("Ada")
    assert wire("POST", f"/api/v1/entries?label={quote(text)}", bearer, b"PK").status == 422
    document = json.dumps({"name": text, "password": PASSWORD}).encode()
    assert wire("POST", "/api/v1/accounts", {"Content-Type": "application/json"}, document).status == 422
    assert state_of(played.services, but=["audit_notes"]) == before


# SQL


ENTRANCES = ("/login", "/register", "/logout", "/link/{secret}")


def attempts(played: Scene, text: str) -> Iterator[tuple[str, Answer]]:
    """The text in every path, query, header and field of every route, as everybody in turn."""
    guest = played.bench.browser()
    token = guest.token("/login")
    held = {name: (played.cookie(name), played.form_token(name)) for name in ("Ada", "Olga")}
    held["guest"] = f"redelve={guest.client.cookies['redelve']}", token
    bearer = f"Bearer {played.bench.tokens['Ada']}"
    for operation in operations(played.bench.app):
        for name in ("guest",) if operation.path in ENTRANCES else ("Ada", "Olga"):
            cookie, token = held[name]
            headers = {"Cookie": cookie, "Authorization": bearer, "X-Form-Token": token}
            for answer in _with(played.wire, operation, headers, text):
                yield str(operation), answer
            if operation.method == "POST" and not operation.is_api:
                fields = {**dict.fromkeys(operation.in_body, text), "form_token": token}
                yield str(operation), played.wire.form(operation.at(), fields, headers)


def _with(wire: Wire, operation: Operation, headers: dict[str, str], text: str) -> Iterator[Answer]:
    for name in operation.in_path:
        yield wire(operation.method, operation.at(**{name: quote(text)}), headers)
    for name in operation.in_query:
        yield wire(operation.method, f"{operation.at()}?{name}={quote(text)}", headers)
    for name in operation.in_header:
        yield wire(operation.method, operation.at(), {**headers, name: text.replace("\0", "")})


@pytest.fixture(scope="module")
def attacked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scene]:
    """A server that all the queries are tried on, one after another."""
    with scene(tmp_path_factory.mktemp("attacked")) as found:
        yield found


SOME = [QUERIES[0], *(pytest.param(text, marks=pytest.mark.slow) for text in QUERIES[1:])]


@pytest.mark.parametrize("text", SOME)
def test_sql_in_every_parameter_changes_and_tells_nothing(attacked: Scene, text: str) -> None:
    attacked.bench.clock.advance(hours=1)  # attempts are counted by the hour
    with attacked.services.database.reading() as session:
        hashes = [*session.scalars(select(User.password_hash)), *session.scalars(select(Token.secret_hash))]
        people, entries = _count(session, User), _count(session, Entry)
    for place, answer in attempts(attacked, text):
        assert answer.status < 500, (place, text)
        assert not any(each in answer.text for each in hashes), place
    with attacked.services.database.reading() as session:
        assert people <= _count(session, User) <= people + 1  # it may be a name
        assert entries <= _count(session, Entry) <= entries + 4  # and a label
        roles = {user.role for user in session.scalars(select(User)) if user.name != "Olga"}
    assert roles == {"participant"}
    assert _tables(attacked) >= set(DatabaseTable.metadata.tables)


def _count(session: Session, table: type[DatabaseTable]) -> int:
    return session.scalar(select(func.count()).select_from(table)) or 0


def _tables(played: Scene) -> set[str]:
    return set(inspect(played.services.database.engine).get_table_names())


@pytest.mark.parametrize("text", QUERIES)
def test_sql_in_documents_of_the_api_opens_no_account(played: Scene, text: str) -> None:
    """Every text of every document that the API's description knows."""
    wire, described = played.wire, played.bench.app.openapi()
    tried = 0
    for path, methods in described["paths"].items():
        for method, operation in methods.items():
            schema = (
                operation.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema")
            )
            if schema is None:
                continue
            fields = described["components"]["schemas"][schema["$ref"].rpartition("/")[2]]["properties"]
            for field in fields:
                document = {"name": "Ada", "password": f"wrong for {path}", field: text}
                body = json.dumps(document).encode()
                answer = wire(method.upper(), path, {"Content-Type": "application/json"}, body)
                assert answer.status in (401, 409, 422, 429) or (field, answer.status) == ("name", 201)
                assert "redelve_" not in answer.text
                tried += 1
    assert tried == 5


def test_a_member_of_a_zip_with_sql_for_a_name_is_told_as_it_is(bench: Bench) -> None:
    bench.join("Ada")
    found = outcome(bench, crafted([Member("'; DROP TABLE users; --", b"1\n")]))
    assert "DROP TABLE users" in found["problems"][0]
    assert bench.client.get("/api/v1/account", headers=bench.headers("Ada")).status_code == 200


@pytest.mark.slow
def test_sql_in_every_parameter_of_a_server_on_postgresql(tmp_path: Path, new_postgresql: object) -> None:
    assert callable(new_postgresql)
    with scene(tmp_path, database=new_postgresql()) as played:
        before = _tables(played)
        for text in QUERIES:
            played.bench.clock.advance(hours=1)
            for place, answer in attempts(played, text):
                assert answer.status < 500, (place, text)
        assert _tables(played) == before
