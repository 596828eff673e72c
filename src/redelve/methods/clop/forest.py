"""rf: random forests."""

from __future__ import annotations

from typing import Any

from sklearn.ensemble import RandomForestClassifier
from sklearn.utils import check_random_state

from redelve.methods.clop.hyperparameters import FLAG, RANDOM_STATE, Hyperparameter, whole
from redelve.methods.clop.objects import Classifier, Codes
from redelve.model.dataset import Numbers

LARGEST_SEED = 2**31 - 1


class ForestClassifier(Classifier):
    """rf: random forest (Breiman 2001), by scikit-learn's RandomForestClassifier."""

    called = "rf"
    hyperparameters = (
        Hyperparameter("units", whole(1), "number of trees"),
        Hyperparameter(
            "mtry", whole(1).or_none("the root of their number"), "number of features tried at each split"
        ),
        Hyperparameter("balance", FLAG, "weights that make the classes of every tree's sample equal"),
        RANDOM_STATE,
    )

    def __init__(
        self, *, units: int = 100, mtry: int | None = None, balance: bool = False, random_state: Any = None
    ) -> None:
        self.units = units
        self.mtry = mtry
        self.balance = balance
        self.random_state = random_state

    def predict_proba(self, X: Any) -> Numbers:
        """The mean of the trees' shares of classes."""
        X = self._accept_inputs(X)
        shares: Numbers = self.forest_.predict_proba(X)
        return shares

    def predict(self, X: Any) -> Any:
        """The class of the largest share."""
        shares = self.predict_proba(X)
        return self.classes_[shares.argmax(axis=1)]

    @property
    def feature_importances_(self) -> Numbers:
        """Mean decrease of impurity by each feature; they sum to 1."""
        importances: Numbers = self.forest_.feature_importances_
        return importances

    def _learn(self, X: Any, codes: Codes) -> None:
        self.forest_ = RandomForestClassifier(
            n_estimators=self.units,
            max_features="sqrt" if self.mtry is None else min(self.mtry, X.shape[1]),
            class_weight="balanced_subsample" if self.balance else None,
            random_state=check_random_state(self.random_state).randint(LARGEST_SEED),
        ).fit(X, codes)

    def _scores(self, X: Any) -> Numbers:
        shares: Numbers = self.forest_.predict_proba(X)
        return shares[:, 1] - shares[:, 0] if len(self.classes_) == 2 else shares
