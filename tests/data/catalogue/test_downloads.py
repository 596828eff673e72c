"""Downloading from a server on this machine: what is kept, what is refused, and what works offline."""

from __future__ import annotations

import hashlib
import io
import tomllib
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from http.client import HTTPMessage
from pathlib import Path
from urllib.request import Request

import pytest

from redelve.data.catalogue import transfer
from redelve.data.catalogue.depot import LOCK, Depot
from redelve.data.catalogue.downloads import SOURCES, Download, fetch
from redelve.data.catalogue.openml import read_splits
from redelve.data.catalogue.transfer import SafeRedirects
from redelve.data.delve.reading import Library
from redelve.data.delve.roots import active, is_delve_directory
from redelve.errors import FormatError, LocationError, RedelveError, SpecError
from redelve.model import Prototask
from redelve.model.designs import explicit_instances
from tests.data.catalogue.servers import (
    ARFF,
    DELVE_FILES,
    SPLITS,
    Answers,
    put_openml,
    put_uci,
    serving,
    tar,
)

SHA256 = hashlib.sha256(ARFF).hexdigest()
TABLE = "/download/61/flowers.arff"


@pytest.fixture(scope="module")
def _running() -> Iterator[Answers]:
    with serving() as answers:
        yield answers


@pytest.fixture
def server(_running: Answers, delve_home: Path) -> Answers:
    """A server with fresh pages, and an empty depot."""
    for part in (_running.pages, _running.headers, _running.status, _running.asked):
        part.clear()
    put_openml(_running)
    put_uci(_running)
    _running.pages["/flowers.tar.gz"] = tar(DELVE_FILES)
    return _running


def depot(home: Path) -> Path:
    return home / "downloads"


def parts(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.name.endswith(".part")]


class TestOpenml:
    def test_a_dataset_comes_with_what_openml_tells_of_it(self, server: Answers, delve_home: Path) -> None:
        path = depot(delve_home) / "openml/data-61/data.arff"
        assert fetch("openml:61", server=server.url) == Download(
            reference="openml:61",
            name="flowers",
            kind="table",
            path=path,
            url=f"{server.url}{TABLE}",
            sha256=SHA256,
            targets=("the class",),
            nominal=("the class",),
            unused=("id",),
            licence="Public",
            citation="Nobody (1936)",
        )
        assert path.read_bytes() == ARFF

    def test_a_task_comes_with_its_splits(self, server: Answers) -> None:
        found = fetch("openml:task/59", server=server.url)
        assert (found.reference, found.targets, found.sha256) == ("openml:task/59", ("the class",), SHA256)
        assert found.splits is not None
        lists = read_splits(found.splits)
        assert lists == (((1, 2), (3, 4)), ((3, 4), (1, 2)))
        prototask = Prototask("class", "flowers", (2,), (3,), "natural", 1, (2,), 2)
        assert len(explicit_instances(prototask, [1, 2, 3, 4], lists)) == 2

    def test_a_parquet_file_is_taken_where_there_is_no_arff(self, server: Answers) -> None:
        server.json(
            "/data/62",
            {"data_set_description": {"format": "parquet", "parquet_url": f"{server.url}/62/dataset_62.pq"}},
        )
        server.json(
            "/data/features/62", {"data_features": {"feature": {"name": "x", "data_type": "nominal"}}}
        )
        server.pages["/62/dataset_62.pq"] = b"PAR1"
        found = fetch("openml:data/62", server=server.url)
        assert (found.path.name, found.nominal, found.targets) == ("data.parquet", ("x",), ())

    def test_a_file_that_is_not_what_openml_says_is_refused(self, server: Answers, delve_home: Path) -> None:
        server.pages[TABLE] = ARFF.replace(b"5.1", b"9.9")
        with pytest.raises(LocationError, match="damaged: its MD5 is not"):
            fetch("openml:61", server=server.url)
        assert not list(depot(delve_home).rglob("data.arff"))

    @pytest.mark.parametrize("reference", ["openml:iris", "openml:0", "openml:task/../1", "openml:data/1/2"])
    def test_odd_numbers_are_refused_before_anything_is_asked(self, server: Answers, reference: str) -> None:
        with pytest.raises(SpecError, match="bad OpenML reference"):
            fetch(reference, server=server.url)
        assert server.asked == []

    def test_an_unknown_dataset_leaves_nothing_behind(self, server: Answers, delve_home: Path) -> None:
        with pytest.raises(
            LocationError, match=f"can't download {server.url}/data/7: the server answers 404"
        ):
            fetch("openml:7", server=server.url)
        server.json("/data/7", {"error": {"code": "111", "message": "Unknown dataset"}})
        with pytest.raises(LocationError, match='expected JSON with "data_set_description" but got'):
            fetch("openml:7", server=server.url)
        assert not [path for path in depot(delve_home).rglob("*") if path.is_file()]

    def test_a_task_without_data_is_refused(self, server: Answers) -> None:
        server.json("/task/60", {"task": {"input": {"name": "evaluation_measures"}}})
        with pytest.raises(LocationError, match="OpenML task 60 lacks 'source_data'"):
            fetch("openml:task/60", server=server.url)

    def test_other_formats_are_refused(self, server: Answers) -> None:
        server.json("/data/63", {"data_set_description": {"format": "CSV", "url": f"{server.url}/63.csv"}})
        server.json("/data/features/63", {"data_features": {"feature": []}})
        with pytest.raises(LocationError, match="OpenML dataset 63 is neither ARFF nor Parquet"):
            fetch("openml:63", server=server.url)


