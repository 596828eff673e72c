"""Labels and rules are bound at the opening; anybody can check them, and the ranking, afterwards."""

import hashlib
import io
import json
import shutil
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from redelve.challenge import ChallengeRules, read_challenge
from redelve.challenge.challenge_files import labels_bytes
from redelve.challenge.commitments import LabelsChanged, salted_hash
from redelve.challenge.packing import pack_bytes
from redelve.challenge.server.services import open_services
from redelve.challenge.verification import (
    CheckedPoint,
    read_noted,
    verify_export,
    verify_folder,
    verify_server,
)
from redelve.cli.challenge_verify import verify
from redelve.errors import FormatError, LocationError
from tests.challenge.server.bench import ENDS, LABELS, OPENS, START, Bench, answers, make_challenge, running


def told(bench: Bench) -> dict[str, Any]:
    answer = bench.client.get("/api/v1/commitments")
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


def fetch(bench: Bench) -> Callable[[str], bytes]:
    return lambda path: bench.client.get(f"/api/v1/{path}").content


def exchanged(path: Path) -> None:
    """Put labels in another order."""
    lines = path.read_text().split()
    path.write_text("\n".join(np.random.default_rng(8).permutation(lines)) + "\n")


def test_hashes_are_shown_from_the_opening_and_salts_at_the_end(bench: Bench) -> None:
    bench.clock.set(OPENS.replace(year=2025))
    assert bench.client.get("/api/v1/commitments").status_code == 403
    for moment in (START, LABELS):
        bench.clock.set(moment)
        found = told(bench)
        assert set(found["hashes"]) == {"rules", "ada_valid", "ada_test", "nova_valid", "nova_test"}
        assert found["salts"] is None
        assert found["hashes"]["ada_test"] in bench.client.get("/").text
    bench.clock.set(ENDS)
    after = told(bench)
    assert after["hashes"] == found["hashes"]
    text = after["salts"]["ada_test"].encode() + labels_bytes(bench.challenge.truths("ada", "test"))
    assert hashlib.sha256(text).hexdigest() == found["hashes"]["ada_test"]
    assert len(set(after["salts"].values())) == 5


def test_other_test_labels_stop_the_server_with_a_sentence(bench: Bench) -> None:
    bench.join("Ada")
    bench.send("Ada")
    path = bench.challenge.labels_path("nova", "test")
    exchanged(path)
    with pytest.raises(LabelsChanged, match=r"nova_test\.labels are not those that were bound on \d{4}-"):
        open_services(bench.settings, bench.clock)


def test_other_rules_stop_it_too_once_there_are_entries(bench: Bench) -> None:
    path = bench.challenge.folder / "challenge.toml"
    path.write_text(path.read_text().replace("ranked_entries = 5", "ranked_entries = 1"))
    before = told(bench)["hashes"]
    open_services(bench.settings, bench.clock).close()  # nobody has sent anything yet
    assert told(bench)["hashes"]["rules"] != before["rules"]
    assert told(bench)["hashes"]["ada_test"] == before["ada_test"]
    bench.join("Ada")
    bench.send("Ada")
    path.write_text(path.read_text().replace("ranked_entries = 1", "ranked_entries = 5"))
    with pytest.raises(LabelsChanged, match=r"\[rules\] of challenge.toml are not those that were bound"):
        open_services(bench.settings, bench.clock)


def test_labels_exchanged_under_a_running_server_make_no_ranking(bench: Bench) -> None:
    bench.join("Ada")
    bench.send("Ada")
    bench.work()
    exchanged(bench.challenge.labels_path("ada", "test"))
    bench.services.challenge._truths.pop(("ada", "test"), None)  # it has not read them since it started
    bench.clock.set(ENDS)
    bench.work()
    organiser = bench.organiser()
    assert "the labels are not those that were bound" in organiser.get("/organiser").text
    assert bench.entry("Ada", 1)["final"] is None


