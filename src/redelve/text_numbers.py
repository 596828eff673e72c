"""How numbers are written: DELVE's syntax for reading them, nine significant digits for printing them."""

from __future__ import annotations

import math
import re

from redelve.errors import RedelveError

NUMBER = re.compile(r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?", re.ASCII)
"""Digits are told apart in one way only: many of them before what is no number must not take ages."""
INTEGER = re.compile(r"[+-]?\d+", re.ASCII)
INFINITY = re.compile(r"[+-]?inf", re.IGNORECASE)
MINUS = "−"


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


def counted(more: int, unit: str) -> str:
    """So many more of something, or one more.

    >>> counted(2, "test cases"), counted(1, "training sets of 64")
    ('2 more test cases', '1 more training set of 64')
    """
    one = {"test cases": "test case", "runs": "run"}.get(unit, unit.replace("sets", "set"))
    return f"{more} more {one if more == 1 else unit}"
