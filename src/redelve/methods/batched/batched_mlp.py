"""Scikit-learn estimators whose networks the batched engine trains."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from numbers import Integral
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from redelve.methods.batched.company import trained_alone_or_together
from redelve.methods.batched.members import MemberData, MemberSettings, NetworkMember, TrainedMember
from redelve.methods.batched.mlp_parts import Standardised, check_parameters, split_off, with_weight
from redelve.model.dataset import Numbers
from redelve.nets import CrossEntropy, Engine, SquaredOutputError, layered, predict
from redelve.nets.error_functions import ErrorFunction

AUTO_BATCH = 200
LARGEST_SEED = 2**63 - 1
WITH_RATES = ("sgd", "adam")
"""Solvers that have a rate, and mini-batches."""


class BatchedMLP(BaseEstimator):  # type: ignore[misc, unused-ignore]
    """What the regressor and the classifier share."""

    trains_together = True
    """Says that `redelve` may train many of them as one batch."""

    def __init__(  # noqa: PLR0913  (options of a public class are explicit)
        self,
        hidden_layer_sizes: int | Sequence[int] = (32,),
        *,
        activation: str = "tanh",
        solver: str = "rprop",
        alpha: float = 1e-4,
        batch_size: int | str | None = "auto",
        learning_rate_init: float = 0.001,
        momentum: float = 0.9,
        max_iter: int = 500,
        early_stopping: bool = True,
        validation_fraction: float = 0.2,
        n_iter_no_change: int = 30,
        measure_every: int = 5,
        n_networks: int = 1,
        shortcuts: bool = False,
        standardize: bool = True,
        dtype: str = "float32",
        backend: str = "numpy",
        device: str = "cpu",
        random_state: Any = None,
    ) -> None:
        self.hidden_layer_sizes = hidden_layer_sizes
        self.activation = activation
        self.solver = solver
        self.alpha = alpha
        self.batch_size = batch_size
        self.learning_rate_init = learning_rate_init
        self.momentum = momentum
        self.max_iter = max_iter
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.measure_every = measure_every
        self.n_networks = n_networks
        self.shortcuts = shortcuts
        self.standardize = standardize
        self.dtype, self.backend, self.device = dtype, backend, device
        self.random_state = random_state

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Train the networks.

        Parameters
        ----------
        X
            Inputs, cases × columns of numbers.
        y
            What is to be predicted.
        sample_weight
            How much each case counts in training, in stopping and in standardising. A case of weight 0 counts
            as if it were not there.

        Returns
        -------
        self
        """
        check_parameters(self)
        table, aims = validate_data(
            self, X, y, dtype=np.float64, multi_output=self._many_targets, y_numeric=self._many_targets
        )
        weights = None
        if sample_weight is not None:
            weights = _check_sample_weight(sample_weight, table, dtype=np.float64)
            heavy = with_weight(weights)
            table, aims, weights = table[heavy], aims[heavy], weights[heavy]
        targets = self._targets_of(aims, weights)
        self._inputs = Standardised.of(table, weights, self.standardize)
        members = self._members(MemberData(self._inputs.apply(table), targets, weights))
        self._receive(members, trained_alone_or_together(members))
        return self

    _many_targets = False

    @abstractmethod
    def _targets_of(self, y: NDArray[Any], weights: Numbers | None) -> Numbers:
        """Targets for the networks' outputs."""

    @property
    @abstractmethod
    def _last(self) -> tuple[str, ErrorFunction]:
        """The outputs' activation, and the error."""

    @abstractmethod
    def _strata(self, targets: Numbers) -> NDArray[np.intp] | None:
        """Classes that validation cases should have in the shares of all cases."""

    def _members(self, data: MemberData) -> list[NetworkMember]:
        """The networks of the ensemble, each with validation cases of its own."""
        random = check_random_state(self.random_state)
        seeds = random.randint(LARGEST_SEED, size=self.n_networks, dtype=np.int64).tolist()
        watched = round(self.validation_fraction * len(data.inputs)) if self.early_stopping else 0
        settings = self._settings(data, stops=watched > 0)
        strata = self._strata(data.targets)
        found = []
        for seed in seeds:
            training, validation = data, None
            if watched:
                training, validation = split_off(data, watched, strata, np.random.default_rng(seed))
            found.append(
                NetworkMember(
                    settings,
                    training,
                    validation,
                    seed,
                    decay=float(self.alpha),
                    rate=float(self.learning_rate_init),
                    momentum=float(self.momentum),
                )
            )
        return found

    def _settings(self, data: MemberData, *, stops: bool) -> MemberSettings:
        hidden = self.hidden_layer_sizes
        sizes = (hidden,) if isinstance(hidden, int | Integral) else tuple(hidden)
        output, error = self._last
        layers = (data.inputs.shape[1], *(int(size) for size in sizes), data.targets.shape[1])
        batch = AUTO_BATCH if self.batch_size == "auto" else self.batch_size
        return MemberSettings(
            layered(layers, self.activation, output, shortcuts=self.shortcuts),
            error,
            self.solver,
            int(batch) if batch is not None and self.solver in WITH_RATES else None,
            int(self.max_iter),
            int(self.n_iter_no_change) if stops else None,
            int(self.measure_every),
            Engine(self.backend, self.dtype, self.device),
        )

    def _receive(self, members: Sequence[NetworkMember], made: Sequence[TrainedMember]) -> None:
        self.architecture_ = members[0].settings.architecture
        self.weights_ = np.array([one.weights for one in made])
        self.epochs_ = np.array([one.epochs for one in made])
        self.validation_errors_ = np.array([one.validation_error for one in made])
        self.n_iter_ = int(self.epochs_.max())
        if np.isinf(self.validation_errors_).any() or not np.isfinite(self.weights_).all():
            raise ValueError(
                f"training diverged with solver={self.solver!r}, "
                f"learning_rate_init={self.learning_rate_init}: give a smaller rate, or solver='rprop'"
            )

    def _outputs(self, X: ArrayLike) -> Numbers:
        """The mean output of the networks, a row for each case."""
        check_is_fitted(self)
        table = validate_data(self, X, dtype=np.float64, reset=False)
        shown = self._inputs.apply(table)
        every = predict(self.architecture_, self.weights_, shown, engine=Engine(threads=1))
        return np.asarray(every.mean(axis=0))


