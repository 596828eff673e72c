"""Pipelines as people write them, each with the table and the target that it is for."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import (
    TransformedTargetRegressor,
    make_column_selector,
    make_column_transformer,
)
from sklearn.decomposition import PCA
from sklearn.ensemble import (
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
    StackingClassifier,
    VotingClassifier,
)
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.feature_selection import SelectKBest, f_classif
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, WhiteKernel
from sklearn.impute import KNNImputer, SimpleImputer
from sklearn.linear_model import BayesianRidge, LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.naive_bayes import BernoulliNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.neural_network import MLPRegressor
from sklearn.pipeline import make_pipeline, make_union
from sklearn.preprocessing import (
    FunctionTransformer,
    OneHotEncoder,
    OrdinalEncoder,
    PolynomialFeatures,
    StandardScaler,
    TargetEncoder,
)
from sklearn.svm import SVC, SVR
from sklearn.tree import DecisionTreeClassifier

from tests.real_pipelines.tables import table

NUMBERS = make_column_selector(dtype_include="number")
TEXTS = make_column_selector(dtype_include=["object", "str"])
LEVELS = make_column_selector(dtype_include="category")


def _as_it_is(frame: pd.DataFrame) -> pd.DataFrame:
    return frame


@dataclass(frozen=True)
class Trial:
    """A pipeline, its table and target, and what its owner does to the frame first."""

    name: str
    table: str
    target: str
    make: Callable[[], Any]
    prepare: Callable[[pd.DataFrame], Any] = _as_it_is
    needs: str = ""

    def frame(self) -> Any:
        return self.prepare(table(self.table))


def one_hot(chosen: Any) -> Any:
    return (make_pipeline(SimpleImputer(strategy="most_frequent"), _dense_one_hot()), chosen)


def _dense_one_hot() -> OneHotEncoder:
    return OneHotEncoder(handle_unknown="ignore", sparse_output=False)


def scaled(chosen: Any = NUMBERS) -> Any:
    return (make_pipeline(SimpleImputer(add_indicator=True), StandardScaler()), chosen)


def by_type(model: Any, levels: Any = LEVELS) -> Any:
    return make_pipeline(make_column_transformer(one_hot(levels), scaled()), model)


def texts(frame: pd.DataFrame) -> pd.DataFrame:
    """Categories as texts, missing ones as None."""
    kinds = frame.select_dtypes("category").columns
    return frame.astype(dict.fromkeys(kinds, "object"))


def categories(frame: pd.DataFrame) -> pd.DataFrame:
    kinds = frame.select_dtypes(["object", "str"]).columns
    return frame.astype(dict.fromkeys(kinds, "category"))


def title(frame: pd.DataFrame) -> pd.DataFrame:
    return frame[["name"]].assign(name=frame["name"].str.extract(r", (\w+)\.", expand=False))


def tipped(frame: pd.DataFrame) -> pd.DataFrame:
    """Nullable types, and an index that is no count."""
    made = frame.convert_dtypes().astype({"smoke": "boolean", "ht": "boolean", "low": "bool"})
    return made.set_index("id")


def numbered(frame: pd.DataFrame) -> pd.DataFrame:
    """Classes as whole numbers, as scikit-learn's own tables have them."""
    return frame.assign(type=frame["type"].cat.codes.to_numpy(), animal=frame["animal"].astype("object"))


def ordered(frame: pd.DataFrame) -> pd.DataFrame:
    anxious = ["not anxious at all", "a little anxious", "somewhat anxious", "very anxious"]
    kinds: Any = {"anx": pd.CategoricalDtype([*anxious, "never asked"], ordered=True), "english": "category"}
    return frame.astype(kinds)


class Majority:
    """Fits and predicts, and that is all: no scikit-learn in it, no parameters, no classes_."""

    def __init__(self, share: float = 0.5) -> None:
        self.share = share

    def fit(self, X: pd.DataFrame, y: pd.Series) -> Majority:
        assert list(X.columns)[:2] == ["animal", "hair"]
        rows = np.random.default_rng(0).random(len(y)) < self.share
        self.common = y[rows].mode()[0]
        self.hairy = y[rows & (X["hair"] == "true").to_numpy()].mode()[0]
        return self

    def predict(self, X: pd.DataFrame) -> list[Any]:
        return [self.hairy if hair == "true" else self.common for hair in X["hair"]]


class PolarsMeans:
    """Means by vendor; takes polars and nothing else."""

    def fit(self, X: Any, y: Any) -> PolarsMeans:
        import polars as pl

        assert isinstance(X, pl.DataFrame)
        assert isinstance(y, pl.Series)
        self.means = X.with_columns(y.alias("y")).group_by("vendor").agg(pl.col("y").mean())
        self.mean = y.mean()
        return self

    def predict(self, X: Any) -> Any:
        return X.join(self.means, on="vendor", how="left", maintain_order="left")["y"].fill_null(self.mean)


