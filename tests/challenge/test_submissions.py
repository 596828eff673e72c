"""Submissions: what is taken, and what is refused with words that tell what to mend."""

import io
import stat
import struct
import zipfile
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from redelve.challenge import (
    ArchiveLimits,
    Challenge,
    DatasetEntry,
    Submission,
    SubmissionError,
    entries_in,
    pack,
    pack_bytes,
    read_submission,
)
from redelve.challenge.challenge_files import labels_bytes
from redelve.errors import LocationError, SpecError
from tests.challenge.small import entry_with, small_challenge


@pytest.fixture(scope="module")
def challenge(tmp_path_factory: pytest.TempPathFactory) -> Challenge:
    return small_challenge(tmp_path_factory.mktemp("challenge") / "c")


def zipped(files: Mapping[str, bytes], kind: int = zipfile.ZIP_DEFLATED) -> io.BytesIO:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", kind) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    out.seek(0)
    return out


def problems_of(source: io.BytesIO, challenge: Challenge, **limits: int) -> tuple[str, ...]:
    with pytest.raises(SubmissionError) as caught:
        read_submission(source, challenge, limits=ArchiveLimits(**limits))
    return caught.value.problems


VALID = b"1\n-1\n1\n-1\n1\n-1\n1\n-1\n"


def test_a_complete_submission_is_taken(challenge: Challenge, tmp_path: Path) -> None:
    entries = {name: entry_with(challenge, name, 0.1, 0.12) for name in challenge.names}
    found = read_submission(pack(tmp_path / "a.zip", entries), challenge)
    assert found.is_complete
    assert found.lacks == ()
    for name, entry in entries.items():
        assert found.entries[name].guess == 0.12
        for part in ("train", "valid", "test"):
            assert np.array_equal(found.entries[name].answers[part], entry.answers[part])
            assert np.array_equal(found.entries[name].confidences[part], entry.confidences[part])


def test_a_part_is_enough_but_not_complete(challenge: Challenge) -> None:
    found = read_submission(zipped({"anna_valid.resu": VALID}), challenge)
    assert not found.is_complete
    assert found.lacks[:3] == ("anna_train.resu", "anna_test.resu", "anna.guess")
    assert "berta.guess" in found.lacks


def test_the_digest_is_of_the_content_not_of_the_zip(challenge: Challenge) -> None:
    one = read_submission(zipped({"anna_valid.resu": VALID, "anna.guess": b"0.5\n"}), challenge)
    two = zipped(
        {"anna.guess": b"0.50", "anna_valid.resu": VALID.replace(b"\n", b"\r\n")}, zipfile.ZIP_STORED
    )
    other = read_submission(
        zipped({"anna_valid.resu": VALID[2:] + b"1\n", "anna.guess": b"0.5\n"}), challenge
    )
    assert one.digest == read_submission(two, challenge).digest != other.digest


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("../anna_valid.resu", "must lie at the top of the zip"),
        ("/anna_valid.resu", "must lie at the top of the zip"),
        ("./anna_valid.resu", "must lie at the top of the zip"),
        ("results/../anna_valid.resu", "must lie at the top of the zip"),
        ("__MACOSX/../anna_valid.resu", "must lie at the top of the zip"),
        ("\u2025/anna_valid.resu", "must lie at the top of the zip"),
        ("C:\\anna_valid.resu", "must lie at the top of the zip"),
        ("results/", "a link or something special"),
        ("__MACOSX/._anna_valid.resu", "the zip is empty"),
        (".DS_Store", "the zip is empty"),
        ("anna_vaild.resu", "did you mean anna_valid.resu?"),
        ("ANNA_valid.resu", "no such file to submit"),
        ("anna_valid.RESU", "no such file to submit"),
        ("nora_valid.resu", "NAME being one of anna, berta"),
        ("inner.zip", "no such file to submit"),
        ("anna_valid.resu\n", "no such file to submit"),
        ("<script>alert(1)</script>", "must lie at the top"),
        ("=cmd()", "no such file to submit"),
        ("x" * 5000, "no such file to submit"),
    ],
)
def test_names_that_are_not_asked_for_are_refused(challenge: Challenge, name: str, message: str) -> None:
    (told,) = problems_of(zipped({name: VALID}), challenge)
    assert message in told
    assert len(told) < 500
    assert told.isprintable()


