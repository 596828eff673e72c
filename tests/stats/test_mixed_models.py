"""The analyses of variance against REML: statsmodels on shared data, and published results of R and JAFROC.

For balanced data whose estimated variances are all positive, restricted maximum likelihood gives the analysis
of variance's own numbers (Searle, Casella and McCulloch 1992, section 3.8), by a route that has no line in
common with ours: the likelihood is maximised numerically.
"""

import warnings
from math import sqrt
from typing import Any

import numpy as np
import pytest
from benchmarks.calibration.simulation import Design, RunsDesign, draw_losses, draw_runs

from redelve.stats import (
    Analysis,
    analyse_common,
    analyse_hierarchical,
    analyse_runs_common,
    analyse_runs_hierarchical,
    compare_common,
    compare_hierarchical,
)
from redelve.stats.mean_squares import FloatArray, crossed_variance, f_test, hillis_test, t_quantile

PRECISION = 1e-6  # a maximum found numerically, to a gradient of 10⁻⁹


class Fitted:
    """A mixed model fitted by statsmodels: fixed effects with standard errors, variances by name."""

    def __init__(self, y: FloatArray, factors: dict[str, FloatArray], fixed: FloatArray | None = None):
        mixed = pytest.importorskip("statsmodels.regression.mixed_linear_model")
        ones = np.ones((y.size, 1))
        exog = ones if fixed is None else np.column_stack((ones, fixed.ravel()))
        indicators = [[_indicators(labels.ravel())] for labels in factors.values()]
        names = [[[f"{name}{k}" for k in range(indicators[n][0].shape[1])]] for n, name in enumerate(factors)]
        spec = mixed.VCSpec(list(factors), names, indicators)
        model = mixed.MixedLM(y.ravel(), exog, groups=np.zeros(y.size), exog_vc=spec)
        result = _fit(model)
        self.effects, self.errors = np.asarray(result.fe_params), np.asarray(result.bse_fe)
        self.variances = dict(zip(factors, result.vcomp, strict=True)) | {"residual": float(result.scale)}


def _indicators(labels: FloatArray) -> FloatArray:
    return np.asarray(labels[:, None] == np.unique(labels), dtype=np.float64)


def _fit(model: Any) -> Any:
    with warnings.catch_warnings():  # it warns where the search ends for want of precision
        warnings.simplefilter("ignore")
        return model.fit(reml=True, method="bfgs", gtol=1e-9, maxiter=2000)


def labels(*shape: int) -> list[FloatArray]:
    """The index along each axis of an array of this shape."""
    return [np.asarray(index, dtype=np.float64) for index in np.indices(shape)]


def both(*factors: FloatArray) -> FloatArray:
    """A factor with a level for every combination of others."""
    total = np.zeros_like(factors[0])
    for factor in factors:
        total = 1000 * total + factor
    return total


def near(value: float) -> Any:
    return pytest.approx(value, rel=PRECISION)


CROSSED = draw_losses(Design(6, 15, 0.9, 0.8), 1, np.random.default_rng(3), "gaussian")[0]
NESTED = draw_losses(Design(6, 15, 0.9, 0.0), 1, np.random.default_rng(3), "gaussian")[0]


def test_the_common_scheme_is_reml_with_crossed_random_effects() -> None:
    result, (i, j) = analyse_common(CROSSED), labels(6, 15)
    fitted = Fitted(CROSSED, {"training": i, "cases": j})
    assert result.mean == near(fitted.effects[0])
    assert result.standard_error == near(fitted.errors[0])
    assert result.interval_standard_error == near(fitted.errors[0])
    for sd, name in (
        (result.sd_training, "training"),
        (result.sd_test_cases, "cases"),
        (result.sd_residual, "residual"),
    ):
        assert sd is not None
        assert sd**2 == near(fitted.variances[name])


