"""A loss of which only a description is there: what was computed by it elsewhere can still be analysed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from redelve.answers.losses.loss_contract import Loss
from redelve.answers.predictions import Prediction, Target, Truth
from redelve.errors import SpecError
from redelve.model.dataset import Numbers


@dataclass(frozen=True)
class RememberedLoss(Loss):
    """A loss that is not known here, or needs a file that is not here: by its code and what is told of it."""

    told: str = ""
    is_shift: bool = False
    title = ""
    kinds = ()
    takes = "distribution"

    @property
    def name(self) -> str:
        """The loss in words, where they were told."""
        return self.told or f"loss {self.code}"

    @property
    def words(self) -> str:
        """The same: what was told is for within a sentence."""
        return self.name

    def why_not(self, targets: Sequence[Target]) -> str | None:
        """It can judge nothing."""
        return f'loss "{self.code}" is not known here: register it, or install the package that has it'

    def of(self, truths: Sequence[Truth], prediction: Prediction) -> Numbers:
        """Impossible."""
        raise SpecError(str(self.why_not(())))
