"""From mgendir to mstats with external programs, for a target of every kind.

Programs are awk one-liners that see only the files of a task directory; what they should lose is computed
from the raw cases (oracle.py).
"""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from tests.cli.oracle import (
    AGE,
    COLOUR,
    COLOURS,
    INCOME,
    RESIDUAL,
    SEX,
    SIBLINGS,
    TRAINING,
    Flags,
    Numbers,
    Raw,
    check_summary,
    close,
    demo,
    expect,
    figures,
    hierarchical,
    losses,
    median_and_deviation,
    p_value,
)
from tests.cli.workbench import Workbench, awk, column, instances, table


class TestRealTarget:
    """Age, from a program that looks at the income and one that does not."""

    @pytest.fixture
    def raw(self, bench: Workbench) -> Raw:
        return demo(bench, 128)

    @pytest.fixture
    def folder(self, bench: Workbench) -> Path:
        """Generic coded guesses: half of the coded income."""
        folder = bench.task("half", "demo/age/std.128")
        awk('{ printf "%.9f\\n", 0.5 * $3 }', folder, "cguess.{}", "test.{}")
        return folder

    def guess(self, raw: Raw, number: int) -> Numbers:
        middle, deviation = median_and_deviation(raw.numbers(raw.training(number), AGE))
        centre, spread = median_and_deviation(raw.numbers(raw.training(number), INCOME))
        return middle + deviation * 0.5 * (raw.numbers(raw.testing(number), INCOME) - centre) / spread

    def truth(self, raw: Raw, number: int) -> Numbers:
        return raw.numbers(raw.testing(number), AGE)

    def test_files_hold_what_the_raw_data_say(self, raw: Raw, folder: Path) -> None:
        assert len(instances(folder)) == raw.count == 8
        for number in range(8):
            middle, deviation = median_and_deviation(raw.numbers(raw.training(number), AGE))
            coded = (raw.numbers(raw.training(number), AGE) - middle) / deviation
            train = table(folder / f"train.{number}")
            close([float(line[-1]) for line in train], coded)
            sexes = {"male": "-1", "female": "1"}
            assert [line[0] for line in train] == [sexes[row[0]] for row in raw.training(number)]
            colours = [COLOURS[line[3:8].index("1")] for line in table(folder / f"test.{number}")]
            assert colours == raw.words(raw.testing(number), COLOUR)
            targets = column(folder / f"targets.{number}")
            close(targets, (self.truth(raw, number) - middle) / deviation)

    def test_absolute_and_squared_error(self, bench: Workbench, raw: Raw, folder: Path) -> None:
        bench.do("mloss", "-q", cwd=folder)
        expect(folder, "A", lambda n: np.abs(self.guess(raw, n) - self.truth(raw, n)))
        expect(folder, "S", lambda n: (self.guess(raw, n) - self.truth(raw, n)) ** 2)
        for number in range(8):
            close(column(folder / f"guess.{number}"), self.guess(raw, number))
        assert not list(folder.glob("loss.[ZLQ]*"))

    def test_uncoded_guesses(self, bench: Workbench, raw: Raw) -> None:
        folder = bench.task("thirty", "demo/age/std.128")
        awk('{ print "30" }', folder, "guess.{}", "test.{}")
        bench.do("mloss", "-q", "-l", "SA", cwd=folder)
        expect(folder, "S", lambda n: (self.truth(raw, n) - 30) ** 2)
        expect(folder, "A", lambda n: np.abs(self.truth(raw, n) - 30))

    def test_specific_files_come_before_generic_ones(self, bench: Workbench, raw: Raw, folder: Path) -> None:
        awk('{ print "20" }', folder, "guess.A.{}", "test.{}")
        bench.do("mloss", "-q", cwd=folder)
        expect(folder, "A", lambda n: np.abs(self.truth(raw, n) - 20))
        expect(folder, "S", lambda n: (self.guess(raw, n) - self.truth(raw, n)) ** 2)

    def test_one_specific_file_is_enough_to_shut_out_generic_ones(
        self, bench: Workbench, folder: Path
    ) -> None:
        (folder / "cguess.S.3").write_text("0\n" * 128)
        assert 'no prediction file "cguess.S.0"' in bench.fail("mloss", "-q", "-l", "S", cwd=folder)
        bench.do("mloss", "-q", "-l", "S", "-i", "3", cwd=folder)
        assert [path.name for path in folder.glob("loss.*")] == ["loss.S.3"]

    def test_coded_files_come_before_decoded_ones(self, bench: Workbench, raw: Raw, folder: Path) -> None:
        bench.do("mloss", "-q", "-l", "S", cwd=folder)
        awk("{ print 0 }", folder, "cguess.{}", "test.{}")
        bench.do("mloss", "-q", "-l", "S", cwd=folder)
        expect(folder, "S", lambda n: (self.truth(raw, n) - self._median(raw, n)) ** 2)

    def _median(self, raw: Raw, number: int) -> float:
        return median_and_deviation(raw.numbers(raw.training(number), AGE))[0]

    @pytest.mark.parametrize(
        ("target", "program"),
        [
            ("clptarg.{}", '{ printf "%.9g\\n", -0.5 * $1 * $1 - 0.5 * log(8 * atan2(1, 1)) }'),
            ("cptarg.{}", '{ printf "%.9g\\n", exp(-0.5 * $1 * $1) / sqrt(8 * atan2(1, 1)) }'),
            ("clptarg.L.{}", '{ printf "%.9g\\n", -0.5 * $1 * $1 - 0.5 * log(8 * atan2(1, 1)) }'),
        ],
    )
    def test_coded_densities_change_with_the_variable(
        self, target: str, program: str, bench: Workbench, raw: Raw
    ) -> None:
        folder = bench.task("gauss", "demo/age/std.128")
        awk(program, folder, target, "targets.{}")
        bench.do("mloss", "-q", cwd=folder)

        def expected(number: int) -> Numbers:
            middle, deviation = median_and_deviation(raw.numbers(raw.training(number), AGE))
            logs: Numbers = stats.norm.logpdf(self.truth(raw, number), middle, deviation)
            return -logs

        expect(folder, "L", expected)
        for number in range(8):
            decoded = np.array(column(folder / target.removeprefix("c").format(number)))
            logs = decoded if target.startswith("cl") else np.log(decoded)
            close(logs, -expected(number))

    @pytest.mark.parametrize("root", ["ptarg", "lptarg"])
    def test_uncoded_densities_are_taken_as_they_are(self, root: str, bench: Workbench, raw: Raw) -> None:
        (bench.root / "codings").write_text("AGE copy\n")
        folder = bench.task("exponential", "demo/age/std.128", "-c", str(bench.root / "codings"))
        density = "-$1 / 30 - log(30)" if root == "lptarg" else "exp(-$1 / 30) / 30"
        awk(f'{{ printf "%.9g\\n", {density} }}', folder, root + ".{}", "targets.{}")
        bench.do("mloss", "-q", cwd=folder)
        expect(folder, "L", lambda n: -stats.expon.logpdf(self.truth(raw, n), scale=30))

    def test_a_no_guess_penalty(self, bench: Workbench, raw: Raw, folder: Path) -> None:
        """Whoever has no more than the median income is left without a guess."""
        awk('{ if ($3 > 0) print 0; else print "?" }', folder, "cguess.S150N.{}", "test.{}")
        bench.do("mloss", "-q", "-l", "S150N,A", cwd=folder)

        def expected(number: int) -> Numbers:
            centre, _ = median_and_deviation(raw.numbers(raw.training(number), INCOME))
            rich = raw.numbers(raw.testing(number), INCOME) > centre
            squares = (self.truth(raw, number) - self._median(raw, number)) ** 2
            return np.where(rich, squares, 150.0)

        expect(folder, "S150N", expected)
        assert len(list(folder.glob("loss.A.*"))) == 8
        shown = bench.do("mstats", "-l", "S150N", cwd=folder).out
        assert "Loss: S150N (Squared error, no-guess penalty 150)" in shown
        check_summary(shown, hierarchical(np.array(losses(folder, "S150N"))), 150)

    def test_silence_costs_nothing_less_than_a_penalty(self, bench: Workbench, folder: Path) -> None:
        awk('{ print "?" }', folder, "guess.{}", "test.{}")
        awk('{ print "?" }', folder, "cguess.{}", "test.{}")
        assert '(no guess, "?")' in bench.fail("mloss", "-q", "-l", "S", cwd=folder)

    def test_statistics_of_one_method(self, bench: Workbench, raw: Raw, folder: Path) -> None:
        bench.do("mloss", "-q", cwd=folder)
        tested = raw.numbers(raw.all_tested(), AGE)
        for code, baseline in (("S", tested.var(ddof=1)), ("A", median_and_deviation(tested)[1])):
            shown = bench.do("mstats", "-l", code, cwd=folder).out
            check_summary(shown, hierarchical(np.array(losses(folder, code))), baseline)

    def test_comparison_of_two_methods(self, bench: Workbench, raw: Raw, folder: Path) -> None:
        other = bench.task("zero", "demo/age/std.128")
        awk("{ print 0 }", other, "cguess.{}", "test.{}")
        for place in (folder, other):
            bench.do("mloss", "-q", "-l", "S", cwd=place)
        own, theirs = (np.array(losses(place, "S")) for place in (folder, other))
        differences = hierarchical(own - theirs)
        shown = bench.do("mstats", "-c", "zero", cwd=folder).out
        baseline = raw.numbers(raw.all_tested(), AGE).var(ddof=1)
        wanted = {
            "Estimated expected loss for half": own.mean(),
            "Estimated expected loss for /zero": theirs.mean(),
            "Estimated expected difference": own.mean() - theirs.mean(),
            "Standard error for difference estimate": differences.error,
            TRAINING: differences.training,
            RESIDUAL: differences.residual,
        }
        found = figures(shown)
        assert set(found) == set(wanted)
        for label, value in wanted.items():
            assert found[label][0] == pytest.approx(value, rel=1e-6)
            assert found[label][1] == pytest.approx(value / baseline, rel=1e-6)
        test = stats.ttest_rel(own.mean(axis=1), theirs.mean(axis=1))
        assert p_value(shown) == pytest.approx(test.pvalue, rel=1e-6)

    def test_log_loss_is_standardised_by_subtraction(self, bench: Workbench, raw: Raw) -> None:
        folder = bench.task("gauss", "demo/age/std.128")
        awk(
            '{ printf "%.9g\\n", -0.5 * $1 * $1 - 0.5 * log(8 * atan2(1, 1)) }',
            folder,
            "clptarg.{}",
            "targets.{}",
        )
        bench.do("mloss", "-q", cwd=folder)
        variance = raw.numbers(raw.all_tested(), AGE).var(ddof=1)
        expected = hierarchical(np.array(losses(folder, "L")))
        found = figures(bench.do("mstats", cwd=folder).out)
        entropy = 0.5 * math.log(2 * math.pi * variance) + 0.5
        assert found["Estimated expected loss"] == (
            pytest.approx(expected.mean, rel=1e-7),
            pytest.approx(expected.mean - entropy, rel=1e-6),
        )
        assert found["Standard error for estimate"] == (pytest.approx(expected.error, rel=1e-6),) * 2


