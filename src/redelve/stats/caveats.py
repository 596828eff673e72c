"""What must be said beside a number: constants and functions that word the caveats of an analysis.

The percentages are the largest levels measured with Gaussian losses (docs/calibration.md).
"""

from __future__ import annotations

from collections.abc import Sequence

LIBERAL = {2: "9.1", 3: "6.2"}
"""Largest measured level, in per cent at nominal 5 %, of the F-test for a common test set."""

CRITICAL = {2: "12.7", 3: "4.3"}
"""Two-sided 5 % points of the t distribution, by number of training sets."""

FEW_TEST_CASES = 20

NO_VARIATION = (
    "the losses do not vary beyond rounding error: no test or interval is defined, and a standard error of "
    "zero does not mean that the estimate is exact"
)
OVERFLOW = "the losses are so large that sums or squares overflow: no uncertainty can be computed"
NO_RESIDUAL = (
    "one value per training set: variation from training sets cannot be told from that of test cases, and "
    "the standard error is that of the training-set means"
)
UNEQUAL_TEST_SETS = (
    "test sets differ in size: the mean is the unweighted mean over training sets, and the t distribution is "
    "an approximation when the sizes are very unequal"
)
RUNS_AVERAGED = (
    "the seeds of two methods are not paired, so the differences are between losses averaged over the runs; "
    "the variation that the seeds leave after averaging counts as that of training sets and residual"
)


def negative(sources: Sequence[str]) -> str:
    """A difference of mean squares came out below zero, as it often does where a source has no effect."""
    return (
        f"the variance estimated for {' and '.join(sources)} is negative and is given as zero; the standard "
        "error is then larger than what the test and the interval rest on"
    )


def infinite_losses(count: int) -> str:
    """Some losses are infinite, as the log loss of a target that was given probability zero."""
    return f"{count} infinite loss{'es' if count != 1 else ''}: nothing but the mean is defined"


def hierarchical(training_sets: int) -> tuple[str, ...]:
    """One or two degrees of freedom: exact for Gaussian losses, and nearly powerless."""
    if training_sets not in CRITICAL:
        return ()
    return (
        f"only {training_sets} training sets: interval and test are exact for Gaussian losses but nearly "
        f"powerless (p < 0.05 needs a difference of {CRITICAL[training_sets]} standard errors), and with so "
        "few their level for losses of other shapes cannot be relied on",
    )


def common(training_sets: int, test_cases: int) -> tuple[str, ...]:
    """Approximate degrees of freedom are too many when either mean square has few of its own."""
    found = []
    if training_sets in LIBERAL:
        found.append(
            f"only {training_sets} training sets: a 95 % interval misses the truth, and a 5 % test rejects a "
            f"true hypothesis, up to {LIBERAL[training_sets]} % of the time with Gaussian losses and more "
            "often with skewed ones; the cautious interval and p-value keep to 5 % with Gaussian losses, at "
            "the price of power"
        )
    if test_cases < FEW_TEST_CASES:
        found.append(
            f"only {test_cases} test cases or units: where these vary much, interval and test err more often "
            "than they say (with 5 of them up to 8 %, with 10 up to 7 % instead of 5 %)"
        )
    return tuple(found)
