"""What holds for every dataset of the catalogue."""

from __future__ import annotations

from collections.abc import Collection

import pytest

from redelve.data.catalogue import CATALOGUE
from redelve.data.catalogue.dataset_folder import lines, mark
from redelve.data.delve.case_lists import parse_case_numbers
from redelve.data.delve.dataset_spec import parse_dataset_spec
from redelve.data.delve.prior_files import check_covers, parse_prior
from redelve.data.delve.prototask_spec import parse_prototask_spec
from redelve.data.problems import Problems
from tests.data.catalogue.simulated import folder

LARGE = ("32fm", "32fh", "32nh")
"""Members of a family that differ from 32nm, which is among the quick ones, as those of 8 inputs differ."""
SLOW = [name for name in CATALOGUE if name.startswith("bank-") and name != "bank-8nh"] + ["hiva", "sylva"]
SLOW += [f"{family}-{kind}" for family in ("kin", "pumadyn") for kind in LARGE]
SLOW_TWICE = [*SLOW, "bank-8nh"]  # test_bank.py has the digest of its cases, wherever and whenever made


def chosen(slow: Collection[str]) -> list[object]:
    """The catalogue as parameters."""
    return [pytest.param(name, marks=pytest.mark.slow) if name in slow else name for name in CATALOGUE]


@pytest.fixture(params=chosen(SLOW), scope="module")
def generated(request: pytest.FixtureRequest) -> tuple[str, dict[str, str]]:
    """A dataset's name and files."""
    return request.param, folder(request.param)


@pytest.mark.parametrize("name", chosen(SLOW_TWICE))
def test_generating_twice_gives_the_same(name: str) -> None:
    assert CATALOGUE[name]() == folder(name)


def test_the_documents_are_there(generated: tuple[str, dict[str, str]]) -> None:
    assert {"Summary", "Source/Notes"} <= set(generated[1])


def test_every_value_is_in_its_range(generated: tuple[str, dict[str, str]]) -> None:
    name, files = generated
    problems = Problems("Dataset.spec")
    spec = parse_dataset_spec(files["Dataset.spec"], name, problems)
    assert list(problems) == []
    for line in files["Dataset.data"].splitlines():
        values = line.partition("@")[0].split()
        assert len(values) == len(spec.attributes)
        assert all(
            attribute.range.contains(value) for attribute, value in zip(spec.attributes, values, strict=True)
        )


def test_prototasks_and_priors_agree_with_the_dataset(generated: tuple[str, dict[str, str]]) -> None:
    name, files = generated
    problems = Problems(name)
    spec = parse_dataset_spec(files["Dataset.spec"], name, problems)
    rows = [line.split() for line in files["Dataset.data"].splitlines()]
    folders = [path.split("/")[0] for path in files if path.endswith("/Prototask.spec")]
    assert folders
    for place in folders:
        prototask = parse_prototask_spec(files[f"{place}/Prototask.spec"], place, spec, problems)
        prior = parse_prior(files[f"{place}/std.prior"], "std", spec, problems)
        check_covers(prior, prototask, spec, problems)
        used = [number - 1 for number in prototask.inputs + prototask.targets]
        ordered = rows
        if prototask.order != "retain":
            order = parse_case_numbers(files[f"{place}/{prototask.order}"], problems)
            assert sorted(order) == list(range(1, len(rows) + 1))
            ordered = [rows[number - 1] for number in order]
        expected = lines([*(row[column] for column in used), *mark(row)] for row in ordered)
        assert files[f"{place}/Prototask.data"] == expected
        largest = max(prototask.training_set_sizes)
        assert prototask.test_set_size + largest <= len(rows)
    assert list(problems) == []
