"""Predictions of OpenML runs: twins by the format that its documentation and clients define."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from redelve.data.scores import read_scores
from redelve.errors import RedelveError

HEAD = """% Python_3.11. Sklearn_1.5.
@RELATION openml_task_59_predictions

@ATTRIBUTE repeat NUMERIC
@ATTRIBUTE fold NUMERIC
@ATTRIBUTE sample NUMERIC
@ATTRIBUTE row_id NUMERIC
@ATTRIBUTE confidence.yes NUMERIC
@ATTRIBUTE confidence.no NUMERIC
@ATTRIBUTE prediction {yes, no}
@ATTRIBUTE TRUTH {yes, no}

@DATA
"""


def labels(path: Path, wrong: set[int], repeats: int = 1, truth: str = "correct", sample: int = 0) -> Path:
    rows = []
    for repeat in range(repeats):
        for row in range(6):
            right = "yes" if row % 2 else "no"
            guess = right if row not in wrong else {"yes": "no", "no": "yes"}[right]
            rows.append(f"{repeat},{(row + repeat) % 3},{sample * (row % 2)},{row},0.5,0.5,{guess},{right}")
    path.write_text(HEAD.replace("TRUTH", truth) + "\n".join(rows) + "\n")
    return path


def test_predictions_are_right_or_wrong_row_by_row(tmp_path: Path) -> None:
    one, two = labels(tmp_path / "tree.arff", {1, 2}), labels(tmp_path / "forest.arff", set(), truth="truth")
    table = read_scores([one, two])
    wide = table.frame.pivot(index="case", columns="model", values="score")
    assert list(wide["tree"]) == [1.0, 0.0, 0.0, 1.0, 1.0, 1.0]
    assert list(wide["forest"]) == [1.0] * 6
    assert (table.metric, table.higher_is_better, table.limits) == ("accuracy", True, (0.0, 1.0))
    assert table.ratio == pytest.approx(2 / 4)
    assert set(table.frame["fold"]) == {"0", "1", "2"}


def test_repeats_make_folds_of_their_own(tmp_path: Path) -> None:
    frame = read_scores(labels(tmp_path / "tree.arff", set(), repeats=2)).frame
    assert set(frame["fold"]) == {"0.0", "0.1", "0.2", "1.0", "1.1", "1.2"}
    assert not frame.duplicated(["fold", "case"]).any()


def test_a_single_fold_is_a_test_set_of_fixed_models(tmp_path: Path) -> None:
    path = tmp_path / "tree.arff"
    rows = "".join(f"0,0,0,{row},0.5,0.5,yes,yes\n" for row in range(3))
    path.write_text(HEAD.replace("TRUTH", "correct") + rows)
    table = read_scores(path)
    assert set(table.frame.columns) == {"model", "case", "score"}
    assert table.ratio is None


@pytest.mark.parametrize("description", ["description.xml", "run.xml"])
def test_folders_of_runs_say_which_flow_and_task_they_are_of(tmp_path: Path, description: str) -> None:
    for run, flow in (("100", "sklearn.tree.DecisionTreeClassifier(1)"), ("101", "weka.J48(2)")):
        (tmp_path / run).mkdir()
        labels(tmp_path / run / "predictions.arff", {0})
        (tmp_path / run / description).write_text(
            f'<oml:run xmlns:oml="http://openml.org/openml"><oml:task_id>59</oml:task_id>'
            f"<oml:flow_name>{flow}</oml:flow_name></oml:run>"
        )
    frame = read_scores(tmp_path).frame
    assert set(frame["model"]) == {"sklearn.tree.DecisionTreeClassifier(1)", "weka.J48(2)"}
    assert set(frame["task"]) == {"task 59"}
    (tmp_path / "100" / description).unlink()
    with pytest.raises(RedelveError, match="some of these runs say what their task is"):
        read_scores(tmp_path)


def test_numbers_have_squared_errors() -> None:
    frame = pd.DataFrame(
        {
            "model": "ridge",
            "repeat": 0,
            "fold": [0, 0, 1, 1],
            "row_id": range(4),
            "prediction": [1.5, 2.0, 0.0, 1.0],
            "truth": [1.0, 2.0, 2.0, 1.25],
        }
    )
    table = read_scores(frame)
    assert list(table.frame["score"]) == [0.25, 0.0, 4.0, 0.0625]
    assert (table.metric, table.higher_is_better) == ("squared_error", False)
    assert list(read_scores(frame, metric="absolute_error").frame["score"]) == [0.5, 0.0, 2.0, 0.25]
    with pytest.raises(
        RedelveError, match="can be scored by accuracy, squared_error, absolute_error, not by auc"
    ):
        read_scores(frame, metric="auc")


def test_bad_predictions_get_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(RedelveError, match="learning curve"):
        read_scores(labels(tmp_path / "curve.arff", set(), sample=1))
    path = labels(tmp_path / "tree.arff", set())
    path.write_text(path.read_text().replace("yes,yes", "maybe,yes", 1))
    with pytest.raises(RedelveError, match="maybe"):
        read_scores(path)
    with pytest.raises(RedelveError, match="of one model"):
        read_scores(pd.DataFrame({"fold": [0, 1], "row_id": [0, 1], "prediction": [1, 2], "truth": [1, 2]}))
