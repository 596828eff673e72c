"""Numbers as Tcl 7 printed them, and as DELVE reads them."""

from __future__ import annotations

import math
import struct
import time

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from redelve.data.delve.number_columns import (
    format_columns,
    parse_columns,
    parse_numbers,
    round9_array,
    single_blanks,
)
from redelve.errors import RedelveError
from redelve.text_numbers import INTEGER, is_integer, is_number, parse_limit, parse_number, round9, tcl

FINITE = st.floats(allow_nan=False, allow_infinity=False)
NUMBER_LIKE = st.text("0123456789+-.eE", max_size=12)


def bits(x: float | None) -> bytes | None:
    """A form in which −0 differs from 0, and NaN equals NaN and no value."""
    return None if x is None or math.isnan(x) else struct.pack("<d", x)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1 / math.sqrt(3), "0.577350269"),
        (1, "1.0"),
        (300.0, "300.0"),
        (400.72971800001, "400.729718"),
        (1e-7 / 3, "3.33333333e-08"),
        (2e10, "2e+10"),
        (-0.0, "-0.0"),
        (0.99999999999, "1.0"),
        (123456789.0, "123456789.0"),
        (1234567890.0, "1.23456789e+09"),
        (1e100, "1e+100"),
        (math.inf, "Inf"),
        (-math.inf, "-Inf"),
    ],
)
def test_numbers_are_printed_with_nine_digits_and_a_point(value: float, text: str) -> None:
    assert tcl(value) == text


def test_what_is_not_a_number_is_not_printed() -> None:
    with pytest.raises(RedelveError, match="NaN"):
        tcl(math.nan)
    with pytest.raises(RedelveError, match="NaN"):
        list(format_columns([np.array([1.0, math.nan])]))


@given(FINITE)
def test_printing_is_c_printing_with_a_point(x: float) -> None:
    text = tcl(x)
    assert text.removesuffix(".0") == ("%.9g" % x).removesuffix(".0")  # noqa: UP031
    assert "." in text or "e" in text
    assert is_number(text)
    assert parse_number(text) == round9(x)
    assert bits(round9(round9(x))) == bits(round9(x))


def nearly_ties() -> st.SearchStrategy[float]:
    """Numbers whose tenth digit is a five, and their neighbours."""
    return st.builds(
        lambda digits, power, steps: float(
            np.float64(f"{digits}5e{power}") + steps * np.spacing(float(f"{digits}5e{power}"))
        ),
        st.integers(100_000_000, 999_999_999),
        st.integers(-45, 45),
        st.integers(-2, 2),
    )


def powers_of_ten() -> st.SearchStrategy[float]:
    return st.builds(
        lambda power, steps: float(np.float64(f"1e{power}") + steps * np.spacing(float(f"1e{power}"))),
        st.integers(-300, 300),
        st.integers(-3, 3),
    )


@given(hnp.arrays(np.float64, st.integers(0, 30), elements=st.floats() | nearly_ties() | powers_of_ten()))
@example(np.array([1e8 - 0.5, 999999999.5, 99999999.95, 0.1, 1e-14, 1e31, 5e-324, 1.7976931348623157e308]))
def test_arrays_are_rounded_as_single_numbers_bit_for_bit(values: np.ndarray) -> None:
    expected = [float("%.9g" % x) for x in values.tolist()]  # noqa: UP031
    assert list(map(bits, round9_array(values).tolist())) == list(map(bits, expected))


def test_many_random_numbers_are_rounded_bit_for_bit() -> None:
    generator = np.random.default_rng(1)
    values = generator.integers(0, 2**64, 50_000, dtype=np.uint64).view(np.float64)
    values = np.concatenate([values[np.isfinite(values)], generator.standard_normal(50_000)])
    expected = np.array([float(f"{x:.9g}") for x in values.tolist()])
    assert (round9_array(values).view(np.uint64) == expected.view(np.uint64)).all()


def test_rounding_keeps_the_shape_and_the_argument() -> None:
    values = np.array([[1 / 3, 2 / 3]])
    assert round9_array(values).tolist() == [[0.333333333, 0.666666667]]
    assert values[0, 0] == 1 / 3
    assert round9_array(2 / 3).shape == ()


# Columns


