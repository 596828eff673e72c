"""Loss matrices: what every guess costs for every true level (manual 5.3)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from redelve.answers.losses.loss_contract import LOSSES, Loss, MatrixLoader
from redelve.answers.losses.standard_losses import GuessLoss
from redelve.answers.predictions import ArrayValue, Target, Truth, first, frozen
from redelve.errors import SpecError
from redelve.model.dataset import Numbers
from redelve.text_numbers import parse_number

BAD_FILE_NAME = re.compile(r"[/\\:\s\0]|\.\.|^M\.|^M$")


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


@dataclass(frozen=True)
class MatrixLoss(GuessLoss):
    """The entry of a loss matrix for the guess and the truth (manual 5.3); `text` is the matrix file."""

    letter = "M"
    title = "Loss matrix"
    kinds = ("categorical",)
    one_target = True
    in_delve = True
    way_out = "make a guess, or add a last row of losses for making none to the loss matrix"
    text: str = ""

    @classmethod
    def parse(cls, code: str, load_matrix: MatrixLoader | None) -> Loss:
        """`M` and the name of a file in the directory of the prototask."""
        if BAD_FILE_NAME.search(code):
            raise SpecError(
                f'loss "{code}" must name a file in the directory of the prototask: '
                "write M and a file name without blanks, slashes, colons, .. or a leading dot, as in Mcosts"
            )
        if load_matrix is None:
            raise SpecError(f'loss "{code}" needs the file "{code[1:]}", but no loss matrix can be read here')
        return cls(code, load_matrix(code[1:]))

    @property
    def name(self) -> str:
        """The loss in words."""
        return f'{self.title} "{self.code[1:]}"'

    def why_not(self, targets: Sequence[Target]) -> str | None:
        """What keeps the loss from these targets, or None."""
        if reason := super().why_not(targets):
            return reason
        try:
            self.matrix(targets[0])
        except SpecError as error:
            return f'loss {self.code}, target "{targets[0].name}": {error}'
        return None

    def matrix(self, target: Target) -> LossMatrix:
        """The matrix, checked against the target's levels."""
        return parse_loss_matrix(self.text, target.levels)

    def limits(self, targets: Sequence[Target]) -> tuple[float, float]:
        """The smallest entry, which is that of a right guess, and the largest."""
        matrix = self.matrix(targets[0])
        entries = matrix.values if matrix.no_guess is None else np.vstack([matrix.values, matrix.no_guess])
        return 0.0, float(entries.max())

    def distance(self, truth: Truth, guess: Numbers) -> Numbers:
        """The entries for the guess and the truth."""
        guessed = np.nan_to_num(guess).astype(np.int64)
        entries: Numbers = self.matrix(truth.target).values[guessed, truth.level_indexes]
        return entries

    def no_guess(self, truth: Truth) -> Numbers | None:
        """The entries of the last row for the truth, if there is such a row."""
        penalties = self.matrix(truth.target).no_guess
        return None if penalties is None else penalties[truth.level_indexes]

    def best_constant(self, truth: Truth) -> float | None:
        """The loss of the best constant guess, or of never guessing where that is allowed."""
        matrix = self.matrix(truth.target)
        shares = np.bincount(truth.level_indexes, minlength=len(truth.target.levels)) / len(truth)
        least = float((matrix.values @ shares).min())
        return least if matrix.no_guess is None else min(least, float(matrix.no_guess @ shares))


LOSSES.add("M", MatrixLoss)
