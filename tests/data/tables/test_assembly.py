"""From files and data frames to nouns: what becomes of the cases, and what is refused."""

import pickle
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyarrow import parquet

from redelve.data.delve.dataset_spec import read_dataset_spec, write_dataset_spec
from redelve.data.delve.prior_files import read_prior, write_prior
from redelve.data.delve.prototask_spec import read_prototask_spec, write_prototask_spec
from redelve.data.tables import (
    Intake,
    assignments_from_table,
    format_description,
    from_file,
    from_frame,
    read_description,
    write_description,
)
from redelve.data.tables.description import parse_description
from redelve.data.tables.table_files import Table, read_table, table_from_arrow
from redelve.errors import FormatError, RedelveError, SpecError
from redelve.model import Assignment, GappedColumn, LevelColumn, NumberColumn
from redelve.model.dataset import SelectedColumn
from redelve.model.designs import describe

pd = pytest.importorskip("pandas")


def columns(count: int, seed: int = 0) -> dict[str, Any]:
    random = np.random.default_rng(seed)
    city = random.choice(["Oslo", "New York", "Rome"], count)
    size = random.normal(50, 10, count).round(3)
    return {
        "size": size,
        "rooms": random.integers(1, 6, count),
        "city": city,
        "price": (3 * size + random.normal(size=count)).round(3),
    }


def frame(count: int, seed: int = 0) -> Any:
    return pd.DataFrame(columns(count, seed))


def table(values: dict[str, Any]) -> Table:
    return table_from_arrow(pa.table(values), "t.csv")


def sides(assignment: Assignment) -> list[tuple[set[int], set[int]]]:
    return [(set(one.training.tolist()), set(one.testing.tolist())) for one in assignment.instances]


# --- designs ----------------------------------------------------------------------------------------------


def test_three_hundred_rows_are_cross_validated(tmp_path: Path) -> None:
    path = tmp_path / "house prices.csv"
    frame(300).to_csv(path, index=False)
    intake = from_file(path, "price")
    (assignment,) = intake.assignments
    assert assignment.address == "/house_prices/price/std.270"
    assert (assignment.scheme, assignment.repetitions, len(assignment.instances)) == (
        "cross-validation",
        1,
        10,
    )
    for training, testing in sides(assignment):
        assert (len(training), len(testing)) == (270, 30)
        assert not training & testing
    notes = " ".join(assignment.notes)
    assert "training sets overlap" in notes
    assert "no unbiased standard error exists" in notes


def test_nine_thousand_rows_are_divided_in_powers_of_two() -> None:
    intake = from_frame(frame(9000), "price", name="houses")
    assert [one.task.training_set_size for one in intake.assignments] == [32, 64, 128, 256, 512]
    assert [len(one.instances) for one in intake.assignments] == [8, 8, 8, 8, 8]
    for assignment in intake.assignments:
        assert assignment.scheme == "hierarchical"
        assert describe(assignment.instances).caveats() == assignment.notes == ()
        used = [case for pair in sides(assignment) for side in pair for case in side]
        assert len(used) == len(set(used))


def test_six_hundred_rows_share_a_test_set() -> None:
    for assignment in from_frame(frame(600), "price").assignments:
        facts = describe(assignment.instances)
        assert (assignment.scheme, facts.test_sets, facts.training_sets) == ("common", "common", "disjoint")


def test_cases_are_in_a_random_order_that_depends_on_names_only() -> None:
    first, again = (from_frame(frame(1000), "price", name="a") for _ in range(2))
    other = from_frame(frame(1000), "price", name="b")
    numbers = [one.assignments[0].data.case_numbers.tolist() for one in (first, again, other)]
    assert numbers[0] == numbers[1] != numbers[2]
    assert sorted(numbers[2]) == list(range(1, 1001))
    assert first.assignments[0].digest == again.assignments[0].digest


