from __future__ import annotations

import hashlib

import numpy as np
import pytest

from redelve.data.catalogue import CATALOGUE
from redelve.data.catalogue.demo import COLOURS, TARGETS, files, rows, working_probability
from redelve.data.catalogue.uniforms import Uniforms

FIGURE_3_3 = """\
Origin: artificial
Usage: development
Order: uninformative
Attributes:
 1 SEX      u male female # Sex of the person
 2 AGE      u [0,Inf)    # Age of the person in years
 3 SIBLINGS u 0..Inf     # Number of siblings the person has
 4 INCOME   u [0,Inf)    # The person's annual income (dollars)
 5 COLOUR   u pink blue red green purple # The person's favourite colour
"""
FIGURE_4_4_SPECIFICATION = """\
Cases: all
Inputs: 1 3 4 5
Order: retain
Origin: artificial
Targets: 2
Test-Set-Size: 1024
Training-Set-Sizes: 32 64 128 256 512
Test-Set-Selection: hierarchical
Maximum-Number-Of-Instances: 8
"""
FIGURE_4_4_PRIOR = "1 NLMH binary\n3 NLMH integer\n4 NLMH real\n5 NLMH nominal\n2 NLMH real\n"
PINNED = {
    "Dataset.data": "1acc4445e7ae5a4cbceecc1a06a9c237b72fd831282e384e5f966bd68a4b93d2",
}


def test_the_catalogue_knows_it() -> None:
    assert CATALOGUE["demo"] is files


def test_the_specifications_follow_the_manuals_figures_to_the_letter() -> None:
    demo = files()
    assert demo["Dataset.spec"] == FIGURE_3_3
    assert demo["age/Prototask.spec"] == FIGURE_4_4_SPECIFICATION
    assert demo["age/std.prior"] == FIGURE_4_4_PRIOR


def test_the_folder_holds_what_a_dataset_needs() -> None:
    assert sorted({name.split("/")[0] for name in files()}) == [
        "Dataset.data",
        "Dataset.spec",
        "Source",
        "Summary",
        "age",
        "colour",
        "income",
        "sex",
        "siblings",
    ]


@pytest.mark.parametrize("name", PINNED)
def test_the_cases_are_the_same_everywhere(name: str) -> None:
    assert hashlib.sha256(files()[name].encode()).hexdigest() == PINNED[name]


@pytest.mark.parametrize(("prototask", "target"), TARGETS.items())
def test_each_attribute_is_predicted_from_the_others(prototask: str, target: int) -> None:
    demo = files()
    used = [number for number in range(1, 6) if number != target] + [target]
    assert f"Inputs: {' '.join(map(str, used[:-1]))}\n" in demo[f"{prototask}/Prototask.spec"]
    assert f"Targets: {target}\n" in demo[f"{prototask}/Prototask.spec"]
    assert [int(line.split()[0]) for line in demo[f"{prototask}/std.prior"].splitlines()] == used
    expected = [" ".join(row[number - 1] for number in used) for row in rows()]
    assert demo[f"{prototask}/Prototask.data"].splitlines() == expected
    assert len(expected) == 2048


def test_the_values_are_in_their_ranges() -> None:
    for sex, age, siblings, income, colour in rows():
        assert sex in ("male", "female")
        assert float(age) >= 0
        assert int(siblings) >= 0
        assert float(income) >= 0
        assert colour in COLOURS


def test_the_cases_follow_the_published_rules() -> None:
    table = rows()
    females = np.array([row[0] == "female" for row in table])
    ages = np.array([float(row[1]) for row in table])
    # sd 40 and 30, so the mean of the absolute value is sd * sqrt(2 / pi); four standard errors allowed
    for chosen, deviation in ((females, 40), (~females, 30)):
        error = deviation * np.sqrt((1 - 2 / np.pi) / chosen.sum())
        assert abs(ages[chosen].mean() - deviation * np.sqrt(2 / np.pi)) < 4 * error
    assert abs(females.mean() - 0.53) < 4 * np.sqrt(0.53 * 0.47 / len(table))
    assert working_probability(40, female=False) == pytest.approx(0.9 / (1 + np.exp(-4)))
    assert working_probability(40, female=True) == pytest.approx(0.8 / (1 + np.exp(-5)))


def test_a_linear_method_explains_a_fifth_of_the_variance_of_age() -> None:
    table = rows()
    age = np.array([float(row[1]) for row in table])
    inputs = np.array(
        [
            [1.0, row[0] == "male", float(row[2]), float(row[3]), *(row[4] == name for name in COLOURS[1:])]
            for row in table
        ],
        dtype=float,
    )
    residuals = age - inputs @ np.linalg.lstsq(inputs, age, rcond=None)[0]
    assert 0.15 < 1 - residuals.var() / age.var() < 0.25
    assert age.var(ddof=1) == pytest.approx(489, rel=0.05)


def test_choice_never_falls_off_the_end() -> None:
    class Highest(Uniforms):
        def uniform(self) -> float:
            return 1.0

    assert Highest(0).choice(COLOURS, (0.1,) * 5) == "purple"
    assert Uniforms(1).choice(COLOURS, (0, 0, 1, 0, 0)) == "red"
