"""Tables from CSV, Parquet and ARFF files: what is read as what, and what is refused."""

import gzip
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyarrow import parquet

from redelve.data.tables.table_files import Table, TableColumn, read_table
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
    rows = [["a", "b b", "c"], ["1", "x", "2,5"], ["2", "y;z", "3"]]
    text = "\n".join(delimiter.join(f'"{cell}"' for cell in row) for row in rows)
    table = table_of(tmp_path, text)
    assert table.names == ("a", "b b", "c")
    assert values(table, "b b") == ["x", "y;z"]
    assert values(table, "c") == ["2,5", "3"]


def test_decimal_commas_do_not_pass_for_delimiters(tmp_path: Path) -> None:
    assert table_of(tmp_path, "a;b\n1,5;2,5\n3,5;4,5\n").names == ("a", "b")


def test_texts_are_kept_as_written_but_for_blanks_around_them(tmp_path: Path) -> None:
    table = table_of(tmp_path, "code,number,formula\n007, 1e3 ,=1+1\n010,2.50,@SUM(A1)\n")
    assert values(table, "code") == ["007", "010"]
    assert values(table, "number") == ["1e3", "2.50"]
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
    assert values(table, "b") == ["2", "4"]


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
    assert values(read_table(path), "b") == ["2"]
    assert values(read_table(path.with_suffix("")), "b") == ["2"]


def test_arff_declares_kinds_and_levels(tmp_path: Path) -> None:
    table = table_of(tmp_path, ARFF.replace("''s' % no comment here", "\\'s'"), "t.arff")
    assert table.names == ("outlook", "wind speed", "days", "remark")
    assert [column.kind for column in table.columns] == ["categories", "number", "number", "text"]
    assert table.column("outlook").levels == ("sunny", "partly cloudy", "rainy")
    assert values(table, "wind speed") == [1.5, None, 4.0]
    assert values(table, "remark") == ["it's", "fine, really", None]


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


def test_an_unknown_column_names_its_neighbours() -> None:
    table = Table("t.csv", (TableColumn("price", pa.array(["1"])), TableColumn("size", pa.array(["1"]))))
    with pytest.raises(SpecError, match=r't\.csv has no column "prices": it has price$'):
        table.column("prices")


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
    "Latin-1": ("t.csv", "name,b\nJosé,1\n".encode("latin-1"), 2, "0xe9 is not UTF-8"),
    "UTF-16": ("t.csv", "a,b\n1,2\n".encode("utf-16"), None, "UTF-16"),
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
    "sparse ARFF": ("t.arff", (HEAD + "{0 5, 1 x}\n").encode(), 5, "sparse rows"),
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
