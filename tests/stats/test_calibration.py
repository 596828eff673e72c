"""Levels and coverages by simulation, with bands far wider than the noise of the simulations."""

import shutil
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest
from benchmarks import calibration
from benchmarks.calibration import classifiers, learning, many, one_task, partition, resamples
from benchmarks.calibration.overview import OFFERS, Offer
from benchmarks.calibration.sections import Effort, Finding, percent, rejections
from benchmarks.calibration.simulation import (
    Design,
    Sample,
    draw_gaussian,
    draw_losses,
    draw_sample,
    summarise,
)
from scipy import stats as scipy_stats

from redelve import stats
from redelve.stats import analyse_common, analyse_hierarchical, compare_common, compare_hierarchical
from redelve.stats.estimates import CRITICAL, FEW_TEST_CASES, LIBERAL
from redelve.stats.mean_squares import t_quantile

SDS = (0.0, 0.1, 0.25, 0.5, 1.0)
MANY = 60_000  # standard error 0.09 points at 5 %, 0.13 at 12 %: each band below is three of them or more


def grid(training_sets: int, seed: int, count: int = MANY) -> list[Sample]:
    rng = np.random.default_rng([seed, training_sets])
    return [draw_gaussian(Design(training_sets, 200, a, b), count, rng) for a in SDS for b in SDS]


def nested(training_sets: int, seed: int) -> list[Sample]:
    rng = np.random.default_rng([seed, training_sets])
    return [draw_gaussian(Design(training_sets, 200, a, 0.0), MANY, rng) for a in SDS]


@pytest.mark.parametrize("training_sets", [2, 3, 4, 8])
def test_the_t_test_keeps_its_level(training_sets: int) -> None:
    levels = [rejections(sample.t_test()) for sample in nested(training_sets, 1)]
    assert min(levels) > 4.5
    assert max(levels) < 5.5


@pytest.mark.parametrize("training_sets", [2, 3, 4, 8])
def test_hierarchical_intervals_cover(training_sets: int) -> None:
    covers = [percent(sample.hierarchical_covers()) for sample in nested(training_sets, 2)]
    assert min(covers) > 94.5
    assert max(covers) < 95.5


@pytest.mark.parametrize("training_sets", [4, 8])
def test_the_f_test_keeps_its_level(training_sets: int) -> None:
    levels = [rejections(sample.f_test()) for sample in grid(training_sets, 3, 40_000)]
    assert min(levels) > 4.0
    assert max(levels) < 6.0


def test_the_degrees_of_freedom_of_hillis_are_too_many_with_four_training_sets() -> None:
    levels = [rejections(sample.hillis_test()) for sample in grid(4, 3, 40_000)]
    assert 6.0 < max(levels) < 6.8


@pytest.mark.parametrize(("training_sets", "least"), [(4, 94.0), (8, 94.0)])
def test_common_intervals_cover(training_sets: int, least: float) -> None:
    covers = [percent(sample.common_covers()) for sample in grid(training_sets, 4, 40_000)]
    assert min(covers) > least
    assert max(covers) < 96.0


@pytest.mark.parametrize("training_sets", [2, 3])
def test_the_caveat_for_few_training_sets_tells_the_truth(training_sets: int) -> None:
    """The F-test is liberal with few training sets, about as much as the caveat says."""
    worst = max(rejections(sample.f_test()) for sample in grid(training_sets, 5))
    assert worst == pytest.approx(float(LIBERAL[training_sets]), abs=0.4)


@pytest.mark.parametrize(("test_cases", "worst"), [(5, 7.7), (10, 6.4), (20, 5.6)])
def test_the_caveat_for_few_test_cases_tells_the_truth(test_cases: int, worst: float) -> None:
    rng = np.random.default_rng(15)
    designs = [Design(8, test_cases, a, b) for a in (0.0, 0.5) for b in (0.5, 1.0, 3.0, 10.0)]
    levels = [rejections(draw_gaussian(design, MANY, rng).f_test()) for design in designs]
    assert max(levels) == pytest.approx(worst, abs=0.4)
    assert (max(levels) > 6) == (test_cases < FEW_TEST_CASES)


