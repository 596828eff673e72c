"""After the end everything goes into a redelve archive; before, it is sealed."""

import io
import json
import zipfile
from pathlib import Path

import numpy as np

from redelve.challenge.server import jobs
from redelve.challenge.server.boards import revision_of
from redelve.challenge.server.exports import write_archive
from redelve.store import Archive
from tests.challenge.server.bench import ENDS, PASSWORD, Bench


def test_the_archive_is_sealed_until_the_end(bench: Bench) -> None:
    bench.join("Ada")
    bench.send("Ada")
    bench.work()
    organiser = bench.organiser()
    refused = organiser.fill("/organiser", "/organiser/export")
    assert refused.status_code == 403
    assert "sealed" in refused.text
    assert organiser.get("/organiser/exports/1").status_code == 403


def test_the_archive_holds_every_case_of_every_entry(bench: Bench, tmp_path: Path) -> None:
    for name, wrong in (("Ada", 0.1), ("Bob", 0.3)):
        bench.join(name)
        bench.send(name, wrong=wrong)
    bench.work()
    bench.clock.set(ENDS)
    bench.work()
    organiser = bench.organiser()
    assert organiser.fill("/organiser", "/organiser/export").status_code == 303
    assert organiser.get("/organiser/exports/1").status_code == 404
    bench.work()
    path = tmp_path / "export.zip"
    path.write_bytes(organiser.get("/organiser/exports/1").content)
    archive = Archive.open(path)
    assert archive.verify().ok
    results = archive.load(answers=True)
    assert len(results.records) == 2 * 2 * 2  # entries, datasets, parts
    for name, number in (("Ada", 1), ("Bob", 2)):
        scores = bench.entry(name, number)["final"]["ada"]["parts"]
        for part in ("valid", "test"):
            (record,) = results.of(f"entry-{number}", f"/ada/{part}/challenge.60")
            assert np.isclose(record.losses["Z"].mean(), scores[part]["error_rate"])
            assert record.answer is not None
    assert results.method("entry-1").identity["participant"] == "Ada"


def test_the_ranking_and_all_entries_go_with_it(bench: Bench) -> None:
    bench.join("Ada")
    bench.send("Ada")
    bench.send("Ada", b"no zip")
    bench.work()
    bench.clock.set(ENDS)
    bench.work()
    organiser = bench.organiser()
    organiser.fill("/organiser", "/organiser/export")
    bench.work()
    with zipfile.ZipFile(io.BytesIO(organiser.get("/organiser/exports/1").content)) as packed:
        ranking = json.loads(packed.read("ranking.json"))
        entries = json.loads(packed.read("entries.json"))
    assert [row["participant"] for row in ranking["overall"]] == ["Ada"]
    assert [entry["id"] for entry in entries] == [1]


def test_a_participant_gets_no_export(bench: Bench) -> None:
    bench.clock.set(ENDS)
    browser = bench.browser()
    browser.register("Ada")
    assert browser.get("/organiser/exports/1").status_code == 403
    assert browser.fill("/account", "/organiser/export").status_code == 403


def test_an_archive_without_the_ranking_that_is_to_come_is_not_made(bench: Bench) -> None:
    """Neither before a worker has seen the end, nor after a disqualification that asks for a new ranking."""
    bench.join("Ada")
    bench.send("Ada")
    bench.work()
    organiser = bench.organiser()
    bench.clock.set(ENDS)
    organiser.fill("/login", name="Olga", password=PASSWORD)
    assert organiser.fill("/organiser", "/organiser/export").status_code == 409
    bench.work()
    organiser.fill("/organiser", "/organiser/entries/1/disqualify", reason="a trial")
    assert organiser.fill("/organiser", "/organiser/export").status_code == 409
    bench.work()
    assert organiser.fill("/organiser", "/organiser/export").status_code == 303
    again = organiser.fill("/organiser", "/organiser/export")
    assert (again.status_code, "already" in again.text) == (409, True)
    organiser.fill("/organiser", "/organiser/ranking")  # it need not wait for the archive
    with bench.services.database.reading() as session:
        assert jobs.lacks_ending(session, revision_of(session))


def test_what_a_worker_that_died_left_of_an_archive_is_swept(bench: Bench) -> None:
    bench.join("Ada")
    bench.send("Ada")
    bench.work()
    bench.clock.set(ENDS)
    bench.work()
    left = bench.settings.data / "exports" / "challenge-archive-1.0123"
    left.mkdir(parents=True)
    (left / "half").write_text("half")
    bench.organiser().fill("/organiser", "/organiser/export")
    bench.work()
    assert [path.name for path in left.parent.iterdir()] == ["challenge-archive-1.zip"]


def test_a_report_does_not_mistake_the_parts_for_a_learning_curve(bench: Bench, tmp_path: Path) -> None:
    bench.join("Ada")
    bench.send("Ada")
    bench.work()
    bench.clock.set(ENDS)
    bench.work()
    archive = write_archive(bench.services, tmp_path / "archive")
    prototasks = {address.rpartition("/")[0] for address in archive.load().tasks}
    assert prototasks == {"/ada/valid", "/ada/test", "/nova/valid", "/nova/test"}
