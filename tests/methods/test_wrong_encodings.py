"""What an encoding of somebody else's does wrong is told of the encoding, wherever its numbers are used."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from redelve.errors import ExtensionError
from redelve.methods.conformance.small_tasks import SmallTask, make_trial
from redelve.methods.views import View
from redelve.model import AttributePrior
from redelve.model.encodings import Encoding, encodings
from tests.model.test_encoding_checks import FAULTS, Faulty


def is_real(prior: AttributePrior) -> bool:
    return prior.type == "real"


@pytest.fixture(params=FAULTS.values(), ids=tuple(FAULTS))
def told(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """What is said of the encoding that all real numbers get."""
    monkeypatch.setattr(Faulty, "do", staticmethod(request.param[0]), raising=False)
    encodings.add("faulty", Encoding("faulty", Faulty, ("real",), is_real, place=-1))
    yield request.param[1]
    encodings.remove("faulty")


@pytest.mark.parametrize(
    "numbers",
    [
        lambda trial: trial.training.encode().inputs,
        lambda trial: trial.training.encode().targets,
        lambda trial: trial.training.encode().encode_inputs(trial.inputs),
        lambda trial: View(trial.training).columns(0),
    ],
    ids=["training inputs", "training targets", "test inputs", "targets as learnt"],
)
def test_a_method_is_not_blamed_for_it(numbers: Callable[[SmallTask], object], told: str) -> None:
    with pytest.raises(ExtensionError, match=told):
        numbers(make_trial("real", inputs=("real",)))
