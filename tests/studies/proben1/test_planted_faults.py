"""Faults planted in the training of PROBEN1's networks are noticed, and honest runs pass, over five seeds.

Some five minutes of training; REDELVE_STUDY_PROBEN1 may name a folder of `redelve study proben1 -o folder`
that has honest runs already.
"""

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from redelve.nets import GL, Data, Engine, Procedure, Rprop, Sets, Trained, train, training
from redelve.studies.proben1 import Proben1Study, Runs, make_study
from redelve.studies.proben1.plan import task_of
from redelve.studies.proben1.readings import LONGEST
from redelve.studies.proben1.verdicts import StudyVerdict, judge
from tests.data.proben1.genuine import FOLDER, needs_genuine

pytestmark = [pytest.mark.slow, needs_genuine]
DATASETS = ("cancer", "card", "glass", "horse", "flare", "hearta", "heartac")
Planted = Callable[[Sets, Procedure], tuple[Sets, Procedure]]


@pytest.fixture(autouse=True, scope="module")
def genuine_files() -> Any:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("REDELVE_PROBEN1", str(FOLDER))
        yield


def study(folder: Path | None = None, tables: tuple[int, ...] = (3, 4, 8, 9, 10, 11)) -> Proben1Study:
    """In one process, where a fault can be planted."""
    engine = Engine(dtype="float32", threads=1)
    return make_study(tables, datasets=DATASETS, is_check=True, engine=engine, folder=folder)


@pytest.fixture(scope="module")
def honest() -> Proben1Study:
    folder = os.environ.get("REDELVE_STUDY_PROBEN1")
    return study(Path(folder) if folder else None)


def slow_shrinking(sets: Sets, procedure: Procedure) -> tuple[Sets, Procedure]:
    """η⁻ = 0.7 instead of 0.5."""
    assert isinstance(procedure.algorithm, Rprop)
    return sets, replace(procedure, algorithm=replace(procedure.algorithm, eta_minus=0.7))


def late_stopping(sets: Sets, procedure: Procedure) -> tuple[Sets, Procedure]:
    """GL₃ instead of GL₂."""
    return sets, replace(procedure, stopping=GL(3) | LONGEST)


def stopped_by_test_cases(sets: Sets, procedure: Procedure) -> tuple[Sets, Procedure]:
    """Test cases instead of validation cases."""
    return Sets(sets.training, _test_cases()[_key(sets.training.inputs)]), procedure


def _key(inputs: np.ndarray) -> bytes:
    return np.asarray(inputs[:9], dtype=np.float32).tobytes()


def _test_cases() -> dict[bytes, Data]:
    found = {}
    for name in (f"{problem}{number}" for problem in DATASETS for number in (1, 2, 3)):
        task = task_of(name)
        (instance,) = task.instances
        columns = [column.numbers() for column in task.data.cases.columns]
        table, inputs = np.column_stack(columns), len(task.data.inputs)
        rows = table[instance.testing]
        found[_key(table[instance.training][:, :inputs])] = Data(rows[:, :inputs], rows[:, inputs:])
    return found


def judged(monkeypatch: pytest.MonkeyPatch, planted: Planted, *tables: int) -> StudyVerdict:
    def wrong(network: object, weights: object, sets: Sets, procedure: Procedure, **options: Any) -> Trained:
        return train(network, weights, *planted(sets, procedure), **options)  # type: ignore[arg-type]

    monkeypatch.setattr(training, "train", wrong)
    return study(tables=tables).verdict


def failing(verdict: StudyVerdict) -> set[str]:
    assert not verdict.passes()
    return {f"{one.part} {one.column}" for one in verdict.failures()}


def test_honest_runs_pass(honest: Proben1Study) -> None:
    assert honest.verdict.parts == ("linear", "pivot", "no-shortcut")
    assert honest.verdict.passes(), str(honest)


def test_test_errors_of_one_per_cent_too_much_fail(honest: Proben1Study) -> None:
    def scaled(runs: Runs) -> Runs:
        return replace(runs, figures=runs.figures | {"test": 1.01 * runs.figures["test"]})

    found = failing(judge(map(scaled, honest.runs)))
    assert {"linear test", "no-shortcut test"} <= found
    assert all(name.endswith("test") for name in found)


def test_steps_that_shrink_too_little_fail(monkeypatch: pytest.MonkeyPatch) -> None:
    assert {"pivot test", "pivot epochs"} <= failing(judged(monkeypatch, slow_shrinking, 8, 9))


def test_the_last_weights_instead_of_the_best_fail(monkeypatch: pytest.MonkeyPatch) -> None:
    def last(*arguments: Any, **options: Any) -> Trained:
        found = train(*arguments, **options)
        return replace(found, weights=found.final_weights)

    monkeypatch.setattr(training, "train", last)
    found = failing(study().verdict)
    assert {"linear test", "linear class", "pivot test"} <= found
    assert not any("epochs" in name for name in found)


def test_stopping_late_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    assert {"pivot gl", "pivot epochs"} <= failing(judged(monkeypatch, late_stopping, 8, 9))


def test_stopping_by_the_test_set_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    assert {"pivot test", "pivot valid"} <= failing(judged(monkeypatch, stopped_by_test_cases, 8, 9))
