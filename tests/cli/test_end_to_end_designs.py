"""From mgendir to mstats: standard and explicit instances, and several runs on the same instances."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from tests.cli.oracle import (
    Raw,
    close,
    crossed,
    expect,
    figures,
    hierarchical,
    losses,
    median_and_deviation,
    p_value,
    wind,
)
from tests.cli.workbench import Workbench, awk, column, instances, table


class TestDesigns:
    @pytest.fixture
    def methods(self, bench: Workbench) -> tuple[Path, Path]:
        """Two methods on a task with a common test set."""
        wind(bench)
        folders = bench.task("one", "wind/both/std.10"), bench.task("two", "wind/both/std.10")
        for folder, program in zip(folders, ('{ print "0 0" }', "{ print $1, 0.5 }"), strict=True):
            awk(program, folder, "cguess.{}", "test.{}")
            bench.do("mloss", "-q", cwd=folder)
        return folders

    def test_a_common_test_set(self, bench: Workbench, methods: tuple[Path, Path]) -> None:
        """The F-test of docs/statistics.md, and the quasi-F test of the manual, eqs. 19 to 21."""
        own, theirs = (np.array(losses(folder, "S")) for folder in methods)
        shown = bench.do("mstats", "-l", "S", "-c", "two", cwd=methods[0]).out
        expected = crossed(own - theirs)
        found = figures(shown)
        assert found["Estimated expected difference"][0] == pytest.approx(expected.mean, rel=1e-6)
        assert found["Standard error for difference estimate"][0] == pytest.approx(expected.error, rel=1e-6)
        assert found["SD from test cases"][0] == pytest.approx(expected.cases, rel=1e-6)
        a, b, rest = expected.squares
        assert b is not None
        sets, cases = own.shape
        total = sets * cases * expected.mean**2
        above, weighed = max(b - rest, 0), (sets + 1) / (sets - 1) * a
        df = (weighed + above) ** 2 / (weighed**2 / (sets - 1) + above**2 / (cases - 1))
        p = stats.f.sf(total / (a + above), 1, df)
        assert p_value(shown) == pytest.approx(p, rel=1e-6)
        df1 = (total + rest) ** 2 / (total**2 + rest**2 / ((sets - 1) * (cases - 1)))
        df2 = (a + b) ** 2 / (a**2 / (sets - 1) + b**2 / (cases - 1))
        quasi = stats.f.sf((total + rest) / (a + b), df1, df2)
        (printed,) = re.findall(r"quasi-F test.*: p = (\S+)\)", shown)
        assert float(printed) == pytest.approx(quasi, rel=1e-6)
        assert "Based on 6 disjoint training sets, each containing 10 cases and" in shown
        assert "             a common test set containing 40 cases." in shown

    def test_test_sets_of_their_own(self, bench: Workbench) -> None:
        raw = wind(bench, "hierarchical")
        folder = bench.task("m", "wind/both/std.15")
        awk('{ print "4 4" }', folder, "guess.{}", "test.{}")
        bench.do("mloss", "-q", "-l", "A", cwd=folder)
        cut = Raw(raw.rows, 40, 15)
        assert cut.count == 4
        expect(
            folder,
            "A",
            lambda n: np.abs(cut.numbers(cut.testing(n), 1) - 4) + np.abs(cut.numbers(cut.testing(n), 3) - 4),
        )
        shown = bench.do("mstats", cwd=folder).out
        assert "             4 disjoint test sets, each containing 10 cases." in shown

    def test_a_size_that_is_not_standard(self, bench: Workbench) -> None:
        raw = wind(bench)
        folder = bench.task("m", "wind/from/std.30")
        assert len(instances(folder)) == 2
        angles = raw.numbers(raw.rows[40:70], 2)
        sines = [float(line[-2]) for line in table(folder / "train.0")]
        close(sines, np.sin(np.radians(angles)))

    def test_some_instances_only(self, bench: Workbench, methods: tuple[Path, Path]) -> None:
        folder = methods[0]
        for path in folder.glob("loss.*"):
            path.unlink()
        shown = bench.do("mloss", "-l", "S", "-i", "1 4", cwd=folder).err
        assert [line for line in shown.splitlines() if "creating" in line] == [
            "  creating loss.S.1...",
            "  creating loss.S.4...",
        ]
        assert sorted(path.name for path in folder.glob("loss.*")) == ["loss.S.1", "loss.S.4"]
        assert "there is no instance 6" in bench.fail("mloss", "-i", "6", cwd=folder)
        assert bench.run("mloss", ["-i", "one"], folder).code == 2
        assert 'loss file "loss.S.0" is missing' in bench.fail("mstats", cwd=folder)
        bench.do("mloss", "-q", "-i", "all", cwd=folder)
        assert len(list(folder.glob("loss.S.*"))) == 6

    def test_losses_that_do_not_belong_together(self, bench: Workbench, methods: tuple[Path, Path]) -> None:
        one, two = methods
        (two / "loss.S.5").unlink()
        assert "run mgendata and mloss for both" in bench.fail("mstats", "-l", "S", "-c", "two", cwd=one)
        (two / "loss.S.4").write_text("1\n2\n")
        assert "not equally long" in bench.fail("mstats", "-l", "S", cwd=two)

    def test_predictions_of_the_wrong_length(self, bench: Workbench, methods: tuple[Path, Path]) -> None:
        folder = methods[0]
        (folder / "cguess.2").write_text("0 0\n" * 39)
        assert "expected predictions for 40 test cases but got 39" in bench.fail("mloss", "-q", cwd=folder)
        (folder / "cguess.2").write_text("0 0\n" * 39 + "0\n")
        assert "line 40: expected 2 values but got 1" in bench.fail("mloss", "-q", cwd=folder)
        (folder / "cguess.2").write_text("0 0\n" * 39 + "0 nan\n")
        assert 'case 40: expected a number for GUSTS but got "nan"' in bench.fail("mloss", "-q", cwd=folder)


UNIFORM, SKEWED = '{ print "1 1 1 1 1" }', '{ print "1 2 1", NR % 4, "1" }'


class TestComparisons:
    """Two programs against each other, for targets and losses of every kind."""

    @pytest.mark.parametrize(
        ("task", "code", "file", "programs"),
        [
            ("demo/age/std.256", "A", "guess.{}", ("{ print 30 }", "{ print 20 + NR % 9 }")),
            ("demo/age/std.256", "L", "lptarg.{}", ("{ print -4 }", "{ print -4 - ($1 > 0) }")),
            ("demo/siblings/std.256", "S", "guess.{}", ("{ print 1.2 }", "{ print NR % 4 }")),
            ("demo/siblings/std.256", "Z", "guess.{}", ("{ print 0 }", "{ print NR % 2 }")),
            ("demo/siblings/std.256", "L", "ptarg.{}", ("{ print 0.2 }", "{ print ($2 > 0) ? 0.3 : 0.1 }")),
            (
                "demo/sex/std.256",
                "Z",
                "guess.Z.{}",
                ('{ print "male" }', '{ print NR % 2 ? "male" : "female" }'),
            ),
            ("demo/sex/std.256", "L", "prob.{}", ('{ print "1 1" }', '{ print "1", 1 + NR % 3 }')),
            ("demo/sex/std.256", "Z0.4N", "guess.{}", ('{ print "?" }', '{ print NR % 2 ? "male" : "?" }')),
            ("demo/colour/std.256", "Q", "prob.{}", (UNIFORM, SKEWED)),
            (
                "demo/colour/std.256",
                "Mcosts",
                "guess.{}",
                ('{ print "red" }', '{ print NR % 2 ? "blue" : "red" }'),
            ),
            ("wind/from/std.10", "A", "guess.{}", ("{ print 100 }", "{ print 100 + 30 * $1 }")),
            ("wind/from/std.10", "S", "cguess.{}", ('{ print "0 1" }', '{ print "1", $1 }')),
            ("wind/from/std.10", "L", "lptarg.{}", ("{ print -5 }", "{ print -5 - ($1 > 0) }")),
        ],
    )
    def test_difference_and_significance(
        self, task: str, code: str, file: str, programs: tuple[str, str], bench: Workbench
    ) -> None:
        wind(bench)
        bench.write({"data/demo/colour/costs": "0 1 1 1 1\n2 0 2 2 2\n3 3 0 3 3\n1 1 1 0 1\n1 1 1 1 0\n"})
        tables = []
        for name, program in zip(("one", "two"), programs, strict=True):
            folder = bench.task(name, task)
            awk(program, folder, file, "test.{}")
            bench.do("mloss", "-q", "-l", code, cwd=folder)
            tables.append(np.array(losses(folder, code)))
        shown = bench.do("mstats", "-c", "two", f"/one/{task}").out
        own, theirs = tables
        expected = (crossed if task.startswith("wind") else hierarchical)(own - theirs)
        found = figures(shown)
        assert found["Estimated expected loss for one"][0] == pytest.approx(own.mean(), rel=1e-6)
        assert found["Estimated expected loss for /two"][0] == pytest.approx(theirs.mean(), rel=1e-6)
        assert found["Estimated expected difference"][0] == pytest.approx(expected.mean, rel=1e-6)
        assert found["Standard error for difference estimate"][0] == pytest.approx(expected.error, rel=1e-6)
        a, b, rest = expected.squares
        sets, cases = own.shape
        above, weighed = 0 if b is None else max(b - rest, 0), (sets + 1) / (sets - 1) * a
        df = (weighed + above) ** 2 / (weighed**2 / (sets - 1) + above**2 / (cases - 1))
        p = stats.f.sf(own.size * expected.mean**2 / (a + above), 1, df)
        assert p_value(shown) == pytest.approx(p, rel=1e-5)


class TestExplicitInstances:
    @pytest.fixture
    def raw(self, bench: Workbench) -> Raw:
        return wind(bench)

    def run(self, bench: Workbench, lists: str, method: str = "m") -> Path:
        (bench.root / "lists").write_text(lists)
        folder = bench.task(method, "wind/both/std.10", "-n", str(bench.root / "lists"))
        awk('{ print "1 1" }', folder, "guess.{}", "test.{}")
        bench.do("mloss", "-q", "-l", "A", cwd=folder)
        return folder

    def test_cases_are_counted_as_in_the_dataset(self, bench: Workbench, raw: Raw) -> None:
        folder = self.run(bench, "train 0: 1 5 7..9\ntest 0: 2..4\ntrain 1: 11..15\ntest 1: 20 21 30\n")
        tested = [[1, 2, 3], [19, 20, 29]]
        for number, rows in enumerate(tested):
            cases = [raw.rows[row] for row in rows]
            expected = np.abs(raw.numbers(cases, 1) - 1) + np.abs(raw.numbers(cases, 3) - 1)
            close(column(folder / f"loss.A.{number}"), expected)
        centre, spread = median_and_deviation(raw.numbers([raw.rows[row] for row in (0, 4, 6, 7, 8)], 1))
        speeds = [float(line[-2]) for line in table(folder / "train.0")]
        first = [raw.rows[row] for row in (0, 4, 6, 7, 8)]
        close(speeds, (raw.numbers(first, 1) - centre) / spread)
        assert (folder / "Instances-used").read_text() == (
            "train 0: 1 5 7..9\ntest 0: 2..4\ntrain 1: 11..15\ntest 1: 20..21 30\n"
        )
        shown = bench.do("mstats", cwd=folder).out
        assert "Based on 2 disjoint training sets, each containing 5 cases and" in shown
        assert "2 disjoint test sets, each containing 3 cases." in shown

    def test_cross_validation_is_not_called_disjoint(self, bench: Workbench, raw: Raw) -> None:
        folds = [(1, 40), (41, 70), (71, 100)]
        lists = ""
        for number, (first, last) in enumerate(folds):
            outside = [f"{a}..{b}" for a, b in folds if a != first]
            lists += f"train {number}: {' '.join(outside)}\ntest {number}: {first}..{last}\n"
        folder = self.run(bench, lists)
        shown = " ".join(bench.do("mstats", cwd=folder).out.split())
        assert "Based on 3 overlapping training sets of different sizes and" in shown
        assert "and 3 disjoint test sets of different sizes." in shown
        for note in ("training sets overlap", "train in one instance and test in another", "differ in size"):
            assert note in shown
        means = [row.mean() for row in losses(folder, "A")]
        (record,) = json.loads(bench.do("mstats", "-j", cwd=folder).out)
        assert record["estimate"] == pytest.approx(np.mean(means))
        assert (record["test_cases"], record["training_set_size"]) == (None, None)

    def test_test_sets_that_overlap_in_part(self, bench: Workbench, raw: Raw) -> None:
        folder = self.run(bench, "train 0: 1..5\ntest 0: 50..60\ntrain 1: 6..10\ntest 1: 55..65\n")
        shown = " ".join(bench.do("mstats", cwd=folder).out.split())
        assert "2 overlapping test sets, each containing 11 cases." in shown
        assert "test sets overlap partly" in shown

    def test_a_common_test_set_is_recognised(self, bench: Workbench, raw: Raw) -> None:
        sets = ("1..10", "11..20", "21..30", "31..40", "41..50")
        lists = "".join(f"train {n}: {cases}\ntest {n}: 51..100\n" for n, cases in enumerate(sets))
        folder = self.run(bench, lists)
        shown = bench.do("mstats", cwd=folder).out
        assert "a common test set containing 50 cases." in shown
        expected = crossed(np.array(losses(folder, "A")))
        assert figures(shown)["Standard error for estimate"][0] == pytest.approx(expected.error, rel=1e-6)

    def test_only_equal_instances_are_compared(self, bench: Workbench, raw: Raw) -> None:
        self.run(bench, "train 0: 1..5\ntest 0: 50..60\ntrain 1: 6..10\ntest 1: 61..71\n", "m")
        folder = self.run(bench, "train 0: 6..10\ntest 0: 50..60\ntrain 1: 1..5\ntest 1: 61..71\n", "n")
        assert "were run on different instances" in bench.fail("mstats", "-c", "m", cwd=folder)

    def test_back_to_the_standard_instances(self, bench: Workbench, raw: Raw) -> None:
        folder = self.run(bench, "train 0: 1..5\ntest 0: 50..60\ntrain 1: 6..10\ntest 1: 61..71\n")
        bench.do("mgendata", "-q", cwd=folder)
        assert not (folder / "Instances-used").exists()
        assert len(instances(folder)) == 6

    def test_nothing_is_left_of_instances_that_are_no_more(self, bench: Workbench, raw: Raw) -> None:
        """Six standard instances give way to two; old losses among the new ones are noticed."""
        folder = bench.task("m", "wind/both/std.10")
        awk('{ print "1 1" }', folder, "guess.{}", "test.{}")
        bench.do("mloss", "-q", cwd=folder)
        (folder / "targets.5").rename(folder / "targets.5.gz")
        self.run(bench, "train 0: 1..5\ntest 0: 50..60\ntrain 1: 6..10\ntest 1: 61..71\n")
        assert len(instances(folder)) == 2
        for root in ("test", "targets", "normalize"):
            assert sorted(path.name for path in folder.glob(f"{root}.*")) == [f"{root}.0", f"{root}.1"]
        complaint = bench.fail("mstats", "-l", "A", cwd=folder)
        assert 'has 2 instances but 6 loss files "loss.A.*"' in complaint
        for number in range(2, 6):
            (folder / f"loss.A.{number}").unlink()
        assert "2 disjoint test sets, each containing 11" in bench.do("mstats", "-l", "A", cwd=folder).out
        for number in range(2, 6):
            (folder / f"loss.S.{number}").unlink()
        assert "not as long as the test sets (11 11): 40 40" in bench.fail("mstats", "-l", "S", cwd=folder)

    @pytest.mark.parametrize(
        ("lists", "complaint"),
        [
            ("train 0: 1..5\ntest 0: 5 6\n", "case 5 is both a training and a test case"),
            ("train 0: 1..5\ntest 0: 101\n", "case 101 is not in prototask"),
            ("train 0: 1 1\ntest 0: 2\n", "case 1 is listed twice"),
            ("train 0: 1..5\n", 'the list "test 0" is missing'),
            ("train 0: 5..1\ntest 0: 7\n", 'bad span of cases "5..1"'),
            ("", "there are no instances"),
        ],
    )
    def test_bad_lists(self, lists: str, complaint: str, bench: Workbench, raw: Raw) -> None:
        (bench.root / "lists").write_text(lists)
        bench.do("mgendir", "-q", "wind/both/std.10", cwd=bench.method("m"))
        folder = bench.method("m") / "wind/both/std.10"
        assert complaint in bench.fail("mgendata", "-q", "-n", str(bench.root / "lists"), cwd=folder)
        assert not list(folder.iterdir())


class TestSeveralRuns:
    """The same instances again with other seeds: losses under other names (mstats -i)."""

    @pytest.fixture
    def folder(self, bench: Workbench) -> Path:
        """A program that adds noise of its own to its guesses, run three times."""
        wind(bench)
        folder = bench.task("noisy", "wind/both/std.10")
        for seed, base in enumerate(("run1", "run2", "loss")):
            program = f"BEGIN {{ srand({seed + 1}) }} {{ print $1 + {seed} * 0.3, rand() }}"
            awk(program, folder, "cguess.{}", "test.{}")
            bench.do("mloss", "-q", "-l", "S", cwd=folder)
            for number in instances(folder):
                (folder / f"loss.S.{number}").rename(folder / f"{base}.S.{number}")
        return folder

    def test_seeds_are_told_from_training_sets(self, bench: Workbench, folder: Path) -> None:
        """Mean squares of y = m + training set + run(training set) + case + interaction + rest."""
        y = np.array([losses(folder, "S", base) for base in ("loss", "run1", "run2")])
        runs, sets, cases = y.shape
        shown = bench.do("mstats", "-i", "loss run1 run2", cwd=folder).out
        found = figures(shown)
        by_set, by_run, by_cell = y.mean(axis=(0, 2)), y.mean(axis=2), y.mean(axis=0)
        seeds = cases * ((by_run - by_set) ** 2).sum() / (sets * (runs - 1))
        inner = y - by_run[:, :, None] - by_cell[None] + by_set[None, :, None]
        rest = (inner**2).sum() / (sets * (runs - 1) * (cases - 1))
        assert found["Estimated expected loss"][0] == pytest.approx(y.mean(), rel=1e-6)
        assert found["SD from random seeds"][0] == pytest.approx(
            math.sqrt(max(seeds - rest, 0) / cases), rel=1e-5
        )
        assert found["SD from seed by test case interactions"][0] == pytest.approx(math.sqrt(rest), rel=1e-6)
        assert "Each training set was used in 3 runs with different random seeds." in shown
        (record,) = json.loads(bench.do("mstats", "--json", "-i", "loss,run1,run2", cwd=folder).out)
        assert record["runs"] == 3
        assert record["sd_seed"] == pytest.approx(found["SD from random seeds"][0], rel=1e-8)

    def test_one_run_by_its_name(self, bench: Workbench, folder: Path) -> None:
        expected = crossed(np.array(losses(folder, "S", "run2")))
        found = figures(bench.do("mstats", "-i", "run2", cwd=folder).out)
        assert found["Estimated expected loss"][0] == pytest.approx(expected.mean, rel=1e-6)

    def test_comparison(self, bench: Workbench, folder: Path) -> None:
        other = bench.task("plain", "wind/both/std.10")
        awk('{ print "0 0" }', other, "cguess.{}", "test.{}")
        bench.do("mloss", "-q", "-l", "S", cwd=other)
        for number in instances(other):
            (other / f"run1.S.{number}").write_text((other / f"loss.S.{number}").read_text())
        shown = bench.do("mstats", "-i", "loss run1", "-c", "plain", cwd=folder).out
        ours = np.mean([losses(folder, "S", base) for base in ("loss", "run1")], axis=0)
        theirs = np.array(losses(other, "S"))
        expected = crossed(ours - theirs)
        assert figures(shown)["Standard error for difference estimate"][0] == pytest.approx(
            expected.error, rel=1e-6
        )
        assert "averaged over the runs" in " ".join(shown.split())

    def test_runs_must_be_complete(self, bench: Workbench, folder: Path) -> None:
        (folder / "run1.S.5").unlink()
        assert "different numbers of instances" in bench.fail("mstats", "-i", "loss run1", cwd=folder)
        assert "no loss files" in bench.fail("mstats", "-i", "nothing", cwd=folder)
