"""PROBEN1's .dt files: what is read, what is refused and where, and what is written."""

import gzip
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from redelve.data.proben1.dt_files import (
    KEYS,
    DtFile,
    DtHeader,
    dt_text,
    number_text,
    parse_dt,
    read_dt,
    standard_sizes,
    write_dt,
)
from redelve.data.proben1.problem_names import DATASETS, all_names, parse_name
from redelve.data.problems import Problems
from redelve.errors import FormatError, LocationError, SpecError
from tests.data.proben1.genuine import FOLDER, needs_genuine

HEADER = "".join(f"{key}={value}\n" for key, value in zip(KEYS, (0, 2, 2, 0, 2, 1, 1), strict=True))
ROWS = ("0.25 1 1 0", "0.5 0 0 1", "0 0.125 1 0", "1 1 0 1")
BODY = "".join(f"{row}\n" for row in ROWS)


def read(tmp_path: Path, text: str, name: str = "own.dt") -> DtFile:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return read_dt(path)


def refusal(tmp_path: Path, text: str) -> FormatError:
    with pytest.raises(FormatError) as caught:
        read(tmp_path, text)
    return caught.value


class TestReading:
    def test_a_file_is_inputs_then_outputs(self, tmp_path: Path) -> None:
        file = read(tmp_path, HEADER + BODY)
        assert file.header == DtHeader(0, 2, 2, 0, 2, 1, 1)
        assert file.inputs.tolist() == [[0.25, 1], [0.5, 0], [0, 0.125], [1, 1]]
        assert file.outputs.tolist() == [[1, 0], [0, 1], [1, 0], [0, 1]]
        assert list(file.lines) == [8, 9, 10, 11]
        assert file.cautions == ()

    def test_blanks_line_ends_and_a_missing_last_newline_do_not_matter(self, tmp_path: Path) -> None:
        odd = HEADER.replace("real_in=2", " real_in = 2 ") + "".join(
            f"  {row.replace(' ', '   ')} \n" for row in ROWS
        )
        for text in (odd, odd.rstrip(), odd.replace("\n", "\r\n"), f"{odd}\n\n"):
            assert dt_text(read(tmp_path, text)) == HEADER + BODY

    def test_compressed_files_are_read_and_written(self, tmp_path: Path) -> None:
        path = tmp_path / "own.dt.gz"
        write_dt(path, read(tmp_path, HEADER + BODY))
        assert gzip.decompress(path.read_bytes()).decode() == HEADER + BODY
        assert read_dt(path).header.examples == 4
        (tmp_path / "own.dt").unlink()
        assert read_dt(tmp_path / "own.dt").header.examples == 4

    def test_arrays_cannot_be_changed(self, tmp_path: Path) -> None:
        with pytest.raises(ValueError, match="read-only"):
            read(tmp_path, HEADER + BODY).inputs[0, 0] = 7

    def test_header_lines_may_come_in_another_order_which_is_told(self, tmp_path: Path) -> None:
        lines = HEADER.splitlines()
        file = read(tmp_path, "\n".join([*reversed(lines), *ROWS]))
        assert file.header == DtHeader(0, 2, 2, 0, 2, 1, 1)
        assert "not in PROBEN1's order" in file.cautions[0]


