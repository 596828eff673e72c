"""Failures come first: the reason in text, page, frame and exit status."""

import html
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression

import redelve
from redelve.cli import NO_RESULT
from redelve.data.tables import Intake
from redelve.errors import SpecError, StatisticsError
from redelve.findings.failures import failed_jobs_of, methods_without_results
from redelve.report.loss_figures import digits_table
from redelve.report.sections import panels
from redelve.run.results import Job, Status
from redelve.store.heads import Head
from redelve.store.retrying import is_to_be_retried
from tests.conftest import RunCommand

REASON = "my GPU is on fire"


class Burning(LinearRegression):  # type: ignore[misc]
    """A method that never learns anything."""

    def fit(self, X: object, y: object, sample_weight: object = None) -> "Burning":
        raise RuntimeError(f"{REASON} at {len(y)} °C\nCall the fire brigade")  # type: ignore[arg-type]


def small_table(rows: int = 45) -> pd.DataFrame:
    rng = np.random.default_rng(7)
    made = pd.DataFrame(rng.normal(size=(rows, 2)), columns=["a", "b"])
    return made.assign(y=made["a"] + rng.normal(size=rows))


@pytest.fixture(scope="module")
def task() -> Intake:
    return redelve.from_frame(small_table(), "y")


@pytest.fixture(scope="module")
def one_failed(task: Intake) -> redelve.Assessment:
    return redelve.assess({"bad": Burning(), "lin": LinearRegression()}, task)


@pytest.fixture(scope="module")
def all_failed(task: Intake) -> redelve.Assessment:
    return redelve.assess({"bad": Burning(), "none": ["./not-there"]}, task)


def test_the_text_begins_with_what_failed_and_why(one_failed: redelve.Assessment) -> None:
    text = str(one_failed)
    told = f"bad failed in all 5 jobs: RuntimeError: {REASON} at 36 °C Call the fire brigade"
    assert told in text
    assert text.index(told) < text.index("lin is the only method")
    assert "V009" not in text  # not told twice


class Choosy(LinearRegression):  # type: ignore[misc]
    """A method that learns from some training sets only."""

    def fit(self, X: object, y: object, sample_weight: object = None) -> "Choosy":
        if np.asarray(X)[0, 0] > 0:
            raise ValueError("no")
        return super().fit(X, y)  # type: ignore[no-any-return]


def test_the_text_says_that_the_constant_stands_in_for_what_failed(task: Intake) -> None:
    methods = {"choosy": Choosy(), "lin": LinearRegression()}
    replaced = redelve.assess(methods, task, on_failure="baseline")
    (lost,) = failed_jobs_of(replaced.results)
    assert 0 < lost.stood_in == lost.jobs < lost.jobs_in_all
    of_all = f"choosy failed in {lost.jobs} of 5 jobs"
    told = " ".join(str(replaced).split())
    assert f"{of_all}, where the best constant answer stands in: ValueError: no" in told
    assert f"{of_all}: ValueError: no" in " ".join(str(redelve.assess(methods, task)).split())


def test_the_frame_has_a_row_for_a_method_without_results(one_failed: redelve.Assessment) -> None:
    bad, lin = one_failed.frame().to_dict("records")
    assert (bad["method"], lin["method"]) == ("bad", "lin")
    assert REASON in bad["reason"]
    assert (bad["failed"], bad["instances"]) == (5, 0)
    assert np.isnan(bad["mean"])
    assert lin["mean"] > 0
    assert not isinstance(lin["reason"], str)


def test_failures_are_a_frame_with_equal_ones_together(all_failed: redelve.Assessment) -> None:
    frame = all_failed.failures()
    assert frame[["method", "status", "jobs", "of"]].values.tolist() == [
        ["bad", "failed", 5, 5],
        ["none", "failed", 5, 5],
    ]
    assert frame["message"][0] == f"RuntimeError: {REASON} at 36 °C\nCall the fire brigade"


