"""What users give, an estimator with inputs and outputs, checked before anything is trained."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from redelve.answers.predictions import Target
from redelve.errors import SpecError, kind_told
from redelve.methods.adapters.array_cases import ArrayCases
from redelve.methods.adapters.sklearn_adapter import SklearnMethod, sklearn_method
from redelve.model.dataset import LARGEST

FEWEST_CASES = 4


def from_arrays(estimator: Any, X: Any, y: Any, name: str | None = None) -> tuple[SklearnMethod, ArrayCases]:
    """The estimator as a method and its data as cases, both checked."""
    method = sklearn_method(estimator, name=name)
    inputs = _inputs(X)
    outputs = _outputs(y, inputs.shape[0])
    if method.kind == "classifier" or (method.kind == "either" and outputs.dtype.kind not in "iuf"):
        return method, _classified(inputs, outputs)
    numbers = _numbers(outputs)
    if (numbers == numbers[0]).all():
        raise SpecError(f"y has one value only ({numbers[0]:g}): nothing can be predicted of a regressor")
    return method, ArrayCases(inputs, numbers, Target("target", "real"), None)


def _classified(inputs: Any, outputs: NDArray[Any]) -> ArrayCases:
    try:
        labels = np.unique(outputs)
    except TypeError:
        kinds = ", ".join(sorted({kind_told(one) for one in outputs}))
        raise SpecError(
            f"the classes in y are of kinds that have no order ({kinds}): give one kind"
        ) from None
    if len(labels) < 2:
        raise SpecError(f"y has one class only ({labels[0]!s}): nothing can be predicted of a classifier")
    if len(labels) > len(outputs) / 2 and np.asarray(outputs).dtype.kind == "f":
        raise SpecError(f"y has {len(labels)} different numbers for {len(outputs)} cases: give a regressor")
    return ArrayCases(inputs, outputs, Target("target", "categorical", _level_names(labels)), labels)


def _level_names(labels: NDArray[Any]) -> tuple[str, ...]:
    names = tuple(map(str, labels))
    is_plain = len(set(names)) == len(names) and not any(name.startswith("?") for name in names)
    return names if is_plain else tuple(f"class {number}" for number in range(len(names)))


def _inputs(X: Any) -> Any:
    from scipy.sparse import issparse

    is_frame = (hasattr(X, "iloc") or hasattr(X, "get_column")) and not isinstance(X, type)
    found = X if is_frame else X.tocsr() if issparse(X) else np.asarray(X)
    is_text = len(found.shape) == 1 and getattr(found, "dtype", np.dtype(float)).kind in "UO"
    if not (is_text or len(found.shape) == 2) or found.shape[0] < FEWEST_CASES:
        raise SpecError(
            f"X has the shape {tuple(found.shape)}: give a row for each case, a column for each input (or a "
            f"text for each case), and at least {FEWEST_CASES} cases"
        )
    return found


def _outputs(y: Any, cases: int) -> NDArray[Any]:
    import pandas as pd

    found = _plain_values(y)
    if found.ndim != 1 or len(found) != cases:
        raise SpecError(f"y has the shape {found.shape}: give one value for each of the {cases} rows of X")
    missing = np.flatnonzero(np.asarray(pd.isna(found)))
    if missing.size:
        raise SpecError(f"y is missing in row {missing[0]} (from 0): leave such cases out")
    return found


def _plain_values(y: Any) -> NDArray[Any]:
    """The values as numpy has them; pandas' nullable types become numpy's where nothing is missing."""
    import pandas as pd

    if isinstance(y, pd.Series) and isinstance(y.dtype, pd.api.extensions.ExtensionDtype):
        kind = getattr(y.dtype, "numpy_dtype", None)
        if isinstance(kind, np.dtype) and kind.kind in "biuf" and not y.isna().any():
            return np.asarray(y.to_numpy(dtype=kind))
    return np.asarray(y)


def _numbers(outputs: NDArray[Any]) -> NDArray[Any]:
    """The numbers, in the type that they have."""
    try:
        found = outputs.astype(np.float64)
    except (TypeError, ValueError):
        raise SpecError(f"a regressor needs numbers in y: got {outputs[0]!r}; give a classifier") from None
    if not np.isfinite(found).all():
        row = int(np.flatnonzero(~np.isfinite(found))[0])
        raise SpecError(f"y is {found[row]} in row {row} (from 0): give finite numbers")
    if (np.abs(found) > LARGEST).any():
        row = int(np.abs(found).argmax())
        told = (
            f"y is {found[row]:g} in row {row} (from 0), and numbers beyond {LARGEST:g} have no squares here"
        )
        raise SpecError(f"{told}: give it in larger units")
    return outputs if outputs.dtype.kind in "iuf" else found