class TestRefusals:
    @pytest.mark.parametrize(
        ("old", "new", "line", "words"),
        [
            ("real_in=2", "real_inputs=2", 2, 'unknown header key "real_inputs" (did you mean "real_in"?)'),
            ("real_in=2\n", "", 7, "the header lacks real_in"),
            ("real_in=2", "real_in=two", 2, 'expected a whole number for real_in but got "two"'),
            ("real_in=2", "real_in=-2", 2, 'but got "-2"'),
            ("real_in=2", "real_in=", 2, 'but got ""'),
            ("real_in=2", "real_in=" + "9" * 400, 2, "expected a whole number for real_in"),
            ("real_in=2", "real_in=2\nreal_in=2", 3, "real_in is given twice"),
            ("real_in=2", "real_in=3", 8, "expected 5 numbers (inputs: 3, outputs: 2, as the header says)"),
            ("real_in=2", "real_in=999999999999", 8, "but got 4"),
            ("test_examples=1", "test_examples=2", 11, "2 + 1 + 2 = 5 examples, but there are 4 lines"),
            ("test_examples=1", "test_examples=0", 11, "correct the header"),
            ("test_examples=1", "test_examples=999999999999", 11, "cut off"),
            ("0.5 0 0 1", "0.5 0 0", 9, "expected 4 numbers"),
            ("0.5 0 0 1", "0.5 0 0 1 1", 9, "but got 5"),
            ("0.5 0 0 1", "", 9, "but got 0"),
            ("0.5 0 0 1", "NaN 0 0 1", 9, 'input 1 is "NaN": a .dt file has no missing values'),
            ("0.5 0 0 1", "0.5 ? 0 1", 9, 'input 2 is "?"'),
            ("0.5 0 0 1", "0.5 0 inf 1", 9, 'output 1 is "inf": values are finite decimal numbers'),
            ("0.5 0 0 1", "0.5 0 1e999 1", 9, 'output 1 is "1e999"'),
            ("0.5 0 0 1", "0,5 0 0 1", 9, 'input 1 is "0,5"'),
            ("0.5 0 0 1", "1_0 0 0 1", 9, 'input 1 is "1_0"'),
        ],
    )  # fmt: skip
    def test_an_error_names_line_value_and_way_out(
        self, tmp_path: Path, old: str, new: str, line: int, words: str
    ) -> None:
        error = refusal(tmp_path, (HEADER + BODY).replace(old, new, 1))
        assert error.line == line
        assert words in error.message

    def test_data_without_header_and_empty_files(self, tmp_path: Path) -> None:
        assert "the header lacks bool_in" in refusal(tmp_path, BODY).message
        assert refusal(tmp_path, BODY).line == 1
        assert "empty" in refusal(tmp_path, " \n").message

    @pytest.mark.parametrize(
        ("old", "new", "words"),
        [("real_in=2", "real_in=0", "no inputs"), ("bool_out=2", "bool_out=0", "no outputs"),
         ("training_examples=2", "training_examples=0", "nothing to learn from")],
    )  # fmt: skip
    def test_nothing_to_learn_is_refused(self, tmp_path: Path, old: str, new: str, words: str) -> None:
        assert words in refusal(tmp_path, (HEADER + BODY).replace(old, new)).message

    def test_one_reading_finds_all_bad_lines(self) -> None:
        problems = Problems("own.dt")
        bad = (HEADER + BODY).replace("0.5 0 0 1", "0.5 x 0 1").replace("1 1 0 1", "1 1 0 ?")
        assert parse_dt(bad, problems) is None
        assert [problem.line for problem in problems] == [9, 11]

    def test_files_that_are_no_text_or_too_large_or_not_there(self, tmp_path: Path) -> None:
        path = tmp_path / "own.dt"
        path.write_bytes(b"bool_in=\0")
        with pytest.raises(FormatError, match="NUL"):
            read_dt(path)
        path.write_bytes(gzip.compress(b" " * 10_000_000))
        with pytest.raises(FormatError, match="larger than 1000 bytes"):
            read_dt(path, limit=1000)
        with pytest.raises(LocationError, match="no such file"):
            read_dt(tmp_path / "other.dt")

    @given(st.data())
    @settings(max_examples=150)
    def test_damaged_files_give_problems_and_nothing_else(self, data: st.DataObject) -> None:
        text = HEADER + BODY
        start = data.draw(st.integers(0, len(text)))
        end = data.draw(st.integers(start, min(len(text), start + 30)))
        junk = data.draw(st.text(alphabet="0123456789.=-einfa \n\t\x0b\u2003", max_size=12))
        problems = Problems("own.dt")
        found = parse_dt(text[:start] + junk + text[end:], problems)
        assert (found is None) == bool(len(problems))


class TestCautions:
    def test_values_outside_0_to_1(self, tmp_path: Path) -> None:
        (caution,) = read(tmp_path, HEADER + BODY.replace("0.125", "1.05")).cautions
        assert caution == "input values outside 0…1: 1, the first 1.05 of input 2 in line 10"

    def test_booleans_that_are_not(self, tmp_path: Path) -> None:
        header = HEADER.replace("bool_in=0\nreal_in=2", "bool_in=2\nreal_in=0")
        (caution,) = read(tmp_path, header + BODY).cautions
        assert "input 1 is declared boolean but has the value 0.25 (line 8): it is taken as real" in caution

    def test_mixed_kinds_and_other_sizes(self, tmp_path: Path) -> None:
        header = HEADER.replace("bool_in=0\nreal_in=2", "bool_in=1\nreal_in=1").replace(
            "=1\ntest_examples=1", "=0\ntest_examples=2"
        )
        cautions = read(tmp_path, header + BODY.replace("0.25", "1").replace("0.5", "1")).cautions
        assert "some inputs are boolean, some real" in cautions[0]
        assert "2, 0, 2 examples; 50 %, 25 % and 25 % would be 2, 1, 1" in cautions[1]


