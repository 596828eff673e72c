"""Files: found, decompressed, limited, and replaced as a whole or not at all."""

from __future__ import annotations

import base64
import bz2
import contextlib
import gzip
import io
import lzma
import os
import shutil
import subprocess
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pyarrow
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from redelve.assessment import compare_scores
from redelve.data import compressed_names, lzw
from redelve.data.files import (
    AtomicFiles,
    check_plain,
    file_digest,
    find_file,
    open_bytes,
    read_blocks,
    read_text,
    write_atomic,
    write_json_once,
)
from redelve.data.tables import from_file
from redelve.errors import FormatError, LocationError, RedelveError

TEXT = "".join(f"{i} {i * i} {i % 7}\n" for i in range(3000)).encode()
BLUE = "red green red green red green blue\n" * 40
# BLUE in the coding of `compress`, made by lzw_compress below; gzip 1.12 reads it as BLUE
BLUE_Z = (
    "H52QcsqQAXEmYBk3IAIOLFjmYEKBBA0iFMOmThkFCiM2RJiRocOOEkFQtIgRokeOJkOC3Ciy4sWVH1OyhDnRZcmFKmXGxMly5Eud"
    "KHnu1OjQ502iQZE+FFqTJM2lSp8afUoVaEunVqsyvfpzq1alU7OK3RrW61iwNr+ehLq2bNSzbdPCzUlWrtm7aLHiXSvV7tu9Id3y"
    "ndvT72DAhfX+XRxX8WHGgQ3ThZy4K+WhjS0/3hzZ8WTOlY+CxtxZ8+fTodWiLip5JmHWnl0jhm1a9uWmtUnbzix6dVLeqneX7i28"
    "OG3iupPjRv7bN1fmbJ0bBQ=="
)


def lzw_compress(data: bytes, *, bits: int = 16, block_mode: bool = True, clear_every: int = 0) -> bytes:
    """A plain encoder that mirrors the decoder of `compress`; clears its table every so many codes."""
    packer = _Packer()
    table: dict[bytes, int] = {}
    first = 256 + block_mode
    phrase, sent = b"", 0

    def emit(code: int) -> None:
        nonlocal sent
        if first + sent - 1 >= 1 << packer.width and packer.width < bits:
            packer.align()
            packer.width += 1
        packer.put(code)
        sent += 1

    def code_of(text: bytes) -> int:
        return text[0] if len(text) == 1 else table[text]

    for byte in data:
        longer = phrase + bytes([byte])
        if len(longer) == 1 or longer in table:
            phrase = longer
            continue
        emit(code_of(phrase))
        if first + len(table) < 1 << bits:
            table[longer] = first + len(table)
        phrase = longer[-1:]
        if block_mode and clear_every and sent >= clear_every:
            emit(256)
            packer.align()
            packer.width, sent = 9, 0
            table.clear()
    if phrase:
        emit(code_of(phrase))
    return lzw.MAGIC + bytes([bits | 0x80 * block_mode]) + packer.finish()


