"""mlp-rprop (as run, as printed), the mlp-bgd family and mlp-ese-1: methods made of the batched engine.

All instances of a task are trained as one batch (`learn_many`); what a training set teaches does not depend
on the others in the batch, to the bit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from redelve.answers.answer import Answer
from redelve.methods.builtin.constant import constant_part
from redelve.methods.builtin.early_stopping import (
    Graduate,
    NetworkEnsemble,
    Pupil,
    Recipe,
    ensemble_of,
    school,
)
from redelve.methods.builtin.network_lessons import NetworkLesson, lessons_of
from redelve.methods.builtin.network_recipes import (
    AS_PRINTED,
    BatchDescent,
    ConjugateGradients,
    ResilientPropagation,
)
from redelve.methods.contract import BatchMethod, BuiltIn
from redelve.methods.shown import TestInputs, TrainingSet
from redelve.methods.views import View, ViewPart, answer_of
from redelve.model.dataset import Numbers


@dataclass(frozen=True, eq=False)
class EngineMethod(BuiltIn, BatchMethod):
    """A method that trains networks by a recipe."""

    called: str  # type: ignore[misc]
    recipe: Recipe
    version: int = 1  # type: ignore[misc]

    def learn_many(
        self, trainings: Sequence[TrainingSet], rngs: Sequence[np.random.Generator]
    ) -> list[EnginePredictor]:
        """Train the networks of all training sets at once."""
        courses = [_course(self.recipe, *pair) for pair in zip(trainings, rngs, strict=True)]
        graduates = iter(school(self.recipe, [pupil for course in courses for pupil in course.pupils]))
        return [course.finished(self.recipe, [next(graduates) for _ in course.pupils]) for course in courses]


@dataclass(frozen=True, eq=False)
class _Course:
    """What is to be learnt of one training set: a list of networks for each lesson."""

    view: View
    lessons: tuple[NetworkLesson, ...]
    classes: tuple[list[Pupil], ...]

    @property
    def pupils(self) -> list[Pupil]:
        return [pupil for each in self.classes for pupil in each]

    def finished(self, recipe: Recipe, graduates: Sequence[Graduate]) -> EnginePredictor:
        ensembles, start = [], 0
        for lesson, pupils in zip(self.lessons, self.classes, strict=True):
            own = graduates[start : start + len(pupils)]
            ensembles.append(ensemble_of(recipe, lesson, pupils, own))
            start += len(pupils)
        return EnginePredictor(self.view, tuple(ensembles))


def _course(recipe: Recipe, training: TrainingSet, rng: np.random.Generator) -> _Course:
    view = View(training)
    lessons = lessons_of(view, together=recipe.together, centred=recipe.centred)
    inputs = _at_least_one_column(view.inputs)
    return _Course(
        view, tuple(lessons), tuple(recipe.pupils(training, inputs, lesson, rng) for lesson in lessons)
    )


def _at_least_one_column(inputs: Numbers) -> Numbers:
    return inputs if inputs.shape[1] else np.zeros((len(inputs), 1))


@dataclass(frozen=True, eq=False)
class EnginePredictor:
    """The ensembles of a training set; where there was nothing to learn, a constant is answered."""

    view: View
    ensembles: tuple[NetworkEnsemble, ...]

    @property
    def iterations(self) -> tuple[tuple[int, ...], ...]:
        """For each ensemble the iterations (or epochs) whose networks were chosen."""
        return tuple(ensemble.iterations for ensemble in self.ensembles)

    def predict(self, inputs: TestInputs) -> Answer:
        """The answer in the original domain."""
        shown = _at_least_one_column(self.view.test(inputs))
        parts: dict[int, ViewPart] = {}
        for ensemble in self.ensembles:
            parts.update(ensemble.reading.parts(ensemble.outputs(shown)))
        for position in set(range(len(self.view.targets))) - parts.keys():
            parts[position] = constant_part(self.view.training, position, len(inputs))
        return answer_of(self.view.targets, parts)


MLP_RPROP = EngineMethod("mlp-rprop", ResilientPropagation(), version=2)
"""Version 1 was what is now mlp-rprop-printed."""
MLP_RPROP_PRINTED = EngineMethod("mlp-rprop-printed", AS_PRINTED)
MLP_BGD_1 = EngineMethod("mlp-bgd-1", BatchDescent())
MLP_BGD_2 = EngineMethod("mlp-bgd-2", BatchDescent(relevance="gradients"))
MLP_BGD_3 = EngineMethod("mlp-bgd-3", BatchDescent(relevance="correlations"))
MLP_BGD_2B = EngineMethod("mlp-bgd-2b", BatchDescent(relevance="gradients", networks=1))
MLP_ESE_1 = EngineMethod("mlp-ese-1", ConjugateGradients())
