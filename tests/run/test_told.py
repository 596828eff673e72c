"""What a method tells of its training goes with the record: out of cells, into archives, into frames."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import inf, nan
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest

from redelve.answers.answer import Answer
from redelve.errors import FormatError
from redelve.findings.result_frames import jobs_frame
from redelve.methods.contract import BatchMethod, Predictor
from redelve.methods.shown import TestInputs, TrainingSet
from redelve.run.cells import Limits, asking
from redelve.run.experiment import plan, run
from redelve.run.results import Record
from redelve.run.workers.child import FrameError
from redelve.store.heads import head_of
from redelve.store.layout import DocumentFields
from tests.run.toys import Toy, toy_experiment
from tests.store.made import TASK, make_archive, make_record, usual

TOLD: dict[str, float | str] = {"epochs": 12.0, "gl": nan, "worst": -inf, "stopped by": "GL(5)"}


class Chatty(Predictor):
    """Tells what it is given to tell."""

    def __init__(self, inner: Predictor, told: Any) -> None:
        self.inner, self.told = inner, told

    def predict(self, inputs: TestInputs) -> Answer:
        return self.inner.predict(inputs)


@dataclass(frozen=True)
class Talker(BatchMethod):
    """Tells how many cases it learnt from, and something that is no number where that is asked for."""

    nonsense: bool = False
    summary = "For tests."

    @property
    def identity(self) -> Mapping[str, Any]:
        return {"kind": "talker"}

    def learn_many(
        self, trainings: Sequence[TrainingSet], rngs: Sequence[np.random.Generator]
    ) -> list[Predictor]:
        lot = [int(rng.integers(100)) for rng in rngs]
        told: list[Any] = [{"cases": len(one), "lot": lot[n], "by": "me"} for n, one in enumerate(trainings)]
        inner = [Toy().learn(one, rng) for one, rng in zip(trainings, rngs, strict=True)]
        return [Chatty(*pair) for pair in zip(inner, [{"x": []}] if self.nonsense else told, strict=True)]


def records_of(method: BatchMethod, instances: int = 1, limits: Limits | None = None) -> list[Record]:
    experiment = toy_experiment({"talker": method, "toy": Toy()}, instances, limits=limits or Limits())
    return sorted(run(experiment, plan(experiment)), key=lambda record: record.job)


@pytest.mark.parametrize("limits", [Limits(), Limits(isolated=True)])
def test_each_record_has_what_its_own_predictor_told(limits: Limits) -> None:
    records = records_of(Talker(), 3, limits)
    assert [dict(record.told) for record in records[3:]] == [{}] * 3
    told = [record.told for record in records[:3]]
    assert [(one["cases"], one["by"]) for one in told] == [(20.0, "me")] * 3
    assert len({one["lot"] for one in told}) > 1
    assert [records_of(Talker(), 3)[n].told for n in range(3)] == told


def test_what_is_neither_number_nor_text_is_the_methods_failure() -> None:
    (record, _) = records_of(Talker(nonsense=True))
    assert record.status == "failed"
    assert "float() argument must be" in record.message


@pytest.mark.parametrize("told", [None, [], [{}, {}], [{"a": None}], [{"a": {}}], [3]])
def test_a_cell_is_believed_numbers_and_texts_only(told: Any) -> None:
    header = {"told": told}
    with pytest.raises(FrameError, match="is no outcome"):
        asking._told_of_training(header, 1)
    verdict = {"status": "done", "message": "", "costs": [0, 0, 0, 0], **header}
    assert asking._outcome((verdict, b"")).status == "failed"


@pytest.mark.parametrize("compacted", [False, True])
def test_an_archive_keeps_it_to_the_bit(tmp_path: Path, compacted: bool) -> None:
    tasks, methods = usual()
    silent = make_record(tasks[TASK], methods["lin"])
    archive = make_archive(tmp_path, [silent, replace(make_record(tasks[TASK], methods["knn"]), told=TOLD)])
    if compacted:
        archive.compact()
    results = archive.load()
    assert dict(results.of("lin", TASK)[0].told) == {}
    assert repr(dict(results.of("knn", TASK)[0].told)) == repr(TOLD)
    assert archive.verify().ok
    frame = jobs_frame(results).set_index("method")
    assert frame.loc["knn", "told.epochs"] == 12
    assert frame.loc["knn", "told.stopped by"] == "GL(5)"
    assert frame["told.epochs"].isna().tolist() == [False, True]


def test_an_archive_of_silent_methods_has_no_column_for_it(tmp_path: Path) -> None:
    archive = make_archive(tmp_path)
    archive.compact()
    (path,) = (tmp_path / "circumstances").glob("*.parquet")
    assert "told" not in pq.read_schema(path).names
    assert b'"told"' not in path.read_bytes()


def test_merging_takes_it_over(tmp_path: Path) -> None:
    tasks, methods = usual()
    one = make_archive(tmp_path / "one")
    record = replace(make_record(tasks[TASK], methods["knn"], 0, 1), told=TOLD)
    one.merge(make_archive(tmp_path / "other", [record]))
    assert repr(dict(one.load().of("knn", TASK)[1].told)) == repr(TOLD)


@pytest.mark.parametrize("told", ["x", [1], [{"name": 3, "text": "a"}], [{"name": "a", "number": "high"}]])
def test_what_cannot_have_been_told_is_refused(tmp_path: Path, told: Any) -> None:
    tasks, methods = usual()
    archive = make_archive(tmp_path, [make_record(tasks[TASK], methods["lin"])])
    head, _ = archive._prepared(make_record(tasks[TASK], methods["lin"]))
    with pytest.raises(FormatError):
        head_of(DocumentFields(tmp_path, {**head.document(), "told": told}))
