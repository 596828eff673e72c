"""Losses and metrics that are not defined: nobody has a value, and the reason stands beside that."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression

import redelve
from redelve.answers.losses import DistanceLoss, LossLike
from redelve.answers.predictions import Truth
from redelve.cli.main import main
from redelve.errors import SpecError, StatisticsError
from redelve.model.dataset import Numbers

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


def boom_error(true: Numbers, found: Numbers) -> float:
    """A metric that raises."""
    raise ValueError("boom")


def typo_error(true: Numbers, found: Numbers) -> float:
    """A metric that raises something else."""
    return float(true.men() - found.mean())  # type: ignore[attr-defined]


def each_error(true: Numbers, found: Numbers) -> Numbers:
    """A metric that is no single number."""
    return np.abs(true - found)


def root_error(true: Numbers, found: Numbers) -> float:
    """A metric that is RMSE under another name."""
    return float(np.sqrt(np.mean((true - found) ** 2)))


class Holed(DistanceLoss):
    """Not a number for the fourth case of every test set."""

    letter, title, kinds = "B", "Holed", ("real",)

    def distance(self, truth: Truth, guess: Numbers) -> Numbers:
        """The distance, but once."""
        return np.where(np.arange(len(guess)) == 3, np.nan, np.abs(guess - truth.values))


class HoledAfar(Holed):
    """Not a number where the guess is far off."""

    def distance(self, truth: Truth, guess: Numbers) -> Numbers:
        """The distance up to 1."""
        off = np.abs(guess - truth.values)
        return np.where(off > 1, np.nan, off)


class Mean(Holed):
    """One number for all cases."""

    def distance(self, truth: Truth, guess: Numbers) -> Numbers:
        """The mean distance."""
        return np.abs(guess - truth.values).mean()  # type: ignore[no-any-return]


class Short(Holed):
    """A case too few."""

    def distance(self, truth: Truth, guess: Numbers) -> Numbers:
        """All but the first."""
        return np.abs(guess - truth.values)[1:]


@pytest.fixture(scope="module")
def line() -> pd.DataFrame:
    x = np.linspace(-3, 3, 120)
    return pd.DataFrame({"x": x, "y": 3 * x + 0.1 * np.sin(99 * x)})


@pytest.mark.parametrize("design", ["holdout", "cv 5", "cv 3x2"])
@pytest.mark.parametrize(
    ("judge", "reason"),
    [
        (boom_error, "the metric boom_error raised ValueError: boom"),
        (typo_error, "the metric typo_error raised AttributeError: "),
        (each_error, "the metric each_error returned "),
        (Holed(), "holed loss of training set 0, test case 3 (y "),
    ],
)
def test_the_reason_of_a_loss_of_ones_own_stands_in_text_page_and_frame(
    line: pd.DataFrame, judge: LossLike, reason: str, design: str, tmp_path: Path
) -> None:
    found = redelve.assess(METHODS, line, target="y", judge_by=judge, design=design)
    assert reason in " ".join(str(found).split())
    assert reason in found.report(tmp_path / "page.html").read_text()
    assert found.frame()["reason"].str.startswith(reason).all()


def test_who_has_a_value_is_judged_without_those_that_have_none(line: pd.DataFrame, tmp_path: Path) -> None:
    found = redelve.assess([*METHODS, "knn-cv-1"], line, target="y", judge_by=HoledAfar())
    task = found.findings.tasks[0]
    assert {one.method for one in task.methods} == {"lin-1", "knn-cv-1"}
    told = " ".join(str(found).split())
    assert "constant has no value here and could not be judged: holed loss of training set 0" in told
    assert "the best of the 2 methods" in told
    (row,) = found.frame().query("method == 'constant'").to_dict("records")
    assert pd.isna(row["mean"])
    assert "is not a number" in row["reason"]
    assert "constant has no value here" in found.report(tmp_path / "page.html").read_text()


@pytest.mark.parametrize(
    ("loss", "returned"), [(Mean(), r"np\.float64\([\d.]+\)"), (Short(), r"an array of shape \(119,\)")]
)
def test_a_loss_of_the_wrong_shape_is_refused_before_the_first_job(
    line: pd.DataFrame, loss: DistanceLoss, returned: str
) -> None:
    wanted = rf"loss B \({type(loss).__name__}\) returned {returned} for 120 cases: .* of shape \(120,\)"
    with pytest.raises(SpecError, match=wanted):
        redelve.assess(METHODS, line, target="y", judge_by=loss)


@pytest.mark.parametrize("loss", [boom_error, Holed()])
def test_predicting_by_a_loss_that_gives_no_number_is_refused_with_the_reason(
    line: pd.DataFrame, loss: LossLike
) -> None:
    with pytest.raises(StatisticsError, match=r"raised ValueError: boom|holed loss is not a number in"):
        redelve.predict_performance(LinearRegression(), line[["x"]], line["y"], loss=loss)


def test_a_prediction_that_is_not_a_number_is_called_so(line: pd.DataFrame) -> None:
    class Silent(LinearRegression):  # type: ignore[misc]
        def predict(self, X: object) -> Numbers:
            return np.where(np.arange(len(super().predict(X))) == 1, np.nan, 0.0)

    found = redelve.assess([Silent()], line, target="y", design="holdout")
    (record,) = found.results.records
    assert 'case 2: the prediction of target "y" is not a number (no guess, "?")' in record.message
    assert "demands" not in record.message


def test_a_metric_of_ones_own_is_the_same_with_an_archive_and_without(
    line: pd.DataFrame, tmp_path: Path
) -> None:
    """lin-1 answers with distributions, which nobody who lacks the function knows what to do with."""
    place = tmp_path / "kept"

    def assessed(judge: LossLike, archive: Path | None = None) -> redelve.Assessment:
        return redelve.assess(METHODS, line, target="y", design="cv 5", judge_by=judge, archive=archive)

    own, pooled = (assessed(judge).frame()["mean"].tolist() for judge in (root_error, "rmse"))
    assert own == pytest.approx(pooled, rel=0.01)  # the mean of five roots, and the root of the mean
    for _ in ("made", "read"):
        kept = assessed(root_error, place)
        assert kept.frame()["mean"].tolist() == pytest.approx(own)
        assert kept.judged_by("rmse").frame()["mean"].tolist() == pytest.approx(pooled)
    reasons = assessed(boom_error, place).frame()["reason"]
    assert reasons.tolist() == ["the metric boom_error raised ValueError: boom"] * 2
    read = redelve.Assessment(redelve.Archive.open(place).load(), "boom_error")
    assert "Boom error has no value here: boom error is not a number on all" in " ".join(str(read).split())
