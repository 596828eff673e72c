"""What a column is taken for, and why."""

from collections.abc import Sequence
from typing import Any
from urllib.parse import quote

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from redelve.data.tables.table_columns import (
    LONGEST_NAME,
    ColumnFacts,
    as_type,
    attribute_names,
    former_name,
    infer_input,
    infer_target,
    legal_name,
    written_levels,
)
from redelve.data.tables.table_files import Kind, TableColumn
from redelve.errors import SpecError
from redelve.model import is_missing, is_value, parse_range
from redelve.text_numbers import is_integer

WORDS = [f"word{number}" for number in range(40)]


def facts(values: Sequence[Any], kind: Kind = "text", name: str = "x") -> ColumnFacts:
    levels = (
        tuple(dict.fromkeys(value for value in values if value)) if kind in ("categories", "ordered") else ()
    )
    return ColumnFacts(TableColumn(name, pa.array(values), kind, levels))


# values, kind, name → use, type, range or levels, a piece of the reason
INPUTS: dict[str, tuple[Sequence[Any], Kind, str, str, str | None, object, str]] = {
    "fractions": (["1.5", "-2", "3"] * 9, "text", "x", "input", "real", "(-Inf,Inf)", "numbers, 3 different"),
    "positive fractions": (["1.5", "0", "3"] * 9, "text", "x", "input", "real", "[0,Inf)", "numbers"),
    "counts": (["1", "2", "3e0"] * 9, "text", "x", "input", "integer", "0..Inf", "whole numbers, 3"),
    "whole numbers below 0": (["-1", "2", "5"] * 9, "text", "x", "input", "integer", "-Inf..Inf", "whole"),
    "whole floats": ([1.0, 2.0, 3.0] * 9, "number", "x", "input", "integer", "0..Inf", "whole numbers"),
    "enormous numbers": ([1e17, 2e17, 3e17] * 9, "number", "x", "input", "real", "[0,Inf)", "numbers"),
    "with missing ones": (["1", None, "3", "4"] * 9, "text", "x", "input", "integer", "0..Inf", "9 missing"),
    "two numbers": (["1.0", "0", "1"] * 9, "text", "x", "input", "binary", ("0", "1"), "two different"),
    "two words": (["yes", "no", None] * 9, "text", "x", "input", "binary", ("no", "yes"), "9 missing"),
    "words": (["b", "a", "C"] * 9, "text", "x", "input", "nominal", ("a", "b", "C"), "text with 3"),
    "codes": (["007", "10", "9"] * 9, "text", "x", "input", "nominal", ("007", "9", "10"), "text with 3"),
    "declared": (["b", "a", "c"] * 9, "categories", "x", "input", "nominal", ("a", "b", "c"), "declared"),
    "declared numbers": (
        ["10", "9", "8"] * 9,
        "categories",
        "x",
        "input",
        "nominal",
        ("8", "9", "10"),
        "decl",
    ),
    "declared pair": (["b", "a"] * 9, "categories", "x", "input", "binary", ("a", "b"), "declared"),
    "ordered": (["low", "high"] * 9, "ordered", "x", "input", "ordinal", ("low", "high"), "declared"),
    "distinct fractions": (
        [f"{n}.5" for n in range(30)],
        "text",
        "id",
        "input",
        "real",
        "[0,Inf)",
        "numbers",
    ),
    "distinct counts": ([str(n * n) for n in range(30)], "text", "x", "input", "integer", "0..Inf", "whole"),
    "an identifier": (
        [str(n * n) for n in range(30)],
        "text",
        "PatientId",
        "ignore",
        None,
        None,
        "identifier",
    ),
    "another": ([str(n * n) for n in range(30)], "text", "case_ID", "ignore", None, None, "identifier"),
    "row numbers": ([str(n) for n in range(1, 31)], "text", "x", "ignore", None, None, "counts the rows"),
    "names": (WORDS, "text", "x", "ignore", None, None, "all texts differ"),
    "many words": (WORDS * 3, "text", "x", "ignore", None, None, "40 different texts are too many"),
    "nothing": ([None] * 9, "text", "x", "ignore", None, None, "all values are missing"),
    "one word": (["a", None, "a"], "text", "x", "ignore", None, None, 'every known value is "a"'),
    "dates": ([f"2020-01-{n:02}" for n in range(1, 29)], "text", "x", "ignore", None, None, "are dates"),
    "commas": ([f"{n},5" for n in range(28)], "text", "x", "ignore", None, None, "numbers with a comma"),
    "a typo": (
        [*map(str, range(40)), "4o"],
        "text",
        "x",
        "ignore",
        None,
        None,
        'most values are numbers but "4o"',
    ),
}


