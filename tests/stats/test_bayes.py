"""Bayesian tests against the published examples of their authors' package, and against exact integrals."""

from itertools import combinations
from math import sqrt

import numpy as np
import pytest
from benchmarks.calibration.many import certainty
from hypothesis import given
from hypothesis import strategies as st
from scipy import integrate
from scipy import stats as scipy_stats

from redelve.errors import StatisticsError
from redelve.seeds import generator
from redelve.stats.bayesian_tests import (
    NO_ROPE,
    CorrelatedT,
    PriorPlacement,
    RopeProbabilities,
    correlated_t,
    signed_rank,
    signed_rank_all,
)
from redelve.stats.mean_squares import FloatArray
from redelve.stats.resampled import REPEATED, compare_resampled, fold_ratio

# Mean accuracies, in per cent, of J48 minus naive Bayes on 54 data sets (ten times ten folds), from the file
# docs/code/accuracies.txt of baycomp 1.0.2, the package of the test's authors (Benavoli et al. 2017).
# fmt: off
J48_NBC = np.array([
    2.69631, 5.82619, -6.142, -0.48757, 7.33333, 0.07247, 0.07247, -1.66038, 11.39528, -2.87, 0.37663,
    -10.46251, -0.52147, 0.0, -5.11663, -3.84365, 0.87493, 0.71349, 0.26669, 11.64616, -1.79997, 0.0,
    -8.72861, 1.42825, 23.16589, 2.52798, 4.23928, 6.88198, -13.57651, 3.23035, -7.24997, 0.89621,
    -0.93657, 1.66664, -6.18992, 2.99569, 3.36088, 3.35703, 4.02665, -2.03572, 0.43863, 3.02541, 1.84042,
    -1.25081, 4.46666, 15.6, 0.4625, 17.7475, -5.096, -3.97613, -7.97718, -2.15955, -0.53898, -1.37273,
])
# fmt: on
# AODE minus naive Bayes, from the same file.
# fmt: off
AODE_NBC = np.array([
    1.93882, 0.26089, -0.46671, 0.71924, -2.00001, 0.46375, 0.46375, 0.15063, 7.26876, 0.79, 2.59956,
    -4.36249, 0.61403, 0.0, 0.625, 0.06897, 0.21209, 1.68343, -0.26666, 3.24166, 0.83333, 0.0, 1.76191,
    1.86253, 10.00162, 0.34286, 4.19008, 2.43365, 4.74732, 3.54823, -0.58334, 10.04269, 0.44345, -1.33333,
    0.67381, 3.92206, 2.7756, 0.6884, 3.99634, 0.33811, 1.11233, 3.28409, 1.68373, 0.69913, 0.36666, 5.6,
    0.4, 16.9091, 5.04, 1.80949, -0.50002, -0.14262, 0.2023, 0.68182,
])
# fmt: on
# Accuracies of naive Bayes minus J48 on the first ten folds of `sonar`, from the same file.
SONAR = np.array([1.449, 0.0, 5.797, 1.47, -2.941, 1.47, -2.941, -1.471, -4.411, -1.471])


def probabilities(result: RopeProbabilities) -> tuple[float, float, float]:
    return result.left, result.rope, result.right


def agree(result: RopeProbabilities, expected: tuple[float, float, float], draws: int) -> bool:
    """Whether probabilities agree with others that were simulated too, within four standard errors."""
    return all(
        abs(found - other) <= 4 * sqrt(error**2 + other * (1 - other) / draws)
        for found, other, error in zip(probabilities(result), expected, result.standard_errors, strict=True)
    )


# baycomp's documentation prints these for two_on_multiple(nbc, j48, rope=1), with 50 000 draws: on the page
# "Functions" and on the first page.
PUBLISHED = ((0.23014, 0.00674, 0.76312), (0.23124, 0.00666, 0.7621))


def test_the_signed_rank_test_gives_the_published_probabilities() -> None:
    result = signed_rank(J48_NBC, rope=1.0, rng=generator("published"), draws=200_000)
    assert all(agree(result, expected, 50_000) for expected in PUBLISHED)


def test_the_signed_rank_test_agrees_with_the_authors_program() -> None:
    # baycomp 1.0.3, SignedRankTest.probs(..., nsamples=50000, random_state=1)
    one = signed_rank(AODE_NBC, rope=1.0, rng=generator("aode"), draws=200_000)
    assert agree(one, (0.0, 0.12972, 0.87028), 50_000)
    two = signed_rank(J48_NBC, rope=0.0, rng=generator("no rope"), draws=200_000)
    assert agree(two, (0.22716, 0.0, 0.77284), 50_000)


