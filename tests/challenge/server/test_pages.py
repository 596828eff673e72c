"""Pages: they render, escape, carry their headers, and forms prove where they come from."""

import csv
import io
import re
from collections.abc import Iterator
from html import unescape
from html.parser import HTMLParser
from io import BytesIO
from pathlib import Path
from zipfile import ZipFile

import pytest

from redelve.challenge.server.database_tables import PARTICIPANT, SCORED, Entry, User
from redelve.challenge.server.drawings import figure_1
from redelve.challenge.server.texts import comparable
from tests.challenge.server.bench import ENDS, PASSWORD, Bench, Browser, running, zipped

EVIL = '<script>alert("x")</script>'
PUBLIC = ("/", "/data", "/leaderboard", "/leaderboard/ada", "/learning", "/login", "/register", "/api")
FORMS = (
    *("/login", "/register", "/logout", "/account/tokens", "/account/tokens/1/revoke", "/submit"),
    *("/entries/1/choose", "/organiser/clock"),
    *("/entries/1/cancel", "/organiser/phases", "/organiser/entries/1/disqualify", "/organiser/ranking"),
    *("/organiser/users/1/disqualify", "/organiser/users/1/link", "/organiser/entries/1/retry"),
    *("/organiser/export", "/organiser/retry", "/submit/form", "/entries/1/choose", "/organiser/clock"),
)


