"""Descriptions: written for people, read strictly, never overwritten."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from redelve.data.tables import (
    ColumnDescription,
    Description,
    DesignChoice,
    read_description,
    write_description,
)
from redelve.data.tables.description import format_description, parse_description
from redelve.errors import FormatError, LocationError

texts = st.text(min_size=1, max_size=12).filter(lambda text: bool(text.strip()))
levels = st.lists(texts, min_size=2, max_size=40, unique=True).map(tuple)
sizes = st.lists(st.integers(1, 10**6), min_size=1, max_size=5, unique=True).map(tuple)
numeric = st.builds(
    ColumnDescription,
    texts,
    st.sampled_from(["input", "target"]),
    st.sampled_from(["integer", "real"]),
    st.sampled_from(["[0,Inf)", "0..Inf", "(-Inf,Inf) ?"]),
    reason=st.text(max_size=20),
)
angular = st.builds(
    ColumnDescription, texts, st.just("input"), st.just("angular"), unit=st.floats(1e-9, 1e9, allow_nan=False)
)
categorical = st.builds(
    ColumnDescription,
    texts,
    st.just("input"),
    st.sampled_from(["binary", "nominal", "ordinal"]),
    levels=levels,
    reason=st.text(max_size=20),
)
unused = st.builds(ColumnDescription, texts, st.sampled_from(["ignore", "group"]))
divided = st.builds(
    DesignChoice,
    st.sampled_from(["hierarchical", "common"]),
    sizes,
    st.integers(1, 10**6),
    st.integers(1, 100),
    order=texts,
)
folded = st.builds(
    DesignChoice,
    st.sampled_from(["cross-validation", "nested-cross-validation"]),
    folds=st.integers(3, 20),
    repetitions=st.integers(1, 20),
    stratify=st.booleans(),
    order=texts,
    reasons=st.just(("because\nof this",)),
)
descriptions = st.builds(
    Description,
    st.none() | texts,
    st.none() | texts,
    st.lists(numeric | angular | categorical | unused, unique_by=lambda column: column.name).map(tuple),
    st.none() | divided | folded,
    st.sampled_from(["natural", "cultivated", "simulated"]),
)


@given(descriptions)
def test_a_description_survives_being_written_and_read(description: Description) -> None:
    assert parse_description(format_description(description)) == description


def test_a_file_that_exists_is_never_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "data.toml"
    write_description(path, Description("first"))
    with pytest.raises(LocationError, match="exists already and may have been edited"):
        write_description(path, Description("second"))
    assert read_description(path).name == "first"
    write_description(path, Description("first"))  # as somebody does who began at the same moment


def test_reasons_are_comments() -> None:
    column = ColumnDescription("x", "ignore", reason="all values are missing")
    text = format_description(Description(columns=(column,), design=DesignChoice("common", (8,), 9, 2)))
    assert '[columns.x]\n# All values are missing.\nuse = "ignore"\n' in text


def test_a_few_lines_by_hand_suffice() -> None:
    described = parse_description('target = "price"\n[columns."date of sale"]\nuse = "ignore"\n')
    assert described == Description(None, "price", (ColumnDescription("date of sale", "ignore"),))


CV = '[design]\nselection = "cross-validation"\n'
COMMON = '[design]\nselection = "common"\n'
BAD: dict[str, tuple[str, int | None, str]] = {
    "no TOML": ("name = \n", 1, "not TOML: invalid value"),
    "an open text": ('name = "x', None, "not TOML"),
    "a key twice": ('name = "x"\nname = "y"\n', 2, "not TOML: cannot overwrite a value"),
    "a newer format": ("format = 2\n", 1, "format: this version of redelve reads format 1 but got 2"),
    "an unknown key": (
        'name = "x"\ntarjet = "y"\n',
        2,
        "tarjet: unknown key; known here are format, name, target",
    ),
    "a number for a name": ("name = 7\n", 1, "name: expected a text in quotes but got 7"),
    "an empty target": ('target = " "\n', 1, "target: expected a text in quotes"),
    "an unknown origin": ('origin = "internet"\n', 1, "origin: expected one of natural, cultivated"),
    "columns that are no table": ("columns = 3\n", 1, "columns: expected a table in brackets but got 3"),
    "a column that is no table": (
        "[columns]\nx = 3\n",
        2,
        "columns.x: expected a table in brackets but got 3",
    ),
    "an unknown key of a column": (
        '[columns.y]\nuse = "input"\n[columns."a b"]\nuse = "input"\ntyp = "real"\n',
        5,
        'columns."a b".typ: unknown key',
    ),
    "an unknown use": ('[columns.x]\nuse = "output"\n', 2, "columns.x.use: expected one of input, target"),
    "an unknown type": (
        '[columns.x]\ntype = "float"\n',
        2,
        "columns.x.type: expected one of binary, nominal",
    ),
    "a bad range": ('[columns.x]\ntype = "real"\nrange = "[0,1"\n', 3, "columns.x.range: bad interval"),
    "a range of categories": ('[columns.x]\ntype = "nominal"\nrange = "0..3"\n', 3, "a range is for numbers"),
    "levels of numbers": (
        '[columns.x]\ntype = "real"\nlevels = ["a", "b"]\n',
        3,
        "levels are for categories",
    ),
    "one level": ('[columns.x]\nlevels = ["a"]\n', 2, "list two levels or more"),
    "a level twice": ('[columns.x]\nlevels = ["a", "b", "a"]\n', 2, "each of them once"),
    "levels that are numbers": ("[columns.x]\nlevels = [1, 2]\n", 2, "a list of texts in quotes"),
    "an angle without unit": (
        '[columns.x]\ntype = "angular"\n',
        1,
        "columns.x.unit: the length of a full turn",
    ),
    "a unit without angle": ("[columns.x]\nunit = 360\n", 2, "columns.x.unit: the length of a full turn"),
    "a unit below 0": ('[columns.x]\ntype = "angular"\nunit = -1\n', 3, "a number above 0 but got -1"),
    "no selection": ("[design]\nfolds = 3\n", 1, "design.selection: it is missing"),
    "an unknown selection": (
        '[design]\nselection = "bootstrap"\n',
        2,
        "design.selection: expected one of hier",
    ),
    "folds and test sets": (CV + "folds = 5\nrepetitions = 1\ntest_set_size = 9\n", 5, "does not go with"),
    "sets and folds": (COMMON + "folds = 5\n", 3, "design.folds: this does not go with selection common"),
    "one fold": (CV + "folds = 1\nrepetitions = 1\n", 3, "a whole number from 2 to 10000 but got 1"),
    "a gap between folds": (CV + "gap = 1\n", 3, "this does not go with selection cross-validation"),
    "half a repetition": (CV + "folds = 2\nrepetitions = 0.5\n", 4, "but got 0.5"),
    "a word for a flag": (
        CV + 'folds = 2\nrepetitions = 1\nstratify = "yes"\n',
        5,
        'true or false but got "yes"',
    ),
    "no sizes": (COMMON + "training_set_sizes = []\n", 3, "a list of whole numbers above 0"),
    "a size of 0": (COMMON + "training_set_sizes = [0]\n", 3, "a list of whole numbers above 0"),
    "a size twice": (COMMON + "training_set_sizes = [8, 8]\ninstances = 2\n", 3, "expected each size once"),
    "a yes for a size": (COMMON + "training_set_sizes = [true]\n", 3, "a list of whole numbers above 0"),
    "too many instances": (COMMON + "training_set_sizes = [8]\ninstances = 99999\n", 4, "from 1 to 10000"),
}


@pytest.mark.parametrize(("text", "line", "message"), BAD.values(), ids=BAD)
def test_what_is_wrong_is_refused_with_file_line_and_key(
    tmp_path: Path, text: str, line: int | None, message: str
) -> None:
    path = tmp_path / "data.toml"
    path.write_text(text)
    with pytest.raises(FormatError) as caught:
        read_description(path)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)
    assert caught.value.path == str(path)
    assert caught.value.line == line


COLUMN_LINES = ["[columns.a]", '[columns."b c"]', 'use = "input"', "use = 3", 'levels = ["a", "b"]']
DESIGN_LINES = ["[design]", 'selection = "common"', "training_set_sizes = [8]", "folds = 3"]
ODD_LINES = ['target = "x"', "[[columns]]", "columns.a.use = 1", "a = {b = 1}", "= 2"]
LINES = st.sampled_from([*COLUMN_LINES, *DESIGN_LINES, *ODD_LINES])


@given(st.lists(LINES | st.text(max_size=8)).map("\n".join))
def test_no_text_leads_to_anything_but_a_description_or_our_error(text: str) -> None:
    try:
        parse_description(text)
    except FormatError as problem:
        assert len(str(problem).splitlines()) == 1


def test_a_number_with_too_many_digits_is_told() -> None:
    with pytest.raises(FormatError, match="4300 digits"):
        parse_description(f"case = {'9' * 5000}\n")
