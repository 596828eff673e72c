"""Leaderboards and the final ranking."""

from pathlib import Path
from typing import Any

from redelve.challenge import (
    ChallengeRules,
    RankedEntry,
    final_ranking,
    outcomes_of,
    read_submission,
    score_submission,
)
from redelve.challenge.packing import pack_bytes
from redelve.challenge.server import entries
from redelve.challenge.server.audit import Actor
from redelve.challenge.server.database_tables import User
from redelve.challenge.server.entries import Offer
from redelve.challenge.server.uploads import StoredUpload
from tests.challenge.server.bench import ENDS, PASSWORD, Bench, answers, running, zipped


def board(bench: Bench, path: str = "/api/v1/leaderboard") -> dict[str, Any]:
    answer = bench.client.get(path)
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


def places(found: dict[str, Any]) -> list[tuple[int, str, int]]:
    return [(row["place"], row["participant"], row["entry"]) for row in found["overall"]]


def take_part(bench: Bench) -> None:
    for name, wrong in (("Ada", 0.05), ("Bob", 0.3), ("Cem", 0.15)):
        bench.join(name)
        bench.send(name, wrong=wrong)
        bench.clock.advance(minutes=1)
    bench.work()


def test_the_leaderboard_is_by_validation_error_with_standard_errors(bench: Bench) -> None:
    take_part(bench)
    found = board(bench)
    assert (found["by"], found["part"]) == ("ber", "valid")
    assert [row["participant"] for row in found["overall"]] == ["Ada", "Cem", "Bob"]
    for row in found["datasets"]["ada"]:
        assert row["ber_error"] > 0
        assert row["first"] <= row["rank"] <= row["last"]
        assert not {"guess", "guess_error", "score", "weight"} & set(row)


def test_the_last_complete_entry_stands_for_a_participant(bench: Bench) -> None:
    take_part(bench)
    bench.send("Ada", wrong=0.4)
    bench.clock.advance(minutes=1)
    bench.send("Ada", pack_bytes({"ada": answers(bench.challenge)["ada"]}))  # not complete
    bench.work()
    assert places(board(bench))[-1] == (3, "Ada", 4)


def test_the_final_ranking_is_that_of_the_core(bench: Bench) -> None:
    take_part(bench)
    bench.clock.set(ENDS)
    bench.work()
    found = board(bench, "/api/v1/ranking")
    ranked = []
    for number, name in enumerate(("Ada", "Bob", "Cem"), 1):
        entry = bench.entry(name, number)
        (path,) = [p for p in bench.settings.uploads.rglob("*.zip") if p.stat().st_size == entry["size"]]
        submission = read_submission(path, bench.challenge)
        scores = score_submission(submission, bench.challenge)
        outcomes = outcomes_of(submission, bench.challenge, "test")
        ranked.append(RankedEntry(str(number), name, bench.clock.now(), scores, outcomes))
    expected = final_ranking(ranked, bench.challenge)
    assert places(found) == [(row.place, row.participant, int(row.entry)) for row in expected.overall]
    for dataset, rows in expected.datasets.items():
        for row, got in zip(rows, found["datasets"][dataset], strict=True):
            assert (got["value"], got["group"], got["last"]) == (row.value, row.group, row.last)


def test_the_first_page_says_whether_the_final_ranking_is_out(bench: Bench) -> None:
    take_part(bench)
    nobody = bench.browser()
    assert "final ranking</a> is out" not in nobody.get("/").text
    bench.clock.set(ENDS)
    assert 'The <a href="/leaderboard">final ranking</a> is out as soon as all' in nobody.get("/").text
    bench.work()
    assert 'The <a href="/leaderboard">final ranking</a> is out.' in nobody.get("/").text


def test_only_the_last_five_complete_entries_count(bench: Bench) -> None:
    bench.join("Ada")
    for number in range(7):
        bench.send("Ada", wrong=0.05 * number, seed=number)
        bench.clock.advance(minutes=1)
    bench.work()
    bench.clock.set(ENDS)
    bench.work()
    assert sorted(row["entry"] for row in board(bench, "/api/v1/ranking")["overall"]) == [3, 4, 5, 6, 7]


def test_incomplete_entries_do_not_enter_the_ranking(bench: Bench) -> None:
    bench.join("Ada")
    bench.send("Ada", pack_bytes({"ada": answers(bench.challenge)["ada"]}))
    bench.work()
    bench.clock.set(ENDS)
    bench.work()
    assert board(bench, "/api/v1/ranking")["overall"] == []


