"""Ranges: what the manual's 3.1 allows, and what it does not."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from redelve.errors import SpecError
from redelve.model import parse_range
from redelve.model.ranges import Censored, Range, is_value
from tests import strategies


@pytest.mark.parametrize(
    ("written", "inside", "outside"),
    [
        ("[0,1)", ["0", "0.5", "1e-3", ".5"], ["1", "-0.1", "x", "?", "nan"]),
        ("(0,Inf)", ["0.001", "1e300"], ["0", "-1", "Inf"]),
        ("(-inf,+INF)", ["-5", "5."], ["", "abc"]),
        ("1..Inf", ["1", "99", "+3"], ["0", "1.5", "1e3"]),
        ("-3..3", ["-3", "0", "3"], ["4", "0.0"]),
        ("male female", ["male", "female"], ["Male", "ma*", "*"]),
        ("(-Inf,0) (0,+Inf) ?", ["-2", "1e3", "?"], ["0", "?lost"]),
        ("? ?lost [0,1]", ["?", "?lost", "1"], ["?gone"]),
        ("0 1", ["0", "1"], ["1.0", "2"]),
        ("[ 0 , 1 ]", ["0", "1"], ["2"]),
        ("5..4", [], ["4", "5"]),
        ("(1,1)", [], ["1"]),
    ],
)
def test_membership(written: str, inside: list[str], outside: list[str]) -> None:
    allowed = parse_range(written)
    assert [value for value in inside if not allowed.contains(value)] == []
    assert [value for value in outside if allowed.contains(value)] == []


@pytest.mark.parametrize(
    ("written", "inside", "outside"),
    [
        ("[0,10)", ["5:", ":5", ":0", "9.9:"], ["10:", ":-1"]),
        ("[0,10]", ["10:"], ["11:"]),
        ("(0,Inf)", ["1e9:", ":1"], [":0"]),
        ("0..5", ["5:", ":0"], ["6:", ":-1"]),
        ("1 2 3", ["3:", ":1"], ["4:", ":0"]),
        ("male female", [], ["1:"]),
    ],
)
def test_censored_values_must_leave_something_possible(
    written: str, inside: list[str], outside: list[str]
) -> None:
    allowed = parse_range(written)
    assert [value for value in inside if not allowed.contains(value)] == []
    assert [value for value in outside if allowed.contains(value)] == []


def test_finite_ranges_are_listed_without_missing_values() -> None:
    assert parse_range("1..3 x ? ?lost 2").values == ("1", "2", "3", "x")
    assert parse_range("[2,2] 5").values == ("2", "5")
    assert parse_range("a ?").missing == ("?",)
    assert not parse_range("[0,1]").is_finite


@pytest.mark.parametrize("written", ["[0,1)", "0..Inf", "0..999999999"])
def test_infinite_ranges_are_not_listed(written: str) -> None:
    with pytest.raises(SpecError, match="can't list an infinite range"):
        _ = parse_range(written).values


@pytest.mark.parametrize(
    ("written", "message"),
    [
        ("", "the range is empty"),
        ("[0,x)", 'expected floating-point limit in range "[0,x)" but got "x"'),
        ("[0,1", 'bad interval "[0,1" in range'),
        ("[0)", "bad interval"),
        ("1..x", 'expected integer limits in range "1..x"'),
        ("1.5..2", "expected integer limits"),
        ("-a", 'bad range item "-a"'),
        ("@3", "bad range item"),
    ],
)
def test_bad_ranges_name_the_item(written: str, message: str) -> None:
    with pytest.raises(SpecError) as caught:
        parse_range(written)
    assert message in str(caught.value)


def test_blanks_after_a_bracket_take_time_that_grows_with_them() -> None:
    """A pattern that tries every way to share the blanks out would take hours."""
    with pytest.raises(SpecError, match="bad interval"):
        parse_range("[" + " " * 400_000 + "0")


@given(strategies.ranges)
def test_ranges_round_trip(allowed: Range) -> None:
    assert parse_range(str(allowed)) == allowed


@given(st.text(max_size=30))
def test_no_text_breaks_the_parser(text: str) -> None:
    try:
        allowed = parse_range(text)
    except SpecError:
        return
    assert parse_range(str(allowed)) == allowed


def test_values_follow_the_manual() -> None:
    good = ["5", "5.0", "+.5e-3", "12:", ":12", "?", "?why", "red", "a:b", "x#y"]
    bad = ["", "a b", "\\x", "@3", "#no", "(a", "[b", "+", "-x", ".", ":x", "3rd", "1:2"]
    assert [text for text in good if not is_value(text)] == []
    assert [text for text in bad if is_value(text)] == []
    assert Censored.parse("1e3:") == Censored(1000.0, at_least=True)
