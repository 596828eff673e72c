"""Early stopping for inspect_ai: models that are shown not to be the best answer no more samples.

By inspect_ai's protocol `EarlyStopping` (its issue 2879): one stopper for each model, all with the same race.
inspect_ai is imported only when a sample is to be stopped.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import replace
from typing import Any

from redelve.errors import OptionalPackageError, SpecError
from redelve.findings.elimination import (
    BATCH,
    LEVEL,
    Call,
    QuestionPool,
    QuestionRace,
    QuestionRules,
    as_far_as,
)
from redelve.registry import value_told


class InspectRace:
    """A race of models that inspect_ai evaluates on the same task: give each a stopper of it.

    Parameters
    ----------
    models
        The names of all models that take part, as inspect_ai has them.
    margin
        The difference in score that does not matter; without one, equal models are not stopped.
    level, batch, last_look
        As for `redelve.findings.question_race.race`.
    scorer
        Whose scores count, where a task has several scorers.
    group
        The name of a sample's metadata that tells which samples belong together.

    Notes
    -----
    Samples must come in a random order (`Dataset.shuffle` with a seed, the same for all models): the race
    takes them in the order of the task. A sample with several epochs counts when all are done, with their
    mean. Models that run at the same time (`max_tasks`) save most.

    Examples
    --------
    >>> race = InspectRace(["openai/gpt-4o", "openai/gpt-4o-mini"], margin=0.02)
    >>> stopper = race.stopper("openai/gpt-4o")  # Task(..., early_stopping=stopper)
    """

    def __init__(  # noqa: PLR0913  (options of a public class are explicit)
        self,
        models: Iterable[str],
        *,
        margin: float | None = None,
        level: float = LEVEL,
        batch: int = BATCH,
        last_look: bool = True,
        scorer: str | None = None,
        group: str | None = None,
    ) -> None:
        self.models = tuple(models)
        self.options = (margin, level, batch)
        self.last_look, self.scorer, self.group = last_look, scorer, group
        self.race: QuestionRace | None = None
        self.epochs = 1
        self._samples: tuple[Hashable, ...] = ()
        self._answers: dict[Call, dict[int, float]] = {}
        self._scores: dict[Call, float] = {}

    def stopper(self, model: str | None = None) -> InspectStopper:
        """What `Task(early_stopping=…)` takes, for one model; by default that which the task is run with."""
        if model is not None and model not in self.models:
            raise SpecError(f'"{model}" does not take part in the race: {", ".join(self.models)} do')
        return InspectStopper(self, model)

    def begin(self, samples: Mapping[Hashable, Hashable], epochs: int) -> None:
        """Declare the samples, in order, and the group of each: the same for all models."""
        names = tuple(samples)
        if self.race is not None:
            if names != self._samples or epochs != self.epochs:
                raise SpecError(
                    "the models of a race must answer the same samples in the same order: shuffle with the "
                    "same seed, and give the same limit and epochs"
                )
            return
        units: dict[Hashable, list[Hashable]] = {}
        for name, unit in samples.items():
            units.setdefault(unit, []).append(name)
        pool = QuestionPool.of_units([tuple(unit) for unit in units.values()])
        rules = QuestionRules(self.models, pool, *self.options, self.last_look and pool.are_equal)
        self.race, self._samples, self.epochs = QuestionRace.start(rules), names, epochs

    def answered(self, model: str, sample: Hashable, epoch: int, score: float) -> None:
        """Take a score, and look as far as the answers of all go."""
        assert self.race is not None
        if not 0.0 <= score <= 1.0:
            raise SpecError(
                f"{model} has score {score:g} on sample {value_told(sample)}: a race takes scores from 0 to 1"
            )
        epochs = self._answers.setdefault((model, sample), {})
        epochs[epoch] = score
        if len(epochs) == self.epochs:
            self._scores[model, sample] = sum(epochs.values()) / self.epochs
            self.race = as_far_as(self.race, self._scores)

    def why_stop(self, model: str) -> str | None:
        """Why a model need not answer more samples; None where it must."""
        if self.race is None:
            return None
        if model in self.race.dropped_after:
            return f"{model} was shown not to be the best after {self.race.dropped_after[model]} samples"
        return f"the race is settled: {self.race.verdict}" if self.race.verdict != "open" else None

    def result(self) -> QuestionRace:
        """The race as far as it went; its notes tell what it lacks."""
        if self.race is None:
            raise SpecError("no task of the race has begun")
        return replace(self.race, missing=tuple(c for c in self.race.next_batch() if c not in self._scores))


class InspectStopper:
    """Stops the samples of one model; it follows inspect_ai's protocol `EarlyStopping`."""

    def __init__(self, race: InspectRace, model: str | None = None) -> None:
        self.race, self.model = race, model
        self.stopped, self.has_begun = 0, False

    async def start_task(self, task: Any, samples: list[Any], epochs: int) -> str:
        """Declare the samples of the task."""
        if self.has_begun:
            raise SpecError(
                "one stopper serves one model: make a task, with a stopper of its own, for each model"
            )
        self.has_begun, self.model = True, self.model or str(task.model)
        if self.model not in self.race.models:
            raise SpecError(
                f'"{self.model}" does not take part in the race: {", ".join(self.race.models)} do'
            )
        group = self.race.group
        self.race.begin(
            {one.id: one.id if group is None else (one.metadata or {})[group] for one in samples}, epochs
        )
        return "redelve race"

    async def schedule_sample(self, id: str | int, epoch: int) -> Any:
        """A stop where the model is out, or the race is settled."""
        reason = self.race.why_stop(self._name)
        if reason is None:
            return None
        self.stopped += 1
        return _early_stop()(id=id, epoch=epoch, reason=reason)

    async def complete_sample(self, id: str | int, epoch: int, scores: dict[str, Any]) -> None:
        """Take the score of a sample."""
        self.race.answered(self._name, id, epoch, self._chosen(scores))

    async def complete_task(self) -> dict[str, Any]:
        """What the log is to keep of the race."""
        found = self.race.result()
        return {
            "verdict": found.verdict,
            "left": list(found.left),
            "dropped": dict(found.dropped_after),
            "samples_stopped": self.stopped,
            "words": str(found),
        }

    @property
    def _name(self) -> str:
        assert self.model is not None
        return self.model

    def _chosen(self, scores: dict[str, Any]) -> float:
        """The score that counts, as a number."""
        name = self.race.scorer
        if name is None and len(scores) != 1:
            raise SpecError(f"the task has scorers {', '.join(scores)}: say which one counts, scorer=…")
        if name is not None and name not in scores:
            raise SpecError(f'the task has no scorer "{name}": it has {", ".join(scores)}')
        one = scores[name] if name is not None else next(iter(scores.values()))
        return _number(one.score.value)


def _number(value: Any) -> float:
    """A score of inspect_ai as a number: C, P, I and N are correct, partial, incorrect and no answer."""
    letters = {"C": 1.0, "P": 0.5, "I": 0.0, "N": 0.0}
    if isinstance(value, str) and value in letters:
        return letters[value]
    try:
        return float(value)
    except (TypeError, ValueError):
        raise SpecError(f"a race needs a score that is one number, not {value_told(value)}") from None


def _early_stop() -> Any:
    try:
        from inspect_ai.util import EarlyStop
    except ImportError:
        raise OptionalPackageError("inspect_ai is not installed: pip install inspect-ai") from None
    return EarlyStop