class TestIntegerTarget:
    """Siblings."""

    @pytest.fixture
    def raw(self, bench: Workbench) -> Raw:
        return demo(bench, 256)

    @pytest.fixture
    def folder(self, bench: Workbench) -> Path:
        (bench.root / "codings").write_text("3 copy\n")
        return bench.task("m", "demo/siblings/std.256", "-c", str(bench.root / "codings"))

    def truth(self, raw: Raw, number: int) -> Numbers:
        return raw.numbers(raw.testing(number), SIBLINGS)

    def test_coded_guesses(self, bench: Workbench, raw: Raw) -> None:
        """The coded age (second column) is the coded guess: seldom a whole number."""
        folder = bench.task("m", "demo/siblings/std.256")
        awk('{ printf "%.9f\\n", $2 }', folder, "cguess.{}", "test.{}")
        bench.do("mloss", "-q", cwd=folder)

        def guess(number: int) -> Numbers:
            middle, deviation = median_and_deviation(raw.numbers(raw.training(number), SIBLINGS))
            centre, spread = median_and_deviation(raw.numbers(raw.training(number), AGE))
            return middle + deviation * (raw.numbers(raw.testing(number), AGE) - centre) / spread

        expect(folder, "S", lambda n: (guess(n) - self.truth(raw, n)) ** 2)
        expect(folder, "A", lambda n: np.abs(guess(n) - self.truth(raw, n)))
        expect(folder, "Z", lambda n: np.floor(guess(n) + 0.5) != self.truth(raw, n))

    def test_halves_are_rounded_up(self, bench: Workbench, raw: Raw, folder: Path) -> None:
        awk('{ print "1.5" }', folder, "guess.{}", "test.{}")
        bench.do("mloss", "-q", cwd=folder)
        expect(folder, "Z", lambda n: self.truth(raw, n) != 2)
        expect(folder, "A", lambda n: np.abs(self.truth(raw, n) - 1.5))
        tested = raw.numbers(raw.all_tested(), SIBLINGS)
        share = np.unique(tested, return_counts=True)[1].max() / len(tested)
        shown = bench.do("mstats", "-l", "Z", cwd=folder).out
        check_summary(shown, hierarchical(np.array(losses(folder, "Z"))), 1 - share)

    def test_probabilities_are_no_densities(self, bench: Workbench, raw: Raw) -> None:
        """The probabilities of coded integers are those of the integers: nothing is to be rescaled."""
        folder = bench.task("coded", "demo/siblings/std.256")
        for number in instances(folder):
            found = stats.geom.pmf(self.truth(raw, number), 0.3, loc=-1)
            (folder / f"cptarg.{number}").write_text("".join(f"{p:.9g}\n" for p in found))
        bench.do("mloss", "-q", cwd=folder)
        expect(folder, "L", lambda n: -stats.geom.logpmf(self.truth(raw, n), 0.3, loc=-1))

    def test_log_probabilities(self, bench: Workbench, raw: Raw, folder: Path) -> None:
        awk('{ printf "%.9g\\n", log(0.3) + $1 * log(0.7) }', folder, "lptarg.{}", "targets.{}")
        bench.do("mloss", "-q", cwd=folder)
        expect(folder, "L", lambda n: -stats.geom.logpmf(self.truth(raw, n), 0.3, loc=-1))
        tested = raw.numbers(raw.all_tested(), SIBLINGS)
        shares = np.unique(tested, return_counts=True)[1] / len(tested)
        found = figures(bench.do("mstats", cwd=folder).out)["Estimated expected loss"]
        assert found[1] == pytest.approx(found[0] + float(shares @ np.log(shares)), abs=1e-8)

    def test_a_probability_above_one_is_refused(self, bench: Workbench, folder: Path) -> None:
        awk("{ print 1.5 }", folder, "ptarg.{}", "targets.{}")
        assert "at most 1" in bench.fail("mloss", "-q", cwd=folder)

    def test_no_class_probabilities(self, bench: Workbench, folder: Path) -> None:
        awk('{ print "0.5 0.5" }', folder, "prob.{}", "targets.{}")
        assert "give ptarg files instead" in bench.fail("mloss", "-q", "-l", "L", cwd=folder)


