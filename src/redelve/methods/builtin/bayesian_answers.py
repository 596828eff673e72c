"""What sampled networks answer: mixtures over the networks, their means and medians; and what they tell."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from redelve.answers.answer import Answer
from redelve.answers.distributions import NormalMixture
from redelve.answers.predictions import Guesses
from redelve.methods.builtin.constant import constant_part
from redelve.methods.shown import TestInputs
from redelve.methods.views import SMALLEST_SHARE, View, ViewPart, answer_of
from redelve.model.dataset import Numbers
from redelve.nets import Architecture, Engine, predict
from redelve.nets.sampling import PosteriorSamples

LARGEST_RHAT = 1.2
"""Chains whose log noise has a larger split R̂ get a note in the record."""
FAR_APART = 3.0
"""So do chains whose typical noise differs from the median chain's by more than this factor."""
SLICES = 5
"""Normal distributions of equal weight that stand for a t distribution."""


@dataclass(frozen=True, eq=False)
class SampledLesson:
    """The networks sampled for one target of one training set."""

    network: Architecture
    position: int
    input_names: tuple[str, ...]
    samples: PosteriorSamples
    noise_df: float | None
    engine: Engine
    passes: int

    def outputs(self, inputs: Numbers) -> Numbers:
        """Networks × cases × outputs."""
        weights = self.samples.weights.reshape(-1, self.network.connection_count)
        return predict(self.network, weights, inputs, engine=self.engine).astype(np.float64)

    def part(self, view: View, inputs: Numbers) -> ViewPart:
        """Guesses, the means over networks; and for a number its predictive distribution."""
        outputs = self.outputs(inputs)
        guesses = view.decoded(self.position, outputs.mean(axis=0))
        if view.targets[self.position].kind not in ("real", "integer"):
            return ViewPart(guesses)
        location, scale = view.location_and_scale(self.position)
        least = SMALLEST_SHARE * float(view.columns(self.position).std())
        noise = np.maximum(self.samples.noise.ravel(), least) * scale
        return ViewPart(guesses, distribution=self._mixture(location + scale * outputs[:, :, 0].T, noise))

    def _mixture(self, locations: Numbers, noise: Numbers) -> NormalMixture:
        factors = np.ones(1) if self.noise_df is None else t_slices(self.noise_df)
        scales = np.outer(noise, factors).ravel()
        locations = np.repeat(locations, len(factors), axis=1)
        return NormalMixture(
            np.full(locations.shape, 1 / len(scales)), locations, np.broadcast_to(scales, locations.shape)
        )

    def relevances(self) -> dict[str, float]:
        """The posterior mean of the standard deviation of each input's weights, by its encoded column."""
        means = dict(zip(self.samples.groups, self.samples.widths.mean(axis=(0, 1)).tolist(), strict=True))
        shared = means.get("inputs to layer 1", np.nan)
        return {
            name: means.get(f"input {number} to layer 1", shared)
            for number, name in enumerate(self.input_names, start=1)
        }

    def told(self) -> dict[str, float | str]:
        """How sampling went; a note where chains have not met."""
        samples = self.samples
        rhat = samples.rhat()
        typical = np.exp(samples.trace().mean(axis=1))
        found: dict[str, float | str] = {
            "rhat": rhat,
            "effective": float(sum(samples.effective_sizes())),
            "noise": float(np.median(samples.noise)),
            "acceptance": float(samples.acceptance[:, 0].mean()),
            "passes": float(self.passes),
            "on": f"{self.engine.backend} {self.engine.dtype} {self.engine.device}",
        }
        ratios = typical / np.median(typical)
        notes = [f"split R̂ of the log noise is {rhat:.2f}"] if not rhat <= LARGEST_RHAT else []
        if len(typical) > 1 and (ratios.max() > FAR_APART or ratios.min() < 1 / FAR_APART):
            notes.append(f"the noise of chains is from {typical.min():.3g} to {typical.max():.3g}")
        if notes:
            found["note"] = f"chains have not converged: {'; '.join(notes)}"
        return found


def t_slices(df: float) -> Numbers:
    """Scales of normals that, mixed evenly, are about a t distribution: at midpoints of the precision's law.

    >>> t_slices(4.0).round(2).tolist()
    [1.94, 1.35, 1.09, 0.91, 0.72]
    """
    from scipy.special import gammaincinv

    levels = (np.arange(SLICES) + 0.5) / SLICES
    return np.asarray((gammaincinv(df / 2, levels) * 2 / df) ** -0.5)


@dataclass(frozen=True, eq=False)
class BayesianPredictor:
    """The sampled networks of a training set; where there was nothing to learn, a constant is answered."""

    view: View
    lessons: tuple[SampledLesson, ...]

    def predict(self, inputs: TestInputs) -> Answer:
        """The answer in the original domain: means as guesses, medians for absolute error."""
        shown: Numbers = self.view.test(inputs)
        shown = shown if shown.shape[1] else np.zeros((len(shown), 1))
        parts = {lesson.position: lesson.part(self.view, shown) for lesson in self.lessons}
        for position in set(range(len(self.view.targets))) - parts.keys():
            parts[position] = constant_part(self.view.training, position, len(inputs))
        answer = answer_of(self.view.targets, parts)
        if answer.distributions is None:
            return answer
        medians = tuple(each.median() for each in answer.distributions.distributions)
        return replace(answer, guesses_for={"A": Guesses(answer.targets, medians)})

    @cached_property
    def told(self) -> Mapping[str, float | str]:
        """How sampling of the first target went."""
        return self.lessons[0].told() if self.lessons else {}

    def relevances(self) -> dict[str, dict[str, float]]:
        """For each target the relevance of each input: the posterior mean of its weights' width."""
        return {self.view.targets[each.position].name: each.relevances() for each in self.lessons}
