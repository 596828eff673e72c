"""Path traversal: no name that comes from outside reaches the disk."""

import logging
import sys
from pathlib import Path

import pytest

from tests.challenge.attacks.tools import Member, Scene, crafted, files_below, operations, outcome
from tests.challenge.server.bench import SIZES, Bench

CLIMBS = (
    *("..", "../", "../../secret/ada_test.labels", "..%2f..%2fsecret%2fada_test.labels"),
    *("%2e%2e/%2e%2e/secret/ada_test.labels", "..%252f..%252fsecret%252fada_test.labels"),
    *("....//....//secret/ada_test.labels", "..%5c..%5csecret%5cada_test.labels"),
    *("..%c0%af..%c0%afsecret%c0%afada_test.labels", "ada_test.labels", "ada_valid.labels", "%00"),
    *("ada.param%00.labels", "/etc/passwd", "%2fetc%2fpasswd", "file:///etc/passwd", "~", "a" * 5000),
)
MEMBERS = (
    *("../ada_valid.resu", "/etc/cron.d/ada_valid.resu", "..\\ada_valid.resu", "C:\\ada_valid.resu"),
    *("ada/../../ada_valid.resu", "./ada_valid.resu", "ada_valid.resu/", "~/.ssh/authorized_keys", "CON"),
    *("ada_valid.resu\0.txt", "ada_valid.resu\u202e", ".../ada_valid.resu", "ADA_VALID.RESU", "."),
)


def truth_of(bench: Bench) -> bytes:
    return (bench.challenge.folder / "secret" / "ada_test.labels").read_bytes()


@pytest.mark.parametrize("climb", CLIMBS)
def test_no_route_gives_a_file_outside_its_list(played: Scene, climb: str) -> None:
    secret = truth_of(played.bench)
    tried = ["/static/" + climb, f"/static//{climb}", f"/data/{climb}/ada.param", f"/secret/{climb}"]
    for operation in operations(played.bench.app):
        texts = [name for name in operation.in_path if name in ("dataset", "file", "secret")]
        tried += [operation.at(**{name: climb}) for name in texts if operation.method == "GET"]
    assert len(tried) > 8
    for path in tried:
        answer = played.wire("GET", path)
        assert answer.status in (307, 404, 405), path
        assert answer.status != 307 or answer.headers["location"] == f"http://testserver{path[:-1]}"
        assert secret not in answer.body
        assert b"root:" not in answer.body


def test_the_files_that_may_be_had_are_had(played: Scene) -> None:
    """The attacks above fail because of their names, not because nothing is given."""
    assert played.wire("GET", "/data/ada/ada.param").body == b"features = 3\n"
    assert played.wire("GET", "/static/app.js").status == 200


def test_files_beside_the_public_ones_are_not_given(bench: Bench) -> None:
    """Even a link that somebody left in the public folder is in no list."""
    public = bench.challenge.folder / "public" / "ada"
    (public / "leak.txt").symlink_to(bench.challenge.folder / "secret" / "ada_test.labels")
    (public / "notes.txt").write_text("notes of the organiser")
    for name in ("leak.txt", "notes.txt", "ada_test.labels"):
        for base in ("/data", "/api/v1/data"):
            assert bench.client.get(f"{base}/ada/{name}").status_code == 404


def test_a_member_with_a_path_is_refused_and_nothing_is_written(bench: Bench) -> None:
    bench.join("Ada")
    for name in MEMBERS:
        before = files_below(bench.challenge.folder.parent)
        found = outcome(bench, crafted([Member(name, b"1\n" * SIZES["valid"])]))
        assert found["state"] == "refused", name
        assert files_below(bench.challenge.folder.parent) == before  # refused files are deleted


@pytest.mark.parametrize(
    "name",
    [
        "../../evil.zip",
        "/etc/evil.zip",
        "..\\evil.zip",
        "a\0b.zip",
        "x" * 3000,
        "<b>.zip",
        "",
        "UTF-8''%2e%2e%2f",
    ],
)
def test_the_name_of_an_uploaded_file_is_used_for_nothing(bench: Bench, name: str) -> None:
    browser = bench.browser()
    browser.register("Ada")
    token = browser.token("/submit")
    edge = b"boundary"
    parts = [
        b'Content-Disposition: form-data; name="form_token"\r\n\r\n' + token.encode(),
        b'Content-Disposition: form-data; name="file"; filename="' + name.encode() + b'"\r\n\r\nPK',
    ]
    body = b"".join(b"--" + edge + b"\r\n" + part + b"\r\n" for part in parts) + b"--" + edge + b"--\r\n"
    before = files_below(bench.challenge.folder.parent)
    headers = {"Content-Type": "multipart/form-data; boundary=boundary"}
    answer = browser.client.post("/submit/form", content=body, headers=headers)
    assert answer.status_code in (303, 400, 422), answer.text
    new = files_below(bench.challenge.folder.parent) - before
    assert all(path.startswith("challenge/server/uploads/") and "evil" not in path for path in new)


@pytest.mark.skipif(sys.platform == "win32", reason="there are no such modes")
def test_what_the_server_keeps_is_closed_to_other_accounts_of_the_machine(bench: Bench) -> None:
    bench.join("Ada")
    bench.send("Ada")
    data = bench.settings.data
    assert data.stat().st_mode & 0o077 == 0
    for path in (bench.settings.uploads).rglob("*"):
        assert path.stat().st_mode & 0o077 == 0, path


def test_no_error_tells_where_files_lie(played: Scene, caplog: pytest.LogCaptureFixture) -> None:
    folder = str(played.bench.challenge.folder)
    assert Path(folder).is_absolute()
    with caplog.at_level(logging.CRITICAL):
        for path in (
            "/data/ada/x",
            "/entries/99",
            "/organiser/exports/1",
            "/static/x",
            "/link/x",
            "/nothing",
        ):
            for name in ("Ada", "Olga"):
                answer = played.wire("GET", path, {"Cookie": played.cookie(name)})
                assert answer.status in (403, 404), path
                assert folder not in answer.text
