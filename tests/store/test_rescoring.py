"""New losses from old predictions."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from redelve.answers.answer import Answer, baselines_by_loss, losses_for, score
from redelve.answers.losses import parse_loss
from redelve.answers.predictions import ClassProbabilities, Target
from redelve.errors import SpecError
from redelve.run.more_losses import all_truths
from redelve.run.results import Record
from redelve.store import Archive
from tests.store.made import TASK, make_method, make_record, make_task

CLASS = Target("class", "categorical", ("well", "ill"))


def archive_with(root: Path, records: list[Record], *, compact: bool = True) -> Archive:
    archive = Archive.open(root, create=True)
    archive.register({TASK: make_task(codes=["S"])}, {"lin": make_method()})
    for record in records:
        archive.add(record)
    if compact:
        archive.compact()
    return archive


@pytest.mark.parametrize("compact", [True, False])
def test_new_losses_are_those_that_scoring_would_have_given(tmp_path: Path, compact: bool) -> None:
    task, method = make_task(codes=["S"]), make_method()
    records = [make_record(task, method, instance, codes=["S"]) for instance in range(3)]
    archive = archive_with(tmp_path / "a", records, compact=compact)
    results = archive.rescore(["C", "A", "S"])
    for record in Archive.open(tmp_path / "a").load().records:
        answer = records[record.job.instance].answer
        assert answer is not None
        expected = score(
            answer, task.instances[record.job.instance].truths, losses_for(task.targets, ["C", "A", "S"])
        )
        assert set(record.losses) == {"A", "C", "S"}
        for code, losses in expected.items():
            np.testing.assert_array_equal(record.losses[code], losses)
    assert archive.verify().ok
    everything = make_task(codes=["C", "A", "S"]).baselines
    assert {code: pytest.approx(value) for code, value in everything.items()} == results.task(TASK).baselines


def test_rescored_archives_have_the_same_files_as_scored_ones(tmp_path: Path) -> None:
    task, method = make_task(), make_method()
    archive_with(tmp_path / "few", [make_record(task, method, n, codes=["S"]) for n in range(3)]).rescore(
        ["A"]
    )
    archive_with(tmp_path / "all", [make_record(task, method, n, codes=["A", "S"]) for n in range(3)])
    few, every = (sorted((tmp_path / name).rglob("losses/**/*.parquet")) for name in ("few", "all"))
    assert [path.read_bytes() for path in few] == [path.read_bytes() for path in every]


def test_merging_a_rescored_archive_is_no_conflict(tmp_path: Path) -> None:
    task, method = make_task(), make_method()
    records = [make_record(task, method, n, codes=["S"]) for n in range(3)]
    here, there = archive_with(tmp_path / "here", records), archive_with(tmp_path / "there", records)
    there.rescore(["C"])
    assert here.merge(there).conflicts == ()


def test_losses_that_do_not_suit_are_left_out(tmp_path: Path) -> None:
    task, method = make_task(), make_method()
    bare = make_record(task, method, 1)
    no_answer = Record(bare.job, bare.digest, 0, "done", {"S": bare.losses["S"]})
    archive = archive_with(tmp_path / "a", [make_record(task, method, codes=["S"]), no_answer])
    results = archive.rescore(["Z", "A"])
    assert [sorted(record.losses) for record in results.records] == [["A", "S"], ["S"]]
    with pytest.raises(SpecError, match='unknown loss "X"'):
        archive.rescore(["X"])


def test_a_loss_matrix_can_be_given_as_a_loss(tmp_path: Path) -> None:
    task, method = make_task(targets=[CLASS]), make_method()
    rows = np.random.default_rng(1).random((5, 2))
    answer = Answer(probabilities=ClassProbabilities.from_probabilities(CLASS, rows))
    archive = Archive.open(tmp_path / "a", create=True)
    archive.register({TASK: task}, {"lin": method})
    archive.add(make_record(task, method, answer=answer))
    costs = parse_loss("Mcosts", lambda _: "0 10\n1 0\n")
    results = archive.rescore([costs])
    (record,) = results.records
    expected = costs.of(task.instances[0].truths, answer.for_loss(costs))  # type: ignore[arg-type]
    np.testing.assert_array_equal(record.losses["Mcosts"], expected)
    baseline = baselines_by_loss(all_truths(task), [costs])
    assert results.task(TASK).baselines["Mcosts"] == pytest.approx(baseline["Mcosts"])
    assert archive.verify().ok