def test_the_caveat_for_powerless_t_tests_tells_the_truth() -> None:
    for training_sets, critical in CRITICAL.items():
        assert f"{t_quantile(training_sets - 1, 0.95):.1f}" == critical


@pytest.mark.parametrize(
    ("design", "expected"),
    [(Design(8, 200, 0.0, 0.0), 2.2), (Design(2, 200, 0.5, 0.5), 12.6), (Design(2, 200, 0.25, 0.0), 14.1)],
)
def test_the_quasi_f_of_delve_misses_its_level(design: Design, expected: float) -> None:
    sample = draw_gaussian(design, MANY, np.random.default_rng(6))
    assert rejections(sample.quasi_f_test()) == pytest.approx(expected, abs=0.5)


@pytest.mark.parametrize(
    "design", [Design(2, 200, 0.5, 1.0), Design(3, 200, 0.1, 0.5), Design(3, 10, 0.0, 3.0)]
)
def test_the_cautious_test_does_not_exceed_its_level(design: Design) -> None:
    sample = draw_gaussian(design, 4000, np.random.default_rng(7))
    assert rejections(sample.cautious_test()) < 5 + 4 * 0.34


POINTS = (Design(2, 200, 0.5, 0.5), Design(4, 200, 0.0, 0.25), Design(8, 200, 0.1, 0.0))


@pytest.mark.parametrize("design", POINTS)
def test_drawn_losses_confirm_the_shortcut(design: Design) -> None:
    """Mean squares of drawn losses have the distribution that the quick simulations draw from."""
    rng = np.random.default_rng(8)
    drawn, quick = draw_sample(design, 5000, rng, "gaussian"), draw_gaussian(design, 5000, rng)
    pairs = [(drawn.means, quick.means), *zip(drawn.mean_squares, quick.mean_squares, strict=True)]
    for one, two in pairs:
        assert scipy_stats.ks_2samp(one, two).pvalue > 1e-3
    for test in (Sample.f_test, Sample.hillis_test, Sample.quasi_f_test):
        assert rejections(test(drawn)) == pytest.approx(rejections(test(quick)), abs=4 * 0.6)


def test_simulated_tests_are_those_of_the_analyses() -> None:
    design = Design(3, 30, 0.3, 0.4)
    losses = draw_losses(design, 40, np.random.default_rng(9), "skewed")
    sample = summarise(design, losses)
    columns = (sample.t_test(), sample.f_test(), sample.quasi_f_test(), sample.cautious_test())
    zero = np.zeros(design.shape)
    for n, table in enumerate(losses):
        crossed, one = compare_common(table, zero), compare_hierarchical(table, zero)
        assert crossed.quasi_f is not None
        found = (one.p_value, crossed.p_value, crossed.quasi_f.p_value, crossed.cautious_p_value)
        assert found == pytest.approx([column[n] for column in columns], rel=1e-9)
        for analyse, covers in (
            (analyse_common, sample.common_covers()),
            (analyse_hierarchical, sample.hierarchical_covers()),
        ):
            interval = analyse(table).interval()
            assert interval is not None
            assert (interval[0] <= 0 <= interval[1]) == covers[n]


@pytest.mark.parametrize("shape", ["gaussian", "skewed", "heavy-tailed"])
def test_simulated_terms_have_the_variances_asked_for(shape: str) -> None:
    design = Design(4, 50, 0.5, 2.0)
    sample = draw_sample(design, 4000, np.random.default_rng(10), shape)  # type: ignore[arg-type]
    found = [float(square.mean()) for square in sample.mean_squares]
    assert found == pytest.approx(design.expected_mean_squares(), rel=0.1)


