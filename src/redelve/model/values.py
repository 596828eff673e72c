"""Values as they are written in data files: numbers, categories, missing and censored values (manual 3.3)."""

from __future__ import annotations

from dataclasses import dataclass

from redelve.text_numbers import is_number, parse_number

NOT_A_CATEGORY = "\\@#([+-.:0123456789"


def is_missing(text: str) -> bool:
    """Whether the value is missing: `?`, perhaps followed by a reason."""
    return text.startswith("?")


@dataclass(frozen=True)
class Censored:
    """A number known only to be at least (`12:`) or at most (`:12`) what is written."""

    number: float
    at_least: bool

    @staticmethod
    def parse(text: str) -> Censored | None:
        """The censored value written in `text`, or None.

        >>> Censored.parse("12:"), Censored.parse(":0.5"), Censored.parse("12")
        (Censored(number=12.0, at_least=True), Censored(number=0.5, at_least=False), None)
        """
        if text.endswith(":") and (number := parse_number(text[:-1])) is not None:
            return Censored(number, at_least=True)
        if text.startswith(":") and (number := parse_number(text[1:])) is not None:
            return Censored(number, at_least=False)
        return None


def is_value(text: str) -> bool:
    """Whether `text` is a legal value of any kind."""
    if not text or any(character.isspace() for character in text):
        return False
    if text[0] in NOT_A_CATEGORY:
        return is_number(text) or Censored.parse(text) is not None
    return Censored.parse(text) is not None or text.isprintable()
