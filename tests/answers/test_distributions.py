"""Predictive distributions against SciPy, numerical integration and each other."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import integrate, stats

from redelve.answers.distributions import (
    Distribution,
    Normal,
    NormalMixture,
    Quantiles,
    Samples,
    Student,
    distributions,
)
from redelve.errors import PredictionError

VALUES = np.array([-2.0, 0.3, 5.0])
NORMAL = Normal(np.array([0.0, 1.0, 4.0]), np.array([1.0, 0.5, 3.0]))
STUDENT = Student(np.array([0.0, 1.0, 4.0]), np.array([1.0, 0.5, 3.0]), np.array([3.0, 5.0, 30.0]))
MIXTURE = NormalMixture(
    np.array([[1.0, 3.0]] * 3), np.array([[0.0, 2.0], [1.0, 1.5], [-4.0, 4.0]]), np.array([[1.0, 0.3]] * 3)
)
SAMPLES = Samples(np.random.default_rng(1).normal(size=(3, 400)) + np.array([[0.0], [1.0], [4.0]]))
LEVELS = np.array([0.05, 0.25, 0.5, 0.75, 0.95])
QUANTILES = Quantiles(LEVELS, np.array([[-2.0, -1.0, 0.1, 0.6, 1.5], [0.2, 0.7, 1, 1.4, 2], [0, 2, 4, 6, 8]]))
ALL: list[Distribution] = [NORMAL, STUDENT, MIXTURE, SAMPLES, QUANTILES]
SMOOTH: list[Distribution] = [NORMAL, STUDENT, MIXTURE, QUANTILES]


def test_every_registered_distribution_is_tried() -> None:
    assert sorted(each.kind for each in ALL) == list(distributions)


@pytest.mark.parametrize("each", ALL, ids=lambda each: each.kind)
def test_kind_and_parameters_make_the_same_distribution_again(each: Distribution) -> None:
    """What an archive keeps: arrays with a row per case."""
    stored = {name: array.copy() for name, array in each.parameters().items()}
    assert all(len(array) == len(each) for array in stored.values())
    again = distributions[each.kind](**stored)
    assert type(again) is type(each)
    for name, array in again.parameters().items():
        assert np.array_equal(array, stored[name])
    assert np.array_equal(again.log_density(VALUES), each.log_density(VALUES))
    assert np.array_equal(again.crps(VALUES), each.crps(VALUES))


@pytest.mark.parametrize("each", ALL, ids=lambda each: each.kind)
def test_parameters_cannot_be_changed(each: Distribution) -> None:
    for array in each.parameters().values():
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0.0


@pytest.mark.parametrize("each", SMOOTH, ids=lambda each: each.kind)
def test_densities_integrate_to_one(each: Distribution) -> None:
    for case in range(3):
        one = type(each)(**{name: array[case : case + 1] for name, array in each.parameters().items()})
        ends = [float(one.quantile(level)[0]) for level in (1e-9, *LEVELS, 1 - 1e-9)]
        mass = sum(
            integrate.quad(lambda x, one=one: np.exp(one.log_density(np.array([x]))[0]), a, b, limit=200)[0]
            for a, b in pairwise(ends)
        )
        assert mass == pytest.approx(1, abs=1e-6)


@pytest.mark.parametrize("each", SMOOTH, ids=lambda each: each.kind)
def test_values_from_a_distribution_have_uniform_probabilities(each: Distribution) -> None:
    """The probability integral transform; values are drawn through the quantiles of the second case."""
    levels = np.random.default_rng(5).uniform(size=400)
    one = {name: array[1:2] for name, array in each.parameters().items()}
    drawn = np.array([type(each)(**one).quantile(level)[0] for level in levels.tolist()])
    many = type(each)(**{name: np.repeat(array, 400, axis=0) for name, array in one.items()})
    assert many.probability_below(drawn) == pytest.approx(levels, abs=1e-9)
    assert stats.kstest(many.probability_below(drawn), "uniform").pvalue > 0.01
    assert np.mean(many.covers(drawn, 0.8)) == pytest.approx(0.8, abs=4 * np.sqrt(0.16 / 400))


@pytest.mark.parametrize("each", ALL, ids=lambda each: each.kind)
def test_the_mean_is_the_integral_of_the_quantiles(each: Distribution) -> None:
    levels = (np.arange(500) + 0.5) / 500
    rows = np.stack([each.quantile(level) for level in levels.tolist()])
    assert each.mean() == pytest.approx(rows.mean(axis=0), abs=0.01)  # the midpoint rule misses some tail


def test_densities_are_scipys() -> None:
    assert NORMAL.log_density(VALUES) == pytest.approx(
        stats.norm.logpdf(VALUES, NORMAL.location, NORMAL.scale)
    )
    expected = stats.t.logpdf(VALUES, STUDENT.degrees_of_freedom, STUDENT.location, STUDENT.scale)
    assert STUDENT.log_density(VALUES) == pytest.approx(expected)


@pytest.mark.parametrize("each", ALL, ids=lambda each: each.kind)
def test_densities_integrate_to_probabilities(each: Distribution) -> None:
    low, high = each.quantile(0.001)[0], VALUES[0] + 2

    def density(x: float) -> float:
        return float(np.exp(each.log_density(np.array([x, 0.0, 0.0]))[0]))

    mass = integrate.quad(density, low, high, limit=200)[0]
    ends = [each.probability_below(np.array([end, 0.0, 0.0]))[0] for end in (low, high)]
    # a kernel estimate smooths: its mass differs from the share of draws by a few hundredths
    assert mass == pytest.approx(ends[1] - ends[0], abs=0.04 if each is SAMPLES else 1e-6)


@pytest.mark.parametrize("each", SMOOTH, ids=lambda each: each.kind)
def test_quantiles_invert_probabilities(each: Distribution) -> None:
    for level in (0.01, 0.3, 0.5, 0.975):
        assert each.probability_below(each.quantile(level)) == pytest.approx(level, abs=1e-9)


@pytest.mark.parametrize("each", ALL, ids=lambda each: each.kind)
def test_crps_is_the_integral_it_stands_for(each: Distribution) -> None:
    grid = np.linspace(-60, 60, 6001)
    for case, value in enumerate(VALUES):
        rows = np.full(len(grid), case)
        repeated = type(each)(**{name: array[rows] for name, array in each.parameters().items()})
        expected = np.trapezoid((repeated.probability_below(grid) - (grid >= value)) ** 2, grid)
        assert each.crps(VALUES)[case] == pytest.approx(expected, abs=0.02)


def test_the_general_crps_agrees_with_the_closed_form() -> None:
    assert Distribution.crps(NORMAL, VALUES) == pytest.approx(NORMAL.crps(VALUES), rel=0.01)


def test_a_mixture_of_one_is_a_normal_and_many_degrees_of_freedom_too() -> None:
    one = NormalMixture(np.ones((3, 1)), NORMAL.location[:, None], NORMAL.scale[:, None])
    large = Student(NORMAL.location, NORMAL.scale, np.full(3, 1e7))
    for other in (one, large):
        assert other.log_density(VALUES) == pytest.approx(NORMAL.log_density(VALUES), rel=1e-5)
        assert other.crps(VALUES) == pytest.approx(NORMAL.crps(VALUES), rel=1e-5)
        assert other.median() == pytest.approx(NORMAL.median(), abs=1e-6)
        assert other.mean() == pytest.approx(NORMAL.mean())


def test_central_intervals_cover_as_often_as_they_say() -> None:
    random = np.random.default_rng(3)
    count = 20_000
    truth = random.standard_t(4, count)
    predicted = Student(np.zeros(count), np.ones(count), np.full(count, 4.0))
    assert predicted.covers(truth, 0.9).mean() == pytest.approx(0.9, abs=4 * np.sqrt(0.09 / count))


@pytest.mark.parametrize(("components", "spread", "scale"), [(1, 1.0, 1.0), (3, 100.0, 0.01), (60, 1.0, 0.1)])
def test_quantiles_of_mixtures_leave_the_level_below_them(
    components: int, spread: float, scale: float
) -> None:
    random = np.random.default_rng(components)
    shape = (40, components)
    made = NormalMixture(
        random.dirichlet(np.ones(components), 40),
        spread * random.normal(size=shape),
        scale * (0.1 + random.random(shape)),
    )
    for level in (1e-6, 0.05, 0.5, 0.95):
        np.testing.assert_allclose(made.probability_below(made.quantile(level)), level, rtol=1e-9)
    values = spread * random.normal(size=40)
    between = (values >= made.quantile(0.05)) & (values <= made.quantile(0.95))
    np.testing.assert_array_equal(made.covers(values, 0.9), between)


def test_the_crps_of_a_mixture_is_that_of_all_pairs() -> None:
    """Grimit et al. (2006, eq. 5), every pair of components written out."""
    random = np.random.default_rng(1)
    made = NormalMixture(*(random.random((5, 7)) + 0.1 for _ in range(3)))
    values = random.normal(size=5)

    def distance(gap: float, scale: float) -> float:
        z = gap / scale
        return float(gap * (2 * stats.norm.cdf(z) - 1) + 2 * scale * stats.norm.pdf(z))

    for case, (weights, places, scales) in enumerate(
        zip(made.weights, made.locations, made.scales, strict=True)
    ):
        first = sum(
            w * distance(values[case] - m, s) for w, m, s in zip(weights, places, scales, strict=True)
        )
        parts = list(zip(weights, places, scales, strict=True))
        pairs = sum(v * w * distance(m - n, np.hypot(s, t)) for v, m, s in parts for w, n, t in parts)
        assert made.crps(values)[case] == pytest.approx(first - pairs / 2, rel=1e-12)


def test_crps_is_proper_for_samples() -> None:
    """The expected score is smallest for the distribution the truth comes from."""
    random = np.random.default_rng(4)
    truth = random.normal(size=3000)
    scores = [
        Normal(np.full(3000, m), np.full(3000, s)).crps(truth).mean() for m, s in ((0, 1), (0.5, 1), (0, 2))
    ]
    assert scores[0] == min(scores)


ROWS = st.lists(st.integers(-6, 6).map(lambda x: x / 2), min_size=4, max_size=4)
FOUR = np.array([0.1, 0.3, 0.6, 0.8])


def exact_crps(row: list[float], value: float) -> float:
    """∫ (F(x) − 1[x ≥ value])² dx of one row, by adaptive integration between all corners."""
    one = Quantiles(FOUR, np.array([row]))
    corners = sorted({*row, value, float(one.quantile(1e-12)[0]), float(one.quantile(1 - 1e-12)[0])})

    def squared(x: float) -> float:
        return float((one.probability_below(np.array([x]))[0] - (x >= value)) ** 2)

    return float(sum(integrate.quad(squared, a, b)[0] for a, b in pairwise(corners)))


@settings(max_examples=30)
@given(ROWS, st.integers(-9, 9).map(lambda x: x / 3))
def test_the_crps_of_quantiles_is_exact_even_where_some_are_equal(row: list[float], value: float) -> None:
    found = Quantiles(FOUR, np.array([row])).crps(np.array([value]))[0]
    assert found == pytest.approx(exact_crps(row, value), abs=1e-6)


@given(ROWS, st.floats(-20, 20))
def test_probabilities_of_quantiles_rise_from_zero_to_one(row: list[float], value: float) -> None:
    one = Quantiles(FOUR, np.array([row]))
    ends = [one.probability_below(np.array([x]))[0] for x in (-1e3, value, value + 0.5, 1e3)]
    assert ends == sorted(ends)
    assert ends[0] == pytest.approx(0.0, abs=1e-9)
    assert ends[-1] == pytest.approx(1.0, abs=1e-9)


@given(st.permutations(range(5)))
def test_quantiles_out_of_order_are_sorted(order: list[int]) -> None:
    mixed = Quantiles(LEVELS, QUANTILES.values[:, order])
    assert np.array_equal(mixed.values, QUANTILES.values)
    assert np.array_equal(mixed.crps(VALUES), QUANTILES.crps(VALUES))


def test_quantiles_are_what_was_given_and_levels_may_differ_by_case() -> None:
    for k, level in enumerate(LEVELS.tolist()):
        assert QUANTILES.quantile(level) == pytest.approx(QUANTILES.values[:, k])
    two = Quantiles(np.array([[0.2, 0.5], [0.5, 0.9]]), np.array([[1.0, 2.0], [5.0, 7.0]]))
    assert two.median() == pytest.approx([2.0, 5.0])
    assert two.quantile(0.2)[0] == pytest.approx(1.0)


def test_the_density_of_quantiles_goes_on_into_the_tails() -> None:
    first, last = QUANTILES.values[:, 0], QUANTILES.values[:, -1]
    for edge in (first, last):
        around = [QUANTILES.log_density(edge + step) for step in (-1e-9, 1e-9)]
        assert around[0] == pytest.approx(around[1], abs=1e-6)
    far = np.full(3, 1e4)
    assert np.isfinite(QUANTILES.log_density(far)).all()
    assert np.isfinite(QUANTILES.log_density(-far)).all()


def test_many_quantiles_of_a_normal_are_that_normal() -> None:
    levels = np.arange(1, 1000) / 1000
    fine = Quantiles(levels, np.stack([NORMAL.quantile(level) for level in levels.tolist()], axis=1))
    assert fine.crps(VALUES) == pytest.approx(NORMAL.crps(VALUES), rel=1e-3)
    assert fine.mean() == pytest.approx(NORMAL.mean(), abs=1e-3)
    inside = np.array([-1.0, 0.3, 5.0])
    assert fine.log_density(inside) == pytest.approx(NORMAL.log_density(inside), abs=0.01)


def test_equal_quantiles_have_everything_but_a_density() -> None:
    point = Quantiles(LEVELS, np.ones((1, 5)))
    assert point.probability_below(np.array([1.0])) == pytest.approx(1.0)
    assert point.probability_below(np.array([0.999])) == pytest.approx(0.0)
    assert point.crps(np.array([3.5])) == pytest.approx(2.5)
    assert point.crps(np.array([-1.0])) == pytest.approx(2.0)
    assert (point.mean()[0], point.quantile(0.01)[0], point.quantile(0.99)[0]) == (1.0, 1.0, 1.0)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: Quantiles(LEVELS, np.ones((1, 5))).log_density(np.ones(1)),
            "case 1: two quantiles are equal",
        ),
        (lambda: Quantiles(np.array([0.1, 1.0]), np.ones((1, 2))), "between 0 and 1 and increasing.*0.1, 1"),
        (lambda: Quantiles(np.array([0.5]), np.ones((1, 1))), "at least two"),
        (lambda: Quantiles(LEVELS, np.ones((1, 4))), r"same shape: got levels \(1, 5\), values \(1, 4\)"),
        (lambda: Normal(np.zeros(2), np.ones(3)), r"same shape: got location \(2,\), scale \(3,\)"),
        (lambda: Normal(np.zeros(2), np.array([1.0, 0.0])), "case 2: the scale must be positive but is 0"),
        (lambda: Normal(np.array([np.nan]), np.ones(1)), "the location of a predictive distribution"),
        (
            lambda: Student(np.zeros(1), np.ones(1), np.ones(1)),
            "freedom less one must be positive",
        ),
        (lambda: NormalMixture(-np.ones((1, 2)), np.ones((1, 2)), np.ones((1, 2))), "must not be negative"),
        (
            lambda: NormalMixture(np.ones((1, 2)), np.ones((1, 1)), np.ones((1, 2))),
            "must have the same",
        ),
        (lambda: Samples(np.ones((2, 1))), "at least two draws"),
        (lambda: Samples(np.ones((2, 5))).log_density(np.ones(2)), "case 1: all draws are equal"),
    ],
)
def test_impossible_distributions_are_refused(make: object, message: str) -> None:
    with pytest.raises(PredictionError, match=message):
        make()  # type: ignore[operator]