def test_a_name_with_nul_is_refused(challenge: Challenge) -> None:
    data = zipped({"anna_valid.resuX": VALID}).getvalue().replace(b"anna_valid.resuX", b"anna_valid.resu\0")
    (told,) = problems_of(io.BytesIO(data), challenge)
    assert "no such file" in told


def test_a_name_of_nothing_is_refused(challenge: Challenge) -> None:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        member = zipfile.ZipInfo("x")
        member.filename = ""
        archive.writestr(member, VALID)
    (told,) = problems_of(out, challenge)
    assert '"": there is no such file to submit' in told


def test_links_and_other_special_entries_are_refused(challenge: Challenge) -> None:
    for kind in (stat.S_IFLNK, stat.S_IFIFO, stat.S_IFDIR):
        out = io.BytesIO()
        with zipfile.ZipFile(out, "w") as archive:
            member = zipfile.ZipInfo("anna_valid.resu")
            member.external_attr = (kind | 0o777) << 16
            archive.writestr(member, b"/etc/passwd")
        (told,) = problems_of(out, challenge)
        assert "link or something special" in told


def test_an_entry_given_twice_is_refused(challenge: Challenge) -> None:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("anna_valid.resu", VALID)
        with pytest.warns(UserWarning, match="Duplicate"):
            archive.writestr("anna_valid.resu", VALID)
    assert problems_of(out, challenge) == ('"anna_valid.resu" is in the zip twice: leave one out',)


def patched(data: bytes, offset_local: int, offset_central: int, value: bytes) -> io.BytesIO:
    """The zip with bytes of its first local and central header replaced."""
    made = bytearray(data)
    central = data.index(b"PK\x01\x02")
    made[offset_local : offset_local + len(value)] = value
    made[central + offset_central : central + offset_central + len(value)] = value
    return io.BytesIO(bytes(made))


def test_encrypted_entries_are_refused(challenge: Challenge) -> None:
    source = patched(zipped({"anna_valid.resu": VALID}).getvalue(), 6, 8, b"\x01\x00")
    (told,) = problems_of(source, challenge)
    assert "without a password" in told


