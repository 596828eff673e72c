"""redelve predict: from a table to guesses."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from redelve import from_file
from redelve.cli.main import main
from redelve.performance import WAYS
from tests.performance.data import numbers, two_classes


@pytest.fixture
def table(tmp_path: Path) -> Path:
    inputs, labels = two_classes(60, shift=2.0)
    frame = pd.DataFrame(inputs, columns=["a", "b", "c"]).assign(
        colour=np.where(inputs[:, 1] > 0, "red", "blue"), kind=labels
    )
    frame.loc[3, "b"] = np.nan
    frame.to_csv(tmp_path / "data.csv", index=False)
    return tmp_path / "data.csv"


def test_guesses_for_one_method(table: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = table.parent / "guesses.csv"
    words = [
        "predict",
        str(table),
        "--target",
        "kind",
        "--method",
        "knn-cv-1",
        "-w",
        "kfold:5,holdout,632+:10",
    ]
    assert main([*words, "-s", "3", "-o", str(out)]) == 0
    shown = capsys.readouterr().out
    assert "knn-cv-1: balanced error rate on new cases, guessed from 60 cases" in shown
    assert "by kfold:5." in shown
    frame = pd.read_csv(out)
    assert list(frame["way"]) == ["kfold:5", "holdout:0.3", "632+:10"]
    assert frame["value"].between(0, 0.4).all()
    assert (frame["low"] <= frame["value"]).all()
    assert (frame["value"] <= frame["high"]).all()


def test_the_best_of_several_methods(table: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["predict", str(table), "-t", "kind", "-m", "constant,knn-cv-1", "-w", "uncorrected:5,bbc:5"]
    assert main(words) == 0
    shown = capsys.readouterr().out
    assert "knn-cv-1 (best of 2)" in shown
    assert "by bbc:5x500." in shown


def test_bounds_need_a_classifier_they_can_look_into(table: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["predict", str(table), "-t", "kind", "-m", "knn-cv-1", "-w", "holdout,rademacher,vc"]
    assert main(words) == 0
    shown = capsys.readouterr().out
    assert "rademacher:10: knn-cv-1 can't be given other labels" in shown
    assert "vc: no capacity is known of knn-cv-1" in shown


def test_numbers_are_judged_by_squared_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    inputs, targets = numbers(80)
    pd.DataFrame(inputs, columns=["a", "b", "c"]).assign(y=targets).to_csv(tmp_path / "n.csv", index=False)
    assert main(["predict", str(tmp_path / "n.csv"), "-t", "y", "-m", "lin-1", "-w", "kfold:5"]) == 0
    assert "lin-1: squared error on new cases" in capsys.readouterr().out


def test_slow_fits_tell_how_far_they_are(
    table: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    words = ["predict", str(table), "-t", "kind", "-m", "knn-cv-1", "-w", "kfold:3"]
    assert main(words) == 0
    assert capsys.readouterr().err == ""
    monkeypatch.setattr("redelve.cli.predict.SECONDS_OF_SILENCE", 0.0)
    assert main(words) == 0
    assert capsys.readouterr().err == "knn-cv-1: 1 of 3 fits\nknn-cv-1: 2 of 3 fits\n"
    assert main([*words, "-q"]) == 0
    assert capsys.readouterr().err == ""


def test_cases_that_are_there_twice_are_told(table: Path, capsys: pytest.CaptureFixture[str]) -> None:
    frame = pd.read_csv(table)
    pd.concat([frame, frame]).to_csv(table, index=False)
    assert main(["predict", str(table), "-t", "kind", "-m", "knn-cv-1", "-w", "kfold:3"]) == 0
    assert "120 of 120 cases have a double" in capsys.readouterr().out


def test_ways_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["predict", "-W"]) == 0
    shown = capsys.readouterr().out
    assert [line.split()[0] for line in shown.splitlines()] == list(WAYS)


@pytest.mark.parametrize(
    ("words", "message", "code"),
    [
        (["-m", "nonsense"], 'unknown method "nonsense"', 1),
        (["-m", "lin-1"], "can't work on this table", 1),
        (["-w", "nonsense"], 'unknown way "nonsense"', 1),
        (["-j", "many"], 'needs a number, not "many"', 2),
        (["-l", "S"], 'loss "S" does not fit', 1),
    ],
)
def test_mistakes_are_told(
    table: Path, capsys: pytest.CaptureFixture[str], words: list[str], message: str, code: int
) -> None:
    assert main(["predict", str(table), "-t", "kind", "-m", "knn-cv-1", *words]) == code
    assert message in capsys.readouterr().err


def test_the_table_is_needed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["predict"]) == 2
    assert "the table" in capsys.readouterr().err


def test_dates_bring_the_caution_that_assess_has(table: Path, capsys: pytest.CaptureFixture[str]) -> None:
    days = pd.date_range("2024-01-01", periods=60).strftime("%Y-%m-%d")
    pd.read_csv(table).assign(day=days).to_csv(table, index=False)
    (said,) = (one for one in from_file(table, "kind").assignments[0].notes if "holds dates" in one)
    assert main(["predict", str(table), "-t", "kind", "-m", "constant", "-w", "kfold:5", "-q"]) == 0
    shown = capsys.readouterr().out
    same, _, _ = said.partition("give design")
    assert f'  {same}use `assess` with design="time" (--design time)\n' in shown