class _Packer:
    def __init__(self) -> None:
        self.width, self._done, self._value, self._bits = 9, bytearray(), 0, 0

    def put(self, code: int) -> None:
        self._value |= code << self._bits
        self._bits += self.width

    def align(self) -> None:
        group = 8 * self.width
        self._bits = -(-self._bits // group) * group
        self._flush()

    def _flush(self) -> None:
        self._done += self._value.to_bytes((self._bits + 7) // 8, "little")
        self._value = self._bits = 0

    def finish(self) -> bytes:
        self._flush()
        return bytes(self._done)


def zipped(data: bytes, *members: str) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in members or ("member",):
            archive.writestr(name, data)
    return buffer.getvalue()


def zstandard(data: bytes) -> bytes:
    sink = pyarrow.BufferOutputStream()
    with pyarrow.CompressedOutputStream(sink, "zstd") as stream:
        stream.write(data)
    compressed: bytes = sink.getvalue().to_pybytes()
    return compressed


KINDS: dict[str, Callable[[bytes], bytes]] = {
    ".gz": gzip.compress,
    ".Z": lzw_compress,
    ".bz2": bz2.compress,
    ".xz": lzma.compress,
    ".zst": zstandard,
    ".zip": zipped,
}


def read(path: Path) -> bytes:
    with open_bytes(path) as stream:
        return stream.read()


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


# Finding


def test_the_file_itself_is_found_before_its_compressed_forms(tmp_path: Path) -> None:
    for suffix in reversed(["", *compressed_names.ENDINGS]):
        (tmp_path / f"Dataset.data{suffix}").write_bytes(b"x")
        assert find_file(tmp_path / "Dataset.data") == tmp_path / f"Dataset.data{suffix}"


def test_a_directory_is_not_a_file(tmp_path: Path) -> None:
    assert find_file(tmp_path) is None
    with pytest.raises(LocationError, match="is a directory"):
        open_bytes(tmp_path)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(LocationError, match=r"nowhere: no such file"):
        read_text(tmp_path / "nowhere")


@pytest.mark.parametrize("address", ["https://example.org/d.csv", "s3://bucket/d.csv"])
def test_an_address_on_the_net_is_told_as_one(address: str) -> None:
    reading: list[Callable[[str], object]] = [read_text, from_file, compare_scores]
    for read in reading:
        with pytest.raises(
            LocationError, match="an address on the net: download the file, and give its name"
        ):
            read(address)


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="root may read everything")
def test_a_forbidden_file_is_named(tmp_path: Path) -> None:
    path = tmp_path / "secret"
    path.write_text("x")
    path.chmod(0)
    with pytest.raises(LocationError, match="secret: cannot read: permission denied: ask whom it belongs to"):
        read_text(path)


def test_a_refusal_by_the_system_is_a_location_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "secret"
    path.write_text("x")

    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", refuse)
    with pytest.raises(LocationError, match="secret: cannot read: permission denied: ask whom it belongs to"):
        open_bytes(path)


# Decompression


@pytest.mark.parametrize("suffix", KINDS)
def test_compressed_files_are_read_as_the_file_they_stand_for(tmp_path: Path, suffix: str) -> None:
    (tmp_path / f"Dataset.data{suffix}").write_bytes(KINDS[suffix](TEXT))
    assert read(tmp_path / "Dataset.data") == TEXT
    assert read_text(tmp_path / "Dataset.data").encode() == TEXT


@pytest.mark.parametrize("suffix", KINDS)
def test_the_kind_is_told_by_the_content_not_the_name(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / "Dataset.data.gz"
    path.write_bytes(KINDS[suffix](TEXT))
    assert read(path) == TEXT
    path.write_bytes(TEXT)
    assert read(path) == TEXT


@pytest.mark.parametrize("suffix", KINDS)
def test_empty_contents_survive(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / "empty"
    path.write_bytes(KINDS[suffix](b""))
    assert read(path) == b""


@pytest.mark.parametrize("suffix", sorted(set(KINDS) - {".Z"}))
@pytest.mark.parametrize("kept", [0.5, 0.9, -1])
def test_truncated_files_are_refused(tmp_path: Path, suffix: str, kept: float) -> None:
    whole = KINDS[suffix](TEXT)
    path = tmp_path / "cut"
    path.write_bytes(whole[: int(kept * len(whole)) if kept > 0 else -1])
    with pytest.raises(FormatError, match=r"cut: truncated or damaged \w+ file") as caught:
        read(path)
    assert caught.value.line is None


@pytest.mark.parametrize("suffix", KINDS)
def test_damaged_files_are_refused_or_at_least_never_crash(tmp_path: Path, suffix: str) -> None:
    whole = bytearray(KINDS[suffix](TEXT))
    for position in range(0, len(whole), max(1, len(whole) // 60)):
        damaged = bytes(whole[:position]) + bytes([whole[position] ^ 0xFF]) + bytes(whole[position + 1 :])
        path = tmp_path / "damaged"
        path.write_bytes(damaged)
        try:
            read(path)
        except FormatError as problem:
            assert problem.path == str(path)


@pytest.mark.parametrize("members", [("a", "b"), ("a/", "b/")])
def test_a_zip_file_must_hold_one_file(tmp_path: Path, members: tuple[str, str]) -> None:
    path = tmp_path / "two.zip"
    path.write_bytes(zipped(b"", *members))
    with pytest.raises(FormatError, match=r"exactly one file but this one holds [02]"):
        open_bytes(path)


def test_a_folder_in_a_zip_file_does_not_count(tmp_path: Path) -> None:
    path = tmp_path / "one.zip"
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.mkdir("kin")
        archive.writestr("kin/Dataset.data", TEXT)
    path.write_bytes(buffer.getvalue())
    assert read(path) == TEXT


def test_a_text_that_merely_begins_like_bzip2_is_text(tmp_path: Path) -> None:
    path = tmp_path / "text"
    path.write_text("BZh1 is a name\n")
    assert read_text(path) == "BZh1 is a name\n"


# The coding of `compress`


def unlzw(data: bytes) -> bytes:
    return b"".join(lzw.decompress(io.BytesIO(data)))


def test_a_small_embedded_file_is_read() -> None:
    assert unlzw(base64.b64decode(BLUE_Z)) == BLUE.encode()


@pytest.mark.parametrize("bits", range(9, 17))
@pytest.mark.parametrize("block_mode", [True, False])
@pytest.mark.parametrize("clear_every", [0, 30, 700])
def test_every_width_and_mode_round_trips(bits: int, block_mode: bool, clear_every: int) -> None:
    data = TEXT * (8 if bits > 14 else 1)
    coded = lzw_compress(data, bits=max(bits, 10), block_mode=block_mode, clear_every=clear_every)
    coded = coded[:2] + bytes([bits | 0x80 * block_mode]) + coded[3:]
    assert unlzw(coded) == data


@given(st.binary(max_size=2000) | st.text("01 .\n", max_size=4000).map(str.encode), st.integers(0, 20))
def test_any_bytes_round_trip_through_lzw(data: bytes, clear_every: int) -> None:
    assert unlzw(lzw_compress(data, bits=10, clear_every=clear_every)) == data


@pytest.mark.skipif(not shutil.which("gzip"), reason="gzip is not installed")
@pytest.mark.parametrize("clear_every", [0, 1000])
def test_gzip_reads_what_the_encoder_of_these_tests_writes(clear_every: int) -> None:
    coded = lzw_compress(TEXT * 5, clear_every=clear_every)
    assert subprocess.run(["gzip", "-dc"], input=coded, capture_output=True, check=True).stdout == TEXT * 5


@pytest.mark.skipif(not shutil.which("compress"), reason="compress is not installed")
def test_what_compress_itself_writes_is_read() -> None:
    coded = subprocess.run(["compress", "-c"], input=TEXT * 20, capture_output=True, check=False).stdout
    assert unlzw(coded) == TEXT * 20


@pytest.mark.parametrize(
    "bad", [b"\x1f\x9d", b"\x1f\x9d\x88", b"\x1f\x9d\x91", lzw.MAGIC + b"\x90\xff\xff\xff"]
)
def test_impossible_codes_are_refused(tmp_path: Path, bad: bytes) -> None:
    path = tmp_path / "bad.Z"
    path.write_bytes(bad)
    with pytest.raises(FormatError, match="truncated or damaged compress file"):
        read(path)


def test_an_end_within_a_code_is_refused() -> None:
    with pytest.raises(ValueError, match="within a code"):
        unlzw(lzw_compress(b"ab")[:-1])


@given(st.binary(max_size=300))
def test_arbitrary_codes_give_bytes_or_a_value_error(codes: bytes) -> None:
    with contextlib.suppress(ValueError):
        unlzw(lzw.MAGIC + b"\x8c" + codes)


# Texts and blocks


def test_line_ends_become_newlines_and_the_byte_order_mark_goes(tmp_path: Path) -> None:
    path = tmp_path / "text"
    path.write_bytes(b"\xef\xbb\xbfa\r\nb\rc\n\xc3\xa9")
    assert read_text(path) == "a\nb\nc\né"


@pytest.mark.parametrize(("data", "line"), [(b"a\r\nb\rc\xff", 3), (b"\n\n\0", 3), (b"\xc3", 1)])
def test_what_is_not_text_is_refused_with_its_line(tmp_path: Path, data: bytes, line: int) -> None:
    path = tmp_path / "text"
    path.write_bytes(data)
    with pytest.raises(FormatError) as caught:
        read_text(path)
    assert caught.value.line == line


@pytest.mark.parametrize("suffix", ["", *KINDS])
def test_a_text_larger_than_the_limit_is_refused(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"bomb{suffix}"
    data = b" " * 100_000
    path.write_bytes(KINDS[suffix](data) if suffix else data)
    assert len(read_text(path, limit=100_000)) == 100_000
    with pytest.raises(FormatError, match="larger than 99999 bytes"):
        read_text(path, limit=99_999)


@given(st.text("ab\n", max_size=200).map(str.encode), st.integers(1, 30))
def test_blocks_joined_are_the_file_and_know_their_lines(
    tmp_path_factory: pytest.TempPathFactory, data: bytes, size: int
) -> None:
    path = tmp_path_factory.getbasetemp() / "blocks"
    path.write_bytes(b"x" + data)
    blocks = list(read_blocks(path, size, lambda block: block.rfind(b"\n") + 1))
    assert b"".join(block for block, _ in blocks) == b"x" + data
    before = b""
    for block, lines in blocks:
        assert (lines.start, len(lines)) == (1 + before.count(b"\n"), len(block.splitlines()))
        before += block


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.sampled_from(
        [b"", b"\x1f\x8b\x08\0", b"\x1f\x9d\x90", b"BZh9", b"\xfd7zXZ\0", b"(\xb5/\xfd", b"PK\x03\x04"]
    ),
    st.binary(max_size=400),
)
def test_arbitrary_bytes_raise_only_our_errors(tmp_path: Path, start: bytes, rest: bytes) -> None:
    path = tmp_path / "fuzz"
    path.write_bytes(start + rest)
    for reader in (read, read_text):
        with contextlib.suppress(RedelveError):
            reader(path)


# Writing


def test_a_file_is_replaced_and_nothing_else_is_left(tmp_path: Path) -> None:
    path = tmp_path / "train.0"
    write_atomic(path, "old\n")
    write_atomic(path, ["ä\n", "b\n"])
    assert path.read_bytes() == "ä\nb\n".encode()
    write_atomic(path, (piece for piece in (b"1", b"2")))
    assert path.read_bytes() == b"12"
    assert names(tmp_path) == ["train.0"]


def broken() -> Iterator[str]:
    yield "half"
    raise KeyError("broken")


def test_a_failure_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "train.0"
    path.write_text("old")
    with pytest.raises(KeyError):
        write_atomic(path, broken())
    with pytest.raises(UnicodeEncodeError):
        write_atomic(path, "\ud800")
    assert path.read_text() == "old"
    assert names(tmp_path) == ["train.0"]


def test_a_full_disk_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "train.0"
    path.write_text("old")

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(LocationError, match=r"train.0: cannot write: the disk is full: make room"):
        write_atomic(path, "new")
    assert path.read_text() == "old"
    assert names(tmp_path) == ["train.0"]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes with names here")
def test_a_pipe_in_the_place_of_a_file_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    uses: list[Callable[[Path], object]] = [file_digest, check_plain, lambda path: write_json_once(path, "1")]
    for use in uses:
        with pytest.raises(FormatError, match="this is a pipe or a device, no file"):
            use(tmp_path / "pipe")


@pytest.mark.skipif(not Path("/dev/shm").is_dir(), reason="no files in memory here")
def test_files_in_memory_are_files() -> None:
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        test_a_failure_leaves_the_old_file(Path(folder))


@pytest.mark.parametrize("place", ["", "no/such/folder/train.0", "nul\0"])
def test_a_place_that_cannot_be_written_is_named(tmp_path: Path, place: str) -> None:
    with pytest.raises(LocationError, match="cannot write"):
        write_atomic(tmp_path / place, "x")
    assert names(tmp_path) == []


@pytest.mark.skipif(os.name != "posix", reason="permissions as on Unix")
def test_what_is_no_file_is_written_to_and_not_replaced(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reading = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        write_atomic(pipe, "all of it\n")
        assert os.read(reading, 100) == b"all of it\n"
    finally:
        os.close(reading)
    assert pipe.is_fifo()
    assert list(tmp_path.iterdir()) == [pipe]


def test_the_permissions_and_links_of_the_old_file_stay(tmp_path: Path) -> None:
    path, link = tmp_path / "real", tmp_path / "link"
    path.write_text("old")
    path.chmod(0o640)
    link.symlink_to(path)
    write_atomic(link, "new")
    assert (link.is_symlink(), path.read_text(), path.stat().st_mode & 0o777) == (True, "new", 0o640)


def write_together(data: dict[Path, str | Iterator[str]], then: Callable[[], None] = lambda: None) -> None:
    with AtomicFiles() as together:
        for path, text in data.items():
            together.write(path, text)
        then()


def test_several_files_appear_together(tmp_path: Path) -> None:
    with AtomicFiles() as together:
        together.write(tmp_path / "a", "1")
        together.write(tmp_path / "b", "first")
        together.write(tmp_path / "b", "2")
        assert not (tmp_path / "a").exists()
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {"a": "1", "b": "2"}


def test_none_of_several_files_appears_after_a_failure(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("old")
    with pytest.raises(KeyError):
        write_together({tmp_path / "a": "new", tmp_path / "b": broken()})
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {"a": "old"}


def test_files_already_in_place_go_back_when_a_later_one_fails(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("old")
    new: dict[Path, str | Iterator[str]] = {tmp_path / name: "new" for name in "abc"}
    with pytest.raises(LocationError, match="c: cannot write"):
        write_together(new, (tmp_path / "c").mkdir)
    assert (tmp_path / "a").read_text() == "old"
    assert names(tmp_path) == ["a", "c"]


def test_the_first_to_write_a_file_once_has_the_word(tmp_path: Path) -> None:
    assert write_json_once(tmp_path / "marker", '"ours"\n') == "ours"
    assert write_json_once(tmp_path / "marker", '"theirs"\n') == "ours"
    assert (tmp_path / "marker").read_text() == '"ours"\n'