def by_pairs(z: FloatArray, rope: float, draws: int, seed: int) -> tuple[float, float, float]:
    """The definition taken literally: Dirichlet weights from NumPy, a table of all pairs, no sorting."""
    rng = np.random.default_rng(seed)
    points = np.append(0.0, z)
    sums = points[:, None] + points
    weights = rng.dirichlet(np.append(0.5, np.ones(z.size)), draws)
    right = np.einsum("ni,ij,nj->n", weights, (sums > 2 * rope).astype(float), weights, optimize=True)
    left = np.einsum("ni,ij,nj->n", weights, (sums < -2 * rope).astype(float), weights, optimize=True)
    winner = np.stack((left, 1 - left - right, right)).argmax(axis=0)
    shares = np.bincount(winner, minlength=3) / draws
    return float(shares[0]), float(shares[1]), float(shares[2])


@pytest.mark.parametrize("rope", [0.5, 1.0, 3.0])
def test_the_signed_rank_test_agrees_with_its_definition(rope: float) -> None:
    """Against a program of ours that shares nothing with it but the definition."""
    for z in (J48_NBC, AODE_NBC):
        result = signed_rank(z, rope=rope, rng=generator("definition"), draws=50_000)
        assert agree(result, by_pairs(z, rope, 20_000, 4), 20_000)


def test_the_correlated_t_test_gives_the_published_probabilities() -> None:
    # baycomp's documentation, two_on_single(nbc, j48) and two_on_single(nbc, j48, rope=0.5), which looks at
    # the second minus the first.
    plain = correlated_t(-SONAR, ratio=fold_ratio(10), rope=0.0)
    assert (plain.left, plain.right) == pytest.approx((0.4145119975061462, 0.5854880024938538), rel=1e-12)
    wide = correlated_t(-SONAR, ratio=fold_ratio(10), rope=0.5)
    expected = (0.28584464173791002, 0.2691518716880249, 0.44500348657406508)
    assert (wide.left, wide.rope, wide.right) == pytest.approx(expected, rel=1e-12)


def test_the_correlated_t_test_gives_scikit_learns_published_numbers() -> None:
    # "Statistical comparison of models using grid search": 100 differences, from 10 × 10 folds of 100 cases,
    # with mean 0.01 and variance 0.0014667. Printed: 0.773 for a positive difference, 0.432 within ±0.01,
    # and intervals [0.001, 0.019], [−0.005, 0.025], [−0.016, 0.036].
    values = with_moments(0.01, 0.0014666666666666662, 100)
    plain, wide = (correlated_t(values, ratio=fold_ratio(10), rope=rope) for rope in (0.0, 0.01))
    assert f"{plain.right:.3f}" == "0.773"
    assert f"{wide.rope:.3f}" == "0.432"
    intervals = [plain.interval(level) for level in (0.5, 0.75, 0.95)]
    found = [(round(i[0], 3), round(i[1], 3)) for i in intervals if i is not None]
    assert found == [(0.001, 0.019), (-0.005, 0.025), (-0.016, 0.036)]


def with_moments(mean: float, variance: float, count: int) -> FloatArray:
    values = np.random.default_rng(0).normal(size=count)
    values = (values - values.mean()) / values.std(ddof=1)
    return np.asarray(mean + sqrt(variance) * values)


def test_the_correlated_t_test_is_the_corrected_test_seen_from_the_other_side() -> None:
    values = np.random.default_rng(1).normal(0.2, size=30)
    posterior = correlated_t(values, ratio=fold_ratio(10), rope=0.0)
    test = compare_resampled(values, np.zeros(30), ratio=fold_ratio(10))
    assert test.p_value is not None
    assert posterior.left is not None
    assert posterior.right is not None
    assert 2 * min(posterior.left, posterior.right) == pytest.approx(test.p_value, rel=1e-9)
    assert posterior.interval() == pytest.approx(test.interval())
    assert REPEATED in posterior.caveats


def test_resamples_that_do_not_vary_have_no_posterior() -> None:
    same = correlated_t([0.1, 0.1, 0.1], ratio=0.5, rope=0.0)
    assert same.mean == pytest.approx(0.1)
    assert (same.left, same.standard_error) == (None, None)
    assert same.interval() is None
    assert isinstance(same, CorrelatedT)