class TestBinaryTarget:
    """Sex."""

    @pytest.fixture
    def raw(self, bench: Workbench) -> Raw:
        return demo(bench, 512)

    @pytest.fixture
    def folder(self, bench: Workbench) -> Path:
        return bench.task("m", "demo/sex/std.512")

    def is_female(self, raw: Raw, number: int) -> Flags:
        return raw.has("female", raw.testing(number), SEX)

    def older(self, raw: Raw, number: int) -> Flags:
        middle, _ = median_and_deviation(raw.numbers(raw.training(number), AGE))
        return raw.numbers(raw.testing(number), AGE) > middle

    def test_any_number_is_decoded_to_the_nearest_code(
        self, bench: Workbench, raw: Raw, folder: Path
    ) -> None:
        awk("{ print ($1 > 0) ? 0.01 : -7 }", folder, "cguess.{}", "test.{}")
        bench.do("mloss", "-q", cwd=folder)
        expect(folder, "Z", lambda n: self.older(raw, n) != self.is_female(raw, n))
        assert set((folder / "guess.0").read_text().split()) == {"male", "female"}

    @pytest.mark.parametrize("root", ["prob", "lprob"])
    def test_probabilities_are_normalised(self, root: str, bench: Workbench, raw: Raw, folder: Path) -> None:
        """Three to one for women among the older, two to one for men among the younger."""
        programs = {
            "prob": '{ if ($1 > 0) print "1 3"; else print "20 10" }',
            "lprob": '{ if ($1 > 0) print "-1", log(3) - 1; else print log(2), 0 }',
        }
        awk(programs[root], folder, root + ".{}", "test.{}")
        bench.do("mloss", "-q", cwd=folder)

        def of_truth(number: int) -> Numbers:
            female = np.where(self.older(raw, number), 3 / 4, 1 / 3)
            return np.where(self.is_female(raw, number), female, 1 - female)

        rtol = 1e-5 if root == "lprob" else 1e-8  # awk prints six digits
        for number in range(2):
            found = of_truth(number)
            close(column(folder / f"loss.L.{number}"), -np.log(found), rtol=rtol)
            close(column(folder / f"loss.Q.{number}"), 2 * (1 - found) ** 2, rtol=rtol)

    def test_baselines(self, bench: Workbench, raw: Raw, folder: Path) -> None:
        share = np.concatenate([self.is_female(raw, n) for n in range(2)]).mean()
        awk('{ print "1 1" }', folder, "prob.{}", "test.{}")
        awk('{ print "female" }', folder, "guess.{}", "test.{}")
        bench.do("mloss", "-q", cwd=folder)
        shown = bench.do("mstats", cwd=folder).out.split("/m/demo/sex/std.512\n")[1:]
        assert [block.splitlines()[0] for block in shown] == [
            "Loss: L (Negative Log probability)",
            "Loss: Q (Squared Probability)",
            "Loss: Z (Zero-one)",
        ]
        logs, squares, errors = (figures(block)["Estimated expected loss"] for block in shown)
        entropy = -share * math.log(share) - (1 - share) * math.log(1 - share)
        assert logs == (pytest.approx(math.log(2)), pytest.approx(math.log(2) - entropy, rel=1e-5))
        assert squares == (0.5, pytest.approx(0.5 / (1 - share**2 - (1 - share) ** 2), rel=1e-7))
        assert errors == (pytest.approx(1 - share), pytest.approx((1 - share) / min(share, 1 - share)))

    def test_a_no_guess_penalty(self, bench: Workbench, raw: Raw, folder: Path) -> None:
        awk('{ if ($1 > 0) print "?"; else print "male" }', folder, "guess.{}", "test.{}")
        bench.do("mloss", "-q", "-l", "Z0.2N", cwd=folder)
        expect(folder, "Z0.2N", lambda n: np.where(self.older(raw, n), 0.2, self.is_female(raw, n)))

    def test_a_zero_probability_is_an_infinite_loss(self, bench: Workbench, raw: Raw, folder: Path) -> None:
        awk('{ print "1 0" }', folder, "prob.{}", "test.{}")
        bench.do("mloss", "-q", cwd=folder)
        expect(folder, "L", lambda n: np.where(self.is_female(raw, n), np.inf, 0))
        expect(folder, "Q", lambda n: np.where(self.is_female(raw, n), 2, 0))
        shown = bench.do("mstats", "-l", "L", cwd=folder).out
        assert "infinite losses: nothing but the mean is defined" in " ".join(shown.split())
        (record,) = json.loads(bench.do("mstats", "-l", "L", "--json", cwd=folder).out)
        assert (record["estimate"], record["standard_error"]) == ("Inf", None)
        assert ",Inf," in bench.do("mstats", "-l", "L", "--csv", cwd=folder).out

    def test_a_passive_value(self, bench: Workbench, raw: Raw) -> None:
        (bench.root / "codings").write_text("SEX 0/1 passive=female\n")
        folder = bench.task("m", "demo/sex/std.512", "-c", str(bench.root / "codings"))
        assert column(folder / "targets.0") == (~self.is_female(raw, 0)).tolist()
        awk("{ print 0.4 }", folder, "cguess.{}", "test.{}")
        bench.do("mloss", "-q", cwd=folder)
        expect(folder, "Z", lambda n: ~self.is_female(raw, n))


