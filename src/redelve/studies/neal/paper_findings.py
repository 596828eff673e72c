"""The paper's findings as tests: what each claims of which methods on which tasks, and the verdict.

A finding has parts, each about pairs of methods on tasks, tested by the analysis of the task's design (a
paired t-test over training sets, as in the paper). All tests are one-sided at 2.5 %. A part that claims a
difference *everywhere* holds if every test finds it (an intersection-union test, which needs no allowance
for their number); one that claims it *somewhere* holds if one test does by Holm's rule for all of them; that
a method is *nowhere worse* holds if it is better somewhere and worse nowhere. A finding fails if, by Holm's
rule for all tests of all its parts, any is significant in the other direction; it holds if all parts do;
else it cannot be told. So of 100 studies of equal methods at most five give a verdict other than that.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import isfinite, log, log2
from typing import Literal

import numpy as np
from scipy import stats

LEVEL = 0.025
Kind = Literal["everywhere", "somewhere", "nowhere worse", "on average", "more with fewer cases"]
Verdict = Literal["holds", "fails", "cannot tell"]
FEWEST_UNITS = 3


@dataclass(frozen=True)
class Duel:
    """Two methods on a task: the one that is claimed to be better first; t is negative if it is."""

    prototask: str
    size: int
    better: str
    worse: str
    losses: tuple[float, float]
    statistic: float
    p_value: float
    """Two-sided."""

    @property
    def p_for(self) -> float:
        """One-sided, in favour of the claim."""
        return self.p_value / 2 if self.statistic < 0 else 1 - self.p_value / 2

    @property
    def p_against(self) -> float:
        """One-sided, for the contrary."""
        return 1 - self.p_for

    @property
    def gain(self) -> float:
        """The log of the ratio of losses: positive if the claimed one is better."""
        return log(self.losses[1] / self.losses[0])

    def __str__(self) -> str:
        return f"{self.better} and {self.worse} on {self.prototask.partition('/')[0]} at {self.size}"


Look = Callable[[str, str, str, int], Duel | None]
"""The duel of two methods on a prototask at a size, if it was run."""


@dataclass(frozen=True)
class Part:
    """What a finding claims: some methods are better than others on some tasks."""

    words: str
    kind: Kind
    better: tuple[str, ...]
    worse: tuple[str, ...]
    tasks: tuple[tuple[str, tuple[int, ...]], ...]

    def duels(self, look: Look) -> tuple[Duel, ...]:
        """All that were run; a method is paired with its like where both lists are equally long."""
        is_matched = self.kind in ("somewhere", "nowhere worse") and len(self.better) == len(self.worse) > 1
        pairs = zip(self.better, self.worse, strict=True) if is_matched else product(self.better, self.worse)
        wanted = [(prototask, size) for prototask, sizes in self.tasks for size in sizes]
        every = ((look(*pair, *task), pair) for pair in pairs for task in wanted)
        return tuple(duel for duel, _ in every if duel is not None)


@dataclass(frozen=True)
class PaperFinding:
    """A finding of the paper by its number, in its words."""

    number: str
    words: str
    parts: tuple[Part, ...]


@dataclass(frozen=True)
class JudgedPart:
    """A part with its deciding statistic: t of the deciding test, and the p-value that decides."""

    part: Part
    verdict: Verdict
    statistic: float | None
    p_value: float | None
    deciding: str
    tests: int
    in_favour: int
    against: int


@dataclass(frozen=True)
class JudgedFinding:
    """A finding and what our runs say of it."""

    finding: PaperFinding
    verdict: Verdict
    parts: tuple[JudgedPart, ...]
    contrary: tuple[str, ...]
    """The tests that are significant in the other direction, the most significant first."""


def holm(p_values: Sequence[float]) -> list[float]:
    """Adjusted p-values (Holm 1979).

    >>> [round(p, 3) for p in holm([0.01, 0.04, 0.03])]
    [0.03, 0.06, 0.06]
    """
    order = np.argsort(p_values)
    found, largest = [1.0] * len(p_values), 0.0
    for place, which in enumerate(order.tolist()):
        largest = max(largest, min((len(p_values) - place) * p_values[which], 1.0))
        found[which] = largest
    return found


@dataclass(frozen=True)
class _Evidence:
    """A test of a part: its statistic (negative: in favour) and both one-sided p-values."""

    words: str
    statistic: float
    p_for: float
    p_against: float


def judge(finding: PaperFinding, look: Look) -> JudgedFinding:
    """What our runs say of a finding."""
    evidence = [_evidence(part, part.duels(look)) for part in finding.parts]
    every = [one for own in evidence for one in own]
    adjusted = dict(zip(map(id, every), holm([one.p_against for one in every]), strict=True))
    parts = tuple(
        _judged(part, own, [adjusted[id(one)] for one in own])
        for part, own in zip(finding.parts, evidence, strict=True)
    )
    order = sorted(every, key=lambda one: one.p_against)
    contrary = tuple(one.words for one in order if adjusted[id(one)] < LEVEL)
    verdicts = {part.verdict for part in parts}
    if "fails" in verdicts:
        return JudgedFinding(finding, "fails", parts, contrary)
    return JudgedFinding(finding, "holds" if verdicts == {"holds"} else "cannot tell", parts, contrary)


def _evidence(part: Part, duels: Sequence[Duel]) -> list[_Evidence]:
    known = [one for one in duels if isfinite(one.statistic) and isfinite(one.p_value)]
    if part.kind == "on average":
        return _over_prototasks(part, known, lambda own: float(np.mean([one.gain for one in own])))
    if part.kind == "more with fewer cases":
        return _over_prototasks(part, known, _fall)
    return [_Evidence(str(one), one.statistic, one.p_for, one.p_against) for one in known]


def _fall(duels: Sequence[Duel]) -> float | None:
    """How much the gain falls with each doubling of the cases, by least squares."""
    sizes = np.array([log2(one.size) for one in duels])
    if len(set(sizes.tolist())) < 2:
        return None
    return -float(np.polyfit(sizes, [one.gain for one in duels], 1)[0])


def _over_prototasks(
    part: Part, duels: Sequence[Duel], measure: Callable[[Sequence[Duel]], float | None]
) -> list[_Evidence]:
    """A t-test whose units are prototasks: one number of each."""
    grouped: dict[str, list[Duel]] = {}
    for one in duels:
        grouped.setdefault(one.prototask, []).append(one)
    found = [number for own in grouped.values() if (number := measure(own)) is not None]
    if len(found) < FEWEST_UNITS or float(np.std(found)) == 0:
        return []
    test = stats.ttest_1samp(found, 0.0)
    p_for = float(test.pvalue / 2 if test.statistic > 0 else 1 - test.pvalue / 2)
    return [_Evidence(f"{len(found)} prototasks", -float(test.statistic), p_for, 1 - p_for)]


def _judged(part: Part, tests: Sequence[_Evidence], against: Sequence[float]) -> JudgedPart:
    """The verdict on a part; `against` are p-values for the contrary, by Holm's rule for the finding."""
    if not tests:
        return JudgedPart(part, "cannot tell", None, None, "not run", 0, 0, 0)
    favour = [one.p_for for one in tests] if part.kind == "everywhere" else holm([one.p_for for one in tests])
    counts = (len(tests), sum(p < LEVEL for p in favour), sum(p < LEVEL for p in against))
    place = int(np.argmax(favour) if part.kind == "everywhere" else np.argmin(favour))
    holds = favour[place] < LEVEL and not (part.kind == "nowhere worse" and counts[2])
    fails = bool(counts[2]) and not (holds and part.kind == "somewhere")
    verdict: Verdict = "fails" if fails else "holds" if holds else "cannot tell"
    if fails:
        place = int(np.argmin(against))
    p_value = against[place] if fails else favour[place]
    return JudgedPart(part, verdict, tests[place].statistic, p_value, tests[place].words, *counts)


