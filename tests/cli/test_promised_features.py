"""What DELVE's manual promised for later (docs/promised-features.md), one test or more for each promise."""

from __future__ import annotations

import ast
import itertools
import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest

from redelve.data.delve.case_lists import write_instances
from redelve.data.delve.reading import Library
from redelve.data.delve.roots import DataAddress, active
from redelve.model.designs import cross_validation_lists, leave_one_out_lists
from redelve.run.experiment import split
from tests.cli.oracle import arc, close, crossed, expect, figures, hierarchical, losses, wind
from tests.cli.workbench import Workbench, awk, column, dataset, instances, prototask, table, under

PROJECT = Path(__file__).parents[2]
SIZES = {"Test_Set_Size": "30", "Training_Set_Sizes": "10"}
NUMBERED = ("ID u 1..Inf", "X u (-Inf,Inf)", "Y u (-Inf,Inf)")
PRIOR = "1 NLMH integer\n2 NLMH real\n3 NLMH real\n"
GROUPS = "Commonality indexes are present\n"


def put(bench: Workbench, data: dict[str, str], **prototasks: dict[str, str]) -> None:
    """A dataset "d" with its prototasks."""
    folders = [under(name, files) for name, files in prototasks.items()]
    bench.write(under("data/d", {**data, **{key: text for files in folders for key, text in files.items()}}))


def rows_of(count: int) -> list[str]:
    """Cases that carry their own number, so that it can be seen where they went."""
    return [f"{number} {number * 37 % 101} {number * number % 17}" for number in range(1, count + 1)]


def copied(bench: Workbench, task: str, attributes: Sequence[str], *more: str) -> Path:
    """A task directory in which these attributes are left as they are in the dataset."""
    (bench.root / "codings").write_text("".join(f"{name} copy\n" for name in attributes))
    return bench.task("m", task, "-c", str(bench.root / "codings"), *more)


def cases_in(path: Path) -> list[int]:
    """The numbers that cases carry in their first column."""
    return [int(line[0]) for line in table(path)]