class TestSplits:
    def test_samples_of_a_learning_curve_are_kept_apart(self, tmp_path: Path) -> None:
        path = tmp_path / "splits.arff"
        text = SPLITS.decode().replace("@data", "@attribute sample numeric\n@data")
        path.write_text("\n".join(f"{line},1" if line[:1] == "T" else line for line in text.splitlines()))
        assert len(read_splits(path)) == 2

    @pytest.mark.parametrize(
        ("old", "new", "message"),
        [
            ("TEST,3,0,0", "VALID,3,0,0", 'line 10: expected TRAIN or TEST but got "VALID"'),
            ("TEST,3,0,0", "TEST,3,0", 'line 10: expected 4 values but got "TEST,3,0"'),
            ("TEST,3,0,0", "TEST,x,0,0", "line 10: expected numbers of row, repeat and fold"),
            ("rowid", "row", 'line 6: splits need a column "rowid"; there are type, row, repeat, fold'),
            ("@data", "@data\n%", None),
            (SPLITS.decode()[SPLITS.index(b"TRAIN,0") :], "", "there are no splits"),
        ],
    )
    def test_damage_is_told_with_its_line(
        self, tmp_path: Path, old: str, new: str, message: str | None
    ) -> None:
        path = tmp_path / "splits.arff"
        path.write_text(SPLITS.decode().replace(old, new))
        if message is None:
            assert len(read_splits(path)) == 2
        else:
            with pytest.raises(FormatError) as caught:
                read_splits(path)
            assert message in str(caught.value)


class TestUci:
    @pytest.mark.parametrize("name", ["53", "the flowers"])
    def test_a_table_comes_with_the_roles_of_its_columns(self, server: Answers, name: str) -> None:
        found = fetch(f"uci:{name}", server=server.url)
        assert found.path.read_text().startswith("number,length,class")
        assert (found.targets, found.nominal, found.unused) == (("class",), ("class",), ("number",))
        expected = "Nobody (1936), Flowers, UCI Machine Learning Repository, doi:10.24432/C56C76"
        assert found.citation == expected

    def test_a_dataset_without_a_table_names_its_page(self, server: Answers) -> None:
        with pytest.raises(LocationError, match=r"offers no table of .54.: look at https://archive"):
            fetch("uci:54", server=server.url)

    def test_what_the_repository_does_not_know_is_not_kept(self, server: Answers) -> None:
        with pytest.raises(LocationError, match='expected JSON with "data" but got'):
            fetch("uci:55", server=server.url)
        with pytest.raises(SpecError, match="bad UCI reference"):
            fetch("uci:../x", server=server.url)


