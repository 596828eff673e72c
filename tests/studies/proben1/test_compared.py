"""Cells: when a published number agrees with ours."""

import pytest

from redelve.studies.compared import CellTally, ComparedCell


def cell(
    published: float, ours: float, error: float | None = None, ours_error: float | None = None
) -> ComparedCell:
    return ComparedCell("glass1", "test", published, error, ours, ours_error)


@pytest.mark.parametrize(
    ("published", "ours", "agrees"), [(97.0, 100.0, True), (96.9, 100.0, False), (103.0, 100.0, True)]
)
def test_three_per_cent_are_of_our_number(published: float, ours: float, agrees: bool) -> None:
    assert cell(published, ours).agrees is agrees


def test_two_combined_standard_errors_are_enough() -> None:
    assert cell(10.0, 11.0, 0.3, 0.4).z == pytest.approx(2.0)
    assert cell(10.0, 11.0, 0.3, 0.4).agrees
    assert not cell(10.0, 11.01, 0.3, 0.4).agrees
    assert not cell(10.0, 11.01, 0.3, 0.4).is_close


def test_without_errors_only_nearness_counts() -> None:
    assert cell(0.0, 0.0).agrees
    assert cell(0.0, 0.0).z == 0
    assert cell(0.014, 0.012).z is None
    assert not cell(0.014, 0.012).agrees


def test_a_tally_names_the_worst_miss_first() -> None:
    cells = [cell(10.0, 11.0, 0.1), cell(10.0, 12.0, 0.1), cell(10.0, 10.1)]
    found = CellTally.of(cells)
    assert str(found) == "1 of 3"
    assert [miss.ours for miss in found.misses] == [12.0, 11.0]