def test_labels_that_come_at_the_end_are_bound_then(tmp_path: Path) -> None:
    """A server that never saw them says so: they are in no list of hashes."""
    from tests.challenge.server.bench import make_challenge

    challenge = make_challenge(tmp_path / "challenge")
    kept = {name: challenge.labels_path(name, "test").read_bytes() for name in challenge.names}
    for name in kept:
        challenge.labels_path(name, "test").unlink()
    from dataclasses import replace

    from redelve.challenge.server.app import create_app
    from redelve.challenge.server.clock import ManualClock
    from redelve.challenge.server.settings import Settings
    from tests.challenge.server.bench import CHEAP, TestClient

    settings = replace(Settings.for_folder(challenge.folder), workers=0, passwords=CHEAP)
    clock = ManualClock(START)
    app = create_app(settings, clock=clock)
    with TestClient(app) as client:
        late = Bench(challenge, settings, clock, app, client)
        assert set(told(late)["hashes"]) == {"rules", "ada_valid", "nova_valid"}
        for name, data in kept.items():
            challenge.labels_path(name, "test").write_bytes(data)
        late.join("Ada")
        late.send("Ada")
        late.work()
        clock.set(ENDS)
        late.work()
        assert told(late)["bound_at"]["ada_test"].startswith("2026-03-01")
        assert late.entry("Ada", 1)["final"] is not None


# Verifying an honest server, and others


@pytest.fixture(scope="module")
def export(tmp_path_factory: pytest.TempPathFactory) -> tuple[bytes, dict[str, Any]]:
    """What a server exports after its end, and the hashes that it showed at the opening."""
    with running(tmp_path_factory.mktemp("honest")) as bench:
        noted = told(bench)
        for name, wrong in (("Ada", 0.1), ("Bob", 0.3), ("Cem", 0.2)):
            bench.join(name)
            for number in range(2):
                bench.send(name, wrong=wrong, seed=number)
        bench.work()
        organiser = bench.organiser()
        organiser.fill("/organiser", "/organiser/users/3/disqualify", reason="a trial")
        bench.clock.set(ENDS)
        bench.work()
        organiser = bench.browser()
        organiser.fill("/login", name="Olga", password="correct horse")
        assert organiser.fill("/organiser", "/organiser/export").status_code == 303
        bench.work()
        return organiser.get("/organiser/exports/1").content, noted


@pytest.fixture
def unpacked(export: tuple[bytes, dict[str, Any]], tmp_path: Path) -> Path:
    with zipfile.ZipFile(io.BytesIO(export[0])) as archive:
        archive.extractall(tmp_path / "export")
    return tmp_path / "export"


def wrong(points: list[CheckedPoint]) -> list[str]:
    return [str(point) for point in points if point.is_right is False]


def test_an_honest_export_is_right_in_all_points(
    export: tuple[bytes, dict[str, Any]], tmp_path: Path
) -> None:
    path = tmp_path / "export.zip"
    path.write_bytes(export[0])
    points = verify_export(path, export[1])
    assert [point.is_right for point in points] == [True] * len(points)
    assert sum("entry" in point.what for point in points) == 6
    assert "4 entries, made again" in str(points[-1])


def rewrite(path: Path, change: Callable[[Any], None]) -> None:
    content = json.loads(path.read_text())
    change(content)
    path.write_text(json.dumps(content))


def other_test_labels(folder: Path, noted: dict[str, Any]) -> None:
    """The organiser takes other labels and hashes them with the old salt."""
    exchanged(folder / "challenge/secret/ada_test.labels")


def other_hashes(folder: Path, noted: dict[str, Any]) -> None:
    """The organiser takes other labels and exchanges hash and salt, too."""
    exchanged(folder / "challenge/secret/ada_test.labels")
    labels = read_challenge(folder / "challenge").truths("ada", "test")

    def change(content: dict[str, Any]) -> None:
        content["salts"]["ada_test"] = "0" * 64
        content["hashes"]["ada_test"] = salted_hash("0" * 64, labels_bytes(labels))

    rewrite(folder / "commitments.json", change)


