"""standardize, normalize, shift_n_scale, pc_extract and subsample."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp
from sklearn.decomposition import PCA
from sklearn.preprocessing import Normalizer, StandardScaler
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_consistent_length, column_or_1d, validate_data

from redelve.methods.clop.forest import LARGEST_SEED
from redelve.methods.clop.hyperparameters import (
    FLAG,
    RANDOM_STATE,
    Hyperparameter,
    UnsuitedError,
    check_hyperparameters,
    choice,
    number,
    several,
    whole,
)
from redelve.methods.clop.objects import Codes, Preprocessor
from redelve.model.dataset import Numbers

COVARIANCE_LIMIT = 2000
"""Components of a sparse table come from the covariances of up to so many features, else by Lanczos."""


class Standardizer(Preprocessor):
    """standardize: features divided by their standard deviation, dense ones centred before.

    Centring would fill a sparse table: with `center="auto"` such a table is scaled only, with `center=True`
    it is refused. `centred_` tells what was done; scikit-learn's StandardScaler does it.
    """

    called = "standardize"
    hyperparameters = (
        Hyperparameter(
            "center", choice(False, True, "auto"), "subtract the mean first; auto: of dense tables only"
        ),
    )

    def __init__(self, *, center: bool | Literal["auto"] = "auto") -> None:
        self.center = center

    def fit(self, X: Any, y: Any = None) -> Standardizer:
        """Measure means and deviations."""
        check_hyperparameters(self)
        X = validate_data(self, X, accept_sparse="csr", dtype=np.float64)
        self.centred_ = not sp.issparse(X) if self.center == "auto" else bool(self.center)
        self._refuse_to_fill(X)
        self.scaler_ = StandardScaler(with_mean=self.centred_).fit(X)
        return self

    def transform(self, X: Any) -> Any:
        """Scale, and centre if the training data were."""
        X = self._accept_inputs(X)
        self._refuse_to_fill(X)
        return self.scaler_.transform(X)

    def _refuse_to_fill(self, X: Any) -> None:
        if self.centred_ and sp.issparse(X):
            raise UnsuitedError(
                f"standardize: centring a sparse table of shape {X.shape} would fill it: give "
                'center=False or center="auto" and train on sparse data, or give dense data'
            )


class PatternNormalizer(Preprocessor):
    """normalize: every pattern divided by its Euclidean norm, its own mean subtracted first if asked for."""

    called = "normalize"
    hyperparameters = (
        Hyperparameter("center", FLAG, "subtract the mean of the pattern first; dense tables only"),
    )

    def __init__(self, *, center: bool = False) -> None:
        self.center = center

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.requires_fit = False
        return tags

    def fit(self, X: Any, y: Any = None) -> PatternNormalizer:
        """Nothing to learn; only what the data look like is noted."""
        check_hyperparameters(self)
        validate_data(self, X, accept_sparse="csr", dtype=np.float64)
        return self

    def transform(self, X: Any) -> Any:
        """Normalise; patterns of zeros stay so."""
        known = hasattr(self, "n_features_in_")
        X = validate_data(self, X, accept_sparse="csr", dtype=np.float64, reset=not known)
        if self.center:
            if sp.issparse(X):
                raise UnsuitedError(
                    f"normalize: centring the patterns of a sparse table of shape {X.shape} would fill it: "
                    "give center=False, or dense data"
                )
            X = X - X.mean(axis=1, keepdims=True)
        return Normalizer().transform(X)


class ShifterAndScaler(Preprocessor):
    """shift_n_scale: x ← (x - offset) / factor for the whole table, then x ← log(1 + x) if asked for.

    What is not given is learnt: the smallest number of the table, and the largest after the shift.
    """

    called = "shift_n_scale"
    hyperparameters = (
        Hyperparameter("offset", number().or_none("the smallest number"), "subtracted from all numbers"),
        Hyperparameter(
            "factor", number(above=0).or_none("the largest number"), "all numbers are divided by it"
        ),
        Hyperparameter("take_log", FLAG, "take log(1 + x) of the result"),
    )

    def __init__(
        self, *, offset: float | None = None, factor: float | None = None, take_log: bool = False
    ) -> None:
        self.offset = offset
        self.factor = factor
        self.take_log = take_log

    def fit(self, X: Any, y: Any = None) -> ShifterAndScaler:
        """Find what is not given."""
        check_hyperparameters(self)
        X = validate_data(self, X, accept_sparse="csr", dtype=np.float64)
        self.offset_ = float(X.min()) if self.offset is None else float(self.offset)
        largest = float(X.max()) - self.offset_ if self.factor is None else float(self.factor)
        self.factor_ = largest if largest > 0 else 1.0
        self._refuse_to_fill(X)
        return self

    def transform(self, X: Any) -> Any:
        """Shift, scale, take the logarithm."""
        X = self._accept_inputs(X)
        self._refuse_to_fill(X)
        X = X / self.factor_ if sp.issparse(X) else (X - self.offset_) / self.factor_
        return _log_of_one_more(X) if self.take_log else X

    def _refuse_to_fill(self, X: Any) -> None:
        if sp.issparse(X) and self.offset_ != 0:
            raise UnsuitedError(
                f"shift_n_scale: subtracting {self.offset_:g} from a sparse table of shape {X.shape} "
                "would fill it: give offset=0, or dense data"
            )


def _log_of_one_more(X: Any) -> Any:
    least = float(X.min())
    if least <= -1:
        raise UnsuitedError(
            f"shift_n_scale: log(1 + x) of {least:g}, the smallest number after shift and scale: "
            "give a smaller offset, or take_log=False"
        )
    return X.log1p() if sp.issparse(X) else np.log1p(X)


class PrincipalComponents(Preprocessor):
    """pc_extract: the first f_max principal components, by scikit-learn's PCA.

    f_max can be lowered after training. Sparse tables are centred in thought only, never filled.
    """

    called = "pc_extract"
    hyperparameters = (
        Hyperparameter(
            "f_max", whole(1).or_none("all there are"), "number of components; can be lowered later"
        ),
        RANDOM_STATE,
    )

    def __init__(self, *, f_max: int | None = 2000, random_state: Any = None) -> None:
        self.f_max = f_max
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> PrincipalComponents:
        """Find the components."""
        check_hyperparameters(self)
        X = validate_data(self, X, accept_sparse="csr", dtype=np.float64, ensure_min_samples=2)
        few, solver = min(X.shape), "full"
        if sp.issparse(X):
            solver = "covariance_eigh" if X.shape[1] <= COVARIANCE_LIMIT else "arpack"
            few -= solver == "arpack"
        count = few if self.f_max is None else min(self.f_max, few)
        seed = check_random_state(self.random_state).randint(LARGEST_SEED)
        self.pca_ = PCA(count, svd_solver=solver, random_state=seed).fit(X)
        self.ranked_ = int(count)
        self.limit_ = self.f_max
        return self

    def transform(self, X: Any) -> Numbers:
        """Projections on the first f_max components."""
        X = self._accept_inputs(X)
        projected: Numbers = self.pca_.transform(X)
        return projected[:, : self._count()]

    def get_feature_names_out(self, input_features: Any = None) -> Any:
        """pc0, pc1, …"""
        return np.array([f"pc{place}" for place in range(self._count())], dtype=object)

    def _count(self) -> int:
        check_hyperparameters(self)
        wanted = np.inf if self.f_max is None else self.f_max
        if self.limit_ is not None and wanted > self.limit_:
            raise UnsuitedError(
                f"pc_extract: f_max is {self.f_max}, but it was trained with f_max={self.limit_}: "
                "train again to have more components"
            )
        return int(min(wanted, self.ranked_))


class Subsample(Preprocessor):
    """subsample: what follows in a chain is trained on some of the patterns; nothing else changes.

    At random, p_max of them, or as many of each class with `balance`; or the very `patterns` given. Trained,
    it passes on what it is given; `fit_resample` returns the patterns chosen and their labels.
    """

    called = "subsample"
    hyperparameters = (
        Hyperparameter("p_max", whole(1).or_none("no limit"), "most patterns to keep"),
        Hyperparameter("balance", FLAG, "keep as many of each class"),
        Hyperparameter(
            "patterns",
            several(whole(0), "their positions").or_none("drawn at random"),
            "the patterns to keep, for instance to leave out outliers",
        ),
        RANDOM_STATE,
    )

    def __init__(
        self,
        *,
        p_max: int | None = None,
        balance: bool = False,
        patterns: Sequence[int] | None = None,
        random_state: Any = None,
    ) -> None:
        self.p_max = p_max
        self.balance = balance
        self.patterns = patterns
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> Subsample:
        """Choose patterns; labels are needed for balance only."""
        check_hyperparameters(self)
        X = validate_data(self, X, accept_sparse="csr", dtype=np.float64)
        if self.balance and y is None:
            raise UnsuitedError("subsample: balance=True needs labels: give fit(X, y), or balance=False")
        check_consistent_length(X, y)
        self.pattern_indices_ = self._choose(X.shape[0], y)
        return self

    def transform(self, X: Any) -> Any:
        """All patterns, as they are."""
        return self._accept_inputs(X)

    def fit_resample(self, X: Any, y: Any) -> tuple[Any, Any]:
        """Choose patterns and return them with their labels."""
        if y is None:
            raise UnsuitedError("subsample requires y to be passed, but the target y is None: give labels")
        y = column_or_1d(y, warn=True)
        X = self.fit(X, y).transform(X)
        return X[self.pattern_indices_], y[self.pattern_indices_]

    def _choose(self, count: int, y: Any) -> Codes:
        if self.patterns is not None:
            chosen = np.asarray(self.patterns, dtype=np.intp)
            if chosen.max() >= count:
                raise UnsuitedError(f"subsample: pattern {chosen.max()} of {count}: positions begin with 0")
            return chosen
        random = check_random_state(self.random_state)
        groups = [np.arange(count)]
        if self.balance:
            labels = np.asarray(y)
            groups = [np.flatnonzero(labels == label) for label in np.unique(labels)]
        most = count if self.p_max is None else self.p_max // len(groups)
        each = min([most, *(len(group) for group in groups)])
        if each == 0:
            raise UnsuitedError(f"subsample: p_max is {self.p_max} for {len(groups)} classes: give more")
        return np.sort(np.concatenate([random.permutation(group)[:each] for group in groups]))
