"""`redelve apply`: a built-in method's predictions as DELVE's files, which mloss and mstats then take."""

from __future__ import annotations

from pathlib import Path

import pytest

from redelve.answers.answer import losses_for, score
from redelve.data.delve.prediction_files import answer_files
from redelve.methods.conformance.small_tasks import make_trial
from redelve.methods.contract import METHODS
from redelve.seeds import generator
from tests.cli.workbench import Workbench, column
from tests.conftest import RunCommand


@pytest.fixture
def bench(tmp_path: Path, run_command: RunCommand, delve_home: Path) -> Workbench:
    return Workbench.at(tmp_path, run_command)


def test_any_method_can_be_applied_and_scored(bench: Workbench) -> None:
    folder = bench.task("constant", "demo/age/std.32")
    bench.do("apply", "constant", "-q", cwd=folder)
    bench.do("mloss", "-q", cwd=folder)
    stems = {path.name.rpartition(".")[0] for path in folder.iterdir()}
    assert {"guess", "guess.A", "lptarg.L", "loss.S", "loss.A", "loss.L"} <= stems
    assert "standardized" in bench.do("mstats", "-l", "S", cwd=folder).out.lower()


def test_it_gives_the_same_each_time(bench: Workbench) -> None:
    folder = bench.task("lasso", "demo/age/std.32")
    bench.do("apply", "lasso", "-q", cwd=folder)
    first = column(folder / "guess.0")
    bench.do("apply", "lasso", "-q", cwd=folder)
    assert column(folder / "guess.0") == first


def test_targets_that_a_method_can_not_predict_are_refused(bench: Workbench) -> None:
    folder = bench.task("logistic", "demo/age/std.32")
    assert '"logistic" predicts levels, but target "AGE" is real' in bench.fail(
        "apply", "logistic", cwd=folder
    )


def test_coded_guesses_of_another_run_are_not_mixed_in(bench: Workbench) -> None:
    folder = bench.task("knn-cv-1", "demo/age/std.32")
    (folder / "cguess.0").write_text("0\n")
    assert "cguess.0 is there" in bench.fail("apply", "knn-cv-1", cwd=folder)


def test_without_data_files_one_is_told_what_to_run(bench: Workbench) -> None:
    bench.do("mgendir", "-q", "demo/age/std.32", cwd=bench.method("ridge"))
    assert "run mgendata first" in bench.fail("apply", "ridge", cwd=bench.method("ridge") / "demo/age/std.32")


def test_probabilities_are_written_for_levels() -> None:
    trial = make_trial("nominal")
    answer = METHODS["constant"].learn(trial.training, generator("x")).predict(trial.inputs)
    files = dict(answer_files(answer, trial.truths))
    assert files.keys() == {"guess", "guess.A", "guess.Z", "prob"}
    assert files["guess"].splitlines()[0] in ("red", "green", "blue")
    shares = [float(word) for word in files["prob"].splitlines()[0].split()]
    assert sum(shares) == pytest.approx(1)
    assert {"L", "Q", "Z"} <= score(answer, trial.truths, losses_for(trial.targets)).keys()
