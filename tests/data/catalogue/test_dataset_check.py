"""Is a dataset fit for the catalogue?"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from redelve.data.catalogue import CATALOGUE, Files
from redelve.data.catalogue.dataset_check import check_dataset
from redelve.data.catalogue.materialise import made_files, write_folder
from redelve.errors import SpecError

FILES = dict(CATALOGUE["demo"]())


def changed(path: str, old: str, new: str) -> Callable[[], Mapping[str, str]]:
    assert old in FILES[path]
    return lambda: {**FILES, path: FILES[path].replace(old, new)}


def test_the_demonstration_passes_under_its_name_and_as_a_function() -> None:
    for demo in ("demo", CATALOGUE["demo"]):
        report = check_dataset(demo)
        assert [one.status for one in report.findings] == ["passed"] * 4, report


@pytest.mark.parametrize(
    ("make", "number", "complaint"),
    [
        (lambda: {"Dataset.spec": "x"}, "D001", "it has no file Dataset.data"),
        (
            lambda: {**FILES, "../Notes": "x"},
            "D001",
            "it has a file '../Notes': give paths within its folder",
        ),
        (lambda: {**FILES, "Notes": b"x"}, "D001", "it has b'x' in 'Notes': make it a text"),
        (lambda: {**FILES, "Notes": "\ud800"}, "D001", "it has \\ud800 in 'Notes', half a character"),
        (lambda: {**FILES, "age/Notes/2": "x", "age/Notes": "x"}, "D001", "it has files 'age/Notes/2' and"),
        (
            lambda: {path: text for path, text in FILES.items() if "/" not in path or "Source" in path},
            "D001",
            "it has no prototask: a folder with Prototask.spec and std.prior",
        ),
        (changed("Dataset.spec", "[0,Inf)", "[0,9)"), "D003", "checked/Dataset.data"),
        (changed("age/Prototask.spec", "Targets: 2", "Targets: 9"), "D003", "checked/age/Prototask.spec"),
        (
            changed("age/Prototask.spec", "Sizes: 32 64", "Sizes: 9999"),
            "D004",
            "SpecError",
        ),
    ],
    ids=[
        *("no data", "path", "bytes", "half a character", "file in a file"),
        *("no prototask", "range", "target", "too many cases"),
    ],
)
def test_what_is_wrong_is_told(make: Callable[[], Mapping[str, str]], number: str, complaint: str) -> None:
    finding = check_dataset(make).of(number)
    assert finding.status == "failed"
    assert finding.message.startswith(complaint)


def test_files_that_differ_from_time_to_time_are_told() -> None:
    numbers = itertools.count()
    report = check_dataset(lambda: {**FILES, "Notes": str(next(numbers))})
    assert report.of("D002").message == "files that differ the second time: Notes"


@pytest.mark.parametrize("path", ["../out", "/out", "a/../../out", "", "a\0b"])
def test_nothing_is_written_out_of_the_folder(path: str, tmp_path: Path) -> None:
    with pytest.raises(SpecError, match="give paths within its folder"):
        write_folder({"Summary": "x", path: "y"}, str(tmp_path / "data" / "moon"))
    assert list(tmp_path.rglob("*")) == []


HALF = "half a character, which can't be written: leave it out$"


def broken() -> Files:
    raise ValueError("no\nmoon")


@pytest.mark.parametrize(
    ("make", "told"),
    [
        (broken, r'"moon" \(\S+\.broken\) failed: ValueError: no moon: mend it, or do without it'),
        (lambda: 3, r'"moon" \(\S+\) returned 3: return a dictionary of texts by path'),
        (lambda: {"Summary": 3}, r"\) has 3 in 'Summary': make it a text"),
        (lambda: {"../Summary": "x"}, r"\) has a file '../Summary': give paths within its folder"),
        (lambda: {"Summary": "a\ud800b"}, rf"\) has \\ud800 in 'Summary', {HALF}"),
        (lambda: {"\udc80": "x"}, rf"\) has \\udc80 in '\\udc80', {HALF}"),
        (
            lambda: {"a/b/c": "x", "a/b": "y"},
            r"\) has files 'a/b/c' and 'a/b', but a file is no folder: rename one of them$",
        ),
    ],
    ids=["raises", "number", "no text", "path", "half a character", "half a path", "file in a file"],
)
def test_a_function_that_makes_no_dataset_is_told(make: Callable[[], Any], told: str) -> None:
    with pytest.raises(SpecError, match=told) as caught:
        made_files("moon", make)
    assert "\n" not in str(caught.value)