def test_the_hierarchical_scheme_is_reml_with_nested_random_effects() -> None:
    result = analyse_hierarchical(NESTED)
    fitted = Fitted(NESTED, {"training": labels(6, 15)[0]})
    assert (result.mean, result.standard_error) == (near(fitted.effects[0]), near(fitted.errors[0]))
    assert result.sd_training is not None
    assert result.sd_residual is not None
    assert result.sd_training**2 == near(fitted.variances["training"])
    assert result.sd_residual**2 == near(fitted.variances["residual"])


def two_methods(shape: tuple[int, int], seed: int, *, common: bool) -> FloatArray:
    """Losses of two methods that share training sets and test cases, with every interaction."""
    rng = np.random.default_rng(seed)
    sets, cases = shape
    losses = 0.6 * rng.normal(size=(2, sets, cases)) + np.array([0.0, 0.4])[:, None, None]
    losses += 0.8 * rng.normal(size=(1, sets, 1)) + 0.7 * rng.normal(size=(2, sets, 1))
    losses += 0.9 * rng.normal(size=(1, sets, cases))
    if common:
        losses += rng.normal(size=(1, 1, cases)) + 0.8 * rng.normal(size=(2, 1, cases))
    return np.asarray(losses)


def test_the_paired_comparison_of_the_common_scheme_is_a_fixed_effect_of_the_method() -> None:
    """All losses of both methods in one model, with every interaction but the threefold, the residual."""
    losses = two_methods((6, 8), 5, common=True)
    m, i, j = labels(2, 6, 8)
    factors = {"a": i, "b": j, "ab": both(i, j), "ma": both(m, i), "mb": both(m, j)}
    fitted = Fitted(losses, factors, fixed=m)
    assert min(fitted.variances.values()) > 0.01
    result = compare_common(losses[1], losses[0])
    assert result.difference == near(fitted.effects[1])
    assert result.standard_error == near(fitted.errors[1])
    inside = result.differences
    for sd, name in (
        (inside.sd_training, "ma"),
        (inside.sd_test_cases, "mb"),
        (inside.sd_residual, "residual"),
    ):
        assert sd is not None
        assert sd**2 == near(2 * fitted.variances[name])


def test_the_paired_comparison_of_the_hierarchical_scheme_is_a_fixed_effect_of_the_method() -> None:
    losses = two_methods((6, 8), 6, common=False)
    m, i, j = labels(2, 6, 8)
    fitted = Fitted(losses, {"a": i, "b": both(i, j), "ma": both(m, i)}, fixed=m)
    assert min(fitted.variances.values()) > 0.01
    result = compare_hierarchical(losses[1], losses[0])
    assert result.difference == near(fitted.effects[1])
    assert result.standard_error == near(fitted.errors[1])
    assert result.statistic == near(fitted.effects[1] / fitted.errors[1])


RUNS = RunsDesign(5, 3, 8, 0.9, 0.8, 0.9, 0.8, 0.6)
NAMES = ("training_sets", "seeds", "test_cases", "interaction", "residual")


def test_runs_with_common_test_cases_are_reml_with_five_variances() -> None:
    losses, (i, r, j) = draw_runs(RUNS, np.random.default_rng(12)), labels(5, 3, 8)
    result = analyse_runs_common(losses)
    fitted = Fitted(
        losses, {"training_sets": i, "seeds": both(i, r), "test_cases": j, "interaction": both(i, j)}
    )
    assert (result.mean, result.standard_error) == (near(fitted.effects[0]), near(fitted.errors[0]))
    for name in NAMES:
        assert getattr(result.variances, name) == near(fitted.variances[name]), name


def test_runs_with_test_sets_of_their_own_are_reml_with_four_variances() -> None:
    design = RunsDesign(5, 3, 8, 0.9, 0.8, 0.9, None, 0.6)
    losses, (i, r, j) = draw_runs(design, np.random.default_rng(8)), labels(5, 3, 8)
    result = analyse_runs_hierarchical(losses)
    fitted = Fitted(losses, {"training_sets": i, "seeds": both(i, r), "test_cases": both(i, j)})
    assert (result.mean, result.standard_error) == (near(fitted.effects[0]), near(fitted.errors[0]))
    for name in ("training_sets", "seeds", "test_cases", "residual"):
        assert getattr(result.variances, name) == near(fitted.variances[name]), name