# --- the findings ------------------------------------------------------------------------------------------

ALL = (64, 128, 256, 512, 1024)
KIN = tuple((f"kin-{width}nm/dist", ALL) for width in (8, 32))
PUMADYN = tuple((f"pumadyn-{width}nm/accel", ALL) for width in (8, 32))
BANK = tuple((f"bank-{width}nm/rej", ALL) for width in (8, 32))
STOPPING = ("mlp-ese-1", "mlp-bgd-1", "mlp-bgd-2", "mlp-bgd-3")
SAMPLING = ("mlp-mc-1", "mlp-mc-2", "mlp-mc-3", "mlp-mc-4")
FEW = (("pumadyn-32nm/accel", (64, 128, 256)),)

FINDINGS = (
    PaperFinding(
        "1",
        "mlp-bgd-2 is never significantly worse than mlp-bgd-1, and clearly better on pumadyn-32nm with few "
        "cases and on bank",
        (
            Part("nowhere worse", "nowhere worse", ("mlp-bgd-2",), ("mlp-bgd-1",), (*KIN, *PUMADYN, *BANK)),
            Part("better on pumadyn-32nm", "somewhere", ("mlp-bgd-2",), ("mlp-bgd-1",), FEW),
            Part("better on bank", "somewhere", ("mlp-bgd-2",), ("mlp-bgd-1",), BANK),
        ),
    ),
    PaperFinding(
        "2",
        "mlp-bgd-3 does very well on pumadyn-8nm, where few inputs matter, and very badly on kin-8nm",
        (
            Part("better on pumadyn-8nm", "somewhere", ("mlp-bgd-3",), ("mlp-bgd-2",), PUMADYN[:1]),
            Part("worse on kin-8nm", "everywhere", ("mlp-bgd-2",), ("mlp-bgd-3",), KIN[:1]),
        ),
    ),
    PaperFinding(
        "3",
        "Ensembles beat single networks, most at small training sets",
        (
            Part("better", "nowhere worse", ("mlp-bgd-2",), ("mlp-bgd-2b",), (*KIN, *PUMADYN, *BANK)),
            Part(
                "most at small training sets",
                "more with fewer cases",
                ("mlp-bgd-2",),
                ("mlp-bgd-2b",),
                (*KIN, *PUMADYN, *BANK),
            ),
        ),
    ),
    PaperFinding(
        "4",
        "With more cases on kin (8 inputs: 512, 32 inputs: 512 and 1024) all Bayesian methods beat all "
        "early-stopping methods",
        (
            Part(
                "all better than all",
                "everywhere",
                SAMPLING,
                STOPPING,
                (("kin-8nm/dist", (512,)), ("kin-32nm/dist", (512, 1024))),
            ),
        ),
    ),
    PaperFinding(
        "5",
        "On bank the Bayesian methods do poorly, worse still with more time",
        (
            Part("mlp-bgd-2 better", "somewhere", ("mlp-bgd-2",), SAMPLING[1:], BANK),
            Part(
                "worse with three times the passes",
                "somewhere",
                ("mlp-mc-2", "mlp-mc-3", "mlp-mc-4"),
                ("mlp-mc-2b", "mlp-mc-3b", "mlp-mc-4b"),
                BANK[:1],
            ),
        ),
    ),
    PaperFinding(
        "6",
        "Relevance determination (mlp-mc-3) is generally at least as good as none (mlp-mc-4), and hugely "
        "better on pumadyn-32nm with enough cases",
        (
            Part("better on average", "on average", ("mlp-mc-3",), ("mlp-mc-4",), (*KIN, *PUMADYN, *BANK)),
            Part(
                "better on pumadyn-32nm from 128 cases on",
                "everywhere",
                ("mlp-mc-3",),
                ("mlp-mc-4",),
                (("pumadyn-32nm/accel", (128, 256, 512)),),
            ),
        ),
    ),
)
QUESTIONS = (
    PaperFinding(
        "a",
        "Was it convergence? On pumadyn-32nm mlp-mc-3 is better with three times the passes",
        (Part("mlp-mc-3b better", "somewhere", ("mlp-mc-3b",), ("mlp-mc-3",), PUMADYN[1:]),),
    ),
    PaperFinding(
        "b",
        "… with ten times the passes",
        (Part("mlp-mc-3-10x better", "somewhere", ("mlp-mc-3-10x",), ("mlp-mc-3",), PUMADYN[1:]),),
    ),
    PaperFinding(
        "c",
        "… with moves that change scales and exchange inputs, in four chains of the usual length",
        (Part("mlp-mc-5 better", "somewhere", ("mlp-mc-5",), ("mlp-mc-3",), PUMADYN[1:]),),
    ),
    PaperFinding(
        "d",
        "Would a transformed target help on bank? mlp-mc-3 is better with arcsin √y",
        (Part("mlp-mc-3-arcsine better", "somewhere", ("mlp-mc-3-arcsine",), ("mlp-mc-3",), BANK),),
    ),
    PaperFinding(
        "e",
        "… the Gaussian process, too",
        (Part("gp-ard-arcsine better", "somewhere", ("gp-ard-arcsine",), ("gp-ard",), BANK),),
    ),
    PaperFinding(
        "f",
        "… and early stopping",
        (Part("mlp-bgd-2-arcsine better", "somewhere", ("mlp-bgd-2-arcsine",), ("mlp-bgd-2",), BANK),),
    ),
    PaperFinding(
        "g",
        "Do Bayesian methods that find the relevant inputs lose anywhere? mlp-mc-5 is nowhere worse than "
        "mlp-bgd-2",
        (Part("nowhere worse", "nowhere worse", ("mlp-mc-5",), ("mlp-bgd-2",), (*KIN, *PUMADYN, *BANK)),),
    ),
    PaperFinding(
        "h",
        "… mlp-mc-6, with another prior of the noise",
        (Part("nowhere worse", "nowhere worse", ("mlp-mc-6",), ("mlp-bgd-2",), (*KIN, *PUMADYN, *BANK)),),
    ),
)


def look_in(duels: Mapping[tuple[str, str, str, int], Duel]) -> Look:
    """Looks up duels by better, worse, prototask and size."""
    return lambda better, worse, prototask, size: duels.get((better, worse, prototask, size))
