"""Margins: how they are written, and what an interval says about them."""

import pytest

from redelve.errors import StatisticsError
from redelve.findings.margin import Margin, MarginLike, judged_within
from redelve.stats.estimates import Interval


@pytest.mark.parametrize(
    ("given", "value", "is_relative"),
    [
        ("2%", 0.02, True),
        (" 2.5 % ", 0.025, True),
        ("0.5", 0.5, False),
        (0.02, 0.02, False),
        (3, 3.0, False),
        (Margin(1.0), 1.0, False),
    ],
)
def test_a_number_is_an_amount_and_a_per_cent_sign_makes_a_share(
    given: MarginLike, value: float, is_relative: bool
) -> None:
    found = Margin.of(given)
    assert found.value == pytest.approx(value)
    assert found.is_relative == is_relative


@pytest.mark.parametrize("given", ["", "%", "two", 0, "-2%", float("nan"), float("inf"), "0%"])
def test_a_margin_that_is_no_number_above_zero_is_refused_with_a_way_out(given: MarginLike) -> None:
    with pytest.raises(StatisticsError, match=r'number above zero: got .*give "2%" for a share'):
        Margin.of(given)


def test_a_share_is_of_the_smaller_loss_and_an_amount_is_itself() -> None:
    assert Margin.of("10%").amount([3.0, 2.0]) == pytest.approx(0.2)
    assert Margin.of("10%").amount([3.0, -2.0]) == 0.0
    assert Margin.of(0.7).amount([3.0, -2.0]) == 0.7


@pytest.mark.parametrize(
    ("bounds", "first", "second"),
    [
        ((-0.9, 0.9), True, True),
        ((-1.1, 0.9), True, False),
        ((-0.9, 1.1), False, True),
        ((-1.1, 1.1), False, False),
        ((0.1, 0.9), True, True),
        ((-1.0, 1.0), False, False),
        ((1.2, 3.0), False, True),
        (None, False, False),
    ],
)
def test_the_interval_decides_who_is_not_worse(bounds: Interval | None, first: bool, second: bool) -> None:
    found = judged_within(Margin(1.0), 1.0, bounds)
    assert (found.first_is_not_worse, found.second_is_not_worse) == (first, second)
    assert found.is_equivalent == (first and second)
