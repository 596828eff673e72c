"""Is a dataset fit for the catalogue?"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping

import pytest

from redelve.data.catalogue import CATALOGUE
from redelve.data.catalogue.dataset_check import check_dataset

FILES = dict(CATALOGUE["demo"]())


def changed(path: str, old: str, new: str) -> Callable[[], Mapping[str, str]]:
    assert old in FILES[path]
    return lambda: {**FILES, path: FILES[path].replace(old, new)}


def test_the_demonstration_passes_under_its_name_and_as_a_function() -> None:
    assert check_dataset("demo") == check_dataset(CATALOGUE["demo"]) == []


@pytest.mark.parametrize(
    ("make", "complaint"),
    [
        (lambda: {"Dataset.spec": "x"}, "it has no file Dataset.data"),
        (lambda: {**FILES, "../Notes": "x"}, 'the path "../Notes" leads out of the dataset\'s folder'),
        (lambda: {**FILES, "Notes": b"x"}, "Notes is bytes, not text"),
        (
            lambda: {path: text for path, text in FILES.items() if "/" not in path or "Source" in path},
            "it has no prototask: a folder with Prototask.spec and std.prior",
        ),
        (changed("Dataset.spec", "[0,Inf)", "[0,9)"), "checked/Dataset.data"),
        (changed("age/Prototask.spec", "Targets: 2", "Targets: 9"), "checked/age/Prototask.spec"),
    ],
    ids=["no data", "path", "bytes", "no prototask", "range", "target"],
)
def test_what_is_wrong_is_told(make: Callable[[], Mapping[str, str]], complaint: str) -> None:
    assert any(one.startswith(complaint) for one in check_dataset(make))


def test_files_that_differ_from_time_to_time_are_told() -> None:
    numbers = itertools.count()
    (complaint,) = check_dataset(lambda: {**FILES, "Notes": str(next(numbers))})
    assert complaint.startswith("its files are not the same when they are made again")