def to_polars(frame: pd.DataFrame) -> Any:
    import polars as pl

    return pl.from_pandas(frame.astype({"vendor": str}))


FEW = {"max_iter": 15, "random_state": 0}


def _classifying() -> Iterator[Trial]:
    species = ("penguins", "species")
    yield Trial("one-hot of categories", *species, lambda: by_type(LogisticRegression(max_iter=500)))
    yield Trial("one-hot of texts", *species, lambda: by_type(LogisticRegression(), TEXTS), texts)
    yield Trial(
        "boosting from dtype",
        *species,
        lambda: HistGradientBoostingClassifier(categorical_features="from_dtype", **FEW),
    )
    yield Trial(
        "boosting, categories by name",
        *species,
        lambda: HistGradientBoostingClassifier(categorical_features=["island", "sex"], **FEW),
    )
    yield Trial(
        "a grid search",
        *species,
        lambda: GridSearchCV(
            by_type(DecisionTreeClassifier(random_state=0)),
            {"decisiontreeclassifier__max_depth": [2, 4]},
            cv=StratifiedKFold(3, shuffle=True, random_state=1),
        ),
    )
    yield Trial(
        "calibrated", *species, lambda: CalibratedClassifierCV(by_type(SVC(random_state=0)), cv=3, n_jobs=1)
    )
    survived = ("titanic", "survived")
    yield Trial(
        "words of a name",
        *survived,
        lambda: make_pipeline(
            make_column_transformer((TfidfVectorizer(min_df=2), "name"), one_hot(["sex"]), scaled(["age"])),
            LogisticRegression(),
        ),
    )
    yield Trial(
        "target encoding",
        *survived,
        lambda: make_pipeline(
            make_column_transformer(
                (TargetEncoder(cv=3, random_state=0), ["sex", "embarked", "cabin"]),
                (SimpleImputer(), ["age", "fare", "body"]),
            ),
            RandomForestClassifier(10, random_state=0),
        ),
        texts,
    )
    yield Trial(
        "a function of columns",
        *survived,
        lambda: make_pipeline(
            make_column_transformer((make_pipeline(FunctionTransformer(title), _dense_one_hot()), ["name"])),
            DecisionTreeClassifier(random_state=0),
        ),
    )
    yield Trial(
        "a vote",
        *survived,
        lambda: make_pipeline(
            make_column_transformer(one_hot(["sex", "embarked"]), scaled(["age", "fare", "pclass"])),
            VotingClassifier([("lr", LogisticRegression()), ("nb", BernoulliNB())], voting="soft"),
        ),
    )
    english = ("framing", "english")
    yield Trial(
        "ordered levels",
        *english,
        lambda: make_pipeline(
            make_column_transformer(
                (OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1), ["anx", "educ"]),
                remainder=_dense_one_hot(),
            ),
            GradientBoostingClassifier(n_estimators=10, random_state=0),
        ),
        ordered,
    )
    yield Trial(
        "a stack",
        *english,
        lambda: StackingClassifier(
            [
                ("lr", by_type(LogisticRegression(), TEXTS)),
                ("tree", by_type(DecisionTreeClassifier(), TEXTS)),
            ],
            cv=3,
        ).set_params(tree__decisiontreeclassifier__random_state=0),
    )
    low = ("births", "low")
    yield Trial(
        "classes 0 and 1",
        *low,
        lambda: make_pipeline(
            make_column_transformer((StandardScaler(), ["age", "lwt"]), one_hot(["race"])),
            LogisticRegression(),
        ),
    )
    yield Trial(
        "nullable types",
        *low,
        lambda: make_pipeline(
            make_column_transformer(one_hot(["race", "smoke", "ht"]), (StandardScaler(), ["age", "lwt"])),
            RandomForestClassifier(10, random_state=0),
        ),
        tipped,
    )
    kind = ("zoo", "type")
    yield Trial(
        "a support vector machine", *kind, lambda: make_pipeline(_dense_one_hot(), SVC(random_state=0))
    )
    yield Trial(
        "whole numbers as classes",
        *kind,
        lambda: make_pipeline(_dense_one_hot(), SelectKBest(f_classif, k=20), KNeighborsClassifier(3)),
        numbered,
    )
    yield Trial("only fit and predict", *kind, Majority)