TINY = Effort(4, 4, 4, 4)


LONG = (
    "agreement",
    "brought-scores",
    "curves",
    "efficiency-comparisons",
    "efficiency-intervals",
    "equivalence",
    "groups",
    "heavy-tails",
    "metrics",
    "question-race",
    "sampled-networks",
    "slices",
    "stated-powers",
    "tails",
    "until-settled",
)
"""Sections that take half a second or more with the least effort: five sixths of the time of all.

Tests of their own call what most of them measure, with numbers that must come out.
"""


@pytest.mark.parametrize("as_kept", [LONG, pytest.param((), marks=pytest.mark.slow)], ids=["quick", "all"])
def test_the_page_is_written(tmp_path: Path, as_kept: Sequence[str]) -> None:
    (tmp_path / "kept").mkdir()
    for name in as_kept:
        shutil.copy(calibration.KEPT / f"{name}.json", tmp_path / "kept")
    assert calibration.main([str(tmp_path / "page.md"), "--kept", str(tmp_path / "kept")], TINY) == 0
    text = (tmp_path / "page.md").read_text(encoding="utf-8")
    assert text.count("\n## ") == len(calibration.SECTIONS) + 2  # with the opening and the overview
    for offer in OFFERS:
        assert f"| {offer.what} |" in text
    kept = [calibration.kept_section(name, tmp_path / "kept") for name in calibration.section_names()]
    found = {finding.what for section in kept if section for finding in section.findings}
    assert found - {offer.measured_as or offer.what for offer in OFFERS} <= NO_PROMISE


NO_PROMISE = {
    "two deviations, largest of 5 sizes",
    "race until settled, level",
    "race until settled, equivalence",
}
"""What has no nominal value, or a section of its own that says all of it."""


def test_the_same_seed_gives_the_same_table() -> None:
    one, two, three = (one_task.powers(np.random.default_rng(seed), Effort(some=50)) for seed in (1, 1, 2))
    assert one == two != three


NOT_A_TEST = {  # functions that estimate, plan or prepare, and promise no level or coverage
    "assured_power",
    "assured_test_cases",
    "best_run",
    "better_half",
    "cases_needed",
    "contributions",
    "critical_difference",
    "detectable_difference",
    "efficiency_curve",
    "estimate_components",
    "estimate_components_of_runs",
    "fold_ratio",
    "grouped_losses",
    "guess_error",
    "holm",
    "log_errors",
    "means_by_case",
    "means_by_set",
    "moderated_variances",
    "penalty_weight",
    "pilot_of",
    "rank_sums",
    "ranking_score",
    "remove_outliers",
    "shared_errors",
    "standardise_log",
    "standardise_ratio",
    "turning_cases",
    "summarise_runs",
    "summarise_times",
    "training_sets_needed",
    "trial_times",
    "usual_number_of_runs",
}


def test_every_test_and_interval_of_the_public_face_is_in_the_overview() -> None:
    """A new function must be measured, or be in the list of those that promise nothing."""
    functions = {name for name in stats.__all__ if name[0].islower() and not name.startswith("baseline_")}
    assert functions - NOT_A_TEST <= {offer.use for offer in OFFERS}
    assert functions >= NOT_A_TEST


def test_the_overview_shows_the_worst_and_marks_what_misses() -> None:
    found = [Finding("x", "here", 4.0, 100), Finding("x", "there", 6.5, 200), Finding("y", "far", 99.0, 50)]
    assert Offer("x", "f", "level 5").line(found) == ["x", "`f`", "5", "**4.0 – 6.5**", "there", "100"]
    assert Offer("y", "g", "coverage 95").line(found) == ["y", "`g`", "95", "99.0", "far", "50"]
    with pytest.raises(LookupError, match="nothing was measured of 'z'"):
        Offer("z", "f", "level 5").line(found)


PAGE = Path(__file__).parents[2] / "docs" / "calibration.md"


