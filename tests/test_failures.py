"""Failures come first: the reason in text, page, frame and exit status."""

import html
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression

import redelve
from redelve.cli import NO_RESULT
from redelve.data.tables import Intake
from redelve.errors import StatisticsError
from redelve.findings.failures import failed_jobs_of, methods_without_results
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