class TestDelve:
    def test_a_dataset_lands_in_a_delve_directory(
        self, server: Answers, delve_home: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        found = fetch("delve:flowers", server=server.url)
        root = depot(delve_home) / "delve"
        assert (found.kind, found.path) == ("delve", root / "data" / "flowers")
        assert is_delve_directory(str(root))
        monkeypatch.setenv("DELVE_PATH", str(root))
        library = Library(active(str(tmp_path)))
        assert library.overlay.datasets() == ["flowers"]
        assert library.dataset(library.dataset_spec("flowers")).cases.count == 3

    def test_members_of_a_family_are_looked_for_in_its_folder(self, server: Answers) -> None:
        with pytest.raises(LocationError, match=r"/kin-family/kin-8nm\.tar\.gz: the server answers 404"):
            fetch("delve:kin-8nm", server=server.url)

    def test_an_archive_without_a_dataset_is_refused(self, server: Answers, delve_home: Path) -> None:
        server.pages["/flowers.tar.gz"] = tar({"flowers/README": b"gone"})
        with pytest.raises(FormatError, match=r"holds no DELVE dataset: there is no Dataset\.spec in it"):
            fetch("delve:flowers", server=server.url)
        assert list((depot(delve_home) / "delve" / "data").iterdir()) == []

    def test_the_users_additions_to_the_folder_stay(self, server: Answers) -> None:
        path = fetch("delve:flowers", server=server.url).path
        (path / "mine").mkdir()
        assert (fetch("delve:flowers", server=server.url, offline=True).path / "mine").is_dir()

    def test_odd_names_are_refused(self, server: Answers) -> None:
        with pytest.raises(SpecError, match=r'bad name "\.\./flowers" of a DELVE dataset'):
            fetch("delve:../flowers", server=server.url)


class TestTrust:
    def test_the_second_time_nothing_is_asked(self, server: Answers) -> None:
        first = fetch("openml:task/59", server=server.url)
        asked = list(server.asked)
        assert fetch("openml:task/59", server=server.url, offline=True) == first
        assert server.asked == asked

    def test_the_lock_file_tells_address_checksum_and_size(self, server: Answers, delve_home: Path) -> None:
        fetch("openml:61", server=server.url)
        lock = tomllib.loads((depot(delve_home) / LOCK).read_text())
        entry = {"sha256": SHA256, "size": len(ARFF)}
        assert lock == {"format": 1, "files": {f"{server.url}{TABLE}": entry}}

    def test_a_file_that_has_changed_upstream_is_refused(self, server: Answers, delve_home: Path) -> None:
        path = fetch("delve:flowers", server=server.url).path
        archive = depot(delve_home) / "delve-archives" / "flowers.tar.gz"
        archive.unlink()
        server.pages["/flowers.tar.gz"] = changed = tar({**DELVE_FILES, "flowers/Summary": b"new"})
        with pytest.raises(LocationError, match=r"when it was first downloaded; it is not kept: if you know"):
            fetch("delve:flowers", server=server.url)
        assert not archive.exists()
        found = fetch("delve:flowers", server=server.url, checksum=hashlib.sha256(changed).hexdigest())
        assert found.path == path
        archive.unlink()
        assert fetch("delve:flowers", server=server.url).sha256 == found.sha256

    def test_a_checksum_of_the_users_is_obeyed(self, server: Answers, delve_home: Path) -> None:
        with pytest.raises(LocationError, match=f"the file has SHA-256 {SHA256}, not {'0' * 64} as asked"):
            fetch("openml:61", server=server.url, checksum="0" * 64)
        assert not list(depot(delve_home).rglob("data.arff"))
        assert fetch("openml:61", server=server.url, checksum=SHA256.upper()).sha256 == SHA256
        with pytest.raises(LocationError, match=r"data\.arff: its SHA-256 is .* remove the file"):
            fetch("openml:61", server=server.url, checksum="0" * 64)

    def test_a_checksum_of_the_users_outweighs_the_servers(self, server: Answers) -> None:
        server.pages[TABLE] = other = ARFF.replace(b"5.1", b"9.9")
        checksum = hashlib.sha256(other).hexdigest()
        assert fetch("openml:61", server=server.url, checksum=checksum).sha256 == checksum

    def test_a_kept_file_that_was_changed_is_refused(self, server: Answers) -> None:
        path = fetch("openml:61", server=server.url).path
        path.write_bytes(b"changed")
        with pytest.raises(LocationError, match=f"its SHA-256 is .*, not {SHA256}: remove the file"):
            fetch("openml:61", server=server.url)

    def test_a_file_put_there_by_hand_is_trusted_and_locked(self, server: Answers, delve_home: Path) -> None:
        archive = depot(delve_home) / "delve-archives" / "flowers.tar.gz"
        archive.parent.mkdir(parents=True)
        archive.write_bytes(tar(DELVE_FILES))
        found = fetch("delve:flowers", offline=True)
        assert found.path.name == "flowers"
        assert found.sha256 in (depot(delve_home) / LOCK).read_text()
        assert server.asked == []

    def test_a_damaged_or_newer_lock_file_is_named(self, server: Answers, delve_home: Path) -> None:
        lock = depot(delve_home) / LOCK
        fetch("openml:61", server=server.url)
        for text, message in (
            ("format = 1\n[files\n", "damaged"),
            ("format = 2\n[files]\n", "format 2 is newer than this redelve"),
            ('format = 1\n[files."x"]\nsize = 1\n', "damaged"),
            (f"format = 1\nfiles = {'[' * 3000}", "damaged"),
        ):
            lock.write_text(text)
            with pytest.raises(FormatError, match=message):
                fetch("openml:61", server=server.url)


class TestTransfers:
    def test_offline_says_what_is_missing(self, server: Answers) -> None:
        with pytest.raises(
            LocationError, match=r"description\.json is not there yet, and offline=True forbids"
        ):
            fetch("openml:61", server=server.url, offline=True)
        assert server.asked == []

    def test_nobody_listening_is_a_clear_error(self, delve_home: Path) -> None:
        with pytest.raises(
            LocationError, match=r"can't download http://127\.0\.0\.1:9/[^\[]*: Connection refused; .*server="
        ):
            fetch("delve:flowers", server="http://127.0.0.1:9", timeout=5)

    @pytest.mark.parametrize("announced", [None, ""])
    def test_too_large_a_file_is_refused(
        self, server: Answers, delve_home: Path, announced: str | None
    ) -> None:
        server.pages["/flowers.tar.gz"] = bytes(200_000)
        if announced is not None:
            server.headers["/flowers.tar.gz"] = {"Content-Length": announced}
        with pytest.raises(LocationError, match="than the limit of 100000"):
            fetch("delve:flowers", server=server.url, limit=100_000)
        assert parts(delve_home) == []

    def test_a_broken_connection_leaves_nothing(self, server: Answers, delve_home: Path) -> None:
        server.headers["/flowers.tar.gz"] = {"Content-Length": "9999"}
        with pytest.raises(LocationError, match=r"the connection ended after .* of 9999 bytes"):
            fetch("delve:flowers", server=server.url)
        assert parts(delve_home) == []
        assert not list(depot(delve_home).rglob("*.tar.gz"))

    def test_redirections_are_followed_but_not_to_local_files(self, server: Answers, tmp_path: Path) -> None:
        server.status["/flowers.tar.gz"] = 302
        server.headers["/flowers.tar.gz"] = {"Location": f"{server.url}/moved"}
        server.pages["/moved"] = tar(DELVE_FILES)
        assert fetch("delve:flowers", server=server.url).kind == "delve"
        server.status["/other.tar.gz"] = 302
        server.headers["/other.tar.gz"] = {"Location": f"file://{tmp_path}"}
        with pytest.raises(LocationError, match="can't download"):
            fetch("delve:other", server=server.url)

    def test_a_description_cannot_lead_to_local_files(self, server: Answers, tmp_path: Path) -> None:
        secret = tmp_path / "secret.arff"
        secret.write_bytes(ARFF)
        server.json("/data/64", {"data_set_description": {"format": "ARFF", "url": secret.as_uri()}})
        server.json("/data/features/64", {"data_features": {"feature": []}})
        with pytest.raises(LocationError, match="which redelve does not open"):
            fetch("openml:64", server=server.url)

    def test_connections_stay_encrypted(self, tmp_path: Path) -> None:
        openml = Depot(tmp_path, "https://www.openml.org/api/v1/json", 1, 1, offline=True)
        with pytest.raises(LocationError, match=r"forbids to download https://www\.openml\.org/data/1"):
            openml.file("http://www.openml.org/data/1", "data.arff")
        request = Request("https://www.openml.org/data/1")
        with pytest.raises(LocationError, match="it leads to an unencrypted address, http://elsewhere"):
            SafeRedirects().redirect_request(
                request, io.BytesIO(), 302, "Found", HTTPMessage(), "http://elsewhere"
            )

    def test_a_trickle_is_given_up(self, server: Answers, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(transfer, "LONGEST", -1.0)
        with pytest.raises(LocationError, match="it took more than"):
            fetch("delve:flowers", server=server.url)

    def test_many_may_download_at_once(self, server: Answers, delve_home: Path) -> None:
        references = ["openml:61", "uci:53", "delve:flowers", "openml:task/59"] * 4
        with ThreadPoolExecutor(8) as pool:
            found = list(pool.map(lambda reference: fetch(reference, server=server.url), references))
        assert all(one.path.exists() for one in found)
        assert len(tomllib.loads((depot(delve_home) / LOCK).read_text())["files"]) == 4
        assert parts(delve_home) == []

    def test_a_folder_can_take_the_place_of_a_server(self, tmp_path: Path, delve_home: Path) -> None:
        (tmp_path / "mirror").mkdir()
        (tmp_path / "mirror" / "flowers.tar.gz").write_bytes(tar(DELVE_FILES))
        assert fetch("delve:flowers", server=(tmp_path / "mirror").as_uri()).path.is_dir()

    def test_a_depot_that_cannot_be_written_is_named(self, server: Answers, delve_home: Path) -> None:
        delve_home.write_text("in the way")
        with pytest.raises(LocationError, match="set REDELVE_HOME to a folder that you may write to"):
            fetch("delve:flowers", server=server.url)


@pytest.mark.parametrize(
    ("reference", "message"),
    [
        ("iris", 'bad reference "iris": expected something like openml:61'),
        ("kaggle:iris", 'unknown source of datasets "kaggle": known are delve, openml, uci'),
        ("delve:", 'bad reference "delve:"'),
    ],
)
def test_references_that_lead_nowhere(reference: str, message: str) -> None:
    with pytest.raises(RedelveError) as caught:
        fetch(reference)
    assert str(caught.value).startswith(message)


def test_a_checksum_must_look_like_one() -> None:
    with pytest.raises(SpecError, match='bad checksum "abc": a SHA-256 has 64 hexadecimal digits'):
        fetch("openml:61", checksum="abc")


def test_the_usual_servers_are_asked_over_encrypted_connections() -> None:
    assert [SOURCES[name].server.split("/")[0] for name in SOURCES] == ["https:"] * 3