def other_answers(folder: Path, noted: dict[str, Any]) -> None:
    """The organiser improves a friend's entry."""
    challenge = read_challenge(folder / "challenge")
    (folder / "sent" / "4.zip").write_bytes(pack_bytes(answers(challenge, wrong=0.0)))


def other_ranking(folder: Path, noted: dict[str, Any]) -> None:
    """The organiser puts a friend in front."""

    def change(content: dict[str, Any]) -> None:
        first, last = content["overall"][0], content["overall"][-1]
        for key in ("place", "rank_sum"):
            first[key], last[key] = last[key], first[key]
        content["overall"].sort(key=lambda row: row["place"])

    rewrite(folder / "ranking.json", change)


def entry_left_out(folder: Path, noted: dict[str, Any]) -> None:
    """The organiser forgets who is in the way."""

    def change(content: list[Any]) -> None:
        del content[0]

    rewrite(folder / "entries.json", change)


def other_rules(folder: Path, noted: dict[str, Any]) -> None:
    """The organiser finds another rule more convenient."""
    path = folder / "challenge/challenge.toml"
    path.write_text(path.read_text().replace('rank_pool = "entries"', 'rank_pool = "best"'))


TAMPERED = {
    other_test_labels: "WRONG  ada_test: not what was bound at the opening",
    other_hashes: "WRONG  hash of ada_test: another one than was noted: it was exchanged",
    other_answers: "WRONG  entry 4 of Bob: its file is missing, or not the one that was received",
    other_ranking: "WRONG  ranking: the entries give another order",
    entry_left_out: "WRONG  ranking: the entries give another order",
    other_rules: "WRONG  rules: challenge.toml has others than were published",
}


@pytest.mark.parametrize("tamper", TAMPERED, ids=lambda one: one.__name__)
def test_what_was_tampered_with_is_found(
    unpacked: Path, export: tuple[bytes, dict[str, Any]], tamper: Callable[..., None]
) -> None:
    tamper(unpacked, export[1])
    assert TAMPERED[tamper] in wrong(verify_export(unpacked, export[1]))


@pytest.mark.parametrize(
    ("name", "key", "value"),
    [
        ("ranking.json", "datasets", None),
        ("ranking.json", "datasets", {"ada": [5]}),
        ("commitments.json", "rules", None),
        ("commitments.json", "salts", [1]),
        ("commitments.json", "hashes", 5),
        ("commitments.json", "deadline", "x"),
    ],
)
def test_parts_that_no_server_writes_are_refused(unpacked: Path, name: str, key: str, value: Any) -> None:
    def change(content: dict[str, Any]) -> None:
        del content[key]
        content |= {} if value is None else {key: value}

    rewrite(unpacked / name, change)
    with pytest.raises(LocationError, match=r"is not as a server writes it.*: get the export again"):
        verify_export(unpacked)


@pytest.mark.parametrize(
    ("key", "value"),
    [("received_at", "x"), ("received_at", "0001-01-01"), ("id", "x"), ("id", "x" * 500), ("final", 10**400)],
)
def test_entries_that_no_server_writes_are_refused_or_wrong(unpacked: Path, key: str, value: Any) -> None:
    rewrite(unpacked / "entries.json", lambda content: content[0].update({key: value}))
    try:
        assert wrong(verify_export(unpacked))
    except (LocationError, OSError) as error:
        assert "is not as a server writes it" in str(error) or isinstance(error, OSError)  # too long a name


