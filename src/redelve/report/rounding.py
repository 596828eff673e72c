"""Numbers as people read them: rounded by their standard errors, p-values no finer than they deserve."""

from __future__ import annotations

from math import isfinite, isnan

MINUS = "−"
UNKNOWN = "–"
SMALLEST_P = 1e-4
SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
PLAIN_EXPONENTS = range(-5, 6)
"""Numbers with these powers of ten are written out; others with a power."""


def plain(value: float | None, digits: int = 3) -> str:
    """A number with so many significant digits and a true minus sign.

    >>> plain(-0.0017461), plain(1234567.0), plain(None)
    ('−0.00175', '1.23×10⁶', '–')
    """
    if value is None or isnan(value):
        return UNKNOWN
    if not isfinite(value):
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
    if value is None or error is None or not isfinite(value) or not isfinite(error) or error <= 0:
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
    if value is None or error is None or not isfinite(value) or not isfinite(error) or error <= 0:
        return plain(value, 4)
    if _exponent(max(abs(value), error), 2) not in PLAIN_EXPONENTS:
        return plain(value, 3)
    return _fixed(value, 1 - _exponent(error, 2))


def interval(bounds: tuple[float, float] | None, error: float | None) -> str:
    """`low to high`, rounded by the standard error.

    >>> interval((-0.00289, -0.0006), 0.00086)
    '−0.00289 to −0.00060'
    >>> interval((-8.73e-7, 1.57e-8), 1.9e-7)
    '(−8.7 to 0.2)×10⁻⁷'
    """
    if bounds is None:
        return UNKNOWN
    low, high = bounds
    widest = max(abs(low), abs(high))
    if isfinite(widest) and widest > 0 and (exponent := _exponent(widest, 2)) not in PLAIN_EXPONENTS:
        bounds = _over_power(low, exponent), _over_power(high, exponent)
        ends = interval(bounds, None if error is None else _over_power(error, exponent))
        return f"({ends})×10{_power(exponent)}"
    return f"{by_error(low, error)} to {by_error(high, error)}"


def p_value(p: float | None) -> str:
    """A p-value with two significant digits, never finer than 0.0001.

    >>> p_value(0.00864), p_value(0.5), p_value(1e-9), p_value(1.0), p_value(0.996)
    ('0.0086', '0.50', '< 0.0001', '1', '1')
    """
    if p is None or isnan(p):
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


def seconds(value: float | None) -> str:
    """A time in the unit that suits it.

    >>> seconds(0.00092), seconds(3.2), seconds(4000.0), seconds(None)
    ('920 µs', '3.2 s', '1.11 h', '–')
    """
    if value is None:
        return UNKNOWN
    for unit, size in (("h", 3600.0), ("min", 120.0), ("s", 1.0), ("ms", 1e-3)):
        if value >= size:
            return f"{plain(value / (60.0 if unit == 'min' else size), 3 if value >= 60 else 2)} {unit}"
    return f"{plain(value * 1e6, 2)} µs"


def size(count: float | None) -> str:
    """Bytes in MiB or GiB.

    >>> size(232112128)
    '221 MiB'
    """
    if count is None:
        return UNKNOWN
    return f"{count / 2**20:.0f} MiB" if count < 2**30 else f"{count / 2**30:.1f} GiB"


def per_cent(share: float | None) -> str:
    """A share in per cent, two significant digits or whole numbers.

    >>> per_cent(0.034), per_cent(0.57), per_cent(1.0)
    ('3.4 %', '57 %', '100 %')
    """
    if share is None:
        return UNKNOWN
    value = 100 * share
    return f"{plain(value, 2) if 0 < abs(value) < 9.95 else _fixed(value, 0)} %"


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
