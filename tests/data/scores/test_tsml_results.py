"""Results of aeon and tsml-eval: twins of both kinds of file, and genuine tables where they are."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from redelve.assessment import compare_scores
from redelve.data.scores import read_scores
from redelve.errors import RedelveError
from redelve.report.sections.card import benchmark_card
from tests.data.scores.genuine import FOLDER, needs_genuine


def resamples(path: Path, shift: float = 0.0) -> Path:
    path.write_text(f"Resamples:,0,1,2\nChinatown,{0.9 - shift},0.8,0.7\nTrace,1.0,0.5,\n")
    return path


def predictions(folder: Path, model: str, rows: str, resample: int = 0, split: str = "TEST") -> Path:
    place = folder / model / "Predictions" / "Chinatown"
    place.mkdir(parents=True, exist_ok=True)
    path = place / f"{split.lower()}Resample{resample}.csv"
    path.write_text(
        f"Chinatown,{model},{split},{resample},MILLISECONDS,Generated on 11/07/2023, 00:45:48. {{1.0: 0}}\n"
        "{'n_jobs': 1, 'random_state': 0}\n0.9,526,35,-1,-1,2,,-1,-1\n" + rows
    )
    return path


def test_tables_of_resamples_have_the_method_in_their_names(tmp_path: Path) -> None:
    one, two = resamples(tmp_path / "HC2_accuracy.csv"), resamples(tmp_path / "MR_Hydra_accuracy.csv", 0.4)
    for way in ([one, two], tmp_path):
        table = read_scores(way)
        assert set(table.frame["model"]) == {"HC2", "MR_Hydra"}
        assert (table.metric, table.higher_is_better, table.limits) == ("accuracy", True, (0.0, 1.0))
        assert table.is_by_fold
        assert table.ratio is None
        found = table.frame.set_index(["model", "task", "fold"])["score"]
        assert found["MR_Hydra", "Chinatown", "0"] == 0.5
        assert found.isna().sum() == 2
    resamples(tmp_path / "HC2_logloss.csv")
    with pytest.raises(RedelveError, match=r"several scores \(accuracy, logloss\)"):
        read_scores(tmp_path)


def two_models(folder: Path, resamples: int) -> Path:
    for model, guess in (("ROCKET", 1), ("TSF", 0)):
        for resample in range(resamples):
            predictions(folder, model, f"0,0,,1.0,0.0\n1,{guess},,0.0,1.0\n", resample)
            predictions(folder, model, "0,0,,1.0,0.0\n", resample, "TRAIN")
    return folder


def test_predictions_in_one_resample_are_scored_case_by_case(tmp_path: Path) -> None:
    table = read_scores(two_models(tmp_path, 1))
    wide = table.frame.pivot(index="case", columns="model", values="score")
    assert (list(wide["ROCKET"]), list(wide["TSF"])) == ([1.0, 1.0], [1.0, 0.0])
    assert set(table.frame["task"]) == {"Chinatown"}


def test_resamples_of_predictions_are_no_folds_and_need_the_ratio(tmp_path: Path) -> None:
    """Their test cases overlap: taken for folds, two of them had as many training as test cases."""
    table = read_scores(two_models(tmp_path, 2))
    wide = table.frame.pivot(index="fold", columns="model", values="score")
    assert (list(wide["ROCKET"]), list(wide["TSF"])) == ([1.0, 1.0], [0.5, 0.5])
    assert "case" not in table.frame.columns
    with pytest.raises(RedelveError, match="give ratio=1/9"):
        compare_scores(tmp_path)
    (found,) = compare_scores(tmp_path, ratio=0.5).findings.tasks
    assert found.task.test_ratio == 0.5


def test_predictions_of_numbers_have_squared_errors(tmp_path: Path) -> None:
    path = predictions(tmp_path, "ROCKET", "-0.5,-0.25\n1.5,1.0\n?,2.0\n")
    table = read_scores(path)
    assert list(table.frame["score"][:2]) == [0.0625, 0.25]
    assert table.frame["score"].isna().sum() == 1
    assert "fold" not in table.frame.columns


def test_bad_files_get_one_sentence(tmp_path: Path) -> None:
    path = resamples(tmp_path / "HC2_accuracy.csv")
    path.write_text(path.read_text() + "Wine,0.5,0.6\n")
    with pytest.raises(RedelveError, match="line 4: 2 scores for 3 resamples: the file is cut off"):
        read_scores(path)
    path.write_text("Resamples:,0,1\nWine,high,0.5\n")
    with pytest.raises(RedelveError, match="line 2: 'high' is no number"):
        read_scores(path)
    with pytest.raises(RedelveError, match="predictions on training cases"):
        read_scores(predictions(tmp_path, "A", "0,0\n", split="TRAIN"))
    with pytest.raises(RedelveError, match="no predictions under its three lines"):
        read_scores(predictions(tmp_path, "A", ""))
    with pytest.raises(RedelveError, match="line 4: a truth and a prediction"):
        read_scores(predictions(tmp_path, "A", "0\n"))
    with pytest.raises(RedelveError, match="a table of resamples and others are predictions"):
        read_scores([predictions(tmp_path, "A", "0,0\n"), resamples(path)])
    again = tmp_path / "again.csv"
    again.write_text(predictions(tmp_path, "A", "0,0\n").read_text())
    with pytest.raises(RedelveError, match="are both of A on resample 0 of Chinatown"):
        read_scores([again, predictions(tmp_path, "A", "0,0\n")])


@needs_genuine
def test_the_genuine_bake_off_is_read() -> None:
    table = read_scores(FOLDER / "tsc-bakeoff")
    assert table.frame["model"].nunique() == 6
    assert len(table.frame) == 6 * 142 * 30
    raw = pd.read_csv(FOLDER / "tsc-bakeoff" / "HC2_accuracy.csv", index_col=0)
    found = table.frame.set_index(["model", "task", "fold"])["score"]
    assert found["HC2", "Adiac", "7"] == raw.loc["Adiac", "7"]


def test_nothing_is_said_of_how_many_cases_resamples_were_learnt_from(tmp_path: Path) -> None:
    """Where only scores of resamples are known, a page said "29 training cases" of 30 resamples."""
    for name, shift in (("HC2", 0.0), ("RDST", 0.2)):
        resamples(tmp_path / f"{name}_accuracy.csv", shift)
    found = compare_scores(tmp_path, ratio=0.5)
    assert {one.task.known_size for one in found.findings.tasks} == {None}
    text = benchmark_card(found.findings).points[1].entries[0].text
    assert text.startswith("3 folds, 0.5 test cases to a training case; digest")
