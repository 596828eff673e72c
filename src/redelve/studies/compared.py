"""A published number and ours side by side: the cell that every study of this room is made of."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import inf, sqrt

CLOSE = 0.03
"""Numbers that differ by at most this part of ours are close."""

FEW_ERRORS = 2.0
"""So many combined standard errors are within chance."""


@dataclass(frozen=True)
class ComparedCell:
    """A published number, ours, and the standard errors of both (None where nothing is known of it).

    >>> cell = ComparedCell("glass1", "test", 9.75, 0.053, 9.62, 0.051)
    >>> round(cell.z, 2), round(cell.difference / cell.ours, 4), cell.agrees
    (-1.77, -0.0135, True)
    """

    row: str
    column: str
    published: float
    published_error: float | None
    ours: float
    our_error: float | None

    @property
    def difference(self) -> float:
        """Ours less the published number."""
        return self.ours - self.published

    @property
    def combined_error(self) -> float:
        """The standard error of the difference: √(s₁² + s₂²), an error that is not known counting as none."""
        return sqrt((self.published_error or 0.0) ** 2 + (self.our_error or 0.0) ** 2)

    @property
    def z(self) -> float | None:
        """The difference in combined standard errors; None where no error is known but numbers differ."""
        if self.combined_error > 0:
            return self.difference / self.combined_error
        return 0.0 if self.difference == 0 else None

    @property
    def is_close(self) -> bool:
        """Whether the published number lies within 3 % of ours."""
        return abs(self.difference) <= CLOSE * abs(self.ours)

    @property
    def is_within_errors(self) -> bool:
        """Whether the published number lies within two combined standard errors of ours."""
        return abs(self.difference) <= FEW_ERRORS * self.combined_error

    @property
    def agrees(self) -> bool:
        """Within 3 %, or within two combined standard errors."""
        return self.is_close or self.is_within_errors


@dataclass(frozen=True)
class CellTally:
    """How many of some cells agree, and which do not."""

    cells: tuple[ComparedCell, ...]

    @classmethod
    def of(cls, cells: Iterable[ComparedCell]) -> CellTally:
        """Count these."""
        return cls(tuple(cells))

    @property
    def misses(self) -> tuple[ComparedCell, ...]:
        """Those that do not agree, the worst first."""
        wrong = [cell for cell in self.cells if not cell.agrees]
        return tuple(sorted(wrong, key=lambda cell: -abs(inf if cell.z is None else cell.z)))

    @property
    def agreeing(self) -> int:
        """How many agree."""
        return len(self.cells) - len(self.misses)

    def __str__(self) -> str:
        return f"{self.agreeing} of {len(self.cells)}"
