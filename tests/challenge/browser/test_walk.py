"""A real browser walks through the demonstration, as a participant and as the organiser, to its end."""

from __future__ import annotations

import re
import time
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING

from redelve.challenge import DatasetEntry, pack
from redelve.challenge.server.demonstration import PHASES
from tests.challenge.browser.conftest import Stage
from tests.challenge.browser.walker import SECONDS, Walker, walking

if TYPE_CHECKING:
    from playwright.sync_api import Browser

PASSWORD = "correct horse battery"
SCORE = re.compile(r"\d\.\d{4}\s± \d\.\d{4}")
FIGURES = "figure svg.plot"


def test_a_challenge_is_walked_through_from_registering_to_the_final_ranking(
    stage: Stage, browser: Browser, tmp_path: Path
) -> None:
    with walking(browser, stage.url) as ada, walking(browser, stage.url) as olga:
        see_the_countdown(ada)
        register_and_log_in_again(ada)
        download_data(ada, stage)
        submit_by_dropping(ada, stage.zips["Logistic"])
        see_scores_and_figure_1(ada, "validation")
        stage.clock.advance(days=3)
        submit_by_choosing(ada, stage.zips["Bayes"])
        be_told_what_to_mend(ada, stage, tmp_path)
        see_my_entries(ada)
        see_leaderboards(ada, stage)
        see_learning_over_time(ada)
        read_without_scripts(browser, stage)
        become_organiser(olga, stage)
        move_phases(olga)
        disqualify_and_readmit(olga, ada)
        stage.clock.set(PHASES.ends)
        come_back(ada, "Ada")
        come_back(olga, "Olga")
        still_running(ada)
        end_it_now(olga)
        see_final_ranking(ada, stage)
        see_own_test_scores(ada)
        export(olga, stage, tmp_path)
        read_audit_log(olga)


# As a participant


def see_the_countdown(ada: Walker) -> None:
    ada.go("/")
    first = ada.text(".countdown")
    assert re.fullmatch(r"\d+ days \d\d:\d\d:\d\d", first)
    ada.page.wait_for_function(
        "before => document.querySelector('.countdown').textContent !== before", arg=first
    )
    ada.look("home")
    ada.look("phone", phone=True)


def register_and_log_in_again(ada: Walker) -> None:
    ada.go("/register")
    ada.look()
    ada.fill("Register", name="Ada", password=PASSWORD)
    assert ada.is_at("/submit")
    ada.page.get_by_role("button", name="Log out").click()
    ada.go("/login")
    with ada.refused(401):
        ada.fill("Log in", name="Ada", password="a wrong password")
    assert "The name or the password is wrong." in ada.text("[role=alert]")
    ada.look()
    ada.fill("Log in", name="Ada", password=PASSWORD)
    assert ada.is_at("/submit")


def download_data(ada: Walker, stage: Stage) -> None:
    ada.go("/data")
    ada.look()
    with ada.page.expect_download() as started:
        ada.page.get_by_role("link", name="gerda_train.labels").click()
    path = Path(started.value.path())
    assert path.read_bytes() == (stage.challenge.public_files("gerda")[2]).read_bytes()


def submit_by_dropping(ada: Walker, path: Path) -> None:
    """On a slow line, so that the progress can be seen."""
    ada.go("/submit")
    ada.page.locator("#label").fill("logistic regression")
    ada.drop(path)
    assert ada.page.evaluate("document.querySelector('#file').files[0].size") == path.stat().st_size
    line = ada.page.context.new_cdp_session(ada.page)
    line.send("Network.enable")
    slow = {"offline": False, "latency": 0, "downloadThroughput": -1, "uploadThroughput": 3_000}
    line.send("Network.emulateNetworkConditions", slow)
    ada.page.get_by_role("button", name="Send").click()
    ada.page.wait_for_function(
        "() => { const bar = document.querySelector('#progress');"
        " return bar && !bar.hidden && 0 < bar.value && bar.value < 100; }"
    )
    ada.look("submit")
    line.send("Network.emulateNetworkConditions", slow | {"uploadThroughput": -1})
    ada.page.wait_for_url("**/entries/*")
    ada.wait_for_state("scored")


