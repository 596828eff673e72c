"""Which inputs matter: the inputs that networks use are told, as a table, as text and as a figure."""

from functools import partial

import numpy as np
import pandas as pd
import pytest

from redelve.cli.information import dinfo
from redelve.errors import SpecError
from redelve.performance import input_relevance
from redelve.performance.input_relevance import input_relevances


@pytest.fixture(scope="module")
def table() -> pd.DataFrame:
    """Of four inputs the second and the level of a fifth matter."""
    random = np.random.default_rng(3)
    frame = pd.DataFrame(random.normal(size=(400, 4)), columns=["a", "b", "c", "d"])
    frame["kind"] = random.choice(["left", "right"], 400)
    frame["y"] = np.sin(2 * frame["b"]) + (frame["kind"] == "left") + 0.1 * random.normal(size=400)
    return frame


def test_the_inputs_that_matter_come_first(table: pd.DataFrame) -> None:
    found = input_relevances(table, target="y", sets=2, passes=3000, chains=2)
    told = found.frame().set_index("input")
    assert set(told.index[told["rank"] <= 2]) == {"b", "kind"}
    assert told["relevance"]["b"] > 3 * told["relevance"]["a"]
    assert (told["low"] <= told["relevance"]).all()
    assert (told["relevance"] <= told["high"]).all()
    assert sorted(told["rank"]) == [1, 2, 3, 4, 5]
    lines = str(found).splitlines()
    assert {lines[1].split()[0], lines[2].split()[0]} == {"b", "kind"}
    assert lines[1].endswith("#" * 30)
    axes = found.plot()
    assert {axes.get_yticklabels()[k].get_text() for k in (-1, -2)} == {"b", "kind"}


def test_what_cannot_be_told_is_refused(table: pd.DataFrame) -> None:
    with pytest.raises(SpecError, match='"mlp-mc-4" has no relevances: use one with relevance determination'):
        input_relevances(table, target="y", method="mlp-mc-4")
    with pytest.raises(SpecError, match="there are no training sets of 7 cases: there are 64, 128"):
        input_relevances("pumadyn-8nm/accel", size=7)
    with pytest.raises(SpecError, match='target "kind" is categorical'):
        input_relevances(table, target="kind", passes=400)


def test_dinfo_tells_relevances_by_key(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    short = partial(input_relevances, passes=300, chains=1, sets=1)
    monkeypatch.setattr(input_relevance, "input_relevances", short)
    assert dinfo(["-k", "relevances", "/pumadyn-8nm/accel/std.64"]) == 0
    assert "Relevance of the inputs of /pumadyn-8nm/accel/std.64" in capsys.readouterr().out
    assert dinfo(["-t", "-k", "relevances", "/pumadyn-8nm/accel/std.64"]) == 0
    assert capsys.readouterr().out.split()[::2][:2] == ["theta1", "theta2"]
    assert dinfo(["-k", "relevances", "/pumadyn-8nm"]) == 1
    assert '"relevances" are those of a prototask or a task: name one' in capsys.readouterr().err