@settings(max_examples=15)
@given(st.integers(10, 3000), st.integers(0, 9), st.booleans(), st.booleans())
def test_training_and_test_sets_are_always_apart(
    count: int,
    seed: int,
    grouped: bool,
    classes: bool,
) -> None:
    data = frame(count, seed)
    labels = np.random.default_rng(seed).integers(0, 1 + count // 3, count) if grouped else None
    if classes:
        data["price"] = np.where(np.arange(count) % 3 == 0, "low", "high")
    intake = from_frame(data, "price", groups=labels)
    for assignment in intake.assignments:
        for instance in assignment.instances:
            assert not set(instance.training.tolist()) & set(instance.testing.tolist())
            if labels is not None:
                numbers = assignment.data.case_numbers - 1
                own = [set(labels[numbers[side]].tolist()) for side in (instance.training, instance.testing)]
                assert not own[0] & own[1]
            if not assignment.scheme.endswith("cross-validation"):
                assert len(instance.training) == assignment.task.training_set_size
    if not intake.assignments[0].scheme.endswith("cross-validation"):
        assert all(describe(one.instances).training_sets == "disjoint" for one in intake.assignments)
    elif classes and not grouped:
        target = intake.assignments[0].data.cases.columns[-1].texts()
        assert all(len(set(target[one.training])) == 2 for one in intake.assignments[0].instances)


def test_groups_may_be_a_column_and_are_no_input() -> None:
    data = frame(3000)
    data["patient"] = np.arange(3000) // 5
    intake = from_frame(data, "price", groups="patient")
    assert intake.dataset.spec.has_commonality
    assert intake.prior.dependency is not None
    assert "patient" not in [attribute.name for attribute in intake.dataset.spec.attributes]
    assert intake.description.column("patient") is not None
    for assignment in intake.assignments:
        assert assignment.commonality is not None
        facts = describe(assignment.instances, assignment.commonality)
        assert not (facts.leaking)
        assert not (facts.groups_across_trainings)
        assert not (facts.groups_across_tests)
        assert len(assignment.instances) >= 4


def test_cases_without_a_group_are_told() -> None:
    data = frame(100)
    data["patient"] = [None, None, *(f"p{k // 2}" for k in range(98))]
    intake = from_frame(data, "price", groups="patient")
    assert "so described; 2 missing: each such case is a group of its own" in str(intake)
    commonality = intake.dataset.cases.commonality
    assert commonality is not None
    assert list(commonality[:2]) == [-1, -1]


def test_groups_may_be_a_column_of_a_file_and_its_description_remembers_them(tmp_path: Path) -> None:
    frame(300).assign(owner=np.arange(300) // 4).to_csv(tmp_path / "t.csv", index=False)
    first = from_file(tmp_path / "t.csv", "price", groups="owner")
    again = from_file(tmp_path / "t.csv", "price", groups="owner", description=first.description)
    silent = from_file(tmp_path / "t.csv", description=first.description)
    assert first.dataset.spec.has_commonality
    assert first.assignments[0].digest == again.assignments[0].digest == silent.assignments[0].digest


# --- what becomes of values -------------------------------------------------------------------------------


def test_csv_arff_and_parquet_of_the_same_data_are_the_same_dataset(tmp_path: Path) -> None:
    data = frame(450)
    data["sold"] = np.arange(450) % 2 == 0
    data.loc[::9, "size"] = np.nan
    data.loc[::7, "city"] = None
    data.to_csv(tmp_path / "t.csv", index=False)
    data.to_csv(tmp_path / "t.tsv.gz", index=False, sep="\t", na_rep="NA")
    data.to_parquet(tmp_path / "t.parquet")
    header = [
        "size real",
        "rooms integer",
        "city {Rome,'New York',Oslo}",
        "price numeric",
        "sold {True,False}",
    ]
    rows = data.to_csv(index=False, header=False, na_rep="?").replace("New York", "'New York'")
    lines = ["@relation t", *(f"@attribute {line}" for line in header), "@data", rows]
    (tmp_path / "t.arff").write_text("\n".join(lines))
    names = ("t.csv", "t.tsv.gz", "t.parquet", "t.arff")
    intakes = [from_file(tmp_path / name, "price", name="t") for name in names]
    intakes.append(from_frame(data, "price", name="t"))
    assert len({intake.dataset.digest for intake in intakes}) == 1
    assert len({intake.assignments[0].digest for intake in intakes}) == 1
    assert len({intake.prior.digest for intake in intakes}) == 1


def test_numbers_are_held_as_numbers_unless_some_are_missing() -> None:
    data = frame(50)
    data.loc[3, "size"] = np.nan
    intake = from_frame(data, "price")
    size, rooms, city, price = intake.dataset.cases.columns
    assert isinstance(rooms, NumberColumn)
    assert isinstance(price, NumberColumn)
    assert isinstance(size, GappedColumn)
    assert isinstance(city, LevelColumn)
    np.testing.assert_array_equal(size.numbers(), data["size"])
    assert np.isnan(city.numbers()).all()
    assert size.texts()[3] == "?"
    assert float(size.texts()[4]) == data["size"][4]
    ranges = [str(attribute.range) for attribute in intake.dataset.spec.attributes]
    assert ranges == ["[0,Inf) ?", "0..Inf", "New_York Oslo Rome", "[0,Inf)"]


def test_every_value_is_in_the_range_of_its_attribute() -> None:
    data = frame(60)
    data["odd"] = ["1st", "-", "a#b", "x..y", "(z", "?no", "12:", "né", "a,b", "tab\tbed"] * 6
    intake = from_frame(data, "price")
    for attribute, column in zip(intake.dataset.spec.attributes, intake.dataset.cases.columns, strict=True):
        assert all(attribute.range.contains(text) for text in column.texts())


def test_odd_names_and_values_are_altered_reversibly_and_it_is_said() -> None:
    data = frame(40).rename(columns={"city": "city of birth", "rooms": "1990"})
    intake = from_frame(data, "price")
    attributes = {attribute.name: attribute for attribute in intake.dataset.spec.attributes}
    assert set(attributes) == {"size", "x1990", "city_of_birth", "price"}
    assert attributes["city_of_birth"].description == '"city of birth" in the table; New_York is "New York"'
    assert 'attribute x1990: "1990" in the table' in intake.left_out


def test_the_nouns_can_be_written_as_delve_specifications_and_read_again() -> None:
    data = frame(500).rename(columns={"city": "city of birth"})
    data["grade"] = pd.Categorical(
        ["low", "mid", "high"] * 166 + ["low"] * 2, ["low", "mid", "high"], ordered=True
    )
    intake = from_frame(data, "price", groups=np.arange(500) // 2)
    spec = intake.dataset.spec
    assert read_dataset_spec(write_dataset_spec(spec), spec.name, "Dataset.spec") == spec
    prototask, prior = intake.prototask, intake.prior
    text = write_prototask_spec(prototask)
    assert read_prototask_spec(text, prototask.name, spec, "Prototask.spec") == prototask
    assert read_prior(write_prior(prior), prior.name, spec, "std.prior") == prior


def test_ordered_categories_stay_in_order_and_declared_levels_that_never_occur_are_dropped() -> None:
    data = frame(40)
    order = ["tiny", "small", "large", "never"]
    data["grade"] = pd.Categorical(["large", "small", "tiny", "small"] * 10, order, ordered=True)
    intake = from_frame(data, "grade")
    assert intake.description.column("grade").type == "ordinal"  # type: ignore[union-attr]
    assert str(intake.dataset.spec.attribute("grade").range) == "tiny small large"


def test_rows_without_target_are_left_out_and_counted() -> None:
    data = frame(100)
    data.loc[:9, "price"] = np.nan
    intake = from_frame(data, "price")
    assert intake.dataset.cases.count == 90
    assert '10 of 100 rows lack the target "price" and are left out' in intake.left_out


def test_ignored_columns_are_listed_with_their_reasons() -> None:
    data = frame(100)
    data["id"] = np.arange(100) * 7
    data["note"] = [f"note {number}" for number in range(100)]
    left_out = from_frame(data, "price").left_out
    assert any(note.startswith('column "id" is ignored: whole numbers that all differ') for note in left_out)
    assert any(note.startswith('column "note" is ignored: all texts differ') for note in left_out)


def test_twins_in_training_and_test_sets_are_counted() -> None:
    data = pd.concat([frame(150), frame(150)], ignore_index=True)
    (assignment,) = from_frame(data, "price").assignments
    (note,) = [note for note in assignment.notes if "twin" in note]
    assert note.split()[1:3] == ["of", "300"]
    assert 240 < int(note.split()[0]) < 300  # each case's only twin is in another fold nine times out of ten
    assert not any("twin" in note for note in from_frame(frame(300), "price").assignments[0].notes)


def test_twins_in_one_group_do_no_harm() -> None:
    data = pd.concat([frame(150), frame(150)], ignore_index=True)
    intake = from_frame(data, "price", groups=np.arange(300) % 150)
    assert not any("twin" in note for note in intake.assignments[0].notes)


def test_training_sets_without_some_class_are_counted() -> None:
    data = frame(1000)
    data["price"] = np.where(np.arange(1000) % 200 == 0, "rare", "common")
    notes = from_frame(data, "price").assignments[0].notes
    assert any("training sets have no case of some class" in note for note in notes)


def test_an_assignment_can_be_sent_to_another_process() -> None:
    (assignment,) = from_frame(frame(120), "price").assignments
    again = pickle.loads(pickle.dumps(assignment))
    assert again.digest == assignment.digest
    assert isinstance(again.data.cases.columns[0], SelectedColumn)


# --- descriptions -----------------------------------------------------------------------------------------


def test_what_was_understood_can_be_written_read_and_used_again(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    frame(300).to_csv(path, index=False)
    first = from_file(path, "price")
    write_description(tmp_path / "t.toml", first.description)
    assert read_description(tmp_path / "t.toml") == first.description
    again = from_file(path, description=tmp_path / "t.toml")
    assert again.dataset.digest == first.dataset.digest
    assert again.description == first.description
    assert [one.digest for one in again.assignments] == [one.digest for one in first.assignments]


@pytest.mark.parametrize("rows", [100, 300, 900])
def test_the_reasons_for_a_design_are_told_again_unless_it_was_changed(rows: int, tmp_path: Path) -> None:
    path = tmp_path / "t.toml"
    first = from_frame(frame(rows), "price")
    write_description(path, first.description)
    again = from_frame(frame(rows), description=path)
    assert again.description.design is not None
    assert first.description.design is not None
    assert again.description.design.reasons == first.description.design.reasons != ()
    assert str(again).splitlines()[-1] == str(first).splitlines()[-1]
    folds = (
        path.read_text().partition("[design]")[0] + '[design]\nselection = "cross-validation"\nfolds = 7\n'
    )
    changed = from_frame(frame(rows), description=parse_description(folds, "t.toml"))
    assert changed.description.design is not None
    assert changed.description.design.reasons == (
        "every case trains and tests in turn, in 7 folds, as asked",
    )


def described(data: Any, text: str, target: str | None = None) -> Intake:
    return from_frame(data, target, description=parse_description(text, "d.toml"))


def test_a_description_overrides_what_would_be_inferred() -> None:
    data = frame(300)
    data["id"] = np.arange(300) * 7
    data["angle"] = np.arange(300) % 360
    intake = described(
        data,
        'name = "flats"\ntarget = "rooms"\norigin = "cultivated"\n'
        '[columns.rooms]\nuse = "target"\ntype = "nominal"\n'
        '[columns.id]\nuse = "input"\n[columns.size]\nuse = "ignore"\n'
        '[columns.price]\nrange = "[0,1000]"\n'
        '[columns.city]\nlevels = ["Rome", "Oslo", "New York", "Paris"]\ntype = "ordinal"\n'
        '[columns.angle]\ntype = "angular"\nunit = 360\n'
        '[design]\nselection = "common"\ntraining_set_sizes = [50, 20]\ntest_set_size = 100\ninstances = 3\n',
    )
    spec = intake.dataset.spec
    assert (spec.name, spec.origin) == ("flats", "cultivated")
    assert [attribute.name for attribute in spec.attributes] == ["rooms", "city", "price", "id", "angle"]
    assert str(spec.attribute("city").range) == "Rome Oslo New_York Paris"
    assert str(spec.attribute("price").range) == "[0,1000]"
    types = [intake.prior.attribute(number).type for number in range(1, 6)]
    assert types == ["nominal", "ordinal", "real", "integer", "angular"]
    assert intake.prior.attribute(5).unit == 360
    assert [one.address for one in intake.assignments] == ["/flats/rooms/std.20", "/flats/rooms/std.50"]
    assert [len(one.instances) for one in intake.assignments] == [3, 3]


def test_another_order_gives_other_sets() -> None:
    design = '[design]\nselection = "cross-validation"\nfolds = 5\nrepetitions = 1\norder = "{}"\n'
    one, two = (described(frame(100), design.format(name), "price") for name in ("standard", "mine"))
    assert one.dataset.digest == two.dataset.digest
    assert one.assignments[0].instances != two.assignments[0].instances


def test_dates_may_be_ignored_by_description() -> None:
    data = frame(60)
    data["day"] = pd.date_range("2020-01-01", periods=60)
    intake = described(data, '[columns.day]\nuse = "ignore"\n', "price")
    assert 'column "day" is ignored: so described' in intake.left_out


# --- refusals ---------------------------------------------------------------------------------------------

FOLDS = '[design]\nselection = "cross-validation"\nfolds = {}\nrepetitions = 1\n'
BAD_DESCRIPTIONS: dict[str, tuple[str, str | None, str]] = {
    "an unknown column": (
        '[columns.sise]\nuse = "ignore"\n',
        "price",
        "d.toml: columns.sise: the data frame has no",
    ),
    "two targets": ('target = "size"\n', "price", 'the target argument says "price" but the description'),
    "two columns as target": (
        '[columns.size]\nuse = "target"\n[columns.city]\nuse = "target"\n',
        None,
        "only one can",
    ),
    "no target": ("", None, "no target is given: name the column to predict"),
    "an unknown target": ("", "prize", 'has no column "prize" (did you mean "price"?): it has size, '),
    "an ignored target": (
        '[columns.price]\nuse = "ignore"\n',
        "price",
        "is the target, but its description says",
    ),
    "everything ignored": (
        "".join(f'[columns.{name}]\nuse = "ignore"\n' for name in ("size", "rooms", "city")),
        "price",
        "no column is left as an input",
    ),
    "a value not among the levels": (
        '[columns.city]\nlevels = ["Oslo", "Rome"]\n',
        "price",
        '"New York", which is not',
    ),
    "a value out of range": (
        '[columns.size]\ntype = "real"\nrange = "[0,1]"\n',
        "price",
        'not in its range "[0,1]"',
    ),
    "a type that does not fit": ('[columns.city]\ntype = "real"\n', "price", "is no number"),
    "more folds than cases": (FOLDS.format(101), "price", "101 folds of 100 cases: give from 2 to 100"),
    "stratified numbers": (FOLDS.format(5) + "stratify = true\n", "price", "needs a target with classes"),
    "no room for training": (
        '[design]\nselection = "common"\ntraining_set_sizes = [64]\ntest_set_size = 50\ninstances = 2\n',
        "price",
        "too few for a training set of 64",
    ),
}


@pytest.mark.parametrize(("text", "target", "message"), BAD_DESCRIPTIONS.values(), ids=BAD_DESCRIPTIONS)
def test_descriptions_that_do_not_fit_are_refused(text: str, target: str | None, message: str) -> None:
    with pytest.raises(RedelveError) as caught:
        described(frame(100), text, target)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def _frame_with(**changes: Any) -> Any:
    return frame(100).assign(**changes)


BAD_FRAMES: dict[str, tuple[Any, str]] = {
    "a list": ([[1, 2]], "expected a pandas DataFrame but got list"),
    "no rows": (frame(100)[:0], "no rows"),
    "few rows": (frame(9), "only 9 cases with a known target: at least 10"),
    "dates to predict": (
        _frame_with(price=pd.date_range("2020", periods=100)),
        'column "price" holds dates or times',
    ),
    "spans of time to predict": (
        _frame_with(price=pd.timedelta_range("1D", periods=100)),
        'column "price" holds dates or times',
    ),
    "infinite numbers": (_frame_with(size=np.inf), 'column "size" has infinite values'),
    "one class": (_frame_with(price="a"), 'has only the value "a": it can\'t be the target'),
    "a class of one": (_frame_with(price=["a"] + ["b"] * 99), 'class "a" of the target has 1 case'),
    "half the target missing": (_frame_with(price=[1.0] * 49 + [None] * 51), "missing in 51 of 100 rows"),
    "no target at all": (_frame_with(price=None), "missing in 100 of 100 rows"),
    "the target alone": (frame(100)[["price"]], "no column is left as an input"),
    "a name twice": (
        frame(100).rename(columns={"size": "city"}),
        'column name "city" is used more than once',
    ),
    "an empty name": (frame(100).rename(columns={"size": ""}), "column 1 has no name"),
    "names of levels": (frame(100).T.set_index([["a"] * 4, list("abcd")]).T, "names of several levels"),
}


@pytest.mark.parametrize(("data", "message"), BAD_FRAMES.values(), ids=BAD_FRAMES)
def test_frames_that_can_not_be_used_are_refused(data: Any, message: str) -> None:
    with pytest.raises(RedelveError) as caught:
        from_frame(data, "price")
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("groups", "message"),
    [
        ([1, 2], "2 group labels are given for 100 rows"),
        ("patient", 'has no column "patient"'),
        ("price", 'is the target, but its description says use = "group"'),
        ([None] * 100, "is to tell the groups but has no values"),
        (["a"] * 100, "all cases are in one group"),
        ([[1]] * 50 + [{}] * 50, "give a list of texts or whole numbers"),
    ],
)
def test_groups_that_make_no_sense_are_refused(groups: Any, message: str) -> None:
    with pytest.raises(SpecError) as caught:
        from_frame(frame(100), "price", groups=groups)
    assert message in str(caught.value)


def test_mixed_objects_of_a_frame_are_texts() -> None:
    data = _frame_with(size=[1, "a", 2.5, None] * 25)
    column = from_frame(data, "price").description.column("size")
    assert column is not None
    assert column.levels == ("1", "2.5", "a")


def test_an_arrow_table_will_do() -> None:
    arrow = pa.table(columns(50))
    assert from_frame(arrow, "price").dataset.digest == from_frame(frame(50), "price").dataset.digest


def test_dates_in_a_parquet_file_are_left_out_and_told(tmp_path: Path) -> None:
    days = pa.array(range(50), pa.int32()).cast(pa.date32())
    parquet.write_table(pa.table({**columns(50), "day": days}), tmp_path / "t.parquet")
    made = from_file(tmp_path / "t.parquet", "price")
    (told,) = [one for one in made.left_out if '"day"' in one]
    assert told.startswith(
        'column "day" is ignored: dates, 1970-01-01 to 1970-02-19, are no input as they are'
    )


def test_dates_are_in_the_frame_alone_unless_the_user_ignores_them(tmp_path: Path) -> None:
    days = pa.array(range(50), pa.int32()).cast(pa.date32())
    parquet.write_table(pa.table({**columns(50), "day": days}), tmp_path / "t.parquet")
    intake = from_file(tmp_path / "t.parquet", "price")
    column = intake.description.column("day")
    assert column is not None
    assert (column.use, column.in_frame) == ("ignore", True)
    (note,) = (one for one in intake.left_out if one.startswith('column "day" is ignored: dates'))
    assert note.endswith("only estimators and functions, which get your columns as they are, see it")
    own = intake.assignments[0].own
    assert own is not None
    assert list(own.inputs(np.arange(2)).columns) == ["size", "rooms", "city", "day"]
    (tmp_path / "t.toml").write_text('[columns.day]\nuse = "ignore"\n')
    described = from_file(tmp_path / "t.parquet", "price", description=tmp_path / "t.toml").assignments[0].own
    assert described is not None
    assert list(described.inputs(np.arange(2)).columns) == ["size", "rooms", "city"]


@pytest.mark.parametrize(
    "values",
    [[[1]] * 100, [1j] * 100, pd.timedelta_range("1D", periods=100)],
    ids=["lists", "complex numbers", "spans of time"],
)
def test_what_is_neither_number_nor_text_is_in_the_frame_alone(values: Any) -> None:
    column = from_frame(_frame_with(many=values), "price").description.column("many")
    assert column is not None
    assert (column.use, column.in_frame) == ("ignore", True)


def test_a_description_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(RedelveError, match="no such file"):
        from_frame(frame(50), "price", description=tmp_path / "none.toml")


def test_a_hundred_thousand_rows_take_seconds(tmp_path: Path) -> None:
    random = np.random.default_rng(1)
    data: dict[str, Any] = {f"x{number}": random.normal(size=100_000) for number in range(24)}
    data |= {f"c{number}": random.choice(["a", "b", "c"], 100_000) for number in range(5)}
    path = tmp_path / "big.csv"
    from pyarrow import csv

    csv.write_csv(pa.table({**data, "y": random.normal(size=100_000)}), path)
    start = time.perf_counter()
    intake = assignments_from_table(read_table(path), "y", name="big")
    assert len(intake.assignments) == 5
    assert time.perf_counter() - start < 20  # about two on a quiet machine


def test_pandas_is_not_imported_by_the_intake() -> None:
    code = "import sys; import redelve.data.tables; print('pandas' in sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "False"


def test_the_description_tells_its_reasons() -> None:
    text = format_description(from_frame(frame(300), "price").description)
    assert "# Whole numbers, 5 different.\n" in text
    assert "# 300 cases are fewer than 400" in text
    with pytest.raises(FormatError, match="not TOML"):
        parse_description(text + "=")