def two_tasks(z: tuple[float, float], rope: float, strength: float) -> tuple[float, float, float]:
    """Exact probabilities for two tasks and a pseudo-observation at zero, by integration over the weights.

    Given w₀ ~ Beta(s, 2) the two others share the rest uniformly.
    """
    points = np.array([0.0, *z])
    sums = points[:, None] + points
    regions = [
        (sums < -2 * rope) + 0.5 * (sums == -2 * rope),
        (np.abs(sums) < 2 * rope) + 0.5 * (np.abs(sums) == 2 * rope),
        (sums > 2 * rope) + 0.5 * (sums == 2 * rope),
    ]

    def wins(share: FloatArray, w0: float) -> FloatArray:
        rest = np.stack((np.full_like(share, w0), (1 - w0) * share, (1 - w0) * (1 - share)))
        theta = np.stack([np.einsum("in,ij,jn->n", rest, region, rest) for region in regions])
        return np.asarray(np.eye(3)[theta.argmax(axis=0)].mean(axis=0))

    share = (np.arange(2000) + 0.5) / 2000
    levels = (np.arange(2000) + 0.5) / 2000
    nodes = scipy_stats.beta.ppf(levels, strength, 2)
    found = np.mean([wins(share, float(w0)) for w0 in nodes], axis=0)
    return float(found[0]), float(found[1]), float(found[2])


@pytest.mark.parametrize(
    ("z", "rope", "strength"),
    [((1.0, 0.3), 0.2, 0.5), ((1.0, -0.5), 0.3, 0.5), ((0.4, -0.9), 0.25, 2.0), ((3.0, 2.0), 1.2, 1.0)],
)
def test_two_tasks_have_the_probabilities_of_exact_integration(
    z: tuple[float, float], rope: float, strength: float
) -> None:
    result = signed_rank(
        z, rope=rope, prior=PriorPlacement(strength), rng=generator("two", str(z)), draws=100_000
    )
    for found, exact, error in zip(
        probabilities(result), two_tasks(z, rope, strength), result.standard_errors, strict=True
    ):
        assert found == pytest.approx(exact, abs=4 * error + 1e-3)


def test_equal_tasks_have_a_closed_form() -> None:
    """n equal differences beyond twice the rope: only the pair of the pseudo-observation is inside.

    The right wins if w₀² < 1/2 with w₀ ~ Beta(s, n).
    """
    result = signed_rank([1.0, 1.0, 1.0], rope=0.1, rng=generator("equal"), draws=100_000)
    exact = float(scipy_stats.beta.cdf(sqrt(0.5), 0.5, 3))
    assert result.right == pytest.approx(exact, abs=4 * result.standard_errors[2])
    assert result.rope == pytest.approx(1 - exact, abs=4 * result.standard_errors[1])
    assert result.left == 0.0


def test_differences_on_the_edge_count_half() -> None:
    """Pairs (z_i + z_j)/2 exactly on the edge of the rope: half inside, half outside, as in the paper."""
    result = signed_rank([1.0, 1.0, 1.0, 1.0], rope=1.0, rng=generator("edge"), draws=1000)
    assert (result.left, result.rope, result.right) == (0.0, 1.0, 0.0)


VALUES = st.lists(st.integers(-8, 8).map(lambda x: x / 4), min_size=2, max_size=8)


@given(VALUES, st.sampled_from([0.0, 0.25, 0.6]))
def test_probabilities_add_up_and_turn_with_the_sign(values: list[float], rope: float) -> None:
    one = signed_rank(values, rope=rope, rng=generator("turn"), draws=500)
    two = signed_rank([-x for x in values], rope=rope, rng=generator("turn"), draws=500)
    assert sum(probabilities(one)) == pytest.approx(1.0)
    assert probabilities(one) == pytest.approx(tuple(reversed(probabilities(two))))


@given(VALUES, st.floats(0.1, 100.0))
def test_units_do_not_matter(values: list[float], unit: float) -> None:
    one = signed_rank(values, rope=0.3, rng=generator("unit"), draws=200)
    scaled = (np.array(values) * unit).tolist()
    two = signed_rank(scaled, rope=0.3 * unit, rng=generator("unit"), draws=200)
    assert probabilities(one) == pytest.approx(probabilities(two))


def test_a_wider_rope_holds_more() -> None:
    inside = [signed_rank(J48_NBC, rope=r, rng=generator("w"), draws=5000).rope for r in (0.5, 2.0, 4.0, 8.0)]
    assert inside == sorted(inside)
    assert inside[-1] > 0.99


def test_the_prior_pulls_towards_its_place() -> None:
    few = [0.5, -0.2, 0.8]
    right, left = (
        signed_rank(few, rope=0.1, prior=PriorPlacement(3.0, place), rng=generator("prior"), draws=5000)
        for place in (np.inf, -np.inf)
    )
    assert right.right > 0.9
    assert left.right < 0.5


