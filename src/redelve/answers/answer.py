"""A method's answer for the test cases of an instance; the losses that the truth gives it, and a constant."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

import numpy as np

from redelve.answers.distributions import Distribution
from redelve.answers.distributions import distributions as known_distributions
from redelve.answers.losses import (
    Loss,
    LossLike,
    Units,
    chosen_losses,
    one_per_case,
    parse_loss,
    usual_losses,
)
from redelve.answers.predictions import (
    ClassProbabilities,
    DecisionValues,
    Guesses,
    PartOfAnswer,
    Prediction,
    Target,
    TargetDistributions,
    Truth,
)
from redelve.errors import ANY_FAULT, PredictionError, blame
from redelve.model.dataset import LARGEST, Numbers

CLOSE = 1e-12
"""What was made to sum to one must still do so; then it is taken to the last bit as it was sent."""
Made = TypeVar("Made")


@dataclass(frozen=True, eq=False)
class Answer:
    """What a method says of all test cases: guesses, class probabilities, predictive distributions.

    Parameters
    ----------
    guesses
        Guesses for whatever loss they are judged by.
    probabilities
        Probabilities of the levels of a categorical target.
    distributions
        Predictive distributions of numerical targets.
    guesses_for
        Guesses meant for one loss, by its code: the median for ``"A"``, say.
    decision_values
        How far each case is taken to be of each level of a categorical target, where there are no
        probabilities: metrics of the order of cases, such as AUC, need no more.

    Raises
    ------
    RedelveError
        The answer is empty, or its parts are for different cases or targets.

    Notes
    -----
    At least one part is needed. Losses for which an answer has nothing are not computed. Where there
    are neither `guesses_for` a loss nor `guesses`, the guess is the best one by the probabilities or
    distributions. The parts are those of DELVE's prediction files (Rasmussen et al. 1996, The DELVE
    manual, section 7.5).

    Examples
    --------
    >>> import redelve
    >>> from redelve.answers.predictions import Target
    >>> answer = redelve.Answer(guesses=redelve.Guesses((Target("age", "real"),), ([31.5, 40.0],)))
    >>> len(answer), answer.targets[0].name
    (2, 'age')
    """

    guesses: Guesses | None = None
    probabilities: ClassProbabilities | None = None
    distributions: TargetDistributions | None = None
    guesses_for: Mapping[str, Guesses] = field(default_factory=dict)
    decision_values: DecisionValues | None = None
    told: Numbers | None = field(init=False, repr=False, compare=False)
    """Class probabilities to the last bit as the method gave them, where they were kept."""

    def __post_init__(self) -> None:
        told = None if self.probabilities is None else self.probabilities.told
        object.__setattr__(self, "told", told)
        parts = self.parts()
        if not parts:
            raise PredictionError(
                "the answer is empty: give guesses, class probabilities or predictive distributions"
            )
        for part in parts:
            if len(part) != len(self) or part.targets != parts[0].targets:
                raise PredictionError(
                    "the parts of an answer are for different cases or targets: "
                    f"{len(self)} and {len(part)} cases"
                )

    def parts(self) -> list[PartOfAnswer]:
        """What the answer holds."""
        every = (self.guesses, self.probabilities, self.distributions, *self.guesses_for.values())
        return [part for part in (*every, self.decision_values) if part is not None]

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


def score(
    answer: Answer, truths: Sequence[Truth], losses: Sequence[Loss], units: Units | None = None
) -> dict[str, Numbers]:
    """The loss of every case by every loss that the answer has the predictions for.

    Cases with the same number in `units` belong together: metrics that are no means of cases ask for that.
    """
    found = {}
    for loss in losses:
        try:
            prediction = loss.part_of(answer)
            if prediction is not None and (loss.allows_censored or not _any_censored(truths)):
                values = one_per_case(loss, loss.of_units(truths, prediction, units), len(truths[0]))
                found[loss.code] = within_numbers(values)
        except ANY_FAULT as error:
            blame(f"loss {loss.code}", loss, error)
            raise
    return found


def within_numbers(losses: Numbers) -> Numbers:
    """The same, but infinite where their powers, which statistics need, would be no numbers."""
    too_large = np.abs(losses) > LARGEST
    if not np.count_nonzero(too_large):  # a quarter of the time of any()
        return losses
    return np.copysign(np.where(too_large, np.inf, losses), losses)


def _any_censored(truths: Sequence[Truth]) -> bool:
    return not all(truth.is_exact for truth in truths)


def rebuilt(
    targets: tuple[Target, ...],
    guesses: Sequence[Numbers] | None,
    probabilities: tuple[Numbers | None, ...],
    distributions: Sequence[tuple[str, Mapping[str, Numbers]]] | None,
    guesses_for: Mapping[str, Sequence[Numbers]],
    decision_values: Numbers | None = None,
) -> Answer:
    """The answer that was taken apart into these numbers, the same to the last bit.

    `probabilities` are the logs of class probabilities and these as they were told; a distribution is its
    kind and its parameters.
    """
    logs, told = probabilities
    return Answer(
        None if guesses is None else Guesses(targets, tuple(guesses)),
        None if logs is None else _as_sent(ClassProbabilities(targets[0], logs, told), {"logs": logs}),
        None
        if distributions is None
        else TargetDistributions(targets, tuple(_distribution(*one) for one in distributions)),
        {code: Guesses(targets, tuple(values)) for code, values in guesses_for.items()},
        None if decision_values is None else DecisionValues(targets[0], decision_values),
    )


def _distribution(kind: str, parameters: Mapping[str, Numbers]) -> Distribution:
    if kind not in known_distributions:
        raise PredictionError(
            f'the predictive distribution "{kind}" is not known outside the method: '
            "register it with `distributions.add` in the module that defines it"
        )
    return _as_sent(known_distributions[kind](**parameters), parameters)


def _as_sent(made: Made, fields: Mapping[str, Numbers]) -> Made:
    """Undo a second rounding: what was normalised when it was made is normalised again when it is read."""
    for name, sent in fields.items():
        values = getattr(made, name)
        if values.shape != sent.shape:
            continue
        if np.array_equal(values, sent) or np.allclose(values, sent, rtol=CLOSE, atol=CLOSE):
            exact = np.array(sent, dtype=np.float64)
            exact.setflags(write=False)
            object.__setattr__(made, name, exact)
    return made


Baselines = dict[str, float | None]


def baselines_by_loss(truths: Sequence[Truth], losses: Sequence[Loss]) -> Baselines:
    """What the best constant answer loses, summed over the targets; None where that is not defined."""
    found = {}
    for loss in losses:
        try:
            found[loss.code] = loss.baseline(truths)
        except ANY_FAULT as error:
            blame(f"loss {loss.code}", loss, error)
            raise
    return found


def baselines_by_target(truths: Sequence[Truth], codes: Sequence[str]) -> dict[str, tuple[float | None, ...]]:
    """The same for each target, as Test-set-stats has it: log probabilities for log loss."""
    return {code: tuple(_figure(parse_loss(code), truth) for truth in truths) for code in codes}


def _figure(loss: Loss, truth: Truth) -> float | None:
    try:
        found = loss.baseline_on(truth)
    except ANY_FAULT as error:
        blame(f"loss {loss.code}", loss, error)
        raise
    return -found if found is not None and loss.is_shift else found
