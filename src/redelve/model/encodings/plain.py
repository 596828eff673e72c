"""Encodings that copy the value or drop it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from redelve.errors import SpecError
from redelve.model import Column
from redelve.model.encodings.encoder import CodedColumn, Encoding, Subject, Texts, encodings


@dataclass(frozen=True)
class CopyEncoder:
    """The value as it stands in the data file."""

    subject: Subject

    @property
    def names(self) -> tuple[str, ...]:
        """The attribute's own name."""
        return (self.subject.name,)

    def encode(self, column: Column) -> list[CodedColumn]:
        """The texts, unchanged."""
        return [CodedColumn(self.subject.name, column.numbers(), column.texts())]

    def decode(self, coded: Sequence[Texts]) -> Texts:
        """The texts, unchanged."""
        return coded[0]

    @property
    def log_density_shift(self) -> float:
        """Nothing changes."""
        return 0.0


@dataclass(frozen=True)
class IgnoreEncoder:
    """No columns at all."""

    subject: Subject
    names: tuple[str, ...] = ()
    log_density_shift: float = 0.0

    def encode(self, column: Column) -> list[CodedColumn]:
        """No columns."""
        return []

    def decode(self, coded: Sequence[Texts]) -> Texts:
        """Impossible: nothing was encoded."""
        raise SpecError(
            f'can\'t decode ignored attribute "{self.subject.name}": choose another encoding for it'
        )


encodings.add("ignore", Encoding("ignore", IgnoreEncoder, place=1))
encodings.add("copy", Encoding("copy", CopyEncoder, place=2))
