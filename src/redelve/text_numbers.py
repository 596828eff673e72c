"""How numbers are written: DELVE's syntax for reading them, nine significant digits for printing them.

For people numbers are rounded by their standard errors, and p-values are no finer than they deserve.
"""

from __future__ import annotations

import math
import re

from redelve.errors import RedelveError

NUMBER = re.compile(r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?", re.ASCII)
"""Digits are told apart in one way only: many of them before what is no number must not take ages."""
INTEGER = re.compile(r"[+-]?\d+", re.ASCII)
INFINITY = re.compile(r"[+-]?inf", re.IGNORECASE)
MINUS = "−"
UNKNOWN = "–"
SMALLEST_P = 1e-4
SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
PLAIN_EXPONENTS = range(-5, 6)
"""Numbers with these powers of ten are written out; others with a power."""


def is_number(text: str) -> bool:
    """Whether `text` is a finite number in DELVE's syntax.

    >>> [is_number(text) for text in ("5.", ".5", "-2e-3", ".", "1_0", "nan")]
    [True, True, True, False, False, False]
    """
    return NUMBER.fullmatch(text) is not None


def is_integer(text: str) -> bool:
    """Whether `text` is an integer: an optional sign, then digits."""
    return INTEGER.fullmatch(text) is not None


def parse_number(text: str) -> float | None:
    """The finite number written in `text`, or None."""
    if not is_number(text):
        return None
    value = float(text)
    return value if math.isfinite(value) else None


def parse_limit(text: str) -> float | None:
    """A limit of a range: a number, or Inf in any case with an optional sign."""
    return float(text) if INFINITY.fullmatch(text) else parse_number(text)


def tcl(value: float) -> str:
    """`value` as DELVE's programs print it: nine significant digits, and always a point or an exponent.

    >>> tcl(1), tcl(400.7297184), tcl(2e10), tcl(1 / 3e7)
    ('1.0', '400.729718', '2e+10', '3.33333333e-08')
    """
    if math.isfinite(value):
        return with_point(f"{value:.9g}")
    if math.isnan(value):
        raise RedelveError("NaN can't be written as a number: mark missing values with ?")
    return "Inf" if value > 0 else "-Inf"


def with_point(text: str) -> str:
    """A printed number that shows that it is one of the real kind."""
    return text if "." in text or "e" in text else text + ".0"


def round9(value: float) -> float:
    """`value` rounded to nine significant digits, as it is after being printed and read back."""
    return float(f"{value:.9g}")


FINEST, COARSEST = 0.01, 10_000.0
"""No finer and no larger per cent are written out."""


def per_cent(share: float) -> str:
    """A share in per cent as people write it: two significant digits, or whole numbers from ten on.

    >>> per_cent(0.034), per_cent(-0.1), per_cent(12.3), per_cent(0.0)
    ('3.4 %', '−10 %', '1230 %', '0 %')
    >>> per_cent(0.000012), per_cent(0.00012), per_cent(1e6)
    ('less than 0.01 %', '0.01 %', 'more than 10,000 %')
    """
    text = _per_cent(share)
    return f"less than {FINEST:g} %" if text == "0 %" and share > 0 else text


def at_most(share: float) -> str:
    """A share that is not exceeded, in per cent: three significant digits, and no less than the share.

    >>> at_most(0.05), at_most(0.0125), at_most(0.05 / 6), at_most(0.1125)
    ('5 %', '1.25 %', '0.834 %', '11.3 %')
    """
    value = 100 * share
    unit = 10.0 ** (math.floor(math.log10(value)) - 2)
    return f"{math.ceil(value / unit - 1e-9) * unit:.3g} %"


def per_cents(low: float, high: float, *, is_change: bool = False) -> str:
    """A range of shares; what is smaller than a hundredth per cent is zero, and a rise may have a plus.

    >>> per_cents(0.0000012, 0.05), per_cents(-0.034, 0.02, is_change=True)
    ('0 % to 5.0 %', '−3.4 % to +2.0 %')
    """
    texts = [_per_cent(share) for share in (low, high)]
    if is_change:
        texts = [f"+{text}" if text[0] in "123456789" or text.startswith("0.") else text for text in texts]
    return " to ".join(texts)


def _per_cent(share: float) -> str:
    value = 100 * share
    if abs(value) > COARSEST:
        return f"{'more' if value > 0 else 'less'} than {MINUS * (value < 0)}{COARSEST:,.0f} %"
    return f"{_written(value, 2)} %"


def significant(value: float, most_places: int = 12) -> str:
    """A number with two significant digits, written out, with a true minus sign.

    >>> significant(-0.0314), significant(0.996), significant(1234.0), significant(0.0), significant(1e-7, 4)
    ('−0.031', '1.0', '1234', '0', '0')
    """
    if not math.isfinite(value):
        return f"{value:.0f}".replace("-", MINUS)
    return _written(value, most_places)


def _written(value: float, most_places: int) -> str:
    """Two significant digits, but no more places than these; nothing but zeros is zero."""
    places = 1 - int(f"{value:.1e}".partition("e")[2])
    text = f"{value:.{min(max(places, 0), most_places)}f}"
    return text.replace("-", MINUS) if float(text) else "0"


def plain(value: float | None, digits: int = 3) -> str:
    """A number with so many significant digits and a true minus sign.

    >>> plain(-0.0017461), plain(1234567.0), plain(None)
    ('−0.00175', '1.23×10⁶', '–')
    """
    if value is None or math.isnan(value):
        return UNKNOWN
    if not math.isfinite(value):
        return "∞" if value > 0 else f"{MINUS}∞"
    if value == 0:
        return "0"
    exponent = _exponent(value, digits)
    if exponent not in PLAIN_EXPONENTS:
        return f"{_fixed(_over_power(value, exponent), digits - 1)}×10{_power(exponent)}"
    return _fixed(value, digits - 1 - exponent)


def with_error(value: float | None, error: float | None) -> str:
    """A number and its standard error, both rounded to two significant digits of the error.

    >>> with_error(0.04647924, 0.00104460), with_error(12346.0, 678.0), with_error(0.5, None)
    ('0.0465 ± 0.0010', '12350 ± 680', '0.5000')
    >>> with_error(1.234e-9, 5.6e-11)
    '(1.234 ± 0.056)×10⁻⁹'
    """
    if value is None or error is None or not math.isfinite(value) or not math.isfinite(error) or error <= 0:
        return plain(value, 4)
    exponent = _exponent(max(abs(value), error), 2)
    if exponent not in PLAIN_EXPONENTS:
        both = with_error(_over_power(value, exponent), _over_power(error, exponent))
        return f"({both})×10{_power(exponent)}"
    places = 1 - _exponent(error, 2)
    return f"{_fixed(value, places)} ± {_fixed(error, places)}"


def by_error(value: float | None, error: float | None) -> str:
    """A number alone, rounded as `with_error` does.

    >>> by_error(0.04647924, 0.00104460)
    '0.0465'
    """
    if value is None or error is None or not math.isfinite(value) or not math.isfinite(error) or error <= 0:
        return plain(value, 4)
    if _exponent(max(abs(value), error), 2) not in PLAIN_EXPONENTS:
        return plain(value, 3)
    return _fixed(value, 1 - _exponent(error, 2))


def interval(
    bounds: tuple[float, float] | None, error: float | None, *, leaves_out_zero: bool = False
) -> str:
    """`low to high`, rounded by the standard error; an end at a zero that it leaves out is told in words.

    >>> interval((-0.00289, -0.0006), 0.00086)
    '−0.00289 to −0.00060'
    >>> interval((-8.73e-7, 1.57e-8), 1.9e-7)
    '(−8.7 to 0.2)×10⁻⁷'
    >>> interval((0.0, 10.05), 0.84, leaves_out_zero=True), interval((-10.05, -0.0), 0.84)
    ('above 0 to 10.05', '−10.05 to 0.00')
    """
    if bounds is None:
        return UNKNOWN
    low, high = bounds[0] + 0.0, bounds[1] + 0.0  # no "−0.00"
    if leaves_out_zero and low == 0 < high:
        return f"above 0 to {by_error(high, error)}"
    if leaves_out_zero and low < 0 == high:
        return f"{by_error(low, error)} to below 0"
    widest = max(abs(low), abs(high))
    if math.isfinite(widest) and widest > 0 and (exponent := _exponent(widest, 2)) not in PLAIN_EXPONENTS:
        bounds = _over_power(low, exponent), _over_power(high, exponent)
        ends = interval(bounds, None if error is None else _over_power(error, exponent))
        return f"({ends})×10{_power(exponent)}"
    return f"{by_error(low, error)} to {by_error(high, error)}"


def p_value(p: float | None) -> str:
    """A p-value with two significant digits, never finer than 0.0001.

    >>> p_value(0.00864), p_value(0.5), p_value(1e-9), p_value(1.0), p_value(0.996)
    ('0.0086', '0.50', '< 0.0001', '1', '1')
    """
    if p is None or math.isnan(p):
        return UNKNOWN
    if p < SMALLEST_P:
        return "< 0.0001"
    if p >= 0.995:
        return "1"
    return _fixed(p, max(2, 1 - _exponent(p, 2)))


def p_equals(p: float | None) -> str:
    """`p = 0.0086` or `p < 0.0001`, for running text."""
    text = p_value(p)
    return f"p {text}" if text.startswith("<") else f"p = {text}"


def _exponent(value: float, digits: int) -> int:
    """The power of ten after rounding to so many significant digits."""
    return int(f"{value:.{digits - 1}e}".partition("e")[2])


def _over_power(value: float, exponent: int) -> float:
    """The value divided by a power of ten that may itself be out of range."""
    mantissa, _, power = f"{value:.17e}".partition("e")
    return float(f"{mantissa}e{int(power or 0) - exponent}") if power else value


def _fixed(value: float, places: int) -> str:
    rounded = round(value, places)
    return f"{rounded:.{max(places, 0)}f}".replace("-", MINUS)


def _power(exponent: int) -> str:
    return str(exponent).translate(SUPERSCRIPTS)
