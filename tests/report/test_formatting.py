"""Numbers in reports: two significant digits of the error, honest p-values."""

from math import inf, nan

from hypothesis import given
from hypothesis import strategies as st

from redelve.report.formatting import interval, p_value, plain, with_error
from redelve.text_numbers import at_most

FINITE = st.floats(-1e9, 1e9, allow_nan=False)
ERRORS = st.floats(1e-9, 1e6)


def number_of(text: str) -> float:
    return float(text.replace("−", "-"))


@given(FINITE, ERRORS)
def test_rounding_moves_a_number_by_less_than_a_tenth_of_its_error(value: float, error: float) -> None:
    text = with_error(value, error)
    scale = 1.0
    if text.startswith("("):
        text, _, power = text[1:].partition(")×10")
        scale = 10.0 ** int(power.translate(str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")))
    shown, shown_error = (number_of(part) * scale for part in text.split(" ± "))
    assert abs(shown - value) <= 0.0501 * error + 1e-12 * abs(value)
    assert abs(shown_error - error) <= 0.0501 * error


@given(st.floats(0, 1))
def test_p_values_are_never_zero(p: float) -> None:
    assert p_value(p) == "< 0.0001" if p < 1e-4 else number_of(p_value(p)) > 0


@given(st.floats(1e-4, 1))
def test_what_is_said_to_be_at_most_is_never_rounded_down(share: float) -> None:
    told = float(at_most(share).removesuffix(" %")) / 100
    assert share * (1 - 1e-9) <= told <= share * 1.0101


@given(st.floats())
def test_every_float_can_be_written(value: float) -> None:
    assert plain(value)
    assert with_error(value, value)
    assert interval((value, value), value)


def test_what_is_not_known_is_a_dash() -> None:
    assert plain(None) == p_value(None) == interval(None, 1.0) == plain(nan) == "–"
    assert plain(inf) == "∞"
    assert plain(-inf) == "−∞"
    assert with_error(0.25, None) == "0.2500"


def test_errors_that_round_up_to_a_power_of_ten_keep_two_digits() -> None:
    assert with_error(1.2345, 0.0996) == "1.23 ± 0.10"
