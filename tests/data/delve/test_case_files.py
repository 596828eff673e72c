"""Cases: every way of reading a file gives the same values, lines and errors."""

from __future__ import annotations

import contextlib
import gzip
import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from redelve.data.delve import case_files as cases_module
from redelve.data.delve.case_files import RawCases, read_cases, read_matrix, write_cases
from redelve.data.delve.case_lines import case_lines, cut_into_words
from redelve.errors import FormatError, LocationError, RedelveError

SAME_FOLDER = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
WAYS = [{}, {"small": 0}, {"small": 0, "block_size": 7}]


@pytest.fixture(params=WAYS, ids=["small", "large", "tiny blocks"])
def way(request: pytest.FixtureRequest) -> dict[str, int]:
    chosen: dict[str, int] = request.param
    return chosen


def write(folder: Path, data: bytes) -> Path:
    path = folder / "Dataset.data"
    path.write_bytes(data)
    return path


def content(cases: RawCases) -> dict[str, object]:
    """Everything that a reading tells, in a form that can be compared."""
    return {
        "count": cases.count,
        "width": cases.width,
        "texts": [column.texts().tolist() for column in cases.columns],
        "together": [texts.tolist() for texts in cases.texts()],
        "numbers": [column.numbers().tobytes() for column in cases.columns],
        "matrix": (cases.numbers().shape, cases.numbers().tobytes()),
        "numeric": [column.is_numeric for column in cases.columns],
        "commonality": None if cases.commonality is None else cases.commonality.tolist(),
        "comments": dict(cases.comments),
        "lines": [cases.line(case) for case in range(cases.count)],
    }


def outcome(path: Path, width: int | None, **way: int) -> dict[str, object] | str:
    try:
        return content(read_cases(path, width, **way))
    except FormatError as problem:
        return str(problem)


# One file, all its features

FEATURES = (
    b"\xef\xbb\xbf\r\n"
    b"  male   32.5\t3 \r\n"
    b"# nothing but a comment\n"
    b"female ? \\\n"
    b" 5.0 @12\n"
    b"\n"
    b"f#1 -1e3 :7 @0 # a comment, with @5 and # in it \n"
    b"m 1 2 \\  \n"
    b"# caf\xc3\xa9"
)


def test_all_features_of_the_format(tmp_path: Path, way: dict[str, int]) -> None:
    cases = read_cases(write(tmp_path, FEATURES), **way)
    assert (cases.count, cases.width) == (4, 3)
    assert [column.texts().tolist() for column in cases.columns] == [
        ["male", "female", "f#1", "m"],
        ["32.5", "?", "-1e3", "1"],
        ["3", "5.0", ":7", "2"],
    ]
    np.testing.assert_array_equal(cases.columns[1].numbers(), [32.5, np.nan, -1000, 1])
    np.testing.assert_array_equal(cases.columns[2].numbers(), [3, 5, np.nan, 2])
    assert [column.is_numeric for column in cases.columns] == [False, False, False]
    assert cases.commonality is not None
    assert cases.commonality.tolist() == [-1, 12, 0, -1]
    assert cases.comments == {2: "a comment, with @5 and # in it", 3: "café"}
    assert [cases.line(case) for case in range(4)] == [2, 4, 7, 8]


def test_a_continued_word_is_joined_without_a_blank(tmp_path: Path, way: dict[str, int]) -> None:
    cases = read_cases(write(tmp_path, b"1 2\\\n3 4\n5 6 7\n"), **way)
    assert cases.numbers().tolist() == [[1, 23, 4], [5, 6, 7]]
    assert [cases.line(0), cases.line(1)] == [1, 3]


def test_numbers_are_kept_as_written(tmp_path: Path, way: dict[str, int]) -> None:
    cases = read_cases(write(tmp_path, b"5.0 +5\n 5.00   1e3\n"), **way)
    assert [texts.tolist() for texts in cases.texts()] == [["5.0", "5.00"], ["+5", "1e3"]]
    assert cases.columns[0].is_numeric
    assert cases.columns[1].numbers().tolist() == [5, 1000]
    assert cases.commonality is None


def test_the_manner_of_kin_is_read(tmp_path: Path, way: dict[str, int]) -> None:
    values = np.random.default_rng(0).standard_normal((50, 9))
    lines = "".join("".join(f"{x:16.7e}" for x in row) + "\n" for row in values)
    matrix = read_cases(write(tmp_path, lines.encode()), 9, **way).numbers()
    assert matrix.tolist() == [[float(f"{x:.7e}") for x in row] for row in values]


