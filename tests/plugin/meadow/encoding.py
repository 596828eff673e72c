"""An encoding: numbers in thousands."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import log

import numpy as np

from redelve.errors import SpecError
from redelve.model import Column
from redelve.model.encodings import CodedColumn, Encoding, Subject
from redelve.model.encodings.encoder import Texts


@dataclass(frozen=True)
class ThousandsEncoder:
    subject: Subject
    log_density_shift: float = -log(1000)

    @property
    def names(self) -> tuple[str, ...]:
        return (self.subject.name,)

    def encode(self, column: Column) -> list[CodedColumn]:
        if np.isnan(column.numbers()).any():
            raise SpecError(f'a value of "{self.subject.name}" is missing: choose another encoding')
        return [CodedColumn(self.subject.name, column.numbers() / 1000)]

    def decode(self, coded: Sequence[Texts]) -> Texts:
        return np.array([repr(1000 * float(text)) for text in coded[0]], dtype=object)


THOUSANDS = Encoding("thousands", ThousandsEncoder, types=("real", "integer"))
