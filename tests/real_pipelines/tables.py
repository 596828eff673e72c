"""Eight real tables of mixed types, as their owners would hold them in pandas; four have missing values.

None is kept here: scikit-learn and statsmodels carry them. They are read without redelve, and nothing is
added to them or taken away.
"""

from __future__ import annotations

import gzip
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import pandas as pd
import pytest
from sklearn.externals import _arff

FILES = {
    "penguins": "sklearn/datasets/tests/data/openml/id_42585/data-v1-dl-21854866.arff.gz",
    "titanic": "sklearn/datasets/tests/data/openml/id_40945/data-v1-dl-16826755.arff.gz",
    "cpu": "sklearn/datasets/tests/data/openml/id_561/data-v1-dl-52739.arff.gz",
    "zoo": "sklearn/datasets/tests/data/openml/id_62/data-v1-dl-52352.arff.gz",
    "autos": "statsmodels/gam/tests/results/autos.csv",
    "fertility": "statsmodels/datasets/fertility/fertility.csv",
    "framing": "statsmodels/stats/tests/results/framing.csv",
    "births": "statsmodels/genmod/tests/results/stata_lbw_glm.csv",
}


def path_of(name: str) -> Path:
    package, _, rest = FILES[name].partition("/")
    found = find_spec(package)
    if found is None or found.origin is None:
        pytest.skip(f"{package} is not installed")
    path = Path(found.origin).parent / rest
    if not path.exists():
        pytest.skip(f"this version of {package} does not carry {rest}")
    return path


@cache
def table(name: str) -> pd.DataFrame:
    """The table as pandas reads it, or as scikit-learn's reader of ARFF does; do not change it."""
    path = path_of(name)
    if path.suffix == ".csv":
        return pd.read_csv(path, index_col=0 if name == "framing" else None)
    with gzip.open(path, "rt") as file:
        found = _arff.loads(file.read())
    columns = {}
    for place, (column, kind) in enumerate(found["attributes"]):
        values = [row[place] for row in found["data"]]
        levels = [level for level in kind if level is not None] if isinstance(kind, list) else None
        columns[column] = pd.Series(values) if levels is None else pd.Categorical(values, levels)
    return pd.DataFrame(columns)