@pytest.mark.parametrize(
    "word", ["nan", "NaN", "inf", "-Inf", "0x10", "1_0", "1996-01-02", "?", "1e", ".", "１", "1e400"]
)
def test_what_is_no_plain_number_is_text(tmp_path: Path, way: dict[str, int], word: str) -> None:
    cases = read_cases(write(tmp_path, f"1 2\n3 {word}\n".encode()), **way)
    assert [column.is_numeric for column in cases.columns] == [True, False]
    assert cases.columns[1].texts().tolist() == ["2", word]
    np.testing.assert_array_equal(cases.columns[1].numbers(), [2, np.nan])


def test_empty_files_have_no_cases(tmp_path: Path, way: dict[str, int]) -> None:
    for data in (b"", b"\n \n", b"# nothing\n"):
        for width in (None, 3):
            cases = read_cases(write(tmp_path, data), width, **way)
            assert (cases.count, cases.width, cases.numbers().shape) == (0, width or 0, (0, width or 0))
            assert [texts.tolist() for texts in cases.texts()] == [[]] * (width or 0)


def test_what_is_read_cannot_be_changed(tmp_path: Path, way: dict[str, int]) -> None:
    cases = read_cases(write(tmp_path, b"1 a @1\n2 b @2\n"), **way)
    for array in (cases.columns[0].numbers(), cases.columns[1].texts(), cases.commonality):
        assert array is not None
        assert not array.flags.writeable


# Errors


@pytest.mark.parametrize(
    ("data", "width", "line", "message"),
    [
        (b"1 2 3 4 5\n\n1 2 \\\n 3 4\n", 5, 3, "expected 5 values but got 4"),
        (b"1 2\n1 2 3 # x\n", None, 2, "expected 2 values but got 3"),
        (b"a\nb b\n", None, 2, "expected 1 value but got 2"),
        (b"1\n@5\n", None, 2, "expected 1 value but got 0"),
        (b"@5\n", None, 1, "expected 1 value but got 0"),
        (b"1\n1 @x\n", None, 2, 'expected "@" and digits after the last value but got "@x"'),
        (b"1 @1 2\n", None, 1, 'expected "@" and digits after the last value but got "@1 2"'),
        (b"1 @12345678901234567890\n", None, 1, 'expected "@" and digits'),
        (b"1\n\n2 # \xff\n", None, 3, "byte 0xff is neither ASCII nor UTF-8"),
        (b"1\n\xe9t\xe9\n", None, 2, "byte 0xe9 is neither"),
        (b"1\n2\0\n", None, 2, "NUL byte"),
    ],
)
def test_errors_name_the_first_line_of_the_case(
    tmp_path: Path, way: dict[str, int], data: bytes, width: int | None, line: int, message: str
) -> None:
    path = write(tmp_path, data)
    with pytest.raises(FormatError) as caught:
        read_cases(path, width, **way)
    assert (caught.value.path, caught.value.line) == (str(path), line)
    assert message in caught.value.message


def test_an_error_late_in_a_large_file_has_its_line(tmp_path: Path) -> None:
    lines = [b"1.5 2.5 3.5\n"] * 200_000
    lines[150_000] = b"1.5 2.5\n"
    with pytest.raises(FormatError, match="line 150001: expected 3 values but got 2"):
        read_cases(write(tmp_path, b"".join(lines)))


def test_a_case_has_values() -> None:
    with pytest.raises(RedelveError, match="at least one value"):
        read_cases("nowhere", 0)


def test_a_missing_file_is_a_location_error(tmp_path: Path) -> None:
    with pytest.raises(LocationError, match="no such file"):
        read_cases(tmp_path / "Dataset.data")


def test_a_compressed_file_is_found_and_named(tmp_path: Path, way: dict[str, int]) -> None:
    (tmp_path / "Dataset.data.gz").write_bytes(gzip.compress(b"1 2\n3 4\n"))
    assert read_cases(tmp_path / "Dataset.data", **way).numbers().tolist() == [[1, 2], [3, 4]]
    with pytest.raises(FormatError, match=r"Dataset\.data\.gz, line 1"):
        read_cases(tmp_path / "Dataset.data", 3, **way)


# Large files of numbers


