"""The printed p-values: what is read keeps the rules of the figures, and two figures agree."""

from __future__ import annotations

from itertools import combinations

from redelve.studies.neal import printed_arrays

SIZES = [64, 128, 256, 512, 1024]


def test_every_panel_has_five_arrays_and_all_digits_are_there() -> None:
    found = printed_arrays()
    panels = dict.fromkeys((one.prototask, one.figure) for one in found)
    assert len(panels) == 5
    for panel in panels:
        assert [one.size for one in found if (one.prototask, one.figure) == panel] == SIZES
    assert sum(len(one.digits) for one in found) == 287


def test_of_two_methods_at_most_one_is_better_and_none_than_itself() -> None:
    """What columns that were mixed up would break: with another offset 5 to 15 pairs do."""
    for array in printed_arrays():
        for first, second in combinations(array.methods, 2):
            assert not {(first, second), (second, first)} <= array.digits.keys()
        assert all(better != other for better, other in array.digits)
        assert set(array.digits.values()) <= set(range(1, 10))


def test_pairs_that_stand_in_two_figures_have_the_same_digits() -> None:
    main, more = (
        {
            one.size: one
            for one in printed_arrays()
            if one.prototask == "bank-8nm/rej" and one.figure == figure
        }
        for figure in ("main", "more time")
    )
    shared = ("mlp-mc-2", "mlp-mc-3", "mlp-mc-4")
    compared = 0
    for size in SIZES:
        for pair in [(a, b) for a in shared for b in shared if a != b]:
            assert main[size].digits.get(pair) == more[size].digits.get(pair)
            compared += pair in main[size].digits
    assert compared >= 3


def test_the_text_tells_of_kin_8nm_with_512_cases_what_the_digits_do() -> None:
    """ "all the Bayesian Monte Carlo methods are better than all the early stopping methods"."""
    (array,) = (one for one in printed_arrays() if one.prototask == "kin-8nm/dist" and one.size == 512)
    for bayesian in ("mlp-mc-1", "mlp-mc-2", "mlp-mc-3", "mlp-mc-4"):
        for stopped in ("mlp-ese-1", "mlp-bgd-1", "mlp-bgd-2", "mlp-bgd-3"):
            assert array.digits[bayesian, stopped] == 1
            assert array.better(stopped, bayesian) == bayesian
