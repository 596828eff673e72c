"""What a method is shown: training cases, then test inputs. Test targets are in neither."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from redelve.answers.predictions import Guesses, Target, guesses_of
from redelve.model import Attribute, Cases, Column, Prior, is_missing
from redelve.model.coding import Coding
from redelve.model.dataset import Numbers
from redelve.model.encodings import Encoder, bind, coded_columns, default_coding, measure
from redelve.model.encodings.numeric import NumericEncoder
from redelve.text_numbers import is_number

if TYPE_CHECKING:
    import pandas as pd

NUMERICAL = ("real", "integer", "angular")


@dataclass(frozen=True)
class TestInputs:
    """The inputs of the test cases, a column for each input attribute."""

    __test__ = False  # no test of ours, whatever pytest thinks

    attributes: tuple[Attribute, ...]
    prior: Prior
    cases: Cases = field(repr=False)
    own: Any = field(default=None, repr=False, compare=False)
    """The same cases as rows of the user's own frame, where there is one."""

    def __len__(self) -> int:
        return self.cases.count

    def frame(self) -> Any:
        """The cases as rows of the user's own frame, unchanged.

        Where no user has one: numbers as floats (also where there are two of them), categories with their
        levels.
        """
        return _frame(self.attributes, self.prior, self.cases.columns) if self.own is None else self.own


@dataclass(frozen=True)
class TrainingSet:
    """The training cases: columns of inputs, then of targets, and what is believed beforehand of them.

    `validation_size` of them, the last ones, are those that the task itself sets apart for validation (as
    PROBEN1's do); 0 where it leaves that to the method.
    """

    inputs: tuple[Attribute, ...]
    target_attributes: tuple[Attribute, ...]
    prior: Prior
    cases: Cases = field(repr=False)
    validation_size: int = 0
    own: Any = field(default=None, repr=False, compare=False)
    """The inputs as rows of the user's own frame, where there is one."""
    own_outputs: Any = field(default=None, repr=False, compare=False)
    """The targets as the user has them."""
    targets: tuple[Target, ...] = field(kw_only=True, repr=False, compare=False)
    """What is to be predicted, as answers name it."""

    def __len__(self) -> int:
        return self.cases.count

    @property
    def input_columns(self) -> tuple[Column, ...]:
        """The columns of the inputs."""
        return self.cases.columns[: len(self.inputs)]

    @property
    def target_columns(self) -> tuple[Column, ...]:
        """The columns of the targets."""
        return self.cases.columns[len(self.inputs) :]

    def frame(self) -> Any:
        """The inputs as rows of the user's own frame, unchanged.

        Where no user has one: numbers as floats, categories with their levels.
        """
        return _frame(self.inputs, self.prior, self.input_columns) if self.own is None else self.own

    def given_target(self, number: int = 0) -> Any:
        """A target as the user has it; where no user has one, numbers as floats, and levels as texts."""
        import pandas as pd

        if self.own_outputs is not None:
            return self.own_outputs
        column, target = self.target_columns[number], self.targets[number]
        return pd.Series(
            column.texts() if target.kind == "categorical" else column.numbers(), name=target.name
        )

    def target_values(self, number: int = 0) -> Numbers:
        """A target's training values: numbers, or level indexes from 0 for a categorical one."""
        target, column = self.targets[number], self.target_columns[number]
        if target.kind == "categorical":
            return guesses_of([target], [column.texts()]).values[0]
        return column.numbers()

    def encode(self, codings: Mapping[int, Coding] | None = None) -> EncodedTraining:
        """Numbers for methods that want numbers; encodings by the prior unless given, fitted here."""
        chosen = {
            one.number: default_coding(self.prior.attribute(one.number))
            for one in self.inputs + self.target_attributes
        }
        chosen.update(codings or {})
        encoders = [
            self._encoder(attribute, column, chosen[attribute.number])
            for attribute, column in zip(
                self.inputs + self.target_attributes, self.cases.columns, strict=True
            )
        ]
        return EncodedTraining(self, tuple(encoders))

    def _encoder(self, attribute: Attribute, column: Column, coding: Coding) -> Encoder:
        prior = self.prior.attribute(attribute.number)
        statistics = measure(column) if prior.type in ("real", "integer") else None
        return bind(attribute, prior, coding, statistics)


