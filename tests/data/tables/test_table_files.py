"""Tables from CSV, Parquet and ARFF files: what is read as what, and what is refused."""

import gzip
import os
import subprocess
import sys
from collections.abc import Callable
from math import inf, isnan, nan
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyarrow import parquet

from redelve.data.tables.csv_files import read_csv
from redelve.data.tables.table_files import Table, TableColumn, arrow_column, read_table
from redelve.errors import FormatError, LocationError, RedelveError, SpecError

ARFF = """% a comment
@relation 'weather, more or less'
@attribute outlook {sunny, 'partly cloudy', rainy}
@ATTRIBUTE "wind speed" REAL
@attribute days integer
@attribute remark string

@data
sunny, 1.5, 3, 'it''s' % no comment here
'partly cloudy', ?, -2, "fine, really"
rainy,4,0,?
"""


def table_of(tmp_path: Path, text: str, name: str = "t.csv") -> Table:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return read_table(path)


def values(table: Table, name: str) -> list[object]:
    found: list[object] = table.column(name).values.to_pylist()
    return found


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_every_delimiter_is_recognised(tmp_path: Path, delimiter: str) -> None:
    rows = [["a", "b b", "c"], ["1", "x", "2,5 m"], ["2", "y;z", "3 m"]]
    text = "\n".join(delimiter.join(f'"{cell}"' for cell in row) for row in rows)
    table = table_of(tmp_path, text)
    assert table.names == ("a", "b b", "c")
    assert values(table, "b b") == ["x", "y;z"]
    assert values(table, "c") == ["2,5 m", "3 m"]


def test_decimal_commas_are_read_and_do_not_pass_for_delimiters(tmp_path: Path) -> None:
    table = table_of(tmp_path, "a;b;c\n1,5;2;x\n3,25;4;y\n")
    assert table.names == ("a", "b", "c")
    assert (values(table, "a"), values(table, "b")) == ([1.5, 3.25], [2, 4])
    (note,) = table.notes
    assert "decimal commas" in note
    assert "--decimal ." in note


DOUBTFUL_COMMAS = {
    "thousands, perhaps": "a;b\n1,500;2\n3,250;4\n",
    "points as well": "a;b\n1,5;2.5\n3,25;4.5\n",
    "a comma as delimiter": 'a,b\n"1,5",2\n"3,25",4\n',
}


@pytest.mark.parametrize("text", DOUBTFUL_COMMAS.values(), ids=DOUBTFUL_COMMAS)
def test_commas_that_may_mean_something_else_are_left_alone_unless_it_is_said(
    tmp_path: Path, text: str
) -> None:
    table = table_of(tmp_path, text)
    assert table.column("a").kind == "text"
    assert not table.notes
    told = read_table(tmp_path / "t.csv", decimal=",")
    assert told.column("a").numbers is not None
    assert not told.notes


def test_a_decimal_point_that_is_said_overrules_what_commas_look_like(tmp_path: Path) -> None:
    table_of(tmp_path, "a;b\n1,5;2\n3,25;4\n")
    assert values(read_table(tmp_path / "t.csv", decimal="."), "a") == ["1,5", "3,25"]
    with pytest.raises(SpecError, match='decimal is ";": give'):
        read_table(tmp_path / "t.csv", decimal=";")


def test_texts_are_kept_as_written_but_for_blanks_around_them(tmp_path: Path) -> None:
    table = table_of(tmp_path, "code,number,formula\n007, 1e3 ,=1+1\n010,2.50,@SUM(A1)\n")
    assert values(table, "code") == ["007", "010"]
    assert values(table, "number") == [1000, 2.5]
    assert values(table, "formula") == ["=1+1", "@SUM(A1)"]


def test_every_mark_of_a_missing_value_is_known(tmp_path: Path) -> None:
    marks = ["", "NA", "NaN", "nan", "null", "None", "?", "N/A", '" "']
    table = table_of(tmp_path, "a,b\n" + "".join(f"{mark},x\n" for mark in marks) + "nil,x\n")
    assert table.column("a").missing.tolist() == [True] * len(marks) + [False]


