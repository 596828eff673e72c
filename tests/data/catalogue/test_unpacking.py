"""Unpacking: what a hostile archive might try."""

from __future__ import annotations

import bz2
import io
import lzma
import stat
import tarfile
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from redelve.data.catalogue.unpacking import UnpackingLimits, folders_with, unpack
from redelve.errors import FormatError
from tests.data.catalogue.servers import tar

FILES = {"a/Dataset.spec": b"spec", "a/b/c": b"deep"}


def zipped(files: Mapping[str, bytes], *, mode: int = 0) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            member = zipfile.ZipInfo(name)
            member.external_attr = mode << 16
            member.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(member, content)
    return buffer.getvalue()


def unpacked(data: bytes, tmp_path: Path, limits: UnpackingLimits | None = None) -> dict[str, bytes]:
    archive = tmp_path / "archive"
    archive.write_bytes(data)
    folder = tmp_path / "folder"
    unpack(archive, folder, limits or UnpackingLimits())
    return {
        path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()
    }


@pytest.mark.parametrize(
    "packed",
    [
        tar(FILES),
        tar(FILES, mode="w"),
        bz2.compress(tar(FILES, mode="w")),
        lzma.compress(tar(FILES, mode="w")),
        zipped(FILES),
    ],
    ids=["gzip", "plain", "bzip2", "xz", "zip"],
)
def test_plain_files_are_unpacked_however_they_are_packed(packed: bytes, tmp_path: Path) -> None:
    assert unpacked(packed, tmp_path) == FILES


@pytest.mark.parametrize("pack", [tar, zipped])
@pytest.mark.parametrize("name", ["../out", "a/../../out", "/out", "a\\..\\out", "C:/out", "a/\x07"])
def test_names_that_lead_elsewhere_are_refused(
    pack: Callable[[Mapping[str, bytes]], bytes], name: str, tmp_path: Path
) -> None:
    with pytest.raises(FormatError, match="may lead out of the folder: unpack it by hand if you trust it"):
        unpacked(pack({name: b"x"}), tmp_path)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.FIFOTYPE, tarfile.CHRTYPE])
def test_links_and_devices_are_refused(kind: bytes, tmp_path: Path) -> None:
    member = tarfile.TarInfo("a/link")
    member.type, member.linkname = kind, "../../etc/passwd"
    with pytest.raises(FormatError, match="'a/link' is not a plain file"):
        unpacked(tar(FILES, member), tmp_path)


def test_links_in_zip_files_are_refused(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match="encrypted or not a plain file"):
        unpacked(zipped({"a/link": b"/etc/passwd"}, mode=stat.S_IFLNK | 0o777), tmp_path)


@pytest.mark.parametrize("pack", [tar, zipped])
def test_bombs_are_refused(pack: Callable[[Mapping[str, bytes]], bytes], tmp_path: Path) -> None:
    bomb = pack({"zeros": bytes(5_000_000)})
    assert len(bomb) < 50_000
    with pytest.raises(FormatError, match="it holds more than 1000000 bytes"):
        unpacked(bomb, tmp_path, UnpackingLimits(size=1_000_000))


@pytest.mark.parametrize("pack", [tar, zipped])
def test_too_many_files_are_refused(pack: Callable[[Mapping[str, bytes]], bytes], tmp_path: Path) -> None:
    with pytest.raises(FormatError, match="it holds more than 10 files"):
        unpacked(pack({f"f{number}": b"" for number in range(11)}), tmp_path, UnpackingLimits(files=10))


def test_a_name_twice_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match=r"can't be unpacked: .*File exists"):
        unpacked(tar({"a/./x": b"1", "a/x": b"2"}), tmp_path)


def test_a_very_long_name_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match="has more than 200 characters"):
        unpacked(tar({"x" * 201: b""}), tmp_path)


@pytest.mark.parametrize(
    "data",
    [b"", b"no archive at all", tar(FILES)[:-40], zipped(FILES)[:60]],
    ids=["empty", "text", "gz", "zip"],
)
def test_damaged_archives_are_named(data: bytes, tmp_path: Path) -> None:
    with pytest.raises(FormatError, match=str(tmp_path / "archive")):
        unpacked(data, tmp_path)


def test_the_dataset_within_is_found_compressed_or_not(tmp_path: Path) -> None:
    for name in ("x/y/Dataset.spec.gz", "z/Dataset.spec", "w/Dataset.special"):
        (tmp_path / name).parent.mkdir(parents=True)
        (tmp_path / name).touch()
    assert list(folders_with(tmp_path, "Dataset.spec")) == [tmp_path / "x/y", tmp_path / "z"]
