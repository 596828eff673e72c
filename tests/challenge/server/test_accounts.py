"""Accounts: registering, logging in, tokens, links that work once."""

import json
from typing import cast

import httpx
import pytest
from sqlalchemy import select

from redelve.challenge.server.database_tables import AuditNote, LoginSession, Token, User
from redelve.challenge.server.secrets_kept import Passwords, kept_hash
from redelve.challenge.server.settings import PasswordCost
from tests.challenge.server.bench import PASSWORD, Bench


def post(bench: Bench, path: str, **document: str) -> httpx.Response:
    """Send a document in which every character can be told, even those that are none."""
    headers = {"Content-Type": "application/json"}
    return cast(httpx.Response, bench.client.post(path, content=json.dumps(document), headers=headers))


def register(bench: Bench, name: str, password: str = PASSWORD) -> int:
    return post(bench, "/api/v1/accounts", name=name, password=password).status_code


def test_passwords_are_kept_as_argon2_hashes(bench: Bench) -> None:
    bench.join("Ada")
    with bench.services.database.reading() as session:
        kept = session.scalars(select(User.password_hash)).one()
    assert kept.startswith("$argon2id$")
    assert PASSWORD not in kept


def test_by_default_hashing_costs_what_rfc_9106_recommends() -> None:
    kept = Passwords(PasswordCost()).hash("some password")
    assert "m=65536,t=3,p=4" in kept


@pytest.mark.parametrize("name", ["ada", "ADA", " Ada ", "ＡＤＡ"])
def test_names_that_look_alike_are_the_same(bench: Bench, name: str) -> None:
    bench.join("Ada")
    assert register(bench, name) == 409


@pytest.mark.parametrize("name", ["", "a", "x" * 61, "a\u0000b", "a\u202eb", "a\nb", "\ud800xyz"])
def test_names_that_cannot_be_shown_are_refused(bench: Bench, name: str) -> None:
    assert register(bench, name) == 422


@pytest.mark.parametrize("password", ["short", "x" * 201, "Ada Lovelace"])
def test_weak_passwords_are_refused(bench: Bench, password: str) -> None:
    assert register(bench, "Ada Lovelace", password) == 422


class TestLogin:
    def test_a_login_gets_a_new_cookie_that_scripts_cannot_read(self, bench: Bench) -> None:
        bench.join("Ada")
        browser = bench.browser()
        browser.get("/login")
        before = browser.client.cookies["redelve"]
        answer = browser.fill("/login", name="Ada", password=PASSWORD)
        assert answer.status_code == 303
        assert browser.client.cookies["redelve"] != before
        flags = answer.headers["set-cookie"].lower()
        assert "httponly" in flags
        assert "samesite=lax" in flags

    def test_a_cookie_chosen_by_somebody_else_is_not_taken_over(self, bench: Bench) -> None:
        bench.join("Ada")
        browser = bench.browser()
        browser.client.cookies.set("redelve", "chosen-by-mallory", domain="testserver.local")
        browser.fill("/login", name="Ada", password=PASSWORD)
        mallory = bench.browser()
        mallory.client.cookies.set("redelve", "chosen-by-mallory", domain="testserver.local")
        assert mallory.get("/account").status_code == 401

    def test_sessions_are_kept_as_hashes_and_end_with_logout(self, bench: Bench) -> None:
        browser = bench.browser()
        browser.register("Ada")
        cookie = browser.client.cookies["redelve"]
        with bench.services.database.reading() as session:
            assert session.scalars(select(LoginSession.id_hash)).one() == kept_hash(cookie)
        browser.fill("/account", "/logout")
        browser.client.cookies.set("redelve", cookie, domain="testserver.local")
        assert browser.get("/account").status_code == 401

    def test_sessions_run_out(self, bench: Bench) -> None:
        browser = bench.browser()
        browser.register("Ada")
        bench.clock.advance(days=15)
        assert browser.get("/account").status_code == 401

    def test_guessing_passwords_is_stopped_after_five(self, bench: Bench) -> None:
        bench.join("Ada")
        browser = bench.browser()
        codes = [browser.fill("/login", name="Ada", password=f"wrong {n}").status_code for n in range(7)]
        assert codes == [401] * 5 + [429] * 2
        right = browser.fill("/login", name="Ada", password=PASSWORD)
        assert right.status_code == 429
        assert int(right.headers["retry-after"]) <= 900
        bench.clock.advance(minutes=15)
        assert browser.fill("/login", name="Ada", password=PASSWORD).status_code == 303

    def test_the_api_shares_the_count_with_the_pages(self, bench: Bench) -> None:
        bench.join("Ada")
        for number in range(5):
            bench.browser().fill("/login", name="Ada", password=f"wrong {number}")
        answer = post(bench, "/api/v1/tokens", name="Ada", password=PASSWORD)
        assert answer.status_code == 429

    @pytest.mark.parametrize("name", ["nobody", "Ada' OR '1'='1", "a\u0000b", "a\u202eb", "x" * 400])
    def test_a_wrong_name_and_a_wrong_password_are_told_alike(self, bench: Bench, name: str) -> None:
        bench.join("Ada")
        wrong_name = post(bench, "/api/v1/tokens", name=name, password=PASSWORD)
        wrong_word = post(bench, "/api/v1/tokens", name="Ada", password="quite wrong")
        assert wrong_name.status_code == wrong_word.status_code == 401
        assert wrong_name.content == wrong_word.content

    def test_refused_logins_are_in_the_audit_log_without_the_password(self, bench: Bench) -> None:
        assert register(bench, "Eve") == 201
        post(bench, "/api/v1/tokens", name="Eve", password="a secret of hers")
        with bench.services.database.reading() as session:
            note = session.scalars(select(AuditNote).where(AuditNote.action == "login refused")).one()
        assert note.target == "Eve"
        assert "secret of hers" not in str(vars(note))


