"""Neal's first finding (1998): steps by relevance do no significant harm, and help where few inputs matter.

Takes about half an hour of processor time: eight training sets of each task, 20000 iterations each.
"""

from __future__ import annotations

import os

import pytest

import redelve
from redelve.findings import Contest, compare_methods
from redelve.run.workers import Processes

PROTOTASKS = ("kin-8nm/dist", "kin-32nm/dist", "pumadyn-8nm/accel", "bank-8nm/rej", "bank-32nm/rej")
SIZES = (64, 128, 256)
LEVEL = 0.05


def contests(prototask: str, sizes: tuple[int, ...], runs: int = 1) -> dict[int, Contest]:
    """mlp-bgd-2 against mlp-bgd-1: a negative difference is in favour of the former."""
    assessed = redelve.assess(
        ("mlp-bgd-2", "mlp-bgd-1"),
        prototask,
        sizes=sizes,
        losses=["S"],
        runs=runs,
        workers=Processes(os.cpu_count()),
    )
    assert not list(assessed.results.failures)
    return {
        facts.training_set_size: contest
        for address, facts in assessed.results.tasks.items()
        for contest in compare_methods(assessed.results, "mlp-bgd-2", "mlp-bgd-1", [address], "S")
    }


def is_significant(contest: Contest) -> bool:
    return contest.p_value is not None and contest.p_value < LEVEL


@pytest.mark.slow
@pytest.mark.parametrize("prototask", PROTOTASKS)
def test_relevance_by_gradients_is_never_significantly_worse(prototask: str) -> None:
    for contest in contests(prototask, SIZES).values():
        assert contest.difference is not None
        assert contest.difference < 0 or not is_significant(contest)


@pytest.mark.slow
def test_relevance_by_gradients_is_significantly_better_where_few_inputs_matter() -> None:
    for contest in contests("pumadyn-32nm/accel", (128, 256)).values():
        assert contest.difference is not None
        assert contest.difference < 0
        assert is_significant(contest)


@pytest.mark.slow
def test_with_64_cases_that_takes_many_runs_to_see() -> None:
    contest = contests("pumadyn-32nm/accel", (64,), runs=16)[64]
    assert contest.difference is not None
    assert contest.difference < 0
    assert is_significant(contest)
