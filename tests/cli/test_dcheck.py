"""dcheck: every violation on a line of its own, with file, line, field, value and rule."""

from __future__ import annotations

import gzip
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from redelve.data.delve.check.check_reports import MOST_SHOWN
from redelve.data.delve.check.value_rules import check_cases
from redelve.model import Attribute, Column, Range, is_value, parse_range
from redelve.model.encodings import Encoding, encodings
from tests.conftest import Result, RunCommand, make_root, write_tree
from tests.model.test_encoding_checks import FAULTS, Faulty
from tests.strategies import ranges
from tests.tiny_tree import FILES, SPEC, rows

DATA, DATASET_SPEC = "data/tiny/Dataset.data", "data/tiny/Dataset.spec"


class Bench:
    """The tiny dataset, to be damaged and checked."""

    def __init__(self, root: Path, run: RunCommand) -> None:
        self.root = root
        self._run = run

    def write(self, name: str, text: str) -> None:
        write_tree(self.root, {name: text})

    def change(self, name: str, old: str, new: str) -> None:
        text = (self.root / name).read_text()
        assert old in text
        self.write(name, text.replace(old, new))

    def do(self, command: str, place: str) -> None:
        assert self._run(command, ["-q"], self.root / place).code == 0

    def check(self, *argv: str, cwd: str = ".") -> Result:
        return self._run("dcheck", argv, self.root / cwd)

    def problems(self, *argv: str) -> list[str]:
        """The lines printed, without the path of the delve directory; none when all is well."""
        result = self.check(*argv)
        assert result.err == ""
        lines = result.out.replace(f"{self.root}/", "").splitlines()
        if result.code == 0:
            assert lines == [f"{argv[-1]}: no problems found"]
            return []
        assert result.code == 1
        assert lines
        return lines


@pytest.fixture
def bench(tmp_path: Path, run_command: RunCommand, monkeypatch: pytest.MonkeyPatch) -> Bench:
    root = make_root(
        tmp_path / "delve", {name: text for name, text in FILES.items() if "methods" not in name}
    )
    monkeypatch.setenv("DELVE_PATH", str(root))
    bench = Bench(root, run_command)
    bench.do("dgenorder", "data/tiny/y")
    bench.do("dgenproto", "data/tiny")
    return bench


def data_with(*lines: str, after: int = 0) -> str:
    """Dataset.data with some lines of its own in place of the first ones."""
    kept = rows()
    kept[after : after + len(lines)] = lines
    return "".join(f"{line}\n" for line in kept)