class TestTokens:
    def test_a_token_is_shown_once_and_kept_as_a_hash(self, bench: Bench) -> None:
        browser = bench.browser()
        browser.register("Ada")
        page = browser.fill("/account", "/account/tokens", label="laptop").text
        secret = page.split('id="new-token">')[1].split("<")[0]
        assert secret.startswith("redelve_")
        assert secret not in browser.get("/account").text
        with bench.services.database.reading() as session:
            assert session.scalars(select(Token.secret_hash)).one() == kept_hash(secret)
        answer = bench.client.get("/api/v1/account", headers={"Authorization": f"Bearer {secret}"})
        assert answer.json()["name"] == "Ada"

    def test_a_revoked_token_is_useless(self, bench: Bench) -> None:
        bench.join("Ada")
        browser = bench.browser()
        browser.fill("/login", name="Ada", password=PASSWORD)
        assert browser.fill("/account", "/account/tokens/1/revoke").status_code == 303
        assert bench.client.get("/api/v1/account", headers=bench.headers("Ada")).status_code == 401

    def test_nobody_revokes_the_token_of_another(self, bench: Bench) -> None:
        bench.join("Ada")
        bench.join("Bob")
        answer = bench.client.delete("/api/v1/tokens/1", headers=bench.headers("Bob"))
        assert answer.status_code == 404
        assert bench.client.get("/api/v1/account", headers=bench.headers("Ada")).status_code == 200

    @pytest.mark.parametrize("header", ["", "Bearer", "Bearer x", "Basic QWRhOng=", "Bearer redelve_\xe4"])
    def test_other_tokens_are_refused(self, bench: Bench, header: str) -> None:
        answer = bench.client.get("/api/v1/account", headers={"Authorization": header.encode("latin-1")})
        assert answer.status_code == 401
        assert answer.headers["www-authenticate"] == "Bearer"

    def test_a_cookie_is_no_token(self, bench: Bench) -> None:
        browser = bench.browser()
        browser.register("Ada")
        assert browser.get("/api/v1/account").status_code == 401

    def test_there_is_a_bound(self, bench: Bench) -> None:
        browser = bench.browser()
        browser.register("Ada")
        codes = [browser.fill("/account", "/account/tokens").status_code for _ in range(21)]
        assert codes == [200] * 20 + [409]


class TestLinks:
    def test_the_organisers_link_works_once(self, bench: Bench) -> None:
        link = bench.services.organiser_link()
        assert link is not None
        assert bench.browser().fill(link, name="Olga", password=PASSWORD).status_code == 303
        assert bench.browser().get(link).status_code == 404
        assert bench.services.organiser_link() is None

    def test_a_new_link_makes_the_old_one_useless(self, bench: Bench) -> None:
        old = bench.services.organiser_link()
        new = bench.services.organiser_link()
        assert bench.browser().get(str(old)).status_code == 404
        assert bench.browser().get(str(new)).status_code == 200

    def test_a_link_gets_old(self, bench: Bench) -> None:
        link = bench.services.organiser_link()
        bench.clock.advance(days=8)
        assert bench.browser().get(str(link)).status_code == 404

    def test_an_organiser_gives_a_link_for_a_new_password(self, bench: Bench) -> None:
        browser = bench.browser()
        browser.register("Ada")
        organiser = bench.organiser()
        page = organiser.fill("/organiser", "/organiser/users/1/link").text
        link = page.split('id="reset-link">')[1].split("<")[0].removeprefix("http://testserver")
        assert bench.browser().fill(link, password="a new password").status_code == 303
        assert browser.get("/account").status_code == 401
        answer = post(bench, "/api/v1/tokens", name="Ada", password="a new password")
        assert answer.status_code == 201