def documented(what: str) -> tuple[float, float]:
    """The range of percentages that the overview in the docs has for a test or interval."""
    lines = PAGE.read_text(encoding="utf-8").splitlines()
    line = next(line for line in lines if line.startswith(f"| {what} |"))  # later ones are single settings
    measured = line.split(" | ")[3].strip("*").split(" – ")
    return float(measured[0]), float(measured[-1])


def within(what: str, measured: float, count: int) -> bool:
    """Whether a percentage from fewer simulations fits the documented range, by four standard errors."""
    low, high = documented(what)
    slack = [400 * np.sqrt(max(rate, 2) / 100 * (1 - min(rate, 98) / 100) / count) for rate in (low, high)]
    return bool(low - slack[0] <= measured <= high + slack[1])


RNG = np.random.default_rng
CELLS: dict[str, tuple[int, Callable[[int], float]]] = {
    "t-test, skewed losses": (
        2000,
        lambda n: rejections(draw_sample(Design(4, 200, 1.0, 0.0), n, RNG(20), "skewed").t_test()),
    ),
    "F-test, 2 or 3 training sets": (
        20_000,
        lambda n: rejections(draw_gaussian(Design(2, 200, 0.5, 1.0), n, RNG(21)).f_test()),
    ),
    "cautious test, 4 or more training sets": (
        1000,
        lambda n: rejections(draw_gaussian(Design(8, 200, 0.5, 0.25), n, RNG(22)).cautious_test()),
    ),
    "comparison of several runs, common": (500, lambda n: one_task.runs_level(one_task.RUNS[0], n, RNG(23))),
    "interval of pooled units, common": (
        300,
        lambda n: one_task.unit_coverage(one_task.UNITS[1], RNG(24), n, common=True)[1],
    ),
    "Holm over all pairs, own test cases": (500, lambda n: many.simulate_methods(many.OWN[1], n, RNG(25))[1]),
    "group of the best, the best skewed to its harm": (
        500,
        lambda n: many.simulate_methods(many.SKEWED[0], n, RNG(26))[0],
    ),
    "Friedman, F": (1000, lambda n: float(many.rank_levels(10, 4, n, RNG(27).standard_normal)[0])),
    "Wilcoxon": (500, lambda n: many.wilcoxon_level(30, n, RNG(28).standard_normal)),
    "Bayesian signed-rank, no rope": (300, lambda n: many.certainty(10, 0.0, n, RNG(29))),
    "corrected resampled t, nearest neighbour, repeated folds": (
        400,
        lambda n: resamples.resampled_levels(learning.nearest, resamples.REPEATED[0], n, RNG(30))[0],
    ),
    "corrected resampled t, linear regression, random splits": (
        400,
        lambda n: resamples.resampled_levels(learning.linear, resamples.SPLITS[0], n, RNG(31))[0],
    ),
    "interval of resamples, least squares": (
        400,
        lambda n: resamples.single_coverage(resamples.REPEATED[0], n, RNG(32)),
    ),
    "Cochran and Cox's t-test": (
        2000,
        lambda n: partition.cochran_cox_measured((30, 10), 2.0, n, RNG(34))[0],
    ),
    "PROBEN1's comparison, log-normal errors": (
        1000,
        lambda n: partition.comparison_level(partition.log_normal, 30, n, RNG(35)),
    ),
    "Shapiro and Wilk's test": (2000, lambda n: partition.normality_level(30, n, RNG(36))),
    "interval, one partition": (
        500,
        lambda n: partition.partition_measured(partition.PARTITIONS[3], n, RNG(37))[0],
    ),
    "comparison, one partition": (
        500,
        lambda n: partition.partition_measured(partition.PARTITIONS[4], n, RNG(38))[1],
    ),
    "interval of a balanced error": (
        2000,
        lambda n: classifiers.error_coverages(classifiers.GOOD, n, RNG(40))[0],
    ),
    "comparison of balanced errors, alike": (
        1000,
        lambda n: classifiers.paired_errors(classifiers.SMALL, n, RNG(41))[0],
    ),
    "interval of a difference of BERs": (
        1000,
        lambda n: classifiers.paired_errors(classifiers.UNLIKE, n, RNG(42))[1],
    ),
    "interval of an area": (800, lambda n: classifiers.areas(classifiers.AREAS[1], n, RNG(43))[0]),
    "comparison of areas": (800, lambda n: classifiers.areas(classifiers.AREAS[2], n, RNG(44))[1]),
    "places of entries, by BER": (400, lambda n: classifiers.places(classifiers.EQUAL[3], n, RNG(45))[0]),
    "best group of entries, by R": (
        400,
        lambda n: classifiers.scored_places(*classifiers.GUESSES[2], n, RNG(46))[1],
    ),
    "range of a standard error, hierarchical": (
        300,
        lambda n: resamples.scale_coverage("hierarchical", n, RNG(33)),
    ),
}