def test_texts_of_a_changed_file_are_refused(tmp_path: Path) -> None:
    path = write(tmp_path, b"1.0 2\n3 4.0\n")
    cases = read_cases(path, small=0)
    assert cases.columns[1].texts().tolist() == ["2", "4.0"]
    status = path.stat()
    path.write_bytes(b"1.0 2\n3 5.0\n")
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns + 10**9))
    for texts in (cases.texts, cases.columns[0].texts):
        with pytest.raises(RedelveError, match="has changed since it was read"):
            texts()
    path.unlink()
    with pytest.raises(LocationError, match="cannot read"):
        cases.texts()
    assert cases.numbers().tolist() == [[1, 2], [3, 4]]


@pytest.mark.parametrize("data", [b"1 2 3\n4 5 6\n", b"7 8\n", b"7 8\n1\n"])
def test_a_change_that_hides_its_time_is_noticed_by_its_cases(tmp_path: Path, data: bytes) -> None:
    path = write(tmp_path, b"1 2\n3 4\n" + b" " * 100)
    cases = read_cases(path, small=0)
    status = path.stat()
    path.write_bytes(data.ljust(status.st_size))
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    with pytest.raises(RedelveError, match="has changed since it was read"):
        cases.texts()


def test_large_files_take_the_fast_way(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    values = np.random.default_rng(3).integers(0, 999, (40_000, 12)) / 8
    text = "".join(
        " ".join(map(str, row)) + f" @{case} # {case}\n" for case, row in enumerate(values.tolist())
    )
    path = write(tmp_path, text.encode())
    whole_words = cut_into_words

    def first_words_only(path: Path, block: bytes, first: int, width: int | None) -> object:
        assert width is None, "a regular file must not be cut into words"
        return whole_words(path, block, first, width)

    monkeypatch.setattr(cases_module, "cut_into_words", first_words_only)
    for block_size in (2**16, 2**18, 2**30):
        cases = read_cases(path, block_size=block_size)
        assert (cases.numbers() == values).all()
        assert cases.commonality is not None
        assert (cases.commonality == np.arange(40_000)).all()
        assert cases.comments[39_999] == "39999"
    assert cases.columns[5].texts()[7] == str(values[7, 5])


def test_a_line_too_long_for_pyarrow_is_cut_by_python(tmp_path: Path) -> None:
    path = write(tmp_path, b"1 2\n3." + b"0" * (3 << 20) + b" 4\n5 6\n")
    cases = read_cases(path)
    assert cases.numbers().tolist() == [[1, 2], [3, 4], [5, 6]]
    assert len(cases.columns[0].texts()[1]) == 2 + (3 << 20)


def test_a_large_file_with_a_late_text_is_read_as_texts(tmp_path: Path) -> None:
    path = write(tmp_path, b"1.0 2\n" * 300_000 + b"\n? 3\n")
    cases = read_cases(path, block_size=2**18)
    assert [column.is_numeric for column in cases.columns] == [False, True]
    assert cases.columns[0].texts()[[0, -1]].tolist() == ["1.0", "?"]
    assert cases.line(300_000) == 300_002


# All ways agree

WORDS = st.sampled_from(
    ["1", "-2.50", "+.5e1", "7.", "1e400", "red", "?", "?lost", "3:", "a#b", "x@y", "é", "nan", "\x1c", "\\x"]
)
NUMBERS = st.floats(allow_nan=False, allow_infinity=False).map(repr) | st.integers(-99, 99).map(str)
GAPS = st.sampled_from([" ", "  ", "\t", " \\\n", " \\ \r\n  "])
TAILS = st.sampled_from(
    ["", "", "", " ", "\r", " @7", " @0 # why", " #", " # \x1c é", " @x", " 9", "\n", "\n# alone"]
)


@st.composite
def files(draw: st.DrawFn) -> bytes:
    words = draw(st.sampled_from([NUMBERS, NUMBERS, WORDS | NUMBERS]))
    width = draw(st.integers(1, 3))
    gaps = draw(st.sampled_from([st.just(" "), GAPS]))
    tails = draw(st.sampled_from([st.just(""), TAILS]))
    lines = []
    for _ in range(draw(st.integers(0, 6))):
        line = draw(st.sampled_from(["", "", " ", "\n"])) + draw(words)
        for _ in range(width - 1):
            line += draw(gaps) + draw(words)
        lines.append(line + draw(tails))
    return ("\n".join(lines) + draw(st.sampled_from(["", "\n"]))).encode()


SOUP = st.lists(
    st.sampled_from(
        [b"1", b"2", b" ", b" ", b"\n", b"\n", b"\\", b"#", b"@", b"?", b".", b"e", b"-", b"\t", b"\r"]
    )
    | st.sampled_from(
        [b"\0", b"\xff", b"n", b"inf", b"\xef\xbb\xbf", b"\xc3\xa9", b"\x1c", b"\v", b'"', b","]
    ),
    max_size=30,
).map(b"".join)


@SAME_FOLDER
@given(files() | SOUP, st.none() | st.integers(1, 3), st.integers(1, 40))
def test_every_way_of_reading_gives_the_same(
    tmp_path: Path, data: bytes, width: int | None, size: int
) -> None:
    path = write(tmp_path, data)
    simple = outcome(path, width)
    assert outcome(path, width, small=0) == simple
    assert outcome(path, width, small=0, block_size=size) == simple


@SAME_FOLDER
@given(st.binary(max_size=100), st.integers(1, 40))
def test_arbitrary_bytes_raise_only_our_errors(tmp_path: Path, data: bytes, size: int) -> None:
    path = write(tmp_path, data)
    for way in ({}, {"small": 0, "block_size": size}):
        with contextlib.suppress(RedelveError):
            content(read_cases(path, **way))
    with contextlib.suppress(RedelveError):
        read_matrix(path)


# Writing

VALUES = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters=" \t\r\v\f\n\0"), min_size=1
).filter(lambda text: text[0] not in "#@\ufeff" and not text.endswith("\\"))
COMMENTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\n\0\\")).map(
    lambda c: c.strip(" \t\r\v\f")
)