def test_a_byte_order_mark_foreign_line_ends_and_blank_lines_do_no_harm(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(b"\xef\xbb\xbfa,b\r\n\r\n1,2\r\n3,4\r\n\r\n")
    table = read_table(path)
    assert table.names == ("a", "b")
    assert values(table, "b") == [2, 4]


def test_quoted_values_may_hold_line_ends_and_quotes(tmp_path: Path) -> None:
    table = table_of(tmp_path, 'a,b\n"one\ntwo",1\n"say ""hi""",2\n')
    assert values(table, "a") == ["one\ntwo", 'say "hi"']


def test_a_quote_within_an_unquoted_value_is_a_quote(tmp_path: Path) -> None:
    assert values(table_of(tmp_path, 'size,n\n5" pipe,1\n7 inch,2\n'), "size") == ['5" pipe', "7 inch"]


def test_years_may_be_names_of_columns(tmp_path: Path) -> None:
    assert table_of(tmp_path, "country,1990,1991\nA,1,2\nB,3,4\n").names == ("country", "1990", "1991")


@pytest.mark.parametrize("name", ["t.csv.gz", "t.tsv.gz"])
def test_compressed_text_is_read(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_bytes(gzip.compress(b"a\tb\n1\t2\n"))
    assert values(read_table(path), "b") == [2]
    assert values(read_table(path.with_suffix("")), "b") == [2]


def test_arff_declares_kinds_and_levels(tmp_path: Path) -> None:
    table = table_of(tmp_path, ARFF.replace("''s' % no comment here", "\\'s'"), "t.arff")
    assert table.names == ("outlook", "wind speed", "days", "remark")
    assert [column.kind for column in table.columns] == ["categories", "number", "number", "text"]
    assert table.column("outlook").levels == ("sunny", "partly cloudy", "rainy")
    assert values(table, "wind speed") == [1.5, None, 4.0]
    assert values(table, "remark") == ["it's", "fine, really", None]


def test_sparse_rows_of_arff_are_filled_up_as_weka_does(tmp_path: Path) -> None:
    head = "@relation r\n@attribute a numeric\n@attribute b {x,'y, z'}\n@attribute c string\n@data\n"
    table = table_of(tmp_path, head + "{0 5, 1 'y, z', 2 \"a, b\"}\n{}\n{ 0 ?,1 x }\n", "t.arff")
    assert values(table, "a") == [5, 0, None]
    assert values(table, "b") == ["y, z", "x", "x"]
    assert values(table, "c") == ["a, b", None, None]


def test_rows_of_arff_may_be_separated_by_blanks(tmp_path: Path) -> None:
    head = "@relation r\n@attribute a numeric\n@attribute b {x,'y, z'}\n@data\n"
    table = table_of(tmp_path, head + "1  x\n2.5 'y, z'\n?\tx\n", "t.arff")
    assert values(table, "a") == [1, 2.5, None]
    assert values(table, "b") == ["x", "y, z", "x"]


def test_a_level_that_looks_missing_is_a_level_if_arff_declares_it(tmp_path: Path) -> None:
    table = table_of(tmp_path, "@relation r\n@attribute a {NA,'?',b}\n@data\nNA\n'?'\n?\n", "t.arff")
    assert values(table, "a") == ["NA", "?", None]


def test_parquet_types_are_declarations(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    ordered = pa.DictionaryArray.from_arrays(pa.array([1, None, 0]), ["low", "high"], ordered=True)
    columns = {
        "flag": pa.array([True, False, None]),
        "count": pa.array([1, 2, None], pa.int16()),
        "size": pa.array([0.5, float("nan"), 2.0]),
        "city": pa.array(["Oslo", " NA ", "Rome"]),
        "grade": ordered,
        "day": pa.array([0, 1, 2], pa.date32()),
        "list": pa.array([[1], [2], [3]]),
        "empty": pa.nulls(3),
    }
    parquet.write_table(pa.table(columns), path)
    table = read_table(path)
    kinds = ["categories", "number", "number", "text", "ordered", "date", "other", "text"]
    assert [column.kind for column in table.columns] == kinds
    assert values(table, "flag") == ["True", "False", None]
    assert values(table, "size") == [0.5, None, 2.0]
    assert values(table, "city") == ["Oslo", None, "Rome"]
    assert values(table, "grade") == ["high", None, "low"]
    assert table.column("grade").levels == ("low", "high")


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string()], ids=str)
def test_texts_that_repeat_are_read_from_parquet_as_codes(tmp_path: Path, kind: pa.DataType) -> None:
    texts = [" a ", None, "NA", "b", "a", "007"] * 500
    single = [f"a text that is alone {number}" for number in range(3000)]
    columns = pa.table({"few": pa.array(texts, kind), "many": pa.array(single, kind)})
    parquet.write_table(columns, tmp_path / "t.parquet", row_group_size=700)
    few, many = read_table(tmp_path / "t.parquet").columns
    assert (pa.types.is_dictionary(few.values.type), pa.types.is_dictionary(many.values.type)) == (
        True,
        False,
    )
    for column, name in ((few, "few"), (many, "many")):
        plain = arrow_column(name, columns.column(name))
        assert (column.kind, column.declared, column.levels) == (plain.kind, plain.declared, plain.levels)
        assert column.values.to_pylist() == plain.values.to_pylist()
        assert column.coded[0].tolist() == plain.coded[0].tolist()
        assert column.coded[1] == plain.coded[1]
        assert column.missing.tolist() == plain.missing.tolist()
        assert column.has_codes == plain.has_codes


@pytest.mark.parametrize("numbers", [[1.0, nan, 3.0], [1.0, None, nan], [1, None, 3], [1, 2, 3], [0.5, inf]])
def test_numbers_in_parquet_that_are_none_are_missing(tmp_path: Path, numbers: list[float | None]) -> None:
    parquet.write_table(pa.table({"x": pa.array(numbers, from_pandas=False)}), tmp_path / "t.parquet")
    (column,) = read_table(tmp_path / "t.parquet").columns
    assert column.kind == "number"
    assert column.values.to_pylist() == [None if one is None or isnan(one) else one for one in numbers]


def test_parquet_in_several_row_groups_with_different_dictionaries(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    pieces = [pa.array(["a", "b"]).dictionary_encode(), pa.array(["c", "a"]).dictionary_encode()]
    parquet.write_table(
        pa.table({"x": pa.chunked_array(pieces).unify_dictionaries()}), path, row_group_size=2
    )
    assert values(read_table(path), "x") == ["a", "b", "c", "a"]


def test_the_index_that_pandas_keeps_is_no_column(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    parquet.write_table(pa.table({"x": [1.0], "__index_level_0__": [7]}), path)
    assert read_table(path).names == ("x",)


def test_numbers_are_those_of_delve(tmp_path: Path) -> None:
    column = table_of(tmp_path, "a,b\n1e3,x\n-.5,x\n+7.,x\n?,x\n").column("a")
    assert column.numbers is not None
    np.testing.assert_array_equal(column.numbers, [1000, -0.5, 7, np.nan])


@pytest.mark.parametrize("text", ["1_0", "0x1F", "1e400", "inf", "1,5", "١", "1 2"])
def test_what_is_no_number_makes_no_column_of_numbers(text: str) -> None:
    assert TableColumn("a", pa.array(["1", text])).numbers is None


def test_codes_are_the_places_of_values() -> None:
    codes, texts = TableColumn("a", pa.array(["b", None, "a", "b"])).coded
    assert (codes.tolist(), texts) == ([0, -1, 1, 0], ("b", "a"))
    codes, texts = TableColumn("a", pa.array([2.0, None, 0.5, 2.0]), "number").coded
    assert (codes.tolist(), texts) == ([1, -1, 0, 1], ("0.5", "2"))


def test_an_unknown_column_is_answered_with_the_one_meant_and_with_all() -> None:
    table = Table("t.csv", (TableColumn("price", pa.array(["1"])), TableColumn("size", pa.array(["1"]))))
    with pytest.raises(
        SpecError, match=r'has no column "prices" \(did you mean "price"\?\): it has price, size$'
    ):
        table.column("prices")
    many = Table("t.csv", tuple(TableColumn(f"c{number}", pa.array(["1"])) for number in range(15)))
    with pytest.raises(SpecError, match=r'has no column "zz": it has c0, .*, c11 and 3 more$'):
        many.column("zz")


@pytest.mark.parametrize(
    ("encoding", "word", "told"),
    [("latin-1", "José", "latin-1"), ("cp1252", "José “x”", "cp1252"), ("utf-16", "Москва", "")],
)
def test_other_encodings_are_read_and_told_where_there_is_no_doubt(
    tmp_path: Path, encoding: str, word: str, told: str
) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(f"name,größe\n{word},1\nRosé,2\n".encode(encoding))
    table = read_table(path)
    assert table.names == ("name", "größe")
    assert values(table, "name") == [word, "Rosé"]
    assert ([note for note in table.notes if told in note] == []) == (told == "")
    assert all("--encoding NAME" in note for note in table.notes)


def test_an_encoding_is_guessed_in_time_that_grows_with_the_file(tmp_path: Path) -> None:
    """A pattern that looks at every letter's followers again would take minutes."""
    path = tmp_path / "t.csv"
    path.write_bytes(b"name,b\n" + b"x" * 2_000_000 + b"-Jos\xe9 M,1\n")
    assert ' ("José M")' in read_table(path).notes[0]


def test_an_encoding_that_is_given_is_used_and_one_that_does_not_fit_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes("name,b\nМосква,1\n".encode("cp1251"))
    assert values(read_table(path, encoding="cp1251"), "name") == ["Москва"]
    assert not read_table(path, encoding="cp1251").notes
    with pytest.raises(FormatError, match="is not utf-8: give the encoding that it has"):
        read_table(path, encoding="utf-8")
    with pytest.raises(FormatError, match="is not ascii"):
        read_table(path, encoding="ascii")
    with pytest.raises(SpecError, match='unknown encoding "utf-9"'):
        read_table(path, encoding="utf-9")


def test_latin_1_is_read_in_arff_too(tmp_path: Path) -> None:
    path = tmp_path / "t.arff"
    path.write_bytes("@relation r\n@attribute a string\n@data\nJosé\n".encode("latin-1"))
    table = read_table(path)
    assert values(table, "a") == ["José"]
    assert "latin-1" in table.notes[0]


def test_blanks_in_arff_take_time_that_grows_with_them(tmp_path: Path) -> None:
    path = tmp_path / "t.arff"
    path.write_text(
        "@relation r\n@attribute a string\n@attribute b string\n@data\nx  ," + " " * 400_000 + "y'\n"
    )
    with pytest.raises(FormatError, match="check its quotes"):
        read_table(path)


LATE = "".join(f"{row},{row / 8},a{row % 3},{row % 7}\n" for row in range(400))
LATE_ROWS = {
    "a fraction": "1.5,2,b,3\n",
    "a word": "x,2,b,3\n",
    "a code": "007,2,b,3\n",
    "a word among fractions": "1,y,b,3\n",
    "infinity": "1,inf,b,3\n",
    "a hexadecimal number": "0x1F,2,b,3\n",
    "missing values": ",?,NA,None\n",
    "words everywhere": "a,b,c,d\n",
    "a long text": f"1,2,{'z' * 5000},3\n",
    "lines in quotes": '1,2,"é\n\r\né",3\n',
    "a letter of two bytes": "1,2,éééééééééé,3\n",
}


@pytest.mark.parametrize("block", [64, 97, 1000])
@pytest.mark.parametrize("last", LATE_ROWS.values(), ids=LATE_ROWS)
def test_reading_in_blocks_gives_what_reading_at_once_gives(tmp_path: Path, last: str, block: int) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(("n,x,c,k\r\n" + LATE + last + LATE).encode())
    whole, pieces = (read_csv(path, 10**9, block=size) for size in (2**22, block))
    for first, second in zip(whole.columns, pieces.columns, strict=True):
        one, other = (TableColumn(held.name, held.values) for held in (first, second))
        assert one.values.to_pylist() == other.values.to_pylist()
        assert first.declared == second.declared


HEAD = "@relation r\n@attribute a numeric\n@attribute b {x,y}\n@data\n"
BAD_TEXTS: dict[str, tuple[str, bytes, int | None, str]] = {
    "empty": ("t.csv", b"", None, "the file is empty"),
    "only blank lines": ("t.csv", b"\n\n", None, "the file is empty"),
    "only a header": ("t.csv", b"a,b\n", None, "no rows"),
    "numbers for a header": ("t.csv", b"5,3\n4,3\n", 1, "looks like data"),
    "fractions in the header": ("t.csv", b"5.1,3.5,setosa\n4.9,3.0,setosa\n", 1, "looks like data"),
    "words for a header": ("t.csv", b"sunny,hot,no\nrainy,hot,no\nsunny,mild,yes\n", 1, "looks like data"),
    "a nameless column": ("t.csv", b",b\n0,1\n1,2\n", None, "column 1 has no name"),
    "a name twice": ("t.csv", b"a,b,a\n1,2,3\n", None, 'column name "a" is used more than once'),
    "a short row": ("t.csv", b"a,b,c\n1,2,3\n4,5\n", 3, "expected 3 values, as the header has, but got 2"),
    "a long row": ("t.csv", b'a,b\n"1\n1",2\n3,4,5\n', 4, "expected 2 values, as the header has, but got 3"),
    "an open quote": ("t.csv", b'a,b\n1,2\n3,"4\n5,6\n', 3, "check its quotes"),
    "a NUL byte": ("t.csv", b"a,b\n1,\x002\n", 2, "NUL byte"),
    "damaged UTF-8": (
        "t.csv",
        "name,b\nüä,1\nöß,2\nJosé".encode()[:-1] + b",1\n",
        4,
        "encoding can't be told",
    ),
    "Cyrillic of Windows": ("t.csv", "name,b\nМосква,1\n".encode("cp1251"), 2, "--encoding NAME"),
    "a DOS code page": ("t.csv", "name,b\nJosé,1\n".encode("cp850"), 2, "encoding can't be told"),
    "a spreadsheet": ("t.xlsx", b"PK\x03\x04", None, "save a spreadsheet as CSV"),
    "no ending": ("table", b"a,b\n1,2\n", None, "can't tell a table by the ending"),
    "half a gzip": ("t.csv.gz", gzip.compress(b"a,b\n1,2\n" * 99)[:-10], None, "truncated or damaged gzip"),
    "no Parquet": ("t.parquet", b"PAR1 and nothing else", None, "can't read this as Parquet"),
    "an empty Parquet": ("t.parquet", b"", None, "can't read this as Parquet"),
    "compressed Parquet": ("t.parquet.gz", b"", None, "can't tell a table by the ending"),
    "ARFF without data": ("t.arff", b"@relation r\n@attribute a numeric\n", None, "no @data line"),
    "ARFF without columns": ("t.arff", b"@relation r\n@data\n1\n", 2, "before any @attribute"),
    "CSV called ARFF": ("t.arff", b"a,b\n1,2\n", 1, "is this ARFF?"),
    "ARFF without a type": ("t.arff", b"@attribute a\n@data\n1\n", 1, "@attribute name type"),
    "an unknown ARFF type": (
        "t.arff",
        b"@attribute a relational\n@data\n1\n",
        1,
        '"relational", which is not read',
    ),
    "open ARFF levels": ("t.arff", b"@attribute a {x,y\n@data\nx\n", 1, "not closed"),
    "no ARFF levels": ("t.arff", b"@attribute a {}\n@data\nx\n", 1, "lists no levels"),
    "an ARFF level twice": ("t.arff", b"@attribute a {x,x}\n@data\nx\n", 1, "lists a level twice"),
    "open sparse ARFF": ("t.arff", (HEAD + "{0 5, 1 x\n").encode(), 5, "not closed"),
    "sparse ARFF beyond the columns": ("t.arff", (HEAD + "{0 5, 2 x}\n").encode(), 5, '"2 x" is no index'),
    "too few between blanks in ARFF": ("t.arff", (HEAD + "1 x 2\n").encode(), 5, "expected 2 values"),
    "a ragged ARFF row": ("t.arff", (HEAD + "1,x\n1,x,2\n").encode(), 6, "expected 2 values"),
    "an undeclared ARFF level": (
        "t.arff",
        (HEAD + "1,z\n").encode(),
        5,
        '"z" is not among the declared levels',
    ),
    "an ARFF word for a number": ("t.arff", (HEAD + "one,x\n").encode(), 5, 'numeric but has "one"'),
    "an open ARFF quote": ("t.arff", (HEAD + "1,'x\n").encode(), 5, "check its quotes"),
    "ARFF without rows": ("t.arff", HEAD.encode(), None, "no rows"),
}


@pytest.mark.parametrize(("name", "data", "line", "message"), BAD_TEXTS.values(), ids=BAD_TEXTS)
def test_bad_files_are_refused_in_one_line_that_names_the_place(
    tmp_path: Path, name: str, data: bytes, line: int | None, message: str
) -> None:
    path = tmp_path / name
    path.write_bytes(data)
    with pytest.raises(FormatError) as caught:
        read_table(path)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)
    assert str(path) in str(caught.value)
    assert caught.value.line == line


def _bomb(path: Path) -> None:
    path.write_bytes(gzip.compress(b"a,b\n" + b"0,0\n" * 3_000_000))


def _large(path: Path) -> None:
    path.write_bytes(b"a,b\n" + b"0,0\n" * 500_000)


@pytest.mark.parametrize(("name", "make"), [("t.csv.gz", _bomb), ("t.csv", _large), ("t.arff", _large)])
def test_what_is_too_large_is_refused(tmp_path: Path, name: str, make: Callable[[Path], None]) -> None:
    make(tmp_path / name)
    with pytest.raises(FormatError, match="larger than 1000000 bytes: raise the limit, or take a sample"):
        read_table(tmp_path / name, limit=1_000_000)


def test_a_large_parquet_file_is_refused_before_it_is_read(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    parquet.write_table(pa.table({"a": np.arange(10_000)}), path)
    with pytest.raises(FormatError, match=r"10000 values in .* bytes are too many"):
        read_table(path, limit=1000)


@pytest.mark.parametrize("name", ["t.csv", "t.parquet", "t.arff"])
def test_a_file_that_is_not_there_is_named(tmp_path: Path, name: str) -> None:
    with pytest.raises(LocationError, match="no such file"):
        read_table(tmp_path / name)


@pytest.mark.parametrize("name", ["folder.csv", "folder.parquet"])
def test_a_directory_is_no_table(tmp_path: Path, name: str) -> None:
    (tmp_path / name).mkdir()
    with pytest.raises(RedelveError, match="is a directory"):
        read_table(tmp_path / name)


PIECES = ["a", "b c", "1", "2.5", *",;\t|\"'\n\r?%{}\\"]
ARFF_PIECES = ["@relation r\n", "@attribute a numeric\n", "@attribute b {x,'y z'}\n", "@data\n", "x"]
hostile_texts = st.lists(st.sampled_from([*PIECES, *ARFF_PIECES]) | st.text(max_size=3)).map("".join)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.sampled_from(["t.csv", "t.arff"]), hostile_texts)
def test_no_text_leads_to_anything_but_a_table_or_our_error(tmp_path: Path, name: str, text: str) -> None:
    path = tmp_path / name
    path.write_bytes(text.encode("utf-8", "surrogatepass"))
    try:
        table = read_table(path)
    except RedelveError as problem:
        assert len(str(problem).splitlines()) == 1
    else:
        assert {len(column) for column in table.columns} == {table.row_count}


HELD = """
import os, sys
from contextlib import suppress

os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
import pyarrow as pa
from redelve.data.tables.csv_files import _batches, _CsvFile, _Stream, _with_header

file = _with_header(_CsvFile(sys.argv[1], 1000, 1000, "utf-8"))


def is_held():
    stream = _Stream(file.blocks(), ",")
    with suppress(pa.ArrowInvalid):
        list(_batches(file, {0: pa.string(), 1: pa.string()}, stream))
    return sys.getrefcount(stream) > 2


is_held()
for thread in map(int, os.listdir("/proc/self/task")):
    if thread != os.getpid():
        os.sched_setscheduler(thread, os.SCHED_IDLE, os.sched_param(0))
print(sum(is_held() for _ in range(20)))
"""
"""How often one of arrow's threads, which run last on the only processor, holds a file after it was read."""


@pytest.mark.skipif(not hasattr(os, "SCHED_IDLE"), reason="threads can't be told to run last")
@pytest.mark.parametrize("rows", ["1,x\n2,y\n", "1,x\n2\n"])
def test_no_thread_holds_a_file_that_was_read(rows: str, tmp_path: Path) -> None:
    """One that lets go of it when Python ends aborts the process."""
    (tmp_path / "t.csv").write_text(f"a,b\n{rows}")
    words = [sys.executable, "-c", HELD, str(tmp_path / "t.csv")]
    assert subprocess.run(words, capture_output=True, text=True, check=True).stdout == "0\n"
