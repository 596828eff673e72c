"""Networks sampled from their posterior, as a scikit-learn estimator."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from redelve.methods.batched.mlp_parts import Standardised, demand, is_number, is_whole
from redelve.model.dataset import Numbers
from redelve.nets import Data, Engine, layered, predict
from redelve.nets.sampling import NetworkPrior, PosteriorSamples, SamplingPlan, ScalePrior, sample

LARGEST_SEED = 2**63 - 1
LEAST_PASSES = 100


class BayesianMLPRegressor(RegressorMixin, BaseEstimator):  # type: ignore[misc, unused-ignore]
    """Bayesian neural networks for a number: the mean over networks sampled from their posterior.

    Parameters
    ----------
    hidden_units
        Tanh units of the one hidden layer.
    n_chains
        Markov chains, sampled as one batch.
    passes
        Passes over the training cases that a chain may take. A third of a chain is discarded.
    n_kept
        Networks kept of each chain.
    relevance
        Whether each input's weights have a standard deviation of their own (automatic relevance
        determination), so that inputs which say nothing are left out.
    noise_df
        Degrees of freedom of t-distributed noise; None: normal noise.
    shortcuts
        Whether inputs are connected to the output directly, too.
    dtype, backend, device
        On what to compute, as in `BatchedMLPRegressor`.
    random_state
        Seed of the chains.

    Attributes
    ----------
    weights_
        Networks of all chains × connections.
    noise_
        The standard deviation of the noise that belongs to each network, in the target's units.
    relevances_
        For each input the posterior mean of its weights' standard deviation, inputs being standardised.
    rhat_
        Split R̂ of the log noise over the chains; well above 1.1 they have not met: give more `passes`.

    Notes
    -----
    Hamiltonian Monte Carlo with Gibbs updates of hyperparameters (Neal 1996), scale moves and exchanges of
    inputs: the recipe of the built-in method mlp-mc-6 (docs/nets.md).

    Examples
    --------
    >>> import numpy as np
    >>> from redelve.methods.batched import BayesianMLPRegressor
    >>> random = np.random.default_rng(0)
    >>> x = random.normal(size=(60, 3))
    >>> y = np.sin(2 * x[:, 0]) + 0.1 * random.normal(size=60)
    >>> model = BayesianMLPRegressor(8, n_chains=2, passes=3000, random_state=0).fit(x, y)
    >>> int(model.relevances_.argmax())
    0
    >>> mean, deviation = model.predict(x, return_std=True)
    >>> bool((deviation > 0).all())
    True
    """

    def __init__(  # noqa: PLR0913  (options of a public class are explicit)
        self,
        hidden_units: int = 25,
        *,
        n_chains: int = 4,
        passes: int = 20_000,
        n_kept: int = 30,
        relevance: bool = True,
        noise_df: float | None = None,
        shortcuts: bool = False,
        dtype: str = "float32",
        backend: str = "numpy",
        device: str = "cpu",
        random_state: Any = None,
    ) -> None:
        self.hidden_units = hidden_units
        self.n_chains = n_chains
        self.passes = passes
        self.n_kept = n_kept
        self.relevance = relevance
        self.noise_df = noise_df
        self.shortcuts = shortcuts
        self.dtype = dtype
        self.backend = backend
        self.device = device
        self.random_state = random_state

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Sample networks given the cases.

        Parameters
        ----------
        X
            Inputs, cases × columns of numbers.
        y
            A number for each case.

        Returns
        -------
        self
        """
        self._check_parameters()
        table, aims = validate_data(self, X, y, dtype=np.float64, y_numeric=True)
        self._inputs = Standardised.of(table, None, True)
        self._target = Standardised.of(aims.astype(np.float64)[:, None], None, True)
        random = check_random_state(self.random_state)
        seeds = random.randint(LARGEST_SEED, size=self.n_chains, dtype=np.int64).tolist()
        data = Data(self._inputs.apply(table), self._target.apply(aims[:, None]))
        sizes = (table.shape[1], int(self.hidden_units), 1)
        self.architecture_ = layered(sizes, "tanh", "identity", shortcuts=self.shortcuts)
        engine = Engine(self.backend, self.dtype, self.device)
        made = sample(self.architecture_, data, self._prior(), self._plan(), seeds=seeds, engine=engine)
        self._receive(made)
        return self

    def predict(self, X: ArrayLike, return_std: bool = False) -> Any:
        """The mean over networks; with `return_std` the predictive standard deviation, noise included, too.

        Parameters
        ----------
        X
            Inputs.
        return_std
            Whether to return standard deviations as well.

        Returns
        -------
        numpy.ndarray, or a pair of them
        """
        check_is_fitted(self)
        table = self._inputs.apply(validate_data(self, X, dtype=np.float64, reset=False))
        outputs = predict(self.architecture_, self.weights_, table, engine=Engine(threads=1))[:, :, 0]
        outputs = self._target.undo(outputs)
        if not return_std:
            return outputs.mean(axis=0)
        heavier = 1.0 if self.noise_df is None else self.noise_df / (self.noise_df - 2.0)
        return outputs.mean(axis=0), np.sqrt(outputs.var(axis=0) + heavier * (self.noise_**2).mean())

    def _prior(self) -> NetworkPrior:
        return NetworkPrior(
            noise=ScalePrior(0.3, 2.0), relevance=1.0 if self.relevance else None, noise_df=self.noise_df
        )

    def _plan(self) -> SamplingPlan:
        return SamplingPlan(
            passes=int(self.passes), steps=25, scale_steps=8, exchanges=8, kept=int(self.n_kept)
        )

    def _receive(self, made: PosteriorSamples) -> None:
        self.weights_: Numbers = np.array(
            made.weights.reshape(-1, self.architecture_.connection_count), dtype=np.float64
        )
        self.noise_ = np.asarray(made.noise.ravel() * self._target.scale[0], dtype=np.float64)
        self.rhat_ = float(made.rhat())
        means = dict(zip(made.groups, made.widths.mean(axis=(0, 1)).tolist(), strict=True))
        shared = means.get("inputs to layer 1", np.nan)
        names = [f"input {number} to layer 1" for number in range(1, self.n_features_in_ + 1)]
        self.relevances_ = np.array([means.get(name, shared) for name in names])

    def _check_parameters(self) -> None:
        for name in ("hidden_units", "n_chains", "n_kept"):
            demand(self, name, "a whole number, 1 or more", is_whole(getattr(self, name), 1))
        demand(self, "passes", f"{LEAST_PASSES} or more", is_whole(self.passes, LEAST_PASSES))
        df = self.noise_df
        demand(self, "noise_df", "a number above 2, or None", df is None or is_number(df, 2.000001, np.inf))