def test_where_nothing_failed_there_are_no_failures(task: Intake) -> None:
    done = redelve.assess(["constant"], task)
    assert done.failures().empty
    assert "message" in done.failures()
    assert done.frame()["reason"].isna().all()
    assert methods_without_results(done.results) == ()


def test_if_all_failed_text_frame_and_page_say_why(all_failed: redelve.Assessment, tmp_path: Path) -> None:
    text = str(all_failed)
    assert "0 of 10 jobs done" in text
    assert f"bad failed in all 5 jobs: RuntimeError: {REASON}" in text
    assert "none failed in all 5 jobs: program" in text
    assert "there is nothing to analyse" in text
    assert all_failed.frame()["reason"].notna().all()
    page = html.unescape(all_failed.report(tmp_path / "report.html").read_text())
    assert REASON in page
    assert "not-there" in page
    with pytest.raises(StatisticsError, match=REASON):
        all_failed.compare("bad", "none")


def test_the_page_has_one_row_for_what_failed_alike(one_failed: redelve.Assessment, tmp_path: Path) -> None:
    text = one_failed.report(tmp_path / "report.md").read_text()
    rows = [line for line in text.splitlines() if line.startswith("| bad |") and "failed" in line]
    assert len(rows) == 1
    assert "| 5 | 5 | failed |" in rows[0]
    assert REASON in rows[0]
    assert f"V009 jobs failed: bad: 5 of 5 jobs (failed), left out: RuntimeError: {REASON}" in text


def test_no_comparison_is_shown_as_none(task: Intake, tmp_path: Path) -> None:
    methods = {"bad": Burning(), "lin": LinearRegression(), "none": ["./not-there"]}
    assessment = redelve.assess(methods, task)
    (panel,) = panels(assessment.findings)
    digits = [[cell.text for cell in row[2:]] for row in digits_table(panel).rows]
    assert digits == [[" "] * 3] * 3
    page = assessment.report(tmp_path / "page.html").read_text()
    assert "p-values allow for no comparison: none could be made" in page
    assert "jobs failed (2 notes)" in page


def test_different_reasons_are_counted(task: Intake) -> None:
    results = redelve.assess({"bad": Burning()}, task, on_failure="baseline").results
    (alike,) = failed_jobs_of(results)
    assert (alike.jobs, alike.stood_in) == (5, 5)
    assert methods_without_results(results) == ("bad",)


@pytest.mark.parametrize(("methods", "told"), [("constant", "constant is"), ("", "No job came to an answer")])
def test_the_exit_status_tells_of_a_method_without_results(
    run_command: RunCommand, tmp_path: Path, methods: str, told: str
) -> None:
    small_table().to_csv(tmp_path / "small.csv", index=False)
    words = ["small.csv", "-t", "y", "-q", "-p", "typo=./kn", *(["-m", methods] if methods else [])]
    done = run_command("assess", words, tmp_path)
    assert (done.code, done.err) == (NO_RESULT, "")
    assert "typo failed in all 5 jobs: program" in done.out
    assert "can't find the program ./kn" in done.out.replace("\n    ", " ")
    assert told in done.out
    assert (tmp_path / "small-assessment" / "report.html").exists()
    again = run_command("report", ["small-assessment/archive"], tmp_path)
    assert again.code == NO_RESULT


class Fickle(LinearRegression):  # type: ignore[misc]
    """A method that learns only where a file is."""

    def __init__(self, path: str = "") -> None:
        super().__init__()
        self.path = path

    def fit(self, X: object, y: object, sample_weight: object = None) -> object:
        if not Path(self.path).exists():
            raise ModuleNotFoundError("No module named 'xgboost'")
        return super().fit(X, y)


def statuses(done: redelve.Assessment) -> set[str]:
    return {record.status for record in done.results.records}