def test_the_command_tells_every_point_and_fails_where_one_is_wrong(
    unpacked: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    shutil.rmtree(unpacked / "archive")
    assert verify([str(unpacked)]) == 0
    shown = capsys.readouterr().out
    assert "right  ranking: 4 entries" in shown
    assert "open   hashes of an earlier day" in shown
    other_ranking(unpacked, {})
    assert verify([str(unpacked)]) != 0
    found = capsys.readouterr()
    assert "WRONG  ranking" in found.out
    assert "1 of" in found.err
    assert verify([str(tmp_path / "nothing")]) != 0
    assert "no such file or folder" in capsys.readouterr().err


def test_a_server_is_checked_by_what_it_tells(tmp_path: Path) -> None:
    with running(tmp_path, rules=ChallengeRules(test_labels="published")) as bench:
        noted = told(bench)
        assert wrong(verify_server(fetch(bench), noted)) == []
        for name, share in (("Ada", 0.1), ("Bob", 0.3)):
            bench.join(name)
            bench.send(name, wrong=share)
        bench.work()
        bench.clock.set(ENDS)
        bench.work()
        points = verify_server(fetch(bench), noted)
        assert [point.is_right for point in points] == [True] * len(points)
        assert "sums of ranks and places" in str(points[-1])

        def lying(path: str) -> bytes:
            """Bob's friend runs this one: the scores stand, the ranks do not."""
            data = fetch(bench)(path)
            if path != "ranking":
                return data
            content = json.loads(data)
            content["overall"][1]["place"] = 1
            content["datasets"]["ada"][1]["value"] -= 0.01
            return json.dumps(content).encode()

        assert len(wrong(verify_server(lying, noted))) == 2
        other = {**noted, "hashes": {**noted["hashes"], "nova_test": "0" * 64}}
        assert "hash of nova_test" in wrong(verify_server(fetch(bench), other))[0]


def test_test_labels_stay_where_the_rules_keep_them(bench: Bench) -> None:
    bench.clock.set(ENDS)
    bench.work()
    points = verify_server(fetch(bench), told(bench))
    assert "open   labels ada_test: the server does not publish them" in [str(point) for point in points]


def test_the_folder_of_a_challenge_is_checked(bench: Bench) -> None:
    noted = told(bench)
    assert wrong(verify_folder(bench.challenge.folder, noted)) == []
    exchanged(bench.challenge.labels_path("ada", "valid"))
    assert wrong(verify_folder(bench.challenge.folder, noted)) == [
        "WRONG  ada_valid: not what was bound at the opening"
    ]


@pytest.mark.parametrize("content", [b"no database", b"", b"SQLite format 3\0" + bytes(500)])
def test_a_folder_whose_database_is_damaged_is_refused(tmp_path: Path, content: bytes) -> None:
    folder = make_challenge(tmp_path / "challenge").folder
    database = folder / "server/server.sqlite3"
    database.parent.mkdir()
    database.write_bytes(content)
    with pytest.raises(LocationError, match=r"server\.sqlite3: (no such table|file is not a database)"):
        verify_folder(folder)


def test_what_is_no_sound_export_is_refused(tmp_path: Path) -> None:
    """A zip whose compressed bytes are damaged, a device without end, JSON without end."""
    place = tmp_path / "export.zip"
    with zipfile.ZipFile(place, "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr("entries.json", "[1, 2, 3]" * 100)
    place.write_bytes(place.read_bytes().replace(b"entries.json", b"entries.json\xff\xff\xff\xff", 1))
    with pytest.raises(LocationError, match="this is no sound zip"):
        verify_export(place)
    with pytest.raises(LocationError, match="/dev/zero: this is neither a folder nor a file"):
        verify_export(Path("/dev/zero"))
    (tmp_path / "noted.json").write_text("[" * 100_000)
    for name in (tmp_path / "noted.json", Path("/dev/zero")):
        with pytest.raises(LocationError, match=r"is not there or no JSON"):
            read_noted(name)


@pytest.mark.parametrize(
    ("name", "size", "told"),
    [
        ("../evil.json", 1, "leads out of the archive: do not trust it"),
        ("entries.json", 200_000_000, "1 files of 200000000 bytes in all: unzip it by hand if you trust it"),
    ],
)
def test_an_export_that_would_do_harm_is_not_unpacked(
    name: str, size: int, told: str, tmp_path: Path
) -> None:
    place = tmp_path / "export.zip"
    with zipfile.ZipFile(place, "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr(name, bytes(size))
    with pytest.raises(FormatError, match=told):
        verify_export(place)
