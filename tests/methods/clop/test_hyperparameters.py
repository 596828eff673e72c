"""Defaults and ranges: shown, documented, and held to."""

import inspect
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from redelve.errors import SpecError
from redelve.methods import clop
from redelve.methods.clop.hyperparameters import choice, markdown_table, number, whole
from tests.methods.clop.cases import two_classes

PAGE = Path(__file__).parents[3] / "docs" / "clop.md"

OF_CLOP: dict[str, dict[str, Any]] = {
    "kridge": {"coef0": 1.0, "degree": 1, "gamma": 0.0, "shrinkage": None, "balance": False},
    "naive": {},
    "neural": {"units": 10, "shrinkage": 1e-14, "maxiter": 100, "balance": False},
    "rf": {"units": 100, "mtry": None, "balance": False},
    "svc": {"coef0": 1.0, "degree": 1, "gamma": 0.0, "shrinkage": 0.001},
    "normalize": {"center": False},
    "shift_n_scale": {"offset": None, "factor": None, "take_log": False},
    "pc_extract": {"f_max": 2000},
    "subsample": {"p_max": None, "balance": False},
    "s2n": {"f_max": None, "w_min": -np.inf},
    "relief": {"f_max": None, "w_min": -np.inf, "k_num": 4},
    "gs": {"f_max": None},
    "rffs": {"f_max": None, "w_min": -np.inf},
    "svcrfe": {"f_max": None},
}
"""Defaults of CLOP, from the documentation of its objects; its empty or infinite values are None here."""


@pytest.mark.parametrize("name", OF_CLOP)
def test_names_and_defaults_are_clops(name: str) -> None:
    known = inspect.signature(getattr(clop, name)).parameters
    assert {key: known[key].default for key in OF_CLOP[name]} == OF_CLOP[name]


@pytest.mark.parametrize("kind", clop.OBJECTS, ids=lambda kind: kind.called)
def test_every_hyperparameter_is_described_and_its_default_is_in_range(kind: Any) -> None:
    parameters = inspect.signature(kind).parameters
    assert [each.name for each in kind.hyperparameters] == list(parameters)
    assert getattr(clop, kind.called) is kind
    for each in kind.hyperparameters:
        value = parameters[each.name].default
        assert value is inspect.Parameter.empty or each.range.accepts(value)
        assert each.meaning


def test_default_shows_a_table_for_an_object_or_its_class() -> None:
    shown = clop.default(clop.relief)
    assert repr(shown) == repr(clop.default(clop.relief(k_num=7)))
    assert repr(shown).splitlines() == [
        "relief",
        "hyperparameter  default  range",
        "f_max           None     whole number 1 or more, or None: all",
        "w_min           -inf     any number",
        "k_num           4        whole number 1 or more",
    ]
    assert repr(clop.default(clop.naive)) == "naive has no hyperparameters"
    with pytest.raises(SpecError, match="ndarray is no learning object"):
        clop.default(np.zeros(3))


WRONG = [
    (clop.kridge(coef0=-1), "coef0 is -1: give number 0 or more"),
    (clop.kridge().set_params(degree=1.5), "degree is 1.5: give whole number 0 or more"),
    (clop.kridge(shrinkage=0), "shrinkage is 0: give number above 0"),
    (clop.kridge(shrinkage=[1, -1]), "several to choose from"),
    (clop.svc().set_params(shrinkage="small"), "shrinkage is 'small'"),
    (clop.svc(maxiter=0), "maxiter is 0"),
    (clop.neural(units=0), "units is 0: give whole number 1 or more"),
    (clop.neural(shrinkage=np.nan), "shrinkage is nan"),
    (clop.rf(mtry=0), "mtry is 0"),
    (clop.rf().set_params(balance="yes"), "balance is 'yes': give False or True"),
    (clop.standardize().set_params(center="maybe"), "center is 'maybe': give False or True or auto"),
    (clop.shift_n_scale(factor=0), "factor is 0: give number above 0"),
    (clop.s2n(f_max=0), "f_max is 0: give whole number 1 or more, or None: all"),
    (clop.relief(k_num=True), "k_num is True"),
    (clop.cv(clop.kridge(), folds=1), "folds is 1: give whole number 2 or more"),
    (clop.cv(clop.s2n()), "model is SignalToNoise"),
    (clop.holdout(clop.kridge(), 1.0), "share is 1.0: give number above 0, below 1"),
    (clop.grid(clop.kridge(), {}).set_params(values="shrinkage"), "give dictionary of lists"),
]


@pytest.mark.parametrize(("learner", "message"), WRONG, ids=[message[:20] for _, message in WRONG])
def test_what_is_out_of_range_is_refused_when_training_begins(learner: Any, message: str) -> None:
    with pytest.raises(clop.UnsuitedError) as caught:
        learner.fit(*two_classes())
    assert str(caught.value).startswith(f"{learner.called}: ")
    assert message in str(caught.value)
    assert isinstance(caught.value, SpecError)
    assert isinstance(caught.value, ValueError)


def test_numbers_of_numpy_are_numbers() -> None:
    assert whole(1).accepts(np.int64(3))
    assert number(0).accepts(np.float32(0.5))
    assert number().accepts(-np.inf)
    assert choice(False, True).accepts(np.bool_(True))
    assert choice(False, True).accepts(1)
    assert not choice(False, True).accepts(2)


def test_the_table_of_the_page_is_the_codes() -> None:
    assert markdown_table(clop.OBJECTS) in PAGE.read_text()
