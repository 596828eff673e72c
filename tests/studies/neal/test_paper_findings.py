"""Verdicts on the paper's findings: rarely wrong where methods are equal, right where the paper is."""

from __future__ import annotations

import pytest
from benchmarks.calibration.paper_verdicts import decided, simulated_study
from scipy.stats import false_discovery_control

from redelve.seeds import generator
from redelve.studies.neal.paper_findings import FINDINGS, Duel, PaperFinding, Part, holm, judge

STUDIES = 250
ERROR = (0.05 * 0.95 / STUDIES) ** 0.5


def test_equal_methods_get_another_verdict_than_cannot_tell_in_5_per_cent_at_most() -> None:
    rates = decided(generator("equal methods"), STUDIES)
    assert {number: rate for number, rate in rates.items() if rate > 5 + 300 * ERROR} == {}
    assert max(rates.values()) > 1, "tests of level 5 % decide sometimes"


def as_published(method: str, prototask: str, size: int) -> float:
    """Expected losses that make every finding true."""
    bayesian, family = method.startswith("mlp-mc"), prototask.partition("-")[0]
    loss = {"mlp-bgd-1": 1.3, "mlp-bgd-2b": 1.2 + 12 / size, "mlp-ese-1": 1.2}.get(method, 1.0)
    if method == "mlp-bgd-3":
        loss = 2.0 if family == "kin" else 0.6
    if family == "bank" and bayesian:
        loss = (1.5 if method.endswith("b") else 1.2) * (1.4 if "mc-4" in method else 1.0)
    elif bayesian:
        loss = 0.5 if "mc-4" not in method else 0.6 if family != "pumadyn" else 0.9
    return loss


def test_findings_that_are_true_hold() -> None:
    look = simulated_study(generator("true findings"), as_published, spread=0.02)
    assert [judge(one, look).verdict for one in FINDINGS] == ["holds"] * 6


def test_findings_whose_contrary_is_true_fail() -> None:
    look = simulated_study(generator("false findings"), lambda *task: 1 / as_published(*task), spread=0.02)
    for one in FINDINGS:
        found = judge(one, look)
        assert found.verdict == "fails"
        assert found.contrary


def duel(statistic: float, p_value: float, size: int = 64) -> Duel:
    return Duel("kin-8nm/dist", size, "a", "b", (1.0, 1.1), statistic, p_value)


def test_a_claim_of_everywhere_goes_by_its_weakest_test() -> None:
    part = Part("", "everywhere", ("a",), ("b",), (("kin-8nm/dist", (64, 128)),))
    strong, weak = duel(-9.0, 1e-6), duel(-2.5, 0.04, 128)
    found = judge(PaperFinding("x", "", (part,)), lambda *task: strong if task[3] == 64 else weak)
    assert found.verdict == "holds"
    assert found.parts[0].p_value == pytest.approx(0.02)
    doubtful = duel(-2.0, 0.06, 128)
    found = judge(PaperFinding("x", "", (part,)), lambda *task: strong if task[3] == 64 else doubtful)
    assert found.verdict == "cannot tell"


def test_a_claim_of_somewhere_pays_for_every_place_it_looks_at() -> None:
    part = Part("", "somewhere", ("a",), ("b",), (("kin-8nm/dist", (64, 128)),))
    one, other = duel(-2.5, 0.04), duel(0.1, 0.9, 128)
    found = judge(PaperFinding("x", "", (part,)), lambda *task: one if task[3] == 64 else other)
    assert found.verdict == "cannot tell"
    assert found.parts[0].p_value == pytest.approx(0.04)


def test_what_was_not_run_cannot_be_told() -> None:
    found = judge(FINDINGS[3], lambda *_: None)
    assert found.verdict == "cannot tell"
    assert found.parts[0].deciding == "not run"


def test_holms_p_values_are_those_of_the_book() -> None:
    """Holm (1979) by hand: 3 × 0.01, 2 × 0.03, 1 × 0.04 made monotone; never below those of Benjamini."""
    p_values = [0.01, 0.04, 0.03]
    assert holm(p_values) == pytest.approx([0.03, 0.06, 0.06])
    assert holm([0.5, 0.9]) == [1.0, 1.0]
    assert all(
        ours >= theirs for ours, theirs in zip(holm(p_values), false_discovery_control(p_values), strict=True)
    )