def submit_by_choosing(ada: Walker, path: Path) -> None:
    ada.go("/submit")
    ada.choose(path)
    ada.page.get_by_role("button", name="Send").click()
    ada.page.wait_for_url("**/entries/*")
    ada.wait_for_state("scored")


def see_scores_and_figure_1(ada: Walker, part: str) -> None:
    assert "logistic regression" in ada.text("h1")
    rows = [row for row in ada.texts("main table >> nth=0 >> tbody tr") if part in row]
    assert len(rows) == 5
    assert all(SCORE.search(row) for row in rows)
    assert "complete and scored" in ada.text()
    assert ada.page.locator(FIGURES).count() == 5
    assert ada.page.locator(f"{FIGURES} .mark").count() == 5
    ada.look("entry")


def be_told_what_to_mend(ada: Walker, stage: Stage, folder: Path) -> None:
    """A zip with answers to the wrong cases, and a file that is no zip."""
    labels = stage.challenge.truths("gerda", "train")
    wrong = pack(folder / "wrong.zip", {"gerda": DatasetEntry({"valid": labels})})
    no_zip = folder / "no.zip"
    no_zip.write_bytes(b"no zip at all")
    for path, told in ((wrong, "gerda_valid.resu"), (no_zip, "no zip file")):
        ada.go("/submit")
        ada.choose(path)
        ada.page.get_by_role("button", name="Send").click()
        ada.page.wait_for_url("**/entries/*")
        ada.wait_for_state("refused")
        assert told in ada.text("ul.problems")
        assert "does not count against your quota" in ada.text()
        ada.look()


def see_my_entries(ada: Walker) -> None:
    ada.go("/entries")
    states = ada.texts("tbody .state")
    assert states == ["refused", "refused", "scored", "scored"]
    assert "logistic regression" in ada.text("tbody tr:last-child")
    ada.look()


def see_leaderboards(ada: Walker, stage: Stage) -> None:
    ada.go("/leaderboard")
    assert set(ada.texts("tbody th")) == {"Ada", "Bayes", "Logistic", "Overconfident Ridge"}
    assert ada.page.locator("tr.mine").count() == 1
    ada.look()
    for name in stage.challenge.names:
        ada.page.locator(".tabs").get_by_role("link", name=name).click()
        assert ada.is_at(f"/leaderboard/{name}")
        rows = ada.texts("tbody tr")
        assert len(rows) == 4
        assert all(SCORE.search(row) for row in rows)
        groups = group_of(ada)
        assert groups["Ada"] == groups["Bayes"]  # the same answers
        ada.look("leaderboard" if name == "anna" else "")
    ada.go("/leaderboard/anna")
    groups = group_of(ada)
    assert groups["Logistic"] != groups["Bayes"]  # 0.17 and 0.27, of 1000 cases


def group_of(walker: Walker) -> dict[str, str]:
    """The tie group of each participant in the table shown."""
    rows, column = walker.page.locator("tbody tr").all(), walker.texts("thead th").index("Group")
    return {row.locator("th").inner_text(): row.locator("td, th").nth(column).inner_text() for row in rows}


def see_learning_over_time(ada: Walker) -> None:
    ada.go("/learning")
    assert ada.page.locator(FIGURES).count() == 5
    assert ada.page.locator(f"{FIGURES} >> nth=0 >> .mark").count() == 2
    ada.look("learning")


def come_back(walker: Walker, name: str) -> None:
    """Weeks later the session is over."""
    walker.go("/login")
    walker.fill("Log in", name=name, password=PASSWORD)
    assert walker.is_at("/organiser" if name == "Olga" else "/submit")


def still_running(ada: Walker) -> None:
    """The organiser gave a day more: the end that was planned is none."""
    ada.go("/leaderboard")
    assert "Final" not in ada.text("h1")


