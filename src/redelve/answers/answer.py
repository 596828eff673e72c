"""A method's answer for the test cases of an instance, and the losses that the truth then gives it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from redelve.answers.losses import Loss, LossLike, chosen_losses, usual_losses
from redelve.answers.predictions import (
    ClassProbabilities,
    Guesses,
    Numbers,
    Prediction,
    Target,
    TargetDistributions,
    Truth,
)
from redelve.errors import PredictionError


@dataclass(frozen=True, eq=False)
class Answer:
    """Guesses, class probabilities, predictive distributions: at least one of them, for all test cases.

    `guesses_for` holds guesses meant for one loss, by its code (the median for A, say); where there are
    neither these nor `guesses`, the best guess follows from probabilities or distributions.
    """

    guesses: Guesses | None = None
    probabilities: ClassProbabilities | None = None
    distributions: TargetDistributions | None = None
    guesses_for: Mapping[str, Guesses] = field(default_factory=dict)

    def __post_init__(self) -> None:
        parts = self.parts()
        if not parts:
            raise PredictionError(
                "the answer is empty: give guesses, class probabilities or predictive distributions"
            )
        for part in parts[1:]:
            if len(part) != len(parts[0]) or part.targets != parts[0].targets:
                raise PredictionError(
                    "the parts of an answer are for different cases or targets: "
                    f"{len(parts[0])} and {len(part)} cases"
                )

    def parts(self) -> list[Guesses | ClassProbabilities | TargetDistributions]:
        """What the answer holds."""
        every = [self.guesses, self.probabilities, self.distributions, *self.guesses_for.values()]
        return [part for part in every if part is not None]

    def __len__(self) -> int:
        return len(self.parts()[0])

    @property
    def targets(self) -> tuple[Target, ...]:
        """What was predicted."""
        return self.parts()[0].targets

    def for_loss(self, loss: Loss) -> Prediction | None:
        """The part that a loss is computed from; None where the answer has none."""
        return loss.part_of(self)


def losses_for(targets: Sequence[Target], chosen: Sequence[LossLike] | None = None) -> tuple[Loss, ...]:
    """The losses asked for, each of which must suit the targets; if none is, all usual ones that do."""
    if chosen is None:
        return usual_losses(targets)
    losses = chosen_losses(chosen)
    for loss in losses:
        if (reason := loss.why_not(targets)) is not None:
            raise PredictionError(f"{reason}: choose another loss")
    return losses


def score(answer: Answer, truths: Sequence[Truth], losses: Sequence[Loss]) -> dict[str, Numbers]:
    """The loss of every case by every loss that the answer has the predictions for."""
    found = {}
    for loss in losses:
        prediction = answer.for_loss(loss)
        if prediction is not None and (loss.allows_censored or not _any_censored(truths)):
            found[loss.code] = loss.of(truths, prediction)
    return found


def _any_censored(truths: Sequence[Truth]) -> bool:
    return any((truth.censoring != 0).any() for truth in truths)
