"""Predictive distributions against SciPy, numerical integration and each other."""

import numpy as np
import pytest
from scipy import integrate, stats

from redelve.distributions import Distribution, Normal, NormalMixture, Samples, Student, distributions
from redelve.errors import PredictionError

VALUES = np.array([-2.0, 0.3, 5.0])
NORMAL = Normal(np.array([0.0, 1.0, 4.0]), np.array([1.0, 0.5, 3.0]))
STUDENT = Student(np.array([0.0, 1.0, 4.0]), np.array([1.0, 0.5, 3.0]), np.array([3.0, 5.0, 30.0]))
MIXTURE = NormalMixture(
    np.array([[1.0, 3.0]] * 3), np.array([[0.0, 2.0], [1.0, 1.5], [-4.0, 4.0]]), np.array([[1.0, 0.3]] * 3)
)
SAMPLES = Samples(np.random.default_rng(1).normal(size=(3, 400)) + np.array([[0.0], [1.0], [4.0]]))
ALL: list[Distribution] = [NORMAL, STUDENT, MIXTURE, SAMPLES]


def test_every_registered_distribution_is_tried() -> None:
    assert sorted(each.kind for each in ALL) == list(distributions)


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


@pytest.mark.parametrize("each", [NORMAL, STUDENT, MIXTURE], ids=lambda each: each.kind)
def test_quantiles_invert_probabilities(each: Distribution) -> None:
    for level in (0.01, 0.3, 0.5, 0.975):
        assert each.probability_below(each.quantile(level)) == pytest.approx(level, abs=1e-9)


@pytest.mark.parametrize("each", ALL, ids=lambda each: each.kind)
def test_crps_is_the_integral_it_stands_for(each: Distribution) -> None:
    grid = np.linspace(-60, 60, 240_001)
    for case, value in enumerate(VALUES):
        one = type(each)(**{name: array[case : case + 1] for name, array in each.parameters().items()})
        repeated = type(each)(**{name: np.repeat(a, 2, axis=0) for name, a in one.parameters().items()})
        below = np.array([repeated.probability_below(np.array([x, x]))[0] for x in grid[::40]])
        expected = np.trapezoid((below - (grid[::40] >= value)) ** 2, grid[::40])
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


def test_crps_is_proper_for_samples() -> None:
    """The expected score is smallest for the distribution the truth comes from."""
    random = np.random.default_rng(4)
    truth = random.normal(size=3000)
    scores = [
        Normal(np.full(3000, m), np.full(3000, s)).crps(truth).mean() for m, s in ((0, 1), (0.5, 1), (0, 2))
    ]
    assert scores[0] == min(scores)


@pytest.mark.parametrize(
    ("make", "message"),
    [
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
