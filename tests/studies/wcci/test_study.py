"""The study of ways: problems, trials that resume, statistics by training sets, what is written."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy import stats as scipy_stats

from redelve.cli.main import main
from redelve.errors import SpecError, StatisticsError
from redelve.performance import PerformanceGuess
from redelve.run.experiment import lessons_of
from redelve.store import Archive
from redelve.studies import ARCHIVE
from redelve.studies.wcci import PROBLEMS, TrialTask, Tried, WcciPlan, make_trials
from redelve.studies.wcci.classifiers import as_matrix, guess_of, told_of
from redelve.studies.wcci.guess_trials import QUICK, WAYS
from redelve.studies.wcci.two_class_problems import Pool
from redelve.studies.wcci.two_class_tasks import task_of
from redelve.studies.wcci.way_findings import compare, find, stratified_mean, study_of
from redelve.studies.wcci.way_tables import answers, describe
from redelve.studies.wcci.wcci_page import guesses_csv, write_study

TINY = WcciPlan(
    problems=("twonorm",),
    classifiers=("logistic", "selection"),
    instances=2,
    ways=("holdout:0.3", "kfold:5", "vc"),
    selection_ways=("uncorrected:10", "bbc:10x500"),
)


@pytest.mark.parametrize("name", list(PROBLEMS))
def test_problems_have_two_classes_and_training_sets_that_differ(name: str) -> None:
    problem = PROBLEMS[name]
    first, again, second = problem.training(0), problem.training(0), problem.training(1)
    assert set(np.unique(first.labels)) == {-1, 1}
    assert first.inputs.shape[0] == len(first.labels) == problem.training_cases
    assert abs(first.inputs - again.inputs).sum() == 0
    assert abs(first.inputs - second.inputs).sum() > 0
    assert len(problem.testing(0).labels) > 1500


def test_a_pool_never_tests_on_training_cases() -> None:
    problem = PROBLEMS["digits"]
    assert isinstance(problem, Pool)
    total = len(problem.cases().labels)
    assert len(problem.training(3).labels) + len(problem.testing(3).labels) == total
    assert not set(problem.rows(0)) & set(problem.rows(1))
    with pytest.raises(SpecError, match="ask for fewer instances"):
        problem.training(17)


def test_the_error_of_twonorm_is_near_what_breiman_tells() -> None:
    """Breiman (1996): the smallest possible error is 2.3 %."""
    sample = PROBLEMS["twonorm"].testing(0)
    wrong = np.sign(sample.inputs.sum(axis=1)) != sample.labels
    assert wrong.mean() == pytest.approx(0.0228, abs=0.005)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("trials")


@pytest.fixture(scope="module")
def first(folder: Path) -> list[Tried]:
    told: list[str] = []
    found = list(make_trials(TINY, folder, told.append))
    assert len(told) == len(found) == 4
    return found


def test_trials_are_kept_and_gone_on_with(first: list[Tried], tmp_path: Path) -> None:
    told: list[str] = []

    def stopping(what: str) -> None:
        told.append(what)
        if what.startswith("4"):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        make_trials(TINY, tmp_path, stopping)
    assert len(told) == 4
    told.clear()
    again = make_trials(TINY, tmp_path, told.append)
    assert told == ["4 of 4: twonorm, selection, 1"]
    assert [one.truth for one in again] == [one.truth for one in first]
    values = [[guess.value for guess in one.guesses] for one in again]
    assert values == [[guess.value for guess in one.guesses] for one in first]
    told.clear()
    more = replace(TINY, ways=(*TINY.ways, "kfold:2"))
    assert [len(one.guesses) for one in make_trials(more, tmp_path, told.append)] == [4, 2, 4, 2]
    assert len(told) == 2
    assert Archive.open(tmp_path / ARCHIVE).verify().ok


def test_guesses_come_back_from_what_was_told() -> None:
    full = PerformanceGuess("kfold:10", 0.1, 0.05, 1 / 3, 0.02, "folds", 10, 1.5, ("few", "cases"))
    bare = PerformanceGuess("vc", None, None, None, None, "", 0, 0.0)
    told = told_of([full, bare])
    assert guess_of(told, "kfold:10") == full
    assert guess_of(told, "vc") == bare
    assert told["kfold:10 low"] == 0.05
    assert "vc low" not in told


@pytest.mark.parametrize("name", list(PROBLEMS))
def test_a_task_shows_the_problems_own_cases(name: str) -> None:
    task, problem = task_of(name, 2), PROBLEMS[name]
    for number in (0, 1):
        training, inputs = lessons_of(task, task.instances[number])
        sample, testing = problem.training(number), problem.testing(number)
        shown = as_matrix(training.input_columns)
        assert type(shown) is type(sample.inputs)
        assert abs(shown - sample.inputs).sum() == 0
        assert abs(as_matrix(inputs.cases.columns) - testing.inputs).sum() == 0
        assert (training.target_values() * 2 - 1).tolist() == sample.labels.tolist()


def test_a_bad_plan_is_refused() -> None:
    with pytest.raises(SpecError, match='unknown problem "x"'):
        WcciPlan(problems=("x",))
    with pytest.raises(SpecError, match='unknown classifier "x"'):
        WcciPlan(classifiers=("x",))
    with pytest.raises(SpecError, match="two instances"):
        WcciPlan(instances=1)


def test_the_truth_is_that_of_the_model_trained_on_all_cases(tmp_path: Path) -> None:
    plan = replace(TINY, classifiers=("logistic",), ways=("apparent",))
    tried = make_trials(plan, tmp_path)[0]
    assert tried.task == TrialTask("twonorm", "logistic", 0)
    assert 0.02 < tried.truth < 0.08
    assert tried.test_cases == 10_000
    assert tried.guesses[0].value is not None
    assert tried.guesses[0].value < tried.truth  # on average; here too


def made(problem: str, classifier: str, instance: int, value: float, truth: float) -> Tried:
    guesses = tuple(
        PerformanceGuess(way, value + shift, value + shift - 0.1, value + shift + 0.1, None, "", 1, 0.1)
        for way, shift in (("kfold:10", 0.0), ("loo", 0.02))
    )
    return Tried(TrialTask(problem, classifier, instance), truth, 0.001, 100, 1000, guesses)


def test_training_sets_are_the_unit_of_replication() -> None:
    """Two classifiers on a training set count as one; problems are strata."""
    values = {("a", 0): (0.1, 0.3), ("a", 1): (0.2, 0.6), ("b", 0): (0.0, 0.0), ("b", 1): (0.4, 0.2)}
    trials = [
        made(problem, classifier, instance, value, 0.0)
        for (problem, instance), pair in values.items()
        for classifier, value in zip(("x", "y"), pair, strict=True)
    ]
    found = find(trials)
    delta = found.way("kfold:10").delta
    assert delta.mean == pytest.approx((0.3 + 0.15) / 2)
    assert delta.standard_error == pytest.approx(np.sqrt((0.2**2 / 2 + 0.3**2 / 2) / 2) / 2)
    assert delta.degrees_of_freedom == 2
    assert found.way("kfold:10").by_problem == pytest.approx({"a": 0.3, "b": 0.15})
    assert found.way("kfold:10").by_classifier == pytest.approx({"x": 0.175, "y": 0.275})
    coverage = found.way("kfold:10").coverage
    assert coverage is not None
    assert coverage.mean == pytest.approx((np.mean([0.5, 0.0]) + np.mean([1.0, 0.0])) / 2)


def test_ways_are_compared_by_a_paired_t_test() -> None:
    rng = np.random.default_rng(1)
    first, second = rng.normal(size=8), rng.normal(size=8)
    found = compare({"a": first}, {"a": second})
    expected = scipy_stats.ttest_rel(first, second)
    assert found.p_value == pytest.approx(expected.pvalue)
    assert found.difference == pytest.approx((first - second).mean())


def test_one_training_set_has_no_standard_error() -> None:
    with pytest.raises(StatisticsError, match="two training sets"):
        stratified_mean({"a": np.array([1.0])})


def test_everything_is_written(tmp_path: Path, first: list[Tried]) -> None:
    trials = first
    study = study_of(trials)
    write_study(tmp_path, study, trials)
    names = {path.name for path in tmp_path.iterdir()}
    assert {"study.txt", "study.html", "guesses.csv", "ways.csv", "ways.svg", "selection.csv"} <= names
    text = describe(study)
    assert "Which way guesses best?" in text
    assert len(answers(study)) == 6
    page = (tmp_path / "study.html").read_text(encoding="utf-8")
    assert "<svg" in page
    assert "http://" not in page.replace("http://www.w3.org", "")
    assert len(guesses_csv(trials).splitlines()) == 1 + 2 * 3 + 2 * 2


def test_the_command_runs_and_lists(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["study", "wcci", "--list"]) == 0
    assert "twonorm" in capsys.readouterr().out
    words = ["study", "wcci", "--quick", "-d", "twonorm", "-c", "logistic", "-q", "-o", str(tmp_path / "out")]
    assert main(words) == 0
    shown = capsys.readouterr().out
    assert "1 problems × 1 classifiers × 2 training sets" in shown
    assert "Is cross-validation the best?" in shown
    assert main(["study", "wcci", "-n", "x"]) == 2
    assert main(["study", "wcci", "-d", "x", "-q"]) == 1


def test_the_study_tries_every_kind_of_way() -> None:
    kinds = {way.partition(":")[0] for way in WAYS}
    assert {
        "holdout",
        "kfold",
        "repeated",
        "loo",
        "bootstrap",
        "632",
        "632+",
        "nested",
        "vc",
        "combined",
    } <= kinds
    assert set(QUICK.ways) & set(WAYS)
