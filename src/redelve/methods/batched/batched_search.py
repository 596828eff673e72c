"""A grid search whose fits, of all settings on all folds, are trained as few large batches."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any, Self

import numpy as np
from sklearn.base import clone, is_classifier
from sklearn.model_selection import GridSearchCV, ParameterGrid, check_cv
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import indexable

from redelve.methods.batched.company import trained_together


class BatchedSearchCV(GridSearchCV):  # type: ignore[misc, unused-ignore]
    """scikit-learn's `GridSearchCV`, with the networks of all settings and folds trained together.

    Parameters
    ----------
    estimator
        A `BatchedMLPRegressor`, a `BatchedMLPClassifier`, or whatever has one in it, such as a pipeline.
    param_grid, scoring, refit, cv, verbose, error_score, return_train_score
        As in `GridSearchCV`. Settings that differ in weight decay, rate, momentum or seed are one batch;
        other layers, activations and solvers make other batches.

    Attributes
    ----------
    cv_results_, best_estimator_, best_score_, best_params_, best_index_, scorer_, n_splits_, refit_time_
        As in `GridSearchCV`, and so is the rest. The results are those that `GridSearchCV` finds with the
        same estimator. Fit times in `cv_results_` are without training, which is not done fit by fit.
    batch_time_ : float
        Seconds for training all networks.

    Examples
    --------
    >>> import numpy as np
    >>> from redelve.methods.batched import BatchedMLPRegressor, BatchedSearchCV
    >>> random = np.random.default_rng(0)
    >>> x = random.normal(size=(200, 3))
    >>> y = np.sin(2 * x[:, 0]) + 0.1 * random.normal(size=200)
    >>> grid = {"alpha": [0.001, 0.1, 10.0], "hidden_layer_sizes": [(4,), (16,)]}
    >>> search = BatchedSearchCV(BatchedMLPRegressor(random_state=0), grid, cv=4).fit(x, y)
    >>> len(search.cv_results_["params"]), float(round(search.best_score_, 1))
    (6, 0.9)
    """

    def __init__(  # noqa: PLR0913  (options of a public class are explicit)
        self,
        estimator: Any,
        param_grid: Mapping[str, Any] | Sequence[Mapping[str, Any]],
        *,
        scoring: Any = None,
        refit: bool | str | Callable[..., Any] = True,
        cv: Any = None,
        verbose: int = 0,
        error_score: Any = np.nan,
        return_train_score: bool = False,
    ) -> None:
        super().__init__(
            estimator,
            param_grid,
            scoring=scoring,
            refit=refit,
            cv=cv,
            verbose=verbose,
            error_score=error_score,
            return_train_score=return_train_score,
        )

    def fit(self, X: Any, y: Any = None, **params: Any) -> Self:
        """Search.

        Parameters
        ----------
        X, y
            Inputs and what is to be predicted.
        **params
            What `fit` of the estimator takes beside them (`sample_weight`), and `groups` for the splits.

        Returns
        -------
        self
        """
        X, y = indexable(X, y)
        splits = self._splits(X, y, params)
        given: Any = self.cv
        self.cv: Any = splits
        begin = ended = time.perf_counter()

        def rehearsal() -> None:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                if params:
                    _Rehearsal(clone(self.estimator), self.param_grid, splits).fit(X, y, **params)
                else:
                    self._rehearse(X, y, splits)

        def search() -> None:
            nonlocal ended
            ended = time.perf_counter()
            GridSearchCV.fit(self, X, y, **params)

        try:
            trained_together(search, rehearsal=rehearsal)
        finally:
            self.cv = given
        self.batch_time_ = ended - begin
        return self

    def _rehearse(self, X: Any, y: Any, splits: Sequence[tuple[Any, Any]]) -> None:
        """The fits of a search, in its order, without what is around them; those that fail do so later."""
        folds = [(_safe_indexing(X, rows), _safe_indexing(y, rows)) for rows, _ in splits]
        for setting in ParameterGrid(self.param_grid):
            for inputs, aims in folds:
                with suppress(Exception):
                    clone(self.estimator).set_params(**clone(setting, safe=False)).fit(inputs, aims)

    def _splits(self, X: Any, y: Any, params: Mapping[str, Any]) -> list[tuple[Any, Any]]:
        """The folds, drawn once."""
        cv = check_cv(self.cv, y, classifier=is_classifier(self.estimator))
        return list(cv.split(X, y, params.get("groups")))


class _Rehearsal(GridSearchCV):  # type: ignore[misc, unused-ignore]
    """The same fits, judged by nothing."""

    def __init__(self, estimator: Any, param_grid: Any, cv: Any) -> None:
        super().__init__(estimator, param_grid, cv=cv, refit=False, scoring=_nothing, error_score=0.0)


def _nothing(estimator: Any, X: Any, y: Any = None) -> float:
    return 0.0
