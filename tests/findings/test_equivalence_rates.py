"""At the margin methods are wrongly called equivalent, or not worse, in at most 5 % of data sets."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from benchmarks.calibration.equivalence import AtTheMargin, amounts, below, draw, squares_of, verdicts, wrong

from redelve.findings import find
from redelve.stats.estimates import Scheme
from redelve.stats.families import family_of, pairs_of_sets
from tests.findings.made_up import results, task


@pytest.mark.parametrize("is_common", [False, True])
def test_the_simulation_has_the_squares_of_the_package(is_common: bool) -> None:
    losses = draw(AtTheMargin(4, 5, is_common, 3.0), 2, np.random.default_rng(1))
    found = squares_of(losses, is_common)
    places = tuple(zip(*combinations(range(4), 2), strict=True))
    scheme: Scheme = "common" if is_common else "hierarchical"
    for number in range(2):
        own = pairs_of_sets([list(one) for one in losses[number]], (places[0], places[1]), scheme)
        np.testing.assert_allclose(found.differences[number], own.differences)
        np.testing.assert_allclose(found.between[number], own.between)
        np.testing.assert_allclose(found.within[number], own.within)
        if own.shared is not None and found.shared is not None:
            np.testing.assert_allclose(found.shared[number], own.shared, atol=1e-12)


@pytest.mark.parametrize("is_share", [False, True])
@pytest.mark.parametrize("is_common", [False, True])
def test_the_simulation_has_the_verdicts_of_a_report(is_common: bool, is_share: bool) -> None:
    setting = AtTheMargin(3, 5, is_common, 6.0, is_share)
    losses = draw(setting, 12, np.random.default_rng(2))
    equivalent, not_worse = verdicts(setting, losses)
    margins = amounts(setting, losses)
    facts = task(instances=5, cases=40, scheme="common" if is_common else "hierarchical")
    for number in range(12):
        made = {name: {facts.address: list(losses[number, k])} for k, name in enumerate("abc")}
        given = f"{100 * setting.size / setting.base}%" if is_share else setting.size
        (found,) = find(results([facts], made), margin=given).tasks
        for place, pair in enumerate(combinations("abc", 2)):
            verdict = found.contest(*pair).verdict
            assert verdict is not None
            assert verdict.amount == pytest.approx(margins[number, place])
        apart = [found.contest("a", "c"), found.contest("b", "c")]
        assert equivalent[number] == any(one.is_equivalent for one in apart)
        assert not_worse[number] == any("c" in one.not_worse for one in apart)


FAST = [(k, sets, common) for k in (2, 5) for sets in (4, 8) for common in (False, True)]
LONG = [pytest.param(10, sets, True, marks=pytest.mark.slow) for sets in (4, 8)]


@pytest.mark.parametrize(("methods", "sets", "is_common"), [*FAST, (10, 4, False), (10, 8, False), *LONG])
def test_at_the_margin_verdicts_are_wrong_in_five_per_cent_at_most(
    methods: int, sets: int, is_common: bool
) -> None:
    count = 600 if is_common and methods > 2 else 2000
    setting = AtTheMargin(methods, sets, is_common, 10.0)
    rates = wrong(setting, count, np.random.default_rng(3))
    assert max(rates) <= 5 + 3 * 100 * np.sqrt(0.05 * 0.95 / count)


@pytest.mark.parametrize("is_common", [False, True])
def test_a_share_that_came_out_too_large_by_luck_makes_nobody_equivalent(is_common: bool) -> None:
    """Where losses move far more than differences do, a share of the mean itself errs in more than 10 %."""
    setting = AtTheMargin(2, 8, is_common, 30.0, is_share=True, shared=30.0)
    losses = draw(setting, 1000, np.random.default_rng(4))
    assert max(100 * np.mean(found) for found in verdicts(setting, losses)) <= 5
    family = family_of(squares_of(losses, is_common), 2)
    share = setting.size / setting.base
    by_mean = share * losses.mean(axis=(2, 3)).min(axis=1, keepdims=True)
    opposite = replace(family, squares=replace(family.squares, differences=-family.squares.differences))
    assert np.mean(below(family, by_mean) & below(opposite, by_mean)) > 0.1


def test_methods_well_inside_the_margin_are_found_equivalent() -> None:
    """Equal methods, a margin of six standard errors: eight training sets find most of them equivalent."""
    setting = AtTheMargin(2, 8, is_common=False, times=6.0)
    losses = draw(setting, 500, np.random.default_rng(5))
    losses[:, 1] -= setting.size
    equivalent, _ = verdicts(setting, losses)
    assert equivalent.mean() > 0.9


@pytest.mark.slow
@pytest.mark.parametrize("times", [3.0, 30.0])
@pytest.mark.parametrize("sets", [4, 8])
@pytest.mark.parametrize("is_common", [False, True])
def test_shares_err_in_five_per_cent_at_most_with_five_methods(
    times: float, sets: int, is_common: bool
) -> None:
    setting = AtTheMargin(5, sets, is_common, times, is_share=True)
    rates = wrong(setting, 1500, np.random.default_rng(6))
    assert max(rates) <= 5 + 3 * 100 * np.sqrt(0.05 * 0.95 / 1500)
