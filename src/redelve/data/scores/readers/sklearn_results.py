"""Scores of scikit-learn by fold: `cv_results_` of searches, `cross_validate`, `cross_val_score`."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from redelve.data.scores.readers.frame_reader import FrameReader
from redelve.data.scores.readers.reader_tools import chosen
from redelve.data.scores.score_readers import ScoreWish
from redelve.data.scores.score_table import ScoreTable, joined
from redelve.errors import SpecError

if TYPE_CHECKING:
    import pandas as pd

SPLIT = re.compile(r"split(\d+)_test_(.+)")
TEST = re.compile(r"test_(.+)")
TIMES = {"fit_time", "score_time"}
PARAMETER = re.compile(r"param_(.+)")


class SklearnResults(FrameReader):
    """Tables and dictionaries of fold scores: a model for every candidate of a search, or for every file."""

    title = "cross-validation results of scikit-learn"

    def knows(self, columns: Sequence[str]) -> bool:
        """Columns such as split0_test_score, or test_score beside fit_time."""
        return any(map(SPLIT.fullmatch, columns)) or (
            set(columns) >= TIMES and any(map(TEST.fullmatch, columns))
        )

    def scores(self, frame: pd.DataFrame, wish: ScoreWish, source: str) -> ScoreTable:
        """A row for every fold: of every candidate of a search, or of the one model of a cross-validation."""
        names = list(frame.columns)
        of_search = any(map(SPLIT.fullmatch, names))
        pattern, place = (SPLIT, 2) if of_search else (TEST, 1)
        kinds = [found[place] for name in names if (found := pattern.fullmatch(name))]
        kind = chosen(kinds, _with_sign(wish, kinds), source)
        made = _of_search(frame, kind) if of_search else _of_folds(frame[f"test_{kind}"])
        table = _signed(ScoreTable(source, made, kind, higher_is_better=True))
        if of_search and len(frame) > 1:
            told = (
                f"{len(frame)} candidates of a search are compared: the score of the one that was chosen by "
                "it is too good; score it on other cases"
            )
            return replace(table, notes=(told,))
        return table

    def takes(self, scores: Any) -> bool:
        """A fitted search, its `cv_results_`, or what `cross_validate` returned for one or several models."""
        if hasattr(scores, "cv_results_"):
            return True
        if not isinstance(scores, Mapping):
            return super().takes(scores)
        return self.knows(list(map(str, scores))) or self._are_several(scores)

    def _are_several(self, scores: Mapping[Any, Any]) -> bool:
        return bool(scores) and all(
            isinstance(one, Mapping) and self.knows(list(map(str, one))) for one in scores.values()
        )

    def read_object(self, scores: Any, wish: ScoreWish) -> ScoreTable:
        """The scores in what scikit-learn returned."""
        if hasattr(scores, "cv_results_"):
            table = self.scores(_as_frame(scores.cv_results_), wish, "the search")
            return replace(
                table, ratio=_ratio_of(getattr(scores, "cv", None), getattr(scores, "n_splits_", 0))
            )
        if not isinstance(scores, Mapping):
            return super().read_object(scores, wish)
        if self.knows(list(map(str, scores))):
            return super().read_object(_as_frame(scores), wish)
        return _several(scores, self, wish)


def _several(scores: Mapping[Any, Any], reader: SklearnResults, wish: ScoreWish) -> ScoreTable:
    """Models by name, with what `cross_validate` or `cross_val_score` returned for each."""
    tables = []
    for name, one in scores.items():
        if isinstance(one, Mapping):
            table = replace(reader.scores(_as_frame(one), wish, str(name)), ratio=_ratio_of_indices(one))
        else:
            made = _of_folds(_numbers(name, one))
            table = _signed(ScoreTable(str(name), made, wish.score or "score", higher_is_better=True))
        if "model" in table.frame.columns:
            raise SpecError(
                f'"{name}" has the results of a search: give the search itself, or one candidate of each'
            )
        tables.append(replace(table, frame=table.frame.assign(model=str(name))))
    return replace(joined(tables, list(map(str, scores))), source="the cross-validations")


def _numbers(name: object, values: Any) -> Any:
    found = np.asarray(values)
    if found.ndim != 1 or found.dtype.kind not in "fiub":
        raise SpecError(
            f'"{name}" holds no scores of folds: give what cross_validate or cross_val_score returned'
        )
    return found.astype(float)


def _as_frame(results: Mapping[Any, Any]) -> pd.DataFrame:
    """The columns of a result that hold a value for every candidate or fold."""
    import pandas as pd

    kept = {str(name): one for name, one in results.items() if name not in ("indices", "estimator")}
    lengths = {len(one) for one in kept.values() if hasattr(one, "__len__")}
    if len(lengths) != 1:
        raise SpecError(
            "the results have columns of different lengths: give them as scikit-learn returned them"
        )
    return pd.DataFrame({name: list(one) for name, one in kept.items()})


# Tables


def _of_folds(values: Any) -> pd.DataFrame:
    import pandas as pd

    return pd.DataFrame({"fold": np.arange(len(values)), "score": np.asarray(values)})


def _of_search(frame: pd.DataFrame, kind: str) -> pd.DataFrame:
    """A row for every candidate and fold."""
    import pandas as pd

    folds = sorted(
        int(found[1]) for name in frame.columns if (found := SPLIT.fullmatch(name)) and found[2] == kind
    )
    names = _candidates(frame)
    return pd.DataFrame(
        {
            "model": np.repeat(np.array(names, dtype=object), len(folds)),
            "fold": np.tile(folds, len(frame)),
            "score": frame[[f"split{fold}_test_{kind}" for fold in folds]].to_numpy().ravel(),
        }
    )


def _candidates(frame: pd.DataFrame) -> list[str]:
    """The candidates of a search by their parameters."""
    if "model" in frame.columns:
        return list(map(str, frame["model"]))
    parameters = [name for name in frame.columns if PARAMETER.fullmatch(name)]
    if not parameters:
        return [f"candidate {i}" for i in range(1, len(frame) + 1)]
    rows = frame[parameters].astype(object).to_dict("records")
    names = [
        ", ".join(f"{str(name)[6:]}={value}" for name, value in row.items() if not _is_missing(value))
        for row in rows
    ]
    seen: dict[str, int] = {}
    for name in names:
        seen[name] = seen.get(name, 0) + 1
    if any(count > 1 for count in seen.values()):
        return [f"{name} ({i})" for i, name in enumerate(names, start=1)]
    return names


def _is_missing(value: Any) -> bool:
    return value is None or value is np.ma.masked or (isinstance(value, float) and value != value)  # noqa: PLR0124


# What is better


def _with_sign(wish: ScoreWish, kinds: Sequence[str]) -> ScoreWish:
    """A wish for mean_squared_error is one for scikit-learn's neg_mean_squared_error."""
    signed = f"neg_{wish.score}"
    return replace(wish, score=signed) if wish.score not in kinds and signed in kinds else wish