def test_encoded_lines_begin_with_a_blank() -> None:
    columns: list[np.ndarray | list[str]]
    columns = [np.array([0.5, -2.0, 1e-10]), ["0 1", "1 0", "0 0"], np.array([1, 2, 3])]
    assert list(format_columns(columns)) == [" 0.5 0 1 1\n", " -2.0 1 0 2\n", " 1e-10 0 0 3\n"]
    assert list(format_columns([])) == []
    with pytest.raises(ValueError, match="zip"):
        list(format_columns([["1"], ["1", "2"]]))


def test_an_ignored_attribute_leaves_a_blank() -> None:
    assert list(format_columns([["1"], [""], ["2"]])) == [" 1  2\n"]


@given(hnp.arrays(np.float64, st.tuples(st.integers(1, 4), st.integers(1, 8)), elements=FINITE))
def test_formatted_columns_are_parsed_again(table: np.ndarray) -> None:
    lines = list(format_columns(list(table)))
    assert lines == ["".join(f" {tcl(x)}" for x in row) + "\n" for row in table.T]
    parsed = np.array(parse_columns("".join(lines).encode(), len(table)))
    assert parsed.tobytes() == round9_array(table).tobytes()


def test_infinities_are_formatted_too() -> None:
    assert list(format_columns([np.array([math.inf, -math.inf, 2])])) == [" Inf\n", " -Inf\n", " 2.0\n"]


@given(st.lists(NUMBER_LIKE.filter(bool), min_size=1, max_size=4))
def test_columns_take_exactly_the_numbers_of_the_syntax(words: list[str]) -> None:
    block = "\n".join(words).encode()
    if None not in map(parse_number, words):
        assert parse_columns(block, 1)[0].tobytes() == np.array([float(word) for word in words]).tobytes()
    else:
        with pytest.raises(ValueError, match=r"."):
            parse_columns(block, 1)


@pytest.mark.parametrize(
    "block", [b"nan", b"NaN", b"inf", b"-Infinity", b"1 2", b"0x10", b"1_0", b"\xef\xbb\xbf1", b"?"]
)
def test_columns_of_anything_else_are_refused(block: bytes) -> None:
    with pytest.raises(ValueError, match=r"."):
        parse_columns(block, 1)


@given(st.text(" \t\r\v\fab\n", max_size=40).map(str.encode))
def test_single_blanks_change_no_word(block: bytes) -> None:
    single = single_blanks(block)
    assert [line.split() for line in single.split(b"\n")] == [line.split() for line in block.split(b"\n")]
    assert all(line == b" ".join(line.split()) for line in single.split(b"\n"))


# Syntax


@pytest.mark.parametrize("text", ["5", "5.0", "5.", ".5", "+5", "-5e3", "5E+03", "00.10e-0"])
def test_these_are_numbers(text: str) -> None:
    assert is_number(text)
    assert parse_number(text) == float(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        ".",
        "+",
        "e5",
        "5e",
        "5e+",
        "1_0",
        "0x1",
        "nan",
        "inf",
        "Infinity",
        " 5",
        "5\n",
        "٣",
        "1,5",
        "?",
        ":5",
    ],
)
def test_these_are_not(text: str) -> None:
    assert not is_number(text)
    assert parse_number(text) is None


def test_what_no_double_can_hold_is_a_number_without_value() -> None:
    assert is_number("1e400")
    assert parse_number("1e400") is None
    assert np.isnan(parse_numbers(["-1e400", "1e400"])).all()
    assert parse_number("1e-400") == 0


def test_infinity_is_a_number_only_on_request() -> None:
    assert parse_limit("-INF") == -math.inf
    assert parse_limit("Infinity") is None
    assert parse_limit("nan") is None


def test_integer_texts_have_a_sign_and_digits() -> None:
    assert all(map(is_integer, ["0", "-12", "+007"]))
    assert not any(map(is_integer, ["", "1.0", "1e3", "-", "1 ", "²"]))


@given(st.lists(NUMBER_LIKE | st.text(max_size=3) | FINITE.map(repr), max_size=6))
def test_many_texts_are_parsed_as_single_ones(texts: list[str]) -> None:
    assert list(map(bits, parse_numbers(texts).tolist())) == [bits(parse_number(text)) for text in texts]


def test_many_digits_before_what_is_no_number_take_no_ages() -> None:
    """Compared with a search that cannot go back; going back took a million times as long."""
    text = "9" * 20_000 + "?"
    began = time.process_time()
    for _ in range(100):
        assert INTEGER.fullmatch(text) is None
    simple = time.process_time() - began
    assert not is_number(text)
    assert time.process_time() - began - simple < 100 * simple
