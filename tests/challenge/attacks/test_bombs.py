"""Zip bombs and huge counts: what is sent is bounded in bytes, lines, members, digits and time."""

import io
import tracemalloc
import zipfile
from collections.abc import Sequence

import pytest

from redelve.challenge import SubmissionError, read_submission
from redelve.challenge.server.middleware import ORDINARY_BODY
from tests.challenge.attacks.tools import Member, Scene, Wire, crafted, operations, outcome
from tests.challenge.server.bench import SIZES, Bench

RIGHT = b"1\n-1\n" * (SIZES["valid"] // 2)
GIGA = 1 << 30
JSON = {"Content-Type": "application/json"}


def zipped(files: dict[str, bytes]) -> bytes:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return target.getvalue()


def layers(count: int) -> bytes:
    """Zips within zips; the innermost one has a megabyte of noughts."""
    held = b"\0" * (1 << 20)
    for _ in range(count):
        held = zipped({"ada_valid.resu": held})
    return held


BOMBS = {
    "declared": crafted([Member("ada_valid.resu", b"1\n" * (1 << 22))]),
    "undeclared": crafted([Member("ada_valid.resu", b"1\n" * (1 << 22), declared=len(RIGHT))]),
    "declared as none": crafted([Member("ada_valid.resu", b"1\n" * (1 << 22), declared=0)]),
    "declared as gigabytes": crafted([Member("ada_valid.resu", RIGHT, declared=4 * GIGA - 1)]),
    "many members": crafted([Member(f"ada_{n}.resu", b"1\n") for n in range(5000)]),
    "more members than can be counted": crafted([Member("ada_valid.resu", RIGHT)] * 65535).replace(
        b"PK\5\6\0\0\0\0\xff\xff\xff\xff", b"PK\5\6\0\0\0\0\1\0\1\0"
    ),
    "one member many times": crafted([Member("ada_valid.resu", RIGHT, header_at=0)] * 300),
    "overlapping members": crafted(
        [
            Member("ada_valid.resu", b"1\n" * 40),
            *(Member(f"ada_{part}.conf", b"1\n" * 40, header_at=0) for part in ("train", "valid", "test")),
        ]
    ),
    "nested": layers(5),
    "nested and bare": zipped({"ada_valid.zip": layers(3)}),
    "header outside the file": crafted([Member("ada_valid.resu", RIGHT, header_at=3 * GIGA)]),
}


@pytest.mark.parametrize("kind", BOMBS)
def test_a_bomb_is_refused_in_little_memory(played: Scene, kind: str) -> None:
    source = io.BytesIO(BOMBS[kind])
    tracemalloc.start()
    try:
        with pytest.raises(SubmissionError):
            read_submission(source, played.bench.challenge)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 2 << 20


def test_the_crafted_zips_are_zips() -> None:
    """The attacks fail because of what they claim, not because they are no zips."""
    with zipfile.ZipFile(io.BytesIO(crafted([Member("ada_valid.resu", RIGHT)]))) as archive:
        assert archive.read("ada_valid.resu") == RIGHT


def test_the_server_survives_all_bombs_and_tells_what_is_wrong(bench: Bench) -> None:
    bench.join("Ada")
    for kind, data in BOMBS.items():
        found = outcome(bench, data)
        assert found["state"] == "refused", kind
        assert found["problems"], kind
        assert all(len(problem) <= 500 for problem in found["problems"])
    assert outcome(bench, crafted([Member("ada_valid.resu", RIGHT)]))["state"] == "scored"


# Huge counts

LINES = {
    "more lines than cases": b"1\n" * (SIZES["valid"] + 1),
    "fewer lines than cases": b"1\n" * (SIZES["valid"] - 1),
    "a count in front": b"1000000000\n" + RIGHT,
    "one line without end": b"1" * len(RIGHT),
    "a number without end": b"1" + b"0" * 150,
    "blanks without end": b" " * 150,
    "empty": b"",
    "noughts": b"\0" * 80,
    "words": b"nan\n" * SIZES["valid"],
}
NUMBERS = ("1e999999999", "-1e999999999", "nan", "inf", "9" * 60, "0x1p99999", "1_0", "٣", "1e-999999999", "")


@pytest.mark.parametrize("kind", LINES)
def test_counts_must_be_right(played: Scene, kind: str) -> None:
    data = crafted([Member("ada_valid.resu", LINES[kind])])
    with pytest.raises(SubmissionError) as caught:
        read_submission(io.BytesIO(data), played.bench.challenge)
    assert all(len(problem) < 500 for problem in caught.value.problems)


def test_huge_and_strange_numbers_are_taken_or_refused_never_worse(bench: Bench) -> None:
    bench.join("Ada")
    for number in NUMBERS:
        lines = "\n".join([number] * SIZES["valid"]).encode()[: 39 * SIZES["valid"]]
        confidences = [Member("ada_valid.resu", RIGHT), Member("ada_valid.conf", lines)]
        guess = [Member("ada_valid.resu", RIGHT), Member("ada.guess", number.encode()[:60])]
        states = [outcome(bench, crafted(members))["state"] for members in (confidences, guess)]
        assert set(states) <= {"scored", "refused"}, number
        assert bench.client.get("/api/v1/leaderboard").status_code == 200, number


@pytest.mark.parametrize(
    "value", ["0", "-1", str(2**31), str(2**63), str(10**30), "9" * 5000, "1e9", "1.5", "٣٣٣", " "]
)
def test_numbers_in_paths_and_queries_are_bounded(played: Scene, value: str) -> None:
    for operation in operations(played.bench.app):
        numbers = [name for name in operation.in_path if name.endswith("_id") or name == "number"]
        cookie = {"Cookie": played.cookie("Olga"), "Authorization": f"Bearer {played.bench.tokens['Bob']}"}
        if numbers:
            path = operation.at(**dict.fromkeys(numbers, value))
            assert played.wire(operation.method, path, cookie).status in (401, 403, 404, 422), str(operation)
        for name in operation.in_query:
            if operation.method == "GET":
                path = f"{operation.at()}?{name}={value}"
                assert played.wire("GET", path, cookie).status < 500, str(operation)


BODIES: dict[str, tuple[dict[str, str], Sequence[bytes]]] = {
    "announced": ({"Content-Length": str(10**12)}, [b"{}"]),
    "announced with more digits than can be read": ({"Content-Length": "9" * 5000}, [b"{}"]),
    "announced as negative": ({"Content-Length": "-1"}, [b"{}"]),
    "announced as words": ({"Content-Length": "many"}, [b"{}"]),
    "announced as less": ({"Content-Length": "2"}, [b" " * 50_000] * 3),
    "not announced": ({}, [b" " * 50_000] * 3),
    "chunked": ({"Transfer-Encoding": "chunked"}, [b" " * 50_000] * 3),
    "both": ({"Transfer-Encoding": "chunked", "Content-Length": "2"}, [b" " * 50_000] * 3),
}


@pytest.mark.parametrize("kind", BODIES)
def test_a_body_too_large_is_refused_however_it_is_announced(played: Scene, kind: str) -> None:
    headers, pieces = BODIES[kind]
    for path, content in (
        ("/api/v1/accounts", "application/json"),
        ("/login", "application/x-www-form-urlencoded"),
    ):
        answer = played.wire("POST", path, {"Content-Type": content, **headers}, pieces)
        assert answer.status == (400 if kind == "both" else 413), (path, answer.text)


def test_no_route_but_those_for_uploads_takes_a_large_body(played: Scene) -> None:
    """Whatever reads its body reads no more than the bound."""
    taken = []
    for operation in operations(played.bench.app):
        if operation.method == "POST" and operation.in_body:
            headers = {"Cookie": played.cookie("Ada"), "Content-Type": "application/x-www-form-urlencoded"}
            pieces = [b"a" * ORDINARY_BODY, b"a", b"a"]
            if played.wire("POST", operation.at(), headers, pieces).status != 413:
                taken.append(operation.path)
    assert set(taken) == {"/submit/form"}


@pytest.mark.parametrize("path", ["/api/v1/entries", "/submit", "/submit/form"])
def test_an_upload_without_end_is_cut_off(bench: Bench, path: str) -> None:
    """Not announced and sent in pieces; nothing of it stays."""
    bench.join("Ada")
    browser = bench.browser()
    browser.fill("/login", name="Ada", password="correct horse")
    token = browser.token("/submit")
    piece, sent = b"x" * (1 << 20), 0

    def endless() -> Sequence[bytes]:
        nonlocal sent
        sent = bench.challenge.limits.megabytes + 3
        head = b'--e\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\n'
        return [head if path == "/submit/form" else piece, *[piece] * sent]

    headers = {
        **bench.headers("Ada"),
        "Cookie": f"redelve={browser.client.cookies['redelve']}",
        "X-Form-Token": token,
        "Content-Type": "multipart/form-data; boundary=e",
    }
    assert Wire(bench.app)("POST", path, headers, endless()).status == 413
    assert not list(bench.settings.uploads.rglob("*.zip*"))


def test_json_that_is_too_deep_or_too_long_is_refused(played: Scene) -> None:
    for body in (b"[" * 30_000, b'{"name":' * 5_000, b'{"name": ' + b"1" * 5000 + b"}", b'{"name": 1e99999}'):
        answer = played.wire("POST", "/api/v1/accounts", JSON, body)
        assert answer.status in (400, 422), answer.text


def test_many_fields_and_many_files_are_refused(played: Scene) -> None:
    cookie = {"Cookie": played.cookie("Ada")}
    many = {f"field{number}": "x" for number in range(2000)}
    assert played.wire.form("/login", many, cookie).status in (400, 403)
    part = b'--e\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\nx\r\n'
    headers = {**cookie, "Content-Type": "multipart/form-data; boundary=e"}
    assert played.wire("POST", "/submit/form", headers, part * 3000 + b"--e--\r\n").status in (400, 403)


def test_a_field_too_long_is_refused(played: Scene) -> None:
    """Every field of every form and every text of the API has a bound."""
    for operation in operations(played.bench.app):
        if operation.method != "POST" or operation.is_api or not operation.in_body:
            continue
        token = played.form_token("Olga")
        for name in operation.in_body:
            if name in ("form_token", "undo", "file"):
                continue
            fields = {"form_token": token, **dict.fromkeys(operation.in_body, "x"), name: "x" * 30_000}
            fields["form_token"] = token
            answer = played.wire.form(operation.at(), fields, {"Cookie": played.cookie("Olga")})
            assert answer.status in (404, 422), (str(operation), name)
    for name in ("name", "password", "label"):
        document = f'{{"name": "x", "password": "y", "{name}": "{"x" * 30_000}"}}'
        assert played.wire("POST", "/api/v1/tokens", JSON, document.encode()).status == 422


def test_a_damaged_form_is_refused(played: Scene) -> None:
    bodies = (
        *(
            b"",
            b"x",
            b"--e",
            b"--e\r\n",
            b"--e\r\n\r\n",
            b"--e\r\nContent-Disposition: form-data\r\n\r\nx\r\n--e--",
        ),
        *(
            b"--e\r\n" + b"x" * 30_000,
            b"--e\r\n:\r\n\r\n",
            b"--e\r\nContent-Disposition: form-data; name=\xff\r\n\r\nx",
        ),
    )
    for kind in (
        "multipart/form-data; boundary=e",
        "multipart/form-data",
        "multipart/form-data; boundary=\x00",
    ):
        for body in bodies:
            answer = played.wire("POST", "/submit/form", {"Content-Type": kind}, body)
            assert 400 <= answer.status < 500, (kind, body[:40])
