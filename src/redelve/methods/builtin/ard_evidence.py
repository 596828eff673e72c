"""The evidence of Gaussian processes with relevance determination, of many training sets at once.

The covariance of two cases is v exp(-½ Σ w_i (x_i - x'_i)²) + a0 + a1 Σ x_i x'_i, and the noise's variance is
added for a case with itself (Rasmussen 1996, Williams and Rasmussen 1996, equation 9). Its logs come in the
order signal v, constant a0, slope a1, noise, and the relevances w_i.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from redelve.model.dataset import Numbers
from redelve.nets import Engine
from redelve.nets.backend import Array

PARTS = 4
"""How many parameters come before the relevances."""
JITTER = 1e-8


@dataclass(frozen=True, eq=False)
class VaguePriors:
    """The logs of signal, constant, slope and noise are normal; a relevance w is exponential.

    The density is that of these logs and of w itself: an input may lose its relevance at no cost.
    """

    means: Numbers
    deviations: Numbers
    mean_relevance: float

    def cost(self, logs: Numbers) -> tuple[Numbers, Numbers]:
        """Minus the log density but for a constant, and its slope in the logs."""
        away = (logs[:, :PARTS] - self.means) / self.deviations
        relevances = np.exp(logs[:, PARTS:]) / self.mean_relevance
        value = 0.5 * (away**2).sum(axis=1) + relevances.sum(axis=1)
        return value, np.concatenate([away / self.deviations, relevances], axis=1)


@dataclass(frozen=True, eq=False)
class ProcessLessons:
    """Training sets with as many cases and inputs each: inputs by member, case and column, and targets."""

    inputs: Numbers
    targets: Numbers
    engine: Engine = field(default_factory=Engine)

    @cached_property
    def _shown(self) -> tuple[Array, Array, Array]:
        """Inputs, their inner products and targets, where the engine works."""
        inputs = self.engine.array(self.inputs)
        return inputs, inputs @ inputs.swapaxes(-1, -2), self.engine.array(self.targets)

    def evidence(self, logs: Numbers, rows: Any) -> tuple[Numbers, Numbers]:
        """Minus the log evidence of some members at these logs, and its slope (R&W 2006, 5.8 and 5.9).

        NumPy takes one member after the other: as fast, since a member's matrices stay in the caches, and
        the order of its sums does not depend on the others.
        """
        if not self.engine.is_numpy:
            return self._together(logs, np.asarray(rows))
        made = [self._together(own[None], np.array([row])) for own, row in zip(logs, rows, strict=True)]
        return np.concatenate([value for value, _ in made]), np.concatenate([slope for _, slope in made])

    def _together(self, logs: Numbers, rows: Any) -> tuple[Numbers, Numbers]:
        engine, place = self.engine, self.engine.positions(rows)
        inputs, products, targets = (one[place] for one in self._shown)
        at = _Covariance(engine, engine.array(np.exp(logs)), inputs, products)
        inverse, halves, is_sound = inverted(engine, at.whole)
        weights = (inverse @ targets[..., None])[..., 0]
        values = 0.5 * (targets * weights).sum(-1) + halves + 0.5 * targets.shape[1] * np.log(2 * np.pi)
        slopes = at.slope(inverse - weights[..., None] * weights[:, None, :])
        found = np.where(is_sound, engine.numpy(values), np.inf)
        return found, np.where(is_sound[:, None], engine.numpy(slopes), 0.0)


@dataclass(frozen=True, eq=False)
class _Covariance:
    """The parts of covariance matrices, a member each."""

    engine: Engine
    parameters: Array
    inputs: Array
    products: Array

    @cached_property
    def curved(self) -> Array:
        """What the squared exponential adds."""
        scaled = self.inputs * self.engine.xp.sqrt(self.parameters[:, None, PARTS:])
        squares = (scaled * scaled).sum(-1)
        inner = scaled @ scaled.swapaxes(-1, -2)
        inner -= 0.5 * squares[:, :, None]
        inner -= 0.5 * squares[:, None, :]
        self.engine.clamp(inner, None, 0.0)
        return self.parameters[:, :1, None] * self.engine.xp.exp(inner)

    @cached_property
    def whole(self) -> Array:
        """The covariance of the noisy targets."""
        made = self.parameters[:, 2, None, None] * self.products
        made += self.curved
        made += self.parameters[:, 1, None, None]
        cases = np.arange(made.shape[1])
        made[:, cases, cases] += self.parameters[:, 3, None] + JITTER
        return made

    def slope(self, slack: Array) -> Array:
        """Half the trace of `slack` times the derivatives of the covariance, by parameters."""
        pairs = slack * self.curved
        sums = pairs.sum(-1)
        by_input = (sums[:, None, :] @ self.inputs**2)[:, 0] - (self.inputs * (pairs @ self.inputs)).sum(1)
        cases = np.arange(slack.shape[1])
        parts = [sums.sum(-1), slack.sum((-2, -1)), (slack * self.products).sum((-2, -1))]
        parts.append(slack[:, cases, cases].sum(-1))
        made = self.engine.zeros(tuple(self.parameters.shape))
        for place, part in enumerate(parts):
            made[:, place] = part
        made[:, 1:PARTS] *= self.parameters[:, 1:PARTS]
        made[:, PARTS:] = -self.parameters[:, PARTS:] * by_input
        return 0.5 * made


def inverted(engine: Engine, covariances: Array) -> tuple[Array, Array, Numbers]:
    """Inverses, half the log determinants, and which matrices are positive definite."""
    if not engine.is_numpy:
        factors, problems = engine.xp.linalg.cholesky_ex(covariances)
        whole = engine.array(np.eye(covariances.shape[-1])).expand(covariances.shape)
        roots = engine.xp.linalg.solve_triangular(factors, whole, upper=False)
        inverses = roots.swapaxes(-1, -2) @ roots  # all at once; cholesky_inverse takes one after the other
        halves = engine.xp.log(factors.diagonal(dim1=-2, dim2=-1)).sum(-1)
        return inverses, halves, (problems == 0).cpu().numpy()
    return _inverted_one_by_one(covariances)


def _inverted_one_by_one(covariances: Numbers) -> tuple[Numbers, Numbers, Numbers]:
    """The same by LAPACK: half the work of a general inverse, which is what NumPy has for stacks."""
    from scipy.linalg.lapack import dpotrf, dpotri

    found, halves = np.zeros_like(covariances), np.zeros(len(covariances))
    is_sound = np.zeros(len(covariances), dtype=bool)
    for place, covariance in enumerate(covariances):
        factor, problem = dpotrf(covariance.T, lower=1)
        if problem:
            continue
        halves[place] = np.log(factor.diagonal()).sum()
        half, problem = dpotri(factor, lower=1)
        lower = np.tril(half, -1)
        found[place] = lower + lower.T
        np.fill_diagonal(found[place], half.diagonal())
        is_sound[place] = not problem
    return found, halves, is_sound
