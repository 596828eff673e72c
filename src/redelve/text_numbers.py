"""How numbers are written: DELVE's syntax for reading them, nine significant digits for printing them."""

from __future__ import annotations

import math
import re

from redelve.errors import RedelveError

NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?", re.ASCII)
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


def per_cent(share: float) -> str:
    """A share in per cent as people write it: two significant digits, or whole numbers from ten on.

    >>> per_cent(0.034), per_cent(-0.1), per_cent(12.3), per_cent(0.0)
    ('3.4 %', '−10 %', '1230 %', '0 %')
    """
    value = 100 * share
    return f"{significant(value) if abs(value) < 9.95 else f'{value:.0f}'.replace('-', MINUS)} %"


def significant(value: float) -> str:
    """A number with two significant digits, written out, with a true minus sign.

    >>> significant(-0.0314), significant(0.996), significant(1234.0), significant(0.0)
    ('−0.031', '1.0', '1234', '0')
    """
    if value == 0 or not math.isfinite(value):
        return "0" if value == 0 else f"{value:.0f}".replace("-", MINUS)
    places = 1 - int(f"{value:.1e}".partition("e")[2])
    return f"{value:.{max(places, 0)}f}".replace("-", MINUS)
