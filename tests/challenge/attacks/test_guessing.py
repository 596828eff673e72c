"""Guessing passwords, finding out who has an account, and names that pass for others."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select

from redelve.challenge import ChallengeLimits
from redelve.challenge.server import entries
from redelve.challenge.server.audit import Actor
from redelve.challenge.server.database_tables import AuditNote, User
from redelve.challenge.server.secrets_kept import Passwords
from redelve.challenge.server.texts import comparable
from tests.challenge.attacks.tools import Answer, Wire
from tests.challenge.server.bench import PASSWORD, START, Bench, running

JSON = {"Content-Type": "application/json"}


def login(bench: Bench, name: str, password: str, address: str = "192.0.2.1", **headers: str) -> Answer:
    """Ask for a token by name and password, from an address."""
    document = json.dumps({"name": name, "password": password}).encode()
    return Wire(bench.app, address)("POST", "/api/v1/tokens", {**JSON, **headers}, document)


def register(bench: Bench, name: str, address: str = "192.0.2.1") -> int:
    document = json.dumps({"name": name, "password": PASSWORD}).encode()
    return Wire(bench.app, address)("POST", "/api/v1/accounts", JSON, document).status


class TestBruteForce:
    def test_one_address_has_five_guesses_in_a_quarter_of_an_hour(self, bench: Bench) -> None:
        bench.join("Ada")
        codes = [login(bench, "Ada", f"wrong {n}").status for n in range(8)]
        assert codes == [401] * 5 + [429] * 3
        assert login(bench, "Ada", PASSWORD).status == 429

    def test_many_addresses_have_fifty_together(self, bench: Bench) -> None:
        register(bench, "Ada")
        codes = [login(bench, "Ada", f"wrong {n}", f"198.51.100.{n}").status for n in range(60)]
        assert codes == [401] * 50 + [429] * 10

    def test_one_address_has_a_hundred_over_all_names(self, bench: Bench) -> None:
        codes = [login(bench, f"name {n}", "123456").status for n in range(110)]
        assert codes == [401] * 100 + [429] * 10

    def test_the_addresses_of_one_network_of_ipv6_are_one(self, bench: Bench) -> None:
        bench.join("Ada")
        codes = [login(bench, "Ada", f"wrong {n}", f"2001:db8::{n:x}").status for n in range(8)]
        assert codes == [401] * 5 + [429] * 3
        assert login(bench, "Ada", PASSWORD, "2001:db8:0:1::1").status == 201

    @pytest.mark.parametrize("header", ["X-Forwarded-For", "X-Real-IP", "Forwarded", "X-Client-IP", "Via"])
    def test_a_header_does_not_make_a_new_address(self, bench: Bench, header: str) -> None:
        bench.join("Ada")
        codes = [login(bench, "Ada", "wrong one", **{header: f"198.51.100.{n}"}).status for n in range(7)]
        assert codes == [401] * 5 + [429] * 2

    @pytest.mark.parametrize("names", [("Ada", "ADA", " ada ", "ＡＤＡ", "Аdа", "ada\ufe0f", "AdA", "aDA")])
    def test_other_spellings_of_a_name_have_no_guesses_of_their_own(
        self, bench: Bench, names: tuple[str, ...]
    ) -> None:
        bench.join("Ada")
        codes = [login(bench, name, "wrong one").status for name in names]
        assert codes == [401] * 5 + [429] * 3

    def test_a_participant_is_not_locked_out_where_they_have_been_before(self, bench: Bench) -> None:
        """Mallory, who has many addresses, uses up the guesses for Ada's name again and again."""
        register(bench, "Ada")
        assert login(bench, "Ada", PASSWORD, "203.0.113.7").status == 201
        for _ in range(3):
            for number in range(51):
                login(bench, "Ada", "wrong one", f"198.51.100.{number}")
            assert login(bench, "Ada", "wrong one", "198.51.100.200").status == 429
            assert login(bench, "Ada", PASSWORD, "203.0.113.7").status == 201
            bench.clock.advance(minutes=15)

    def test_sessions_tokens_and_links_are_not_locked_at_all(self, bench: Bench) -> None:
        bench.join("Ada")
        browser = bench.browser()
        browser.fill("/login", name="Ada", password=PASSWORD)
        page = bench.organiser().fill("/organiser", "/organiser/users/1/link").text
        link = page.split('id="reset-link">')[1].split("<")[0].removeprefix("http://testserver")
        for number in range(60):
            login(bench, "Ada", "wrong one", f"198.51.100.{number}")
        assert browser.get("/account").status_code == 200
        assert bench.client.get("/api/v1/account", headers=bench.headers("Ada")).status_code == 200
        guest = bench.browser()
        assert guest.fill(link, password="another password").status_code == 303
        assert guest.get("/account").status_code == 200

    def test_a_lock_ends_by_itself(self, bench: Bench) -> None:
        bench.join("Ada")
        for number in range(6):
            login(bench, "Ada", f"wrong {number}")
        answer = login(bench, "Ada", PASSWORD)
        assert answer.status == 429
        bench.clock.advance(seconds=int(answer.headers["retry-after"]))
        assert login(bench, "Ada", PASSWORD).status == 201

    def test_attempts_that_are_refused_are_not_even_compared(
        self, bench: Bench, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Hashing takes memory and time: a flood of guesses does not get that far."""
        bench.join("Ada")
        for number in range(5):
            login(bench, "Ada", f"wrong {number}")
        monkeypatch.setattr(Passwords, "fits", None)
        assert login(bench, "Ada", PASSWORD).status == 429

    def test_registering_is_bounded_too(self, tmp_path: Path) -> None:
        with running(tmp_path, limits=ChallengeLimits(registrations_per_hour=20)) as bench:
            codes = [register(bench, f"name {number}", f"2001:db8::{number:x}") for number in range(22)]
            assert codes == [201] * 20 + [429] * 2

    def test_a_class_behind_one_address_registers_logs_in_and_uploads(self, bench: Bench) -> None:
        """A hundred and fifty people in a room; each wrong password counts all the same."""
        accounts, address = bench.services.accounts, "192.0.2.7"
        for number in range(150):
            user = accounts.register(START, address, f"student {number}", PASSWORD)
            accounts.login(START, address, user.name, PASSWORD)
            entries.check_may_submit(bench.services, Actor(user, address))
        codes = [login(bench, f"nobody {n}", "123456", address).status for n in range(102)]
        assert codes == [401] * 100 + [429] * 2

    def test_uploads_are_bounded_by_account_and_by_address(self, tmp_path: Path) -> None:
        limits = ChallengeLimits(uploads_per_hour=2, address_uploads_per_hour=5)
        with running(tmp_path, limits=limits) as bench:
            for name in ("Ada", "Bob", "Cem"):
                bench.join(name)
            codes = [[bench.send(name).status_code for _ in range(3)] for name in ("Ada", "Bob", "Cem")]
            assert codes == [[201, 201, 429], [201, 201, 429], [201, 429, 429]]
            told = bench.client.get("/api/v1/challenge").json()["limits"]
            assert (told["uploads_per_hour"], told["address_uploads_per_hour"]) == (2, 5)


class TestEnumeration:
    @pytest.mark.parametrize("password", ["wrong one", "", "x" * 400, "\u0000", "Ada"])
    def test_an_unknown_name_and_a_wrong_password_are_answered_alike(
        self, bench: Bench, password: str
    ) -> None:
        bench.join("Ada")
        known, unknown = login(bench, "Ada", password), login(bench, "Eve", password)
        assert known == unknown
        assert known.status == 401

    def test_the_page_answers_alike_too(self, bench: Bench) -> None:
        bench.join("Ada")
        found = []
        for name in ("Ada", "Eve"):
            browser = bench.browser()
            text = browser.fill("/login", name=name, password="wrong one").text
            found.append(text.replace(name, "NAME").replace(browser.token("/login"), "TOKEN"))
        assert found[0] == found[1]

    def test_the_same_work_is_done_for_both(self, bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
        """One hash of the same cost is compared, whoever is asked for: time does not tell."""
        bench.join("Ada")
        hasher: Any = bench.services.accounts.passwords._hasher
        costs: list[str] = []

        class Watched:
            def verify(self, kept: str, password: str) -> bool:
                costs.append(kept.rsplit("$", 2)[0])
                return bool(hasher.verify(kept, password))

        monkeypatch.setattr(bench.services.accounts.passwords, "_hasher", Watched())
        login(bench, "Ada", "wrong one")
        login(bench, "Eve", "wrong one")
        assert len(costs) == 2
        assert costs[0] == costs[1]
        assert costs[0].startswith("$argon2id$")

    def test_locks_tell_nothing_either(self, bench: Bench) -> None:
        bench.join("Ada")
        found = [[login(bench, name, "wrong one").status for _ in range(7)] for name in ("Ada", "Eve")]
        assert found[0] == found[1]

    def test_what_is_typed_in_place_of_a_name_is_not_kept(self, bench: Bench) -> None:
        """Somebody may type the password into the wrong field."""
        login(bench, "my secret password", "Ada")
        with bench.services.database.reading() as session:
            notes = [str(vars(note)) for note in session.scalars(select(AuditNote))]
        assert any("login refused" in note for note in notes)
        assert not any("secret password" in note for note in notes)


CYRILLIC, GREEK = "Аdа Lоvеlасе", "Αdа Lονelαcε".replace("ν", "v")
INVISIBLE = ("\u034f", "\u115f", "\u1160", "\u3164", "\uffa0", "\u2800", "\ufe0f", "\u180b", "\U000e0100")


ALIKE = (
    *("ada lovelace", "ADA LOVELACE", "Ada  Lovelace", "Ada\u00a0Lovelace", "Ada\u2003Lovelace"),
    *("Ａｄａ Lovelace", "𝐀𝐝𝐚 𝐋𝐨𝐯𝐞𝐥𝐚𝐜𝐞", "Ⓐda Lovelace", "Adа Lovelace", "Ada Lovelɑce"),
    *(CYRILLIC, CYRILLIC.upper(), GREEK),
    *(f"Ada{each} Lovelace" for each in INVISIBLE),
)
UNSEEN = (*(each * 3 for each in INVISIBLE), "\u0301\u0301", "..", "—", "\u00a0\u00a0")
REFUSED = (
    *("\u200b", "\u200d", "\u2060", "\ufeff", "\u00ad", "\u202e", "\u202a", "\u2066", "\u200f", "\u061c"),
    *("\u180e", "\u2028", "\x00", "\x1b", "\ue000", "\U000e0041", "\ufdd0", "\ud800"),
)
WELCOME = (
    *("Вова", "Боба", "Νίκος", "Νίκη", "דנה", "محمد"),
    *("山田太郎", "Zoë", "Zoe", "Søren", "Դավիթ", "ยุพา"),
)


def codes(bench: Bench, names: Sequence[str]) -> dict[str, int]:
    """What comes of registering each name, from an address of its own."""
    return {
        ascii(name): register(bench, name, f"198.51.100.{number}") for number, name in enumerate(names, 1)
    }


class TestNames:
    def test_a_name_that_looks_like_another_is_taken(self, bench: Bench) -> None:
        assert register(bench, "Ada Lovelace") == 201
        assert codes(bench, ALIKE) == dict.fromkeys(map(ascii, ALIKE), 409)

    def test_a_name_must_be_seen(self, bench: Bench) -> None:
        assert codes(bench, UNSEEN) == dict.fromkeys(map(ascii, UNSEEN), 422)

    def test_characters_of_no_width_or_of_direction_are_refused(self, bench: Bench) -> None:
        names = [f"Ada{character}Lovelace" for character in REFUSED]
        assert codes(bench, names) == dict.fromkeys(map(ascii, names), 422)

    def test_nobody_passes_for_the_server_or_an_organiser(self, bench: Bench) -> None:
        names = ("server", "Nobody", "ORGANISER", "Аdmin", "organizer", "adm\ufe0fin")
        assert codes(bench, names) == dict.fromkeys(map(ascii, names), 409)

    def test_names_of_other_scripts_are_welcome_and_stay_apart(self, bench: Bench) -> None:
        assert codes(bench, WELCOME) == dict.fromkeys(map(ascii, WELCOME), 201)
        with bench.services.database.reading() as session:
            assert tuple(session.scalars(select(User.name).order_by(User.id))) == WELCOME

    @pytest.mark.parametrize("name", ["ВОВА", "Νίκος", "STRASSE", "straße", "İstanbul", "ﬁne"])
    def test_comparing_is_stable_and_blind_to_case(self, name: str) -> None:
        once = comparable(name)
        assert comparable(once) == once
        assert comparable(name.upper()) == comparable(name.upper().lower())

    def test_the_one_who_registered_can_log_in(self, bench: Bench) -> None:
        for name in (CYRILLIC, "山田太郎", "Zoë"):
            assert register(bench, name) == 201
            assert login(bench, name, PASSWORD).status == 201
            assert login(bench, name.upper(), PASSWORD).status == 201