# Davies and Goldsmith (1972), Statistical Methods in Research and Production, sections 6.4 to 6.6: data sets
# Dyestuff (six batches of five), Penicillin (24 plates of six samples) and Pastes (ten batches of three
# casks, two assays each) of the R package lme4.
DYESTUFF = np.array(
    [
        [1545, 1440, 1440, 1520, 1580],
        [1540, 1555, 1490, 1560, 1495],
        [1595, 1550, 1605, 1510, 1560],
        [1445, 1440, 1595, 1465, 1545],
        [1595, 1630, 1515, 1635, 1625],
        [1520, 1455, 1450, 1480, 1445],
    ],
    dtype=float,
)
# fmt: off
PENICILLIN = np.array([
    27, 23, 26, 23, 23, 21, 27, 23, 26, 23, 23, 21, 25, 21, 25, 24, 24, 20, 26, 23, 25, 23, 23, 20,
    25, 22, 26, 22, 23, 20, 24, 22, 25, 23, 22, 19, 24, 20, 23, 21, 22, 19, 26, 22, 26, 24, 24, 21,
    24, 21, 24, 22, 22, 20, 24, 21, 24, 23, 22, 19, 26, 23, 26, 24, 24, 21, 25, 22, 26, 24, 24, 20,
    26, 24, 26, 24, 25, 22, 26, 23, 26, 23, 23, 20, 26, 23, 25, 24, 24, 22, 25, 22, 25, 23, 23, 20,
    25, 21, 24, 23, 23, 20, 25, 22, 24, 23, 23, 19, 24, 21, 23, 21, 21, 19, 26, 23, 26, 24, 24, 21,
    25, 21, 24, 22, 22, 18, 25, 22, 25, 22, 22, 20, 24, 21, 24, 22, 24, 19, 24, 21, 24, 22, 21, 18,
], dtype=float).reshape(24, 6)
# fmt: on
# fmt: off
PASTES = np.array([
    62.8, 62.6, 60.1, 62.3, 62.7, 63.1, 60.0, 61.4, 57.5, 56.9, 61.1, 58.9,
    58.7, 57.5, 63.9, 63.1, 65.4, 63.7, 57.1, 56.4, 56.9, 58.6, 64.7, 64.5,
    55.1, 55.1, 54.7, 54.2, 58.8, 57.5, 63.4, 64.9, 59.3, 58.1, 60.5, 60.0,
    62.5, 62.6, 61.0, 58.7, 56.9, 57.7, 59.2, 59.4, 65.2, 66.0, 64.8, 64.1,
    54.8, 54.8, 64.0, 64.0, 57.7, 56.8, 58.3, 59.3, 59.2, 59.2, 58.9, 56.6,
], dtype=float).reshape(10, 3, 2)
# fmt: on


def printed(result: Analysis, digits: int = 4) -> list[str]:
    numbers = (result.sd_training, result.sd_test_cases, result.sd_residual, result.standard_error)
    return [f"{x:.{digits}f}" for x in numbers if x is not None]


def test_dyestuff_has_the_numbers_of_lme4() -> None:
    # lmer(Yield ~ 1 + (1 | Batch), Dyestuff): Batch 42.00, Residual 49.51, Intercept 1527.50, its standard
    # error 19.38 (Bates 2010, lme4: Mixed-effects modeling with R, section 1.3.1).
    result = analyse_hierarchical(DYESTUFF)
    assert result.mean == 1527.5
    assert printed(result, 2) == ["42.00", "49.51", "19.38"]


