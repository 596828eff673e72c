"""How the networks were trained, as printed and as other readings of the report would have it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

from redelve.errors import SpecError
from redelve.nets import GL, PQ, UP, MaxEpochs, P, Procedure, Rprop, StoppingRule

STRIP = 5
LONGEST = P(0.1) | MaxEpochs(3000)


@dataclass(frozen=True)
class TrainingReading:
    """First weights within ±`weights`, RPROP's first steps and growth, and the rule that stops training."""

    name: str
    weights: float
    delta0: tuple[float, float]
    eta_plus: float
    stopping: StoppingRule
    about: str = ""
    variant: str = "plain"

    @cached_property
    def procedure(self) -> Procedure:
        """RPROP in strips of five epochs."""
        rprop = Rprop(eta_plus=self.eta_plus, delta0=self.delta0, variant=self.variant)
        return Procedure(rprop, self.stopping, strips=STRIP)

    @cached_property
    def identity(self) -> str:
        """All that results depend on, in words: what stored runs are known by."""
        low, high = self.delta0
        return (
            f"RPROP {self.variant}, weights ±{self.weights:g}, delta0 {low:g} to {high:g}, "
            f"eta+ {self.eta_plus:g}, stopping {self.stopping!r}"
        )


LINEAR = TrainingReading("linear", 0.01, (0.005, 0.02), 1.2, GL(5) | LONGEST, "section 3.3.1")
SEARCH = TrainingReading(
    "search-printed",
    0.5,
    (0.05, 0.2),
    1.1,
    GL(5).once() & UP(8).once() & PQ(3).once() | LONGEST,
    "section 3.3.2",
)
PRINTED = TrainingReading(
    "printed", 0.01, (0.005, 0.02), 1.2, GL(5) | LONGEST, "sections 3.3.1 and 3.3.3 as printed"
)
BEST = TrainingReading("best", 0.1, (0.05, 0.2), 1.2, GL(2) | LONGEST, "what fits tables 5 to 12 best")
OTHERS = (
    replace(PRINTED, name="printed-gl2", stopping=GL(2) | LONGEST, about="as printed, but stopped by GL_2"),
    replace(BEST, name="best-gl5", stopping=GL(5) | LONGEST, about="best, but stopped by GL_5 as printed"),
    replace(BEST, name="best-backtracking", variant="backtracking", about="best, but weights go back"),
    replace(BEST, name="best-irprop", variant="irprop-", about="best, but iRPROP-"),
    replace(BEST, name="best-slow", eta_plus=1.1, about="best, but steps grow as in section 3.3.2"),
    replace(BEST, name="best-wide", weights=0.5, about="best, but first weights as in section 3.3.2"),
)
READINGS = {reading.name: reading for reading in (PRINTED, BEST, *OTHERS)}
"""Readings of the training for tables 5 to 12 (docs/study-proben1.md); `printed` searches by `SEARCH`."""


def find_reading(name: str) -> TrainingReading:
    """The reading of this name."""
    if name not in READINGS:
        raise SpecError(f'reading "{name}": known are {", ".join(READINGS)}')
    return READINGS[name]
