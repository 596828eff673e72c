"""Texts from outside: what may stand in a name, a label or a reason."""

from __future__ import annotations

import re
import unicodedata

from redelve.challenge.server.refusals import wrong_field

_FORMULA = re.compile(r"""(^|[;,\t])([\s"']*)(?=[=+\-@\t\r|%＝＋－＠])""")
"""Where a spreadsheet may find a formula: it begins a cell, by whichever sign cells are told apart there."""
_UNWANTED = ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp")  # control, format (direction), surrogate, unassigned
_INVISIBLE = (
    "\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f\u2800\u3164\uffa0"
    + "".join(map(chr, range(0xFE00, 0xFE10)))
    + "".join(map(chr, range(0xE0100, 0xE01F0)))
)
"""Letters and marks that show nothing; characters of the categories above are refused anyway."""
_LOOKALIKES = {
    "авеԁһіјкмнорсԛѕтуѵԝх": "abedhijkmhopcqstyvwx",
    "αβεζηικμνορτυχ": "abezhikmnoptyx",
    "օսոհցք": "ounhgp",
    "ɑɡı": "agi",
}
_LATIN = str.maketrans({one: other for pair in _LOOKALIKES.items() for one, other in zip(*pair, strict=True)})
"""Small Cyrillic, Greek, Armenian and other letters that, or whose capitals, look like Latin ones."""
_DROPPED = dict.fromkeys(map(ord, _INVISIBLE))


def one_line(value: str, field: str, *, least: int = 0, most: int = 80) -> str:
    """A text of one line without invisible characters, blanks at the ends taken off.

    >>> one_line("  Ada  ", "name")
    'Ada'
    """
    text = unicodedata.normalize("NFC", value).strip()
    for character in text:
        if unicodedata.category(character) in _UNWANTED:
            raise wrong_field(field, f"the character U+{ord(character):04X} cannot be used; take it out.")
    if not least <= len(text) <= most:
        raise wrong_field(field, f"has {len(text)} characters; {least} to {most} are allowed.")
    return text


def printable(text: str) -> str:
    """The text with a question mark for each character that cannot be shown or kept."""
    return "".join("?" if unicodedata.category(each) in _UNWANTED else each for each in text)


def comparable(name: str) -> str:
    """The name as it is compared with others: "Ada", "ＡＤＡ" and "Аdа" with Cyrillic letters are the same.

    >>> comparable("Ada  Lovelace") == comparable("ＡＤＡ LOVELACE")
    True
    """
    plain = unicodedata.normalize("NFKC", name.translate(_DROPPED)).casefold()
    return " ".join(unicodedata.normalize("NFKC", plain).translate(_LATIN).split())


def name_of(value: str) -> str:
    """A name for an account: one that can be seen.

    >>> name_of("Ada ")
    'Ada'
    """
    text = one_line(value, "name", least=2, most=60)
    if not any(unicodedata.category(character)[0] in "LN" for character in comparable(text)):
        raise wrong_field("name", "needs a letter or a digit.")
    return text


def spreadsheet_safe(text: str) -> str:
    """The text with a mark before what a spreadsheet would take for a formula.

    >>> spreadsheet_safe("=1+1"), spreadsheet_safe("a;=1+1"), spreadsheet_safe("Ada")
    ("'=1+1", "a;'=1+1", 'Ada')
    """
    return _FORMULA.sub(r"\1\2'", text)