def see_final_ranking(ada: Walker, stage: Stage) -> None:
    until = time.monotonic() + SECONDS
    while "Final ranking" not in ada.text("h1"):
        assert time.monotonic() < until, ada.text()
        time.sleep(0.3)
        ada.go("/leaderboard")
    assert ada.texts("tbody th").count("Ada") == 2  # of her last five entries two are complete
    ada.look()
    for name in stage.challenge.names:
        ada.go(f"/leaderboard/{name}")
        assert all(len(SCORE.findall(row)) >= 2 for row in ada.texts("tbody tr"))
        ada.look("final" if name == "anna" else "")
    ada.go("/")
    assert "ended" in ada.text(".stage")
    ada.go("/submit")
    assert "No entries are taken any more" in ada.text()


def see_own_test_scores(ada: Walker) -> None:
    ada.go("/entries")
    ada.page.locator("tbody tr").last.get_by_role("link").click()
    assert "Test" in ada.texts("h2")
    tested = [row for row in ada.texts("tbody tr") if re.search(r"\btest\b", row)]
    assert len([row for row in tested if SCORE.search(row)]) == 5
    assert "By test cases" in ada.text()
    assert ada.page.locator(f"{FIGURES} .mark").count() == 5
    ada.look()


# As the organiser


def become_organiser(olga: Walker, stage: Stage) -> None:
    link = stage.services.organiser_link()  # as the server's first start prints it
    assert link is not None
    olga.go(link)
    olga.look()
    olga.fill("Become the organiser", name="Olga", password=PASSWORD)
    assert olga.is_at("/organiser")
    assert "Sealed until the end" in olga.text()
    assert olga.page.get_by_role("button", name="Export the archive").is_disabled()


def move_phases(olga: Walker) -> None:
    olga.fill("Move the phases", form="#phases", ends="2026-03-03T00:00", reason="two days more")
    assert olga.is_at("/organiser")
    assert "2026-03-03 00:00" in olga.text("#phases")
    olga.look("organiser")


def disqualify_and_readmit(olga: Walker, ada: Walker) -> None:
    row = "tr:has(form[action*='/users/']):has-text('Bayes')"
    olga.fill("Disqualify", form=f"{row} form >> nth=0", reason="answers were shared")
    assert "answers were shared" in olga.text(row)
    olga.look()
    ada.go("/leaderboard")
    assert "Bayes" not in ada.texts("tbody th")
    olga.fill("Readmit", form=f"{row} form >> nth=0", reason="they were not")
    ada.go("/leaderboard")
    assert "Bayes" in ada.texts("tbody th")


def end_it_now(olga: Walker) -> None:
    olga.go("/organiser")
    olga.fill("Move the phases", form="#phases", ends="now", reason="all are done")
    assert "ended" in olga.text()


def export(olga: Walker, stage: Stage, folder: Path) -> None:
    olga.go("/organiser")
    olga.page.get_by_role("button", name="Export the archive").click()
    olga.page.wait_for_load_state("load")
    link = olga.page.get_by_role("link", name="download", exact=True)
    until = time.monotonic() + SECONDS
    while not link.count():
        assert time.monotonic() < until, olga.text()
        time.sleep(0.3)
        olga.go("/organiser")
    with olga.page.expect_download() as started:
        link.click()
    kept = folder / "export.zip"
    started.value.save_as(kept)
    with zipfile.ZipFile(kept) as archive:
        assert archive.testzip() is None
        names = archive.namelist()
    assert all(any(name in held for held in names) for name in stage.challenge.names)


def read_audit_log(olga: Walker) -> None:
    olga.go("/organiser/audit")
    told = olga.text("table")
    for what in ("phases moved", "two days more", "participant disqualified", "they were not", "register"):
        assert what in told
    olga.look()


# As a visitor whose browser runs no scripts


def read_without_scripts(browser: Browser, stage: Stage) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    hosts = set()
    page.on("request", lambda request: hosts.add(request.url.split("/")[2]))
    for path in ("/", "/register", "/leaderboard/anna", "/learning", "/api"):
        answer = page.goto(stage.url + path)
        assert answer is not None
        assert answer.status == 200
        assert page.locator("h1").count() == 1
    assert hosts == {stage.url.split("/")[2]}
    context.close()