class TestNominalTarget:
    """Colour."""

    COSTS = "0 1 2 3 4\n1 0 1 1 1\n2 5 0 1 1\n1 1 1 0 1\n9 8 7 6 0\n.5 .5 .5 .25 .5\n"

    @pytest.fixture
    def raw(self, bench: Workbench) -> Raw:
        return demo(bench, 128)

    @pytest.fixture
    def folder(self, bench: Workbench) -> Path:
        bench.write({"data/demo/colour/costs": self.COSTS})
        return bench.task("m", "demo/colour/std.128")

    def truth(self, raw: Raw, number: int) -> NDArray[np.int64]:
        return np.array([COLOURS.index(word) for word in raw.words(raw.testing(number), COLOUR)])

    def is_male(self, raw: Raw, number: int) -> Flags:
        return raw.has("male", raw.testing(number), SEX)

    def test_the_largest_number_wins(self, bench: Workbench, raw: Raw, folder: Path) -> None:
        awk('{ print ($1 < 0) ? "0 .9 .1 0 .3" : "-2 -3 -4 -5 -1" }', folder, "cguess.{}", "test.{}")
        bench.do("mloss", "-q", cwd=folder)
        expect(folder, "Z", lambda n: self.truth(raw, n) != np.where(self.is_male(raw, n), 1, 4))

    def test_a_thermometer_is_read_to_the_nearest_mark(self, bench: Workbench, raw: Raw) -> None:
        (bench.root / "codings").write_text("COLOUR therm scale=none\n")
        folder = bench.task("m", "demo/colour/std.128", "-c", str(bench.root / "codings"))
        awk('{ print "0.8 0.3 -0.1 -2" }', folder, "cguess.{}", "test.{}")
        bench.do("mloss", "-q", cwd=folder)
        expect(folder, "Z", lambda n: self.truth(raw, n) != COLOURS.index("red"))

    def test_probabilities(self, bench: Workbench, raw: Raw, folder: Path) -> None:
        awk('{ print ($1 < 0) ? "1 4 1 1 1" : "2 1 1 1 0" }', folder, "prob.{}", "test.{}")
        bench.do("mloss", "-q", "-l", "QL", cwd=folder)
        odds = np.array([[2, 1, 1, 1, 0], [1, 4, 1, 1, 1]]) / np.array([[5.0], [8.0]])

        def rows(number: int) -> Numbers:
            chosen: Numbers = odds[self.is_male(raw, number).astype(int)]
            return chosen

        def squared(number: int) -> Numbers:
            chosen = rows(number)
            hit = chosen[np.arange(len(chosen)), self.truth(raw, number)]
            others: Numbers = (chosen**2).sum(axis=1) - hit**2
            return (1 - hit) ** 2 + others

        def logs(number: int) -> Numbers:
            chosen = rows(number)
            with np.errstate(divide="ignore"):
                return -np.log(chosen[np.arange(len(chosen)), self.truth(raw, number)])

        expect(folder, "Q", squared)
        expect(folder, "L", logs)

    def test_a_loss_matrix(self, bench: Workbench, raw: Raw, folder: Path) -> None:
        """Rows are guesses, columns the truth; the sixth row is for making no guess."""
        awk('{ print ($1 < 0) ? "red" : "?" }', folder, "guess.Mcosts.{}", "test.{}")
        bench.do("mloss", "-q", "-l", "Mcosts", cwd=folder)
        costs = np.array([[float(word) for word in line.split()] for line in self.COSTS.splitlines()])
        expect(folder, "Mcosts", lambda n: costs[np.where(self.is_male(raw, n), 2, 5), self.truth(raw, n)])
        tested = [COLOURS.index(word) for word in raw.words(raw.all_tested(), COLOUR)]
        best = (costs @ (np.bincount(tested) / len(tested))).min()
        shown = bench.do("mstats", cwd=folder).out
        assert 'Loss: Mcosts (Loss matrix "costs")' in shown
        check_summary(shown, hierarchical(np.array(losses(folder, "Mcosts"))), best)

    def test_losses_that_do_not_apply(self, bench: Workbench, folder: Path) -> None:
        awk('{ print "red" }', folder, "guess.{}", "test.{}")
        assert 'target "COLOUR" is categorical' in bench.fail("mloss", "-q", "-l", "S", cwd=folder)
        assert 'unknown loss "X"' in bench.fail("mloss", "-q", "-l", "X", cwd=folder)
        complaint = bench.fail("mloss", "-q", "-l", "Mnothing", cwd=folder)
        assert 'loss matrix "/demo/colour/nothing" not found' in complaint

    def test_a_loss_without_predictions_is_left_out_with_a_warning(
        self, bench: Workbench, folder: Path
    ) -> None:
        awk('{ print "red" }', folder, "guess.{}", "test.{}")
        result = bench.do("mloss", "-q", "-l", "ZQ", cwd=folder)
        assert result.err == "mloss: warning: no prob or ptarg files for loss Q, which is left out\n"
        assert {path.name.split(".")[1] for path in folder.glob("loss.*")} == {"Z"}

    def test_a_colour_that_does_not_exist(self, bench: Workbench, folder: Path) -> None:
        awk('{ print (NR == 5) ? "grey" : "red" }', folder, "guess.{}", "test.{}")
        complaint = bench.fail("mloss", "-q", cwd=folder)
        assert "guess.0" in complaint
        assert 'case 5: guess "grey"' in complaint
        assert not list(folder.glob("loss.*"))