@pytest.mark.parametrize("kind", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_unusual_compression_is_refused(challenge: Challenge, kind: int) -> None:
    (told,) = problems_of(zipped({"anna_valid.resu": VALID}, kind), challenge)
    assert "deflate" in told


def test_a_bomb_that_declares_its_size_is_not_read(challenge: Challenge) -> None:
    (told,) = problems_of(zipped({"anna_valid.resu": b"1\n" * 10_000_000}), challenge)
    assert "has 20000000 bytes or more, but 8 lines need at most 288" in told


def test_a_bomb_that_lies_about_its_size_is_read_to_the_bound_only(challenge: Challenge) -> None:
    data = zipped({"anna_valid.resu": b"1\n" * 10_000_000}).getvalue()
    (told,) = problems_of(patched(data, 22, 24, struct.pack("<I", 16)), challenge)
    assert "damaged" in told or "bytes or more" in told or "expected 8 lines" in told


def test_numbers_and_sizes_are_bounded(challenge: Challenge) -> None:
    many = zipped({f"file{number}.resu": b"" for number in range(50)})
    (told,) = problems_of(many, challenge, entries=49)
    assert "50 entries in a directory of" in told
    assert "at most 49 are taken" in told
    assert len(problems_of(zipped({f"file{number}.resu": b"" for number in range(90)}), challenge)) == 41
    (told,) = problems_of(zipped({"anna_valid.resu": VALID}), challenge, compressed=10)
    assert "at most 10 are taken" in told
    (told,) = problems_of(zipped({"anna_valid.resu": VALID}), challenge, uncompressed=10)
    assert "at most 10 are taken" in told


def with_end_record(data: bytes, offset: int, value: bytes) -> io.BytesIO:
    """The zip with bytes of its last record replaced."""
    place = len(data) - 22 + offset
    return io.BytesIO(data[:place] + value + data[place + len(value) :])


def test_a_directory_without_end_is_not_read(challenge: Challenge, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(zipfile, "ZipFile", None)  # whoever calls it would fail
    whole = b"PK\x05\x06" + b"\0" * 18
    (told,) = problems_of(with_end_record(whole, 12, struct.pack("<I", 2**31)), challenge)
    assert "0 entries in a directory of 2147483648 bytes; at most 400 are taken" in told
    (told,) = problems_of(with_end_record(whole, 10, struct.pack("<H", 60_000)), challenge)
    assert "60000 entries" in told
    (told,) = problems_of(io.BytesIO(b"PK\x06\x07" + b"\0" * 16 + whole), challenge)
    assert "for huge files" in told
    (told,) = problems_of(io.BytesIO(whole + b"comment"), challenge)
    assert "one with a comment" in told


@pytest.mark.parametrize(
    ("file", "data", "message"),
    [
        ("anna_valid.resu", b"0\n1\n" * 4, 'line 1: expected 1 or -1 but got "0": write -1'),
        ("anna_valid.resu", b"1.5\n" * 8, 'line 1: expected 1 or -1 but got "1.5"'),
        ("anna_valid.resu", b"1 \n" * 8, 'got "1 ": leave out the blanks'),
        ("anna_valid.resu", b"\n" + b"1\n" * 8, 'line 1: expected 1 or -1 but got "": leave out blank lines'),
        ("anna_valid.resu", b"label\n" + b"1\n" * 8, 'line 1: expected 1 or -1 but got "label"'),
        ("anna_valid.resu", "1\n".encode("utf-16") + b"1\n" * 7, "this is written in UTF-16: save it as"),
        ("anna_valid.resu", b"1\n" * 800, "is this the file of another part or dataset?"),
        ("anna_valid.conf", b"x\n" + b"0.5\n" * 8, 'line 1: expected a finite number but got "x"'),
        ("anna.guess", b"12%", 'got "12%": write 0.12'),
        ("anna.guess", b"0,12\r\n", 'got "0,12": write 0.12'),
        ("other/anna_valid.resu", VALID, '"anna_valid.resu" is in the zip twice'),
    ],
)
def test_common_slips_are_told_with_what_to_write_instead(
    challenge: Challenge, file: str, data: bytes, message: str
) -> None:
    told = problems_of(zipped({"anna_valid.resu": VALID} | {file: data}), challenge)
    assert message in "\n".join(told)


@pytest.mark.parametrize(
    "files",
    [
        {"anna_valid.resu": b"\xef\xbb\xbf" + VALID},
        {"anna_valid.resu": VALID.replace(b"\n", b"\r\n"), "anna.guess": b"\xef\xbb\xbf0.5\r\n"},
        {"anna_valid.resu": VALID, "anna_valid.conf": b"\xef\xbb\xbf" + b"0.5\n" * 8},
    ],
)
def test_what_editors_of_other_systems_add_is_no_harm(challenge: Challenge, files: dict[str, bytes]) -> None:
    entry = read_submission(zipped(files), challenge).entries["anna"]
    assert labels_bytes(entry.answers["valid"]) == VALID
    assert entry.guess in (None, 0.5)


def test_all_problems_are_told_at_once(challenge: Challenge) -> None:
    files = {
        "anna_valid.resu": b"1\n0\n" + VALID[:-6],
        "anna_test.resu": VALID,
        "anna.guess": b"12.5",
        "berta_valid.conf": b"0.5\n" * 8,
    }
    told = "\n".join(problems_of(zipped(files), challenge))
    assert 'anna_valid.resu, line 2: expected 1 or -1 but got "0"' in told
    assert "anna_test.resu: expected 800 lines, 1 or -1 on each, but got 8: 792 lack" in told
    assert "anna.guess, line 1: a guess lies between 0 and 1, got 12.5: write 0.125" in told
    assert "berta_valid.conf is there, but not berta_valid.resu" in told


@pytest.mark.parametrize(
    ("data", "message"),
    [(b"", "no zip file"), (b"hello", "no zip file"), (b"PK\x03\x04" + b"\0" * 40, "no zip file")],
)
def test_what_is_no_zip_is_refused(challenge: Challenge, data: bytes, message: str) -> None:
    (told,) = problems_of(io.BytesIO(data), challenge)
    assert message in told


def test_an_empty_zip_and_one_without_answers_are_refused(challenge: Challenge) -> None:
    assert "the zip is empty" in problems_of(zipped({}), challenge)[0]
    assert "there are no answers" in problems_of(zipped({"anna.guess": b"0.5"}), challenge)[0]


@settings(max_examples=150)
@given(st.data())
def test_a_damaged_zip_is_taken_or_refused_never_worse(challenge: Challenge, data: st.DataObject) -> None:
    whole = bytearray(zipped({"anna_valid.resu": VALID, "anna.guess": b"0.25"}).getvalue())
    for _ in range(data.draw(st.integers(1, 4))):
        whole[data.draw(st.integers(0, len(whole) - 1))] = data.draw(st.integers(0, 255))
    cut = data.draw(st.integers(0, len(whole)))
    for source in (bytes(whole), bytes(whole[:cut])):
        try:
            found = read_submission(io.BytesIO(source), challenge)
        except SubmissionError as error:
            assert error.problems
        else:
            assert isinstance(found, Submission)


@given(
    st.dictionaries(
        st.text(st.characters(exclude_characters="\0"), min_size=1, max_size=12),
        st.binary(max_size=40),
        max_size=4,
    )
)
def test_any_files_are_taken_or_refused(challenge: Challenge, files: dict[str, bytes]) -> None:
    try:
        source = zipped(files)
    except (UnicodeEncodeError, ValueError):
        return
    with pytest.raises(SubmissionError):
        read_submission(source, challenge)


def test_nothing_is_written_to_disk(
    challenge: Challenge, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    read_submission(zipped({"anna_valid.resu": VALID}), challenge)
    problems_of(zipped({"../x": VALID}), challenge)
    assert list(tmp_path.iterdir()) == []


def test_packing_makes_the_same_bytes(challenge: Challenge) -> None:
    entries = {"anna": entry_with(challenge, "anna", 0.2, 0.2)}
    assert pack_bytes(entries) == pack_bytes(entries)
    with pytest.raises(SpecError, match="no answers to pack"):
        pack_bytes({"anna": DatasetEntry({}, {}, 0.5)})
    with pytest.raises(SpecError, match="1 and -1"):
        pack_bytes({"anna": DatasetEntry({"valid": np.zeros(8, dtype=np.int8)})})


def test_files_of_a_folder_are_packed(challenge: Challenge, tmp_path: Path) -> None:
    with pytest.raises(LocationError, match="there are no answers to pack"):
        entries_in(tmp_path, challenge)
    (tmp_path / "anna_valid.resu").write_bytes(VALID)
    (tmp_path / "anna_valid.conf").write_text("0.25\n" * 8)
    (tmp_path / "anna.guess").write_text("0.3\n")
    found = entries_in(tmp_path, challenge)["anna"]
    assert labels_bytes(found.answers["valid"]) == VALID
    assert found.confidences["valid"].tolist() == [0.25] * 8
    assert found.guess == 0.3


def test_what_finder_zips_is_taken(challenge: Challenge) -> None:
    """A folder, its entry, and what a Mac puts beside every file."""
    plain = {"anna_valid.resu": VALID, "anna.guess": b"0.5\n"}
    packed = {
        "my answers/": b"",
        **{f"my answers/{name}": data for name, data in plain.items()},
        "my answers/.DS_Store": b"x",
        "__MACOSX/": b"",
        "__MACOSX/my answers/._anna_valid.resu": b"x" * 200,
        "__MACOSX/._my answers": b"x",
    }
    found = read_submission(zipped(packed), challenge)
    assert found.digest == read_submission(zipped(plain), challenge).digest


@pytest.mark.parametrize("form", ["{:.1f}\n", "{:.18e}\n", "{:+.0f}\r\n", "{:.0f}.\n"])
def test_answers_written_as_other_numbers_are_taken(challenge: Challenge, form: str) -> None:
    """As numpy.savetxt and pandas write them."""
    written = "".join(form.format(int(line)) for line in VALID.split()).encode()
    found = read_submission(zipped({"anna_valid.resu": written}), challenge)
    assert found.digest == read_submission(zipped({"anna_valid.resu": VALID}), challenge).digest