class TestWhatIsChecked:
    def test_a_good_dataset(self, bench: Bench) -> None:
        assert bench.check("/tiny") == Result("/tiny: no problems found\n", "", 0)

    def test_the_built_in_dataset(self, run_command: RunCommand, delve_home: Path) -> None:
        assert run_command("dcheck", ["/demo"]) == Result("/demo: no problems found\n", "", 0)

    @pytest.mark.parametrize(
        ("argv", "cwd", "address"),
        [
            ([], "data/tiny", "/tiny"),
            ([], "data/tiny/y", "/tiny/y"),
            (["y"], "data/tiny", "/tiny/y"),
            (["std.prior"], "data/tiny/y", "/tiny/y/std.prior"),
            (["/tiny/c/std.prior"], ".", "/tiny/c/std.prior"),
            (["/m/tiny/c"], ".", "/tiny/c"),
            (["tiny"], "methods/m", "/tiny"),
        ],
    )
    def test_paths(self, bench: Bench, argv: list[str], cwd: str, address: str) -> None:
        (bench.root / "methods/m/tiny").mkdir(parents=True)
        assert bench.check(*argv, cwd=cwd).out == f"{address}: no problems found\n"

    @pytest.mark.parametrize(("do", "told"), FAULTS.values(), ids=FAULTS)
    def test_an_encoding_of_somebody_else_s_is_at_fault_not_the_data(
        self, bench: Bench, do: Callable[[Column], Any], told: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(Faulty, "do", staticmethod(do), raising=False)
        encodings.add(
            "faulty", Encoding("faulty", Faulty, ("real",), lambda one: one.type == "real", place=-1)
        )
        try:
            found = bench.check("/tiny/y")
        finally:
            encodings.remove("faulty")
        assert found.code == 1
        assert re.fullmatch(rf"dcheck: .*{told}.*\n", found.err)

    def test_a_compressed_prior_may_be_named_as_it_is(self, bench: Bench) -> None:
        prior = bench.root / "data/tiny/y/std.prior"
        prior.with_suffix(".prior.gz").write_bytes(gzip.compress(prior.read_bytes()))
        prior.unlink()
        assert bench.problems("/tiny/y") == []
        assert bench.check("std.prior.gz", cwd="data/tiny/y").code == 0

    def test_local_checks_leave_out_what_is_inside(self, bench: Bench) -> None:
        bench.change("data/tiny/y/std.prior", "4 LM", "4 XX")
        bench.change("data/tiny/c/Prototask.spec", "cultivated", "grown")
        assert len(bench.problems("/tiny")) == 2
        assert bench.problems("-l", "/tiny") == []
        assert bench.problems("--local", "/tiny/y") == []
        assert len(bench.problems("-l", "/tiny/c")) == 1
        assert len(bench.problems("/tiny/y/std.prior")) == 1
        assert bench.problems("/tiny/c/std.prior") == bench.problems("-l", "/tiny/c")

    def test_the_installed_program(self, bench: Bench) -> None:
        bench.write(DATA, data_with("male 151 2 3 red"))
        program = Path(sys.executable).parent / "dcheck"
        done = subprocess.run([program, "/tiny"], cwd=bench.root, capture_output=True, text=True, check=False)
        assert (done.returncode, done.stderr) == (1, "")
        assert done.stdout.splitlines()[0] == (
            f'{bench.root}/{DATA}, line 1: AGE: value "151" is not in the range "[0,150]"'
        )


class TestValues:
    def test_every_kind_of_violation(self, bench: Bench) -> None:
        bench.write(
            DATA,
            data_with(
                "male 151 2 3 red",
                "male 3 2 ?gone red # listed are only ? and ?lost",
                "male 150: 2 :0 red",
                "male 150.5: 2 24: red",
                "neuter 3 2.0 3 red",
                "male 3 21 24 Red",
                "male 3 -1 -0 12x",
                "? 3 2 3 red @7",
            ),
        )
        assert bench.problems("-l", "/tiny") == [
            f'{DATA}, line 1: AGE: value "151" is not in the range "[0,150]"',
            f'{DATA}, line 2: HOURS: missing value "?gone" is not listed in the range "[0,24) ? ?lost"',
            f'{DATA}, line 4: AGE: censored value "150.5:" includes no value of the range "[0,150]"',
            f'{DATA}, line 4: HOURS: censored value "24:" includes no value of the range "[0,24) ? ?lost"',
            f'{DATA}, line 5: SEX: value "neuter" is not in the range "male female"',
            f'{DATA}, line 5: KIDS: value "2.0" is not in the range "0..20"',
            f'{DATA}, line 6: KIDS: value "21" is not in the range "0..20"',
            f'{DATA}, line 6: HOURS: value "24" is not in the range "[0,24) ? ?lost"',
            f'{DATA}, line 6: COLOUR: value "Red" is not in the range "red green blue"',
            f'{DATA}, line 7: KIDS: value "-1" is not in the range "0..20"',
            f'{DATA}, line 7: COLOUR: "12x" is no value: it is neither a number nor a category, nor missing '
            "or censored",
            f'{DATA}, line 8: SEX: missing value "?" is not listed in the range "male female"',
            f'{DATA}, line 8: unexpected commonality index "@7": '
            "Dataset.spec does not say that they are present",
        ]

    def test_lines_that_are_no_cases_and_bad_values_beside_them(self, bench: Bench) -> None:
        lines = data_with("male 3 2 3", "male 3 2 3 red @x", "male 3 2 99 red", "", "male 3 2 \\", " 3 red 7")
        path = bench.root / DATA
        path.write_bytes(lines.encode() + b"male 3 2 3 r\xe9d\nmale 3 2 3 \0\n# end\n@5\n")
        last = len(rows())
        assert bench.problems("-l", "/tiny") == [
            f'{DATA}, line 1: expected 5 values but got 4: "male 3 2 3"',
            f'{DATA}, line 2: expected "@" and digits after the last value but got "@x"',
            f'{DATA}, line 3: HOURS: value "99" is not in the range "[0,24) ? ?lost"',
            f'{DATA}, line 5: expected 5 values but got 6: "male 3 2 3 red 7"',
            f"{DATA}, line {last + 1}: byte 0xe9 is neither ASCII nor UTF-8",
            f"{DATA}, line {last + 2}: NUL byte: this is not a text file",
            f'{DATA}, line {last + 4}: expected 5 values but got 0: ""',
        ]

    def test_numbers_only_with_a_line_too_short(self, bench: Bench) -> None:
        spec = "Origin: natural\nUsage: ?\nOrder: ?\nAttributes:\n1 A u [0,1]\n2 B u 0..9\n"
        text = "0.5 1\n7e-1 +3\n2 4\n1\n0 5.0\n"
        write_tree(bench.root, {"data/two/Dataset.spec": spec, "data/two/Dataset.data": text})
        assert bench.problems("/two") == [
            'data/two/Dataset.data, line 3: A: value "2" is not in the range "[0,1]"',
            'data/two/Dataset.data, line 4: expected 2 values but got 1: "1"',
            'data/two/Dataset.data, line 5: B: value "5.0" is not in the range "0..9"',
        ]

    def test_commonality_indexes_where_they_belong(self, bench: Bench) -> None:
        bench.change(DATASET_SPEC, "Attributes:", "Commonality indexes are present\nAttributes:")
        assert bench.problems("-l", "/tiny") == [
            f"{DATA}: commonality indexes are said to be present, but no case has one"
        ]
        bench.write(DATA, data_with("male 3 2 3 red @7"))
        assert bench.problems("-l", "/tiny") == []

    def test_a_hundred_problems_are_shown_and_the_others_counted(self, bench: Bench) -> None:
        bench.write(DATA, "male 151 2 24 red\n" * 75)
        lines = bench.problems("-l", "/tiny")
        assert len(lines) == MOST_SHOWN + 1
        assert lines[-2].startswith(f"{DATA}, line 50: HOURS: ")
        assert lines[-1] == f"{DATA}: 50 more problems in this file"

    def test_one_more_problem(self, bench: Bench) -> None:
        bench.write(DATA, "male\n" * 101)
        assert bench.problems("-l", "/tiny")[-1] == f"{DATA}: 1 more problem in this file"

    def test_no_cases_at_all(self, bench: Bench) -> None:
        bench.write(DATA, "# nothing\n")
        assert bench.problems("-l", "/tiny") == [f"{DATA}: there are no cases"]

    def test_no_file(self, bench: Bench) -> None:
        (bench.root / DATA).unlink()
        lines = ['/tiny/Dataset.data: data file "/tiny/Dataset.data" not found in delve path']
        assert bench.problems("-l", "/tiny") == lines
        assert bench.problems("/tiny/c") == []

    def test_two_files(self, bench: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        second = make_root(tmp_path / "delve-2", {DATA: "\n"})
        monkeypatch.setenv("DELVE_PATH", f"{bench.root}{os.pathsep}{second}")
        (line,) = bench.problems("-l", "/tiny")
        assert line.startswith("/tiny/Dataset.data: multiple copies of data file found in delve path: ")

    def test_truncated_data(self, bench: Bench) -> None:
        path = bench.root / DATA
        Path(f"{path}.gz").write_bytes(gzip.compress(path.read_bytes())[:-9])
        path.unlink()
        (line,) = bench.problems("-l", "/tiny")
        assert line.startswith(f"{DATA}: truncated or damaged gzip file")

    def test_a_million_cases_are_checked_in_seconds(self, tmp_path: Path) -> None:
        """A tenth of them here; the time grows in proportion."""
        count, width = 100_000, 33
        numbers = np.random.default_rng(3).integers(0, 10_000, (count, width))
        numbers[99_998, 32] = 10_001
        path = tmp_path / "Dataset.data"
        np.savetxt(path, numbers, fmt=["%d"] * 16 + ["%.1f"] * 17)
        whole, real = parse_range("0..10000"), parse_range("[0,10000]")
        attributes = [Attribute(n + 1, f"X{n}", "u", whole if n < 2 else real) for n in range(width)]
        start = time.perf_counter()
        report, cases = check_cases(str(path), attributes, has_commonality=False)
        assert time.perf_counter() - start < 10
        assert str(report) == f'{path}, line 99999: X32: value "10001.0" is not in the range "[0,10000]"\n'
        assert cases is not None
        assert cases.count == count


ODD_VALUES = "0 1 -3 2.0 1e3 1e999 +2 007 ? ?lost 3: :-4 abc - .5 Inf nan -0"
values = st.sampled_from([*ODD_VALUES.split(), "9" * 400]) | st.text("abc019.-+e:?", min_size=1, max_size=5)


@settings(max_examples=150, deadline=None)
@given(ranges, st.lists(values, min_size=1, max_size=20), st.booleans())
def test_columns_are_judged_like_single_values(
    tmp_path_factory: pytest.TempPathFactory, allowed: Range, column: list[str], is_broken: bool
) -> None:
    path = tmp_path_factory.mktemp("column") / "Dataset.data"
    path.write_text("".join(f"{value}\n" for value in column) + ("a b\n" if is_broken else ""))
    report, _ = check_cases(str(path), [Attribute(1, "X", "u", allowed)], has_commonality=False)
    bad = [row for row, value in enumerate(column, 1) if not (allowed.contains(value) and is_value(value))]
    assert [problem.line for problem in report.problems] == bad + [len(column) + 1] * is_broken


class TestBrokenSpecifications:
    def test_all_problems_of_a_specification_and_what_can_still_be_checked(self, bench: Bench) -> None:
        spec = (
            SPEC.replace("artificial", "dreamt").replace("[0,150]", "[0,150").replace("development", "play")
        )
        bench.write(DATASET_SPEC, spec)
        bench.write(DATA, data_with("male old 99 3 red", "male x( 2 3"))
        bench.change("data/tiny/c/Prototask.spec", "common", "shared")
        assert bench.problems("/tiny") == [
            f'{DATASET_SPEC}, line 2: origin: bad origin "dreamt": should be natural, cultivated, simulated, '
            "artificial",
            f'{DATASET_SPEC}, line 3: usage: bad usage "play": should be development, assessment, '
            "historical, ?",
            f'{DATASET_SPEC}, line 8: attribute AGE: bad interval "[0,150" in range: write it like [0,Inf) '
            "or (-1,1]",
            f'{DATA}, line 1: KIDS: value "99" is not in the range "0..20"',
            f'{DATA}, line 2: expected 5 values but got 4: "male x( 2 3"',
            'data/tiny/c/Prototask.spec, line 8: test-set-selection: bad test-set-selection "shared": '
            "should be hierarchical, common",
        ]

    @pytest.mark.parametrize("spec", [b"", b"\0", b"Origin: natural\n"])
    def test_without_attributes_lines_must_be_alike(self, bench: Bench, spec: bytes) -> None:
        (bench.root / DATASET_SPEC).write_bytes(spec)
        bench.write(DATA, "male 1 2\nmale 3\nmale (2 5\n")
        bench.change("data/tiny/y/Prototask.spec", "Size: 16", "Size: none")
        lines = [line for line in bench.problems("/tiny") if not line.startswith(DATASET_SPEC)]
        assert lines == [
            f'{DATA}, line 2: expected 3 values but got 2: "male 3"',
            f'{DATA}, line 3: "(2" is no value: it is neither a number nor a category, nor missing or '
            "censored",
            'data/tiny/y/Prototask.spec, line 6: test-set-size: expected a positive integer but got "none"',
        ]

    def test_a_prototask_that_cannot_be_read_leaves_its_priors(self, bench: Bench) -> None:
        (bench.root / "data/tiny/y/Prototask.spec").write_bytes(b"Cases: all\n\0\n")
        bench.change("data/tiny/y/std.prior", "4 LM", "4 XX")
        assert bench.problems("/tiny/y") == [
            "data/tiny/y/Prototask.spec, line 2: NUL byte: this is not a text file",
            'data/tiny/y/std.prior, line 3: 4: bad level "XX": should be one or more of N, L, M, H',
        ]


class TestPrototasks:
    def test_a_specification_with_several_problems(self, bench: Bench) -> None:
        name = "data/tiny/y/Prototask.spec"
        bench.change(name, "Inputs: SEX 3", "Inputs: WEIGHT 3 AGE")
        bench.change(name, "Order: Random-order", "Order: Random order\nnonsense")
        assert bench.problems("/tiny/y") == [
            f'{name}, line 2: inputs: dataset "tiny" has no attribute "WEIGHT": it has numbers 1 to 5 and '
            "names SEX, AGE, KIDS, HOURS, COLOUR",
            f'{name}, line 3: order: expected "retain" or a file name in the prototask directory, '
            'got "Random order"',
            f'{name}, line 4: expected "key: value" but got "nonsense"',
            f"{name}, line 6: targets: AGE can't be both input and target",
        ]

    def test_an_order_that_is_no_permutation(self, bench: Bench) -> None:
        order = "data/tiny/y/Random-order"
        lines = (bench.root / order).read_text().split()
        bench.write(order, "\n".join(["41", lines[1], lines[1], "x", *lines[4:]]))
        first = min(int(lines[place]) for place in (0, 2, 3))
        assert bench.problems("/tiny/y") == [
            f'{order}: 3 of the 40 cases are not listed, the first is "{first}": run dgenorder',
            f'{order}, line 1: case "41" does not exist: there are cases 1 to 40',
            f"{order}, line 3: case {lines[1]} is listed twice",
            f'{order}, line 4: expected a case number but got "x"',
        ]

    def test_cases_that_do_not_exist(self, bench: Bench) -> None:
        bench.write("data/tiny/c/Some-cases", "1\n41 # one too many\n2\n2\n")
        assert bench.problems("/tiny/c") == [
            'data/tiny/c/Some-cases, line 2: case "41" does not exist: there are cases 1 to 40',
            "data/tiny/c/Some-cases, line 4: case 2 is listed twice",
        ]

    def test_a_missing_list(self, bench: Bench) -> None:
        (bench.root / "data/tiny/c/Some-cases").unlink()
        assert bench.problems("/tiny/c") == [
            '/tiny/c/Some-cases: case file "/tiny/c/Some-cases" not found in delve path'
        ]

    def test_a_missing_order_of_ones_own(self, bench: Bench) -> None:
        bench.change("data/tiny/y/Prototask.spec", "Random-order", "My-order")
        assert bench.problems("/tiny/y") == [
            '/tiny/y/My-order: order file "/tiny/y/My-order" not found in delve path'
        ]

    def test_a_random_order_may_still_be_to_be_made(self, bench: Bench) -> None:
        """The manual, 4.4, has dcheck run before dgenorder."""
        (bench.root / "data/tiny/y/Random-order").unlink()
        result = bench.check("/tiny/y")
        assert result.out == "/tiny/y: no problems found; Random-order is to be made by dgenorder\n"
        assert result.code == 0

    def test_sizes_that_cannot_be_drawn(self, bench: Bench) -> None:
        name = "data/tiny/y/Prototask.spec"
        bench.change(name, "4 6", "4 25 6 400")
        assert bench.problems("/tiny/y") == [
            f'{name}, line 7: training-set-sizes: no training set of "{size}" cases: prototask "y": 16 cases '
            f"for testing and the gap after them leave 24 of 40 cases, too few for a training set of {size}: "
            "lower Test-Set-Size or the training-set size"
            for size in (25, 400)
        ]
        bench.change(name, "Size: 16", "Size: 44")
        (line,) = bench.problems("/tiny/y")
        assert "Test-Set-Size 44 leaves nothing of the 40 cases" in line

    def test_stratified_sets(self, bench: Bench) -> None:
        name = "data/tiny/c/Prototask.spec"
        bench.change(
            name, "Training-Set-Sizes: 6 9", "Training-Set-Selection: stratified\nTraining-Set-Sizes: 6 9"
        )
        assert bench.problems("/tiny/c") == []
        bench.change(name, "6 9", "6 8")
        (line,) = bench.problems("/tiny/c")
        assert line.startswith(f'{name}, line 8: training-set-sizes: no training set of "8" cases: ')
        bench.write(DATA, data_with("male 3 2 3 ?", after=4))
        assert any(
            line.startswith(
                f'{name}, line 8: training-set-sizes: no stratified sets: the target of case "5" '
            )
            for line in bench.problems("/tiny/c")
        )

    def test_groups_torn_apart(self, bench: Bench) -> None:
        bench.change(DATASET_SPEC, "Attributes:", "Commonality indexes are present\nAttributes:")
        bench.write(DATA, data_with("male 3 2 3 red @7") + "male 3 2 3 red @7\n")
        bench.change("data/tiny/y/Prototask.spec", "Random-order", "retain")
        lines = bench.problems("-l", "/tiny/y")
        assert any("commonality index 7 don't follow one another" in line for line in lines)
        bench.change("data/tiny/y/Prototask.spec", "retain", "Random-order")
        bench.do("dgenorder", "data/tiny/y")
        bench.do("dgenproto", "data/tiny/y")
        assert bench.problems("-l", "/tiny/y") == []

    def test_missing_targets(self, bench: Bench) -> None:
        bench.change(DATASET_SPEC, "[0,150]", "[0,150] ?")
        bench.write(DATA, data_with("male ? 2 3 red", "male ? 2 3 red", after=2))
        bench.do("dgenproto", "data/tiny")
        assert bench.problems("/tiny") == [
            'data/tiny/y/Prototask.spec, line 5: targets: AGE is missing in 2 cases, first in case "3": '
            'write "Cases: no missing", or list the cases'
        ]

    def test_no_prior(self, bench: Bench) -> None:
        (bench.root / "data/tiny/y/std.prior").unlink()
        assert bench.problems("/tiny/y") == ['/tiny/y: there is no prior file: write at least "std.prior"']

    def test_cases_that_cannot_be_read(self, bench: Bench) -> None:
        bench.write(DATA, data_with("male 3 2 3"))
        assert bench.problems("/tiny/y") == ["/tiny/Dataset.data, line 1: expected 5 values but got 4"]


class TestPrototaskData:
    NAME = "data/tiny/y/Prototask.data"

    def test_wrong_width(self, bench: Bench) -> None:
        lines = (bench.root / self.NAME).read_text().splitlines()
        bench.write(self.NAME, "\n".join([lines[0] + " 7", *lines[1:5], "male", *lines[6:]]))
        assert bench.problems("/tiny/y") == [
            f'{self.NAME}, line 1: expected 5 values but got 6: "{lines[0]} 7"',
            f'{self.NAME}, line 6: expected 5 values but got 1: "male"',
        ]

    def test_stale_values(self, bench: Bench) -> None:
        lines = (bench.root / self.NAME).read_text().splitlines()
        words = lines[7].split()
        lines[7] = " ".join([*words[:4], f"{words[4]}.0"])
        bench.write(self.NAME, "# old\n" + "\n".join(lines))
        assert bench.problems("/tiny/y") == [
            f'{self.NAME}, line 9: AGE: stale: "{words[4]}.0" stands here, but "{words[4]}" would be '
            "extracted: run dgenproto"
        ]

    def test_stale_count(self, bench: Bench) -> None:
        (bench.root / DATA).write_text("".join(f"{row}\n" for row in rows(44)))
        bench.do("dgenorder", "data/tiny/y")
        assert bench.problems("/tiny/y") == [
            f'{self.NAME}: stale: it has "40" cases, but the prototask has 44: run dgenproto'
        ]

    def test_stale_commonality(self, bench: Bench) -> None:
        bench.change(DATASET_SPEC, "Attributes:", "Commonality indexes are present\nAttributes:")
        bench.write(DATA, data_with(f"{rows()[0]} @7"))
        lines = bench.problems("-l", "/tiny/y")
        assert len(lines) == 1
        assert lines[0].endswith("stale: the commonality index is another one: run dgenproto")

    def test_long_columns_of_numbers_are_compared_as_numbers(
        self, bench: Bench, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("redelve.data.delve.check.prototask_rules.MOST_COMPARED", 10)
        text = (bench.root / self.NAME).read_text()
        bench.write(self.NAME, text.replace(" 31\n", " 31.0\n"))
        assert bench.problems("/tiny/y") == []
        bench.write(self.NAME, text.replace(" 31\n", " 32\n", 1))
        assert "stale" in bench.problems("/tiny/y")[0]

    def test_without_the_dataset_its_own_values_are_checked(self, bench: Bench) -> None:
        (bench.root / DATA).unlink()
        (bench.root / "data/tiny/y/Random-order").unlink()
        bench.change("data/tiny/y/Prototask.spec", "Random-order", "retain")
        assert bench.problems("/tiny/y") == []
        text = (bench.root / self.NAME).read_text().splitlines()
        bench.write(self.NAME, "\n".join(["male 3 5 red 151", *text[1:]]))
        assert bench.problems("/tiny/y") == [
            f'{self.NAME}, line 1: AGE: value "151" is not in the range "[0,150]"'
        ]


PRIOR = "data/tiny/y/std.prior"


class TestPriors:
    def test_several_problems(self, bench: Bench) -> None:
        bench.write(PRIOR, "1 Q binary\n3 N nominal\n4 N angular\nCOLOUR N real\n9 N real\n1 N binary\n")
        assert bench.problems("/tiny/y/std.prior") == [
            f"{PRIOR}: AGE: no line for attribute 2 (AGE)",
            f'{PRIOR}, line 1: 1: bad level "Q": should be one or more of N, L, M, H',
            f"{PRIOR}, line 3: 4: an angular attribute needs unit=modulus, a positive number",
            f'{PRIOR}, line 4: COLOUR: type "real" is for numbers, but "red" is in the range',
            f'{PRIOR}, line 5: 9: dataset "tiny" has no attribute "9": it has numbers 1 to 5 and names SEX, '
            "AGE, KIDS, HOURS, COLOUR",
            f'{PRIOR}, line 6: 1: attribute "1" has two lines',
        ]

    def test_types_that_the_cases_do_not_suit(self, bench: Bench) -> None:
        bench.write(PRIOR, "1 N binary\n3 N integer\n4 N integer\n5 N nominal\n2 N integer missing=error\n")
        assert bench.problems("/tiny/y/std.prior") == []
        lines = bench.problems("/tiny/y")
        assert lines == bench.problems("/tiny")
        assert [line.partition(' "')[0] for line in lines] == [
            f"{PRIOR}, line 3: HOURS: expected integer but got",
            f"{PRIOR}, line 5: AGE: expected integer but got",
        ]

    def test_missing_values_that_may_not_be(self, bench: Bench) -> None:
        bench.change(PRIOR, "4 LM real", "4 LM real missing=error")
        (line,) = bench.problems("/tiny/y")
        assert line.startswith(f"{PRIOR}, line 3: HOURS: expected a number but got ")

    def test_an_integer_that_is_none(self, bench: Bench) -> None:
        bench.change(DATASET_SPEC, "0..20", "0..20 0.5")
        assert bench.problems("/tiny/y/std.prior") == [
            f'{PRIOR}, line 2: KIDS: type "integer" is for integers, but "0.5" is in the range'
        ]

    def test_bad_values_of_the_dataset_are_not_repeated_for_every_prior(self, bench: Bench) -> None:
        bench.write(DATA, data_with("male 3 2 3 pink"))
        bench.do("dgenproto", "data/tiny")
        assert bench.problems("/tiny") == [
            f'{DATA}, line 1: COLOUR: value "pink" is not in the range "red green blue"'
        ]
        (line,) = bench.problems("/tiny/y")
        assert line.startswith(f'{PRIOR}, line 4: COLOUR: bad value to encode "pink"')

    def test_dependent_cases_need_a_line_on_dependency(self, bench: Bench) -> None:
        bench.change(DATASET_SPEC, "Attributes:", "Commonality indexes are present\nAttributes:")
        assert bench.problems("/tiny/y/std.prior") == [
            f'{PRIOR}: dependency: cases have commonality indexes, but there is no line "dependency level '
            '[range=n]"'
        ]
        bench.change(PRIOR, "1 NLMH", "dependency LM\n1 NLMH")
        assert bench.problems("/tiny/y/std.prior") == []

    def test_a_sequence_needs_a_range_too(self, bench: Bench) -> None:
        bench.change(DATASET_SPEC, "uninformative", "informative")
        bench.change("data/tiny/y/Prototask.spec", "Random-order", "retain\nMaximum-Dependency-Range: 2")
        assert bench.problems("/tiny/y/std.prior") == [
            f'{PRIOR}: dependency: the prototask is sequential, but there is no line "dependency level '
            '[range=n]"'
        ]
        bench.change(PRIOR, "1 NLMH", "dependency LM\n1 NLMH")
        assert bench.problems("/tiny/y/std.prior") == [
            f"{PRIOR}: dependency: the prototask is sequential, but range=n is not given"
        ]
        bench.change(PRIOR, "dependency LM", "dependency LM range=2")
        assert bench.problems("/tiny/y/std.prior") == []

    def test_a_prior_that_is_not_there(self, bench: Bench) -> None:
        assert bench.problems("/tiny/y/other.prior") == [
            '/tiny/y/other.prior: prior file "/tiny/y/other.prior" not found in delve path'
        ]