class TestWriting:
    @given(
        hnp.arrays(
            np.float64,
            st.tuples(st.integers(1, 6), st.just(3)),
            elements=st.floats(allow_nan=False, allow_infinity=False, width=64),
        )
    )
    def test_what_is_written_is_read_again_to_the_bit(self, values: np.ndarray) -> None:
        made = DtFile(DtHeader(0, 2, 0, 1, len(values), 0, 0), values[:, :2], values[:, 2:])
        again = parse_dt(dt_text(made), Problems("x"))
        assert again is not None
        assert np.array_equal(again.inputs, made.inputs)
        assert np.array_equal(again.outputs, made.outputs)

    def test_numbers_are_short_and_without_exponent(self) -> None:
        assert [number_text(value) for value in (0.1, -0.0, 1e-7, 12.0, 1 / 3)] == [
            "0.1", "0", "0.0000001", "12", "0.3333333333333333",
        ]  # fmt: skip

    def test_shapes_and_numbers_are_checked(self, tmp_path: Path) -> None:
        header = DtHeader(0, 1, 0, 1, 2, 0, 0)
        with pytest.raises(SpecError, match=r"shape \(3, 1\), but the header asks for \(2, 1\)"):
            DtFile(header, np.zeros((3, 1)), np.zeros((2, 1)))
        with pytest.raises(SpecError, match="example 1, coefficient 2 is nan"):
            dt_text(DtFile(header, np.zeros((2, 1)), np.full((2, 1), np.nan)))
        with pytest.raises(FormatError, match=r"ends in \.dt"):
            write_dt(tmp_path / "x.txt", DtFile(header, np.zeros((2, 1)), np.zeros((2, 1))))

    def test_standard_sizes_are_those_of_the_report(self) -> None:
        assert standard_sizes(214) == (107, 54, 53)  # appendix C
        for count in range(1, 50):
            assert sum(standard_sizes(count)) == count


@needs_genuine
class TestGenuineFiles:
    @pytest.mark.parametrize("name", all_names())
    def test_every_file_is_read_and_its_numbers_are_written_again(self, name: str) -> None:
        file = read_dt(FOLDER / f"{name}.dt")
        facts = parse_name(name).dataset
        assert (file.header.inputs, file.header.outputs, file.header.examples) == (
            facts.inputs, facts.outputs, facts.examples,
        )  # fmt: skip
        assert file.header.has_standard_sizes
        raw = (FOLDER / f"{name}.dt").read_text()
        texts, genuine = (text.split("\n") for text in (dt_text(file), raw))
        if facts.name in ("gene", "mushroom", "soybean"):  # blanks between groups of coefficients
            assert texts == [" ".join(line.split()) for line in genuine]
        elif facts.name == "horse":  # writes some numbers as 0.00 and 1.00
            assert [" ".join(f"{float(x):g}" for x in line.split()) for line in genuine[7:]] == texts[7:]
        else:
            assert texts == genuine

    def test_the_report_s_own_example(self) -> None:
        """Appendix C prints the header and the first two examples of glass1.dt."""
        file = read_dt(FOLDER / "glass1.dt")
        assert [getattr(file.header, key) for key in KEYS] == [0, 9, 6, 0, 107, 54, 53]
        assert file.inputs[0].tolist() == [
            0.281387,
            0.36391,
            0.804009,
            0.23676,
            0.643527,
            0.0917874,
            0.261152,
            0,
            0,
        ]
        assert file.outputs[:2].tolist() == [[1, 0, 0, 0, 0, 0], [0, 1, 0, 0, 0, 0]]

    def test_every_problem_has_three_permutations_of_the_same_examples(self) -> None:
        for name in DATASETS:
            one, two, three = (
                Counter((FOLDER / f"{name}{number}.dt").read_text().splitlines()[7:]) for number in (1, 2, 3)
            )
            assert one == two == three