class TestCommonality:
    """Cases 1 to 3 have something in common, 4 to 6, and so on."""

    ROWS = tuple(f"{row} @{number // 3}" for number, row in enumerate(rows_of(90)))
    KEYS: ClassVar = {"Inputs": "ID X", "Targets": "Y", "Order": "Random-order", **SIZES}

    @pytest.fixture
    def group(self, bench: Workbench) -> Path:
        prior = f"dependency LM\n{PRIOR}"
        put(bench, dataset(NUMBERED, self.ROWS, extra=GROUPS), y=prototask(prior, **self.KEYS))
        folder = bench.root / "data/d/y"
        bench.do("dgenorder", "-q", cwd=folder)
        return folder

    def test_the_line_in_the_specification_is_read(self, bench: Workbench, group: Path) -> None:
        assert "Commonality indexes are present" in bench.do("dinfo", "/d").out.splitlines()
        assert bench.do("dcheck", "/d").out == "/d: no problems found\n"

    def test_a_random_order_keeps_groups_together(self, bench: Workbench, group: Path) -> None:
        order = [int(line) - 1 for line in (group / "Random-order").read_text().split()]
        assert sorted(order) == list(range(90))
        runs = [label for label, _ in itertools.groupby(order, lambda case: case // 3)]
        assert sorted(runs) == list(range(30))
        assert runs != sorted(runs)
        within = {tuple(case % 3 for case in order[start : start + 3]) for start in range(0, 90, 3)}
        assert len(within) > 1

    def test_no_group_is_in_two_sets(self, bench: Workbench, group: Path) -> None:
        folder = copied(bench, "d/y/std.10", ["ID"])
        used: dict[int, str] = {}
        assert len(instances(folder)) > 2
        for number in instances(folder):
            for name in (f"train.{number}", f"test.{number}"):
                cases = cases_in(folder / name)
                assert len(cases) == (
                    10 if name.startswith("train") else 30 // len(instances(folder)) // 3 * 3
                )
                for case in cases:
                    assert used.setdefault((case - 1) // 3, name) == name

    def test_groups_count_as_one_in_standard_errors(self, bench: Workbench, group: Path) -> None:
        folder = copied(bench, "d/y/std.10", ["ID"])
        awk("{ print 8 }", folder, "guess.{}", "test.{}")
        bench.do("mloss", "-q", "-l", "S", cwd=folder)
        y = np.array(losses(folder, "S"))
        pooled = y.reshape(len(y), -1, 3).mean(axis=2)
        shown = bench.do("mstats", cwd=folder).out
        wanted = hierarchical(pooled)
        assert figures(shown)["Estimated expected loss"][0] == pytest.approx(y.mean(), rel=1e-7)
        assert figures(shown)["Standard error for estimate"][0] == pytest.approx(wanted.error, rel=1e-6)
        assert hierarchical(y).error != pytest.approx(wanted.error, rel=1e-3)
        assert f"Cases with the same commonality index count as one: {pooled.size} units in all." in shown

    def test_an_order_that_tears_groups_apart_is_refused(self, bench: Workbench, group: Path) -> None:
        (group / "Random-order").write_text("".join(f"{n}\n" for n in [*range(2, 91), 1]))
        bench.do("mgendir", "-q", "d/y/std.10", cwd=bench.method("m"))
        complaint = bench.fail("mgendata", "-q", "d/y/std.10", cwd=bench.method("m"))
        assert "commonality index 0 don't follow one another" in complaint
        assert "run dgenorder" in complaint

    def test_indexes_are_ignored_without_the_line(self, bench: Workbench) -> None:
        """Which was all that DELVE 1.1 could do with them."""
        keys = {**self.KEYS, "Order": "retain"}
        put(bench, dataset(NUMBERED, self.ROWS), y=prototask(PRIOR, **keys))
        folder = copied(bench, "d/y/std.10", ["ID"])
        assert cases_in(folder / "train.0") == list(range(31, 41))

    def test_prototask_data_keep_indexes_and_comments(self, bench: Workbench) -> None:
        rows = [*self.ROWS[:89], "90 5 3 @29 # a doubtful one"]
        put(
            bench,
            dataset(NUMBERED, rows, extra=GROUPS),
            y=prototask(PRIOR, **{**self.KEYS, "Order": "retain"}),
        )
        bench.do("dgenproto", "-q", cwd=bench.root / "data/d/y")
        assert (bench.root / "data/d/y/Prototask.data").read_text().splitlines() == rows


class TestSequences:
    KEYS: ClassVar = {"Inputs": "ID X", "Targets": "Y", **SIZES}

    @pytest.fixture
    def sequence(self, bench: Workbench) -> Path:
        keys = {**self.KEYS, "Maximum_Dependency_Range": "7"}
        put(bench, dataset(NUMBERED, rows_of(90), order="informative"), y=prototask(PRIOR, **keys))
        return bench.root / "data/d/y"

    def test_a_gap_is_left_between_test_and_training_cases(self, bench: Workbench, sequence: Path) -> None:
        folder = copied(bench, "d/y/std.10", ["ID"])
        assert len(instances(folder)) == (90 - 30 - 7) // 10
        for number in instances(folder):
            trained, tested = cases_in(folder / f"train.{number}"), cases_in(folder / f"test.{number}")
            assert trained == list(range(trained[0], trained[0] + 10))
            assert min(abs(a - b) for a in trained for b in tested) > 7
        assert cases_in(folder / "train.0")[0] == 38

    def test_statistics_come_with_a_caveat(self, bench: Workbench, sequence: Path) -> None:
        folder = bench.task("m", "d/y/std.10")
        awk("{ print 0 }", folder, "cguess.{}", "test.{}")
        bench.do("mloss", "-q", cwd=folder)
        shown = " ".join(bench.do("mstats", "-l", "S", cwd=folder).out.split())
        assert "Note: the prototask is sequential" in shown

    def test_the_order_must_stay(self, bench: Workbench, sequence: Path) -> None:
        assert "is sequential: its cases must keep their order" in bench.fail("dgenorder", cwd=sequence)

    @pytest.mark.parametrize(
        ("order", "extra", "keys", "complaint"),
        [
            ("uninformative", "", {}, "needs a dataset whose order is informative"),
            ("informative", GROUPS, {}, "can't have commonality indexes"),
            ("informative", "", {"Order": "Random-order"}, "must retain the original order"),
            ("informative", "", {"Training_Set_Selection": "stratified"}, "can't have stratified"),
        ],
    )
    def test_what_does_not_go_with_a_sequence(
        self, order: str, extra: str, keys: dict[str, str], complaint: str, bench: Workbench
    ) -> None:
        spec = {**self.KEYS, "Maximum_Dependency_Range": "7", **keys}
        put(bench, dataset(NUMBERED, rows_of(90), order=order, extra=extra), y=prototask(PRIOR, **spec))
        assert complaint in bench.violations("/d")
        bench.write({"methods/m/d/y/std.10/": ""})
        bench.fail("mgendata", "d/y/std.10", cwd=bench.method("m"))

    def test_explicit_instances_must_keep_their_distance(self, bench: Workbench, sequence: Path) -> None:
        lists = bench.root / "lists"
        bench.write({"methods/m/d/y/std.10/": ""})
        for text, complaint in (
            ("train 0: 1..10\ntest 0: 17..20\n", "it must be further than Maximum-Dependency-Range 7"),
            ("train 0: 10 9 8\ntest 0: 30\n", "list training cases in its order"),
        ):
            lists.write_text(text)
            folder = bench.method("m") / "d/y/std.10"
            assert complaint in bench.fail("mgendata", "-n", str(lists), cwd=folder)
        lists.write_text("train 0: 1..10\ntest 0: 18..20\n")
        bench.do("mgendata", "-q", "-n", str(lists), cwd=bench.method("m") / "d/y/std.10")

    def test_neighbours_can_be_made_strangers_by_a_random_order(self, bench: Workbench) -> None:
        """The only way that DELVE 1.1 knew."""
        put(
            bench,
            dataset(NUMBERED, rows_of(90), order="informative"),
            y=prototask(PRIOR, **{**self.KEYS, "Order": "Random-order", "Origin": "cultivated"}),
        )
        bench.do("dgenorder", "-q", cwd=bench.root / "data/d/y")
        folder = copied(bench, "d/y/std.10", ["ID"])
        assert cases_in(folder / "train.0") != sorted(cases_in(folder / "train.0"))


class TestCensoredValues:
    """Survival times: every fourth person was still alive when last seen."""

    ROWS = tuple(f"{n} {n / 10:.1f}{':' if n % 4 == 0 else ''}" for n in range(1, 61))
    ATTRIBUTES = ("ID u 1..Inf", "TIME u [0,Inf)")
    KEYS: ClassVar = {"Inputs": "ID", "Targets": "TIME", **SIZES}

    @pytest.fixture
    def folder(self, bench: Workbench) -> Path:
        put(
            bench,
            dataset(self.ATTRIBUTES, self.ROWS),
            time=prototask("1 NLMH integer\n2 NLMH real\n", **self.KEYS),
        )
        assert bench.do("dcheck", "/d").out == "/d: no problems found\n"
        return bench.task("m", "d/time/std.10")

    def truth(
        self, number: int, folder: Path
    ) -> tuple[np.ndarray[tuple[int], np.dtype[np.float64]], list[bool]]:
        size = 30 // len(instances(folder))
        chosen = self.ROWS[number * size : (number + 1) * size]
        words = [row.split()[1] for row in chosen]
        return np.array([float(word.strip(":")) for word in words]), [word.endswith(":") for word in words]

    def test_they_are_coded_with_their_colons(self, folder: Path) -> None:
        lines = [line[0] for line in table(folder / "targets.0")]
        _, censored = self.truth(0, folder)
        assert [line.endswith(":") for line in lines] == censored
        assert any(censored)

    def test_a_guess_beyond_the_bound_costs_nothing(self, bench: Workbench, folder: Path) -> None:
        awk("{ print 1.5 }", folder, "guess.{}", "test.{}")
        bench.do("mloss", "-q", cwd=folder)
        for number in instances(folder):
            times, censored = self.truth(number, folder)
            wrong = np.abs(times - 1.5)
            wanted = np.where(np.array(censored) & (times <= 1.5), 0, wrong)
            close(column(folder / f"loss.A.{number}"), wanted)
            close(column(folder / f"loss.S.{number}"), wanted**2)

    def test_log_loss_takes_the_probability_of_the_interval(self, bench: Workbench, folder: Path) -> None:
        """An exponential distribution in coded units: only densities change with the variable."""
        awk("{ v = $1 + 0; print /:/ ? exp(-0.1) : exp(-v) }", folder, "cptarg.{}", "targets.{}")
        bench.do("mloss", "-q", "-l", "L", cwd=folder)
        _, censored = self.truth(0, folder)
        found = column(folder / "loss.L.0")
        assert [loss == pytest.approx(0.1, abs=1e-5) for loss in found] == censored

    def test_the_built_in_method_refuses_them(self, bench: Workbench, folder: Path) -> None:
        assert "expected a number but got" in bench.fail("apply", "lin-1", "-q", cwd=folder)

    def test_a_bound_that_the_range_cannot_reach_is_a_violation(self, bench: Workbench) -> None:
        rows = ["1 2:", "2 :-1", "3 5"]
        put(bench, dataset(self.ATTRIBUTES, rows), time=prototask("1 L integer\n2 L real\n", **self.KEYS))
        found = bench.violations("-l", "/d")
        assert found.count("\n") == 1
        assert 'line 2: TIME: censored value ":-1" includes no value of the range' in found


class TestMissingValues:
    ATTRIBUTES = ("X u [0,99] ? ?lost", "KIND u a b ?", "Y u [0,99] ?")
    PRIOR = "1 NLMH real\n2 NLMH binary\n3 NLMH real\n"
    KEYS: ClassVar = {"Inputs": "X KIND", "Targets": "Y", **SIZES}

    def put(self, bench: Workbench, prior: str = PRIOR, **keys: str) -> None:
        rows = [
            f"{('?', '?lost')[n % 2] if n % 5 == 0 else n} {'?' if n % 7 == 0 else 'ab'[n % 2]} {n % 11}"
            for n in range(1, 81)
        ]
        put(bench, dataset(self.ATTRIBUTES, rows), y=prototask(prior, **{**self.KEYS, **keys}))

    def test_an_indicator_tells_where(self, bench: Workbench) -> None:
        self.put(bench)
        folder = bench.task("m", "d/y/std.10")
        for line, number in zip(table(folder / "train.0"), range(31, 41), strict=True):
            assert line[1] == str(int(number % 5 == 0))
            assert line[3] == str(int(number % 7 == 0))
            if number % 5 == 0:
                assert float(line[0]) == 0.0
            if number % 7 == 0:
                assert line[2] == "0"
        assert "X:?" in bench.do("minfo", cwd=folder).out

    def test_they_can_be_imputed(self, bench: Workbench) -> None:
        self.put(
            bench, self.PRIOR.replace("real", "real missing=impute").replace("ary", "ary missing=impute")
        )
        folder = bench.task("m", "d/y/std.10")
        assert {len(line) for line in table(folder / "train.0")} == {3}
        assert float(table(folder / "train.0")[4][0]) == 0.0

    def test_a_coding_can_choose_otherwise(self, bench: Workbench) -> None:
        self.put(bench)
        (bench.root / "codings").write_text("X copy\nKIND therm\n")
        complaint = bench.run("mgendata", ["-c", str(bench.root / "codings")], self._empty(bench)).err
        assert 'can\'t use "therm"' in complaint
        (bench.root / "codings").write_text("X copy\nKIND -1/+1 missing=error\n")
        assert "KIND" in bench.fail(
            "mgendata", "-q", "-c", str(bench.root / "codings"), cwd=self._empty(bench)
        )
        (bench.root / "codings").write_text("X copy\n")
        folder = bench.task("m", "d/y/std.10", "-c", str(bench.root / "codings"))
        assert table(folder / "train.0")[4][0] == "?lost"

    def _empty(self, bench: Workbench) -> Path:
        bench.do("mgendir", "-q", "d/y/std.10", cwd=bench.method("m"))
        return bench.method("m") / "d/y/std.10"

    def test_cases_that_lack_a_value_can_be_left_out(self, bench: Workbench) -> None:
        self.put(bench, Cases="no missing", Inputs="X", Training_Set_Sizes="8")
        folder = copied(bench, "d/y/std.8", ["X"])
        known = [n for n in range(1, 81) if n % 5]
        assert cases_in(folder / "train.0") == known[30:38]

    def test_where_they_are_left_out_no_column_tells_of_them(self, bench: Workbench) -> None:
        self.put(bench, Cases="no missing", Inputs="X", Training_Set_Sizes="8")
        folder = bench.task("m", "d/y/std.8")
        assert {len(line) for line in table(folder / "train.0")} == {2}
        assert "X:?" not in bench.do("minfo", cwd=folder).out
        assert "X:?" not in bench.do("dinfo", "/d/y/std.8").out
        assert "?" in bench.do("dinfo", "-t", "-k", "range,1", "/d/y").out
        task = Library(active(str(bench.root))).task(DataAddress("d", "y", "std.8")).assignment()
        training, _, _ = split(task, task.instances[0])
        assert training.encode().input_names == ("X",)
        (bench.root / "codings").write_text("X nm-abs missing=indicator\n")
        folder = bench.task("n", "d/y/std.8", "-c", str(bench.root / "codings"))
        assert {len(line) for line in table(folder / "train.0")} == {3}
        assert "X:?" in bench.do("minfo", cwd=folder).out

    def test_a_target_must_be_known(self, bench: Workbench) -> None:
        self.put(bench)
        path = bench.root / "data/d/Dataset.data"
        path.write_text(path.read_text().replace("33 b 0\n", "33 b ?\n"))
        complaint = bench.fail("mgendata", "-q", cwd=self._empty(bench))
        assert "the target of case 33 is missing" in complaint
        assert "no missing" in complaint

    def test_a_missing_value_must_be_in_the_range(self, bench: Workbench) -> None:
        self.put(bench)
        path = bench.root / "data/d/Dataset.data"
        path.write_text(path.read_text().replace("?lost", "?stolen", 1))
        found = bench.violations("-l", "/d")
        assert "?stolen" in found


class TestDcheck:
    def test_violations_are_listed_by_file_line_and_rule(self, bench: Workbench) -> None:
        put(
            bench,
            dataset(("X u [0,9]", "Y u a b"), ["1 a", "11 b", "2 c", "3"]),
            y=prototask("1 NLMH real\n2 XX binary\n", Inputs="X", Targets="Z", **SIZES),
        )
        found = bench.violations("/d")
        assert re.search(r"Dataset.data.*line 2.*11", found)
        assert re.search(r"Dataset.data.*line 3", found)
        assert re.search(r"Prototask.spec.*Z", found)
        assert re.search(r"std.prior.*line 2.*XX", found)

    def test_the_built_in_datasets_are_sound(self, bench: Workbench) -> None:
        assert bench.do("dcheck", "/demo").out == "/demo: no problems found\n"


class TestAttributeZero:
    KEYS: ClassVar = {"Inputs": "0 X", "Targets": "Y", **SIZES}
    PRIOR = "0 L integer\n2 NLMH real\n3 NLMH real\n"

    def test_it_is_the_number_of_the_case(self, bench: Workbench) -> None:
        put(
            bench,
            dataset(NUMBERED, rows_of(80), order="informative"),
            y=prototask(self.PRIOR, **self.KEYS, Cases="chosen"),
        )
        bench.write({"data/d/y/chosen": "".join(f"{n}\n" for n in range(2, 81, 1))})
        folder = copied(bench, "d/y/std.10", ["0"])
        assert cases_in(folder / "test.0")[:3] == [2, 3, 4]
        assert cases_in(folder / "train.0") == list(range(32, 42))
        assert "    1   0  CASE " in bench.do("minfo", cwd=folder).out

    def test_a_method_can_be_judged_that_uses_it(self, bench: Workbench) -> None:
        put(
            bench,
            dataset(NUMBERED, rows_of(80), order="informative"),
            y=prototask(self.PRIOR, **self.KEYS),
        )
        folder = bench.task("m", "d/y/std.10")
        awk("{ print $1 }", folder, "cguess.{}", "test.{}")
        bench.do("mloss", "-q", cwd=folder)
        assert "Based on 5 disjoint" in bench.do("mstats", "-l", "S", cwd=folder).out

    def test_it_can_be_a_target(self, bench: Workbench) -> None:
        spec = {**self.KEYS, "Inputs": "X", "Targets": "0"}
        put(bench, dataset(NUMBERED, rows_of(80), order="informative"), y=prototask(self.PRIOR, **spec))
        folder = bench.task("m", "d/y/std.10")
        awk("{ print 3 }", folder, "guess.{}", "test.{}")
        bench.do("mloss", "-q", "-l", "A", cwd=folder)
        assert column(folder / "loss.A.0") == [2.0, 1.0, 0.0, 1.0, 2.0, 3.0]

    def test_it_needs_an_informative_order(self, bench: Workbench) -> None:
        put(bench, dataset(NUMBERED, rows_of(80)), y=prototask(self.PRIOR, **self.KEYS))
        assert "attribute 0 needs an informative order" in bench.fail("dinfo", "/d/y")


class TestStratification:
    ATTRIBUTES = ("ID u 1..Inf", "KIND u a b c")
    PRIOR = "1 NLMH integer\n2 NLMH nominal\n"
    ROWS = tuple(f"{n} {'aaabbc'[n % 6]}" for n in range(1, 181))

    def put(self, bench: Workbench, **keys: str) -> None:
        spec = {"Inputs": "ID", "Targets": "KIND", "Test_Set_Size": "60", "Training_Set_Sizes": "6", **keys}
        put(
            bench,
            dataset(self.ATTRIBUTES, self.ROWS),
            kind=prototask(self.PRIOR, Training_Set_Selection="stratified", **spec),
        )

    def kinds(self, path: Path) -> list[str]:
        return sorted("aaabbc"[case % 6] for case in cases_in(path))

    @pytest.mark.parametrize("selection", ["common", "hierarchical"])
    def test_every_class_has_the_same_number_of_cases(self, selection: str, bench: Workbench) -> None:
        """In test sets, too: the expected loss is that for classes that are equally likely."""
        self.put(bench, Test_Set_Selection=selection, Maximum_Number_Of_Instances="4")
        folder = copied(bench, "d/kind/std.6", ["ID"])
        assert len(instances(folder)) == 4
        for number in instances(folder):
            assert self.kinds(folder / f"train.{number}") == list("aabbcc")
            share = 20 if selection == "common" else 5
            assert self.kinds(folder / f"test.{number}") == sorted("abc" * share)
        trained = [case for number in range(4) for case in cases_in(folder / f"train.{number}")]
        assert len(set(trained)) == 24
        assert "Training set selection: stratified" in bench.do("dinfo", "/d/kind").out

    def test_the_size_must_be_a_multiple_of_the_number_of_classes(self, bench: Workbench) -> None:
        self.put(bench)
        bench.write({"methods/m/d/kind/std.7/": ""})
        complaint = bench.fail("mgendata", "-q", "d/kind/std.7", cwd=bench.method("m"))
        assert "not a multiple of the number of classes 3" in complaint

    def test_a_random_order_needs_nothing_special(self, bench: Workbench) -> None:
        """Strata are formed when instances are drawn, so dgenorder has only to shuffle."""
        self.put(bench, Order="Random-order")
        bench.do("dgenorder", "-q", cwd=bench.root / "data/d/kind")
        folder = copied(bench, "d/kind/std.6", ["ID"])
        assert self.kinds(folder / "train.0") == list("aabbcc")

    def test_it_is_for_one_target_with_finitely_many_values(self, bench: Workbench) -> None:
        self.put(bench, Inputs="KIND", Targets="ID")
        assert "stratified training sets need a finite target" in bench.fail("dinfo", "/d/kind")


class TestPriors:
    KEYS: ClassVar = {"Inputs": "GRADE X", "Targets": "Y", **SIZES}
    ATTRIBUTES = ("GRADE u low high middle", "X u [0,99]", "Y u [0,99]")
    ROWS = tuple(f"{('low', 'high', 'middle')[n % 3]} {n} {n % 9}" for n in range(1, 61))

    def put(self, bench: Workbench, prior: str, order: str = "uninformative", **keys: str) -> None:
        spec = {**self.KEYS, **keys}
        put(bench, dataset(self.ATTRIBUTES, self.ROWS, order=order), y=prototask(prior, **spec))

    @pytest.mark.parametrize("level", ["N", "L", "H", "NLM", "NLMH"])
    def test_noise_and_relevance_do_not_change_default_codings(self, level: str, bench: Workbench) -> None:
        self.put(bench, f"1 {level} ordinal\n2 {level} real\n3 {level} real\n")
        folder = bench.task("m", "d/y/std.10")
        assert (folder / "Coding-used").read_text() == (
            "GRADE therm  scale=sqrt\nX nm-abs  scale=sqrt\nY nm-abs  scale=sqrt\n"
        )
        assert f" {level.lower()} " in bench.do("dinfo", "/d/y/std.10").out

    def test_the_order_of_ordinal_values_can_be_given(self, bench: Workbench) -> None:
        rest = "2 NLMH real\n3 NLMH real\n"
        self.put(bench, f"1 NLMH ordinal\n{rest}")
        (bench.root / "data/d/y/graded.prior").write_text(f"1 NLMH ordinal order=low,middle,high\n{rest}")
        first = {}
        for prior in ("std", "graded"):
            folder = bench.task("m", f"d/y/{prior}.10")
            first[prior] = {tuple(line[:2]) for line in table(folder / "train.0")[:3]}
            assert len(first[prior]) == 3
        shown = bench.do("dinfo", "/d/y/graded.10").out
        assert shown.index("GRADE:middle") < shown.index("GRADE:high")
        codes = [tuple(line[:2]) for line in table(bench.method("m") / "d/y/graded.10/train.0")[:3]]
        grades = [row.split()[0] for row in self.ROWS[30:33]]
        step = "0.707106781"
        assert dict(zip(grades, codes, strict=True)) == {
            "low": (f"-{step}", f"-{step}"),
            "middle": (step, f"-{step}"),
            "high": (step, step),
        }

    def test_an_order_must_list_every_value(self, bench: Workbench) -> None:
        self.put(bench, "1 L ordinal order=low,high\n2 L real\n3 L real\n")
        assert "no rearrangement of the values" in bench.fail("dinfo", "/d/y/std.10")

    def test_dependencies_are_read_and_shown(self, bench: Workbench) -> None:
        """They inform whoever designs a method; codings and instances do not depend on them."""
        prior = "1 L ordinal\n2 L real\n3 L real\n"
        self.put(bench, prior, order="informative", Maximum_Dependency_Range="5")
        (bench.root / "data/d/y/dependent.prior").write_text(f"dependency LM range=20\n{prior}")
        shown = bench.do("dinfo", "/d/y/dependent.10").out
        assert "Dependency between cases: lm range=20\n" in shown
        assert bench.do("dinfo", "-t", "-k", "dependency", "/d/y/dependent.10").out == "lm range=20\n"
        folders = [bench.task("m", f"d/y/{name}.10") for name in ("std", "dependent")]
        assert (folders[0] / "train.0").read_text() == (folders[1] / "train.0").read_text()

    def test_where_cases_may_depend_on_each_other_the_prior_must_say_how(self, bench: Workbench) -> None:
        prior = "1 L ordinal\n2 L real\n3 L real\n"
        self.put(bench, prior, order="informative", Maximum_Dependency_Range="5")
        assert "dependency" in bench.violations("/d")
        self.put(bench, f"dependency L range=5\n{prior}", order="informative", Maximum_Dependency_Range="5")
        assert bench.do("dcheck", "/d").out == "/d: no problems found\n"

    def test_bad_dependencies_are_violations(self, bench: Workbench) -> None:
        self.put(bench, "dependency X range=many\n1 L ordinal\n2 L real\n3 L real\n")
        found = bench.violations("/d")
        assert 'bad level "X"' in found
        assert 'expected "range=n"' in found

    def test_transformations_and_smoothness_cannot_be_given(self, bench: Workbench) -> None:
        for option in ("transform=log", "smoothness=H"):
            self.put(bench, f"1 L ordinal\n2 L real {option}\n3 L real\n")
            assert "unknown option" in bench.fail("dinfo", "/d/y/std.10")


class TestLosses:
    def test_guesses_of_angles_go_the_shorter_way(self, bench: Workbench) -> None:
        raw = wind(bench)
        folder = bench.task("m", "wind/from/std.10")
        awk("{ print 350 }", folder, "guess.{}", "test.{}")
        bench.do("mloss", "-q", cwd=folder)
        expect(folder, "A", lambda n: arc(raw.numbers(raw.testing(n), 2), 350.0, 360))
        expect(folder, "S", lambda n: arc(raw.numbers(raw.testing(n), 2), 350.0, 360) ** 2)

    def test_all_targets_have_the_same_loss(self, bench: Workbench) -> None:
        """There is no loss that squares one target's error and counts another's."""
        wind(bench)
        folder = bench.task("m", "wind/mixed/std.10")
        awk('{ print "10 clear" }', folder, "guess.{}", "test.{}")
        for code in ("S", "Z"):
            assert f"loss {code} is for" in bench.fail("mloss", "-q", "-l", code, cwd=folder)

    def test_no_guess_at_a_penalty(self, bench: Workbench) -> None:
        raw = wind(bench)
        folder = bench.task("m", "wind/both/std.10")
        awk('{ print (NR % 2) ? "?" : "2 2" }', folder, "guess.{}", "test.{}")
        bench.do("mloss", "-q", "-l", "S0.5N", cwd=folder)
        odd = np.arange(40) % 2 == 0

        def wanted(number: int) -> list[float]:
            tested = raw.testing(number)
            squares = (raw.numbers(tested, 1) - 2) ** 2 + (raw.numbers(tested, 3) - 2) ** 2
            return [1.0 if silent else square for silent, square in zip(odd, squares, strict=True)]

        expect(folder, "S0.5N", wanted)
        assert "no-guess penalty 0.5" in bench.do("mstats", cwd=folder).out

    def test_a_loss_matrix_with_a_row_for_no_guess(self, bench: Workbench) -> None:
        raw = wind(bench)
        keys = {"Inputs": "1", "Targets": "4", "Test_Set_Size": "40", "Training_Set_Sizes": "10"}
        prior = "1 NLMH real\n4 NLMH nominal\n"
        sky = prototask(prior, **keys) | {"umbrella": "0 1 5\n1 0 4\n2 2 0\n1 1 1\n"}
        bench.write(under("data/wind/sky", sky))
        folder = bench.task("m", "wind/sky/std.10")
        awk('{ print (NR % 2) ? "?" : "clear" }', folder, "guess.Mumbrella.{}", "test.{}")
        bench.do("mloss", "-q", "-l", "Mumbrella", cwd=folder)
        size = 40 // len(instances(folder))
        for number in instances(folder):
            words = raw.words(raw.rows[number * size : (number + 1) * size], 4)
            costs = {"clear": 0, "grey": 1, "rain": 5}
            wanted = [1 if place % 2 == 0 else costs[word] for place, word in enumerate(words)]
            assert column(folder / f"loss.Mumbrella.{number}") == wanted
        assert 'Loss: Mumbrella (Loss matrix "umbrella")' in bench.do("mstats", cwd=folder).out


class TestInstances:
    """Instances that are not the standard ones."""

    def lists(self, bench: Workbench, lists: Sequence[tuple[Sequence[int], Sequence[int]]]) -> Path:
        (bench.root / "lists").write_text(write_instances(lists))
        folder = bench.task("m", "wind/both/std.10", "-n", str(bench.root / "lists"))
        awk('{ print "2 2" }', folder, "guess.{}", "test.{}")
        bench.do("mloss", "-q", "-l", "A", cwd=folder)
        return folder

    def test_leave_one_out(self, bench: Workbench) -> None:
        wind(bench)
        made = leave_one_out_lists(range(1, 21))
        folder = self.lists(bench, [(list(a), list(b)) for a, b in made])
        assert len(instances(folder)) == 20
        assert {len(table(folder / f"train.{n}")) for n in range(20)} == {19}
        shown = " ".join(bench.do("mstats", cwd=folder).out.split())
        assert "Based on 20 overlapping training sets, each containing 19 cases" in shown
        assert "no unbiased standard error exists" in shown

    def test_cross_validation(self, bench: Workbench) -> None:
        wind(bench)
        made = cross_validation_lists(range(1, 101), 5, ("/wind/both", "five folds"))
        folder = self.lists(bench, [(list(a), list(b)) for a, b in made])
        assert [len(row) for row in losses(folder, "A")] == [20] * 5
        assert "training sets overlap" in " ".join(bench.do("mstats", cwd=folder).out.split())

    def test_the_instances_of_an_older_method(self, bench: Workbench) -> None:
        wind(bench)
        older = self.lists(bench, [(range(1, 11), range(51, 76)), (range(11, 21), range(76, 101))])
        again = bench.task("n", "wind/both/std.10", "-n", str(older / "Instances-used"))
        for number in range(2):
            assert (again / f"train.{number}").read_text() == (older / f"train.{number}").read_text()
        awk('{ print "1 1" }', again, "guess.{}", "test.{}")
        bench.do("mloss", "-q", "-l", "A", cwd=again)
        assert "Significance" in bench.do("mstats", "-c", "m", cwd=again).out


class TestSeeds:
    def test_the_effect_of_seeds_is_told_from_that_of_training_sets(self, bench: Workbench) -> None:
        """Training sets that matter and seeds that do not, then the other way round."""
        wind(bench)
        folder = bench.task("m", "wind/both/std.10")
        noise = np.random.default_rng(1).normal(size=(2, 6, 40))
        effects = 10.0 * np.arange(6)
        for by_seed in (False, True):
            for run, base in enumerate(("loss", "again")):
                for number in range(6):
                    shift = 10.0 * run * (-1) ** number if by_seed else effects[number]
                    rows = 100 + noise[run, number] + shift
                    (folder / f"{base}.S.{number}").write_text("".join(f"{loss:.9g}\n" for loss in rows))
            found = figures(bench.do("mstats", "-l", "S", "-i", "loss again", cwd=folder).out)
            sets, seeds = found["SD from training sets"][0], found["SD from random seeds"][0]
            small, large = (sets, seeds) if by_seed else (seeds, sets)
            assert large == pytest.approx(50**0.5 if by_seed else 350**0.5, rel=0.1)
            assert small < large / 2

    def test_one_run_lumps_them_together(self, bench: Workbench) -> None:
        wind(bench)
        folder = bench.task("m", "wind/both/std.10")
        awk('{ print "2 2" }', folder, "guess.{}", "test.{}")
        bench.do("mloss", "-q", "-l", "S", cwd=folder)
        found = figures(bench.do("mstats", cwd=folder).out)
        wanted = crossed(np.array(losses(folder, "S"))).training
        assert found["SD from training sets & stochastic training"][0] == pytest.approx(wanted, abs=1e-6)


class TestScope:
    def test_a_prototask_needs_targets(self, bench: Workbench) -> None:
        """Learning without targets is not assessed."""
        put(bench, dataset(NUMBERED, rows_of(80)), y=prototask(PRIOR, Inputs="X", Targets="", **SIZES))
        assert '"targets" is empty' in bench.fail("dinfo", "/d/y")


# The table


def promises() -> list[list[str]]:
    """The cells of every row of the tables in docs/promised-features.md."""
    lines = (PROJECT / "docs/promised-features.md").read_text().splitlines()
    rows = [line.strip("|").split(" | ") for line in lines if line.startswith("| ")]
    return [[cell.strip() for cell in row] for row in rows if not row[0].strip().startswith("where")]


@cache
def names_of_tests(path: Path) -> set[str]:
    """The names of a module's tests, with their classes."""
    found = set()
    for node in ast.parse(path.read_text()).body:
        if isinstance(node, ast.ClassDef):
            found |= {f"{node.name}.{item.name}" for item in node.body if isinstance(item, ast.FunctionDef)}
        elif isinstance(node, ast.FunctionDef):
            found.add(node.name)
    return found


def test_every_test_named_in_the_table_exists() -> None:
    own = Path(__file__)
    named: set[str] = set()
    for row in promises():
        assert len(row) == 4, row
        for name in re.findall(r"`([^`]+)`", row[3]):
            path, _, test = name.rpartition("::")
            place = PROJECT / path if path else own
            known = names_of_tests(place)
            assert test in known or any(each.startswith(f"{test}.") for each in known), name
            named |= {test} if not path else set()
        assert "`" in row[3] or (row[3] == "none" and row[2].startswith("not there")), row
    for test in names_of_tests(own):
        if ".test_" in test:
            assert test in named or test.split(".")[0] in named, f"{test} is in no row of the table"
