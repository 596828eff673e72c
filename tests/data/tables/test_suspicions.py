"""Suspicion at the door: what is wrong is said with its cure, and ordinary tables raise no alarm."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn import datasets

from redelve.data.tables import from_file, from_frame, read_description, write_description
from redelve.data.tasks import task
from redelve.errors import SpecError

RANDOM = np.random.default_rng(5)
COUNT = 300


def ordinary(random: np.random.Generator, count: int) -> pd.DataFrame:
    """Inputs of many kinds that have something, but not all, to do with the target."""
    size = random.normal(60, 15, count)
    return pd.DataFrame(
        {
            "size": size.round(1),
            "rooms": random.integers(1, 6, count),
            "income": random.lognormal(10, 1, count).round(),
            "city": random.choice(["Oslo", "Rome", "Bonn"], count),
            "share": random.beta(0.5, 0.5, count).round(2),
            "visits": random.poisson(0.3, count),
            "gap": np.where(random.random(count) < 0.1, np.nan, random.normal(size=count)),
            "price": (3 * size + random.normal(0, 20, count)).round(2),
        }
    )


DATA = ordinary(RANDOM, COUNT)
CLASSES = DATA.assign(price=np.where(DATA["price"] > 200, "dear", "cheap"))
HIGH = DATA["price"] > 200

GIVING_AWAY = {
    "the target itself": (DATA.assign(copy=DATA["price"]), "is equal to the target"),
    "in another currency": (DATA.assign(copy=(DATA["price"] * 1.17).round(1)), "same order"),
    "a rising function of it": (DATA.assign(copy=np.log(DATA["price"].clip(1) + 900)), "same order"),
    "a falling one": (DATA.assign(copy=-DATA["price"]), "reverse order"),
    "other names": (CLASSES.assign(copy=np.where(HIGH, "yes", "no")), "a value of its own"),
    "other numbers": (CLASSES.assign(copy=np.where(HIGH, 7, 3)), "a value of its own"),
    "several levels for a class": (
        CLASSES.assign(copy=np.where(HIGH, RANDOM.choice(["a", "b"], COUNT), "c")),
        "alone tells the target",
    ),
    "a number with a threshold": (CLASSES.assign(copy=DATA["price"]), "by thresholds"),
    "missing for one class alone": (
        CLASSES.assign(copy=pd.Series(RANDOM.choice(["a", "b"], COUNT)).mask(HIGH)),
        "alone tells the target",
    ),
}


@pytest.mark.parametrize(("frame", "words"), GIVING_AWAY.values(), ids=GIVING_AWAY)
def test_an_input_that_gives_the_target_away_is_named_with_its_cure(frame: pd.DataFrame, words: str) -> None:
    made = from_frame(frame, "price")
    (warning,) = made.warnings
    assert 'column "copy"' in warning
    assert words in warning
    assert '--ignore "copy", ignore="copy"' in warning
    assert all(warning in one.notes for one in made.assignments)
    assert f"Warning: {warning}" in str(made)
    cured = from_frame(frame, "price", ignore="copy")
    assert not cured.warnings
    assert "copy" not in {one.name for one in cured.dataset.spec.attributes}


ODD_NUMBERS = {
    "-999": (np.where(RANDOM.random(COUNT) < 0.05, -999, RANDOM.integers(18, 90, COUNT)), -999),
    "9999": (np.where(RANDOM.random(COUNT) < 0.05, 9999, RANDOM.normal(100, 9, COUNT)), 9999),
    "-1": (np.where(RANDOM.random(COUNT) < 0.05, -1, RANDOM.integers(18, 60, COUNT)), -1),
}


@pytest.mark.parametrize(("values", "code"), ODD_NUMBERS.values(), ids=ODD_NUMBERS)
def test_a_code_far_from_the_rest_is_named_with_its_cure(values: np.ndarray, code: int) -> None:
    frame = DATA.assign(age=values)
    (warning,) = from_frame(frame, "price").warnings
    assert f'column "age" is {code} {(values == code).sum()} times' in warning
    assert f'--missing "age={code}", missing={{"age": {code}}}' in warning
    for missing in (code, [code], str(code), {"age": code}, f"age={code}"):
        cured = from_frame(frame, "price", missing=missing)
        assert not cured.warnings
        age = cured.dataset.cases.columns[cured.dataset.spec.attribute("age").number - 1]
        np.testing.assert_array_equal(age.numbers(), np.where(values == code, np.nan, values))


def test_a_code_in_the_target_leaves_its_rows_out() -> None:
    frame = DATA.assign(price=np.where(RANDOM.random(COUNT) < 0.05, -999.0, DATA["price"]))
    assert "is -999" in from_frame(frame, "price").warnings[0]
    cured = from_frame(frame, "price", missing={"price": -999})
    assert cured.dataset.cases.count == (frame["price"] != -999).sum()


@pytest.mark.parametrize(
    ("values", "words"),
    [
        (RANDOM.permutation(COUNT) + 1000, "has every number from 1000 to 1299 once"),
        (np.cumsum(RANDOM.integers(1, 9, COUNT)) + 20000, "rises from row to row"),
    ],
)
def test_a_counter_is_named(values: np.ndarray, words: str) -> None:
    (warning,) = from_frame(DATA.assign(ticket=values), "price").warnings
    assert f'column "ticket" {words}' in warning
    assert '--ignore "ticket"' in warning
    assert 'design="time"' in warning


def test_copies_of_rows_do_not_make_inputs_tell_the_target() -> None:
    assert not from_frame(pd.concat([DATA] * 3), "price").warnings


@pytest.mark.parametrize("name", ["iris", "wine", "breast_cancer", "digits", "diabetes"])
def test_well_known_data_raise_no_alarm(name: str) -> None:
    loaded = getattr(datasets, f"load_{name}")(as_frame=True)
    frame = loaded.frame
    if name != "diabetes":
        frame["target"] = frame["target"].astype("category")
    assert from_frame(frame, "target").warnings == ()


def test_alarms_are_rare_on_ordinary_tables() -> None:
    # 200 tables of 8 columns, half of them classification, a third of them tiny or with a rare class
    random = np.random.default_rng(11)
    alarms = 0
    for number in range(200):
        count = (24, 60, 300)[number % 3]
        frame = ordinary(random, count)
        if number % 2:
            frame["price"] = np.where(frame["price"] > np.quantile(frame["price"], 0.85), "dear", "cheap")
        alarms += bool(from_frame(frame, "price").warnings)
    assert alarms == 0


def test_options_are_kept_in_the_description(tmp_path: Path) -> None:
    path = tmp_path / "flats.csv"
    path.write_bytes(DATA.assign(city="Köln ", age=-9.5).to_csv(sep=";", decimal=",").encode("latin-1"))
    text = path.read_bytes().replace(b"-9,5", b"oops", 9)
    path.write_bytes(text.replace(b";size", b"nr;size", 1))
    made = from_file(path, "price", ignore=["nr"], missing={"age": "oops"}, encoding="latin-1", decimal=",")
    write_description(tmp_path / "flats.toml", made.description)
    said = read_description(tmp_path / "flats.toml")
    assert (said.missing, said.encoding, said.decimal) == (("age=oops",), "latin-1", ",")
    again = from_file(path, description=tmp_path / "flats.toml")
    assert [one.digest for one in again.assignments] == [one.digest for one in made.assignments]
    assert not made.warnings


def test_options_that_make_no_sense_are_refused() -> None:
    with pytest.raises(SpecError, match=r'has no column "sise" \(did you mean "size"\?\): it has'):
        from_frame(DATA, "price", ignore="sise")
    with pytest.raises(SpecError, match='"-77" is to be missing, but no column has such value'):
        from_frame(DATA, "price", missing=-77)
    with pytest.raises(SpecError, match='"-77" is to be missing, but column "size" has no such value'):
        from_frame(DATA, "price", missing={"size": -77})
    with pytest.raises(SpecError, match="encoding='latin-1' is for files only"):
        task(DATA, "price", encoding="latin-1")
    with pytest.raises(SpecError, match="ignore='x' is for tables and data frames only"):
        task("demo/age", ignore="x")


def test_a_class_of_one_case_is_refused_with_the_option_that_leaves_it_out() -> None:
    frame = CLASSES.assign(price=["odd", *CLASSES["price"][1:]])
    with pytest.raises(SpecError, match='missing="odd"'):
        from_frame(frame, "price")
    assert from_frame(frame, "price", missing="odd").dataset.cases.count == COUNT - 1
