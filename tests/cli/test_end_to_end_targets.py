"""From mgendir to mstats: angles, several targets, and codings that a method chooses itself."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from scipy import stats

from tests.cli.oracle import (
    AGE,
    Numbers,
    arc,
    check_summary,
    close,
    crossed,
    demo,
    expect,
    figures,
    losses,
    median_and_deviation,
    wind,
)
from tests.cli.workbench import Workbench, awk, instances, table


class TestAngularTarget:
    """A direction, which DELVE had no guesses for."""

    def test_coded_guesses(self, bench: Workbench) -> None:
        """Sine, then cosine, of any length: the program points where the wind is strong to the east."""
        raw = wind(bench)
        folder = bench.task("m", "wind/from/std.10")
        awk('{ print ($1 > 0) ? "3 0" : "-0.5 -0.5" }', folder, "cguess.{}", "test.{}")
        bench.do("mloss", "-q", cwd=folder)

        def error(number: int) -> Numbers:
            centre, _ = median_and_deviation(raw.numbers(raw.training(number), 1))
            guess = np.where(raw.numbers(raw.testing(number), 1) > centre, 90.0, 225.0)
            return arc(raw.numbers(raw.testing(number), 2), guess, 360)

        assert len(instances(folder)) == raw.count == 6
        expect(folder, "A", error)
        expect(folder, "S", lambda n: error(n) ** 2)
        assert max(max(row) for row in losses(folder, "A")) <= 180

    def test_uncoded_guesses_may_go_round_more_than_once(self, bench: Workbench) -> None:
        raw = wind(bench)
        folder = bench.task("m", "wind/from/std.10")
        awk("{ print -725 }", folder, "guess.{}", "test.{}")
        bench.do("mloss", "-q", cwd=folder)
        expect(folder, "A", lambda n: arc(raw.numbers(raw.testing(n), 2), -5.0, 360))

    def test_densities_are_per_radian_while_coded(self, bench: Workbench) -> None:
        raw = wind(bench)
        folder = bench.task("m", "wind/from/std.10")
        program = '{ printf "%.9g\\n", 0.7 * $2 - log(8 * atan2(1, 1)) - log(1.126303) }'  # I0(0.7)
        awk(program, folder, "clptarg.{}", "targets.{}")
        bench.do("mloss", "-q", cwd=folder)
        turn = 2 * np.pi / 360

        def expected(number: int) -> Numbers:
            angles = raw.numbers(raw.testing(number), 2) * turn
            logs: Numbers = stats.vonmises.logpdf(angles, 0.7) + math.log(turn)
            return -logs

        for number, found in enumerate(losses(folder, "L")):
            close(found, expected(number), atol=2e-6)

    def test_statistics(self, bench: Workbench) -> None:
        """The best constant guess is found here by trying every tenth of a degree."""
        raw = wind(bench)
        folder = bench.task("m", "wind/from/std.10")
        awk("{ print 100 }", folder, "guess.{}", "test.{}")
        bench.do("mloss", "-q", cwd=folder)
        angles = raw.numbers(raw.all_tested(), 2)
        tried = np.arange(0, 360, 0.01)
        arcs = np.array([arc(angles, guess, 360).sum() for guess in tried[::10]])
        squares = np.array([(arc(angles, guess, 360) ** 2).sum() for guess in tried])
        for code, best in (("A", arcs.min()), ("S", squares.min())):
            shown = bench.do("mstats", "-l", code, cwd=folder).out
            raw_mean, standardised = figures(shown)["Estimated expected loss"]
            assert standardised == pytest.approx(raw_mean / (best / (len(angles) - 1)), rel=1e-6)


class TestSeveralTargets:
    def test_losses_are_summed(self, bench: Workbench) -> None:
        """A real and an integer target, coded together on one line."""
        raw = wind(bench)
        folder = bench.task("m", "wind/both/std.10")
        awk('{ print "0 1" }', folder, "cguess.{}", "test.{}")
        bench.do("mloss", "-q", cwd=folder)

        def errors(number: int) -> tuple[Numbers, Numbers]:
            speed = median_and_deviation(raw.numbers(raw.training(number), 1))
            gusts = median_and_deviation(raw.numbers(raw.training(number), 3))
            tested = raw.testing(number)
            return raw.numbers(tested, 1) - speed[0], raw.numbers(tested, 3) - sum(gusts)

        expect(folder, "S", lambda n: np.square(errors(n)).sum(axis=0))
        expect(folder, "A", lambda n: np.abs(errors(n)).sum(axis=0))
        assert not list(folder.glob("loss.Z.*"))
        tested = raw.all_tested()
        baseline = sum(raw.numbers(tested, number).var(ddof=1) for number in (1, 3))
        check_summary(
            bench.do("mstats", "-l", "S", cwd=folder).out, crossed(np.array(losses(folder, "S"))), baseline
        )

    def test_each_target_may_be_left_without_a_guess(self, bench: Workbench) -> None:
        raw = wind(bench)
        folder = bench.task("m", "wind/both/std.10")
        awk('{ print (NR % 2) ? "? 3" : "?" }', folder, "guess.{}", "test.{}")
        bench.do("mloss", "-q", "-l", "A1.5N", cwd=folder)

        def expected(number: int) -> Numbers:
            gusts = np.abs(raw.numbers(raw.testing(number), 3) - 3)
            return 1.5 + np.where(np.arange(40) % 2 == 0, gusts, 1.5)

        expect(folder, "A1.5N", expected)

    def test_hybrid_densities(self, bench: Workbench) -> None:
        """An angle and a class: the density of both together, per radian while coded."""
        wind(bench)
        folder = bench.task("m", "wind/mixed/std.10")
        awk('{ printf "%.9g\\n", 1 / (8 * atan2(1, 1)) / 3 }', folder, "cptarg.{}", "targets.{}")
        awk('{ print "10 clear" }', folder, "guess.{}", "targets.{}")
        bench.do("mloss", "-q", cwd=folder)
        expect(folder, "L", lambda _: np.full(40, math.log(360 * 3)))
        assert {path.name.split(".")[1] for path in folder.glob("loss.*")} == {"L"}
        assert "loss S is for" in bench.fail("mloss", "-q", "-l", "S", cwd=folder)

    def test_wrong_classes_are_counted(self, bench: Workbench) -> None:
        raw = wind(bench)
        folder = bench.task("m", "wind/classes/std.10")
        awk('{ print "2.2 rain" }', folder, "guess.{}", "test.{}")
        bench.do("mloss", "-q", cwd=folder)

        def expected(number: int) -> list[int]:
            gusts, sky = raw.words(raw.testing(number), 3), raw.words(raw.testing(number), 4)
            return [(gust != "2") + (word != "rain") for gust, word in zip(gusts, sky, strict=True)]

        expect(folder, "Z", expected)

    def test_class_probabilities_need_a_single_target(self, bench: Workbench) -> None:
        wind(bench)
        folder = bench.task("m", "wind/classes/std.10")
        awk('{ print "1 1 1" }', folder, "prob.{}", "test.{}")
        assert "give ptarg files instead" in bench.fail("mloss", "-q", cwd=folder)


class TestCodings:
    @pytest.mark.parametrize(
        ("coding", "coded", "decoded"),
        [
            ("nm-sqr", "1", lambda ages: ages.mean() + ages.std(ddof=1)),
            ("nm-sqr centre=2", "2", lambda ages: ages.mean()),
            ("nm-abs center=-1", "0", lambda ages: sum(median_and_deviation(ages))),
            ("copy", "17.25", lambda ages: 17.25),
            ("0..1", "0.25", lambda ages: ages.min() + 0.25 * np.ptp(ages)),
        ],
    )
    def test_guesses_are_decoded_as_targets_were_coded(
        self, coding: str, coded: str, decoded: Callable[[Numbers], float], bench: Workbench
    ) -> None:
        raw = demo(bench, 512)
        (bench.root / "codings").write_text(f"# by name\nAGE {coding}\n")
        folder = bench.task("m", "demo/age/std.512", "-c", str(bench.root / "codings"))
        awk(f"{{ print {coded} }}", folder, "cguess.{}", "test.{}")
        bench.do("mloss", "-q", "-l", "A", cwd=folder)

        def expected(number: int) -> Numbers:
            guess = decoded(raw.numbers(raw.training(number), AGE))
            return np.abs(raw.numbers(raw.testing(number), AGE) - guess)

        expect(folder, "A", expected)

    def test_inputs(self, bench: Workbench) -> None:
        """Attributes left out of the file keep their default codings; ignored ones leave no column."""
        raw = demo(bench, 512)
        (bench.root / "codings").write_text("4 ignore\nCOLOUR 1-of-n passive=red\n1 copy\n")
        folder = bench.task("m", "demo/age/std.512", "-c", str(bench.root / "codings"))
        coded = {"pink": "1000", "blue": "0100", "red": "0000", "green": "0010", "purple": "0001"}
        for line, row in zip(table(folder / "test.1"), raw.testing(1), strict=True):
            assert len(line) == 6
            assert (line[0], "".join(line[2:])) == (row[0], coded[row[4]])

    def test_the_codes_of_proben1_are_from_0_to_1(self, bench: Workbench) -> None:
        """Only attributes so coded have their extremes in normalize.n, which DELVE's programs lack."""
        raw = demo(bench, 512)
        (bench.root / "codings").write_text("INCOME 0..1\nCOLOUR bits\nSEX 0/1 passive=male\n")
        folder = bench.task("m", "demo/age/std.512", "-c", str(bench.root / "codings"))
        incomes = raw.numbers(raw.training(1), 4)
        colours = ("pink", "blue", "red", "green", "purple")
        for line, row in zip(table(folder / "test.1"), raw.testing(1), strict=True):
            scaled = (float(row[3]) - incomes.min()) / np.ptp(incomes)
            assert float(line[2]) == pytest.approx(scaled, abs=1e-8)
            assert int("".join(line[3:]), 2) == colours.index(row[4])
        kept = [line.split() for line in (folder / "normalize.1").read_text().splitlines()]
        assert [words[3] for words in kept if words[2] in ("min", "max")] == ["4", "4"]

    @pytest.mark.parametrize(
        ("text", "complaint"),
        [
            ("COLOUR 0..1\n", 'can\'t use "0..1" encoding for "nominal" attribute COLOUR'),
            ("HEIGHT copy\n", 'no attribute "HEIGHT"'),
            ("AGE\n", "expected"),
            ("AGE therm\n", 'can\'t use "therm" encoding'),
            ("AGE copy\n2 copy\n", "has two lines"),
            ("SEX 0/1\n", "passive"),
            ("AGE nm-abs colour=3\n", "unknown option"),
        ],
    )
    def test_what_is_wrong_is_told_and_nothing_is_written(
        self, text: str, complaint: str, bench: Workbench
    ) -> None:
        (bench.root / "codings").write_text(text)
        bench.do("mgendir", "-q", "demo/age/std.512", cwd=bench.method("m"))
        folder = bench.method("m") / "demo/age/std.512"
        assert complaint in bench.fail("mgendata", "-q", "-c", "../../../../../codings", cwd=folder)
        assert not list(folder.iterdir())
