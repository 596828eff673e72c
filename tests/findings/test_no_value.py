"""Losses and metrics that are not defined: nobody has a value, and the reason stands beside that."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression

import redelve
from redelve.cli.main import main
from redelve.errors import StatisticsError

METHODS = ["constant", "lin-1"]
DIVIDES = "mape divides by the target, which is 0 in"


@pytest.fixture(scope="module")
def zeros() -> pd.DataFrame:
    """A target that is 0 in about 70 % of cases, else positive."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=400)
    return pd.DataFrame({"x": x, "y": np.where(rng.random(400) < 0.7, 0.0, np.exp(x))})


@pytest.fixture(scope="module")
def by_mape(zeros: pd.DataFrame) -> redelve.Assessment:
    return redelve.assess(METHODS, zeros, target="y", judge_by="mape", losses=["S", "mape"])


def test_assess_writes_its_report_and_says_why_there_is_no_value(
    zeros: pd.DataFrame, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table, out = tmp_path / "zeros.csv", tmp_path / "out"
    zeros.to_csv(table, index=False)
    words = [str(table), "-t", "y", "-m", ",".join(METHODS), "-l", "mape", "-q", "-o", str(out)]
    assert main(["assess", *words]) == 0
    assert DIVIDES in " ".join(capsys.readouterr().out.split())
    assert DIVIDES in (out / "report.html").read_text()


def test_the_reason_stands_in_frames_and_in_errors(by_mape: redelve.Assessment) -> None:
    frame = by_mape.frame()
    assert frame["mean"].isna().all()
    assert all(DIVIDES in reason for reason in frame["reason"])
    with pytest.raises(StatisticsError, match=DIVIDES):
        by_mape.compare(*METHODS)


def test_methods_without_a_value_get_no_star(by_mape: redelve.Assessment) -> None:
    assert by_mape.findings.tasks[0].best_group == ()
    assert "may be the best" not in str(by_mape)


def test_advice_does_not_ask_for_more_test_cases_where_these_cannot_help(by_mape: redelve.Assessment) -> None:
    assert "choose mae or rmse" in " ".join(str(by_mape).split())
    assert "use more test cases" not in " ".join(str(by_mape).split())


def test_a_race_without_values_ends_at_its_first_look_with_the_reason(
    zeros: pd.DataFrame, tmp_path: Path
) -> None:
    found = redelve.assess(METHODS, zeros, target="y", judge_by="mape", until_settled=True)
    assert len(next(iter(found.results.races.values())).looks) == 1
    assert DIVIDES in " ".join(str(found).split())
    assert DIVIDES in found.report(tmp_path / "page.html").read_text()


def test_predicting_by_an_undefined_metric_is_refused_with_the_reason(zeros: pd.DataFrame) -> None:
    with pytest.raises(StatisticsError, match=DIVIDES):
        redelve.predict_performance(LinearRegression(), zeros[["x"]], zeros["y"], loss="mape")
