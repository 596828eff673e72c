"""No method touches another: a rival's records are the same to the bit, whatever is imported beside it."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import Ridge

from redelve.methods.adapters.sklearn_adapter import sklearn_method
from redelve.methods.contract import Method
from redelve.run.cells import Limits
from redelve.run.experiment import plan, run
from redelve.run.workers import InProcess, Processes, Workers
from tests.run import toys
from tests.run.hostile import HOSTILE, Importing, tells_its_state
from tests.run.toys import Toy, content, toy_experiment


def rivals() -> dict[str, Method]:
    return {
        "quick": Toy(),
        "state": Toy(tells_its_state),
        "drawing": Toy(toys.draws_global_numbers),
        "ridge": sklearn_method(Ridge(), inputs="encoded"),
    }


@pytest.fixture
def hostile(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Method]:
    for name, text in HOSTILE.items():
        (tmp_path / f"{name}.py").write_text(text)
    monkeypatch.syspath_prepend(str(tmp_path))
    return {name: Importing(None, name) for name in HOSTILE}


def contents(methods: Mapping[str, Method], workers: Workers, instances: int = 2) -> dict[str, list[Any]]:
    """What is in the records of each method; those of before them in the same run may be of any other."""
    experiment = toy_experiment(methods, instances, limits=Limits(isolated=True))
    found: dict[str, list[Any]] = {name: [] for name in methods}
    for record in sorted(run(experiment, plan(experiment), workers), key=lambda one: one.job):
        found[record.job.method].append(content(record))
    return found


def check_untouched(hostile: Mapping[str, Method], orders: Sequence[Sequence[str]], workers: Workers) -> None:
    every = {**hostile, **rivals()}
    alone = contents(rivals(), InProcess())
    statuses = {name: [one[3] for one in found] for name, found in alone.items()}
    assert set(map(tuple, statuses.values())) == {("done", "done")}
    for order in orders:
        beside = contents({name: every[name] for name in order}, workers)
        for name in alone:
            assert beside[name] == alone[name], name


def test_rivals_of_hostile_modules_have_the_same_records(hostile: Mapping[str, Method]) -> None:
    check_untouched(hostile, [[*hostile, *rivals()]], InProcess())


@pytest.mark.slow
def test_no_order_and_no_worker_makes_a_difference(hostile: Mapping[str, Method]) -> None:
    chance = random.Random(13)
    orders = [chance.sample([*hostile, *rivals()], len(hostile) + len(rivals())) for _ in range(6)]
    check_untouched(hostile, orders[:3], InProcess())
    check_untouched(hostile, orders[3:], Processes(2))


def test_each_cell_of_a_method_imports_its_module_anew(hostile: Mapping[str, Method]) -> None:
    (found,) = contents({"shares_memory": hostile["shares_memory"]}, InProcess(), 3).values()
    assert [one[3] for one in found] == ["done"] * 3


def test_no_module_of_a_method_is_imported_by_a_worker(hostile: Mapping[str, Method]) -> None:
    """The worker that scores has the truths: what a method's module does to scoring must not reach it."""
    methods = {"patches_redelve": hostile["patches_redelve"], "quick": Toy()}
    assert contents(methods, Processes(1))["quick"] == contents({"quick": Toy()}, InProcess())["quick"]


def test_a_module_that_was_imported_here_does_not_change_how_answers_are_scored() -> None:
    experiment = toy_experiment({"quick": Toy()}, 1, limits=Limits(isolated=True))
    before = np.seterr(all="raise")
    try:
        (record,) = run(experiment, plan(experiment))
    finally:
        np.seterr(**before)
    assert record.status == "done"
