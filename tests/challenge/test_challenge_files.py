"""The files of a challenge: what is read, what is refused and where, and what is written."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy.sparse import csr_array

from redelve.challenge.challenge_files import (
    KINDS,
    Parameters,
    check_name,
    confidences_bytes,
    dense_lines,
    guess_bytes,
    labels_bytes,
    parameters_text,
    parse_confidences,
    parse_guess,
    parse_labels,
    read_confidences,
    read_data,
    read_dense,
    read_guess,
    read_labels,
    read_parameters,
    read_sparse,
    sparse_lines,
)
from redelve.data.problems import Problems
from redelve.errors import FormatError, RedelveError, SpecError


def problems_of(parse, data: bytes, *more: int) -> list[str]:  # type: ignore[no-untyped-def]
    problems = Problems("a.resu")
    assert parse(data, problems, *more) is None
    return [str(problem) for problem in problems]


@given(st.lists(st.sampled_from([-1, 1])))
def test_labels_are_read_as_they_were_written(labels: list[int]) -> None:
    problems = Problems("x")
    found = parse_labels(labels_bytes(np.array(labels, dtype=int)), problems, len(labels))
    assert found is not None
    assert found.tolist() == labels
    assert not len(problems)


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False)))
def test_confidences_are_read_to_the_bit(values: list[float]) -> None:
    found = parse_confidences(confidences_bytes(values), Problems("x"), len(values))
    assert found is not None
    assert found.tolist() == values


@given(st.floats(0, 1))
def test_guesses_are_read_to_the_bit(guess: float) -> None:
    assert parse_guess(guess_bytes(guess), Problems("x")) == guess


@pytest.mark.parametrize("data", [b"1\n-1\n", b"+1\n-1", b"1\r\n-1\r\n", b"1\n-1\n\n \n", b"1\r-1\r"])
def test_line_ends_and_blank_lines_at_the_end_do_not_matter(data: bytes) -> None:
    found = parse_labels(data, Problems("x"), 2)
    assert found is not None
    assert found.tolist() == [1, -1]


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"1\n0\n1\n", 'a.resu, line 2: expected 1 or -1 but got "0"'),
        (b"1\n1 \n1\n", 'a.resu, line 2: expected 1 or -1 but got "1 "'),
        (b"1\n\n1\n", 'a.resu, line 2: expected 1 or -1 but got ""'),
        (b"1\n11\n1\n", 'a.resu, line 2: expected 1 or -1 but got "11"'),
        (b"*1\n1\n1\n", 'a.resu, line 1: expected 1 or -1 but got "*1"'),
        (b"1\n1\n-\n", 'a.resu, line 3: expected 1 or -1 but got "-"'),
        (b"1.0\n1.01\n1\n", 'a.resu, line 2: expected 1 or -1 but got "1.01"'),
        (b"1e1\n1.0\n1\n", 'a.resu, line 1: expected 1 or -1 but got "1e1"'),
        (b"1\n\xff\xfe\n1\n", "a.resu, line 2: expected 1 or -1 but got"),
        (b"1\n-1\n", "expected 3 lines, 1 or -1 on each, but got 2: 1 lack"),
        (b"1\n1\n1\n-1\n-1\n", "expected 3 lines, 1 or -1 on each, but got 5: 2 are too many"),
        (b"", "expected 3 lines, 1 or -1 on each, but got 0: 3 lack"),
    ],
)
def test_bad_labels_are_told_with_their_line(data: bytes, expected: str) -> None:
    (told,) = problems_of(parse_labels, data, 3)
    assert expected in told


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"1\nnan\n", 'line 2: expected a finite number but got "nan"'),
        (b"inf\n1\n", 'line 1: expected a finite number but got "inf"'),
        (b"1e999\n1\n", 'line 1: expected a finite number but got "1e999"'),
        (b"1\n1,5\n", 'line 2: expected a finite number but got "1,5"'),
        (b"1 2\n1\n", 'line 1: expected a finite number but got "1 2"'),
        (b'"1"\n1\n', "line 1: expected a finite number"),
        (b"\n1\n", 'line 1: expected a finite number but got ""'),
        (b"0x10\n1\n", "line 1: expected a finite number"),
        (b"1\n", "expected 2 lines, a number on each, but got 1: 1 lack"),
    ],
)
def test_bad_confidences_are_told_with_their_line(data: bytes, expected: str) -> None:
    (told,) = problems_of(parse_confidences, data, 2)
    assert expected in told


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"17.5\n", "write 0.175 if you mean 17.5 %"),
        (b"-0.1", "between 0 and 1"),
        (b"", "expected one number"),
        (b"0.1\n0.2\n", "expected one number"),
        (b"nan", "expected one number"),
        (b"\xff", "expected one number"),
    ],
)
def test_bad_guesses_are_told(data: bytes, expected: str) -> None:
    (told,) = problems_of(parse_guess, data)
    assert expected in told


def test_few_of_many_bad_lines_are_told() -> None:
    assert len(problems_of(parse_labels, b"0\n" * 100, 100)) == 5
    assert len(problems_of(parse_confidences, b"x\n" * 100, 100)) == 5


@given(st.binary(max_size=60))
def test_any_bytes_are_read_or_refused(data: bytes) -> None:
    for parse in (parse_labels, parse_confidences, parse_guess):
        problems = Problems("x")
        assert (parse(data, problems) is None) == bool(len(problems))


@given(st.text("+-1\n\r 0", max_size=20))
def test_labels_are_what_a_slow_reading_finds(text: str) -> None:
    lines = text.replace("\r\n", "\n").replace("\r", "\n").rstrip(" \n\t").split("\n") if text.strip() else []
    good = all(line in ("1", "+1", "-1") for line in lines)
    found = parse_labels(text.encode(), Problems("x"))
    assert (found is not None) == good
    if found is not None:
        assert found.tolist() == [int(line) for line in lines]


def test_files_are_read(tmp_path: Path) -> None:
    (tmp_path / "a.labels").write_bytes(b"1\n-1\n")
    (tmp_path / "a.conf").write_bytes(b"0.5\n-2e3\n")
    (tmp_path / "a.guess").write_bytes(b"0.25\n")
    assert read_labels(tmp_path / "a.labels", 2).tolist() == [1, -1]
    assert read_confidences(tmp_path / "a.conf", 2).tolist() == [0.5, -2000]
    assert read_guess(tmp_path / "a.guess") == 0.25
    with pytest.raises(FormatError, match=r"a\.labels: expected 3 lines"):
        read_labels(tmp_path / "a.labels", 3)


PARAMETERS = Parameters("ada", "dense", 48, 4147, 415, 41471)


def test_parameters_are_read_as_they_were_written(tmp_path: Path) -> None:
    path = tmp_path / "ada.param"
    path.write_text(parameters_text(PARAMETERS))
    assert read_parameters(path) == PARAMETERS
    assert PARAMETERS.sizes == {"train": 4147, "valid": 415, "test": 41471}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("dense", "thick"), "kind is one of dense"),
        (("415\n", "many\n"), 'line 5: valid is a whole number, not "many"'),
        (("train = 4147\n", ""), "no line for train"),
        (("name = ada", "name ada"), "line 1: expected a line such as"),
        (("valid = 415", "train = 415"), "line 5: train is given twice"),
        (("name = ada", "name = a/../b"), "no name for a dataset"),
    ],
)
def test_bad_parameters_are_refused(tmp_path: Path, change: tuple[str, str], message: str) -> None:
    path = tmp_path / "ada.param"
    path.write_text(parameters_text(PARAMETERS).replace(*change))
    with pytest.raises(RedelveError, match=message):
        read_parameters(path)


@pytest.mark.parametrize("name", ["", "a_b", "a/b", "..", "a" * 41, "1a", "ä", "a\n", "a.b"])
def test_names_that_may_not_be_part_of_file_names(name: str) -> None:
    with pytest.raises(SpecError, match="no name for a dataset"):
        check_name(name)


tables = hnp.arrays(
    np.int64, hnp.array_shapes(min_dims=2, max_dims=2, min_side=1, max_side=6), elements=st.integers(0, 999)
)


@settings(max_examples=40)
@given(tables)
def test_dense_data_are_read_as_they_were_written(
    tmp_path_factory: pytest.TempPathFactory, values: np.ndarray
) -> None:
    path = tmp_path_factory.mktemp("dense") / "x.data"
    path.write_text("".join(dense_lines(values, block=2)))
    assert np.array_equal(read_dense(path, values.shape), values)


@settings(max_examples=40)
@given(tables, st.booleans())
def test_sparse_data_are_read_as_they_were_written(
    tmp_path_factory: pytest.TempPathFactory, values: np.ndarray, binary: bool
) -> None:
    values = values % 2 if binary else np.where(values % 3, values, 0)
    path = tmp_path_factory.mktemp("sparse") / "x.data"
    path.write_text("".join(sparse_lines(csr_array(values), binary=binary)))
    found = read_sparse(path, values.shape, binary=binary)
    assert np.array_equal(found.toarray(), values)


def test_fractions_are_read_to_the_bit(tmp_path: Path) -> None:
    values = np.random.default_rng(1).normal(size=(5, 3))
    (tmp_path / "x.data").write_text("".join(dense_lines(values)))
    assert np.array_equal(read_dense(tmp_path / "x.data", (5, 3)), values)


@pytest.mark.parametrize("kind", KINDS)
def test_the_kind_tells_how_data_are_read(tmp_path: Path, kind: str) -> None:
    values = np.array([[0, 1], [1, 1]])
    lines = (
        dense_lines(values) if kind == "dense" else sparse_lines(csr_array(values), binary="binary" in kind)
    )
    (tmp_path / "x.data").write_text("".join(lines))
    found = read_data(tmp_path / "x.data", Parameters("x", kind, 2, 9, 2, 9), "valid")  # type: ignore[arg-type]
    assert np.array_equal(found.toarray() if isinstance(found, csr_array) else found, values)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1 2\n3\n", "line 2: expected 2 numbers but got 1"),
        ("1 2 3\n3 4\n", "line 1: expected 2 numbers but got 3"),
        ("1 2\n3 x\n", 'line 2: expected finite numbers but got "x"'),
        ("1 nan\n3 4\n", 'line 1: expected finite numbers but got "nan"'),
        ("1 2\n", "expected 2 lines, a pattern on each, but got 1"),
    ],
)
def test_bad_dense_data_are_refused(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "x.data").write_text(text)
    with pytest.raises(FormatError, match=message):
        read_dense(tmp_path / "x.data", (2, 2))


@pytest.mark.parametrize(
    ("text", "binary", "message"),
    [
        (
            "1:5\n3:1\n",
            False,
            'line 2: "3:1": expected feature:value such as 17:250, features ascending from 1 to 2',
        ),
        ("2:5 1:1\n\n", False, "line 1"),
        ("1:x\n\n", False, "line 1"),
        ("\n0:1\n", False, "line 2"),
        ("1\n1:1\n", True, "line 2"),
        ("1\n1\n", False, "line 1"),
        ("1\n", True, "expected 2 lines"),
    ],
)
def test_bad_sparse_data_are_refused(tmp_path: Path, text: str, binary: bool, message: str) -> None:
    (tmp_path / "x.data").write_text(text)
    with pytest.raises(FormatError, match=message):
        read_sparse(tmp_path / "x.data", (2, 2), binary=binary)


def test_what_cannot_be_written_is_refused() -> None:
    with pytest.raises(SpecError, match="1 and -1"):
        labels_bytes([1, 0])
    with pytest.raises(SpecError, match="finite"):
        confidences_bytes([np.nan])
    with pytest.raises(SpecError, match="between 0 and 1"):
        guess_bytes(17.5)
