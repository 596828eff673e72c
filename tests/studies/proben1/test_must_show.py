"""PROBEN1's tables themselves: minutes of training, or seconds where a folder already has the runs.

REDELVE_STUDY_PROBEN1 may name a folder of `redelve study proben1 -o folder`: what it lacks is run and added.
"""

import os
from pathlib import Path

import pytest

from redelve.nets import Engine
from redelve.studies.proben1 import Compared, make_study
from redelve.studies.proben1.comparison_words import tally
from redelve.studies.proben1.printed import verdicts
from tests.data.proben1.genuine import FOLDER, needs_genuine

pytestmark = [pytest.mark.slow, needs_genuine]
Tables = dict[int, Compared]


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> Tables:
    folder = Path(os.environ.get("REDELVE_STUDY_PROBEN1") or tmp_path_factory.mktemp("proben1"))
    numbers = (3, 4, 8, 9, 10, 11, 12)
    engine = Engine(dtype="float32", threads=os.cpu_count())
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("REDELVE_PROBEN1", str(FOLDER))
        return {table.number: table for table in make_study(numbers, engine=engine, folder=folder).tables}


def agreeing(tables: Tables, numbers: tuple[int, ...], column: str) -> tuple[int, int]:
    found = tally((tables[number] for number in numbers), column)
    return found.agreeing, len(found.cells)


def test_linear_networks_have_the_printed_test_errors(tables: Tables) -> None:
    agree, all_of_them = agreeing(tables, (3, 4), "test")
    assert all_of_them == 42
    assert agree >= 40


def test_linear_networks_have_the_printed_classification_errors(tables: Tables) -> None:
    agree, all_of_them = agreeing(tables, (3,), "class")
    assert all_of_them == 30
    assert agree >= 27


@pytest.mark.parametrize("numbers", [(8, 9), (10, 11)])
def test_multilayer_networks_have_the_printed_test_errors(tables: Tables, numbers: tuple[int, ...]) -> None:
    agree, all_of_them = agreeing(tables, numbers, "test")
    assert all_of_them == 42
    assert agree >= 36


def test_both_architectures_agree_for_most_datasets(tables: Tables) -> None:
    missed = {cell.row for cell in tally((tables[number] for number in (8, 9, 10, 11)), "test").misses}
    assert 42 - len(missed) >= 36


def test_the_better_architecture_is_the_printed_one(tables: Tables) -> None:
    given = verdicts()
    telling = [choice for name, choice in tables[12].choices("better") if given[name].better]
    assert len(telling) == 32
    assert sum(choice.agrees for choice in telling) >= 26