@pytest.mark.parametrize("what", CELLS)
def test_cells_of_the_overview_are_found_again(what: str) -> None:
    """With other random numbers and fewer of them."""
    count, measure = CELLS[what]
    assert within(what, measure(count), count)


@pytest.mark.slow
@pytest.mark.parametrize("number", range(len(calibration.SECTIONS)))
def test_every_cell_of_the_overview_is_found_again(number: int) -> None:
    effort = Effort(20_000, 2000, 1000, 600)
    section = calibration.SECTIONS[number](np.random.default_rng([2026, number]), effort)
    names = {
        offer.measured_as or offer.what: offer.what for offer in OFFERS if "interval, " not in offer.what
    }
    names |= {offer.what: offer.what for offer in OFFERS if not offer.measured_as}
    for finding in section.findings:
        if finding.what in names and not finding.what.startswith("power, "):
            assert within(names[finding.what], finding.percent, finding.count), finding


@pytest.mark.slow
@pytest.mark.parametrize("training_sets", [4, 5, 6, 8, 16])
def test_the_f_test_stays_near_five_per_cent(training_sets: int) -> None:
    levels = [rejections(sample.f_test()) for sample in grid(training_sets, 11, 400_000)]
    assert min(levels) > 4.5
    assert max(levels) < 5.7


@pytest.mark.slow
@pytest.mark.parametrize("training_sets", [2, 3, 4, 8])
def test_the_cautious_test_keeps_its_level_over_the_grid(training_sets: int) -> None:
    levels = [rejections(sample.cautious_test()) for sample in grid(training_sets, 13, 6000)]
    assert max(levels) < 5 + 4 * 0.28


@pytest.mark.slow
def test_strong_skewness_of_training_sets_breaks_every_test() -> None:
    """Documented: exponential effects of training sets double the error rate, and eight sets do not help."""
    sample = draw_sample(Design(8, 200, 1.0, 0.0), 10_000, np.random.default_rng(14), "skewed")
    assert 9 < rejections(sample.t_test()) < 13
    assert 9 < rejections(sample.f_test()) < 13


@pytest.mark.slow
def test_the_f_test_keeps_its_level_where_it_was_not_chosen() -> None:
    """Its degrees of freedom were chosen on the grid; these random settings had no part in that."""
    rng = np.random.default_rng([2026, 11, 15])
    levels = []
    for _ in range(300):
        sets, cases = int(rng.integers(4, 13)), int(np.exp(rng.uniform(np.log(20), np.log(2000))))
        sds = [
            0.0 if rng.random() < 0.1 else float(np.exp(rng.uniform(np.log(0.02), np.log(4)))) for _ in "ab"
        ]
        sample = draw_gaussian(Design(sets, cases, *sds), 40_000, rng)
        levels.append(rejections(sample.f_test()))
    assert min(levels) > 4.0
    assert max(levels) < 6.0