def test_a_disqualified_participant_leaves_the_boards_and_may_come_back(bench: Bench) -> None:
    take_part(bench)
    bench.clock.set(ENDS)
    bench.work()
    organiser = bench.organiser()
    organiser.fill("/organiser", "/organiser/users/1/disqualify", reason="two accounts")
    assert bench.client.get("/api/v1/ranking").status_code == 409  # it is made anew
    bench.work()
    assert [row["participant"] for row in board(bench, "/api/v1/ranking")["overall"]] == ["Cem", "Bob"]
    assert [row["participant"] for row in board(bench)["overall"]] == ["Cem", "Bob"]
    organiser.fill("/organiser", "/organiser/users/1/disqualify", reason="a mistake", undo="true")
    bench.work()
    assert len(board(bench, "/api/v1/ranking")["overall"]) == 3


def test_a_disqualified_entry_gives_way_to_the_one_before(bench: Bench) -> None:
    take_part(bench)
    bench.send("Ada", wrong=0.0)
    bench.work()
    assert ("Ada", 4) in [(row["participant"], row["entry"]) for row in board(bench)["overall"]]
    bench.organiser().fill("/organiser", "/organiser/entries/4/disqualify", reason="used the labels")
    assert ("Ada", 1) in [(row["participant"], row["entry"]) for row in board(bench)["overall"]]


def test_an_entry_that_was_on_its_way_at_the_end_is_ranked(bench: Bench) -> None:
    """Received in time but written down after the ranking was made: the ranking is made anew."""
    take_part(bench)
    received = bench.clock.now()
    bench.clock.set(ENDS)
    bench.work()
    assert len(board(bench, "/api/v1/ranking")["overall"]) == 3
    data = zipped(bench.challenge, wrong=0.0)
    place = bench.settings.uploads / "zz" / "late.zip"
    place.parent.mkdir()
    place.write_bytes(data)
    with bench.services.database.reading() as session:
        bob = session.get_one(User, 2)
    stored = StoredUpload("zz/late.zip", len(data), "0" * 64)
    entries.submit(bench.services, Actor(bob), stored, received, Offer())
    bench.work()
    assert places(board(bench, "/api/v1/ranking"))[0] == (1, "Bob", 4)


def test_the_board_is_made_again_only_when_something_changed(bench: Bench) -> None:
    take_part(bench)
    boards = bench.app.state.boards
    first = boards.development()
    assert boards.development() is first
    bench.send("Ada")
    bench.work()
    assert boards.development() is not first


def test_the_entry_that_a_participant_chose_is_ranked(tmp_path: Path) -> None:
    with running(tmp_path, rules=ChallengeRules(rank_pool="chosen")) as bench:
        browser = bench.browser()
        browser.register("Ada")
        bench.tokens["Ada"] = bench.client.post(
            "/api/v1/tokens", json={"name": "Ada", "password": PASSWORD}
        ).json()["token"]
        bench.join("Bob")
        for wrong in (0.05, 0.3):
            bench.send("Ada", wrong=wrong)
            bench.clock.advance(minutes=1)
        bench.send("Bob", wrong=0.15)
        bench.send("Ada", pack_bytes({"ada": answers(bench.challenge)["ada"]}))
        bench.work()
        for number, code in ((4, 409), (3, 404)):  # one is not complete, one is Bob's
            sent = bench.client.post(f"/api/v1/entries/{number}/choose", headers=bench.headers("Ada"))
            assert sent.status_code == code
        assert "Let this one count" in browser.get("/entries").text
        assert browser.fill("/entries", "/entries/1/choose").status_code == 303
        assert "<strong>counts</strong>" in browser.get("/entries").text
        bench.clock.set(ENDS)
        bench.work()
        late = bench.client.post("/api/v1/entries/2/choose", headers=bench.headers("Ada"))
        assert late.status_code == 403
        assert places(board(bench, "/api/v1/ranking")) == [(1, "Ada", 1), (2, "Bob", 3)]


def test_nobody_chooses_where_the_rules_do_not_say_so(bench: Bench) -> None:
    take_part(bench)
    sent = bench.client.post("/api/v1/entries/1/choose", headers=bench.headers("Ada"))
    assert (sent.status_code, sent.json()["error"]["code"]) == (409, "no_choice")