class Outline(HTMLParser):
    """What a page has that matters here."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.labelled: set[str] = set()
        self.fields: list[str | None] = []
        self.scripts: list[str | None] = []
        self.styles = 0
        self.sources: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        if tag == "label":
            self.labelled.add(found.get("for") or "")
        if tag in ("input", "select") and found.get("type") != "hidden":
            self.fields.append(found.get("id"))
        if tag == "script":
            self.scripts.append(found.get("src"))
        self.styles += tag == "style" or "style" in found or any(name.startswith("on") for name in found)
        self.sources += [str(found[key]) for key in ("src", "href", "action") if key in found]


def prepared(bench: Bench) -> None:
    bench.join(EVIL)
    bench.send(EVIL)
    bench.work()


def test_public_pages_are_well_made(bench: Bench) -> None:
    prepared(bench)
    for path in PUBLIC:
        answer = bench.client.get(path)
        assert answer.status_code == 200, path
        outline = Outline(answer.text)
        assert outline.scripts == ["/static/app.js"]
        assert outline.styles == 0
        assert all(source.startswith(("/", "#")) for source in outline.sources)
        assert set(outline.fields) <= outline.labelled, path
        assert "<script>alert" not in answer.text
        assert "A trial <b>" not in answer.text


def test_pages_of_members_are_well_made(bench: Bench) -> None:
    prepared(bench)
    browser, organiser = bench.browser(), bench.organiser()
    for moment in (bench.clock.now(), ENDS):
        bench.clock.set(moment)
        bench.work()
        for who, name in ((browser, EVIL), (organiser, "Olga")):
            assert who.fill("/login", name=name, password=PASSWORD).status_code == 303
        for who, path in (
            *((browser, path) for path in ("/submit", "/entries", "/entries/1", "/account", "/leaderboard")),
            *((organiser, path) for path in ("/organiser", "/organiser/audit", "/entries/1")),
        ):
            answer = who.get(path)
            assert answer.status_code == 200, path
            outline = Outline(answer.text)
            assert outline.styles == 0
            assert set(outline.fields) <= outline.labelled, path
            assert "<script>alert" not in answer.text
    final = browser.get("/entries/1").text
    assert "<h2>Test</h2>" in final
    assert final.count("<svg") == 2


def test_every_answer_has_the_security_headers(bench: Bench) -> None:
    for path in ("/", "/static/app.js", "/api/v1/challenge", "/nothing", "/organiser"):
        headers = bench.client.get(path).headers
        policy = headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["x-frame-options"] == "DENY"


def test_over_https_cookies_and_headers_say_so(tmp_path: Path) -> None:
    with running(tmp_path, secure=True) as bench:
        answer = bench.client.get("/login", headers={"host": "testserver"})
        cookie = answer.headers["set-cookie"]
        assert cookie.startswith("__Host-redelve=")
        assert "Secure" in cookie
        assert "strict-transport-security" in answer.headers


class TestForgedForms:
    @pytest.mark.parametrize("token", ["", "0" * 64])
    def test_a_form_without_the_right_token_is_refused(self, bench: Bench, token: str) -> None:
        organiser = bench.organiser()
        fields = {"form_token": token, "name": "x", "password": PASSWORD, "reason": "r"}
        for path in FORMS:
            files = {"file": ("e.zip", b"x")} if path == "/submit/form" else None
            answer = organiser.client.post(path, data=fields, files=files, headers={"X-Form-Token": token})
            assert answer.status_code == 403, path
            assert "out of date" in answer.text

    def test_every_form_of_the_server_is_in_this_list(self, bench: Bench) -> None:
        posts = {
            route.path.replace("{entry_id}", "1").replace("{user_id}", "1").replace("{token_id}", "1")
            for route in _routes(bench)
            if "POST" in route.methods and not route.path.startswith("/api/")
        }
        assert posts - set(FORMS) == {"/link/{secret}"}

    def test_the_link_form_is_protected_too(self, bench: Bench) -> None:
        link = str(bench.services.organiser_link())
        answer = bench.client.post(link, data={"name": "Eve", "password": PASSWORD})
        assert answer.status_code == 403

    def test_another_sites_form_is_refused_even_with_the_token(self, bench: Bench) -> None:
        browser = bench.browser()
        browser.register("Ada")
        form = {"form_token": browser.token("/account")}
        for headers in (
            {"Origin": "https://evil.example"},
            {"Sec-Fetch-Site": "cross-site"},
            {"Origin": "null"},
        ):
            answer = browser.client.post("/account/tokens", data=form, headers=headers)
            assert answer.status_code == 403
        same = browser.client.post("/account/tokens", data=form, headers={"Origin": "http://testserver"})
        assert same.status_code == 200

    def test_the_token_of_another_visitor_is_refused(self, bench: Bench) -> None:
        ada, bob = bench.browser(), bench.browser()
        ada.register("Ada")
        bob.register("Bob")
        answer = bob.client.post("/account/tokens", data={"form_token": ada.token("/account")})
        assert answer.status_code == 403


def _routes(bench: Bench) -> list:  # type: ignore[type-arg]
    from redelve.challenge.server import (
        api,
        pages,
        pages_boards,
        pages_entries,
        pages_organiser,
    )

    rooms = (api, pages, pages_boards, pages_entries, pages_organiser)
    return [route for room in rooms for route in room.router.routes]


class TestTables:
    def test_names_cannot_be_formulas(self, bench: Bench) -> None:
        names = ("=HYPERLINK(1)", "+1+1", "-2+3", "@SUM(1)", "＝1+1")
        for name in names:
            bench.join(name)
            bench.send(name)
        bench.work()
        for path in ("/tables/overall.csv", "/tables/ada.csv"):
            rows = list(csv.DictReader(io.StringIO(bench.client.get(path).text)))
            assert {row["participant"] for row in rows} == {f"'{name}" for name in names}
        audit = bench.organiser().get("/organiser/audit.csv").text
        cells = [cell for row in csv.reader(io.StringIO(audit)) for cell in row if cell]
        assert not [cell for cell in cells if cell[0] in "=+-@＝"]

    def test_the_table_of_the_final_ranking_has_guesses(self, bench: Bench) -> None:
        prepared(bench)
        bench.clock.set(ENDS)
        bench.work()
        (row,) = csv.DictReader(io.StringIO(bench.client.get("/tables/ada.csv").text))
        assert float(row["guess"]) == 0.2
        assert float(row["score"]) == float(row["value"])


class TestErrors:
    def test_pages_and_api_tell_errors_in_their_own_way(self, bench: Bench) -> None:
        page, document = bench.client.get("/nothing"), bench.client.get("/api/v1/nothing")
        assert (page.status_code, document.status_code) == (404, 404)
        assert "There is no such page." in page.text
        assert document.json()["error"]["code"] == "not_found"

    @pytest.mark.parametrize("number", ["0", "-1", "99999999999999999999", "x", "1.5"])
    def test_numbers_out_of_range_are_no_error_of_the_server(self, bench: Bench, number: str) -> None:
        bench.join("Ada")
        answer = bench.client.get(f"/api/v1/entries/{number}", headers=bench.headers("Ada"))
        assert answer.status_code == 422
        assert answer.json()["error"]["code"] == "wrong_field"

    def test_an_error_of_the_server_tells_nothing(
        self, bench: Bench, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        from tests.challenge.server.bench import TestClient

        monkeypatch.setattr(bench.app.state.boards, "development", lambda: 1 / 0)
        client = TestClient(bench.app, raise_server_exceptions=False)
        answer = client.get("/leaderboard")
        assert answer.status_code == 500
        assert "ZeroDivision" not in answer.text

    @pytest.mark.parametrize(
        "path",
        [
            "/data/ada/..%2f..%2fsecret%2fada_test.labels",
            "/data/../secret/ada_test.labels",
            "/static/../app.py",
        ],
    )
    def test_paths_do_not_lead_out(self, bench: Bench, path: str) -> None:
        assert bench.client.get(path).status_code == 404


def test_all_data_can_be_had_at_once(bench: Bench) -> None:
    assert 'href="/data.zip"' in bench.client.get("/data").text
    for _ in range(2):  # made, then kept
        with ZipFile(BytesIO(bench.client.get("/data.zip").content)) as archive:
            for name in bench.challenge.names:
                for path in bench.challenge.public_files(name):
                    assert archive.read(path.name) == path.read_bytes()


def test_the_page_that_waits_can_ask_for_the_state(bench: Bench) -> None:
    browser = bench.browser()
    browser.register("Ada")
    headers = {"X-Form-Token": browser.token("/submit"), "Accept": "application/json"}
    sent = browser.client.post("/submit?label=by+script", content=zipped(bench.challenge), headers=headers)
    assert sent.status_code == 201
    assert 'data-poll="/entries/1/state"' in browser.get("/entries/1").text
    assert browser.get("/entries/1/state").json()["state"] == "received"
    bench.work()
    assert browser.get("/entries/1/state").json()["state"] == "scored"
    assert "data-poll" not in browser.get("/entries/1").text


def test_figure_1_is_that_of_the_paper() -> None:
    """BER 0.2, σ 0.05 (Guyon et al. 2006, figure 1): R touches 0.2 at the right guess, dashed above it."""
    drawing = str(figure_1(0.2, 0.05, 0.3))
    assert "R 0.2865" in drawing  # 0.2 + 0.1 (1 − exp(−2))
    curve = re.search(r'class="curve" points="([^"]+)"', drawing)
    assert curve is not None
    heights = [float(point.split(",")[1]) for point in curve[1].split()]
    assert heights.index(max(heights)) == len(heights) // 2


class TestOrganisersLists:
    def names(self, page: str) -> list[str]:
        accounts = page.partition("<h2>Accounts</h2>")[2].partition("<h2>Entries</h2>")[0]
        return re.findall(r'<th scope="row">([^<]+)</th>', accounts)

    def numbers(self, page: str) -> list[int]:
        return [int(number) for number in re.findall(r'<a href="/entries/(\d+)">', page)]

    @pytest.fixture
    def crowd(self, bench: Bench) -> Browser:
        """Sixty participants with an entry each, and the organiser."""
        now = bench.clock.now()
        with bench.services.database.writing() as session:
            for number in range(1, 61):
                name = f"Person {number:02}%"
                user = User(name=name, name_key=comparable(name), password_hash="", role=PARTICIPANT)
                user.created_at = now
                entry = Entry(user=user, label="", stored=str(number), size=1, sha256="", problems=[])
                entry.received_at, entry.state, entry.state_at, entry.reason = now, SCORED, now, ""
                session.add_all([user, entry])
        return bench.organiser()

    def pages(self, browser: Browser, which: str) -> Iterator[str]:
        path: str | None = "/organiser"
        while path is not None:
            page = browser.get(path).text
            yield page
            older = re.search(rf'href="([^"]*{which}_before=[^"]*)"', page)
            path = unescape(older[1]) if older else None

    def test_nobody_is_left_out_page_after_page(self, crowd: Browser) -> None:
        names = [name for page in self.pages(crowd, "accounts") for name in self.names(page)]
        numbers = [number for page in self.pages(crowd, "entries") for number in self.numbers(page)]
        assert len(names) == len(set(names)) == 61
        assert sorted(numbers) == list(range(1, 61))

    def test_a_name_or_a_number_is_found(self, crowd: Browser) -> None:
        page = crowd.get("/organiser?find=pERSON+07").text
        assert (self.names(page), self.numbers(page)) == (["Person 07%"], [7])
        assert self.numbers(crowd.get("/organiser?find=33").text) == [33]
        page = crowd.get("/organiser?find=nobody+at+all").text
        assert (self.names(page), self.numbers(page)) == ([], [])

    def test_signs_of_patterns_are_signs(self, crowd: Browser) -> None:
        assert self.names(crowd.get("/organiser?find=P%25").text) == []
        assert len(self.names(crowd.get("/organiser?find=7%25").text)) == 6
        assert self.names(crowd.get("/organiser?find=_").text) == []


def test_a_wrong_time_is_told_beside_the_form_which_keeps_what_was_typed(bench: Bench) -> None:
    organiser = bench.organiser()
    page = organiser.fill("/organiser", "/organiser/phases", ends="tomorrow", reason="<late>")
    assert page.status_code == 422
    assert "&#34;tomorrow&#34; is no date and time" in page.text
    assert 'value="tomorrow"' in page.text
    assert 'value="&lt;late&gt;"' in page.text


def test_moving_no_phase_is_told(bench: Bench) -> None:
    page = bench.organiser().fill("/organiser", "/organiser/phases", reason="a slip")
    assert (page.status_code, "none of them would change" in page.text) == (422, True)
