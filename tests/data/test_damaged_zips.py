"""Whatever byte of a zip's directory is another one, what reads it says so in a sentence, or reads it.

Python's zipfile raises IndexError for a member without a name, UnicodeDecodeError, a ValueError for a
directory that begins before the file, and more.
"""

from __future__ import annotations

import io
import shutil
import tempfile
import warnings
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from redelve.challenge.verification import verify_export
from redelve.data.catalogue.unpacking import unpack
from redelve.data.files import read_text
from redelve.data.scores import read_scores
from redelve.errors import RedelveError
from redelve.store.layout import unzipped

VALUES = (0, 0x0E, 0x80, 0xFF)
DIRECTORY = b"PK\x01\x02"


def exported() -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as out:
        out.writestr(zipfile.ZipInfo("é.json"), "[1]")
    return made.getvalue()


def logged() -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as out:
        out.writestr(zipfile.ZipInfo("header.json"), "{}")
    return made.getvalue()


def arrays() -> bytes:
    made = io.BytesIO()
    np.savez(made, y_true=np.arange(3.0))
    return made.getvalue()


def unpacked(path: Path) -> None:
    folder = path.with_name("unpacked")
    shutil.rmtree(folder, ignore_errors=True)
    unpack(path, folder)


READERS: dict[str, tuple[Callable[[Path], object], Callable[[], bytes], str]] = {
    "export": (verify_export, exported, "a.zip"),
    "archive": (unzipped, exported, "a.zip"),
    "downloaded": (unpacked, exported, "a.zip"),
    "compressed": (read_text, exported, "a.zip"),
    "log": (read_scores, logged, "a.eval"),
    "arrays": (read_scores, arrays, "a.npz"),
}


def spoilt(sound: bytes) -> list[bytes]:
    """The zip with each byte of its directory replaced, and one whose member has no name."""
    start = sound.index(DIRECTORY)
    found = [
        sound[:place] + bytes([value]) + sound[place + 1 :]
        for place in range(start, len(sound))
        for value in VALUES
    ]
    return [*found, sound[:start] + sound[start:].replace(b".", b"\0")]


@pytest.mark.parametrize("name", READERS)
def test_no_byte_of_a_directory_ends_in_another_error(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    read, make, file = READERS[name]
    path, refused = tmp_path / file, 0
    for data in spoilt(make()):
        path.write_bytes(data)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                read(path)
            except RedelveError as error:
                refused += 1
                assert str(error)
    assert refused > 50


def test_an_export_with_a_member_without_a_name_is_refused(tmp_path: Path) -> None:
    member = zipfile.ZipInfo("x")
    with zipfile.ZipFile(tmp_path / "export.zip", "w") as made:
        member.filename = ""
        made.writestr(member, b"no name")
    told = r"export\.zip: this is no sound zip \(a member has no name\): give an export of the server"
    with pytest.raises(RedelveError, match=told):
        verify_export(tmp_path / "export.zip")