def test_failed_jobs_are_done_again_when_asked(task: Intake, tmp_path: Path) -> None:
    folder, package = tmp_path / "archive", tmp_path / "package"
    methods = {"fickle": Fickle(str(package))}
    assert statuses(redelve.assess(methods, task, archive=folder)) == {"failed"}
    package.touch()
    for retry in (None, "crashed", "none"):
        assert statuses(redelve.assess(methods, task, archive=folder, retry=retry)) == {"failed"}
    again = redelve.assess(methods, task, archive=folder, retry="failed")
    assert statuses(again) == {"done"}
    assert again.failures().empty
    archive = redelve.Archive.open(folder)
    assert archive.verify().ok
    assert len(archive.load().records) == 5
    package.unlink()  # what is done stays done
    assert statuses(redelve.assess(methods, task, archive=folder, retry="all")) == {"done"}


def test_a_job_out_of_time_is_done_again_with_more_time(task: Intake, tmp_path: Path) -> None:
    folder = tmp_path / "archive"
    methods = {"slow": ["sleep", "0.4"]}
    one = replace(
        task, assignments=(replace(task.assignments[0], instances=task.assignments[0].instances[:1]),)
    )
    short, same, more = (redelve.Limits(seconds=some) for some in (0.1, 0.05, 60))
    assert statuses(redelve.assess(methods, one, archive=folder, limits=short)) == {"out of time"}
    first = redelve.Archive.open(folder).load().records[0]
    assert first.environment["seconds allowed"] == "0.1"
    redelve.assess(methods, one, archive=folder, limits=same)
    assert redelve.Archive.open(folder).load().records[0].started == first.started
    redelve.assess(methods, one, archive=folder, limits=more, retry="none")
    assert redelve.Archive.open(folder).load().records[0].started == first.started
    later = redelve.assess(methods, one, archive=folder, limits=more)
    assert statuses(later) == {"failed"}  # it ended, without an answer
    assert redelve.Archive.open(folder).verify().ok


@pytest.mark.parametrize(
    ("status", "told", "seconds", "memory", "again"),
    [
        ("out of time", {"seconds allowed": "5"}, 5.0, None, False),
        ("out of time", {"seconds allowed": "5"}, 5.1, None, True),
        ("out of time", {"seconds allowed": "5"}, None, None, True),
        ("out of time", {"seconds allowed": "no limit"}, None, None, True),  # it never began
        ("out of time", {}, 1.0, None, True),  # a record of before
        ("out of memory", {"bytes allowed": "1000"}, None, 1000, False),
        ("out of memory", {"bytes allowed": "1000"}, 9.0, 1001, True),
        ("out of memory", {"bytes allowed": "no limit"}, None, None, False),
        ("failed", {}, None, None, False),
        ("crashed", {}, None, None, False),
    ],
)
def test_what_ran_out_is_tried_again_when_it_may_use_more(
    status: Status, told: dict[str, str], seconds: float | None, memory: int | None, again: bool
) -> None:
    head = Head(Job("/a/b/std.1", "m", 0), "d", "m", "t", 0, status, None, 0, (), (), "c", environment=told)
    limits = redelve.Limits(seconds=seconds, memory=memory)
    assert is_to_be_retried(head, None, limits) is again
    assert is_to_be_retried(head, "all", limits)
    assert not is_to_be_retried(head, "none", limits)


def test_a_word_that_is_no_retry_is_refused(task: Intake) -> None:
    with pytest.raises(SpecError, match=r"retry is 'fialed': choose failed, crashed, all, none.*failed"):
        redelve.assess(["constant"], task, retry="fialed")


def test_the_command_line_retries(run_command: RunCommand, tmp_path: Path) -> None:
    small_table().to_csv(tmp_path / "small.csv", index=False)
    flag = tmp_path / "flag"
    words = ["small.csv", "-t", "y", "-q", "-p", f"late=sh -c 'test -e {flag} && exit 7; exit 8'"]
    assert run_command("assess", words, tmp_path).code == NO_RESULT
    flag.touch()
    same = run_command("assess", words, tmp_path)
    assert "ended with status 8" in same.out
    assert "--retry failed" in same.out
    again = run_command("assess", [*words, "--retry", "failed"], tmp_path)
    assert "ended with status 7" in again.out