def test_penicillin_has_the_numbers_of_lme4() -> None:
    # lmer(diameter ~ 1 + (1 | plate) + (1 | sample), Penicillin): plate 0.8467, sample 1.9316, Residual
    # 0.5499, Intercept 22.9722 (Bates 2010, section 2.1.1); its standard error 0.808573 and the variances
    # 0.716908, 3.73092, 0.302415 to six digits in the tests of Metida.jl.
    result = analyse_common(PENICILLIN)
    assert printed(result) == ["0.8467", "1.9316", "0.5499", "0.8086"]
    assert f"{result.mean:.4f} {result.standard_error:.6f}" == "22.9722 0.808573"
    variances = [sd**2 for sd in (result.sd_training, result.sd_test_cases, result.sd_residual) if sd]
    assert [f"{v:.6g}" for v in variances] == ["0.716908", "3.73092", "0.302415"]


def test_pastes_has_the_numbers_of_lme4() -> None:
    # lmer(strength ~ 1 + (1 | batch/cask), Pastes): batch 1.2874, cask in batch 2.9041, Residual 0.8234,
    # Intercept 60.0533, its standard error 0.6769 (Bates 2010, section 2.2.2, by REML). A mean of two assays
    # has the variance of its cask and half the residual's.
    result = analyse_hierarchical(PASTES.mean(axis=2))
    assert (
        f"{result.mean:.4f} {result.standard_error:.4f} {result.sd_training:.4f}" == "60.0533 0.6769 1.2874"
    )
    assert result.sd_residual == pytest.approx(sqrt(2.9041**2 + 0.8234**2 / 2), abs=1e-4)


# Van Dyke's data: five readers judge 114 cases in two ways; mean squares of jackknife pseudovalues of the
# area under the curve, and results, as printed by JAFROC 4.2.1 and RJafroc (the latter's inst/JAFROC).
READERS, CASES = 5, 114
VAN_DYKE = {"difference": -0.04380023, "TR": 0.06281753, "TC": 0.09984813, "TRC": 0.03997167}
ONE_WAY = {  # area, mean squares of readers, cases and residual; standard error, df; 95 % interval
    "first": (
        (0.89703703, (0.35141971, 0.33629383, 0.06043604)),
        (0.03317359, "12.74"),
        (0.82522361, 0.96885046),
    ),
    "second": (
        (0.94083734, (0.14872460, 0.16042320, 0.04403661)),
        (0.02156635, "12.71"),
        (0.89413784, 0.98753684),
    ),
}


def test_the_test_of_hillis_is_that_of_the_programs_for_reader_studies() -> None:
    """Printed: F(1, 15.26) = 4.46, p = 0.0517, standard error 0.02075.

    A difference of two has twice the mean squares of interactions with the treatment.
    """
    squares = (2 * VAN_DYKE["TR"], 2 * VAN_DYKE["TC"], 2 * VAN_DYKE["TRC"])
    shape = (READERS, CASES)
    f, _, df, p = (float(x) for x in hillis_test(VAN_DYKE["difference"], squares, shape))
    assert (f"{f:.2f}", f"{df:.2f}", f"{p:.4f}") == ("4.46", "15.26", "0.0517")
    variance, ours = crossed_variance(squares, shape)
    assert f"{sqrt(float(variance) / (READERS * CASES)):.5f}" == "0.02075"
    assert float(ours) < df  # the default takes fewer degrees of freedom: see docs/statistics.md
    assert float(f_test(VAN_DYKE["difference"], squares, shape).p_value) > p


@pytest.mark.parametrize("way", ONE_WAY)
def test_intervals_with_the_degrees_of_freedom_of_hillis_are_theirs(way: str) -> None:
    (mean, squares), (error, df), interval = ONE_WAY[way]
    variance, _ = crossed_variance(squares, (READERS, CASES))
    found = sqrt(float(variance) / (READERS * CASES))
    freedom = float(hillis_test(mean, squares, (READERS, CASES)).df2)
    assert found == pytest.approx(error, rel=1e-6)
    assert f"{freedom:.2f}" == df
    width = float(t_quantile(freedom, 0.95)) * found
    assert (mean - width, mean + width) == pytest.approx(interval, abs=2e-7)