@dataclass(frozen=True)
class EncodedTraining:
    """Training cases as numbers, and the way for test inputs and answers into and out of that form."""

    training: TrainingSet
    encoders: tuple[Encoder, ...]

    @property
    def _input_encoders(self) -> tuple[Encoder, ...]:
        return self.encoders[: len(self.training.inputs)]

    @property
    def target_encoders(self) -> tuple[Encoder, ...]:
        """The encoders of the targets."""
        return self.encoders[len(self.training.inputs) :]

    @property
    def input_names(self) -> tuple[str, ...]:
        """A name for each encoded input column."""
        return tuple(name for encoder in self._input_encoders for name in encoder.names)

    @cached_property
    def inputs(self) -> Numbers:
        """The training inputs: a row for each case."""
        return _coded(self._input_encoders, self.training.input_columns, len(self.training))

    @cached_property
    def targets(self) -> Numbers:
        """The training targets, encoded: a row for each case."""
        return _coded(self.target_encoders, self.training.target_columns, len(self.training))

    def encode_inputs(self, test: TestInputs) -> Numbers:
        """Test inputs, encoded by what the training cases taught."""
        return _coded(self._input_encoders, test.cases.columns, len(test))

    def location_and_scale(self, number: int = 0) -> tuple[float, float]:
        """What a coded 0 stands for and how much a coded 1 adds to it, for a normalised numerical target."""
        encoder = self.target_encoders[number]
        if not isinstance(encoder, NumericEncoder):
            return 0.0, 1.0
        low, high = encoder.decode_numbers(np.array([0.0, 1.0]))
        return float(low), float(high - low)

    def decode_guesses(self, coded: Numbers) -> Guesses:
        """Guesses in the original domain for predictions made in the coded one, a row for each case."""
        table = np.asarray(coded, dtype=np.float64).reshape(len(coded), -1)
        values, start = [], 0
        for target, encoder in zip(self.training.targets, self.target_encoders, strict=True):
            end = start + len(encoder.names)
            values.append(_decoded(target, encoder, table[:, start:end]))
            start = end
        return Guesses(self.training.targets, tuple(values))


def _decoded(target: Target, encoder: Encoder, coded: Numbers) -> Numbers:
    if isinstance(encoder, NumericEncoder):
        return encoder.decode_numbers(coded[:, 0])
    texts = [np.array([repr(value) for value in column], dtype=object) for column in coded.T.tolist()]
    return guesses_of([target], [encoder.decode(texts)]).values[0]


def _coded(encoders: Sequence[Encoder], columns: Sequence[Column], count: int) -> Numbers:
    pairs = zip(encoders, columns, strict=True)
    coded = [one.numbers for pair in pairs for one in coded_columns(*pair, count)]
    return np.column_stack(coded) if coded else np.empty((count, 0))


def _frame(attributes: Sequence[Attribute], prior: Prior, columns: Sequence[Column]) -> pd.DataFrame:
    import pandas as pd

    pairs = zip(attributes, columns, strict=True)
    return pd.DataFrame({one.name: _series(one, prior, column) for one, column in pairs})


def _series(attribute: Attribute, prior: Prior, column: Column) -> pd.Series | pd.Categorical:
    import pandas as pd

    about = prior.attribute(attribute.number)
    if about.type in NUMERICAL:
        return pd.Series(column.numbers())
    levels = about.order or attribute.range.values
    if about.type == "binary" and all(map(is_number, levels)):
        return pd.Series(column.numbers())
    known = [None if is_missing(text) else text for text in column.texts()]
    return pd.Categorical(known, categories=list(levels), ordered=about.type == "ordinal")
