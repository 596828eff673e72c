"""Ways to spoil what is in a file, or the file itself."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from pathlib import Path
from random import Random

from tests.fuzzing.inside import inner, seal

Mutation = Callable[[Random, bytes], bytes]

NUMBER = re.compile(rb"-?\d+(?:\.\d+)?")
WORD = re.compile(rb"[^\s,;=]+")
NUMBERS = (
    *("1e308", "-1e308", "1e999", "1e-320", "9" * 400, "-" + "9" * 30, "0", "-0", "-1", "nan", "inf", "-inf"),
    *("NaN", "1_000", "0x10", "٣", "²", "1,5", "1.2.3", "1e", "+", "--1", "18446744073709551616", "1e400"),
)
WORDS = (
    *("", " ", "true", "null", "None", "?", "NA", "..", "/", "~", "$HOME", "%s", "{x}", "\\", "'", '"'),
    *(
        "é",
        "😀",
        "\u202e",
        "\x1b[31m",
        "a" * 300,
        "-",
        "--",
        "=",
        "#",
        "@1",
        "1979-05-27",
        "[]",
        "[[x]]",
        "{}",
    ),
)
DEEP = (b"[" * 3000, b"{" * 3000, b"(" * 3000, b'{"a":' * 3000, b"a." * 3000, b"<" * 3000, b"'\"" * 1500)
ENCODINGS = ("utf-16", "utf-16-be", "utf-32", "latin-1", "cp037", "utf-7", "shift-jis")


def _spot(chance: Random, data: bytes) -> int:
    return chance.randint(0, len(data))


def _lines(data: bytes) -> list[bytes]:
    return data.splitlines(keepends=True) or [b""]


def cut(chance: Random, data: bytes) -> bytes:
    """The end is lost."""
    return data[: _spot(chance, data)]


def flipped(chance: Random, data: bytes) -> bytes:
    """Some bits are others."""
    found = bytearray(data or b"\0")
    for _ in range(chance.choice((1, 1, 2, 8))):
        found[chance.randrange(len(found))] ^= 1 << chance.randrange(8)
    return bytes(found)


def line_lost(chance: Random, data: bytes) -> bytes:
    """A line is missing."""
    lines = _lines(data)
    del lines[chance.randrange(len(lines))]
    return b"".join(lines)


def line_doubled(chance: Random, data: bytes) -> bytes:
    """A line is there twice."""
    lines = _lines(data)
    row = chance.randrange(len(lines))
    return b"".join([*lines[:row], lines[row], *lines[row:]])


def lines_swapped(chance: Random, data: bytes) -> bytes:
    """Two lines have changed places."""
    lines = _lines(data)
    one, other = chance.randrange(len(lines)), chance.randrange(len(lines))
    lines[one], lines[other] = lines[other], lines[one]
    return b"".join(lines)


def _replaced(chance: Random, data: bytes, what: re.Pattern[bytes], by: tuple[str, ...]) -> bytes:
    places = list(what.finditer(data))
    if not places:
        return data + chance.choice(by).encode()
    for place in sorted(chance.sample(places, min(len(places), chance.choice((1, 1, 3)))), key=_start)[::-1]:
        data = data[: place.start()] + chance.choice(by).encode() + data[place.end() :]
    return data


def _start(place: re.Match[bytes]) -> int:
    return place.start()


def other_number(chance: Random, data: bytes) -> bytes:
    """Another number, too large or none at all."""
    return _replaced(chance, data, NUMBER, NUMBERS)


def other_word(chance: Random, data: bytes) -> bytes:
    """Another word."""
    return _replaced(chance, data, WORD, WORDS)


def word_elsewhere(chance: Random, data: bytes) -> bytes:
    """A word in the place of another."""
    words = [one.group() for one in WORD.finditer(data)] or [b"x"]
    return _replaced(chance, data, WORD, (chance.choice(words).decode(errors="replace"),))


def _inserted(what: tuple[bytes, ...]) -> Mutation:
    def insert(chance: Random, data: bytes) -> bytes:
        spot = _spot(chance, data)
        return data[:spot] + chance.choice(what) + data[spot:]

    return insert


def other_encoding(chance: Random, data: bytes) -> bytes:
    """The text as another system would write it."""
    return data.decode(errors="replace").encode(chance.choice(ENCODINGS), errors="replace")


def other_ends(chance: Random, data: bytes) -> bytes:
    """Lines end otherwise."""
    return data.replace(b"\n", chance.choice((b"\r\n", b"\r", b"\n\n", b"\x0b", "\u2028".encode())))


def noise(chance: Random, data: bytes) -> bytes:
    """Anything."""
    return chance.randbytes(chance.choice((1, 20, 300)))


CONTENTS: dict[str, Mutation] = {
    "cut": cut,
    "flipped": flipped,
    "line lost": line_lost,
    "line doubled": line_doubled,
    "lines swapped": lines_swapped,
    "number": other_number,
    "more numbers": other_number,
    "word": other_word,
    "more words": other_word,
    "word elsewhere": word_elsewhere,
    "NUL": _inserted((b"\0", b"\0" * 100)),
    "no UTF-8": _inserted((b"\xff\xfe", b"\x80", b"\xc3(", b"\xed\xa0\x80")),
    "BOM": lambda _, data: b"\xef\xbb\xbf" + data,
    "encoding": other_encoding,
    "line ends": other_ends,
    "long field": _inserted((b"x" * 200_000, b"9" * 200_000, b" " * 200_000)),
    "deep": _inserted(DEEP),
    "empty": lambda _, data: b"",
    "blank": lambda chance, _: chance.choice((b"\n", b" ", b"\n\n\n", b"\0")),
    "noise": noise,
    "twice": lambda _, data: data + data,
}

Placing = Callable[[Path], None]


def _folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


def _filled_folder(path: Path) -> None:
    _folder(path)
    (path / "x").write_text("x\n")


def _linked(path: Path) -> None:
    elsewhere = path.with_name(f"real-{path.name}")
    path.rename(elsewhere)
    path.symlink_to(elsewhere.name)


def _linked_to(target: str) -> Placing:
    def place(path: Path) -> None:
        path.unlink()
        path.symlink_to(target)

    return place


def _folder_gone(path: Path) -> None:
    shutil.rmtree(path.parent)


GONE = "its folder missing"
PLACES: dict[str, Placing] = {
    "folder": _folder,
    "filled folder": _filled_folder,
    "link": _linked,
    "dead link": _linked_to("nowhere"),
    "link to itself": _linked_to("."),
    "endless": _linked_to("/dev/zero"),
    "missing": Path.unlink,
    GONE: _folder_gone,
}


def spoil(chance: Random, path: Path, folder: Path) -> str:
    """Do something to a file inside a folder; what it was."""
    if chance.random() < 0.12:
        name = chance.choice([one for one in PLACES if one != GONE or path.parent != folder])
        PLACES[name](path)
        return name
    within = inner(spoilt).get(path.suffix)
    if within is not None and chance.random() < 0.6:
        seal(path, within(chance, path.read_bytes()))
        return "within"
    names = chance.choices(list(CONTENTS), k=chance.choice((1, 1, 1, 2)))
    data = path.read_bytes()
    for name in names:
        data = CONTENTS[name](chance, data)
    path.unlink()
    path.write_bytes(data)
    return ", then ".join(names)


def spoilt(chance: Random, data: bytes) -> bytes:
    """Something done to the content."""
    return chance.choice(list(CONTENTS.values()))(chance, data)