@SAME_FOLDER
@given(st.data(), st.integers(1, 3), st.integers(0, 4), st.integers(1, 50))
def test_what_is_written_is_read(
    tmp_path: Path, data: st.DataObject, width: int, count: int, size: int
) -> None:
    column = st.lists(VALUES, min_size=count, max_size=count)
    columns = [data.draw(column) for _ in range(width)]
    indices = data.draw(st.lists(st.integers(-1, 10**18 - 1), min_size=count, max_size=count))
    comments = data.draw(st.dictionaries(st.integers(0, count - 1), COMMENTS)) if count else {}
    path = tmp_path / "Prototask.data"
    write_cases(path, columns, indices, comments)
    for way in ({}, {"small": 0, "block_size": size}):
        cases = read_cases(path, width, **way)
        assert [texts.tolist() for texts in cases.texts()] == columns
        expected = indices if max(indices, default=-1) >= 0 else None
        assert content(cases)["commonality"] == expected
        assert cases.comments == comments


@SAME_FOLDER
@given(files())
def test_what_is_read_is_written_and_read_again(tmp_path: Path, data: bytes) -> None:
    path = write(tmp_path, data)
    try:
        first = read_cases(path)
        write_cases(path, first.texts(), first.commonality, first.comments)
    except RedelveError:
        return
    again = content(read_cases(path))
    assert {**again, "lines": None} == {**content(first), "lines": None}


@pytest.mark.parametrize("value", ["", "a b", "#a", "@1", "a\n", "\0", "\ufeff1", "\ud800", "b\\"])
def test_a_value_that_would_not_come_back_is_not_written(tmp_path: Path, value: str) -> None:
    with pytest.raises(RedelveError, match="case 2"):
        write_cases(tmp_path / "Prototask.data", [["1", "2"], ["1", value]])
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("row", [["a b", ""], ["", "a b"], ["a b", "", "c"]])
def test_blanks_in_one_value_do_not_make_up_for_another(row: list[str]) -> None:
    with pytest.raises(RedelveError, match="cannot be written"):
        list(case_lines([[value] for value in row]))


@pytest.mark.parametrize("comment", ["two\nlines", "ends in \\", "ends in \\ \t", "\0", "\ud800"])
def test_a_comment_that_would_not_come_back_is_not_written(comment: str) -> None:
    with pytest.raises(RedelveError, match="case 1 cannot be written"):
        list(case_lines([["1"]], comments={0: comment}))


def test_a_commonality_index_too_large_is_not_written() -> None:
    with pytest.raises(RedelveError, match="too large"):
        list(case_lines([["1"]], commonality=[10**18]))


# Matrices


def test_a_matrix_is_read_as_numbers(tmp_path: Path) -> None:
    path = write(tmp_path, b" 0.5 1.0\n -2.0 1e-10\n")
    assert read_matrix(path).tolist() == [[0.5, 1], [-2, 1e-10]]
    assert read_matrix(path, 2).shape == (2, 2)
    with pytest.raises(FormatError, match="line 1: expected 3 values but got 2"):
        read_matrix(path, 3)


def test_a_matrix_holds_nothing_but_numbers(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match=r'line 3: expected a number but got "\?"'):
        read_matrix(write(tmp_path, b"1 2\n\n3 ?\n"))
