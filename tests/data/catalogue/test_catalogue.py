"""What holds for every dataset of the catalogue."""

from __future__ import annotations

import pytest

from redelve.data.catalogue import CATALOGUE
from redelve.data.catalogue.dataset_folder import lines, mark
from redelve.data.delve.case_lists import parse_case_numbers
from redelve.data.delve.dataset_spec import parse_dataset_spec
from redelve.data.delve.prior_files import check_covers, parse_prior
from redelve.data.delve.prototask_spec import parse_prototask_spec
from redelve.data.problems import Problems

SLOW = [name for name in CATALOGUE if name.startswith("bank-") and name != "bank-8nh"] + ["hiva", "sylva"]
PARAMETERS = [pytest.param(name, marks=pytest.mark.slow) if name in SLOW else name for name in CATALOGUE]


@pytest.fixture(params=PARAMETERS, scope="module")
def generated(request: pytest.FixtureRequest) -> tuple[str, dict[str, str]]:
    """A dataset's name and files."""
    return request.param, dict(CATALOGUE[request.param]())


def test_generating_twice_gives_the_same(generated: tuple[str, dict[str, str]]) -> None:
    name, files = generated
    assert CATALOGUE[name]() == files


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
    for folder in folders:
        prototask = parse_prototask_spec(files[f"{folder}/Prototask.spec"], folder, spec, problems)
        prior = parse_prior(files[f"{folder}/std.prior"], "std", spec, problems)
        check_covers(prior, prototask, spec, problems)
        used = [number - 1 for number in prototask.inputs + prototask.targets]
        ordered = rows
        if prototask.order != "retain":
            order = parse_case_numbers(files[f"{folder}/{prototask.order}"], problems)
            assert sorted(order) == list(range(1, len(rows) + 1))
            ordered = [rows[number - 1] for number in order]
        expected = lines([*(row[column] for column in used), *mark(row)] for row in ordered)
        assert files[f"{folder}/Prototask.data"] == expected
        largest = max(prototask.training_set_sizes)
        assert prototask.test_set_size + largest <= len(rows)
    assert list(problems) == []
