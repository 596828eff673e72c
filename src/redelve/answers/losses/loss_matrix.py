"""Loss matrices: what every guess costs for every true level (manual 5.3)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from redelve.answers.predictions import ArrayValue, Numbers, first, frozen
from redelve.errors import SpecError
from redelve.text_numbers import parse_number


@dataclass(frozen=True, eq=False)
class LossMatrix(ArrayValue):
    """Losses for every guess (row) and true level (column), and perhaps for making no guess."""

    values: Numbers
    no_guess: Numbers | None = None

    def __post_init__(self) -> None:
        values = frozen(self.values)
        rows, columns = values.shape
        if rows != columns:
            raise SpecError(f"a loss matrix must have as many rows as columns but has {rows} and {columns}")
        _check_entries(values, first_row=1)
        if (row := first(values.diagonal() != 0)) is not None:
            raise SpecError(
                f"row {row + 1}, column {row + 1}: loss {values[row, row]} of a right guess must be 0"
            )
        object.__setattr__(self, "values", values)
        if self.no_guess is not None:
            no_guess = frozen(self.no_guess)
            if len(no_guess) != rows:
                raise SpecError(f"expected {rows} losses for making no guess but got {len(no_guess)}")
            _check_entries(no_guess[np.newaxis], first_row=rows + 1)
            object.__setattr__(self, "no_guess", no_guess)


def parse_loss_matrix(text: str, levels: Sequence[str]) -> LossMatrix:
    """A row for each guess in the order of `levels`, then perhaps one for no guess; blank lines are skipped.

    >>> parse_loss_matrix("0 10\\n1 0\\n.5 .5", ["well", "ill"]).no_guess
    array([0.5, 0.5])
    """
    rows = [line.split() for line in text.splitlines() if line.strip()]
    size = len(levels)
    if len(rows) not in (size, size + 1):
        raise SpecError(
            f"expected {size} rows of losses, one for each guess ({', '.join(levels)}), "
            f"and perhaps one for no guess, but got {len(rows)}"
        )
    entries = np.array([_matrix_row(number, row, size) for number, row in enumerate(rows, 1)])
    return LossMatrix(entries[:size], entries[size] if len(rows) > size else None)


def _matrix_row(number: int, row: Sequence[str], size: int) -> list[float]:
    if len(row) != size:
        raise SpecError(f"row {number}: expected {size} losses, one for each true level, but got {len(row)}")
    losses = []
    for column, text in enumerate(row, 1):
        value = parse_number(text)
        if value is None:
            raise SpecError(f'row {number}, column {column}: loss "{text}" must be a finite number')
        losses.append(value)
    return losses


def _check_entries(entries: Numbers, first_row: int) -> None:
    good = np.isfinite(entries) & (entries >= 0)
    if not good.all():
        row, column = np.argwhere(~good)[0]
        raise SpecError(
            f"row {row + first_row}, column {column + 1}: loss {entries[row, column]} "
            "must be a finite number of at least 0"
        )
