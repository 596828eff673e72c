"""What the tests of the simulated families share."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from functools import cache

import numpy as np
import pytest
from numpy.typing import NDArray

from redelve.data.catalogue import CATALOGUE, FAMILIES
from redelve.data.delve.dataset_spec import read_dataset_spec
from redelve.model import DatasetSpec

Numbers = NDArray[np.float64]


@cache
def folder(name: str) -> dict[str, str]:
    """The files of a dataset, generated once in a test run."""
    return dict(CATALOGUE[name]())


def members(family: str, usual: Iterable[str]) -> list[object]:
    """The members of a family as test parameters; those that are not usually tested are marked slow."""
    chosen = {f"{family}-{kind}" for kind in usual}
    return [
        name if name in chosen else pytest.param(name, marks=pytest.mark.slow) for name in FAMILIES[family]
    ]


def table(name: str) -> Numbers:
    """The cases of Dataset.data as numbers."""
    return np.array([line.split() for line in folder(name)["Dataset.data"].splitlines()], dtype=np.float64)


def specification(name: str) -> DatasetSpec:
    return read_dataset_spec(folder(name)["Dataset.spec"], name, "Dataset.spec")


def digest(name: str) -> str:
    return hashlib.sha256(folder(name)["Dataset.data"].encode()).hexdigest()


def linear_share(inputs: Numbers, targets: Numbers) -> float:
    """The share of the variance that a linear function of the inputs explains."""
    design = np.column_stack([np.ones(len(inputs)), inputs])
    residuals = targets - design @ np.linalg.lstsq(design, targets, rcond=None)[0]
    return 1 - float(residuals.var() / targets.var())


def check_member(name: str, prototask: str) -> None:
    """What holds for every member: files, sizes, usage, ranges, and the standard prototask."""
    files, spec = folder(name), specification(name)
    inputs = int(name.split("-")[1][:-2])
    assert len(spec.attributes) == inputs + 1
    assert (spec.origin, spec.order) == ("simulated", "uninformative")
    assert (spec.usage == "development") == name.endswith(("-8fm", "-8nh"))
    cases = table(name)
    assert cases.shape == (8192, inputs + 1)
    for attribute, column in zip(spec.attributes, cases.T, strict=True):
        (allowed,) = attribute.range.items
        assert attribute.description
        assert allowed.contains(written(column.min(), spec.name))
        assert allowed.contains(written(column.max(), spec.name))
    assert files[f"{prototask}/Prototask.spec"] == (
        f"Cases: all\nInputs: {' '.join(map(str, range(1, inputs + 1)))}\nOrder: retain\nOrigin: simulated\n"
        f"Targets: {inputs + 1}\nTest-Set-Size: 4096\nTraining-Set-Sizes: 64 128 256 512 1024\n"
        "Test-Set-Selection: hierarchical\nMaximum-Number-Of-Instances: 8\n"
    )
    rows = [" ".join(line.split()) for line in files["Dataset.data"].splitlines()]
    assert files[f"{prototask}/Prototask.data"].splitlines() == rows
    assert {"Summary", "Source/Notes"} <= set(files)
    assert files["Summary"].startswith(f"{name}: {inputs} inputs, ")


def written(value: float, name: str) -> str:
    """A number as it might be written in a file; bank's integers are without a point."""
    return f"{value:.0f}" if name.startswith("bank") and value == round(value) else repr(float(value))