def _regressing() -> Iterator[Trial]:
    mass = ("penguins", "body_mass_g")
    yield Trial(
        "a transformed target",
        *mass,
        lambda: TransformedTargetRegressor(by_type(Ridge()), func=np.log, inverse_func=np.exp),
    )
    price = ("autos", "price")
    yield Trial(
        "ordinal codes and a forest",
        *price,
        lambda: make_pipeline(
            make_column_transformer(
                (OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1), TEXTS),
                (SimpleImputer(), NUMBERS),
            ),
            RandomForestRegressor(10, random_state=0),
        ),
    )
    yield Trial(
        "products of numbers",
        *price,
        lambda: make_pipeline(
            make_column_transformer(
                (
                    make_pipeline(SimpleImputer(), StandardScaler(), PolynomialFeatures(2)),
                    ["hp", "weight", "bore"],
                ),
                one_hot(["make", "fuel.sys"]),
            ),
            Ridge(),
        ),
    )
    yield Trial(
        "boosting from dtype, numbers",
        *price,
        lambda: HistGradientBoostingRegressor(categorical_features="from_dtype", **FEW),
        categories,
    )
    yield Trial("a model that tells deviations", *price, lambda: by_type(BayesianRidge(), TEXTS))
    births = ("fertility", "2011")
    yield Trial(
        "neighbours fill in",
        *births,
        lambda: make_pipeline(
            make_column_transformer((KNNImputer(n_neighbors=3), NUMBERS)), KNeighborsRegressor(3)
        ),
    )
    yield Trial(
        "components and a union",
        *births,
        lambda: make_pipeline(
            make_column_transformer(
                (
                    make_pipeline(
                        SimpleImputer(),
                        make_union(PCA(3, random_state=0), SelectKBest(k=2)),
                        StandardScaler(),
                    ),
                    [str(year) for year in range(1990, 2010)],
                )
            ),
            SVR(),
        ),
    )
    speed = ("cpu", "class")
    yield Trial(
        "a network",
        *speed,
        lambda: make_pipeline(
            make_column_transformer(one_hot(["vendor"]), remainder=StandardScaler()),
            MLPRegressor(hidden_layer_sizes=5, max_iter=30, random_state=0, solver="lbfgs"),
        ),
    )
    yield Trial(
        "a Gaussian process",
        *speed,
        lambda: make_pipeline(
            make_column_transformer((StandardScaler(), NUMBERS)),
            GaussianProcessRegressor(RBF() + WhiteKernel(), normalize_y=True, random_state=0),
        ),
    )


def _elsewhere() -> Iterator[Trial]:
    """Estimators of other packages, which are not installed for every test."""
    yield Trial("XGBoost, categories", "penguins", "species", _xgboost, needs="xgboost")
    yield Trial("XGBoost, numbers", "autos", "price", _xgboost_numbers, categories, needs="xgboost")
    yield Trial("LightGBM, categories by name", "titanic", "survived", _lightgbm, needs="lightgbm")
    yield Trial("CatBoost, cat_features", "penguins", "species", _catboost, texts, needs="catboost")
    yield Trial("CatBoost, truth values", "births", "low", _catboost_bare, tipped_few, needs="catboost")
    yield Trial("polars only", "cpu", "class", PolarsMeans, to_polars, needs="polars")


def tipped_few(frame: pd.DataFrame) -> pd.DataFrame:
    return frame[["age", "lwt", "low"]].astype({"low": "bool"})


def _xgboost() -> Any:
    from xgboost import XGBClassifier

    return XGBClassifier(n_estimators=10, enable_categorical=True, random_state=0, n_jobs=1)


def _xgboost_numbers() -> Any:
    from xgboost import XGBRegressor

    return XGBRegressor(n_estimators=10, enable_categorical=True, random_state=0, n_jobs=1)


def _lightgbm() -> Any:
    from lightgbm import LGBMClassifier

    model = LGBMClassifier(n_estimators=10, min_child_samples=3, random_state=0, n_jobs=1, verbose=-1)
    numbers = FunctionTransformer(lambda frame: frame[["sex", "embarked", "age", "fare"]])
    return make_pipeline(numbers, model)


def _catboost() -> Any:
    from catboost import CatBoostClassifier

    model = CatBoostClassifier(
        iterations=10, cat_features=["island", "sex"], verbose=0, thread_count=1, allow_writing_files=False
    )
    return make_pipeline(FunctionTransformer(lambda frame: frame.fillna({"sex": "?"})), model)


def _catboost_bare() -> Any:
    from catboost import CatBoostClassifier

    return CatBoostClassifier(iterations=10, verbose=0, thread_count=1, allow_writing_files=False)


TRIALS = (*_classifying(), *_regressing())
ELSEWHERE = tuple(_elsewhere())