class BatchedMLPRegressor(RegressorMixin, BatchedMLP):  # type: ignore[misc, unused-ignore]
    """Neural networks for numbers, stopped early, trained as one batch.

    Parameters
    ----------
    hidden_layer_sizes
        Units of each hidden layer.
    activation
        Of hidden units: ``"tanh"``, ``"relu"``, ``"logistic"``, ``"softsign"`` or ``"identity"``.
    solver
        ``"rprop"`` (iRPROP-, which needs no rate), ``"adam"``, ``"sgd"`` (with momentum) or ``"scg"`` (scaled
        conjugate gradients).
    alpha
        Weight decay: ½ alpha Σ weight² is added to the sum of errors over cases. Biases are left alone.
    batch_size
        Cases of each step of adam and sgd; ``"auto"`` is 200, None all cases. The other solvers have all.
    learning_rate_init
        The rate of adam and sgd.
    momentum
        That of sgd.
    max_iter
        The most epochs.
    early_stopping
        Whether each network has validation cases of its own and keeps the weights that did best on them.
        Without it, it learns from all cases for `max_iter` epochs.
    validation_fraction
        The share of validation cases.
    n_iter_no_change
        Training stops when the lowest validation error is this many epochs old.
    measure_every
        Epochs from one look at validation cases to the next.
    n_networks
        Networks of the ensemble, from other first weights and with other validation cases; the prediction is
        their mean.
    shortcuts
        Whether each layer is connected to all later ones.
    standardize
        Whether inputs and targets are brought to mean 0 and standard deviation 1 for training.
    dtype
        The precision of training, ``"float32"`` or ``"float64"``; predictions are computed in float64.
    backend, device
        ``"numpy"``, or ``"torch"`` on ``"cpu"`` or ``"cuda"``.
    random_state
        Seed of first weights and validation cases. Mini-batches are dealt the same way to all.

    Attributes
    ----------
    weights_
        Networks × connections, in the order of docs/nets.md.
    architecture_
        The networks' layers.
    epochs_, n_iter_
        How long each network was trained, and the longest of them.
    validation_errors_
        The lowest validation error of each network, of standardised targets, in percent.
    n_features_in_, feature_names_in_
        Columns of the inputs.

    Notes
    -----
    The fits of many such estimators can be trained as one batch: by `BatchedSearchCV`, by `redelve.assess`,
    and by `trained_together` for your own loops. A fit's result is the same in any company.

    Examples
    --------
    >>> import numpy as np
    >>> from redelve.methods.batched import BatchedMLPRegressor
    >>> random = np.random.default_rng(0)
    >>> x = random.normal(size=(300, 3))
    >>> y = np.sin(2 * x[:, 0]) + x[:, 1] * x[:, 2]
    >>> networks = BatchedMLPRegressor(n_networks=5, random_state=0).fit(x[:200], y[:200])
    >>> networks.score(x[200:], y[200:]) > 0.7
    True
    """

    _many_targets = True
    _last = ("identity", SquaredOutputError())

    def predict(self, X: ArrayLike) -> Numbers:
        """The mean of the networks' predictions: a number for each case, a row if there are many targets."""
        outputs = self._outputs(X)
        outputs = self._targets.undo(outputs)
        return outputs[:, 0] if self._one_target else outputs

    def _targets_of(self, y: NDArray[Any], weights: Numbers | None) -> Numbers:
        self._one_target = y.ndim == 1
        table = np.asarray(y, dtype=np.float64).reshape(len(y), -1)
        self._targets = Standardised.of(table, weights, self.standardize)
        return self._targets.apply(table)

    def _strata(self, targets: Numbers) -> None:
        return None

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags


class BatchedMLPClassifier(ClassifierMixin, BatchedMLP):  # type: ignore[misc, unused-ignore]
    """Neural networks for classes, stopped early, trained as one batch.

    Outputs are softmax, the error is cross-entropy, validation cases have the classes' shares. Parameters and
    attributes are those of `BatchedMLPRegressor`; `classes_` has the classes in order.

    Examples
    --------
    >>> import numpy as np
    >>> from redelve.methods.batched import BatchedMLPClassifier
    >>> random = np.random.default_rng(0)
    >>> x = random.normal(size=(300, 2))
    >>> y = np.where(x[:, 0] * x[:, 1] > 0, "same", "other")
    >>> networks = BatchedMLPClassifier(n_networks=5, random_state=0).fit(x[:200], y[:200])
    >>> networks.score(x[200:], y[200:]) > 0.9
    True
    >>> networks.predict_proba(x[200:]).shape
    (100, 2)
    """

    _last = ("softmax", CrossEntropy())

    def predict_proba(self, X: ArrayLike) -> Numbers:
        """The mean of the networks' probabilities, a column for each of `classes_`."""
        return self._outputs(X)

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """The most probable class of each case."""
        codes = self._outputs(X).argmax(axis=1)
        return np.asarray(self.classes_[codes])

    def _targets_of(self, y: NDArray[Any], weights: Numbers | None) -> Numbers:
        check_classification_targets(y)
        self.classes_, codes = np.unique(y, return_inverse=True)
        return np.eye(len(self.classes_))[codes]

    def _strata(self, targets: Numbers) -> NDArray[np.intp]:
        return np.asarray(targets.argmax(axis=1))
