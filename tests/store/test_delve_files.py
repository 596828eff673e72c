"""Archives and DELVE's method directories: what is exported can be analysed there and read back."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from redelve.answers.answer import Answer
from redelve.answers.distributions import Normal
from redelve.answers.predictions import ClassProbabilities, Guesses, Target, TargetDistributions
from redelve.data.delve.method_tasks import MethodTask
from redelve.data.delve.reading import Library
from redelve.data.delve.roots import DataAddress, MethodAddress, active
from redelve.errors import FormatError, LocationError, SpecError
from redelve.findings import compare_methods
from redelve.methods.contract import Method
from redelve.methods.shown import TestInputs, TrainingSet
from redelve.run.experiment import Experiment, plan, run
from redelve.run.results import TaskFacts
from redelve.stats import anova
from redelve.store import Archive
from redelve.store.loss_files import losses_as_results
from tests.conftest import RunCommand
from tests.store.made import TASK, failed, make_archive, make_method, make_record, make_task

ADDRESS = "/demo/age/std.32"


class Guesser(Method):
    """The mean of the training targets, give or take a constant, with a Gaussian around it."""

    summary = "Answers with the mean of the training targets."

    def __init__(self, shift: float) -> None:
        self.shift = shift

    @property
    def identity(self) -> dict[str, Any]:
        return {"kind": "guesser", "shift": self.shift}

    def learn(self, training: TrainingSet, rng: np.random.Generator) -> Guesser:
        values = training.target_values()
        self.targets, self.mean, self.spread = training.targets, values.mean() + self.shift, values.std()
        return self

    def predict(self, inputs: TestInputs) -> Answer:
        count = len(inputs)
        each = Normal(np.full(count, self.mean) + np.arange(count) / count, np.full(count, self.spread))
        return Answer(distributions=TargetDistributions(self.targets, (each,)))


@pytest.fixture(scope="module")
def assessed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two methods on a task of the demo dataset, two runs each, by the runner."""
    root = tmp_path_factory.mktemp("assessed") / "archive"
    source = Library(active()).task(DataAddress.parse(ADDRESS))
    experiment = Experiment(
        {"low": Guesser(0.0), "high": Guesser(9.0)}, {ADDRESS: source.assignment()}, runs=2
    )
    archive = Archive.open(root, create=True)
    described = experiment.results(())
    archive.register(described.tasks, described.methods)
    for number, record in enumerate(run(experiment, plan(experiment))):
        if number == 5:
            break
        archive.add(record)
    rest = plan(experiment, done=archive.done())
    assert len(rest) == len(plan(experiment)) - 5
    for record in run(experiment, rest):
        archive.add(record)
    assert plan(experiment, done=archive.done()) == []
    archive.compact()
    return root


def test_an_experiment_is_kept_and_resumed(assessed: Path) -> None:
    archive = Archive.open(assessed)
    report = archive.verify()
    assert report.problems == ()
    assert report.records == len(archive.load().records) > 0
    record = archive.load(answers=True).records[0]
    assert record.answer is not None
    assert record.environment["numpy"] == np.__version__
    assert record.costs.training_seconds is not None


