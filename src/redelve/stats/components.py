"""Where the variation of differences between two methods comes from: variance components, for `power`.

They are estimated from the comparisons of `anova` and `runs`, or assumed. See docs/comparisons.md.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import inf, isfinite, sqrt

from redelve.errors import StatisticsError
from redelve.stats.estimates import Comparison, Interval, Scheme
from redelve.stats.seed_runs import RunsAnalysis

ONE_VALUE = (
    "one value per training set: the variation of test cases cannot be told from that of training sets, so "
    "nothing can be said about other numbers of test cases"
)
SEEDS_INSIDE = "one run per training set: what seeds do is counted with the training sets"


@dataclass(frozen=True)
class Components:
    """Variances of the differences between two methods, by source.

    The mean over I training sets, J test cases and R runs has variance
    (training_sets + seeds/R + (residual + seeds_by_cases/R)/J)/I + test_cases/J, the last term only where all
    training sets share the test cases. `degrees_of_freedom` says how well the whole is known: infinite for
    variances that are assumed, not estimated.
    """

    scheme: Scheme
    training_sets: float
    residual: float
    test_cases: float = 0.0
    seeds: float = 0.0
    seeds_by_cases: float = 0.0
    degrees_of_freedom: float = inf
    caveats: tuple[str, ...] = ()

    def averaged(self, runs: int) -> tuple[float, float, float]:
        """Variances of training sets, test cases and residual of losses averaged over the runs."""
        shared = self.test_cases if self.scheme == "common" else 0.0
        return self.training_sets + self.seeds / runs, shared, self.residual + self.seeds_by_cases / runs

    def scale_range(self) -> Interval:
        """By what factors a true standard error may differ, at the ends of a 95 % interval for a variance.

        √(df/χ²) at the 97.5 % and 2.5 % points of chi-square, for Gaussian losses (Scheffé 1959, chapter 7);
        rough where the planned design differs from the one that gave the estimates.
        """
        from scipy.special import chdtri

        df = self.degrees_of_freedom
        if not isfinite(df):
            return 1.0, 1.0
        return sqrt(df / float(chdtri(df, 0.025))), sqrt(df / float(chdtri(df, 0.975)))


def estimate_components(comparison: Comparison) -> Components:
    """Components of the differences from their mean squares (manual eqs. 5–7, 14–17); none below zero."""
    inside = comparison.differences
    squares = inside.mean_squares
    if squares is None or inside.degrees_of_freedom is None:
        raise StatisticsError(f"this comparison has no variance components: {'; '.join(inside.caveats)}")
    sets, cases, df = inside.training_sets, inside.effective_test_cases, inside.degrees_of_freedom
    if squares.residual is None:
        whole = Components(inside.scheme, squares.training_sets / cases, 0.0)
        return _estimated(whole, df, (ONE_VALUE, SEEDS_INSIDE))
    training = (squares.training_sets - squares.residual) / cases
    shared = 0.0 if squares.test_cases is None else (squares.test_cases - squares.residual) / sets
    found = Components(inside.scheme, max(training, 0.0), squares.residual, max(shared, 0.0))
    return _estimated(found, df, (*_negative(training_sets=training, test_cases=shared), SEEDS_INSIDE))


def estimate_components_of_runs(
    comparison: Comparison, first: RunsAnalysis, second: RunsAnalysis
) -> Components:
    """Components with those of the seeds apart, for plans with another number of runs.

    `comparison` is of the losses averaged over runs, `first` and `second` the analyses of either method.
    Seeds are not paired, so their variances add up; divided by the runs they are taken out of the training
    sets and the residual of the averaged differences (expected mean squares, docs/statistics.md).
    """
    whole = estimate_components(comparison)
    if first.variances is None or second.variances is None:
        raise StatisticsError(f"runs without variances: {'; '.join((*first.caveats, *second.caveats))}")
    both = ((first.variances, first.runs), (second.variances, second.runs))
    training = whole.training_sets - sum(max(v.seeds, 0.0) / runs for v, runs in both)
    residual = whole.residual - sum(v.residual / runs for v, runs in both)
    found = Components(
        scheme=whole.scheme,
        training_sets=max(training, 0.0),
        residual=max(residual, 0.0),
        test_cases=whole.test_cases,
        seeds=sum(max(v.seeds, 0.0) for v, _ in both),
        seeds_by_cases=sum(v.residual for v, _ in both),
    )
    return _estimated(found, whole.degrees_of_freedom, _negative(training_sets=training, residual=residual))


def _estimated(components: Components, df: float, caveats: tuple[str, ...]) -> Components:
    known = replace(components, degrees_of_freedom=df)
    low, high = known.scale_range()
    rough = (
        f"the variances are estimates with about {df:.3g} degrees of freedom: true standard errors may be "
        f"{low:.2g} to {high:.2g} times those given (95 % interval for Gaussian losses)"
    )
    return replace(known, caveats=(rough, *caveats) if isfinite(df) else caveats)


def _negative(**variances: float) -> tuple[str, ...]:
    below = [name.replace("_", " ") for name, variance in variances.items() if variance < 0]
    if not below:
        return ()
    return (f"the variance estimated for {' and '.join(below)} is negative and is taken as zero",)