def test_the_same_named_seed_gives_the_same_numbers_and_another_does_not() -> None:
    one, two, three = (
        signed_rank(J48_NBC, rope=1.0, rng=generator("seed", name), draws=2000) for name in ("a", "a", "b")
    )
    assert one == two != three


def test_the_global_random_state_is_left_alone() -> None:
    np.random.seed(1)  # noqa: NPY002
    before = np.random.get_state(legacy=False)["state"]["key"].copy()  # noqa: NPY002
    signed_rank(J48_NBC, rope=1.0, rng=generator("quiet"), draws=100)
    assert np.array_equal(before, np.random.get_state(legacy=False)["state"]["key"])  # noqa: NPY002


def test_standard_errors_are_those_of_the_simulation() -> None:
    runs = [signed_rank(J48_NBC, rope=1.0, rng=generator("spread", i), draws=1000) for i in range(200)]
    spread = float(np.std([run.right for run in runs], ddof=1))
    assert runs[0].standard_errors[2] == pytest.approx(spread, rel=0.25)


def test_caveats_tell_of_a_missing_rope_and_of_few_tasks() -> None:
    result = signed_rank([0.1, 0.2, -0.1], rope=0.0, rng=generator("caveats"), draws=100)
    assert NO_ROPE in result.caveats
    assert any("only 3 tasks" in caveat for caveat in result.caveats)


def test_bad_input_is_refused() -> None:
    rng = generator("bad")
    with pytest.raises(StatisticsError, match="two differences"):
        signed_rank([1.0], rope=0.1, rng=rng)
    with pytest.raises(StatisticsError, match="difference 1"):
        signed_rank([1.0, np.inf], rope=0.1, rng=rng)
    with pytest.raises(StatisticsError, match="rope"):
        signed_rank([1.0, 2.0], rope=-0.1, rng=rng)
    with pytest.raises(StatisticsError, match="strength"):
        signed_rank([1.0, 2.0], rope=0.1, prior=PriorPlacement(0.0), rng=rng)
    with pytest.raises(StatisticsError, match="draws"):
        signed_rank([1.0, 2.0], rope=0.1, rng=rng, draws=0)
    with pytest.raises(StatisticsError, match="ratio"):
        correlated_t([1.0, 2.0], ratio=0.0, rope=0.1)


def test_certainty_about_equal_methods_is_as_frequent_as_documented() -> None:
    """Calibrated certainty would come in 10 % of cases; docs/comparisons.md says 12 % at 30 tasks."""
    assert 10 - 4 * 1.34 < certainty(30, 0.0, 500, np.random.default_rng([2, 30])) < 12.5 + 4 * 1.48


@pytest.mark.slow
@pytest.mark.parametrize(("tasks", "documented"), [(5, 0.187), (10, 0.130), (30, 0.112), (54, 0.105)])
def test_certainty_about_equal_methods_in_large_simulations(tasks: int, documented: float) -> None:
    found = certainty(tasks, 0.0, 5000, np.random.default_rng([3, tasks])) / 100
    assert found == pytest.approx(documented, abs=4 * 0.0057)


def test_exact_integration_is_itself_right() -> None:
    """The check of two tasks against a second, adaptive integral in a case with a smooth answer."""
    exact = integrate.quad(lambda w: scipy_stats.beta.pdf(w, 2.0, 2), 0, sqrt(0.5))[0]
    assert two_tasks((1.0, 1.0), 0.1, 2.0)[2] == pytest.approx(exact, abs=1e-3)


def test_some_pairs_have_the_very_probabilities_that_they_have_among_all() -> None:
    table = generator("table of tasks").normal(size=(12, 4)) * [0.1, 0.2, 0.3, 0.4]
    every = signed_rank_all(table, rope=0.05, rng=generator("rope", "all"), draws=2000)
    for pairs in ([(1, 3)], [(2, 3), (0, 1)]):
        some = signed_rank_all(table, rope=0.05, rng=generator("rope", "all"), draws=2000, pairs=pairs)
        assert some == {pair: every[pair] for pair in pairs}


def test_all_pairs_at_once_have_the_probabilities_of_each_by_itself() -> None:
    table = generator("table of tasks").normal(size=(12, 4)) * [0.1, 0.2, 0.3, 0.4]
    together = signed_rank_all(table, rope=0.05, rng=generator("rope", "all"), draws=50_000)
    assert list(together) == list(combinations(range(4), 2))
    for (i, j), found in together.items():
        alone = signed_rank(table[:, i] - table[:, j], rope=0.05, rng=generator("rope", f"{i}{j}"))
        for one, two, error in zip(
            probabilities(found), probabilities(alone), found.standard_errors, strict=True
        ):
            assert one == pytest.approx(two, abs=4 * np.sqrt(2) * error + 1e-4)