def test_mstats_finds_in_the_export_what_the_losses_say(
    assessed: Path, tmp_path: Path, run_command: RunCommand, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "delve-export"
    report = Archive.open(assessed).export_delve(target)
    assert report.left_out == ("losses C: DELVE does not know them",)
    assert len(report.directories) == 2
    monkeypatch.setenv("DELVE_PATH", f"{target}:{_builtin()}")
    said = run_command("mstats", ["-j", "-l", "S", "-c", "low", f"/high{ADDRESS}"])
    assert said.code == 0, said.err
    results = Archive.open(assessed).load()
    tables = [
        [record.losses["S"] for record in results.of(name, ADDRESS) if record.job.run == 0]
        for name in ("high", "low")
    ]
    expected = anova.compare_hierarchical(*tables)
    (summary,) = json.loads(said.out)
    for name in ("mean_first", "mean_second", "statistic", "p_value"):
        assert summary[name] == pytest.approx(getattr(expected, name), rel=1e-8), name
    baseline = results.task(ADDRESS).baselines["S"]
    assert baseline is not None
    assert expected.mean_first is not None
    assert summary["standardized_mean_first"] == pytest.approx(expected.mean_first / baseline, rel=1e-8)
    alone = run_command("mstats", ["-l", "L", f"/low{ADDRESS}"])
    assert alone.code == 0, alone.err
    both = run_command("mstats", ["-l", "S", "-i", "loss,loss-run1", f"/low{ADDRESS}"])
    assert both.code == 0, both.err
    told = run_command("minfo", [f"/low{ADDRESS}"])
    assert told.code == 0, told.err
    assert "Training set size: 32" in told.out


def test_loss_files_are_results_like_those_of_the_archive(
    assessed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "delve-export"
    Archive.open(assessed).export_delve(target)
    monkeypatch.setenv("DELVE_PATH", f"{target}:{_builtin()}")
    high, low = (
        MethodTask(Library(active()), MethodAddress.parse(f"/{name}{ADDRESS}")) for name in ("high", "low")
    )
    bases = ("loss", "loss-run1")
    there = losses_as_results(high, high.loss("S"), bases=bases, other=low)
    kept = Archive.open(assessed).load().select(methods=("high", "low"))
    assert [record.job for record in there.records] == [record.job for record in kept.records]
    for one, other in zip(there.records, kept.records, strict=True):
        np.testing.assert_array_equal(one.losses["S"], other.losses["S"])
    (ours,), (theirs,) = (compare_methods(found, "high", "low", [ADDRESS], "S") for found in (there, kept))
    assert ours.test == theirs.test


def test_a_method_can_be_compared_with_itself(
    assessed: Path, tmp_path: Path, run_command: RunCommand, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "delve-export"
    Archive.open(assessed).export_delve(target)
    monkeypatch.setenv("DELVE_PATH", f"{target}:{_builtin()}")
    said = run_command("mstats", ["-j", "-l", "S", "-c", "high", f"/high{ADDRESS}"])
    assert said.code == 0, said.err
    assert json.loads(said.out)[0]["estimate"] == 0


def _builtin() -> str:
    from redelve.data.delve.roots import make_builtin_root

    return make_builtin_root()


def test_mloss_computes_the_same_from_the_exported_predictions(
    assessed: Path, tmp_path: Path, run_command: RunCommand, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "delve-export"
    Archive.open(assessed).export_delve(target)
    monkeypatch.setenv("DELVE_PATH", f"{target}:{_builtin()}")
    folder = target / "methods" / "low" / ADDRESS[1:]
    before = {path.name: np.loadtxt(path) for path in folder.glob("loss.*")}
    said = run_command("mloss", ["-q", "."], cwd=folder)
    assert said.code == 0, said.err
    for name, losses in before.items():
        np.testing.assert_allclose(np.loadtxt(folder / name), losses, rtol=1e-7)


def facts_from(archive: Archive) -> Any:
    tasks = archive.load().tasks

    def facts_of(address: str, folder: Path) -> TaskFacts:
        assert folder.is_dir()
        return tasks[address]

    return facts_of


def test_what_is_exported_can_be_imported_again(assessed: Path, tmp_path: Path) -> None:
    first = Archive.open(assessed)
    first.export_delve(tmp_path / "delve-x")
    second = Archive.open(tmp_path / "again", create=True)
    count = second.import_delve(tmp_path / "delve-x", facts_from(first))
    second.compact()
    assert count == len(first.load().records)
    assert second.verify().problems == ()
    for one, other in zip(first.load().records, second.load(answers=True).records, strict=True):
        assert one.job == other.job
        assert set(other.losses) == set(one.losses) - {"C"}
        for code in other.losses:
            np.testing.assert_array_equal(one.losses[code], other.losses[code])
        assert other.answer is not None
        assert set(other.answer.guesses_for) == {"A", "S"}
        assert other.environment == {"imported": "DELVE files"}
    assert second.load().method("low").summary == "Answers with the mean of the training targets.\n"


def test_importing_twice_adds_nothing(assessed: Path, tmp_path: Path) -> None:
    first = Archive.open(assessed)
    first.export_delve(tmp_path / "delve-x")
    second = Archive.open(tmp_path / "again", create=True)
    for _ in range(2):
        second.import_delve(tmp_path / "delve-x", facts_from(first))
    second.compact()
    assert second.done() == {record.digest for record in second.load().records}
    assert second.verify().ok


KINDS = Target("kind", "categorical", ("cat", "dog", "x:y"))


def test_classes_and_silence_survive_export_and_import(tmp_path: Path) -> None:
    task, method = make_task(targets=[KINDS], instances=1), make_method()
    rows = np.array([[0.1, 0.2, 0.7], [1, 0, 0], [0.3, 0.3, 0.4], [0, 1, 0], [0.2, 0.5, 0.3]])
    silent = Guesses((KINDS,), (np.array([0, 1, np.nan, 2, 1]),))
    answer = Answer(
        probabilities=ClassProbabilities.from_probabilities(KINDS, rows), guesses_for={"Z0.2N": silent}
    )
    record = make_record(task, method, answer=answer, codes=["Z", "Q", "L", "Z0.2N"])
    archive = Archive.open(tmp_path / "a", create=True)
    archive.register({TASK: task}, {"lin": method})
    archive.add(record)
    archive.export_delve(tmp_path / "delve-x")
    folder = tmp_path / "delve-x" / "methods" / "lin" / TASK[1:]
    assert (folder / "guess.Z0.2N.0").read_text().split() == ["cat", "dog", "?", "x:y", "dog"]
    for path in list(folder.glob("l*.0")):
        path.with_name(path.name + ".gz").write_bytes(gzip.compress(path.read_bytes()))
        path.unlink()
    again = Archive.open(tmp_path / "b", create=True)
    assert again.import_delve(tmp_path / "delve-x" / "methods" / "lin", facts_from(archive)) == 1
    (back,) = again.load(answers=True).records
    assert back.answer is not None
    assert back.answer.guesses_for["Z0.2N"] == silent
    assert back.answer.probabilities is not None
    np.testing.assert_allclose(back.answer.probabilities.values, rows, rtol=1e-12)
    for code, losses in record.losses.items():
        np.testing.assert_array_equal(back.losses[code], losses)


def test_what_delve_has_no_room_for_is_told(tmp_path: Path) -> None:
    task, method = make_task(), make_method()
    record = make_record(task, method)
    archive = make_archive(tmp_path / "a", [failed(record)])
    folds = replace(make_task("/demo/age/std.64"), scheme="cross-validation", digest="folds")
    table = replace(make_task("/my-table"), digest="table")
    archive.register({folds.address: folds, table.address: table}, {})
    archive.add(make_record(folds, method))
    archive.add(make_record(table, method))
    with pytest.raises(SpecError, match=r'a name that starts with "delve": call it .*delve-x'):
        archive.export_delve(tmp_path / "x")
    report = str(archive.export_delve(tmp_path / "delve-x"))
    assert "/lin/demo/age/std.32, instance 0: it failed (ValueError: no)" in report
    assert "/demo/age/std.64 is cross-validated" in report
    assert "/lin/my-table is no address in DELVE's sense" in report


def test_a_folder_without_a_name_of_its_own_is_no_delve_directory(tmp_path: Path) -> None:
    with pytest.raises(SpecError, match=r"call it delve$"):
        make_archive(tmp_path / "a").export_delve(".")


def test_bad_directories_are_told(tmp_path: Path) -> None:
    task, method = make_task(instances=1), make_method()
    archive = Archive.open(tmp_path / "a", create=True)
    archive.register({TASK: task}, {"lin": method})
    archive.add(make_record(task, method))
    archive.export_delve(tmp_path / "delve-x")
    other = Archive.open(tmp_path / "b", create=True)
    facts_of = facts_from(archive)
    with pytest.raises(LocationError, match="no such directory"):
        other.import_delve(tmp_path / "delve-y", facts_of)
    with pytest.raises(LocationError, match="no loss files"):
        other.import_delve(tmp_path / "a", facts_of)
    folder = tmp_path / "delve-x" / "methods" / "lin" / TASK[1:]
    for name, text, message in (
        ("loss.S.0", "1.0\n2.0\n", "expected 5 lines, one a test case, but got 2"),
        ("loss.S.0", "1\n2\nx\n4\n5\n", 'expected a loss but got "x"'),
        ("loss.S.0", "1\n2\n-3\n4\n5\n", "loss S is -3, but the squared error of a case is never below 0"),
        ("guess.S.0", "1\n2\nx\n4\n5\n", 'guess "x" for target "age" is not allowed'),
        ("loss.S.7", "1\n", "there is no instance 7: the task has 1"),
    ):
        path = folder / name
        before = path.read_text() if path.exists() else None
        path.write_text(text)
        with pytest.raises(FormatError, match=message):
            other.import_delve(tmp_path / "delve-x", facts_of)
        path.unlink() if before is None else path.write_text(before)
    assert other.import_delve(tmp_path / "delve-x", facts_of) == 1


def test_losses_that_contradict_the_guesses_beside_them_are_told(tmp_path: Path) -> None:
    task, method = make_task(instances=1), make_method()
    archive = Archive.open(tmp_path / "a", create=True)
    archive.register({TASK: task}, {"lin": method})
    archive.add(make_record(task, method))
    archive.export_delve(tmp_path / "delve-x")
    path = tmp_path / "delve-x" / "methods" / "lin" / TASK[1:] / "loss.S.0"
    losses = np.loadtxt(path)

    def notes(name: str, losses: Iterable[float]) -> tuple[str, ...]:
        path.write_text("".join(f"{loss:.4g}\n" for loss in losses))
        other = Archive.open(tmp_path / name, create=True)
        other.import_delve(tmp_path / "delve-x", facts_from(archive))
        return other.verify().notes

    assert notes("b", losses) == ()  # a matter of digits
    (note,) = notes("c", [3 * losses[0] + 3, *losses[1:]])
    assert note.startswith(f"losses S of /lin{TASK}, instance 0 do not follow from the predictions")


def test_losses_that_cannot_be_are_found_in_archives(tmp_path: Path) -> None:
    task, method = make_task(instances=1), make_method()
    record = make_record(task, method)
    losses = {**record.losses, "S": np.array([1.0, 2.0, -3.0, 4.0, 5.0]), "L": np.full(5, -3.0)}
    imported = replace(record, answer=None, losses=losses, environment={"imported": "DELVE files"})
    report = make_archive(tmp_path / "a", [imported]).verify()
    (problem,) = report.problems  # a density may be above 1
    assert "case 3: the loss S is -3, but the squared error of a case is never below 0" in problem