@pytest.mark.parametrize("case", INPUTS.values(), ids=INPUTS)
def test_inputs_are_inferred(case: tuple[Sequence[Any], Kind, str, str, str | None, object, str]) -> None:
    values, kind, name, use, inferred, allowed, reason = case
    got = infer_input(facts(values, kind, name))
    assert (got.use, got.type, got.range or got.levels) == (use, inferred, allowed)
    assert reason in got.reason


TARGETS: dict[str, tuple[Sequence[Any], Kind, str, str]] = {
    "numbers": (["1.5", "2", "3"], "text", "real", "regression"),
    "counts": ([str(n) for n in range(1, 31)], "text", "integer", "30 different, so the task is regression"),
    "few counts": (
        ["1", "2", "3"] * 9,
        "text",
        "integer",
        'if they stand for classes, write type = "nominal"',
    ),
    "two numbers": (["1", "2", "1"] * 9, "text", "binary", "2 classes, so the task is classification"),
    "words": (["a", "b", "c"] * 9, "text", "nominal", "3 classes"),
    "declared numbers": (["1", "2", "3"] * 9, "categories", "nominal", "3 classes"),
    "ordered": (["a", "b", "c"] * 9, "ordered", "ordinal", "3 classes"),
}


@pytest.mark.parametrize("case", TARGETS.values(), ids=TARGETS)
def test_targets_are_inferred(case: tuple[Sequence[Any], Kind, str, str]) -> None:
    values, kind, inferred, reason = case
    got = infer_target(facts(values, kind))
    assert (got.use, got.type) == ("target", inferred)
    assert reason in got.reason


BAD_TARGETS: dict[str, tuple[Sequence[Any], Kind, str]] = {
    "one value": (["a", "a"], "text", 'only the value "a"'),
    "names": (WORDS, "text", "all texts differ"),
    "dates": (["2020-01-01", "2020-01-02"], "date", "holds dates or times"),
    "lists": ([None, None], "other", "neither numbers nor texts"),
    "infinite": ([1.0, np.inf, 2.0], "number", "infinite"),
    "commas": ([f"{n},5" for n in range(28)], "text", "numbers with a comma"),
}


@pytest.mark.parametrize("case", BAD_TARGETS.values(), ids=BAD_TARGETS)
def test_what_can_not_be_a_target_is_refused(case: tuple[Sequence[Any], Kind, str]) -> None:
    values, kind, message = case
    with pytest.raises(SpecError, match='column "x"') as caught:
        infer_target(facts(values, kind))
    assert message in str(caught.value)


BAD_TYPES: dict[str, tuple[Sequence[Any], str, str]] = {
    "words as numbers": (["1", "b"], "real", '"b" is no number'),
    "fractions as integers": (["1", "2.5"], "integer", "2.5; choose real"),
    "enormous integers": (["1", "99999999999999999999"], "integer", "choose real"),
    "three values as binary": (["1", "2", "3"], "binary", "3 different value(s), but two are needed"),
    "one value as nominal": (["a", "a"], "nominal", "1 different value(s), but at least two"),
    "nothing as real": ([None, None], "real", "it has no values"),
}


@pytest.mark.parametrize("case", BAD_TYPES.values(), ids=BAD_TYPES)
def test_types_that_do_not_fit_are_refused(case: tuple[Sequence[Any], str, str]) -> None:
    values, kind, message = case
    with pytest.raises(SpecError) as caught:
        as_type(ColumnFacts(TableColumn("x", pa.array(values, pa.string()))), kind)
    assert message in str(caught.value)


@given(st.lists(st.text(min_size=1), unique=True, max_size=20))
def test_levels_are_written_as_legal_and_different_values(levels: list[str]) -> None:
    written = written_levels(levels)
    assert len(set(written.values())) == len(levels)
    for text in written.values():
        assert is_value(text)
        assert not is_missing(text)
        assert parse_range(text).values == (text,)
        assert "#" not in text
        assert "," not in text


@given(st.lists(st.text(), max_size=20))
def test_attributes_get_legal_and_different_names(names: list[str]) -> None:
    legal = attribute_names(names)
    assert len(set(legal)) == len(names)
    for name in legal:
        assert name.split() == [name]
        assert "#" not in name
        assert not is_integer(name)


@given(st.text())
def test_datasets_get_names_that_can_be_folders(text: str) -> None:
    name = legal_name(text)
    assert name
    assert all(one.isalnum() or one in "_.-" for one in name)
    assert len(quote(name)) <= LONGEST_NAME
    assert former_name(name).isascii()
    assert "/" not in name
    assert name not in (".", "..")