def _signed(table: ScoreTable) -> ScoreTable:
    """Losses that scikit-learn has negated, as losses again."""
    if not table.metric.startswith("neg_"):
        return table
    frame = table.frame.assign(score=-table.frame["score"])
    return replace(table, frame=frame, metric=table.metric.removeprefix("neg_"), higher_is_better=False)


# How much was tested for each case of training


def _ratio_of(folds: Any, count: int) -> float | None:
    """Test cases over training cases of k folds; None of splits that are no folds."""
    from sklearn.model_selection import BaseCrossValidator

    inner = getattr(folds, "cvargs", None)
    size = inner.get("n_splits") if isinstance(inner, dict) else None
    if size is None and (folds is None or isinstance(folds, int | BaseCrossValidator)):
        size = count
    is_folds = folds is None or isinstance(folds, int) or "Fold" in type(folds).__name__
    return 1 / (size - 1) if is_folds and isinstance(size, int) and size > 1 else None


def _ratio_of_indices(result: Mapping[Any, Any]) -> float | None:
    """The mean ratio of the splits, where `return_indices=True` has kept them."""
    indices = result.get("indices")
    if not isinstance(indices, Mapping) or not {"train", "test"} <= set(indices):
        return None
    ratios = [len(test) / len(train) for train, test in zip(indices["train"], indices["test"], strict=True)]
    return float(np.mean(ratios))
